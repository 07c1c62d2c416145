//! Closed sets of names, on the command line and in files.

use thiserror::Error;

/// A name that none of a set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("there is no such name")]
pub struct UnknownName;

/// Gives the members of an enum their names: `name`, `Display`, `FromStr`, and `NAMES`, which says in one
/// line what each one means, for help and completions.
///
/// # Examples
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Ties { Low, High }
/// evenhand_problem::names! { Ties: Low = "low", "The lowest index"; High = "high", "The highest index"; }
///
/// assert_eq!("high".parse(), Ok(Ties::High));
/// assert_eq!(Ties::Low.to_string(), "low");
/// assert!("middle".parse::<Ties>().is_err());
/// ```
#[macro_export]
macro_rules! names {
    ($set:ident: $($member:ident = $name:literal, $about:literal;)+) => {
        impl $set {
            /// Every member's name, and what it means.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$(($name, $about)),+];

            /// As on the command line and in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$member => $name),+
                }
            }
        }

        impl ::std::fmt::Display for $set {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $set {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> ::std::result::Result<Self, $crate::UnknownName> {
                match name {
                    $($name => Ok(Self::$member),)+
                    _ => Err($crate::UnknownName),
                }
            }
        }
    };
}
