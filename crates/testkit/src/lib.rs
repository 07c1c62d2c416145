//! Helpers that the tests of the workspace share. Other crates depend on this one only for their tests.
//!
//! | module | what it owns |
//! |---|---|
//! | [`certificates`] | certificates of every kind as files: accepted, rejected, malformed |
//! | [`golden`] | inputs and answers of an independent implementation |
//! | [`examples`] | the problems of the papers, and good certificates with evidence of every form |
//! | [`random`] | random problems, clusters and allocations |
//! | [`clusters`] | dumps of made-up clusters of Kubernetes and Kueue |
//! | [`build`] | certificates of small reservation problems, built from the definitions |
//! | [`plain`], [`judges`] | second judges of everything: the definitions as loops |
//! | [`mod@reference`] | a dense simplex method in rationals, and lexicographic max-min on it |
//! | [`agreement`] | the kernel and the plain judges on one certificate |
//! | [`data`] | real cluster data, where it is there |
//! | [`damage`], [`patch`] | documents changed at random, and as a list says |
//! | [`dumps`] | dumps of schedulers changed at random |
//! | [`vipr`] | a reader and checker of VIPR files, by the text of the format |
//!
//! Only integration tests can use this crate. A unit test inside `src` of a crate on which this crate depends
//! would see two versions of that crate's types.
#![forbid(unsafe_code)]
// The names of the helpers describe them.
#![allow(missing_docs)]

pub mod agreement;
pub mod build;
pub mod certificates;
pub mod clusters;
pub mod damage;
pub mod data;
pub mod dumps;
pub mod examples;
pub mod golden;
pub mod judges;
mod numbers;
pub mod patch;
pub mod plain;
pub mod random;
pub mod reference;
pub mod vipr;

pub use numbers::{q, qs, total};
