//! All mechanisms by name.

use evenhand_exact::{Axiom, Parameters};
use evenhand_problem::Allocation;

use crate::flags::Flag;
use crate::guarantees::{Condition, Guarantee};
use crate::mechanism::Mechanism;

/// Every mechanism, in the order in which tables show them.
pub static ALL: &[&Mechanism] = &[
    &crate::max_min::DRF,
    &crate::max_min::DRFH,
    &crate::max_min::CDRF,
    &crate::max_min::TSF,
    &crate::max_min::ASSET,
    &crate::per_server_drf::PER_SERVER_DRF,
    &crate::max_min::GENERIC,
    &crate::utilitarian::UTILITARIAN,
    &crate::alpha::PROPORTIONAL,
    &crate::alpha::ALPHA,
    &crate::njc::NJC,
    &crate::ps_dsf::PS_DSF,
    &crate::ps_dsf::tdm::PS_DSF_TDM,
    &crate::filling::FILL,
    &crate::filling::SLOTS,
    &crate::tree::TREE,
];

/// The mechanism of that name.
///
/// # Examples
/// ```
/// use evenhand_mechanisms::registry;
/// assert_eq!(registry::find("c-drfh").unwrap().info.id, "drfh");
/// assert!(registry::find("first-come").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Mechanism> {
    ALL.iter().copied().find(|m| m.info.id == name || m.info.aliases.contains(&name))
}

/// The axiom that the mechanism which an allocation names is made to satisfy.
#[must_use]
pub fn axiom_of(allocation: &Allocation) -> Option<(Axiom, Parameters)> {
    (find(allocation.mechanism.as_deref()?)?.axiom)(allocation)
}

/// The names that [`find`] knows, for messages.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|m| m.info.id).collect()
}

/// Every flag once, each with the first mechanism that takes it.
#[must_use]
pub fn flags() -> Vec<(&'static Mechanism, &'static Flag)> {
    let mut flags: Vec<(&Mechanism, &Flag)> = Vec::new();
    for (mechanism, flag) in ALL.iter().flat_map(|m| m.flags.iter().map(move |flag| (*m, flag))) {
        if flags.iter().all(|(_, known)| known.name != flag.name) {
            flags.push((mechanism, flag));
        }
    }
    flags
}

/// The list of docs/guarantees.md, which is written from here: for every axiom the mechanisms of which it is proven. A
/// test holds every mechanism to it on random problems.
#[must_use]
pub fn guarantees() -> String {
    Axiom::ALL.into_iter().filter(|axiom| *axiom != Axiom::NonWasteful).filter_map(line).collect()
}

/// Those that always satisfy it first; nothing where there is none.
fn line(axiom: Axiom) -> Option<String> {
    let mut proven: Vec<(Condition, Vec<String>)> = Vec::new();
    for mechanism in ALL {
        if let Guarantee::When(condition) = mechanism.guarantee(axiom) {
            let id = format!("`{}`", mechanism.info.id);
            match proven.iter_mut().find(|(known, _)| *known == condition) {
                Some((_, ids)) => ids.push(id),
                None => proven.push((condition, vec![id])),
            }
        }
    }
    let (always, sometimes): (Vec<_>, Vec<_>) =
        proven.into_iter().partition(|(condition, _)| *condition == Condition::Always);
    let always = always
        .into_iter()
        .map(|(_, ids)| if ids.len() == ALL.len() { "all".to_owned() } else { ids.join(", ") });
    let sometimes =
        sometimes.into_iter().map(|(condition, ids)| format!("{} {}", ids.join(", "), condition.words()));
    let all: Vec<String> = always.chain(sometimes).collect();
    (!all.is_empty()).then(|| format!("- `{}`: {}\n", axiom.name(), all.join("; ")))
}
