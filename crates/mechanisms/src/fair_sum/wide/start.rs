//! The starting point of the method: near the point that maximises the barrier alone.
//!
//! At this point the barrier outweighs every utility, however much the utilities differ. The central path
//! leads from the starting point to the optimum without another guess. The optimum of a smaller exponent, or
//! the prices of a similar problem, would be poor starts if some users are worth `10^100` times as much as
//! others.

use super::model::{Model, User};
use super::number::Wide;
use super::step::Point;

/// The weight of the barrier at the start, relative to the worth of the user whose tasks are worth most
/// there.
const BARRIER: f64 = 10.0;

/// The problem with its exponent and a starting point.
pub struct Objective<'a> {
    pub model: &'a Model,
    /// The numerator and denominator of the exponent.
    pub exponent: (u32, u32),
    /// `w_n U_n^(1-a)` of the user that is worth most at the start. This value is the unit of all dual
    /// variables.
    pub total: Wide,
    /// `(w V^(1-a) / total)^q` of each user, where `q` is the denominator of the exponent.
    pub constant: Vec<Wide>,
    pub start: Point,
}

impl<'a> Objective<'a> {
    pub fn new(model: &'a Model, exponent: (u32, u32)) -> Self {
        let alpha = f64::from(exponent.0) / f64::from(exponent.1);
        let amount = amounts(model);
        let slack: Vec<Wide> = model.load(&amount).iter().map(|load| &Wide::one() - load).collect();
        let utility = model.utilities(&amount);
        let log_marginal =
            |(user, u): (&User, &Wide)| user.weight.log() + (1.0 - alpha) * user.unit.log() - alpha * u.log();
        let log_marginal: Vec<f64> = model.users.iter().zip(&utility).map(log_marginal).collect();
        let worths = log_marginal.iter().zip(&utility).map(|(log, u)| log + u.log());
        let most = worths.fold(f64::NEG_INFINITY, f64::max);
        let (total, barrier) = (Wide::from_log(most), Wide::from_f64(BARRIER));
        let (p, q) = exponent;
        let constant = |user: &User| {
            let unit = user.unit.power(p.abs_diff(q));
            let weight = (&user.weight / &total).power(q);
            if q >= p { &weight * &unit } else { &weight / &unit }
        };
        let start = Point {
            reduced: amount.iter().map(|y| &barrier / y).collect(),
            price: slack.iter().map(|s| &barrier / s).collect(),
            marginal: log_marginal.iter().map(|log| Wide::from_log(log - most)).collect(),
            amount,
            slack,
        };
        Self { model, exponent, constant: model.users.iter().map(constant).collect(), total, start }
    }
}

/// Returns the starting amount of each place. Half of every row stays free. The places that use a row share
/// the other half of the row equally.
fn amounts(model: &Model) -> Vec<Wide> {
    let mut users = vec![0u32; model.rows.len()];
    for (row, _) in model.places.iter().flat_map(|place| &place.usage) {
        users[*row] += 1;
    }
    let share =
        |(row, part): &(usize, Wide)| &Wide::one() / &(part * &Wide::from_f64(f64::from(2 * users[*row])));
    let least = |shares: Wide, share: Wide| if share < shares { share } else { shares };
    model.places.iter().map(|place| place.usage.iter().map(share).fold(Wide::one(), least)).collect()
}
