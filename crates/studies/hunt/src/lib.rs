//! The hunt: job types whose least ratio of greedy and optimum, over all loads, is as low as possible.
//!
//! On one pool greedy earns at least `1 - (1 - 1/J)^J` of the optimum with `J` types, more than `1 - 1/e`, and on
//! some instance no more (theory, section 6, Theorem C); several pools in their order can come down to 1/2. Open
//! are several pools in better orders and whole servers. The hunt tries to refute the bound: it looks at job types
//! in integers on one server shape: all of a small size up to symmetry ([`Exhaustive`]), or by local search above.
//! Every ratio is exact, every instance that is left out is left out by a proof, or counted because it is too large
//! to be decided, and what is found is computed
//! again by the rational method of `evenhand-lp` and certified ([`certify`]).
//!
//! [`Hunt`] works in batches; between them its [`State`] can be saved. What it finds depends on the
//! settings alone, not on threads or interruptions.
//!
//! # Examples
//! All pairs of types on one resource of 3 units, with rewards 1 and 2:
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

/// Sizes that are taken.
pub const MOST_TYPES: usize = 8;
/// Resources that are taken.
pub const MOST_RESOURCES: usize = 10;
/// Units of capacity that are taken.
pub const MOST_CAPACITY: u32 = 1_000;
/// Largest reward that is taken.
pub const MOST_REWARD: u64 = 1_000_000;
/// Instances that can be kept.
pub const MOST_KEPT: usize = 100;
/// Rounds or steps that no hunt gets beyond.
const MOST_POSITION: u64 = 1 << 60;
/// The version of [`State`].
pub const STATE_VERSION: u32 = 1;

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Job types, `J`.
    pub types: usize,
    /// Resources, `m`.
    pub resources: usize,
    /// Units of every resource that a server has; demands are 0 to this.
    pub capacity: u32,
    /// The largest reward; rewards are 1 to this.
    pub rewards: u64,
    /// Everything of the size, or local search.
    pub exhaustive: bool,
    /// Of the local search.
    pub seed: u64,
    /// How many instances, of different ratios, are kept.
    pub keep: usize,
}

/// An instance and its least ratio over all loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The job types.
    pub instance: Instance,
    /// Greedy over optimum at the worst loads.
    pub ratio: Rational,
}

/// What resumes a hunt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// "hunt-state"
    pub kind: String,
    /// [`STATE_VERSION`]
    pub version: u32,
    /// What is searched.
    pub settings: Settings,
    /// Where the exhaustive search stands, or rounds of the local search.
    pub position: u64,
    /// What was done.
    pub counts: Counts,
    /// The best, from the lowest ratio.
    pub best: Vec<Instance>,
    /// Where the walks of the local search are.
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
    /// What resumes the hunt where the time was up within a batch: the state before it.
    before: Option<State>,
}

impl Hunt {
    /// A new hunt.
    ///
    /// # Errors
    /// [`HuntError::Setting`], [`HuntError::TooLarge`].
    pub fn new(settings: Settings) -> Result<Self, HuntError> {
        Self::within(settings, Clock::default())
    }

    /// A new hunt that begins nothing when the time is up.
    ///
    /// # Errors
    /// As [`Hunt::new`]; [`HuntError::OutOfTime`].
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

    /// A saved hunt. The ratios are computed again.
    ///
    /// # Errors
    /// As [`Hunt::new`]; [`HuntError::State`] for a state that no hunt leaves.
    pub fn resume(state: State) -> Result<Self, HuntError> {
        Self::resume_within(state, Clock::default())
    }

    /// A saved hunt that begins nothing when the time is up.
    ///
    /// # Errors
    /// As [`Hunt::resume`]; [`HuntError::OutOfTime`].
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
            return damaged("an instance is not of the size that is searched");
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

    /// What resumes the hunt.
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

    /// One batch on all threads of rayon; whether there is another. A local search has no end. Where the
    /// time is up on the way, what was found counts, and the state stays that before the batch.
    ///
    /// # Errors
    /// [`HuntError`] where an instance needed the rational method, which failed.
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

    /// What is not below it is of no interest.
    fn bound(&self) -> Rational {
        let last = self.best.last().filter(|_| self.best.len() >= self.settings.keep);
        last.map_or_else(|| Rational::from(1), |found| found.ratio.clone())
    }

    fn keep(&mut self, found: Found) {
        // Of equal ratios the first one stays.
        if let Err(at) = self.best.binary_search_by(|kept| kept.ratio.cmp(&found.ratio)) {
            self.best.insert(at, found);
            self.best.truncate(self.settings.keep);
        }
    }

    /// Whether everything of the size was searched.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.exhaustive.as_ref().is_some_and(|all| self.position >= all.total())
    }

    /// What is searched.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Steps done, and all there are where the search has an end: vectors of rewards tried in classes of
    /// demands, or steps of the walks.
    #[must_use]
    pub fn steps(&self) -> (u64, Option<u64>) {
        match &self.exhaustive {
            Some(all) => (self.position, Some(all.total())),
            None => (self.position.saturating_mul(STEPS * WALKS as u64), None),
        }
    }

    /// What was done with the instances.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The classes of an exhaustive search.
    #[must_use]
    pub fn exhaustive(&self) -> Option<&Exhaustive> {
        self.exhaustive.as_ref()
    }

    /// Instances, with an order of their types, that a complete search settles; `None` where some of those that it
    /// met were too large, since they stand for others that are alike.
    #[must_use]
    pub fn covered(&self) -> Option<Integer> {
        let settled = self.is_complete() && self.counts.too_large == 0;
        self.exhaustive.as_ref().filter(|_| settled).map(Exhaustive::covered)
    }

    /// The best instances of different ratios, below 1, from the lowest.
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
