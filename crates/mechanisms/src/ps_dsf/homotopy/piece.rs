//! The linear equations of an active set. They leave one degree of freedom, so their solutions are a piece of
//! the path.
//!
//! A user that runs on two classes ties the levels of its bottlenecks on these classes: each level is a
//! linear function of the other level. These ties form a forest, or nearly one. The remaining unknowns are
//! one level for each tree, the tasks of users on all but their main class, and the parameter `t`. There is
//! one equation for each full row. The conditions are those of Theorem 1 (docs/theory.md, section 4) with a
//! [`Perturbation`].

use std::ops::{Add, Div, Mul, Sub};

use super::active_set::ActiveSet;
use super::linear::{self, Equation};
use super::scaled::ScaledModel;

/// The perturbation that turns a problem into a problem with a known solution. It consists of additions to
/// the three kinds of conditions, all multiplied by `t`.
#[derive(Debug, Clone)]
pub struct Perturbation {
    /// The tasks added to the user's total in the condition of each pair.
    pub pairs: Vec<f64>,
    /// The capacity added to each row.
    pub rows: Vec<f64>,
    /// The tasks added to each user's limit.
    pub users: Vec<f64>,
}

/// A quantity along a piece of the path, as a linear function of the unknown that is free.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Affine {
    /// The value at the current point.
    pub value: f64,
    /// The change per unit of the free unknown.
    pub slope: f64,
}

impl Affine {
    /// Creates a constant quantity.
    pub const fn constant(value: f64) -> Self {
        Self { value, slope: 0.0 }
    }
}

impl Add for Affine {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Affine {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Div<f64> for Affine {
    type Output = Self;
    fn div(self, divisor: f64) -> Self {
        Self { value: self.value / divisor, slope: self.slope / divisor }
    }
}

impl Mul<f64> for Affine {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self { value: factor * self.value, slope: factor * self.slope }
    }
}

/// A piece of the path: the line of solutions that belong to one active set. Every quantity is an affine function along
/// the line.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The parameter `t`.
    pub t: Affine,
    /// The level of each row. Rows that are not full have the highest level.
    pub levels: Vec<Affine>,
    /// The tasks of each pair.
    pub tasks: Vec<Affine>,
    /// The total tasks of each user.
    pub totals: Vec<Affine>,
    /// The additional tasks that each satisfied user could have at the level of its main class.
    pub beyond: Vec<Affine>,
}

/// A problem with a perturbation.
#[derive(Debug, Clone, Copy)]
pub struct Perturbed<'a> {
    /// The problem in scaled units.
    pub scaled: &'a ScaledModel,
    /// The perturbation of its conditions.
    pub perturbation: &'a Perturbation,
}

/// A linear combination: `terms[0]` times the level of a tree, plus `terms[1]` times `t`, plus `terms[2]`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Combination {
    tree: Option<usize>,
    terms: [f64; 3],
}

impl Combination {
    const fn constant(value: f64) -> Self {
        Self { tree: None, terms: [0.0, 0.0, value] }
    }

    /// Returns `factor` times this combination, plus `of_t` times `t`.
    fn times(self, factor: f64, of_t: f64) -> Self {
        let [tree, t, constant] = self.terms;
        Self { tree: self.tree, terms: [tree * factor, t * factor + of_t, constant * factor] }
    }

    /// Evaluates the combination on the piece with the unknowns `x`: trees, other pairs, and `t`.
    fn at(self, x: &[Affine]) -> Affine {
        let [of_tree, of_t, constant] = self.terms;
        let tree = self.tree.map_or(Affine::default(), |tree| x[tree]);
        tree * of_tree + x[x.len() - 1] * of_t + Affine::constant(constant)
    }
}

/// The forest of ties between the levels of rows.
struct Forest {
    /// The level of each row.
    levels: Vec<Combination>,
    /// The row of each tree whose level is the unknown of the tree.
    trees: Vec<usize>,
    /// The ties that close a cycle, each as the main pair of a user and another pair of the same user.
    cycles: Vec<[usize; 2]>,
}

