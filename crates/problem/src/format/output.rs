//! Writes an allocation.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use rug::Rational;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use super::problem_sha256;
use crate::{
    allocation::{Allocation, Arithmetic, Placement},
    constraint::RowKind,
    number,
    problem::Problem,
    utilisation,
};

/// An allocation document: an allocation with further information for people and other programs.
///
/// Summary and utilisation are computed exactly when the document is written. Numbers of an exact allocation
/// are written as strings such as `"5/7"`. Numbers of a floating-point allocation are written as JSON
/// numbers.
#[derive(Debug, Clone)]
pub struct AllocationDocument<'a> {
    /// The problem that the allocation is for.
    pub problem: &'a Problem,
    /// The allocation.
    pub allocation: &'a Allocation,
    /// Hash of the problem, or `None` for an allocation that is stored next to its problem.
    pub problem_sha256: Option<String>,
    /// `true` if the document has the summary, which lists the total tasks, dominant share and resources of
    /// every user.
    pub summary: bool,
    /// Computing time, in seconds.
    pub seconds: Option<f64>,
    /// Further fields such as prices, gap, witness and status, written after all other fields. Their names
    /// must differ from the names of the other fields.
    pub extra: Map<String, Value>,
}

/// A number in the format that the arithmetic of a result requires: a string such as `"5/7"`, or a JSON number. The
/// JSON number is the nearest double, except for decimals that have a few digits more than a double.
#[derive(Debug, Clone, Copy)]
pub struct NumberText<'a>(pub &'a Rational, pub Arithmetic);

impl<'a> AllocationDocument<'a> {
    /// Creates a document with the problem's hash, and without time and extra fields.
    #[must_use]
    pub fn new(problem: &'a Problem, allocation: &'a Allocation) -> Self {
        Self {
            problem,
            allocation,
            problem_sha256: Some(problem_sha256(problem)),
            summary: false,
            seconds: None,
            extra: Map::new(),
        }
    }

    /// Returns the text of the document, indented, with a line break at the end.
    ///
    /// # Errors
    /// Never, for a valid document.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Writes the text of [`to_json`](Self::to_json) piece by piece, without storing all of it in memory.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_json(&self, mut out: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")
    }

    fn number<'n>(&self, value: &'n Rational) -> NumberText<'n> {
        NumberText(value, self.allocation.arithmetic)
    }

    /// Returns a number of tasks as the document writes it. Tasks on single servers must add up to the tasks
    /// on the class. If there are placements, a number that is not a double is therefore written exactly.
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
        if self.1 == Arithmetic::Exact || !nearest.is_finite() {
            return serializer.collect_str(self.0);
        }
        match number::between_doubles(self.0, nearest).and_then(|text| RawValue::from_string(text).ok()) {
            Some(text) => text.serialize(serializer),
            None => serializer.serialize_f64(nearest),
        }
    }
}

impl Serialize for AllocationDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { problem, allocation, .. } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", "allocation")?;
        map.serialize_entry("version", &1)?;
        if let Some(mechanism) = &allocation.mechanism {
            map.serialize_entry("mechanism", mechanism)?;
        }
        if let Some(alpha) = &allocation.alpha {
            map.serialize_entry("alpha", &number::format(alpha))?;
        }
        if allocation.criterion {
            map.serialize_entry("criterion", &true)?;
        }
        if let Some(rule) = &allocation.rule {
            map.serialize_entry("rule", rule)?;
        }
        map.serialize_entry("sharing", allocation.sharing.name())?;
        map.serialize_entry("arithmetic", allocation.arithmetic.name())?;
        if let Some(hash) = &self.problem_sha256 {
            map.serialize_entry("problem_sha256", hash)?;
        }
        map.serialize_entry("tasks", &self.tasks_by_user())?;
        if let Some(placements) = &allocation.placements {
            map.serialize_entry("placements", &self.placed(placements))?;
        }
        if self.summary {
            map.serialize_entry("summary", &self.summary())?;
        }
        let used = utilisation::by_class(problem, allocation);
        let used = problem.servers().iter().zip(&used).map(|(server, row)| {
            let entries = row.iter().map(|(kind, share)| {
                let name = match kind {
                    RowKind::Resource(r) => &problem.resources()[*r],
                    RowKind::Time => "time",
                };
                (name, share.as_ref().map(|share| self.number(share)))
            });
            (server.name(), Fields(entries))
        });
        map.serialize_entry("utilisation", &Fields(used))?;
        if let Some(seconds) = self.seconds {
            map.serialize_entry("seconds", &seconds)?;
        }
        for (name, value) in &self.extra {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl AllocationDocument<'_> {
    fn tasks_by_user<'n>(&'n self) -> impl Serialize + 'n {
        let rows = self.problem.users().iter().zip(&self.allocation.tasks);
        let texts = Texts::default();
        Fields(rows.map(move |(user, row)| {
            let entries = row.iter().filter(|(_, x)| !x.is_zero());
            let texts = texts.clone();
            let on_class = move |(i, x): &'n (usize, Rational)| {
                (self.problem.servers()[*i].name(), texts.of(self.tasks(x)))
            };
            (user.name(), Fields(entries.map(on_class)))
        }))
    }

    fn placed(&self, placements: &[Placement]) -> impl Serialize {
        let placed = placements.iter().map(|placement| {
            let tasks = placement.tasks.iter();
            let tasks = tasks.map(|(n, x)| (self.problem.users()[*n].name(), self.tasks(x)));
            let server = self.problem.servers()[placement.server].name();
            ServerTasks { server, index: placement.index, tasks: Fields(tasks) }
        });
        placed.collect::<Vec<_>>()
    }

    fn summary(&self) -> impl Serialize {
        let Self { problem, allocation, .. } = *self;
        Fields(problem.users().iter().enumerate().map(move |(n, user)| {
            let tasks = allocation.total(n);
            let share = utilisation::dominant_share(problem, allocation, n);
            let held = utilisation::held(problem, allocation, n);
            (user.name(), SummaryRow { problem, tasks, share, held, arithmetic: allocation.arithmetic })
        }))
    }
}

