//! Prices, which prove that no allocation is better, and the judgement of Pareto optimality, which prices prove.
//!
//! Let `a_ni` be values of tasks, `p >= 0` prices of the rows, and `q >= 0` prices of the users' tasks. If
//! `a_ni <= sum_r p_ir d_nir + q_n` on every class where `n` can run, then every feasible `y` has
//! `sum a_ni y_ni <= sum p C + sum q T`. This is weak duality, two lines of arithmetic. Limits of groups are rows as
//! well. Limits on the accelerators of users are also rows, and a task takes `1 / rate_ni` of such a row.

use std::collections::HashMap;

use rug::Rational;

use crate::allocation::{are_servers, placements, sums, tasks};
use crate::case::{Case, Claim, Shown, total_of};
use crate::groups::within::{self, Priced, Within};
use crate::json::Json;
use crate::names::{Amounts, at};
use crate::share::Coefficients;
use crate::work::{self, Checked, ensure, refuse, require};

/// Prices of rows and of users' tasks, each by position, and prices of limits of groups.
#[derive(Default)]
pub struct Prices<'w> {
    pub rows: Amounts,
    pub users: Amounts,
    pub limits: Vec<Priced<'w>>,
    /// The prices of the accelerators of users that state a limit on them.
    pub accelerators: Amounts,
}

impl<'w> Prices<'w> {
    pub fn read(case: &Case<'_>, rows: &Json<'_>, users: &Json<'_>) -> Checked<Self> {
        let (rows, users) = (case.by_class_and_row(rows)?, case.problem.user_names.numbers(users)?);
        Ok(Self { rows, users, limits: Vec::new(), accelerators: Vec::new() })
    }

    /// Reads prices, including those of limits of groups and of accelerators.
    pub fn within(case: &Case<'_>, rows: [&Json<'_>; 4], within: &'w Within<'_>) -> Checked<Self> {
        let [rows, users, limits, accelerators] = rows;
        let limits = within.priced(case, limits)?;
        let stated = case.problem.user_names.map(accelerators, |n, raw| {
            let is_limited = case.problem.users[n].at_most.is_some();
            if is_limited {
                raw.computed()
            } else {
                raw.wrong("this user has no `at_most`, so it cannot have a price for it")
            }
        })?;
        let accelerators = stated.into_iter().filter(|(_, price)| !price.is_zero()).collect();
        Ok(Self { limits, accelerators, ..Self::read(case, rows, users)? })
    }

    /// Returns the bound `sum p C + sum q T`, including the limits of groups. Returns a fault if a price is negative.
    pub fn bound(&self, case: &Case<'_>) -> Checked<Rational> {
        let mut prices = self.rows.iter().chain(&self.users).chain(&self.accelerators);
        ensure(prices.all(|(_, price)| *price >= 0), "a price is negative")?;
        let of_row = |(row, p): &(usize, Rational)| Rational::from(&case.rows[*row].capacity * p);
        let mut parts: Vec<Rational> = self.rows.iter().map(of_row).collect();
        for (n, q) in &self.users {
            let tasks = case.problem.users[*n].tasks.as_ref();
            parts.push(Rational::from(
                require(
                    tasks,
                    "the evidence states a price for the tasks of a user that has unlimited tasks",
                )? * q,
            ));
        }
        for (n, price) in &self.accelerators {
            let at_most = case.problem.users[*n].at_most.as_ref();
            parts.push(Rational::from(
                require(
                    at_most,
                    "the evidence states a price for the accelerators of a user without `at_most`",
                )? * price,
            ));
        }
        parts.push(within::bound(&self.limits)?);
        work::sum(parts)
    }

    /// Returns the price of a task of user `n` that takes the amounts `uses` of rows. `of_limits` lists the payments of
    /// the task for limits of groups.
    pub fn paid(&self, n: usize, uses: &Amounts, of_limits: Vec<Rational>) -> Checked<Rational> {
        work::spend_stated(uses.len() + 1)?;
        let price = |(row, d): &(usize, Rational)| at(&self.rows, *row).map(|p| work::times(d, p));
        let of_rows = uses.iter().filter_map(price).collect::<Checked<Vec<_>>>()?;
        work::sum(of_rows.into_iter().chain(of_limits).chain(at(&self.users, n).cloned()).collect())
    }

    /// Checks that `a_ni <= sum_r p_ir d_nir + q_n` on every class where the users of `values` can run. Here `a_ni` is
    /// `l`, the value of the user, which is at least 0. If there is a share, `a_ni` is `l u_ni`.
    pub fn cover(&self, case: &Case<'_>, values: &Amounts, u: Option<&Coefficients>) -> Checked<()> {
        // If a task is worth the same on all classes, only the cheapest class matters. Identical users have the same
        // cheapest class. Their tasks cost the same there, except for the price of the user's own tasks.
        let mut known: HashMap<usize, (Option<Rational>, usize)> = HashMap::new();
        ensure(values.iter().all(|(_, l)| *l >= 0), "a weight is negative")?;
        // If a user cannot run on any class, there is no class to check.
        for (n, l) in values.iter().filter(|(n, _)| !case.gamma[*n].is_zero()) {
            let (limits, first) = (within::of_user(case, &self.limits, *n)?, case.problem.alike[*n]);
            let of_accelerators = at(&self.accelerators, *n);
            let is_even =
                limits.is_empty() && of_accelerators.is_none() && u.is_none_or(|u| u.0[*n].1.is_empty());
            let (is_own, mut costs) = (at(&self.users, *n).is_some(), Vec::new());
            let paid = |i| {
                let mut of_limits = within::paid(case, &limits, *n, i)?;
                if let Some(price) = of_accelerators {
                    let rate = case.problem.users[*n].rates.as_ref().and_then(|rates| at(rates, i));
                    of_limits.push(work::times(
                        price,
                        &require(rate, "the user has no rate on a class where it can run")?.clone().recip(),
                    )?);
                }
                Ok((self.paid(*n, &case.uses(*n, i), of_limits)?, i))
            };
            match known.get(&first).filter(|_| is_even) {
                Some((Some(paid), i)) if !is_own => costs.push((paid.clone(), *i)),
                Some((_, i)) => costs.push(paid(*i)?),
                None => costs = case.problem.classes_of(*n).map(paid).collect::<Checked<_>>()?,
            }
            for (paid, i) in &costs {
                let value = u.map_or(Ok(l.clone()), |u| work::times(l, u.of(*n, *i)))?;
                if work::plus(paid, &-value)? < 0 {
                    let (class, n) = (&case.problem.class_names.list[*i], case.user(*n));
                    return refuse(format!("the prices on `{class}` are too low for user `{n}`"));
                }
            }
            let cheapest = costs.into_iter().min().filter(|_| is_even);
            known.extend(cheapest.map(|(paid, i)| (first, ((!is_own).then_some(paid), i))));
        }
        Ok(())
    }
}

