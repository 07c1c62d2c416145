//! The forms of evidence of claims, which the axioms judge.

use std::sync::Arc;

use evenhand_problem::{Placement, Rational};

use crate::instance::Tasks;
use crate::prices::{PriceVector, Prices};
use crate::ratio::Tree;

/// A limited quantity of an allocation on server classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A row of [`Constraints`](evenhand_problem::Constraints).
    Row(usize),
    /// The tasks of a user.
    Tasks(usize),
    /// The accelerators that a user uses at once.
    Accelerators(usize),
    /// The entry `(user, server class)`, which is negative, or on a class where the user cannot run.
    Entry(usize, usize),
}

/// A limited quantity of an allocation on single servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingleLimit {
    /// A row of [`Constraints`](evenhand_problem::Constraints), on one server of its class.
    Row {
        /// The row.
        row: usize,
        /// The server.
        index: u64,
    },
    /// The tasks of a user.
    Tasks(usize),
    /// The accelerators that a user uses at once.
    Accelerators(usize),
    /// The number of tasks of a user on one server. It is negative, not whole, or on a server where the user cannot
    /// run.
    Entry {
        /// The user.
        user: usize,
        /// The server class.
        server: usize,
        /// The server.
        index: u64,
    },
}

/// The rows that are short for one user, on the classes where it can run, ascending. For divisible tasks there is one
/// row for each class. With placements, once a server has the tasks of the user's gang that fit on it, one of these
/// rows of its class lacks capacity for the next task.
///
/// Users of one shape share the list. Row indices have 32 bits, which suffices for any file.
pub type Short = Arc<[u32]>;

/// A limit of a group on some server classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassMark {
    /// The group.
    pub group: usize,
    /// The classes, ascending.
    pub on: Vec<usize>,
    /// The resource.
    pub resource: usize,
}

/// Prices that prove that no more tasks of some users fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacePrices {
    /// The prices `(row, price)` of rows of [`Constraints`](evenhand_problem::Constraints).
    pub rows: Vec<(usize, Rational)>,
    /// The prices of limits on server classes.
    pub limits: Vec<(ClassMark, Rational)>,
}

/// The reason that stops a user although its tasks fit on servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// For each class, either a short row or a limit of a group.
    Classes {
        /// The rows that are short on the classes without a limit.
        short: Short,
        /// The limits `(class, limit)`, ascending by class. With placements, each is the limit that allows the fewest
        /// tasks on the class, and these are fewer than the gang.
        limits: Vec<(usize, ClassMark)>,
    },
    /// A group above the user has reached its limit.
    Limit {
        /// The group.
        group: usize,
        /// The resource.
        resource: usize,
    },
    /// A group above the user has reached its guarantee. The group gets no more than its guarantee, because its weight
    /// is 0.
    Guarantee {
        /// The group.
        group: usize,
        /// The resource.
        resource: usize,
    },
    /// A group above the user gets no more than its guarantee, because its weight is 0. The guarantee names no resource
    /// that the user demands.
    Weight {
        /// The group.
        group: usize,
    },
    /// The remaining capacity is kept back for groups.
    KeptBack {
        /// The resource.
        resource: usize,
    },
}

/// Free capacity for a pending task. With placements, free capacity for a gang.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// The user.
    pub user: usize,
    /// The class where a task fits.
    pub server: usize,
    /// The single server, if the allocation has placements.
    pub index: Option<u64>,
    /// The tasks `(class, tasks)` that together are the gang, ascending by class, if the gang has several tasks.
    pub by_class: Vec<(usize, u64)>,
}

/// One level of the evidence of max-min.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The users whose rise the level bounds, ascending.
    pub covers: Vec<usize>,
    /// The weights and prices.
    pub prices: PriceVector,
}

/// The reason why a user has no justified complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// The user has all its tasks.
    Satisfied,
    /// The user has its entitlement of this row of [`Constraints`](evenhand_problem::Constraints).
    Row(usize),
}

/// A justified complaint of a user.
#[derive(Debug, Clone, PartialEq)]
pub struct Complaint {
    /// The user.
    pub user: usize,
    /// The entitlement `e_n`.
    pub entitlement: Rational,
    /// The shares `(row, x_ni d_nir / C)` of every saturated row that the user could use, ascending by row.
    pub shares: Vec<(usize, Rational)>,
}

/// The reason why a user cannot have more tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The user has all its tasks.
    Satisfied,
    /// The user has a bottleneck on each class where it can run: rows of
    /// [`Constraints`](evenhand_problem::Constraints), ascending.
    Bottlenecks(Vec<usize>),
}

/// A user and a class on which it has no bottleneck.
#[derive(Debug, Clone, PartialEq)]
pub struct Unblocked {
    /// The user.
    pub user: usize,
    /// The class.
    pub server: usize,
    /// `(row, lack)` for each row of the class that the user uses, ascending. The lack is in tasks.
    pub lacks: Vec<(usize, Rational)>,
}

