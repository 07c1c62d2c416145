//! Tables, figures and examples of the papers beside what the engine gets.
//!
//! An entry holds the published value as it is printed and ours, and says whether they agree to the
//! printed digits. Where they do not, the note says why.
#![forbid(unsafe_code)]

mod album;
mod data;
mod drfh;
mod error;
mod exhibits;
mod kesidis;
mod njc;
mod ps_dsf;
mod render;
mod reservation;
mod simulation;
mod snapshots;
mod theorems;

use evenhand_certify::{certify, default_requests};
use evenhand_mechanisms::registry;
use evenhand_problem::{
    Allocation, Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec, number,
};
use evenhand_report::text::decimal;

pub use album::{AlbumFile, album};
pub use data::{Data, Missing};
pub use error::PaperError;
pub use exhibits::{Exhibit, exhibits};
pub use render::{document, document_of_exhibits, list_of_exhibits, table, words};

/// One published value beside ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the entry; its part before the first point is what [`entries`] selects by.
    pub id: String,
    /// Paper and place in it.
    pub source: &'static str,
    /// The published value; empty where nothing is printed.
    pub paper: String,
    /// What the engine gets; empty where it was not computed, and the note says why.
    pub ours: String,
    /// Whether both agree to the printed digits; `None`: nothing to compare, or not checked.
    pub agrees: Option<bool>,
    /// What a reader should know.
    pub note: String,
}

impl Entry {
    /// Whether ours was computed. Where it was not, data is missing that the note names.
    #[must_use]
    pub const fn is_checked(&self) -> bool {
        !self.ours.is_empty()
    }
}

/// Entries that are made together.
struct Part {
    /// With what their ids begin: a section, or parts of one.
    starts: &'static [&'static str],
    make: fn() -> Result<Vec<Entry>, PaperError>,
}

static PARTS: [Part; 13] = [
    Part { starts: &["drfh"], make: drfh::entries },
    Part { starts: &["ps-dsf"], make: ps_dsf::entries },
    Part { starts: &["njc"], make: njc::entries },
    Part { starts: &["kesidis"], make: kesidis::entries },
    Part { starts: &["reservation"], make: reservation::entries },
    Part { starts: &["snapshots"], make: snapshots::entries },
    Part { starts: &["simulation.drfh.figure-4"], make: simulation::dynamic::entries },
    Part { starts: simulation::google::STARTS, make: simulation::google::entries },
    Part { starts: &["simulation.ps-dsf"], make: simulation::distributed::entries },
    Part { starts: simulation::admission::STARTS, make: simulation::admission::entries },
    Part { starts: simulation::priorities::STARTS, make: simulation::priorities::entries },
    Part { starts: &["simulation.kesidis"], make: simulation::confidence::entries },
    Part { starts: &["theorems"], make: theorems::entries },
];

/// The names that can be asked for.
#[must_use]
pub fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = starts().filter_map(|start| start.split('.').next()).collect();
    sections.dedup();
    sections
}

/// With what the ids of entries begin.
pub fn starts() -> impl Iterator<Item = &'static str> {
    PARTS.iter().flat_map(|part| part.starts.iter().copied())
}

/// The entries among which those are that the ids name: sections, or parts of them; all where there is no id. No more is
/// computed than is made together with them.
///
/// # Errors
/// A solver failed.
pub fn entries(ids: &[&str]) -> Result<Vec<Entry>, PaperError> {
    let is_asked_for =
        |start: &&str| ids.is_empty() || ids.iter().any(|id| is_part(id, start) || is_part(start, id));
    let mut entries = Vec::new();
    for part in PARTS.iter().filter(|part| part.starts.iter().any(is_asked_for)) {
        entries.extend((part.make)()?);
    }
    Ok(entries)
}

/// Whether an id is `whole`, or names a part of it: `drfh.figure-3.tasks` is one of `drfh.figure-3`.
#[must_use]
pub fn is_part(id: &str, whole: &str) -> bool {
    id.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A problem in numbers: capacities by class and resource, demands by user and resource.
struct ProblemTable<'a> {
    servers: &'a [(u32, &'a [&'a str])],
    users: &'a [TableUser<'a>],
}

