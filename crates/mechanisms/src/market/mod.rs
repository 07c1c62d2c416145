//! Time-shared classes as a linear Fisher market, exactly, by the prices of the classes alone.
//!
//! The optimum of `sum_n w_n log x_n` under the time constraints and with at most `T_n` tasks is the equilibrium of a market
//! in which users spend their weights, or what all their tasks cost, where a task is cheapest (docs/theory.md, section 4,
//! fact 5). Newton's method finds the prices in floating point, for a smoothed cost of a task at first
//! (`evenhand_ode::market`). Users that have a clear choice are counted once and for all; those near a tie stay. In the end
//! these and the classes form a forest whose prices and purchases follow in rationals ([`basis`]), and a pass over
//! all users verifies that no user wants anything else ([`judge`]).
//!
//! Where the forest is not the right one, it is all stated anew relative to the prices that have been found: differences
//! between classes, to the limits of users and of what classes have to spare are computed in rationals and rounded then,
//! so that floating point sees ties that are a millionth of a millionth off as well as any others. One in twelve of the
//! random problems with near ties of `benches/src/answers` needs that.

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

/// How often everything is stated anew.
const CENTRES: usize = 6;
/// Places beyond which users are decided on the way.
const MANY: usize = 20_000;
/// Parts of what a user spends, and of what a class costs, that count as nothing; tried in this order.
const NEGLIGIBLE: [f64; 4] = [1e-7, 0.0, 1e-10, 1e-4];

/// An equilibrium, and the Newton steps that it took.
pub struct Found {
    pub equilibrium: Equilibrium,
    pub steps: usize,
}

/// The equilibrium of time-shared `constraints`, verified in rationals; `None` where classes are not shared by time,
/// numbers leave the range of doubles, or no forest was found whose exact solution is one.
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
    // A decision that was wrong is not mended at another centre.
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
        // Beyond its cheapest class a user with all its tasks pays for its limit.
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
    // The row of a time-shared class is the class; its capacity is 1.
    let rows = constraints.rows().iter().map(|row| solved.prices[row.server].clone()).collect();
    Equilibrium { tasks, prices: Prices { user_weights: Vec::new(), rows, users }, gap: Rational::new() }
}