/// A group with all users below it, or a user that belongs to no group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// The group.
    Group(usize),
    /// The user.
    User(usize),
}

/// Prices that bound the gain of a party.
#[derive(Debug, Clone, PartialEq)]
pub struct PartyPrices {
    /// The party.
    pub party: Party,
    /// The parties with whose usage the party is compared. Empty for the comparison with the party's own part.
    pub envied: Vec<Party>,
    /// The weights of the party's users, and prices.
    pub prices: PriceVector,
}

/// A packing of a server class, and the fraction of the time in which its servers have this packing.
#[derive(Debug, Clone, PartialEq)]
pub struct Packing {
    /// The class.
    pub server: usize,
    /// The fraction of the time, at least 0.
    pub part: Rational,
    /// The whole tasks `(user, tasks)` on one server, ascending by user.
    pub tasks: Vec<(usize, u64)>,
}

/// The prices of one level among whole tasks over time (docs/theory.md, section 11).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackingLevel {
    /// The users that cannot have more, ascending.
    pub covers: Vec<usize>,
    /// The price `l_n` of a task of each user: `(user, price)`, ascending.
    pub user_weights: Vec<(usize, Rational)>,
    /// The price of a server of each class: `(class, price)`, ascending.
    pub class_prices: Vec<(usize, Rational)>,
    /// The price `q_n` of each task that a user has: `(user, price)`, ascending.
    pub user_prices: Vec<(usize, Rational)>,
    /// The trees that prove that no packing is worth more than a server, ascending by class. The `job` of a
    /// split is a user. A class without a tree needs no multipliers and no splits.
    pub pricing: Vec<(usize, Tree)>,
}

/// The prices of the axiom `optimal-envy-free`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnvyPrices {
    /// The prices `(row, p)` per unit of the row of [`Constraints`](evenhand_problem::Constraints), ascending by row.
    pub rows: Vec<(usize, Rational)>,
    /// The prices `(user, envied, e)` of the rows of envy.
    pub envy: Vec<(usize, usize, Rational)>,
}

