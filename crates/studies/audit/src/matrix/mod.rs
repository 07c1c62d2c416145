//! Audits as a matrix: every mechanism by every axiom and property, each cell explained.
//!
//! A cell is proven by a theorem, refuted by a problem, open after a number of problems, or the question does not arise.
//! What is not known beforehand is searched: every problem in small whole numbers up to the order of users, classes and
//! resources, then problems at random and near misses changed a little. A search can be stopped, stored and taken up
//! again, and comes to the same with any number of threads.
//!
//! # Examples
//! ```
//! use evenhand_audit::matrix::{Progress, Settings, StateOf};
//! let mut progress = Progress::new(Settings { instances: 64, ..Settings::default() });
//! // One search after the other, here for the first few hundred small problems alone.
//! progress.advance();
//! let again = Progress::read(&progress.to_json())?;
//! assert_eq!(again.steps(), progress.steps());
//! let cell = again.finish().cell("drf", "strategy-proof").unwrap().clone();
//! assert_eq!(cell.state, StateOf::Proven);
//! # Ok::<(), evenhand_audit::matrix::StateError>(())
//! ```

mod cells;
mod claims;
mod column;
mod html;
mod known;
mod made;
mod premises;
mod render;
mod search;
mod small;
mod state;

use evenhand_mechanisms::registry;
use serde::{Deserialize, Serialize};

pub use cells::{Cell, Compared, Judged, Matrix, Pair, Shown, StateOf, UNLESS_TIES};
pub use claims::{CLAIMS, Claim};
pub use column::Column;
pub use html::document as html;
pub use known::{Known, known};
pub use premises::Premises;
pub use render::{certificates, claim_name, document, page, table};
pub use search::{contradicted, flags};
pub use state::StateError;

use search::Search;

/// All small problems that keep to the premises, in the order in which they are looked at.
#[must_use]
pub fn small_problems(premises: Premises) -> Vec<evenhand_problem::Problem> {
    let universe = small::Universe::of(false, premises);
    let problems = (0..universe.count()).filter_map(|place| universe.problem(place)?.problem());
    problems.filter(|problem| premises.hold(problem)).collect()
}

/// Problems at random for every mechanism, where no number is stated.
pub const INSTANCES: u64 = 1_000;

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What problems are drawn by.
    pub seed: u64,
    /// How many are drawn for every mechanism, after the small ones.
    pub instances: u64,
    /// The premises that every problem satisfies.
    pub premises: Premises,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 0, instances: INSTANCES, premises: Premises::NONE }
    }
}

/// How far a matrix is: a search for every mechanism, and one for every claim of a paper that stands on premises of its
/// own.
#[derive(Clone)]
pub struct Progress {
    settings: Settings,
    /// By mechanism, in the order of the registry.
    main: Vec<Search>,
    /// By mechanism and premises; which columns it has is known when the first part is done.
    of_claims: Vec<Search>,
}

impl Progress {
    /// Nothing searched yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let main = registry::ALL.iter().map(|mechanism| {
            let is_open =
                |column: &Column| matches!(known(mechanism, *column, settings.premises), Known::Open(_));
            Search::new(mechanism, None, settings.premises, Column::all().into_iter().filter(is_open))
        });
        let mut progress = Self { settings, main: main.collect(), of_claims: Vec::new() };
        progress.begin_claims();
        progress
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the search is over.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.main.iter().chain(&self.of_claims).all(|search| search.is_complete(self.settings.instances))
    }

    /// Problems that were looked at or need not be, and all of them.
    #[must_use]
    pub fn steps(&self) -> (u64, u64) {
        let all = |search: &Search| search.numbers(self.settings.instances);
        let done = |search: &Search| {
            if search.is_complete(self.settings.instances) { all(search) } else { search.at }
        };
        let searches = || self.main.iter().chain(&self.of_claims);
        (searches().map(done).sum(), searches().map(all).sum())
    }

    /// What is searched at the moment.
    #[must_use]
    pub fn current(&self) -> Option<&'static str> {
        let mut searches = self.main.iter().chain(&self.of_claims);
        let search = searches.find(|search| !search.is_complete(self.settings.instances))?;
        Some(search.subject.mechanism.info.id)
    }

    /// Looks at the next few problems.
    pub fn advance(&mut self) {
        let Settings { seed, instances, .. } = self.settings;
        if let Some(search) = self.main.iter_mut().find(|search| !search.is_complete(instances)) {
            search.advance(seed, instances);
            self.begin_claims();
        } else if let Some(search) = self.of_claims.iter_mut().find(|search| !search.is_complete(instances)) {
            search.advance(seed, instances);
        }
    }

    /// Searches for the claims that what was found does not answer, once everything else was searched.
    fn begin_claims(&mut self) {
        let instances = self.settings.instances;
        if !self.of_claims.is_empty() || !self.main.iter().all(|search| search.is_complete(instances)) {
            return;
        }
        for claim in CLAIMS {
            let Some(mechanism) = registry::find(claim.mechanism) else { continue };
            let premises = claim.premises.and(self.settings.premises);
            let is_open = matches!(known(mechanism, claim.column, premises), Known::Open(_));
            if !is_open || self.answers(claim, premises) {
                continue;
            }
            let same = |search: &&mut Search| {
                search.subject.mechanism.info.id == claim.mechanism
                    && (search.premises, search.select) == (premises, claim.select)
            };
            match self.of_claims.iter_mut().find(same) {
                Some(search) => search.ask(claim.column),
                None => {
                    self.of_claims.push(Search::new(mechanism, claim.select, premises, [claim.column]));
                }
            }
        }
    }

    /// Whether the search of the mechanism has found a problem that keeps to the premises, or kept to them itself.
    fn answers(&self, claim: &Claim, premises: Premises) -> bool {
        let found = self.found(&self.main, claim).filter(|_| claim.select.is_none());
        claim.select.is_none() && premises == self.settings.premises
            || found.is_some_and(|found| premises.hold(&found.problem))
    }

    fn found<'a>(&self, searches: &'a [Search], claim: &Claim) -> Option<&'a search::Found> {
        let of = |search: &&Search| search.subject.mechanism.info.id == claim.mechanism;
        let cells = searches.iter().filter(of).flat_map(|search| &search.cells);
        cells.filter(|cell| cell.column == claim.column).find_map(|cell| cell.found.as_ref())
    }
}
