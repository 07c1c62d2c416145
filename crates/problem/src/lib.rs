//! Allocation problems with several resources and server classes, in exact numbers.
//!
//! This crate defines the data types of the engine and solves nothing: [`Problem`] and [`Allocation`], the capacity
//! [`Constraints`] of a problem, exact [`number`]s and the file formats. Users are indexed by `n`, server classes
//! by `i` and resources by `r`, in that order.
#![forbid(unsafe_code)]

pub mod allocation;
pub mod constraint;
mod dedicated;
pub mod format;
pub mod groups;
mod names;
pub mod number;
pub mod on;
pub mod place;
mod printable;
pub mod problem;
mod problem_error;
mod promises;
mod quantities;
pub mod reservation;
mod resolve;
pub mod schema;
pub mod snapshot;
mod spec;
mod sums;
mod usage;
pub mod utilisation;

pub use allocation::{Allocation, Arithmetic, Placement};
pub use constraint::{Constraints, Row, RowKind, Sharing};
pub use dedicated::dedicated;
pub use groups::{Group, Groups, Member};
pub use names::{UnknownName, hint, nearest};
pub use on::On;
pub use place::Place;
pub use printable::{Medium, printable, printable_json, printable_lines};
pub use problem::{
    Joined, Kinds, Merged, Problem, ProblemError, ProblemErrorKind, ProblemSpec, Rates, ServerClass,
    ServerSpec, Size, User, UserSpec, Warning,
};
pub use promises::Promises;
pub use quantities::Quantities;
pub use reservation::{JobSpec, JobType, PoolSpec, Reservation, ReservationSpec, ServerPool};
pub use rug::{Integer, Rational};
pub use snapshot::Snapshot;
pub use sums::Sums;
pub use usage::Usage;
