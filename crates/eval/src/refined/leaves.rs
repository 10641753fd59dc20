//! Points in leaves: groups of points that are near each other, with their boxes.

/// The number of points in a leaf, and of boxes that are compared at once.
pub(super) const LANES: usize = 16;
/// The number of coordinates that are compared before a leaf can be skipped.
const COORDINATES: usize = 8;
/// Fills the last leaf.
pub(super) const NO_POINT: u32 = u32::MAX;

/// Points in leaves of [`LANES`], coordinate by coordinate, and the boxes that contain them.
///
/// The distance to a box is computed with the operations of the distance to a point, in the same
/// order. Rounding is monotonic, so it never exceeds the distance to a point in the box, and a
/// search that skips leaves by their boxes finds the bits that comparing all points finds.
pub(super) struct Leaves {
    width: usize,
    /// The numbers of the points, `[leaves, LANES]`; padded with [`NO_POINT`].
    pub numbers: Vec<u32>,
    /// `[leaves, width, LANES]`; padded with infinity.
    values: Vec<f32>,
    /// The lower and upper corners of boxes, `[groups of leaves, width, 2, LANES]`; padded with
    /// infinity.
    boxes: Vec<f32>,
}

impl Leaves {
    /// Arranges `[n, width]` points.
    pub fn new(points: &[f32], width: usize) -> Self {
        let mut numbers: Vec<u32> = (0..(points.len() / width) as u32).collect();
        arrange(&mut numbers, points, width);
        let leaves = numbers.len().div_ceil(LANES);
        let mut values = vec![f32::INFINITY; leaves * width * LANES];
        let mut boxes = vec![f32::INFINITY; leaves.div_ceil(LANES) * width * 2 * LANES];
        for (leaf, numbers) in numbers.chunks(LANES).enumerate() {
            for coordinate in 0..width {
                let of_leaf = numbers.iter().map(|&number| points[number as usize * width + coordinate]);
                let place = (leaf * width + coordinate) * LANES;
                values[place..].iter_mut().zip(of_leaf.clone()).for_each(|(to, value)| *to = value);
                let place = (leaf / LANES * width + coordinate) * 2 * LANES + leaf % LANES;
                [boxes[place], boxes[place + LANES]] = side(of_leaf);
            }
        }
        numbers.resize(leaves * LANES, NO_POINT);
        Self { width, numbers, values, boxes }
    }

    /// Returns the number of leaves.
    pub fn len(&self) -> usize {
        self.numbers.len() / LANES
    }

    /// Returns the numbers of the points of a leaf.
    #[inline(always)]
    pub fn numbers_of(&self, leaf: usize) -> &[u32] {
        &self.numbers[leaf * LANES..][..LANES]
    }

    /// Returns the squared distances from a row to the points of a leaf; `None` if all are above
    /// `limit`, for which some coordinates may suffice, since a sum of squares only grows.
    #[inline(always)]
    pub fn squares_within(&self, leaf: usize, row: &[f32], limit: f32) -> Option<[f32; LANES]> {
        let points = &self.values[leaf * self.width * LANES..][..self.width * LANES];
        let mut squares = [0f32; LANES];
        for (values, points) in row.chunks(COORDINATES).zip(points.chunks(COORDINATES * LANES)) {
            for (value, points) in values.iter().zip(points.chunks_exact(LANES)) {
                for lane in 0..LANES {
                    let apart = value - points[lane];
                    squares[lane] += apart * apart;
                }
            }
            if !is_any_within(&squares, limit) {
                return None;
            }
        }
        Some(squares)
    }

    /// Returns lower bounds on the squared distances from a row to the points of [`LANES`] leaves.
    #[inline(always)]
    pub fn bounds(&self, group: usize, row: &[f32]) -> [f32; LANES] {
        let sides = &self.boxes[group * self.width * 2 * LANES..][..self.width * 2 * LANES];
        let mut bounds = [0f32; LANES];
        for (value, side) in row.iter().zip(sides.chunks_exact(2 * LANES)) {
            let (lower, upper) = side.split_at(LANES);
            for lane in 0..LANES {
                // A comparison with NaN is false, so that a value that is not a number excludes
                // nothing.
                let (below, above) = (lower[lane] - value, value - upper[lane]);
                let apart = if below > above { below } else { above };
                let apart = if apart > 0.0 { apart } else { 0.0 };
                bounds[lane] += apart * apart;
            }
        }
        bounds
    }

    /// Returns the number of groups of boxes.
    pub fn n_groups(&self) -> usize {
        self.len().div_ceil(LANES)
    }
}

/// Returns whether a value is at most `limit`.
#[inline(always)]
pub(super) fn is_any_within(values: &[f32; LANES], limit: f32) -> bool {
    // Without an early exit, so that all lanes are compared at once.
    let mut any = false;
    for value in values {
        any |= *value <= limit;
    }
    any
}

/// Orders points such that those of a leaf are near each other: halves them across the coordinate
/// in which they extend farthest, and then each half.
fn arrange(numbers: &mut [u32], points: &[f32], width: usize) {
    if numbers.len() <= LANES {
        return;
    }
    let extent = |coordinate: usize| {
        let [lower, upper] = side(numbers.iter().map(|&number| points[number as usize * width + coordinate]));
        upper - lower
    };
    let widest = (0..width).map(|coordinate| (extent(coordinate), coordinate));
    let (_, widest) =
        widest.fold((f32::NEG_INFINITY, 0), |best, one| if one.0 > best.0 { one } else { best });
    let value = |number: &u32| points[*number as usize * width + widest];
    // Only the last leaf is padded.
    let half = numbers.len().div_ceil(LANES) / 2 * LANES;
    numbers.select_nth_unstable_by(half, |a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
    let (lower, upper) = numbers.split_at_mut(half);
    arrange(lower, points, width);
    arrange(upper, points, width);
}

/// Returns the smallest and the largest value; everything if a value is not finite.
fn side(values: impl Iterator<Item = f32>) -> [f32; 2] {
    values.fold([f32::INFINITY, f32::NEG_INFINITY], |[lower, upper], value| match value.is_finite() {
        true => [lower.min(value), upper.max(value)],
        false => [f32::NEG_INFINITY, f32::INFINITY],
    })
}
