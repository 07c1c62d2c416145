//! Every result as a JSON document. Exact numbers are written as text.

use evenhand_cluster::value::Values;
use evenhand_problem::{Rational, number};
use serde::Serialize;
use serde_json::{Value, json};

mod cluster;
mod comparison;
mod decimals;
mod explanation;
mod findings;
mod groups;
mod migrations;
mod over_time;
mod plan;
mod promises;
mod ratio;
mod settings;
mod stopped;
mod waits;
mod why_not;

pub use crate::polish::document as polished;
pub use cluster::{cluster_verdict, moves, what_if};
pub use comparison::comparison;
pub use decimals::{text_with_decimals, with_decimals};
pub use explanation::explanation;
pub use findings::{allocation, examination, findings};
pub use groups::{entitlements, levels, why};
pub use migrations::migrations;
pub use over_time::over_time;
pub use plan::{plan, removable};
pub use promises::promises;
pub use ratio::{monotone, ratio, sweep, worst_load};
pub use settings::settings;
pub use stopped::stopped_explanation;
pub use waits::waits;
pub use why_not::task_explanation;

/// Returns an exact number as text.
fn exact(value: &Rational) -> String {
    number::format(value)
}

/// Returns the list of the results of `each` for the items.
fn list<T, V: Serialize>(of: impl IntoIterator<Item = T>, each: impl FnMut(T) -> V) -> Value {
    json!(of.into_iter().map(each).collect::<Vec<V>>())
}

/// Returns an object with these fields.
fn by_name<'n, V: Serialize>(fields: impl IntoIterator<Item = (&'n str, V)>) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect())
}

/// Adds the values by which resources are counted to a document, if there are any values. Returns the
/// document.
#[must_use]
pub fn by_value(values: &Values, mut document: Value) -> Value {
    if let (Value::Object(fields), false) = (&mut document, values.is_empty()) {
        fields
            .insert("values".to_owned(), by_name(values.stated().map(|(name, value)| (name, exact(value)))));
    }
    document
}

/// Returns a document: its kind and version, followed by the fields.
#[must_use]
pub fn document(kind: &str, fields: Value) -> Value {
    let mut document = json!({"kind": kind, "version": 1});
    if let (Value::Object(document), Value::Object(fields)) = (&mut document, fields) {
        document.extend(fields);
    }
    document
}
