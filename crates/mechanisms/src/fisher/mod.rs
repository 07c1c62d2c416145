//! Proportional and alpha fairness where the optimality conditions are linear: linear Fisher markets,
//! exactly.
//!
//! Where every user pays for at most one row of every class on which it runs (time sharing, one
//! resource, or one scarce resource in a class), the rows are the goods of a market: user `n` has
//! `C_r / d_nir` tasks in the whole of row `r`. The optimum of `sum_n w_n g_a(x_n)` is its equilibrium
//! (docs/theory.md, section 4, fact 5, for `a = 1`, where users spend their weights): every user buys where a task is cheapest, and
//! has no more tasks than its limit. `x_n` is unique; it is rational for `a = 1` and for `1/a` whole, and
//! elsewhere where the ratios of marginal utilities have rational roots.
//!
//! Floating point tells who buys where: that is the active set. A forest of purchases is enough, since money can be pushed
//! around a cycle until one of its purchases is gone. Along a tree all prices follow from one, the tasks
//! from what the tree has to sell, and the purchases from the leaves inwards, all in rational numbers.
//! The last price is rational where `x_n^a` is; elsewhere the prices are rounded, and leave a gap beyond
//! the fiftieth digit.

mod error;
mod forest;
mod root;
mod tree;

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::{gap, lift_prices, worth};
use evenhand_exact::{Instance, Prices};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Rational, Sharing};

pub use self::error::{FisherError, Unsolved};
use self::forest::{Edge, Forest};
use self::tree::Tree;
use crate::fair_sum::{FairPoint, OnClass, near};
use crate::lift;

/// An exact equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub struct Equilibrium {
    /// `x_ni` by user.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// Prices of the rows and of the users' task limits.
    pub prices: Prices,
    /// The gap that they prove, in units of weight times `x^(1-a)`.
    pub gap: Rational,
}

/// Parts of a user's tasks, of a class or of a limit that the interior point method leaves where an exact
/// optimum has 0; tried in this order. Its own accuracy is about 1e-8, better or worse on some problems.
const NEGLIGIBLE: [f64; 5] = [1e-8, 1e-10, 1e-6, 1e-12, 1e-4];

/// Parts of all money below which a row costs nothing; tried in this order. Above rounding, and far below it,
/// since rows that matter can be worth very little far from `a = 1`.
const NO_PRICE: [f64; 2] = [1e-13, 1e-45];

/// Pairs of a user and a class that all readings together may look at: a few seconds of rational arithmetic.
/// Beyond it fewer readings are tried.
const MOST_PAIRS: usize = 1_000_000;

/// The equilibrium near `point`, a floating-point optimum for time-shared `constraints`.
///
/// # Errors
/// [`FisherError`]: no reading of the point gave a forest whose exact solution is one.
pub fn exact(constraints: &Constraints<'_>, point: &FairPoint) -> Result<Equilibrium, FisherError> {
    let found = nearest(constraints, &Rational::from(1), point, usize::MAX)?;
    match found.gap.is_zero() {
        true => Ok(found),
        false => Err(FisherError::Inexact),
    }
}

/// The equilibrium near `point`, a floating-point optimum for the exponent `alpha`: with gap 0 if one of
/// its readings gives it, else that of the least gap.
///
/// # Errors
/// [`FisherError`]: none of them gave a forest whose exact solution is feasible and has prices.
pub fn best(
    constraints: &Constraints<'_>,
    alpha: &Rational,
    point: &FairPoint,
) -> Result<Equilibrium, FisherError> {
    let pairs: usize = point.places.iter().map(Vec::len).sum();
    nearest(constraints, alpha, point, MOST_PAIRS / pairs.max(1))
}

/// [`best`] of at most so many readings, and at least one.
fn nearest(
    constraints: &Constraints<'_>,
    alpha: &Rational,
    point: &FairPoint,
    most: usize,
) -> Result<Equilibrium, FisherError> {
    let readings =
        NO_PRICE.into_iter().flat_map(|no_price| [false, true].map(|by_class| (no_price, by_class)));
    let readings = readings.flat_map(|(no_price, by_class)| {
        NEGLIGIBLE.map(|negligible| Reading { negligible, no_price, by_class })
    });
    let lifted = lift::lift(
        readings.take(most.max(1)),
        |reading| {
            let market = Market::new(constraints, alpha, point, *reading);
            market.solve().map(|found| (market, found))
        },
        |(market, found)| {
            let equilibrium = market.verified(found)?;
            let gap = equilibrium.gap.clone();
            Ok((equilibrium, gap))
        },
    );
    lifted.map_err(|refused| {
        refused.reasons.into_iter().next_back().map_or(FisherError::Inexact, FisherError::Unsolved)
    })
}

/// What counts as 0 in a point in floating point.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    /// See [`NEGLIGIBLE`].
    negligible: f64,
    /// See [`NO_PRICE`].
    no_price: f64,
    /// Whether a purchase that is negligible to its user counts where it is not to the class: next to a class of
    /// millions of servers nobody misses what it does on a single one, which has to be sold.
    by_class: bool,
}

