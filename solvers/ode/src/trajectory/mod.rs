//! Literal.
