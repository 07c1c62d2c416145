//! Enumeration of all PS-DSF allocations of a small problem, as exact polytopes with their vertices.
//!
//! A choice states for every user whether it has all its tasks. If not, it states a bottleneck of the user on
//! every class on which the user may run. For every such class, it also states whether the user runs there.
//! Given a choice, Theorem 1 (docs/theory.md, section 4) is linear. The bottlenecks are full, and a user that
//! runs where it demands the bottleneck of another user has at most the level of that user. The search visits
//! the pairs of a user and a class one by one, solves an exact linear programme for each partial choice, and
//! drops polytopes that lie in other polytopes.

use evenhand_levels::LevelsError;
use evenhand_levels::njc::vertices::{Constraint, Inequalities, dimension};
use evenhand_levels::njc::{Face, NjcSet, Polytope, Tasks};
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Feasibility, Sense, Variable};
use evenhand_problem::Rational;

use super::pairs::PairModel;

/// The limits of the enumeration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaceLimits {
    /// The maximum number of partial and complete choices.
    pub choices: usize,
    /// The maximum product of choices and pairs.
    pub work: usize,
    /// The maximum number of rays of one polytope.
    pub rays: usize,
    /// The maximum number of pivots of one linear programme.
    pub pivots: usize,
}

impl Default for FaceLimits {
    fn default() -> Self {
        Self { choices: 20_000, work: 200_000, rays: 20_000, pivots: 10_000 }
    }
}

/// The choice for one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    /// `true` if the user may run on the class of the pair.
    runs: bool,
    /// The row that blocks the user on the class, or `None` if the user has all its tasks.
    bottleneck: Option<usize>,
}

/// The vertices of a polytope, its conditions, and its bottlenecks.
type Found = (Vec<Vec<Rational>>, Vec<Constraint>, Vec<usize>);

/// The state of the enumeration.
struct FaceSearch<'a> {
    model: &'a PairModel<Rational>,
    limits: &'a FaceLimits,
    /// The pairs in the order of users, so that the choices of one user follow each other.
    order: Vec<usize>,
    choices: Vec<Option<Choice>>,
    count: usize,
    found: Vec<Found>,
}

/// Computes all PS-DSF allocations. The `bottlenecks` of a face are the chosen rows.
///
/// # Errors
/// Returns [`LevelsError::Budget`] if the limits do not suffice. There is no partial answer.
pub fn enumerate(model: &PairModel<Rational>, limits: &FaceLimits) -> Result<NjcSet, LevelsError> {
    let mut search = FaceSearch {
        model,
        limits,
        order: model.of_user.iter().flatten().copied().collect(),
        choices: vec![None; model.pairs.len()],
        count: 0,
        found: Vec::new(),
    };
    search.visit(0, &[])?;
    let mut found = search.found;
    found.sort_by_key(|(points, _, _)| std::cmp::Reverse(dimension(points)));
    let mut kept: Vec<Found> = Vec::new();
    for (points, constraints, rows) in found {
        let within = |other: &[Constraint]| points.iter().all(|point| other.iter().all(|c| holds(c, point)));
        if !kept.iter().any(|(_, other, _)| within(other)) {
            kept.push((points, constraints, rows));
        }
    }
    let mut points: Vec<Vec<Rational>> = kept.iter().flat_map(|(points, _, _)| points.clone()).collect();
    points.sort();
    points.dedup();
    let polytopes = kept.into_iter().map(|(points, _, bottlenecks)| Polytope {
        dimension: dimension(&points),
        vertices: points.iter().map(|point| tasks(model, point)).collect(),
        face: Face { bottlenecks, witnesses: vec![None; model.n_users()] },
    });
    let polytopes = polytopes.collect();
    let extreme_points = points.iter().map(|point| tasks(model, point)).collect();
    Ok(NjcSet { polytopes, extreme_points, choices: search.count })
}

