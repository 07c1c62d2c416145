//! Exact answers of linear programmes, each with its proof.
//!
//! HiGHS proposes a basis in doubles. Its vertex is computed in fractions. If the vertex is not optimal, refinement
//! proposes another basis. If refinement does not reach an optimal basis, exact pivots do. A programme without an
//! optimum is answered by two other programmes that have one. The first minimises the sum of violations, and its prices
//! prove that no point is feasible. The second computes the steepest direction in a box, which proves that the
//! objective has no bound.

use std::time::{Duration, Instant};

use rug::Rational;

use crate::error::LpError;
use crate::highs::{Basis, ColumnBlock, FloatLp};
use crate::model::{Bounds, Column, Direction, Model, Position};
use crate::refinement::{Magnification, refined};
use crate::vertex::{End, Vertex};

/// The limits of a solve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The time after which the best bounds so far are returned. `None` means no limit.
    pub time: Option<Duration>,
    /// The number of rounds of iterative refinement. Two are usual.
    pub refinements: usize,
    /// The number of exact pivots after which the solve ends with an error.
    pub most_pivots: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { time: None, refinements: 12, most_pivots: 100_000 }
    }
}

/// The exact answer of a programme.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The result.
    pub status: Status,
    /// The number of rounds of refinement.
    pub refinements: usize,
    /// The number of exact pivots.
    pub pivots: usize,
}

/// The result for a programme.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// An optimum, with prices that prove it.
    Optimal(Optimum),
    /// No point is feasible.
    Infeasible(Infeasibility),
    /// The objective is unbounded.
    Unbounded {
        /// Value of each column at a feasible point.
        x: Vec<Rational>,
        /// A direction, with one entry for each column, that stays feasible from every feasible point and improves the
        /// objective.
        ray: Vec<Rational>,
    },
    /// The time was up.
    Limit {
        /// A feasible point with its objective, if one is known.
        feasible: Option<(Vec<Rational>, Rational)>,
        /// Prices and the bound on the objective that they prove, if it is finite.
        bound: Option<(Vec<Rational>, Rational)>,
    },
}

/// A proof that no point is feasible.
#[derive(Debug, Clone, PartialEq)]
pub enum Infeasibility {
    /// Prices of the rows whose [bound](Model::proven_bound) without costs is above 0 (Farkas).
    Prices(Vec<Rational>),
    /// The lower bound of this row or column is above its upper bound.
    EmptyBounds(Position),
}

/// An optimal point with its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The objective value, with the constant.
    pub objective: Rational,
    /// Value of each column.
    pub x: Vec<Rational>,
    /// Price of each row, in the minimised programme.
    pub y: Vec<Rational>,
    /// The optimal basis.
    pub basis: Basis,
}

/// Solves a programme exactly. The requirement that columns are integers is left out.
///
/// # Errors
/// [`LpError::PivotLimit`] when the exact pivots do not suffice, and errors of HiGHS for a programme that is too large
/// for it.
pub fn solve(model: &Model, settings: &Settings) -> Result<Answer, LpError> {
    let until = settings.time.map(|time| Instant::now() + time);
    if let Some(position) = empty_bounds(model) {
        let status = Status::Infeasible(Infeasibility::EmptyBounds(position));
        return Ok(Answer { status, refinements: 0, pivots: 0 });
    }
    let mut search = Search { settings, until, refinements: 0, pivots: 0 };
    let status = match search.optimum(model, true)? {
        Some(status) => status,
        None => search.without_optimum(model)?,
    };
    Ok(Answer { status, refinements: search.refinements, pivots: search.pivots })
}

struct Search<'s> {
    settings: &'s Settings,
    until: Option<Instant>,
    refinements: usize,
    pivots: usize,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Returns the optimum. Returns `None` if there seems to be no optimum and `possible` is true, which says that the
    /// programme may have none.
    fn optimum(&mut self, model: &Model, possible: bool) -> Result<Option<Status>, LpError> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()).as_secs_f64());
        let basis = match in_doubles(model, left) {
            Ok(basis) => basis,
            Err(LpError::TimeLimit) => return Ok(Some(Status::Limit { feasible: None, bound: None })),
            Err(_) if possible => return Ok(None),
            Err(_) => Basis::default(),
        };
        let mut vertex = Vertex::new(model, &basis);
        let mut by = Magnification::default();
        for _ in 0..self.settings.refinements {
            let (primal, dual) = (vertex.primal_violation(), vertex.dual_violation());
            if primal.is_none() && dual.is_none() {
                return Ok(Some(Status::Optimal(optimum(model, &vertex))));
            }
            if self.is_over() {
                return Ok(Some(limit(model, &vertex)));
            }
            by = by.next(primal, dual);
            let Ok(next) = refined(model, &vertex, by) else { break };
            self.refinements += 1;
            if next == vertex.basis() {
                break;
            }
            vertex = Vertex::new(model, &next);
        }
        let end = vertex.optimise(self.settings.most_pivots, self.until);
        self.pivots += vertex.pivots();
        Ok(Some(match end {
            Ok(End::Optimal) => Status::Optimal(optimum(model, &vertex)),
            Ok(End::Infeasible(y)) => Status::Infeasible(Infeasibility::Prices(y)),
            Ok(End::Unbounded(ray)) => Status::Unbounded { x: vertex.x().to_vec(), ray },
            Ok(End::Limit) => limit(model, &vertex),
            Err(error) => return Err(error),
        }))
    }

    /// Returns the answer for a programme that seems to have no optimum.
    fn without_optimum(&mut self, model: &Model) -> Result<Status, LpError> {
        let elastic = elastic(model);
        let feasible = match self.optimum(&elastic, false)? {
            Some(Status::Optimal(least)) if least.objective > 0 => {
                return Ok(Status::Infeasible(Infeasibility::Prices(least.y)));
            }
            Some(Status::Optimal(least)) => least,
            Some(limit @ Status::Limit { .. }) => return Ok(limit),
            _ => return Err(LpError::Status("no least sum of violations")),
        };
        let mut x = feasible.x;
        x.truncate(model.columns.len());
        let ray = match self.optimum(&recession(model), false)? {
            Some(Status::Optimal(best)) if best.objective < 0 => best.x,
            Some(limit @ Status::Limit { .. }) => return Ok(limit),
            _ => {
                // The programme has an optimum that HiGHS did not find.
                return Ok(self
                    .optimum(model, false)?
                    .unwrap_or(Status::Limit { feasible: None, bound: None }));
            }
        };
        Ok(Status::Unbounded { x, ray })
    }
}

