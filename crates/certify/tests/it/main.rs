//! All integration tests of this crate in one program, so that it is linked once.

mod bounded;
mod certified;
mod common;
mod equals;
mod fair;
mod gangs;
mod groups;
mod guarantees;
mod held_back;
mod integer_pareto;
mod judged;
mod least;
mod nearly;
mod one_more_unit;
mod optimal;
mod packings;
mod parties;
mod promised;
mod ps_dsf_full;
mod rates;
mod ratio;
mod stopped;
mod tree;
mod within;
mod worst_load;
