//! The dual simplex method with a key class for every group, for programmes with many groups and few rows.
//!
//! The tasks of a group on its key class follow from the level and from its tasks on other classes. A basis therefore
//! has only as many columns as there are rows, however many groups there are (generalised upper bounding;
//! docs/theory.md, Fact 0). The basis is factored again at every step, so errors do not accumulate. A step moves the
//! prices along a line until the bound on the level that they prove falls no further. Thousands of groups may change
//! their class during one step.
//!
//! In the first basis, an auxiliary column for every row except the dearest exchanges its capacity at the given prices
//! for capacity of the dearest row. These columns later leave the basis. The prices are first computed for a sample of
//! the groups, and then for larger samples, each of which starts from the prices of the sample before.
//!
//! The result is a basis from which HiGHS continues, so its quality affects only the running time.

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
    /// The free capacity of a row (its slack).
    Slack(usize),
    /// A group on a class other than its key class. This column moves tasks of the group from the key class to this
    /// class.
    Placement(GroupOnClass),
    /// Capacity of row `row`, exchanged at `price` for capacity of row `of`.
    Sold {
        row: usize,
        price: f64,
        of: usize,
    },
}

struct Keys<'a> {
    part: &'a Part<'a>,
    /// The level that counts as 1 in the programme.
    unit: f64,
    needs: &'a [Need],
    /// The groups of the programme, ascending: all groups, or a sample.
    groups: Vec<usize>,
    /// Capacity of each row that is available to these groups.
    capacity: Vec<f64>,
    /// Key class of each group.
    key: Vec<usize>,
    /// For each group, the cost of a unit of level on its dearest class if every row costs 1.
    size: Vec<f64>,
    /// The scale of the small costs that break ties between classes, in units of prices.
    scale: f64,
    /// The columns of the basis, as many as rows.
    basis: Vec<Column>,
    /// For each row, the load of groups on their key classes per unit of level, as a fraction of the capacity.
    level_load: Vec<f64>,
    /// For each row, the load of groups on their key classes that does not depend on the level, as a fraction of the
    /// capacity.
    fixed_load: Vec<f64>,
    /// The tie-breaking costs of `level_load` and `fixed_load`, not multiplied by `scale`.
    level_cost: f64,
    fixed_cost: f64,
}

/// Returns true if the method suits a part: few rows, many placements, and no task limits that need a row.
pub fn is_for(part: &Part<'_>) -> bool {
    part.rows.len() < GUESS.few_rows
        && part.n_placements() >= KEYS.least_placements
        && !(0..part.groups.len()).any(|g| part.has_task_row(g))
}

/// Computes a basis that is optimal or nearly so, and its level, from guessed prices of the rows.
///
/// Returns `None` if the fixed levels cannot be placed, or if numbers are too far apart for doubles.
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
        // A sample may have no basis although all groups together have one.
        if let Some((of_some, _)) = found {
            prices = of_some;
        }
        fewer -= 1;
    }
}

impl<'a> Keys<'a> {
    /// Builds the programme of every `every`-th group, each on its cheapest class at these prices.
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
        // Scales the costs so that the level is worth 1.
        keys.scale /= worth_of_level * unit;
        let worth: Vec<f64> = prices.iter().zip(&part.capacity).map(|(p, c)| p * c).collect();
        let of = (0..n).max_by(|a, b| worth[*a].total_cmp(&worth[*b]))?;
        // In the first basis, every row except the dearest row `of` exchanges its capacity for
        // capacity of `of`.
        let column = |row| match row == of {
            true => Column::Level,
            false => Column::Sold { row, price: worth[row] / worth[of], of },
        };
        keys.basis = (0..n).map(column).collect();
        Some(keys)
    }

    /// Takes steps until the basis is optimal or the limit of steps is reached. Returns the price of each row, and the
    /// level.
    fn solve(&mut self) -> Option<(Vec<f64>, f64)> {
        // A step reads two prices of every placement, factors the basis, and solves with it.
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

    /// Returns the small extra cost of a unit of level of a group on a class, different for each
    /// class.
    ///
    /// Many groups may have two classes of equal price. Without the extra cost, steps of length 0
    /// might never end.
    fn extra(&self, g: usize, c: usize) -> f64 {
        self.scale * self.size[g] * noise(g, c)
    }

    /// Adds `times` the load of group `g` on its key class to the loads of the rows.
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

    /// Adds `times` the load of one unit of level of a group on a class to `column`.
    fn add_placement_load(&self, GroupOnClass { g, c }: GroupOnClass, times: f64, column: &mut [f64]) {
        let tasks = self.part.tasks_per_level_f64(g, c) * self.unit * times;
        for (row, usage) in self.part.usage(g, c) {
            column[row] += usage * tasks / self.capacity[row];
        }
    }

    /// Returns the entries of a column, indexed by row.
    fn column(&self, column: Column) -> Vec<f64> {
        let mut entries = vec![0.0; self.level_load.len()];
        match column {
            Column::Level => entries.clone_from(&self.level_load),
            Column::Slack(row) => entries[row] = 1.0,
            Column::Sold { row, price, of } => (entries[row], entries[of]) = (1.0, -price),
            Column::Placement(place) => {
                self.add_placement_load(place, 1.0, &mut entries);
                self.add_placement_load(GroupOnClass { c: self.key[place.g], ..place }, -1.0, &mut entries);
            }
        }
        entries
    }

    /// Returns the worth of a column, in units of the level.
    fn worth(&self, column: Column) -> f64 {
        match column {
            Column::Level => 1.0 - self.scale * self.level_cost,
            Column::Slack(_) | Column::Sold { .. } => 0.0,
            Column::Placement(GroupOnClass { g, c }) => {
                (self.extra(g, self.key[g]) - self.extra(g, c)) * self.unit
            }
        }
    }

    /// Factors the basis. The key of each group becomes the basic class on which it has the most tasks.
    fn factors(&mut self) -> Option<Factors> {
        loop {
            let factors = Factors::of(self)?;
            let Some((at, GroupOnClass { g, c })) = self.larger_than_key(&factors) else {
                return Some(factors);
            };
            self.basis[at] = Column::Placement(GroupOnClass { g, c: self.key[g] });
            self.set_key(g, c);
        }
    }

    /// Searches for the placement that most clearly exceeds the group's tasks on its key class. Returns its position in
    /// the basis and the placement.
    fn larger_than_key(&self, factors: &Factors) -> Option<(usize, GroupOnClass)> {
        let level = factors.values[factors.level];
        let mut on_key: BTreeMap<usize, f64> = BTreeMap::new();
        let places = self.basis.iter().enumerate().filter_map(|(at, column)| match column {
            Column::Placement(place) => Some((at, *place)),
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

    /// Returns the column of the basis that violates its bounds most, relative to the length of its row of the inverse.
    /// The second value says whether prices move along that row (1) or against it (-1).
    fn leaving(&self, factors: &Factors) -> Option<(usize, f64)> {
        let mut best: Option<(f64, usize, f64)> = None;
        for (at, column) in self.basis.iter().enumerate() {
            let value = factors.values[at];
            let (out, sign) = match column {
                Column::Level => continue,
                Column::Slack(_) | Column::Placement(_) => (-value, 1.0),
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
                Column::Placement(place) => others.push((place, true)),
            }
        }
        FirstBasis { favourite: self.key, others, tight }
    }
}
