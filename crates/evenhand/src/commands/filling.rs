//! The options of `solve --mechanism fill`, as the library names them.

use evenhand::mechanisms::filling::{Score, ServerRule, Ties};
use evenhand::problem::{Rational, number};

use crate::arguments;
use crate::failure::Failure;

pub fn score(named: arguments::Score) -> Score {
    match named {
        arguments::Score::Drf => Score::Drf,
        arguments::Score::Tsf => Score::Tsf,
        arguments::Score::PsDsf => Score::PsDsf,
        arguments::Score::RpsDsf => Score::ResidualPsDsf,
    }
}

pub fn server(named: arguments::ServerRule) -> ServerRule {
    match named {
        arguments::ServerRule::Iid => ServerRule::Iid,
        arguments::ServerRule::Rrr => ServerRule::Rrr,
        arguments::ServerRule::FirstFit => ServerRule::FirstFit,
        arguments::ServerRule::BestFit => ServerRule::BestFit,
        arguments::ServerRule::Joint => ServerRule::Joint,
    }
}

pub fn ties(named: arguments::Ties) -> Ties {
    match named {
        arguments::Ties::Low => Ties::Low,
        arguments::Ties::High => Ties::High,
        arguments::Ties::Random => Ties::Random,
    }
}

/// The value of `--step`; the mechanism says what it may be.
pub fn step(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    number::parse(text).map(Some).map_err(|error| Failure::input(format!("--step: {error}")))
}
