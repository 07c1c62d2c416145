//! The components of a rule of progressive filling.

use std::fmt;

use evenhand_problem::names;

use crate::flags::{Flag, Takes};

/// The score that decides which user is served next: the user with the least score (docs/theory.md, section 5). `w_n`
/// is the weight, and `x_n` is the number of tasks that user `n` has so far, wherever they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Score {
    /// `x_n max_r(d_nr / total capacity of r) / w_n`: the global dominant share (DRFH, section V-B).
    #[default]
    Drf,
    /// `x_n / (w_n gamma_n)`, where `gamma_n` ignores placement constraints.
    Tsf,
    /// `x_n / (w_n gamma_nj)`, where `gamma_nj` is the number of tasks that fit on the empty server `j`.
    PsDsf,
    /// The same as `PsDsf`, but with the free capacity of server `j` instead of its whole capacity (Kesidis,
    /// section VI).
    ResidualPsDsf,
}

/// The choice of the server for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServerRule {
    /// A server is drawn for every task, uniformly from the servers on which some task fits. The user with the least
    /// score that fits there is served.
    Iid,
    /// In each round, every server gets one task, in a new random order.
    Rrr,
    /// The first server with enough free capacity for the task. If scores depend on the server, the first
    /// server on which some task fits is chosen, and then the user with the least score among those that fit
    /// there.
    #[default]
    FirstFit,
    /// The server with the least mismatch `H` (DRFH, equation 9) among those with enough free capacity for
    /// the task.
    BestFit,
    /// The pair of user and server with the least score of all pairs that fit.
    Joint,
}

/// The preference among equals, first for users and then for servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ties {
    /// The candidate with the lowest index.
    #[default]
    Low,
    /// The candidate with the highest index.
    High,
    /// A random choice with equal probabilities: first of the user, then of one of its servers.
    Random,
}

/// A rule of progressive filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rule {
    /// The choice of the user.
    pub score: Score,
    /// The choice of the server.
    pub server: ServerRule,
    /// The preference among equals.
    pub ties: Ties,
    /// For best fit, whether the least `H` of all servers counts, even if the task does not fit on that
    /// server. A user whose task does not fit on its best server waits, and the next user is served first.
    /// Servers can stay empty, but only this interpretation reproduces the table of Kesidis. If false, only
    /// servers with enough free capacity for the task are compared.
    pub unfiltered: bool,
}

/// The order of the choices in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The user is chosen first: the user with the least score among those for which some server has free
    /// capacity. Then one of these servers is chosen.
    UserFirst,
    /// The server is chosen first, then the user with the least score among those that fit on it.
    ServerFirst,
    /// Every user names its best server. Among the users that fit on the server that they named, the user with the
    /// least score is served.
    Proposals,
}

impl Rule {
    pub(super) fn order(self) -> Order {
        let is_of_user = self.score.is_of_user();
        match self.server {
            ServerRule::Iid | ServerRule::Rrr => Order::ServerFirst,
            ServerRule::FirstFit if !is_of_user => Order::ServerFirst,
            ServerRule::BestFit if !is_of_user || self.unfiltered => Order::Proposals,
            ServerRule::FirstFit | ServerRule::BestFit | ServerRule::Joint => Order::UserFirst,
        }
    }
}

names! { Score:
    Drf = "drf", "Global dominant share by weight";
    Tsf = "tsf", "Tasks by weight and by the tasks that fit on all servers";
    PsDsf = "ps-dsf", "Tasks by weight and by the tasks that fit on the empty server";
    ResidualPsDsf = "rps-dsf", "Tasks by weight and by the tasks that fit on the free capacity of the server";
}

names! { ServerRule:
    Iid = "iid", "A random server for every task, among the servers on which some task fits";
    Rrr = "rrr", "Rounds, every server once in random order";
    FirstFit = "first-fit", "The first server on which the task fits";
    BestFit = "best-fit", "The server whose free capacity suits the task best, among the servers on which it fits";
    Joint = "joint", "User and server together: the pair of least score";
}

names! { Ties:
    Low = "low", "The lowest index";
    High = "high", "The highest index";
    Random = "random", "One at random";
}

/// The flag for the preference among equals.
pub(super) const TIES: Flag = Flag {
    name: "ties",
    takes: Takes::Name("TIES", Ties::NAMES),
    help: "fill, slots: which user is preferred among equal users, and which server among equal servers (default: low)",
};

impl Score {
    /// Returns whether the score of a user is the same on all servers.
    #[must_use]
    pub const fn is_of_user(self) -> bool {
        matches!(self, Self::Drf | Self::Tsf)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unfiltered = if self.unfiltered { " unfiltered" } else { "" };
        write!(f, "{} {} {}{unfiltered}", self.score, self.server, self.ties)
    }
}
