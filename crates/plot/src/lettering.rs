//! How much room letters take, known before any font is asked.

/// What stands for the letters left out of a name.
const ELLIPSIS: char = '…';

/// The width of a line of text, never less than it is in the bundled font.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(letter_width).sum::<f64>()
}

/// The text on one line, no wider than `room`. Letters are left out of the middle: names of runs often differ at
/// their ends, by method and by seed.
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

/// In units of the font size, by classes: an exact table would be longer than what it saves.
fn letter_width(letter: char) -> f64 {
    match letter {
        _ if " !'(),-./IJfijlrt".contains(letter) => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        'a'..='z' | '0'..='9' | '_' => 0.64,
        ' '..='~' => 0.84,
        // The widest of other alphabets, and letters of fonts that are as wide as they are high.
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
    fn hostile_names_stay_on_one_line() {
        assert_eq!(shortened("a\n\u{1}b", 100.0, 11.0), "a  b");
        assert_eq!(shortened("name", 0.0, 11.0), "…");
        assert_eq!(shortened("", 0.0, 11.0), "");
    }
}
