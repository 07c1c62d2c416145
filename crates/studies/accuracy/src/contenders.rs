//! The solvers that are measured, each with the settings that trade time for accuracy.

use evenhand_ode::cluster::{self, ClassUse, Cluster, UserModel};
use evenhand_ode::path::{self, PathSettings, PathStatus};
use evenhand_ode::pool::Pool;
pub use evenhand_ode::trajectory::RungeKutta;
use evenhand_ode::trajectory::{self, TrajectorySettings, TrajectoryStatus};

use super::{columns, conic};

/// A method and its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contender {
    /// The trajectory of the paper, integrated up to `c_max`.
    Trajectory {
        /// The Runge-Kutta method.
        method: RungeKutta,
        /// Error allowed in a step.
        tolerance: f64,
        /// Where the integration stops.
        c_max: f64,
    },
    /// The central path followed in the space of prices.
    Path {
        /// Residual at which it is solved.
        tolerance: f64,
        /// Steps at most.
        iterations: usize,
    },
    /// The interior point method for clusters, on a cluster of one server.
    Interior {
        /// Residual at which it is solved.
        tolerance: f64,
        /// Steps at most.
        iterations: usize,
    },
    /// Clarabel on exponential cones.
    Clarabel {
        /// Its tolerances of gap and feasibility.
        tolerance: f64,
    },
    /// Linear programmes on HiGHS, over points at which the logarithm is known; one more point for
    /// every user in each round.
    Highs {
        /// Linear programmes.
        rounds: usize,
    },
}

/// What a contender returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Fraction of its request that each user gets.
    pub x: Vec<f64>,
    /// By resource and by user, in units of entitlement; `None` where the method has none.
    pub prices: Option<(Vec<f64>, Vec<f64>)>,
    /// How the method says that it ended.
    pub status: String,
    /// Its steps: of the integrator with the rejected ones, of Newton's method, linear programmes.
    pub steps: usize,
    /// Of a trajectory: how far the end is off it, as
    /// [`TrajectoryResult::error`](evenhand_ode::trajectory::TrajectoryResult::error).
    pub drift: Option<f64>,
}

/// Tolerances of the trajectory that are measured.
pub const TRAJECTORY_TOLERANCES: [f64; 3] = [1e-4, 1e-8, 1e-12];
/// Ends of the trajectory that are measured.
pub const TRAJECTORY_ENDS: [f64; 6] = [1e2, 1e4, 1e6, 1e8, 1e10, 1e12];
/// Steps of an integration at most.
const MOST_STEPS: u32 = 200_000;
/// So small that an integration only stops at its `c_max`.
const NEVER: f64 = 1e-300;

/// Every contender with every setting.
#[must_use]
pub fn all() -> Vec<Contender> {
    let mut all = Vec::new();
    let iterations = PathSettings::default().max_iterations;
    all.extend([2, 4, 8].map(|iterations| Contender::Path { tolerance: 1e-14, iterations }));
    all.extend([1e-4, 1e-8, 1e-14].map(|tolerance| Contender::Path { tolerance, iterations }));
    let iterations = cluster::Settings::default().max_iterations;
    all.extend([4, 8, 12].map(|iterations| Contender::Interior { tolerance: 1e-9, iterations }));
    all.extend([1e-6, 1e-9, 1e-12].map(|tolerance| Contender::Interior { tolerance, iterations }));
    all.extend([1e-4, 1e-6, 1e-8, 1e-10, 1e-12].map(|tolerance| Contender::Clarabel { tolerance }));
    all.extend([1, 2, 4, 8, 16, 32].map(|rounds| Contender::Highs { rounds }));
    for method in [RungeKutta::Dopri5, RungeKutta::Dop853] {
        for tolerance in TRAJECTORY_TOLERANCES {
            all.extend(TRAJECTORY_ENDS.map(|c_max| Contender::Trajectory { method, tolerance, c_max }));
        }
    }
    all
}

impl Contender {
    /// The method with the settings that do not vary along a line of a plot.
    #[must_use]
    pub fn series(&self) -> String {
        match self {
            Self::Trajectory { method, tolerance, .. } => {
                format!("{}, tolerance {tolerance:e}", method_name(*method))
            }
            _ => self.method().to_owned(),
        }
    }

