//! What a ratio certificate holds and claims.

use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::{Integer, Rational, Reservation};

use super::{Greedy, Optimum};

/// What `kind` says in a ratio certificate.
pub const KIND: &str = "ratio-certificate";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// What greedy earns, what the optimum does, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioCertificate {
    /// The problem.
    pub problem: Reservation,
    /// The global greedy assignment; servers are fractions of all.
    pub greedy: Greedy<Rational>,
    /// The optimum of the fluid problem, from both sides.
    pub optimum: Optimum<Rational>,
    /// Greedy's reward over the bound; `None` where the bound is 0.
    pub ratio: Option<Rational>,
    /// The same with whole servers and jobs.
    pub integer: Option<Whole>,
}

/// Whole servers and whole jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The greedy placement.
    pub greedy: Greedy<Integer>,
    /// The optimum.
    pub optimum: Optimum<Integer>,
}

/// Whether a text is a ratio certificate by its `kind`, and no other document.
#[must_use]
pub fn is_ratio_certificate(source: &Source<'_>) -> bool {
    is_of_kind(source, KIND)
}

pub(super) fn is_of_kind(source: &Source<'_>, kind: &str) -> bool {
    let is = || -> Result<bool, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.get("kind").map_or(Ok(false), |raw| Ok(document.string(raw)? == kind))
    };
    is().unwrap_or(false)
}

impl RatioCertificate {
    /// What it claims, one sentence each.
    #[must_use]
    pub fn claims(&self) -> Vec<String> {
        let (optimum, greedy) = (&self.optimum, &self.greedy.reward);
        let exact = optimum.assignment.reward == optimum.bound;
        let between = |lower: &Rational, upper: &Rational| {
            if lower == upper { format!("is {lower}") } else { format!("is between {lower} and {upper}") }
        };
        let mut claims = vec![
            format!("greedy earns {greedy}"),
            format!("the optimum {}", between(&optimum.assignment.reward, &optimum.bound)),
            match &self.ratio {
                None => "there is nothing to earn".to_owned(),
                Some(ratio) if exact => format!("greedy earns {ratio} of the optimum"),
                Some(ratio) => format!("greedy earns at least {ratio} of the optimum"),
            },
        ];
        if let Some(whole) = &self.integer {
            claims.push(format!(
                "whole servers: greedy earns {}, the optimum {}",
                whole.greedy.reward,
                between(&whole.optimum.assignment.reward, &whole.optimum.bound)
            ));
        }
        claims
    }
}
