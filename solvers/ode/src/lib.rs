//! Continuous solvers in floating point. Their results are only guesses until `evenhand-exact` has
//! checked them.
//!
//! The basic problem is one pool of resources, each of capacity 1. User `i` requests `r_ij` of
//! resource `j` and is granted the fraction `x_i` of its request:
//!
//! ```text
//! maximise  sum_i e_i log x_i   subject to   sum_i x_i r_ij <= 1 for every j,   x_i <= cap_i.
//! ```
//!
//! The optimum (the Eisenberg-Gale point, the weighted Nash optimum) satisfies No Justified
//! Complaints (Dolev, Feitelson, Halpern, Kupferman, Linial: "No Justified Complaints: On Fair
//! Sharing of Multiple Resources", Theorem 1).
//!
//! - [`pool`]: the problem, validated when it is built.
//! - [`path`]: follows the central path in the space of prices to its limit, up to rounding.
//! - [`trajectory`]: the method of the paper, which integrates equation (13) as a differential
//!   equation.
//! - [`cluster`]: proportional and alpha fairness on several servers.
//! - [`market`]: linear Fisher markets, solved through the prices of their goods alone.
//! - [`dense`]: small systems of equations of any rank.
//! - [`margin`]: the distance of every user from a justified complaint.
//!
//! ```
//! use evenhand_ode::{path, pool::Pool};
//!
//! // Two users, two resources: the first needs the first resource only.
//! let pool = Pool::new(2, vec![1.0, 0.0, 1.0, 1.0], vec![0.5, 0.5], vec![1.0, 1.0])?;
//! let answer = path::follow(&pool, &path::PathSettings::default());
//! assert_eq!(answer.status, path::PathStatus::Solved);
//! assert!((answer.x[0] - 0.5).abs() < 1e-14);
//! # Ok::<(), evenhand_ode::pool::PoolError>(())
//! ```
#![forbid(unsafe_code)]

pub mod cluster;
pub mod dense;
mod lanes;
pub mod margin;
pub mod market;
pub mod path;
pub mod pool;
pub mod settings;
pub mod trajectory;
