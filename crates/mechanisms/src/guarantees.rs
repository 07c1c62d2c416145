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
            Self::FirstFit => "first fit, without groups and gangs",
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

/// The table of docs/guarantees.md.
#[must_use]
pub fn table() -> String {
    let axioms: Vec<Axiom> = Axiom::ALL.into_iter().filter(|axiom| *axiom != Axiom::NonWasteful).collect();
    let mut conditions: Vec<Condition> = Vec::new();
    let mut text =
        format!("| |{}\n|---|", ALL.iter().map(|m| format!(" `{}` |", m.info.id)).collect::<String>());
    text.push_str(&"---|".repeat(ALL.len()));
    text.push('\n');
    for axiom in axioms {
        text.push_str(&format!("| `{}` |", axiom.name()));
        for mechanism in ALL {
            let cell = match mechanism.guarantee(axiom) {
                Guarantee::When(Condition::Always) => "proven".to_owned(),
                Guarantee::When(condition) => {
                    let known = conditions.iter().position(|known| *known == condition);
                    let number = known.unwrap_or_else(|| {
                        conditions.push(condition);
                        conditions.len() - 1
                    });
                    format!("proven [{}]", number + 1)
                }
                Guarantee::NotInGeneral => "not in general".to_owned(),
                Guarantee::Never => "never".to_owned(),
            };
            text.push_str(&format!(" {cell} |"));
        }
        text.push('\n');
    }
    text.push('\n');
    for (number, condition) in (1..).zip(conditions) {
        text.push_str(&format!("{number}. {}\n", condition.words()));
    }
    text
}
