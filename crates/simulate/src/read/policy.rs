//! Reads the policy of a scenario.

use std::str::FromStr;

use evenhand_mechanisms::filling::{Policy, Rule, Score, ServerRule, Ties};
use evenhand_mechanisms::tree::{self, Preemption, TreePolicy};
use evenhand_problem::format::Document;
use evenhand_problem::{Rational, hint};
use serde_json::value::RawValue;

use crate::fields::{Fields, Read, count, positive, text};
use crate::usage::{UsageLaw, UsageOrder};

/// Reads the policy of a scenario.
pub(super) fn policy<'t>(document: &Document<'t>, raw: &'t RawValue) -> Read<Policy> {
    let object = document.object(raw)?;
    let known = match (object.get("slots"), object.get("tree"), object.get("usage")) {
        (_, None, Some(_)) => &["usage", "server"][..],
        (_, Some(_), Some(_)) => &["usage", "tree"],
        (Some(_), _, None) => &["slots", "ties"],
        (None, Some(_), None) => &["tree", "ties"],
        (None, None, None) => &["score", "server", "ties", "slots", "tree", "usage"],
    };
    let is_by_usage = object.get("usage").is_some();
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
        let why = "with `usage` no running task is stopped, and the order of the tree does not apply";
        fields.refuse("preemption", is_by_usage && preemption != Preemption::Never, why)?;
        fields.refuse("rule", is_by_usage, why)?;
        return Ok(Policy::Tree(TreePolicy { rule, preemption, ties }));
    }
    let score = named(&fields, "score", Score::NAMES)?;
    let server = named(&fields, "server", ServerRule::NAMES)?;
    let is_known = matches!(server, ServerRule::FirstFit | ServerRule::BestFit);
    fields.refuse("server", is_by_usage && !is_known, "with `usage` expected `first-fit` or `best-fit`")?;
    Ok(Policy::Fill(Rule { score, server, ties, unfiltered: false }))
}

/// Reads the order by past usage of a policy, or returns `None` if the policy states none.
pub(super) fn usage<'t>(
    document: &Document<'t>,
    policy: &'t RawValue,
    resources: &[String],
) -> Read<Option<UsageOrder>> {
    let Some(raw) = document.object(policy)?.get("usage") else { return Ok(None) };
    let known = ["law", "half_life", "every", "window", "entry_penalty", "resource_weights"];
    let fields = Fields::of(document, raw, &known)?;
    let law = fields.needed("law", |document, raw| {
        let found = text(document, raw)?;
        match LAWS.contains(&&*found) {
            true => Ok(found),
            false => {
                let message = format!("there is no such law: `{found}`: expected {}", LAWS.join(", "));
                Err(document.error(raw, message))
            }
        }
    })?;
    let of_law = |field: &str, laws: &[&str]| {
        let why = format!("the law `{law}` has no `{field}`");
        fields.refuse(field, !laws.contains(&&*law), &why)
    };
    of_law("every", &["kueue", "kai", "volcano"])?;
    of_law("window", &["kai"])?;
    of_law("entry_penalty", &["kueue"])?;
    let half_life = fields.optional("half_life", positive)?;
    let law = match &*law {
        "slurm" => UsageLaw::Slurm { half_life },
        "kueue" => UsageLaw::Kueue {
            half_life: fields.needed("half_life", positive)?,
            every: fields.needed("every", positive)?,
            has_entry_penalty: fields.optional("entry_penalty", Document::boolean)?.unwrap_or_default(),
        },
        "kai" => UsageLaw::Kai {
            half_life,
            every: fields.needed("every", positive)?,
            window: fields.needed("window", positive)?,
        },
        _ => UsageLaw::Volcano {
            half_life: fields.needed("half_life", positive)?,
            every: fields.needed("every", positive)?,
        },
    };
    let mut values = vec![Rational::new(); resources.len()];
    match fields.get("resource_weights") {
        None if resources.len() == 1 => values[0] = Rational::from(1),
        None => {
            let why = format!(
                "state `resource_weights`, the value of a unit of each resource that counts: {}",
                resources.join(", ")
            );
            return Err(fields.error(why));
        }
        Some(raw) => {
            for (resource, raw) in document.object(raw)?.fields() {
                let Some(r) = resources.iter().position(|name| *name == **resource) else {
                    let near = hint(resource, resources.iter().map(String::as_str));
                    return Err(
                        document.error_on_key(raw, format!("there is no resource `{resource}`{near}"))
                    );
                };
                values[r] = document.number(raw)?;
                if values[r] < 0 {
                    return Err(document.error(raw, "expected a number of at least 0"));
                }
            }
        }
    }
    let counted = values.iter().filter(|value| **value > 0).count();
    let is_of_one = matches!(law, UsageLaw::Kai { .. } | UsageLaw::Volcano { .. });
    if counted == 0 || is_of_one && counted > 1 {
        let expected = if is_of_one { "one resource" } else { "at least one resource" };
        let why = format!("the law `{}` counts {expected} with a value above 0, found {counted}", law.name());
        return Err(document.error(fields.place("resource_weights"), why));
    }
    Ok(Some(UsageOrder { law, values }))
}

/// The laws by which users can be ordered.
const LAWS: [&str; 4] = ["slurm", "kueue", "kai", "volcano"];

/// Reads a field whose value is a name, or returns the default if the field does not exist.
fn named<T: FromStr + Default>(fields: &Fields<'_, '_>, field: &str, names: &[(&str, &str)]) -> Read<T> {
    Ok(fields.optional(field, |document, raw| name(document, raw, names))?.unwrap_or_default())
}

/// Reads a name, which must be one of `names`.
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
