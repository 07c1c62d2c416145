//! The two integrators of `ode_solvers` under one interface.

use nalgebra::DVector;
use ode_solvers::dop_shared::{IntegrationError, OutputType, SolverResult};
use ode_solvers::{Dop853, Dopri5, System};

use super::RungeKutta;
use super::outcome::TrajectoryStatus;
use crate::settings::TRAJECTORY;

/// The interval of the stiffness test, chosen so that the test never runs.
///
/// The stability limit of these methods is long compared with the scale of the system, so the test
/// would never detect stiffness.
const NO_STIFFNESS_TEST: u32 = u32::MAX;

/// The steps of an integration.
pub(super) struct Steps {
    results: SolverResult<f64, DVector<f64>>,
    /// The reason for the end, if the integration stopped before the criterion was met and before the end of the
    /// interval.
    pub failure: Option<TrajectoryStatus>,
}

impl Steps {
    /// Returns the independent variable and the state, at the start and after every accepted step.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = (f64, &DVector<f64>)> + ExactSizeIterator {
        let (times, states) = self.results.get();
        times.iter().copied().zip(states)
    }
}

/// Integrates over an interval with the given relative tolerance and at most `budget` steps.
pub(super) fn steps<F: System<f64, DVector<f64>>>(
    method: RungeKutta,
    system: F,
    (from, to): (f64, f64),
    state: DVector<f64>,
    tolerance: f64,
    budget: u32,
) -> Steps {
    let (shrink, grow) = TRAJECTORY.step_factors;
    let (h_max, h) = (to - from, TRAJECTORY.first_step.min(to - from));
    let atol = tolerance * TRAJECTORY.negligible;
    let output = OutputType::Sparse;
    macro_rules! integrate {
        ($stepper:ident, $beta:expr) => {{
            let mut stepper = $stepper::from_param(
                system,
                from,
                to,
                0.0,
                state,
                tolerance,
                atol,
                TRAJECTORY.safety,
                $beta,
                shrink,
                grow,
                h_max,
                h,
                budget,
                NO_STIFFNESS_TEST,
                output,
            );
            (stepper.integrate(), stepper.into())
        }};
    }
    let (end, results) = match method {
        RungeKutta::Dopri5 => integrate!(Dopri5, TRAJECTORY.beta_5),
        RungeKutta::Dop853 => integrate!(Dop853, TRAJECTORY.beta_8),
    };
    Steps { results, failure: end.err().as_ref().map(status_of) }
}

/// Returns the number of attempted steps, from the numbers of evaluations and of accepted steps.
pub(super) fn attempts(method: RungeKutta, evaluations: usize, accepted: usize) -> usize {
    let after_first = evaluations.saturating_sub(1);
    match method {
        RungeKutta::Dopri5 => after_first / 6,
        RungeKutta::Dop853 => after_first.saturating_sub(accepted) / 11,
    }
}

fn status_of(error: &IntegrationError) -> TrajectoryStatus {
    match error {
        IntegrationError::MaxNumStepReached { .. } => TrajectoryStatus::MaxSteps,
        IntegrationError::StepSizeUnderflow { .. } => TrajectoryStatus::StepSizeUnderflow,
        IntegrationError::StiffnessDetected { .. } => TrajectoryStatus::Stiff,
    }
}
