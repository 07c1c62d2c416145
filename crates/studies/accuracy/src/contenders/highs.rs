//! HiGHS: the simplex method, the interior point method with and without crossover, and the first-order method PDLP.

use std::time::Duration;

use highs::{ColProblem, HighsModelStatus, HighsSolutionStatus, Sense};

use super::linear::{GeneralProgramme, Linear, Solved, answer};
use super::{Answer, Contender, NoAnswer, named};
use crate::case::{Case, Kind};
use crate::programmes::ProgrammeStatus;

/// The tolerances of PDLP that are tested in addition to the default, which is 1e-7.
const PDLP_TOLERANCES: [f64; 2] = [1e-4, 1e-9];

/// The tolerance of the other methods that is tested in addition to the default, which is 1e-7. Only general linear
/// programmes are tested with it.
const TIGHT: f64 = 1e-9;

/// The simplex method with the default tolerance.
pub(super) const SIMPLEX: Highs =
    Highs { method: "highs-simplex", solver: "simplex", crossover: "on", tolerance: None };

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let simplex = SIMPLEX;
    let interior = Highs { method: "highs-ipm", solver: "ipm", crossover: "off", tolerance: None };
    let crossover = Highs { method: "highs-ipm-crossover", crossover: "on", ..interior };
    let pdlp = Highs { method: "highs-pdlp", solver: "pdlp", ..interior };
    let mut all = vec![simplex, interior, crossover, pdlp];
    all.extend(PDLP_TOLERANCES.map(|tolerance| Highs { tolerance: Some(tolerance), ..pdlp }));
    all.extend([simplex, interior].map(|usual| Highs { tolerance: Some(TIGHT), ..usual }));
    all.into_iter().map(|one| Box::new(one) as Box<dyn Contender>).collect()
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Highs {
    method: &'static str,
    solver: &'static str,
    crossover: &'static str,
    /// The tolerance for feasibility and gap. `None` stands for the default.
    tolerance: Option<f64>,
}

impl Contender for Highs {
    fn name(&self) -> String {
        named(self.method, self.tolerance)
    }

    fn method(&self) -> String {
        self.method.to_owned()
    }

    fn about(&self) -> String {
        let tolerance = self.tolerance.map_or_else(|| "its default".to_owned(), |t| format!("{t:e}"));
        format!("HiGHS, {}, crossover {}, tolerance {tolerance}", self.solver, self.crossover)
    }

    fn takes(&self, kind: Kind) -> bool {
        let is_tight = self.solver != "pdlp" && self.tolerance.is_some();
        kind.is_linear() && (!is_tight || kind == Kind::LinearProgramme)
    }

    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer> {
        answer(case, self, time)
    }
}

impl Linear for Highs {
    fn minimise(&self, programme: &GeneralProgramme, time: Duration) -> Result<Solved, NoAnswer> {
        let mut problem = ColProblem::new();
        let bounds = programme.rows.iter().map(|row| row.bounds);
        let rows: Vec<_> = bounds.map(|(lower, upper)| problem.add_row(lower..=upper)).collect();
        let mut columns = vec![Vec::new(); programme.costs.len()];
        for (at, row) in programme.rows.iter().enumerate() {
            row.entries.iter().for_each(|(column, value)| columns[*column].push((rows[at], *value)));
        }
        for ((cost, (lower, upper)), column) in programme.costs.iter().zip(&programme.columns).zip(columns) {
            problem.add_column(*cost, *lower..=*upper, column);
        }
        let mut model = problem.try_optimise(Sense::Minimise).map_err(refused)?;
        model.make_quiet();
        let mut set = |name: &str, value: f64| model.try_set_option(name, value).map_err(refused);
        set("time_limit", time.as_secs_f64())?;
        if let Some(tolerance) = self.tolerance {
            // This option sets all tolerances of PDLP.
            set("kkt_tolerance", tolerance)?;
        }
        for (name, value) in [("solver", self.solver), ("run_crossover", self.crossover), ("parallel", "off")]
        {
            model.try_set_option(name, value).map_err(refused)?;
        }
        model.try_set_option("threads", 1).map_err(refused)?;
        let solved = model.try_solve().map_err(refused)?;
        let steps = match self.solver {
            "simplex" => solved.simplex_iteration_count(),
            "ipm" => solved.ipm_iteration_count(),
            _ => solved.pdlp_iteration_count(),
        };
        let status = solved.status();
        let (words, steps) = (format!("{status:?}"), u64::try_from(steps).ok());
        let says = match status {
            HighsModelStatus::Optimal => Some(ProgrammeStatus::Optimal),
            // HiGHS reports this status for a solution without a basis that does not meet the tolerances.
            HighsModelStatus::Unknown if solved.primal_solution_status() == HighsSolutionStatus::Feasible => {
                None
            }
            HighsModelStatus::Infeasible => Some(ProgrammeStatus::Infeasible),
            HighsModelStatus::Unbounded => Some(ProgrammeStatus::Unbounded),
            HighsModelStatus::UnboundedOrInfeasible => Some(ProgrammeStatus::NoOptimum),
            HighsModelStatus::ReachedTimeLimit => return Err(NoAnswer::Timeout),
            _ => return Err(NoAnswer::Failed(format!("HiGHS ends with {words}"))),
        };
        if says.is_some_and(|says| says != ProgrammeStatus::Optimal) {
            return Ok(Solved { status: words, says, steps, ..Solved::default() });
        }
        let solution = solved.get_solution();
        Ok(Solved {
            x: solution.columns().to_vec(),
            duals: solution.dual_rows().to_vec(),
            status: words,
            says,
            objective: Some(solved.objective_value()),
            steps,
        })
    }
}

fn refused(error: impl std::fmt::Debug) -> NoAnswer {
    NoAnswer::Failed(format!("HiGHS answers {error:?}"))
}