impl FaceSearch<'_> {
    fn visit(&mut self, depth: usize, basis: &[Variable]) -> Result<(), LevelsError> {
        self.count += 1;
        // Every choice takes a linear programme over all pairs.
        let limit = self.limits.choices.min(self.limits.work / self.choices.len().max(1));
        if self.count > limit {
            return Err(LevelsError::Budget { what: "choices of bottlenecks", limit });
        }
        let constraints = self.constraints();
        let Some(basis) = self.feasible(&constraints, basis)? else { return Ok(()) };
        let Some(&p) = self.order.get(depth) else {
            let system = Inequalities { n_columns: self.choices.len(), constraints };
            let points = system.vertices(self.limits.rays)?;
            if !points.is_empty() {
                let mut rows: Vec<usize> =
                    self.choices.iter().flatten().filter_map(|choice| choice.bottleneck).collect();
                rows.sort_unstable();
                rows.dedup();
                self.found.push((points, system.constraints, rows));
            }
            return Ok(());
        };
        let user = self.model.pairs[p].user;
        let first = self.model.of_user[user].first() == Some(&p);
        let before = self.model.of_user[user].first().and_then(|q| self.choices[*q]);
        let is_satisfied = before.is_some_and(|choice| choice.bottleneck.is_none());
        let may_be_satisfied = self.model.limits[user].is_some() && (first || is_satisfied);
        let mut bottlenecks: Vec<Option<usize>> = Vec::new();
        if may_be_satisfied {
            bottlenecks.push(None);
        }
        if first || !is_satisfied {
            bottlenecks.extend(self.model.pairs[p].usage.iter().map(|(row, _)| Some(*row)));
        }
        for bottleneck in bottlenecks {
            for runs in [true, false] {
                self.choices[p] = Some(Choice { runs, bottleneck });
                self.visit(depth + 1, &basis)?;
            }
        }
        self.choices[p] = None;
        Ok(())
    }

    /// Returns the conditions of the choices so far, over all pairs.
    fn constraints(&self) -> Vec<Constraint> {
        let model = self.model;
        let mut full = vec![false; model.capacity.len()];
        for choice in self.choices.iter().flatten() {
            choice.bottleneck.into_iter().for_each(|row| full[row] = true);
        }
        let mut constraints: Vec<Constraint> = (model.capacity.iter().zip(full))
            .map(|(c, is_equation)| Constraint { entries: Vec::new(), rhs: c.clone(), is_equation })
            .collect();
        for (p, pair) in model.pairs.iter().enumerate() {
            for (row, d) in &pair.usage {
                constraints[*row].entries.push((p, d.clone()));
            }
        }
        let one = || Rational::from(1);
        for (user, limit) in model.limits.iter().enumerate() {
            let pairs = &model.of_user[user];
            let (Some(limit), Some(first)) = (limit, pairs.first()) else { continue };
            let is_equation = self.choices[*first].is_some_and(|choice| choice.bottleneck.is_none());
            let entries = pairs.iter().map(|p| (*p, one())).collect();
            constraints.push(Constraint { entries, rhs: limit.clone(), is_equation });
        }
        for (p, choice) in self.choices.iter().enumerate() {
            let Some(Choice { runs, .. }) = choice else { continue };
            if !runs {
                constraints.push(Constraint {
                    entries: vec![(p, one())],
                    rhs: Rational::new(),
                    is_equation: true,
                });
            }
        }
        // A user that runs on this class and demands the bottleneck of another user has at most the level of
        // that user.
        for (n, blocked) in self.choices.iter().enumerate() {
            let Some(Choice { bottleneck: Some(row), .. }) = blocked else { continue };
            for m in model.of_class[model.pairs[n].class].clone() {
                let demands = model.pairs[m].usage.iter().any(|(other, _)| other == row);
                if m != n && demands && self.choices[m].is_some_and(|choice| choice.runs) {
                    constraints.push(self.at_most(m, n));
                }
            }
        }
        constraints
    }

    /// Returns the condition that the level of the user at `m` is at most that of the user at `n`.
    fn at_most(&self, m: usize, n: usize) -> Constraint {
        let model = self.model;
        let sums = |p: usize, sign: i32| {
            let unit = Rational::from(sign) / &model.pairs[p].tasks_per_level;
            model.of_user[model.pairs[p].user].iter().map(move |q| (*q, unit.clone()))
        };
        let entries = sums(m, 1).chain(sums(n, -1)).collect();
        Constraint { entries, rhs: Rational::new(), is_equation: false }
    }

    /// Returns a feasible basis of the conditions, or `None` if they are infeasible. The solver starts from `basis`.
    fn feasible(
        &self,
        constraints: &[Constraint],
        basis: &[Variable],
    ) -> Result<Option<Vec<Variable>>, LevelsError> {
        let mut lp = ExactLp { rows: Vec::new(), columns: vec![ExactColumn::default(); self.choices.len()] };
        for (k, constraint) in constraints.iter().enumerate() {
            let sense = if constraint.is_equation { Sense::Equal } else { Sense::AtMost };
            lp.rows.push((sense, constraint.rhs.clone()));
            for (p, value) in &constraint.entries {
                lp.columns[*p].entries.push((k, value.clone()));
            }
        }
        match lp.solve(basis, self.limits.pivots)? {
            Feasibility::Feasible(optimum) => {
                let columns = optimum.basis.into_iter().filter(|v| matches!(v, Variable::Column(_)));
                Ok(Some(columns.collect()))
            }
            Feasibility::Infeasible(_) => Ok(None),
        }
    }
}

fn holds(constraint: &Constraint, point: &[Rational]) -> bool {
    let sum: Rational = constraint.entries.iter().map(|(p, value)| Rational::from(value * &point[*p])).sum();
    sum == constraint.rhs || (!constraint.is_equation && sum < constraint.rhs)
}

fn tasks(model: &PairModel<Rational>, point: &[Rational]) -> Tasks {
    model.tasks_by_user(&model.point(point.to_vec()))
}
