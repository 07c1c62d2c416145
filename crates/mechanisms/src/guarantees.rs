//! The guarantees of mechanisms: which axioms hold, and on which problems.

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Group, Problem, Promises, Rational};

/// The proven statement about one axiom for the allocations of one mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// A theorem guarantees the axiom on the problems that meet this condition.
    When(Condition),
    /// The axiom fails on some problems.
    NotInGeneral,
    /// The axiom is not about the kind of allocations that the mechanism returns.
    Never,
}

/// The problems on which a guarantee is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Every problem to which both the mechanism and the axiom apply.
    Always,
    /// The cluster has exactly one server.
    OneServer,
    /// No demand depends on the server class, and no user states its `gamma` or its rate on a class.
    OneDemand,
    /// No user limits the accelerators that it uses at once.
    WithoutAtMost,
    /// [`Condition::OneDemand`], and all users have unlimited tasks. The placement of a satisfied user is arbitrary,
    /// which can violate the axiom.
    OneDemandWithoutEnd,
    /// No user states its rate on a class, so only resources limit tasks.
    Resources,
    /// Every user has one demand and can run on every class.
    OneDemandEverywhere,
    /// Each user's criterion is the same on all classes.
    OneCriterion,
    /// Whole tasks are placed one by one, without groups, by first fit or by best fit among the servers with
    /// enough free capacity.
    FirstFit,
    /// No group's limit is below the amounts kept back for its subgroups.
    KeptWithinLimits,
    /// No amount is kept back for subgroups, and no group of weight 0 is restricted to its guarantee.
    NothingHeldBack,
}

impl Condition {
    /// Returns the condition in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::OneServer => "on one server",
            Self::OneDemand => "where no demand depends on the class",
            Self::WithoutAtMost => "where no user states `at_most`",
            Self::OneDemandWithoutEnd => "where no demand depends on the class and tasks are unlimited",
            Self::Resources => "where no class is shared by time",
            Self::OneDemandEverywhere => {
                "where no demand depends on the class and every user can run everywhere"
            }
            Self::OneCriterion => "where the criterion does not depend on the class",
            Self::FirstFit => "by first fit, without groups and gangs",
            Self::KeptWithinLimits => {
                "where no limit, nor the capacity, is below the amounts kept back for subgroups"
            }
            Self::NothingHeldBack => "where nothing is kept back and no group may get nothing",
        }
    }

    /// Returns whether `problem` meets the condition, for the default options of the mechanism.
    #[must_use]
    pub fn holds(self, problem: &Problem) -> bool {
        let timed = problem.servers().iter().any(|server| server.is_time_shared());
        // With rates, a share may compare throughput instead of demands.
        let one_demand = !timed
            && !problem.has_rates()
            && problem.users().iter().all(|user| user.demand_overrides().is_empty());
        match self {
            Self::OneServer => problem.n_single_servers() == 1 && !timed,
            Self::OneDemand => one_demand,
            Self::OneDemandWithoutEnd => {
                one_demand && problem.users().iter().all(|user| user.tasks().is_none())
            }
            Self::WithoutAtMost => !problem.has_at_most(),
            Self::Resources => !timed,
            Self::OneDemandEverywhere => {
                let mut active = (0..problem.n_users()).filter(|&n| problem.is_active(n));
                one_demand && active.all(|n| (0..problem.n_servers()).all(|i| problem.can_run(n, i)))
            }
            Self::OneCriterion => {
                let alike = |user: &evenhand_problem::User| {
                    user.criterion().windows(2).all(|pair| pair[0].1 == pair[1].1)
                };
                problem.users().iter().all(alike)
            }
            // A group limit can leave free capacity in which a task would fit, and gangs have no such guarantee.
            Self::FirstFit => problem.groups().is_empty(),
            Self::KeptWithinLimits => is_kept_within_limits(problem),
            Self::NothingHeldBack => {
                let never = problem.groups().share().zero_weight == ZeroWeight::Never;
                Promises::new(problem.groups()).kept.iter().all(Vec::is_empty)
                    && !(never && problem.groups().list().iter().any(|group| group.weight.is_zero()))
            }
            Self::Always => true,
        }
    }
}

/// Returns whether the amounts kept back for subgroups respect every limit and the capacity.
///
/// The sum over the child groups is compared with each group's limit. The sum over the top-level groups is compared
/// with the capacity of every resource of which the cluster has some.
fn is_kept_within_limits(problem: &Problem) -> bool {
    let list = problem.groups().list();
    let kept = Promises::new(problem.groups()).kept;
    let below = |parent: Option<usize>, r: usize| -> Rational {
        let children = (0..list.len()).filter(|child| list[*child].parent == parent);
        let of = |child: usize| kept[child].iter().find(|(of, _)| *of == r).map(|(_, amount)| amount);
        children.filter_map(of).sum()
    };
    let is_within =
        |(v, group): (usize, &Group)| group.limit.iter().all(|(r, most)| below(Some(v), *r) <= *most);
    let capacity = problem.total_capacity();
    let is_there = |r: &usize| !capacity[*r].is_zero();
    list.iter().enumerate().all(is_within)
        && (0..capacity.len()).filter(is_there).all(|r| below(None, r) <= capacity[r])
}
