//! Continuous solvers in floating point; nothing here is believed before `evenhand-exact` has
//! checked it.
#![forbid(unsafe_code)]

pub mod cluster;
