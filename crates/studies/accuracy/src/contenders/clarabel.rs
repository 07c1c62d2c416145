//! Clarabel, an interior point method for conic programmes. Sums of logarithms need exponential cones, sums of other
//! powers need power cones, and linear programmes need neither.

use std::time::Duration;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, PowerConeT, SolverStatus,
    SupportedConeT, ZeroConeT,
};
use evenhand_problem::number::to_f64;

use super::linear::{GeneralProgramme, Linear, Solved, answer};
use super::model::Model;
use super::{Answer, Contender, NoAnswer, named};
use crate::case::{Case, Kind};
use crate::programmes::ProgrammeStatus;

/// The tolerances that are tested in addition to the default, which is 1e-8.
const TOLERANCES: [f64; 3] = [1e-4, 1e-6, 1e-10];

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let settings = TOLERANCES.map(Some).into_iter().chain([None]);
    settings.map(|tolerance| Box::new(Clarabel { tolerance }) as Box<dyn Contender>).collect()
}

#[derive(Debug, Clone, Copy)]
struct Clarabel {
    /// The tolerance for gap and feasibility. `None` stands for the default.
    tolerance: Option<f64>,
}

impl Contender for Clarabel {
    fn name(&self) -> String {
        named("clarabel", self.tolerance)
    }

    fn method(&self) -> String {
        "clarabel".to_owned()
    }

    fn about(&self) -> String {
        let tolerance = self.tolerance.map_or_else(|| "its default".to_owned(), |t| format!("{t:e}"));
        format!("Clarabel (conic interior point), tolerance {tolerance}")
    }

    fn takes(&self, kind: Kind) -> bool {
        kind.is_linear() || kind.is_sum()
    }

    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer> {
        if case.kind.is_linear() {
            return answer(case, self, time);
        }
        let problem = case.problem().ok_or(NoAnswer::Kind)?;
        let model = Model::new(problem, case.kind.sharing());
        let cones = of_sum(&model, to_f64(&case.alpha));
        let solved = self.run(&cones, time)?;
        if solved.says.is_some_and(|says| says != ProgrammeStatus::Optimal) {
            return Err(NoAnswer::Failed(format!("Clarabel ends with {}", solved.status)));
        }
        let n_columns = model.n_columns();
        let values: Vec<f64> = solved.x[..n_columns].to_vec();
        let (objective, steps) = (solved.objective.map(|value| -value), solved.steps);
        Ok(Answer { objective, steps, ..model.answer(&values, solved.status) })
    }
}

/// A cone programme: minimises `costs x` with `most - a x` in the cones.
#[derive(Default)]
struct Conic {
    costs: Vec<f64>,
    /// The nonzero entries as `(row, column, value)`.
    entries: Vec<(usize, usize, f64)>,
    most: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Conic {
    /// Adds a row. Its slack must be nonnegative.
    fn row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, most: f64) {
        let row = self.most.len();
        self.entries.extend(entries.into_iter().map(|(column, value)| (row, column, value)));
        self.most.push(most);
    }
}

/// Returns the programme of a sum of utilities. Its variables are those of the model, followed by one
/// variable `t` for the utility of every user. `t` satisfies `exp(t) <= U`, or bounds a power of `U`.
fn of_sum(model: &Model, alpha: f64) -> Conic {
    let n = model.n_columns();
    let mut conic = Conic { costs: vec![0.0; n], ..Conic::default() };
    let total: f64 = model.users.iter().map(|user| user.weight).sum();
    let mut of_rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); model.capacity.len()];
    let mut of_users: Vec<Vec<usize>> = vec![Vec::new(); model.users.len()];
    for (column, (n, place)) in model.columns().enumerate() {
        of_users[n].push(column);
        place.usage.iter().for_each(|(row, amount)| of_rows[*row].push((column, *amount)));
    }
    for (row, entries) in of_rows.into_iter().enumerate().filter(|(_, entries)| !entries.is_empty()) {
        conic.row(entries, model.capacity[row]);
    }
    for column in 0..n {
        conic.row([(column, -1.0)], 0.0);
    }
    for (user, columns) in model.users.iter().zip(&of_users) {
        if user.limit.is_finite() && !columns.is_empty() {
            conic.row(columns.iter().map(|column| (*column, 1.0)), user.limit);
        }
    }
    conic.cones.push(NonnegativeConeT(conic.most.len()));
    for (user, columns) in model.users.iter().zip(&of_users).filter(|(_, columns)| !columns.is_empty()) {
        let t = conic.costs.len();
        let weight = user.weight / total;
        let utility = || columns.iter().map(|column| (*column, -1.0));
        if alpha == 1.0 {
            conic.costs.push(-weight);
            conic.row([(t, -1.0)], 0.0);
            conic.row([], 1.0);
            conic.row(utility(), 0.0);
            conic.cones.push(ExponentialConeT());
        } else if alpha > 1.0 {
            // The cone t^(1/alpha) U^(1 - 1/alpha) >= 1 means t >= U^(1 - alpha).
            conic.costs.push(weight / (alpha - 1.0));
            conic.row([(t, -1.0)], 0.0);
            conic.row(utility(), 0.0);
            conic.row([], 1.0);
            conic.cones.push(PowerConeT(1.0 / alpha));
        } else {
            // The cone means t <= U^(1 - alpha).
            conic.costs.push(-weight / (1.0 - alpha));
            conic.row(utility(), 0.0);
            conic.row([], 1.0);
            conic.row([(t, -1.0)], 0.0);
            conic.cones.push(PowerConeT(1.0 - alpha));
        }
    }
    conic
}

