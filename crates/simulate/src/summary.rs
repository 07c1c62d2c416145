//! What a run comes to.

use evenhand_budget::table;
use evenhand_problem::Problem;
use serde::Serialize;

use crate::record::Tasks;
use crate::run::Run;

/// Jobs by their number of tasks: the least number of each class.
pub const SIZES: [u64; 5] = [1, 2, 11, 101, 1001];

/// Completion times of jobs, from arrival to the end of the last task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CompletionTimes {
    /// Jobs.
    #[serde(skip)]
    pub jobs: u64,
    /// Their mean.
    pub mean: f64,
    /// Half of them are done within this.
    pub median: f64,
    /// Nine in ten.
    pub p90: f64,
    /// 99 in 100.
    pub p99: f64,
    /// All of them.
    pub max: f64,
}

/// Numbers of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// By resource: the part of the total capacity that was used over the run; `None` where there is none.
    pub utilisation: Vec<Option<f64>>,
    /// Of all users.
    pub tasks: Tasks,
    /// Of all jobs that are done; `None`: there is none.
    pub completion: Option<CompletionTimes>,
    /// The same for jobs of the classes of [`SIZES`].
    pub by_size: Vec<Option<CompletionTimes>>,
    /// By user: the mean over the run of its global dominant share, not divided by its weight.
    pub dominant_share: Vec<f64>,
}

/// The amounts of a problem in floating point.
pub(crate) struct Amounts {
    /// By user, by resource: demand of a task in parts of the total capacity; 0 where there is none.
    pub parts: Vec<Vec<f64>>,
    /// By resource: whether there is any.
    pub is_there: Vec<bool>,
}

impl Amounts {
    pub fn new(problem: &Problem) -> Self {
        let total = problem.total_capacity();
        table(
            problem.n_users(),
            problem.n_resources(),
            size_of::<f64>(),
            "what users take of every resource",
        );
        let part = |n: usize| {
            let demand = problem.users()[n].base_demand();
            let parts = demand.iter().zip(total);
            parts.map(|(d, c)| if *c > 0 { (d.clone() / c).to_f64() } else { 0.0 }).collect()
        };
        Self {
            parts: (0..problem.n_users()).map(part).collect(),
            is_there: total.iter().map(|c| *c > 0).collect(),
        }
    }

    /// Steps for [`used`](Self::used).
    pub fn cost_of_use(&self) -> u64 {
        (self.parts.len() * self.is_there.len()) as u64
    }

    /// By resource: the part of the total that so many tasks of each user use.
    pub fn used(&self, tasks: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut used = vec![0.0; self.is_there.len()];
        for (tasks, parts) in tasks.zip(&self.parts) {
            for (used, part) in used.iter_mut().zip(parts) {
                *used += tasks * part;
            }
        }
        used
    }

    /// The global dominant share of one task of a user.
    pub fn dominant(&self, user: usize) -> f64 {
        self.parts[user].iter().copied().fold(0.0, f64::max)
    }
}

impl Summary {
    /// Of a run on `problem`.
    #[must_use]
    pub fn new(problem: &Problem, run: &Run) -> Self {
        let amounts = Amounts::new(problem);
        // A run that ends at its beginning used nothing.
        let mean = |integral: &f64| if run.end > 0.0 { integral / run.end } else { 0.0 };
        let used = amounts.used(run.task_time.iter().map(mean));
        // Of what was there, where that changed.
        let there = |r: usize| run.there.as_ref().map_or(1.0, |there| there.capacity[r]);
        let parts = used.into_iter().zip(&amounts.is_there).enumerate();
        let utilisation =
            parts.map(|(r, (used, is_there))| (*is_there && there(r) > 0.0).then(|| used / there(r)));
        let mut tasks = Tasks::default();
        run.tasks.iter().for_each(|of_user| tasks.add(of_user));
        let class = |tasks: u64| SIZES.iter().rposition(|from| tasks >= *from).unwrap_or(0);
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); SIZES.len()];
        for job in &run.jobs {
            times[class(job.tasks)].push(job.time);
        }
        let share = |(n, integral): (usize, &f64)| mean(integral) * amounts.dominant(n);
        Self {
            utilisation: utilisation.collect(),
            tasks,
            completion: CompletionTimes::of(run.jobs.iter().map(|job| job.time).collect()),
            by_size: times.into_iter().map(CompletionTimes::of).collect(),
            dominant_share: run.task_time.iter().enumerate().map(share).collect(),
        }
    }
}

impl CompletionTimes {
    /// Of these times, in any order.
    #[must_use]
    pub fn of(mut times: Vec<f64>) -> Option<Self> {
        times.sort_by(f64::total_cmp);
        let (last, jobs) = (*times.last()?, times.len());
        // The least time within which this part of the jobs is done.
        let quantile = |part: f64| times[((part * jobs as f64).ceil() as usize).clamp(1, jobs) - 1];
        Some(Self {
            jobs: jobs as u64,
            mean: times.iter().sum::<f64>() / jobs as f64,
            median: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            max: last,
        })
    }
}
