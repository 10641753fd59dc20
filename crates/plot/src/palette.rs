//! Colors that survive color blindness and grey printing.

/// Anchors of the viridis map (Smith and van der Walt, CC0), dark to light.
const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 45, 123],
    [59, 82, 139],
    [44, 114, 142],
    [33, 145, 140],
    [40, 174, 128],
    [94, 201, 98],
    [173, 220, 48],
    [253, 231, 37],
];

pub(super) const WALL: &str = "#e4e4e4";
pub(super) const STONE: &str = "#b9b4aa";
pub(super) const UNREACHABLE: &str = "#ffffff";
pub(super) const HATCH: &str = "#9a9a9a";
pub(super) const INK: &str = "#1a1a1a";
pub(super) const PAPER: &str = "#ffffff";

/// Colors of lines (Okabe and Ito 2008), told apart by color-blind readers; without yellow, which is too light
/// for a thin line on paper.
pub(super) const LINES: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK];

/// A color as `#rrggbb`: light near (`far = 0`), dark far (`far = 1`).
pub(super) fn near_to_far(far: f64) -> String {
    let at = (1.0 - far.clamp(0.0, 1.0)) * (VIRIDIS.len() - 1) as f64;
    let below = (at as usize).min(VIRIDIS.len() - 2);
    let part = at - below as f64;
    let mix = |channel: usize| {
        let (a, b) = (f64::from(VIRIDIS[below][channel]), f64::from(VIRIDIS[below + 1][channel]));
        (a + part * (b - a)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// A color for a difference between -1 and 1: blue, white at zero, red. Told apart by color-blind readers (Okabe and Ito's blue and vermilion).
pub(super) fn below_to_above(part: f64) -> String {
    let end: [f64; 3] = if part < 0.0 { [0.0, 84.0, 148.0] } else { [190.0, 62.0, 0.0] };
    let strength = part.abs().min(1.0);
    let mix = |channel: usize| (255.0 + strength * (end[channel] - 255.0)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Ink that can be read on [`near_to_far`] of the same value.
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