impl Perturbed<'_> {
    /// Returns the piece of the path on which `set` is the active set. The free unknown has its value from
    /// `now`.
    ///
    /// # Errors
    /// Returns an error if the solutions are not a line. If they are more than a line, the error names a row
    /// without which they may be a line.
    pub fn piece(self, set: &ActiveSet, now: &Piece) -> Result<Piece, Option<usize>> {
        let pairs = &self.scaled.pairs;
        let forest = self.forest(set);
        let n_trees = forest.trees.len();
        let others: Vec<usize> = set.support.iter().flat_map(|pairs| pairs.iter().skip(1).copied()).collect();
        let mut column_of_pair = vec![usize::MAX; pairs.len()];
        others.iter().enumerate().for_each(|(k, p)| column_of_pair[*p] = n_trees + k);
        let rows: Vec<usize> = (0..set.full.len()).filter(|row| set.full[*row]).collect();
        let mut equation_of_row = vec![usize::MAX; set.full.len()];
        rows.iter().enumerate().for_each(|(k, row)| equation_of_row[*row] = k);
        // The unknowns are a level for each tree, the tasks of all pairs except main pairs, and `t`. There is
        // one equation for each full row and for each tie that closes a cycle.
        let n = n_trees + others.len();
        if rows.len() + forest.cycles.len() != n {
            return Err(None);
        }
        let mut equations = Equations::new(n);
        for (k, row) in rows.iter().enumerate() {
            let capacity = Combination { tree: None, terms: [0.0, self.perturbation.rows[*row], 1.0] };
            equations.add(k, capacity, -1.0);
        }
        for (user, support) in set.support.iter().enumerate() {
            let Some((&main, others)) = support.split_first() else { continue };
            let total = self.total(set, &forest, user, main);
            for (row, d) in pairs[main].usage.iter().filter(|(row, _)| set.full[*row]) {
                let (k, d) = (equation_of_row[*row], d / pairs[main].gamma_share);
                equations.add(k, total, d);
                for q in others {
                    equations.add_tasks(k, column_of_pair[*q], -d * pairs[*q].gamma_share);
                }
            }
            for q in others {
                for (row, d) in pairs[*q].usage.iter().filter(|(row, _)| set.full[*row]) {
                    equations.add_tasks(equation_of_row[*row], column_of_pair[*q], *d);
                }
            }
        }
        for (k, [main, other]) in forest.cycles.iter().enumerate() {
            equations.add(rows.len() + k, self.offer(set, &forest, *main), 1.0);
            equations.add(rows.len() + k, self.offer(set, &forest, *other), -1.0);
        }
        let free_at = |column: usize| {
            if column < n_trees {
                now.levels[forest.trees[column]].value
            } else if column < n {
                now.tasks[others[column - n_trees]].value
            } else {
                now.t.value
            }
        };
        let x = linear::line(equations.merged(), free_at).map_err(|k| rows.get(k).copied())?;
        Ok(self.quantities(set, &forest, &others, &x))
    }

    /// Computes all quantities from the unknowns `x`: the trees, the tasks of `others`, and `t`.
    fn quantities(self, set: &ActiveSet, forest: &Forest, others: &[usize], x: &[Affine]) -> Piece {
        let pairs = &self.scaled.pairs;
        let mut piece = Piece {
            t: x[x.len() - 1],
            levels: forest.levels.iter().map(|level| level.at(x)).collect(),
            tasks: vec![Affine::default(); pairs.len()],
            totals: vec![Affine::default(); set.support.len()],
            beyond: vec![Affine::default(); set.support.len()],
        };
        for (p, x) in others.iter().zip(&x[forest.trees.len()..]) {
            piece.tasks[*p] = *x;
        }
        for (user, support) in set.support.iter().enumerate() {
            let Some((&main, others)) = support.split_first() else { continue };
            let total = self.total(set, forest, user, main).at(x);
            piece.totals[user] = total;
            if set.satisfied[user] {
                let level = self.level(set, forest, main).times(pairs[main].tasks_per_level, 0.0);
                piece.beyond[user] = level.at(x) - piece.t * self.perturbation.pairs[main] - total;
            }
            let rest = others.iter().fold(total, |rest, q| rest - piece.tasks[*q] * pairs[*q].gamma_share);
            piece.tasks[main] = rest / pairs[main].gamma_share;
        }
        piece
    }

    /// Returns the total of a user whose main pair is `main`.
    fn total(self, set: &ActiveSet, forest: &Forest, user: usize, main: usize) -> Combination {
        if set.satisfied[user] {
            let terms = [0.0, self.perturbation.users[user], self.scaled.limits[user]];
            return Combination { tree: None, terms };
        }
        self.offer(set, forest, main)
    }

    /// Returns the total of the user according to the level at pair `p`, on which the user runs.
    fn offer(self, set: &ActiveSet, forest: &Forest, p: usize) -> Combination {
        self.level(set, forest, p).times(self.scaled.pairs[p].tasks_per_level, -self.perturbation.pairs[p])
    }

    /// Returns the level that blocks the user at pair `p`, on which the user runs.
    fn level(self, set: &ActiveSet, forest: &Forest, p: usize) -> Combination {
        match set.bottleneck[p] {
            Some(row) => forest.levels[row],
            None => Combination::constant(self.scaled.highest[self.scaled.pairs[p].class]),
        }
    }

    /// Computes the forest that an active set defines. Its nodes are bottlenecks, and an edge joins two bottlenecks of
    /// one user.
    fn forest(self, set: &ActiveSet) -> Forest {
        let Self { scaled, perturbation } = self;
        let n_rows = set.full.len();
        let mut edges: Vec<[usize; 2]> = Vec::new();
        // The last node represents all rows that are not full, whose level is known.
        let node_of = |p: usize| set.bottleneck[p].unwrap_or(n_rows);
        let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); n_rows + 1];
        for support in &set.support {
            let Some((&main, others)) = support.split_first() else { continue };
            for &p in others {
                [main, p].into_iter().for_each(|end| of_node[node_of(end)].push(edges.len()));
                edges.push([main, p]);
            }
        }
        let highest = |row: usize| Combination::constant(scaled.highest[scaled.class_of_row[row]]);
        let levels = (0..n_rows).map(highest).collect();
        let mut forest = Forest { levels, trees: Vec::new(), cycles: Vec::new() };
        let mut known: Vec<bool> = set.full.iter().map(|full| !full).chain([false]).collect();
        let mut used = vec![false; edges.len()];
        for start in std::iter::once(n_rows).chain((0..n_rows).filter(|row| set.full[*row])) {
            if std::mem::replace(&mut known[start], true) {
                continue;
            }
            if start < n_rows {
                let tree = Some(forest.trees.len());
                forest.levels[start] = Combination { tree, terms: [1.0, 0.0, 0.0] };
                forest.trees.push(start);
            }
            let mut stack = vec![start];
            while let Some(node) = stack.pop() {
                for &edge in &of_node[node] {
                    if std::mem::replace(&mut used[edge], true) {
                        continue;
                    }
                    let [main, p] = edges[edge];
                    let (from, to) = if node_of(main) == node { (main, p) } else { (p, main) };
                    let other = node_of(to);
                    if std::mem::replace(&mut known[other], true) {
                        forest.cycles.push([main, p]);
                        continue;
                    }
                    let tasks_per_level = |p: usize| scaled.pairs[p].tasks_per_level;
                    let change = (perturbation.pairs[to] - perturbation.pairs[from]) / tasks_per_level(to);
                    let level = self.level(set, &forest, from);
                    forest.levels[other] = level.times(tasks_per_level(from) / tasks_per_level(to), change);
                    stack.push(other);
                }
            }
        }
        forest
    }
}

