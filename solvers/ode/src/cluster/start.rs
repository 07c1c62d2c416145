//! The starting point of a run of the interior point method.

use super::model::{Cluster, Scaled};
use super::newton::{Point, UserPoint, dot, load};
use crate::settings::INTERIOR;

/// The estimates from which a start is computed.
pub(super) struct Guide {
    /// For each user, `ln` of the cost of one unit of utility.
    log_cost: Vec<f64>,
    /// For each user and placement, the fraction of the user's utility from this placement.
    parts: Vec<Vec<f64>>,
    /// The prices of the rows that lead to these costs.
    price: Vec<f64>,
    /// True if the estimates come from a solved point. Otherwise they are only a guess.
    is_of_point: bool,
}

impl Guide {
    /// Returns the guide with equal prices and evenly spread users.
    pub(super) fn of_equal_prices(cluster: &Cluster) -> Self {
        let parts =
            cluster.users.iter().map(|user| vec![(user.worth.len() as f64).recip(); user.worth.len()]);
        Self {
            log_cost: vec![0.0; cluster.users.len()],
            parts: parts.collect(),
            price: vec![1.0; cluster.n_rows],
            is_of_point: false,
        }
    }

    /// Returns the guide that follows from a solved point.
    pub(super) fn of_point(cluster: &Cluster, point: &Point) -> Self {
        let least = INTERIOR.least_cost * point.price.iter().copied().fold(0.0, f64::max);
        let price: Vec<f64> = point.price.iter().map(|p| p.max(least)).collect();
        let cost = |user: &Scaled| {
            let costs = user.usage.iter().zip(&user.worth);
            let costs = costs.map(|(usage, v)| usage.iter().map(|(row, a)| a * price[*row]).sum::<f64>() / v);
            libm::log(costs.fold(f64::INFINITY, f64::min))
        };
        let parts = cluster.users.iter().zip(&point.users).map(|(user, at)| {
            let even = (user.worth.len() as f64).recip();
            let present = user.worth.iter().zip(&at.y).map(|(v, y)| v * y / at.utility);
            present.map(|part| (1.0 - INTERIOR.even) * part + INTERIOR.even * even).collect()
        });
        Self {
            log_cost: cluster.users.iter().map(cost).collect(),
            parts: parts.collect(),
            price,
            is_of_point: true,
        }
    }
}

/// A cluster with one exponent, and a starting point for it.
pub(super) struct Objective<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) alpha: f64,
    pub(super) start: Point,
    /// `ln sum_n w_n U_n^(1-a)` at the start: the unit of all dual numbers.
    pub(super) log_total: f64,
    /// For each user, `ln w_n`. It is reduced if the user is expected to have all its tasks whatever its weight.
    pub(super) log_weight: Vec<f64>,
}