/// The texts of numbers that equivalent users share. Formatting a long number costs a division of all its
/// digits, and formatting a floating-point number costs a search for the nearest doubles.
#[derive(Clone, Default)]
struct Texts<'n>(Rc<RefCell<Known<'n>>>);

/// The text of each number, and the bytes that all texts take together.
type Known<'n> = (HashMap<&'n Rational, Rc<str>>, usize);

impl<'n> Texts<'n> {
    /// The number of bits from which a denominator counts as long.
    const LONG: u32 = 512;
    /// The maximum number of bytes of the stored texts of exact numbers: enough for thousands of numbers of thousands
    /// of digits.
    const MOST: usize = 1 << 25;

    /// The maximum number of bytes of the stored texts of floating-point numbers, including their table
    /// entries. There can be as many such texts as users.
    const MOST_FLOAT: usize = 1 << 24;

    fn of(&self, number: NumberText<'n>) -> Text<'n> {
        let NumberText(value, arithmetic) = number;
        if arithmetic == Arithmetic::Float {
            return self.of_float(number);
        }
        if value.denom().significant_bits() < Self::LONG {
            return Text::Number(number);
        }
        let (known, bytes) = &mut *self.0.borrow_mut();
        if let Some(text) = known.get(value) {
            return Text::Known(text.clone());
        }
        if *bytes >= Self::MOST {
            return Text::Number(number);
        }
        let text: Rc<str> = value.to_string().into();
        *bytes += text.len();
        known.insert(value, text.clone());
        Text::Known(text)
    }

    fn of_float(&self, number: NumberText<'n>) -> Text<'n> {
        let (known, bytes) = &mut *self.0.borrow_mut();
        if let Some(text) = known.get(number.0) {
            return Text::Json(text.clone());
        }
        let is_room = *bytes < Self::MOST_FLOAT;
        let Some(text) = is_room.then(|| serde_json::to_string(&number).ok()).flatten() else {
            return Text::Number(number);
        };
        let text: Rc<str> = text.into();
        *bytes += text.len() + Self::PLACE;
        known.insert(number.0, text.clone());
        Text::Json(text)
    }

    /// Bytes of a table entry, with the overhead of the allocator.
    const PLACE: usize = 64;
}

/// A number in the form in which it is written.
#[derive(Serialize)]
#[serde(untagged)]
enum Text<'n> {
    Number(NumberText<'n>),
    #[serde(serialize_with = "as_text")]
    Known(Rc<str>),
    /// Text that is JSON already.
    #[serde(serialize_with = "as_json")]
    Json(Rc<str>),
}

fn as_json<S: Serializer>(text: &Rc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    let raw = serde_json::from_str::<&RawValue>(text).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

fn as_text<S: Serializer>(text: &Rc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// An object whose entries are computed one at a time.
struct Fields<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Fields<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

/// The tasks on a single server, as the document writes them.
#[derive(Serialize)]
struct ServerTasks<'a, T> {
    server: &'a str,
    index: u64,
    tasks: T,
}

/// Number of resources above which a user's zeros are left out. The product of users and resources may be too large for
/// the memory.
const MOST_RESOURCES: usize = 100;

struct SummaryRow<'a> {
    problem: &'a Problem,
    tasks: Rational,
    share: Rational,
    /// The amount of each resource that the user has.
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
