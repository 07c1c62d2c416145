//! Why there is no answer.

use evenhand_certify::CertifyError;
use evenhand_exact::{InstanceError, Refusal};
use evenhand_mechanisms::MechanismError;
use thiserror::Error;

/// Why a cluster is not judged, changed or moved.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The fair shares could not be computed.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The usage or the fair shares could not be examined.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The allocation does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// An axiom could not be judged, or takes too much.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// Fair shares by this rule cannot be certified, for this reason.
    #[error("what is due by the rule `{0}` has no certificate: {1}")]
    NotCertified(&'static str, &'static str),
    /// Moves need single servers.
    #[error("the snapshot has no placements on single servers, and moves are about these")]
    NoPlacements,
    /// Moves are of whole tasks.
    #[error("`{user}` runs {tasks} tasks on a server: moves are of whole tasks")]
    NotWhole {
        /// Its name.
        user: String,
        /// How many.
        tasks: String,
    },
    /// A change that cannot be made.
    #[error("{0}")]
    Change(String),
    /// The certificate that was made is refused by the kernel.
    #[error("internal error: the kernel refuses the certificate that was made ({0}); nothing is written")]
    Refused(String),
}

impl ClusterError {
    /// Whether the input is to blame, and no limit and no solver.
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
            | Self::Refused(_) => false,
            Self::Certify(CertifyError::Instance(error)) | Self::Instance(error) => {
                !matches!(error, InstanceError::TooLarge(_))
            }
            _ => true,
        }
    }
}
