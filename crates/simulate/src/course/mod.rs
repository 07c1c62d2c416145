//! Divisible allocations over time: users come and go, and what they have between two events is the allocation of the
//! users that are there (docs/simulation.md, "Divisible allocations over time").
//!
//! | policy | gives |
//! |---|---|
//! | [`CoursePolicy::Mechanism`] | at once what `solve` gives the users that are there |
//! | [`CoursePolicy::Distributed`] | what the servers of PS-DSF find, each on its own clock (PS-DSF, section III-D) |
//! | [`CoursePolicy::LeastGap`] | what serving by the gaps on bottlenecks gives (NJC, section 6) |

mod gaps;
mod output;
mod read;
mod run;

pub use output::{course_document, course_tasks_csv, course_utilisation_csv};
pub use read::{course_scenario, is_course};
pub use run::{Course, CoursePolicy, CourseScenario, Moment, run_course};
