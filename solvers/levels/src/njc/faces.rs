//! The whole NJC set of a small problem: its maximal polytopes with all their vertices.

use evenhand_problem::{Constraints, Rational};

use super::choices::{Choices, Visitor};
use super::face::Face;
use super::market::{Candidate, ClusterModel, Tasks, tasks_on};
use super::polytope::FaceProgramme;
use super::vertices::{Constraint, Inequalities, dimension};
use crate::error::LevelsError;
use evenhand_lp::exact_lp::{Sense, Variable};

/// The limits of [`enumerate`] and [`best_above`](super::best_above).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnumerationLimits {
    /// The largest number of partial and complete choices of bottlenecks and witnesses.
    pub choices: usize,
    /// The largest number of rays in the double description of one polytope.
    pub rays: usize,
    /// The largest number of vertices of all polytopes together, counted before polytopes within others are dropped.
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
    /// The bottlenecks and witnesses.
    pub face: Face,
    /// The vertices. There is at least one.
    pub vertices: Vec<Tasks>,
    /// The dimension of the affine hull in the space of placements. 0 for a point.
    pub dimension: usize,
}

/// The set of all NJC allocations.
#[derive(Debug, Clone, PartialEq)]
pub struct NjcSet {
    /// The polytopes whose union is the set, none of them within another one.
    pub polytopes: Vec<Polytope>,
    /// The vertices of these polytopes, in ascending order, each listed once.
    pub extreme_points: Vec<Tasks>,
    /// The number of choices that were visited.
    pub choices: usize,
}

/// Enumerates all NJC allocations of a small problem. All arithmetic is exact.
///
/// On one class, 8 users and 6 rows take milliseconds, and the number of choices at most doubles with every row. On
/// several classes a point includes the placements. The number of choices then multiplies with every user that may run
/// on several classes, and the number of vertices grows much faster (6 users on 2 classes with 2 resources each: up to
/// 100 polytopes with 5,000 points).
///
/// # Errors
/// [`LevelsError::Budget`] when the limits do not suffice. There is no partial answer.
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

/// Computes the vertices of a face. Each vertex is a list of the values of all placements.
fn points(
    market: &ClusterModel<'_>,
    face: &Face,
    floors: &[Candidate],
    max_rays: usize,
) -> Result<Vec<Vec<Rational>>, LevelsError> {
    // The programme counts only tasks beyond the floors, so it needs no constraints for the floors.
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

/// Returns the polytopes that no other polytope contains. Of equal polytopes, the first is returned.
fn maximal(market: &ClusterModel<'_>, mut polytopes: Vec<Polytope>) -> Result<Vec<Polytope>, LevelsError> {
    // A polytope never lies within a polytope of smaller dimension.
    polytopes.sort_by_key(|p| (std::cmp::Reverse(p.dimension), p.face.bottlenecks.len()));
    let mut outermost: Vec<(Polytope, Vec<Candidate>)> = Vec::new();
    for polytope in polytopes {
        let is_within = |(other, floors): &(Polytope, Vec<Candidate>)| {
            polytope.vertices.iter().all(|vertex| other.face.holds(market, floors, vertex))
        };
        if !outermost.iter().any(is_within) {
            let floors = polytope.face.floors(market)?;
            outermost.push((polytope, floors));
        }
    }
    Ok(outermost.into_iter().map(|(polytope, _)| polytope).collect())
}

/// Returns the tasks of each placement.
fn values(market: &ClusterModel<'_>, tasks: &Tasks) -> Vec<Rational> {
    market.placements.iter().map(|p| tasks_on(&tasks[p.n], p.i)).collect()
}
