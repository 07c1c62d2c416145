//! From doubles to the numbers of an allocation: the decimals that they are written as, rounded
//! towards feasibility.

use evenhand_problem::number::{from_f64, to_f64};
use evenhand_problem::utilisation::of_rows;
use evenhand_problem::{Constraints, Rational};
use rug::Integer;
use rug::ops::Pow;

/// Steps of scaling; one is nearly always enough, and what is left is for `certify` to report.
const STEPS: usize = 4;
/// Relative distance from a fraction at which a double that a method has found may stand for it.
const SAME: (u32, u64) = (1, 10_000_000_000);
/// Largest denominator of such a fraction: one of less than that is as near by chance once in a hundred times.
const LARGEST_DENOMINATOR: u32 = 10_000;
/// Scaling goes this much further than needed, a few units of the last place.
const FURTHER: f64 = 1.0 - 8.0 * f64::EPSILON;

/// Tasks as the decimals that they are written as. Where rounding has overfilled a class or a task
/// limit, its tasks are scaled down by as much, so that the allocation is feasible exactly.
pub fn feasible(
    constraints: &Constraints<'_>,
    mut tasks: Vec<Vec<(usize, f64)>>,
) -> Vec<Vec<(usize, Rational)>> {
    let users = constraints.problem().users();
    let mut written = as_written(&tasks);
    for _ in 0..STEPS {
        let shrink_class: Vec<Option<f64>> =
            overfill(constraints, &written).into_iter().map(|fill| fill.map(shrink)).collect();
        let mut changed = false;
        for (n, list) in tasks.iter_mut().enumerate() {
            let total: Rational = written[n].iter().map(|(_, x)| x).sum();
            let limit = users[n].tasks().filter(|limit| total > **limit);
            let shrink_user = limit.map(|limit| shrink(Rational::from(&total / limit)));
            for (i, x) in list {
                for factor in [shrink_user, shrink_class[*i]].into_iter().flatten() {
                    *x *= factor;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
        written = as_written(&tasks);
    }
    written
}

/// The decimal of ten digits nearest to `value`, for numbers that will be corrected anyway: exact
/// answers stay short.
pub fn short(value: f64) -> Rational {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    from_f64(rounded).unwrap_or_default()
}

/// The fraction of a small denominator that `value` stands for, if there is one, else [`short`].
pub fn simple(value: f64) -> Rational {
    let found = Rational::from_f64(value)
        .and_then(|exact| fraction(&exact, &Rational::from(SAME), |_, below| *below <= LARGEST_DENOMINATOR));
    found.unwrap_or_else(|| short(value))
}

/// The first convergent of the continued fraction of `value` within a part of it; `None` where numerator and denominator
/// are not short, so that it may stand there by chance.
pub fn fraction(
    value: &Rational,
    part: &Rational,
    is_short: impl Fn(&Integer, &Integer) -> bool,
) -> Option<Rational> {
    let near = Rational::from(value.abs_ref()) * part;
    let (mut before, mut last) = ((Integer::new(), Integer::from(1)), (Integer::from(1), Integer::new()));
    let mut rest = value.clone();
    loop {
        let whole = Rational::from(rest.floor_ref()).into_numer_denom().0;
        let next = (Integer::from(&whole * &last.0) + before.0, Integer::from(&whole * &last.1) + before.1);
        if !is_short(&next.0, &next.1) {
            return None;
        }
        let convergent = Rational::from((next.0.clone(), next.1.clone()));
        if Rational::from(&convergent - value).abs() <= near {
            return Some(convergent);
        }
        (before, last) = (last, next);
        rest -= whole;
        if rest.is_zero() {
            return None;
        }
        rest.recip_mut();
    }
}

/// A number of so many bits near `value`, for steps of a method that corrects itself.
pub fn cut(value: &Rational, bits: u32) -> Rational {
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    let shift = i32::try_from(i64::from(bits) - size).unwrap_or(0);
    Rational::from(value << shift).round() >> shift
}

/// The largest decimal of so many significant digits, or one more, that is not above `value`, for
/// `value > 0`.
pub fn digits_below(value: &Rational, digits: u32) -> Rational {
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    // One digit is a little more than 3.3 bits.
    let before = size * 301 / 1000 - 1;
    let shift = i64::from(digits) - before;
    let power = Integer::from(10).pow(u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX));
    let scale = if shift >= 0 { Rational::from(power) } else { Rational::from((1, power)) };
    Rational::from(value * &scale).floor() / scale
}

fn shrink(fill: Rational) -> f64 {
    to_f64(&fill.recip()) * FURTHER
}

fn as_written(tasks: &[Vec<(usize, f64)>]) -> Vec<Vec<(usize, Rational)>> {
    let exact = |&(i, x): &(usize, f64)| (i, from_f64(x).unwrap_or_default());
    tasks.iter().map(|list| list.iter().map(exact).collect()).collect()
}

/// By class: how much of its fullest row is used, where that is more than there is.
fn overfill(constraints: &Constraints<'_>, tasks: &[Vec<(usize, Rational)>]) -> Vec<Option<Rational>> {
    let used = of_rows(constraints, tasks);
    let fill = |row: usize| {
        let capacity = &constraints.rows()[row].capacity;
        (used[row] > *capacity && !capacity.is_zero()).then(|| Rational::from(&used[row] / capacity))
    };
    let n_classes = constraints.problem().n_servers();
    (0..n_classes).map(|i| constraints.class_rows(i).filter_map(fill).max()).collect()
}
