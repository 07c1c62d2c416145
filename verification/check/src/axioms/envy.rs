//! Envy-free, and envy-free up to one task (docs/theory.md, section 7). Every pair of users is covered.
//!
//! To user `n` the bundle of user `m` is worth `v = sum_i min_r b_mir w_n / d_nir` tasks, with
//! `b_mir = x_mi d_mir / w_m`. The sum is over the classes where `n` can run, the minimum over the rows that a task of
//! `n` uses. For envy up to one task, one task is removed from the bundle, namely the task that is worth most to `n`.
//! The margin of a pair is `(x_n - min(T_n, v)) / g_n`, and the margin of the axiom is the least margin of all pairs.
//!
//! The stated margin `M` is the least if every pair has `v <= x_n - M g_n` (or `T_n` is at most this bound), and some
//! pair has equality. For most pairs a computation with whole numbers shows that `v` is below the bound. Let `top_r` be
//! the largest `b_mir` of a row, `B_mir = b_mir / top_r` and `V_nir = top_r w_n / (d_nir bound)`. Then `v` is at most
//! the bound if `sum_i min_r B V <= 1`. Both `B` and `V` are rounded up to multiples of `2^-60`. So the computed sum is
//! too large rather than too small, and if it is at most 1, so is the true sum. A number that does not fit into the
//! type is replaced by the largest number of the type. That number is far above `2^120`, which represents 1. Its
//! product with any `B` except 0 is then above 1, as the true product is, and `B = 0` is exact. The remaining pairs are
//! computed exactly. (Users of one level use equal amounts, often exactly `top_r`. Then neither number is rounded, and
//! ties are recognised immediately.)
//!
//! A bundle is *within* another bundle if it has no more of any row. Then it is not worth more to any user. So each
//! user needs to be compared only with a *front*: bundles such that every other bundle is within a bundle of the front.
//! If the bundle of user `m` is within that of `f`, then `f` itself still has to be compared with `m`. The margin of
//! every other user towards `f` is at most its margin towards `m`. (This is not true for envy up to one task. If `f`
//! may be worth more than the bound, the bundles within it are examined as well.) The choice of the front affects only
//! the running time.
//!
//! Similar bundles of the front are first examined together. If a bundle with the largest `B` of each row among them is
//! worth no more than the bound, then no bundle of the set is worth more.

use std::cmp::Reverse;

use rug::ops::DivRounding;
use rug::{Integer, Rational};

use crate::allocation::{Placement, entries};
use crate::case::{Case, Claim, Shown};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// The binary places of the rounded numbers.
const PLACES: u32 = 60;
/// The number of bundles that are examined together. This is also the number of members of the front for which it is
/// tested whether they contain a bundle.
const CHUNK: usize = 64;

/// Returns true if all tasks are whole. Envy-freeness up to one task and whole-task Pareto optimality apply only if
/// they are.
pub fn are_whole(case: &Case<'_>) -> bool {
    let is_whole = |placement: &Placement| placement.tasks.iter().all(|(_, x)| x.is_integer());
    entries(&case.x).all(|(_, _, x)| x.is_integer()) && case.stated.placements.iter().flatten().all(is_whole)
}

/// The rounded amounts of a bundle, `B_mir` by row, ascending.
type Rounded = Vec<(usize, u128)>;

/// Returns three lists: the bundle `b_mir` of every user, by row in ascending order; the rounded bundles `B_mir`; and
/// `top_r` of every row.
fn held(case: &Case<'_>) -> Checked<(Vec<Amounts>, Vec<Rounded>, Vec<Rational>)> {
    let mut held = vec![Amounts::new(); case.problem.users.len()];
    for (m, i, x) in entries(&case.x) {
        for (row, d) in case.uses(m, i) {
            work::steps(work::cost(work::words(x)))?;
            held[m].push((row, work::times(&(d / &case.problem.users[m].weight), x)?));
        }
    }
    let mut top = vec![Rational::new(); case.rows.len()];
    for (row, b) in held.iter().flatten() {
        if *b > top[*row] {
            top[*row].clone_from(b);
        }
    }
    let part = |(row, b): &(usize, Rational)| (*row, round_up(b, &top[*row]));
    let rounded = held.iter().map(|held| held.iter().map(part).collect()).collect();
    Ok((held, rounded, top))
}

/// A member of the front, and the users whose bundles are within its bundle.
type Member = (usize, Vec<usize>);

