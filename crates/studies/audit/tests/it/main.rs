//! Audits of single mechanisms, and of all of them as a matrix.
#![allow(missing_docs)]

mod audits;
mod matrix;
mod preemption;
