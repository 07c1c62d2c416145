//! All integration tests of this crate in one program, so that it is linked once.

mod common;
mod csv;
mod kai;
mod kubernetes;
mod kueue;
mod made;
mod mesos;
mod slurm;
mod sums;
mod volcano;
mod yunikorn;
