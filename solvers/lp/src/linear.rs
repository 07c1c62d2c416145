//! Rational sparse linear algebra: an elimination that sees how nearly triangular a basis is.

mod lu;

pub use lu::{Lu, Singular, SparseRow};
