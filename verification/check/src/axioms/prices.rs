//! Prices: why no allocation does better. And Pareto optimality, which they show.
//!
//! For values `a_ni` of tasks, prices `p >= 0` of the rows and `q >= 0` of the users' tasks with
//! `a_ni <= sum_r p_ir d_nir + q_n` on every class where `n` can run bound every feasible `y` by
//! `sum a_ni y_ni <= sum p C + sum q T`: weak duality, two lines of arithmetic.

use rug::Rational;

use crate::allocation::{self, Allocation, Tasks, sums, tasks};
use crate::axioms::{envy, feasible};
use crate::case::{Case, Limits, total};
use crate::claim::Claim;
use crate::json::Json;
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// Prices of rows and of users' tasks, by position.
pub struct Prices {
    rows: Amounts,
    users: Amounts,
}

impl Prices {
    pub fn read(limits: &Limits<'_>, rows: &Json<'_>, users: &Json<'_>) -> Checked<Self> {
        let users = limits.problem.user_names.map(users, |_, raw| raw.computed())?;
        Ok(Self { rows: Claim::by_row(limits, rows)?, users })
    }

    /// `sum p C + sum q T`, after a look at the signs.
    pub fn bound(&self, limits: &Limits<'_>) -> Checked<Rational> {
        let mut parts = Vec::new();
        for (row, p) in &self.rows {
            ensure(*p >= 0, "a price is negative")?;
            parts.push(Rational::from(&limits.rows[*row].capacity * p));
        }
        for (n, q) in self.users.iter().filter(|(_, q)| !q.is_zero()) {
            let Some(tasks) = &limits.problem.users[*n].tasks else {
                return refuse(format!("the unlimited tasks of user `{}` have a price", limits.user(*n)));
            };
            ensure(*q >= 0, "a price is negative")?;
            parts.push(Rational::from(tasks * q));
        }
        work::sum(parts)
    }

    /// Whether `a_ni <= sum_r p_ir d_nir + q_n` on every class where user `n` can run.
    pub fn cover(&self, limits: &Limits<'_>, n: usize, a: impl Fn(usize) -> Rational) -> Checked<()> {
        let zero = Rational::new();
        for i in limits.problem.classes_of(n) {
            let mut cost = at(&self.users, n).unwrap_or(&zero).clone();
            let uses = limits.uses(n, i);
            work::spend(uses.len() + 1)?;
            for (row, d) in uses {
                if let Some(p) = at(&self.rows, row) {
                    cost += Rational::from(p * &*d);
                }
            }
            if a(i) > cost {
                let class = &limits.problem.class_names.list[i];
                return refuse(format!("the prices on `{class}` are too low for user `{}`", limits.user(n)));
            }
        }
        Ok(())
    }
}

/// Values by user, none negative.
pub fn weights(limits: &Limits<'_>, raw: &Json<'_>) -> Checked<Amounts> {
    raw.object()?;
    limits.problem.user_names.map(raw, |_, raw| raw.computed())
}

/// Evidence of yes: weights `l_n >= 1 / g_n` and prices for `a_ni = l_n`; the margin is minus
/// `sum p C + sum q T - sum l_n x_n`, since nobody loses in `y`. Evidence of no: such a `y`.
///
/// Among whole tasks the same prices show more: where that gap is below every `l_n` there is no room for a
/// whole task, and the margin is 0.
pub fn pareto_optimal(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let whole = claim.axiom == "integer-pareto-optimal";
    let raw = claim.evidence;
    if !raw.get("dominating").is_absent() {
        let [dominating] = raw.fields(["dominating"])?;
        let (y, is_feasible) = match whole {
            false => {
                let y = tasks(dominating, limits.problem)?;
                let is_feasible = limits.is_feasible(&y)?;
                (y, is_feasible)
            }
            true => whole_tasks(case, dominating)?,
        };
        ensure(is_feasible, "the dominating allocation is not feasible")?;
        ensure(!whole || envy::are_whole(case), "tasks are not whole")?;
        let mut gains = Vec::new();
        for (n, (y, x)) in y.iter().zip(&case.total).enumerate() {
            let gain = total(y) - x.clone();
            ensure(gain >= 0, "somebody loses in the dominating allocation")?;
            gains.push(limits.in_units(n, &gain));
        }
        let gain = work::sum(gains)?;
        ensure(gain > 0 && claim.holds == Some(false), "nobody gains in the dominating allocation")?;
        return claim.says(Some(-gain));
    }
    let [user_weights, rows, users] = raw.fields(["user_weights", "prices", "user_prices?"])?;
    let l = weights(limits, user_weights)?;
    let prices = Prices::read(limits, rows, users)?;
    let bound = prices.bound(limits)?;
    ensure(!whole || envy::are_whole(case), "tasks are not whole")?;
    for (n, l) in &l {
        ensure(*l >= 0, "a weight is negative")?;
        prices.cover(limits, *n, |_| l.clone())?;
    }
    let mut worth = Vec::new();
    for n in limits.active() {
        let enough = at(&l, n).filter(|l| Rational::from(*l * &limits.g[n]) >= 1);
        let Some(l) = enough else {
            return refuse(format!(
                "the weight of user `{}` is below 1 over what it has alone",
                limits.user(n)
            ));
        };
        worth.push(Rational::from(l * &case.total[n]));
    }
    if worth.is_empty() {
        return claim.says(None);
    }
    let gap = bound - work::sum(worth)?;
    let has_room = limits.active().any(|n| at(&l, n).is_some_and(|l| gap >= *l));
    claim.says(Some(if whole && !has_room { Rational::new() } else { -gap }))?;
    ensure(claim.holds == Some(true), "the evidence is not of the form that the verdict takes")
}

/// Better placements: the tasks, and whether they are whole and fit.
fn whole_tasks(case: &Case<'_>, raw: &Json<'_>) -> Checked<(Tasks, bool)> {
    let limits = &case.limits;
    let placements = allocation::placements(raw, limits.problem)?;
    ensure(allocation::are_servers(&placements, limits.problem), "a server is given twice, or is not there")?;
    let better = Allocation {
        by_time: limits.by_time,
        tasks: sums(&placements, limits.problem),
        placements: Some(placements),
    };
    let better_case = Case::new(limits.problem, &better, Rational::new())?;
    let is_feasible = feasible::are_whole_and_fit(&better_case)?;
    Ok((better.tasks, is_feasible))
}
