//! Matrix products with the vector instructions of a narrower processor.
//!
//! The crate `gemm` chooses the widest instructions that the processor has. Its kernels for others
//! are public, but not its choice.

use gemm::Parallelism;
use gemm_common::{
    gemm::gemm_basic_generic,
    simd::{MixedSimd, Scalar, V3},
};
use isochrone_core::InstructionSet;

/// A product of column-major matrices in the order of arguments that the kernels have.
#[derive(Clone, Copy)]
pub(super) struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub out: *mut f32,
    pub out_column_stride: isize,
    pub add: bool,
    pub lhs: *const f32,
    /// The strides of columns and of rows.
    pub lhs_strides: [isize; 2],
    pub rhs: *const f32,
    pub rhs_strides: [isize; 2],
    pub parallelism: Parallelism,
}

/// Returns the product with narrower instructions than `gemm` may choose; `None` for the widest.
pub(super) fn of(instruction_set: InstructionSet) -> Option<unsafe fn(Product)> {
    match instruction_set {
        InstructionSet::Baseline => Some(with_scalars),
        InstructionSet::Avx2 => Some(with_avx2),
        _ => None,
    }
}

/// Defines a product with one set of kernels.
macro_rules! product {
    ($(#[$attribute:meta])* $name:ident, $simd:ty, $kernels:path, $lanes:expr) => {
        $(#[$attribute])*
        #[expect(unsafe_code)]
        unsafe fn $name(product: Product) {
            use $kernels as kernels;
            let Product { m, n, k, out, out_column_stride, add, lhs, lhs_strides, rhs, rhs_strides, parallelism } =
                product;
            let simd = <$simd as MixedSimd<f32, f32, f32, f32>>::try_new().expect("the processor has them");
            // SAFETY: by the contract of this function.
            unsafe {
                gemm_basic_generic::<
                    _,
                    f32,
                    $lanes,
                    { kernels::MR_DIV_N * $lanes },
                    { kernels::NR },
                    { kernels::MR_DIV_N },
                    { kernels::H_M },
                    { kernels::H_N },
                >(
                    simd,
                    m,
                    n,
                    k,
                    out,
                    out_column_stride,
                    1,
                    add,
                    lhs,
                    lhs_strides[0],
                    lhs_strides[1],
                    rhs,
                    rhs_strides[0],
                    rhs_strides[1],
                    1.0,
                    1.0,
                    false,
                    false,
                    false,
                    |a, b, c| a * b + c,
                    &kernels::UKR,
                    &kernels::H_UKR,
                    false,
                    parallelism,
                );
            }
        }
    };
}

product!(
    /// Computes a product with AVX2 and fused multiply-add.
    ///
    /// # Safety
    /// Sizes and strides describe memory that may be read, and `out` has room for the product,
    /// which is initialized if it is added to.
    with_avx2,
    V3,
    gemm_f32::microkernel::fma::f32,
    8
);
product!(
    /// Computes a product without vector instructions.
    ///
    /// # Safety
    /// As for [`with_avx2`].
    with_scalars,
    Scalar,
    gemm_f32::microkernel::scalar::f32,
    1
);
