//! This project's path follower for one server, in doubles (`evenhand_ode::path`).

use std::time::Duration;

use evenhand_ode::path::{self, PathSettings, PathStatus};
use evenhand_ode::pool::Pool;
use evenhand_problem::{Problem, Sharing};

use super::model::Model;
use super::{Answer, Contender, NoAnswer};
use crate::case::{Case, Kind};

/// The largest numbers of steps that are tested in addition to the default. They show intermediate results.
const STEPS: [usize; 2] = [2, 4];

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let settings = STEPS.map(Some).into_iter().chain([None]);
    settings.map(|most| Box::new(PathFollower { most }) as Box<dyn Contender>).collect()
}

#[derive(Debug, Clone, Copy)]
struct PathFollower {
    /// The largest number of steps. `None` stands for the default.
    most: Option<usize>,
}

/// One server as a pool. The tasks of each user are in units of its solo tasks.
pub(super) struct OnePool {
    pub pool: Pool,
    model: Model,
    active: Vec<usize>,
    /// The tasks that each active user would have alone.
    alone: Vec<f64>,
}

impl OnePool {
    /// Returns the pool of a problem with one class.
    pub fn new(problem: &Problem) -> Result<Self, NoAnswer> {
        let model = Model::new(problem, Sharing::Rdm);
        let active: Vec<usize> =
            (0..model.users.len()).filter(|n| !model.users[*n].places.is_empty()).collect();
        let rows = model.capacity.len();
        let (mut requests, mut weights, mut caps, mut alone) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &n in &active {
            let user = &model.users[n];
            let usage = &user.places[0].usage;
            let fits =
                usage.iter().map(|(row, amount)| model.capacity[*row] / amount).fold(f64::INFINITY, f64::min);
            // The unit is the number of tasks that fit on the server, but at most the user's limit.
            let unit = fits.min(user.limit);
            let mut row = vec![0.0; rows];
            usage.iter().for_each(|(at, amount)| row[*at] = amount * unit / model.capacity[*at]);
            requests.extend(row);
            weights.push(user.weight);
            caps.push(user.limit / unit);
            alone.push(unit);
        }
        let pool =
            Pool::new(rows, requests, weights, caps).map_err(|error| NoAnswer::Failed(error.to_string()))?;
        Ok(Self { pool, model, active, alone })
    }

    /// Returns the answer. `x` has each user's fraction of its solo tasks.
    pub fn answer(&self, x: &[f64], status: &str) -> Answer {
        let mut tasks = vec![Vec::new(); self.model.users.len()];
        for ((n, x), alone) in self.active.iter().zip(x).zip(&self.alone) {
            tasks[*n].push((self.model.users[*n].places[0].class, x * alone));
        }
        Answer { tasks, status: status.to_owned(), ..Answer::default() }
    }
}

/// Returns `true` if a case is about one pool.
pub(super) fn is_one_pool(case: &Case) -> bool {
    case.problem().is_some_and(|problem| problem.n_servers() == 1)
}

impl Contender for PathFollower {
    fn name(&self) -> String {
        self.most.map_or_else(|| self.method(), |most| format!("path-follower-{most}"))
    }

    fn method(&self) -> String {
        "path-follower".to_owned()
    }

    fn about(&self) -> String {
        let most = self.most.map_or_else(String::new, |most| format!(", {most} steps"));
        format!("our path follower for one pool{most}")
    }

    fn takes(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Pool | Kind::Njc)
    }

    fn applies(&self, case: &Case) -> bool {
        self.takes(case.kind) && is_one_pool(case)
    }

    fn solve(&self, case: &Case, _time: Duration) -> Result<Answer, NoAnswer> {
        let one = OnePool::new(case.problem().ok_or(NoAnswer::Kind)?)?;
        let mut settings = PathSettings::default();
        settings.max_iterations = self.most.unwrap_or(settings.max_iterations);
        let end = path::follow(&one.pool, &settings);
        let status = match end.status {
            PathStatus::Solved => "solved",
            PathStatus::Stalled => "stalled",
            _ => "limit",
        };
        Ok(Answer { steps: u64::try_from(end.iterations).ok(), ..one.answer(&end.x, status) })
    }
}
