//! What a user looks for in a server, in floating point with a bound of its error.

use super::digits::Digits;
use super::model::{Model, first_demanded};

/// What a server is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// The least mismatch of the servers that fit.
    Fitting,
    /// The least mismatch of all servers.
    Closest,
    /// The most tasks that would fit on it.
    MostRoom,
}

/// A demand of a user, as a point among the servers.
pub(super) struct Target {
    /// Which of the user's demands.
    pub demand: u32,
    /// The first resource demanded.
    pub first: usize,
    /// Its coordinates.
    pub at: Vec<f64>,
    /// What the error of a distance is a part of, apart from the server's coordinates.
    pub size: f64,
    /// Classes by their remainder modulo 64: those of which some have this demand.
    pub some: u64,
    /// Those of which all have it.
    pub all: u64,
}

/// A coordinate of servers and demands: an amount in parts of another one.
pub(super) struct Axis<D: Digits> {
    /// The resource.
    pub row: usize,
    /// In parts of this; `None` in parts of what is left of the first resource demanded.
    pub unit: Option<D::Amount>,
    /// Weight of a difference.
    pub weight: f64,
}

/// The bit of a class.
pub(super) fn bit(class: usize) -> u64 {
    1 << (class % 64)
}

/// The coordinates where `first` is the first resource demanded. For mismatch the terms of `H`; for
/// room the amounts in parts of the largest one.
pub(super) fn axes<D: Digits>(model: &Model<D>, aim: Aim, first: usize) -> Vec<Axis<D>> {
    let rows = 0..model.n_rows;
    if aim == Aim::MostRoom {
        let unit = |row: usize| model.capacity.iter().map(|rows| rows[row].clone()).max();
        return rows.map(|row| Axis { row, unit: unit(row), weight: 1.0 }).collect();
    }
    let axis = |row: usize| {
        let weight = D::quotient(&model.factors[row], &model.factors[first]);
        Axis { row, unit: None, weight }
    };
    rows.filter(|row| *row != first).map(axis).collect()
}

impl<D: Digits> Axis<D> {
    /// The coordinate of a server or a demand.
    pub fn of(&self, amounts: &[D::Amount], first: usize) -> f64 {
        D::quotient(&amounts[self.row], self.unit.as_ref().unwrap_or(&amounts[first])) * self.weight
    }
}

/// By demand of user `n`: its target; `None` where it demands nothing.
pub(super) fn targets<D: Digits>(model: &Model<D>, n: usize, aim: Aim) -> Vec<Option<Target>> {
    let user = &model.users[n];
    let target = |(demand, amounts): (usize, &Vec<D::Amount>)| {
        let first = first_demanded::<D>(amounts)?;
        let axes = axes(model, aim, first);
        let at: Vec<f64> = axes.iter().map(|axis| axis.of(amounts, first)).collect();
        let size = if aim == Aim::MostRoom {
            // A quotient that is too small or too large for its error to be a part of it.
            let lost = axes
                .iter()
                .zip(&at)
                .any(|(axis, at)| amounts[axis.row] != D::Amount::default() && !(1e-200..1e200).contains(at));
            if lost { f64::INFINITY } else { 0.0 }
        } else {
            at.iter().sum()
        };
        let (mut some, mut others) = (0, 0);
        for (class, on) in user.demand_on.iter().enumerate() {
            let which = if *on == Some(demand as u32) { &mut some } else { &mut others };
            *which |= bit(class);
        }
        Some(Target { demand: demand as u32, first, at, size, some, all: some & !others })
    };
    user.demands.iter().enumerate().map(target).collect()
}
