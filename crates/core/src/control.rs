//! Characters that control how text is shown.

/// Whether a character is not shown itself, but controls what is shown: control codes, line ends
/// and tabs among them, separators of lines and paragraphs, changes of the direction of text, and a
/// space without width.
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}
