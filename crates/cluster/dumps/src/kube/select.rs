//! Rules on the nodes that pods may use: selectors, required affinity, taints and tolerations, and flavours.

use std::collections::{BTreeMap, BTreeSet};

use super::super::cluster::LeftOut;
use super::super::tree::At;
use evenhand_import::ImportError;

/// A rule on the nodes that a pod may use. A node must satisfy all fields of the rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct Rule {
    /// Labels that the node must have.
    pub labels: BTreeMap<String, String>,
    /// The required affinity: a node must satisfy at least one term of each list.
    pub terms: Vec<Vec<Term>>,
    pub tolerations: BTreeSet<Toleration>,
    /// Lists of flavours: a node must be of at least one flavour of each list.
    pub flavours: Vec<Vec<Flavour>>,
    /// The name of the flavour if the rule is for a limit on the quota of a flavour. `None` for the rule of a
    /// pod.
    pub quota_of: Option<String>,
}

/// A term of an affinity: a node must satisfy all its requirements. No node satisfies a term without
/// requirements.
pub(in super::super) type Term = Vec<Requirement>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in super::super) struct Requirement {
    /// The name of a label. `None` stands for the name of the node.
    pub key: Option<String>,
    pub operator: Operator,
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) struct Toleration {
    /// The key of tolerated taints. Empty if all keys are tolerated.
    pub key: String,
    /// The value of tolerated taints. `None` if all values are tolerated.
    pub value: Option<String>,
    /// The effect of tolerated taints. Empty if all effects are tolerated.
    pub effect: String,
}

/// A taint that keeps pods away from a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) struct Taint {
    pub key: String,
    pub value: String,
    pub effect: String,
}

/// A flavour: the labels of its nodes, and the additional tolerations of its pods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct Flavour {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub tolerations: BTreeSet<Toleration>,
}

/// The data of a node by which rules decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct Profile {
    /// The labels of the node that at least one rule names.
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    /// The name of the node. `None` if no rule names nodes.
    pub name: Option<String>,
    /// The names of the flavours in ascending order, if the server stands for the quota of flavours. `None`
    /// for a node.
    pub quota: Option<Vec<String>>,
}

impl Rule {
    /// Reads the rule of a pod from its specification. Conditions that are not modelled are recorded as left out.
    pub fn of_pod(spec: At<'_>, name: &str, left_out: &mut LeftOut) -> Result<Self, ImportError> {
        let mut rule = Self { labels: labels(spec, "nodeSelector")?, ..Self::default() };
        for toleration in spec.list_of("tolerations")? {
            match read_toleration(toleration)? {
                Some(toleration) => drop(rule.tolerations.insert(toleration)),
                None => left_out.add("tolerations with unknown operators, which are ignored", name),
            }
        }
        let Some(affinity) = spec.get("affinity")? else { return Ok(rule) };
        if let Some(of_nodes) = affinity.get("nodeAffinity")? {
            if of_nodes.list_of("preferredDuringSchedulingIgnoredDuringExecution")?.next().is_some() {
                left_out.add("preferred node affinity", name);
            }
            if let Some(required) = of_nodes.get("requiredDuringSchedulingIgnoredDuringExecution")? {
                let terms = required.list_of("nodeSelectorTerms")?.map(read_term);
                rule.terms.push(terms.collect::<Result<_, _>>()?);
            }
        }
        for field in ["podAffinity", "podAntiAffinity"] {
            if affinity.get(field)?.is_some_and(|of| of.entries().is_ok_and(|mut of| of.next().is_some())) {
                left_out.add(&format!("affinity between pods: {field}"), name);
            }
        }
        Ok(rule)
    }

