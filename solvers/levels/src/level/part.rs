//! A component of the problem that shares no row with the rest: some groups, the classes on which
//! they may still run, and the rows that they use there.
//!
//! Such a component is called a part. The code that solves a round uses indices within the part:
//! `g` for a group, `c` for a class, and `row`. Only the problem and the answers use the indices of
//! the whole problem.

use evenhand_problem::{Rational, RowKind};

use super::data::LevelData;
use crate::groups::{Group, capacity_entries};
use evenhand_lp::linear::SparseRow;

/// Marks a row that no user in the part uses.
const NOT_HERE: usize = usize::MAX;

/// The exact target of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The group must reach the level of this round.
    Active,
    /// The group must get all its tasks.
    Tasks,
    /// The group must keep the level of an earlier round, given by its index in [`Part::levels`].
    Frozen(usize),
}

/// Group `g` on class `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupOnClass {
    pub g: usize,
    pub c: usize,
}

/// The level that a group must reach, in doubles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// The multiple of the common level `t` that the group must reach: 1 for an active group, 0 for others.
    pub multiple: f64,
    /// The level that the group must reach in addition: its fixed level if it is not active.
    pub fixed: f64,
}

/// A group and its state, from which a part is built.
pub struct Seat {
    /// The index of the group in [`LevelData::groups`].
    pub group: usize,
    /// The classes of the problem on which the group may still run, ascending.
    pub classes: Vec<usize>,
    pub target: Target,
    /// The level at which the group was frozen, in doubles.
    pub frozen_at: f64,
    /// The tasks of the group in the last exact round: `(class of the problem, tasks)`.
    pub ran: Vec<(usize, Rational)>,
}

impl Seat {
    /// Returns the seat of a group before the first round.
    pub fn first(data: &LevelData<'_>, group: usize) -> Self {
        let classes = data.groups[group].classes.clone();
        Self { group, classes, target: Target::Active, frozen_at: f64::NAN, ran: Vec::new() }
    }
}

/// A part (a component of the problem), with the targets of its groups.
pub struct Part<'a> {
    pub data: &'a LevelData<'a>,
    /// For each `g`, the index of the group in [`LevelData::groups`].
    pub groups: Vec<usize>,
    /// For each `g`, the classes on which the group may run, ascending.
    pub classes: Vec<Vec<usize>>,
    /// For each `g`, the target of the group.
    pub targets: Vec<Target>,
    /// For each `g`, the level at which the group was frozen, in doubles.
    pub frozen_at: Vec<f64>,
    /// The levels of earlier rounds at which some group of this part was frozen.
    pub levels: Vec<Rational>,
    /// The level of the last exact round.
    pub reached: Option<Rational>,
    /// For each `g`, the tasks of the group in the last exact round, `(class, tasks)`. They are a feasible point of
    /// this round.
    pub ran: Vec<Vec<(usize, Rational)>>,
    /// For each row, its index in the constraints of the problem.
    pub rows: Vec<usize>,
    /// Capacity of each row.
    pub capacity: Vec<f64>,
    /// For each `g`, the level at which the group has all its tasks. Infinite if there is no such level.
    pub satisfied_at: Vec<f64>,
    /// For each class, its index in the problem.
    class_ids: Vec<usize>,
    /// For each class, the start of its rows in `row_numbers`.
    class_start: Vec<usize>,
    /// The row index within the part for each class and each position among all rows of the class. [`NOT_HERE`] for
    /// rows that are not used.
    row_numbers: Vec<usize>,
    /// For each class, its first row, if the class has all resources and this part uses all of them.
    complete: Vec<Option<usize>>,
    /// For each `g`, the tasks per unit of level in doubles. NaN if they depend on the class.
    tasks_per_level_f64: Vec<f64>,
}

impl<'a> Part<'a> {
    /// Charges the work of one round over all placements: prices, remaining placements, and the part that remains.
    pub fn charge_round(&self) {
        evenhand_budget::charge(10 * self.n_placements() as u64, "a round of max-min");
    }

    /// Returns the part with every group, on all classes where it may run.
    pub fn whole(data: &'a LevelData<'a>) -> Self {
        let seats = (0..data.groups.len()).map(|group| Seat::first(data, group)).collect();
        Self::new(data, seats, None, Vec::new())
    }

    /// Returns a part with the listed groups of this part, ascending, in their state before the first round.
    pub fn of(&self, groups: &[usize]) -> Self {
        Self::new(self.data, groups.iter().map(|&g| self.seat(g)).collect(), None, Vec::new())
    }

    /// Returns the seat of a group for another part, in its state before the first round.
    pub fn seat(&self, g: usize) -> Seat {
        let classes = self.classes[g].iter().map(|&c| self.class_id(c)).collect();
        Seat { classes, ..Seat::first(self.data, self.groups[g]) }
    }

