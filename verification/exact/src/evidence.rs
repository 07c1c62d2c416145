//! What shows that a claim is true: the forms of evidence, which the axioms judge.

use std::sync::Arc;

use evenhand_problem::{Placement, Rational};

use crate::instance::Tasks;
use crate::prices::{PriceVector, Prices};

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A row of [`Constraints`](evenhand_problem::Constraints).
    Row(usize),
    /// The tasks of a user.
    Tasks(usize),
    /// The entry `(user, server class)`, which is negative or where the user cannot run.
    Entry(usize, usize),
}

/// What is limited.
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
    /// The tasks of a user on one server: negative, not whole, or where it cannot run.
    Entry {
        /// The user.
        user: usize,
        /// The server class.
        server: usize,
        /// The server.
        index: u64,
    },
}

/// What is short for one user: rows of the classes on which it can run, ascending. One of each class where classes
/// are divided as a whole; with placements rows of which every server of the class lacks one for the next task, once it
/// has the tasks of the user's gang that fit on it.
///
/// Users of one shape share it; and rows are as narrow as the size of a file allows.
pub type Short = Arc<[u32]>;

/// A limit of a group on server classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassMark {
    /// The group.
    pub group: usize,
    /// The classes, ascending.
    pub on: Vec<usize>,
    /// The resource.
    pub resource: usize,
}

/// Prices by which users have no place for more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacePrices {
    /// `(row, price)` of rows of [`Constraints`](evenhand_problem::Constraints).
    pub rows: Vec<(usize, Rational)>,
    /// Of limits on server classes.
    pub limits: Vec<(ClassMark, Rational)>,
}

/// What stops a user who has room, by resource of all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Class by class: what is short on some, as without groups, and a limit on the others.
    Classes {
        /// As for a user whom nothing else stops.
        short: Short,
        /// `(class, limit)`, by class ascending; with placements of each class the limit that leaves the fewest tasks
        /// there, fewer than the gang.
        limits: Vec<(usize, ClassMark)>,
    },
    /// The limit of a group above it.
    Limit {
        /// The group.
        group: usize,
        /// The resource.
        resource: usize,
    },
    /// The guarantee of a group above it that gets nothing more: its weight is 0.
    Guarantee {
        /// The group.
        group: usize,
        /// The resource.
        resource: usize,
    },
    /// A group above it that gets nothing but its guarantee, which names nothing that the user asks for.
    Weight {
        /// The group.
        group: usize,
    },
    /// What is kept back for groups.
    KeptBack {
        /// The resource.
        resource: usize,
    },
}

/// Where a pending task, or with placements a gang, fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// The user.
    pub user: usize,
    /// The class where a task fits.
    pub server: usize,
    /// The single server, with placements.
    pub index: Option<u64>,
    /// `(class, tasks)` of the gang, classes ascending, where the gang has several tasks; together they are the gang.
    pub by_class: Vec<(usize, u64)>,
}

/// One level of the evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The users whose rise it bounds, ascending.
    pub covers: Vec<usize>,
    /// Weights and prices.
    pub prices: PriceVector,
}

/// What answers the complaint of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// It has all its tasks.
    Satisfied,
    /// It holds its entitlement of this row of [`Constraints`](evenhand_problem::Constraints).
    Row(usize),
}

/// What a user has to complain about.
#[derive(Debug, Clone, PartialEq)]
pub struct Complaint {
    /// The user.
    pub user: usize,
    /// `e_n`.
    pub entitlement: Rational,
    /// `(row, x_ni d_nir / C)` of every saturated row that the user could use, by row.
    pub shares: Vec<(usize, Rational)>,
}

/// What a user has in place of more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It has all its tasks.
    Satisfied,
    /// A bottleneck for each class that it can run on: rows of
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
    /// By row of the class that the user uses, ascending: what it lacks there, in tasks.
    pub lacks: Vec<(usize, Rational)>,
}

/// A group with everybody below it, or a user who stands in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Party {
    /// The group.
    Group(usize),
    /// The user.
    User(usize),
}