/// Returns the front of some users, in the order of the users. Each member has the users whose bundles were found to be
/// within its bundle. With `one_less` (envy up to one task) the list has all such users. Otherwise it ends with the
/// first user whose bundle equals that of the member.
fn front(users: &[usize], held: &[Amounts], rounded: &[Rounded], one_less: bool) -> Checked<Vec<Member>> {
    let mut front: Vec<Member> = Vec::new();
    'users: for &m in users {
        let is_within = |f: usize| {
            work::steps(rounded[m].len() as u64 + 1)?;
            // Rounding keeps the order, so a negative result of this test is exact.
            if rounded[m].iter().any(|(row, b)| at(&rounded[f], *row) < Some(b)) {
                return Ok(false);
            }
            let mut rows = held[m].iter().map(|(row, b)| (b, at(&held[f], *row).unwrap_or(b)));
            let each = |(b, of_f)| work::words(b).saturating_mul(work::words(of_f)) + 20;
            work::steps(rows.clone().map(each).sum())?;
            Ok(rows.all(|(b, of_f)| b <= of_f))
        };
        // The latest members are the most similar to `m`.
        for (f, within) in front.iter_mut().rev().take(CHUNK) {
            if is_within(*f)? {
                // If the bundle of the last user in the list equals the bundle of `f`, then `f` needs no comparison
                // with further bundles.
                let is_behind = !one_less && within.last().is_some_and(|last| held[*last] == held[*f]);
                within.extend((!is_behind).then_some(m));
                continue 'users;
            }
        }
        front.push((m, Vec::new()));
    }
    Ok(front)
}

/// Returns the number of tasks of `n` that the resources of one task of `m` on class `i` are worth. It is 0 if `n` cannot
/// run on the class.
pub fn worth_of_task(case: &Case<'_>, n: usize, m: usize, i: usize) -> Checked<Rational> {
    work::spend_stated(2 * case.rows_of(i).len() + 2)?;
    if !case.problem.can_run(m, i) {
        return Ok(Rational::new());
    }
    let rate = |(row, d): (usize, Rational)| case.takes(m, row).unwrap_or_default() / d;
    Ok(case.uses(n, i).into_iter().map(rate).min().unwrap_or_default())
}

/// Returns the number of tasks that the bundle of `m` is worth to `n`. If `one_less` is true, one task of the bundle is
/// left out, namely the task that is worth most.
fn worth(case: &Case<'_>, n: usize, m: usize, one_less: bool) -> Checked<Rational> {
    let (mut all, mut most) = (Rational::new(), Rational::new());
    for (i, x) in &case.x[m] {
        let of_task = worth_of_task(case, n, m, *i)?;
        all = work::plus(&all, &work::times(x, &of_task)?)?;
        most = most.max(of_task);
    }
    let users = &case.problem.users;
    work::times(
        &(if one_less { all - most } else { all }),
        &Rational::from(&users[n].weight / &users[m].weight),
    )
}

