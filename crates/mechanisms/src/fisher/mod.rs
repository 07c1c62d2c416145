//! Exact proportional and alpha fairness for problems whose optimality conditions are linear: linear Fisher markets.
//!
//! These are the problems in which every user pays for at most one row of each class on which it runs (time sharing,
//! one resource, or one scarce resource in a class). The rows are the goods of a market, and user `n` could run `C_r
//! / d_nir` tasks on the whole of row `r`. The optimum of `sum_n w_n g_a(x_n)` is the equilibrium of this market
//! (docs/theory.md, section 4, fact 5, for `a = 1`, where users spend their weights). Every user buys where a task is
//! cheapest, and has no more tasks than its limit. `x_n` is unique. It is rational for `a = 1`, if `1/a` is whole,
//! and otherwise if the ratios of marginal utilities have rational roots.
//!
//! The floating-point optimum shows which goods each user buys, which is the active set. A forest of purchases
//! suffices, since money can be pushed around a cycle until one of its purchases is 0. In each tree, one price
//! determines all others. The tasks follow from the value of the tree's goods, and the purchases are computed from the
//! leaves inwards, all in rational numbers. The last price of a tree is rational if `x_n^a` is. Otherwise the prices
//! are rounded, so the gap is not 0, but below the fiftieth digit.

pub mod spanning;
pub mod tree;

use std::collections::BTreeMap;

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::{gap, lift_prices, worth};
use evenhand_exact::{Instance, Prices};
use evenhand_levels::njc::Tasks;
use evenhand_problem::number::near;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Rational, Sharing};

use self::spanning::Spanning;
use self::tree::{ExactMarket, Fixed, Solved};
use crate::fair_sum::{FairPoint, OnClass};
use crate::lift;
use crate::rounding::short;

/// An exact equilibrium.
#[derive(Debug, Clone, PartialEq)]
pub struct Equilibrium {
    /// The tasks `x_ni` of each user, as pairs of class and tasks.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// The prices of the rows and of the users' task limits.
    pub prices: Prices,
    /// The gap that the prices prove, in units of weight times `x^(1-a)`.
    pub gap: Rational,
}

/// The fractions of a user's tasks, of a class or of a limit that count as 0, in the order in which they are
/// tried. The interior point method leaves such small amounts where an exact optimum has 0. Its accuracy is
/// usually about 1e-8.
const NEGLIGIBLE: [f64; 5] = [1e-8, 1e-10, 1e-6, 1e-12, 1e-4];

/// The fractions of all money below which a row counts as free, in the order in which they are tried. The
/// first fraction is just above rounding errors. The second is far below them, since for exponents far from 1
/// the rows that matter can be worth very little.
const NO_PRICE: [f64; 2] = [1e-13, 1e-45];

/// The number of pairs of a user and a class that all choices of thresholds together may examine. Examining
/// this many pairs takes a few seconds of rational arithmetic. For larger problems, fewer thresholds are
/// tried.
const MOST_PAIRS: usize = 1_000_000;

/// Computes the equilibrium near `point`, a floating-point optimum for the exponent `alpha`.
///
/// The point is interpreted with several choices of thresholds (`Reading`). Returns the first equilibrium
/// with gap 0, or else the equilibrium with the smallest gap. Returns `None` if no choice leads to a forest
/// whose exact solution is feasible and has prices.
pub fn best(constraints: &Constraints<'_>, alpha: &Rational, point: &FairPoint) -> Option<Equilibrium> {
    let pairs: usize = point.places.iter().map(Vec::len).sum();
    let readings =
        NO_PRICE.into_iter().flat_map(|no_price| [false, true].map(|by_class| (no_price, by_class)));
    let readings = readings.flat_map(|(no_price, by_class)| {
        NEGLIGIBLE.map(|negligible| Reading { negligible, no_price, by_class })
    });
    let lifted = lift::lift(
        readings.take((MOST_PAIRS / pairs.max(1)).max(1)),
        |reading| {
            let market = Market::new(constraints, alpha, point, *reading);
            market.solve().map(|found| (market, found)).ok_or(())
        },
        |(market, found)| {
            let equilibrium = market.verified(found).ok_or(())?;
            let gap = equilibrium.gap.clone();
            Ok((equilibrium, gap))
        },
    );
    lifted.ok()
}

/// The thresholds below which numbers of a floating-point optimum count as 0.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    /// The fraction of a user's tasks, of a class or of a limit that counts as 0 (see [`NEGLIGIBLE`]).
    negligible: f64,
    /// The fraction of all money below which a row counts as free (see [`NO_PRICE`]).
    no_price: f64,
    /// `true` if a purchase that is negligible for its user still counts if it is not negligible for the class.
    /// For example, a user's tasks on a single server are negligible compared with its tasks on a class of
    /// millions of servers, but the single server must be sold too.
    by_class: bool,
}

