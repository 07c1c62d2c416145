//! All integration tests of this crate in one program, so that it is linked once.

mod certified;
mod common;
mod fair;
mod groups;
mod guarantees;
mod held_back;
mod integer_pareto;
mod judged;
mod parties;
mod ps_dsf_full;
mod ratio;
mod stopped;
mod tree;
mod within;
mod worst_load;
