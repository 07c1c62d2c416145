//! Searches for job types for which the ratio of greedy to the optimum is as low as possible at the worst
//! loads.
//!
//! On one pool with `J` types, greedy earns at least the fraction `1 - (1 - 1/J)^J` of the optimum. This
//! fraction is more than `1 - 1/e`, and some instance attains it (docs/theory.md, section 6, Theorem C). If
//! greedy fills several pools in a given order, the ratio can fall to 1/2. It is not known how far the ratio
//! can fall with better orders of pools, or with whole servers.
//!
//! The hunt tries to refute the bound. It searches job types in integers on one server shape. Small sizes are
//! searched completely, up to symmetry ([`Exhaustive`]). Larger sizes are searched by local search. Every
//! ratio is exact. An instance is discarded only by a proof. Instances that are too large to be decided are
//! counted. The rational method of `evenhand-lp` computes the results again, and [`certify`] certifies them.
//!
//! [`Hunt`] works in batches. Between batches its [`State`] can be saved. The results depend only on the settings,
//! not on the number of threads or on interruptions.
//!
//! # Examples
//! This searches all pairs of types on one resource of 3 units, with rewards 1 and 2:
//! ```
//! use evenhand_hunt::{Hunt, Settings};
//! let settings = Settings { types: 2, resources: 1, capacity: 3, rewards: 2, exhaustive: true, seed: 0, keep: 3 };
//! let mut hunt = Hunt::new(settings)?;
//! while hunt.advance()? {}
//! assert_eq!(hunt.best()[0].ratio.to_string(), "7/9");
//! # Ok::<(), evenhand_hunt::HuntError>(())
//! ```
#![forbid(unsafe_code)]

mod certified;
mod clock;
mod error;
mod exhaustive;
mod limit;
mod render;
mod shrink;
mod tableau;
mod types;
mod walks;
mod worst;

use evenhand_problem::{Integer, Rational};
use serde::{Deserialize, Serialize};

pub use certified::{Certified, certify};
pub use clock::Clock;
pub use error::HuntError;
pub use exhaustive::{Exhaustive, MOST_MATRICES};
pub use limit::against_limit;
pub use render::{document, page};
pub use shrink::shrink;
pub use types::{Instance, JobTypeNumbers};
pub use walks::{STEPS, WALKS};
pub use worst::{Counts, below, exactly};

/// The largest number of job types.
pub const MOST_TYPES: usize = 8;
/// The largest number of resources.
pub const MOST_RESOURCES: usize = 10;
/// The largest capacity in units.
pub const MOST_CAPACITY: u32 = 1_000;
/// The largest reward.
pub const MOST_REWARD: u64 = 1_000_000;
/// The largest number of instances that a hunt keeps.
pub const MOST_KEPT: usize = 100;
/// The largest position in a saved state that is accepted. No hunt reaches this position.
const MOST_POSITION: u64 = 1 << 60;
/// The version of [`State`].
pub const STATE_VERSION: u32 = 1;

/// The settings of a hunt: the size of the instances and how they are searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of job types, `J`.
    pub types: usize,
    /// The number of resources, `m`.
    pub resources: usize,
    /// The capacity of a server, in units of every resource. Demands are from 0 to this number.
    pub capacity: u32,
    /// The largest reward. Rewards are from 1 to this number.
    pub rewards: u64,
    /// True if all instances of the size are searched. Otherwise the search is local.
    pub exhaustive: bool,
    /// The seed of the local search.
    pub seed: u64,
    /// The number of instances of different ratios that are kept.
    pub keep: usize,
}

/// An instance and its least ratio over all loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The job types.
    pub instance: Instance,
    /// The ratio of greedy to the optimum at the worst loads.
    pub ratio: Rational,
}

/// The saved state of a hunt, from which it can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Always "hunt-state".
    pub kind: String,
    /// The version of the format, [`STATE_VERSION`].
    pub version: u32,
    /// The settings of the hunt.
    pub settings: Settings,
    /// The position of the exhaustive search, or the number of rounds of the local search.
    pub position: u64,
    /// The counts of the instances so far.
    pub counts: Counts,
    /// The best instances, in ascending order of their ratios.
    pub best: Vec<Instance>,
    /// The current instances of the walks of the local search.
    pub walks: Vec<Instance>,
}

