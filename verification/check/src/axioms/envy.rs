//! Envy-free, and envy-free up to one task (theory, section 7): every pair of users is looked at.
//!
//! To user `n` the bundle of `m` is worth `v = (w_n / w_m) sum_i x_mi rho_i` tasks, over the classes where `n`
//! can run, with `rho_i = min over r with d_nir > 0 of d_mir / d_nir`; one task less is without one of those that
//! are worth most. The margin is the least `(x_n - min(T_n, v)) / g_n`.
//!
//! A margin `M` is the least when every pair has `v <= x_n - M g_n` (or `T_n` is no more than that), and the pair
//! of the evidence attains it. Most pairs are far from the bound, and whole numbers show it: of
//! `b_mir = x_mi d_mir / w_m` and `w_n / d_nir`, times powers of two and rounded up, the products bound the value
//! from above. The others are computed.

use std::borrow::Cow;

use rug::ops::DivRounding;
use rug::{Integer, Rational};

use crate::case::{Case, entries};
use crate::claim::Claim;
use crate::work::{self, Checked, ensure};

/// Bits of the rounded numbers: the sum of thousands of products of two of them fits in 128.
const BITS: i32 = 50;

pub fn envy_free(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let names = &limits.problem.user_names;
    let Some(([user, envied], gain)) = claim.tightest(["user", "envied"], "gain")? else {
        return no_pair(case, claim);
    };
    let (user, envied) = (names.named(user)?, names.named(envied)?);
    let value = |n: usize, m: usize| worth(case, n, m).0;
    verify(case, claim, (user, envied), &value, || Some(value(user, envied)))?;
    ensure(claim.amounts(limits, user, gain), "the gain of the evidence is another")
}

pub fn ef1(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let names = &limits.problem.user_names;
    let Some(([user, envied, server], gain)) = claim.tightest(["user", "envied", "server?"], "gain")? else {
        return no_pair(case, claim);
    };
    let (user, envied) = (names.named(user)?, names.named(envied)?);
    let removed = if server.is_absent() { None } else { Some(limits.problem.class_names.named(server)?) };
    let one_less = |n: usize, m: usize| {
        let (value, best) = worth(case, n, m);
        value - best.unwrap_or_default()
    };
    let stated = || match (worth(case, user, envied), removed) {
        ((value, None), None) => Some(value),
        ((value, Some(_)), Some(i)) => Some(value - one(case, user, envied, i)?),
        _ => None,
    };
    verify(case, claim, (user, envied), &one_less, stated)?;
    ensure(claim.amounts(limits, user, gain), "the gain of the evidence is another")
}

/// Whether tasks are whole, which EF1 is about, and whole-task Pareto optimality.
pub fn are_whole(case: &Case<'_>) -> bool {
    let placed = case.placements.unwrap_or_default().iter().flat_map(|placement| &placement.tasks);
    entries(&case.x).all(|(_, _, x)| x.is_integer()) && placed.into_iter().all(|(_, x)| x.is_integer())
}

fn no_pair(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    ensure(case.limits.active().nth(1).is_none(), "there are users, and no pair is named")?;
    claim.says(None)?;
    claim.without_evidence()
}

