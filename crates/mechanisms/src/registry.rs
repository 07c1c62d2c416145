//! All mechanisms by name.

use crate::asset::ASSET;
use crate::cdrf::CDRF;
use crate::drf::DRF;
use crate::drfh::DRFH;
use crate::generic::GENERIC;
use crate::mechanism::Mechanism;
use crate::per_server_drf::PerServerDrf;
use crate::tsf::TSF;
use crate::utilitarian::Utilitarian;

/// Every mechanism, in the order in which tables show them.
pub static ALL: &[&dyn Mechanism] =
    &[&DRF, &DRFH, &CDRF, &TSF, &ASSET, &PerServerDrf, &GENERIC, &Utilitarian];

/// The mechanism of that name.
///
/// # Examples
/// ```
/// use evenhand_mechanisms::registry;
/// assert_eq!(registry::find("c-drfh").unwrap().info().id, "drfh");
/// assert!(registry::find("first-come").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Mechanism> {
    ALL.iter().copied().find(|m| m.info().id == name || m.info().aliases.contains(&name))
}

/// The mechanism that made an allocation, by the name that the allocation states.
#[must_use]
pub fn made_by(allocation: &evenhand_problem::Allocation) -> Option<&'static dyn Mechanism> {
    find(allocation.mechanism.as_deref()?)
}

/// The names that [`find`] knows, for messages.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|m| m.info().id).collect()
}
