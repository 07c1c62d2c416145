//! Linear algebra: a sparse elimination over rationals and residues that sees how nearly triangular a basis is, exact
//! solutions from residues, and dense factors in doubles.

mod cholesky;
mod lu;
mod modular;
mod modulus;
mod reconstruct;

pub(crate) use cholesky::Cholesky;
pub use lu::{Field, Lu, Singular, SparseRow};
pub(crate) use modular::Modular;