/// A running hunt.
#[derive(Debug)]
pub struct Hunt {
    settings: Settings,
    position: u64,
    counts: Counts,
    best: Vec<Found>,
    walks: Vec<Found>,
    exhaustive: Option<Exhaustive>,
    clock: Clock,
    /// The state before the last batch, if the time was up within that batch. A resumed hunt starts from this state.
    before: Option<State>,
}

impl Hunt {
    /// Creates a hunt.
    ///
    /// # Errors
    /// [`HuntError::Setting`] if a setting is out of range, and [`HuntError::TooLarge`] if there are too many
    /// instances to search all of them.
    pub fn new(settings: Settings) -> Result<Self, HuntError> {
        Self::within(settings, Clock::default())
    }

    /// Creates a hunt that begins no work after the time limit.
    ///
    /// # Errors
    /// The errors of [`Hunt::new`], and [`HuntError::OutOfTime`] if the time limit is reached.
    pub fn within(settings: Settings, clock: Clock) -> Result<Self, HuntError> {
        let within = |what, found: u64, from, to| {
            let fits = (from..=to).contains(&found);
            fits.then_some(()).ok_or(HuntError::Setting { what, from, to, found })
        };
        within("types", settings.types as u64, 1, MOST_TYPES as u64)?;
        within("resources", settings.resources as u64, 1, MOST_RESOURCES as u64)?;
        within("capacity", settings.capacity.into(), 1, MOST_CAPACITY.into())?;
        within("rewards", settings.rewards, 1, MOST_REWARD)?;
        within("keep", settings.keep as u64, 1, MOST_KEPT as u64)?;
        let exhaustive = settings.exhaustive.then(|| Exhaustive::new(&settings, &clock)).transpose()?;
        let (position, counts) = (0, Counts::default());
        let (best, walks) = (Vec::new(), Vec::new());
        Ok(Self { settings, position, counts, best, walks, exhaustive, clock, before: None })
    }

    /// Resumes a saved hunt. The ratios are computed again.
    ///
    /// # Errors
    /// The errors of [`Hunt::new`], and [`HuntError::State`] if no hunt can have this state.
    pub fn resume(state: State) -> Result<Self, HuntError> {
        Self::resume_within(state, Clock::default())
    }

    /// Resumes a saved hunt that begins no work after the time limit.
    ///
    /// # Errors
    /// The errors of [`Hunt::resume`], and [`HuntError::OutOfTime`] if the time limit is reached.
    pub fn resume_within(state: State, clock: Clock) -> Result<Self, HuntError> {
        let damaged = |what: &str| Err(HuntError::State(what.to_owned()));
        if state.kind != "hunt-state" || state.version != STATE_VERSION {
            return damaged("expected \"kind\": \"hunt-state\" of version 1");
        }
        let mut hunt = Self::within(state.settings, clock)?;
        let settings = &hunt.settings;
        let fits = |instance: &Instance| {
            instance.is_sound()
                && instance.types.len() == settings.types
                && instance.capacity == vec![settings.capacity; settings.resources]
                && instance.types.iter().all(|each| each.reward <= settings.rewards)
        };
        if !state.best.iter().chain(&state.walks).all(fits) {
            return damaged("an instance has another size than the search");
        }
        let walks = if settings.exhaustive || state.position == 0 { 0 } else { WALKS };
        if state.walks.len() != walks || state.best.len() > settings.keep {
            return damaged("the number of walks or of the best");
        }
        if hunt.exhaustive.as_ref().is_some_and(|all| state.position > all.total()) {
            return damaged("the position is beyond the end");
        }
        if state.position > MOST_POSITION {
            return damaged("the position is beyond any time");
        }
        let of = |list: Vec<Instance>| -> Result<Vec<Found>, HuntError> {
            let each =
                list.into_iter().map(|instance| Ok(Found { ratio: ratio_of(&instance, &clock)?, instance }));
            each.collect()
        };
        let (best, walks) = (of(state.best)?, of(state.walks)?);
        if !best.windows(2).all(|pair| pair[0].ratio < pair[1].ratio)
            || best.last().is_some_and(|last| last.ratio >= 1)
        {
            return damaged("the best are not in the order of their ratios, all below 1");
        }
        hunt.best = best;
        hunt.walks = walks;
        hunt.position = state.position;
        hunt.counts = state.counts;
        Ok(hunt)
    }

