//! Matrix products on plain slices, through the `gemm` crate that Burn's CPU backend uses too.

/// A row-major matrix, possibly seen transposed.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// `values` as rows of `columns` numbers.
    ///
    /// # Panics
    /// If `values` does not hold whole rows.
    pub fn new(values: &'a [f32], columns: usize) -> Self {
        assert!(columns > 0 && values.len().is_multiple_of(columns));
        Self { values, rows: values.len() / columns, columns, row_stride: columns, column_stride: 1 }
    }

    /// The same numbers with rows and columns exchanged.
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

/// `a b` as a new row-major matrix.
pub fn multiply(a: Matrix, b: Matrix) -> Vec<f32> {
    let size = a.rows * b.columns;
    let mut out = Vec::with_capacity(size);
    product(a, b, out.spare_capacity_mut().as_mut_ptr().cast(), false);
    // SAFETY: the product has written all `size` elements, for which there is capacity.
    #[expect(unsafe_code)]
    unsafe {
        out.set_len(size);
    }
    out
}

/// `out = a b`, or `out += a b`.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply_into(a: Matrix, b: Matrix, out: &mut [f32], add: bool) {
    assert_eq!(out.len(), a.rows * b.columns);
    product(a, b, out.as_mut_ptr(), add);
}

/// Writes (or adds to, if `add`) `a.rows * b.columns` numbers at `out`, which must have room for them.
#[expect(unsafe_code)]
fn product(a: Matrix, b: Matrix, out: *mut f32, add: bool) {
    assert_eq!(a.columns, b.rows, "inner sizes of a matrix product");
    let work = a.rows * a.columns * b.columns;
    let parallelism =
        if work > PARALLEL_FROM { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
    // SAFETY: strides and sizes describe the slices exactly (checked in `Matrix::new`), and both callers give `out` room
    // for the whole product, initialised when it is read.
    unsafe {
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
