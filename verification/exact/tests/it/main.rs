//! All integration tests of this crate, in one program so that it is linked once.

mod axioms;
mod bounded;
mod contradiction;
mod damage;
mod defects;
mod definitions;
mod envy;
mod files;
mod integer;
mod million;
mod njc;
mod one_meaning;
mod order;
mod proportional;
mod ps_dsf;
mod purity;
mod ratio;
mod ratio_damage;
mod scale;
mod spelling;
mod worst_load;
