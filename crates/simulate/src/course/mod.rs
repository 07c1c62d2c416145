//! Divisible allocations over time (docs/simulation.md, "Divisible allocations over time").
//!
//! Users come and go. Between two events the allocation depends only on the present users.
//!
//! | policy | gives |
//! |---|---|
//! | [`CoursePolicy::Mechanism`] | immediately, the allocation of `solve` for the present users |
//! | [`CoursePolicy::Distributed`] | the allocation that PS-DSF's servers compute, each on its own clock (PS-DSF, section III-D) |
//! | [`CoursePolicy::LeastGap`] | the allocation of serving by gaps on bottlenecks (NJC, section 6) |

mod gaps;
mod output;
mod read;
mod run;

pub(crate) use output::mechanism_words;
pub use output::{course_document, course_tasks_csv, course_utilisation_csv};
pub(crate) use read::mechanism_of;
pub use read::{course_scenario, is_course};
pub(crate) use run::is_answer;
pub use run::{Course, CoursePolicy, CourseScenario, Moment, run_course};
