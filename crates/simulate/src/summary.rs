//! Summary statistics of a run.

use evenhand_budget::table;
use evenhand_problem::Problem;
use serde::Serialize;

use crate::record::Tasks;
use crate::run::Run;

/// The smallest number of tasks of each size class of jobs.
pub const SIZES: [u64; 5] = [1, 2, 11, 101, 1001];

/// Statistics of the completion times of jobs, from arrival to the end of the last task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CompletionTimes {
    /// The number of jobs.
    #[serde(skip)]
    pub jobs: u64,
    /// The mean completion time.
    pub mean: f64,
    /// The median completion time: half of the jobs took at most this time.
    pub median: f64,
    /// The 90th percentile of the completion times.
    pub p90: f64,
    /// The 99th percentile of the completion times.
    pub p99: f64,
    /// The longest completion time.
    pub max: f64,
}

/// Summary statistics of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The used fraction of the total capacity of each resource over the run, or `None` if there is no
    /// capacity.
    pub utilisation: Vec<Option<f64>>,
    /// The task counts of all users together.
    pub tasks: Tasks,
    /// The completion times of all finished jobs, or `None` if no job finished.
    pub completion: Option<CompletionTimes>,
    /// The completion times of each size class of [`SIZES`], or `None` if no job of the class finished.
    pub by_size: Vec<Option<CompletionTimes>>,
    /// The mean global dominant share of each user over the run, not divided by the weight.
    pub dominant_share: Vec<f64>,
}

/// The demands of a problem in floating point.
pub(crate) struct Amounts {
    /// The demand of a task as a fraction of the total capacity, indexed by user and then by resource. It is
    /// 0 if there is no capacity.
    pub parts: Vec<Vec<f64>>,
    /// One entry for each resource: `true` if the cluster has any capacity of the resource.
    pub is_there: Vec<bool>,
}

impl Amounts {
    pub fn new(problem: &Problem) -> Self {
        let total = problem.total_capacity();
        table(
            problem.n_users(),
            problem.n_resources(),
            size_of::<f64>(),
            "the table of usage by user and resource",
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

    /// Returns the elementary steps of [`used`](Self::used).
    pub fn cost_of_use(&self) -> u64 {
        (self.parts.len() * self.is_there.len()) as u64
    }

    /// Returns the fraction of the total capacity of each resource that the users' tasks use. `tasks` has the
    /// number of tasks of each user.
    pub fn used(&self, tasks: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut used = vec![0.0; self.is_there.len()];
        for (tasks, parts) in tasks.zip(&self.parts) {
            for (used, part) in used.iter_mut().zip(parts) {
                *used += tasks * part;
            }
        }
        used
    }

    /// Returns the global dominant share of one task of a user.
    pub fn dominant(&self, user: usize) -> f64 {
        self.parts[user].iter().copied().fold(0.0, f64::max)
    }
}

impl Summary {
    /// Computes the statistics of a run on `problem`.
    #[must_use]
    pub fn new(problem: &Problem, run: &Run) -> Self {
        let amounts = Amounts::new(problem);
        // A run that ends at time 0 used nothing.
        let mean = |integral: &f64| if run.end > 0.0 { integral / run.end } else { 0.0 };
        let used = amounts.used(run.task_time.iter().map(mean));
        // If servers come and go, utilisation refers to the mean present capacity.
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
    /// Computes the statistics of completion times, which may be in any order. Returns `None` if there are no
    /// times.
    #[must_use]
    pub fn of(mut times: Vec<f64>) -> Option<Self> {
        times.sort_by(f64::total_cmp);
        let (last, jobs) = (*times.last()?, times.len());
        // The smallest of the times within which the fraction `part` of the jobs finished.
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
