//! Audits as a matrix. Its rows are all mechanisms and its columns are all axioms and properties. Each cell has an
//! explanation.
//!
//! A cell is proven by a theorem, refuted by a problem, open, or not applicable. A search examines problems for all
//! cells that are not known beforehand. It first tries every problem in small whole numbers, up to the order of users,
//! classes and resources. Then it tries random problems, and small changes of problems that nearly refute a cell. A
//! search can be stopped, saved and resumed. Its result does not depend on the number of threads.
//!
//! # Examples
//! ```
//! use evenhand_audit::matrix::{Progress, Settings, StateOf};
//! let mut progress = Progress::new(Settings { instances: 64, ..Settings::default() });
//! // Searches are made one after the other. This step covers a few small problems of the first search.
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

/// Returns all small problems that satisfy the premises, in the order in which the search examines them.
#[must_use]
pub fn small_problems(premises: Premises) -> Vec<evenhand_problem::Problem> {
    let universe = small::Universe::of(false, premises);
    let problems = (0..universe.count()).filter_map(|place| universe.problem(place)?.problem());
    problems.filter(|problem| premises.hold(problem)).collect()
}

/// The default number of random problems for every mechanism.
pub const INSTANCES: u64 = 1_000;

/// The settings of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The seed of the random problems.
    pub seed: u64,
    /// The number of random problems that are drawn for every mechanism, after the small problems.
    pub instances: u64,
    /// The premises that every problem satisfies.
    pub premises: Premises,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 0, instances: INSTANCES, premises: Premises::NONE }
    }
}

/// The progress of a matrix. There is a search for every mechanism, and a further search for each claim whose premises
/// are not those of the matrix.
#[derive(Clone)]
pub struct Progress {
    settings: Settings,
    /// The searches by mechanism, in the order of the registry.
    main: Vec<Search>,
    /// The searches for claims, by mechanism and premises. Their columns are known only after the searches in
    /// `main`.
    of_claims: Vec<Search>,
}

impl Progress {
    /// Creates a matrix before any search.
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

    /// Returns the settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns `true` if the search is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.main.iter().chain(&self.of_claims).all(|search| search.is_complete(self.settings.instances))
    }

    /// Returns the number of problems that were examined or skipped as unnecessary, and the number of all problems.
    #[must_use]
    pub fn steps(&self) -> (u64, u64) {
        let all = |search: &Search| search.numbers(self.settings.instances);
        let done = |search: &Search| {
            if search.is_complete(self.settings.instances) { all(search) } else { search.at }
        };
        let searches = || self.main.iter().chain(&self.of_claims);
        (searches().map(done).sum(), searches().map(all).sum())
    }

    /// Returns the mechanism of the current search.
    #[must_use]
    pub fn current(&self) -> Option<&'static str> {
        let mut searches = self.main.iter().chain(&self.of_claims);
        let search = searches.find(|search| !search.is_complete(self.settings.instances))?;
        Some(search.subject.mechanism.info.id)
    }

    /// Examines the next few problems.
    pub fn advance(&mut self) {
        let Settings { seed, instances, .. } = self.settings;
        if let Some(search) = self.main.iter_mut().find(|search| !search.is_complete(instances)) {
            search.advance(seed, instances);
            self.begin_claims();
        } else if let Some(search) = self.of_claims.iter_mut().find(|search| !search.is_complete(instances)) {
            search.advance(seed, instances);
        }
    }

    /// Begins the searches for claims that the main searches do not answer. This function does nothing before
    /// the main searches are complete.
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

    /// Returns `true` if the main search of the mechanism answers the claim. It answers the claim if both
    /// have the same premises, or if the counterexample of the search satisfies the premises of the claim.
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
