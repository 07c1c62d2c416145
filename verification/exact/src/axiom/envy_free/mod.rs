//! Envy-free (weighted): `x_n >= min(T_n, v_nm)` for every other user `m`, where
//! `v_nm = sum_i min over r with d_nir > 0 of (w_n/w_m) x_mi d_mir / d_nir` is what the bundle of
//! `m`, scaled by the weights, is worth to `n`; only classes count that `n` can run on, and where
//! time is shared the row of time takes the place of the resources (THEORY, section 7).
//!
//! Margin: the least `(x_n - min(T_n, v_nm)) / g_n` over the pairs `n != m` of
//! active users; absent without a pair. Users that are not active take no part.
//!
//! Three ways to the same answer:
//! * [`envy_free_reference`]: the formula, in rationals, pair by pair. Tests compare with it.
//! * No demand depends on the class, no time is shared and several users may use the same classes:
//!   then `v_nm = w_n min_r q_mr / d_nr`, with `q_mr = d_mr / w_m` times the tasks of `m` on the
//!   classes of `n`, and only few bundles can be worth most to anybody: see the file `skyband`.
//! * Else every pair is compared in integers, of 128 bits where a bound says beforehand that they
//!   suffice: see the file `pairs`.

mod pairs;
mod skyband;

use std::collections::BTreeMap;

use evenhand_problem::{Constraints, Problem};
use rayon::prelude::*;
use rug::ops::DivRounding;
use rug::{Integer, Rational};

use crate::budget::TooLarge;
use crate::instance::{Instance, InstanceError};
use crate::quotient::{Quotient, absorb, scaled};
use crate::scaled::check_width;

/// The pair `(user, envied)` with the least margin, and the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest {
    /// The user that envies, or comes closest to it.
    pub user: usize,
    /// The user that it looks at.
    pub envied: usize,
    /// `(x_n - min(T_n, v_nm)) / g_n`.
    pub margin: Rational,
}

/// From so many users with the same set of classes on, comparing all bundles once pays.
const LARGE_GROUP: usize = 4;

/// More resources than this are not compared all at once: few users demand so many.
const MOST_RESOURCES: usize = 16;

/// `(margin L, user, envied)`: the least of them is what is looked for.
type Found = (Quotient, usize, usize);

/// The tightest pair; `None` without a pair.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub fn tightest(instance: &Instance<'_>) -> Result<Option<Tightest>, TooLarge> {
    let n_users = instance.problem().n_users();
    if n_users < 2 {
        return Ok(None);
    }
    let weights = InverseWeights::new(instance.problem());
    let mut groups: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
    for n in (0..n_users).filter(|&n| instance.is_active(n)) {
        groups.entry(instance.scaled.class_set(n)).or_default().push(n);
    }
    // Every bundle is multiplied out, and every user's demands are inverted.
    let held: usize = instance.tasks.iter().map(Vec::len).sum();
    let looks = (held + n_users).saturating_mul(instance.problem().n_resources().min(MOST_RESOURCES)) as u64;
    instance.budget().charge(looks.saturating_mul(instance.steps()))?;
    let alike = instance.scaled.is_uniform() && instance.problem().n_resources() <= MOST_RESOURCES;
    let (large, small): (Vec<_>, Vec<_>) =
        groups.into_values().partition(|users| alike && users.len() >= LARGE_GROUP);
    let holdings = (!large.is_empty()).then(|| skyband::Holdings::new(instance, &weights));
    let of_group = |users: &Vec<usize>| match &holdings {
        Some(holdings) => skyband::tightest(holdings, users),
        None => Ok(None),
    };
    let found: Vec<Option<Found>> = large.par_iter().map(of_group).collect::<Result<_, _>>()?;
    let found =
        found.into_iter().flatten().chain(pairs::tightest(instance, &weights, &small.concat())?).min();
    Ok(found.map(|(margin, user, envied)| {
        let margin = margin.to_rational() / &instance.denominator;
        Tightest { user, envied, margin }
    }))
}

/// The margin of one pair; `None` when one of them is not active or both are the same.
#[must_use]
pub fn margin(instance: &Instance<'_>, user: usize, envied: usize) -> Option<Rational> {
    let n_users = instance.problem().n_users();
    if user == envied || user >= n_users || envied >= n_users {
        return None;
    }
    if !instance.is_active(user) || !instance.is_active(envied) {
        return None;
    }
    let holdings: Vec<(usize, Rational)> = instance.tasks[envied]
        .iter()
        .map(|(i, x)| (*i, Rational::from((x, &instance.denominator))))
        .collect();
    let value = bundle_value(instance.constraints(), user, envied, &holdings);
    Some(margin_of(instance.problem(), user, instance.total(user), value) / instance.scale(user))
}

/// [`tightest`] in the plainest way: rational numbers, pair by pair.
///
/// The reference that the fast ways are tested against; time `O(N^2 K m)` rational operations.
#[must_use]
pub fn envy_free_reference(instance: &Instance<'_>) -> Option<Tightest> {
    let n_users = instance.problem().n_users();
    let mut least: Option<Tightest> = None;
    for user in 0..n_users {
        for envied in 0..n_users {
            let Some(margin) = margin(instance, user, envied) else { continue };
            if least.as_ref().is_none_or(|least| margin < least.margin) {
                least = Some(Tightest { user, envied, margin });
            }
        }
    }
    least
}

