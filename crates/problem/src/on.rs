//! Limits of a group on some of the server classes.
//!
//! A document names a set of classes in one of two forms. As a key,
//! `"on": {"a100": {...}, "h100, a100": {...}}`, the set is one class name or several names separated by
//! commas. As a list, the set is `"on": [{"servers": ["a100", "h100"], ...}]`. This program writes the second
//! form, since a name may contain a comma. A key that is itself the name of a class means that class.

use std::collections::HashSet;

use rug::Rational;

use crate::place::Place;
use crate::problem_error::{ProblemError, ProblemErrorKind};
use crate::quantities::Named;
use crate::resolve::{Index, named, set};

/// The maximum amounts that a group may use on some server classes together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct On {
    /// Indices of the classes, ascending and never empty.
    pub servers: Vec<usize>,
    /// The limits on resources. The list is never empty.
    pub limit: Named,
}

/// A group's limit on some server classes, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OnSpec {
    /// The form in which the classes are named.
    pub servers: ServersSpec,
    /// Limits, each with the name of its resource.
    pub limit: Vec<(String, Rational)>,
    /// `true` if the forbidden field `guarantee` is present.
    pub has_guarantee: bool,
    /// `true` if the forbidden field `lend` is present.
    pub has_lend: bool,
}

/// The form in which a set of server classes is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServersSpec {
    /// One name, or several names separated by commas.
    Key(String),
    /// A list of names.
    List(Vec<String>),
}

impl Default for ServersSpec {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// Reads the limits of a group on server classes, sorted by these classes.
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
        let set = classes(&spec.servers, servers, &place)?;
        for (field, is_stated) in [("guarantee", spec.has_guarantee), ("lend", spec.has_lend)] {
            if is_stated {
                return Err(place.key(field).error(ProblemErrorKind::OnlyLimitOn(field)));
            }
        }
        if !seen.insert(set.clone()) {
            let kind = ProblemErrorKind::DuplicateSet(names(&spec.servers));
            return Err(place.error(kind));
        }
        let limit = named(spec.limit, resources, || place.key("limit"))?;
        all.push(On { servers: set, limit });
    }
    all.retain(|on| !on.limit.is_empty());
    all.sort_unstable_by(|a, b| a.servers.cmp(&b.servers));
    Ok(all)
}

fn names(spec: &ServersSpec) -> String {
    match spec {
        ServersSpec::Key(key) => key.clone(),
        ServersSpec::List(names) => names.join(", "),
    }
}

/// Returns a name without ASCII white space around it. Other spaces belong to the name (docs/formats.md, "Names").
fn trimmed(name: &str) -> &str {
    name.trim_matches(|c: char| c.is_ascii_whitespace())
}

fn classes(spec: &ServersSpec, servers: &Index, at: &Place) -> Result<Vec<usize>, ProblemError> {
    let at_name = |position: usize| match spec {
        ServersSpec::Key(_) => at.clone(),
        ServersSpec::List(_) => at.key("servers").index(position),
    };
    let names: Vec<&str> = match spec {
        ServersSpec::Key(key) if servers.get(key).is_some() => vec![key],
        ServersSpec::Key(key) if trimmed(key).is_empty() => Vec::new(),
        ServersSpec::Key(key) => key.split(',').map(trimmed).collect(),
        ServersSpec::List(names) => names.iter().map(String::as_str).collect(),
    };
    if names.is_empty() {
        return Err(at.clone().error(ProblemErrorKind::EmptySet));
    }
    set("server", names, servers, at_name)
}
