//! Totals that have a place at first sight, without a programme, or nearly one, from which a programme starts.
//!
//! Users come one after the other, those with the fewest classes first, and each goes where there is most room.

use evenhand_problem::Rational;
use evenhand_problem::number::near;

use super::{Placed, Placements};
use evenhand_lp::highs::{Basis, BasisStatus};
use crate::settings::PLACING;

/// What is free, and how somebody takes of it.
trait Pour {
    /// Whether anything of a user is still without a place.
    fn is_left(&self, n: usize) -> bool;
    /// What is free of a row, in parts of it.
    fn free(&self, row: usize) -> f64;
    /// Takes for a user what a column has room for; whether all that was asked for is placed with it.
    fn take(&mut self, of: &Placements, column: usize) -> bool;
}

/// In doubles.
struct InDoubles {
    /// The part of each room that is taken.
    part: f64,
    free: Vec<f64>,
    /// By user, in the unit of what is asked.
    left: Vec<f64>,
    placed: Vec<(usize, f64)>,
    /// Rows of which nothing is left.
    full: Vec<usize>,
}

impl InDoubles {
    fn new(of: &Placements, part: f64) -> Self {
        let free = of.capacity.iter().map(|capacity| if capacity.is_zero() { 0.0 } else { 1.0 }).collect();
        Self { part, free, left: of.asked.clone(), placed: Vec::new(), full: Vec::new() }
    }
}

impl Pour for InDoubles {
    fn is_left(&self, n: usize) -> bool {
        self.left[n] > 0.0
    }

    fn free(&self, row: usize) -> f64 {
        self.free[row]
    }

    fn take(&mut self, of: &Placements, column: usize) -> bool {
        let n = of.placements[column - 1].0;
        let one = of.units[column] / of.alone[n];
        let rooms = of.usages(column).map(|(row, usage)| (self.free[row] / usage * self.part, row));
        let (room, row) = rooms.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0));
        let value = room.min(self.left[n] / one);
        if !value.is_finite() || value <= PLACING.least_room {
            return false;
        }
        of.usages(column).for_each(|(row, usage)| self.free[row] -= usage * value);
        self.placed.push((column, value));
        let is_all = value < room;
        if is_all {
            self.left[n] = 0.0;
        } else {
            self.left[n] -= value * one;
            self.free[row] = 0.0;
            self.full.push(row);
        }
        is_all
    }
}

/// In rationals.
struct Exactly {
    free: Vec<Rational>,
    /// The same in doubles, in parts of each row.
    about: Vec<f64>,
    left: Vec<Rational>,
    placed: Placed,
}

impl Pour for Exactly {
    fn is_left(&self, n: usize) -> bool {
        !self.left[n].is_zero()
    }

    fn free(&self, row: usize) -> f64 {
        self.about[row]
    }

    fn take(&mut self, of: &Placements, column: usize) -> bool {
        let (n, i) = of.placements[column - 1];
        let rows = of.capacity.len();
        let entries = of.lp.columns[column].entries.iter().filter(|(row, _)| *row < rows);
        let rooms = entries.clone().map(|(row, usage)| Rational::from(&self.free[*row] / usage));
        let tasks = rooms.min().filter(|room| *room < self.left[n]).unwrap_or_else(|| self.left[n].clone());
        if tasks > 0 {
            for (row, usage) in entries {
                self.free[*row] -= Rational::from(usage * &tasks);
                self.about[*row] = near(&Rational::from(&self.free[*row] / &of.capacity[*row]));
            }
            self.left[n] -= &tasks;
            self.placed[n].push((i, tasks));
        }
        self.left[n].is_zero()
    }
}

impl Placements {
    /// The rows of capacity that a column uses, and how much of each, both in its scale.
    fn usages(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        self.entries(column).filter(|(row, _)| *row < self.capacity.len())
    }

    /// Pours what is asked; the users for whom there is not enough, `None` where they are more than `most`.
    fn pour(&self, into: &mut impl Pour, most: usize) -> Option<Vec<usize>> {
        let mut columns = vec![0..0; self.asked.len()];
        let mut first = 1;
        for of_user in self.placements.chunk_by(|a, b| a.0 == b.0) {
            columns[of_user[0].0] = first..first + of_user.len();
            first += of_user.len();
        }
        let mut users: Vec<usize> = (0..columns.len()).filter(|n| into.is_left(*n)).collect();
        users.sort_by_key(|n| columns[*n].len());
        let mut failed = Vec::new();
        for n in users {
            let room = |column: usize| {
                let rooms = self.usages(column).map(|(row, usage)| into.free(row) / usage);
                rooms.fold(f64::INFINITY, f64::min) * self.units[column]
            };
            let mut rooms: Vec<(f64, usize)> =
                columns[n].clone().map(|column| (room(column), column)).collect();
            rooms.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            if !rooms.into_iter().any(|(_, column)| into.take(self, column)) {
                failed.push(n);
                if failed.len() > most {
                    return None;
                }
            }
        }
        Some(failed)
    }

    /// A place of the last totals in doubles, `(column, value)`; `None` where it is not seen at first sight.
    pub(super) fn spread(&self) -> Option<Vec<(usize, f64)>> {
        let mut into = InDoubles::new(self, PLACING.most_at_first_sight);
        self.pour(&mut into, 0)?;
        Some(into.placed)
    }

    /// A place of totals that is seen at first sight.
    pub(super) fn at_first_sight(&self, totals: &[Rational]) -> Option<Placed> {
        let about = InDoubles::new(self, 1.0).free;
        let placed = vec![Vec::new(); totals.len()];
        let mut into = Exactly { free: self.capacity.clone(), about, left: totals.to_vec(), placed };
        self.pour(&mut into, 0)?;
        into.placed.iter_mut().for_each(|list| list.sort_unstable_by_key(|(i, _)| *i));
        Some(into.placed)
    }

    /// Columns where nearly all of the last totals have a place, and the basis of that by column and row; `None` where it is
    /// not seen at first sight.
    ///
    /// A column completes a user or fills a row, so that basic columns, slacks of rows that are not full and those of users
    /// who are not complete are as many as rows. One of the latter gives way to the column of `s`.
    pub(super) fn nearly(&self) -> Option<(Vec<usize>, Vec<BasisStatus>)> {
        let mut into = InDoubles::new(self, 1.0);
        let failed = self.pour(&mut into, self.asked.len() / PLACING.users_to_one_that_may_fail)?;
        let rows = self.capacity.len();
        let mut of_rows = vec![BasisStatus::Basic; rows + self.asked.len()];
        into.full.iter().for_each(|row| of_rows[*row] = BasisStatus::Upper);
        for (n, asked) in self.asked.iter().enumerate() {
            if *asked > 0.0 && !failed[1.min(failed.len())..].contains(&n) {
                of_rows[rows + n] = BasisStatus::Lower;
            }
        }
        let mut columns: Vec<usize> = into.placed.into_iter().map(|(column, _)| column).collect();
        columns.extend(failed.first().map(|_| 0));
        Some((columns, of_rows))
    }

    /// This basis in the programme in doubles, which has all its columns.
    pub(super) fn basis_of(&self, basic: &[usize], rows: Vec<BasisStatus>) -> Basis {
        let mut columns = vec![BasisStatus::Lower; self.lp.columns.len()];
        basic.iter().for_each(|column| columns[*column] = BasisStatus::Basic);
        Basis { columns: self.inside.iter().map(|column| columns[*column]).collect(), rows }
    }
}
