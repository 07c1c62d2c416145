//! The linear equations of an active set, in doubles.
//!
//! Levels that users tie together by running at two places are multiples of one of them: the ties are a
//! forest, or nearly one, and what remains are an unknown level for each tree, the tasks beside the
//! main places, and an equation for each full row.

use super::active::ActiveSet;
use super::model::Model;
use super::sparse::{self, Equation};

/// What moves a problem to one whose solution is known: additions to the three kinds of conditions,
/// all multiplied by `t`.
#[derive(Debug, Clone)]
pub struct Shift {
    /// By place: tasks that its user is taken to have more, on this class.
    pub places: Vec<f64>,
    /// By row: more capacity.
    pub rows: Vec<f64>,
    /// By user: more tasks to have.
    pub users: Vec<f64>,
}

/// `level[0] times that of the tree + level[1] t + level[2]`
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    tree: Option<usize>,
    by: [f64; 3],
}

/// A quantity that changes along a line.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moving {
    /// Where it is.
    pub at: f64,
    /// How it changes.
    pub by: f64,
}

/// All quantities along the line of solutions of an active set.
#[derive(Debug, Clone)]
pub struct Line {
    /// The parameter.
    pub t: Moving,
    /// By row: level, that of rows which are not full being the highest.
    pub levels: Vec<Moving>,
    /// By place: tasks.
    pub tasks: Vec<Moving>,
    /// By user: total.
    pub totals: Vec<Moving>,
    /// By user: what it has less than its best offer, where it has all its tasks.
    pub beyond: Vec<Moving>,
}

/// The forest of ties.
struct Forest {
    levels: Vec<Level>,
    trees: Vec<usize>,
    /// Ties beyond a forest: `(main place, place)`.
    cycles: Vec<(usize, usize)>,
}

