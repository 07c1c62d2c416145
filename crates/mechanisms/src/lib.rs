//! Allocation mechanisms.
//!
//! Every mechanism is an entry of the [`registry`], which the command line, the tests and the README's table
//! read. Mechanisms that equalise one share are defined together in `max_min.rs`. Every other mechanism has
//! its own file or folder, with its settings. The crate `evenhand-certify` computes the proofs of the
//! allocations. Nothing in this crate prints.
//!
//! # Definitions
//! User `n` runs $x_n = \sum_i x_{ni}$ tasks, has the weight $w_n$ and wants at most $T_n$ tasks. A task
//! takes $d_{nir}$ of resource `r` on class `i`, which has $k_i$ servers with capacity $c_{ir}$ each. The
//! capacity of the cluster is $C_r = \sum_i k_i c_{ir}$. Alone on class `i`, the user could run
//! $\gamma_{ni} = k_i \min_{r: d_{nir} > 0} c_{ir} / d_{nir}$ tasks, and $\gamma_n = \sum_i \gamma_{ni}$
//! tasks in the whole cluster.
//!
//! | mechanisms | allocation |
//! |---|---|
//! | `drf`, `drfh` | lexicographic maximum of the sorted $\frac{x_n}{w_n} \max_r \frac{d_{nr}}{C_r}$ |
//! | `asset` | lexicographic maximum of the sorted $\frac{x_n}{w_n} \sum_r \frac{d_{nr}}{C_r}$ |
//! | `cdrf`, `tsf` | lexicographic maximum of the sorted $\frac{x_n}{w_n \gamma_n}$; `tsf` computes $\gamma_n$ as if there were no placement constraints |
//! | `generic` | lexicographic maximum of the sorted $U_n = \frac{1}{w_n} \sum_i u_{ni} x_{ni}$ with the stated $u_{ni} > 0$ |
//! | `per-server-drf` | `drf` on every server separately |
//! | `ps-dsf`, `ps-dsf-tdm` | the level $\frac{x_n}{w_n \gamma_{ni}}$ of a user that wants more cannot rise on class `i` unless a user of the same or a lower level loses tasks there |
//! | `proportional`, `alpha` | maximum of $\sum_n w_n \log x_n$, $\sum_n w_n \frac{x_n^{1 - \alpha}}{1 - \alpha}$ |
//! | `utilitarian` | maximum of $\sum_n w_n x_n$ |
//! | `finish-time` | lexicographic maximum of the sorted tasks over those that the fraction $\frac{w_n}{\sum_m w_m}$ of every class gives |
//! | `oef` | maximum of $\sum_n x_n$ among envy-free allocations, or those with equal $\frac{x_n}{w_n}$ |
//! | `njc` | every user has all its tasks, $x_n = T_n$, or at least the fraction $\frac{w_n}{\sum_m w_m}$ of a saturated resource |
//! | `packings` | lexicographic maximum of the sorted shares of `drfh` or `tsf` over all schedules of whole tasks |
//! | `fill`, `slots` | whole tasks, one after another, each to the user with the lowest level |
#![forbid(unsafe_code)]

pub mod alpha;
pub mod equals;
mod error;
mod fair_sum;
pub mod filling;
mod fisher;
pub mod flags;
pub mod guarantees;
mod lift;
mod market;
mod max_min;
mod mechanism;
pub mod njc;
pub mod oef;
pub mod packings;
mod partial;
pub mod per_server_drf;
mod proportional;
pub mod ps_dsf;
pub mod reduced;
pub mod registry;
pub mod rounding;
pub mod tree;
pub mod utilitarian;

pub use error::MechanismError;
pub use fair_sum::optimum::FairOptimum;
pub use flags::{Flags, Method};
pub use mechanism::{
    Bound, Findings, Info, Intervals, Late, Mechanism, Outcome, Search, Selected, SeriesPoint, Status, Tried,
};
