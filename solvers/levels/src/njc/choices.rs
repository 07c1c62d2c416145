//! All relevant choices of bottlenecks and witnesses, as a tree.
//!
//! On one class a witness is a floor of the user's tasks on this class, `x_ni >= e_n C / d`. So the polytope of the
//! saturated row with the least floor contains the polytopes of all other rows. Two choices remain. The first is the
//! set of saturated rows. The second is, for each user, the class on which it has its entitlement, or that it has all
//! its tasks. With one class only, allocations in which the user has all its tasks satisfy any floor below `T_n`, so
//! they need no choice of their own.

use std::collections::BTreeSet;

use super::face::{Face, Witness};
use super::market::{Candidate, ClusterModel};
use crate::error::LevelsError;
use evenhand_lp::exact_lp::Variable;

/// A visitor of the choices.
pub trait Visitor {
    /// Visits an incomplete choice. Users without a decision have no witness.
    ///
    /// `basis` comes from an earlier choice. The returned basis is passed on to later choices. `None` ends this branch.
    fn partial(
        &mut self,
        face: &Face,
        floors: &[Candidate],
        basis: &[Variable],
    ) -> Result<Option<Vec<Variable>>, LevelsError>;

    /// Visits a complete choice, in which every bottleneck is a witness.
    fn complete(&mut self, face: &Face, floors: &[Candidate], basis: &[Variable]) -> Result<(), LevelsError>;

    /// Returns true if choices in which a user has all its tasks must be visited even if the polytope of a floor
    /// contains them.
    fn tells_satisfied_users(&self) -> bool;
}

/// The tree of choices.
pub struct Choices<'a, V> {
    pub market: &'a ClusterModel<'a>,
    pub visitor: V,
    /// For each active user, its possible witnesses.
    candidates: Vec<Vec<Candidate>>,
    /// The rows that can be a witness of some user.
    rows: Vec<usize>,
    limit: usize,
    /// The number of choices visited.
    pub count: usize,
}

impl<'a, V: Visitor> Choices<'a, V> {
    pub fn new(market: &'a ClusterModel<'a>, visitor: V, limit: usize) -> Self {
        let candidates: Vec<Vec<Candidate>> = market.users.iter().map(|&n| market.candidates(n)).collect();
        let rows: BTreeSet<usize> = candidates.iter().flatten().map(|c| c.row).collect();
        Self { market, visitor, candidates, rows: rows.into_iter().collect(), limit, count: 0 }
    }

    /// Visits every choice.
    pub fn visit(&mut self) -> Result<(), LevelsError> {
        let witnesses = vec![None; self.market.constraints.problem().n_users()];
        let mut face = Face { bottlenecks: Vec::new(), witnesses };
        self.rows_from(0, &mut face, &[])
    }

    /// Tries both choices for every row from position `at` on: the row is a bottleneck, or it is not.
    fn rows_from(&mut self, at: usize, face: &mut Face, basis: &[Variable]) -> Result<(), LevelsError> {
        let Some(&row) = self.rows.get(at) else { return self.users_from(0, face, basis) };
        self.rows_from(at + 1, face, basis)?;
        face.bottlenecks.push(row);
        // Adding a row cannot help if the present rows cannot be saturated together.
        if let Some(basis) = self.partial(face, basis)? {
            self.rows_from(at + 1, face, &basis)?;
        }
        face.bottlenecks.pop();
        Ok(())
    }

    /// Tries all witnesses of the users from position `at` on.
    fn users_from(&mut self, at: usize, face: &mut Face, basis: &[Variable]) -> Result<(), LevelsError> {
        let Some(&n) = self.market.users.get(at) else { return self.complete(face, basis) };
        let options = self.options(at, face);
        let is_choice = options.len() > 1;
        for witness in options {
            face.witnesses[n] = Some(witness);
            if !is_choice {
                self.users_from(at + 1, face, basis)?;
            } else if let Some(basis) = self.partial(face, basis)? {
                self.users_from(at + 1, face, &basis)?;
            }
        }
        face.witnesses[n] = None;
        Ok(())
    }

    /// Returns the possible witnesses of a user: the witness with the least floor on each class, and having all tasks.
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
        let is_contained = !options.is_empty() && placements.len() == 1;
        if self.market.can_be_satisfied(n) && (!is_contained || self.visitor.tells_satisfied_users()) {
            options.push(Witness::Satisfied);
        }
        options
    }

    fn partial(&mut self, face: &Face, basis: &[Variable]) -> Result<Option<Vec<Variable>>, LevelsError> {
        self.count()?;
        self.visitor.partial(face, &self.floors(face), basis)
    }

    fn complete(&mut self, face: &Face, basis: &[Variable]) -> Result<(), LevelsError> {
        self.count()?;
        // A bottleneck that no user needs as a witness only makes the polytope smaller.
        let is_needed = |row: &usize| face.witnesses.contains(&Some(Witness::Row(*row)));
        if face.bottlenecks.iter().all(is_needed) {
            self.visitor.complete(face, &self.floors(face), basis)?;
        }
        Ok(())
    }

    /// Returns the floors of the witnesses decided so far.
    fn floors(&self, face: &Face) -> Vec<Candidate> {
        let floor = |(n, witness): (usize, &Option<Witness>)| match witness {
            Some(Witness::Row(row)) => self.market.candidate(n, *row),
            _ => None,
        };
        face.witnesses.iter().enumerate().filter_map(floor).collect()
    }

    fn count(&mut self) -> Result<(), LevelsError> {
        self.count += 1;
        if self.count > self.limit {
            let what = "choices of bottlenecks and witnesses";
            return Err(LevelsError::Budget { what, limit: self.limit });
        }
        Ok(())
    }
}
