//! What is said of a group on some of the server classes.
//!
//! A set of classes is named in two ways: `"on": {"a100": {...}, "h100, a100": {...}}`, by the name of one class or by
//! names that commas part, and `"on": [{"servers": ["a100", "h100"], ...}]`, which is also how it is written, since a
//! name may hold a comma. A key that is the name of a class is that class.

use std::collections::HashSet;

use rug::Rational;

use crate::groups::{Named, named};
use crate::place::Place;
use crate::problem::Problem;
use crate::problem_error::{ProblemError, ProblemErrorKind, Warning};
use crate::promises::Promises;
use crate::resolve::{Index, resolve};

/// The most that a group may hold on some server classes together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct On {
    /// Indices of the classes, ascending; never empty.
    pub servers: Vec<usize>,
    /// By resource; never empty.
    pub limit: Named,
}

/// What is said of a group on some server classes, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OnSpec {
    /// How the classes are named.
    pub servers: ServersSpec,
    /// Amounts by resource.
    pub limit: Vec<(String, Rational)>,
    /// Whether there is a field `guarantee`.
    pub has_guarantee: bool,
    /// Whether there is a field `lend`.
    pub has_lend: bool,
}

/// How a set of server classes is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServersSpec {
    /// The name of one, or names that commas part.
    Key(String),
    /// A list of names.
    List(Vec<String>),
}

impl Default for ServersSpec {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// What a group says on server classes, sorted by these.
pub(crate) fn read(
    specs: Vec<OnSpec>,
    resources: &Index,
    servers: &Index,
    at: &Place,
) -> Result<Vec<On>, ProblemError> {
    let mut all = Vec::with_capacity(specs.len());
    let mut seen = HashSet::new();
    for (position, spec) in specs.into_iter().enumerate() {
        let place = match &spec.servers {
            ServersSpec::Key(key) => at.key(key),
            ServersSpec::List(_) => at.index(position),
        };
        let set = set(&spec.servers, servers, &place)?;
        for (field, is_stated) in [("guarantee", spec.has_guarantee), ("lend", spec.has_lend)] {
            if is_stated {
                return Err(place.key(field).error(ProblemErrorKind::OnlyLimitOn(field)));
            }
        }
        if !seen.insert(set.clone()) {
            let kind = ProblemErrorKind::DuplicateSet(names(&spec.servers));
            return Err(place.error(kind));
        }
        let limit = named(spec.limit, resources, &place.key("limit"))?;
        all.push(On { servers: set, limit });
    }
    all.retain(|on| !on.limit.is_empty());
    all.sort_unstable_by(|a, b| a.servers.cmp(&b.servers));
    Ok(all)
}

impl Problem {
    /// Groups of which a limit on some server classes, with all that the others have, is less than what the group is
    /// promised.
    pub(crate) fn limited_promises(&self) -> Vec<Warning> {
        let groups = self.groups().list();
        if !self.groups().limit_classes() {
            return Vec::new();
        }
        let promises = Promises::new(self.groups());
        let mut limited = Vec::new();
        for (v, group) in groups.iter().enumerate() {
            for (on, r, most) in
                group.on.iter().flat_map(|on| on.limit.iter().map(move |(r, most)| (on, *r, most)))
            {
                let has = |i: &usize| {
                    let class = &self.servers()[*i];
                    Rational::from(&class.capacity()[r] * class.count())
                };
                let there: Rational = on.servers.iter().map(has).sum();
                let elsewhere = Rational::from(&self.total_capacity()[r] - &there);
                let available = elsewhere + most;
                let promised = promises.promised(v, r).filter(|promised| **promised > available);
                limited.extend(promised.map(|promised| Warning::LimitedPromise {
                    group: group.name.clone(),
                    servers: self.class_names(&on.servers),
                    resource: self.resources()[r].clone(),
                    promised: promised.clone(),
                    available,
                }));
            }
        }
        limited
    }

    /// The names of server classes, parted by commas.
    #[must_use]
    pub fn class_names(&self, servers: &[usize]) -> String {
        servers.iter().map(|i| self.servers()[*i].name()).collect::<Vec<_>>().join(", ")
    }
}

fn names(spec: &ServersSpec) -> String {
    match spec {
        ServersSpec::Key(key) => key.clone(),
        ServersSpec::List(names) => names.join(", "),
    }
}

fn set(spec: &ServersSpec, servers: &Index, at: &Place) -> Result<Vec<usize>, ProblemError> {
    let at_name = |position: usize| match spec {
        ServersSpec::Key(_) => at.clone(),
        ServersSpec::List(_) => at.key("servers").index(position),
    };
    let names: Vec<&str> = match spec {
        ServersSpec::Key(key) if servers.contains_key(key) => vec![key],
        ServersSpec::Key(key) if key.trim().is_empty() => Vec::new(),
        ServersSpec::Key(key) => key.split(',').map(str::trim).collect(),
        ServersSpec::List(names) => names.iter().map(String::as_str).collect(),
    };
    if names.is_empty() {
        return Err(at.clone().error(ProblemErrorKind::EmptySet));
    }
    let mut set = Vec::with_capacity(names.len());
    for (position, name) in names.into_iter().enumerate() {
        let i = resolve("server", name, servers, || at_name(position))?;
        if set.contains(&i) {
            let kind = ProblemErrorKind::DuplicateName { what: "server", name: name.to_owned() };
            return Err(at_name(position).error(kind));
        }
        set.push(i);
    }
    set.sort_unstable();
    Ok(set)
}
