//! Functions compiled for several SIMD instruction sets.

/// Defines a function whose body is compiled once per instruction set; the best one is selected at
/// run time.
///
/// A closure passed to `Arch::dispatch` would do the same only if the compiler inlined it;
/// otherwise it would silently run with baseline SSE2 vectors. Here the body is always inlined. The
/// argument types use the lifetime `'a`.
macro_rules! vectorized {
    ($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, unused_parens)]
        fn $name<'a>(arch: pulp::Arch, $($argument: $type),*) $(-> $output)? {
            struct Task<'a> {
                $($argument: $type),*
            }
            impl<'a> pulp::WithSimd for Task<'a> {
                type Output = ($($output)?);

                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            arch.dispatch(Task { $($argument),* })
        }
    };
}
pub(super) use vectorized;
