//! Counts resources by value: in a unit in which people pay, such as 8 for an A100 and 1 for a T4.
//!
//! The value of a resource is a change of its unit (docs/groups.md, "By value"). Demands, capacities,
//! guarantees and limits are multiplied by the value, and the flavours of one resource are added before
//! shares are compared. So the fair shares of the changed problem are fair shares by value, and their
//! certificates are those of any problem.

use std::collections::BTreeSet;

use evenhand_mechanisms::tree::Rule;
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Promises, Rational, hint, number};
use serde_json::{Map, Value, json};

use crate::due::by_rule;
use crate::error::ClusterError;

/// The stated values of resources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    list: Vec<Stated>,
}

/// A stated value of a resource.
#[derive(Debug, Clone, PartialEq)]
struct Stated {
    /// The name as the user states it.
    name: String,
    /// The server class. `None` for all classes.
    class: Option<usize>,
    resource: usize,
    value: Rational,
}

fn wrong<T>(message: impl Into<String>) -> Result<T, ClusterError> {
    Err(ClusterError::Change(message.into()))
}

impl Values {
    /// Reads values such as `a100=8`. A name is a resource, the flavour of one resource (`a100` of `a100/gpu`), a server class
    /// with one resource for accelerators, or a server class and a resource (`a100/nvidia.com/gpu`).
    ///
    /// # Errors
    /// [`ClusterError::Change`] if a name is not known or not clear, if a value is not above 0, or if a value
    /// is stated twice.
    pub fn read(texts: &[String], problem: &Problem) -> Result<Self, ClusterError> {
        let mut list: Vec<Stated> = Vec::new();
        for text in texts {
            let Some((name, value)) = text.rsplit_once('=') else {
                return wrong(format!("--value {text}: expected NAME=VALUE, such as --value a100=8"));
            };
            let value = match number::parse(value) {
                Ok(value) if value > 0 => value,
                Ok(value) => {
                    return wrong(format!("--value {name}: {value} is not above 0: state a value above 0"));
                }
                Err(error) => return wrong(format!("--value {name}: {error}")),
            };
            let (class, resource) = subject(name, problem)?;
            let is_same = |of: &Stated| {
                of.resource == resource && (of.class == class || of.class.is_none() || class.is_none())
            };
            if list.iter().any(is_same) {
                return wrong(format!(
                    "--value {name}: {} has a value already: state one",
                    problem.resources()[resource]
                ));
            }
            list.push(Stated { name: name.to_owned(), class, resource, value });
        }
        Ok(Self { list })
    }

    /// Returns `true` if no value is stated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the values as stated, as pairs of a name and a number.
    pub fn stated(&self) -> impl Iterator<Item = (&str, &Rational)> {
        self.list.iter().map(|of| (of.name.as_str(), &of.value))
    }

    /// Returns the value of a resource on a server class.
    fn factor(&self, class: usize, resource: usize) -> Rational {
        let is_of = |of: &&Stated| of.resource == resource && of.class.is_none_or(|of| of == class);
        self.list.iter().find(is_of).map_or_else(|| Rational::from(1), |of| of.value.clone())
    }

    /// Returns the snapshot in units of value. Numbers that the scheduler reports are left out, because they
    /// count in other units.
    ///
    /// # Errors
    /// [`ClusterError::Change`] if a guarantee or a limit may be of several values, and does not say of
    /// which.
    pub fn apply(&self, snapshot: &Snapshot) -> Result<Snapshot, ClusterError> {
        if self.is_empty() {
            return Ok(snapshot.clone());
        }
        let problem = &snapshot.problem;
        let text = problem_to_json(problem);
        let mut document: Value =
            serde_json::from_str(&text).map_err(|error| ClusterError::Change(error.to_string()))?;
        let names = problem.resources();
        let object = |amounts: Vec<(usize, Rational)>| {
            let of = amounts.into_iter().map(|(r, amount)| (names[r].clone(), json!(amount.to_string())));
            Value::Object(of.collect::<Map<_, _>>())
        };
        for (i, class) in problem.servers().iter().enumerate() {
            let capacity = class.capacity().iter().enumerate().filter(|(_, amount)| !amount.is_zero());
            let capacity = capacity.map(|(r, amount)| (r, self.factor(i, r) * amount));
            document["servers"][i]["capacity"] = object(capacity.collect());
        }
        for (n, user) in problem.users().iter().enumerate() {
            let base: Vec<(usize, Rational)> = user
                .base_demand()
                .entries()
                .iter()
                .map(|(r, d)| (*r, self.least(problem, n, *r) * d))
                .collect();
            let mut on = Map::new();
            for i in (0..problem.n_servers()).filter(|i| user.may_use(*i)) {
                let demand = problem.demand(n, i).entries().iter();
                let there: Vec<(usize, Rational)> =
                    demand.map(|(r, d)| (*r, self.factor(i, *r) * d)).collect();
                if there != base {
                    on.insert(problem.servers()[i].name().to_owned(), object(there));
                }
            }
            let place = &mut document["users"][n];
            place["demand"] = object(base);
            match (place.as_object_mut(), on.is_empty()) {
                (Some(fields), true) => _ = fields.remove("demand_on"),
                (Some(fields), false) => _ = fields.insert("demand_on".to_owned(), Value::Object(on)),
                _ => {}
            }
        }
        self.groups(problem, &mut document, &object)?;
        // Flavours of one resource are added only if values of flavours are stated.
        if self.list.iter().any(|of| of.class.is_none()) {
            document["share"]["families"] = json!(true);
        }
        let text = document.to_string();
        let read = Source { name: "by value", text: &text }.problem();
        let problem = read.map_err(|error| ClusterError::Change(format!("by value: {error}")))?;
        let mut after = Snapshot { problem, reported: Vec::new(), ..snapshot.clone() };
        for of in &mut after.rounded {
            let factor = self.factor(of.server, of.resource);
            of.most *= &factor;
            of.in_all *= &factor;
            of.by_server.iter_mut().for_each(|(_, amount)| *amount *= &factor);
        }
        Ok(after)
    }

