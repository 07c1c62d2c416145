//! Greedy placements of totals, without a linear programme. If a greedy placement is almost complete, a programme
//! starts from it.
//!
//! Users are placed one after the other, starting with the users that may run on the fewest classes. Each user runs
//! where most capacity is free.

use evenhand_problem::Rational;
use evenhand_problem::number::near;

use super::{Placed, Placements};
use crate::settings::PLACING;
use evenhand_lp::highs::{Basis, BasisStatus};

/// The free capacity and the remaining tasks during a greedy placement.
trait FreeCapacity {
    /// Returns true if some tasks of user `n` are not placed yet.
    fn is_left(&self, n: usize) -> bool;
    /// Returns the free fraction of a row.
    fn free(&self, row: usize) -> f64;
    /// Places as many tasks of a user as fit on a column. Returns true if all tasks of the user are then placed.
    fn take(&mut self, of: &Placements, column: usize) -> bool;
}

/// A greedy placement in doubles.
struct InDoubles {
    /// The fraction of the free capacity that the placement may use.
    part: f64,
    free: Vec<f64>,
    /// For each user, the tasks that are not placed yet, in the unit of the requested totals.
    left: Vec<f64>,
    placed: Vec<(usize, f64)>,
    /// The rows that are full.
    full: Vec<usize>,
}

impl InDoubles {
    fn new(of: &Placements, part: f64) -> Self {
        let free = of.capacity.iter().map(|capacity| if capacity.is_zero() { 0.0 } else { 1.0 }).collect();
        Self { part, free, left: of.asked.clone(), placed: Vec::new(), full: Vec::new() }
    }
}

impl FreeCapacity for InDoubles {
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

/// A greedy placement in rationals.
struct Exactly {
    free: Vec<Rational>,
    /// The free capacity in doubles, as a fraction of each row.
    approximate: Vec<f64>,
    left: Vec<Rational>,
    placed: Placed,
}

impl FreeCapacity for Exactly {
    fn is_left(&self, n: usize) -> bool {
        !self.left[n].is_zero()
    }

    fn free(&self, row: usize) -> f64 {
        self.approximate[row]
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
                self.approximate[*row] = near(&Rational::from(&self.free[*row] / &of.capacity[*row]));
            }
            self.left[n] -= &tasks;
            self.placed[n].push((i, tasks));
        }
        self.left[n].is_zero()
    }
}

impl Placements {
    /// Returns `(row, amount)` for the capacity rows that a column uses, scaled.
    fn usages(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        self.entries(column).filter(|(row, _)| *row < self.capacity.len())
    }

    /// Places the requested totals greedily. Returns the users whose tasks do not all fit, or `None` if there are more
    /// than `most` such users.
    fn place_greedily(&self, into: &mut impl FreeCapacity, most: usize) -> Option<Vec<usize>> {
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

    /// Places the last totals in doubles. Returns `(column, value)`, or `None` if the greedy method does not place all
    /// of them.
    pub(super) fn place_in_doubles(&self) -> Option<Vec<(usize, f64)>> {
        let mut into = InDoubles::new(self, PLACING.most_at_first_sight);
        self.place_greedily(&mut into, 0)?;
        Some(into.placed)
    }

    /// Places totals in rationals. Returns `None` if the greedy method does not place all of them.
    pub(super) fn place_exactly(&self, totals: &[Rational]) -> Option<Placed> {
        let approximate = InDoubles::new(self, 1.0).free;
        let placed = vec![Vec::new(); totals.len()];
        let mut into = Exactly { free: self.capacity.clone(), approximate, left: totals.to_vec(), placed };
        self.place_greedily(&mut into, 0)?;
        into.placed.iter_mut().for_each(|list| list.sort_unstable_by_key(|(i, _)| *i));
        Some(into.placed)
    }

    /// Places nearly all of the last totals. Returns the columns, and the status of each row in a basis. Returns `None`
    /// if the greedy method fails for too many users.
    ///
    /// Each column completes a user or fills a row. The basis consists of these columns, the slacks of rows that are
    /// not full, and the slacks of users that are not complete. Their number is the number of rows. The column of `s`
    /// replaces one slack of an incomplete user.
    pub(super) fn nearly(&self) -> Option<(Vec<usize>, Vec<BasisStatus>)> {
        let mut into = InDoubles::new(self, 1.0);
        let failed = self.place_greedily(&mut into, self.asked.len() / PLACING.users_to_one_that_may_fail)?;
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

    /// Returns the basis with these basic columns for the programme in doubles, which must contain all of them.
    pub(super) fn basis_of(&self, basic: &[usize], rows: Vec<BasisStatus>) -> Basis {
        let mut columns = vec![BasisStatus::Lower; self.lp.columns.len()];
        basic.iter().for_each(|column| columns[*column] = BasisStatus::Basic);
        Basis { columns: self.inside.iter().map(|column| columns[*column]).collect(), rows }
    }
}
