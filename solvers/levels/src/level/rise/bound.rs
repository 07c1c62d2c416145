//! Prices that bound the rises of users, from doubles or from any other source.

use evenhand_exact::Prices;
use evenhand_problem::{Integer, Rational};

use super::{LEVEL, Rises};
use crate::error::LevelsError;
use crate::settings::LEVELS;
use evenhand_lp::refine::{self, StartingPoint};

/// A level above which a user cannot rise.
#[derive(Debug, Clone)]
pub struct RiseBound {
    /// The level: no higher `U_n / w_n` is feasible.
    pub level: Rational,
    /// The prices that prove the bound.
    pub prices: Prices,
}

impl Rises<'_> {
    /// Computes an upper bound of the rise of user `n`, proven by short prices.
    ///
    /// The bound exceeds the rise only by rounding. Computing it is much cheaper than [`Rises::greatest`]. Returns
    /// `None` if the user takes no part, or if the prices in doubles prove no bound.
    ///
    /// # Errors
    /// [`LevelsError`] when HiGHS fails. [`Rises::greatest`] may still find the exact answer.
    pub fn nearly(&mut self, n: usize) -> Result<Option<RiseBound>, LevelsError> {
        let Some(Some(seat)) = self.seats.get(n) else { return Ok(None) };
        let start = seat.level.clone();
        self.units[LEVEL] = seat.most;
        self.point[LEVEL].clone_from(&start);
        let mut reached = start.clone();
        let duals = loop {
            self.set_floors(n, &reached);
            let from = StartingPoint { point: Some(&self.point), basis: &self.basis };
            let solved = refine::in_doubles(&self.lp, &self.units, from)?;
            self.basis = solved.basis;
            let rise = Rational::from_f64(solved.differences[LEVEL].max(0.0)).unwrap_or_default();
            let level = rise + &start;
            let passed = self.seats.iter().flatten().any(|s| s.level > reached && s.level <= level);
            // The level rises with every step, but rounding may make a tie alternate between two values.
            if !passed || level <= reached {
                break solved.duals;
            }
            reached = level;
        };
        let prices = self.rounded(&duals);
        let bound = self.bound(&prices, n).map(|level| RiseBound { level, prices });
        match (bound, self.level_of_all_tasks(n)) {
            (bound, Some(limit)) if bound.as_ref().is_none_or(|bound| limit < bound.level) => {
                Ok(Some(RiseBound { level: limit, prices: self.prices_of_the_limit(n) }))
            }
            (bound, _) => Ok(bound),
        }
    }

    /// Returns the level above which user `n` cannot rise according to `prices`. It is at least the user's present
    /// level, and solves
    ///
    /// ```text
    /// l_n L + sum over the others of l_m min(level of m, L) = sum p k c + sum q T.
    /// ```
    ///
    /// Returns `None` if `l_n` is 0. The prices must be valid: at least 0, with
    /// `l_m u_mi / w_m <= sum_r p_ir d_mir + q_m` on every class of every user.
    #[must_use]
    pub fn bound(&self, prices: &Prices, n: usize) -> Option<Rational> {
        let seat = self.seats.get(n)?.as_ref()?;
        let own = prices.user_weights.get(n).filter(|l| **l > 0)?;
        let mut worth = self.budget(prices);
        let mut rate = own.clone();
        let mut above: Vec<(&Rational, &Rational)> = Vec::new();
        for (m, other) in self.seats.iter().enumerate().filter(|(m, _)| *m != n) {
            let (Some(other), l) = (other, &prices.user_weights[m]) else { continue };
            if l.is_zero() {
                continue;
            }
            if other.level > seat.level {
                rate += l;
                above.push((&other.level, l));
            } else {
                worth -= Rational::from(l * &other.level);
            }
        }
        above.sort_unstable();
        for (level, l) in above {
            if worth < Rational::from(&rate * level) {
                break;
            }
            rate -= l;
            worth -= Rational::from(l * level);
        }
        Some((worth / rate).max(seat.level.clone()))
    }

    /// Returns the capacity of every row, followed by the limits of groups.
    fn most(&self) -> impl Iterator<Item = &Rational> {
        let rows = self.constraints.rows().iter().map(|row| &row.capacity);
        rows.chain(self.limits.list().iter().map(|limit| &limit.most))
    }

    /// Returns the worth of all capacities, limits and tasks at these prices: `sum p k c + sum q T`.
    fn budget(&self, prices: &Prices) -> Rational {
        let rows = self.most().zip(&prices.rows).filter(|(_, p)| !p.is_zero());
        let rows: Rational = rows.map(|(most, p)| Rational::from(most * p)).sum();
        let users = self.constraints.problem().users().iter().zip(&prices.users);
        let limits = users.filter_map(|(user, q)| Some(Rational::from(user.tasks()? * q)));
        rows + limits.sum::<Rational>()
    }

    /// Rounds duals in doubles to valid short prices, with the largest user weights that they allow.
    fn rounded(&self, duals: &[f64]) -> Prices {
        let mut prices = self.no_prices();
        let values = self.most().zip(duals).map(|(row, p)| row.to_f64() * p);
        let most = values.fold(0.0, f64::max);
        for ((row, dual), price) in self.most().zip(duals).zip(&mut prices.rows) {
            *price = short(*dual, if row.is_zero() { 0.0 } else { most / row.to_f64() });
        }
        for (m, seat) in self.seats.iter().enumerate() {
            if let Some(row) = seat.as_ref().and_then(|seat| seat.task_row) {
                prices.users[m] = short(duals[row], 0.0);
            }
        }
        self.set_weights(&mut prices);
        prices
    }

    /// Sets the user weights `l` to the largest values that the other prices allow.
    fn set_weights(&self, prices: &mut Prices) {
        let n_rows = prices.rows.len();
        let mut least: Vec<Option<Rational>> = vec![None; self.seats.len()];
        for (&(m, _), column) in self.placements.iter().zip(&self.lp.columns[1..]) {
            let Some(seat) = &self.seats[m] else { continue };
            let mut price = prices.users[m].clone();
            for (row, usage) in column.entries.iter().filter(|(row, _)| *row < n_rows) {
                price += Rational::from(usage * &prices.rows[*row]);
            }
            if let Some((_, worth)) = column.entries.iter().find(|(row, _)| *row == seat.row) {
                price /= worth;
            }
            if least[m].as_ref().is_none_or(|least| price < *least) {
                least[m] = Some(price);
            }
        }
        for (weight, least) in prices.user_weights.iter_mut().zip(least) {
            *weight = least.unwrap_or_default();
        }
    }
}

/// Rounds a price in doubles to a short number; 0 if it is negligible compared with `most`.
fn short(value: f64, most: f64) -> Rational {
    if value <= 0.0 || value <= most * LEVELS.least_price || !value.is_finite() {
        return Rational::new();
    }
    let shift = LEVELS.price_bits - libm::ilogb(value);
    let digits = Integer::from_f64(libm::round(libm::scalbn(value, shift))).unwrap_or_default();
    Rational::from(digits) >> shift
}
