//! The reasons why a mechanism returns no allocation.

use evenhand_levels::LevelsError;
use evenhand_ode::cluster::ClusterError;
use thiserror::Error;

/// The reason why a mechanism returns no allocation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// The mechanism is not defined for this problem.
    #[error("{mechanism} does not apply to this problem: {why}")]
    NotApplicable {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The reason in words.
        why: String,
    },
    /// The mechanism does not accept an option that was given.
    #[error("--{option} does not go with the mechanism `{mechanism}`")]
    DoesNotTake {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The name of the option.
        option: &'static str,
    },
    /// The text given for an option is not a valid value.
    #[error("--{option}: {why}")]
    Unreadable {
        /// The name of the option.
        option: &'static str,
        /// The problem with the value, in words.
        why: String,
    },
    /// The mechanism requires an option that was not given.
    #[error("{mechanism} needs the option --{option}")]
    NeedsOption {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The name of the option.
        option: &'static str,
    },
    /// The value of an option is out of the range that the mechanism accepts.
    #[error("{mechanism}: --{option}: {why}")]
    BadOption {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The name of the option.
        option: &'static str,
        /// The problem with the value, in words.
        why: String,
    },
    /// The problem is larger than the mechanism can handle.
    #[error("{mechanism}: {why}")]
    Limit {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The limit that was reached, in words.
        why: String,
    },
    /// A solver failed or reached a limit.
    #[error("{mechanism}: {source}")]
    Solver {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The error that the solver returned.
        source: LevelsError,
    },
    /// The continuous solver does not accept the problem.
    #[error("{mechanism}: {source}")]
    Continuous {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The error that the continuous solver returned.
        source: ClusterError,
    },
    /// An exact answer exists, but the mechanism could not compute it.
    #[error("{mechanism}: {why}")]
    NotFound {
        /// The mechanism's name.
        mechanism: &'static str,
        /// The methods that were tried, in words.
        why: String,
    },
}

impl MechanismError {
    /// Returns the reason in words. Names the mechanism, unless the reason is that the mechanism does not
    /// apply.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::NotApplicable { why, .. } => why.clone(),
            error => error.to_string(),
        }
    }
}
