//! Why a mechanism gives no allocation.

use evenhand_levels::LevelsError;
use evenhand_ode::cluster::ClusterError;
use thiserror::Error;

/// Why a mechanism gives no allocation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// It is not defined for this problem.
    #[error("{mechanism} does not apply to this problem: {why}")]
    NotApplicable {
        /// Its name.
        mechanism: &'static str,
        /// The reason.
        why: String,
    },
    /// It does not take an option that is stated.
    #[error("--{option} does not go with the mechanism `{mechanism}`")]
    DoesNotTake {
        /// Its name.
        mechanism: &'static str,
        /// The option.
        option: &'static str,
    },
    /// What was stated for an option is no value for it.
    #[error("--{option}: {why}")]
    Unreadable {
        /// The option.
        option: &'static str,
        /// What is wrong, in words.
        why: String,
    },
    /// It cannot do without an option, which is not stated.
    #[error("{mechanism} needs the option --{option}")]
    NeedsOption {
        /// Its name.
        mechanism: &'static str,
        /// The option.
        option: &'static str,
    },
    /// An option has a value that it cannot have.
    #[error("{mechanism}: --{option}: {why}")]
    BadOption {
        /// Its name.
        mechanism: &'static str,
        /// The option.
        option: &'static str,
        /// What is wrong, in words.
        why: String,
    },
    /// The problem is larger than what it works on.
    #[error("{mechanism}: {why}")]
    Limit {
        /// Its name.
        mechanism: &'static str,
        /// Which limit was reached, in words.
        why: String,
    },
    /// A solver failed or reached a limit.
    #[error("{mechanism}: {source}")]
    Solver {
        /// Its name.
        mechanism: &'static str,
        /// What the solver says.
        source: LevelsError,
    },
    /// The continuous solver cannot take the problem.
    #[error("{mechanism}: {source}")]
    Continuous {
        /// Its name.
        mechanism: &'static str,
        /// What the solver says.
        source: ClusterError,
    },
    /// No exact answer was found, though there is one.
    #[error("{mechanism}: {why}")]
    NotFound {
        /// Its name.
        mechanism: &'static str,
        /// What was tried, in words.
        why: String,
    },
}

impl MechanismError {
    /// What is wrong, without the mechanism's name where the problem is not one for it.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::NotApplicable { why, .. } => why.clone(),
            error => error.to_string(),
        }
    }
}