/// Evidence of a claim. Users, rows, classes and resources are given by index.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Evidence {
    /// No evidence: the axiom is non-wasteful or does not apply, or there are no numbers to compare.
    #[default]
    None,
    /// Evidence in a file that follows from the allocation alone. It is written for people, and is not read.
    Unread,
    /// Feasible: the limit with the least slack (or the largest violation), and its slack, in the units of the limit or
    /// in tasks.
    Limit {
        /// The limit.
        limit: Limit,
        /// The unused amount of the limit.
        slack: Rational,
    },
    /// Integer feasible: the limit with the least slack (or the largest violation), and its slack, in the units of the
    /// limit or in tasks.
    SingleLimit {
        /// The limit.
        limit: SingleLimit,
        /// The unused amount of the limit.
        slack: Rational,
    },
    /// Limits: the limit of a group with the least slack (or the largest violation), and its slack, in units of the
    /// resource.
    GroupLimit {
        /// The group. `None` for the root, whose limit is the capacity of all servers.
        group: Option<usize>,
        /// The resource.
        resource: usize,
        /// The server classes of the limit, ascending. Empty for all servers.
        on: Vec<usize>,
        /// The unused amount of the limit.
        slack: Rational,
        /// The sum of the amounts that are kept back for the child groups, if this sum alone exceeds the limit.
        promised: Option<Rational>,
    },
    /// Sharing incentive and guarantees: the user with the least margin.
    Entitlement {
        /// The user.
        user: usize,
        /// Minus the margin in tasks, if the axiom is violated.
        loss: Option<Rational>,
    },
    /// Envy-free: the pair with the least margin.
    Envy {
        /// The user that envies, or the user that comes closest to envy.
        user: usize,
        /// The user whose bundle is compared.
        envied: usize,
        /// Minus the margin in tasks, if the axiom is violated.
        gain: Option<Rational>,
    },
    /// Envy-free up to one task: the pair with the least margin.
    EnvyUpToOne {
        /// The user that envies, or the user that comes closest to envy.
        user: usize,
        /// The user whose bundle is compared.
        envied: usize,
        /// The class from which one task of that user is removed. `None` if none of its tasks is worth anything.
        removed: Option<usize>,
        /// Minus the margin in tasks, if the axiom is violated.
        gain: Option<Rational>,
    },
    /// Pareto optimal and proportional, if they hold: prices. For proportional the weights are empty.
    Prices(Prices),
    /// Pareto optimal, if violated: an allocation that is better for some user and worse for no user.
    Dominating(Tasks),
    /// Integer Pareto optimal, if violated: whole tasks on single servers that are better for some user and worse for
    /// no user.
    DominatingPlacements(Vec<Placement>),
    /// Work-conserving, if it holds: the short rows of every user with pending tasks, ascending by user. For users that
    /// differ only in name, weight and tasks, the rows may be listed only for the first user.
    Short(Vec<(usize, Short)>),
    /// Work-conserving, if groups keep capacity back: the short rows of some users with pending tasks, and the reasons
    /// that stop the other users, ascending by user.
    ShortOrStopped {
        /// The short rows, as in [`Evidence::Short`].
        short: Vec<(usize, Short)>,
        /// The users that are stopped, each with the reason.
        stopped: Vec<(usize, Stop)>,
    },
    /// Work-conserving, if violated: free capacity for a pending task, or with placements for a gang.
    Room(Room),
    /// Max-min, if it holds: the levels, in any order.
    Levels(Vec<Level>),
    /// The bottleneck axioms, if they hold: `(resource, levels)` for every bottleneck resource, ascending.
    LevelsByResource(Vec<(usize, Vec<Level>)>),
    /// Max-min, if violated: an allocation that gives the user more. Every user that loses in this allocation still has
    /// more than the rising user had.
    Rise {
        /// The resource that is shared, for the bottleneck axioms.
        resource: Option<usize>,
        /// The user that rises.
        user: usize,
        /// The allocation.
        allocation: Tasks,
    },
    /// No justified complaints, if it holds: for each user, the reason why it has no justified complaint. `None` for
    /// users that are not active.
    Witnesses(Vec<Option<Witness>>),
    /// No justified complaints, if violated: the complaint of a user.
    Complaint(Complaint),
    /// Per-server dominant-share fairness, if it holds: for each user, its standing. `None` for users that are not
    /// active.
    Bottlenecks(Vec<Option<Standing>>),
    /// Per-server dominant-share fairness, if violated: a user that has no bottleneck on a class.
    Unblocked(Unblocked),
    /// The group forms of sharing incentive and envy-free, if they hold: prices for every party.
    PartyPrices(Vec<PartyPrices>),
    /// The group forms of sharing incentive and envy-free, if violated: an allocation that a party could have.
    PartyGains {
        /// The party.
        party: Party,
        /// The party whose usage it could take over. `None` for its own part.
        envied: Option<Party>,
        /// The tasks of the party's users.
        allocation: Tasks,
    },
    /// Tree, both if it holds and if it is violated.
    Filling {
        /// A placement of the final allocation of hierarchical filling.
        tasks: Tasks,
        /// The prices that show why the filling ends at this allocation, in any order.
        prices: Vec<PlacePrices>,
    },
    /// Max-min among whole tasks over time, both if it holds and if it is violated.
    Packings {
        /// A schedule with the totals of the lexicographic maximum.
        schedule: Vec<Packing>,
        /// The levels that prove these totals, in any order.
        levels: Vec<PackingLevel>,
    },
    /// Optimal among envy-free allocations, if it holds: prices of capacities and of envy. Optimal among equal allocations
    /// has [`Evidence::Prices`].
    EnvyPrices(EnvyPrices),
    /// Proportional, if violated: an allocation with a larger sum. Optimal among envy-free or equal allocations, if
    /// violated: an envy-free or equal allocation with more tasks in total.
    Better(Tasks),
    /// Evidence for the axiom `proportional`, if the powers are irrational or too long.
    Enclosed {
        /// The evidence that the axiom holds, or that it is violated.
        evidence: Box<Evidence>,
        /// For each user, ascending, two numbers that enclose `w_n / U_n^alpha`.
        values: Vec<(usize, [Rational; 2])>,
    },
    /// Proportional, if violated: a user that could run tasks and has no tasks.
    Nothing {
        /// The user.
        user: usize,
    },
}

impl Evidence {
    /// Returns the evidence without the values that enclose irrational numbers.
    #[must_use]
    pub fn bare(&self) -> &Self {
        match self {
            Self::Enclosed { evidence, .. } => evidence.bare(),
            bare => bare,
        }
    }

    /// Returns true if the margin is only a bound, so that the true margin may be worse. This is so if the evidence is
    /// a single better allocation, because another allocation may be even better.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(
            self.bare(),
            Self::Dominating(_) | Self::Rise { .. } | Self::Better(_) | Self::PartyGains { .. }
        )
    }

    /// Returns the user of the evidence, if the margin belongs to a single user.
    #[must_use]
    pub fn user(&self) -> Option<usize> {
        match self {
            Self::Entitlement { user, .. }
            | Self::Envy { user, .. }
            | Self::EnvyUpToOne { user, .. }
            | Self::Rise { user, .. } => Some(*user),
            Self::Unblocked(unblocked) => Some(unblocked.user),
            Self::Room(room) => Some(room.user),
            _ => None,
        }
    }
}
