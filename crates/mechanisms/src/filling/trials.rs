//! Many fillings of one problem: how the tasks scatter where a rule is random.

use evenhand_problem::{Problem, Rational};

use super::digits::{Digits, Narrow, Wide};
use super::draw::Draw;
use super::model::{Model, State, TooMany};
use super::prepared::Prepared;
use super::rule::Rule;
use super::run::{prepare, run, too_many};
use crate::mechanism::MechanismError;

/// Mean and scatter over independent trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistic {
    trials: f64,
    /// The sample mean.
    pub mean: f64,
    /// Sum of the squared differences from the mean.
    squares: f64,
}

impl Statistic {
    /// Takes one more value in (Welford's method).
    pub fn add(&mut self, value: f64) {
        self.trials += 1.0;
        let difference = value - self.mean;
        self.mean += difference / self.trials;
        self.squares += difference * (value - self.mean);
    }

    /// Standard deviation of a trial, estimated without bias of the variance; 0 for a single trial.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if self.trials > 1.0 { (self.squares / (self.trials - 1.0)).sqrt() } else { 0.0 }
    }

    /// Half the width of the normal 95 % confidence interval of the mean.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        /// 97.5 % quantile of the normal distribution.
        const QUANTILE: f64 = 1.959_963_984_540_054;
        QUANTILE * self.deviation() / self.trials.max(1.0).sqrt()
    }
}

/// What many trials of one rule gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// By user, by class: tasks.
    pub tasks: Vec<Vec<Statistic>>,
    /// Tasks of all users.
    pub total: Statistic,
    /// By class, by resource: what is left unused, in the units of the problem; of a class that is
    /// shared by time its resources count as untouched.
    pub unused: Vec<Vec<Statistic>>,
}

/// Fills `runs` times with streams of their own and tells `each` the steps of every trial, by user and
/// class. The first trial is what [`fill`](super::fill()) gives for the same seed.
///
/// # Errors
/// As [`fill`](super::fill()).
pub fn sample(
    problem: &Problem,
    rule: Rule,
    step: &Rational,
    seed: u64,
    runs: u64,
    mut each: impl FnMut(&[Vec<u64>]),
) -> Result<(), MechanismError> {
    let prepared = prepare(problem, rule, step)?;
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
        for (j, placed) in state.placed.iter().enumerate() {
            for &(n, count) in placed {
                steps[model.users[n as usize].index][model.class[j] as usize] += count;
            }
        }
        each(&steps);
    }
    Ok(())
}

/// Statistics of `runs` trials.
///
/// # Errors
/// As [`fill`](super::fill()).
///
/// # Examples
/// Kesidis, Tables II and III: PS-DSF on servers drawn at random (exact mean 19.447, deviation .553).
/// ```
/// use evenhand_mechanisms::filling::{Rule, Score, ServerRule, trials};
/// use evenhand_problem::{Rational, format::Source};
///
/// let problem = Source { name: "kesidis", text: r#"{"kind": "allocation-problem",
///     "resources": ["a", "b"],
///     "servers": [{"name": "1", "capacity": {"a": 100, "b": 30}},
///                 {"name": "2", "capacity": {"a": 30, "b": 100}}],
///     "users": [{"name": "1", "demand": {"a": 5, "b": 1}}, {"name": "2", "demand": {"a": 1, "b": 5}}]}"# }
///     .problem()?;
/// let rule = Rule { score: Score::PsDsf, server: ServerRule::Iid, ..Rule::default() };
/// let found = trials(&problem, rule, &Rational::from(1), 1, 10_000)?;
/// assert!((found.tasks[0][0].mean - 19.447).abs() < 3.0 * found.tasks[0][0].half_width());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trials(
    problem: &Problem,
    rule: Rule,
    step: &Rational,
    seed: u64,
    runs: u64,
) -> Result<Trials, MechanismError> {
    let (n_users, n_classes) = (problem.n_users(), problem.n_servers());
    let demand =
        |n: usize, i: usize| problem.demand(n, i).iter().map(|d| Rational::from(d * step).to_f64()).collect();
    let demands: Vec<Vec<Vec<f64>>> =
        (0..n_users).map(|n| (0..n_classes).map(|i| demand(n, i)).collect()).collect();
    let capacity = problem
        .servers()
        .iter()
        .map(|class| class.capacity().iter().map(|c| Rational::from(c * class.count()).to_f64()).collect());
    let capacity: Vec<Vec<f64>> = capacity.collect();
    let step_size = step.to_f64();
    let mut found = Trials {
        tasks: vec![vec![Statistic::default(); n_classes]; n_users],
        total: Statistic::default(),
        unused: vec![vec![Statistic::default(); problem.n_resources()]; n_classes],
    };
    sample(problem, rule, step, seed, runs, |steps| {
        let mut total = 0;
        for (row, steps) in found.tasks.iter_mut().zip(steps) {
            for (statistic, &steps) in row.iter_mut().zip(steps) {
                statistic.add(steps as f64 * step_size);
                total += steps;
            }
        }
        found.total.add(total as f64 * step_size);
        for (i, row) in found.unused.iter_mut().enumerate() {
            let is_divided = !problem.servers()[i].is_time_shared();
            for (r, statistic) in row.iter_mut().enumerate() {
                let used = (0..n_users).filter(|_| is_divided).map(|n| steps[n][i] as f64 * demands[n][i][r]);
                statistic.add(capacity[i][r] - used.sum::<f64>());
            }
        }
    })?;
    Ok(found)
}
