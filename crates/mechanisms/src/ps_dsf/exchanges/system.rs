//! The linear equations of a regime.

use super::market::{Market, Point};
use super::regime::Regime;
use super::scalar::Scalar;

/// Unknown of a regime's system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Level of a row.
    Level(usize),
    /// Tasks at a place that is not the main one of its user.
    Tasks(usize),
}

/// The equations of a regime.
#[derive(Debug, Clone)]
pub struct System<T> {
    /// The unknowns, by column.
    pub unknowns: Vec<Unknown>,
    /// Coefficients, sparse, and right-hand sides.
    pub rows: Vec<(Vec<(usize, T)>, T)>,
    /// By row: the place whose level it ties to that of the user's main one.
    pub ties: Vec<Option<usize>>,
}

impl<T: Scalar> System<T> {
    /// The system without the unknowns that are not in `keep`, which get the given values, and
    /// without the ties of their places. Returns what is left and the positions of its unknowns.
    pub fn pinned(self, keep: &[bool], values: &[T]) -> (Self, Vec<usize>) {
        let kept: Vec<usize> = (0..self.unknowns.len()).filter(|k| keep[*k]).collect();
        let mut position = vec![None; self.unknowns.len()];
        kept.iter().enumerate().for_each(|(k, column)| position[*column] = Some(k));
        let mut pinned_places: Vec<usize> = (self.unknowns.iter().enumerate())
            .filter_map(|(k, unknown)| match unknown {
                Unknown::Tasks(p) if !keep[k] => Some(*p),
                _ => None,
            })
            .collect();
        pinned_places.sort_unstable();
        let mut left = Self {
            unknowns: kept.iter().map(|k| self.unknowns[*k]).collect(),
            rows: Vec::new(),
            ties: Vec::new(),
        };
        for ((entries, mut rhs), tie) in self.rows.into_iter().zip(self.ties) {
            if tie.is_some_and(|p| pinned_places.binary_search(&p).is_ok()) {
                continue;
            }
            let mut rest = Vec::with_capacity(entries.len());
            for (column, value) in entries {
                match position[column] {
                    Some(k) => rest.push((k, value)),
                    None => rhs = rhs.minus(&value.times(&values[column])),
                }
            }
            left.rows.push((rest, rhs));
            left.ties.push(tie);
        }
        (left, kept)
    }
}

impl Regime {
    /// The unknowns of its equations: levels of the rows, then tasks beside the main places.
    pub fn unknowns(&self) -> Vec<Unknown> {
        let tied = self.touching.iter().map(|(_, row)| *row);
        let mut rows: Vec<usize> = self.bottleneck.iter().flatten().copied().chain(tied).collect();
        rows.sort_unstable();
        rows.dedup();
        let others = self.support.iter().flat_map(|places| places.iter().skip(1));
        rows.into_iter().map(Unknown::Level).chain(others.map(|p| Unknown::Tasks(*p))).collect()
    }

    /// The equations of the regime.
    pub fn system<T: Scalar>(&self, market: &Market<T>) -> System<T> {
        let mut column_of_row = vec![usize::MAX; market.capacity.len()];
        let mut column_of_place = vec![usize::MAX; market.places.len()];
        let unknowns = self.unknowns();
        for (column, unknown) in unknowns.iter().enumerate() {
            match unknown {
                Unknown::Level(row) => column_of_row[*row] = column,
                Unknown::Tasks(p) => column_of_place[*p] = column,
            }
        }
        let mut equation_of_row = vec![usize::MAX; market.capacity.len()];
        let mut rows: Vec<(Vec<(usize, T)>, T)> = Vec::new();
        let mut ties = vec![None; self.rows.len()];
        for &row in &self.rows {
            equation_of_row[row] = rows.len();
            rows.push((Vec::new(), market.capacity[row].clone()));
        }
        for (user, places) in self.support.iter().enumerate() {
            let Some((&main, others)) = places.split_first() else { continue };
            for (row, d) in &market.places[main].usage {
                let Some((entries, rhs)) = rows.get_mut(equation_of_row[*row]) else { continue };
                match (self.bottleneck[main], &market.limits[user]) {
                    (Some(level), _) => {
                        entries.push((column_of_row[level], d.times(&market.places[main].pace)));
                    }
                    (None, Some(limit)) => *rhs = rhs.minus(&d.times(limit)),
                    (None, None) => {}
                }
                entries.extend(others.iter().map(|q| (column_of_place[*q], T::zero().minus(d))));
            }
            for &q in others {
                for (row, d) in &market.places[q].usage {
                    if let Some((entries, _)) = rows.get_mut(equation_of_row[*row]) {
                        entries.push((column_of_place[q], d.clone()));
                    }
                }
                if let (Some(here), Some(there)) = (self.bottleneck[main], self.bottleneck[q]) {
                    let there = (column_of_row[there], T::zero().minus(&market.places[q].pace));
                    let here = (column_of_row[here], market.places[main].pace.clone());
                    rows.push((vec![here, there], T::zero()));
                    ties.push(Some(q));
                }
            }
        }
        for (p, row) in &self.touching {
            let place = &market.places[*p];
            let there = (column_of_row[*row], T::zero().minus(&place.pace));
            let main = self.support[place.user].first().copied();
            match (main.and_then(|main| self.bottleneck[main]), main, &market.limits[place.user]) {
                (Some(level), Some(main), _) => {
                    let here = (column_of_row[level], market.places[main].pace.clone());
                    rows.push((vec![here, there], T::zero()));
                }
                (_, Some(_), Some(limit)) => rows.push((vec![there], T::zero().minus(limit))),
                _ => {}
            }
        }
        for (entries, _) in &mut rows {
            merge(entries);
        }
        ties.resize(rows.len(), None);
        System { unknowns, rows, ties }
    }
}

impl Unknown {
    /// Its value at `point`: for a level the highest one among those whom the row blocks.
    pub fn value(self, market: &Market<f64>, regime: &Regime, point: &Point<f64>) -> f64 {
        match self {
            Self::Tasks(p) => point.tasks[p],
            Self::Level(row) => {
                let class = market.rows_of_class.iter().position(|rows| rows.contains(&row)).unwrap_or(0);
                let has_it =
                    |p: &usize| regime.bottleneck[*p] == Some(row) || regime.touching.contains(&(*p, row));
                let having = market.of_class[class].clone().filter(has_it);
                having.map(|p| market.level(point, p)).fold(0.0, f64::max)
            }
        }
    }
}

/// Entries of one column added up.
fn merge<T: Scalar>(entries: &mut Vec<(usize, T)>) {
    entries.sort_by_key(|(column, _)| *column);
    let mut merged: Vec<(usize, T)> = Vec::with_capacity(entries.len());
    for (column, value) in entries.drain(..) {
        match merged.last_mut() {
            Some((last, sum)) if *last == column => *sum = sum.plus(&value),
            _ => merged.push((column, value)),
        }
    }
    *entries = merged;
}
