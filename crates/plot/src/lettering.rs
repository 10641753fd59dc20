//! Estimates of the width of text, without a font.

/// Stands for the letters that are left out of a name.
const ELLIPSIS: char = '…';

/// The width of a line of text: an upper bound for the bundled font.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(letter_width).sum::<f64>()
}

/// Shortens a text to one line no wider than `room`. Letters are left out of the middle: names of runs often
/// differ at their ends, by method and by seed.
pub(super) fn shortened(text: &str, room: f64, size: f64) -> String {
    // A control character would make the file unreadable.
    let letters: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let width_of = |letters: &[char]| size * letters.iter().copied().map(letter_width).sum::<f64>();
    if width_of(&letters) <= room {
        return letters.into_iter().collect();
    }
    let (mut head, mut tail) = (0, letters.len());
    let mut used = size * letter_width(ELLIPSIS);
    while head < tail {
        let next = if head + tail <= letters.len() { letters[head] } else { letters[tail - 1] };
        used += size * letter_width(next);
        if used > room {
            break;
        }
        if head + tail <= letters.len() {
            head += 1;
        } else {
            tail -= 1;
        }
    }
    letters[..head].iter().chain([&ELLIPSIS]).chain(&letters[tail..]).collect()
}

/// Breaks a text between words into lines no wider than `room`. A longer word is shortened; no text
/// has no lines.
pub(super) fn wrapped(text: &str, room: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shortened(word, room, size)),
        }
    }
    lines
}

/// The width of a letter in units of the font size. Classes of letters are precise enough for a layout.
fn letter_width(letter: char) -> f64 {
    match letter {
        _ if " !'(),-./IJfijlrt".contains(letter) => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        'a'..='z' | '0'..='9' | '_' => 0.64,
        ' '..='~' => 0.84,
        // The widest letters of other alphabets, and square ones.
        _ => 1.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = "cmd1-antmaze-giant-navigate-with-a-long-remark-seed-17";
        let short = shortened(name, 160.0, 11.0);
        assert!(short.starts_with("cmd1-") && short.ends_with("seed-17") && short.contains('…'), "{short}");
        assert!(width(&short, 11.0) <= 160.0);
        assert_eq!(shortened("qrl", 160.0, 11.0), "qrl");
    }

    #[test]
    fn notes_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 60.0, 11.0), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 600.0, 11.0), ["one two three"]);
        assert!(wrapped("", 60.0, 11.0).is_empty());
        assert!(wrapped("a-word-that-is-much-too-long-for-one-line", 60.0, 11.0)[0].contains('…'));
    }

    #[test]
    fn hostile_names_stay_on_one_line() {
        assert_eq!(shortened("a\n\u{1}b", 100.0, 11.0), "a  b");
        assert_eq!(shortened("name", 0.0, 11.0), "…");
        assert_eq!(shortened("", 0.0, 11.0), "");
    }
}
