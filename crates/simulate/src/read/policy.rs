//! Reads the policy of a scenario.

use std::str::FromStr;

use evenhand_mechanisms::filling::{Policy, Rule, Score, ServerRule, Ties};
use evenhand_mechanisms::tree::{self, Preemption, TreePolicy};
use evenhand_problem::format::Document;
use evenhand_problem::hint;
use serde_json::value::RawValue;

use crate::fields::{Fields, Read, count, text};

/// Reads the policy of a scenario.
pub(super) fn policy<'t>(document: &Document<'t>, raw: &'t RawValue) -> Read<Policy> {
    let object = document.object(raw)?;
    let known = match (object.get("slots"), object.get("tree")) {
        (Some(_), _) => &["slots", "ties"][..],
        (None, Some(_)) => &["tree", "ties"],
        (None, None) => &["score", "server", "ties", "slots", "tree"],
    };
    let fields = Fields { document, object };
    let ties = named(&fields, "ties", Ties::NAMES)?;
    fields.object.only(document, known)?;
    if let Some(slots) = fields.optional("slots", count)? {
        return Ok(Policy::Slots { slots, ties });
    }
    if let Some(raw) = fields.get("tree") {
        let fields = Fields::of(document, raw, &["rule", "preemption"])?;
        let is_of_tasks = |rule: tree::Rule| rule.per_resource().is_none();
        let of_tasks = tree::Rule::NAMES.iter().filter(|(name, _)| name.parse().is_ok_and(is_of_tasks));
        let of_tasks: Vec<(&str, &str)> = of_tasks.copied().collect();
        let rule = fields.optional("rule", |document, raw| name(document, raw, &of_tasks))?;
        let preemption = named(&fields, "preemption", Preemption::NAMES)?;
        return Ok(Policy::Tree(TreePolicy { rule, preemption, ties }));
    }
    let score = named(&fields, "score", Score::NAMES)?;
    let server = named(&fields, "server", ServerRule::NAMES)?;
    Ok(Policy::Fill(Rule { score, server, ties, unfiltered: false }))
}

/// Reads a field with a name, or returns the default.
fn named<T: FromStr + Default>(fields: &Fields<'_, '_>, field: &str, names: &[(&str, &str)]) -> Read<T> {
    Ok(fields.optional(field, |document, raw| name(document, raw, names))?.unwrap_or_default())
}

/// Reads one of a set of names.
fn name<T: FromStr>(document: &Document<'_>, raw: &RawValue, names: &[(&str, &str)]) -> Read<T> {
    let name = text(document, raw)?;
    let known = || names.iter().map(|(name, _)| *name);
    match name.parse() {
        Ok(value) if known().any(|known| known == name) => Ok(value),
        _ => {
            let (near, all) = (hint(&name, known()), known().collect::<Vec<_>>().join(", "));
            let message = format!("there is no such name: `{name}`{near}: expected {all}");
            Err(document.error(raw, message))
        }
    }
}
