//! Jobs on accelerators of several types, scheduled in rounds as by Gavel (docs/scenarios.md, "Jobs in
//! rounds").
//!
//! A divisible mechanism gives the target: the fraction of time that each present job spends on each type. In
//! every round each job runs on at most one type. All times and amounts of work are exact.

mod output;
mod read;
mod run;

pub use output::{rounds_csv, rounds_document, rounds_jobs_csv};
pub use read::{is_of_rounds, rounds_scenario};
pub use run::{Round, RoundJob, RoundRun, RoundScenario, run_rounds};
