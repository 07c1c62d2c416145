//! The axioms of fairness, one file each: what it takes to build a claim and to check one.
//!
//! Every axiom has a margin without a unit: the least slack over its inequalities, users measured in
//! `g_n = min(T_n, gamma_n)`, rows as a fraction of their capacity, proportional fairness as a fraction of
//! `sum_n w_n x_n^(1 - alpha)`. It holds when the margin is at least 0, holds within the tolerance when it
//! is at least minus that, and is violated otherwise. Where nothing is compared (no user, no pair) the
//! axiom holds and the margin is absent.

pub mod bottleneck;
pub mod ef1;
pub mod envy_free;
pub mod feasible;
pub mod integer_feasible;
pub mod integer_pareto_optimal;
pub mod max_min;
pub mod njc;
pub mod pareto_optimal;
pub mod proportional;
pub mod ps_dsf;
pub mod sharing_incentive;
pub mod work_conserving;

/// The names of the axioms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Axiom {
    /// Nothing exceeds a capacity or a task limit, nothing is negative or misplaced.
    Feasible,
    /// Every placed task is whole and on one server.
    IntegerFeasible,
    /// No user holds resources that do not serve a task: by construction, since an allocation here
    /// is made of tasks. Margin 0.
    NonWasteful,
    /// Nobody could run more tasks in what is free as things stand.
    WorkConserving,
    /// No feasible allocation gives somebody more and nobody less.
    ParetoOptimal,
    /// No whole tasks on single servers give somebody more and nobody less.
    IntegerParetoOptimal,
    /// Nobody would rather have the bundle of another user, scaled by their weights.
    EnvyFree,
    /// Envy-free up to one task of the envied user.
    Ef1,
    /// Everybody has at least what its own part of every server would give it.
    SharingIncentive,
    /// Weighted max-min on the resource that is everybody's bottleneck on every class.
    BottleneckFair,
    /// Weighted max-min on the resource that is everybody's global dominant resource.
    GlobalBottleneckFair,
    /// With one resource: weighted max-min on it.
    SingleResourceFair,
    /// Weighted lexicographic max-min of a named [`Share`](crate::Share).
    MaxMin,
    /// No justified complaints: everybody has all its tasks, or its entitlement of a saturated row.
    Njc,
    /// Per-server dominant-share fairness: everybody has all its tasks, or a bottleneck on every class.
    PsDsf,
    /// Proportional fairness, and alpha fairness, of the tasks or of the generic share.
    Proportional,
}

impl Axiom {
    /// Every axiom, in the order of the formats.
    pub const ALL: [Self; 16] = [
        Self::Feasible,
        Self::IntegerFeasible,
        Self::NonWasteful,
        Self::WorkConserving,
        Self::ParetoOptimal,
        Self::IntegerParetoOptimal,
        Self::EnvyFree,
        Self::Ef1,
        Self::SharingIncentive,
        Self::BottleneckFair,
        Self::GlobalBottleneckFair,
        Self::SingleResourceFair,
        Self::MaxMin,
        Self::Njc,
        Self::PsDsf,
        Self::Proportional,
    ];

    /// The name that files and the command line use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Feasible => "feasible",
            Self::IntegerFeasible => "integer-feasible",
            Self::NonWasteful => "non-wasteful",
            Self::WorkConserving => "work-conserving",
            Self::ParetoOptimal => "pareto-optimal",
            Self::IntegerParetoOptimal => "integer-pareto-optimal",
            Self::EnvyFree => "envy-free",
            Self::Ef1 => "ef1",
            Self::SharingIncentive => "sharing-incentive",
            Self::BottleneckFair => "bottleneck-fair",
            Self::GlobalBottleneckFair => "global-bottleneck-fair",
            Self::SingleResourceFair => "single-resource-fair",
            Self::MaxMin => "max-min",
            Self::Njc => "njc",
            Self::PsDsf => "ps-dsf",
            Self::Proportional => "proportional",
        }
    }

    /// The axiom of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axiom| axiom.name() == name)
    }

    /// Whether a claim takes evidence that only a solver finds ([`Claim::with_evidence`]); the
    /// others derive theirs from the allocation ([`Claim::derive`]).
    ///
    /// [`Claim::with_evidence`]: crate::Claim::with_evidence
    /// [`Claim::derive`]: crate::Claim::derive
    #[must_use]
    pub const fn needs_evidence(self) -> bool {
        matches!(
            self,
            Self::ParetoOptimal
                | Self::IntegerParetoOptimal
                | Self::BottleneckFair
                | Self::GlobalBottleneckFair
                | Self::SingleResourceFair
                | Self::MaxMin
                | Self::Proportional
        )
    }
}