/// Judges both axioms: no pair has a margin below the stated margin, and some pair has that margin.
pub fn envy_free(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    if case.active().nth(1).is_none() {
        return Ok((None, None));
    }
    let Some(margin) = &claim.margin else {
        return refuse("the claim states no margin, although users are compared");
    };
    let one_less = claim.axiom == "ef1";
    let (held, rounded, top) = held(case)?;
    // The largest bundles come first, and equal bundles are next to each other.
    let mut users: Vec<usize> = case.active().collect();
    users.sort_by(|a, b| rounded[*b].cmp(&rounded[*a]));
    let front = front(&users, &held, &rounded, one_less)?;
    let largest = |users: &[Member]| -> Rounded {
        let mut all = users.iter().flat_map(|(f, _)| rounded[*f].iter().copied()).collect::<Rounded>();
        // The largest entry of each row comes first.
        all.sort_unstable_by_key(|(row, b)| (*row, Reverse(*b)));
        all.dedup_by_key(|(row, _)| *row);
        all
    };
    let chunks: Vec<_> = front.chunks(CHUNK).map(|users| (largest(users), users)).collect();
    let comparisons = 4 * case.problem.classes.len() + chunks.iter().map(|of| of.0.len() + 1).sum::<usize>();
    let bound = |n: usize| &case.total[n] - Rational::from(margin * &case.g[n]);
    // Returns true if the bundle of `m` is worth exactly the bound to `n`. Returns a fault if it is worth more.
    let is_tight = |n: usize, m: usize| {
        let (value, bound) = (case.problem.users[n].at_most_tasks(worth(case, n, m, one_less)?), bound(n));
        work::steps(work::words(&value).saturating_mul(work::words(&bound)))?;
        if value > bound {
            let (n, m) = (case.user(n), case.user(m));
            return refuse(format!("user `{n}` has a smaller margin towards `{m}` than the claim states"));
        }
        Ok(value == bound)
    };
    // The users for which a bundle may be worth more than their bound come first, with identical users next to each
    // other. Then come the users whose number of tasks equals the bound. To such a user, every bundle is worth at most
    // the bound.
    let mut valuers = Vec::new();
    for &n in &users {
        let (user, bound, alike) = (&case.problem.users[n], bound(n), case.problem.alike[n]);
        if user.tasks.as_ref().is_none_or(|tasks| *tasks >= bound) {
            // No bundle is worth less than 0.
            ensure(bound >= 0, "the margin of some user is smaller than the stated margin")?;
            let kind = if user.tasks.as_ref() == Some(&bound) { (true, n) } else { (false, alike) };
            // Selecting the two least users of a kind takes a few comparisons for each user.
            work::steps(6 * work::cost(work::words(&bound)))?;
            valuers.push((kind, bound / &user.weight, n));
        }
    }
    valuers.sort_by_key(|(kind, ..)| *kind);
    // One user of each kind examines all sets of bundles. This work is charged before any of it is done.
    let kinds = valuers.chunk_by(|a, b| a.0 == b.0).filter(|alike| !alike[0].0.0).count();
    work::steps((kinds as u64).saturating_mul(comparisons as u64))?;
    let mut is_attained = false;
    for alike in valuers.chunk_by_mut(|a, b| a.0 == b.0) {
        // The two users with the smallest ratios of bound to weight come first.
        alike.select_nth_unstable(1.min(alike.len() - 1));
        // All users of a kind value bundles equally, relative to their weights. A bundle that is within the bound of
        // the first user is within the bound of all. The only exception is the first user's own bundle, which is
        // compared with the second user.
        let ((has_all, _), of_weight, n) = &alike[0];
        let (n, bound) = (*n, bound(*n));
        if *has_all && is_attained {
            break;
        }
        work::steps(if *has_all { comparisons } else { 0 } as u64)?;
        if let Some((_, _, second)) = alike.get(1) {
            is_attained |= is_tight(*second, n)?;
        }
        // The numbers `V`, by class and row.
        let rounded_rate = |(row, d): (usize, Rational)| {
            let (of_task, others) = (work::words(&d), work::words(&d) + work::words(&top[row]));
            work::steps(work::cost(of_task) + (work::words(of_weight) + 4).saturating_mul(others + 8))?;
            Ok((row, round_up(&top[row], &(d * of_weight))))
        };
        let rates = |i| case.uses(n, i).into_iter().map(rounded_rate).collect();
        let rates: Vec<Rounded> = (0..case.problem.classes.len()).map(rates).collect::<Checked<_>>()?;
        // Returns true if rounded numbers show that a bundle is worth no more than the bound, or less than the bound if
        // no pair is known yet that attains the margin.
        let is_below = |bundle: &Rounded, is_attained: bool| {
            let class = |(row, _): &(usize, u128)| case.rows[*row].class;
            let value = |rows: &[(usize, u128)]| {
                let product = |(row, v): &(usize, u128)| at(rows, *row).map_or(0, |b| v.saturating_mul(*b));
                rates[class(&rows[0])].iter().map(product).min().unwrap_or(0)
            };
            let sum = bundle.chunk_by(|a, b| class(a) == class(b)).map(value).fold(0, u128::saturating_add);
            (is_attained || bound > 0) && sum < (1 << (2 * PLACES)) + u128::from(is_attained)
        };
        for (largest, users) in &chunks {
            if is_below(largest, is_attained) {
                continue;
            }
            for (f, within) in *users {
                // The first test is about the bundle of `f`. It also decides about all bundles within that bundle.
                work::steps(rounded[*f].len() as u64 + 1)?;
                if *f != n && is_below(&rounded[*f], is_attained) {
                    continue;
                }
                let within = if one_less || *f == n { &within[..] } else { &[] };
                for &m in [f].into_iter().chain(within).filter(|m| **m != n) {
                    work::steps(rounded[m].len() as u64 + 1)?;
                    if !is_below(&rounded[m], is_attained) {
                        is_attained |= is_tight(n, m)?;
                    }
                }
            }
        }
    }
    ensure(is_attained, "no pair of users has the stated margin")?;
    Ok((Some(margin.clone()), None))
}

/// Returns `a / b` times `2^PLACES`, rounded up. Returns the largest number if `b` is 0. Common factors are not
/// removed.
fn round_up(a: &Rational, b: &Rational) -> u128 {
    if b.is_zero() {
        return u128::MAX;
    }
    let of = Integer::from(a.numer() * b.denom()) << PLACES;
    of.div_ceil(Integer::from(a.denom() * b.numer())).to_u128().unwrap_or(u128::MAX)
}