impl Clarabel {
    fn run(self, conic: &Conic, time: Duration) -> Result<Solved, NoAnswer> {
        let (n, m) = (conic.costs.len(), conic.most.len());
        let part = |of: fn(&(usize, usize, f64)) -> usize| conic.entries.iter().map(of).collect::<Vec<_>>();
        let values = conic.entries.iter().map(|entry| entry.2).collect();
        let matrix = CscMatrix::new_from_triplets(m, n, part(|e| e.0), part(|e| e.1), values);
        let mut settings =
            DefaultSettings { verbose: false, time_limit: time.as_secs_f64(), ..DefaultSettings::default() };
        if let Some(tolerance) = self.tolerance {
            settings.tol_gap_abs = tolerance;
            settings.tol_gap_rel = tolerance;
            settings.tol_feas = tolerance;
        }
        let no_squares = CscMatrix::zeros((n, n));
        let solver =
            DefaultSolver::new(&no_squares, &conic.costs, &matrix, &conic.most, &conic.cones, settings);
        let mut solver = solver.map_err(|error| NoAnswer::Failed(format!("{error:?}")))?;
        solver.solve();
        let end = &solver.solution;
        let (status, steps) = (format!("{:?}", end.status), Some(u64::from(end.iterations)));
        let says = match end.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => {
                return Ok(Solved {
                    x: end.x.clone(),
                    duals: end.z.clone(),
                    status,
                    says: Some(ProgrammeStatus::Optimal),
                    objective: Some(end.obj_val),
                    steps,
                });
            }
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                ProgrammeStatus::Infeasible
            }
            // The objective improves along a ray, but a feasible point need not exist.
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => ProgrammeStatus::NoOptimum,
            SolverStatus::MaxTime => return Err(NoAnswer::Timeout),
            _ => return Err(NoAnswer::Failed(format!("Clarabel ends with {status}"))),
        };
        Ok(Solved { status, says: Some(says), steps, ..Solved::default() })
    }
}

impl Linear for Clarabel {
    fn minimise(&self, programme: &GeneralProgramme, time: Duration) -> Result<Solved, NoAnswer> {
        let mut conic = Conic { costs: programme.costs.clone(), ..Conic::default() };
        // The row of the programme and the sign of its price, for each row of the cones. `None` for a row of
        // the cones that is a bound of a column.
        let mut priced: Vec<Option<(usize, f64)>> = Vec::new();
        let is_fixed = |(lower, upper): &(f64, f64)| lower == upper;
        let rows = || programme.rows.iter().enumerate();
        for (i, row) in rows().filter(|(_, row)| is_fixed(&row.bounds)) {
            conic.row(row.entries.iter().copied(), row.bounds.1);
            priced.push(Some((i, -1.0)));
        }
        for (j, (_, upper)) in programme.columns.iter().enumerate().filter(|(_, bounds)| is_fixed(bounds)) {
            conic.row([(j, 1.0)], *upper);
            priced.push(None);
        }
        let n_fixed = priced.len();
        for (i, row) in rows().filter(|(_, row)| !is_fixed(&row.bounds)) {
            let (lower, upper) = row.bounds;
            if upper.is_finite() {
                conic.row(row.entries.iter().copied(), upper);
                priced.push(Some((i, -1.0)));
            }
            if lower.is_finite() {
                conic.row(row.entries.iter().map(|(column, value)| (*column, -value)), -lower);
                priced.push(Some((i, 1.0)));
            }
        }
        for (j, (lower, upper)) in
            programme.columns.iter().enumerate().filter(|(_, bounds)| !is_fixed(bounds))
        {
            if upper.is_finite() {
                conic.row([(j, 1.0)], *upper);
            }
            if lower.is_finite() {
                conic.row([(j, -1.0)], -lower);
            }
        }
        let n_others = conic.most.len() - n_fixed;
        if n_fixed > 0 {
            conic.cones.push(ZeroConeT(n_fixed));
        }
        if n_others > 0 {
            conic.cones.push(NonnegativeConeT(n_others));
        }
        let solved = self.run(&conic, time)?;
        let mut duals = vec![0.0; programme.rows.len()];
        // The duals of the other columns come last and are not needed.
        for (of_row, dual) in priced.iter().zip(&solved.duals) {
            if let Some((row, sign)) = of_row {
                duals[*row] += sign * dual;
            }
        }
        if solved.x.is_empty() {
            duals.clear();
        }
        Ok(Solved { duals, ..solved })
    }
}
