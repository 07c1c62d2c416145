//! Towards a solution of a large problem along a smooth path.
//!
//! With prices `k_r = 1 / l_r` for the levels of the rows, a task of user `n` on class `i` costs
//! `max k_r / (w_n gamma_ni)` over the resources that it demands there, the user runs where that is
//! least, and `x_n` is the reciprocal of it, at most `T_n`. Theorem 1 says that rows are not
//! overfilled and that rows with a price are full. At the temperature `t` maxima and minima are
//! `1/t`-norms, users divide themselves among classes by `exp(-log(cost) / t)`, and price times free
//! part is in proportion to `t`. In the logarithms of the prices the uses of different classes are
//! substitutes and all prices together act like one, so that Newton's matrix is diagonally dominant
//! where every user demands every resource; its size is the number of rows. The path is followed
//! from a high temperature to a low one, and at every stage the regime that the shares suggest is
//! solved; the first one that satisfies Theorem 1 ends it.

use super::jump;
use super::market::{Market, Point};
use super::regime::Regime;
use super::residual::residual;
use super::solver::Dense;

/// Where the path ended.
#[derive(Debug, Clone)]
pub struct Landing {
    /// The solution of the regime that was read, or the point of the last stage.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Newton steps.
    pub steps: usize,
}

/// First and last `1/t`.
const SHARPNESS: (f64, f64) = (4.0, 4e9);
/// Growth of `1/t` from stage to stage.
const GROWTH: f64 = 1.4;
/// Largest growth.
const MOST_GROWTH: f64 = 1.6;
/// Growth at which the path is left.
const LEAST_GROWTH: f64 = 1.02;
/// Newton steps of a stage after which the next one may be longer.
const FEW_STEPS: usize = 6;
/// From this `1/t` on regimes are read.
const READABLE: f64 = 500.0;
/// Shares of a user that count as something when a regime is read, in the order of trial.
const SOMETHING: [f64; 3] = [1e-3, 1e-6, 3e-2];
/// Newton steps of one stage.
const STEPS: usize = 12;
/// Largest change of the logarithm of a price in one step.
const LONGEST: f64 = 2.0;
/// More rows cost too much.
const MOST_ROWS: usize = 1500;
/// Shares below this take no part in Newton's matrix.
const NEGLIGIBLE: f64 = 1e-15;

/// What users do at given prices.
struct Response {
    /// By place: part of the user's tasks.
    share: Vec<f64>,
    /// By user: tasks, and how far they follow the cost (0 for users that have all).
    total: Vec<f64>,
    follows: Vec<f64>,
    /// By place and resource that it demands, in the order of `usage`: weight in the cost.
    weight: Vec<Vec<f64>>,
    /// By row: part in use, with what the price leaves free; 1 where they balance.
    fill: Vec<f64>,
}

struct Path<'a> {
    market: &'a Market<f64>,
    /// Logarithms of the paces, and of the task limits.
    pace: Vec<f64>,
    limit: Vec<Option<f64>>,
    sharpness: f64,
    /// Price times free part.
    barrier: f64,
}