    /// Returns the snapshot in units of value, and the rule by which its fair shares are computed. The share
    /// of a rule becomes the problem's own share, in which flavours are added.
    ///
    /// # Errors
    /// The errors of [`Values::apply`]. Also fails if the rule divides every resource separately.
    pub fn apply_by_rule(
        &self,
        snapshot: &Snapshot,
        rule: Option<Rule>,
    ) -> Result<(Snapshot, Option<Rule>), ClusterError> {
        if self.is_empty() {
            return Ok((snapshot.clone(), rule));
        }
        if let Some(rule) = rule.filter(|rule| rule.per_resource().is_some()) {
            return wrong(format!(
                "--value: the rule {rule} divides every resource separately, so that values change nothing: choose another rule, such as --rule hdrf"
            ));
        }
        let problem = by_rule(&snapshot.problem, rule)?.unwrap_or_else(|| snapshot.problem.clone());
        let by_share = Snapshot { problem, ..snapshot.clone() };
        Ok((self.apply(&by_share)?, None))
    }

    /// Returns the least value of a resource over the classes on which a user may run. This value counts for
    /// the groups of the user.
    fn least(&self, problem: &Problem, n: usize, r: usize) -> Rational {
        let values = problem.classes_of(n).map(|i| self.factor(i, r)).min();
        values.unwrap_or_else(|| {
            (0..problem.n_servers()).map(|i| self.factor(i, r)).min().unwrap_or_else(|| Rational::from(1))
        })
    }

    /// Returns the users whose tasks may run on classes with different values of a resource that they demand.
    /// The groups of these users count the least value.
    #[must_use]
    pub fn mixed(&self, problem: &Problem) -> Vec<usize> {
        let is_mixed = |n: &usize| {
            problem.users()[*n].base_demand().entries().iter().any(|(r, _)| {
                problem.classes_of(*n).map(|i| self.factor(i, *r)).collect::<BTreeSet<_>>().len() > 1
            })
        };
        (0..problem.n_users()).filter(is_mixed).collect()
    }

