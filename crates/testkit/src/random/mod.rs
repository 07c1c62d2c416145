//! Random problems, each generator for what it is meant to find.

pub mod clusters;
pub mod filled;
pub mod gangs;
pub mod optima;
pub mod pools;
pub mod problems;
pub mod ps_dsf;
pub mod reservations;
pub mod small;
pub mod snapshots;
pub mod static_shares;
pub mod trees;