    /// Builds a part from `seats`, which are in order of their groups.
    pub fn new(
        data: &'a LevelData<'a>,
        seats: Vec<Seat>,
        reached: Option<Rational>,
        levels: Vec<Rational>,
    ) -> Self {
        let mut class_ids: Vec<usize> = seats.iter().flat_map(|seat| &seat.classes).copied().collect();
        class_ids.sort_unstable();
        class_ids.dedup();
        let local = |i: &usize| class_ids.binary_search(i).unwrap_or_default();
        let groups: Vec<usize> = seats.iter().map(|seat| seat.group).collect();
        let in_doubles =
            |value: &Option<Rational>, other: f64| value.as_ref().map_or(other, Rational::to_f64);
        let mut part = Self {
            data,
            satisfied_at: groups.iter().map(|&g| in_doubles(&data.satisfied_at[g], f64::INFINITY)).collect(),
            tasks_per_level_f64: groups
                .iter()
                .map(|&g| in_doubles(&data.tasks_per_level[g], f64::NAN))
                .collect(),
            groups,
            classes: seats.iter().map(|seat| seat.classes.iter().map(local).collect()).collect(),
            targets: seats.iter().map(|seat| seat.target).collect(),
            frozen_at: seats.iter().map(|seat| seat.frozen_at).collect(),
            ran: seats
                .into_iter()
                .map(|seat| {
                    let here = |(i, x): (usize, Rational)| Some((class_ids.binary_search(&i).ok()?, x));
                    seat.ran.into_iter().filter_map(here).collect()
                })
                .collect(),
            reached,
            levels,
            rows: Vec::new(),
            capacity: Vec::new(),
            class_start: Vec::with_capacity(class_ids.len()),
            row_numbers: Vec::new(),
            complete: Vec::with_capacity(class_ids.len()),
            class_ids,
        };
        part.number_rows();
        part
    }

    /// Numbers the rows that some group uses here.
    fn number_rows(&mut self) {
        let constraints = self.data.constraints;
        for &i in &self.class_ids {
            self.class_start.push(self.row_numbers.len());
            self.row_numbers.extend(constraints.class_rows(i).map(|_| NOT_HERE));
        }
        let mut used = vec![false; self.row_numbers.len()];
        for g in 0..self.groups.len() {
            for &c in &self.classes[g] {
                for (at, _) in self.usage_by_position(g, c) {
                    used[self.class_start[c] + at] = true;
                }
            }
        }
        let n_resources = constraints.problem().n_resources();
        for (c, &i) in self.class_ids.iter().enumerate() {
            let first = self.rows.len();
            let rows = constraints.class_rows(i);
            let (n_rows, start) = (rows.len(), self.class_start[c]);
            for (at, row) in rows.enumerate() {
                if used[start + at] {
                    self.row_numbers[start + at] = self.rows.len();
                    self.rows.push(row);
                    self.capacity.push(constraints.rows()[row].capacity.to_f64());
                }
            }
            let is_complete = n_rows == n_resources && self.rows.len() == first + n_rows;
            self.complete.push(is_complete.then_some(first));
        }
    }

    pub fn group(&self, g: usize) -> &Group {
        &self.data.groups[self.groups[g]]
    }

    /// Returns the index in the problem of class `c`.
    pub fn class_id(&self, c: usize) -> usize {
        self.class_ids[c]
    }

    /// Returns the first row of each class, with the number of rows as last entry.
    pub fn class_rows(&self) -> Vec<usize> {
        let mut first = Vec::with_capacity(self.class_ids.len() + 1);
        let mut next = 0;
        for (c, i) in self.class_ids.iter().enumerate() {
            first.push(next);
            let range = self.class_start[c]..self.class_start[c] + self.data.constraints.class_rows(*i).len();
            next += self.row_numbers[range].iter().filter(|place| **place != NOT_HERE).count();
        }
        first.push(next);
        first
    }

    /// Returns the number of possible placements (pairs of a group and a class).
    pub fn n_placements(&self) -> usize {
        self.classes.iter().map(Vec::len).sum()
    }

    /// Returns the index in this part of class `i` of the problem.
    pub fn class_here(&self, i: usize) -> Option<usize> {
        self.class_ids.binary_search(&i).ok()
    }

    pub fn n_classes(&self) -> usize {
        self.class_ids.len()
    }

    pub fn row_capacity(&self, row: usize) -> &Rational {
        &self.data.constraints.rows()[self.rows[row]].capacity
    }

    /// Returns the tasks per unit of level, if one task is worth the same on every class.
    pub fn tasks_per_level(&self, g: usize) -> Option<&Rational> {
        self.data.tasks_per_level[self.groups[g]].as_ref()
    }

    /// Returns the level at which the group has all its tasks.
    pub fn exactly_satisfied_at(&self, g: usize) -> Option<&Rational> {
        self.data.satisfied_at[self.groups[g]].as_ref()
    }

    /// Returns true if the group has all its tasks at `level`. `near` is the level in doubles.
    pub fn is_satisfied_at(&self, g: usize, level: &Rational, near: f64) -> bool {
        let at = self.satisfied_at[g];
        at < near || at == near && self.exactly_satisfied_at(g).is_some_and(|at| at <= level)
    }

