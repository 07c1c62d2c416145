//! Allocation mechanisms.
//!
//! Every mechanism is a row of the [`registry`], which the command line, the tests and the table of the README read. Those
//! that equalise one share stand together in `max_min.rs`, every other one in a file or folder with its settings. What proves their allocations is found by
//! `evenhand-certify`. Nothing here prints.
//!
//! # What they compute
//! User `n` runs $x_n = \sum_i x_{ni}$ tasks, has the weight $w_n$ and at most $T_n$ tasks; a task takes $d_{nir}$
//! of resource `r` on class `i`, whose $k_i$ servers have $c_{ir}$ each; $C_r = \sum_i k_i c_{ir}$. Alone on class `i` the
//! user would have $\gamma_{ni} = k_i \min_{r: d_{nir} > 0} c_{ir} / d_{nir}$ tasks, and $\gamma_n = \sum_i \gamma_{ni}$.
//!
//! | mechanisms | allocation |
//! |---|---|
//! | `drf`, `drfh` | lexicographic maximum of the sorted $\frac{x_n}{w_n} \max_r \frac{d_{nr}}{C_r}$ |
//! | `asset` | the same of $\frac{x_n}{w_n} \sum_r \frac{d_{nr}}{C_r}$ |
//! | `cdrf`, `tsf` | the same of $\frac{x_n}{w_n \gamma_n}$; `tsf` takes $\gamma_n$ as if there were no placement constraints |
//! | `generic` | the same of $U_n = \frac{1}{w_n} \sum_i u_{ni} x_{ni}$ with the stated $u_{ni} > 0$ |
//! | `per-server-drf` | `drf` in every server on its own |
//! | `ps-dsf`, `ps-dsf-tdm` | the level $\frac{x_n}{w_n \gamma_{ni}}$ of whoever wants more cannot rise on class `i` without a user of no higher level losing |
//! | `proportional`, `alpha` | greatest $\sum_n w_n \log x_n$, $\sum_n w_n \frac{x_n^{1 - \alpha}}{1 - \alpha}$ |
//! | `utilitarian` | greatest $\sum_n w_n x_n$ |
//! | `njc` | everybody has $x_n = T_n$ or $\frac{w_n}{\sum_m w_m}$ of a saturated resource |
//! | `fill`, `slots` | whole tasks, one after another, to the user with the least level |
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
