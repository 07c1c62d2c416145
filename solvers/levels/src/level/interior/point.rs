//! Points of the interior point method, and the starting point.

use super::Programme;
use super::newton::Direction;
use crate::settings::INTERIOR;

/// A point strictly inside the bounds, with its prices.
#[derive(Clone)]
pub struct Point {
    /// Value of each column.
    pub y: Vec<f64>,
    /// Reduced cost of each column.
    pub z: Vec<f64>,
    /// Slack of each row.
    pub s: Vec<f64>,
    /// Price of each row.
    pub p: Vec<f64>,
    /// For each group, the price of its level.
    pub l: Vec<f64>,
    /// The common level `t`.
    pub t: f64,
}

impl Point {
    /// Returns a point computed from guessed prices. The tasks of every group are spread over its
    /// classes, with more tasks on cheaper classes.
    pub fn start(programme: &Programme, prices: &[f64]) -> Option<Self> {
        let most = prices.iter().copied().fold(0.0, f64::max);
        let mut p: Vec<f64> = prices.iter().map(|price| price.max(INTERIOR.least_price * most)).collect();
        let mut priced = programme.products(&p);
        let ends = || programme.group_columns.windows(2).map(|ends| ends[0]..ends[1]);
        let least =
            |columns: std::ops::Range<usize>| priced[columns].iter().copied().fold(f64::INFINITY, f64::min);
        let mut l: Vec<f64> = ends().map(|columns| 0.9 * least(columns)).collect();
        let scale: f64 = l.iter().zip(&programme.multiple).map(|(l, a)| l * a).sum();
        if !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        for value in p.iter_mut().chain(&mut l).chain(&mut priced) {
            *value /= scale;
        }
        let z: Vec<f64> = (0..priced.len()).map(|j| priced[j] - l[programme.group[j]]).collect();
        if z.iter().any(|z| z.is_nan() || *z <= 0.0) {
            return None;
        }
        // Groups prefer columns with small reduced costs.
        let mut fractions: Vec<f64> = z.iter().map(|z| 1.0 / z).collect();
        for columns in ends() {
            let sum: f64 = fractions[columns.clone()].iter().sum();
            fractions[columns].iter_mut().for_each(|part| *part /= sum);
        }
        let mut loads = programme.loads(|j| programme.multiple[programme.group[j]] * fractions[j]);
        let at = loads.len() * 9 / 10;
        let busy = *loads.select_nth_unstable_by(at, f64::total_cmp).1;
        let t = 0.5 / busy.max(1e-12);
        let need = |g: usize| programme.multiple[g] * t + programme.fixed[g];
        let mut y: Vec<f64> = (0..fractions.len()).map(|j| need(programme.group[j]) * fractions[j]).collect();
        let loads = programme.loads(|j| y[j]);
        let s = loads
            .iter()
            .zip(&programme.capacity)
            .map(|(load, b)| (b - load).max(INTERIOR.least_slack))
            .collect();
        // No product may be far below the median. Otherwise the point would be too close to the boundary.
        let mut products: Vec<f64> = y.iter().zip(&z).map(|(y, z)| y * z).collect();
        let middle = products.len() / 2;
        let mu = *products.select_nth_unstable_by(middle, f64::total_cmp).1;
        for (y, z) in y.iter_mut().zip(&z) {
            *y = y.max(0.1 * mu / z);
        }
        Some(Self { y, z, s, p, l, t })
    }

    /// Returns the same point in a programme with more columns. The new columns start near the
    /// centre.
    pub fn with_columns(&self, programme: &Programme, wider: &Programme) -> Self {
        let n_products = (self.y.len() + self.s.len()) as f64;
        let sum = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let mu = (sum(&self.y, &self.z) + sum(&self.s, &self.p)) / n_products;
        let prices = wider.prices(&self.p);
        let (mut y, mut z) = (Vec::with_capacity(prices.len()), Vec::with_capacity(prices.len()));
        for (g, ends) in wider.group_columns.windows(2).enumerate() {
            let mut old = programme.group_columns[g]..programme.group_columns[g + 1];
            for (j, price) in (ends[0]..).zip(&prices[ends[0]..ends[1]]) {
                if !old.is_empty() && programme.class[old.start] == wider.class[j] {
                    y.push(self.y[old.start]);
                    z.push(self.z[old.start]);
                    old.start += 1;
                } else {
                    let cost = (price - self.l[g]).max(INTERIOR.least_cost * self.l[g]);
                    // Together the new columns get no more than the group needs, because cheap columns would overload
                    // their class.
                    let need = wider.multiple[g] * self.t + wider.fixed[g];
                    let share = (mu / cost)
                        .min((need / (ends[1] - ends[0]) as f64).max(INTERIOR.least_cost * mu / cost));
                    z.push(mu / share);
                    y.push(share);
                }
            }
        }
        let (s, p, l) = (self.s.clone(), self.p.clone(), self.l.clone());
        Self { y, z, s, p, l, t: self.t }
    }

    /// Moves the point along a direction.
    pub fn advance(&mut self, programme: &Programme, direction: &Direction, primal: f64, dual: f64) {
        let go = |values: &mut [f64], change: &[f64], length: f64| {
            values.iter_mut().zip(change).for_each(|(value, d)| *value += length * d);
        };
        let Self { y, z, .. } = self;
        programme.both(|| go(y, &direction.y, primal), || go(z, &direction.z, dual));
        go(&mut self.s, &direction.s, primal);
        go(&mut self.p, &direction.p, dual);
        go(&mut self.l, &direction.l, dual);
        self.t += primal * direction.t;
    }
}