/// Whether the stated margin is the least, by a value of pairs that is at most what the bundle is worth.
fn verify(
    case: &Case<'_>,
    claim: &Claim<'_>,
    (user, envied): (usize, usize),
    value: &dyn Fn(usize, usize) -> Rational,
    stated: impl Fn() -> Option<Rational>,
) -> Checked<()> {
    let limits = &case.limits;
    let Some(margin) = &claim.margin else { return ensure(false, "the margin is missing") };
    let is_pair = user != envied && limits.is_active(user) && limits.is_active(envied);
    ensure(is_pair, "the users of the evidence are no pair")?;
    let held = Held::new(case)?;
    for n in limits.active() {
        let bound = &case.total[n] - Rational::from(margin * &limits.g[n]);
        if limits.problem.users[n].tasks.as_ref().is_some_and(|tasks| *tasks <= bound) {
            continue;
        }
        // No bundle is worth less than nothing.
        ensure(bound >= 0, "a margin is less than is stated")?;
        let viewer = Viewer::new(&held, n, &bound)?;
        for m in limits.active().filter(|m| *m != n) {
            if viewer.is_below(m) || viewer.is_within(m) {
                continue;
            }
            work::spend(4 * case.x[m].len() + 1)?;
            if value(n, m) > bound {
                let (n, m) = (limits.user(n), limits.user(m));
                return ensure(
                    false,
                    &format!("the margin of user `{n}` towards `{m}` is less than is stated"),
                );
            }
        }
    }
    let attained = stated().map(|value| {
        let tasks = limits.problem.users[user].tasks.clone();
        let value = tasks.map_or(value.clone(), |tasks| tasks.min(value));
        Rational::from(&case.total[user] - &value) / &limits.g[user]
    });
    ensure(attained.as_ref() == Some(margin), "the pair of the evidence has another margin")?;
    claim.says(attained)
}

/// What the bundle of `m` is worth to `n`, and its most valuable task.
fn worth(case: &Case<'_>, n: usize, m: usize) -> (Rational, Option<Rational>) {
    let tasks = case.x[m].iter();
    let parts: Vec<(Rational, &Rational)> =
        tasks.filter_map(|(i, x)| Some((one(case, n, m, *i)?, x))).collect();
    let value = parts.iter().map(|(one, x)| Rational::from(one * *x)).sum();
    (value, parts.into_iter().map(|(one, _)| one).max())
}

/// `(w_n / w_m) rho_i`: what a task of `m` on a class is worth to `n`; `None` where that is nothing.
fn one(case: &Case<'_>, n: usize, m: usize, i: usize) -> Option<Rational> {
    let limits = &case.limits;
    if !limits.problem.can_run(n, i) || case.on(m, i) <= 0 {
        return None;
    }
    let theirs = limits.uses(m, i);
    let rate = |(row, own): &(usize, Cow<'_, Rational>)| {
        let theirs = theirs.iter().find(|(at, _)| at == row);
        theirs.map_or_else(Rational::new, |(_, theirs)| Rational::from(&**theirs / &**own))
    };
    let rate = limits.uses(n, i).iter().map(rate).min().filter(|rate| *rate > 0)?;
    let users = &limits.problem.users;
    Some(rate * &users[n].weight / &users[m].weight)
}

/// What everybody holds of the rows of one class, over its weight: `b_mir`.
struct Bundle {
    class: usize,
    /// By row, ascending; beside it the number times a power of two, rounded up.
    rows: Vec<(usize, Rational, u64)>,
}

struct Held<'c, 'a> {
    case: &'c Case<'a>,
    bundles: Vec<Vec<Bundle>>,
    /// The power of two, by row: the largest of the rounded numbers has about [`BITS`] bits.
    scale: Vec<i32>,
}

impl<'c, 'a> Held<'c, 'a> {
    fn new(case: &'c Case<'a>) -> Checked<Self> {
        let limits = &case.limits;
        let mut most: Vec<Option<i32>> = vec![None; limits.rows.len()];
        let mut bundles: Vec<Vec<Bundle>> = case.x.iter().map(|_| Vec::new()).collect();
        for (m, i, x) in entries(&case.x) {
            let uses = limits.uses(m, i);
            work::spend(2 * uses.len())?;
            let of_row = |(row, d): (usize, Cow<'_, Rational>)| {
                let b = Rational::from(&*d * x) / &limits.problem.users[m].weight;
                most[row] = most[row].max(Some(bits(&b)));
                (row, b, 0)
            };
            bundles[m].push(Bundle { class: i, rows: uses.into_iter().map(of_row).collect() });
        }
        let scale: Vec<i32> = most.iter().map(|most| BITS - most.unwrap_or(0)).collect();
        for (row, b, rounded) in bundles.iter_mut().flatten().flat_map(|bundle| &mut bundle.rows) {
            *rounded = above(b, scale[*row]);
        }
        Ok(Self { case, bundles, scale })
    }
}

