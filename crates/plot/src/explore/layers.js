// Layers on the map: findings, gaps and suggested start states. Each has its own color and shape.

function drawLayers(map, context, view) {
  const { palette, layers, shows, place } = view;
  if (shows.findings) drawFindings(map, context, palette, view.found);
  if (shows.gaps) for (const bridge of layers.bridges) drawBridge(map, context, palette, bridge, place);
  if (shows.starts) for (const start of layers.starts) drawStart(map, context, palette, start, place);
}

// A triangle at the first state of every finding; timelines show all frames of it.
function drawFindings(map, context, palette, states) {
  context.beginPath();
  for (const state of states) {
    const [x, y] = [map.px[state], map.py[state]];
    context.moveTo(x, y - 8);
    context.lineTo(x + 7.5, y + 5);
    context.lineTo(x - 7.5, y + 5);
    context.closePath();
  }
  context.lineJoin = "miter";
  for (const [color, width] of [[palette.halo, 5], [palette.finding, 2.2]]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  }
}

// A dashed arrow from one side of a gap to the other.
function drawBridge(map, context, palette, { from, to }, place) {
  const [[x1, y1], [x2, y2]] = [from, to].map(({ values }) => {
    const [x, y] = place(values);
    return [map.left(x), map.top(y)];
  });
  const angle = Math.atan2(y2 - y1, x2 - x1);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.lineWidth = 5;
  context.strokeStyle = palette.halo;
  context.stroke();
  context.lineWidth = 2.4;
  context.strokeStyle = palette.gap;
  context.setLineDash([7, 5]);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x2, y2);
  for (const turn of [-2.65, 2.65]) {
    context.lineTo(x2 + 11 * Math.cos(angle + turn), y2 + 11 * Math.sin(angle + turn));
  }
  context.closePath();
  context.fillStyle = palette.gap;
  context.fill();
}

// A plus in a circle. A start state has values of some columns only, so that it is drawn if both
// axes are among them.
function drawStart(map, context, palette, { columns }, place) {
  const at = place(columns);
  if (!at.every(Number.isFinite)) return;
  const [x, y] = [map.left(at[0]), map.top(at[1])];
  for (const [color, width] of [[palette.halo, 5], [palette.start, 2.4]]) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.moveTo(x - 5, y);
    context.lineTo(x + 5, y);
    context.moveTo(x, y - 5);
    context.lineTo(x, y + 5);
    context.stroke();
  }
}
