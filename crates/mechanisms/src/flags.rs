//! What the command line sets. Every mechanism lists the flags that it takes and reads them into its own
//! settings; help, completions and the reader of the command line are made of these lists.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use evenhand_levels::njc::Goal;
use evenhand_problem::{Arithmetic, Rational, names, number};

use crate::error::MechanismError;

/// A flag of one mechanism, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// As on the command line, without the dashes.
    pub name: &'static str,
    /// What follows it.
    pub takes: Takes,
    /// A line of help, which begins with the mechanisms that take it.
    pub help: &'static str,
}

/// What follows a flag, with the word that stands for it in help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// An exact number.
    Number(&'static str),
    /// A whole number that is not negative.
    Count(&'static str),
    /// Names of server classes, separated by commas.
    Classes(&'static str),
    /// Names of users, separated by commas.
    Users(&'static str),
    /// Numbers by resource, `name=number`, separated by commas.
    Resources(&'static str),
    /// One of these names, each with what it means.
    Name(&'static str, &'static [(&'static str, &'static str)]),
}

impl Flag {
    /// Whether `text` can be read, as far as that is known without a problem.
    ///
    /// # Errors
    /// [`MechanismError::Unreadable`].
    pub fn check(&self, text: &str) -> Result<(), MechanismError> {
        match self.takes {
            Takes::Number(_) => read(self.name, number::parse(text)).map(|_| ()),
            _ => Ok(()),
        }
    }
}

/// The stated criterion in place of the tasks.
pub const CRITERION: Flag = Flag {
    name: "criterion",
    takes: Takes::Nothing,
    help: "proportional, alpha: the utility of a user is its stated criterion, not its tasks",
};
/// What to prefer among the allocations that a mechanism allows.
pub const SELECT: Flag = Flag {
    name: "select",
    takes: Takes::Name("GOAL", Goal::NAMES),
    help: "njc: which allocation to prefer among all those without justified complaints",
};
/// All allocations that a mechanism allows.
pub const FACES: Flag = Flag {
    name: "faces",
    takes: Takes::Nothing,
    help: "njc, ps-dsf: also find all answers, as polytopes with their vertices; for small problems",
};
/// One of several methods.
pub const METHOD: Flag = Flag {
    name: "method",
    takes: Takes::Name("METHOD", Method::NAMES),
    help: "ps-dsf: sweep (default) or algorithm-1; ps-dsf-tdm: market (default) or sweep; njc: trajectory",
};
/// The order in which classes are swept.
pub const ORDER: Flag = Flag {
    name: "order",
    takes: Takes::Classes("SERVERS"),
    help: "ps-dsf, ps-dsf-tdm with --method sweep: server classes in the order in which they are swept, \
           separated by commas; those that are not named follow in the order of the file",
};
/// The time after which what there is will do.
pub const SECONDS: Flag = Flag {
    name: "seconds",
    takes: Takes::Number("S"),
    help: "seconds for the exact answer; after them max-min mechanisms give levels between \
           proven bounds, and others what they have by then or their answer in doubles (0: that at once)",
};
/// A method of PS-DSF or NJC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Every class filled in turn, accelerated where that is slow.
    Sweep,
    /// Algorithm I of the paper, step by step.
    Algorithm1,
    /// The linear Fisher market (time sharing).
    Market,
    /// The differential equation of the NJC paper.
    Trajectory,
}

names! { Method:
    Sweep = "sweep", "Every server class filled in turn until nothing changes, accelerated where that is slow";
    Algorithm1 = "algorithm-1", "Algorithm I of the PS-DSF paper, step by step; it often only approaches its limit";
    Market = "market", "The linear Fisher market";
    Trajectory = "trajectory", "njc: the differential equation of the paper, integrated";
}

/// What somebody asks of a mechanism: the arithmetic, the seed of everything random, and flags as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags {
    /// What the numbers of the answer are.
    pub arithmetic: Arithmetic,
    /// Seed of everything random.
    pub seed: u64,
    set: BTreeMap<&'static str, String>,
}

impl Flags {
    /// No flag, seed 0.
    #[must_use]
    pub fn new(arithmetic: Arithmetic) -> Self {
        Self { arithmetic, seed: 0, set: BTreeMap::new() }
    }

    /// Sets a flag; the text of one that takes nothing is not read.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.set.insert(name, text.into());
        self
    }

    /// Names of the flags that are set.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.set.keys().copied()
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// The number after a flag.
    ///
    /// # Errors
    /// [`MechanismError::Unreadable`].
    pub fn number(&self, name: &'static str) -> Result<Option<Rational>, MechanismError> {
        self.set.get(name).map(|text| read(name, number::parse(text))).transpose()
    }

    /// The time after which what there is will do.
    ///
    /// # Errors
    /// [`MechanismError::Unreadable`].
    pub fn seconds(&self) -> Result<Option<Duration>, MechanismError> {
        let Some(seconds) = self.number(SECONDS.name)? else { return Ok(None) };
        let unreadable = |_| MechanismError::Unreadable {
            option: SECONDS.name,
            why: "expected a number of seconds, 0 or more".to_owned(),
        };
        Duration::try_from_secs_f64(seconds.to_f64()).map(Some).map_err(unreadable)
    }

    /// The same in doubles, without a limit of time.
    #[must_use]
    pub fn in_doubles(&self) -> Self {
        let mut flags = Self { arithmetic: Arithmetic::Float, ..self.clone() };
        flags.set.remove(SECONDS.name);
        flags
    }

    /// The name or count after a flag.
    ///
    /// # Errors
    /// [`MechanismError::Unreadable`].
    pub fn value<T: FromStr<Err: Display>>(&self, name: &'static str) -> Result<Option<T>, MechanismError> {
        self.set.get(name).map(|text| read(name, text.parse())).transpose()
    }

    /// The numbers by resource after a flag, each with its name.
    ///
    /// # Errors
    /// [`MechanismError::Unreadable`].
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

    /// The names of server classes or users after a flag.
    #[must_use]
    pub fn listed(&self, name: &str) -> Option<Vec<String>> {
        self.set.get(name).map(|text| text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

fn read<T>(option: &'static str, value: Result<T, impl Display>) -> Result<T, MechanismError> {
    value.map_err(|error| MechanismError::Unreadable { option, why: error.to_string() })
}
