// The planned path between two states: recorded segments, drawn through the landmarks near them.

// Returns the path, or null if none is known. `rows` are states of the page.
function plan(distance, data, states, from, to) {
  const { steps, first, last } = distance.route(states.places, from, states.places, to);
  if (steps === Infinity) return null;
  const valuesOf = (state) => rowOf(states.values, state, data.columns.length);
  if (first === undefined) return { steps, segments: [], points: [valuesOf(from), valuesOf(to)] };
  const { edges, landmarks } = data.graph;
  const points = [valuesOf(from)], segments = [];
  const through = (landmark) => points.push(rowOf(landmarks, landmark, data.columns.length));
  through(first);
  for (const edge of distance.graph.path(first, last)) {
    for (let k = 3 * edge; k < 3 * edge + 3; k++) through(edges.via[k]);
    through(edges.to[edge]);
    addSegment(segments, edges.row[edge], edges.steps[edge]);
  }
  points.push(valuesOf(to));
  return { steps, segments, points };
}

function rowOf(values, row, width) {
  return values.subarray(row * width, (row + 1) * width);
}

// Segments that continue each other in one episode are one.
function addSegment(segments, row, steps) {
  const last = segments[segments.length - 1];
  if (last && last.row + last.steps === row) last.steps += steps;
  else segments.push({ row, steps });
}