/// What floating point says about the market.
struct Market<'a> {
    constraints: &'a Constraints<'a>,
    alpha: &'a Rational,
    point: &'a FairPoint,
    reading: Reading,
    /// Price below which a whole row costs nothing.
    no_price: f64,
}

/// How a user buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buyer {
    /// It can be given nothing.
    Absent,
    /// It buys until a task is worth no more than it costs.
    Spends,
    /// It buys all its tasks, for less than they are worth.
    Satisfied,
    /// It gets all its tasks where they cost nothing.
    Free,
}

/// Tasks, and the trees of the market with their prices but for a factor.
type Solved = (Vec<Vec<(usize, Rational)>>, Vec<Tree>);

impl<'a> Market<'a> {
    fn new(
        constraints: &'a Constraints<'a>,
        alpha: &'a Rational,
        point: &'a FairPoint,
        reading: Reading,
    ) -> Self {
        let rows = constraints.rows().iter().zip(&point.row_prices);
        let money: f64 = rows.map(|(row, price)| near(&row.capacity) * price).sum();
        Self { constraints, alpha, point, reading, no_price: reading.no_price * money }
    }

    /// Price of the whole row in floating point.
    fn row_price(&self, row: usize) -> f64 {
        self.point.row_prices[row] * near(&self.constraints.rows()[row].capacity)
    }

    /// What is left over costs nothing, and what costs nothing may be left over.
    fn is_free(&self, row: usize) -> bool {
        self.point.row_slack[row] > self.reading.negligible || self.row_price(row) < self.no_price
    }

    /// The row that user `n` pays for on class `i`; `None` where it pays for none.
    ///
    /// # Errors
    /// That there are several: the conditions are not linear.
    fn good(&self, n: usize, i: usize) -> Result<Option<usize>, Unsolved> {
        let usage = self.constraints.usage(n, i).ok_or(Unsolved::CannotRun)?;
        let rows = self.constraints.class_rows(i).zip(usage.iter());
        let mut paid =
            rows.filter(|(row, usage)| !usage.is_zero() && !self.is_free(*row)).map(|(row, _)| row);
        match (paid.next(), paid.next()) {
            (_, Some(_)) => Err(Unsolved::SeveralPrices),
            (row, None) => Ok(row),
        }
    }

    /// Tasks of user `n` in the whole row.
    fn rate(&self, n: usize, row: usize) -> Rational {
        let at = &self.constraints.rows()[row];
        let usage = self.constraints.usage(n, at.server).unwrap_or_default();
        Rational::from(&at.capacity / &usage[row - self.constraints.class_rows(at.server).start])
    }

    fn is_free_place(&self, n: usize, place: &OnClass) -> bool {
        self.good(n, place.class) == Ok(None)
    }

    fn buyer(&self, n: usize) -> Buyer {
        let places = &self.point.places[n];
        if places.is_empty() {
            Buyer::Absent
        } else if self.point.user_slack[n] > self.reading.negligible {
            Buyer::Spends
        } else if places.iter().any(|place| self.is_free_place(n, place)) {
            Buyer::Free
        } else {
            Buyer::Satisfied
        }
    }

    fn solve(&self) -> Result<Solved, Unsolved> {
        let problem = self.constraints.problem();
        let n_users = problem.n_users();
        let buyers: Vec<Buyer> = (0..n_users).map(|n| self.buyer(n)).collect();
        let mut tasks = vec![Vec::new(); n_users];
        let mut edges = Vec::new();
        for (n, buyer) in buyers.iter().enumerate() {
            if matches!(buyer, Buyer::Spends | Buyer::Satisfied) {
                edges.extend(self.purchases(n)?);
            }
        }
        for (n, _) in buyers.iter().enumerate().filter(|(_, buyer)| **buyer == Buyer::Free) {
            tasks[n] = self.free_tasks(n)?;
        }
        let mut forest = Forest::new(n_users + self.constraints.rows().len());
        edges.sort_by(|a, b| b.flow.total_cmp(&a.flow).then(a.ends.cmp(&b.ends)));
        edges.into_iter().for_each(|edge| forest.add(edge));
        let mut trees = Vec::new();
        for nodes in forest.trees() {
            if let &[alone] = nodes.as_slice() {
                let is_outside = if alone < n_users {
                    matches!(buyers[alone], Buyer::Absent | Buyer::Free)
                } else {
                    self.is_free(alone - n_users)
                        || self.constraints.rows()[alone - n_users].capacity.is_zero()
                };
                match is_outside {
                    true => continue,
                    false => return Err(Unsolved::NoPurchase),
                }
            }
            let parents = forest.parents(&nodes);
            trees.push(Tree::solve(self, nodes, &parents, &buyers, &mut tasks)?);
        }
        for list in &mut tasks {
            list.sort_by_key(|(i, _)| *i);
        }
        Ok((tasks, trees))
    }

