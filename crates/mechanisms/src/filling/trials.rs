//! Many fillings of one problem: the distribution of tasks if a rule is random.

use evenhand_problem::{Problem, Rational};

use super::digits::{Digits, Narrow, Wide};
use super::draw::Draw;
use super::model::{Model, State, TooMany};
use super::prepared::Prepared;
use super::rule::Rule;
use super::run::{prepare, run, too_many};
use crate::error::MechanismError;

/// The mean and the deviation over independent trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistic {
    trials: f64,
    /// The mean of the values.
    pub mean: f64,
    /// The sum of the squared differences from the mean.
    squares: f64,
}

impl Statistic {
    /// Adds a value (Welford's method).
    pub fn add(&mut self, value: f64) {
        self.trials += 1.0;
        let difference = value - self.mean;
        self.mean += difference / self.trials;
        self.squares += difference * (value - self.mean);
    }

    /// Returns the standard deviation of a trial, from the unbiased estimate of the variance. It is 0 for a
    /// single trial.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.trials > 1.0 { (self.squares / (self.trials - 1.0)).sqrt() } else { 0.0 }
    }

    /// Returns half the width of the normal 95 % confidence interval of the mean.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        /// The 97.5 % quantile of the normal distribution.
        const QUANTILE: f64 = 1.959_963_984_540_054;
        QUANTILE * self.deviation() / self.trials.max(1.0).sqrt()
    }
}

/// Fills `runs` times with separate random streams, and calls `each` with the number of steps of each user on
/// each class in every trial. The first trial is the result of [`fill`](super::fill()) for the same seed.
///
/// # Errors
/// Returns an error in the same cases as [`fill`](super::fill()).
pub fn sample(
    problem: &Problem,
    rule: Rule,
    step: &Rational,
    seed: u64,
    runs: u64,
    mut each: impl FnMut(&[Vec<u64>]),
) -> Result<(), MechanismError> {
    let prepared = prepare(problem, problem, rule, step)?;
    let sampled = match prepared.widths.are_narrow() {
        true => sampled::<Narrow>(problem, &prepared, rule, seed, runs, &mut each),
        false => sampled::<Wide>(problem, &prepared, rule, seed, runs, &mut each),
    };
    sampled.map_err(too_many)
}

fn sampled<D: Digits>(
    problem: &Problem,
    prepared: &Prepared,
    rule: Rule,
    seed: u64,
    runs: u64,
    each: &mut impl FnMut(&[Vec<u64>]),
) -> Result<(), TooMany> {
    let model = Model::<D>::new(prepared, rule);
    let mut steps = vec![vec![0_u64; problem.n_servers()]; problem.n_users()];
    for stream in 0..runs {
        let mut state = State::new(&model);
        run(&mut state, &mut Draw::new(seed, stream))?;
        steps.iter_mut().for_each(|row| row.fill(0));
        for (j, placed) in state.placed().iter().enumerate() {
            for &(n, count) in placed {
                steps[model.users[n as usize].index][model.class[j] as usize] += count;
            }
        }
        each(&steps);
    }
    Ok(())
}
