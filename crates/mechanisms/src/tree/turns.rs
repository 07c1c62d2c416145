//! The choice of the user that the tree serves next, for a caller that decides itself which users could start.

use evenhand_problem::{Problem, Rational};

use super::allocate::{Settings, forest_of};
use super::rule::Rule;
use super::turn::pick;
use crate::error::MechanismError;
use crate::filling::draw::Draw;
use crate::filling::rule::Ties;
use evenhand_exact::tree::{Forest, Holdings, Ways, key};

/// The usage of all groups, and the order in which the tree serves users (theory, section 9).
pub struct Turns<'p> {
    forest: Forest<'p>,
    holdings: Holdings,
}

impl<'p> Turns<'p> {
    /// Creates the state in which users have the given numbers of tasks.
    ///
    /// # Errors
    /// Returns a [`MechanismError`] for a rule that divides every resource separately, and in the same cases
    /// as [`allocate`](super::allocate()).
    pub fn new(
        problem: &'p Problem,
        rule: Option<Rule>,
        tasks: Vec<Rational>,
    ) -> Result<Self, MechanismError> {
        let forest = forest_of(problem, &Settings { rule, ..Settings::default() })?;
        let holdings = Holdings::new(&forest, tasks);
        Ok(Self { forest, holdings })
    }

    /// Adds tasks to a user, or removes them if the number is negative.
    pub fn add(&mut self, n: usize, tasks: &Rational) {
        self.holdings.add(&self.forest, n, tasks);
    }

    /// Returns the user that is served next among `users`, which must be in ascending order. From the root,
    /// the child with the least key is chosen. Among equal keys, the first child in the file is chosen.
    /// Returns `None` if `users` is empty.
    #[must_use]
    pub fn next(&self, users: &[usize]) -> Option<usize> {
        let forest = &self.forest;
        let mut ways: Ways = (0..self.holdings.tasks.len()).map(|_| None).collect();
        for n in users {
            let way = forest.nodes[forest.leaf(*n)].leaf.as_ref();
            ways[*n] = way.and_then(|leaf| self.holdings.way(forest, leaf)).map(|way| way.nodes);
        }
        // A user that the tree does not serve, since it has all its tasks, comes after all others.
        let served: Vec<usize> = users.iter().copied().filter(|n| ways[*n].is_some()).collect();
        if served.len() < 2 {
            return served.first().or(users.first()).copied();
        }
        let key_of = |v: usize, below: &[usize]| key(forest, &self.holdings, v, below).0;
        Some(pick(forest, &ways, &served, Ties::Low, &mut Draw::new(0, 0), key_of))
    }
}
