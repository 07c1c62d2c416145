//! Proportional fairness of one pool, or of pools side by side, to as many digits as a comparison can need.
//!
//! The optimum is algebraic but in general irrational (THEORY, fact 4), so the reference is a rational point with a proof of
//! how near it is. Newton's method in rationals, rounded to 512 bits after every step, solves the equations of the
//! bottlenecks for their prices; every user takes `x_n = min(T_n, w_n / sum_j p_j r_nj)`. The result is scaled until it is
//! feasible, its prices are raised until they prove something, and `evenhand_exact` computes the gap that they
//! prove: nothing of the way there has to be believed. How far a level can be off then is [`super::distance`].

use evenhand_exact::{Prices, Tasks};
use evenhand_ode::path::{self, PathSettings};
use evenhand_ode::pool::Pool;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Constraints, Integer, Problem, Rational, Sharing};
use rug::ops::Pow;
use thiserror::Error;

use super::rounding::{eliminate, rounded};
use super::{distance, proven_gap};

/// A step that changes the prices by less than this many bits of them is the last.
const LAST_CHANGE: u32 = 400;
/// The largest gap of a reference, as a negative power of ten, of the sum of all weights.
pub const MOST_GAP_DIGITS: u32 = 100;
/// Newton steps at most: the correct bits double with each.
const MOST_STEPS: usize = 60;

/// The answer to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Feasible tasks, by user.
    pub tasks: Tasks,
    /// What proves them.
    pub prices: Prices,
    /// The `eps` that the prices prove, exactly.
    pub gap: Rational,
    /// No level is further from the optimum than this part of itself.
    pub error_bound: f64,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// Newton's method did not converge.
    #[error("Newton's method did not converge in {MOST_STEPS} steps")]
    NoConvergence,
    /// A user pays nothing and has no limit, or the equations contradict each other.
    #[error("the equations of the bottlenecks have no solution")]
    Singular,
    /// The numbers are out of the range of doubles, with which it starts.
    #[error("there is no start: {0}")]
    Start(String),
    /// The gap that was proven is too large.
    #[error("the proven gap is {0:.1e}, more than 1e-{MOST_GAP_DIGITS}")]
    Gap(f64),
    /// The prices prove nothing.
    #[error("the prices prove nothing: {0}")]
    Refused(String),
}

/// Whether the problem is one pool, or pools side by side: no user can run on two classes, and resources are divided.
#[must_use]
pub fn applies(problem: &Problem) -> bool {
    problem.groups().list().is_empty()
        && problem.servers().iter().all(|server| !server.is_time_shared())
        && (0..problem.n_users()).all(|n| !problem.is_active(n) || problem.classes_of(n).count() == 1)
}

/// The proportionally fair allocation.
///
/// # Errors
/// [`PoolError`]
pub fn solve(problem: &Problem) -> Result<Found, PoolError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut tasks: Tasks = vec![Vec::new(); problem.n_users()];
    let mut rows = vec![Rational::new(); constraints.rows().len()];
    let mut users = vec![Rational::new(); problem.n_users()];
    for class in 0..problem.n_servers() {
        let pool = Side::new(&constraints, class);
        if pool.users.is_empty() {
            continue;
        }
        let prices = pool.newton(pool.start()?)?;
        let (x, prices, limits) = pool.proving(&prices)?;
        for (k, (x, price)) in x.into_iter().zip(limits).enumerate() {
            tasks[pool.users[k]].push((class, x));
            users[pool.users[k]] = price;
        }
        for (row, price) in constraints.class_rows(class).zip(prices) {
            rows[row] = price / &constraints.rows()[row].capacity;
        }
    }
    let allocation = Allocation { tasks, ..Allocation::empty(0, Sharing::Rdm) };
    let prices = Prices { user_weights: Vec::new(), rows, users };
    let one = Rational::from(1);
    let gap = proven_gap(problem, &allocation, &one, &prices)?;
    let total: Rational = problem.users().iter().map(evenhand_problem::User::weight).sum();
    if gap > total / Integer::from(10).pow(MOST_GAP_DIGITS) {
        return Err(PoolError::Gap(to_f64(&gap)));
    }
    let error_bound = distance(problem, &allocation, &one, &gap);
    Ok(Found { tasks: allocation.tasks, prices, gap, error_bound })
}

