//! Certificates of small reservation problems, built from the definitions.

pub mod ratio;
pub mod worst_load;
