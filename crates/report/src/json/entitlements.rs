//! What groups are entitled to, resource by resource, as a document.

use evenhand_mechanisms::tree::{Entitlements, Held, Rule, Settings};
use evenhand_problem::{Problem, Rational, number};
use serde_json::{Map, Value, json};

use super::document;

/// Entitlements of every group, and of users that stand beside groups; with an allocation what groups hold in it,
/// and which users may start one more task.
#[must_use]
pub fn entitlements(
    problem: &Problem,
    settings: &Settings,
    entitlements: &Entitlements,
    held: Option<&Held>,
) -> Value {
    let amounts = |amounts: &[Rational]| -> Value {
        let named = problem.resources().iter().zip(amounts);
        Value::Object(named.map(|(r, amount)| (r.clone(), json!(number::format(amount)))).collect())
    };
    let groups = || problem.groups().list().iter().map(|group| group.name.clone());
    let by_group = |all: &[Vec<Rational>]| -> Map<String, Value> {
        groups().zip(all).map(|(name, of)| (name, amounts(of))).collect()
    };
    let users = || problem.users().iter().map(|user| user.name().to_owned());
    let alone = users().zip(&entitlements.users);
    let alone: Map<String, Value> =
        alone.filter_map(|(name, of)| Some((name, amounts(of.as_ref()?)))).collect();
    let mut fields = json!({
        "rule": settings.rule.map(Rule::name),
        "whole": settings.whole,
        "entitlements": by_group(&entitlements.groups),
        "users": alone,
    });
    if let Some(held) = held {
        fields["held"] = Value::Object(by_group(&held.groups));
        let may_start = users().zip(&held.may_start).map(|(name, may)| (name, json!(may)));
        fields["may_start"] = Value::Object(may_start.collect());
    }
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        fields["warnings"] = json!(warnings);
    }
    document("entitlements", fields)
}
