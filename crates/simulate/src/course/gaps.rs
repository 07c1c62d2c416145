//! Serving by gaps (NJC, section 6).
//!
//! While resources are free, the user with the largest gap among the users that can use them is served next.
//! The weight of a user entitles it to a fraction of each resource of the pool. The gap of a user on a
//! resource is this entitlement minus the fraction that the user has. The gap of a user is its smallest gap
//! on the bottlenecks that it uses.
//!
//! Tasks end continuously, after a mean running time, which is simulated in small steps. In each step the
//! same small fraction of every user's tasks ends, and the free resources are given away in small amounts.
//! Bottlenecks are the resources that were used up in one of the last two steps. Until some resource is used
//! up, all resources are bottlenecks. The last step alone would not be enough. Two resources that are used up
//! alternately would each be a bottleneck half of the time. The state would then not converge to a state in
//! which no user has a justified complaint.

use std::time::Instant;

use evenhand_budget::charge;

use super::run::{Course, CourseScenario, Moment, sampled};
use crate::cost::is_over;
use crate::error::SimulateError;
use crate::summary::Amounts;

/// The fraction of a capacity below which a resource counts as used up. It is also the fraction of a regular amount
/// below which no amount is given away. Sums of thousands of doubles are exact to this fraction.
const NEGLIGIBLE: f64 = 1e-9;

/// A user that is present, with its demand.
struct PresentUser {
    /// The index of the user in the scenario.
    index: usize,
    /// The weight of the user as a fraction of the weights of all present users.
    entitlement: f64,
    /// The fraction of each resource of the pool that a task takes.
    demand: Vec<f64>,
    /// The number of tasks that the user wants.
    most: f64,
}

impl PresentUser {
    /// Returns how many more tasks a user with `has` tasks can have if the fractions `left` of the pool are
    /// free.
    fn room(&self, left: &[f64], has: f64) -> f64 {
        let parts = self.demand.iter().zip(left).filter(|(d, _)| **d > 0.0);
        parts.map(|(d, left)| left / d).fold(self.most - has, f64::min)
    }

    /// Returns the gap of the user if it has `has` tasks. The gap is infinite if the user uses no bottleneck.
    fn gap(&self, has: f64, is_bottleneck: &[bool]) -> f64 {
        let of = self.demand.iter().zip(is_bottleneck).filter(|(d, is)| **d > 0.0 && **is);
        of.map(|(d, _)| self.entitlement - has * d).fold(f64::INFINITY, f64::min)
    }
}

/// Elementary steps of work to examine a user.
const LOOK: u64 = 5;

/// The number of amounts in which the tasks that end in one step are replaced, if one user has the pool alone.
const FINER: f64 = 4.0;

/// Gives the free part of the pool to `users`, in small amounts. Returns the fraction of each resource that
/// is left.
fn fill(users: &[PresentUser], tasks: &mut [f64], steps: u32, is_bottleneck: &[bool]) -> Vec<f64> {
    let all = vec![1.0; is_bottleneck.len()];
    let mut left = all.clone();
    for (user, tasks) in users.iter().zip(&*tasks) {
        left.iter_mut().zip(&user.demand).for_each(|(left, d)| *left = (*left - tasks * d).max(0.0));
    }
    let step = |user: &PresentUser| user.room(&all, 0.0) / (FINER * f64::from(steps));
    let step: Vec<f64> = users.iter().map(step).collect();
    loop {
        charge(LOOK * users.len() as u64, "serving by the gaps");
        let mut next: Option<(f64, usize, f64)> = None;
        for (n, user) in users.iter().enumerate() {
            let more = user.room(&left, tasks[n]).min(step[n]);
            if more <= NEGLIGIBLE * step[n] {
                continue;
            }
            let gap = user.gap(tasks[n], is_bottleneck);
            if next.is_none_or(|(largest, ..)| gap > largest) {
                next = Some((gap, n, more));
            }
        }
        let Some((_, n, more)) = next else { return left };
        tasks[n] += more;
        left.iter_mut().zip(&users[n].demand).for_each(|(left, d)| *left = (*left - more * d).max(0.0));
    }
}

pub(super) fn run(
    scenario: &CourseScenario,
    steps: u32,
    running_time: f64,
    seed: u64,
    until: Option<Instant>,
) -> Result<Course, SimulateError> {
    let all = scenario.problem(&vec![true; scenario.changes.len()])?;
    let total = all.total_capacity();
    let n_resources = all.n_resources();
    let amounts = Amounts::new(&all);
    let present_users = |is_there: &[bool]| -> Vec<PresentUser> {
        let there = || all.users().iter().enumerate().filter(|(n, _)| is_there[*n] && all.is_active(*n));
        let weights: f64 = there().map(|(_, user)| user.weight().to_f64()).sum();
        let of = |(index, user): (usize, &evenhand_problem::User)| {
            let demand = amounts.parts[index].clone();
            let entitlement = user.weight().to_f64() / weights;
            let most = user.tasks().map_or(f64::INFINITY, evenhand_problem::Rational::to_f64);
            PresentUser { index, entitlement, demand, most }
        };
        there().map(of).collect()
    };
    let mut moments: Vec<Moment> = Vec::new();
    let (mut is_there, mut users) = (Vec::new(), Vec::new());
    let mut tasks = vec![0.0; all.n_users()];
    let (mut left, mut is_bottleneck) = (vec![1.0; n_resources], vec![true; n_resources]);
    let mut was_used_up = vec![false; n_resources];
    let mut parts = 0_u64;
    let part = running_time / f64::from(steps);
    let mut end = scenario.horizon;
    'run: for time in scenario.times() {
        while parts as f64 * part <= time {
            if parts > 0 && is_over(until) {
                end = parts as f64 * part;
                break 'run;
            }
            let now_there = scenario.there(parts as f64 * part);
            if now_there != is_there {
                users = present_users(&now_there);
                is_there = now_there;
            }
            // The fraction 1 / steps of all tasks ends. Tasks of absent users are dropped, since `users` has
            // only present users.
            let goes_on = 1.0 - f64::from(steps).recip();
            let mut has: Vec<f64> = users.iter().map(|user| tasks[user.index] * goes_on).collect();
            left = fill(&users, &mut has, steps, &is_bottleneck);
            tasks.fill(0.0);
            users.iter().zip(has).for_each(|(user, has)| tasks[user.index] = has);
            let is_used_up: Vec<bool> = left.iter().map(|left| *left <= NEGLIGIBLE).collect();
            // If no resource is used up, for example after users left, the last bottlenecks remain.
            if is_used_up.contains(&true) {
                is_bottleneck = is_used_up.iter().zip(&was_used_up).map(|(is, was)| *is || *was).collect();
            }
            was_used_up = is_used_up;
            parts += 1;
        }
        let share = |n: usize| amounts.dominant(n) * tasks[n];
        let rows = (0..n_resources).filter(|r| total[*r] > 0);
        let used = rows.map(|r| (all.resources()[r].clone(), 1.0 - left[r])).collect();
        moments.push(Moment {
            time,
            shares: (0..all.n_users()).map(share).collect(),
            tasks: tasks.iter().zip(&is_there).map(|(tasks, there)| there.then_some(*tasks)).collect(),
            utilisation: vec![used],
        });
    }
    Ok(sampled(scenario, (seed, end), moments, None))
}