/// The market that a floating-point optimum describes, given the thresholds.
struct Market<'a> {
    constraints: &'a Constraints<'a>,
    alpha: &'a Rational,
    point: &'a FairPoint,
    reading: Reading,
    /// The price below which a whole row counts as free.
    no_price: f64,
    /// The kind of buyer that each user is.
    buyers: Vec<Buyer>,
}

/// The kind of a buyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buyer {
    /// The user cannot run any task.
    Absent,
    /// The user buys tasks until a task is worth no more than it costs.
    Spends,
    /// The user buys all its tasks, and they cost less than they are worth.
    Satisfied,
    /// The user has all its tasks on classes where they are free.
    Free,
}

impl<'a> Market<'a> {
    fn new(
        constraints: &'a Constraints<'a>,
        alpha: &'a Rational,
        point: &'a FairPoint,
        reading: Reading,
    ) -> Self {
        let rows = constraints.rows().iter().zip(&point.row_prices);
        let money: f64 = rows.map(|(row, price)| near(&row.capacity) * price).sum();
        let no_price = reading.no_price * money;
        let mut market = Self { constraints, alpha, point, reading, no_price, buyers: Vec::new() };
        market.buyers = (0..point.places.len()).map(|n| market.buyer(n)).collect();
        market
    }

    /// Returns the price of the whole row in floating point.
    fn row_price(&self, row: usize) -> f64 {
        self.point.row_prices[row] * near(&self.constraints.rows()[row].capacity)
    }

    /// Returns whether the row has no price: part of it is left over, or its price is negligible.
    fn is_free(&self, row: usize) -> bool {
        self.point.row_slack[row] > self.reading.negligible || self.row_price(row) < self.no_price
    }

    /// Returns the row that user `n` pays for on class `i`.
    ///
    /// The result is `Some(None)` if the user pays for no row. It is `None` if the user pays for several
    /// rows, since the optimality conditions are then not linear.
    fn good(&self, n: usize, i: usize) -> Option<Option<usize>> {
        let usage = self.constraints.usage(n, i)?;
        let rows = self.constraints.class_rows(i).zip(usage.iter());
        let mut paid =
            rows.filter(|(row, usage)| !usage.is_zero() && !self.is_free(*row)).map(|(row, _)| row);
        match (paid.next(), paid.next()) {
            (_, Some(_)) => None,
            (row, None) => Some(row),
        }
    }

