//! Closed sets of names on the command line and in files, suggestions for misspelt names, and a macro for getters.

use thiserror::Error;

/// The error for a name that is not in its closed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("there is no such name")]
pub struct UnknownName;

/// Gives the members of an enum their names: `name`, `Display`, `FromStr`, and `NAMES`. `NAMES` describes each
/// member in one line, for help and completions.
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
            /// The name and the description of every member.
            pub const NAMES: &'static [(&'static str, &'static str)] = &[$(($name, $about)),+];

            /// Returns the name on the command line and in files.
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

/// The length in characters of the longest name that is compared. Computing an edit distance takes time in proportion
/// to the product of the lengths.
const LONGEST: usize = 64;

/// Returns the known name nearest to `name`, if it is near enough: at most one edit for every three characters. Edits
/// are insertions, deletions, replacements and swaps. Upper and lower case count as equal. Among equally near names it
/// returns the first.
///
/// # Examples
/// ```
/// use evenhand_problem::nearest;
/// assert_eq!(nearest("memry", ["cpu", "memory"]), Some("memory"));
/// assert_eq!(nearest("CPU", ["cpu", "memory"]), Some("cpu"));
/// assert_eq!(nearest("disk", ["cpu", "memory"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let near = known.into_iter().filter_map(|known| {
        let other = known.chars().take(LONGEST + 1).count();
        let most = length.max(other).div_ceil(3);
        if other > LONGEST || length.abs_diff(other) > most {
            return None;
        }
        let edits = strsim::osa_distance(&lower, &known.to_lowercase());
        (edits <= most && edits < length.max(other)).then_some((edits, known))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// Returns ` (did you mean `x`?)`, or an empty string if no known name is near enough.
#[must_use]
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(nearest(name, known))
}

pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// Methods that return a reference to a field of a type, each with the name of the field.
macro_rules! getters {
    ($type:ty: $($(#[$about:meta])+ $field:ident: $of:ty;)+) => {
        impl $type {
            $(
                $(#[$about])+
                #[must_use]
                pub fn $field(&self) -> &$of {
                    &self.$field
                }
            )+
        }
    };
}
pub(crate) use getters;
