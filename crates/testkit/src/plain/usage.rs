//! Decayed usage of a queue in fractions, step by step as the schedulers compute it. It shares no code with
//! the crate of the laws: powers of 1/2 are integer roots, ln 2 has another series, and ticks and samples are
//! loops.

use evenhand_problem::Rational;
use rug::Integer;
use rug::ops::Pow;

/// The number of bits of roots.
const BITS: u32 = 160;

/// A row of a history: its beginning and end in seconds, and the amount.
#[derive(Debug, Clone)]
pub struct UsageRow {
    pub from: i64,
    pub to: i64,
    pub amount: Rational,
}

/// Lower and upper bounds.
pub type Bounds = (Rational, Rational);

fn ratio(value: &Integer) -> Rational {
    Rational::from(value) >> BITS
}

/// Returns bounds of 2^-(age / half-life): an integer root of a power of two.
pub fn half_power(age: i64, half_life: i64) -> Bounds {
    let exponent = Rational::from((age, half_life));
    let root = exponent.denom().to_u32().expect("a small denominator");
    let halvings = exponent.numer().to_u32().expect("a small numerator");
    if halvings >= BITS * root {
        return (Rational::new(), Rational::from(1) >> BITS);
    }
    let power = Integer::from(1) << (BITS * root - halvings);
    let low = Integer::from(power.root_ref(root));
    let is_exact = Integer::from((&low).pow(root)) == power;
    let high = Integer::from(&low + u32::from(!is_exact));
    (ratio(&low), ratio(&high))
}

/// Returns bounds of ln 2 = 2 (1/3 + 1/(3 3^3) + 1/(5 3^5) + ...).
fn ln_2() -> Bounds {
    let mut sum = Rational::new();
    let terms = 60_u32;
    for n in 0..terms {
        let odd = 2 * n + 1;
        sum += Rational::from((2, odd)) / Rational::from(Integer::from(3).pow(odd));
    }
    // The rest of the series is less than twice its first term.
    let rest = Rational::from((4, 2 * terms + 1)) / Rational::from(Integer::from(3).pow(2 * terms + 1));
    let high = &sum + rest;
    (sum, high)
}

fn add(sum: &mut Bounds, amount: &Rational, (low, high): &Bounds) {
    sum.0 += Rational::from(amount * low);
    sum.1 += Rational::from(amount * high);
}

/// Returns bounds of the decayed usage by Slurm's documented law. The half-life and `at` are in seconds.
pub fn ideal(rows: &[UsageRow], half_life: i64, at: i64) -> Bounds {
    let (least, most) = ln_2();
    let mut sum = Bounds::default();
    for row in rows.iter().filter(|row| row.from <= at) {
        let beginning = half_power(at - row.from, half_life);
        if row.from == row.to {
            add(&mut sum, &row.amount, &beginning);
            continue;
        }
        let end = half_power(at - row.to.min(at), half_life);
        let low = Rational::from(&end.0 - &beginning.1).max(Rational::new()) * half_life / &most;
        let high = Rational::from(&end.1 - &beginning.0) * half_life / &least;
        add(&mut sum, &row.amount, &(low, high));
    }
    sum
}

/// Returns the decayed usage as Slurm's source computes it: tick by tick, with the ends of jobs between
/// ticks, exactly.
pub fn ticks(rows: &[UsageRow], half_life: i64, every: i64, at: i64) -> Rational {
    let factor = Rational::from(1) - Rational::from((693, 1000 * half_life));
    let power = |seconds: i64| (0..seconds).fold(Rational::from(1), |power, _| power * &factor);
    let first = rows.iter().map(|row| row.from).min().unwrap_or(at);
    let mut tick = at;
    while tick > first {
        tick -= every;
    }
    let mut usage = Rational::new();
    while tick < at {
        let next = tick + every;
        // Jobs that end before the next tick add their last seconds at their end. Lumps are added at their
        // time.
        for row in rows {
            let begins = row.from.max(tick);
            if row.from == row.to {
                if tick <= row.from && row.from < next {
                    usage += &row.amount;
                }
            } else if tick < row.to && row.to < next && begins < row.to {
                usage += Rational::from(&row.amount * (row.to - begins)) * power(row.to - begins);
            }
        }
        usage *= power(every);
        for row in rows {
            let begins = row.from.max(tick);
            if row.from < row.to && row.to >= next && begins < next {
                usage += Rational::from(&row.amount * (next - begins)) * power(next - begins);
            }
        }
        tick = next;
    }
    for row in rows.iter().filter(|row| row.from == row.to && row.from == at) {
        usage += &row.amount;
    }
    usage
}

/// Returns the moments of samples up to `at`, the earliest moment first.
fn samples(rows: &[UsageRow], every: i64, at: i64) -> Vec<i64> {
    let first = rows.iter().map(|row| row.from).min().unwrap_or(at);
    let mut moments: Vec<i64> = std::iter::successors(Some(at), |moment| Some(moment - every))
        .take_while(|moment| *moment >= first)
        .collect();
    moments.reverse();
    moments
}

fn held(rows: &[UsageRow], moment: i64) -> Rational {
    rows.iter().filter(|row| row.from <= moment && moment < row.to).map(|row| &row.amount).sum()
}

/// Returns bounds of Kueue's moving average, computed sample by sample.
pub fn moving_average(rows: &[UsageRow], half_life: i64, every: i64, at: i64) -> Bounds {
    let kept = half_power(every, half_life);
    let alpha = (Rational::from(1 - &kept.1), Rational::from(1 - &kept.0));
    let mut consumed = Bounds::default();
    for moment in samples(rows, every, at) {
        let amount = held(rows, moment);
        consumed.0 = consumed.0 * &kept.0 + Rational::from(&alpha.0 * &amount);
        consumed.1 = consumed.1 * &kept.1 + Rational::from(&alpha.1 * &amount);
    }
    consumed
}

/// Returns bounds of Volcano's resource-seconds, computed cycle by cycle.
pub fn resource_seconds(rows: &[UsageRow], half_life: i64, every: i64, at: i64) -> Bounds {
    let kept = half_power(every, half_life);
    let mut usage = Bounds::default();
    for moment in samples(rows, every, at) {
        let added = held(rows, moment) * every;
        usage.0 = usage.0 * &kept.0 + &added;
        usage.1 = usage.1 * &kept.1 + added;
    }
    usage
}

/// Returns KAI's usage as a fraction of the capacity, from sums over the samples of a sliding window.
pub fn of_capacity(
    rows: &[UsageRow],
    half_life: Option<i64>,
    every: i64,
    window: i64,
    capacity: &Rational,
    at: i64,
) -> Bounds {
    let (mut used, mut offered) = (Bounds::default(), Bounds::default());
    let mut age = 0;
    while age < window {
        let weight = half_life
            .map_or_else(|| (Rational::from(1), Rational::from(1)), |half_life| half_power(age, half_life));
        add(&mut used, &held(rows, at - age), &weight);
        add(&mut offered, capacity, &weight);
        age += every;
    }
    (used.0 / offered.1, used.1 / offered.0)
}
