//! The axioms of fairness, one file each: functions that build and check claims.
//!
//! Every axiom has a margin without a unit: the least slack of its inequalities. Users are measured in
//! `g_n = min(T_n, gamma_n)`, rows as a fraction of their capacity, and proportional fairness as a fraction of
//! `sum_n w_n x_n^(1 - alpha)`. An axiom holds if its margin is at least 0. It holds within the tolerance if the margin
//! is at least minus the tolerance, and is violated otherwise. If there is no user or no pair to compare, the axiom
//! holds without a margin.

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
pub mod optimal;
pub mod packings;
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
    /// No capacity or number of tasks is exceeded, and no entry is negative or misplaced.
    Feasible,
    /// Every placed task is a whole task and runs on one server.
    IntegerFeasible,
    /// No user has resources that do not serve a task. This holds by construction, because an allocation consists of
    /// tasks. The margin is 0.
    NonWasteful,
    /// No user could run more tasks in the free capacity.
    WorkConserving,
    /// No feasible allocation gives some user more and no user less.
    ParetoOptimal,
    /// No assignment of whole tasks to single servers gives some user more and no user less.
    IntegerParetoOptimal,
    /// No user would prefer the bundle of another user, scaled by the weights of the two users.
    EnvyFree,
    /// Envy-free up to one task of the envied user.
    Ef1,
    /// Every user has at least the tasks that its own fraction of every server would give it.
    SharingIncentive,
    /// Weighted max-min on the resource that is the bottleneck of every user on every class.
    BottleneckFair,
    /// Weighted max-min on the resource that is the global dominant resource of every user.
    GlobalBottleneckFair,
    /// Weighted max-min on the single resource of the problem.
    SingleResourceFair,
    /// Weighted lexicographic max-min of a named [`Share`](crate::Share).
    MaxMin,
    /// Weighted lexicographic max-min of a named [`Share`](crate::Share) among whole tasks over time.
    MaxMinPackings,
    /// No envy-free allocation has more tasks in total.
    OptimalEnvyFree,
    /// No allocation in which all users have the same tasks over weight has more tasks in total.
    OptimalEqual,
    /// No justified complaints: every user has all its tasks, or its entitlement on a saturated row.
    Njc,
    /// Per-server dominant-share fairness: every user has all its tasks, or a bottleneck on every class.
    PsDsf,
    /// Proportional fairness, and alpha fairness, of the tasks or of the generic share.
    Proportional,
    /// No group of users has more than its limits allow.
    Limits,
    /// No user lacks tasks to which the guarantees of the groups above it entitle it.
    Guarantees,
    /// No group could have more for each of its users if it had its own fraction of the cluster.
    GroupSharingIncentive,
    /// No group could have more for each of its users if it had the usage of a sibling, scaled by their weights.
    GroupEnvyFree,
    /// Every user has the tasks that hierarchical filling gives it.
    Tree,
}

impl Axiom {
    /// Every axiom, in the order of the formats.
    pub const ALL: [Self; 24] = [
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
        Self::MaxMinPackings,
        Self::OptimalEnvyFree,
        Self::OptimalEqual,
        Self::Njc,
        Self::PsDsf,
        Self::Proportional,
        Self::Limits,
        Self::Guarantees,
        Self::GroupSharingIncentive,
        Self::GroupEnvyFree,
        Self::Tree,
    ];

