//! OEF: the most tasks of all users together, under a condition of fairness (docs/theory.md, section 12).
//!
//! The mechanism maximises `sum_n x_n`, which is the total throughput in a problem with rates. There are two variants:
//!
//! - `envy-free`: no user would have more tasks with the bundle of another user, scaled by their weights:
//!   `x_n >= (w_n / w_m) sum_i x_mi rho_nmi`, where `rho_nmi` is the number of tasks of `n` that the resources of one
//!   task of `m` on class `i` are worth (axiom `envy-free`).
//! - `equal`: all users have the same `x_n / w_n`.
//!
//! Both are linear programmes, so the optimum is rational. The exact simplex method proves it before it is returned.

use evenhand_exact::Axiom::EnvyFree;
use evenhand_exact::LimitRows;
use evenhand_levels::LevelsError;
use evenhand_levels::groups::{capacity_entries, limit_entries};
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Feasibility, Sense};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing, names};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, Takes};
use crate::guarantees::Condition::Always;
use crate::mechanism::{Info, Late, Mechanism, Outcome};

/// The largest number of entries of envy rows: pairs of users times classes. A programme with so many entries takes
/// about a minute.
const MOST_ENTRIES: usize = 200_000;

/// The mechanism of the most tasks of all users together, without envy or with equal tasks over weight.
pub static OEF: Mechanism = Mechanism {
    info: &Info {
        id: "oef",
        aliases: &[],
        title: "OEF, the most throughput without envy",
        equalises: "nothing; maximises sum_n x_n among allocations that are envy-free, or in which all x_n / w_n are equal",
        guarantees: "by default envy-free; the most tasks of all envy-free allocations",
        reference: "OEF (Middleware 2024)",
    },
    proven: &[(Always, &[EnvyFree])],
    flags: &[VARIANT],
    axiom: |_| None,
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Itself,
    solve: |problem, flags| {
        let variant = flags.value::<Variant>(VARIANT.name)?.unwrap_or(Variant::EnvyFree);
        allocate(problem, variant, flags.arithmetic)
    },
};

/// The flag that chooses the condition of fairness.
const VARIANT: Flag = Flag {
    name: "variant",
    takes: Takes::Name("VARIANT", Variant::NAMES),
    help: "oef: the condition under which the sum of tasks is as large as possible: envy-free (default) or equal",
};

/// The condition under which the sum of tasks is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// No user envies another user.
    EnvyFree,
    /// All users have the same number of tasks divided by their weight.
    Equal,
}

names! { Variant:
    EnvyFree = "envy-free", "No user would have more with the bundle of another user, scaled by their weights";
    Equal = "equal", "All users have the same number of tasks over their weight";
}

/// Computes the allocation with the most tasks under the condition of `variant`.
///
/// # Errors
/// Returns [`MechanismError::NotApplicable`] for the variant `envy-free` if a user limits its tasks or its accelerators,
/// [`MechanismError::Limit`] if the programme is too large, and [`MechanismError::Solver`] if the solver fails.
pub fn allocate(
    problem: &Problem,
    variant: Variant,
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    if arithmetic == Arithmetic::Float {
        let why = "it is computed only in exact arithmetic: leave out --float".to_owned();
        return Err(MechanismError::NotApplicable { mechanism: OEF.info.id, why });
    }
    check(problem, variant)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let limits = LimitRows::new(problem, &Vec::new());
    let mut programme = Programme::new(&constraints, &limits);
    match variant {
        Variant::EnvyFree => programme.forbid_envy(&constraints),
        Variant::Equal => programme.equalise(problem),
    }
    let mut outcome = Outcome::of(Allocation {
        mechanism: Some(OEF.info.id.to_owned()),
        rule: (variant == Variant::Equal).then(|| "equal".to_owned()),
        arithmetic,
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    });
    if programme.placements.is_empty() {
        return Ok(outcome);
    }
    let solver = |source| MechanismError::Solver { mechanism: OEF.info.id, source: LevelsError::Lp(source) };
    let optimum = refine::solve(
        &programme.lp,
        &programme.units,
        StartingPoint { point: None, basis: &[] },
        EXACT.max_pivots,
    );
    let optimum = optimum.and_then(Feasibility::optimum).map_err(solver)?;
    for (&(n, i), x) in programme.placements.iter().zip(&optimum.x) {
        if !x.is_zero() {
            outcome.allocation.tasks[n].push((i, x.clone()));
        }
    }
    (outcome.programmes, outcome.pivots) = (1, optimum.pivots);
    Ok(outcome)
}

