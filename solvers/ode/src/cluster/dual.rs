//! The optimum from its prices: Newton's method with a line search on the dual function.
//!
//! At prices `p` of the rows, user `n` pays `c_ni` for a task on class `i`, and the task is worth `v_ni`. The user runs
//! where a unit of utility is cheapest, `kappa_n = min_i c_ni / v_ni`. It takes `U_n = (w_n / kappa_n)^(1/a)` units of
//! utility, or as many as its limit allows. The optimum minimises the convex function
//!
//! ```text
//! sum_r p_r - sum_r mu_r ln p_r + sum_n max over U of (w_n g_a(U) - kappa_n U)
//! ```
//!
//! for `mu -> 0`. The minimum over the classes is smoothed (a mean of the power `-1/tau`, which keeps the function
//! convex), and `tau -> 0` with `mu`.
//!
//! Every `mu_r` is a fraction of the previous price of the row, and utilities follow from prices in closed form. Rows
//! and users that are worth only 1e-12 of the others are therefore as accurate as the others. The interior point method
//! does not reach this accuracy, since its error is relative to the sum of all users. The dual method is slower with
//! many rows. If users are divided over classes, the dual method ends with an error of about
//! [`Dual::least_tau`](crate::settings::Dual::least_tau).

use nalgebra::{DMatrix, DVector};

use super::interior::{ClusterPoint, Status};
use super::model::{Cluster, Scaled};
use crate::dense;
use crate::settings::DUAL;

/// A user, with numbers as logarithms, and the rows and limits for which it pays.
struct Buyer {
    /// `ln` of the marginal utility of the first unit of utility: `ln w + (1 - a) ln V`, in units
    /// of the prices.
    log_marginal: f64,
    /// `ln` of the largest utility that the limit allows; infinite without a limit, or if the limit
    /// has a price.
    log_limit: f64,
    /// For each placement, `(row, fraction of the row for one unit of utility)`.
    usage: Vec<Vec<(usize, f64)>>,
}

/// The dual function at one point.
struct State {
    price: Vec<f64>,
    /// `ln kappa` of each user.
    kappa: Vec<f64>,
    /// `ln U` of each user.
    utility: Vec<f64>,
    /// For each user and placement, the fraction of the user's money that it spends on the placement.
    parts: Vec<Vec<f64>>,
    /// For each row, the fraction of the row that is bought.
    load: Vec<f64>,
}

struct Dual<'a> {
    cluster: &'a Cluster,
    buyers: Vec<Buyer>,
    n_prices: usize,
    /// `ln` of the unit in which prices are measured.
    log_unit: f64,
}

/// Computes the optimum of `cluster`, for clusters on which [`solve`](super::solve) ends with
/// [`Status::Limit`].
///
/// Returns `None` if there are too many rows, or if numbers leave the range of doubles.
#[must_use]
pub fn solve_by_prices(cluster: &Cluster) -> Option<ClusterPoint> {
    let dual = Dual::new(cluster)?;
    let mut price = vec![1.0; dual.n_prices];
    let mut steps = 0;
    let (mut part, mut tau) = (0.5_f64, 0.5_f64);
    for _ in 0..DUAL.stages {
        part = (part * DUAL.smaller).max(DUAL.least_part);
        tau = (tau * DUAL.smaller.sqrt()).max(DUAL.least_tau);
        let barrier: Vec<f64> = price.iter().map(|p| (part * p).max(DUAL.least_barrier)).collect();
        steps += dual.minimise(&mut price, &barrier, tau)?;
    }
    Some(dual.point(&dual.state(price, tau), steps))
}

