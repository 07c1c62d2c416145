//! The goals that choose among NJC allocations.

use evenhand_problem::{Constraints, Rational, names};

use super::market::{ClusterModel, Tasks};

/// A quantity to be maximised over NJC allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The sum of the used fractions over all capacity rows with a positive capacity: at most the
    /// number of such rows.
    MaxUtilisation,
    /// The least weighted dominant share of the users that do not have all their tasks: `x_n u_n / w_n` with
    /// `u_n = max_r d_nr / sum_i k_i c_ir` from the base demand.
    ///
    /// Users with `u_n = 0`, and users that have all their tasks, are left out. The value is at most the largest share
    /// that any user could have alone, `max_n min(T_n, gamma_n) u_n / w_n`. If no user remains, the value equals this
    /// largest share.
    MaxMinShare,
    /// The sum of the tasks of all users, `sum_n x_n`, without weights.
    MaxTasks,
}

names! { Goal:
    MaxUtilisation = "max-utilisation", "The largest utilisation, summed over the resources of all servers";
    MaxMinShare = "max-min-share", "The largest minimum of the weighted dominant shares of users that want more";
    MaxTasks = "max-tasks", "The most tasks";
}

impl Goal {
    /// Computes the exact value of an allocation. A user beyond the end of `tasks` has no tasks.
    #[must_use]
    pub fn value(self, constraints: &Constraints<'_>, tasks: &Tasks) -> Rational {
        let market = ClusterModel::new(constraints);
        match self {
            Self::MaxUtilisation => {
                let loads = market.loads(tasks).into_iter().enumerate();
                let used = loads.filter(|(row, _)| !market.capacity(*row).is_zero());
                used.map(|(row, load)| load / market.capacity(row)).sum()
            }
            Self::MaxMinShare => {
                let shares = Shares::new(&market);
                let share = |&n: &usize| {
                    let total: Rational = tasks.get(n).into_iter().flatten().map(|(_, x)| x).sum();
                    let is_satisfied = market.limit(n).is_some_and(|limit| total >= *limit);
                    shares.by_user[n].as_ref().filter(|_| !is_satisfied).map(|u| total * u)
                };
                market.users.iter().filter_map(share).min().unwrap_or(shares.largest)
            }
            Self::MaxTasks => tasks.iter().flatten().map(|(_, x)| x).sum(),
        }
    }

    /// Returns the value that one task of a placement adds; `None` for a goal that is not a sum.
    pub(super) fn worth(self, market: &ClusterModel<'_>, placement: usize) -> Option<Rational> {
        match self {
            Self::MaxUtilisation => {
                let usage = market.placements[placement].usage.iter();
                let usage = usage.filter(|(row, _)| !market.capacity(*row).is_zero());
                Some(usage.map(|(row, usage)| Rational::from(usage / market.capacity(*row))).sum())
            }
            Self::MaxMinShare => None,
            Self::MaxTasks => Some(Rational::from(1)),
        }
    }
}

/// Weighted dominant shares.
pub struct Shares {
    /// For each user, the share of one task, `u_n / w_n`. `None` if the user is left out.
    pub by_user: Vec<Option<Rational>>,
    /// The largest share that a user could have alone.
    pub largest: Rational,
}

impl Shares {
    /// Computes the shares of a market.
    pub fn new(market: &ClusterModel<'_>) -> Self {
        let problem = market.constraints.problem();
        let mut by_user = vec![None; problem.n_users()];
        let mut largest = Rational::new();
        for &n in &market.users {
            let user = &problem.users()[n];
            let total = problem.total_capacity();
            let demand = user.base_demand().entries().iter();
            let dominant = demand
                .filter(|(r, _)| !total[*r].is_zero())
                .map(|(r, demand)| Rational::from(demand / &total[*r]))
                .max();
            let Some(share) = dominant.map(|u| u / user.weight()) else { continue };
            let mut most: Rational = market.placements_of(n).map(|k| &market.placements[k].most).sum();
            if let Some(tasks) = market.limit(n).filter(|tasks| **tasks < most) {
                most.clone_from(tasks);
            }
            let alone = most * &share;
            if alone > largest {
                largest = alone;
            }
            by_user[n] = Some(share);
        }
        Self { by_user, largest }
    }
}
