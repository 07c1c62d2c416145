//! The exact optima of a problem's shares, and duals that nearly prove them. Each is computed once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use evenhand_exact::{Evidence, Instance, Share, ShareCoefficients, Tasks};
use evenhand_levels::LevelsError;
use evenhand_levels::level::{
    LevelDual, Settings, TasksInDoubles, lexicographic, lexicographic_duals_nearly, lexicographic_limited,
};
use evenhand_mechanisms::equals::Equals;
use evenhand_mechanisms::reduced::Reduced;
use evenhand_mechanisms::{Outcome, registry};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use super::{Undecided, packings, tree};

/// Results for one problem so far: the exact optima and duals by kind of sharing and by share, the hierarchical
/// filling, and the max-min among whole tasks. Clones share the results.
#[derive(Debug, Clone, Default)]
pub struct Optima {
    exact: Arc<Table<Solved>>,
    /// Duals that nearly prove the optima.
    nearly: Arc<Table<Duals>>,
    /// The result of hierarchical filling, as evidence.
    filling: Arc<OnceLock<Result<Evidence, Undecided>>>,
    /// The max-min among whole tasks over time for each share, as evidence.
    packings: Arc<Table<Result<Evidence, Undecided>>>,
}

pub(super) type Solved = Result<Arc<Optimum>, LevelsError>;
pub(super) type Duals = Arc<Vec<LevelDual>>;

/// The exact lexicographic maximum of a share, and the duals that prove it.
#[derive(Debug)]
pub(super) struct Optimum {
    pub(super) tasks: Tasks,
    pub(super) duals: Vec<LevelDual>,
}

type Key = (Sharing, Share);

#[derive(Debug)]
struct Table<T>(Mutex<HashMap<Key, T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Table<T> {
    fn insert(&self, key: Key, value: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value);
    }

    fn has(&self, key: Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&key)
    }

    /// Returns the stored value, or computes and stores it. The table is not locked during the computation.
    fn get_or(&self, key: Key, compute: impl FnOnce() -> T) -> T {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let computed = compute();
            self.insert(key, computed.clone());
            computed
        })
    }
}

/// Returns the problem in which equivalent users are merged. Identical classes are also merged, unless they are
/// time-shared.
fn reduced(problem: &Problem, sharing: Sharing) -> Option<Reduced<'_>> {
    Reduced::new(problem, &Equals::ByWeight, sharing == Sharing::Rdm)
}

/// Computes the optimum of the reduced problem. Returns `None` if nothing can be merged.
fn reduced_optimum(
    problem: &Problem,
    sharing: Sharing,
    share: Share,
) -> Option<Result<Optimum, LevelsError>> {
    let reduced = reduced(problem, sharing)?;
    let u = share.coefficients(reduced.problem()).ok()?;
    let optimum = lexicographic(&Constraints::new(reduced.problem(), sharing), &u, &Settings::default());
    Some(
        optimum.map(|optimum| Optimum {
            tasks: reduced.tasks(optimum.tasks),
            duals: reduced.levels(optimum.duals),
        }),
    )
}

/// Returns duals in short numbers that nearly prove the optimum, using the reduced problem if anything can be merged.
/// The search starts at `tasks`, which may be the optimum. `tasks` need only the accuracy of doubles.
fn duals_nearly(
    instance: &Instance<'_>,
    tasks: &Tasks,
    sharing: Sharing,
    share: Share,
    u: &ShareCoefficients,
) -> Vec<LevelDual> {
    let of_user = |row: &Vec<(usize, Rational)>| row.iter().map(|(i, x)| (*i, to_f64(x))).collect();
    let (settings, tasks) = (Settings::default(), tasks.iter().map(of_user).collect::<TasksInDoubles>());
    let Some(reduced) = reduced(instance.problem(), sharing) else {
        return lexicographic_duals_nearly(instance.constraints(), u, &settings, Some(&tasks));
    };
    let Ok(u) = share.coefficients(reduced.problem()) else { return Vec::new() };
    let constraints = Constraints::new(reduced.problem(), sharing);
    let duals = lexicographic_duals_nearly(&constraints, &u, &settings, Some(&reduced.together(&tasks)));
    reduced.levels(duals).into_iter().map(LevelDual::short).collect()
}

impl Optima {
    pub(super) fn nearly(
        &self,
        instance: &Instance<'_>,
        tasks: &Tasks,
        sharing: Sharing,
        share: Share,
        u: &ShareCoefficients,
    ) -> Duals {
        self.nearly.get_or((sharing, share), || Arc::new(duals_nearly(instance, tasks, sharing, share, u)))
    }

    /// Returns true if an exact optimum is stored.
    pub(super) fn has(&self, sharing: Sharing, share: Share) -> bool {
        self.exact.has((sharing, share))
    }

    /// Returns the max-min among whole tasks over time, as evidence.
    pub(super) fn packings(&self, problem: &Problem, share: Share) -> Result<Evidence, Undecided> {
        self.packings.get_or((Sharing::Rdm, share), || packings::evidence(problem, share))
    }

    /// Returns the result of hierarchical filling, as evidence.
    pub(super) fn filling(&self, problem: &Problem) -> Result<Evidence, Undecided> {
        self.filling.get_or_init(|| tree::filling(problem)).clone()
    }

    pub(super) fn exact(
        &self,
        instance: &Instance<'_>,
        sharing: Sharing,
        share: Share,
        u: &ShareCoefficients,
    ) -> Solved {
        self.exact.get_or((sharing, share), || {
            if instance.problem().has_at_most() {
                let optimum = lexicographic_limited(instance.constraints(), u, instance.limits())?;
                return Ok(Arc::new(Optimum { tasks: optimum.tasks, duals: optimum.duals }));
            }
            let found = reduced_optimum(instance.problem(), sharing, share).unwrap_or_else(|| {
                let optimum = lexicographic(instance.constraints(), u, &Settings::default())?;
                Ok(Optimum { tasks: optimum.tasks, duals: optimum.duals })
            });
            found.map(Arc::new)
        })
    }

    /// Stores the optimum that a mechanism has computed, so that it is not computed again.
    pub(crate) fn store(&self, outcome: &Outcome) {
        let allocation = &outcome.allocation;
        let share = registry::axiom_of(allocation).and_then(|(_, parameters)| parameters.share);
        let (Some(duals), Some(share)) = (outcome.findings.levels.clone(), share) else { return };
        let optimum = Arc::new(Optimum { tasks: allocation.tasks.clone(), duals });
        self.exact.insert((allocation.sharing, share), Ok(optimum));
    }
}
