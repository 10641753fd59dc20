// Distances between states: a confirmed hop, or a path between landmarks near them.

const NEAR = 3;
const NEAR_DEAD_END = 32;
const MAX_HOP = 12;
const MAX_HOP_RADII = 4;

// States relative to the landmarks, projected: `[n, width]`.
class Places {
  constructor(landmarks, projected, width) {
    this.n = projected.length / width;
    this.projected = projected;
    this.count = Math.min(NEAR, landmarks.length / width);
    this.near = new Uint32Array(this.n * NEAR);
    this.hops = new Float32Array(this.n * NEAR);
    for (let row = 0; row < this.n; row++) {
      nearestFew(landmarks, projected, row, width, NEAR, this.near, this.hops, row * NEAR);
    }
    // One bit per near landmark, set once the table is known.
    this.starts = new Uint8Array(this.n);
    this.ends = new Uint8Array(this.n);
    // Lists of landmarks near dead ends, by row: of starts and of ends.
    this.nearDeadEnds = [new Map(), new Map()];
  }
}

class Distance {
  constructor(data) {
    const { graph } = data;
    this.width = graph.scales.filter((scale) => scale > 0).length;
    this.landmarks = project(graph.landmarks, data.columns.length, graph.scales);
    this.n = this.landmarks.length / this.width;
    this.radius = fround(graph.radius);
    this.maxHop = Math.min(MAX_HOP, fround(fround(MAX_HOP_RADII * this.radius) + 2));
    this.graph = new Graph({ ...graph, landmarkCount: this.n });
    // Steps between all pairs of landmarks, `[to, from]`.
    this.table = new Float32Array(this.n * this.n);
    this.column = Array.from({ length: NEAR }, () => new Float32Array(this.n));
  }

  // Computes rows of the table for some milliseconds; returns the next row.
  fillTable(row, milliseconds) {
    const end = performance.now() + milliseconds;
    for (; row < this.n && performance.now() < end; row++) {
      this.graph.stepsTo(row, this.table.subarray(row * this.n, (row + 1) * this.n));
    }
    return row;
  }

  places(projected) {
    return new Places(this.landmarks, projected, this.width);
  }

  isConfirmed(hop, along) {
    return hop <= this.maxHop
      && along <= fround(fround(fround(fround(1.3) * hop) + fround(2 * this.radius)) + 1);
  }

  isHop(from, to) {
    const hop = apart(this.landmarks, from, this.landmarks, to, this.width);
    return this.isConfirmed(hop, this.table[to * this.n + from]);
  }

  // Marks the near landmarks that a confirmed hop connects with each state.
  confirm(places) {
    for (let row = 0; row < places.n; row++) {
      const nearest = places.near[row * NEAR];
      for (let k = 0; k < places.count; k++) {
        const other = places.near[row * NEAR + k];
        if (k === 0 || this.isHop(nearest, other)) places.starts[row] |= 1 << k;
        if (k === 0 || this.isHop(other, nearest)) places.ends[row] |= 1 << k;
      }
    }
  }

  // The confirmed landmarks of a state, as [landmark, hop].
  confirmed(places, row, isStart) {
    const mask = (isStart ? places.starts : places.ends)[row];
    const found = [];
    for (let k = 0; k < places.count; k++) {
      if (mask & (1 << k)) found.push([places.near[row * NEAR + k], places.hops[row * NEAR + k]]);
    }
    return found;
  }

  isDeadEnd(places, row, isStart) {
    const nearest = places.near[row * NEAR];
    return isStart ? !this.graph.hasEdgeFrom[nearest] : !this.graph.hasEdgeTo(nearest);
  }

  // The possible landmarks if no edge starts (or ends) at the nearest: those up to one cover radius
  // farther away, which the graph cannot distinguish from it.
  nearDeadEnd(places, row, isStart) {
    if (!this.isDeadEnd(places, row, isStart)) return this.confirmed(places, row, isStart);
    const cache = places.nearDeadEnds[isStart ? 0 : 1];
    if (!cache.has(row)) cache.set(row, this.withinRadius(places, row));
    return cache.get(row);
  }

