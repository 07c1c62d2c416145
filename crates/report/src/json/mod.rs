//! Every result as a JSON document: numbers exact, as text.

mod comparison;
mod explanation;
mod findings;
mod groups;
mod ratio;
mod value;

pub use comparison::comparison;
pub use explanation::explanation;
pub use findings::{examination, findings};
pub use groups::{entitlements, levels, why};
pub use ratio::{monotone, ratio, sweep, worst_load};
pub use value::document;
