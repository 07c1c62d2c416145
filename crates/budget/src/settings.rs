//! Settings of solvers as tables.

/// Structs of settings, each with a constant of its defaults: `Name as CONSTANT { field: type = default; }`.
#[macro_export]
macro_rules! settings {
    ($($(#[$about:meta])* $name:ident as $defaults:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $value:expr;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        /// The defaults.
        pub const $defaults: $name = $name { $($field: $value,)* };
    )*};
}