    /// Returns true if the group has a task limit that its level alone does not express.
    pub fn has_task_row(&self, g: usize) -> bool {
        self.group(g).tasks.is_some() && self.tasks_per_level(g).is_none()
    }

    /// Returns the tasks of the group on class `c` that raise its level by one.
    pub fn tasks_per_level_on(&self, g: usize, c: usize) -> Rational {
        self.data.tasks_per_level_on(self.groups[g], self.class_ids[c])
    }

    /// Returns [`Part::tasks_per_level_on`] in doubles.
    pub fn tasks_per_level_f64(&self, g: usize, c: usize) -> f64 {
        let uniform = self.tasks_per_level_f64[g];
        if uniform.is_nan() { self.tasks_per_level_on(g, c).to_f64() } else { uniform }
    }

    /// Returns the usage of one task on class `c`:
    /// `(position among the rows of the class, amount)`.
    fn usage_by_position(&self, g: usize, c: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let group = self.groups[g];
        let constraints = self.data.constraints;
        let i = self.class_ids[c];
        let start = constraints.class_rows(i).start;
        let (plain, other) = match &self.data.other_usage[group] {
            None => (self.data.base_demand[group].as_slice(), &[][..]),
            Some(by_class) => {
                let at = self.data.groups[group].classes.binary_search(&i).unwrap_or_default();
                (&[][..], by_class[at].as_slice())
            }
        };
        // `complete` is still empty while the rows are being numbered.
        let has_all = self.complete.get(c).is_some_and(Option::is_some);
        let position = move |r: usize| {
            if has_all { Some(r) } else { Some(constraints.row_of(i, RowKind::Resource(r))? - start) }
        };
        let plain = plain.iter().filter_map(move |(r, amount)| Some((position(*r)?, *amount)));
        plain.chain(other.iter().copied())
    }

    /// Returns the usage of one task on class `c`, in doubles: `(row, amount)`.
    pub fn usage(&self, g: usize, c: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let start = self.class_start[c];
        self.usage_by_position(g, c).map(move |(at, amount)| (self.row_numbers[start + at], amount))
    }

    /// Returns the exact usage of one task on class `c`: `(row, amount)`.
    pub fn exact_usage(&self, g: usize, c: usize) -> SparseRow {
        let entries =
            capacity_entries(self.data.constraints, self.group(g).representative(), self.class_ids[c]);
        entries.into_iter().map(|(row, usage)| (self.row_here(c, row), usage)).collect()
    }

    /// Returns the index in this part of a row of class `c` that the part uses.
    pub fn row_here(&self, c: usize, row: usize) -> usize {
        let start = self.data.constraints.class_rows(self.class_ids[c]).start;
        self.row_numbers[self.class_start[c] + row - start]
    }

    /// Returns the cost of one unit of level of the group on class `c`.
    pub fn price(&self, g: usize, c: usize, prices: &[f64]) -> f64 {
        let task: f64 = self.usage(g, c).map(|(row, usage)| prices[row] * usage).sum();
        task * self.tasks_per_level_f64(g, c)
    }

    /// Calls `visit` with every class of the group and the cost of one unit of level there.
    pub fn for_each_price(&self, g: usize, prices: &[f64], mut visit: impl FnMut(usize, f64)) {
        self.for_each_prices(g, [prices], |c, [price]| visit(c, price));
    }

    /// Calls `visit` like [`Part::for_each_price`], with the costs at several lists of prices at a time.
    pub fn for_each_prices<const N: usize>(
        &self,
        g: usize,
        prices: [&[f64]; N],
        mut visit: impl FnMut(usize, [f64; N]),
    ) {
        let group = self.groups[g];
        let is_plain = self.data.other_usage[group].is_none();
        let demand = self.data.base_demand[group].as_slice();
        let uniform = self.tasks_per_level_f64[g];
        for &c in &self.classes[g] {
            match self.complete[c] {
                Some(start) if is_plain && !uniform.is_nan() => {
                    let here = prices.map(|prices| &prices[start..]);
                    visit(
                        c,
                        here.map(|here| demand.iter().map(|(r, d)| here[*r] * d).sum::<f64>() * uniform),
                    );
                }
                _ => visit(c, prices.map(|prices| self.price(g, c, prices))),
            }
        }
    }

    /// Returns the tasks of a group at its target, if the common level is `level`.
    pub fn target_tasks(&self, g: usize, target: Target, level: &Rational) -> Rational {
        let at = |level: &Rational| {
            self.tasks_per_level(g).map_or_else(Rational::new, |per_level| Rational::from(per_level * level))
        };
        match target {
            Target::Active => at(level),
            Target::Frozen(round) => at(&self.levels[round]),
            Target::Tasks => self.group(g).tasks.clone().unwrap_or_default(),
        }
    }
}