/// One class with the users that run on it.
struct Side {
    users: Vec<usize>,
    /// By user of the class and row: what a task takes, as a part of the row.
    requests: Vec<Vec<Rational>>,
    weights: Vec<Rational>,
    limits: Vec<Option<Rational>>,
}

/// The lower half of a symmetric matrix, by rows.
type Slopes = Vec<Vec<Rational>>;

impl Side {
    fn new(constraints: &Constraints<'_>, class: usize) -> Self {
        let problem = constraints.problem();
        let runs = |n: &usize| problem.is_active(*n) && problem.can_run(*n, class);
        let users: Vec<usize> = (0..problem.n_users()).filter(runs).collect();
        let rows = &constraints.rows()[constraints.class_rows(class)];
        let request = |n: &usize| {
            let usage = constraints.usage(*n, class).unwrap_or_default().to_vec();
            usage.iter().zip(rows).map(|(amount, row)| Rational::from(amount / &row.capacity)).collect()
        };
        let requests = users.iter().map(request).collect();
        let weights = users.iter().map(|n| problem.users()[*n].weight().clone()).collect();
        let limits = users.iter().map(|n| problem.users()[*n].tasks().cloned()).collect();
        Self { users, requests, weights, limits }
    }

    fn n_rows(&self) -> usize {
        self.requests[0].len()
    }

    /// The prices in doubles.
    fn start(&self) -> Result<Vec<Rational>, PoolError> {
        let (mut requests, mut caps) = (Vec::new(), Vec::new());
        for (request, limit) in self.requests.iter().zip(&self.limits) {
            let largest = request.iter().max().cloned().unwrap_or_default();
            let alone = limit.iter().cloned().chain((largest > 0).then(|| largest.recip())).min();
            let alone = alone.unwrap_or_else(|| Rational::from(1));
            requests.extend(request.iter().map(|r| to_f64(&Rational::from(r * &alone))));
            caps.push(limit.as_ref().map_or(f64::INFINITY, |limit| to_f64(&Rational::from(limit / &alone))));
        }
        let weights = self.weights.iter().map(to_f64).collect();
        let pool = Pool::new(self.n_rows(), requests, weights, caps)
            .map_err(|error| PoolError::Start(error.to_string()))?;
        let end = path::follow(&pool, &PathSettings::default());
        Ok(end.prices.iter().map(|price| Rational::from_f64(*price).unwrap_or_default()).collect())
    }

    /// What user `k` pays for a task.
    fn paid(&self, k: usize, prices: &[Rational]) -> Rational {
        self.requests[k].iter().zip(prices).map(|(r, p)| Rational::from(r * p)).sum()
    }

    /// Use of every row, less all of it.
    fn excess(&self, x: &[Rational]) -> Vec<Rational> {
        let mut excess = vec![Rational::from(-1); self.n_rows()];
        for (request, x) in self.requests.iter().zip(x) {
            for (excess, r) in excess.iter_mut().zip(request).filter(|(_, r)| !r.is_zero()) {
                *excess += Rational::from(r * x);
            }
        }
        excess
    }