/// Follows the path until a regime that is read from it solves the problem to `tolerance`; `None`
/// when there is nothing to follow or the problem is too large.
pub fn follow(market: &Market<f64>, tolerance: f64) -> Option<Landing> {
    let n_rows = market.capacity.len();
    if n_rows > MOST_ROWS || market.places.is_empty() {
        return None;
    }
    let mut path = Path {
        market,
        pace: market.places.iter().map(|place| place.pace.ln()).collect(),
        limit: market.limits.iter().map(|limit| limit.map(f64::ln)).collect(),
        sharpness: SHARPNESS.0,
        barrier: 0.0,
    };
    let mut prices = path.start();
    let unit = prices.iter().fold(f64::NEG_INFINITY, |most, v| most.max(*v));
    let mut steps = 0;
    let mut tried: Option<Regime> = None;
    let mut best: Option<(f64, Point<f64>)> = None;
    let mut last: Option<(f64, Vec<f64>)> = None;
    let mut growth = GROWTH;
    while path.sharpness <= SHARPNESS.1 && growth > LEAST_GROWTH {
        path.barrier = unit.exp() / path.sharpness;
        let begun = steps;
        if path.correct(&mut prices, &mut steps).is_none() {
            let Some((sharpness, there)) = &last else { break };
            growth = growth.sqrt();
            prices.clone_from(there);
            path.sharpness = sharpness * growth;
            continue;
        }
        let response = path.respond(&prices);
        if path.sharpness >= READABLE {
            for something in SOMETHING {
                let regime = path.regime(&prices, &response, something);
                if tried.as_ref() == Some(&regime) {
                    continue;
                }
                let guess = path.point(&response);
                if let Some(landed) = jump::solve_signed(market, &guess, &regime, true) {
                    let landed = jump::clamped(market, landed);
                    let reached = residual(market, &landed);
                    if best.as_ref().is_none_or(|(least, _)| reached < *least) {
                        best = Some((reached, landed));
                    }
                    if reached <= tolerance {
                        break;
                    }
                }
                tried = Some(regime);
            }
        }
        if best.as_ref().is_some_and(|(least, _)| *least <= tolerance) {
            break;
        }
        if steps - begun <= FEW_STEPS {
            growth = (growth * growth.sqrt()).min(MOST_GROWTH);
        }
        // The path is nearly straight in the temperature: what is left of it when the temperature
        // falls is in proportion.
        let now = prices.clone();
        if let Some((sharpness, there)) = &last {
            let (t0, t1, t2) = (1.0 / sharpness, 1.0 / path.sharpness, 1.0 / (path.sharpness * growth));
            let ahead = (t1 - t2) / (t0 - t1);
            prices
                .iter_mut()
                .zip(there)
                .filter(|(v, _)| v.is_finite())
                .for_each(|(v, was)| *v += (*v - was) * ahead);
        }
        last = Some((path.sharpness, now));
        path.sharpness *= growth;
    }
    let (reached, point) = best.unwrap_or_else(|| {
        let point = path.point(&path.respond(&prices));
        (residual(market, &point), point)
    });
    Some(Landing { point, residual: reached, steps })
}

