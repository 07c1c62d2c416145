//! Random problems. Each generator makes problems that reveal certain kinds of faults.

pub mod clusters;
pub mod filled;
pub mod fragmented;
pub mod gangs;
pub mod optima;
pub mod packings;
pub mod pools;
pub mod problems;
pub mod ps_dsf;
pub mod rates;
pub mod reservations;
pub mod small;
pub mod snapshots;
pub mod static_shares;
pub mod trees;
