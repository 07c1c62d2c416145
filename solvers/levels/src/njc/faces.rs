//! The whole NJC set of a small problem: its maximal polytopes with all their vertices.

use evenhand_problem::{Constraints, Rational};

use super::choices::{Choices, Visitor};
use super::face::Face;
use super::market::{Candidate, ClusterModel, Tasks, tasks_on};
use super::polytope::FaceProgramme;
use super::vertices::{Constraint, Inequalities, dimension};
use crate::error::LevelsError;
use evenhand_lp::exact_lp::{Sense, Variable};

/// Limits of [`enumerate`] and [`best_above`](super::best_above).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnumerationLimits {
    /// Partial and complete choices of bottlenecks and witnesses that may be looked at.
    pub choices: usize,
    /// Rays that the double description of one polytope may have.
    pub rays: usize,
    /// Vertices that all polytopes together may have, before those within others are dropped.
    pub vertices: usize,
}

impl Default for EnumerationLimits {
    fn default() -> Self {
        Self { choices: 10_000, rays: 20_000, vertices: 50_000 }
    }
}

/// A polytope of NJC allocations.
#[derive(Debug, Clone, PartialEq)]
pub struct Polytope {
    /// Its bottlenecks and witnesses.
    pub face: Face,
    /// Its vertices, never none.
    pub vertices: Vec<Tasks>,
    /// Dimension of its affine hull, in placements; 0 for a point.
    pub dimension: usize,
}

/// All NJC allocations.
#[derive(Debug, Clone, PartialEq)]
pub struct NjcSet {
    /// Polytopes whose union is the set, none of them within another one.
    pub polytopes: Vec<Polytope>,
    /// The vertices of these polytopes, each once, in ascending order.
    pub extreme_points: Vec<Tasks>,
    /// Choices that were looked at.
    pub choices: usize,
}

/// All NJC allocations of a small problem, in exact arithmetic throughout.
///
/// On one class 8 users and 6 rows are a matter of milliseconds, and the choices at most double with
/// every row. On several classes the placements are part of the point: the choices multiply with
/// every user that may run on several, and the vertices grow much faster (6 users on 2 classes with
/// 2 resources each: up to 100 polytopes with 5,000 points).
///
/// # Errors
/// [`LevelsError::Budget`] when the limits do not suffice; there is no partial answer.
pub fn enumerate(constraints: &Constraints<'_>, limits: &EnumerationLimits) -> Result<NjcSet, LevelsError> {
    let market = ClusterModel::new(constraints);
    let polytopes = Polytopes { market: &market, limits, n_vertices: 0, found: Vec::new() };
    let mut choices = Choices::new(&market, polytopes, limits.choices);
    choices.visit()?;
    let polytopes = maximal(&market, choices.visitor.found)?;
    let mut extreme_points: Vec<Tasks> = polytopes.iter().flat_map(|p| p.vertices.iter().cloned()).collect();
    extreme_points.sort_by_key(|tasks| values(&market, tasks));
    extreme_points.dedup();
    Ok(NjcSet { polytopes, extreme_points, choices: choices.count })
}

/// The polytopes found so far.
struct Polytopes<'a> {
    market: &'a ClusterModel<'a>,
    limits: &'a EnumerationLimits,
    n_vertices: usize,
    found: Vec<Polytope>,
}

impl Visitor for Polytopes<'_> {
    fn partial(
        &mut self,
        face: &Face,
        floors: &[Candidate],
        basis: &[Variable],
    ) -> Result<Option<Vec<Variable>>, LevelsError> {
        FaceProgramme::new(self.market, face, floors).feasible_basis(basis)
    }

    fn complete(&mut self, face: &Face, floors: &[Candidate], _: &[Variable]) -> Result<(), LevelsError> {
        let points = points(self.market, face, floors, self.limits.rays)?;
        self.n_vertices += points.len();
        if self.n_vertices > self.limits.vertices {
            return Err(LevelsError::Budget { what: "vertices", limit: self.limits.vertices });
        }
        if !points.is_empty() {
            let dimension = dimension(&points);
            let vertices = points.iter().map(|point| self.market.tasks(point)).collect();
            self.found.push(Polytope { face: face.clone(), vertices, dimension });
        }
        Ok(())
    }

    fn tells_satisfied_users(&self) -> bool {
        false
    }
}

/// The vertices of a face, by placement.
fn points(
    market: &ClusterModel<'_>,
    face: &Face,
    floors: &[Candidate],
    max_rays: usize,
) -> Result<Vec<Vec<Rational>>, LevelsError> {
    // Tasks above the floors, so that the floors cost no constraints.
    let mut base = vec![Rational::new(); market.placements.len()];
    for floor in floors {
        base[floor.placement].clone_from(&floor.floor);
    }
    let programme = FaceProgramme::new(market, face, &[]);
    let mut constraints: Vec<Constraint> = programme
        .lp
        .rows
        .iter()
        .map(|(sense, rhs)| Constraint {
            entries: Vec::new(),
            rhs: rhs.clone(),
            is_equation: *sense == Sense::Equal,
        })
        .collect();
    for (k, column) in programme.lp.columns.iter().enumerate() {
        for (row, value) in &column.entries {
            constraints[*row].rhs -= Rational::from(value * &base[k]);
            constraints[*row].entries.push((k, value.clone()));
        }
    }
    let system = Inequalities { n_columns: base.len(), constraints };
    let mut points = system.vertices(max_rays)?;
    for point in &mut points {
        for (value, base) in point.iter_mut().zip(&base) {
            *value += base;
        }
    }
    Ok(points)
}

/// The polytopes that lie within no other; of equal ones the first.
fn maximal(market: &ClusterModel<'_>, mut polytopes: Vec<Polytope>) -> Result<Vec<Polytope>, LevelsError> {
    // A polytope lies within none of smaller dimension.
    polytopes.sort_by_key(|p| (std::cmp::Reverse(p.dimension), p.face.bottlenecks.len()));
    let mut kept: Vec<(Polytope, Vec<Candidate>)> = Vec::new();
    for polytope in polytopes {
        let is_within = |(other, floors): &(Polytope, Vec<Candidate>)| {
            polytope.vertices.iter().all(|vertex| other.face.holds(market, floors, vertex))
        };
        if !kept.iter().any(is_within) {
            let floors = polytope.face.floors(market)?;
            kept.push((polytope, floors));
        }
    }
    Ok(kept.into_iter().map(|(polytope, _)| polytope).collect())
}

/// Values by placement.
fn values(market: &ClusterModel<'_>, tasks: &Tasks) -> Vec<Rational> {
    market.placements.iter().map(|p| tasks_on(&tasks[p.n], p.i)).collect()
}
