//! What can be guaranteed of an axiom, and on which problems.

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Group, Problem, Promises, Rational};

/// What is known about an axiom of the allocations that a mechanism makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// A theorem says so, on these problems.
    When(Condition),
    /// There are problems on which it fails.
    NotInGeneral,
    /// The axiom is about something else than what the mechanism makes.
    Never,
}

/// The problems on which a guarantee is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Every problem to which mechanism and axiom apply.
    Always,
    /// One single server.
    OneServer,
    /// No demand depends on the class, and no user states its rate on a class.
    OneDemand,
    /// [`Condition::OneDemand`], and no user is ever satisfied: where a satisfied user runs is not settled.
    OneDemandWithoutEnd,
    /// No user states its rate on a class, so that only resources limit.
    Resources,
    /// One demand of every user, and everybody can run on every class.
    OneDemandEverywhere,
    /// The criterion of each user is the same on all classes.
    OneCriterion,
    /// Whole tasks go to the first server that fits, or to the best among those that do, one by one and without groups.
    FirstFit,
    /// No group's limit is below what is kept back for its subgroups.
    KeptWithinLimits,
    /// Nothing is kept back, and no group has the weight 0 and gets nothing beyond its guarantee.
    NothingHeldBack,
}

impl Condition {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::OneServer => "on one server",
            Self::OneDemand => "where no demand depends on the class",
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

    /// Whether `problem` is one of them, for the options that are the mechanism's defaults.
    #[must_use]
    pub fn holds(self, problem: &Problem) -> bool {
        let timed = problem.servers().iter().any(|server| server.is_time_shared());
        let one_demand = !timed && problem.users().iter().all(|user| user.demand_overrides().is_empty());
        match self {
            Self::OneServer => problem.n_single_servers() == 1 && !timed,
            Self::OneDemand => one_demand,
            Self::OneDemandWithoutEnd => {
                one_demand && problem.users().iter().all(|user| user.tasks().is_none())
            }
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
            // A limit leaves room that a task would fit into. Nothing is promised of gangs.
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

/// Whether the amounts kept back for the child groups are within every limit, and those of all groups within the capacity of
/// the resources that there are.
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
