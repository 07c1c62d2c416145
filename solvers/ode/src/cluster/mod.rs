//! Proportional and alpha fairness on a cluster: maximise `sum_n w_n g_a(U_n)`, with `g_1 = log` and `g_a(U) = U^(1-a)
//! / (1-a)` otherwise, over the placements that the capacity rows and the task limits allow (Kesidis, equation 15;
//! docs/theory.md, section 3).
//!
//! The main solver is an interior point method that uses the structure of the problem. The variables of a user occur
//! together in one sum, `U_n`, so the Newton matrix is block-diagonal by user, and each block is a diagonal plus a
//! matrix of rank one. Only the capacity rows tie users together. A step costs `O(N R^2 + R^3)` for `R` rows, whatever
//! the number of users.
//!
//! | | |
//! |---|---|
//! | [`Cluster`] | the problem in floating point |
//! | [`solve`] | the optimum, its prices, and the accuracy reached |
//! | [`solve_by_prices`] | the same optimum, computed from the prices alone: slower, but also accurate for users of little worth |

mod dual;
mod interior;
mod model;
mod newton;
mod start;
mod step;

pub use dual::solve_by_prices;
pub use interior::{ClusterPoint, Settings, Status, solve};
pub use model::{ClassUse, Cluster, ClusterError, UserModel};
