// The hop metric. All sums are rounded to single precision in the order of the command line, so
// that both give the same bits.

const fround = Math.fround;

// Multiplies columns by their steps per unit; columns without weight are left out.
function project(values, width, scales) {
  const used = [];
  scales.forEach((scale, column) => { if (scale > 0) used.push(column); });
  const n = values.length / width;
  const projected = new Float32Array(n * used.length);
  for (let row = 0, at = 0; row < n; row++) {
    for (const column of used) projected[at++] = values[row * width + column] * scales[column];
  }
  return projected;
}

function square(left, leftRow, right, rightRow, width) {
  let sum = 0;
  for (let k = 0, a = leftRow * width, b = rightRow * width; k < width; k++, a++, b++) {
    const apart = fround(left[a] - right[b]);
    sum = fround(sum + fround(apart * apart));
  }
  return sum;
}

// The hop between two rows, in steps.
function apart(left, leftRow, right, rightRow, width) {
  return fround(Math.sqrt(square(left, leftRow, right, rightRow, width)));
}

// Writes the `few` nearest points of a row, nearest first; ties are broken by index.
function nearestFew(points, row, at, width, few, found, hops, offset) {
  const n = points.length / width;
  let known = 0;
  for (let point = 0; point < n; point++) {
    const here = square(row, at, points, point, width);
    if (known === few && hops[offset + few - 1] <= here) continue;
    let place = known < few ? known++ : few - 1;
    for (; place > 0 && hops[offset + place - 1] > here; place--) {
      hops[offset + place] = hops[offset + place - 1];
      found[offset + place] = found[offset + place - 1];
    }
    hops[offset + place] = here;
    found[offset + place] = point;
  }
  for (let place = offset; place < offset + known; place++) hops[place] = Math.sqrt(hops[place]);
  return known;
}
