//! The errors of this crate.

use evenhand_certify::CertifyError;
use evenhand_exact::{InstanceError, Refusal};
use evenhand_mechanisms::MechanismError;
use thiserror::Error;

/// The reason why there is no verdict, no changed snapshot, or no list of moves.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The fair shares could not be computed.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The axioms of the usage could not be judged.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The allocation does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A claim could not be judged, or its check needs too much time or memory.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// Fair shares by this rule cannot be certified, for this reason.
    #[error("fair shares by the rule `{0}` have no certificate: {1}")]
    NotCertified(&'static str, &'static str),
    /// The snapshot has no placements on single servers, which moves need.
    #[error(
        "the snapshot does not say on which servers tasks run, and moves need that: state `allocation.placements`"
    )]
    NoPlacements,
    /// A user runs a fraction of a task on a server. Moves need whole tasks.
    #[error("user `{user}` runs {tasks} tasks on one server: moves need whole tasks")]
    NotWhole {
        /// The name of the user.
        user: String,
        /// The number of tasks of the user on that server.
        tasks: String,
    },
    /// Amounts or costs have too many digits for the search for migrations.
    #[error(
        "amounts or costs have too many digits for the search for migrations: their common denominator exceeds 2^60 (costs: 2^40)"
    )]
    TooLong,
    /// A change that cannot be made, or that leads to an impossible snapshot.
    #[error("{0}")]
    Change(String),
    /// A cluster cannot be simulated, for this reason.
    #[error("{0}")]
    Waits(String),
    /// The kernel refuses a certificate of this crate. This is a defect of the program.
    #[error("internal error: the kernel refuses the certificate that was made ({0}); nothing is written")]
    Refused(String),
}

impl ClusterError {
    /// Returns `true` if the input causes the error, rather than a limit of the program or a defect.
    #[must_use]
    pub fn is_of_input(&self) -> bool {
        match self {
            Self::Mechanism(error) => matches!(
                error,
                MechanismError::NotApplicable { .. }
                    | MechanismError::DoesNotTake { .. }
                    | MechanismError::Unreadable { .. }
                    | MechanismError::NeedsOption { .. }
                    | MechanismError::BadOption { .. }
            ),
            Self::Certify(CertifyError::Thread(_) | CertifyError::Refused(_))
            | Self::Refusal(_)
            | Self::TooLong
            | Self::Refused(_) => false,
            Self::Certify(CertifyError::Instance(error)) | Self::Instance(error) => {
                !matches!(error, InstanceError::TooLarge(_))
            }
            _ => true,
        }
    }
}
