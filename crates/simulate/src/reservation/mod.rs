//! Admission of jobs into reserved slots (Reservation, sections 4 and 7).
//!
//! Jobs arrive at random times. They are admitted or rejected immediately, and earn their reward while they run.
//!
//! | policy | admits |
//! |---|---|
//! | [`Policy::Dra`] | into an empty slot of the job's type in the Accept Group of the Dynamic Reservation Algorithm |
//! | [`Policy::Preempting`] | like `Dra`, but jobs of priority 0 make room for a job of higher priority that finds no slot |
//! | [`Policy::PowerOfD`] | on the least loaded of `d` random servers, if the job fits there |
//! | [`Policy::Static`] | into an empty slot of the job's type; the slots come from the configuration programme for the stated loads |
//!
//! [`scenario`] reads the files that `evenhand simulate` runs. [`Unrejected`] and [`upper_bound`] bound the reward
//! that any policy can earn with given jobs.

mod bound;
mod dra;
mod fixed;
mod jobs;
mod output;
mod policy;
mod power_of_d;
mod read;
mod run;
mod scenario;

pub use bound::{Beside, Pieces, Unrejected, upper_bound};
pub use jobs::Job;
pub use output::{beside_csv, document, series_csv};
pub use policy::{AdmissionError, Classified, Policy, reserve};
pub use read::{is_admission, scenario};
pub use run::{Admission, Admitted, admit, run};
pub use scenario::{AdmissionScenario, Coming, Estimates};
