//! Solves the linear equations of an active set, which leave one degree of freedom: a piece of the path.
//!
//! A user that runs on two classes ties the levels of its bottlenecks there, so that each is a multiple of the
//! other. These ties form a forest, or nearly one. What is left are an unknown level for each tree of it, the
//! tasks of users beside their main class, the parameter `t`, and an equation for each full row. The conditions
//! are those of Theorem 1 (docs/theory.md, section 4) with a [`Perturbation`].

use std::ops::{Add, Mul, Sub};

use super::active_set::ActiveSet;
use super::linear::{self, Equation};
use super::scaled::ScaledModel;

/// What moves a problem to one whose solution is known: additions to the three kinds of conditions,
/// all multiplied by `t`.
#[derive(Debug, Clone)]
pub struct Perturbation {
    /// By pair: tasks that its user is taken to have more, on this class.
    pub pairs: Vec<f64>,
    /// By row: more capacity.
    pub rows: Vec<f64>,
    /// By user: more tasks to have.
    pub users: Vec<f64>,
}

/// `level[0] times that of the tree + level[1] t + level[2]`
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    tree: Option<usize>,
    terms: [f64; 3],
}

/// A quantity along a piece of the path: its value here, and its slope in whatever measures the way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Affine {
    /// Its value here.
    pub value: f64,
    /// Its growth for each unit of the way.
    pub slope: f64,
}

impl Affine {
    /// A quantity that stays the same.
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

impl Mul<f64> for Affine {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self { value: factor * self.value, slope: factor * self.slope }
    }
}

/// All quantities along the line of solutions of an active set.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The parameter.
    pub t: Affine,
    /// By row: level, that of rows which are not full being the highest.
    pub levels: Vec<Affine>,
    /// By pair: tasks.
    pub tasks: Vec<Affine>,
    /// By user: total.
    pub totals: Vec<Affine>,
    /// By user: what it has less than its best offer, where it has all its tasks.
    pub beyond: Vec<Affine>,
}

/// The forest of ties.
struct Forest {
    levels: Vec<Level>,
    trees: Vec<usize>,
    /// Ties beyond a forest: `(main pair, pair)`.
    cycles: Vec<(usize, usize)>,
}