impl<'a> Dual<'a> {
    /// Builds the dual function. Returns `None` if there are too many prices, or no users.
    fn new(cluster: &'a Cluster) -> Option<Self> {
        let mut n_prices = cluster.n_rows;
        let buyer = |user: &Scaled| {
            let mut usage: Vec<Vec<(usize, f64)>> = user
                .usage
                .iter()
                .zip(&user.worth)
                .map(|(usage, v)| usage.iter().map(|(row, a)| (*row, a / v)).collect())
                .collect();
            let log_limit = user.part_per_worth.map_or(f64::INFINITY, |part| -libm::log(part));
            if !user.part.is_empty() && user.part_per_worth.is_none() {
                for (usage, (part, v)) in usage.iter_mut().zip(user.part.iter().zip(&user.worth)) {
                    usage.push((n_prices, part / v));
                }
                n_prices += 1;
            }
            let log_marginal = user.log_marginal(user.log_weight, cluster.alpha, 1.0);
            Buyer { log_marginal, log_limit, usage }
        };
        let buyers = cluster.users.iter().map(buyer).collect();
        let mut dual = Self { cluster, buyers, n_prices, log_unit: 0.0 };
        if n_prices > DUAL.most_prices || dual.buyers.is_empty() {
            return None;
        }
        // In this unit, prices of 1 sell the fullest row exactly once: the demand for it equals its capacity.
        dual.log_unit = dual.log_price_of_the_fullest();
        for buyer in &mut dual.buyers {
            buyer.log_marginal -= dual.log_unit;
        }
        dual.log_unit.is_finite().then_some(dual)
    }

    /// Returns `ln` of the common price of all rows at which the demand for the fullest row is about its capacity.
    fn log_price_of_the_fullest(&self) -> f64 {
        let alpha = self.cluster.alpha;
        let mut fullest = f64::NEG_INFINITY;
        for buyer in &self.buyers {
            for usage in &buyer.usage {
                let cost = libm::log(usage.iter().map(|(_, a)| a).sum());
                let most = usage.iter().map(|(_, a)| *a).fold(0.0, f64::max);
                // Solves (marginal / (P cost))^(1/a) most = 1 for P.
                let price = buyer.log_marginal - cost + alpha * libm::log(most);
                fullest = fullest.max(price);
            }
        }
        fullest
    }

    /// Evaluates the purchases of all users at some prices.
    fn state(&self, price: Vec<f64>, tau: f64) -> State {
        let n_users = self.buyers.len();
        let mut state = State {
            kappa: Vec::with_capacity(n_users),
            utility: Vec::with_capacity(n_users),
            parts: Vec::with_capacity(n_users),
            load: vec![0.0; self.n_prices],
            price,
        };
        for buyer in &self.buyers {
            let costs: Vec<f64> =
                buyer.usage.iter().map(|usage| libm::log(cost(usage, &state.price))).collect();
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let mut parts: Vec<f64> = costs.iter().map(|c| libm::exp((least - c) / tau)).collect();
            let sum: f64 = parts.iter().sum();
            parts.iter_mut().for_each(|part| *part /= sum);
            let kappa = least - tau * libm::log(sum);
            let utility = ((buyer.log_marginal - kappa) / self.cluster.alpha).min(buyer.log_limit);
            for ((usage, part), cost) in buyer.usage.iter().zip(&parts).zip(&costs) {
                let bought = part * libm::exp(utility + kappa - cost);
                for (row, a) in usage {
                    state.load[*row] += a * bought;
                }
            }
            state.kappa.push(kappa);
            state.utility.push(utility);
            state.parts.push(parts);
        }
        state
    }

    /// Takes Newton steps until the function is at its minimum. Returns the number of steps.
    fn minimise(&self, price: &mut Vec<f64>, barrier: &[f64], tau: f64) -> Option<usize> {
        let mut state = self.state(std::mem::take(price), tau);
        let (mut steps, mut idle, mut least) = (0, 0, f64::INFINITY);
        while steps < DUAL.steps && idle < DUAL.idle {
            // Users with a task limit have a price too, which this charge includes.
            self.cluster.charge_step();
            evenhand_budget::charge((self.n_prices as u64).pow(3) / 12, "a path to an optimum");
            let slope = slopes(&state, barrier, tau);
            // The largest error of any row, as a fraction of the row.
            let error = slope.iter().zip(&state.price).map(|(g, p)| (g / p).abs()).fold(0.0, f64::max);
            if error.is_nan() || error < 1e-15 {
                break;
            }
            idle = if error < 0.5 * least || error > DUAL.nearly { 0 } else { idle + 1 };
            least = least.min(error);
            let change = self.newton(&state, barrier, &slope, tau)?;
            let descent: f64 = slope.iter().zip(&change).map(|(g, d)| g * d).sum();
            if descent >= 0.0 || !descent.is_finite() {
                break;
            }
            state = self.search(state, barrier, &change, descent, tau);
            steps += 1;
        }
        *price = state.price;
        price.iter().all(|p| p.is_finite() && *p > 0.0).then_some(steps)
    }

