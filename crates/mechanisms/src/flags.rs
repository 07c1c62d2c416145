//! Flags of the command line.
//!
//! Every mechanism lists the flags that it accepts and reads them into its own settings. The help, the completions
//! and the parser of the command line are generated from these lists.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use evenhand_levels::njc::Goal;
use evenhand_problem::{Arithmetic, Rational, names, number};

use crate::error::MechanismError;

/// A command-line flag of one or several mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The flag's name on the command line, without the dashes.
    pub name: &'static str,
    /// The kind of value that follows the flag.
    pub takes: Takes,
    /// One line of help. It begins with the names of the mechanisms that accept the flag.
    pub help: &'static str,
}

/// The kind of value that follows a flag, with the placeholder that the help shows for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// The flag has no value.
    Nothing,
    /// The value is an exact number.
    Number(&'static str),
    /// The value is a whole number that is at least 0.
    Count(&'static str),
    /// The value is a list of names of server classes, separated by commas.
    Classes(&'static str),
    /// The value is a list of names of users, separated by commas.
    Users(&'static str),
    /// The value is one number for each named resource, `name=number`, separated by commas.
    Resources(&'static str),
    /// The value is one of the listed names. Each name is listed with its meaning.
    Name(&'static str, &'static [(&'static str, &'static str)]),
}

impl Flag {
    /// Checks whether `text` can be parsed. Checks that depend on the problem are made later.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unreadable`] if `text` cannot be parsed.
    pub fn check(&self, text: &str) -> Result<(), MechanismError> {
        match self.takes {
            Takes::Number(_) => read(self.name, number::parse(text)).map(|_| ()),
            _ => Ok(()),
        }
    }
}

/// The flag that replaces the number of tasks by the stated criterion.
pub const CRITERION: Flag = Flag {
    name: "criterion",
    takes: Takes::Nothing,
    help: "proportional, alpha: the utility of a user is its stated criterion, not its tasks",
};
/// The flag that states the goal by which one of the allowed allocations is selected.
pub const SELECT: Flag = Flag {
    name: "select",
    takes: Takes::Name("GOAL", Goal::NAMES),
    help: "njc: which allocation to prefer among all those without justified complaints",
};
/// The flag that asks for all allocations that a mechanism allows.
pub const FACES: Flag = Flag {
    name: "faces",
    takes: Takes::Nothing,
    help: "njc, ps-dsf: also find all answers, as polytopes with their vertices; for small problems",
};
/// The flag that selects one of several methods.
pub const METHOD: Flag = Flag {
    name: "method",
    takes: Takes::Name("METHOD", Method::NAMES),
    help: "ps-dsf: sweep (default) or algorithm-1; ps-dsf-tdm: market (default) or sweep; njc: trajectory",
};
/// The flag that states the order in which server classes are swept.
pub const ORDER: Flag = Flag {
    name: "order",
    takes: Takes::Classes("SERVERS"),
    help: "ps-dsf, ps-dsf-tdm with --method sweep: server classes in the order in which they are swept, \
           separated by commas; those that are not named follow in the order of the file",
};
/// The flag that states the time limit, after which a mechanism returns the best answer that it has.
pub const SECONDS: Flag = Flag {
    name: "seconds",
    takes: Takes::Number("S"),
    help: "time limit in seconds for the exact answer; then max-min mechanisms give levels between proven bounds, and \
        others their best answer so far or their floating-point answer (0: at once)",
};
/// A method of PS-DSF or NJC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Fill the server classes in turn, with acceleration if this converges slowly.
    Sweep,
    /// Algorithm I of the PS-DSF paper, step by step.
    Algorithm1,
    /// Solve a linear Fisher market (under time sharing).
    Market,
    /// Integrate the differential equation of the NJC paper.
    Trajectory,
}

names! { Method:
    Sweep = "sweep", "Every server class filled in turn until nothing changes, accelerated where that is slow";
    Algorithm1 = "algorithm-1", "Algorithm I of the PS-DSF paper, step by step; it often only approaches its limit";
    Market = "market", "The linear Fisher market";
    Trajectory = "trajectory", "njc: the differential equation of the paper, integrated";
}

/// The settings of one call of a mechanism: the arithmetic, the random seed, and the flags as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags {
    /// The arithmetic of the answer.
    pub arithmetic: Arithmetic,
    /// The seed of all random numbers.
    pub seed: u64,
    set: BTreeMap<&'static str, String>,
}

impl Flags {
    /// Creates settings without flags and with the seed 0.
    #[must_use]
    pub fn new(arithmetic: Arithmetic) -> Self {
        Self { arithmetic, seed: 0, set: BTreeMap::new() }
    }

    /// Sets a flag. The text is ignored for a flag that has no value.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.set.insert(name, text.into());
        self
    }

    /// Returns the names of the flags that are set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.set.keys().copied()
    }

    /// Returns whether a flag is set.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// Returns the number given for a flag.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unreadable`] if the text is not a number.
    pub fn number(&self, name: &'static str) -> Result<Option<Rational>, MechanismError> {
        self.set.get(name).map(|text| read(name, number::parse(text))).transpose()
    }

    /// Returns the time limit, after which a mechanism returns the best answer that it has.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unreadable`] if the text is not a number of seconds.
    pub fn seconds(&self) -> Result<Option<Duration>, MechanismError> {
        let Some(seconds) = self.number(SECONDS.name)? else { return Ok(None) };
        let unreadable = |_| MechanismError::Unreadable {
            option: SECONDS.name,
            why: "expected a number of seconds, 0 or more".to_owned(),
        };
        Duration::try_from_secs_f64(seconds.to_f64()).map(Some).map_err(unreadable)
    }

    /// Returns these flags with floating-point arithmetic and without a time limit.
    #[must_use]
    pub fn in_doubles(&self) -> Self {
        let mut flags = Self { arithmetic: Arithmetic::Float, ..self.clone() };
        flags.set.remove(SECONDS.name);
        flags
    }

    /// Returns the name or count given for a flag.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unreadable`] if the text cannot be parsed.
    pub fn value<T: FromStr<Err: Display>>(&self, name: &'static str) -> Result<Option<T>, MechanismError> {
        self.set.get(name).map(|text| read(name, text.parse())).transpose()
    }

    /// Returns the resources named by a flag, each with its number.
    ///
    /// # Errors
    /// Returns [`MechanismError::Unreadable`] if the text is not a list of `resource=number`.
    pub fn resources(&self, name: &'static str) -> Result<Option<Vec<(String, Rational)>>, MechanismError> {
        let one = |text: &str| {
            let (resource, value) = text.rsplit_once('=').ok_or_else(|| MechanismError::Unreadable {
                option: name,
                why: format!("expected `resource=number`, found `{text}`"),
            })?;
            Ok((resource.trim().to_owned(), read(name, number::parse(value.trim()))?))
        };
        self.set.get(name).map(|text| text.split(',').map(one).collect()).transpose()
    }

    /// Returns the names of server classes or users given for a flag.
    #[must_use]
    pub fn listed(&self, name: &str) -> Option<Vec<String>> {
        self.set.get(name).map(|text| text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

fn read<T>(option: &'static str, value: Result<T, impl Display>) -> Result<T, MechanismError> {
    value.map_err(|error| MechanismError::Unreadable { option, why: error.to_string() })
}
