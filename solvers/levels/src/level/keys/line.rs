//! A step of the dual simplex method: a search along a line of prices, and the groups that change their key class on
//! the way.
//!
//! With prices `p` of the rows, in units of their capacities, the level is at most
//!
//! ```text
//! (sum_r p_r - sum_g f_g k_g(p)) / sum_g m_g k_g(p)
//! ```
//!
//! Here group `g` needs `m_g` times the level plus `f_g`, and `k_g(p)` is the cost of a unit on its cheapest class.
//! Between points at which some group changes its class, both sums are linear, so the bound is monotone there.
//! Therefore the bound has its minimum at a point where some group changes its class.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use rayon::prelude::*;

use super::factors::Factors;
use super::{Column, Keys};
use crate::level::part::GroupOnClass;
use crate::settings::KEYS;

/// A point of the line at which a column outside the basis gets the reduced cost 0.
struct Meeting {
    length: f64,
    column: Column,
    /// The rate at which the column becomes cheaper than the key of its group.
    rate: f64,
    /// True if the line ends at this point.
    is_end: bool,
}

impl PartialEq for Meeting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Meeting {}

impl PartialOrd for Meeting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Meeting {
    /// Orders meetings for a heap: the nearest meeting is the greatest. Among equally near meetings, the one with the
    /// lowest rate is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.length.total_cmp(&self.length).then(other.rate.total_cmp(&self.rate))
    }
}

/// A line of prices, each for a unit of its row.
struct Line {
    prices: Vec<f64>,
    change: Vec<f64>,
    /// Changes of a price below this fraction of the price are rounding.
    least: f64,
    /// Rates below this fraction of a group's cost, with prices of 1 for all rows, are rounding.
    nothing: f64,
}

/// A sum that is linear along the line.
#[derive(Clone, Copy)]
struct Sum {
    value: f64,
    rate: f64,
}

impl Keys<'_> {
    /// Removes a column from the basis: prices move along its row of the inverse (`sign` 1) or
    /// against it (-1).
    ///
    /// Returns `None` if the line meets no column.
    pub(super) fn step(&mut self, leaving: usize, sign: f64, factors: &Factors) -> Option<()> {
        let mut change: Vec<f64> = factors.row(leaving).into_iter().map(|entry| entry * sign).collect();
        let most = change.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        change.iter_mut().filter(|entry| entry.abs() < KEYS.nothing * most).for_each(|entry| *entry = 0.0);
        let dearest = factors.prices.iter().copied().fold(0.0, f64::max);
        let per_unit = |prices: &[f64]| prices.iter().zip(&self.capacity).map(|(p, c)| p / c).collect();
        let line = Line {
            prices: per_unit(&factors.prices),
            change: per_unit(&change),
            least: KEYS.rate * most / dearest,
            nothing: KEYS.nothing * most,
        };
        let sum = |of_row: &dyn Fn(usize) -> f64| {
            let along = |prices: &[f64]| prices.iter().enumerate().map(|(row, p)| p * of_row(row)).sum();
            Sum { value: along(&factors.prices), rate: along(&change) }
        };
        // The bound on the level is `over / under`. Both sums are linear between meetings.
        let mut over = sum(&|row| 1.0 - self.fixed_load[row]);
        over.value -= self.scale * self.fixed_cost;
        let mut under = sum(&|row| self.level_load[row]);
        under.value += self.scale * self.level_cost;
        let mut waiting = BinaryHeap::from(self.first_meetings(&line, factors, &change));
        let mut reached = 0.0;
        let mut classes = Vec::new();
        loop {
            let Meeting { length, column, rate, is_end } = waiting.pop()?;
            over.value += over.rate * (length - reached);
            under.value += under.rate * (length - reached);
            reached = length;
            if let (Column::Placement(GroupOnClass { g, c }), false) = (column, is_end) {
                let need = self.needs[g];
                // If the bound still falls beyond this meeting, the group changes its key and the
                // line goes on.
                let over_rate = over.rate + need.fixed / self.unit * rate;
                let under_rate = under.rate - need.multiple * rate;
                if over_rate * under.value < over.value * under_rate {
                    (over.rate, under.rate) = (over_rate, under_rate);
                    self.set_key(g, c);
                    waiting.extend(self.meeting(g, &line, reached, &[], &mut classes));
                    continue;
                }
            }
            self.basis[leaving] = column;
            self.scale /= under.value;
            return Some(());
        }
    }

    /// Returns the first meeting of each group and row.
    fn first_meetings(&self, line: &Line, factors: &Factors, change: &[f64]) -> Vec<Meeting> {
        let mut split: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut is_free = vec![false; change.len()];
        for column in &self.basis {
            match column {
                Column::Placement(place) => split.entry(place.g).or_default().push(place.c),
                Column::Slack(row) => is_free[*row] = true,
                Column::Level | Column::Sold { .. } => {}
            }
        }
        let falling = (0..change.len()).filter(|row| !is_free[*row] && change[*row] < 0.0);
        let rows = falling.map(|row| Meeting {
            length: factors.prices[row].max(0.0) / -change[row],
            column: Column::Slack(row),
            rate: -change[row],
            is_end: true,
        });
        let of_group = |classes: &mut Vec<(usize, [f64; 2])>, g: &usize| {
            let others = split.get(g).map_or(&[][..], Vec::as_slice);
            self.meeting(*g, line, 0.0, others, classes)
        };
        let groups = self.groups.par_iter().with_min_len(KEYS.groups_for_a_thread);
        let mut all: Vec<Meeting> =
            groups.map_init(Vec::new, of_group).collect::<Vec<_>>().into_iter().flatten().collect();
        all.extend(rows);
        all
    }

    /// Returns the next point of the line at which a class becomes cheaper than the key.
    ///
    /// If the basis has columns of the group other than its key (`others`), the group cannot move to the new class
    /// alone, so the line ends. `classes` is scratch memory for the prices of the group's classes.
    fn meeting(
        &self,
        g: usize,
        line: &Line,
        from: f64,
        others: &[usize],
        classes: &mut Vec<(usize, [f64; 2])>,
    ) -> Option<Meeting> {
        let key = self.key[g];
        let mut of_key = [0.0; 2];
        classes.clear();
        self.part.for_each_prices(g, [&line.prices, &line.change], |c, pair| {
            let pair = [pair[0] + self.extra(g, c), pair[1]];
            if c == key {
                of_key = pair;
            }
            classes.push((c, pair));
        });
        let least = (line.least * of_key[0]).max(line.nothing * self.size[g]);
        let mut best: Option<Meeting> = None;
        for &(c, [price, rate]) in classes.iter() {
            let falls = of_key[1] - rate;
            if falls <= least || c == key || others.contains(&c) {
                continue;
            }
            let length = ((price - of_key[0]) / falls).max(from);
            if best.as_ref().is_none_or(|best| length < best.length) {
                let column = Column::Placement(GroupOnClass { g, c });
                best = Some(Meeting { length, column, rate: falls * self.unit, is_end: !others.is_empty() });
            }
        }
        best
    }
}
