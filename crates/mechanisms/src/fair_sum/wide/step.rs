//! The points of the method, their residuals, and the Newton step.
//!
//! Marginal utilities are separate variables with the equations `ln lambda_n = ln w_n - a ln U_n`, so that large
//! exponents cause no difficulties.

use super::model::Model;
use super::newton::Newton;
use super::number::Wide;
use super::start::Objective;

/// The largest change of the logarithm of a marginal utility in one step. It limits both the change of the variable
/// and the change that follows from the utility.
const MOST_CHANGE: f64 = 3.0;
/// The smallest product of a complementary pair, as a fraction of the mean product.
const LEAST_PRODUCT: f64 = 1e-4;
/// The factor by which a step is shortened if a product would become smaller than [`LEAST_PRODUCT`].
const SHORTER: f64 = 0.7;
/// The maximum number of times that a step is shortened by [`SHORTER`].
const SHORTENINGS: usize = 12;
/// The difference from 1 below which three terms of the series replace an exponential or a logarithm.
const NEARLY: f64 = 1e-3;
/// The natural logarithm of the smallest scale for residuals, as a fraction of the worth of all tasks.
const LEAST_PAID: f64 = -140.0;
/// The length up to which steps are computed. Longer steps are cut to it.
const LONGEST: f64 = 1e3;

/// A point of the interior point method.
#[derive(Debug, Clone)]
pub struct Point {
    /// The amount `y` of each place, positive.
    pub amount: Vec<Wide>,
    /// The reduced cost `z` of each place: its cost minus its worth. It is positive.
    pub reduced: Vec<Wide>,
    /// The marginal utility `lambda` of each user.
    pub marginal: Vec<Wide>,
    /// The price of each row.
    pub price: Vec<Wide>,
    /// The free fraction of each row.
    pub slack: Vec<Wide>,
}

impl Point {
    /// Returns the sum of the products of all complementary pairs.
    pub fn complementarity(&self) -> Wide {
        let mut sum = Wide::default();
        for (y, z) in self.amount.iter().zip(&self.reduced) {
            sum += &(y * z);
        }
        for (p, s) in self.price.iter().zip(&self.slack) {
            sum += &(p * s);
        }
        sum
    }

    /// Returns the point after a move along a direction by at most `length`. The move is shorter if a product
    /// of a pair would otherwise become too small compared with the other products.
    pub fn moved_within(&self, model: &Model, by: &Direction, mut length: f64) -> Self {
        let least = Wide::from_f64(LEAST_PRODUCT / model.pairs() as f64);
        let mut point = self.moved(model, by, length);
        for _ in 0..SHORTENINGS {
            let least = &point.complementarity() * &least;
            let places = point.amount.iter().zip(&point.reduced);
            if places.chain(point.price.iter().zip(&point.slack)).all(|(x, y)| x * y >= least) {
                break;
            }
            length *= SHORTER;
            point = self.moved(model, by, length);
        }
        point
    }

    /// Returns the point after a move along the fraction `length` of a direction, at most 1.
    pub fn moved(&self, model: &Model, by: &Direction, length: f64) -> Self {
        let length = Wide::from_f64(length.min(1.0));
        let along = |x: &[Wide], d: &[Wide]| -> Vec<Wide> {
            x.iter().zip(d).map(|(x, d)| x + &(d * &length)).collect()
        };
        let marginal = self.marginal.iter().zip(&by.log_marginal).map(|(lambda, d)| {
            let change = d * &length;
            let near = change.to_f64();
            match near.abs() < NEARLY {
                true => {
                    lambda * &(&(&Wide::one() + &change) + &(&(&change * &change) * &Wide::from_f64(0.5)))
                }
                false => lambda * &Wide::from_log(near),
            }
        });
        debug_assert_eq!(self.amount.len(), model.places.len());
        Self {
            amount: along(&self.amount, &by.amount),
            reduced: along(&self.reduced, &by.reduced),
            marginal: marginal.collect(),
            price: along(&self.price, &by.price),
            slack: along(&self.slack, &by.slack),
        }
    }
}

