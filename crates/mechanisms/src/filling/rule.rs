//! What a rule of progressive filling is made of.

use std::fmt;

use evenhand_problem::names;

use crate::flags::{Flag, Takes};

/// What decides whose turn it is: the least one (THEORY, section 5). `w_n` is the weight, `x_n` the
/// tasks that user `n` has so far, wherever they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Score {
    /// `x_n max_r(d_nr / total capacity of r) / w_n`: the global dominant share (DRFH, section V-B).
    #[default]
    Drf,
    /// `x_n / (w_n gamma_n)`, `gamma_n` without placement constraints.
    Tsf,
    /// `x_n / (w_n gamma_nj)`, `gamma_nj` the tasks that fit on the empty server `j`.
    PsDsf,
    /// The same with what is left of server `j` (Kesidis, section VI).
    ResidualPsDsf,
}

/// Where a task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServerRule {
    /// A server drawn for every task, uniformly among those on which some task fits; then the
    /// least-scored user that fits there.
    Iid,
    /// Rounds, in each of which every server gets one task in a fresh random order.
    Rrr,
    /// The first server that fits. For scores that depend on the server: the first server on which
    /// some task fits, then the least-scored user that fits there.
    #[default]
    FirstFit,
    /// The server of least mismatch `H` (DRFH, equation 9) among those that fit.
    BestFit,
    /// The pair of user and server with the least score of all that fit.
    Joint,
}

/// Who is preferred among equals: users first, then servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ties {
    /// The lowest index.
    #[default]
    Low,
    /// The highest index.
    High,
    /// One at random, all with the same probability: a user, then one of its servers.
    Random,
}

/// A rule of progressive filling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rule {
    /// Whose turn it is.
    pub score: Score,
    /// Where a task goes.
    pub server: ServerRule,
    /// Who is preferred among equals.
    pub ties: Ties,
    /// Best fit: the least `H` of all servers counts, whether the task fits there or not, and a user whose
    /// task does not fit lets the next user go first. Servers stay empty by this rule; it is the reading
    /// that reproduces the table of Kesidis. Else only servers on which the task fits are compared.
    pub unfiltered: bool,
}

/// What is chosen first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The user with the least score on a server on which it fits, then its server.
    UserFirst,
    /// The server, then the user with the least score of those that fit there.
    ServerFirst,
    /// Every user names its best server; of those that fit there the one with the least score is served.
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
    ResidualPsDsf = "rps-dsf", "Tasks by weight and by the tasks that fit on what is left of the server";
}

names! { ServerRule:
    Iid = "iid", "For every task a random one of the servers on which some task fits";
    Rrr = "rrr", "Rounds, every server once in random order";
    FirstFit = "first-fit", "The first server on which the task fits";
    BestFit = "best-fit", "The server whose rest suits the task best, of those on which it fits";
    Joint = "joint", "User and server together: the pair of least score";
}

names! { Ties:
    Low = "low", "The lowest index";
    High = "high", "The highest index";
    Random = "random", "One at random";
}

/// Who is preferred among equals.
pub(super) const TIES: Flag = Flag {
    name: "ties",
    takes: Takes::Name("TIES", Ties::NAMES),
    help: "fill, slots: who is preferred among equals, users first, then servers (default: low)",
};

impl Score {
    /// Whether it is one number per user, whatever the server.
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
