//! Random fillings. This file computes the exact distribution of their results. It also runs batches with the
//! paper's number of trials, which show the values that such a batch prints and how much they scatter.

use crate::error::PaperError;
use evenhand_mechanisms::filling::{Rule, Statistic, law, sample};
use evenhand_problem::{Problem, Rational};

/// The number of trials in the paper.
pub const TRIALS: u64 = 200;
/// The number of trials of all batches together.
pub const ALL_TRIALS: u64 = 100_000;
/// The fraction of the batches at each end of their range that [`Quantity::is_usual`] does not count as
/// usual.
const TAIL: f64 = 0.005;

/// Four results of one trial, such as the tasks of two users on two servers.
pub type Four = [f64; 4];

/// A result of a trial: its exact mean and deviation, its statistics in the first batch and over all trials,
/// and its statistics in every batch.
pub struct Quantity {
    /// The mean of the exact distribution, rounded once.
    pub mean: f64,
    /// The standard deviation of the exact distribution, rounded.
    pub deviation: f64,
    /// The statistics of the first [`TRIALS`] trials.
    pub first: Statistic,
    /// The statistics of [`ALL_TRIALS`] trials.
    pub all: Statistic,
    /// The means of the batches in ascending order.
    means: Vec<f64>,
    /// The standard deviations of the batches in ascending order.
    deviations: Vec<f64>,
}

/// The statistic of a batch that the paper prints: the mean or the deviation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    Mean,
    Deviation,
}

impl Quantity {
    fn of(law: &[(Rational, f64)], values: &[f64]) -> Self {
        let exact = |value: f64| Rational::from_f64(value).unwrap_or_default();
        let mean: Rational = law.iter().map(|(p, value)| p * exact(*value)).sum();
        let square = |value: f64| (exact(value) - &mean).square();
        let variance: Rational = law.iter().map(|(p, value)| p * square(*value)).sum();
        let over = |values: &[f64]| {
            let mut statistic = Statistic::default();
            values.iter().for_each(|value| statistic.add(*value));
            statistic
        };
        let batches: Vec<Statistic> = values.chunks(TRIALS as usize).map(over).collect();
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        Self {
            mean: mean.to_f64(),
            deviation: variance.to_f64().sqrt(),
            first: batches.first().copied().unwrap_or_default(),
            all: over(values),
            means: sorted(batches.iter().map(|batch| batch.mean).collect()),
            deviations: sorted(batches.iter().map(Statistic::deviation).collect()),
        }
    }

    /// Returns `true` if the printed value lies in the range of the middle 99 % of the batches. `unit` is the
    /// unit to which the paper rounds.
    pub fn is_usual(&self, printed: Printed, value: f64, unit: f64) -> bool {
        let of_batches = match printed {
            Printed::Mean => &self.means,
            Printed::Deviation => &self.deviations,
        };
        let outside = (of_batches.len() as f64 * TAIL) as usize;
        let (Some(low), Some(high)) = (of_batches.get(outside), of_batches.iter().nth_back(outside)) else {
            return false;
        };
        (low - unit / 2.0..=high + unit / 2.0).contains(&value)
    }
}

/// The results of one rule over all trials.
pub struct Batches {
    /// The tasks `x_11, x_12, x_21, x_22`.
    pub tasks: Vec<Quantity>,
    /// The tasks of both users.
    pub total: Quantity,
    /// The unused amounts of `c_11, c_12, c_21, c_22`, by server and resource.
    pub unused: Vec<Quantity>,
}

/// Runs all trials of a rule on a problem with two users, two servers and two resources.
pub fn run(problem: &Problem, rule: Rule, seed: u64) -> Result<Batches, PaperError> {
    let number = |value: &Rational| value.to_f64();
    let demand = |n: usize, r: usize| number(&problem.demand(n, 0)[r]);
    let capacity = |i: usize, r: usize| number(&problem.servers()[i].capacity()[r]);
    let one = Rational::from(1);
    let four = |x: &[Vec<u64>]| [x[0][0] as f64, x[0][1] as f64, x[1][0] as f64, x[1][1] as f64];
    let mut trials: Vec<Four> = Vec::new();
    sample(problem, rule, &one, seed, ALL_TRIALS, |x| trials.push(four(x)))?;
    let outcomes = law(problem, rule, &one)?;
    let quantity = |value: &dyn Fn(&Four) -> f64| {
        let law: Vec<(Rational, f64)> = outcomes
            .iter()
            .map(|outcome| (outcome.probability.clone(), value(&four(&outcome.steps))))
            .collect();
        Quantity::of(&law, &trials.iter().map(value).collect::<Vec<_>>())
    };
    let left = |x: &Four, i: usize, r: usize| capacity(i, r) - x[i] * demand(0, r) - x[2 + i] * demand(1, r);
    Ok(Batches {
        tasks: (0..4).map(|k| quantity(&|x| x[k])).collect(),
        total: quantity(&|x| x.iter().sum()),
        unused: (0..4).map(|k| quantity(&|x| left(x, k / 2, k % 2))).collect(),
    })
}
