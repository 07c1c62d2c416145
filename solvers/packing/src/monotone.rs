//! The monotone greedy property (Reservation, Definition 3.8): greedy never earns less if loads grow.
//!
//! Consider all loads whose types run out in the same order. Greedy's reward is linear in these loads (see
//! [`worst_load`](super::worst_load)). The reward is also continuous over all loads, since greedy uses at every moment
//! the best configuration of the types with jobs left. The set of loads of every order has an interior: it contains the
//! loads of any `z > 0` with more than enough jobs of the other types. The property therefore holds if and only if no
//! order has a negative derivative.
//!
//! Let `K_1, ..., K_t` be the configurations and `phi_i` the types that run out. The derivatives `g_i` with respect to
//! the loads of the `phi_i` solve `sum_(i >= l) g_i K_l[phi_i] = U(K_l) - U(K_t)` for `l < t`, from the last equation
//! back to the first.

use std::sync::Arc;

use crate::limits::PackingError;
use crate::settings::PACKING;
use rug::Rational;

use super::greedy;
use super::max_reward::{BestConfiguration, MaxReward};

/// An order in which types run out before the servers do, with the derivatives of greedy's reward.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The types that run out, in order.
    pub exhausted: Vec<usize>,
    /// The best configurations: the first at the start, and one after each of these types has run out.
    pub steps: Vec<Arc<BestConfiguration>>,
    /// For each of these types, the additional reward of greedy for one more job of the type per server, while the
    /// order stays the same.
    pub derivatives: Vec<Rational>,
}

/// The decision whether greedy never earns less if loads grow, with a counterexample if it may.
#[derive(Debug, Clone, PartialEq)]
pub enum Monotone {
    /// The property holds: in every order, greedy earns at least as much.
    Holds {
        /// The number of orders in which types can run out.
        orders: usize,
    },
    /// The property fails, as these two loads show.
    Fails {
        /// The smaller load of each type.
        smaller: Vec<Rational>,
        /// The larger load of each type: at least the smaller load.
        larger: Vec<Rational>,
        /// The reward of greedy for the smaller loads.
        reward_of_smaller: Rational,
        /// The reward of greedy for the larger loads, which is less.
        reward_of_larger: Rational,
    },
}

/// Decides the property for the types of a problem with one pool.
///
/// The loads of the problem are ignored. `visited` is called for every order in which no derivative is negative. If the
/// property holds, these are all orders.
///
/// # Errors
/// [`PackingError::SeveralPools`], [`PackingError::Budget`] for too many orders, or the errors of [`MaxReward::first`].
pub fn monotone(best: &mut MaxReward<'_>, visited: &mut dyn FnMut(&Order)) -> Result<Monotone, PackingError> {
    if best.problem().n_pools() != 1 {
        return Err(PackingError::SeveralPools);
    }
    let open: Vec<usize> = (0..best.problem().n_types()).collect();
    let mut search = OrderWalk { best, orders: 0, visited };
    let mut start = Order { exhausted: Vec::new(), steps: Vec::new(), derivatives: Vec::new() };
    let found = search.visit(&mut start, &open)?;
    Ok(found.unwrap_or(Monotone::Holds { orders: search.orders }))
}

struct OrderWalk<'s, 'p> {
    best: &'s mut MaxReward<'p>,
    /// The number of orders visited so far.
    orders: usize,
    visited: &'s mut dyn FnMut(&Order),
}

impl OrderWalk<'_, '_> {
    /// Visits the order and all orders that begin with it. Returns the first pair of loads at which
    /// the reward falls.
    fn visit(&mut self, order: &mut Order, open: &[usize]) -> Result<Option<Monotone>, PackingError> {
        if open.is_empty() {
            return Ok(None);
        }
        self.orders += 1;
        if self.orders > PACKING.most_orders {
            return Err(PackingError::Budget {
                what: "orders in which types run out",
                limit: PACKING.most_orders,
            });
        }
        let next = self.best.first(0, open)?;
        order.steps.push(Arc::clone(&next));
        order.derivatives = derivatives(&order.exhausted, &order.steps);
        if let Some(falling) = order.derivatives.iter().position(|g| *g < 0) {
            return witness(self.best, &order.exhausted, &order.steps, falling).map(Some);
        }
        (self.visited)(order);
        for j in (0..next.configuration.len()).filter(|&j| next.configuration[j] > 0) {
            let left: Vec<usize> = open.iter().copied().filter(|&h| h != j).collect();
            order.exhausted.push(j);
            let found = self.visit(order, &left)?;
            order.exhausted.pop();
            if found.is_some() {
                return Ok(found);
            }
        }
        order.steps.pop();
        Ok(None)
    }
}

/// Computes the derivatives of greedy's reward with respect to the loads of `order`.
fn derivatives(order: &[usize], steps: &[Arc<BestConfiguration>]) -> Vec<Rational> {
    let Some(last) = steps.last() else { return Vec::new() };
    let mut g = vec![Rational::new(); order.len()];
    for l in (0..order.len()).rev() {
        let k = &steps[l].configuration;
        let mut value = Rational::from(&steps[l].reward - &last.reward);
        for i in l + 1..order.len() {
            value -= Rational::from(&g[i] * k[order[i]]);
        }
        g[l] = value / k[order[l]];
    }
    g
}

/// Returns two vectors of loads between which the reward falls. The smaller loads are in the interior of the order. The
/// larger loads have as much more of the type with a negative derivative as the order allows.
fn witness(
    best: &mut MaxReward<'_>,
    order: &[usize],
    steps: &[Arc<BestConfiguration>],
    falling: usize,
) -> Result<Monotone, PackingError> {
    let problem = best.problem();
    let each = Rational::from((1, steps.len()));
    let mut smaller: Vec<Rational> = (0..problem.n_types()).map(|j| problem.most(0, j).into()).collect();
    for (i, &j) in order.iter().enumerate() {
        smaller[j] = steps[..=i].iter().map(|step| Rational::from(&each * step.configuration[j])).sum();
    }
    // The change of the number of servers of each step per unit of load of one type. The last step changes so that the
    // sum stays the same.
    let mut change: Vec<Rational> = Vec::with_capacity(steps.len());
    for (i, &j) in order.iter().enumerate() {
        let mut value = Rational::from(u32::from(i == falling));
        for (step, change) in steps.iter().zip(&change) {
            value -= Rational::from(change * step.configuration[j]);
        }
        change.push(value / steps[i].configuration[j]);
    }
    change.push(-change.iter().sum::<Rational>());
    let shrinking = change.iter().filter(|change| **change < 0);
    let most = shrinking.map(|change| Rational::from(&each / change).abs()).min().unwrap_or_default();
    let mut larger = smaller.clone();
    larger[order[falling]] += most;
    let one = [Rational::from(1)];
    let reward_of_smaller = greedy::fluid(best, &smaller, &one)?.reward;
    let reward_of_larger = greedy::fluid(best, &larger, &one)?.reward;
    Ok(Monotone::Fails { smaller, larger, reward_of_smaller, reward_of_larger })
}