/// Judges Pareto optimality, for divisible or for whole tasks.
///
/// The evidence that the axiom holds consists of weights `l_n >= 1 / g_n`, and prices for `a_ni = l_n`. The margin is
/// minus `sum p C + sum q T - sum l_n x_n`, because no user loses tasks in a better allocation `y`. The evidence that
/// the axiom is violated is such a `y`.
///
/// For whole tasks the same prices show more: if this gap is below every `l_n`, no further whole task fits. The margin
/// is then 0. If some user could have one more task, the margin is -1. The tolerance has no effect.
pub fn pareto_optimal(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let whole = claim.axiom == "integer-pareto-optimal";
    let (raw, within) = (claim.required_evidence()?, Within::new(case)?);
    if raw.get("dominating").given().is_some() {
        let [dominating] = raw.fields("dominating")?;
        let servers = if whole { Some(placements(dominating, case.problem)?) } else { None };
        let are_there = servers.as_ref().is_none_or(|servers| are_servers(servers, case.problem));
        ensure(are_there, "the placements name a server twice, or a server that does not exist")?;
        let stated = || tasks(dominating, case.problem);
        let y = servers.as_ref().map_or_else(stated, |servers| Ok(sums(servers, case.problem)))?;
        within.allow(case, &y, servers.as_deref())?;
        let gain = |(y, x): (&Amounts, &Rational)| total_of(y) - x;
        let gains: Vec<Rational> = y.iter().zip(&case.total).map(gain).collect();
        ensure(gains.iter().all(|gain| *gain >= 0), "a user loses tasks in the dominating allocation")?;
        let gain = work::sum(case.active().map(|n| Rational::from(&gains[n] / &case.g[n])).collect())?;
        ensure(gain > 0, "no user gains tasks in the dominating allocation")?;
        return Ok((Some(if whole { Rational::from(-1) } else { -gain }), Some(false)));
    }
    let [weights, prices @ ..] =
        raw.fields::<5>("user_weights prices user_prices? limit_prices? at_most_prices?")?;
    let weights = case.problem.user_names.numbers(weights)?;
    let prices = Prices::within(case, prices, &within)?;
    let bound = prices.bound(case)?;
    prices.cover(case, &weights, None)?;
    let weight = |n| at(&weights, n).cloned().unwrap_or_default();
    if let Some(n) = case.active().find(|n| weight(*n) * &case.g[*n] < 1) {
        return refuse(format!(
            "the weight of user `{}` is below 1 over the number of tasks that it could run alone",
            case.user(n)
        ));
    }
    let gap = bound - work::sum(case.active().map(|n| weight(n) * &case.total[n]).collect())?;
    let is_small = || case.active().all(|n| gap < weight(n));
    ensure(!whole || is_small(), "the prices do not rule out that one more whole task fits")?;
    Ok((case.active().next().map(|_| if whole { Rational::new() } else { -gap }), Some(true)))
}
