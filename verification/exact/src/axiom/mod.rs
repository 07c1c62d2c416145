//! The axioms of fairness, one file each: what it takes to build a claim and to check one.
//!
//! Every axiom has a margin without a unit: the least slack over its inequalities, users measured in
//! `g_n = min(T_n, gamma_n)`, rows as a fraction of their capacity, proportional fairness as a fraction of
//! `sum_n w_n x_n^(1 - alpha)`. It holds when the margin is at least 0, holds within the tolerance when it
//! is at least minus that, and is violated otherwise. Where nothing is compared (no user, no pair) the
//! axiom holds and the margin is absent.

mod bottleneck;
mod class_limits;
pub mod ef1;
pub mod envy_free;
pub mod feasible;
mod groups;
mod held_back;
pub mod integer_feasible;
pub mod integer_pareto_optimal;
mod lack;
pub mod max_min;
pub mod njc;
mod non_wasteful;
pub mod pareto_optimal;
pub mod parties;
pub mod proportional;
pub mod ps_dsf;
pub(crate) mod rule;
pub mod sharing_incentive;
pub mod tree;
pub mod work_conserving;

use evenhand_problem::Problem;

use crate::parameters::{ParameterError, Parameters};
use crate::refusal::{Inapplicable, Refusal};
pub use lack::Lacks;
use rule::Rule;

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
    /// No user could run more tasks in what is free as things stand.
    WorkConserving,
    /// No feasible allocation gives some user more and no user less.
    ParetoOptimal,
    /// No whole tasks on single servers give some user more and no user less.
    IntegerParetoOptimal,
    /// No user would rather have the bundle of another, scaled by their weights.
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
    /// Per-server dominant-share fairness: every user has all its tasks, or a bottleneck on every class.
    PsDsf,
    /// Proportional fairness, and alpha fairness, of the tasks or of the generic share.
    Proportional,
    /// No group of users has more than it is allowed.
    Limits,
    /// No user that could use it lacks what the groups above it are promised.
    Guarantees,
    /// No group could have more for each of its users of its own part of the cluster.
    GroupSharingIncentive,
    /// No group could have more for each of its users of what one beside it holds, scaled by their weights.
    GroupEnvyFree,
    /// Everybody has the tasks that hierarchical filling gives it.
    Tree,
}

impl Axiom {
    /// Every axiom, in the order of the formats.
    pub const ALL: [Self; 21] = [
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
        Self::Limits,
        Self::Guarantees,
        Self::GroupSharingIncentive,
        Self::GroupEnvyFree,
        Self::Tree,
    ];

    /// The name that files and the command line use.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.rule().name()
    }

    /// The axiom of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axiom| axiom.name() == name)
    }

    /// That there is no axiom of this name, and which there are.
    #[must_use]
    pub fn unknown(name: &str) -> ParameterError {
        let known = Self::ALL.map(Self::name).join(", ");
        ParameterError::UnknownAxiom { name: name.to_owned(), known }
    }

    /// The parameters that are written after the name of the axiom and a colon.
    ///
    /// # Errors
    /// [`ParameterError`] where it has none, or these are none of its own.
    pub fn parameters(self, text: Option<&str>, problem: &Problem) -> Result<Parameters, ParameterError> {
        match text {
            None => Ok(Parameters::default()),
            Some(text) => Ok(self.rule().parameters(self.rule().parsed(text, problem)?)?),
        }
    }

    /// Whether a claim takes evidence that only a solver finds ([`Claim::with_evidence`]); the
    /// others derive theirs from the allocation ([`Claim::derive`]).
    ///
    /// [`Claim::with_evidence`]: crate::Claim::with_evidence
    /// [`Claim::derive`]: crate::Claim::derive
    #[must_use]
    pub fn needs_evidence(self) -> bool {
        self.rule().needs_evidence()
    }

    /// Every axiom that is a question about a problem: those about groups only where there are some.
    pub fn questions(problem: &Problem) -> impl Iterator<Item = Self> + use<> {
        let has_groups = !problem.groups().list().is_empty();
        Self::ALL.into_iter().filter(move |axiom| has_groups || !axiom.is_about_groups())
    }

    /// Whether it is about groups of users.
    #[must_use]
    pub const fn is_about_groups(self) -> bool {
        matches!(
            self,
            Self::Limits | Self::Guarantees | Self::GroupSharingIncentive | Self::GroupEnvyFree | Self::Tree
        )
    }

    /// Whether it compares an allocation with all that are possible, which keep the limits of groups.
    #[must_use]
    pub const fn is_about_optima(self) -> bool {
        matches!(
            self,
            Self::ParetoOptimal
                | Self::IntegerParetoOptimal
                | Self::MaxMin
                | Self::BottleneckFair
                | Self::GlobalBottleneckFair
                | Self::SingleResourceFair
                | Self::Proportional
        )
    }

    /// The resources that one of the three bottleneck axioms is about, ascending; at least one.
    ///
    /// # Errors
    /// Why the axiom does not apply; also for axioms that are not about a bottleneck.
    pub fn bottlenecks(self, problem: &Problem) -> Result<Vec<usize>, Inapplicable> {
        match self {
            Self::BottleneckFair => bottleneck::BOTTLENECK_FAIR.resources(problem),
            Self::GlobalBottleneckFair => bottleneck::GLOBAL_BOTTLENECK_FAIR.resources(problem),
            Self::SingleResourceFair => bottleneck::SINGLE_RESOURCE_FAIR.resources(problem),
            _ => Err(Inapplicable::new(format!("`{}` is not about a bottleneck", self.name()))),
        }
    }

    /// What it is to claims and certificates.
    pub(crate) fn rule(self) -> &'static dyn Rule {
        match self {
            Self::Feasible => &feasible::Feasible,
            Self::IntegerFeasible => &integer_feasible::IntegerFeasible,
            Self::NonWasteful => &non_wasteful::NonWasteful,
            Self::WorkConserving => &work_conserving::WorkConserving,
            Self::ParetoOptimal => &pareto_optimal::ParetoOptimal,
            Self::IntegerParetoOptimal => &integer_pareto_optimal::IntegerParetoOptimal,
            Self::EnvyFree => &envy_free::EnvyFree,
            Self::Ef1 => &ef1::Ef1,
            Self::SharingIncentive => &sharing_incentive::SharingIncentive,
            Self::BottleneckFair => &bottleneck::BOTTLENECK_FAIR,
            Self::GlobalBottleneckFair => &bottleneck::GLOBAL_BOTTLENECK_FAIR,
            Self::SingleResourceFair => &bottleneck::SINGLE_RESOURCE_FAIR,
            Self::MaxMin => &max_min::MaxMin,
            Self::Njc => &njc::Njc,
            Self::PsDsf => &ps_dsf::PsDsf,
            Self::Proportional => &proportional::Proportional,
            Self::Limits => &groups::Limits,
            Self::Guarantees => &groups::Guarantees,
            Self::GroupSharingIncentive => &parties::rule::GROUP_SHARING_INCENTIVE,
            Self::GroupEnvyFree => &parties::rule::GROUP_ENVY_FREE,
            Self::Tree => &tree::Tree,
        }
    }
}

impl Parameters {
    /// The same with the default filled in: `alpha` is 1.
    ///
    /// # Errors
    /// [`Refusal`] when they are not the parameters of `axiom`.
    pub fn of(self, axiom: Axiom) -> Result<Self, Refusal> {
        axiom.rule().parameters(self)
    }
}