    /// The semismooth Newton method for `min(p_j, slack_j) = 0`, with prices for weights of sum 1 in the comparison.
    fn newton(&self, mut prices: Vec<Rational>) -> Result<Vec<Rational>, PoolError> {
        let total: Rational = self.weights.iter().sum();
        let small = Rational::from((1, Integer::from(1) << LAST_CHANGE));
        for _ in 0..MOST_STEPS {
            let (x, slopes) = self.respond(&prices)?;
            let excess = self.excess(&x);
            let is_active: Vec<bool> =
                prices.iter().zip(&excess).map(|(p, e)| Rational::from(p / &total) + e > 0).collect();
            let active: Vec<usize> = (0..prices.len()).filter(|&j| is_active[j]).collect();
            let slope = |j: usize, k: usize| &slopes[j.max(k)][j.min(k)];
            let system = active.iter().map(|&j| {
                // What leaves the bottlenecks loses its price in the same step.
                let idle = (0..prices.len()).filter(|&k| !is_active[k]);
                let rhs =
                    idle.fold(excess[j].clone(), |sum, k| sum + Rational::from(slope(j, k) * &prices[k]));
                let mut row: Vec<Rational> = active.iter().map(|&k| slope(j, k).clone()).collect();
                row.push(rounded(&rhs));
                row
            });
            let change = eliminate(system.collect()).ok_or(PoolError::Singular)?;
            let mut greatest = Rational::new();
            let mut next = vec![Rational::new(); prices.len()];
            for (&j, change) in active.iter().zip(&change) {
                next[j] = rounded(&Rational::from(&prices[j] + change)).max(Rational::new());
            }
            for (next, price) in next.iter().zip(&prices) {
                greatest = greatest.max(Rational::from(next - price).abs());
            }
            prices = next;
            if greatest <= Rational::from(&small * &total) {
                return Ok(prices);
            }
        }
        Err(PoolError::NoConvergence)
    }

    /// What users take at these prices, and how the use of every row falls with every price.
    fn respond(&self, prices: &[Rational]) -> Result<(Vec<Rational>, Slopes), PoolError> {
        let m = prices.len();
        let mut slopes: Slopes = (0..m).map(|j| vec![Rational::new(); j + 1]).collect();
        let mut x = Vec::with_capacity(self.users.len());
        for (k, (request, weight)) in self.requests.iter().zip(&self.weights).enumerate() {
            let paid = self.paid(k, prices);
            if let Some(limit) =
                self.limits[k].as_ref().filter(|limit| Rational::from(&paid * *limit) <= *weight)
            {
                x.push(limit.clone());
                continue;
            }
            if paid.is_zero() {
                return Err(PoolError::Singular);
            }
            let taken = rounded(&Rational::from(weight / &paid));
            let slope = rounded(&Rational::from(&taken / &paid));
            for (j, row) in slopes.iter_mut().enumerate().filter(|(j, _)| !request[*j].is_zero()) {
                let weighted = rounded(&Rational::from(&slope * &request[j]));
                for (sum, r) in row.iter_mut().zip(request).filter(|(_, r)| !r.is_zero()) {
                    *sum += Rational::from(&weighted * r);
                }
            }
            x.push(taken);
        }
        for sum in slopes.iter_mut().flatten() {
            *sum = rounded(sum);
        }
        Ok((x, slopes))
    }

    /// A feasible point near the prices, with prices of rows and of limits that prove something of it.
    #[expect(clippy::type_complexity, reason = "three lists that are used once")]
    fn proving(
        &self,
        prices: &[Rational],
    ) -> Result<(Vec<Rational>, Vec<Rational>, Vec<Rational>), PoolError> {
        let (mut x, _) = self.respond(prices)?;
        let most = self.excess(&x).into_iter().max().unwrap_or_default();
        if most > 0 {
            let part = Rational::from(1) / (most + 1u32);
            x.iter_mut().for_each(|x| *x *= &part);
        }
        let worth: Vec<Rational> = self.weights.iter().zip(&x).map(|(w, x)| Rational::from(w / x)).collect();
        // Who gets less than all must pay what its tasks are worth: one factor for all prices.
        let mut factor = Rational::from(1);
        let nearly = Rational::from(1) - Rational::from((1, Integer::from(1) << LAST_CHANGE));
        for (k, (worth, x)) in worth.iter().zip(&x).enumerate() {
            let paid = self.paid(k, prices);
            let has_less = self.limits[k].as_ref().is_none_or(|limit| *x < Rational::from(limit * &nearly));
            if has_less && !paid.is_zero() {
                factor = factor.max(worth / paid);
            }
        }
        let prices: Vec<Rational> = prices.iter().map(|p| Rational::from(p * &factor)).collect();
        let missing = worth.iter().enumerate().map(|(k, worth)| match &self.limits[k] {
            Some(_) => (worth - self.paid(k, &prices)).max(Rational::new()),
            None => Rational::new(),
        });
        let limits = missing.collect();
        Ok((x, prices, limits))
    }
}