    /// Searches along a line until the function stops falling, or a little further.
    fn search(&self, from: State, barrier: &[f64], change: &[f64], descent: f64, tau: f64) -> State {
        let most = change.iter().copied().fold(0.0_f64, |most, d| most.max(-d));
        let mut length = (0.99 / most).min(1.0);
        let mut state = from;
        let start = state.price.clone();
        for _ in 0..DUAL.halvings {
            let price = start.iter().zip(change).map(|(p, d)| p * (1.0 + length * d)).collect();
            state = self.state(price, tau);
            // The slope at the end of the step, along the same line. Changes are relative to the prices at the start.
            let slope = slopes(&state, barrier, tau);
            let end: f64 = (0..start.len()).map(|r| slope[r] / state.price[r] * start[r] * change[r]).sum();
            if end <= -0.5 * descent {
                break;
            }
            length *= (-descent / (end - descent)).clamp(0.05, 0.7);
        }
        state
    }

    /// Computes Newton's step: the relative change of every price.
    fn newton(&self, state: &State, barrier: &[f64], slope: &[f64], tau: f64) -> Option<Vec<f64>> {
        let mut matrix = DMatrix::<f64>::zeros(self.n_prices, self.n_prices);
        for (r, mu) in barrier.iter().enumerate() {
            matrix[(r, r)] += mu;
        }
        let mut shares: Vec<Vec<(usize, f64)>> = Vec::new();
        for (n, buyer) in self.buyers.iter().enumerate() {
            let spent = libm::exp(state.kappa[n] + state.utility[n]);
            shares.clear();
            let mut mean: Vec<(usize, f64)> = Vec::new();
            for (usage, part) in buyer.usage.iter().zip(&state.parts[n]) {
                let cost = cost(usage, &state.price);
                let of_row = |(row, a): &(usize, f64)| (*row, a * state.price[*row] / cost);
                shares.push(usage.iter().map(of_row).collect());
                add(&mut mean, shares.last()?, *part);
            }
            let is_limited = state.utility[n] >= buyer.log_limit;
            let income = if is_limited { 0.0 } else { self.cluster.alpha.recip() };
            outer(&mut matrix, &mut mean, spent * income);
            substitution(&mut matrix, &shares, &state.parts[n], spent * (1.0 + tau.recip()));
        }
        let change = dense::factor(matrix, &DUAL.ridges)?.solve(&-DVector::from_column_slice(slope));
        change.iter().all(|d| d.is_finite()).then(|| change.data.into())
    }