    fn is_free_place(&self, n: usize, place: &OnClass) -> bool {
        self.good(n, place.class) == Some(None)
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

    /// Returns the tasks of each user and the forest from which they were computed.
    fn solve(&self) -> Option<(Tasks, Solved)> {
        let n_rows = self.constraints.rows().len();
        let mut tasks = vec![Vec::new(); self.buyers.len()];
        let mut spanning = Spanning::new(n_rows);
        for (n, buyer) in self.buyers.iter().enumerate() {
            match buyer {
                Buyer::Absent => {}
                Buyer::Free => tasks[n] = self.free_tasks(n)?,
                Buyer::Spends | Buyer::Satisfied => spanning.add(n, &self.purchases(n)?),
            }
        }
        let several = spanning.split.into_iter().map(|(n, list)| (n, list.into_keys().collect()));
        let one = spanning.single.into_iter().map(|(n, row)| (n, vec![row]));
        let purchases: BTreeMap<usize, Vec<usize>> = several.chain(one).collect();
        let no_fixed_users =
            Fixed { money: vec![Rational::new(); n_rows], left: vec![Rational::from(1); n_rows] };
        let solved = tree::solve(self, &purchases, &no_fixed_users)?;
        for (n, list) in &solved.tasks {
            let on_class = |(row, x): &(usize, Rational)| (self.constraints.rows()[*row].server, x.clone());
            tasks[*n] = list.iter().map(on_class).collect();
            tasks[*n].sort_by_key(|(i, _)| *i);
        }
        Some((tasks, solved))
    }

    /// Returns the purchases of user `n` that are not negligible, in descending order of the money spent.
    /// Returns `None` if there are no such purchases, or if one of them is on a class that is free.
    fn purchases(&self, n: usize) -> Option<Vec<(usize, f64)>> {
        let places = &self.point.places[n];
        let total: f64 = places.iter().map(|place| place.tasks).sum();
        let mut purchases = Vec::new();
        for place in places {
            let is_something = place.tasks > self.reading.negligible * total;
            if !is_something && !self.reading.by_class {
                continue;
            }
            let Some(row) = self.good(n, place.class)? else {
                match is_something {
                    true => return None,
                    false => continue,
                }
            };
            let part = place.tasks / near(&self.rate(n, row));
            if is_something || part > self.reading.negligible {
                purchases.push((row, part * self.row_price(row)));
            }
        }
        purchases.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        (!purchases.is_empty()).then_some(purchases)
    }

    /// Returns a placement of all tasks of user `n` on classes where they are free.
    fn free_tasks(&self, n: usize) -> Option<Vec<(usize, Rational)>> {
        let limit = self.constraints.problem().users()[n].tasks()?;
        let free = self.point.places[n].iter().filter(|place| self.is_free_place(n, place));
        let used: Vec<&OnClass> =
            free.filter(|place| place.tasks > self.reading.negligible * near(limit)).collect();
        let largest = (0..used.len()).max_by(|&a, &b| used[a].tasks.total_cmp(&used[b].tasks))?;
        let mut list: Vec<(usize, Rational)> =
            used.iter().map(|place| (place.class, short(place.tasks))).collect();
        let others: Rational = (0..list.len()).filter(|k| *k != largest).map(|k| &list[k].1).sum();
        list[largest].1 = limit - others;
        Some(list)
    }

    /// Returns the equilibrium with its prices, if the tasks are feasible and the prices prove a gap.
    fn verified(&self, (tasks, solved): (Tasks, Solved)) -> Option<Equilibrium> {
        let (constraints, problem) = (self.constraints, self.constraints.problem());
        let allocation = Allocation {
            sharing: sharing_of(constraints),
            arithmetic: Arithmetic::Exact,
            tasks,
            ..Allocation::default()
        };
        let instance = Instance::new(problem, &allocation).ok()?;
        if feasible::tightest(&instance).is_some_and(|(_, margin)| margin < 0) {
            return None;
        }
        let worth = worth(&instance, self.alpha, None).ok()?;
        let most = |n: usize| worth[n].as_ref().map(|(_, upper)| upper);
        let mut rows = solved.prices;
        for tree in &solved.anchored {
            let factor = Rational::from(most(tree.user)? / &tree.price);
            tree.goods.iter().for_each(|row| rows[*row] *= &factor);
        }
        let stated = constraints.rows().iter().zip(&mut rows).filter(|(_, price)| !price.is_zero());
        stated.for_each(|(row, price)| *price /= &row.capacity);
        let users = (0..problem.n_users()).map(|n| self.limit_price(&instance, n, most(n), &rows)).collect();
        let prices = Prices { user_weights: Vec::new(), rows, users };
        if let Ok(gap) = gap(&instance, self.alpha, None, &prices) {
            return Some(Equilibrium { tasks: allocation.tasks, prices, gap });
        }
        // If the worth of tasks is irrational, it is only enclosed, and the enclosures of two users can be
        // inconsistent.
        let prices = lift_prices(&instance, self.alpha, None, &prices.rows, &prices.users)?;
        let gap = gap(&instance, self.alpha, None, &prices).ok()?;
        Some(Equilibrium { tasks: allocation.tasks, prices, gap })
    }

    /// Returns the price of one task of the limit of user `n`: the worth of a task minus its cost on the cheapest
    /// class.
    fn limit_price(
        &self,
        instance: &Instance<'_>,
        n: usize,
        most: Option<&Rational>,
        rows: &[Rational],
    ) -> Rational {
        let problem = self.constraints.problem();
        let has_all = problem.users()[n].tasks().is_some_and(|tasks| *tasks <= instance.total(n));
        let Some(most) = most.filter(|_| has_all) else { return Rational::new() };
        let classes = (0..problem.n_servers()).filter(|&i| problem.can_run(n, i));
        let cheapest = classes.map(|i| self.cost(n, i, rows)).min().unwrap_or_default();
        (most - cheapest).max(Rational::new())
    }

    /// Returns the cost of a task of user `n` on class `i`.
    fn cost(&self, n: usize, i: usize, prices: &[Rational]) -> Rational {
        let usage = self.constraints.usage(n, i).unwrap_or_default();
        let rows = self.constraints.class_rows(i).zip(usage.iter());
        rows.filter(|(row, _)| !prices[*row].is_zero()).map(|(row, d)| Rational::from(&prices[row] * d)).sum()
    }
}

impl ExactMarket for Market<'_> {
    fn n_goods(&self) -> usize {
        self.constraints.rows().len()
    }

    fn rate(&self, n: usize, row: usize) -> Rational {
        let at = &self.constraints.rows()[row];
        let usage = self.constraints.usage(n, at.server).unwrap_or_default();
        Rational::from(&at.capacity / &usage[row - self.constraints.class_rows(at.server).start])
    }

    fn weight(&self, n: usize) -> &Rational {
        self.constraints.problem().users()[n].weight()
    }

    fn all_tasks(&self, n: usize) -> Option<&Rational> {
        let tasks = self.constraints.problem().users()[n].tasks();
        tasks.filter(|_| self.buyers[n] == Buyer::Satisfied)
    }

    fn alpha(&self) -> &Rational {
        self.alpha
    }

    fn near_price(&self, row: usize) -> Rational {
        short(self.row_price(row))
    }
}

/// Returns the kind of sharing for which `constraints` were made.
pub fn sharing_of(constraints: &Constraints<'_>) -> Sharing {
    let servers = constraints.problem().servers();
    let is_chosen = |i: usize| constraints.is_time_shared(i) && !servers[i].is_time_shared();
    if (0..servers.len()).any(is_chosen) { Sharing::Tdm } else { Sharing::Rdm }
}
