// The color scale below the map.

function drawLegend(canvas, { palette, max, interval, label, title, isCut }) {
  const { width, height } = canvas.getBoundingClientRect();
  const context = prepare(canvas, width, height);
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, width, height);
  const [left, length] = [8, width - 40];
  for (let shade = 0; shade < SHADES; shade++) {
    context.fillStyle = palette.css[shade];
    context.fillRect(left + shade / SHADES * length, 0, length / SHADES + 1, 10);
  }
  context.font = "11px 'DejaVu Sans', Verdana, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillStyle = palette.ink;
  const every = Math.ceil(max / interval / (length / 52));
  for (let level = 0; level <= max * 1.001; level += interval * every) {
    const x = left + Math.min(1, level / max) * length;
    context.fillRect(x, 10, 1, 4);
    const isLast = level + interval * every > max * 1.001;
    context.fillText((isLast && isCut ? "≥ " : "") + label(level), x, 15);
  }
  context.textAlign = "left";
  context.fillStyle = palette.muted;
  context.fillText(title, left, 28);
}
