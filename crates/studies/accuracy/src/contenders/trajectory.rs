//! The trajectory of No Justified Complaints, integrated by explicit Runge-Kutta methods up to a large value of its
//! parameter `c`. The answer is the limit of the trajectory. The distance to the limit falls as `1 / c`.

use std::time::Duration;

use evenhand_ode::trajectory::{self, RungeKutta, TrajectorySettings, TrajectoryStatus};

use super::path_follower::{OnePool, is_one_pool};
use super::{Answer, Contender, NoAnswer, named};
use crate::case::{Case, Kind};

/// The value of `c` at which the integration ends by default.
const END: f64 = 1e12;
/// Smaller values of `c` at which the integration ends. They show how the trajectory approaches its limit.
const EARLIER: [f64; 2] = [1e4, 1e8];
/// The largest error of a step.
const TOLERANCE: f64 = 1e-8;
/// The largest number of steps of an integration.
const MOST_STEPS: u32 = 200_000;
/// A tolerance that is so small that an integration never stops before its end.
const NEVER: f64 = 1e-300;

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    for (method, name) in [(RungeKutta::Dopri5, "dopri5"), (RungeKutta::Dop853, "dop853")] {
        for end in EARLIER.map(Some).into_iter().chain([None]) {
            all.push(Box::new(Trajectory { method, name, end }));
        }
    }
    all
}

#[derive(Debug, Clone, Copy)]
struct Trajectory {
    method: RungeKutta,
    name: &'static str,
    /// The value of `c` at which the integration ends. `None` stands for the default.
    end: Option<f64>,
}

impl Contender for Trajectory {
    fn name(&self) -> String {
        named(self.name, self.end)
    }

    fn method(&self) -> String {
        self.name.to_owned()
    }

    fn about(&self) -> String {
        let end = self.end.unwrap_or(END);
        format!("the trajectory of NJC by {}, error {TOLERANCE:e} in a step, up to c = {end:e}", self.name)
    }

    fn takes(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Pool | Kind::Njc)
    }

    fn applies(&self, case: &Case) -> bool {
        self.takes(case.kind) && is_one_pool(case)
    }

    fn solve(&self, case: &Case, _time: Duration) -> Result<Answer, NoAnswer> {
        let one = OnePool::new(case.problem().ok_or(NoAnswer::Kind)?)?;
        let settings = TrajectorySettings {
            method: self.method,
            relative_tolerance: TOLERANCE,
            stop_tolerance: NEVER,
            c_max: self.end.unwrap_or(END),
            max_steps: MOST_STEPS,
            record: false,
        };
        let end = trajectory::integrate(&one.pool, &settings);
        let status = match end.status {
            TrajectoryStatus::Converged => "solved",
            TrajectoryStatus::ReachedC => "reached c",
            TrajectoryStatus::LeftDomain => "left the domain",
            TrajectoryStatus::MaxSteps => "limit",
            TrajectoryStatus::StepSizeUnderflow => "step size underflow",
            TrajectoryStatus::Stiff => "stiff",
            _ => "unknown",
        };
        let steps = u64::try_from(end.steps + end.rejected_steps).ok();
        let gap = end.error.is_finite().then_some(end.error);
        Ok(Answer { steps, gap, ..one.answer(&end.x, status) })
    }
}
