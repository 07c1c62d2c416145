//! The problem in wide numbers. An amount of tasks is a fraction of the tasks that fit on a class.

use std::ops::Range;

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use super::super::rows::Rows;
use super::number::Wide;

/// A capacity row, the limit `at_most` of a user, or the task limit of a user.
pub struct Row {
    /// The index among the [`Rows`], or 0 for a task limit.
    pub row: usize,
    /// The user, if the row is its task limit.
    pub limit_of: Option<usize>,
    /// The inverse of the capacity or of the limit.
    pub unit: Wide,
}

/// A user on a class on which it can run.
pub struct Place {
    /// The index of the class.
    pub class: usize,
    /// The number of tasks in one unit: the tasks that fit on the class.
    pub fits: Wide,
    /// The utility of one unit, relative to the user's best place.
    pub worth: Wide,
    /// The pairs `(row, fraction)`: the fraction of each row that one unit takes.
    pub usage: Vec<(usize, Wide)>,
}

/// A user that can run a task.
pub struct User {
    /// The index of the user in the problem.
    pub user: usize,
    /// The indices of the user's places.
    pub places: Range<usize>,
    pub weight: Wide,
    /// The utility of one unit of the user's best place.
    pub unit: Wide,
    /// The rows that the user's places use, in ascending order.
    pub rows: Vec<usize>,
}

/// The problem in wide numbers.
pub struct Model {
    pub rows: Vec<Row>,
    pub places: Vec<Place>,
    pub users: Vec<User>,
}

impl Model {
    /// Converts a problem. Returns `None` if no user can run a task.
    pub fn new(constraints: &Constraints<'_>, share: Option<&ShareCoefficients>) -> Option<Self> {
        let problem = constraints.problem();
        let mut model = Self { rows: Vec::new(), places: Vec::new(), users: Vec::new() };
        let stated_rows = Rows::new(constraints);
        let mut position = vec![None; stated_rows.len()];
        for row in (0..stated_rows.len()).filter(|row| !stated_rows.capacity(*row).is_zero()) {
            position[row] = Some(model.rows.len());
            let unit = Wide::from_rational(&Rational::from(stated_rows.capacity(row).recip_ref()));
            model.rows.push(Row { row, limit_of: None, unit });
        }
        for n in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
            let stated = &problem.users()[n];
            let first = model.places.len();
            let limit = stated.tasks().map(|tasks| {
                let unit = Rational::from(tasks.recip_ref());
                model.rows.push(Row { row: 0, limit_of: Some(n), unit: Wide::from_rational(&unit) });
                (model.rows.len() - 1, unit)
            });
            let mut best = Rational::new();
            let mut worths = Vec::new();
            for i in (0..problem.n_servers()).filter(|&i| problem.can_run(n, i)) {
                let usage = stated_rows.of_task(n, i).into_iter();
                let part = |(row, used)| Some((position[row]?, used / stated_rows.capacity(row)));
                let parts: Vec<(usize, Rational)> = usage.filter_map(part).collect();
                let fits = Rational::from(parts.iter().map(|(_, part)| part).max()?.recip_ref());
                let mut usage: Vec<(usize, Wide)> = parts
                    .iter()
                    .map(|(row, part)| (*row, Wide::from_rational(&Rational::from(part * &fits))))
                    .collect();
                usage.extend(
                    limit
                        .iter()
                        .map(|(row, unit)| (*row, Wide::from_rational(&Rational::from(unit * &fits)))),
                );
                let worth =
                    share.map_or_else(|| fits.clone(), |share| Rational::from(share.of(n, i) * &fits));
                best = best.max(worth.clone());
                worths.push(worth);
                let (fits, worth) = (Wide::from_rational(&fits), Wide::default());
                model.places.push(Place { class: i, fits, worth, usage });
            }
            for (place, worth) in model.places[first..].iter_mut().zip(worths) {
                place.worth = Wide::from_rational(&(worth / &best));
            }
            let places = first..model.places.len();
            let mut rows: Vec<usize> = model.places[first..]
                .iter()
                .flat_map(|place| place.usage.iter().map(|(row, _)| *row))
                .collect();
            rows.sort_unstable();
            rows.dedup();
            model.users.push(User {
                user: n,
                places,
                weight: Wide::from_rational(stated.weight()),
                unit: Wide::from_rational(&best),
                rows,
            });
        }
        (!model.users.is_empty()).then_some(model)
    }

    /// Returns the number of complementary pairs.
    pub fn pairs(&self) -> usize {
        self.places.len() + self.rows.len()
    }

    /// Returns the approximate number of products in one step.
    pub fn work(&self) -> usize {
        let n_rows = self.rows.len();
        let places: usize = self.places.iter().map(|place| place.usage.len() * place.usage.len()).sum();
        let users: usize = self.users.iter().map(|user| user.rows.len() * user.rows.len()).sum();
        (n_rows * n_rows).saturating_mul(n_rows) / 6 + places + users
    }

    /// Returns `A y`, the used fraction of each row.
    pub fn load(&self, amount: &[Wide]) -> Vec<Wide> {
        let mut load = vec![Wide::default(); self.rows.len()];
        for (place, y) in self.places.iter().zip(amount) {
            for (row, part) in &place.usage {
                load[*row] += &(part * y);
            }
        }
        load
    }

    /// Returns component `k` of `A'p`: the cost of one unit of place `k`.
    pub fn cost(&self, price: &[Wide], k: usize) -> Wide {
        let mut cost = Wide::default();
        for (row, part) in &self.places[k].usage {
            cost += &(part * &price[*row]);
        }
        cost
    }

    /// Returns `v . y` of each user: its utility in units of its best place.
    pub fn utilities(&self, amount: &[Wide]) -> Vec<Wide> {
        self.sum_by_user(|k| &self.places[k].worth * &amount[k])
    }

    pub fn sum_by_user(&self, of_place: impl Fn(usize) -> Wide) -> Vec<Wide> {
        let add = |mut sum: Wide, k| {
            sum += &of_place(k);
            sum
        };
        self.users.iter().map(|user| user.places.clone().fold(Wide::default(), add)).collect()
    }
}
