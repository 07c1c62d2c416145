//! The dual simplex method with a key class for every group, for programmes with many groups and few rows.
//!
//! What a group has on its key class follows from the level and from what it has elsewhere, so that a basis has as many
//! columns as there are rows, however many groups there are (generalised upper bounding; docs/theory.md, Fact 0). It is
//! factored anew at every step, and nothing drifts. A step goes along prices until the bound on the level that they prove
//! falls no further: thousands of groups may have changed their class on the way.
//!
//! In the first basis every row but the dearest is sold, at the prices that there are, for what is left of that one: such
//! a column may have nothing in the end, and leaves. The prices come from some of the groups, which stand for all, and
//! theirs from fewer.
//!
//! What is found is a basis from which HiGHS goes on: nothing depends on its quality.

mod factors;
mod line;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::inside::{FirstBasis, noise};
use super::part::{GroupOnClass, Need, Part};
use crate::settings::{GUESS, KEYS};
use factors::Factors;

/// A column of the basis.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Level,
    /// What is left of a row.
    Slack(usize),
    /// A group on a class that is not its key, in place of that one.
    Place(GroupOnClass),
    /// A row that is sold for so much of another.
    Sold {
        row: usize,
        price: f64,
        of: usize,
    },
}

struct Keys<'a> {
    part: &'a Part<'a>,
    /// The level that is 1.
    unit: f64,
    needs: &'a [Need],
    /// Those of which the programme is, ascending: all, or some that stand for all.
    groups: Vec<usize>,
    /// By row: its capacity for them.
    capacity: Vec<f64>,
    /// By group.
    key: Vec<usize>,
    /// By group: what a unit of level costs on the dearest class where each row costs 1.
    size: Vec<f64>,
    /// What the costs that keep classes apart are worth in prices.
    scale: f64,
    /// As many as there are rows.
    basis: Vec<Column>,
    /// By row, in parts of its capacity: what groups on their keys take for one unit of level, and whatever the level is.
    level_load: Vec<f64>,
    fixed_load: Vec<f64>,
    /// The costs of the same, but for their scale.
    level_cost: f64,
    fixed_cost: f64,
}

/// Whether the method is made for a part.
pub fn is_for(part: &Part<'_>) -> bool {
    part.rows.len() < GUESS.few_rows
        && part.n_placements() >= KEYS.least_placements
        && !(0..part.groups.len()).any(|g| part.has_task_row(g))
}

/// A basis that is optimal or near it, and its level, from guessed prices of the rows; `None` where what is fixed has no
/// place, or numbers are too far apart.
pub fn start(part: &Part<'_>, unit: f64, needs: &[Need], prices: &[f64]) -> Option<(FirstBasis, f64)> {
    let mut prices = prices.to_vec();
    let mut fewer = (part.groups.len() / KEYS.sample).max(1).ilog(KEYS.growth);
    loop {
        let mut keys = Keys::new(part, unit, needs, &prices, KEYS.growth.pow(fewer))?;
        let found = keys.solve();
        if fewer == 0 {
            let level = found?.1;
            return (level > 0.0).then(|| (keys.first_basis(), level));
        }
        // Some of the groups may have no basis where all have one.
        if let Some((of_some, _)) = found {
            prices = of_some;
        }
        fewer -= 1;
    }
}

