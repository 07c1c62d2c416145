//! The problem in units in which everything is about 1.

use evenhand_problem::Rational;

use super::super::market::{Market, Point};

/// A user on a class on which it can run.
#[derive(Debug, Clone)]
pub struct Place {
    /// User `n`.
    pub user: usize,
    /// Class `i`.
    pub class: usize,
    /// `gamma_ni / gamma_n`: what all of the class is worth to the user.
    pub part: f64,
    /// Growth of the user's total with the level, in the units of both; at most 1.
    pub pace: f64,
    /// `(row, d_nir gamma_ni / c_r)`: part of the row that the user takes when it has all it can.
    pub usage: Vec<(usize, f64)>,
}

/// Tasks at a place are counted in `gamma_ni`, totals of a user in `gamma_n`, rows in their capacity,
/// and the levels of a class so that the best pace on it is 1.
#[derive(Debug, Clone)]
pub struct Model {
    /// Places, as in the [`Market`].
    pub places: Vec<Place>,
    /// By user: its places.
    pub of_user: Vec<Vec<usize>>,
    /// By class: its places.
    pub of_class: Vec<std::ops::Range<usize>>,
    /// By row: its class.
    pub class_of_row: Vec<usize>,
    /// By user: `T_n / gamma_n`, infinite without a limit.
    pub limits: Vec<f64>,
    /// By class: the level of its rows that are not full, above any that a user can reach.
    pub highest: Vec<f64>,
    /// By place: `gamma_ni`.
    gamma: Vec<f64>,
    /// By class: the model's levels for each level of the market.
    unit: Vec<f64>,
}

impl Model {
    /// The model of `market`.
    pub fn new(market: &Market<f64>) -> Self {
        let all = |p: &super::super::market::Place<f64>| {
            p.usage.iter().map(|(row, d)| market.capacity[*row] / d).fold(f64::INFINITY, f64::min)
        };
        let gamma: Vec<f64> = market.places.iter().map(all).collect();
        let total: Vec<f64> =
            market.of_user.iter().map(|places| places.iter().map(|p| gamma[*p]).sum()).collect();
        let mut unit = vec![0.0_f64; market.n_classes()];
        for place in &market.places {
            unit[place.class] = unit[place.class].max(place.pace / total[place.user]);
        }
        let places: Vec<Place> = (market.places.iter().zip(&gamma))
            .map(|(place, gamma)| Place {
                user: place.user,
                class: place.class,
                part: gamma / total[place.user],
                pace: place.pace / total[place.user] / unit[place.class],
                usage: place.usage.iter().map(|(r, d)| (*r, d * gamma / market.capacity[*r])).collect(),
            })
            .collect();
        let mut class_of_row = vec![0; market.capacity.len()];
        for (class, rows) in market.rows_of_class.iter().enumerate() {
            class_of_row[rows.clone()].fill(class);
        }
        let limits = market.limits.iter().zip(&total);
        let limit = |limit: &Option<f64>, total: f64| {
            limit.filter(|_| total > 0.0).map_or(f64::INFINITY, |limit| limit / total)
        };
        let limits = limits.map(|(tasks, total)| limit(tasks, *total)).collect();
        Self {
            places,
            of_user: market.of_user.clone(),
            of_class: market.of_class.clone(),
            class_of_row,
            limits,
            highest: vec![f64::INFINITY; market.n_classes()],
            gamma,
            unit,
        }
    }

    /// Sets the highest level of every class to `above` times that of its users with these totals.
    pub fn bound_levels(&mut self, totals: &[f64], above: f64) {
        self.highest.fill(1e-3);
        for place in &self.places {
            let highest = &mut self.highest[place.class];
            *highest = highest.max(above * totals[place.user] / place.pace);
        }
        // Short numbers: what they decide, if anything, is a choice among many.
        for (highest, unit) in self.highest.iter_mut().zip(&self.unit) {
            *highest = (*highest / unit).log2().ceil().exp2() * unit;
        }
    }

    /// Tasks at all places in the units of the model.
    pub fn scaled(&self, point: &Point<f64>) -> Vec<f64> {
        point.tasks.iter().zip(&self.gamma).map(|(tasks, gamma)| tasks / gamma).collect()
    }

    /// Levels by row in the units of the model.
    pub fn scaled_levels(&self, levels: &[Option<f64>]) -> Vec<Option<f64>> {
        let scaled =
            |(row, level): (usize, &Option<f64>)| level.map(|x| x * self.unit[self.class_of_row[row]]);
        levels.iter().enumerate().map(scaled).collect()
    }

    /// The level of the rows of `class` that are not full, as the market counts.
    pub fn highest_level(&self, class: usize) -> Rational {
        Rational::from_f64((self.highest[class] / self.unit[class]).log2().round().exp2()).unwrap_or_default()
    }

    /// Tasks at all places in tasks.
    pub fn tasks(&self, scaled: &[f64]) -> Vec<f64> {
        scaled.iter().zip(&self.gamma).map(|(x, gamma)| (x * gamma).max(0.0)).collect()
    }
}
