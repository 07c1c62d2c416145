//! The whole NJC set of a small problem: its maximal polytopes with all their vertices.
//!
//! On one class a witness is a floor under the user's tasks there, `x_ni >= e_n C / d`, so of the
//! saturated rows the one with the least floor contains the polytopes of all others. What is left to
//! choose is the set of saturated rows and, for each user, the class on which it is content, or that
//! it has all its tasks; the latter only on several classes, since on a single one a floor below
//! `T_n` contains it.

use std::collections::BTreeSet;

use evenhand_problem::{Constraints, Rational};

use super::Tasks;
use super::face::{Face, Witness};
use super::market::{Candidate, Market};
use super::polytope::Programme;
use super::vertices::{Constraint, System, dimension};
use crate::error::LpError;
use crate::exact_lp::Variable;

/// Limits of [`enumerate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Partial and complete choices of bottlenecks and witnesses that may be looked at.
    pub choices: usize,
    /// Rays that the double description of one polytope may have.
    pub rays: usize,
    /// Vertices that all polytopes together may have, before those within others are dropped.
    pub vertices: usize,
}

impl Default for Limits {
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
/// [`LpError::Budget`] when the limits do not suffice; there is no partial answer.
pub fn enumerate(constraints: &Constraints<'_>, limits: &Limits) -> Result<NjcSet, LpError> {
    let market = Market::new(constraints);
    let candidates: Vec<Vec<Candidate>> = market.users.iter().map(|&n| market.candidates(n)).collect();
    let rows: BTreeSet<usize> = candidates.iter().flatten().map(|c| c.row).collect();
    let mut search = Search {
        market: &market,
        candidates,
        rows: rows.into_iter().collect(),
        limits,
        choices: 0,
        vertices: 0,
        found: Vec::new(),
    };
    let witnesses = vec![None; constraints.problem().n_users()];
    let mut face = Face { bottlenecks: Vec::new(), witnesses };
    search.rows_from(0, &mut face, &[])?;
    let choices = search.choices;
    let polytopes = maximal(&market, search.found)?;
    let mut extreme_points: Vec<Tasks> = polytopes.iter().flat_map(|p| p.vertices.iter().cloned()).collect();
    extreme_points.sort_by_key(|tasks| values(&market, tasks));
    extreme_points.dedup();
    Ok(NjcSet { polytopes, extreme_points, choices })
}

struct Search<'a> {
    market: &'a Market<'a>,
    /// By active user.
    candidates: Vec<Vec<Candidate>>,
    /// Rows that can be a witness of somebody.
    rows: Vec<usize>,
    limits: &'a Limits,
    choices: usize,
    vertices: usize,
    found: Vec<Polytope>,
}

