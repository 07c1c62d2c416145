//! The equations in MPFR, and Newton's method for them.

use rug::ops::CompleteRound;
use rug::{Float, Rational};

use super::{PolishError, below, decimal_exponent};

/// Bits of the first step: the starting point has 53.
const FIRST_BITS: u32 = 128;
/// Steps at most: the digits double, so this is beyond any need.
const MOST_STEPS: usize = 40;

/// A pool in exact numbers, with entitlements as shares of their sum.
pub(super) struct Equations<'a> {
    requests: &'a [Vec<Rational>],
    shares: Vec<Rational>,
    caps: &'a [Option<Rational>],
    total: Rational,
}

/// What the prices lead to, at some precision.
struct Response {
    /// `1 - usage`, one per resource.
    slacks: Vec<Float>,
    /// `-d usage_j / d price_k`, `resources x resources`.
    slopes: Vec<Float>,
}

impl<'a> Equations<'a> {
    pub fn new(
        requests: &'a [Vec<Rational>],
        entitlements: &[Rational],
        caps: &'a [Option<Rational>],
    ) -> Self {
        let total: Rational = entitlements.iter().sum();
        let shares = entitlements.iter().map(|e| Rational::from(e / &total)).collect();
        Self { requests, shares, caps, total }
    }

    /// What a user pays, at the given precision.
    fn paid(&self, user: usize, prices: &[Float], bits: u32) -> Float {
        let mut paid = Float::new(bits);
        for (request, price) in self.requests[user].iter().zip(prices) {
            if *request != 0 && !price.is_zero() {
                paid += Float::with_val(bits, price * request);
            }
        }
        paid
    }

    /// What a user takes when its cap does not bind.
    fn wanted(&self, user: usize, paid: &Float, bits: u32) -> Option<Float> {
        let share = Float::with_val(bits, &self.shares[user]);
        match &self.caps[user] {
            Some(cap) if Float::with_val(bits, paid * cap) <= share => None,
            _ => Some(share / paid),
        }
    }

    /// Slacks and slopes at prices for entitlements of sum 1.
    fn respond(&self, prices: &[Float], bits: u32) -> Result<Response, PolishError> {
        let m = prices.len();
        let mut slacks = vec![Float::with_val(bits, 1); m];
        let mut slopes = vec![Float::new(bits); m * m];
        for (user, row) in self.requests.iter().enumerate() {
            let paid = self.paid(user, prices, bits);
            let x = match self.wanted(user, &paid, bits) {
                None => Float::with_val(bits, self.caps[user].as_ref().unwrap_or(&Rational::new())),
                Some(x) if x.is_finite() => {
                    let slope = Float::with_val(bits, &x / &paid);
                    add_slopes(&mut slopes, row, &slope, bits);
                    x
                }
                Some(_) => return Err(PolishError::Unbounded { user }),
            };
            for (slack, request) in slacks.iter_mut().zip(row) {
                if *request != 0 {
                    *slack -= Float::with_val(bits, &x * request);
                }
            }
        }
        Ok(Response { slacks, slopes })
    }

    /// Allocation and price of the cap of every user, from the exact prices.
    pub fn answers(&self, prices: &[Rational], bits: u32) -> Result<Vec<(Rational, Rational)>, PolishError> {
        let shares = self.rounded_shares(prices, bits);
        let mut answers = Vec::with_capacity(self.requests.len());
        for user in 0..self.requests.len() {
            let paid = self.paid(user, &shares, bits);
            answers.push(match (self.wanted(user, &paid, bits), &self.caps[user]) {
                (None, Some(cap)) => {
                    let price = Float::with_val(bits, &self.shares[user]) / Float::with_val(bits, cap) - paid;
                    let price = super::exact(&price).max(Rational::new());
                    (cap.clone(), price * &self.total)
                }
                (Some(x), _) if x.is_finite() => (super::exact(&x), Rational::new()),
                _ => return Err(PolishError::Unbounded { user }),
            });
        }
        Ok(answers)
    }

    /// Prices for entitlements of sum 1.
    fn rounded_shares(&self, prices: &[Rational], bits: u32) -> Vec<Float> {
        prices.iter().map(|price| Float::with_val(bits, price) / &self.total).collect()
    }

    /// The largest violation of a capacity, of complementarity and of stationarity.
    pub fn residual(&self, prices: &[Rational], answers: &[(Rational, Rational)], bits: u32) -> Float {
        let prices = self.rounded_shares(prices, bits);
        let mut slacks = vec![Float::with_val(bits, 1); prices.len()];
        let mut worst = Float::new(bits);
        for (user, (x, user_price)) in answers.iter().enumerate() {
            let x = Float::with_val(bits, x);
            let user_price = Float::with_val(bits, user_price) / &self.total;
            for (slack, request) in slacks.iter_mut().zip(&self.requests[user]) {
                *slack -= Float::with_val(bits, &x * request);
            }
            let paid = self.paid(user, &prices, bits) + &user_price;
            let error = (Float::with_val(bits, &x * paid) / &self.shares[user] - 1u32).abs();
            worst.max_mut(&error);
            if let Some(cap) = &self.caps[user] {
                let room = Float::with_val(bits, cap) - &x;
                worst.max_mut(&-room.clone());
                worst.max_mut(&(user_price * room).abs());
            }
        }
        for (price, slack) in prices.iter().zip(&slacks) {
            worst.max_mut(&(-slack).complete(bits));
            worst.max_mut(&(price * slack).complete(bits).abs());
        }
        worst
    }
}

