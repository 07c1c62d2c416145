//! Random fillings: their exact law, and batches of as many trials as the paper ran, which show what
//! such a batch prints and how much that scatters from batch to batch.

use crate::error::PaperError;
use evenhand_mechanisms::filling::{Rule, Statistic, law, sample};
use evenhand_problem::{Problem, Rational};

/// Trials of the paper.
pub const TRIALS: u64 = 200;
/// Trials of all batches together.
pub const ALL_TRIALS: u64 = 100_000;
/// Of all batches, this part lies outside the range of [`Quantity::is_usual`], at each end.
const TAIL: f64 = 0.005;

/// Four numbers of a trial.
pub type Four = [f64; 4];

/// One number: its exact law, over the first batch, over all trials and from batch to batch.
pub struct Quantity {
    /// Mean of the exact law, rounded once.
    pub mean: f64,
    /// Deviation of the exact law, rounded.
    pub deviation: f64,
    /// Of the first [`TRIALS`] trials.
    pub first: Statistic,
    /// Of [`ALL_TRIALS`] trials.
    pub all: Statistic,
    /// Mean of every batch, ascending.
    means: Vec<f64>,
    /// Deviation of every batch, ascending.
    deviations: Vec<f64>,
}

/// What is printed of a batch.
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

    /// Whether 99 % of the batches reach as low and as high as the printed value, which is rounded to
    /// `unit`.
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

/// What a rule gives over all trials.
pub struct Batches {
    /// `x_11, x_12, x_21, x_22`
    pub tasks: Vec<Quantity>,
    /// Tasks of both users.
    pub total: Quantity,
    /// What is left of `c_11, c_12, c_21, c_22`, server by resource.
    pub unused: Vec<Quantity>,
}

/// Runs all trials of a rule on a problem of two users, two servers and two resources.
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
