//! Premises that all problems of a search satisfy.

use evenhand_mechanisms::guarantees::Condition;
use evenhand_problem::{Problem, Rational};
use serde::{Deserialize, Serialize};

use crate::stated::Stated;

/// The premises of a search. Three further premises always apply, as in all papers: a user has the same
/// demand on all classes, every user can run on at least one class, and no class has stated rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Premises {
    /// All demands are positive.
    pub positive: bool,
    /// All users have unlimited tasks.
    pub unlimited: bool,
    /// Every user may run on every class.
    pub everywhere: bool,
    /// There is one single server.
    pub one_server: bool,
}

impl Premises {
    /// No premises.
    pub const NONE: Self = Self { positive: false, unlimited: false, everywhere: false, one_server: false };

    /// Returns premises that require both `self` and the other premises.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            positive: self.positive || other.positive,
            unlimited: self.unlimited || other.unlimited,
            everywhere: self.everywhere || other.everywhere,
            one_server: self.one_server || other.one_server,
        }
    }

    /// Returns `true` if every problem that satisfies `self` satisfies `other`.
    #[must_use]
    pub fn imply(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// Returns `true` if `problem` satisfies the premises and every user can run on some class.
    #[must_use]
    pub fn hold(self, problem: &Problem) -> bool {
        self.allow(problem) && (0..problem.n_users()).all(|n| problem.is_active(n))
    }

    /// Returns `true` if `problem` satisfies the premises. There may be users that can run on no class.
    pub(crate) fn allow(self, problem: &Problem) -> bool {
        let is_positive = |d: &Rational| *d > 0;
        let mut users = problem.users().iter();
        (!self.positive || users.clone().all(|user| user.base_demand().iter().all(is_positive)))
            && (!self.unlimited || users.all(|user| user.tasks().is_none()))
            && (!self.everywhere || !problem.has_placement_constraints())
            && (!self.one_server || problem.n_single_servers() == 1)
    }

    /// Changes the problem as little as necessary to satisfy the premises.
    pub(crate) fn impose(self, stated: &mut Stated) {
        let spec = &mut stated.spec;
        if self.one_server {
            spec.servers.truncate(1);
            spec.servers.iter_mut().for_each(|server| server.count = None);
            let left: Vec<String> = spec.servers.iter().map(|server| server.name.clone()).collect();
            for user in &mut spec.users {
                user.criterion.retain(|(class, _)| left.contains(class));
            }
        }
        for user in &mut spec.users {
            if self.everywhere || self.one_server {
                user.servers = None;
            }
            if self.unlimited {
                user.tasks = None;
            }
            if self.positive {
                let zeros = user.demand.iter_mut().filter(|(_, d)| d.is_zero());
                zeros.for_each(|(_, d)| *d = Rational::from(1));
            }
        }
    }

    /// Returns `true` if every problem that satisfies the premises satisfies the condition.
    #[must_use]
    pub fn imply_condition(self, condition: Condition) -> bool {
        match condition {
            Condition::Always | Condition::OneDemand | Condition::Resources => true,
            // Problems of a search have no rates, so no user limits its accelerators.
            Condition::WithoutAtMost => true,
            Condition::OneServer => self.one_server,
            Condition::OneDemandWithoutEnd => self.unlimited,
            // A user may also be unable to run on a server because the server lacks a demanded resource.
            Condition::OneDemandEverywhere => self.one_server,
            Condition::OneCriterion => self.one_server,
            Condition::FirstFit | Condition::KeptWithinLimits | Condition::NothingHeldBack => false,
        }
    }

    /// Returns the premises as a phrase, such as `where all demands are positive`. The phrase is empty if there are no
    /// premises.
    #[must_use]
    pub fn words(self) -> String {
        let said = [
            (self.positive, "all demands are positive"),
            (self.unlimited, "tasks are unlimited"),
            (self.everywhere, "every user may run everywhere"),
            (self.one_server, "there is one server"),
        ];
        let said: Vec<&str> =
            said.into_iter().filter(|(is_said, _)| *is_said).map(|(_, words)| words).collect();
        match said.split_last() {
            None => String::new(),
            Some((last, [])) => format!("where {last}"),
            Some((last, rest)) => format!("where {} and {last}", rest.join(", ")),
        }
    }
}