/// Sparse equations under construction. The unknowns are `t`, which is the last column, and as many others as
/// there are equations.
struct Equations(Vec<Equation>);

impl Equations {
    fn new(n: usize) -> Self {
        Self(vec![(Vec::new(), 0.0); n])
    }

    /// Adds `factor` times a combination to equation `k`.
    fn add(&mut self, k: usize, Combination { tree, terms }: Combination, factor: f64) {
        let terms = terms.map(|term| factor * term);
        let columns = tree.map(|tree| (tree, terms[0])).into_iter().chain([(self.0.len(), terms[1])]);
        let (entries, constant) = &mut self.0[k];
        entries.extend(columns.filter(|(_, value)| *value != 0.0));
        *constant += terms[2];
    }

    /// Adds a multiple of the tasks of a pair to equation `k`.
    fn add_tasks(&mut self, k: usize, column: usize, value: f64) {
        self.0[k].0.push((column, value));
    }

    /// Returns the equations, with the entries of each column added up.
    fn merged(mut self) -> Vec<Equation> {
        let n = self.0.len() + 1;
        let mut dense = vec![0.0; n];
        let mut seen = vec![false; n];
        for (entries, _) in &mut self.0 {
            entries.iter().for_each(|(column, value)| dense[*column] += value);
            entries.retain_mut(|(column, value)| {
                *value = dense[*column];
                !std::mem::replace(&mut seen[*column], true)
            });
            for (column, _) in entries.iter() {
                dense[*column] = 0.0;
                seen[*column] = false;
            }
            entries.retain(|(_, value)| *value != 0.0);
        }
        self.0
    }
}