    /// The method alone.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Trajectory { method, .. } => method_name(*method),
            Self::Path { .. } => "path follower",
            Self::Interior { .. } => "interior point",
            Self::Clarabel { .. } => "clarabel",
            Self::Highs { .. } => "highs",
        }
    }

    /// The settings, by name.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, f64)> {
        match *self {
            Self::Trajectory { tolerance, c_max, .. } => vec![("tolerance", tolerance), ("c_max", c_max)],
            Self::Path { tolerance, iterations } | Self::Interior { tolerance, iterations } => {
                vec![("tolerance", tolerance), ("iterations", iterations as f64)]
            }
            Self::Clarabel { tolerance } => vec![("tolerance", tolerance)],
            Self::Highs { rounds } => vec![("rounds", rounds as f64)],
        }
    }

    /// Runs it. A method that fails says so in its status.
    #[must_use]
    pub fn run(&self, pool: &Pool) -> Answer {
        match *self {
            Self::Trajectory { method, tolerance, c_max } => {
                let settings = trajectory_settings(method, tolerance, c_max);
                let end = trajectory::integrate(pool, &settings);
                let status = trajectory_status(end.status).to_owned();
                let drift = end.error.is_finite().then_some(end.error);
                Answer { x: end.x, prices: None, status, steps: end.steps + end.rejected_steps, drift }
            }
            Self::Path { tolerance, iterations } => {
                let settings =
                    PathSettings { tolerance, max_iterations: iterations, ..PathSettings::default() };
                let end = path::follow(pool, &settings);
                let status = match end.status {
                    PathStatus::Solved => "solved",
                    PathStatus::Stalled => "stalled",
                    _ => "limit",
                };
                let prices = Some((end.prices, end.user_prices));
                Answer { x: end.x, prices, status: status.to_owned(), steps: end.iterations, drift: None }
            }
            Self::Interior { tolerance, iterations } => interior(pool, tolerance, iterations),
            Self::Clarabel { tolerance } => conic::solve(pool, tolerance),
            Self::Highs { rounds } => columns::solve(pool, rounds),
        }
    }
}

impl Answer {
    /// The end of a method that has nothing: no user gets anything.
    pub(super) fn none(pool: &Pool, status: String) -> Self {
        Self { x: vec![0.0; pool.n_users()], prices: None, status, steps: 0, drift: None }
    }
}

/// Settings with which the integration goes to `c_max` whatever it finds.
#[must_use]
pub fn trajectory_settings(method: RungeKutta, tolerance: f64, c_max: f64) -> TrajectorySettings {
    TrajectorySettings {
        method,
        relative_tolerance: tolerance,
        stop_tolerance: NEVER,
        c_max,
        max_steps: MOST_STEPS,
        record: false,
    }
}

fn method_name(method: RungeKutta) -> &'static str {
    match method {
        RungeKutta::Dopri5 => "dopri5",
        RungeKutta::Dop853 => "dop853",
    }
}

fn trajectory_status(status: TrajectoryStatus) -> &'static str {
    match status {
        TrajectoryStatus::Converged => "solved",
        TrajectoryStatus::ReachedC => "reached c",
        TrajectoryStatus::LeftDomain => "left-the-domain",
        TrajectoryStatus::MaxSteps => "limit",
        TrajectoryStatus::StepSizeUnderflow => "step size underflow",
        TrajectoryStatus::Stiff => "stiff",
        _ => "unknown",
    }
}

/// One server with a row for every resource. Prices come per row and per task of the limit.
fn interior(pool: &Pool, tolerance: f64, iterations: usize) -> Answer {
    let users: Vec<UserModel> = (0..pool.n_users())
        .map(|user| {
            let usage = pool.request_row(user).iter().copied().enumerate().filter(|(_, r)| *r > 0.0);
            UserModel {
                weight: pool.entitlements()[user],
                limit: pool.caps()[user],
                placements: vec![ClassUse { worth: 1.0, usage: usage.collect() }],
            }
        })
        .collect();
    let cluster = match Cluster::new(pool.n_resources(), &users, 1.0) {
        Ok(cluster) => cluster,
        Err(error) => return Answer::none(pool, error.to_string()),
    };
    let end = cluster::solve(&cluster, &cluster::Settings { max_iterations: iterations, tolerance });
    Answer {
        x: end.tasks.iter().map(|tasks| tasks.iter().sum()).collect(),
        prices: Some((end.row_prices, end.user_prices)),
        status: if end.status == cluster::Status::Solved { "solved" } else { "limit" }.to_owned(),
        steps: end.iterations,
        drift: None,
    }
}
