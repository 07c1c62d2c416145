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

use evenhand_exact::Axiom::{EnvyFree, OptimalEnvyFree, OptimalEqual};
use evenhand_exact::axiom::optimal::worth;
use evenhand_exact::{EnvyPrices, Evidence, LimitRows, Parameters, Prices, Tasks};
use evenhand_levels::LevelsError;
use evenhand_levels::groups::{capacity_entries, limit_entries};
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Feasibility, Sense};
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
    proven: &[(Always, &[EnvyFree, OptimalEnvyFree, OptimalEqual])],
    flags: &[VARIANT],
    axiom: |allocation| {
        let axiom = if allocation.rule.is_some() { OptimalEqual } else { OptimalEnvyFree };
        Some((axiom, Parameters::default()))
    },
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
    let optimum = programme.solve()?;
    outcome.allocation.tasks = programme.tasks(problem, &optimum);
    (outcome.programmes, outcome.pivots) = (1, optimum.pivots);
    Ok(outcome)
}

/// An allocation with the most tasks under the condition of a variant, and prices that prove that no such allocation has
/// more.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The allocation.
    pub tasks: Tasks,
    /// The prices.
    pub prices: Evidence,
}

/// Computes the evidence of the axioms `optimal-envy-free` and `optimal-equal`.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`].
pub fn proof(constraints: &Constraints<'_>, variant: Variant) -> Result<Proof, MechanismError> {
    let problem = constraints.problem();
    check(problem, variant)?;
    let limits = LimitRows::new(problem, &Vec::new());
    let n_rows = constraints.rows().len();
    let mut programme = Programme::new(constraints, &limits);
    let first = programme.lp.rows.len();
    match variant {
        Variant::EnvyFree => programme.forbid_envy(constraints),
        Variant::Equal => programme.raise_least_level(problem),
    }
    let optimum = programme.solve()?;
    let tasks = programme.tasks(problem, &optimum);
    let price = |row: usize| Some((row, optimum.y[row].clone())).filter(|(_, price)| !price.is_zero());
    if variant == Variant::EnvyFree {
        let users = &programme.users;
        let pairs = users.iter().flat_map(|n| users.iter().filter(move |m| *m != n).map(move |m| (*n, *m)));
        let envy = pairs.zip(first..).filter_map(|((n, m), row)| Some((n, m, price(row)?.1)));
        let rows = (0..n_rows).filter_map(price).collect();
        return Ok(Proof { tasks, prices: Evidence::EnvyPrices(EnvyPrices { rows, envy: envy.collect() }) });
    }
    let mut prices = Prices {
        user_weights: vec![Rational::new(); problem.n_users()],
        rows: optimum.y[..n_rows + limits.list().len()].to_vec(),
        users: vec![Rational::new(); problem.n_users()],
    };
    for (n, row) in &programme.task_rows {
        prices.users[*n].clone_from(&optimum.y[*row]);
    }
    for (n, row) in programme.users.iter().zip(first..) {
        prices.user_weights[*n].clone_from(&optimum.y[row]);
    }
    // The programme only bounds the levels from below, so a user may have more than its level.
    let level = optimum.x.last().cloned().unwrap_or_default();
    let mut equal = tasks;
    for &n in &programme.users {
        let total: Rational = equal[n].iter().map(|(_, x)| x).sum();
        let factor = if total.is_zero() {
            total
        } else {
            Rational::from(&level * problem.users()[n].weight()) / total
        };
        equal[n].iter_mut().for_each(|(_, x)| *x *= &factor);
        equal[n].retain(|(_, x)| !x.is_zero());
    }
    Ok(Proof { tasks: equal, prices: Evidence::Prices(prices) })
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
    /// The row `(user, row)` of each user that limits its tasks.
    task_rows: Vec<(usize, usize)>,
}

impl Programme {
    fn new(constraints: &Constraints<'_>, limits: &LimitRows) -> Self {
        let problem = constraints.problem();
        let mut lp = ExactLp::default();
        lp.rows.extend(constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
        lp.rows.extend(limits.list().iter().map(|limit| (Sense::AtMost, limit.most.clone())));
        let users: Vec<usize> = (0..problem.n_users()).filter(|n| problem.is_active(*n)).collect();
        let (mut units, mut placements, mut task_rows) = (Vec::new(), Vec::new(), Vec::new());
        for &n in &users {
            let tasks = problem.users()[n].tasks();
            let task_row = tasks.map(|tasks| {
                lp.rows.push((Sense::AtMost, tasks.clone()));
                lp.rows.len() - 1
            });
            task_rows.extend(task_row.map(|row| (n, row)));
            for i in problem.classes_of(n) {
                let mut entries = capacity_entries(constraints, n, i);
                entries.extend(limit_entries(constraints, limits, n, i));
                entries.extend(task_row.map(|row| (row, Rational::from(1))));
                lp.columns.push(ExactColumn { cost: Rational::from(1), entries });
                placements.push((n, i));
                units.push(problem.gamma(n, i).to_f64().min(tasks.map_or(f64::INFINITY, Rational::to_f64)));
            }
        }
        Self { lp, units, placements, users, task_rows }
    }

    /// Computes the optimum.
    fn solve(&self) -> Result<ExactOptimum, MechanismError> {
        let solver =
            |source| MechanismError::Solver { mechanism: OEF.info.id, source: LevelsError::Lp(source) };
        let start = StartingPoint { point: None, basis: &[] };
        let optimum = refine::solve(&self.lp, &self.units, start, EXACT.max_pivots);
        optimum.and_then(Feasibility::optimum).map_err(solver)
    }

    /// Returns the tasks of an optimum.
    fn tasks(&self, problem: &Problem, optimum: &ExactOptimum) -> Tasks {
        let mut tasks = vec![Vec::new(); problem.n_users()];
        for (&(n, i), x) in self.placements.iter().zip(&optimum.x) {
            if !x.is_zero() {
                tasks[n].push((i, x.clone()));
            }
        }
        tasks
    }

    /// Replaces the objective by the least `x_n / w_n` of all users, times the sum of all weights. The optimum is the
    /// same as with equal levels, because every user can do without its tasks above the least level. The prices of the
    /// new rows are not negative, which the prices of rows of equality need not be. The last column is the level.
    fn raise_least_level(&mut self, problem: &Problem) {
        self.lp.columns.iter_mut().for_each(|column| column.cost = Rational::new());
        let (mut entries, mut all, mut unit) = (Vec::new(), Rational::new(), f64::INFINITY);
        for &n in &self.users {
            let row = self.lp.rows.len();
            self.lp.rows.push((Sense::AtMost, Rational::new()));
            let weight = problem.users()[n].weight();
            entries.push((row, weight.clone()));
            all += weight;
            let mut most = 0.0;
            for ((column, (user, _)), unit) in
                self.lp.columns.iter_mut().zip(&self.placements).zip(&self.units)
            {
                if *user == n {
                    column.entries.push((row, Rational::from(-1)));
                    most += unit;
                }
            }
            unit = unit.min(most / weight.to_f64());
        }
        self.lp.columns.push(ExactColumn { cost: all, entries });
        self.units.push(unit);
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
