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
//! Bundles that are alike are looked at together first: where the largest `B` of each row among them would be worth no
//! more than the bound, none of them is.

use std::collections::BTreeMap;

use rug::Rational;

use crate::allocation::{Placement, entries};
use crate::case::{Case, Claim, Shown};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// Binary places of the rounded numbers.
const PLACES: u32 = 60;
/// Bundles that are looked at together.
const TOGETHER: usize = 64;

/// Whether tasks are whole, which EF1 is about, and whole-task Pareto optimality.
pub fn are_whole(case: &Case<'_>) -> bool {
    let is_whole = |placement: &Placement| placement.tasks.iter().all(|(_, x)| x.is_integer());
    entries(&case.x).all(|(_, _, x)| x.is_integer()) && case.stated.placements.iter().flatten().all(is_whole)
}

/// `B_mir` by row, ascending.
type Rounded = Vec<(usize, u128)>;

/// What everybody holds, and `top` of every row.
fn held(case: &Case<'_>) -> (Vec<Rounded>, Vec<Rational>) {
    let of_user = |m: usize| -> Amounts {
        let weight = &case.problem.users[m].weight;
        let rows = |(i, x): &(usize, Rational)| {
            case.uses(m, *i).into_iter().map(|(row, d)| (row, d * x / weight)).collect::<Amounts>()
        };
        case.x[m].iter().flat_map(rows).collect()
    };
    let held: Vec<Amounts> = (0..case.problem.users.len()).map(of_user).collect();
    let mut top = vec![Rational::new(); case.rows.len()];
    for (row, b) in held.iter().flatten() {
        top[*row] = top[*row].clone().max(b.clone());
    }
    let part = |(row, b): &(usize, Rational)| (*row, round_up(Rational::from(b / &top[*row])));
    (held.iter().map(|held| held.iter().map(part).collect()).collect(), top)
}

/// What the bundle of `m` is worth to `n`, less a task of it that is worth most where that is asked for.
fn worth(case: &Case<'_>, n: usize, m: usize, less: bool) -> Rational {
    let (mut all, mut most) = (Rational::new(), Rational::new());
    for (i, x) in &case.x[m] {
        let rate = |(row, d): (usize, Rational)| case.takes(m, row).unwrap_or_default() / d;
        let of_task = case.uses(n, *i).into_iter().map(rate).min().unwrap_or_default();
        all += Rational::from(x * &of_task);
        most = most.max(of_task);
    }
    let users = &case.problem.users;
    (if less { all - most } else { all }) * &users[n].weight / &users[m].weight
}

/// Both axioms: no pair has a margin below the one that is stated, and one pair has it.
pub fn envy_free(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    if case.active().nth(1).is_none() {
        return Ok((None, None));
    }
    let Some(margin) = &claim.margin else { return refuse("there are users, and no margin is stated") };
    let (rounded, top) = held(case);
    let mut alike: Vec<usize> = case.active().collect();
    alike.sort_by(|a, b| rounded[*a].cmp(&rounded[*b]));
    let largest = |users: &[usize]| {
        let mut all = users.iter().flat_map(|m| rounded[*m].iter().copied()).collect::<Rounded>();
        all.sort_unstable();
        // Of one row the last one stays.
        all.into_iter().collect::<BTreeMap<usize, u128>>().into_iter().collect()
    };
    let together: Vec<(Rounded, &[usize])> =
        alike.chunks(TOGETHER).map(|users| (largest(users), users)).collect();
    let mut is_attained = false;
    for n in case.active() {
        let bound = &case.total[n] - Rational::from(margin * &case.g[n]);
        let user = &case.problem.users[n];
        if user.tasks.as_ref().is_some_and(|tasks| *tasks < bound || is_attained && *tasks == bound) {
            continue;
        }
        // No bundle is worth less than nothing.
        ensure(bound >= 0, "a margin is less than what is stated")?;
        // `V`, by class and row.
        let rounded_rate = |(row, d): (usize, Rational)| {
            let most = d * &bound / &user.weight;
            (row, if most.is_zero() { u128::MAX } else { round_up(Rational::from(&top[row] / &most)) })
        };
        let rates = |i| case.uses(n, i).into_iter().map(rounded_rate).collect();
        let rates: Vec<Rounded> = (0..case.problem.classes.len()).map(rates).collect();
        // Whether it is seen at once that a bundle is worth no more than the bound; less, as long as no pair is
        // known to have the margin.
        let is_below = |bundle: &Rounded, is_attained: bool| {
            work::steps(bundle.len() as u64 + 1)?;
            let class = |(row, _): &(usize, u128)| case.rows[*row].class;
            let of_class = |rows: &[(usize, u128)]| {
                let product = |(row, v): &(usize, u128)| at(rows, *row).map_or(0, |b| v.saturating_mul(*b));
                rates[class(&rows[0])].iter().map(product).min().unwrap_or(0)
            };
            let sum =
                bundle.chunk_by(|a, b| class(a) == class(b)).map(of_class).fold(0, u128::saturating_add);
            Ok((is_attained || bound > 0) && sum < (1 << (2 * PLACES)) + u128::from(is_attained))
        };
        for (largest, users) in &together {
            if is_below(largest, is_attained)? {
                continue;
            }
            for &m in users.iter().filter(|m| **m != n) {
                if is_below(&rounded[m], is_attained)? {
                    continue;
                }
                work::spend(4 * rounded[m].len() + 1)?;
                let value = user.at_most_tasks(worth(case, n, m, claim.axiom == "ef1"));
                if value > bound {
                    let (n, m) = (case.user(n), case.user(m));
                    return refuse(format!("user `{n}` has a smaller margin towards `{m}`"));
                }
                is_attained |= value == bound;
            }
        }
    }
    ensure(is_attained, "no pair of users has the margin that is stated")?;
    Ok((Some(margin.clone()), None))
}

/// Times `2^PLACES`, rounded up.
fn round_up(value: Rational) -> u128 {
    (value << PLACES).ceil().numer().to_u128().unwrap_or(u128::MAX)
}
