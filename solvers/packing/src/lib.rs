//! Reservation: packing rewards into many identical servers, greedily and optimally.
//!
//! A configuration is a vector `k` of numbers of jobs by type that fits on one server, worth
//! `U(k) = sum_j u_j k_j`. The configuration linear programme (Reservation, section 2) is
//!
//! `max sum_j u_j y_j` with `y_j <= rho_j`, `y_j <= sum_k x_k k_j`, `sum_k x_k = 1`, `x >= 0`
//!
//! | question | answer |
//! |---|---|
//! | the best configuration of some types (Definition 2.3) | [`MaxReward`] |
//! | the greedy placement, with whole servers or fluid (Algorithm 1, Definition 3.2) | [`greedy`] |
//! | the optimum of the programme, exactly, with its proof | [`configuration_lp`] |
//! | the optimum with whole servers and jobs, from both sides | [`integer`] |
//! | the loads that make greedy look worst | [`worst_load`] |
//! | whether more load may earn greedy less (Definition 3.8) | [`monotone`] |
//! | the loads at which greedy and optimum part and meet again | [`greedy::critical_loads`] |
//!
//! Where several pools differ, greedy goes pool by pool in the order of the file, each with the jobs
//! that are left.
#![forbid(unsafe_code)]

pub mod configuration_lp;
pub mod greedy;
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
