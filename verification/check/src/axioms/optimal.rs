//! The most tasks in total under a condition (docs/theory.md, section 12): among envy-free allocations, or among
//! allocations in which all active users have the same number of tasks over their weight.
//!
//! The evidence that the axiom holds consists of prices that bound the sum of tasks of every such allocation. The
//! evidence that the axiom is violated is such an allocation with more tasks. The margin is the sum of the judged tasks
//! minus the bound, or minus the sum of the better allocation, over the sum of `g_n` of all active users.

use rug::Rational;

use crate::allocation::{Tasks, tasks};
use crate::axioms::envy::worth_of_task;
use crate::axioms::feasible::is_feasible;
use crate::axioms::prices::Prices;
use crate::case::{Case, Claim, Shown, total_of};
use crate::groups::within::Within;
use crate::json::{ABSENT, Json};
use crate::work::{self, Checked, ensure, refuse};

/// Returns true if the axiom is defined for the problem: there are no groups, and freedom from envy is linear because
/// no user limits its tasks.
pub fn applies(axiom: &str, case: &Case<'_>) -> bool {
    let is_linear = axiom == "optimal-equal" || case.problem.users.iter().all(|user| user.tasks.is_none());
    is_linear && case.problem.groups.names.list.is_empty()
}

/// Judges both axioms.
pub fn optimal(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let is_equal = claim.axiom == "optimal-equal";
    let raw = claim.required_evidence()?;
    ensure(applies(claim.axiom, case), "the axiom is not defined for the problem")?;
    let alone = work::sum(case.active().map(|n| case.g[n].clone()).collect())?;
    let has = work::sum(case.active().map(|n| case.total[n].clone()).collect())?;
    if raw.get("better").given().is_some() {
        let [better] = raw.fields("better")?;
        let y = tasks(better, case.problem)?;
        ensure(is_feasible(case, &y, None)?, "the allocation with more tasks is not feasible")?;
        let totals: Vec<Rational> = y.iter().map(total_of).collect();
        if is_equal {
            has_equal_levels(case, &totals)?;
        } else {
            has_no_envy(case, &y, &totals)?;
        }
        let most = work::sum(case.active().map(|n| totals[n].clone()).collect())?;
        let margin = (!alone.is_zero()).then(|| (has - most) / &alone);
        return Ok((margin, Some(false)));
    }
    let most = if is_equal { most_of_equal(case, raw)? } else { most_without_envy(case, raw)? };
    Ok(((!alone.is_zero()).then(|| (has - most) / &alone), Some(true)))
}

/// Checks that all active users have the same number of tasks over their weight.
fn has_equal_levels(case: &Case<'_>, totals: &[Rational]) -> Checked<()> {
    let level = |n: usize| work::over(&totals[n], &case.problem.users[n].weight);
    let mut levels = case.active().map(level).collect::<Checked<Vec<_>>>()?;
    levels.dedup();
    ensure(levels.len() <= 1, "in the allocation with more tasks, users have different tasks over weight")
}

/// Checks that no active user envies another active user: `y_n >= (w_n / w_m) sum_i y_mi worth_nmi`.
fn has_no_envy(case: &Case<'_>, y: &Tasks, totals: &[Rational]) -> Checked<()> {
    let users = &case.problem.users;
    for n in case.active() {
        for m in case.active().filter(|m| *m != n) {
            let of_class = |(i, y): &(usize, Rational)| work::times(y, &worth_of_task(case, n, m, *i)?);
            let bundle = work::sum(y[m].iter().map(of_class).collect::<Checked<_>>()?)?;
            let needs = work::times(&bundle, &Rational::from(&users[n].weight / &users[m].weight))?;
            if totals[n] < needs {
                let (n, m) = (case.user(n), case.user(m));
                return refuse(format!("in the allocation with more tasks, user `{n}` envies user `{m}`"));
            }
        }
    }
    Ok(())
}

/// Returns the bound on the sum of tasks if every user has `y_n = level w_n`. The values `l_n` and prices prove
/// `level sum w_n l_n <= sum p C + sum q T + sum t A`.
fn most_of_equal(case: &Case<'_>, raw: &Json<'_>) -> Checked<Rational> {
    let [weights, rows, users, accelerators] =
        raw.fields("user_weights prices user_prices? at_most_prices?")?;
    let within = Within::new(case)?;
    let weights = case.problem.user_names.numbers(weights)?;
    let prices = Prices::within(case, [rows, users, &ABSENT, accelerators], &within)?;
    let bound = prices.bound(case)?;
    prices.cover(case, &weights, None)?;
    let stated = weights.iter().filter(|(n, _)| case.is_active(*n));
    let priced = stated.map(|(n, l)| work::times(l, &case.problem.users[*n].weight));
    let priced = work::sum(priced.collect::<Checked<_>>()?)?;
    if case.active().next().is_none() {
        return Ok(bound);
    }
    ensure(priced > 0, "no active user has a weight above 0 in the evidence")?;
    work::over(&work::times(&bound, &case.weight)?, &priced)
}

/// Returns the bound on the sum of tasks of envy-free allocations. A task counts as one task. A task of `n` also relaxes
/// the rows in which `n` compares itself with others, and tightens the rows in which others compare themselves with `n`.
fn most_without_envy(case: &Case<'_>, raw: &Json<'_>) -> Checked<Rational> {
    let [rows, envy] = raw.fields("prices envy_prices")?;
    let prices = Prices { rows: case.by_class_and_row(rows)?, ..Prices::default() };
    let bound = prices.bound(case)?;
    let (problem, names) = (case.problem, &case.problem.user_names);
    let one = || Rational::from(1);
    work::spend_stated(problem.users.len() * problem.classes.len())?;
    let mut worth = vec![vec![one(); problem.classes.len()]; problem.users.len()];
    for (n, of_others) in names.map(envy, |_, raw| names.numbers(raw))? {
        for (m, price) in of_others {
            ensure(price >= 0, "a price of envy is negative")?;
            let scaled =
                work::times(&price, &Rational::from(&problem.users[n].weight / &problem.users[m].weight))?;
            for value in &mut worth[n] {
                *value = work::plus(value, &price)?;
            }
            for (i, value) in worth[m].iter_mut().enumerate() {
                let of_task = worth_of_task(case, n, m, i)?;
                *value = work::plus(value, &-work::times(&scaled, &of_task)?)?;
            }
        }
    }
    for (n, of_class) in worth.iter().enumerate() {
        for i in problem.classes_of(n) {
            let paid = prices.paid(n, &case.uses(n, i), Vec::new())?;
            if work::plus(&paid, &-of_class[i].clone())? < 0 {
                let (class, n) = (&problem.class_names.list[i], case.user(n));
                return refuse(format!("the prices on `{class}` are too low for user `{n}`"));
            }
        }
    }
    Ok(bound)
}
