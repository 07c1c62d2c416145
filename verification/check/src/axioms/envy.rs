//! Envy-free, and envy-free up to one task (theory, section 7): every pair of users is looked at.
//!
//! To user `n` the bundle of `m` is worth `v = sum_i min_r b_mir w_n / d_nir` tasks, over the classes where
//! `n` can run and the rows of which a task of `n` takes something, with `b_mir = x_mi d_mir / w_m`; one task
//! less is without one of those that are worth most. The margin is the least `(x_n - min(T_n, v)) / g_n`.
//!
//! The margin `M` that is stated is the least when every pair has `v <= x_n - M g_n` (or `T_n` is no more than
//! that bound), and one pair has as much. Of most pairs whole numbers show that they have no more. Let `top_r` be the
//! largest `b_mir` of a row, `B_mir = b_mir / top_r` and `V_nir = top_r w_n / (d_nir bound)`: `v` is at most the bound
//! when `sum_i min_r B V <= 1`. Both are rounded up to multiples of `2^-60`, so that the sum is too large rather
//! than too small: when it is at most 1, so is the true one. A number that does not fit stays at the largest
//! that does, far above `2^120`, which stands for 1: its product with any `B` but 0 is above 1, as the true one
//! is, and `B = 0` is exact. The other pairs are computed. (Users of one level hold equal parts, often just
//! `top_r`: neither number is rounded then, so that ties are seen at once.)
//!
//! A bundle that holds no more of any row than another one is worth no more to anybody. So everybody looks at a *front*
//! alone, bundles within which all others are: a user `m` whose bundle is within that of `f` needs to be compared with
//! `f` itself, and all others have a margin towards `f` that is no larger than that towards `m`. (Of one task less that is
//! not so: where `f` may be worth more than the bound, the bundles within its own are looked at as well.) How the front is
//! chosen decides nothing but how long it takes.
//!
//! Bundles of the front that are alike are looked at together first: where the largest `B` of each row among them would be
//! worth no more than the bound, none of them is.

use std::cmp::Reverse;

use rug::ops::DivRounding;
use rug::{Integer, Rational};

use crate::allocation::{Placement, entries};
use crate::case::{Case, Claim, Shown};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// Binary places of the rounded numbers.
const PLACES: u32 = 60;
/// Bundles that are looked at together, and members of the front among which one is sought that a bundle is within.
const TOGETHER: usize = 64;

/// Whether tasks are whole, which EF1 is about, and whole-task Pareto optimality.
pub fn are_whole(case: &Case<'_>) -> bool {
    let is_whole = |placement: &Placement| placement.tasks.iter().all(|(_, x)| x.is_integer());
    entries(&case.x).all(|(_, _, x)| x.is_integer()) && case.stated.placements.iter().flatten().all(is_whole)
}

/// `B_mir` by row, ascending.
type Rounded = Vec<(usize, u128)>;

/// What everybody holds, `b_mir` by row, ascending; the same as `B_mir`; and `top` of every row.
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

/// A member of the front, and users whose bundles are within its own.
type Member = (usize, Vec<usize>);

/// The front of some users, in their order, each with the users whose bundles are found to be within its own: all of them
/// where it is about one task less, else those up to one that holds as much.
fn front(users: &[usize], held: &[Amounts], rounded: &[Rounded], less: bool) -> Checked<Vec<Member>> {
    let mut front: Vec<Member> = Vec::new();
    'users: for &m in users {
        let is_within = |f: usize| {
            work::steps(rounded[m].len() as u64 + 1)?;
            // Rounding keeps the order.
            if rounded[m].iter().any(|(row, b)| at(&rounded[f], *row) < Some(b)) {
                return Ok(false);
            }
            let mut rows = held[m].iter().map(|(row, b)| (b, at(&held[f], *row).unwrap_or(b)));
            let each = |(b, of_f)| work::words(b).saturating_mul(work::words(of_f)) + 20;
            work::steps(rows.clone().map(each).sum())?;
            Ok(rows.all(|(b, of_f)| b <= of_f))
        };
        // The latest are the most alike.
        for (f, within) in front.iter_mut().rev().take(TOGETHER) {
            if is_within(*f)? {
                // Behind one that holds as much as `f` itself, no other has to be looked at by `f`.
                let is_behind = !less && within.last().is_some_and(|last| held[*last] == held[*f]);
                within.extend((!is_behind).then_some(m));
                continue 'users;
            }
        }
        front.push((m, Vec::new()));
    }
    Ok(front)
}

/// What the bundle of `m` is worth to `n`, less a task of it that is worth most where that is asked for.
fn worth(case: &Case<'_>, n: usize, m: usize, less: bool) -> Checked<Rational> {
    let (mut all, mut most) = (Rational::new(), Rational::new());
    for (i, x) in &case.x[m] {
        work::look(2 * case.rows_of(*i).len() + 2)?;
        let rate = |(row, d): (usize, Rational)| case.takes(m, row).unwrap_or_default() / d;
        let of_task = case.uses(n, *i).into_iter().map(rate).min().unwrap_or_default();
        all = work::plus(&all, &work::times(x, &of_task)?)?;
        most = most.max(of_task);
    }
    let users = &case.problem.users;
    work::times(&(if less { all - most } else { all }), &Rational::from(&users[n].weight / &users[m].weight))
}

