//! Lexicographic max-min fairness among whole tasks over time, exact and with its proof (docs/theory.md, section 11).
//!
//! A packing is a set of whole tasks that fit together on one server of a class. A schedule states, for each packing of
//! a class, the fraction of the time in which the servers of the class have this packing. Each round solves a linear
//! programme over the packings that were generated so far: it raises the common level of the active users. HiGHS
//! proposes the optimum, and a knapsack problem for each class adds packings until no packing improves the programme.
//! Then the basis is solved in rationals, and branch trees prove that no packing is worth more than the price of its
//! class. Users whose price is positive then keep their level.

mod classes;
mod master;

use evenhand_exact::{Packing, PackingLevel};
use evenhand_problem::Problem;
use rug::Rational;

use crate::limits::{PackingError, SearchLimits};
use classes::Classes;
use master::Master;

/// The lexicographic max-min totals of whole tasks over time, with a schedule and proofs.
#[derive(Debug, Clone, PartialEq)]
pub struct PackingsOptimum {
    /// The tasks of each user, on average over time.
    pub totals: Vec<Rational>,
    /// The packings that are used for a positive fraction of the time, ordered by class.
    pub schedule: Vec<Packing>,
    /// The prices that prove every level, in ascending order of the levels.
    pub levels: Vec<PackingLevel>,
    /// The number of rounds, each of which raises a level until a user cannot get more.
    pub rounds: usize,
    /// The number of linear programmes that HiGHS solved.
    pub programmes: usize,
    /// The number of exact pivots after HiGHS.
    pub pivots: usize,
    /// The number of packings that were generated.
    pub columns: usize,
}

/// Computes the totals that maximise the sorted vector of `shares[n] x_n` lexicographically among all schedules of
/// whole tasks.
///
/// `shares[n]` is the share of one task of user `n` divided by the user's weight. Users that cannot run may have any
/// share. Resources must be divided on every class, and the users must not be in groups.
///
/// # Errors
/// [`PackingError`] if a linear programme is not solved, or if a search or a proof exceeds its limits.
pub fn solve(
    problem: &Problem,
    shares: &[Rational],
    limits: &SearchLimits,
) -> Result<PackingsOptimum, PackingError> {
    let classes = Classes::new(problem, limits)?;
    // Multiplying the shares by the total weight brings levels near 1.
    let weight: Rational = problem.users().iter().map(|user| user.weight()).sum();
    let scaled: Vec<Rational> = shares.iter().map(|share| Rational::from(share * &weight)).collect();
    let mut levels = Vec::new();
    let is_unable = |n: &usize| problem.is_active(*n) && !classes.has_packing(*n);
    let unable: Vec<usize> = (0..problem.n_users()).filter(is_unable).collect();
    if !unable.is_empty() {
        // No whole task of these users fits on a server, so the users can have no tasks at any prices.
        let user_weights = unable.iter().map(|n| (*n, Rational::from(1))).collect();
        levels.push(PackingLevel { covers: unable, user_weights, ..PackingLevel::default() });
    }
    let mut master = Master::new(problem, &classes, &scaled, limits)?;
    let mut rounds = 0;
    let mut last = None;
    while master.has_active() {
        rounds += 1;
        let (level, solution) = master.round()?;
        levels.extend(Some(level).filter(|level| !level.covers.is_empty()));
        last = Some(solution);
    }
    let schedule = last.map_or_else(Vec::new, |solution| master.schedule(&solution));
    let mut totals = vec![Rational::new(); problem.n_users()];
    for Packing { server, part, tasks } in &schedule {
        let servers = Rational::from(part * problem.servers()[*server].count());
        tasks.iter().for_each(|(n, k)| totals[*n] += Rational::from(&servers * *k));
    }
    if !master.has_reached(&totals) {
        return Err(PackingError::Inexact);
    }
    let Master { programmes, pivots, .. } = master;
    Ok(PackingsOptimum { totals, schedule, levels, rounds, programmes, pivots, columns: master.n_columns() })
}
