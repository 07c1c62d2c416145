//! microlp, a simplex method in pure Rust. It computes no duals. If duals are needed, the dual programme is solved as well.

use std::time::{Duration, Instant};

use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

use super::linear::{Linear, Programme, Solved, answer};
use super::{Answer, Contender, NoAnswer};
use crate::case::{Case, Kind};

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
    fn maximise(&self, programme: &Programme, time: Duration) -> Result<Solved, NoAnswer> {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        problem.set_time_limit(time);
        let variables: Vec<Variable> =
            programme.costs.iter().map(|cost| problem.add_var(*cost, (0.0, f64::INFINITY))).collect();
        for (entries, most) in &programme.rows {
            let row: Vec<(Variable, f64)> =
                entries.iter().map(|(column, value)| (variables[*column], *value)).collect();
            problem.add_constraint(row, ComparisonOp::Le, *most);
        }
        let (x, objective) = solved(&problem, &variables)?;
        Ok(Solved { x, objective: Some(objective), status: "Optimal".to_owned(), ..Solved::default() })
    }
}

/// A solver of both programmes, one after the other.
struct WithDuals;

impl Linear for WithDuals {
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
        let (duals, _) = solved(&problem, &prices)?;
        Ok(Solved { duals, ..primal })
    }
}

fn solved(problem: &Problem, variables: &[Variable]) -> Result<(Vec<f64>, f64), NoAnswer> {
    let outcome = problem.solve().map_err(|error| NoAnswer::Failed(error.to_string()))?;
    if !outcome.is_optimal() {
        return Err(NoAnswer::Timeout);
    }
    let solution = outcome.into_solution().map_err(|_| NoAnswer::Timeout)?;
    let values = variables.iter().map(|variable| solution.var_value(*variable)).collect();
    Ok((values, solution.objective()))
}