    /// Converts a state to a point of the cluster, in the original units.
    fn point(&self, state: &State, iterations: usize) -> ClusterPoint {
        let n_rows = self.cluster.n_rows;
        let unit = libm::exp(self.log_unit);
        let users = || self.cluster.users.iter().zip(&self.buyers).enumerate();
        let tasks = users().map(|(n, (user, buyer))| {
            let on = buyer.usage.iter().zip(&state.parts[n]).zip(user.worth.iter().zip(&user.gamma));
            on.map(|((usage, part), (v, gamma))| {
                let log = state.utility[n] + state.kappa[n] - libm::log(cost(usage, &state.price));
                part * libm::exp(log) / v * gamma
            })
            .collect::<Vec<f64>>()
        });
        let reduced = users().map(|(n, (_, buyer))| {
            let excess = |usage: &Vec<(usize, f64)>| {
                1.0 - libm::exp((state.kappa[n] - libm::log(cost(usage, &state.price))).min(0.0))
            };
            buyer.usage.iter().map(excess).collect::<Vec<f64>>()
        });
        let slack = |row: usize| 1.0 - state.load[row];
        let mut next = n_rows;
        let mut limits = |(n, (user, buyer)): (usize, (&Scaled, &Buyer))| {
            let Some(part) = user.part.first() else { return (0.0, f64::INFINITY) };
            let per_task = part / user.gamma[0];
            if user.part_per_worth.is_none() {
                next += 1;
                return (state.price[next - 1] * unit * per_task, slack(next - 1));
            }
            let marginal = libm::exp(buyer.log_marginal - self.cluster.alpha * buyer.log_limit);
            let more = (marginal - libm::exp(state.kappa[n])).max(0.0) * libm::exp(buyer.log_limit);
            let left = 1.0 - libm::exp(state.utility[n] - buyer.log_limit);
            (more * unit * per_task, left)
        };
        let (user_prices, user_slack) = users().map(&mut limits).unzip();
        let worst =
            (0..n_rows).map(|row| (-slack(row)).max(slack(row).min(state.price[row]))).fold(0.0, f64::max);
        ClusterPoint {
            tasks: tasks.collect(),
            reduced: reduced.collect(),
            row_prices: state.price[..n_rows].iter().map(|p| p * unit).collect(),
            row_slack: (0..n_rows).map(slack).collect(),
            user_prices,
            user_slack,
            status: if worst < DUAL.rough { Status::Solved } else { Status::Limit },
            iterations,
            residual: worst,
            worst,
        }
    }
}

/// Returns the cost of a unit of utility on one class.
fn cost(usage: &[(usize, f64)], price: &[f64]) -> f64 {
    usage.iter().map(|(row, a)| a * price[*row]).sum()
}

/// Computes the derivative of the function with respect to the logarithm of each row's price.
///
/// A value at the level of rounding is set to 0. Otherwise the rounding error of an expensive row would hide the error
/// of a cheap row.
fn slopes(state: &State, barrier: &[f64], tau: f64) -> Vec<f64> {
    let rounding = DUAL.rounding * (1.0 + tau.recip());
    let rows = state.price.iter().zip(&state.load).zip(barrier);
    rows.map(|((p, load), mu)| {
        let missing = 1.0 - load - mu / p;
        if missing.abs() < rounding { 0.0 } else { missing * p }
    })
    .collect()
}

fn add(to: &mut Vec<(usize, f64)>, from: &[(usize, f64)], factor: f64) {
    for (row, value) in from {
        match to.iter_mut().find(|(at, _)| at == row) {
            Some((_, sum)) => *sum += factor * value,
            None => to.push((*row, factor * value)),
        }
    }
}

/// Adds the effect of a user's substitution between classes:
/// `factor sum_i part_i (s_i - m)(s_i - m)^T` with `m = sum_i part_i s_i`, where the parts add up
/// to 1.
///
/// This equals `sum_i part_i d_i d_i^T - d d^T` with `d_i = s_i - s_k` and `d = m - s_k`. A class
/// has few rows, while all classes together have many. With `k` the class of the largest part, at
/// most a factor `1 / part_k` of accuracy is lost.
fn substitution(matrix: &mut DMatrix<f64>, shares: &[Vec<(usize, f64)>], parts: &[f64], factor: f64) {
    let largest = (0..parts.len()).max_by(|i, j| parts[*i].total_cmp(&parts[*j]));
    let Some(base) = largest.filter(|_| parts.len() > 1) else { return };
    let mut all = Vec::new();
    for (at, part) in parts.iter().enumerate().filter(|(at, _)| *at != base) {
        let mut apart = shares[at].clone();
        add(&mut apart, &shares[base], -1.0);
        add(&mut all, &apart, *part);
        outer(matrix, &mut apart, factor * part);
    }
    outer(matrix, &mut all, -factor);
}

/// Adds `factor v v^T` to the lower triangle.
fn outer(matrix: &mut DMatrix<f64>, vector: &mut [(usize, f64)], factor: f64) {
    vector.sort_unstable_by_key(|(row, _)| *row);
    for (at, (column, a)) in vector.iter().enumerate() {
        for (row, b) in &vector[at..] {
            matrix[(*row, *column)] += factor * a * b;
        }
    }
}