/// The residuals of the equations at a point.
pub struct Residuals {
    /// `1 - A y - s` of each row.
    rows: Vec<Wide>,
    /// `lambda v - A'p + z` of each place.
    dual: Vec<Wide>,
    /// `ln w - a ln U - ln lambda` of each user.
    marginal: Vec<Wide>,
    /// The utility `U` of each user.
    utility: Vec<Wide>,
}

impl Residuals {
    pub fn new(objective: &Objective<'_>, point: &Point) -> Self {
        let model = objective.model;
        let load = model.load(&point.amount);
        let rows = load.iter().zip(&point.slack).map(|(load, s)| &(&Wide::one() - load) - s).collect();
        let mut dual = point.reduced.clone();
        for (user, lambda) in model.users.iter().zip(&point.marginal) {
            for k in user.places.clone() {
                dual[k] += &(lambda * &model.places[k].worth);
                dual[k] -= &model.cost(&point.price, k);
            }
        }
        let utility = model.utilities(&point.amount);
        let (p, q) = objective.exponent;
        let marginal =
            utility.iter().zip(&point.marginal).zip(&objective.constant).map(|((u, lambda), c)| {
                // The ratio is (w U^-a / lambda)^q, whose logarithm is q times the residual.
                let ratio = c / &(&u.power(p) * &lambda.power(q));
                let over = &ratio - &Wide::one();
                let log = match over.to_f64().abs() < NEARLY {
                    true => {
                        let square = &over * &over;
                        let cube = &square * &over;
                        &(&over - &(&square * &Wide::from_f64(0.5))) + &(&cube / &Wide::from_f64(3.0))
                    }
                    false => Wide::from_f64(ratio.log()),
                };
                &log / &Wide::from_f64(f64::from(q))
            });
        Self { rows, dual, marginal: marginal.collect(), utility }
    }

    /// Returns the natural logarithm of the largest relative residual.
    ///
    /// The residual of all equations together is relative to the prices of all rows. The residual of a single
    /// user is relative to the worth of the user's tasks.
    pub fn log_size(&self, objective: &Objective<'_>, point: &Point) -> f64 {
        let model = objective.model;
        let mut paid = Wide::default();
        for (row, p) in model.rows.iter().zip(&point.price) {
            if row.limit_of.is_none() {
                paid += p;
            }
        }
        let worths: Vec<Wide> =
            point.marginal.iter().zip(&self.utility).map(|(lambda, u)| lambda * u).collect();
        let worth = worths.iter().fold(Wide::default(), |sum, own| &sum + own);
        let paid = paid.log().max(worth.log() + LEAST_PAID).min(worth.log());
        let all = (&point.complementarity() + &self.infeasibility(point)).log() - paid;
        let off = |k: usize| &point.amount[k] * &(&point.reduced[k] + &self.dual[k].abs());
        let of_users = model.sum_by_user(off);
        let own = of_users.iter().zip(&worths).zip(&self.marginal);
        let worst = own.map(|((off, own), marginal)| (&(off / own) + &marginal.abs()).log());
        worst.fold(all, f64::max)
    }

    /// Returns the sum of the absolute residuals of the equations, each multiplied by its dual or primal
    /// variable.
    pub fn infeasibility(&self, point: &Point) -> Wide {
        let mut sum = Wide::default();
        for (r, p) in self.rows.iter().zip(&point.price) {
            sum += &(&r.abs() * p);
        }
        for (r, y) in self.dual.iter().zip(&point.amount) {
            sum += &(&r.abs() * y);
        }
        for ((r, lambda), u) in self.marginal.iter().zip(&point.marginal).zip(&self.utility) {
            sum += &(&(&r.abs() * lambda) * u);
        }
        sum
    }
}