    /// Returns the state from which the hunt can be resumed.
    #[must_use]
    pub fn state(&self) -> State {
        if let Some(before) = &self.before {
            return before.clone();
        }
        let of = |list: &[Found]| list.iter().map(|found| found.instance.clone()).collect();
        State {
            kind: "hunt-state".to_owned(),
            version: STATE_VERSION,
            settings: self.settings.clone(),
            position: self.position,
            counts: self.counts,
            best: of(&self.best),
            walks: of(&self.walks),
        }
    }

    /// Searches one batch on all threads of rayon. Returns `true` if there is another batch. A local search
    /// always has another batch.
    ///
    /// If the time is up within the batch, its results count, but the saved state is the state before the batch.
    ///
    /// # Errors
    /// [`HuntError`] if an instance needed the rational method and the method failed.
    pub fn advance(&mut self) -> Result<bool, HuntError> {
        let bound = self.bound();
        let before = self.state();
        let (found, counts, is_whole) = match &self.exhaustive {
            Some(all) => {
                let (found, counts, position) = all.batch(self.position, &bound, &self.clock)?;
                self.position = position.unwrap_or(self.position);
                (found, counts, position.is_some())
            }
            None => {
                let (walks, best) = (&self.walks, &self.best);
                let round = walks::round(&self.settings, self.position, walks, best, &bound, &self.clock)?;
                let is_whole = round.walks.is_some();
                if let Some(walks) = round.walks {
                    self.walks = walks;
                    self.position += 1;
                }
                (round.found, round.counts, is_whole)
            }
        };
        self.before = (!is_whole).then_some(before);
        self.counts.add(&counts);
        found.into_iter().for_each(|found| self.keep(found));
        Ok(!self.is_complete())
    }

    /// Returns the bound of the search. Only instances with a ratio below it are of interest.
    fn bound(&self) -> Rational {
        let last = self.best.last().filter(|_| self.best.len() >= self.settings.keep);
        last.map_or_else(|| Rational::from(1), |found| found.ratio.clone())
    }

    fn keep(&mut self, found: Found) {
        // Among equal ratios the first instance is kept.
        if let Err(at) = self.best.binary_search_by(|kept| kept.ratio.cmp(&found.ratio)) {
            self.best.insert(at, found);
            self.best.truncate(self.settings.keep);
        }
    }

    /// Returns `true` if all instances of the size have been searched.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.exhaustive.as_ref().is_some_and(|all| self.position >= all.total())
    }

    /// Returns the settings of the hunt.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the number of steps so far, and the number of all steps if the search has an end. A step of the
    /// exhaustive search tries one vector of rewards for one class of demands.
    #[must_use]
    pub fn steps(&self) -> (u64, Option<u64>) {
        match &self.exhaustive {
            Some(all) => (self.position, Some(all.total())),
            None => (self.position.saturating_mul(STEPS * WALKS as u64), None),
        }
    }

    /// Returns the counts of the instances so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the classes of an exhaustive search.
    #[must_use]
    pub fn exhaustive(&self) -> Option<&Exhaustive> {
        self.exhaustive.as_ref()
    }

    /// Returns the number of instances that a complete search decided. Instances that differ in the order of types
    /// count separately. Returns `None` if some instances were too large, because each of them represents an unknown
    /// number of equivalent instances.
    #[must_use]
    pub fn covered(&self) -> Option<Integer> {
        let settled = self.is_complete() && self.counts.too_large == 0;
        self.exhaustive.as_ref().filter(|_| settled).map(Exhaustive::covered)
    }

    /// Returns the best instances of different ratios below 1, in ascending order of their ratios.
    #[must_use]
    pub fn best(&self) -> &[Found] {
        &self.best
    }
}

fn ratio_of(instance: &Instance, clock: &Clock) -> Result<Rational, HuntError> {
    let one = Rational::from(1);
    let maximal = instance.maximal();
    Ok(worst::below_until(instance, maximal.as_deref(), &one, &mut Counts::default(), clock)?.unwrap_or(one))
}
