//! Characters that control how text is shown.

/// Whether a character is not shown itself, but controls what is shown: control codes, line ends
/// and tabs among them, and changes of the direction of text.
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
