//! Loops compiled for the vectors of the machine that runs them.

/// Defines a function whose body is compiled once per instruction set and chosen when it runs.
///
/// A closure given to `Arch::dispatch` would do the same, but only if the compiler cares to inline it; if not, it silently runs
/// with the vectors of 2003. Here the body is inlined by force. The argument types use the lifetime `'a`.
macro_rules! vectorised {
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
pub(super) use vectorised;
