//! The maximum of `sum_n w_n g_a(U_n)` in numbers of 640 bits, for small problems on which doubles are too short.
//!
//! Marginal utilities that differ by a factor of `10^100`, or class costs with a relative difference of `10^-12`, need
//! more digits than a double has, but they do not need another method. This is the interior point method of
//! `evenhand_ode::cluster` without its measures against rounding errors. Task limits and limits `at_most` are ordinary
//! rows, users are eliminated directly, and the numbers of the problem are not rounded to doubles first. The method
//! ends when every single user, and not only the sum, is at its optimum.
//!
//! A *place* is a pair of a user and a class on which it can run.

mod model;
mod newton;
mod number;
mod start;
mod step;
#[cfg(test)]
mod tests;

use evenhand_exact::{Prices, ShareCoefficients};
use evenhand_problem::{Constraints, Rational};

use self::model::Model;
use self::newton::Newton;
use self::number::Wide;
use self::start::Objective;
use self::step::{Point, Residuals, direction};
use super::ladder::{Digits, Optimum};
use super::rows::Rows;
use super::{FairPoint, OnClass};

/// The number of products in a step above which a problem is too large. A product takes about a tenth of a
/// microsecond.
const MOST_WORK: usize = 1 << 21;
/// The maximum number of Newton steps.
const STEPS: usize = 2000;
/// The natural logarithm of the residual at which the method ends. The residual is relative to the worth of all rows
/// and to the worth of each user's tasks.
const SOLVED: f64 = -76.0;
/// The number of consecutive steps that do not halve the residual after which the method ends.
const IDLE: usize = 60;
/// The fraction of the distance to the boundary that a step may cover.
const FRACTION_TO_BOUNDARY: f64 = 0.999;
/// The length below which a step is replaced by a step towards the middle of the path.
const SHORT: f64 = 0.3;

/// The bits of the prices and tasks that are judged: more than three times the bits of a double.
const BITS: u32 = 192;
/// The fraction of a user's utility below which a class is dropped if its cost exceeds its worth.
const NEGLIGIBLE: f64 = 1e-20;

/// Computes the optimum. Returns `None` if the problem is too large for this method or no user can run a task.
pub fn maximise(
    constraints: &Constraints<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
) -> Option<Optimum> {
    let model = Model::new(constraints, share)?;
    if model.work() > MOST_WORK {
        return None;
    }
    let exponent = (alpha.numer().to_u32()?, alpha.denom().to_u32()?);
    let objective = Objective::new(&model, exponent);
    let end = run(&objective);
    let digits =
        Digits { tasks: tasks(constraints, &objective, &end), prices: prices(constraints, &objective, &end) };
    Some(Optimum { point: point(constraints, &objective, &end), digits: Some(digits) })
}

/// The last point of the method and the number of steps to it.
struct End {
    point: Point,
    steps: usize,
}

/// Takes Newton steps until the residuals are below [`SOLVED`] or no longer fall, and returns the best point.
fn run(objective: &Objective<'_>) -> End {
    let mut point = objective.start.clone();
    let mut best = (f64::INFINITY, point.clone());
    let (mut mark, mut idle, mut steps) = (f64::INFINITY, 0, 0);
    loop {
        let residuals = Residuals::new(objective, &point);
        let size = residuals.log_size(objective, &point);
        idle = if size < mark - std::f64::consts::LN_2 { 0 } else { idle + 1 };
        if idle == 0 {
            mark = size;
        }
        if size < best.0 {
            best = (size, point.clone());
        }
        if size <= SOLVED || size.is_nan() || idle > IDLE || steps >= STEPS {
            break;
        }
        let rows = objective.model.rows.len() as u64;
        // One operation on long numbers takes some hundred nanoseconds.
        let n_numbers = rows.saturating_pow(3) / 6 + 200 * objective.model.pairs() as u64;
        evenhand_budget::charge(n_numbers.saturating_mul(20), "a path in long numbers");
        let Some(newton) = Newton::new(objective, &point) else { break };
        steps += 1;
        let zero = Wide::default();
        let affine = direction(objective, &point, &newton, &residuals, &zero, None);
        let pairs = Wide::from_f64(objective.model.pairs() as f64);
        let mu = &point.complementarity() / &pairs;
        let reached =
            &point.moved(objective.model, &affine, affine.longest(&point)).complementarity() / &pairs;
        let left = (&reached / &mu).to_f64();
        let mut target = &mu * &Wide::from_f64((left * left * left).clamp(1e-9, 1.0));
        // The next steps would become short if complementarity fell faster than the residuals of the
        // equations.
        let behind = &(&residuals.infeasibility(&point) / &pairs) * &Wide::from_f64(0.3);
        let most = &mu * &Wide::from_f64(3.0);
        let behind = if behind > most { most } else { behind };
        if behind > target {
            target = behind;
        }
        let mut step = direction(objective, &point, &newton, &residuals, &target, Some(&affine));
        for part in [0.3, 0.8, 1.0] {
            if step.longest(&point) >= SHORT {
                break;
            }
            let central =
                direction(objective, &point, &newton, &residuals, &(&mu * &Wide::from_f64(part)), None);
            if central.longest(&point) > step.longest(&point) {
                step = central;
            }
        }
        point = point.moved_within(
            objective.model,
            &step,
            (FRACTION_TO_BOUNDARY * step.longest(&point)).min(1.0),
        );
    }
    End { point: best.1, steps }
}

