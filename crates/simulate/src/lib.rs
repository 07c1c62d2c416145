//! Discrete-event simulation of task scheduling under the mechanisms.
//!
//! Tasks come, wait, run on one server and finish; users come and leave. After the events of every time
//! [`evenhand_mechanisms::filling`] places what fits, by the very scores and choices of
//! `solve --mechanism fill` and `slots`. Nothing random is drawn but by the seed: the same scenario and
//! seed give the same run on every machine, and the running time of the k-th task of a user is the same
//! whatever the policy.
//!
//! | | |
//! |---|---|
//! | [`ReadScenario`] | a scenario from its file |
//! | [`run`] | a scenario, once for every seed, in parallel |
//! | [`simulate`] | tasks of any [`Source`](workload::Source) on the servers of a problem |
//! | [`run_from`] | one run that is observed, makes checkpoints, and goes on from one |
//! | [`run_on`] | the same with the tasks of a trace in memory |
//! | [`Machines`] | servers that come, go and change while tasks run |
//! | [`CourseScenario`], [`run_course`] | divisible allocations of users that come and go |
//! | [`distributed`] | PS-DSF's servers, each on its own clock, with messages that are late or lost |
//! | [`reservation`] | jobs admitted into reserved slots: DRA, power of d choices |
//! | [`Summary`] | what a run comes to |
//! | [`document`], [`series_csv`], [`series_parquet`], [`jobs_csv`], [`users_csv`] | results as JSON and as tables |
#![forbid(unsafe_code)]

mod checkpoint;
mod cost;
mod course;
pub mod distributed;
mod duration;
mod error;
mod events;
mod fields;
mod jobs;
mod machines;
mod output;
mod read;
mod record;
mod replicate;
pub mod reservation;
mod run;
mod scenario;
mod summary;
mod trace;
pub mod workload;

pub use checkpoint::{Checkpoint, Observer};
pub use course::{
    Course, CoursePolicy, CourseScenario, Moment, course_document, course_scenario, course_tasks_csv,
    course_utilisation_csv, is_course, run_course,
};
pub use duration::Duration;
pub use error::SimulateError;
pub use jobs::FinishedJob;
pub use machines::{Change, Machines, What};
pub use output::{
    SeriesOfRun, completion_csv, document, jobs_csv, series, series_csv, series_parquet, users_csv,
};
pub use read::ReadScenario;
pub use record::{MAX_ROWS, MAX_TASKS, Row, Tasks, There, ThereOverTime};
pub use replicate::{MAX_EXPECTED, Simulated, run, run_from, run_on, run_until};
pub use run::{Changing, Run, Settings, simulate, simulate_from};
pub use scenario::{Arrivals, Job, Poisson, Queues, Scenario, TraceFile};
pub use summary::{CompletionTimes, SIZES, Summary};
