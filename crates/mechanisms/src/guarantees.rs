//! What every mechanism guarantees, axiom by axiom: the table of docs/guarantees.md, which is written
//! from here, and which a test holds every mechanism to on random problems.

use evenhand_exact::Axiom;
use evenhand_problem::Problem;

use crate::mechanism::Mechanism;
use crate::registry::ALL;

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
    /// [`Condition::OneDemand`], and nobody is ever satisfied: where a satisfied user runs is not settled.
    OneDemandWithoutEnd,
    /// No user states its rate on a class, so that only resources limit.
    Resources,
    /// One demand of every user, and everybody can run on every class.
    OneDemandEverywhere,
    /// The criterion of each user is the same on all classes.
    OneCriterion,
    /// Whole tasks go to the first server that fits, or to the best among those that do, one by one and without groups.
    FirstFit,
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
                "where no demand depends on the class and everybody can run everywhere"
            }
            Self::OneCriterion => "where the criterion does not depend on the class",
            Self::FirstFit => "by first fit, without groups and gangs",
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
            // A limit, or a gang that does not fit whole, leaves room that a task would fit into.
            Self::FirstFit => problem.groups().is_empty(),
            Self::Always => true,
        }
    }
}

impl Mechanism {
    /// What is known of `axiom` for its allocations. Of max-min and proportional fairness: with the share and the
    /// exponent that the mechanism is about.
    #[must_use]
    pub fn guarantee(&self, axiom: Axiom) -> Guarantee {
        let is_proven = |of: Axiom| self.proven.iter().find(|(_, axioms)| axioms.contains(&of));
        match (axiom, is_proven(axiom)) {
            (Axiom::Feasible | Axiom::NonWasteful, _) => Guarantee::When(Condition::Always),
            (_, Some((condition, _))) => Guarantee::When(*condition),
            (Axiom::IntegerFeasible | Axiom::Ef1 | Axiom::IntegerParetoOptimal, None)
                if is_proven(Axiom::IntegerFeasible).is_none() =>
            {
                Guarantee::Never
            }
            _ => Guarantee::NotInGeneral,
        }
    }
}

/// The table of docs/guarantees.md: for every axiom the mechanisms of which it is proven.
#[must_use]
pub fn table() -> String {
    let rows = Axiom::ALL.into_iter().filter(|axiom| *axiom != Axiom::NonWasteful).map(row);
    format!("| axiom | always | on some problems |\n|---|---|---|\n{}", rows.collect::<String>())
}

fn row(axiom: Axiom) -> String {
    let mut proven: Vec<(Condition, Vec<String>)> = Vec::new();
    for mechanism in ALL {
        if let Guarantee::When(condition) = mechanism.guarantee(axiom) {
            let id = format!("`{}`", mechanism.info.id);
            match proven.iter_mut().find(|(known, _)| *known == condition) {
                Some((_, ids)) => ids.push(id),
                None => proven.push((condition, vec![id])),
            }
        }
    }
    let (always, sometimes): (Vec<_>, Vec<_>) =
        proven.into_iter().partition(|(condition, _)| *condition == Condition::Always);
    let always = always
        .into_iter()
        .map(|(_, ids)| if ids.len() == ALL.len() { "all".to_owned() } else { ids.join(", ") });
    let sometimes =
        sometimes.into_iter().map(|(condition, ids)| format!("{} {}", ids.join(", "), condition.words()));
    let cells = [always.collect::<String>(), sometimes.collect::<Vec<_>>().join("; ")];
    format!("| `{}` | {} | {} |\n", axiom.name(), cells[0], cells[1])
}
