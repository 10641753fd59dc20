// Values on a grid of cells over the map, and the isochrones through them.

const CELLS = 72;
// States that are near each other on the map may be far apart in time, since two axes show only a
// part of a state. A cell averages many of them, so that its isochrones show the large scale.
const AVERAGED = 32;
const REACH = 4;
// A cell farther from all states, in cells, has no value.
const MAX_EMPTY = 1.5;
// Neighboring values that differ by more than this many intervals are on two sides of a wall or of
// a one-way passage, and no line is drawn between them.
const MAX_INTERVALS = 2.5;

// A grid whose cells are states themselves: the plane of two-dimensional observations.
class PlaneSurface {
  constructor(plane, distance, scales, axes) {
    const { x, y, columns, rows, known } = plane;
    Object.assign(this, { x, y, columns, rows });
    this.values = new Float32Array(columns * rows).fill(NaN);
    this.cells = [];
    const centers = [];
    for (let cell = 0; cell < columns * rows; cell++) {
      if (!(known[cell >> 3] & (1 << (cell & 7)))) continue;
      this.cells.push(cell);
      const center = [
        x[0] + ((cell % columns) + 0.5) / columns * (x[1] - x[0]),
        y[1] - (Math.floor(cell / columns) + 0.5) / rows * (y[1] - y[0])];
      // The first axis of the map may be the second column.
      centers.push(...(axes[0] === 0 ? center : [center[1], center[0]]));
    }
    this.places = distance.places(project(new Float32Array(centers), 2, scales));
    this.steps = new Float32Array(this.cells.length);
  }

  confirm(distance) {
    distance.confirm(this.places);
  }

  update(distance, states, one, isTo) {
    distance.field(this.places, states, one, isTo, this.steps);
    this.cells.forEach((cell, at) => { this.values[cell] = this.steps[at]; });
  }
}

// A grid whose cells average the states near them on the map: any two axes.
class AverageSurface {
  constructor(x, y, xRange, yRange) {
    this.x = xRange;
    this.y = yRange;
    this.columns = this.rows = CELLS;
    const n = CELLS * CELLS;
    this.values = new Float32Array(n).fill(NaN);
    this.states = new Int32Array(n * AVERAGED).fill(-1);
    this.weights = new Float32Array(n * AVERAGED);
    const place = (value, [low, high]) => (value - low) / (high - low) * CELLS;
    const members = Array.from({ length: n }, () => []);
    const at = [];
    for (let state = 0; state < x.length; state++) {
      const here = [place(x[state], xRange), CELLS - place(y[state], yRange)];
      at.push(here);
      const [column, row] = here.map((value) => Math.min(CELLS - 1, Math.max(0, Math.floor(value))));
      members[row * CELLS + column].push(state);
    }
    const around = Math.ceil(REACH);
    for (let cell = 0; cell < n; cell++) {
      const [column, row] = [cell % CELLS, Math.floor(cell / CELLS)];
      const near = [];
      for (let r = Math.max(0, row - around); r <= Math.min(CELLS - 1, row + around); r++) {
        for (let c = Math.max(0, column - around); c <= Math.min(CELLS - 1, column + around); c++) {
          for (const state of members[r * CELLS + c]) {
            const far = Math.hypot(at[state][0] - column - 0.5, at[state][1] - row - 0.5);
            if (far <= REACH) near.push([far, state]);
          }
        }
      }
      near.sort((a, b) => a[0] - b[0]);
      if (!near.length || near[0][0] > MAX_EMPTY) continue;
      near.slice(0, AVERAGED).forEach(([far, state], k) => {
        this.states[cell * AVERAGED + k] = state;
        this.weights[cell * AVERAGED + k] = Math.exp(-far * far / 4);
      });
    }
  }

  // A cell is unreachable if most of its states are.
  average(steps) {
    for (let cell = 0; cell < this.values.length; cell++) {
      let sum = 0, finite = 0, infinite = 0;
      for (let k = cell * AVERAGED; k < (cell + 1) * AVERAGED && this.states[k] >= 0; k++) {
        const value = steps[this.states[k]];
        if (Number.isFinite(value)) {
          sum += this.weights[k] * value;
          finite += this.weights[k];
        } else infinite += this.weights[k];
      }
      this.values[cell] = finite + infinite === 0 ? NaN : finite >= infinite ? sum / finite : Infinity;
    }
  }
}

// Calls `line(x1, y1, x2, y2)` in units of cells for every part of the line at `level`, between the
// centers of four neighboring cells.
function isoline(surface, level, interval, line) {
  const { columns, rows, values } = surface;
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const at = row * columns + column;
      const a = values[at], b = values[at + 1], c = values[at + columns + 1], d = values[at + columns];
      const low = Math.min(a, b, c, d), high = Math.max(a, b, c, d);
      // Also false for cells without a value.
      if (!(low < level && high >= level && high - low < MAX_INTERVALS * interval)) continue;
      const x = column + 0.5, y = row + 0.5;
      const points = [];
      const cross = (p, q, x1, y1, x2, y2) => {
        if ((p < level) === (q < level)) return;
        const t = (level - p) / (q - p);
        points.push(x1 + t * (x2 - x1), y1 + t * (y2 - y1));
      };
      cross(a, b, x, y, x + 1, y);
      cross(b, c, x + 1, y, x + 1, y + 1);
      cross(c, d, x + 1, y + 1, x, y + 1);
      cross(d, a, x, y + 1, x, y);
      for (let k = 0; k + 3 < points.length; k += 4) line(...points.slice(k, k + 4));
    }
  }
}

// The number 1, 2 or 5 times a power of ten that splits `extent` into about `parts` parts.
function roundInterval(extent, parts) {
  const raw = extent / parts;
  if (!(raw > 0) || !Number.isFinite(raw)) return 1;
  const decade = 10 ** Math.floor(Math.log10(raw));
  return decade * [1, 2, 5, 10].find((factor) => factor * decade >= raw * 0.999);
}