    /// What user `n` spends where, as far as it is not negligible.
    fn purchases(&self, n: usize) -> Result<Vec<Edge>, Unsolved> {
        let n_users = self.constraints.problem().n_users();
        let places = &self.point.places[n];
        let total: f64 = places.iter().map(|place| place.tasks).sum();
        let mut edges = Vec::new();
        for place in places {
            let is_something = place.tasks > self.reading.negligible * total;
            if !is_something && !self.reading.by_class {
                continue;
            }
            let Some(row) = self.good(n, place.class)? else {
                match is_something {
                    true => return Err(Unsolved::PaysNothing),
                    false => continue,
                }
            };
            let part = place.tasks / near(&self.rate(n, row));
            if is_something || part > self.reading.negligible {
                edges.push(Edge { ends: [n, n_users + row], flow: part * self.row_price(row) });
            }
        }
        Ok(edges)
    }

    /// All tasks of user `n`, where they cost nothing.
    fn free_tasks(&self, n: usize) -> Result<Vec<(usize, Rational)>, Unsolved> {
        let limit = self.constraints.problem().users()[n].tasks().ok_or(Unsolved::FreeWithoutLimit)?;
        let free = self.point.places[n].iter().filter(|place| self.is_free_place(n, place));
        let used: Vec<&OnClass> =
            free.filter(|place| place.tasks > self.reading.negligible * near(limit)).collect();
        let largest = (0..used.len()).max_by(|&a, &b| used[a].tasks.total_cmp(&used[b].tasks));
        let largest = largest.ok_or(Unsolved::BuysNowhere)?;
        let mut list: Vec<(usize, Rational)> =
            used.iter().map(|place| (place.class, crate::rounding::short(place.tasks))).collect();
        let others: Rational = (0..list.len()).filter(|k| *k != largest).map(|k| &list[k].1).sum();
        list[largest].1 = limit - others;
        Ok(list)
    }

    /// The equilibrium with its prices, if it is feasible and they prove a gap.
    fn verified(&self, (tasks, trees): Solved) -> Result<Equilibrium, Unsolved> {
        let (constraints, problem) = (self.constraints, self.constraints.problem());
        let allocation = Allocation {
            sharing: sharing_of(constraints),
            arithmetic: Arithmetic::Exact,
            tasks,
            ..Allocation::default()
        };
        let instance = Instance::new(problem, &allocation)?;
        if feasible::tightest(&instance).is_some_and(|(_, margin)| margin < 0) {
            return Err(Unsolved::Infeasible);
        }
        let worth = worth(&instance, self.alpha, None)?;
        let most = |n: usize| worth[n].as_ref().map(|(_, upper)| upper);
        let mut prices = Prices {
            user_weights: Vec::new(),
            rows: vec![Rational::new(); constraints.rows().len()],
            users: vec![Rational::new(); problem.n_users()],
        };
        for tree in &trees {
            tree.price(self, &most, &mut prices.rows)?;
        }
        for (n, user) in problem.users().iter().enumerate().filter(|(_, user)| user.tasks().is_some()) {
            let slack = user.tasks().is_some_and(|tasks| *tasks > instance.total(n));
            if let (false, Some(most)) = (slack, most(n)) {
                let cost = |i| self.cost(n, i, &prices.rows);
                let classes = (0..problem.n_servers()).filter(|&i| problem.can_run(n, i));
                let cheapest = classes.map(cost).min().unwrap_or_default();
                prices.users[n] = (most - cheapest).max(Rational::new());
            }
        }
        if let Ok(gap) = gap(&instance, self.alpha, None, &prices) {
            return Ok(Equilibrium { tasks: allocation.tasks, prices, gap });
        }
        // Where the worth of tasks is irrational, the enclosures of two users need not agree.
        let prices = lift_prices(&instance, self.alpha, None, &prices.rows, &prices.users)
            .ok_or(Unsolved::NoPrices)?;
        let gap = gap(&instance, self.alpha, None, &prices)?;
        Ok(Equilibrium { tasks: allocation.tasks, prices, gap })
    }

    /// What a task of user `n` costs on class `i`.
    fn cost(&self, n: usize, i: usize, prices: &[Rational]) -> Rational {
        let usage = self.constraints.usage(n, i).unwrap_or_default();
        let rows = self.constraints.class_rows(i).zip(usage.iter());
        rows.filter(|(row, _)| !prices[*row].is_zero()).map(|(row, d)| Rational::from(&prices[row] * d)).sum()
    }
}

/// What `constraints` were made for.
pub fn sharing_of(constraints: &Constraints<'_>) -> Sharing {
    let servers = constraints.problem().servers();
    let is_chosen = |i: usize| constraints.is_time_shared(i) && !servers[i].is_time_shared();
    if (0..servers.len()).any(is_chosen) { Sharing::Tdm } else { Sharing::Rdm }
}