impl<'a> Keys<'a> {
    /// The programme of one of so many groups, each on the class that is the cheapest at these prices.
    fn new(part: &'a Part<'a>, unit: f64, needs: &'a [Need], prices: &[f64], every: usize) -> Option<Self> {
        let groups: Vec<usize> = (0..part.groups.len()).step_by(every).collect();
        let share = groups.len() as f64 / part.groups.len() as f64;
        let n = part.capacity.len();
        let mut keys = Self {
            part,
            unit,
            needs,
            capacity: part.capacity.iter().map(|capacity| capacity * share).collect(),
            key: vec![0; part.groups.len()],
            size: vec![0.0; part.groups.len()],
            scale: 0.0,
            basis: Vec::new(),
            level_load: vec![0.0; n],
            fixed_load: vec![0.0; n],
            level_cost: 0.0,
            fixed_cost: 0.0,
            groups,
        };
        let ones: Vec<f64> = keys.capacity.iter().map(|capacity| 1.0 / capacity).collect();
        let (mut worth_of_level, mut size_of_level) = (0.0, 0.0);
        for &g in &keys.groups {
            let (mut least, mut size) = (f64::INFINITY, 0.0_f64);
            part.for_each_prices(g, [prices, &ones], |_, [price, by_size]| {
                (least, size) = (least.min(price), size.max(by_size));
            });
            keys.size[g] = size;
            worth_of_level += needs[g].multiple * least;
            size_of_level += needs[g].multiple * size;
        }
        keys.scale = KEYS.apart * worth_of_level / size_of_level;
        for at in 0..keys.groups.len() {
            let g = keys.groups[at];
            let mut best = (f64::INFINITY, part.classes[g][0]);
            part.for_each_price(g, prices, |c, price| {
                let price = price + keys.extra(g, c);
                if price < best.0 {
                    best = (price, c);
                }
            });
            keys.key[g] = best.1;
            keys.add_key(g, 1.0);
        }
        // The level is worth 1.
        keys.scale /= worth_of_level * unit;
        let worth: Vec<f64> = prices.iter().zip(&part.capacity).map(|(p, c)| p * c).collect();
        let of = (0..n).max_by(|a, b| worth[*a].total_cmp(&worth[*b]))?;
        let column = |row| match row == of {
            true => Column::Level,
            false => Column::Sold { row, price: worth[row] / worth[of], of },
        };
        keys.basis = (0..n).map(column).collect();
        Some(keys)
    }

    /// Steps until the basis is optimal, or there were too many; the prices by row, and the level.
    fn solve(&mut self) -> Option<(Vec<f64>, f64)> {
        // A step looks at two prices of every placement, and factors and solves.
        let placements: usize = self.groups.iter().map(|g| self.part.classes[*g].len()).sum();
        let per_placement = 2 * self.part.data.constraints.problem().n_resources();
        let work = (placements * per_placement + self.basis.len().pow(3)) as u64;
        let mut factors = self.factors()?;
        for _ in 0..KEYS.steps_per_row * self.basis.len() {
            let Some((at, sign)) = self.leaving(&factors) else { break };
            evenhand_budget::charge(work, "a step of max-min");
            self.step(at, sign, &factors)?;
            factors = self.factors()?;
        }
        let prices = factors.prices.iter().zip(&self.part.capacity).map(|(p, c)| p.max(0.0) / c).collect();
        Some((prices, factors.values[factors.level] * self.unit))
    }

    /// What a unit of level of a group costs on a class beside prices: a little, another amount for each. Many groups may have
    /// two classes of one price, and steps of no length would have no end.
    fn extra(&self, g: usize, c: usize) -> f64 {
        self.scale * self.size[g] * noise(g, c)
    }

    /// Adds so many times what a group takes on its key.
    fn add_key(&mut self, g: usize, times: f64) {
        let Need { multiple, fixed } = self.needs[g];
        let tasks = self.part.tasks_per_level_f64(g, self.key[g]) * times;
        for (row, usage) in self.part.usage(g, self.key[g]) {
            let share = usage * tasks / self.capacity[row];
            self.level_load[row] += share * multiple * self.unit;
            self.fixed_load[row] += share * fixed;
        }
        let cost = self.size[g] * noise(g, self.key[g]) * times;
        self.level_cost += cost * multiple * self.unit;
        self.fixed_cost += cost * fixed;
    }

    fn set_key(&mut self, g: usize, c: usize) {
        self.add_key(g, -1.0);
        self.key[g] = c;
        self.add_key(g, 1.0);
    }

    /// Adds so many times what one unit of level takes on a class.
    fn add_place(&self, GroupOnClass { g, c }: GroupOnClass, times: f64, column: &mut [f64]) {
        let tasks = self.part.tasks_per_level_f64(g, c) * self.unit * times;
        for (row, usage) in self.part.usage(g, c) {
            column[row] += usage * tasks / self.capacity[row];
        }
    }

