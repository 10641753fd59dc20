// Colors that color-blind readers can distinguish: viridis for distances, and the palette of Okabe
// and Ito for layers, each with its own shape.

const VIRIDIS = [
  [0x44, 0x01, 0x54], [0x47, 0x2d, 0x7b], [0x3b, 0x52, 0x8b], [0x2c, 0x72, 0x8e], [0x21, 0x91, 0x8c],
  [0x28, 0xae, 0x80], [0x5e, 0xc9, 0x62], [0xad, 0xdc, 0x30], [0xfd, 0xe7, 0x25]];
const SHADES = 64;

const THEMES = {
  light: {
    paper: "#ffffff", ink: "#1a1a1a", muted: "#5a5a5a", line: "#c8c8c8", none: "#d2d2d2",
    finding: "#d55e00", gap: "#b3478a", start: "#0072b2", path: "#000000", halo: "#ffffff", lift: 0,
  },
  dark: {
    paper: "#1c1c1e", ink: "#ececec", muted: "#b4b4b4", line: "#4a4a4a", none: "#565656",
    finding: "#ff9b52", gap: "#ee9fce", start: "#6cc5f7", path: "#ffffff", halo: "#000000", lift: 0.42,
  },
};

// Shades from near (0) to far (1). On dark paper, far colors are mixed with white, since dark purple
// would not be visible; lightness still decreases from near to far.
function shades({ lift }) {
  return Array.from({ length: SHADES }, (_, shade) => {
    const far = shade / (SHADES - 1);
    const at = (1 - far) * (VIRIDIS.length - 1);
    const below = Math.min(Math.floor(at), VIRIDIS.length - 2);
    return VIRIDIS[below].map((value, channel) => {
      const color = value + (at - below) * (VIRIDIS[below + 1][channel] - value);
      return Math.round(color + lift * far * (255 - color));
    });
  });
}

class Palette {
  constructor(isDark) {
    Object.assign(this, isDark ? THEMES.dark : THEMES.light);
    this.rgb = shades(this);
    this.css = this.rgb.map(([red, green, blue]) => `rgb(${red},${green},${blue})`);
    this.noneRgb = [1, 3, 5].map((at) => parseInt(this.none.slice(at, at + 2), 16));
  }

  // The shade of a value; -1 without a path.
  shade(value, max) {
    if (!Number.isFinite(value)) return -1;
    return Math.min(SHADES - 1, Math.max(0, Math.round(value / max * (SHADES - 1))));
  }
}