fn optimum(model: &Model, vertex: &Vertex<'_>) -> Optimum {
    Optimum {
        objective: model.objective(vertex.x()),
        x: vertex.x().to_vec(),
        y: vertex.y().to_vec(),
        basis: vertex.basis(),
    }
}

/// Returns the bounds that a vertex proves although the vertex is not optimal.
fn limit(model: &Model, vertex: &Vertex<'_>) -> Status {
    let is_feasible = vertex.primal_violation().is_none();
    let feasible = is_feasible.then(|| (vertex.x().to_vec(), model.objective(vertex.x())));
    let bound =
        model.proven_bound(vertex.y()).map(|bound| (vertex.y().to_vec(), objective_bound(model, &bound)));
    Status::Limit { feasible, bound }
}

/// Converts a bound of the minimised programme to a bound of the objective.
#[must_use]
pub fn objective_bound(model: &Model, bound: &Rational) -> Rational {
    match model.direction {
        Direction::Minimise => Rational::from(&model.constant + bound),
        Direction::Maximise => Rational::from(&model.constant - bound),
    }
}

/// Returns the first row or column whose lower bound is above its upper bound.
fn empty_bounds(model: &Model) -> Option<Position> {
    let row = model.rows.iter().position(|row| row.bounds.is_empty()).map(Position::Row);
    row.or_else(|| model.columns.iter().position(|column| column.bounds.is_empty()).map(Position::Column))
}

/// Returns the same programme with costs of 0.
fn without_costs(model: &Model) -> Model {
    let mut model = model.clone();
    model.columns.iter_mut().for_each(|column| column.cost = Rational::new());
    model
}

/// Returns the basis that HiGHS claims to be optimal.
fn in_doubles(model: &Model, seconds: Option<f64>) -> Result<Basis, LpError> {
    let ends = |bounds: &Bounds| {
        let end = |bound: &Option<Rational>, infinite: f64| bound.as_ref().map_or(infinite, Rational::to_f64);
        (end(&bounds.lower, f64::NEG_INFINITY), end(&bounds.upper, f64::INFINITY))
    };
    let rows: Vec<(f64, f64)> = model.rows.iter().map(|row| ends(&row.bounds)).collect();
    let mut float = FloatLp::new(&rows)?;
    let mut block = ColumnBlock::default();
    for (j, column) in model.columns.iter().enumerate() {
        let (lower, upper) = ends(&column.bounds);
        let entries = column.entries.iter().map(|(row, value)| (*row, value.to_f64()));
        // [`FloatLp`] maximises.
        block.push_between(-model.minimised_cost(j).to_f64(), lower, upper, entries)?;
    }
    float.add_columns(&block)?;
    float.solve_presolved(seconds)?;
    float.basis()
}

/// Returns the programme of the least sum of violations of rows. This programme has an optimum if no column has empty
/// bounds.
fn elastic(model: &Model) -> Model {
    let mut elastic = without_costs(model);
    (elastic.direction, elastic.constant) = (Direction::Minimise, Rational::new());
    for (row, of) in model.rows.iter().enumerate() {
        let mut add = |sign: i32| {
            let entries = vec![(row, Rational::from(sign))];
            let bounds = Bounds::at_least(0);
            elastic.columns.push(Column { cost: Rational::from(1), bounds, entries, ..Column::default() });
        };
        if of.bounds.lower.is_some() {
            add(1);
        }
        if of.bounds.upper.is_some() {
            add(-1);
        }
    }
    elastic
}

/// Returns the programme of the direction of steepest improvement with entries from -1 to 1. This programme has an
/// optimum. The optimum is 0 if the objective is bounded.
fn recession(model: &Model) -> Model {
    let cone = |bounds: &Bounds| Bounds {
        lower: bounds.lower.as_ref().map(|_| Rational::new()),
        upper: bounds.upper.as_ref().map(|_| Rational::new()),
    };
    let mut ray = model.clone();
    for j in 0..ray.columns.len() {
        ray.columns[j].cost = model.minimised_cost(j);
        let Bounds { lower, upper } = cone(&model.columns[j].bounds);
        ray.columns[j].bounds = Bounds {
            lower: Some(lower.unwrap_or_else(|| Rational::from(-1))),
            upper: Some(upper.unwrap_or_else(|| Rational::from(1))),
        };
    }
    (ray.direction, ray.constant) = (Direction::Minimise, Rational::new());
    ray.rows.iter_mut().for_each(|row| row.bounds = cone(&row.bounds));
    ray
}
