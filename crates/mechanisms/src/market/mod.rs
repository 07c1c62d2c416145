//! Exact equilibria of linear Fisher markets whose goods are time-shared classes, computed from the prices of the
//! classes alone.
//!
//! The optimum of `sum_n w_n log x_n` under the time constraints, with at most `T_n` tasks, is the equilibrium of a
//! market. Each user spends its weight, or the cost of all its tasks if that is less, on the classes where a task is
//! cheapest (docs/theory.md, section 4, fact 5). Newton's method computes the prices in floating point, at first for a
//! smoothed cost of a task (`evenhand_ode::market`). Users with a clear choice are fixed. Users near a tie stay in the
//! market. Finally, the undecided users and the classes form a forest, whose prices and purchases are computed in
//! rationals ([`basis`]). A pass over all users then verifies that every user buys where it is cheapest ([`judge`]).
//!
//! If the forest is refused, the market is stated again relative to the prices reached. The differences between
//! classes, the distances to users' limits and the free fractions of classes are computed in rationals and then
//! rounded. Floating point can then distinguish ties with a relative difference of 1e-12 as well as any others. One
//! in twelve of the random problems with near ties of `benches/src/answers` needs this.

mod approach;
mod basis;
mod goods;
mod judge;

use evenhand_budget::each;
use evenhand_exact::Prices;
use evenhand_problem::{Constraints, Rational};

use self::approach::Approach;
use self::basis::Basis;
use self::goods::Goods;
use crate::fisher::Equilibrium;
use crate::fisher::tree::Solved;

/// The maximum number of times that the market is stated relative to new prices.
const CENTRES: usize = 6;
/// The number of pairs of a user and a class above which users are decided during the computation.
const MANY: usize = 20_000;
/// The fraction of a user's spending, or of a class's price, up to which a purchase counts as 0. The values are tried
/// in this order.
const NEGLIGIBLE: [f64; 4] = [1e-7, 0.0, 1e-10, 1e-4];

/// An equilibrium and the number of Newton steps that led to it.
pub struct Found {
    pub equilibrium: Equilibrium,
    pub steps: usize,
}

/// Computes the equilibrium of time-shared `constraints` and verifies it in rationals. Returns `None` if some classes
/// are not shared by time, numbers leave the range of doubles, or no forest led to an equilibrium.
pub fn equilibrium(constraints: &Constraints<'_>) -> Option<Found> {
    let goods = Goods::new(constraints)?;
    if goods.n_buyers() == 0 {
        return None;
    }
    let decided = (goods.good.len() > MANY).then(|| search(constraints, &goods, true)).flatten();
    decided.or_else(|| search(constraints, &goods, false))
}

fn search(constraints: &Constraints<'_>, goods: &Goods<'_>, decides: bool) -> Option<Found> {
    let mut approach = Approach::new(goods, decides)?;
    // A wrong decision about a user cannot be corrected at another centre. If users are decided, there is
    // only one attempt.
    for _ in 0..if decides { 1 } else { CENTRES } {
        approach.run()?;
        let found = NEGLIGIBLE.into_iter().find_map(|negligible| {
            let basis = approach.basis(negligible);
            let solved = basis.solve(goods)?;
            judge::is_equilibrium(goods, &basis, &solved.prices)
                .then(|| equilibrium_of(constraints, goods, &basis, &solved))
        });
        if let Some(equilibrium) = found {
            return Some(Found { equilibrium, steps: approach.steps });
        }
        approach.recentre()?;
    }
    None
}

fn equilibrium_of(
    constraints: &Constraints<'_>,
    goods: &Goods<'_>,
    basis: &Basis,
    solved: &Solved,
) -> Equilibrium {
    let tasks_of = |b: usize| {
        let i = basis.class[b] as usize;
        let mut list = match (solved.tasks.get(&b), goods.tasks(b).filter(|_| basis.satisfied[b])) {
            (Some(list), _) => list.clone(),
            (None, Some(tasks)) => vec![(i, tasks.clone())],
            (None, None) => {
                vec![(i, Rational::from(goods.exact_weight(b) / &solved.prices[i]) * goods.rate(b, i))]
            }
        };
        list.sort_by_key(|(i, _)| *i);
        // A user with all its tasks pays for its task limit: the worth of a task minus its cost on the cheapest
        // class.
        let price = goods.tasks(b).filter(|_| basis.satisfied[b]).map(|tasks| {
            let cost = &solved.prices[i] / goods.rate(b, i);
            Rational::from(goods.exact_weight(b) / tasks) - cost
        });
        (list, price)
    };
    let answers = each(goods.n_buyers(), 1, tasks_of);
    let n_users = goods.problem.n_users();
    let mut tasks = vec![Vec::new(); n_users];
    let mut users = vec![Rational::new(); n_users];
    for (n, (list, price)) in goods.active.iter().zip(answers) {
        tasks[*n] = list;
        users[*n] = price.unwrap_or_default();
    }
    // A time-shared class has a single row, with capacity 1, so its price is the price of the row.
    let rows = constraints.rows().iter().map(|row| solved.prices[row.server].clone()).collect();
    Equilibrium { tasks, prices: Prices { user_weights: Vec::new(), rows, users }, gap: Rational::new() }
}
