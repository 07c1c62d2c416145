//! The papers' claims about mechanisms, which are compared with proofs and search results.

use evenhand_exact::Axiom::{
    self, BottleneckFair, EnvyFree, GlobalBottleneckFair, ParetoOptimal, SharingIncentive, SingleResourceFair,
};

use super::column::Column;
use super::premises::Premises;
use crate::Property::{self, InTime, NoFreeHarm, PopulationMonotone, SingleServerDrf, StrategyProof};

/// A claim of a paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// The short name of the paper, and the section or table of the claim.
    pub paper: &'static str,
    /// The mechanism.
    pub mechanism: &'static str,
    /// The axiom or property that the claim is about.
    pub column: Column,
    /// The rule that selects among several answers of the mechanism, unless it is the default rule.
    pub select: Option<&'static str>,
    /// The premises that the paper makes about every problem.
    pub premises: Premises,
    /// True if the paper claims that the mechanism has the property or satisfies the axiom. False if the
    /// paper denies it.
    pub says: bool,
}

/// The premises of PS-DSF: heterogeneous servers with placement constraints, and unlimited tasks.
const PS_DSF: Premises = Premises { unlimited: true, ..Premises::NONE };
/// The premises of PS-DSF, Lemma 1: all users demand all resources.
const LEMMA_1: Premises = Premises { positive: true, ..PS_DSF };
/// The premises of DRFH: positive demands, no placement constraints.
const DRFH: Premises = Premises { positive: true, unlimited: true, everywhere: true, one_server: false };
/// The premises of CDRF as PS-DSF describes it: no placement constraints, all resources on every server.
const CDRF: Premises = Premises { unlimited: true, everywhere: true, ..Premises::NONE };
/// The premises of NJC: there is one server, and every user has a limited request, which may be granted
/// completely.
const NJC: Premises = Premises { one_server: true, ..Premises::NONE };

const TABLE_I: &str = "PS-DSF, Table I";
const THEOREM_3: &str = "PS-DSF, Theorem 3";

const fn axiom(
    paper: &'static str,
    mechanism: &'static str,
    axiom: Axiom,
    premises: Premises,
    says: bool,
) -> Claim {
    Claim { paper, mechanism, column: Column::Axiom(axiom), select: None, premises, says }
}

const fn property(
    paper: &'static str,
    mechanism: &'static str,
    property: Property,
    premises: Premises,
    says: bool,
) -> Claim {
    Claim { paper, mechanism, column: Column::Property(property), select: None, premises, says }
}

/// All claims, paper by paper.
pub const CLAIMS: &[Claim] = &[
    axiom(TABLE_I, "drfh", SharingIncentive, PS_DSF, false),
    axiom(TABLE_I, "drfh", EnvyFree, PS_DSF, true),
    property(TABLE_I, "drfh", StrategyProof, PS_DSF, true),
    axiom(TABLE_I, "drfh", ParetoOptimal, PS_DSF, true),
    axiom(TABLE_I, "drfh", BottleneckFair, PS_DSF, false),
    axiom(TABLE_I, "tsf", SharingIncentive, PS_DSF, true),
    axiom(TABLE_I, "tsf", EnvyFree, PS_DSF, true),
    property(TABLE_I, "tsf", StrategyProof, PS_DSF, true),
    axiom(TABLE_I, "tsf", ParetoOptimal, PS_DSF, true),
    axiom(TABLE_I, "tsf", BottleneckFair, PS_DSF, false),
    axiom(TABLE_I, "ps-dsf", SharingIncentive, PS_DSF, true),
    axiom(TABLE_I, "ps-dsf", EnvyFree, PS_DSF, true),
    property(TABLE_I, "ps-dsf", StrategyProof, PS_DSF, false),
    axiom(TABLE_I, "ps-dsf", ParetoOptimal, PS_DSF, false),
    axiom(TABLE_I, "ps-dsf", BottleneckFair, PS_DSF, true),
    axiom(THEOREM_3, "ps-dsf", SingleResourceFair, PS_DSF, true),
    axiom(THEOREM_3, "ps-dsf-tdm", SharingIncentive, PS_DSF, true),
    axiom(THEOREM_3, "ps-dsf-tdm", EnvyFree, PS_DSF, true),
    axiom(THEOREM_3, "ps-dsf-tdm", ParetoOptimal, PS_DSF, true),
    axiom(THEOREM_3, "ps-dsf-tdm", BottleneckFair, PS_DSF, true),
    axiom(THEOREM_3, "ps-dsf-tdm", SingleResourceFair, PS_DSF, true),
    property(THEOREM_3, "ps-dsf-tdm", StrategyProof, PS_DSF, true),
    property("PS-DSF, Theorem 3, in time slices", "ps-dsf-tdm", InTime, PS_DSF, true),
    property("PS-DSF, Lemma 1", "ps-dsf", NoFreeHarm, LEMMA_1, true),
    axiom("PS-DSF, II-B", "cdrf", SharingIncentive, CDRF, true),
    axiom("PS-DSF, II-B", "cdrf", EnvyFree, CDRF, true),
    axiom("PS-DSF, II-B", "cdrf", ParetoOptimal, CDRF, true),
    property("PS-DSF, II-B", "cdrf", StrategyProof, CDRF, true),
    axiom("DRFH, Proposition 1", "drfh", EnvyFree, DRFH, true),
    axiom("DRFH, Proposition 2", "drfh", ParetoOptimal, DRFH, true),
    property("DRFH, Proposition 3", "drfh", StrategyProof, DRFH, true),
    property("DRFH, Proposition 4", "drfh", SingleServerDrf, DRFH, true),
    axiom("DRFH, Proposition 5", "drfh", SingleResourceFair, DRFH, true),
    axiom("DRFH, Proposition 6", "drfh", GlobalBottleneckFair, DRFH, true),
    property("DRFH, Proposition 7", "drfh", PopulationMonotone, DRFH, true),
    axiom("DRFH, IV-D", "drfh", SharingIncentive, DRFH, false),
    axiom("NJC, section 4", "njc", SharingIncentive, NJC, true),
    axiom("NJC, section 4", "njc", ParetoOptimal, NJC, true),
    property("NJC, section 4", "njc", StrategyProof, NJC, true),
    axiom("NJC, section 4", "njc", EnvyFree, NJC, true),
    // The paper claims freedom from envy of every allocation without justified complaints. One such
    // allocation with envy contradicts the claim.
    Claim { select: Some("max-tasks"), ..axiom("NJC, section 4, most tasks", "njc", EnvyFree, NJC, true) },
];
