//! All mechanisms by name.

use evenhand_exact::{Axiom, Parameters};
use evenhand_problem::Allocation;

use crate::alpha::{ALPHA, PROPORTIONAL};
use crate::asset::ASSET;
use crate::cdrf::CDRF;
use crate::drf::DRF;
use crate::drfh::DRFH;
use crate::filling::{Fill, Slots};
use crate::generic::GENERIC;
use crate::mechanism::Mechanism;
use crate::njc::Njc;
use crate::per_server_drf::PerServerDrf;
use crate::ps_dsf::{PsDsf, PsDsfTdm};
use crate::tsf::TSF;
use crate::utilitarian::Utilitarian;

/// Every mechanism, in the order in which tables show them.
pub static ALL: &[&dyn Mechanism] = &[
    &DRF,
    &DRFH,
    &CDRF,
    &TSF,
    &ASSET,
    &PerServerDrf,
    &GENERIC,
    &Utilitarian,
    &PROPORTIONAL,
    &ALPHA,
    &Njc,
    &PsDsf,
    &PsDsfTdm,
    &Fill,
    &Slots,
];

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

/// The axiom that the mechanism which an allocation names is made to satisfy.
#[must_use]
pub fn axiom_of(allocation: &Allocation) -> Option<(Axiom, Parameters)> {
    find(allocation.mechanism.as_deref()?)?.axiom(allocation)
}

/// The names that [`find`] knows, for messages.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|m| m.info().id).collect()
}
