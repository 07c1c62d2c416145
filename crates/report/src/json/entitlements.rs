//! What groups are entitled to, resource by resource, as a document.

use evenhand_mechanisms::tree::{Entitlements, Held, Rule, Settings};
use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use super::{by_name, document, exact, list};

/// Entitlements of every group, and of users that stand beside groups; with an allocation what groups hold in it,
/// and which users may start one more task.
#[must_use]
pub fn entitlements(
    problem: &Problem,
    settings: &Settings,
    entitlements: &Entitlements,
    held: Option<&Held>,
) -> Value {
    let amounts = |amounts: &[Rational]| {
        by_name(problem.resources().iter().zip(amounts).map(|(r, amount)| (r.as_str(), exact(amount))))
    };
    let groups = || problem.groups().list().iter().map(|group| group.name.as_str());
    let by_group = |all: &[Vec<Rational>]| by_name(groups().zip(all).map(|(name, of)| (name, amounts(of))));
    let users = || problem.users().iter().map(|user| user.name());
    let alone = users().zip(&entitlements.users);
    let mut fields = json!({
        "rule": settings.rule.map(Rule::name),
        "whole": settings.whole,
        "entitlements": by_group(&entitlements.groups),
        "users": by_name(alone.filter_map(|(name, of)| Some((name, amounts(of.as_ref()?))))),
    });
    if let Some(held) = held {
        fields["held"] = by_group(&held.groups);
        fields["may_start"] = by_name(users().zip(&held.may_start));
    }
    let warnings = problem.warnings();
    if !warnings.is_empty() {
        fields["warnings"] = list(&warnings, ToString::to_string);
    }
    document("entitlements", fields)
}
