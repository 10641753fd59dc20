//! Colors that color-blind readers can distinguish, also in grayscale prints.

/// Anchors of the viridis map (Smith and van der Walt, CC0), dark to light.
const VIRIDIS: [u32; 9] =
    [0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725];

pub(super) const WALL: &str = "#e4e4e4";
pub(super) const STONE: &str = "#b9b4aa";
pub(super) const UNREACHABLE: &str = "#ffffff";
pub(super) const HATCH: &str = "#9a9a9a";
pub(super) const INK: &str = "#1a1a1a";
pub(super) const PAPER: &str = "#ffffff";

/// Colors of lines (Okabe and Ito 2008), which color-blind readers can distinguish; without yellow,
/// which is too light for a thin line on white paper.
pub(super) const LINES: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK];

/// A color as `#rrggbb`: yellow for near (`far = 0`), dark purple for far (`far = 1`).
pub(super) fn near_to_far(far: f64) -> String {
    let at = (1.0 - far.clamp(0.0, 1.0)) * (VIRIDIS.len() - 1) as f64;
    let below = (at as usize).min(VIRIDIS.len() - 2);
    let part = at - below as f64;
    hex(|channel| {
        let [a, b] = [below, below + 1].map(|anchor| f64::from(VIRIDIS[anchor].to_be_bytes()[1 + channel]));
        a + part * (b - a)
    })
}

/// A color for a difference between -1 and 1: from blue over white at zero to red (Okabe and Ito's
/// blue and vermilion).
pub(super) fn below_to_above(part: f64) -> String {
    let end: [f64; 3] = if part < 0.0 { [0.0, 84.0, 148.0] } else { [190.0, 62.0, 0.0] };
    let strength = part.abs().min(1.0);
    hex(|channel| 255.0 + strength * (end[channel] - 255.0))
}

/// A color from its red, green and blue channels, each up to 255.
fn hex(part: impl Fn(usize) -> f64) -> String {
    let [red, green, blue] = [0, 1, 2].map(|channel| part(channel).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A legible text color on [`near_to_far`] of the same value.
pub(super) fn ink_on(far: f64) -> &'static str {
    if far > 0.45 { PAPER } else { INK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_light_and_far_is_dark() {
        assert_eq!(near_to_far(0.0), "#fde725");
        assert_eq!(near_to_far(1.0), "#440154");
        assert_eq!(near_to_far(7.0), "#440154");
    }
}
