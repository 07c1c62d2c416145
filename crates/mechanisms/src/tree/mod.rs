//! `tree`: hierarchical filling of groups with guarantees, limits and weights (theory, section 9).
//!
//! Users stand in groups, groups in groups. Filling starts with nothing; at every moment the root lets those of its
//! children grow whose key is least (below their guarantee first, then by priority, then by share over weight), each
//! of these its own children in the same way, down to single users, whose tasks grow at such rates that equal
//! levels stay equal. A user that can grow no more, for want of tasks, of room, or under a limit, is left behind.
//! All events are rational, and so is the result; it does not depend on the order of the file. Without groups,
//! guarantees and another share it is `drfh`.

mod fill;
mod forest;
mod growth;
mod holdings;
mod key;
mod levels;
mod step;

use evenhand_problem::groups::{GroupShare, ShareOf, ShareOver, ZeroWeight};
use evenhand_problem::{Allocation, Arithmetic, Problem, names};

pub use levels::{Next, Standing, levels};

use crate::flags::{Flag, Takes};
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Hierarchical filling.
pub static TREE: Mechanism = Mechanism {
    info: &Info {
        id: "tree",
        aliases: &[],
        title: "Hierarchical filling",
        equalises: "among siblings, below their guarantees first: the share of the group over its weight",
        guarantees: "guarantees before anything else, limits always; exact, whatever the order of the file",
        reference: "theory, section 9; Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads",
    },
    proven: &[],
    flags: &[RULE],
    axiom: |_| None,
    solve: |problem, flags| allocate(problem, &Settings { rule: flags.value("rule")? }),
};

/// Groups and users times resources: each is held about 300 bytes of memory for.
const MOST_CELLS: usize = 1_000_000;

/// The share of a scheduler in place of the problem's own.
const RULE: Flag = Flag {
    name: "rule",
    takes: Takes::Name("RULE", Rule::NAMES),
    help: "tree: the share that a scheduler compares siblings by, in place of the problem's own",
};

/// What can be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// The share of a scheduler in place of the problem's own.
    pub rule: Option<Rule>,
}

/// A scheduler whose share is a case of the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Hierarchical DRF.
    Hdrf,
    /// Mesos.
    Mesos,
    /// Kueue, which gives nominal quota first.
    Kueue,
    /// Kueue's tournament by shares alone.
    KueueTournament,
    /// Armada.
    Armada,
    /// `YuniKorn`.
    YuniKorn,
    /// Slurm.
    Slurm,
}

names! { Rule:
    Hdrf = "hdrf", "usage over the cluster: max_r U_r / C_r";
    Mesos = "mesos", "usage over the cluster, quotas as guarantees";
    Kueue = "kueue", "what exceeds the nominal quota over what can be lent, flavours added; nominal quota first";
    KueueTournament = "kueue-tournament", "the same share, and nominal quota not first";
    Armada = "armada", "usage over the cluster with the problem's multipliers: max_r m_r U_r / C_r";
    YuniKorn = "yunikorn", "usage over the guarantee: max_r U_r / G_r";
    Slurm = "slurm", "usage over the cluster, of one resource";
}

impl Rule {
    /// The share, with what it takes from the problem's own, and whether guarantees come first.
    fn share(self, stated: &GroupShare) -> (GroupShare, bool) {
        let usage = GroupShare::default();
        let of_kueue = GroupShare {
            of: ShareOf::Surplus,
            over: ShareOver::Lendable,
            families: true,
            zero_weight: ZeroWeight::Last,
            multipliers: Vec::new(),
        };
        match self {
            Self::Hdrf | Self::Mesos | Self::Slurm => (usage, true),
            Self::Kueue => (of_kueue, true),
            Self::KueueTournament => (of_kueue, false),
            Self::Armada => (GroupShare { multipliers: stated.multipliers.clone(), ..usage }, true),
            Self::YuniKorn => (GroupShare { over: ShareOver::Guarantee, ..usage }, true),
        }
    }
}

/// The hierarchical filling of a problem, exact.
///
/// # Errors
/// [`MechanismError`]: a user's demand depends on the class, time is shared, or a linear programme could not be
/// solved.
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let forest = forest_of(problem, settings)?;
    let solver = |source| MechanismError::Solver { mechanism: TREE.info.id, source };
    let Some(filled) = fill::fill(problem, &forest).map_err(solver)? else {
        let why = "filling would take too many segments".to_owned();
        return Err(MechanismError::Limit { mechanism: TREE.info.id, why });
    };
    let allocation = Allocation {
        mechanism: Some(TREE.info.id.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: filled.tasks,
        ..Allocation::default()
    };
    Ok(Outcome { rounds: filled.segments, programmes: filled.programmes, ..Outcome::of(allocation) })
}

fn forest_of<'p>(problem: &'p Problem, settings: &Settings) -> Result<forest::Forest<'p>, MechanismError> {
    let not_applicable =
        |why: &str| MechanismError::NotApplicable { mechanism: TREE.info.id, why: why.to_owned() };
    if problem.servers().iter().any(evenhand_problem::ServerClass::is_time_shared) {
        return Err(not_applicable("groups share resources, and the time of a server class is shared"));
    }
    if problem.users().iter().any(|user| !user.demand_overrides().is_empty()) {
        return Err(not_applicable("a user's demand depends on the server class (`demand_on`)"));
    }
    let nodes = 1 + problem.groups().list().len() + problem.n_users();
    if nodes.saturating_mul(problem.n_resources()) > MOST_CELLS {
        let why = format!("groups and users, times resources, are more than {MOST_CELLS}");
        return Err(MechanismError::Limit { mechanism: TREE.info.id, why });
    }
    let stated = problem.groups().share();
    let (share, guarantees_first) =
        settings.rule.map_or_else(|| (stated.clone(), true), |rule| rule.share(stated));
    Ok(forest::Forest::new(problem, share, guarantees_first))
}
