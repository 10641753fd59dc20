//! Enums whose variants have names.

/// Defines an enum, with a list of all its variants and a function that names them.
macro_rules! named_enum {
    ($(#[$attribute:meta])* pub enum $type:ident, $visibility:vis fn name {
        $($(#[$variant_attribute:meta])* $variant:ident = $name:literal,)*
    }) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$variant_attribute])* $variant,)*
        }

        impl $type {
            /// All variants.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name of the variant.
            $visibility fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