/// A user of a [`ProblemTable`].
#[derive(Clone, Copy)]
struct TableUser<'a> {
    weight: &'a str,
    tasks: Option<&'a str>,
    demand: &'a [&'a str],
    /// Classes by number; empty: all.
    servers: &'a [usize],
}

impl<'a> TableUser<'a> {
    const fn new(demand: &'a [&'a str]) -> Self {
        Self { weight: "1", tasks: None, demand, servers: &[] }
    }
}

impl ProblemTable<'_> {
    fn problem(&self) -> Result<Problem, PaperError> {
        let exact = |text: &str| number::parse(text).map_err(PaperError::from);
        let vector = |values: &[&str]| {
            values
                .iter()
                .enumerate()
                .map(|(r, text)| Ok((format!("r{}", r + 1), exact(text)?)))
                .collect::<Result<Vec<_>, PaperError>>()
        };
        let n_resources = self.servers.first().map_or(0, |(_, capacity)| capacity.len());
        let server_name = |i: usize| format!("s{}", i + 1);
        let mut spec = ProblemSpec {
            resources: (0..n_resources).map(|r| format!("r{}", r + 1)).collect(),
            ..ProblemSpec::default()
        };
        for (i, (count, capacity)) in self.servers.iter().enumerate() {
            let count = Some(Rational::from(*count));
            spec.servers.push(ServerSpec { name: server_name(i), count, capacity: vector(capacity)? });
        }
        for (n, user) in self.users.iter().enumerate() {
            spec.users.push(UserSpec {
                name: format!("user {}", n + 1),
                weight: Some(exact(user.weight)?),
                tasks: user.tasks.map(exact).transpose()?,
                demand: vector(user.demand)?,
                servers: (!user.servers.is_empty())
                    .then(|| user.servers.iter().map(|&i| server_name(i)).collect()),
                ..UserSpec::default()
            });
        }
        Problem::new(spec).map_err(PaperError::from)
    }
}

/// The exact allocation of a mechanism, with its own axioms certified and checked.
fn solve(problem: &Problem, mechanism: &str) -> Result<Allocation, PaperError> {
    let mechanism = registry::find(mechanism).ok_or("no such mechanism")?;
    let allocation = mechanism.allocate(problem, Arithmetic::Exact)?.allocation;
    let requests = default_requests(problem, &allocation);
    let examination = certify(problem, &allocation, &requests, &Rational::new())?;
    let verdict = evenhand_exact::check(&examination.certificate);
    match verdict.reason {
        None => Ok(allocation),
        Some(reason) => Err(format!("the certificate is refused: {reason}").into()),
    }
}

fn list(values: &[Rational]) -> String {
    values.iter().map(Rational::to_string).collect::<Vec<_>>().join(", ")
}

fn decimals(values: &[Rational]) -> String {
    values.iter().map(decimal).collect::<Vec<_>>().join(", ")
}

/// Whether every value, rounded to the printed digits, is the printed text.
fn agree(printed: &[&str], values: &[Rational]) -> bool {
    printed.len() == values.len() && printed.iter().zip(values).all(|(text, value)| rounds_to(value, text))
}

/// Whether `value` lies within half a unit of the last digit of `text`.
fn rounds_to(value: &Rational, text: &str) -> bool {
    let Ok(printed) = number::parse(text) else { return false };
    if text.contains('/') {
        return *value == printed;
    }
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unit = Rational::from((1, 10)).pow_digits(digits);
    let distance = (value - printed).abs();
    distance * 2u32 <= unit
}

trait PowDigits {
    fn pow_digits(self, digits: usize) -> Self;
}

impl PowDigits for Rational {
    fn pow_digits(self, digits: usize) -> Self {
        (0..digits).fold(Rational::from(1), |value, _| value * &self)
    }
}