    /// Adds the names of the labels in the rule to `into`. Returns `true` if the rule names nodes.
    pub fn keys<'r>(&'r self, into: &mut BTreeSet<&'r str>) -> bool {
        into.extend(self.labels.keys().map(String::as_str));
        into.extend(
            self.flavours.iter().flatten().flat_map(|flavour| flavour.labels.keys()).map(String::as_str),
        );
        let requirements = self.terms.iter().flatten().flatten();
        into.extend(requirements.clone().filter_map(|requirement| requirement.key.as_deref()));
        requirements.into_iter().any(|requirement| requirement.key.is_none())
    }

    /// Returns `true` if the rule allows a node.
    pub fn allows(&self, node: &Profile) -> bool {
        if let Some(quota) = &node.quota {
            let has = |name: &String| quota.binary_search(name).is_ok();
            let has_one = |list: &Vec<Flavour>| list.iter().any(|flavour| has(&flavour.name));
            // If the nodes of a flavour are not in the dump, other conditions on nodes cannot be checked and
            // are ignored.
            return match &self.quota_of {
                Some(flavour) => has(flavour),
                None => !self.flavours.is_empty() && self.flavours.iter().all(has_one),
            };
        }
        let has = |labels: &BTreeMap<String, String>| {
            labels.iter().all(|(key, value)| node.labels.get(key) == Some(value))
        };
        let holds = |term: &Term| !term.is_empty() && term.iter().all(|requirement| requirement.holds(node));
        if !has(&self.labels) || !self.terms.iter().all(|terms| terms.iter().any(holds)) {
            return false;
        }
        let mut tolerated: Vec<&Toleration> = self.tolerations.iter().collect();
        for flavours in &self.flavours {
            let mut of_node = flavours.iter().filter(|flavour| has(&flavour.labels)).peekable();
            if of_node.peek().is_none() {
                return false;
            }
            tolerated.extend(of_node.flat_map(|flavour| &flavour.tolerations));
        }
        node.taints.iter().all(|taint| tolerated.iter().any(|toleration| toleration.covers(taint)))
    }
}

impl Requirement {
    fn holds(&self, node: &Profile) -> bool {
        let value = match &self.key {
            Some(key) => node.labels.get(key),
            None => node.name.as_ref(),
        };
        let number = |text: &String| text.parse::<i64>().ok();
        let bound = || self.values.first().and_then(number);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt => value.and_then(number).zip(bound()).is_some_and(|(value, bound)| value > bound),
            Operator::Lt => value.and_then(number).zip(bound()).is_some_and(|(value, bound)| value < bound),
        }
    }
}

impl Toleration {
    pub fn covers(&self, taint: &Taint) -> bool {
        (self.key.is_empty() || self.key == taint.key)
            && (self.effect.is_empty() || self.effect == taint.effect)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
    }
}

/// The values of labels, keyed by the name of the label.
pub(in super::super) type Labels = BTreeMap<String, String>;

/// Reads the labels of a field, which is an object with a text for each label.
pub(in super::super) fn labels(at: At<'_>, field: &str) -> Result<Labels, ImportError> {
    at.entries_of(field)?.map(|(key, value)| Ok((key.to_owned(), value.text()?.to_owned()))).collect()
}

/// Reads a toleration. Returns `None` if its operator is not known.
pub(in super::super) fn read_toleration(at: At<'_>) -> Result<Option<Toleration>, ImportError> {
    let text = |name: &str| Ok::<_, ImportError>(at.text_of(name)?.unwrap_or_default().to_owned());
    let value = match at.text_of("operator")?.unwrap_or("Equal") {
        "Equal" | "" => Some(text("value")?),
        "Exists" => None,
        _ => return Ok(None),
    };
    let key = text("key")?;
    if key.is_empty() && value.is_some() {
        return Err(at.error("a toleration without `key` needs the operator Exists"));
    }
    Ok(Some(Toleration { key, value, effect: text("effect")? }))
}

/// Reads the taints with effects that keep pods away from a node, in ascending order.
pub(in super::super) fn read_taints(at: At<'_>, field: &str) -> Result<Vec<Taint>, ImportError> {
    let mut taints = Vec::new();
    for taint in at.list_of(field)? {
        let effect = taint.need("effect")?.text()?;
        if matches!(effect, "NoSchedule" | "NoExecute") {
            let value = taint.text_of("value")?.unwrap_or_default().to_owned();
            taints.push(Taint {
                key: taint.need("key")?.text()?.to_owned(),
                value,
                effect: effect.to_owned(),
            });
        }
    }
    taints.sort_unstable();
    Ok(taints)
}

fn read_term(at: At<'_>) -> Result<Term, ImportError> {
    let mut term = Term::new();
    for (field, is_label) in [("matchExpressions", true), ("matchFields", false)] {
        for requirement in at.list_of(field)? {
            let key = requirement.need("key")?;
            let operator = requirement.need("operator")?;
            let operator = match operator.text()? {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                "Gt" => Operator::Gt,
                "Lt" => Operator::Lt,
                other => return Err(operator.error(format!("the operator `{other}` is not known"))),
            };
            let values = requirement.list_of("values")?.map(|value| Ok(value.text()?.to_owned()));
            let values = values.collect::<Result<_, ImportError>>()?;
            if !is_label && key.text()? != "metadata.name" {
                return Err(key.error("expected metadata.name"));
            }
            let key = if is_label { Some(key.text()?.to_owned()) } else { None };
            term.push(Requirement { key, operator, values });
        }
    }
    Ok(term)
}
