//! Trait implementations for references and smart pointers.

/// Implements a trait for pointers to its implementors, so that wrappers can own or borrow the
/// wrapped value.
macro_rules! forward {
    ($trait:ident for $($pointer:ty)|+, $methods:tt) => {
        $(forward!(@ $trait for $pointer, $methods);)+
    };
    (@ $trait:ident for $pointer:ty, {
        $(fn $method:ident($($argument:ident: $type:ty),*) -> $output:ty;)*
    }) => {
        impl<T: $trait + ?Sized> $trait for $pointer {
            $(fn $method(&self, $($argument: $type),*) -> $output {
                (**self).$method($($argument),*)
            })*
        }
    };
}