fn add_slopes(slopes: &mut [Float], row: &[Rational], slope: &Float, bits: u32) {
    let m = row.len();
    for (j, left) in row.iter().enumerate().filter(|(_, r)| **r != 0) {
        let weighted = Float::with_val(bits, slope * left);
        for (k, right) in row.iter().enumerate().take(j + 1).filter(|(_, r)| **r != 0) {
            slopes[j * m + k] += Float::with_val(bits, &weighted * right);
        }
    }
}

/// Prices with a residual below `10^-digits`, in the unit of the entitlements; and the steps taken.
pub(super) fn solve(
    equations: &Equations<'_>,
    start: &[f64],
    digits: u32,
    full: u32,
) -> Result<(Vec<Float>, usize), PolishError> {
    let mut bits = FIRST_BITS.min(full);
    let mut prices: Vec<Float> =
        start.iter().map(|&price| Float::with_val(bits, price) / &equations.total).collect();
    let mut steps = 0;
    loop {
        let response = equations.respond(&prices, bits)?;
        let residual = violation(&prices, &response.slacks, bits);
        // A tenth of what is asked for: the rest is for the rounding of the answer.
        if bits == full && below(&residual, digits + 1) {
            let prices = prices.iter().map(|price| Float::with_val(full, price * &equations.total)).collect();
            return Ok((prices, steps));
        }
        if steps == MOST_STEPS || !residual.is_finite() {
            return Err(PolishError::NoConvergence { digits, steps, exponent: decimal_exponent(&residual) });
        }
        step(&mut prices, &response, bits)?;
        steps += 1;
        bits = (2 * bits).min(full);
        for price in &mut prices {
            price.set_prec(bits);
        }
    }
}

fn violation(prices: &[Float], slacks: &[Float], bits: u32) -> Float {
    let mut worst = Float::new(bits);
    for (price, slack) in prices.iter().zip(slacks) {
        worst.max_mut(&(-slack).complete(bits));
        worst.max_mut(&(price * slack).complete(bits).abs());
    }
    worst
}

/// One semismooth Newton step: bottlenecks are the resources whose price exceeds their slack.
fn step(prices: &mut [Float], response: &Response, bits: u32) -> Result<(), PolishError> {
    let m = prices.len();
    let slope = |j: usize, k: usize| &response.slopes[j.max(k) * m + j.min(k)];
    let (active, idle): (Vec<usize>, Vec<usize>) = (0..m).partition(|&j| prices[j] > response.slacks[j]);
    let size = active.len();
    let mut matrix = Vec::with_capacity(size * (size + 1));
    for &j in &active {
        matrix.extend(active.iter().map(|&k| slope(j, k).clone()));
        let mut rhs = Float::with_val(bits, -&response.slacks[j]);
        for &k in &idle {
            rhs += Float::with_val(bits, slope(j, k) * &prices[k]);
        }
        matrix.push(rhs);
    }
    let Some(change) = eliminate(matrix, size, bits) else {
        return Err(PolishError::Degenerate { resources: active });
    };
    for &j in &idle {
        prices[j] = Float::new(bits);
    }
    for (&j, change) in active.iter().zip(change) {
        prices[j] += change;
        if prices[j].is_sign_negative() {
            prices[j] = Float::new(bits);
        }
    }
    Ok(())
}

/// Solves a symmetric positive semidefinite system (rows of `size` coefficients and the right-hand
/// side) with diagonal pivoting. Unknowns on which the others leave nothing to decide are 0.
/// `None` if the system contradicts itself.
fn eliminate(mut rows: Vec<Float>, size: usize, bits: u32) -> Option<Vec<Float>> {
    let width = size + 1;
    let scale: Vec<Float> = (0..size).map(|j| rows[j * width + j].clone()).collect();
    let negligible = Float::with_val(bits, 1) >> (bits / 3);
    let mut order: Vec<usize> = Vec::with_capacity(size);
    let mut left: Vec<usize> = (0..size).collect();
    loop {
        // The pivot that has kept the most of its diagonal.
        let best = left
            .iter()
            .copied()
            .filter(|&j| !scale[j].is_zero())
            .map(|j| (j, Float::with_val(bits, &rows[j * width + j] / &scale[j])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((pivot, kept)) = best else { break };
        if kept <= negligible {
            break;
        }
        left.retain(|&j| j != pivot);
        for &j in &left {
            let factor = Float::with_val(bits, &rows[j * width + pivot] / &rows[pivot * width + pivot]);
            for k in left.iter().copied().chain([size]) {
                let term = Float::with_val(bits, &factor * &rows[pivot * width + k]);
                rows[j * width + k] -= term;
            }
        }
        order.push(pivot);
    }
    let mut solution = vec![Float::new(bits); size];
    for (done, &pivot) in order.iter().enumerate().rev() {
        let mut value = rows[pivot * width + size].clone();
        for &k in &order[done + 1..] {
            value -= Float::with_val(bits, &rows[pivot * width + k] * &solution[k]);
        }
        solution[pivot] = value / &rows[pivot * width + pivot];
    }
    solution.iter().all(Float::is_finite).then_some(solution)
}