/// The line of solutions, with the values of the unknowns at `now` for the one that is free.
///
/// # Errors
/// A row without which the solutions might be a line, where they are more than that.
pub fn piece_of(
    scaled: &ScaledModel,
    set: &ActiveSet,
    perturbation: &Perturbation,
    now: &Piece,
) -> Result<Piece, Option<usize>> {
    let forest = forest(scaled, set, perturbation);
    let n_trees = forest.trees.len();
    let mut column_of_place = vec![usize::MAX; scaled.pairs.len()];
    let mut others = Vec::new();
    for pairs in &set.support {
        for p in pairs.iter().skip(1) {
            column_of_place[*p] = n_trees + others.len();
            others.push(*p);
        }
    }
    let rows: Vec<usize> = (0..set.full.len()).filter(|row| set.full[*row]).collect();
    let mut equation_of_row = vec![usize::MAX; set.full.len()];
    rows.iter().enumerate().for_each(|(k, row)| equation_of_row[*row] = k);
    // Columns: unknowns, t, constant.
    let n = n_trees + others.len();
    if rows.len() + forest.cycles.len() != n {
        return Err(None);
    }
    let mut matrix = Matrix::new(n, n + 1);
    for (k, row) in rows.iter().enumerate() {
        matrix.add(k, n, -perturbation.rows[*row]);
        matrix.add(k, n + 1, -1.0);
    }
    for (user, pairs) in set.support.iter().enumerate() {
        let Some((&main, others)) = pairs.split_first() else { continue };
        let (tree, total) = total(scaled, set, perturbation, &forest.levels, user, main);
        let pair = &scaled.pairs[main];
        for (row, d) in pair.usage.iter().filter(|(row, _)| set.full[*row]) {
            let (k, d) = (equation_of_row[*row], d / pair.gamma_share);
            if let Some(tree) = tree {
                matrix.add(k, tree, d * total[0]);
            }
            matrix.add(k, n, d * total[1]);
            matrix.add(k, n + 1, d * total[2]);
            for q in others {
                matrix.add(k, column_of_place[*q], -d * scaled.pairs[*q].gamma_share);
            }
        }
        for q in others {
            for (row, d) in scaled.pairs[*q].usage.iter().filter(|(row, _)| set.full[*row]) {
                matrix.add(equation_of_row[*row], column_of_place[*q], *d);
            }
        }
    }
    for (k, (main, p)) in forest.cycles.iter().enumerate() {
        let k = rows.len() + k;
        for (pair, sign) in [(*main, 1.0), (*p, -1.0)] {
            let level = level_of(scaled, set, &forest.levels, pair);
            let tasks_per_level = sign * scaled.pairs[pair].tasks_per_level;
            if let Some(tree) = level.tree {
                matrix.add(k, tree, tasks_per_level * level.terms[0]);
            }
            matrix.add(k, n, tasks_per_level * level.terms[1] - sign * perturbation.pairs[pair]);
            matrix.add(k, n + 1, tasks_per_level * level.terms[2]);
        }
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
    let x = linear::line(matrix.equations(), free_at).map_err(|k| rows.get(k).copied())?;
    Ok(quantities(scaled, set, perturbation, &forest, &others, &x))
}

/// All quantities from the unknowns; `x` holds the trees, the tasks of `others`, and `t`.
fn quantities(
    scaled: &ScaledModel,
    set: &ActiveSet,
    perturbation: &Perturbation,
    forest: &Forest,
    others: &[usize],
    x: &[Affine],
) -> Piece {
    let t = x[x.len() - 1];
    let value = |tree: Option<usize>, [of_tree, of_t, constant]: [f64; 3]| {
        tree.map_or(Affine::default(), |tree| x[tree]) * of_tree + t * of_t + Affine::constant(constant)
    };
    let mut piece = Piece {
        t,
        levels: forest.levels.iter().map(|level| value(level.tree, level.terms)).collect(),
        tasks: vec![Affine::default(); scaled.pairs.len()],
        totals: vec![Affine::default(); set.support.len()],
        beyond: vec![Affine::default(); set.support.len()],
    };
    for (p, x) in others.iter().zip(&x[forest.trees.len()..]) {
        piece.tasks[*p] = *x;
    }
    for (user, pairs) in set.support.iter().enumerate() {
        let Some((&main, others)) = pairs.split_first() else { continue };
        let (tree, terms) = total(scaled, set, perturbation, &forest.levels, user, main);
        let total = value(tree, terms);
        piece.totals[user] = total;
        if set.satisfied[user] {
            let level = level_of(scaled, set, &forest.levels, main);
            let offer = value(level.tree, level.terms.map(|x| x * scaled.pairs[main].tasks_per_level));
            piece.beyond[user] = offer - t * perturbation.pairs[main] - total;
        }
        let mut rest = total;
        for q in others {
            rest = rest - piece.tasks[*q] * scaled.pairs[*q].gamma_share;
        }
        let part = scaled.pairs[main].gamma_share;
        piece.tasks[main] = Affine { value: rest.value / part, slope: rest.slope / part };
    }
    piece
}

/// The total of a user as `by[0] times the level of a tree + by[1] t + by[2]`.
fn total(
    scaled: &ScaledModel,
    set: &ActiveSet,
    perturbation: &Perturbation,
    levels: &[Level],
    user: usize,
    main: usize,
) -> (Option<usize>, [f64; 3]) {
    if set.satisfied[user] {
        return (None, [0.0, perturbation.users[user], scaled.limits[user]]);
    }
    let level = level_of(scaled, set, levels, main);
    let tasks_per_level = scaled.pairs[main].tasks_per_level;
    (
        level.tree,
        [
            tasks_per_level * level.terms[0],
            tasks_per_level * level.terms[1] - perturbation.pairs[main],
            tasks_per_level * level.terms[2],
        ],
    )
}

/// The level that counts at a pair of the support.
fn level_of(scaled: &ScaledModel, set: &ActiveSet, levels: &[Level], p: usize) -> Level {
    match set.bottleneck[p] {
        Some(row) => levels[row],
        None => Level { tree: None, terms: [0.0, 0.0, scaled.highest[scaled.pairs[p].class]] },
    }
}

fn forest(scaled: &ScaledModel, set: &ActiveSet, perturbation: &Perturbation) -> Forest {
    let n_rows = set.full.len();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    // The last node stands for all rows that are not full, whose level is known.
    let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); n_rows + 1];
    for pairs in &set.support {
        let Some((&main, others)) = pairs.split_first() else { continue };
        for &p in others {
            for end in [main, p] {
                of_node[set.bottleneck[end].unwrap_or(n_rows)].push(edges.len());
            }
            edges.push((main, p));
        }
    }
    let highest =
        |row: usize| Level { tree: None, terms: [0.0, 0.0, scaled.highest[scaled.class_of_row[row]]] };
    let mut forest =
        Forest { levels: (0..n_rows).map(highest).collect(), trees: Vec::new(), cycles: Vec::new() };
    let mut known: Vec<bool> = set.full.iter().map(|full| !full).collect();
    known.push(false);
    let mut used = vec![false; edges.len()];
    for start in std::iter::once(n_rows).chain((0..n_rows).filter(|row| set.full[*row])) {
        if known[start] {
            continue;
        }
        known[start] = true;
        if start < n_rows {
            forest.levels[start] = Level { tree: Some(forest.trees.len()), terms: [1.0, 0.0, 0.0] };
            forest.trees.push(start);
        }
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            for &edge in &of_node[node] {
                if std::mem::replace(&mut used[edge], true) {
                    continue;
                }
                let (main, p) = edges[edge];
                let ends = [main, p].map(|pair| set.bottleneck[pair].unwrap_or(n_rows));
                let (from, to) = if ends[0] == node { (main, p) } else { (p, main) };
                let other = if ends[0] == node { ends[1] } else { ends[0] };
                if known[other] {
                    forest.cycles.push((main, p));
                    continue;
                }
                let Level { tree, terms: by } = level_of(scaled, set, &forest.levels, from);
                let ratio = scaled.pairs[from].tasks_per_level / scaled.pairs[to].tasks_per_level;
                let change =
                    (perturbation.pairs[to] - perturbation.pairs[from]) / scaled.pairs[to].tasks_per_level;
                forest.levels[other] =
                    Level { tree, terms: [by[0] * ratio, by[1] * ratio + change, by[2] * ratio] };
                known[other] = true;
                stack.push(other);
            }
        }
    }
    forest
}

/// Sparse equations under construction; the column after the last one is the constant.
struct Matrix {
    constant: usize,
    equations: Vec<Equation>,
}

impl Matrix {
    fn new(n_rows: usize, constant: usize) -> Self {
        Self { constant, equations: vec![(Vec::new(), 0.0); n_rows] }
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        let (entries, constant) = &mut self.equations[row];
        if column == self.constant {
            *constant += value;
        } else if value != 0.0 {
            entries.push((column, value));
        }
    }

    /// The equations, entries of one column added up.
    fn equations(mut self) -> Vec<Equation> {
        let mut dense = vec![0.0; self.constant];
        let mut seen = vec![false; self.constant];
        for (entries, _) in &mut self.equations {
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
        self.equations
    }
}
