//! The content and the claims of a ratio certificate.

use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::{Integer, Rational, Reservation};

use super::{Greedy, Optimum};

/// The `kind` of a ratio certificate.
pub const KIND: &str = "ratio-certificate";
/// The version of the format that is written. Only this version is read.
pub const VERSION: u32 = 1;

/// The reward of greedy and the optimum, with the proofs of both.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioCertificate {
    /// The problem.
    pub problem: Reservation,
    /// The global greedy assignment, with servers as fractions of all servers.
    pub greedy: Greedy<Rational>,
    /// The optimum of the fluid problem, between an assignment and a bound.
    pub optimum: Optimum<Rational>,
    /// The reward of greedy divided by the bound. `None` if the bound is 0.
    pub ratio: Option<Rational>,
    /// The same statements for whole servers and jobs.
    pub integer: Option<Whole>,
}

/// The statements about whole servers and whole jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The greedy placement.
    pub greedy: Greedy<Integer>,
    /// The optimum.
    pub optimum: Optimum<Integer>,
}

/// Returns true if the `kind` of a text is that of a ratio certificate.
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
    /// Returns the claims of the certificate. Each claim is one sentence.
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
