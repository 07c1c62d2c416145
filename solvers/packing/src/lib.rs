//! Reservation: packing rewards into many identical servers, greedily and optimally.
//!
//! A configuration is a vector `k` with the number of jobs of each type that fit together on one
//! server. It is worth `U(k) = sum_j u_j k_j`. The configuration linear programme (Reservation,
//! section 2) is
//!
//! `max sum_j u_j y_j` subject to `y_j <= rho_j`, `y_j <= sum_k x_k k_j`, `sum_k x_k = 1`,
//! `x >= 0`.
//!
//! | question | answer |
//! |---|---|
//! | the best configuration of some types (Definition 2.3) | [`MaxReward`] |
//! | the greedy placement, with whole servers or fluid (Algorithm 1, Definition 3.2) | [`greedy`] |
//! | the exact optimum of the programme, with its proof | [`configuration_lp`] |
//! | bounds on the optimum with whole servers and jobs | [`integer`] |
//! | the loads at which greedy is worst compared with the optimum | [`worst_load`] |
//! | whether greedy may earn less from more load (Definition 3.8) | [`monotone`] |
//! | the lexicographic max-min of whole tasks over time, of an allocation problem | [`hull`] |
//! | the loads at which greedy first falls below the optimum and reaches it again | [`greedy::critical_loads`] |
//!
//! If there are several pools, greedy fills them one after another in the order of the file. Each
//! pool gets the jobs that the earlier pools left.
#![forbid(unsafe_code)]

pub mod configuration_lp;
pub mod greedy;
pub mod hull;
pub mod integer;
mod knapsack;
mod limits;
mod max_reward;
pub mod monotone;
mod number;
mod relaxation;
mod search;
pub mod settings;
mod table;
pub mod worst_load;

pub use configuration_lp::PackingOptimum;
pub use evenhand_exact::ratio::{FirstProof, MOST_CELLS, Multipliers, PricingProof, Tree, TreeNode};
pub use knapsack::KnapsackMethod;
pub use limits::{PackingError, SearchLimits};
pub use max_reward::{BestConfiguration, MaxReward};
pub use worst_load::{OrderClaim, WorstLoad};