    fn column(&self, column: Column) -> Vec<f64> {
        let mut entries = vec![0.0; self.level_load.len()];
        match column {
            Column::Level => entries.clone_from(&self.level_load),
            Column::Slack(row) => entries[row] = 1.0,
            Column::Sold { row, price, of } => (entries[row], entries[of]) = (1.0, -price),
            Column::Place(place) => {
                self.add_place(place, 1.0, &mut entries);
                self.add_place(GroupOnClass { c: self.key[place.g], ..place }, -1.0, &mut entries);
            }
        }
        entries
    }

    /// What a column is worth in levels.
    fn worth(&self, column: Column) -> f64 {
        match column {
            Column::Level => 1.0 - self.scale * self.level_cost,
            Column::Slack(_) | Column::Sold { .. } => 0.0,
            Column::Place(GroupOnClass { g, c }) => {
                (self.extra(g, self.key[g]) - self.extra(g, c)) * self.unit
            }
        }
    }

    /// The basis, factored, in which of the classes of a group that are basic the key is the one on which it has most.
    fn factors(&mut self) -> Option<Factors> {
        loop {
            let factors = Factors::of(self)?;
            let Some((at, GroupOnClass { g, c })) = self.larger_than_key(&factors) else {
                return Some(factors);
            };
            self.basis[at] = Column::Place(GroupOnClass { g, c: self.key[g] });
            self.set_key(g, c);
        }
    }

    /// The largest place on which a group has clearly more than on its key, and where in the basis it is.
    fn larger_than_key(&self, factors: &Factors) -> Option<(usize, GroupOnClass)> {
        let level = factors.values[factors.level];
        let mut on_key: BTreeMap<usize, f64> = BTreeMap::new();
        let places = self.basis.iter().enumerate().filter_map(|(at, column)| match column {
            Column::Place(place) => Some((at, *place)),
            _ => None,
        });
        let places: Vec<(usize, GroupOnClass)> = places.collect();
        for &(at, GroupOnClass { g, .. }) in &places {
            let Need { multiple, fixed } = self.needs[g];
            let left = on_key.entry(g).or_insert(multiple * level + fixed / self.unit);
            *left -= factors.values[at];
        }
        let is_larger = |(at, place): &(usize, GroupOnClass)| {
            let (here, there) = (factors.values[*at], on_key[&place.g]);
            here > there + KEYS.feasible * (1.0 + here.abs())
        };
        let larger = places.into_iter().filter(is_larger);
        larger.max_by(|a, b| factors.values[a.0].total_cmp(&factors.values[b.0]))
    }

    /// The column of the basis that is furthest out of its bounds, for the length of its row of the inverse, and whether
    /// prices go along that row (1) or against it (-1).
    fn leaving(&self, factors: &Factors) -> Option<(usize, f64)> {
        let mut best: Option<(f64, usize, f64)> = None;
        for (at, column) in self.basis.iter().enumerate() {
            let value = factors.values[at];
            let (out, sign) = match column {
                Column::Level => continue,
                Column::Slack(_) | Column::Place(_) => (-value, 1.0),
                Column::Sold { .. } if value > 0.0 => (value, -1.0),
                Column::Sold { .. } => (-value, 1.0),
            };
            if out > KEYS.feasible {
                let square: f64 = factors.row(at).iter().map(|entry| entry * entry).sum();
                let gain = out * out / square;
                if best.is_none_or(|(most, ..)| gain > most) {
                    best = Some((gain, at, sign));
                }
            }
        }
        best.map(|(_, at, sign)| (at, sign))
    }

    fn first_basis(self) -> FirstBasis {
        let mut tight = vec![true; self.level_load.len()];
        let mut others = Vec::new();
        for column in self.basis {
            match column {
                Column::Level => {}
                Column::Slack(row) | Column::Sold { row, .. } => tight[row] = false,
                Column::Place(place) => others.push((place, true)),
            }
        }
        FirstBasis { favourite: self.key, others, tight }
    }
}