/// The line of solutions, with the values of the unknowns at `now` for the one that is free.
///
/// # Errors
/// A row without which the solutions might be a line, where they are more than that.
pub fn line(model: &Model, set: &ActiveSet, shift: &Shift, now: &Line) -> Result<Line, Option<usize>> {
    let forest = forest(model, set, shift);
    let n_trees = forest.trees.len();
    let mut column_of_place = vec![usize::MAX; model.places.len()];
    let mut others = Vec::new();
    for places in &set.support {
        for p in places.iter().skip(1) {
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
        matrix.add(k, n, -shift.rows[*row]);
        matrix.add(k, n + 1, -1.0);
    }
    for (user, places) in set.support.iter().enumerate() {
        let Some((&main, others)) = places.split_first() else { continue };
        let (tree, total) = total(model, set, shift, &forest.levels, user, main);
        let place = &model.places[main];
        for (row, d) in place.usage.iter().filter(|(row, _)| set.full[*row]) {
            let (k, d) = (equation_of_row[*row], d / place.part);
            if let Some(tree) = tree {
                matrix.add(k, tree, d * total[0]);
            }
            matrix.add(k, n, d * total[1]);
            matrix.add(k, n + 1, d * total[2]);
            for q in others {
                matrix.add(k, column_of_place[*q], -d * model.places[*q].part);
            }
        }
        for q in others {
            for (row, d) in model.places[*q].usage.iter().filter(|(row, _)| set.full[*row]) {
                matrix.add(equation_of_row[*row], column_of_place[*q], *d);
            }
        }
    }
    for (k, (main, p)) in forest.cycles.iter().enumerate() {
        let k = rows.len() + k;
        for (place, sign) in [(*main, 1.0), (*p, -1.0)] {
            let level = level_of(model, set, &forest.levels, place);
            let pace = sign * model.places[place].pace;
            if let Some(tree) = level.tree {
                matrix.add(k, tree, pace * level.by[0]);
            }
            matrix.add(k, n, pace * level.by[1] - sign * shift.places[place]);
            matrix.add(k, n + 1, pace * level.by[2]);
        }
    }
    let free_at = |column: usize| {
        if column < n_trees {
            now.levels[forest.trees[column]].at
        } else if column < n {
            now.tasks[others[column - n_trees]].at
        } else {
            now.t.at
        }
    };
    let x = sparse::line(matrix.equations(), free_at).map_err(|k| rows.get(k).copied())?;
    Ok(moving(model, set, shift, &forest, &others, &x))
}

/// All quantities from the unknowns; `x` holds the trees, the tasks of `others`, and `t`.
fn moving(
    model: &Model,
    set: &ActiveSet,
    shift: &Shift,
    forest: &Forest,
    others: &[usize],
    x: &[Moving],
) -> Line {
    let t = x[x.len() - 1];
    let value = |tree: Option<usize>, by: [f64; 3]| {
        let tree = tree.map_or(Moving::default(), |tree| x[tree]);
        Moving { at: by[0] * tree.at + by[1] * t.at + by[2], by: by[0] * tree.by + by[1] * t.by }
    };
    let mut line = Line {
        t,
        levels: forest.levels.iter().map(|level| value(level.tree, level.by)).collect(),
        tasks: vec![Moving::default(); model.places.len()],
        totals: vec![Moving::default(); set.support.len()],
        beyond: vec![Moving::default(); set.support.len()],
    };
    for (p, x) in others.iter().zip(&x[forest.trees.len()..]) {
        line.tasks[*p] = *x;
    }
    for (user, places) in set.support.iter().enumerate() {
        let Some((&main, others)) = places.split_first() else { continue };
        let (tree, by) = total(model, set, shift, &forest.levels, user, main);
        let total = value(tree, by);
        line.totals[user] = total;
        if set.satisfied[user] {
            let level = level_of(model, set, &forest.levels, main);
            let offer = value(level.tree, level.by.map(|x| x * model.places[main].pace));
            let shift = shift.places[main];
            line.beyond[user] =
                Moving { at: offer.at - shift * t.at - total.at, by: offer.by - shift * t.by - total.by };
        }
        let mut rest = total;
        for q in others {
            rest.at -= model.places[*q].part * line.tasks[*q].at;
            rest.by -= model.places[*q].part * line.tasks[*q].by;
        }
        let part = model.places[main].part;
        line.tasks[main] = Moving { at: rest.at / part, by: rest.by / part };
    }
    line
}

/// The total of a user as `by[0] times the level of a tree + by[1] t + by[2]`.
fn total(
    model: &Model,
    set: &ActiveSet,
    shift: &Shift,
    levels: &[Level],
    user: usize,
    main: usize,
) -> (Option<usize>, [f64; 3]) {
    if set.satisfied[user] {
        return (None, [0.0, shift.users[user], model.limits[user]]);
    }
    let level = level_of(model, set, levels, main);
    let pace = model.places[main].pace;
    (level.tree, [pace * level.by[0], pace * level.by[1] - shift.places[main], pace * level.by[2]])
}

/// The level that counts at a place of the support.
fn level_of(model: &Model, set: &ActiveSet, levels: &[Level], p: usize) -> Level {
    match set.bottleneck[p] {
        Some(row) => levels[row],
        None => Level { tree: None, by: [0.0, 0.0, model.highest[model.places[p].class]] },
    }
}

fn forest(model: &Model, set: &ActiveSet, shift: &Shift) -> Forest {
    let n_rows = set.full.len();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    // The last node stands for all rows that are not full, whose level is known.
    let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); n_rows + 1];
    for places in &set.support {
        let Some((&main, others)) = places.split_first() else { continue };
        for &p in others {
            for end in [main, p] {
                of_node[set.bottleneck[end].unwrap_or(n_rows)].push(edges.len());
            }
            edges.push((main, p));
        }
    }
    let highest = |row: usize| Level { tree: None, by: [0.0, 0.0, model.highest[model.class_of_row[row]]] };
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
            forest.levels[start] = Level { tree: Some(forest.trees.len()), by: [1.0, 0.0, 0.0] };
            forest.trees.push(start);
        }
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            for &edge in &of_node[node] {
                if std::mem::replace(&mut used[edge], true) {
                    continue;
                }
                let (main, p) = edges[edge];
                let ends = [main, p].map(|place| set.bottleneck[place].unwrap_or(n_rows));
                let (from, to) = if ends[0] == node { (main, p) } else { (p, main) };
                let other = if ends[0] == node { ends[1] } else { ends[0] };
                if known[other] {
                    forest.cycles.push((main, p));
                    continue;
                }
                let Level { tree, by } = level_of(model, set, &forest.levels, from);
                let ratio = model.places[from].pace / model.places[to].pace;
                let change = (shift.places[to] - shift.places[from]) / model.places[to].pace;
                forest.levels[other] =
                    Level { tree, by: [by[0] * ratio, by[1] * ratio + change, by[2] * ratio] };
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
