//! Cells that need no search: theorems, and columns that do not apply to a mechanism.

use evenhand_exact::{Axiom, Share};
use evenhand_mechanisms::Mechanism;
use evenhand_mechanisms::guarantees::Guarantee;
use evenhand_problem::Allocation;

use super::column::Column;
use super::premises::Premises;
use crate::Property;

/// The knowledge about a cell before any search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// A theorem proves the cell. The text names the place of the proof.
    Proven(String),
    /// The column does not apply to the mechanism. The text gives the reason.
    NotApplicable(String),
    /// No theorem proves the cell for all problems. If a theorem proves it for some problems, the texts name these
    /// problems and the place of the proof.
    Open(Option<(String, String)>),
}

/// The place of the proofs of the guarantees.
const GUARANTEES: &str = "docs/proofs.md#guarantees";
const THEOREM_B: &str = "verification/proof/theories/TheoremB.v";
const THEOREM_D: &str = "docs/proofs.md#theorem-d";
const THEOREM_E: &str = "docs/proofs.md#theorem-e";
const EQUAL_LEVELS: &str = "docs/proofs.md#equal-levels";
const NO_ENVY: &str = "docs/proofs.md#no-envy";
const ONE_RESOURCE: &str = "docs/proofs.md#one-resource";
const FACT_1: &str = "docs/theory.md, section 3, Fact 1";
const LIES_ABOUT_CLASSES: &str = "docs/proofs.md#lies-about-classes";
const ON_ONE_SERVER: &str = "docs/proofs.md#on-one-server";

/// Returns what is known about the cell before a search whose problems satisfy `premises`.
#[must_use]
pub fn known(mechanism: &Mechanism, column: Column, premises: Premises) -> Known {
    match column {
        Column::Axiom(axiom) => known_axiom(mechanism, axiom, premises),
        Column::Property(property) => not_applicable(mechanism, property)
            .map_or_else(|| known_property(mechanism, property, premises), Known::NotApplicable),
    }
}

fn known_axiom(mechanism: &Mechanism, axiom: Axiom, premises: Premises) -> Known {
    let id = mechanism.info.id;
    let of_groups =
        [Axiom::Limits, Axiom::Guarantees, Axiom::GroupSharingIncentive, Axiom::GroupEnvyFree, Axiom::Tree];
    if of_groups.contains(&axiom) && !mechanism.takes("rule") {
        return Known::NotApplicable(format!("it is about groups, which `{id}` does not support"));
    }
    if let Some(theorem) = theorem_of_axiom(mechanism, axiom) {
        return Known::Proven(theorem.to_owned());
    }
    let guarantee = mechanism.guarantee(axiom);
    if id == "njc" && OF_THE_OPTIMUM.contains(&axiom) && !guarantee_applies(guarantee, premises) {
        let also = match guarantee {
            Guarantee::When(condition) => format!("{}, and ", condition.words()),
            _ => String::new(),
        };
        let problems = format!("{also}where the proportional optimum is rational and found");
        return Known::Open(Some((problems, GUARANTEES.to_owned())));
    }
    match guarantee {
        Guarantee::Never => {
            Known::NotApplicable(format!("it is about whole tasks, but `{id}` gives fractions of tasks"))
        }
        Guarantee::When(_) if guarantee_applies(guarantee, premises) => Known::Proven(GUARANTEES.to_owned()),
        Guarantee::When(condition) => {
            Known::Open(Some((condition.words().to_owned(), GUARANTEES.to_owned())))
        }
        Guarantee::NotInGeneral => Known::Open(None),
    }
}

/// The axioms that are proven for the proportional optimum. `njc` returns this optimum if it is rational.
const OF_THE_OPTIMUM: [Axiom; 7] = [
    Axiom::WorkConserving,
    Axiom::ParetoOptimal,
    Axiom::EnvyFree,
    Axiom::SharingIncentive,
    Axiom::BottleneckFair,
    Axiom::SingleResourceFair,
    Axiom::Proportional,
];

fn guarantee_applies(guarantee: Guarantee, premises: Premises) -> bool {
    matches!(guarantee, Guarantee::When(condition) if premises.imply_condition(condition))
}

