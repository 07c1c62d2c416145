//! Costs by the time for which tasks have run. A task that moves loses its work since its last checkpoint.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;

/// The costs of tasks by the time for which they have run. The time is the time limit of a task minus the remaining time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ages {
    /// The cost of one task of each user with running tasks: 1 plus the hours for which its longest-running
    /// task has run, in whole minutes.
    pub costs: BTreeMap<usize, Rational>,
    /// The users with a running task whose running time is not known. A task of these users costs as much as
    /// the most expensive task of the other users.
    pub unknown: Vec<usize>,
}

impl Ages {
    /// Returns the costs by the times in a snapshot. Returns `None` if the snapshot states no time for which
    /// a task has run.
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Option<Self> {
        let ran = |of: &evenhand_problem::snapshot::TaskTime| Some(of.limit?.saturating_sub(of.left?) / 60);
        let minutes: HashMap<&str, u64> =
            snapshot.times.iter().filter_map(|of| Some((of.task.as_str(), ran(of)?))).collect();
        let mut longest: BTreeMap<usize, u64> = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        // The names of a server may be only some of its tasks.
        let mut named: BTreeMap<usize, u64> = BTreeMap::new();
        for of in &snapshot.running {
            *named.entry(of.user).or_default() += of.names.len() as u64;
            for name in &of.names {
                match minutes.get(name.as_str()) {
                    Some(minutes) => {
                        let most = longest.entry(of.user).or_default();
                        *most = (*most).max(*minutes);
                    }
                    None => _ = unknown.insert(of.user),
                }
            }
        }
        for (n, tasks) in snapshot.allocation.totals().iter().enumerate() {
            if *tasks > named.get(&n).copied().unwrap_or(0) {
                unknown.insert(n);
            }
        }
        let dearest = *longest.values().max()?;
        unknown.iter().for_each(|n| _ = longest.insert(*n, dearest));
        let cost = |minutes: u64| Rational::from((minutes, 60_u32)) + 1_u32;
        let costs = longest.into_iter().map(|(n, minutes)| (n, cost(minutes))).collect();
        Some(Self { costs, unknown: unknown.into_iter().collect() })
    }
}
