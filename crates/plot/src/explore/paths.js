// Shortest paths along recorded segments, searched backwards from a goal landmark.

class Graph {
  constructor({ edges, connections, landmarkCount }) {
    this.n = landmarkCount;
    this.edges = edges;
    this.connections = connections;
    this.firstInto = new Uint32Array(this.n + 1);
    this.hasEdgeFrom = new Uint8Array(this.n);
    for (let edge = 0; edge < edges.to.length; edge++) {
      this.firstInto[edges.to[edge] + 1]++;
      this.hasEdgeFrom[edges.from[edge]] = 1;
    }
    for (let landmark = 0; landmark < this.n; landmark++) {
      this.firstInto[landmark + 1] += this.firstInto[landmark];
    }
    this.firstConnection = new Uint32Array(edges.to.length + 1);
    connections.count.forEach((count, edge) => {
      this.firstConnection[edge + 1] = this.firstConnection[edge] + count;
    });
    this.cost = new Float32Array(this.n);
    this.isSettled = new Uint8Array(this.n);
    this.fromRow = new Float32Array(this.n);
    this.order = new Uint32Array(this.n);
    this.firstEdges = new Int32Array(this.n);
    this.buckets = [];
  }

  hasEdgeTo(landmark) {
    return this.firstInto[landmark] < this.firstInto[landmark + 1];
  }

  // Dial's algorithm: every edge costs at least one step, so that landmarks in a bucket one step
  // wide cannot improve each other. Fills `firstEdges` (-1: none) and `order`; returns the number
  // of landmarks with a path.
  search(goal) {
    const { cost, firstEdges, order, isSettled, buckets, firstInto, edges } = this;
    cost.fill(Infinity);
    firstEdges.fill(-1);
    isSettled.fill(0);
    cost[goal] = 0;
    let found = 0;
    (buckets[0] ??= []).push(goal);
    for (let bucket = 0, last = 0; bucket <= last; bucket++) {
      const open = buckets[bucket];
      if (!open) continue;
      for (let place = 0; place < open.length; place++) {
        const to = open[place];
        if (isSettled[to]) continue;
        isSettled[to] = 1;
        order[found++] = to;
        for (let edge = firstInto[to]; edge < firstInto[to + 1]; edge++) {
          const from = edges.from[edge];
          const through = fround(cost[to] + edges.cost[edge]);
          if (through < cost[from]) {
            cost[from] = through;
            firstEdges[from] = edge;
            const at = Math.floor(through);
            (buckets[at] ??= []).push(from);
            if (at > last) last = at;
          }
        }
      }
      open.length = 0;
    }
    return found;
  }

  // Writes the steps from every landmark to a goal, with direct hops between segments.
  stepsTo(goal, steps) {
    const found = this.search(goal);
    const { firstEdges, order, fromRow, edges } = this;
    steps.fill(Infinity);
    steps[goal] = 0;
    fromRow[goal] = 0;
    for (let place = 1; place < found; place++) {
      const landmark = order[place];
      const edge = firstEdges[landmark];
      const next = edges.to[edge];
      const hop = next === goal ? edges.after[edge] : this.hopBetween(edge, firstEdges[next]);
      const rest = fround(fround(edges.steps[edge] + hop) + fromRow[next]);
      fromRow[landmark] = rest;
      steps[landmark] = fround(edges.before[edge] + rest);
    }
  }

  // The direct hop from the end of an edge to the start of the next.
  hopBetween(edge, next) {
    const end = this.edges.to[next];
    const { nextTo, hop } = this.connections;
    for (let at = this.firstConnection[edge]; at < this.firstConnection[edge + 1]; at++) {
      if (nextTo[at] === end) return hop[at];
    }
    return NaN;
  }

  // The edges of the path between two landmarks, which must exist.
  path(from, goal) {
    this.search(goal);
    const path = [];
    for (let here = from; here !== goal; here = this.edges.to[path[path.length - 1]]) {
      path.push(this.firstEdges[here]);
    }
    return path;
  }
}