/// A Newton step. The entries for marginal utilities are changes of their logarithms.
pub struct Direction {
    amount: Vec<Wide>,
    reduced: Vec<Wide>,
    log_marginal: Vec<Wide>,
    price: Vec<Wide>,
    slack: Vec<Wide>,
    /// The largest relative change of a utility, multiplied by the exponent.
    steepest: f64,
}

impl Direction {
    /// Returns the length of the longest step that keeps all variables positive, which may exceed 1.
    pub fn longest(&self, point: &Point) -> f64 {
        let mut most = LONGEST;
        let pairs = [
            (&point.amount, &self.amount),
            (&point.reduced, &self.reduced),
            (&point.price, &self.price),
            (&point.slack, &self.slack),
        ];
        for (value, change) in pairs.into_iter().flat_map(|(values, changes)| values.iter().zip(changes)) {
            if !change.is_positive() {
                let fall = (&-change.clone() / value).to_f64();
                most = most.min(fall.recip());
            }
        }
        // Beyond this length, the linearised marginal utility is no longer a good approximation.
        let most = most.min(MOST_CHANGE / self.steepest);
        self.log_marginal.iter().fold(most, |most, d| most.min(MOST_CHANGE / d.to_f64().abs()))
    }
}

/// Returns the Newton direction towards complementarity `target`, which is 0 for the predictor. The corrector
/// subtracts the second-order terms of the predictor.
pub fn direction(
    objective: &Objective<'_>,
    at: &Point,
    newton: &Newton,
    residuals: &Residuals,
    target: &Wide,
    predictor: Option<&Direction>,
) -> Direction {
    let model = objective.model;
    let goal = |x: &Wide, y: &Wide, second: Option<(&Wide, &Wide)>| {
        let mut goal = target - &(x * y);
        if let Some((dx, dy)) = second {
            goal -= &(dx * dy);
        }
        goal
    };
    let of_places: Vec<Wide> = (0..model.places.len())
        .map(|k| goal(&at.amount[k], &at.reduced[k], predictor.map(|d| (&d.amount[k], &d.reduced[k]))))
        .collect();
    let of_rows: Vec<Wide> = (0..model.rows.len())
        .map(|r| goal(&at.price[r], &at.slack[r], predictor.map(|d| (&d.price[r], &d.slack[r]))))
        .collect();
    let mut gradient = residuals.dual.clone();
    for ((user, lambda), off) in model.users.iter().zip(&at.marginal).zip(&residuals.marginal) {
        let pull = lambda * off;
        for k in user.places.clone() {
            gradient[k] += &(&of_places[k] / &at.amount[k]);
            gradient[k] += &(&pull * &model.places[k].worth);
        }
    }
    let mut right = model.load(&newton.solve_users(model, &gradient));
    for (r, right) in right.iter_mut().enumerate() {
        *right += &(&of_rows[r] / &at.price[r]);
        *right -= &residuals.rows[r];
    }
    let price = newton.solve_rows(right);
    for (k, gradient) in gradient.iter_mut().enumerate() {
        *gradient -= &model.cost(&price, k);
    }
    let amount = newton.solve_users(model, &gradient);
    let (p, q) = objective.exponent;
    let alpha = &Wide::from_f64(f64::from(p)) / &Wide::from_f64(f64::from(q));
    let utilities = model.utilities(&amount);
    let change = |(du, u): (&Wide, &Wide)| &(du / u) * &alpha;
    let changes: Vec<Wide> = utilities.iter().zip(&residuals.utility).map(change).collect();
    let reduced = |k: usize| &(&of_places[k] - &(&at.reduced[k] * &amount[k])) / &at.amount[k];
    let slack = |r: usize| &(&of_rows[r] - &(&at.slack[r] * &price[r])) / &at.price[r];
    Direction {
        log_marginal: residuals.marginal.iter().zip(&changes).map(|(off, change)| off - change).collect(),
        steepest: changes.iter().map(|change| change.to_f64().abs()).fold(0.0, f64::max),
        reduced: (0..amount.len()).map(reduced).collect(),
        slack: (0..price.len()).map(slack).collect(),
        amount,
        price,
    }
}
