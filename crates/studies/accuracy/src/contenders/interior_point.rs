//! This project's interior point method for clusters, in doubles (`evenhand_ode::cluster`).

use std::time::Duration;

use evenhand_ode::cluster::{self, ClassUse, Cluster, Settings, Status, UserModel};
use evenhand_problem::number::to_f64;

use super::model::Model;
use super::{Answer, Contender, NoAnswer, named};
use crate::case::{Case, Kind};

/// The largest numbers of steps that are tested in addition to the default. They show intermediate results.
const STEPS: [usize; 2] = [8, 12];

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let settings = STEPS.map(Some).into_iter().chain([None]);
    settings.map(|most| Box::new(InteriorPoint { most }) as Box<dyn Contender>).collect()
}

#[derive(Debug, Clone, Copy)]
struct InteriorPoint {
    /// The largest number of steps. `None` stands for the default.
    most: Option<usize>,
}

impl Contender for InteriorPoint {
    fn name(&self) -> String {
        match self.most {
            Some(most) => format!("interior-point-{most}"),
            None => named("interior-point", None),
        }
    }

    fn method(&self) -> String {
        "interior-point".to_owned()
    }

    fn about(&self) -> String {
        let most = self.most.map_or_else(String::new, |most| format!(", {most} steps"));
        format!("our interior point method for clusters{most}")
    }

    fn takes(&self, kind: Kind) -> bool {
        kind.is_sum()
    }

    fn solve(&self, case: &Case, _time: Duration) -> Result<Answer, NoAnswer> {
        let problem = case.problem().ok_or(NoAnswer::Kind)?;
        let model = Model::new(problem, case.kind.sharing());
        let active: Vec<usize> =
            (0..model.users.len()).filter(|n| !model.users[*n].places.is_empty()).collect();
        let of_user = |n: &usize| {
            let user = &model.users[*n];
            let places = user.places.iter().map(|place| ClassUse {
                worth: 1.0,
                usage: place
                    .usage
                    .iter()
                    .map(|(row, amount)| (*row, amount / model.capacity[*row]))
                    .collect(),
            });
            UserModel { weight: user.weight, limit: user.limit, placements: places.collect() }
        };
        let users: Vec<UserModel> = active.iter().map(of_user).collect();
        let cluster = Cluster::new(model.capacity.len(), &users, to_f64(&case.alpha))
            .map_err(|error| NoAnswer::Failed(error.to_string()))?;
        let mut settings = Settings::default();
        settings.max_iterations = self.most.unwrap_or(settings.max_iterations);
        let end = cluster::solve(&cluster, &settings);
        let mut tasks = vec![Vec::new(); model.users.len()];
        for (n, found) in active.iter().zip(&end.tasks) {
            let places = model.users[*n].places.iter().map(|place| place.class);
            tasks[*n] = places.zip(found.iter().copied()).collect();
        }
        let status = if end.status == Status::Solved { "solved" } else { "limit" }.to_owned();
        let (gap, steps) = (Some(end.residual), u64::try_from(end.iterations).ok());
        Ok(Answer { tasks, status, gap, steps, ..Answer::default() })
    }
}
