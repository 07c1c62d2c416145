//! The axioms (theory, section 7): what a claim states is recomputed from the allocation and its evidence.
//!
//! A claim of yes has a margin of at least minus the tolerance, a claim of no one below. Axioms that compare
//! numbers of the allocation are computed outright, and the evidence has to name what attains the margin.
//! Axioms about all other allocations rest on prices (yes) or on one better allocation (no).

pub mod entitled;
pub mod envy;
pub mod feasible;
pub mod max_min;
pub mod power;
pub mod prices;
pub mod proportional;
pub mod ps_dsf;
pub mod work_conserving;