/// Checks that the variant is defined for the problem, and small enough.
fn check(problem: &Problem, variant: Variant) -> Result<(), MechanismError> {
    if variant == Variant::Equal {
        return Ok(());
    }
    let not_applicable = |why| Err(MechanismError::NotApplicable { mechanism: OEF.info.id, why });
    let limited = problem.users().iter().find(|user| user.tasks().is_some() || user.at_most().is_some());
    if let Some(user) = limited {
        return not_applicable(format!(
            "user `{}` limits its tasks or its accelerators, for which freedom from envy is not linear: use --variant \
             equal",
            user.name()
        ));
    }
    let active = (0..problem.n_users()).filter(|n| problem.is_active(*n)).count();
    let entries = active.saturating_mul(active).saturating_mul(problem.n_servers());
    if entries > MOST_ENTRIES {
        let why = format!("{active} users on {} classes give too many comparisons", problem.n_servers());
        return Err(MechanismError::Limit { mechanism: OEF.info.id, why });
    }
    Ok(())
}

/// The linear programme, which has a column for every user and every class on which the user may run.
struct Programme {
    lp: ExactLp,
    units: Vec<f64>,
    /// The pair `(user, class)` of each column.
    placements: Vec<(usize, usize)>,
    /// The active users, in ascending order.
    users: Vec<usize>,
}

impl Programme {
    fn new(constraints: &Constraints<'_>, limits: &LimitRows) -> Self {
        let problem = constraints.problem();
        let mut lp = ExactLp::default();
        lp.rows.extend(constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
        lp.rows.extend(limits.list().iter().map(|limit| (Sense::AtMost, limit.most.clone())));
        let users: Vec<usize> = (0..problem.n_users()).filter(|n| problem.is_active(*n)).collect();
        let (mut units, mut placements) = (Vec::new(), Vec::new());
        for &n in &users {
            let tasks = problem.users()[n].tasks();
            let task_row = tasks.map(|tasks| {
                lp.rows.push((Sense::AtMost, tasks.clone()));
                lp.rows.len() - 1
            });
            for i in problem.classes_of(n) {
                let mut entries = capacity_entries(constraints, n, i);
                entries.extend(limit_entries(constraints, limits, n, i));
                entries.extend(task_row.map(|row| (row, Rational::from(1))));
                lp.columns.push(ExactColumn { cost: Rational::from(1), entries });
                placements.push((n, i));
                units.push(problem.gamma(n, i).to_f64().min(tasks.map_or(f64::INFINITY, Rational::to_f64)));
            }
        }
        Self { lp, units, placements, users }
    }

    /// Adds the rows `(w_n / w_m) sum_i x_mi rho_nmi - x_n <= 0`.
    fn forbid_envy(&mut self, constraints: &Constraints<'_>) {
        let problem = constraints.problem();
        for &n in &self.users {
            for &m in self.users.iter().filter(|m| **m != n) {
                let row = self.lp.rows.len();
                self.lp.rows.push((Sense::AtMost, Rational::new()));
                let ratio = Rational::from(problem.users()[n].weight() / problem.users()[m].weight());
                for (column, (user, i)) in self.lp.columns.iter_mut().zip(&self.placements) {
                    if *user == n {
                        column.entries.push((row, Rational::from(-1)));
                    } else if *user == m {
                        let worth = worth(constraints, n, m, *i) * &ratio;
                        column.entries.extend((!worth.is_zero()).then_some((row, worth)));
                    }
                }
            }
        }
    }

    /// Adds the rows `x_n / w_n - x_m / w_m = 0` for consecutive users.
    fn equalise(&mut self, problem: &Problem) {
        for pair in self.users.windows(2) {
            let row = self.lp.rows.len();
            self.lp.rows.push((Sense::Equal, Rational::new()));
            for (column, (user, _)) in self.lp.columns.iter_mut().zip(&self.placements) {
                let share = || Rational::from(problem.users()[*user].weight().recip_ref());
                if *user == pair[0] {
                    column.entries.push((row, share()));
                } else if *user == pair[1] {
                    column.entries.push((row, -share()));
                }
            }
        }
    }
}

/// Returns the number of tasks of `n` that the resources of one task of `m` on class `i` are worth. It is 0
/// if `n` cannot run on the class.
fn worth(constraints: &Constraints<'_>, n: usize, m: usize, i: usize) -> Rational {
    let (Some(own), Some(other)) = (constraints.usage(n, i), constraints.usage(m, i)) else {
        return Rational::new();
    };
    let per_row = own.entries().map(|(at, usage)| Rational::from(&other[at] / usage));
    per_row.min().unwrap_or_default()
}