/// Prices that bound what a party gains.
#[derive(Debug, Clone, PartialEq)]
pub struct PartyPrices {
    /// The party.
    pub party: Party,
    /// From what these hold; without any, from its own part.
    pub envied: Vec<Party>,
    /// Weights of its users, and prices.
    pub prices: PriceVector,
}

/// What shows that a claim is true. Users, rows, classes and resources by index.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Evidence {
    /// Nothing to show: non-wasteful, not applicable, or nothing is compared.
    #[default]
    None,
    /// Something that a file states of what the allocation shows by itself; it is for people, and is not read.
    Unread,
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
    /// Limits: the tightest (or most violated) limit of a group and its slack, in units of the resource.
    GroupLimit {
        /// The group; `None`: the root, whose limit is the capacity of all servers.
        group: Option<usize>,
        /// The resource.
        resource: usize,
        /// The server classes that the limit is about, ascending; empty: all servers.
        on: Vec<usize>,
        /// What is left of it.
        slack: Rational,
        /// The sum of the amounts kept back for the child groups, where it alone exceeds the limit.
        promised: Option<Rational>,
    },
    /// Sharing incentive and guarantees: the user with the least margin.
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
    /// Pareto optimal: no, since this allocation is better for some user and worse for no user.
    Dominating(Tasks),
    /// Integer Pareto optimal: no, since these whole tasks on single servers are better for somebody and
    /// worse for no user.
    DominatingPlacements(Vec<Placement>),
    /// Work-conserving: what is short for every user with pending tasks, users ascending; of those that differ in name,
    /// weight and tasks alone it may be said of the first.
    Short(Vec<(usize, Short)>),
    /// Work-conserving, where groups hold something back: what is short for some users with pending tasks, and what
    /// stops the others, users ascending.
    ShortOrStopped {
        /// As in [`Evidence::Short`].
        short: Vec<(usize, Short)>,
        /// What stops a user.
        stopped: Vec<(usize, Stop)>,
    },
    /// Work-conserving: no, since a pending task, or with placements a gang, fits here.
    Room(Room),
    /// Max-min: the levels, in any order.
    Levels(Vec<Level>),
    /// The bottleneck axioms: `(resource, levels)` for every resource that they are about, ascending.
    LevelsByResource(Vec<(usize, Vec<Level>)>),
    /// Max-min: no, since this allocation gives the user more and no user less that has no more.
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
    /// The group forms of sharing incentive and envy-free: yes.
    PartyPrices(Vec<PartyPrices>),
    /// The group forms of sharing incentive and envy-free: no, since a party could have this allocation.
    PartyGains {
        /// The party.
        party: Party,
        /// Of what this one holds; absent: of its own part.
        envied: Option<Party>,
        /// The tasks of its users.
        allocation: Tasks,
    },
    /// Tree: yes and no.
    Filling {
        /// A placement of what hierarchical filling ends with.
        tasks: Tasks,
        /// Prices, in any order: why it goes on no longer.
        prices: Vec<PlacePrices>,
    },
    /// Proportional: no, since this allocation has a larger sum.
    Better(Tasks),
    /// Proportional, where powers are irrational or too long.
    Enclosed {
        /// Of yes or of no.
        evidence: Box<Evidence>,
        /// By user, ascending: between which two numbers `w_n / U_n^alpha` lies.
        values: Vec<(usize, [Rational; 2])>,
    },
    /// Proportional: no, since this user could be given something and has nothing.
    Nothing {
        /// The user.
        user: usize,
    },
}

impl Evidence {
    /// The same without values that enclose irrational numbers.
    #[must_use]
    pub fn bare(&self) -> &Self {
        match self {
            Self::Enclosed { evidence, .. } => evidence.bare(),
            bare => bare,
        }
    }

    /// Whether the margin is a bound, and the truth may be worse: it shows one allocation that is better, where
    /// another may be better still.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(
            self.bare(),
            Self::Dominating(_) | Self::Rise { .. } | Self::Better(_) | Self::PartyGains { .. }
        )
    }

    /// The user that it is about, where the margin is that of one user.
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
