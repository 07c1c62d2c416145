//! Every result as a JSON document: numbers exact, as text.

mod comparison;
mod entitlements;
mod examination;
mod explanation;
mod findings;
mod levels;
mod ratio;
mod why;

use serde_json::{Value, json};

pub use comparison::comparison;
pub use entitlements::entitlements;
pub use examination::examination;
pub use explanation::explanation;
pub use findings::findings;
pub use levels::levels;
pub use ratio::{monotone, ratio, sweep, worst_load};
pub use why::why;

/// A document: its fields, after the kind and the version of what it is.
#[must_use]
pub fn document(kind: &str, fields: Value) -> Value {
    let mut document = json!({"kind": kind, "version": 1});
    if let (Value::Object(document), Value::Object(fields)) = (&mut document, fields) {
        document.extend(fields);
    }
    document
}
