//! Writes an allocation.

use rug::Rational;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::problem_sha256;
use crate::{
    allocation::{Allocation, Arithmetic, Placement},
    constraint::RowKind,
    number,
    problem::Problem,
    utilisation,
};

/// The allocation document: an allocation with what people and other programs like to see beside it.
///
/// Summary and utilisation are computed, exactly, when it is written. Numbers of an exact allocation
/// are written as strings `"5/7"`, those of a floating-point one as JSON numbers.
#[derive(Debug, Clone)]
pub struct AllocationDocument<'a> {
    /// The problem that the allocation is for.
    pub problem: &'a Problem,
    /// The allocation.
    pub allocation: &'a Allocation,
    /// Hash of the problem; none for an allocation whose problem stands beside it.
    pub problem_sha256: Option<String>,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
    /// Further fields, after all others: prices, gap, witness, status and so on. None may have the
    /// name of another field.
    pub extra: Map<String, Value>,
}

/// A number as the arithmetic of a result asks for: `"5/7"`, or the nearest JSON number.
#[derive(Debug, Clone, Copy)]
pub struct NumberText<'a>(pub &'a Rational, pub Arithmetic);

impl<'a> AllocationDocument<'a> {
    /// A document with the problem's hash, without time and extra fields.
    #[must_use]
    pub fn new(problem: &'a Problem, allocation: &'a Allocation) -> Self {
        Self {
            problem,
            allocation,
            problem_sha256: Some(problem_sha256(problem)),
            seconds: None,
            extra: Map::new(),
        }
    }

    /// The text of the document, indented, with a line break at the end.
    ///
    /// # Errors
    /// None that a valid document can meet.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    fn number<'n>(&self, value: &'n Rational) -> NumberText<'n> {
        NumberText(value, self.allocation.arithmetic)
    }

    /// A number of tasks. Those on single servers have to add up to those of the class, so that where
    /// there are any, what is no double is written exactly.
    fn tasks<'n>(&self, value: &'n Rational) -> NumberText<'n> {
        let is_double = || number::from_f64(number::to_f64(value)).as_ref() == Some(value);
        if self.allocation.placements.is_none() || is_double() {
            self.number(value)
        } else {
            NumberText(value, Arithmetic::Exact)
        }
    }
}

impl Serialize for NumberText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nearest = number::to_f64(self.0);
        if self.1 == Arithmetic::Float && nearest.is_finite() {
            serializer.serialize_f64(nearest)
        } else {
            serializer.collect_str(self.0)
        }
    }
}

impl Serialize for AllocationDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", "allocation")?;
        map.serialize_entry("version", &1)?;
        if let Some(mechanism) = &self.allocation.mechanism {
            map.serialize_entry("mechanism", mechanism)?;
        }
        if let Some(alpha) = &self.allocation.alpha {
            map.serialize_entry("alpha", &number::format(alpha))?;
        }
        if self.allocation.criterion {
            map.serialize_entry("criterion", &true)?;
        }
        if let Some(rule) = &self.allocation.rule {
            map.serialize_entry("rule", rule)?;
        }
        map.serialize_entry("sharing", self.allocation.sharing.name())?;
        map.serialize_entry("arithmetic", self.allocation.arithmetic.name())?;
        if let Some(hash) = &self.problem_sha256 {
            map.serialize_entry("problem_sha256", hash)?;
        }
        map.serialize_entry("tasks", &Tasks(self))?;
        if let Some(placements) = &self.allocation.placements {
            map.serialize_entry("placements", &Placements(self, placements))?;
        }
        map.serialize_entry("summary", &Summary(self))?;
        map.serialize_entry("utilisation", &Utilisation(self))?;
        if let Some(seconds) = self.seconds {
            map.serialize_entry("seconds", &seconds)?;
        }
        for (name, value) in &self.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// An object whose entries are made one at a time.
struct Fields<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Fields<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

struct Tasks<'a>(&'a AllocationDocument<'a>);

impl Serialize for Tasks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let problem = self.0.problem;
        let rows = problem.users().iter().zip(&self.0.allocation.tasks);
        serializer.collect_map(rows.map(|(user, row)| {
            let entries = row.iter().filter(|(_, x)| !x.is_zero());
            let entries = entries.map(|(i, x)| (problem.servers()[*i].name(), self.0.tasks(x)));
            (user.name(), Fields(entries))
        }))
    }
}

struct Placements<'a>(&'a AllocationDocument<'a>, &'a [Placement]);

impl Serialize for Placements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|each| OnePlacement(self.0, each)))
    }
}

struct OnePlacement<'a>(&'a AllocationDocument<'a>, &'a Placement);

impl Serialize for OnePlacement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(document, placement) = self;
        let problem = document.problem;
        let tasks = placement.tasks.iter();
        let tasks = tasks.map(|(n, x)| (problem.users()[*n].name(), document.tasks(x)));
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("server", problem.servers()[placement.server].name())?;
        map.serialize_entry("index", &placement.index)?;
        map.serialize_entry("tasks", &Fields(tasks))?;
        map.end()
    }
}

struct Summary<'a>(&'a AllocationDocument<'a>);

impl Serialize for Summary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AllocationDocument { problem, allocation, .. } = self.0;
        serializer.collect_map(problem.users().iter().enumerate().map(|(n, user)| {
            let tasks = allocation.total(n);
            let share = utilisation::dominant_share(problem, allocation, n);
            let held = utilisation::held(problem, allocation, n);
            (user.name(), SummaryRow { problem, tasks, share, held, arithmetic: allocation.arithmetic })
        }))
    }
}

/// Beyond this many resources a user's zeros are left out: users times resources need not fit in memory.
const MOST_RESOURCES: usize = 100;

struct SummaryRow<'a> {
    problem: &'a Problem,
    tasks: Rational,
    share: Rational,
    /// By resource.
    held: Vec<Rational>,
    arithmetic: Arithmetic,
}

impl Serialize for SummaryRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = |value| NumberText(value, self.arithmetic);
        let resources = self.problem.resources();
        let held = resources.iter().zip(&self.held);
        let held = held.filter(|(_, held)| !held.is_zero() || resources.len() <= MOST_RESOURCES);
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("tasks", &number(&self.tasks))?;
        map.serialize_entry("dominant_share", &number(&self.share))?;
        map.serialize_entry("resources", &Fields(held.map(|(name, held)| (name, number(held)))))?;
        map.end()
    }
}

struct Utilisation<'a>(&'a AllocationDocument<'a>);

impl Serialize for Utilisation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let problem = self.0.problem;
        let rows = utilisation::by_class(problem, self.0.allocation);
        serializer.collect_map(problem.servers().iter().zip(&rows).map(|(server, row)| {
            let entries = row.iter().map(|(kind, share)| {
                let name = match kind {
                    RowKind::Resource(r) => &problem.resources()[*r],
                    RowKind::Time => "time",
                };
                (name, share.as_ref().map(|share| self.0.number(share)))
            });
            (server.name(), Fields(entries))
        }))
    }
}
