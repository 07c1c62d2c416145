//! Discrete-event simulation of task scheduling under the mechanisms.
//!
//! Tasks arrive, wait, run on one server and finish. Users arrive and leave. After the events of every time
//! [`evenhand_mechanisms::filling`] places the tasks that fit, with the same scores and choices as
//! `solve --mechanism fill` and `slots`. The seed determines all random choices, so the same scenario and
//! seed give the same run on every machine. The running time of the k-th task of a user is the same under
//! every policy.
//!
//! | | |
//! |---|---|
//! | [`ReadScenario`] | reads a scenario from its file |
//! | [`run`] | runs a scenario once for every seed, in parallel |
//! | [`simulate`] | runs the tasks of any [`Source`](workload::Source) on the servers of a problem |
//! | [`run_from`] | does one run under an observer, makes checkpoints, and continues from a checkpoint |
//! | [`run_on`] | runs the tasks of a trace in memory |
//! | [`UsageOrder`] | the order of users by past usage |
//! | [`Machines`] | servers that come, go and change while tasks run |
//! | [`CourseScenario`], [`run_course`] | divisible allocations while users come and go |
//! | [`RoundScenario`], [`run_rounds`] | jobs on accelerators of several types, in rounds |
//! | [`distributed`] | PS-DSF's servers, each on its own clock, with messages that are late or lost |
//! | [`reservation`] | jobs admitted into reserved slots: DRA, power of d choices |
//! | [`Summary`] | the statistics of a run |
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
mod rounds;
mod run;
mod scenario;
mod summary;
mod trace;
mod usage;
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
    SeriesOfRun, completion_csv, document, history_csv, jobs_csv, mean_waiting_times, series, series_csv,
    series_parquet, users_csv,
};
pub use read::ReadScenario;
pub use record::{HistoryRow, MAX_ROWS, MAX_TASKS, Row, Tasks, There, ThereOverTime};
pub use replicate::{MAX_EXPECTED, Simulated, run, run_from, run_on, run_until};
pub use rounds::{
    Round, RoundJob, RoundRun, RoundScenario, is_of_rounds, rounds_csv, rounds_document, rounds_jobs_csv,
    rounds_scenario, run_rounds,
};
pub use run::{Changing, Run, Settings, simulate, simulate_from};
pub use scenario::{Arrivals, Job, Poisson, Queues, Scenario, TraceFile};
pub use summary::{CompletionTimes, SIZES, Summary};
pub use usage::{UsageLaw, UsageOrder};