    /// Returns the name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.rule().name()
    }

    /// Returns the axiom with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axiom| axiom.name() == name)
    }

    /// Returns the error that no axiom has the name `name`. The error lists all names.
    #[must_use]
    pub fn unknown(name: &str) -> ParameterError {
        let known = Self::ALL.map(Self::name).join(", ");
        ParameterError::UnknownAxiom { name: name.to_owned(), known }
    }

    /// Parses the parameters that follow the name of the axiom and a colon.
    ///
    /// # Errors
    /// Returns [`ParameterError`] if the axiom has no parameters, or these are not parameters of the axiom.
    pub fn parameters(self, text: Option<&str>, problem: &Problem) -> Result<Parameters, ParameterError> {
        match text {
            None => Ok(Parameters::default()),
            Some(text) => Ok(self.rule().parameters(self.rule().parsed(text, problem)?)?),
        }
    }

    /// Returns true if a claim needs evidence that only a solver can compute ([`Claim::with_evidence`]). The evidence
    /// of the other axioms is derived from the allocation ([`Claim::derive`]).
    ///
    /// [`Claim::with_evidence`]: crate::Claim::with_evidence
    /// [`Claim::derive`]: crate::Claim::derive
    #[must_use]
    pub fn needs_evidence(self) -> bool {
        self.rule().needs_evidence()
    }

    /// Returns the axioms that can be asked about a problem. Axioms about groups are included only if there are groups.
    /// The axioms about packings and about optima under a condition are included only if there are no groups.
    pub fn questions(problem: &Problem) -> impl Iterator<Item = Self> + use<> {
        let has_groups = !problem.groups().list().is_empty();
        // These axioms are not defined for users in groups.
        let is_apart =
            |axiom: Self| matches!(axiom, Self::MaxMinPackings | Self::OptimalEnvyFree | Self::OptimalEqual);
        let is_asked =
            move |axiom: Self| if has_groups { !is_apart(axiom) } else { !axiom.is_about_groups() };
        Self::ALL.into_iter().filter(move |axiom| is_asked(*axiom))
    }

    /// Returns true if the axiom is about groups of users.
    #[must_use]
    pub const fn is_about_groups(self) -> bool {
        matches!(
            self,
            Self::Limits | Self::Guarantees | Self::GroupSharingIncentive | Self::GroupEnvyFree | Self::Tree
        )
    }

    /// Returns true if the axiom compares an allocation with all possible allocations. These possible allocations
    /// respect the limits of groups.
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

    /// Returns an error if the axiom is not defined for the rates of the users or for limits of their accelerators
    /// (docs/theory.md, section 12). An axiom that ignored such a limit would compare allocations with infeasible
    /// allocations.
    ///
    /// # Errors
    /// Returns the reason why the axiom does not apply.
    pub fn covers(self, problem: &Problem) -> Result<(), Inapplicable> {
        let is_of_base_demands =
            matches!(self, Self::BottleneckFair | Self::GlobalBottleneckFair | Self::SingleResourceFair);
        if (is_of_base_demands || self.is_about_groups()) && problem.has_rates() {
            return Err(Inapplicable::new("users state rates, which the axiom does not cover"));
        }
        let keeps_limits = matches!(
            self,
            Self::Feasible
                | Self::NonWasteful
                | Self::ParetoOptimal
                | Self::SharingIncentive
                | Self::MaxMin
                | Self::OptimalEqual
                | Self::Proportional
        );
        if !keeps_limits && problem.has_at_most() {
            return Err(Inapplicable::new("users state `at_most`, which the axiom does not cover"));
        }
        Ok(())
    }

    /// Returns the bottleneck resources of one of the three bottleneck axioms, ascending. There is at least one.
    ///
    /// # Errors
    /// Returns the reason why the axiom does not apply. For any other axiom the result is always an error.
    pub fn bottlenecks(self, problem: &Problem) -> Result<Vec<usize>, Inapplicable> {
        match self {
            Self::BottleneckFair => bottleneck::BOTTLENECK_FAIR.resources(problem),
            Self::GlobalBottleneckFair => bottleneck::GLOBAL_BOTTLENECK_FAIR.resources(problem),
            Self::SingleResourceFair => bottleneck::SINGLE_RESOURCE_FAIR.resources(problem),
            _ => Err(Inapplicable::new(format!("`{}` is not about a bottleneck", self.name()))),
        }
    }

    /// Returns the implementation of the axiom.
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
            Self::MaxMinPackings => &packings::MaxMinPackings,
            Self::OptimalEnvyFree => &optimal::Optimal::EnvyFree,
            Self::OptimalEqual => &optimal::Optimal::Equal,
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
    /// Returns the parameters of `axiom`, with defaults filled in: `alpha` is 1.
    ///
    /// # Errors
    /// Returns [`Refusal`] if these are not parameters of `axiom`.
    pub fn of(self, axiom: Axiom) -> Result<Self, Refusal> {
        axiom.rule().parameters(self)
    }
}
