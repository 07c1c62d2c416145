//! The parts into which a part is split after a round.
//!
//! In every optimum of a round, priced rows are full, blocked groups have exactly the level, and no user runs where the
//! reduced cost is positive. Later rounds therefore need only the placements of reduced cost 0. These placements
//! connect groups and rows. Groups and rows that are not connected to any active group are settled: their tasks no
//! longer change.
//!
//! If all demands are positive, a blocked group uses priced rows on all its classes, and groups that are not blocked
//! use no priced row. So every block leaves the part together with its classes. If some demands are 0, blocked groups
//! that share rows with active groups stay in the part, at their level.

use evenhand_budget::each_of;
use evenhand_problem::Rational;

use super::part::{Part, Seat, Target};

/// A settled group, with its tasks: `(class of the problem, tasks)`.
pub type Settled<T> = (usize, Vec<(usize, T)>);

/// The outcome of a round of a part.
pub struct Ended<T> {
    pub level: Rational,
    /// The target of each group at the end of the round. If this round fixed the level of a group, its target is the
    /// index of this level: the next one in the part's list of levels.
    pub targets: Vec<Target>,
    /// For each group, `(class, tasks)`.
    pub tasks: Vec<Vec<(usize, T)>>,
}

/// The settled groups and the remaining parts after a round.
pub struct Rest<'a, T> {
    pub settled: Vec<Settled<T>>,
    pub parts: Vec<Part<'a>>,
    /// The placements `(group, class of the problem)` that the remaining groups can no longer use.
    pub left: Vec<(usize, usize)>,
}

impl<T: Send + Sync> Ended<T> {
    /// Returns the settled groups and the parts that remain.
    ///
    /// `stays` returns for each group the classes on which it may run in later rounds. `settle` returns the final tasks
    /// of a settled group. `exact` converts a number of tasks to the rational number that later rounds use.
    pub fn rest<'a>(
        mut self,
        part: &Part<'a>,
        stays: impl FnOnce(&Self) -> Vec<Vec<usize>>,
        settle: impl Fn(&Self, usize, Vec<(usize, T)>) -> Vec<(usize, T)> + Sync,
        exact: impl Fn(T) -> Option<Rational>,
    ) -> Rest<'a, T> {
        let mut rest = Rest { settled: Vec::new(), parts: Vec::new(), left: Vec::new() };
        let is_over = !self.targets.contains(&Target::Active);
        let mut stays = if is_over { part.classes.clone() } else { stays(&self) };
        let components =
            if is_over { vec![(0..part.groups.len()).collect()] } else { components(part, &stays) };
        let of_problem = |(c, x): (usize, T)| (part.class_id(c), x);
        // A component without active groups is settled. Every other component becomes a part of its
        // own.
        for component in components {
            if !component.iter().any(|&g| self.targets[g] == Target::Active) {
                let has = component.into_iter().map(|g| (g, std::mem::take(&mut self.tasks[g]))).collect();
                rest.settled.extend(each_of(has, 1, |(g, list)| {
                    (part.groups[g], settle(&self, g, list).into_iter().map(of_problem).collect())
                }));
                continue;
            }
            let mut levels = Levels::default();
            let mut seats = Vec::with_capacity(component.len());
            for &g in &component {
                let leaves = part.classes[g].iter().filter(|c| stays[g].binary_search(c).is_err());
                rest.left.extend(leaves.map(|&c| (part.groups[g], part.class_id(c))));
                let frozen_now = self.targets[g] == Target::Frozen(part.levels.len());
                let ran = std::mem::take(&mut self.tasks[g]).into_iter().map(of_problem);
                seats.push(Seat {
                    group: part.groups[g],
                    classes: std::mem::take(&mut stays[g]).into_iter().map(|c| part.class_id(c)).collect(),
                    target: levels.renumbered(self.targets[g], part, &self.level),
                    frozen_at: if frozen_now { self.level.to_f64() } else { part.frozen_at[g] },
                    ran: ran.filter_map(|(i, x)| Some((i, exact(x)?))).collect(),
                });
            }
            rest.parts.push(Part::new(part.data, seats, Some(self.level.clone()), levels.list));
        }
        rest
    }
}

/// The levels of earlier rounds that a part still needs.
#[derive(Default)]
struct Levels {
    list: Vec<Rational>,
    /// Maps the index of a level in the previous part to its index in the new part.
    numbers: std::collections::BTreeMap<usize, usize>,
}

impl Levels {
    fn renumbered(&mut self, target: Target, part: &Part<'_>, level: &Rational) -> Target {
        let Target::Frozen(at) = target else { return target };
        Target::Frozen(*self.numbers.entry(at).or_insert_with(|| {
            self.list.push(part.levels.get(at).unwrap_or(level).clone());
            self.list.len() - 1
        }))
    }
}

/// Returns the components of the part if group `g` may run on `classes[g]`. A component is an
/// ascending list of groups, and no two components share a row. Components are in order of their
/// first groups.
pub fn components(part: &Part<'_>, classes: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n_groups = part.groups.len();
    let mut sets = Sets::new(n_groups + part.rows.len());
    for (g, classes) in classes.iter().enumerate() {
        for &c in classes {
            for (row, _) in part.usage(g, c) {
                sets.join(g, n_groups + row);
            }
        }
    }
    let mut number = vec![usize::MAX; sets.parent.len()];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for g in 0..n_groups {
        let root = sets.root(g);
        if number[root] == usize::MAX {
            number[root] = found.len();
            found.push(Vec::new());
        }
        found[number[root]].push(g);
    }
    found
}

/// Disjoint sets, each with a representative.
struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Self { parent: (0..n).collect() }
    }

    fn root(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            // Path halving keeps the paths short.
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    /// Joins the sets of `a` and `b`. The smaller representative remains.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
