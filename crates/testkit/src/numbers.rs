//! Numbers in tests.

use evenhand_problem::{Rational, number};

/// Returns a rational number from its spelling in files: `3`, `0.5`, `3/7`.
pub fn q(text: &str) -> Rational {
    number::parse_result(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn qs(texts: &[&str]) -> Vec<Rational> {
    texts.iter().map(|text| q(text)).collect()
}

pub fn total<'a>(tasks: impl IntoIterator<Item = &'a (usize, Rational)>) -> Rational {
    tasks.into_iter().map(|(_, x)| x).sum()
}
