//! Kinds of cases that any solver of linear programmes can solve, with one programme or with several in sequence.

use std::time::{Duration, Instant};

use evenhand_lp::model::{self as lp, Bounds, Direction};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, Reservation};

use super::model::{Model, ModelPlace};
use super::{Answer, NoAnswer};
use crate::case::{Case, Input, Kind};
use crate::configurations;
use crate::programmes::ProgrammeStatus;

/// A linear programme: maximises `costs x` over rows `a x <= most` and `x >= 0`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Programme {
    /// The costs of the columns.
    pub costs: Vec<f64>,
    /// The rows: the coefficients as `(column, coefficient)`, and the right-hand side.
    pub rows: Vec<(Vec<(usize, f64)>, f64)>,
}

/// A linear programme of any kind: minimises `costs x` over rows and columns with bounds, which may be infinite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneralProgramme {
    /// The costs of the columns.
    pub costs: Vec<f64>,
    /// The lower and upper bounds of the columns.
    pub columns: Vec<(f64, f64)>,
    /// The rows with their bounds.
    pub rows: Vec<GeneralRow>,
}

/// A row of a linear programme of any kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneralRow {
    /// The coefficients as `(column, coefficient)`.
    pub entries: Vec<(usize, f64)>,
    /// The lower and upper bound.
    pub bounds: (f64, f64),
}

impl From<&Programme> for GeneralProgramme {
    fn from(programme: &Programme) -> Self {
        let row = |(entries, most): &(Vec<(usize, f64)>, f64)| GeneralRow {
            entries: entries.clone(),
            bounds: (f64::NEG_INFINITY, *most),
        };
        Self {
            costs: programme.costs.iter().map(|cost| -cost).collect(),
            columns: vec![(0.0, f64::INFINITY); programme.costs.len()],
            rows: programme.rows.iter().map(row).collect(),
        }
    }
}

impl From<&lp::Model> for GeneralProgramme {
    fn from(model: &lp::Model) -> Self {
        let ends = |bounds: &Bounds| {
            let lower = bounds.lower.as_ref().map_or(f64::NEG_INFINITY, to_f64);
            (lower, bounds.upper.as_ref().map_or(f64::INFINITY, to_f64))
        };
        let row = |row: &lp::Row| GeneralRow { entries: Vec::new(), bounds: ends(&row.bounds) };
        let mut rows: Vec<GeneralRow> = model.rows.iter().map(row).collect();
        for (j, column) in model.columns.iter().enumerate() {
            column.entries.iter().for_each(|(row, value)| rows[*row].entries.push((j, to_f64(value))));
        }
        Self {
            costs: (0..model.columns.len()).map(|j| to_f64(&model.minimised_cost(j))).collect(),
            columns: model.columns.iter().map(|column| ends(&column.bounds)).collect(),
            rows,
        }
    }
}

/// The solution of a linear programme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Solved {
    /// The values of the columns. Empty if the solver states that there is no optimum.
    pub x: Vec<f64>,
    /// The duals of the rows: the change of the minimum or maximum for one more unit of the right-hand side.
    pub duals: Vec<f64>,
    /// The status in the solver's own words.
    pub status: String,
    /// The status of the programme that the solver states, if the solver states one.
    pub says: Option<ProgrammeStatus>,
    /// The solver's own value of the objective.
    pub objective: Option<f64>,
    /// The number of steps.
    pub steps: Option<u64>,
}

/// A solver of linear programmes.
pub trait Linear {
    /// Solves any linear programme within this time. The result may state that there is no optimum.
    ///
    /// # Errors
    /// [`NoAnswer`] if the solver fails or the time is up.
    fn minimise(&self, programme: &GeneralProgramme, time: Duration) -> Result<Solved, NoAnswer>;

    /// Solves a programme that has an optimum within this time.
    ///
    /// # Errors
    /// [`NoAnswer`] if the solver fails, finds no optimum, or the time is up.
    fn maximise(&self, programme: &Programme, time: Duration) -> Result<Solved, NoAnswer> {
        let solved = self.minimise(&programme.into(), time)?;
        if solved.says.is_some_and(|says| says != ProgrammeStatus::Optimal) {
            return Err(NoAnswer::Failed(format!("it ends with {}", solved.status)));
        }
        Ok(Solved {
            // All rows are upper bounds, so all duals have the same sign.
            duals: solved.duals.iter().map(|dual| dual.abs()).collect(),
            objective: solved.objective.map(|value| -value),
            ..solved
        })
    }
}

/// The tolerance for inexact solvers, as a fraction. A dual below this fraction of the largest dual counts as
/// 0. A user whose level exceeds the least level by more than this fraction is not fixed at that level.
const NOTHING: f64 = 1e-6;