/// One user, ready to look at all others.
struct Viewer<'h, 'c, 'a> {
    held: &'h Held<'c, 'a>,
    /// By class: `(row, bound d_nir / w_n, w_n / d_nir rounded up)`.
    classes: Vec<Vec<(usize, Rational, u64)>>,
    /// The bound times the power of two that all products have, rounded down.
    bound: u128,
}

impl<'h, 'c, 'a> Viewer<'h, 'c, 'a> {
    fn new(held: &'h Held<'c, 'a>, n: usize, bound: &Rational) -> Checked<Self> {
        let limits = &held.case.limits;
        let weight = &limits.problem.users[n].weight;
        let mut classes: Vec<Vec<(usize, Rational, u64)>> = Vec::new();
        classes.resize_with(limits.problem.classes.len(), Vec::new);
        // Products have the power scale[row] + power of the other number, the same for all rows.
        let mut common = BITS;
        let mut inverses = Vec::new();
        for i in limits.problem.classes_of(n) {
            for (row, d) in limits.uses(n, i) {
                let inverse = Rational::from(weight / &*d);
                common = common.min(held.scale[row].saturating_add(BITS - bits(&inverse)));
                inverses.push((i, row, inverse));
            }
        }
        work::spend(2 * inverses.len())?;
        let pairs: usize = held.bundles.iter().flatten().map(|bundle| bundle.rows.len()).sum();
        work::steps(pairs as u64)?;
        for (i, row, inverse) in inverses {
            let rounded = above(&inverse, common.saturating_sub(held.scale[row]));
            classes[i].push((row, Rational::from(bound / &inverse), rounded));
        }
        // A sum that does not fit is never below.
        let bound = shifted(bound, common).0.to_u128().unwrap_or(u128::MAX - 1);
        Ok(Self { held, classes, bound })
    }

    /// Whether the rounded numbers show that the bundle of `m` is worth no more than the bound.
    fn is_below(&self, m: usize) -> bool {
        let mut sum = 0_u128;
        for Bundle { class, rows } in &self.held.bundles[m] {
            let mut theirs = rows.iter();
            // Both are in the order of the rows; of a row that `m` has nothing of the product is 0.
            let product = |(row, _, own): &(usize, Rational, u64)| {
                let theirs = theirs.find(|(at, _, _)| at >= row).filter(|(at, _, _)| at == row);
                match theirs.map_or(0, |(_, _, theirs)| *theirs) {
                    u64::MAX => u128::MAX,
                    theirs if *own == u64::MAX && theirs > 0 => u128::MAX,
                    theirs => u128::from(theirs) * u128::from(*own),
                }
            };
            sum = sum.saturating_add(self.classes[*class].iter().map(product).min().unwrap_or(0));
        }
        sum <= self.bound
    }

    /// Whether `m` holds something on one class alone, and of one row so little that its bundle is worth no
    /// more than the bound.
    fn is_within(&self, m: usize) -> bool {
        let [Bundle { class, rows }] = self.held.bundles[m].as_slice() else { return false };
        let little = |(row, most, _): &(usize, Rational, u64)| {
            let theirs = rows.iter().find(|(at, _, _)| at == row);
            theirs.is_none_or(|(_, b, _)| b == most || b <= most)
        };
        self.classes[*class].iter().any(little)
    }
}

/// The power of two that a positive number is next to.
fn bits(value: &Rational) -> i32 {
    value.numer().significant_bits() as i32 - value.denom().significant_bits() as i32
}

/// A positive number times a power of two, rounded down and up.
fn shifted(value: &Rational, power: i32) -> (Integer, Integer) {
    let (up, down) = (power.max(0) as u32, power.min(0).unsigned_abs());
    let (numerator, denominator) = (Integer::from(value.numer() << up), Integer::from(value.denom() << down));
    (numerator.clone().div_floor(&denominator), numerator.div_ceil(&denominator))
}

/// Rounded up; `u64::MAX` where that does not fit.
fn above(value: &Rational, power: i32) -> u64 {
    shifted(value, power).1.to_u64().unwrap_or(u64::MAX)
}
