//! Conversion from doubles to the exact numbers of an allocation: these numbers are the decimals that are written,
//! rounded towards feasibility.

use evenhand_problem::number::{from_f64, to_f64};
use evenhand_problem::utilisation::of_rows;
use evenhand_problem::{Constraints, Rational};
use rug::Integer;
use rug::ops::Pow;

/// The maximum number of scaling steps. One step is nearly always enough. `certify` reports any violation
/// that remains.
const STEPS: usize = 4;
/// The largest relative distance from a fraction at which a computed double is taken for that fraction.
const SAME: (u32, u64) = (1, 10_000_000_000);
/// The largest denominator of a fraction that replaces a double. About one random number in a hundred is
/// within [`SAME`] of a fraction with a smaller denominator.
const LARGEST_DENOMINATOR: u32 = 10_000;
/// The additional factor of scaling. It scales down by a few units in the last place more than needed.
const FURTHER: f64 = 1.0 - 8.0 * f64::EPSILON;

/// Returns the tasks as the decimals that are written, scaled so that the allocation is exactly feasible. If rounding
/// has overfilled a class, a task limit or a limit `at_most`, the tasks concerned are scaled down in proportion.
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
            let time: Rational =
                written[n].iter().filter_map(|(i, x)| Some(users[n].time_on(*i)? * x.clone())).sum();
            let at_most = users[n].at_most().filter(|most| time > **most);
            let shrink_time = at_most.map(|most| shrink(Rational::from(&time / most)));
            for (i, x) in list {
                for factor in [shrink_user, shrink_time, shrink_class[*i]].into_iter().flatten() {
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

/// Returns the decimal with ten digits that is nearest to `value`. It is used for numbers that are corrected
/// later, so that exact answers stay short.
pub fn short(value: f64) -> Rational {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    from_f64(rounded).unwrap_or_default()
}

/// Returns the fraction with a small denominator that is nearly equal to `value`, or [`short`] of `value` if
/// there is no such fraction.
pub fn simple(value: f64) -> Rational {
    let found = Rational::from_f64(value)
        .and_then(|exact| fraction(&exact, &Rational::from(SAME), |_, below| *below <= LARGEST_DENOMINATOR));
    found.unwrap_or_else(|| short(value))
}

/// Returns the first convergent of the continued fraction of `value` whose relative distance from it is at most
/// `part`. Returns `None` if its numerator and denominator are not short, since such a fraction may be this close by
/// chance.
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

/// Returns a number near `value` with `bits` significant bits, for iterations that correct themselves.
pub fn cut(value: &Rational, bits: u32) -> Rational {
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    let shift = i32::try_from(i64::from(bits) - size).unwrap_or(0);
    Rational::from(value << shift).round() >> shift
}

/// Returns a decimal that is at most `value`, for `value > 0`. It is the largest such decimal with `digits`
/// significant digits, or with one digit more.
pub fn digits_below(value: &Rational, digits: u32) -> Rational {
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    // One decimal digit is slightly more than 3.3 bits.
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

/// Returns the used fraction of the fullest row of each class, if it is larger than 1.
fn overfill(constraints: &Constraints<'_>, tasks: &[Vec<(usize, Rational)>]) -> Vec<Option<Rational>> {
    let used = of_rows(constraints, tasks);
    let fill = |row: usize| {
        let capacity = &constraints.rows()[row].capacity;
        (used[row] > *capacity && !capacity.is_zero()).then(|| Rational::from(&used[row] / capacity))
    };
    let n_classes = constraints.problem().n_servers();
    (0..n_classes).map(|i| constraints.class_rows(i).filter_map(fill).max()).collect()
}
