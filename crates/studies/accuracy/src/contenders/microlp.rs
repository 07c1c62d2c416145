//! microlp, a simplex method in pure Rust. It computes no duals, so the dual programme is solved as well if
//! duals are needed.

use std::time::{Duration, Instant};

use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, Variable};

use super::linear::{GeneralProgramme, GeneralRow, Linear, Programme, Solved, answer};
use super::{Answer, Contender, NoAnswer};
use crate::case::{Case, Kind};
use crate::programmes::ProgrammeStatus;

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    vec![Box::new(Microlp)]
}

#[derive(Debug, Clone, Copy)]
struct Microlp;

impl Contender for Microlp {
    fn name(&self) -> String {
        "microlp".to_owned()
    }

    fn about(&self) -> String {
        "microlp, a simplex method in pure Rust; duals from the dual programme".to_owned()
    }

    fn takes(&self, kind: Kind) -> bool {
        kind.is_linear()
    }

    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer> {
        if case.kind.share().is_some() {
            return answer(case, &WithDuals, time);
        }
        answer(case, self, time)
    }
}

impl Linear for Microlp {
    fn minimise(&self, programme: &GeneralProgramme, time: Duration) -> Result<Solved, NoAnswer> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        problem.set_time_limit(time);
        let columns = programme.costs.iter().zip(&programme.columns);
        let variables: Vec<Variable> =
            columns.map(|(cost, bounds)| problem.add_var(*cost, *bounds)).collect();
        for GeneralRow { entries, bounds: (lower, upper) } in &programme.rows {
            let row: Vec<(Variable, f64)> =
                entries.iter().map(|(column, value)| (variables[*column], *value)).collect();
            if lower == upper {
                problem.add_constraint(row, ComparisonOp::Eq, *upper);
                continue;
            }
            if upper.is_finite() {
                problem.add_constraint(row.clone(), ComparisonOp::Le, *upper);
            }
            if lower.is_finite() {
                problem.add_constraint(row, ComparisonOp::Ge, *lower);
            }
        }
        solved(&problem, &variables)
    }
}

/// A solver that solves the programme and then its dual programme.
struct WithDuals;

impl Linear for WithDuals {
    fn minimise(&self, programme: &GeneralProgramme, time: Duration) -> Result<Solved, NoAnswer> {
        Microlp.minimise(programme, time)
    }

    fn maximise(&self, programme: &Programme, time: Duration) -> Result<Solved, NoAnswer> {
        let begun = Instant::now();
        let primal = Microlp.maximise(programme, time)?;
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        problem.set_time_limit(time.checked_sub(begun.elapsed()).ok_or(NoAnswer::Timeout)?);
        let prices: Vec<Variable> =
            programme.rows.iter().map(|(_, most)| problem.add_var(*most, (0.0, f64::INFINITY))).collect();
        let mut columns = vec![Vec::new(); programme.costs.len()];
        for (price, (entries, _)) in prices.iter().zip(&programme.rows) {
            entries.iter().for_each(|(column, value)| columns[*column].push((*price, *value)));
        }
        for (column, cost) in columns.into_iter().zip(&programme.costs) {
            problem.add_constraint(column, ComparisonOp::Ge, *cost);
        }
        let dual = solved(&problem, &prices)?;
        if dual.says != Some(ProgrammeStatus::Optimal) {
            return Err(NoAnswer::Failed(format!("it ends with {} on the dual programme", dual.status)));
        }
        Ok(Solved { duals: dual.x, ..primal })
    }
}

fn solved(problem: &Problem, variables: &[Variable]) -> Result<Solved, NoAnswer> {
    let outcome = match problem.solve() {
        Ok(outcome) => outcome,
        Err(error) => {
            let says = match error {
                Error::Infeasible => ProgrammeStatus::Infeasible,
                Error::Unbounded => ProgrammeStatus::Unbounded,
                _ => return Err(NoAnswer::Failed(error.to_string())),
            };
            return Ok(Solved { status: error.to_string(), says: Some(says), ..Solved::default() });
        }
    };
    if !outcome.is_optimal() {
        return Err(NoAnswer::Timeout);
    }
    let solution = outcome.into_solution().map_err(|_| NoAnswer::Timeout)?;
    Ok(Solved {
        x: variables.iter().map(|variable| solution.var_value(*variable)).collect(),
        objective: Some(solution.objective()),
        status: "Optimal".to_owned(),
        says: Some(ProgrammeStatus::Optimal),
        ..Solved::default()
    })
}