impl Path<'_> {
    /// Prices at which users that share every class alone would fill it.
    fn start(&self) -> Vec<f64> {
        let mut load = vec![0.0; self.market.capacity.len()];
        for place in &self.market.places {
            for (row, d) in &place.usage {
                load[*row] += d * place.pace / self.market.capacity[*row];
            }
        }
        // Users run on one class each, more or less, not on all.
        let n_classes = self.market.n_classes().max(1) as f64;
        load.into_iter()
            .map(|load| if load > 0.0 { (load / n_classes).ln() } else { f64::NEG_INFINITY })
            .collect()
    }

    fn respond(&self, prices: &[f64]) -> Response {
        let q = self.sharpness;
        let market = self.market;
        let mut cost = Vec::with_capacity(market.places.len());
        let mut weight = Vec::with_capacity(market.places.len());
        for (place, pace) in market.places.iter().zip(&self.pace) {
            let highest = place.usage.iter().map(|(row, _)| prices[*row]).fold(f64::NEG_INFINITY, f64::max);
            let mut parts: Vec<f64> =
                place.usage.iter().map(|(row, _)| (q * (prices[*row] - highest)).exp()).collect();
            let sum: f64 = parts.iter().sum();
            parts.iter_mut().for_each(|part| *part /= sum);
            cost.push(highest + sum.ln() / q - pace);
            weight.push(parts);
        }
        let mut response = Response {
            share: vec![0.0; market.places.len()],
            total: vec![0.0; market.n_users()],
            follows: vec![0.0; market.n_users()],
            weight,
            fill: vec![0.0; market.capacity.len()],
        };
        for (user, places) in market.of_user.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
            let least = places.iter().map(|p| cost[*p]).fold(f64::INFINITY, f64::min);
            let mut sum = 0.0;
            for &p in places {
                response.share[p] = (-q * (cost[p] - least)).exp();
                sum += response.share[p];
            }
            let wanted = sum.ln() / q - least;
            let (total, follows) = match self.limit[user] {
                None => (wanted, 1.0),
                Some(limit) => {
                    let over = q * (wanted - limit);
                    let softened = if over > 0.0 {
                        limit - (-over).exp().ln_1p() / q
                    } else {
                        wanted - over.exp().ln_1p() / q
                    };
                    (softened, 1.0 / (1.0 + over.exp()))
                }
            };
            response.total[user] = total.exp();
            response.follows[user] = follows;
            for &p in places {
                response.share[p] /= sum;
                for (row, d) in &market.places[p].usage {
                    response.fill[*row] +=
                        d * response.share[p] * response.total[user] / market.capacity[*row];
                }
            }
        }
        for (fill, price) in response.fill.iter_mut().zip(prices) {
            *fill += self.barrier * (-price).exp();
        }
        response
    }

    /// Newton's method at the present temperature; `None` when it fails.
    fn correct(&self, prices: &mut Vec<f64>, steps: &mut usize) -> Option<()> {
        let rows: Vec<usize> = (0..prices.len()).filter(|row| prices[*row].is_finite()).collect();
        let mut response = self.respond(prices);
        let norm = |response: &Response| rows.iter().map(|row| response.fill[*row].ln().powi(2)).sum::<f64>();
        let mut size = norm(&response);
        for _ in 0..STEPS {
            if size <= 1e-4 * rows.len() as f64 {
                return Some(());
            }
            let step = self.newton(prices, &response, &rows)?;
            *steps += 1;
            let longest = step.iter().fold(0.0_f64, |longest, s| longest.max(s.abs()));
            let mut factor = (LONGEST / longest).min(1.0);
            loop {
                let mut trial = prices.clone();
                for (row, s) in rows.iter().zip(&step) {
                    trial[*row] += factor * s;
                }
                let there = self.respond(&trial);
                let reached = norm(&there);
                if reached <= size * (1.0 - 0.2 * factor) {
                    (*prices, response, size) = (trial, there, reached);
                    break;
                }
                factor *= 0.5;
                if factor < 1e-6 {
                    return (size <= 1e-2 * rows.len() as f64).then_some(());
                }
            }
        }
        (size <= 1e-2 * rows.len() as f64).then_some(())
    }

    fn newton(&self, prices: &[f64], response: &Response, rows: &[usize]) -> Option<Vec<f64>> {
        let market = self.market;
        let n = rows.len();
        let mut column = vec![usize::MAX; prices.len()];
        rows.iter().enumerate().for_each(|(k, row)| column[*row] = k);
        let mut matrix = Dense::zero(n);
        for (user, places) in market.of_user.iter().enumerate() {
            let total = response.total[user];
            let alike = self.sharpness - response.follows[user];
            let active: Vec<usize> =
                places.iter().copied().filter(|p| response.share[*p] > NEGLIGIBLE).collect();
            for &p in &active {
                for (row, d) in &market.places[p].usage {
                    let part = d * response.share[p] * total / market.capacity[*row];
                    let k = column[*row];
                    for ((other, _), weight) in market.places[p].usage.iter().zip(&response.weight[p]) {
                        matrix.add(k, column[*other], -self.sharpness * part * weight);
                    }
                    for &there in &active {
                        let usage = market.places[there].usage.iter().zip(&response.weight[there]);
                        for ((other, _), weight) in usage {
                            matrix.add(k, column[*other], alike * part * weight * response.share[there]);
                        }
                    }
                }
            }
        }
        for (k, row) in rows.iter().enumerate() {
            matrix.add(k, k, -self.barrier * (-prices[*row]).exp());
        }
        // In the logarithm of the filling, which is nearly linear in those of the prices.
        matrix.solve(rows.iter().map(|row| -response.fill[*row] * response.fill[*row].ln()).collect())
    }

    fn point(&self, response: &Response) -> Point<f64> {
        let places = self.market.places.iter().zip(&response.share);
        self.market.point(places.map(|(place, share)| share * response.total[place.user]).collect())
    }

    /// The regime that the shares suggest.
    fn regime(&self, prices: &[f64], response: &Response, something: f64) -> Regime {
        let market = self.market;
        let satisfied: Vec<bool> = response.follows.iter().map(|follows| *follows < 0.5).collect();
        let mut bottleneck = vec![None; market.places.len()];
        let mut needed = vec![false; market.capacity.len()];
        let mut support = vec![Vec::new(); market.n_users()];
        for (user, places) in market.of_user.iter().enumerate() {
            let mut list: Vec<usize> =
                places.iter().copied().filter(|p| response.share[*p] > something).collect();
            list.sort_by(|a, b| response.share[*b].total_cmp(&response.share[*a]).then(a.cmp(b)));
            for &p in list.iter().filter(|_| !satisfied[user]) {
                let rows = market.places[p].usage.iter().map(|(row, _)| *row);
                let dearest = rows.max_by(|a, b| prices[*a].total_cmp(&prices[*b]));
                bottleneck[p] = dearest;
                dearest.into_iter().for_each(|row| needed[row] = true);
            }
            support[user] = list;
        }
        // A full row where nobody that lacks tasks runs keeps others away by its price alone.
        for (row, price) in prices.iter().enumerate() {
            let free = self.barrier * (-price).exp();
            needed[row] |= free < self.sharpness.sqrt().recip();
        }
        let rows = (0..needed.len()).filter(|row| needed[*row]).collect();
        Regime { satisfied, support, bottleneck, rows, touching: Vec::new() }
    }
}
