//! What shows that a claim is true.

use evenhand_problem::{Placement, Rational};

use crate::axiom::feasible::Limit;
use crate::axiom::integer_feasible::SingleLimit;
use crate::axiom::max_min::Level;
use crate::axiom::njc::{Complaint, Witness};
use crate::axiom::ps_dsf::{Standing, Unblocked};
use crate::axiom::work_conserving::{Room, Short};
use crate::instance::Tasks;
use crate::prices::Prices;

/// What shows that a claim is true. Users, rows, classes and resources by index.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Evidence {
    /// Nothing to show: non-wasteful, not applicable, or nothing is compared.
    #[default]
    None,
    /// Feasible: the tightest (or most violated) limit and its slack, in its own units or in tasks.
    Limit {
        /// What is limited.
        limit: Limit,
        /// What is left of it.
        slack: Rational,
    },
    /// Integer feasible: the tightest (or most violated) limit and its slack, in its own units or in tasks.
    SingleLimit {
        /// What is limited.
        limit: SingleLimit,
        /// What is left of it.
        slack: Rational,
    },
    /// Sharing incentive: the user with the least margin.
    Entitlement {
        /// The user.
        user: usize,
        /// Minus the margin, in tasks, where the axiom is violated.
        loss: Option<Rational>,
    },
    /// Envy-free: the pair with the least margin.
    Envy {
        /// The user that envies, or comes closest to it.
        user: usize,
        /// The user that it looks at.
        envied: usize,
        /// Minus the margin, in tasks, where the axiom is violated.
        gain: Option<Rational>,
    },
    /// Envy-free up to one task: the pair with the least margin.
    EnvyUpToOne {
        /// The user that envies, or comes closest to it.
        user: usize,
        /// The user that it looks at.
        envied: usize,
        /// The class from which one task of that user is removed; absent when none is worth anything.
        removed: Option<usize>,
        /// Minus the margin, in tasks, where the axiom is violated.
        gain: Option<Rational>,
    },
    /// Pareto optimal and proportional: yes. For proportional the weights are left empty.
    Prices(Prices),
    /// Pareto optimal: no, since this allocation is better for somebody and worse for nobody.
    Dominating(Tasks),
    /// Integer Pareto optimal: no, since these whole tasks on single servers are better for somebody and
    /// worse for nobody.
    DominatingPlacements(Vec<Placement>),
    /// Work-conserving: what is short for every user with pending tasks, users ascending.
    Short(Vec<(usize, Short)>),
    /// Work-conserving: no, since a pending task fits here.
    Room(Room),
    /// Max-min: the levels, in any order.
    Levels(Vec<Level>),
    /// The bottleneck axioms: `(resource, levels)` for every resource that they are about, ascending.
    LevelsByResource(Vec<(usize, Vec<Level>)>),
    /// Max-min: no, since this allocation gives the user more and nobody less that has no more.
    Rise {
        /// The resource that is shared, for the bottleneck axioms.
        resource: Option<usize>,
        /// The user that rises.
        user: usize,
        /// The allocation.
        allocation: Tasks,
    },
    /// No justified complaints: what answers the complaint of every active user, by user.
    Witnesses(Vec<Option<Witness>>),
    /// No justified complaints: no, since this user has one.
    Complaint(Complaint),
    /// Per-server dominant-share fairness: what every active user has, by user.
    Bottlenecks(Vec<Option<Standing>>),
    /// Per-server dominant-share fairness: no, since this user has no bottleneck on this class.
    Unblocked(Unblocked),
    /// Proportional: no, since this allocation has a larger sum.
    Better(Tasks),
    /// Proportional: no, since this user could be given something and has nothing.
    Nothing {
        /// The user.
        user: usize,
    },
}
