// The map: states on two axes, colored by distance, with isochrones and layers.

const MARGIN = { left: 62, right: 14, top: 12, bottom: 46 };
const FONT = "12px 'DejaVu Sans', Verdana, sans-serif";

// Sets the size of a canvas in device pixels, and returns its context in CSS pixels.
function prepare(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  }
  const context = canvas.getContext("2d", { alpha: false });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

class StateMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.image = document.createElement("canvas");
  }

  // Shows states at other coordinates. With a plane, both axes have one scale.
  setAxes({ x, y, xName, yName, plane }) {
    Object.assign(this, { xs: x, ys: y, xName, yName, plane });
    this.x = plane ? plane.x : extent(x);
    this.y = plane ? plane.y : extent(y);
    this.resize();
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    Object.assign(this, { width, height });
    let [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
    [w, h] = [Math.max(w, 10), Math.max(h, 10)];
    const ratio = (this.x[1] - this.x[0]) / (this.y[1] - this.y[0]);
    if (this.plane && ratio > 0.2 && ratio < 5) [w, h] = [Math.min(w, h * ratio), Math.min(h, w / ratio)];
    const left = MARGIN.left + (width - MARGIN.left - MARGIN.right - w) / 2;
    this.frame = { left, top: MARGIN.top, width: w, height: h };
    const n = this.xs.length;
    this.px = Float32Array.from({ length: n }, (_, state) => this.left(this.xs[state]));
    this.py = Float32Array.from({ length: n }, (_, state) => this.top(this.ys[state]));
  }

  left(x) {
    return this.frame.left + (x - this.x[0]) / (this.x[1] - this.x[0]) * this.frame.width;
  }

  top(y) {
    return this.frame.top + (this.y[1] - y) / (this.y[1] - this.y[0]) * this.frame.height;
  }

  // The state nearest to a point of the canvas.
  stateAt(left, top) {
    let best = -1, nearest = Infinity;
    for (let state = 0; state < this.px.length; state++) {
      const square = (this.px[state] - left) ** 2 + (this.py[state] - top) ** 2;
      if (square < nearest) [nearest, best] = [square, state];
    }
    return best;
  }

  // The nearest state in a direction, for arrow keys: steps aside count twice.
  stateTowards(state, dx, dy) {
    let best = state, nearest = Infinity;
    for (let other = 0; other < this.px.length; other++) {
      const [x, y] = [this.px[other] - this.px[state], this.py[other] - this.py[state]];
      const ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (ahead < 6 || aside > ahead) continue;
      const length = ahead + 2 * aside;
      if (length < nearest) [nearest, best] = [length, other];
    }
    return best;
  }

  draw(view) {
    const { palette } = view;
    const context = prepare(this.canvas, this.width, this.height);
    this.context = context;
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, this.width, this.height);
    context.font = FONT;
    if (view.surface && view.fillsCells) this.drawCells(view);
    this.drawAxes(palette);
    this.drawStates(view);
    if (view.surface && view.showsIsochrones) this.drawIsochrones(view);
    drawLayers(this, context, view);
    this.drawPath(view);
    this.drawMarks(view);
  }

  // Cells are painted as an image of one pixel per cell, which the browser enlarges.
  drawCells({ surface, palette, max }) {
    const { columns, rows, values } = surface;
    if (this.image.width !== columns || this.image.height !== rows) {
      Object.assign(this.image, { width: columns, height: rows });
      this.pixels = null;
    }
    const context = this.image.getContext("2d");
    this.pixels ??= context.createImageData(columns, rows);
    for (let cell = 0, at = 0; cell < values.length; cell++, at += 4) {
      const value = values[cell];
      const shade = palette.shade(value, max);
      const color = shade < 0 ? palette.noneRgb : palette.rgb[shade];
      this.pixels.data[at] = color[0];
      this.pixels.data[at + 1] = color[1];
      this.pixels.data[at + 2] = color[2];
      this.pixels.data[at + 3] = Number.isNaN(value) ? 0 : 255;
    }
    context.putImageData(this.pixels, 0, 0);
    const { left, top, width, height } = this.frame;
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.image, left, top, width, height);
  }

  drawAxes(palette) {
    const { context, frame } = this;
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.strokeRect(frame.left + 0.5, frame.top + 0.5, frame.width - 1, frame.height - 1);
    context.fillStyle = palette.muted;
    context.textAlign = "center";
    context.textBaseline = "top";
    const bottom = frame.top + frame.height;
    for (const tick of ticks(this.x, frame.width / 80)) {
      context.fillRect(this.left(tick), bottom, 1, 5);
      context.fillText(tickLabel(tick), this.left(tick), bottom + 8);
    }
    context.fillStyle = palette.ink;
    context.fillText(this.xName, frame.left + frame.width / 2, bottom + 26, frame.width);
    context.fillStyle = palette.muted;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks(this.y, frame.height / 60)) {
      context.fillRect(frame.left - 5, this.top(tick), 5, 1);
      context.fillText(tickLabel(tick), frame.left - 8, this.top(tick));
    }
    context.save();
    context.translate(frame.left - 50, frame.top + frame.height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillStyle = palette.ink;
    context.fillText(this.yName, 0, 0, frame.height);
    context.restore();
  }

  // States of one shade are drawn together, far ones first, so that near ones are visible.
  drawStates({ values, palette, max, fillsCells }) {
    const { context, px, py } = this;
    const groups = Array.from({ length: SHADES + 1 }, () => []);
    for (let state = 0; state < px.length; state++) {
      groups[palette.shade(values[state], max) + 1].push(state);
    }
    if (fillsCells) {
      // The cells have the colors: states show only where there are data.
      context.fillStyle = palette.ink;
      context.globalAlpha = 0.22;
      for (let state = 0; state < px.length; state++) {
        context.fillRect(px[state] - 0.5, py[state] - 0.5, 1.3, 1.3);
      }
      context.globalAlpha = 1;
      return;
    }
    const size = px.length > 2500 ? 4 : 5;
    context.strokeStyle = palette.none;
    context.lineWidth = 1;
    context.beginPath();
    for (const state of groups[0]) context.rect(px[state] - 1.5, py[state] - 1.5, 3, 3);
    context.stroke();
    for (let shade = SHADES; shade > 0; shade--) {
      context.fillStyle = palette.css[shade - 1];
      for (const state of groups[shade]) {
        context.fillRect(px[state] - size / 2, py[state] - size / 2, size, size);
      }
    }
  }

  drawIsochrones({ surface, palette, max, interval, unit }) {
    const { context, frame } = this;
    const [dx, dy] = [frame.width / surface.columns, frame.height / surface.rows];
    const labels = [];
    for (let level = interval; level < max; level += interval) {
      const path = new Path2D();
      const middles = [];
      isoline(surface, level, interval, (x1, y1, x2, y2) => {
        path.moveTo(frame.left + x1 * dx, frame.top + y1 * dy);
        path.lineTo(frame.left + x2 * dx, frame.top + y2 * dy);
        middles.push([frame.left + x1 * dx, frame.top + y1 * dy]);
      });
      context.lineCap = "round";
      context.strokeStyle = palette.halo;
      context.globalAlpha = 0.55;
      context.lineWidth = 3;
      context.stroke(path);
      context.globalAlpha = 0.9;
      context.strokeStyle = palette.ink;
      context.lineWidth = 1.1;
      context.stroke(path);
      context.globalAlpha = 1;
      // A line of a few cells is too short for a label.
      const free = middles.length < 6 ? [] : middles.filter(([x, y]) =>
        labels.every((label) => Math.hypot(label.x - x, label.y - y) > 46));
      if (free.length) {
        const [x, y] = free[Math.floor(free.length / 2)];
        labels.push({ x, y, text: tickLabel(level) + unit });
      }
    }
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    for (const { x, y, text } of labels) haloText(context, palette, text, x, y);
  }

  drawPath({ path, palette }) {
    if (!path) return;
    const { context } = this;
    context.lineJoin = context.lineCap = "round";
    for (const [color, width] of [[palette.halo, 6], [palette.path, 2.6]]) {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.beginPath();
      path.forEach(([x, y], at) => context[at ? "lineTo" : "moveTo"](this.left(x), this.top(y)));
      context.stroke();
    }
  }

  drawMarks({ palette, start, goal, cursor, isTo }) {
    const { context } = this;
    const mark = (state, draw, text) => {
      const [x, y] = [this.px[state], this.py[state]];
      context.beginPath();
      draw(x, y);
      context.fillStyle = palette.paper;
      context.strokeStyle = palette.path;
      context.lineWidth = 2;
      context.fill();
      context.stroke();
      if (!text) return;
      context.textAlign = "left";
      context.textBaseline = "middle";
      haloText(context, palette, text, x + 13, y - 11);
    };
    const circle = (x, y) => context.arc(x, y, 7, 0, 2 * Math.PI);
    if (cursor >= 0) mark(cursor, isTo ? (x, y) => star(context, x, y, 10) : circle, "");
    if (start >= 0) mark(start, circle, "start");
    if (goal >= 0) mark(goal, (x, y) => star(context, x, y, 10), "goal");
  }
}

function star(context, x, y, radius) {
  for (let corner = 0; corner < 10; corner++) {
    const [angle, r] = [corner * Math.PI / 5 - Math.PI / 2, corner % 2 ? 0.45 * radius : radius];
    context[corner ? "lineTo" : "moveTo"](x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  context.closePath();
}

// Text that is legible on any color.
function haloText(context, palette, text, x, y) {
  context.strokeStyle = palette.halo;
  context.lineWidth = 3.5;
  context.strokeText(text, x, y);
  context.fillStyle = palette.path;
  context.fillText(text, x, y);
}

function ticks([low, high], parts) {
  const interval = roundInterval(high - low, Math.max(2, Math.min(8, parts)));
  const found = [];
  for (let tick = Math.ceil(low / interval); tick * interval <= high; tick++) found.push(tick * interval);
  return found;
}

function tickLabel(value) {
  return String(Number(value.toPrecision(6)));
}