/// Returns the tasks of each user on the classes that it uses, with each number rounded separately.
fn tasks(constraints: &Constraints<'_>, objective: &Objective<'_>, end: &End) -> Vec<Vec<(usize, Rational)>> {
    let (model, at) = (objective.model, &end.point);
    let mut tasks = vec![Vec::new(); constraints.problem().n_users()];
    for ((user, of), utility) in model.users.iter().enumerate().zip(&model.utilities(&at.amount)) {
        let is_used = |k: &usize| {
            let worth = &model.places[*k].worth;
            let part = &(worth * &at.amount[*k]) / utility;
            let excess = &at.reduced[*k] / &(&at.marginal[user] * worth);
            part > excess || part > Wide::from_f64(NEGLIGIBLE)
        };
        let amount = |k: usize| {
            let place = &model.places[k];
            (place.class, (&at.amount[k] * &place.fits).to_rational(BITS))
        };
        tasks[of.user] = of.places.clone().filter(is_used).map(amount).collect();
    }
    tasks
}

fn prices(constraints: &Constraints<'_>, objective: &Objective<'_>, end: &End) -> Prices {
    let mut rows = vec![Rational::new(); Rows::new(constraints).len()];
    let mut users = vec![Rational::new(); constraints.problem().n_users()];
    for (row, price) in objective.model.rows.iter().zip(&end.point.price) {
        let exact = (&(price * &objective.total) * &row.unit).to_rational(BITS);
        match row.limit_of {
            Some(n) => users[n] = exact,
            None => rows[row.row] = exact,
        }
    }
    Prices { user_weights: Vec::new(), rows, users }
}

/// Returns the last point in doubles, each number rounded separately.
fn point(constraints: &Constraints<'_>, objective: &Objective<'_>, end: &End) -> FairPoint {
    let (model, at) = (objective.model, &end.point);
    let n_users = constraints.problem().n_users();
    let n_rows = Rows::new(constraints).len();
    let price = |row: usize, unit: &Wide| (&(&at.price[row] * &objective.total) * unit).to_f64();
    let mut point = FairPoint {
        places: vec![Vec::new(); n_users],
        row_prices: vec![0.0; n_rows],
        row_slack: vec![1.0; n_rows],
        user_prices: vec![0.0; n_users],
        user_slack: vec![f64::INFINITY; n_users],
        iterations: end.steps,
    };
    for (row, of) in model.rows.iter().enumerate() {
        let (prices, slacks, at_index) = match of.limit_of {
            Some(n) => (&mut point.user_prices, &mut point.user_slack, n),
            None => (&mut point.row_prices, &mut point.row_slack, of.row),
        };
        prices[at_index] = price(row, &of.unit);
        slacks[at_index] = at.slack[row].to_f64();
    }
    for (user, of) in model.users.iter().enumerate() {
        for k in of.places.clone() {
            let place = &model.places[k];
            let excess = (&at.reduced[k] / &(&at.marginal[user] * &place.worth)).to_f64().clamp(0.0, 1.0);
            let tasks = (&at.amount[k] * &place.fits).to_f64();
            point.places[of.user].push(OnClass { class: place.class, tasks, excess });
        }
    }
    point
}
