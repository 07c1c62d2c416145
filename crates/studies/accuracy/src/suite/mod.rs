//! Suites of cases. The cases are generated from a seed and are the same on every machine. The hashes of
//! their problems and references are committed (`suite.txt`).

mod clusters;
mod draw;
mod planted;
mod pools;
mod reservations;

use evenhand_problem::ProblemError;

use crate::BenchError;
use crate::case::{Case, Input, Kind};

pub use clusters::{Traits, cluster};
pub(crate) use draw::Draw;
pub use planted::planted;
pub use pools::{pool, random};

/// The version of the suites. It changes when any of their problems or references changes.
pub const VERSION: u32 = 2;
/// The seed of the suites whose hashes are committed.
pub const SEED: u64 = 0;
/// The text of `suite.txt`: a line for each case of the full suite, with the hashes of its problem and its reference.
pub const HASHES: &str = include_str!("suite.txt");

/// A suite of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// The small cases, which take a minute or two together.
    Small,
    /// All cases.
    Full,
    /// The linear programmes in a folder of MPS files, which are read instead of generated.
    Netlib,
}

evenhand_problem::names! { Suite:
    Small = "small", "62 cases of all kinds, up to 60 users: a minute or two";
    Full = "full", "151 cases, up to 100,000 users: hours";
    Netlib = "netlib", "the linear programmes of a folder of MPS files (--data)";
}

/// The suite to which a case belongs: the small suite, or only the full suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Small,
    Large,
}

/// A recipe that generates a case on demand.
struct Recipe {
    name: String,
    kind: Kind,
    size: Size,
    make: Box<dyn Fn(u64) -> Result<Case, ProblemError>>,
}

impl Suite {
    fn has(self, recipe: &Recipe) -> bool {
        match self {
            Self::Small => recipe.size == Size::Small,
            Self::Full => true,
            Self::Netlib => false,
        }
    }
}

/// Returns the cases of a suite. Each case is generated on demand. [`Suite::Netlib`] has no cases here.
///
/// # Errors
/// Each item may be [`BenchError::Instance`] if numbers do not form a valid problem.
pub fn cases(suite: Suite, seed: u64) -> impl Iterator<Item = Result<Case, BenchError>> {
    cases_of(suite, seed, &Kind::ALL)
}

/// Returns the cases of a suite that are of one of these kinds.
pub fn cases_of(
    suite: Suite,
    seed: u64,
    kinds: &[Kind],
) -> impl Iterator<Item = Result<Case, BenchError>> + use<> {
    let kinds = kinds.to_vec();
    let wanted = move |recipe: &Recipe| suite.has(recipe) && kinds.contains(&recipe.kind);
    recipes().into_iter().filter(wanted).map(move |recipe| {
        (recipe.make)(seed)
            .map(|case| Case { name: recipe.name.clone(), kind: recipe.kind, ..case })
            .map_err(|error| BenchError::Instance { instance: recipe.name.clone(), what: error.to_string() })
    })
}

/// Returns the number of cases of a suite.
#[must_use]
pub fn n_cases(suite: Suite) -> usize {
    n_cases_of(suite, &Kind::ALL)
}

/// Returns the number of cases of a suite that are of one of these kinds.
#[must_use]
pub fn n_cases_of(suite: Suite, kinds: &[Kind]) -> usize {
    recipes().iter().filter(|recipe| suite.has(recipe) && kinds.contains(&recipe.kind)).count()
}

/// Returns the committed hashes of the problem and of the reference of a case.
#[must_use]
pub fn hashes(kind: Kind, name: &str) -> Option<(&'static str, &'static str)> {
    HASHES.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_it = words.next() == Some(kind.name()) && words.next() == Some(name);
        is_it.then(|| Some((words.next()?, words.next()?))).flatten()
    })
}

/// Returns the cases of a problem that the user provides. There is one case for every kind that applies to
/// the problem.
#[must_use]
pub fn own(name: &str, input: &Input) -> Vec<Case> {
    let case = |kind: Kind| Case {
        name: name.to_owned(),
        kind,
        note: "a problem of one's own",
        input: input.clone(),
        alpha: if kind == Kind::Alpha { 2.into() } else { 1.into() },
        planted: None,
    };
    let kinds = Kind::ALL.into_iter().filter(|kind| match input {
        Input::Reservation(_) => *kind == Kind::Configurations,
        Input::Programme(_) => *kind == Kind::LinearProgramme,
        Input::Allocation(problem) => match kind {
            Kind::Configurations | Kind::LinearProgramme => false,
            Kind::Pool | Kind::Njc => problem.n_servers() == 1,
            Kind::Proportional => problem.n_servers() != 1,
            _ => true,
        },
    });
    kinds.map(case).collect()
}

fn recipes() -> Vec<Recipe> {
    let mut all = Vec::new();
    pools::recipes(&mut all);
    planted::recipes(&mut all);
    clusters::recipes(&mut all);
    reservations::recipes(&mut all);
    all.sort_by_key(|recipe| recipe.kind);
    all
}

/// Adds a recipe to the list.
fn add(
    all: &mut Vec<Recipe>,
    kind: Kind,
    size: Size,
    name: impl Into<String>,
    make: impl Fn(u64) -> Result<Case, ProblemError> + 'static,
) {
    all.push(Recipe { name: name.into(), kind, size, make: Box::new(make) });
}
