//! All integration tests of this crate in one program, so that it is linked only once.

mod alone;
mod alpha;
mod filling;
mod fisher;
mod intervals;
mod limits;
mod njc;
mod ongoing;
mod packings;
mod presets;
mod ps_dsf;
mod ps_dsf_methods;
mod queues;
mod standing;
mod tree;
mod tree_by_class;
mod tree_on;
mod tree_whole;