/// `v_nm` in tasks of `user`.
fn bundle_value(
    constraints: &Constraints<'_>,
    user: usize,
    envied: usize,
    holdings: &[(usize, Rational)],
) -> Rational {
    let users = constraints.problem().users();
    let mut value = Rational::new();
    for (i, x) in holdings.iter().filter(|(_, x)| *x > 0) {
        let (Some(own), Some(theirs)) = (constraints.usage(user, *i), constraints.usage(envied, *i)) else {
            continue;
        };
        let fractions = own.iter().zip(theirs.iter()).filter(|(own, _)| !own.is_zero());
        let tasks = fractions.map(|(own, theirs)| Rational::from(theirs / own) * x).min();
        value += tasks.unwrap_or_default();
    }
    value * users[user].weight() / users[envied].weight()
}

fn margin_of(problem: &Problem, user: usize, total: Rational, value: Rational) -> Rational {
    match problem.users()[user].tasks() {
        Some(tasks) if *tasks < value => total - tasks,
        _ => total - value,
    }
}

/// Whether the weights of the users have a common multiple narrow enough to be counted with.
pub(crate) fn check_weights(problem: &Problem) -> Result<(), InstanceError> {
    let mut common = Integer::from(1);
    for user in problem.users() {
        absorb(&mut common, user.weight().numer());
        check_width(&common, problem.n_users() as u64)?;
    }
    Ok(())
}

/// `1 / w_m` in integers.
struct InverseWeights {
    values: Vec<Integer>,
    /// Their common denominator, `Wl`.
    scale: Integer,
}

impl InverseWeights {
    fn new(problem: &Problem) -> Self {
        let inverse: Vec<Rational> =
            problem.users().iter().map(|user| user.weight().clone().recip()).collect();
        let mut scale = Integer::from(1);
        for value in &inverse {
            absorb(&mut scale, value.denom());
        }
        Self { values: inverse.iter().map(|value| scaled(value, &scale)).collect(), scale }
    }
}

/// How a user counts: bundle values are integers `S` with `v L = S / scale`.
///
/// Values, task limits and margins all carry the common denominator `L` of the allocation, which is
/// the wide number of an exact answer and cancels from every comparison.
struct Viewer {
    /// `Wl Lcm / w_n`.
    scale: Rational,
    /// `x_n L`.
    total: Integer,
    /// `T_n L`.
    tasks: Option<Quotient>,
    /// `g_n`.
    unit: Rational,
}

impl Viewer {
    /// `lcm`: what the user's inverse demands are multiplied by.
    fn new(instance: &Instance<'_>, weights: &InverseWeights, n: usize, lcm: &Integer) -> Self {
        let user = &instance.problem().users()[n];
        let scale = Integer::from(&weights.scale * lcm);
        let limit = |tasks: &Rational| {
            Quotient::new(Integer::from(tasks.numer() * &instance.denominator), tasks.denom().clone())
        };
        Self {
            scale: Rational::from(user.weight().recip_ref()) * scale,
            total: instance.totals[n].clone(),
            tasks: user.tasks().map(limit),
            unit: instance.scale(n).clone(),
        }
    }

    /// `S / scale`.
    fn value(&self, sum: &Integer) -> Quotient {
        Quotient::new(Integer::from(sum * self.scale.denom()), self.scale.numer().clone())
    }

    /// The largest integer `S` with `S / scale <= value`.
    fn floor(&self, value: &Quotient) -> Integer {
        let numerator = Integer::from(&value.numerator * self.scale.numer());
        numerator.div_floor(Integer::from(&value.denominator * self.scale.denom()))
    }

    /// The least integer `S` with `S / scale >= value`.
    fn ceil(&self, value: &Quotient) -> Integer {
        let numerator = Integer::from(&value.numerator * self.scale.numer());
        numerator.div_ceil(Integer::from(&value.denominator * self.scale.denom()))
    }

    /// `(x_n - other) L`, given `other L`.
    fn lead(&self, other: &Quotient) -> Quotient {
        let numerator = Integer::from(&self.total * &other.denominator) - &other.numerator;
        Quotient::new(numerator, other.denominator.clone())
    }

    /// A margin in tasks, times whatever it is multiplied by.
    fn in_tasks(&self, margin: &Quotient) -> Quotient {
        let Quotient { numerator, denominator } = margin;
        Quotient::new(
            Integer::from(numerator * self.unit.numer()),
            Integer::from(denominator * self.unit.denom()),
        )
    }

    /// `(x_n - min(T_n, v)) L / g_n`, given `v L`.
    fn margin(&self, value: &Quotient) -> Quotient {
        let Quotient { numerator, denominator } = match &self.tasks {
            Some(tasks) if tasks < value => self.lead(tasks),
            _ => self.lead(value),
        };
        Quotient::new(numerator * self.unit.denom(), denominator * self.unit.numer())
    }
}
