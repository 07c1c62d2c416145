//! Admission of jobs into reserved slots (Reservation, sections 4 and 7): jobs come at random times, are
//! admitted or rejected at once, and earn their reward while they run.
//!
//! | policy | admits |
//! |---|---|
//! | [`Policy::Dra`] | into an empty slot of its type in the Accept Group of the Dynamic Reservation Algorithm |
//! | [`Policy::Preempting`] | the same, and where a job of higher priority finds none, jobs of priority 0 make room |
//! | [`Policy::PowerOfD`] | on the least loaded of `d` random servers, if it fits there |
//! | [`Policy::Static`] | into an empty slot of its type, slots by the configuration programme for the stated loads |
//!
//! [`scenario`] reads what `evenhand simulate` runs. [`Unrejected`] and [`upper_bound`] bound what any policy can earn with given jobs.

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