/// Returns the place of a theorem about an axiom that is not one of the guarantees. Returns `None` if there is no such
/// theorem. The theorem assumes that every user has the same demand on all classes.
fn theorem_of_axiom(mechanism: &Mechanism, axiom: Axiom) -> Option<&'static str> {
    let share = share_of_tasks(mechanism);
    let is_proportional = mechanism.info.id == "proportional" || is_time_shared(mechanism);
    match axiom {
        Axiom::PsDsf if mechanism.info.id == "drf" => Some(ON_ONE_SERVER),
        Axiom::EnvyFree if share.is_some() => Some(NO_ENVY),
        Axiom::SingleResourceFair if share.is_some() || is_proportional => Some(ONE_RESOURCE),
        Axiom::BottleneckFair if is_proportional => Some(ONE_RESOURCE),
        Axiom::Njc if is_time_shared(mechanism) => Some(FACT_1),
        _ => None,
    }
}

fn not_applicable(mechanism: &Mechanism, property: Property) -> Option<String> {
    let id = mechanism.info.id;
    match property {
        Property::ByClasses if id == "drf" => {
            Some("there is only one server, so users cannot state other classes".to_owned())
        }
        Property::ByClasses if id == "cdrf" => Some(
            "it is defined only if every user may run everywhere, so users cannot state other classes"
                .to_owned(),
        ),
        Property::InTime if !is_time_shared(mechanism) => {
            Some(format!("`{id}` divides resources: no user is given time"))
        }
        Property::SingleServerDrf if is_time_shared(mechanism) => {
            Some(format!("DRF divides resources, but `{id}` shares time"))
        }
        Property::SingleServerDrf if mechanism.is_of_whole_tasks() => {
            Some(format!("DRF gives fractions of tasks, but `{id}` places whole tasks"))
        }
        _ => None,
    }
}

/// Returns `true` if the mechanism always shares servers by time, whatever the problem states.
fn is_time_shared(mechanism: &Mechanism) -> bool {
    mechanism.info.id == "ps-dsf-tdm"
}

/// Returns the share whose levels the mechanism makes lexicographically maximal. Returns `None` unless the
/// level of a user is its tasks divided by a reference that depends only on its demand. `Share::FinishTime`
/// is left out, because its reference also depends on the classes and the weights.
fn share_of_tasks(mechanism: &Mechanism) -> Option<Share> {
    let (axiom, parameters) = (mechanism.axiom)(&Allocation::default())?;
    let depends_on_demand = |share: &Share| !matches!(share, Share::Generic | Share::FinishTime);
    parameters.share.filter(|share| axiom == Axiom::MaxMin && depends_on_demand(share))
}

fn known_property(mechanism: &Mechanism, property: Property, premises: Premises) -> Known {
    use Property::{
        ByClasses, ByDemand, NoFreeHarm, NonBossy, PopulationMonotone, SingleServerDrf, StrategyProof,
    };
    let share = share_of_tasks(mechanism);
    let alone = mechanism.info.id == "per-server-drf";
    let any = Premises::NONE;
    let theorem = match property {
        StrategyProof | ByDemand | ByClasses if share.is_some() || alone => Some((any, THEOREM_D)),
        StrategyProof | ByDemand | ByClasses if is_time_shared(mechanism) => Some((any, THEOREM_B)),
        ByClasses if mechanism.info.id == "tree" => Some((any, LIES_ABOUT_CLASSES)),
        PopulationMonotone if is_time_shared(mechanism) => Some((any, THEOREM_E)),
        PopulationMonotone | NoFreeHarm | NonBossy if share.is_some() => {
            let everywhere = !["drf", "cdrf"].contains(&mechanism.info.id);
            Some((Premises { positive: true, unlimited: true, everywhere, one_server: false }, EQUAL_LEVELS))
        }
        SingleServerDrf if share.is_some_and(|share| share != Share::Asset) || alone => {
            Some((any, ON_ONE_SERVER))
        }
        SingleServerDrf if mechanism.info.id == "ps-dsf" => Some((any, ON_ONE_SERVER)),
        SingleServerDrf if mechanism.info.id == "tree" => {
            let usual = "where the problem states no share".to_owned();
            return Known::Open(Some((usual, ON_ONE_SERVER.to_owned())));
        }
        _ => None,
    };
    match theorem {
        Some((needs, reference)) if premises.imply(needs) => Known::Proven(reference.to_owned()),
        Some((needs, reference)) => Known::Open(Some((needs.words(), reference.to_owned()))),
        None => Known::Open(None),
    }
}
