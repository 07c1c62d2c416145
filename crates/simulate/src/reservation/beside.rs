//! What greedy packing and the best packing would earn along a run, were nobody rejected (Reservation, section 7.2).

use std::time::Instant;

use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::{Integer, Rational, Reservation};

use super::{Admission, AdmissionError};
use crate::cost::is_over;

/// Points at which a run is compared, about: each is a linear programme.
const POINTS: usize = 50;

/// What there would be at one time with all jobs that came and would not be done yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Time.
    pub time: f64,
    /// Reward of the greedy placement per server.
    pub greedy: f64,
    /// Optimum of the configuration programme per server: no policy earns more at this time.
    pub bound: f64,
}

/// Along a run, at about 50 points of its series, as far as there is time; and whether that was up before.
pub(super) fn beside(
    problem: &Reservation,
    servers: usize,
    run: &Admission,
    until: Option<Instant>,
) -> Result<(Vec<Beside>, bool), AdmissionError> {
    let mut best = MaxReward::new(problem);
    let step = run.series.len().div_ceil(POINTS).max(1);
    let mut all = Vec::new();
    for ((time, _), jobs) in run.series.iter().zip(&run.all).step_by(step) {
        if is_over(until) {
            return Ok((all, true));
        }
        let (mut greedy, mut bound) = (0.0, 0.0);
        if jobs.iter().any(|jobs| *jobs > 0) {
            let whole: Vec<Integer> = jobs.iter().map(|jobs| Integer::from(*jobs)).collect();
            let placed = greedy::whole(&mut best, &whole, &[Integer::from(servers)])?;
            greedy = placed.reward.to_f64() / servers as f64;
            let loads: Vec<Rational> = whole.into_iter().map(Rational::from).collect();
            let optimum = configuration_lp::solve(&best, &loads, &[Rational::from(servers)])?;
            bound = optimum.value.to_f64() / servers as f64;
        }
        all.push(Beside { time: *time, greedy, bound });
    }
    Ok((all, false))
}