impl<'a> Objective<'a> {
    /// Computes an interior start from the costs of the guide.
    ///
    /// Utilities are such that `w_n U_n^-a` is proportional to the cost. The fullest row is used up
    /// to a fraction at which, for `a >= 1`, marginal utilities are twice those at full use. Prices
    /// are so high that no placement is worth more than it costs.
    pub(super) fn new(cluster: &'a Cluster, alpha: f64, guide: &Guide) -> Self {
        let mut log_weight: Vec<f64> = cluster.users.iter().map(|user| user.log_weight).collect();
        let logs = || {
            let costs = cluster.users.iter().zip(&guide.log_cost);
            costs.map(|(user, cost)| (user.log_marginal(user.log_weight, alpha, 1.0) - cost) / alpha)
        };
        let most = logs().fold(f64::NEG_INFINITY, f64::max);
        let spread = logs().zip(&cluster.users).zip(&guide.parts).map(|((log, user), parts)| {
            let utility = libm::exp((log - most).max(INTERIOR.least_start));
            user.worth.iter().zip(parts).map(|(worth, part)| utility * part / worth).collect::<Vec<f64>>()
        });
        let mut spread: Vec<Vec<f64>> = spread.collect();
        let fullest = load(cluster, &spread).into_iter().fold(0.0, f64::max);
        let half = libm::pow(0.5, alpha.max(1.0).recip());
        for y in &mut spread {
            y.iter_mut().for_each(|y| *y *= half / fullest);
        }
        let slack: Vec<f64> = load(cluster, &spread).into_iter().map(|load| 1.0 - load).collect();
        let mut users: Vec<UserPoint> = Vec::with_capacity(cluster.users.len());
        for (user, y) in cluster.users.iter().zip(spread) {
            let utility = dot(&user.worth, &y);
            let part = dot(&user.part, &y);
            users.push(UserPoint { utility, h: 1.0 - part, y, ..UserPoint::default() });
        }
        // `ln` of the ratio of marginal utility to cost of all users without a limit. For users with a limit, the ratio
        // may be higher.
        let log_scale = alpha * (most - libm::log(half / fullest));
        if guide.is_of_point {
            for (n, user) in cluster.users.iter().enumerate() {
                if let Some(part) = user.part_per_worth {
                    let most = guide.log_cost[n] + log_scale + libm::log(INTERIOR.most_worth);
                    let excess = user.log_marginal(user.log_weight, alpha, part.recip()) - most;
                    log_weight[n] -= excess.max(0.0);
                }
            }
        }
        let worth = cluster.users.iter().zip(&users).zip(&guide.log_cost).zip(&log_weight);
        let log_total = libm::log(
            worth
                .map(|(((user, at), cost), weight)| {
                    let paid = (cost + log_scale).min(user.log_marginal(*weight, alpha, at.utility));
                    libm::exp(paid - log_scale) * at.utility
                })
                .sum::<f64>(),
        ) + log_scale;
        let scale = libm::exp(log_scale - log_total);
        let price: Vec<f64> = guide.price.iter().map(|p| 2.0 * scale * p).collect();
        let mu = dot(&price, &slack) / cluster.n_rows as f64;
        for (n, (user, at)) in cluster.users.iter().zip(&mut users).enumerate() {
            let paid = scale * libm::exp(guide.log_cost[n]);
            if !user.part.is_empty() {
                let dearest = user.worth.iter().zip(&user.part).map(|(v, t)| v / t).fold(0.0, f64::max);
                let price = |utility: f64| {
                    let marginal = libm::exp(user.log_marginal(log_weight[n], alpha, utility) - log_total);
                    ((marginal - paid).max(0.0) + 0.1 * paid) * dearest
                };
                at.q = price(at.utility);
                let least_slack = (mu / price(at.utility / (1.0 - at.h).max(1.0))).min(0.5);
                if at.h < least_slack {
                    let shrink = (1.0 - least_slack) / (1.0 - at.h);
                    at.y.iter_mut().for_each(|y| *y *= shrink);
                    at.utility *= shrink;
                    at.h = least_slack;
                    at.q = price(at.utility);
                }
            }
            at.lambda = libm::exp(user.log_marginal(log_weight[n], alpha, at.utility) - log_total);
            let cost = |i: usize| {
                let rows: f64 = user.usage[i].iter().map(|(row, a)| a * price[*row]).sum();
                rows + at.q * user.part.get(i).copied().unwrap_or_default()
            };
            at.z = (0..at.y.len()).map(|i| cost(i) - at.lambda * user.worth[i]).collect();
        }
        let placed: Vec<Vec<f64>> = users.iter().map(|at| at.y.clone()).collect();
        let slack = load(cluster, &placed).into_iter().map(|load| 1.0 - load).collect();
        Self { cluster, alpha, start: Point { users, price, slack }, log_total, log_weight }
    }
}

impl Objective<'_> {
    /// Returns true if every user with a reduced weight has all its tasks, so that the reduction changed nothing.
    pub(super) fn weights_do_not_matter(&self, point: &Point) -> bool {
        let users = self.cluster.users.iter().zip(&point.users).zip(&self.log_weight);
        users.into_iter().all(|((user, at), weight)| *weight >= user.log_weight || at.h < INTERIOR.satisfied)
    }
}