/// Both axioms: no pair has a margin below the one that is stated, and one pair has it.
pub fn envy_free(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    if case.active().nth(1).is_none() {
        return Ok((None, None));
    }
    let Some(margin) = &claim.margin else { return refuse("there are users, and no margin is stated") };
    let less = claim.axiom == "ef1";
    let (held, rounded, top) = held(case)?;
    // The largest bundles first, and those that are equal together.
    let mut users: Vec<usize> = case.active().collect();
    users.sort_by(|a, b| rounded[*b].cmp(&rounded[*a]));
    let front = front(&users, &held, &rounded, less)?;
    let largest = |users: &[Member]| -> Rounded {
        let mut all = users.iter().flat_map(|(f, _)| rounded[*f].iter().copied()).collect::<Rounded>();
        // The largest of each row comes first.
        all.sort_unstable_by_key(|(row, b)| (*row, Reverse(*b)));
        all.dedup_by_key(|(row, _)| *row);
        all
    };
    let together: Vec<_> = front.chunks(TOGETHER).map(|users| (largest(users), users)).collect();
    let looks = 4 * case.problem.classes.len() + together.iter().map(|of| of.0.len() + 1).sum::<usize>();
    let bound = |n: usize| &case.total[n] - Rational::from(margin * &case.g[n]);
    // Whether the bundle of `m` is worth just the bound to `n`.
    let is_tight = |n: usize, m: usize| {
        let (value, bound) = (case.problem.users[n].at_most_tasks(worth(case, n, m, less)?), bound(n));
        work::steps(work::words(&value).saturating_mul(work::words(&bound)))?;
        if value > bound {
            let (n, m) = (case.user(n), case.user(m));
            return refuse(format!("user `{n}` has a smaller margin towards `{m}`"));
        }
        Ok(value == bound)
    };
    // Who may find a bundle to be worth too much; then those who have as many tasks as the bound, to whom one may be worth just
    // that. Those who are alike stand together.
    let mut lookers = Vec::new();
    for &n in &users {
        let (user, bound, alike) = (&case.problem.users[n], bound(n), case.problem.alike[n]);
        if user.tasks.as_ref().is_none_or(|tasks| *tasks >= bound) {
            // No bundle is worth less than nothing.
            ensure(bound >= 0, "a margin is less than what is stated")?;
            let kind = if user.tasks.as_ref() == Some(&bound) { (true, n) } else { (false, alike) };
            // The two least of a kind are found by some comparisons of each.
            work::steps(6 * work::cost(work::words(&bound)))?;
            lookers.push((kind, bound / &user.weight, n));
        }
    }
    lookers.sort_by_key(|(kind, ..)| *kind);
    // One of each kind looks at all that stand together: what is too much is refused here, before any of it is done.
    let kinds = lookers.chunk_by(|a, b| a.0 == b.0).filter(|alike| !alike[0].0.0).count();
    work::steps((kinds as u64).saturating_mul(looks as u64))?;
    let mut is_attained = false;
    for alike in lookers.chunk_by_mut(|a, b| a.0 == b.0) {
        // The two whose bounds over their weights are the least come first.
        alike.select_nth_unstable(1.min(alike.len() - 1));
        // To all of these bundles are worth the same, over the weight: what is not too much to the first is too much to none,
        // but for its own bundle, at which the second looks.
        let ((has_all, _), of_weight, n) = &alike[0];
        let (n, bound) = (*n, bound(*n));
        if *has_all && is_attained {
            break;
        }
        work::steps(if *has_all { looks } else { 0 } as u64)?;
        if let Some((_, _, second)) = alike.get(1) {
            is_attained |= is_tight(*second, n)?;
        }
        // `V`, by class and row.
        let rounded_rate = |(row, d): (usize, Rational)| {
            let (of_task, others) = (work::words(&d), work::words(&d) + work::words(&top[row]));
            work::steps(work::cost(of_task) + (work::words(of_weight) + 4).saturating_mul(others + 8))?;
            Ok((row, round_up(&top[row], &(d * of_weight))))
        };
        let rates = |i| case.uses(n, i).into_iter().map(rounded_rate).collect();
        let rates: Vec<Rounded> = (0..case.problem.classes.len()).map(rates).collect::<Checked<_>>()?;
        // Whether it is seen at once that a bundle is worth no more than the bound; less, as long as no pair is
        // known to have the margin.
        let is_below = |bundle: &Rounded, is_attained: bool| {
            let class = |(row, _): &(usize, u128)| case.rows[*row].class;
            let value = |rows: &[(usize, u128)]| {
                let product = |(row, v): &(usize, u128)| at(rows, *row).map_or(0, |b| v.saturating_mul(*b));
                rates[class(&rows[0])].iter().map(product).min().unwrap_or(0)
            };
            let sum = bundle.chunk_by(|a, b| class(a) == class(b)).map(value).fold(0, u128::saturating_add);
            (is_attained || bound > 0) && sum < (1 << (2 * PLACES)) + u128::from(is_attained)
        };
        for (largest, users) in &together {
            if is_below(largest, is_attained) {
                continue;
            }
            for (f, within) in *users {
                // Whether the bundle of `f` is within the bound, and all that are within it.
                work::steps(rounded[*f].len() as u64 + 1)?;
                if *f != n && is_below(&rounded[*f], is_attained) {
                    continue;
                }
                let within = if less || *f == n { &within[..] } else { &[] };
                for &m in [f].into_iter().chain(within).filter(|m| **m != n) {
                    work::steps(rounded[m].len() as u64 + 1)?;
                    if !is_below(&rounded[m], is_attained) {
                        is_attained |= is_tight(n, m)?;
                    }
                }
            }
        }
    }
    ensure(is_attained, "no pair of users has the margin that is stated")?;
    Ok((Some(margin.clone()), None))
}

/// `a / b` times `2^PLACES`, rounded up; `b` may be 0. Common factors are not looked for.
fn round_up(a: &Rational, b: &Rational) -> u128 {
    if b.is_zero() {
        return u128::MAX;
    }
    let of = Integer::from(a.numer() * b.denom()) << PLACES;
    of.div_ceil(Integer::from(a.denom() * b.numer())).to_u128().unwrap_or(u128::MAX)
}
