//! Matrix products on plain slices with the `gemm` crate, which Burn's CPU backend also uses.

#[cfg(target_arch = "x86_64")]
use super::limited_product::Product;
#[cfg(target_arch = "x86_64")]
use isochrone_core::InstructionSet;

/// A view of a row-major matrix, possibly transposed.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Creates a view of `values` as a matrix with `columns` columns.
    ///
    /// # Panics
    /// If the length of `values` is not a multiple of `columns`.
    pub fn new(values: &'a [f32], columns: usize) -> Self {
        assert!(columns > 0 && values.len().is_multiple_of(columns));
        Self { values, rows: values.len() / columns, columns, row_stride: columns, column_stride: 1 }
    }

    /// Returns the view of some columns.
    pub(super) fn columns(self, columns: std::ops::Range<usize>) -> Self {
        assert!(columns.end <= self.columns);
        let values = &self.values[columns.start * self.column_stride..];
        Self { values, columns: columns.len(), ..self }
    }

    /// Returns the transposed view.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// Products below this many multiplications run on the calling thread.
const PARALLEL_FROM: usize = 1 << 18;

/// The threads that compute a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threads {
    /// The calling thread.
    One,
    /// All threads of the pool if the product is large.
    All,
}

/// Returns `a b` as a new row-major matrix.
pub fn multiply(a: Matrix, b: Matrix) -> Vec<f32> {
    multiply_on(Threads::All, a, b)
}

/// Returns `a b` as a new row-major matrix, computed by `threads`.
pub(super) fn multiply_on(threads: Threads, a: Matrix, b: Matrix) -> Vec<f32> {
    let size = size_of_product(a, b);
    let mut out = Vec::with_capacity(size);
    product(threads, a, b, out.spare_capacity_mut().as_mut_ptr().cast(), false);
    // SAFETY: `product` has written all `size` elements, and the capacity is sufficient.
    #[expect(unsafe_code)]
    unsafe {
        out.set_len(size);
    }
    out
}

/// Returns the number of elements of `a b`. A matrix without columns has any number of rows, so the
/// product of two empty ones can be larger than memory.
fn size_of_product(a: Matrix, b: Matrix) -> usize {
    a.rows.checked_mul(b.columns).expect("a product of at most usize::MAX numbers")
}

/// Computes `out = a b`, or `out += a b` if `add`.
///
/// # Panics
/// If the shapes do not match.
pub fn multiply_into(a: Matrix, b: Matrix, out: &mut [f32], add: bool) {
    multiply_into_on(Threads::All, a, b, out, add);
}

/// Computes `out = a b`, or `out += a b` if `add`, by `threads`.
pub(super) fn multiply_into_on(threads: Threads, a: Matrix, b: Matrix, out: &mut [f32], add: bool) {
    assert_eq!(out.len(), size_of_product(a, b));
    product(threads, a, b, out.as_mut_ptr(), add);
}

/// Writes `a b` to `out`, or adds it if `add`. `out` must have room for `a.rows * b.columns`
/// numbers.
#[expect(unsafe_code)]
fn product(threads: Threads, a: Matrix, b: Matrix, out: *mut f32, add: bool) {
    assert_eq!(a.columns, b.rows, "inner dimensions of a matrix product");
    let work = a.rows.saturating_mul(a.columns).saturating_mul(b.columns);
    let parallelism = match threads {
        Threads::All if work > PARALLEL_FROM => gemm::Parallelism::Rayon(0),
        _ => gemm::Parallelism::None,
    };
    // SAFETY: the strides and sizes describe parts of the slices (checked in `Matrix::new` and
    // `Matrix::columns`), and
    // both callers pass an `out` with room for the product, which is initialized if it is read.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if let Some(multiply) = super::limited_product::of(InstructionSet::in_use()) {
            // The transposed product, since kernels prefer results with contiguous columns.
            return multiply(Product {
                m: b.columns,
                n: a.rows,
                k: a.columns,
                out,
                out_column_stride: b.columns as isize,
                add,
                lhs: b.values.as_ptr(),
                lhs_strides: [b.row_stride as isize, b.column_stride as isize],
                rhs: a.values.as_ptr(),
                rhs_strides: [a.row_stride as isize, a.column_stride as isize],
                parallelism,
            });
        }
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            out,
            1,
            b.columns as isize,
            add,
            a.values.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.values.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of elements overflows, although both factors are empty.
    #[test]
    #[should_panic(expected = "usize::MAX")]
    fn a_product_larger_than_memory_is_refused() {
        let (a, b) = (Matrix::new(&[], 1 << 33).transposed(), Matrix::new(&[], 1 << 31));
        multiply_into(a, b, &mut [], false);
    }

    fn expected(a: Matrix, b: Matrix) -> Vec<f32> {
        let at = |m: Matrix, row, column| m.values[row * m.row_stride + column * m.column_stride];
        let sum = |row, column| (0..a.columns).map(|inner| at(a, row, inner) * at(b, inner, column)).sum();
        (0..a.rows)
            .flat_map(|row| (0..b.columns).map(move |column| (row, column)))
            .map(|(r, c)| sum(r, c))
            .collect()
    }

    /// `just miri` checks with it that products stay within their slices, which end with the last
    /// number of each view.
    #[test]
    fn products_of_views_equal_sums() {
        let values: Vec<f32> = (0..24).map(|number| number as f32).collect();
        let wide = Matrix::new(&values, 8);
        let tall = Matrix::new(&values, 3).transposed();
        let part = Matrix::new(&values, 4).columns(1..4);
        let empty = (Matrix::new(&[], 2).transposed(), Matrix::new(&[], 3));
        for (a, b) in [(part, wide), (part, tall), (wide.transposed(), tall), (tall.transposed(), wide)] {
            let product = expected(a, b);
            assert_eq!(multiply(a, b), product);
            let mut sum = product.clone();
            multiply_into(a, b, &mut sum, true);
            assert_eq!(sum, product.iter().map(|value| 2.0 * value).collect::<Vec<_>>());
        }
        assert_eq!(multiply(empty.0, empty.1), [0.0; 6]);
    }
}
