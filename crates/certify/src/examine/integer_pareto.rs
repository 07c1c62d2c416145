//! Evidence for and against Pareto optimality among whole tasks on single servers.
//!
//! First the greatest divisible sum of tasks that leaves no user worse off is computed. If this sum gains less than a
//! whole task, its prices prove optimality. Otherwise HiGHS searches for an allocation in whole tasks that dominates
//! the given allocation, and its result is rounded and verified exactly. If HiGHS finds no such allocation, nothing is
//! proven.

use evenhand_exact::{Axiom, Claim, Evidence, Instance, Prices};
use evenhand_levels::LevelsError;
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum};
use evenhand_lp::mip::{MipColumn, MipModel, MipRow, MipSettings, MipStatus};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Placement, Rational};

use super::Undecided;

/// The largest number of columns of the model. There is one column for each user and each single server on which the
/// user can run.
const MAX_COLUMNS: u128 = 20_000;

/// The time limit of the search, in seconds.
const TIME_LIMIT: f64 = 20.0;

/// A single server and its columns in the model.
struct Single {
    server: usize,
    index: u64,
    /// `(user, column)` for each user that can run on the server.
    on: Vec<(usize, usize)>,
}

/// Returns the claim, with evidence for or against it.
///
/// # Errors
/// [`Undecided`] if the axiom is neither proven nor refuted.
pub(super) fn claim(instance: &Instance<'_>, tolerance: &Rational) -> Result<Claim, Undecided> {
    let axiom = Axiom::IntegerParetoOptimal;
    if let Ok(claim @ Claim { holds: None, .. }) = Claim::derive(axiom, instance, tolerance) {
        return Ok(claim);
    }
    let judge = |evidence| Claim::with_evidence(axiom, None, evidence, instance, tolerance);
    let refusal = match prices(instance) {
        Ok(prices) => match judge(Evidence::Prices(prices)) {
            Ok(claim) => return Ok(claim),
            Err(refusal) => refusal.to_string(),
        },
        Err(error) => error.to_string(),
    };
    let found = dominating(instance)?;
    judge(Evidence::DominatingPlacements(found))
        .map_err(|dominating| Undecided::Neither { proof: refusal, refutation: dominating.to_string() })
}

/// Returns the prices of the greatest sum of tasks in which no user has fewer tasks.
fn prices(instance: &Instance<'_>) -> Result<Prices, LevelsError> {
    let users = 0..instance.problem().n_users();
    let worth = vec![Rational::from(1); users.len()];
    let floors: Vec<Rational> = users.clone().map(|n| instance.total(n)).collect();
    let limits = Some(instance.limits());
    let goal = SumGoal { floors: Some(&floors), limits, ..SumGoal::of(&worth) };
    let optimum = maximise_sum(instance.constraints(), goal)?;
    let weights = users.map(|n| match instance.is_active(n) {
        true => Rational::from(&worth[n] + &optimum.floor_prices[n]),
        false => Rational::new(),
    });
    Ok(Prices { user_weights: weights.collect(), rows: optimum.prices, users: optimum.user_prices })
}

/// Returns whole tasks on single servers that give no user fewer tasks and, according to HiGHS, some user more.
fn dominating(instance: &Instance<'_>) -> Result<Vec<Placement>, Undecided> {
    let problem = instance.problem();
    let constraints = instance.constraints();
    let runs = |i: usize| (0..problem.n_users()).filter(move |&n| problem.can_run(n, i));
    let counts =
        (0..problem.n_servers()).map(|i| u128::from(problem.servers()[i].count()) * runs(i).count() as u128);
    let columns: u128 = counts.sum();
    if columns > MAX_COLUMNS {
        return Err(Undecided::TooMany { numbers: columns });
    }
    let mut model = MipModel::default();
    let mut singles: Vec<Single> = Vec::new();
    let mut of_user: Vec<Vec<(usize, f64)>> = vec![Vec::new(); problem.n_users()];
    let mut of_limit: Vec<Vec<(usize, f64)>> = vec![Vec::new(); instance.limits().list().len()];
    for i in 0..problem.n_servers() {
        let count = problem.servers()[i].count();
        for index in 0..count {
            let mut on: Vec<(usize, usize)> = Vec::new();
            for n in runs(i) {
                let most = to_f64(&(problem.gamma(n, i) / count).floor());
                let column = MipColumn { cost: 1.0, lower: 0.0, upper: most, is_integer: true };
                let column = model.add_column(column)?;
                on.push((n, column));
                for (at, d) in instance.limits().counting(problem, n, i) {
                    of_limit[at].push((column, to_f64(d)));
                }
                of_user[n].push((column, 1.0));
            }
            for (offset, row) in constraints.class_rows(i).enumerate() {
                let entries = on.iter().filter_map(|&(n, column)| {
                    let usage = constraints.usage(n, i)?;
                    (!usage[offset].is_zero()).then(|| (column, to_f64(&usage[offset])))
                });
                let entries: Vec<(usize, f64)> = entries.collect();
                let upper = to_f64(&Rational::from(&constraints.rows()[row].capacity / count));
                if !entries.is_empty() {
                    model.add_row(MipRow { lower: f64::NEG_INFINITY, upper, entries })?;
                }
            }
            singles.push(Single { server: i, index, on });
        }
    }
    for (limit, entries) in instance.limits().list().iter().zip(of_limit) {
        model.add_row(MipRow { lower: f64::NEG_INFINITY, upper: to_f64(&limit.most), entries })?;
    }
    let mut more = Vec::new();
    let mut present = 0.0;
    for (n, entries) in of_user.into_iter().enumerate().filter(|(n, _)| instance.is_active(*n)) {
        let floor = to_f64(&instance.total(n));
        let upper = problem.users()[n].tasks().map_or(f64::INFINITY, |tasks| to_f64(&tasks.clone().floor()));
        more.extend(entries.iter().copied());
        present += floor;
        model.add_row(MipRow { lower: floor, upper, entries })?;
    }
    let settings = MipSettings { time_limit: TIME_LIMIT, absolute_gap: 0.5, ..MipSettings::default() };
    let solution = model.solve(&settings)?;
    if solution.objective < present + 0.5 {
        return Err(match solution.status {
            MipStatus::Optimal => Undecided::NoneFound,
            MipStatus::TimeLimit => Undecided::OutOfTime { seconds: TIME_LIMIT },
        });
    }
    let placed = singles.into_iter().map(|Single { server, index, on }| {
        let tasks = on.into_iter().filter_map(|(n, column)| {
            let x = Rational::from_f64(solution.values[column].round()).filter(|x| *x > 0)?;
            Some((n, x))
        });
        Placement { server, index, tasks: tasks.collect() }
    });
    Ok(placed.filter(|placement| !placement.tasks.is_empty()).collect())
}
