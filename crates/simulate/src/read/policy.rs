//! How a scenario says that tasks are placed.

use std::str::FromStr;

use evenhand_mechanisms::filling::{Policy, Rule, Score, ServerRule, Ties};
use evenhand_mechanisms::tree::{self, Preemption, TreePolicy};
use evenhand_problem::format::FormatError;
use evenhand_problem::hint;
use serde_json::value::RawValue;

use super::Reader;

impl<'t> Reader<'_, 't> {
    pub(super) fn policy(&self, raw: &'t RawValue) -> Result<Policy, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        let ties = object.get("ties").map(|raw| self.name(raw, Ties::NAMES)).transpose()?.unwrap_or_default();
        if let Some(slots) = object.get("slots") {
            object.only(document, &["slots", "ties"])?;
            return Ok(Policy::Slots { slots: self.whole(slots)?, ties });
        }
        if let Some(tree) = object.get("tree") {
            object.only(document, &["tree", "ties"])?;
            return Ok(Policy::Tree(self.tree(tree, ties)?));
        }
        object.only(document, &["score", "server", "ties", "slots", "tree"])?;
        let score = object.get("score").map(|raw| self.name(raw, Score::NAMES)).transpose()?;
        let server = object.get("server").map(|raw| self.name(raw, ServerRule::NAMES)).transpose()?;
        Ok(Policy::Fill(Rule {
            score: score.unwrap_or_default(),
            server: server.unwrap_or_default(),
            ties,
            unfiltered: false,
        }))
    }

    fn tree(&self, raw: &'t RawValue, ties: Ties) -> Result<TreePolicy, FormatError> {
        let object = self.document.object(raw)?;
        object.only(self.document, &["rule", "preemption"])?;
        let of_tasks: Vec<(&str, &str)> = tree::Rule::NAMES
            .iter()
            .copied()
            .filter(|(name, _)| name.parse().is_ok_and(|rule: tree::Rule| rule.per_resource().is_none()))
            .collect();
        let rule = object.get("rule").map(|raw| self.name(raw, &of_tasks)).transpose()?;
        let preemption = object.get("preemption").map(|raw| self.name(raw, Preemption::NAMES)).transpose()?;
        Ok(TreePolicy { rule, preemption: preemption.unwrap_or_default(), ties })
    }

    /// One of a set of names.
    fn name<T: FromStr>(&self, raw: &'t RawValue, names: &[(&str, &str)]) -> Result<T, FormatError> {
        let name = self.document.string(raw)?;
        let known = || names.iter().map(|(name, _)| *name);
        match name.parse() {
            Ok(value) if known().any(|known| known == name) => Ok(value),
            _ => {
                let (near, all) = (hint(&name, known()), known().collect::<Vec<_>>().join(", "));
                let message = format!("there is no such name: `{name}`{near}: expected {all}");
                Err(self.document.error(raw, message))
            }
        }
    }
}
