//! Linear algebra: a rational elimination that sees how nearly triangular a basis is, and dense factors
//! in doubles.

mod cholesky;
mod lu;
mod modular;
mod modulus;
mod reconstruct;

pub(crate) use cholesky::Cholesky;
pub use lu::{Lu, Singular, SparseRow};
pub(crate) use modular::Modular;