/// Returns the answer to a case that linear programmes can solve.
///
/// # Errors
/// [`NoAnswer`] if the solver has none, or if the case is not linear.
pub fn answer(case: &Case, solver: &dyn Linear, time: Duration) -> Result<Answer, NoAnswer> {
    match &case.input {
        Input::Reservation(problem) => of_configurations(problem, solver, time),
        Input::Programme(model) => of_programme(model, solver, time),
        Input::Allocation(problem) => match case.kind {
            Kind::Utilitarian => utilitarian(&Model::new(problem, case.kind.sharing()), solver, time),
            _ => levels(case, problem, solver, time),
        },
    }
}

/// Solves a linear programme of any kind.
fn of_programme(model: &lp::Model, solver: &dyn Linear, time: Duration) -> Result<Answer, NoAnswer> {
    let solved = solver.minimise(&model.into(), time)?;
    let sign = if model.direction == Direction::Maximise { -1.0 } else { 1.0 };
    Ok(Answer {
        x: solved.x,
        prices: Some(solved.duals).filter(|duals| !duals.is_empty()),
        says: solved.says,
        status: solved.status,
        objective: solved.objective.map(|value| sign * value + to_f64(&model.constant)),
        steps: solved.steps,
        ..Answer::default()
    })
}

/// Returns the rows of the classes, followed by the rows of the users with a limit.
fn rows(model: &Model) -> Vec<(Vec<(usize, f64)>, f64)> {
    let mut rows: Vec<(Vec<(usize, f64)>, f64)> =
        model.capacity.iter().map(|capacity| (Vec::new(), *capacity)).collect();
    for (column, (_, place)) in model.columns().enumerate() {
        for (row, amount) in &place.usage {
            rows[*row].0.push((column, *amount));
        }
    }
    let mut column = 0;
    for user in &model.users {
        let own = column..column + user.places.len();
        column = own.end;
        if user.limit.is_finite() && !own.is_empty() {
            rows.push((own.map(|column| (column, 1.0)).collect(), user.limit));
        }
    }
    rows.retain(|(entries, _)| !entries.is_empty());
    rows
}

fn utilitarian(model: &Model, solver: &dyn Linear, time: Duration) -> Result<Answer, NoAnswer> {
    let costs = model.columns().map(|(n, _)| model.users[n].weight).collect();
    let solved = solver.maximise(&Programme { costs, rows: rows(model) }, time)?;
    let (steps, objective) = (solved.steps, solved.objective);
    Ok(Answer { steps, objective, ..model.answer(&solved.x, solved.status) })
}

/// Linear programmes for levels. Their columns are the tasks. The last column is the least level of the users that are
/// not fixed yet.
pub(super) struct Levels {
    pub model: Model,
    /// The rows of classes and of users' limits.
    pub fixed: Vec<(Vec<(usize, f64)>, f64)>,
    /// The columns of each user, each with the increase of the user's level by one task.
    pub columns: Vec<Vec<(usize, f64)>>,
}

impl Levels {
    pub fn new(case: &Case, problem: &Problem) -> Result<Self, NoAnswer> {
        let model = Model::new(problem, case.kind.sharing());
        let share = case.kind.share().ok_or(NoAnswer::Kind)?;
        let shares = share.coefficients(problem).map_err(|error| NoAnswer::Failed(error.to_string()))?;
        let fixed = rows(&model);
        let mut columns = vec![Vec::new(); model.users.len()];
        for (column, (n, place)) in model.columns().enumerate() {
            columns[n].push((column, to_f64(shares.of(n, place.class)) / model.users[n].weight));
        }
        Ok(Self { model, fixed, columns })
    }

    /// Returns the users that can have any tasks.
    pub fn open_users(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|n| !self.columns[*n].is_empty()).collect()
    }

    /// Returns the level of a user that has the whole cluster, each class by itself.
    pub fn level_alone(&self, n: usize) -> f64 {
        let user = &self.model.users[n];
        let most = |place: &ModelPlace| {
            let most = place.usage.iter().map(|(row, amount)| self.model.capacity[*row] / amount);
            most.fold(f64::INFINITY, f64::min)
        };
        let units = self.columns[n].iter().map(|(_, unit)| *unit);
        let all: f64 = user.places.iter().zip(units.clone()).map(|(place, unit)| most(place) * unit).sum();
        all.min(units.fold(0.0, f64::max) * user.limit)
    }

    /// Returns the column of the least level.
    fn level_column(&self) -> usize {
        self.model.n_columns()
    }

    /// Returns the programme that maximises the least level of the `open` users while the other users keep their
    /// levels. The rows of the open users come after the fixed rows.
    fn programme(&self, open: &[usize], held: &[(usize, f64)]) -> Programme {
        let mut costs = vec![0.0; self.level_column()];
        costs.push(1.0);
        let mut rows = self.fixed.clone();
        let negative = |n: usize| self.columns[n].iter().map(|(column, unit)| (*column, -unit));
        for &n in open {
            rows.push((negative(n).chain([(self.level_column(), 1.0)]).collect(), 0.0));
        }
        for (n, level) in held {
            rows.push((negative(*n).collect(), -level));
        }
        Programme { costs, rows }
    }
}