impl Search<'_> {
    /// Decides on the rows from position `at`; `basis` is one of the choices made so far.
    fn rows_from(&mut self, at: usize, face: &mut Face, basis: &[Variable]) -> Result<(), LpError> {
        let Some(&row) = self.rows.get(at) else { return self.users_from(0, face, basis) };
        self.rows_from(at + 1, face, basis)?;
        face.bottlenecks.push(row);
        // Rows that cannot be saturated together cannot with a further one.
        if let Some(basis) = self.feasible(face, basis)? {
            self.rows_from(at + 1, face, &basis)?;
        }
        face.bottlenecks.pop();
        Ok(())
    }

    /// Decides on the witnesses of the users from position `at`.
    fn users_from(&mut self, at: usize, face: &mut Face, basis: &[Variable]) -> Result<(), LpError> {
        let Some(&n) = self.market.users.get(at) else { return self.finish(face) };
        let options = self.options(at, face);
        let is_choice = options.len() > 1;
        for witness in options {
            face.witnesses[n] = Some(witness);
            if !is_choice {
                self.users_from(at + 1, face, basis)?;
            } else if let Some(basis) = self.feasible(face, basis)? {
                self.users_from(at + 1, face, &basis)?;
            }
        }
        face.witnesses[n] = None;
        Ok(())
    }

    /// On every class the witness with the least floor, and having all tasks.
    fn options(&self, at: usize, face: &Face) -> Vec<Witness> {
        let n = self.market.users[at];
        let mut options = Vec::new();
        let placements = self.market.placements_of(n);
        for k in placements.clone() {
            let here = self.candidates[at].iter().filter(|c| c.placement == k);
            let saturated = here.filter(|c| face.bottlenecks.contains(&c.row));
            let least = saturated.min_by(|a, b| a.floor.cmp(&b.floor));
            options.extend(least.map(|c| Witness::Row(c.row)));
        }
        if self.market.can_be_satisfied(n) && (options.is_empty() || placements.len() > 1) {
            options.push(Witness::Satisfied);
        }
        options
    }

    /// The polytope of a complete choice.
    fn finish(&mut self, face: &Face) -> Result<(), LpError> {
        self.count()?;
        // A bottleneck that nobody needs only makes the polytope smaller.
        let is_needed = |row: &usize| face.witnesses.contains(&Some(Witness::Row(*row)));
        if !face.bottlenecks.iter().all(is_needed) {
            return Ok(());
        }
        let floors = face.floors(self.market)?;
        let points = points(self.market, face, &floors, self.limits.rays)?;
        self.vertices += points.len();
        if self.vertices > self.limits.vertices {
            return Err(LpError::Budget { what: "vertices", limit: self.limits.vertices });
        }
        if !points.is_empty() {
            let dimension = dimension(&points);
            let vertices = points.iter().map(|point| self.market.tasks(point)).collect();
            self.found.push(Polytope { face: face.clone(), vertices, dimension });
        }
        Ok(())
    }

    /// A basis of the choices made so far, if they have a point.
    fn feasible(&mut self, face: &Face, basis: &[Variable]) -> Result<Option<Vec<Variable>>, LpError> {
        self.count()?;
        let floors: Vec<Candidate> = face
            .witnesses
            .iter()
            .enumerate()
            .filter_map(|(n, witness)| match witness {
                Some(Witness::Row(row)) => self.market.candidate(n, *row),
                _ => None,
            })
            .collect();
        Programme::new(self.market, face, &floors).feasible_basis(basis)
    }

    fn count(&mut self) -> Result<(), LpError> {
        self.choices += 1;
        if self.choices > self.limits.choices {
            let what = "choices of bottlenecks and witnesses";
            return Err(LpError::Budget { what, limit: self.limits.choices });
        }
        Ok(())
    }
}

/// The vertices of a face, by placement.
fn points(
    market: &Market<'_>,
    face: &Face,
    floors: &[Candidate],
    max_rays: usize,
) -> Result<Vec<Vec<Rational>>, LpError> {
    // Tasks above the floors, so that the floors cost no constraints.
    let mut base = vec![Rational::new(); market.placements.len()];
    for floor in floors {
        base[floor.placement].clone_from(&floor.floor);
    }
    let programme = Programme::new(market, face, &[]);
    let mut constraints: Vec<Constraint> = programme
        .lp
        .rows
        .iter()
        .map(|(sense, rhs)| Constraint {
            entries: Vec::new(),
            rhs: rhs.clone(),
            is_equation: *sense == crate::exact_lp::Sense::Equal,
        })
        .collect();
    for (k, column) in programme.lp.columns.iter().enumerate() {
        for (row, value) in &column.entries {
            constraints[*row].rhs -= Rational::from(value * &base[k]);
            constraints[*row].entries.push((k, value.clone()));
        }
    }
    let system = System { n_columns: base.len(), constraints };
    let mut points = system.vertices(max_rays)?;
    for point in &mut points {
        for (value, base) in point.iter_mut().zip(&base) {
            *value += base;
        }
    }
    Ok(points)
}

/// The polytopes that lie within no other; of equal ones the first.
fn maximal(market: &Market<'_>, mut polytopes: Vec<Polytope>) -> Result<Vec<Polytope>, LpError> {
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
fn values(market: &Market<'_>, tasks: &Tasks) -> Vec<Rational> {
    market.placements.iter().map(|p| super::market::tasks_on(&tasks[p.n], p.i)).collect()
}