  withinRadius(places, row) {
    const found = new Uint32Array(NEAR_DEAD_END), hops = new Float32Array(NEAR_DEAD_END);
    const known = nearestFew(
      this.landmarks, places.projected, row, this.width, NEAR_DEAD_END, found, hops, 0);
    const farthest = fround(hops[0] + Math.min(this.radius, MAX_HOP));
    const list = [];
    for (let k = 0; k < known && hops[k] <= farthest; k++) list.push([found[k], hops[k]]);
    return list;
  }

  // The shortest path between landmarks of two lists: [steps, first, last].
  shortest(starts, ends) {
    let best = [Infinity, 0, 0];
    for (const [last, hopTo] of ends) {
      for (const [first, hopFrom] of starts) {
        const through = fround(fround(hopFrom + this.table[last * this.n + first]) + hopTo);
        if (through < best[0]) best = [through, first, last];
      }
    }
    return best;
  }

  along(fromPlaces, from, toPlaces, to) {
    const best = this.shortest(
      this.confirmed(fromPlaces, from, true), this.confirmed(toPlaces, to, false));
    if (best[0] < Infinity) return best;
    return this.shortest(
      this.nearDeadEnd(fromPlaces, from, true), this.nearDeadEnd(toPlaces, to, false));
  }

  // The distance in steps and, unless it is a single hop, the path's first and last landmark.
  route(fromPlaces, from, toPlaces, to) {
    const hop = apart(fromPlaces.projected, from, toPlaces.projected, to, this.width);
    if (hop === 0) return { steps: 0 };
    const [steps, first, last] = this.along(fromPlaces, from, toPlaces, to);
    if (hop <= steps && this.isConfirmed(hop, steps)) return { steps: hop };
    return steps < Infinity ? { steps, first, last } : { steps };
  }

  // Writes the distances of all places to one state (or from it). This is `route` for many pairs,
  // without a list per pair: it runs at every movement of the pointer.
  field(places, onePlaces, one, isTo, steps) {
    const { n, table, column, graph } = this;
    const list = this.confirmed(onePlaces, one, !isTo);
    // The steps between a landmark of the one state and all landmarks, contiguous.
    list.forEach(([landmark], k) => {
      if (isTo) column[k].set(table.subarray(landmark * n, (landmark + 1) * n));
      else for (let other = 0; other < n; other++) column[k][other] = table[other * n + landmark];
    });
    const masks = isTo ? places.starts : places.ends;
    const oneIsDeadEnd = this.isDeadEnd(onePlaces, one, !isTo);
    for (let row = 0; row < places.n; row++) {
      let along = Infinity;
      for (let k = 0; k < list.length; k++) {
        const through = column[k], hopOne = list[k][1];
        for (let near = 0; near < places.count; near++) {
          if (!(masks[row] & (1 << near))) continue;
          const at = row * NEAR + near;
          const between = through[places.near[at]];
          // The hop at the start is added first, as in `shortest`.
          const sum = isTo
            ? fround(fround(places.hops[at] + between) + hopOne)
            : fround(fround(hopOne + between) + places.hops[at]);
          if (sum < along) along = sum;
        }
      }
      if (along === Infinity) {
        const nearest = places.near[row * NEAR];
        const isDeadEnd = isTo ? !graph.hasEdgeFrom[nearest] : !graph.hasEdgeTo(nearest);
        if (isDeadEnd || oneIsDeadEnd) {
          const mine = this.nearDeadEnd(places, row, isTo);
          const other = this.nearDeadEnd(onePlaces, one, !isTo);
          along = (isTo ? this.shortest(mine, other) : this.shortest(other, mine))[0];
        }
      }
      const hop = apart(places.projected, row, onePlaces.projected, one, this.width);
      steps[row] = hop === 0 ? 0
        : hop <= along && this.isConfirmed(hop, along) ? hop : along;
    }
  }
}