/// Returns the programme that maximises only the least share. It does not raise the levels of other users
/// further.
///
/// # Errors
/// [`NoAnswer`] if the share is not defined.
pub fn least_share(case: &Case, problem: &Problem) -> Result<Programme, NoAnswer> {
    let levels = Levels::new(case, problem)?;
    Ok(levels.programme(&levels.open_users(), &[]))
}

/// Computes the max-min allocation. It maximises the least level, fixes the users that cannot exceed this level, and
/// repeats this for the other users. A positive dual at the least level shows that a user cannot exceed it.
fn levels(case: &Case, problem: &Problem, solver: &dyn Linear, time: Duration) -> Result<Answer, NoAnswer> {
    let end = Instant::now() + time;
    let levels = Levels::new(case, problem)?;
    let mut open = levels.open_users();
    let mut held: Vec<(usize, f64)> = Vec::new();
    let (mut steps, mut first) = (0, None);
    let mut last = Solved::default();
    while !open.is_empty() {
        let programme = levels.programme(&open, &held);
        let left = end.checked_duration_since(Instant::now()).ok_or(NoAnswer::Timeout)?;
        let solved = solver.maximise(&programme, left)?;
        steps += solved.steps.unwrap_or(0);
        let level = solved.x[levels.level_column()];
        first.get_or_insert(level);
        let duals = &solved.duals[levels.fixed.len()..][..open.len()];
        let largest = duals.iter().copied().fold(0.0, f64::max);
        let reached =
            |n: &usize| levels.columns[*n].iter().map(|(at, unit)| unit * solved.x[*at]).sum::<f64>();
        let is_held = open.iter().zip(duals).map(|(n, dual)| {
            *dual > 0.0 && *dual >= NOTHING * largest && reached(n) <= level + NOTHING * level.abs()
        });
        let is_held: Vec<bool> = is_held.collect();
        if !is_held.contains(&true) {
            return Err(NoAnswer::Failed("no user has a dual at the least level".to_owned()));
        }
        held.extend(open.iter().zip(&is_held).filter(|(_, held)| **held).map(|(n, _)| (*n, level)));
        let mut keep = is_held.iter();
        open.retain(|_| !keep.next().copied().unwrap_or_default());
        last = solved;
    }
    let mut answer = levels.model.answer(last.x.get(..levels.level_column()).unwrap_or(&[]), last.status);
    if case.kind == Kind::Whole {
        // The capacity that rounding frees stays unused, because this answer is meant to be plain rounding.
        for (_, tasks) in answer.tasks.iter_mut().flatten() {
            *tasks = tasks.max(0.0).floor();
        }
    }
    Ok(Answer { steps: Some(steps), objective: first, ..answer })
}

/// Converts the columns of a programme to an answer. The programme must be that of [`least_share`] or that of
/// the configurations.
///
/// # Errors
/// [`NoAnswer`] if the case has no such programme.
pub fn read(case: &Case, x: &[f64], answer: Answer) -> Result<Answer, NoAnswer> {
    match &case.input {
        Input::Reservation(problem) => {
            let listed = configurations::all(problem).ok_or(NoAnswer::TooLarge("configurations"))?;
            Ok(of_columns(problem, &listed, x, answer))
        }
        Input::Programme(_) => Err(NoAnswer::Kind),
        Input::Allocation(problem) => {
            let model = Model::new(problem, case.kind.sharing());
            let tasks = model.tasks(x.get(..model.n_columns()).unwrap_or(&[]));
            Ok(Answer { tasks, only_least: true, ..answer })
        }
    }
}

/// Solves the programme whose columns are the maximal configurations of all pools.
fn of_configurations(problem: &Reservation, solver: &dyn Linear, time: Duration) -> Result<Answer, NoAnswer> {
    let listed = configurations::all(problem).ok_or(NoAnswer::TooLarge("configurations"))?;
    let (programme, columns) = configurations::programme(problem, &listed);
    let solved = solver.maximise(&programme, time)?;
    let answer = Answer {
        status: solved.status,
        objective: solved.objective,
        steps: solved.steps,
        ..Answer::default()
    };
    Ok(of_columns(problem, &columns, &solved.x, answer))
}

fn of_columns(problem: &Reservation, columns: &[(usize, Vec<u64>)], x: &[f64], answer: Answer) -> Answer {
    let (served, used) = x.split_at(problem.n_types());
    let servers = columns.iter().zip(used).filter(|(_, x)| **x != 0.0);
    let servers = servers.map(|((pool, k), x)| (*pool, k.clone(), *x)).collect();
    Answer { served: served.to_vec(), servers, ..answer }
}