    /// Multiplies the guarantees, limits and lent amounts of groups by the values.
    fn groups(
        &self,
        problem: &Problem,
        document: &mut Value,
        object: &dyn Fn(Vec<(usize, Rational)>) -> Value,
    ) -> Result<(), ClusterError> {
        let groups = problem.groups();
        let list = groups.list();
        // The values on the classes on which users below a group may run, indexed by group and resource.
        let mut values: Vec<Vec<BTreeSet<Rational>>> =
            vec![vec![BTreeSet::new(); problem.n_resources()]; list.len()];
        for n in 0..problem.n_users() {
            for (r, _) in problem.users()[n].base_demand().entries() {
                for i in problem.classes_of(n) {
                    let factor = self.factor(i, *r);
                    groups
                        .above(groups.member(n).group)
                        .for_each(|v| _ = values[v][*r].insert(factor.clone()));
                }
            }
        }
        let every = |r: usize| -> BTreeSet<Rational> {
            let has = |i: &usize| !problem.servers()[*i].capacity()[r].is_zero();
            (0..problem.n_servers()).filter(has).map(|i| self.factor(i, r)).collect()
        };
        let one = |v: usize, r: usize, what: &str| -> Result<Rational, ClusterError> {
            let of = if values[v][r].is_empty() { every(r) } else { values[v][r].clone() };
            let mut of = of.into_iter();
            match (of.next(), of.next()) {
                (None, _) => Ok(Rational::from(1)),
                (Some(value), None) => Ok(value),
                _ => wrong(format!(
                    "--value: the {what} of `{}` on {} is for server classes of different values, and does not say for which: state a value for the whole resource, or give the flavours names of their own, such as a100/gpu",
                    list[v].name,
                    problem.resources()[r]
                )),
            }
        };
        let promises = Promises::new(groups);
        let mut converted: Vec<Option<Vec<(usize, Rational)>>> = vec![None; list.len()];
        for v in groups.from_the_leaves() {
            let group = &list[v];
            if let Some(guarantee) = &group.guarantee {
                let mut amounts = Vec::new();
                for (r, amount) in guarantee {
                    // A guarantee that is the sum of the guarantees of subgroups stays their sum.
                    let children = (0..list.len()).filter(|k| list[*k].parent == Some(v));
                    let below: Vec<usize> =
                        children.filter(|k| promises.promised(*k, *r).is_some()).collect();
                    let sum: Rational = below.iter().filter_map(|k| promises.promised(*k, *r)).sum();
                    let of = |k: &usize| {
                        let found = converted[*k].iter().flatten().find(|(of, _)| of == r);
                        found.map(|(_, amount)| amount.clone()).unwrap_or_default()
                    };
                    if !below.is_empty() && sum == *amount {
                        amounts.push((*r, below.iter().map(of).sum()));
                    } else if amount.is_zero() {
                        amounts.push((*r, Rational::new()));
                    } else {
                        amounts.push((*r, one(v, *r, "guarantee")? * amount));
                    }
                }
                document["groups"][v]["guarantee"] = object(amounts.clone());
                converted[v] = Some(amounts);
            } else {
                // A group without a guarantee of its own has the sum of the guarantees of its subgroups.
                let mut sums: Vec<(usize, Rational)> = Vec::new();
                let children = (0..list.len()).filter(|k| list[*k].parent == Some(v));
                for (r, amount) in children.filter_map(|k| converted[k].clone()).flatten() {
                    match sums.iter_mut().find(|(of, _)| *of == r) {
                        Some((_, sum)) => *sum += amount,
                        None => sums.push((r, amount)),
                    }
                }
                converted[v] = (!sums.is_empty()).then_some(sums);
            }
            for (field, what, amounts) in
                [("limit", "limit", &group.limit), ("lend", "amount to lend", &group.lend)]
            {
                let mut changed = Vec::new();
                for (r, amount) in amounts {
                    let factor = if amount.is_zero() { Rational::from(1) } else { one(v, *r, what)? };
                    changed.push((*r, factor * amount));
                }
                if !changed.is_empty() {
                    document["groups"][v][field] = object(changed);
                }
            }
            let mut on = Vec::new();
            for entry in &group.on {
                let mut limit = Vec::new();
                for (r, most) in &entry.limit {
                    let of: BTreeSet<Rational> = entry.servers.iter().map(|i| self.factor(*i, *r)).collect();
                    if of.len() > 1 && !most.is_zero() {
                        return wrong(format!(
                            "--value: a limit of `{}` on {} is on server classes of different values: state a value for the whole resource",
                            group.name,
                            problem.resources()[*r]
                        ));
                    }
                    limit.push((*r, of.into_iter().next().unwrap_or_else(|| Rational::from(1)) * most));
                }
                let names: Vec<&str> = entry.servers.iter().map(|i| problem.servers()[*i].name()).collect();
                on.push(json!({"servers": names, "limit": object(limit)}));
            }
            if !on.is_empty() {
                document["groups"][v]["on"] = json!(on);
            }
        }
        Ok(())
    }
}

/// Returns the server class and the resource that a name means.
fn subject(name: &str, problem: &Problem) -> Result<(Option<usize>, usize), ClusterError> {
    let resources = problem.resources();
    let resource = |name: &str| resources.iter().position(|of| of == name);
    if let Some(r) = resource(name) {
        return Ok((None, r));
    }
    let flavoured: Vec<usize> = (0..resources.len())
        .filter(|r| resources[*r].strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
        .collect();
    if let [r] = flavoured[..] {
        return Ok((None, r));
    }
    let of_flavour = |list: &[usize]| {
        let names: Vec<String> = list.iter().map(|r| format!("`{}`", resources[*r])).collect();
        names.join(" or ")
    };
    if !flavoured.is_empty() {
        return wrong(format!(
            "--value {name}: the flavour has several resources: write {}",
            of_flavour(&flavoured)
        ));
    }
    let classes: Vec<usize> =
        (0..problem.n_servers()).filter(|i| problem.servers()[*i].name() == name).collect();
    if let [i] = classes[..] {
        let has: Vec<usize> =
            (0..resources.len()).filter(|r| !problem.servers()[i].capacity()[*r].is_zero()).collect();
        let gpus: Vec<usize> =
            has.iter().copied().filter(|r| resources[*r].to_lowercase().contains("gpu")).collect();
        return match (gpus.as_slice(), has.as_slice()) {
            ([r], _) | ([], [r]) => Ok((Some(i), *r)),
            _ => {
                let names: Vec<String> = has.iter().map(|r| format!("`{name}/{}`", resources[*r])).collect();
                wrong(format!(
                    "--value {name}: the server class has several resources: write {}",
                    names.join(" or ")
                ))
            }
        };
    }
    for (i, class) in problem.servers().iter().enumerate() {
        let rest = name.strip_prefix(class.name()).and_then(|rest| rest.strip_prefix('/'));
        if let Some(r) = rest.and_then(resource) {
            return Ok((Some(i), r));
        }
    }
    let known: Vec<&str> = resources
        .iter()
        .map(String::as_str)
        .chain(problem.servers().iter().map(|class| class.name()))
        .collect();
    wrong(format!(
        "--value {name}: there is no resource, flavour or server class of this name{}",
        hint(name, known)
    ))
}
