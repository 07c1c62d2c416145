//! The native half of the Python package `evenhand`.
//!
//! The Python half (`python/evenhand`) has everything that its users see: names, defaults, arrays and exceptions. In
//! this crate, problems, allocations and certificates are handles to results of the library, and documents are its
//! texts. Every call runs on threads of its own, without Python's lock and within limits ([`workshop`]).
#![deny(unsafe_code)]
// pyo3 passes arguments by value, and a function has as many arguments as settings.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

mod allocation;
mod audit;
mod compare;
mod examination;
mod explain;
mod failure;
mod linear;
mod numbers;
mod problem;
mod request;
mod reservation;
mod rule;
mod shown;
mod simulate;
mod solve;
mod sweep;
mod workshop;

#[pyo3::pymodule]
mod _evenhand {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::{
        allocation::Allocation,
        audit::audit,
        compare::{Column, Comparison, compare},
        examination::{Examination, certify, check},
        explain::{explain, explain_group, explain_levels},
        linear::{LinearAnswer, LinearJudgement, LinearProgramme},
        problem::Problem,
        request::{axioms, mechanisms, properties},
        reservation::{Reservation, monotone, ratio, ratio_sweep, worst_load},
        shown::{Shown, allocation_with_decimals},
        simulate::simulate,
        solve::{polish, solve},
        sweep::{sweep_failed, sweep_judged, sweep_line},
        workshop::set_threads,
    };
}
