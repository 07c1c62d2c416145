//! The residuals of a point, and the Newton direction that removes them.

use nalgebra::DVector;

use super::model::Cluster;
use super::newton::{BlockStep, Newton, Point, UserPoint, complementarity, dot};
use super::start::Objective;
use crate::settings::INTERIOR;

/// The residuals of the equations at a point.
pub(super) struct Residuals {
    /// The residual `1 - A y - s` of each row.
    rows: Vec<f64>,
    users: Vec<UserResidual>,
}

pub(super) struct UserResidual {
    /// The residual `lambda v - A'p - t q + z` of each placement.
    dual: Vec<f64>,
    /// The residual `ln w - a ln U - ln lambda`.
    marginal: f64,
    /// The residual `1 - t.y - h`.
    limit: f64,
}

impl Residuals {
    /// Computes the residuals at a point.
    pub(super) fn new(objective: &Objective<'_>, point: &Point) -> Self {
        let cluster = objective.cluster;
        let mut rows: Vec<f64> = point.slack.iter().map(|s| 1.0 - s).collect();
        let users = cluster.users.iter().zip(&point.users).zip(&objective.log_weight);
        let users = users.map(|((user, at), log_weight)| {
            let dual = (0..user.worth.len()).map(|i| {
                let mut price = at.q * user.part.get(i).copied().unwrap_or_default();
                for (row, a) in &user.usage[i] {
                    price += a * point.price[*row];
                    rows[*row] -= a * at.y[i];
                }
                at.lambda * user.worth[i] - price + at.z[i]
            });
            UserResidual {
                dual: dual.collect(),
                marginal: user.log_marginal(*log_weight, objective.alpha, at.utility)
                    - objective.log_total
                    - libm::log(at.lambda),
                limit: if user.part.is_empty() { 0.0 } else { 1.0 - dot(&user.part, &at.y) - at.h },
            }
        });
        let users = users.collect();
        Self { rows, users }
    }

    /// Returns the sum of complementarity and residuals, relative to the payments for the rows. At most `sum lambda U`
    /// of the payments counts.
    pub(super) fn size(&self, point: &Point) -> f64 {
        let worth: f64 = point.users.iter().map(|at| at.lambda * at.utility).sum();
        let total = point.price.iter().sum::<f64>().max(INTERIOR.least_priced * worth).min(worth);
        (complementarity(point) + self.infeasibility(point)) / total
    }

    /// Returns the largest complementarity and residuals of any user, relative to the `lambda U` of this user.
    ///
    /// With exponents far from 1, users can differ by any factor, and the sum over all users shows only the users with
    /// the largest terms.
    pub(super) fn worst(&self, cluster: &Cluster, point: &Point) -> f64 {
        // For each row, the largest fraction of its worth that any user pays for the row.
        let mut matters = vec![0.0_f64; cluster.n_rows];
        let mut worst = 0.0_f64;
        for ((user, at), residual) in cluster.users.iter().zip(&point.users).zip(&self.users) {
            let own = at.lambda * at.utility;
            let mut off = at.q * (at.h + residual.limit.abs());
            for i in 0..at.y.len() {
                off += at.y[i] * (at.z[i] + residual.dual[i].abs());
                for (row, a) in &user.usage[i] {
                    matters[*row] = matters[*row].max(a * at.y[i] * point.price[*row] / own);
                }
            }
            worst = worst.max(off / own + residual.marginal.abs());
        }
        let rows = matters.iter().zip(&point.slack).zip(&self.rows);
        rows.map(|((part, slack), off)| part.min(1.0) * (slack + off.abs())).fold(worst, f64::max)
    }

    /// Returns the sum of all residuals, each weighted by its price or quantity.
    pub(super) fn infeasibility(&self, point: &Point) -> f64 {
        let rows: f64 = self.rows.iter().zip(&point.price).map(|(r, p)| r.abs() * p).sum();
        let users = self.users.iter().zip(&point.users).map(|(r, at)| {
            let dual: f64 = r.dual.iter().zip(&at.y).map(|(r, y)| r.abs() * y).sum();
            dual + r.marginal.abs() * at.lambda * at.utility + r.limit.abs() * at.q
        });
        rows + users.sum::<f64>()
    }
}

/// A Newton step.
pub(super) struct Direction {
    users: Vec<UserPoint>,
    price: Vec<f64>,
    slack: Vec<f64>,
}

impl Direction {
    /// Returns the length of the longest step that keeps all variables non-negative. The length may exceed 1.
    pub(super) fn longest(&self, point: &Point) -> f64 {
        let mut most = 1e3;
        let mut limit = |value: f64, change: f64| {
            if change < 0.0 && -value / change < most {
                most = -value / change;
            }
        };
        for (p, dp) in point.price.iter().zip(&self.price) {
            limit(*p, *dp);
        }
        for (s, ds) in point.slack.iter().zip(&self.slack) {
            limit(*s, *ds);
        }
        for (at, d) in point.users.iter().zip(&self.users) {
            // Beyond this length, the tangent no longer describes the marginal utility.
            limit(INTERIOR.most_change * at.lambda, d.lambda);
            limit(at.q, d.q);
            limit(at.h, d.h);
            for i in 0..at.y.len() {
                limit(at.y[i], d.y[i]);
                limit(at.z[i], d.z[i]);
            }
        }
        most
    }
}

/// Returns the point moved by `length` along a direction.
pub(super) fn moved(cluster: &Cluster, point: &Point, by: &Direction, length: f64) -> Point {
    let length = length.min(1.0);
    let along = |x: &[f64], dx: &[f64]| x.iter().zip(dx).map(|(x, d)| x + length * d).collect::<Vec<f64>>();
    let users = point.users.iter().zip(&by.users).zip(&cluster.users).map(|((at, d), user)| {
        let y = along(&at.y, &d.y);
        UserPoint {
            utility: dot(&user.worth, &y),
            y,
            z: along(&at.z, &d.z),
            lambda: at.lambda * libm::exp(length * d.lambda / at.lambda),
            q: at.q + length * d.q,
            h: at.h + length * d.h,
        }
    });
    Point {
        users: users.collect(),
        price: along(&point.price, &by.price),
        slack: along(&point.slack, &by.slack),
    }
}

/// For each complementary pair, the product that a step aims at, minus the second-order change of the step.
#[derive(Clone)]
pub(super) struct Products {
    rows: Vec<f64>,
    /// For each user, the products of its placements and the product of its task limit.
    users: Vec<(Vec<f64>, f64)>,
}

impl Products {
    /// Returns the product `target` for every pair. The predictor uses 0.
    pub(super) fn equal(point: &Point, target: f64) -> Self {
        let users = point.users.iter().map(|at| (vec![target; at.y.len()], target));
        Self { rows: vec![target; point.price.len()], users: users.collect() }
    }

    /// Subtracts the second-order change of a step of `length` along `predictor`.
    pub(super) fn less_second_order(mut self, predictor: &Direction, length: f64) -> Self {
        let square = length * length;
        for (product, (dp, ds)) in self.rows.iter_mut().zip(predictor.price.iter().zip(&predictor.slack)) {
            *product -= square * dp * ds;
        }
        for ((placements, limit), d) in self.users.iter_mut().zip(&predictor.users) {
            for (product, (dy, dz)) in placements.iter_mut().zip(d.y.iter().zip(&d.z)) {
                *product -= square * dy * dz;
            }
            *limit -= square * d.q * d.h;
        }
        self
    }

    /// Corrects the products of the pairs that a step of `length` takes out of the neighbourhood of
    /// `target` (Gondzio 1996).
    pub(super) fn towards_centre(
        mut self,
        point: &Point,
        step: &Direction,
        length: f64,
        target: f64,
    ) -> Self {
        let (least, most) = (INTERIOR.neighbourhood.0 * target, INTERIOR.neighbourhood.1 * target);
        let missing = |a: f64, da: f64, b: f64, db: f64| {
            let reached = (a + length * da) * (b + length * db);
            (reached.clamp(least, most) - reached).max(-most)
        };
        let at = point.price.iter().zip(&step.price).zip(point.slack.iter().zip(&step.slack));
        for (product, ((p, dp), (s, ds))) in self.rows.iter_mut().zip(at) {
            *product += missing(*p, *dp, *s, *ds);
        }
        for ((placements, limit), (at, d)) in self.users.iter_mut().zip(point.users.iter().zip(&step.users)) {
            for (i, product) in placements.iter_mut().enumerate() {
                *product += missing(at.y[i], d.y[i], at.z[i], d.z[i]);
            }
            *limit += missing(at.q, d.q, at.h, d.h);
        }
        self
    }
}

/// Computes the Newton direction towards these products.
pub(super) fn direction(
    objective: &Objective<'_>,
    point: &Point,
    newton: &Newton,
    residuals: &Residuals,
    products: &Products,
) -> Direction {
    let cluster = objective.cluster;
    let n_rows = cluster.n_rows;
    let typical_price = point.price.iter().copied().fold(0.0, f64::max);
    let mut right = DVector::zeros(n_rows);
    let row_goal: Vec<f64> =
        (0..n_rows).map(|row| products.rows[row] - point.price[row] * point.slack[row]).collect();
    for row in 0..n_rows {
        right[row] = row_goal[row] / point.price[row] - residuals.rows[row];
    }
    // For each user, the gradient in the block's coordinates, and the step that this gradient alone would cause.
    let mut gradients = Vec::with_capacity(cluster.users.len());
    let mut goals = Vec::with_capacity(cluster.users.len());
    for (n, (user, at)) in cluster.users.iter().zip(&point.users).enumerate() {
        let (block, residual) = (&newton.blocks[n], &residuals.users[n]);
        let (placement_products, limit_product) = &products.users[n];
        let limit_goal = limit_product - at.q * at.h;
        let goal: Vec<f64> = (0..at.y.len()).map(|i| placement_products[i] - at.y[i] * at.z[i]).collect();
        let limit_push = (limit_goal - at.q * residual.limit) / at.h;
        let gradient: Vec<f64> = (0..at.y.len())
            .map(|i| {
                residual.dual[i] + goal[i] / at.y[i] + user.worth[i] * at.lambda * residual.marginal
                    - user.part.get(i).map_or(0.0, |t| t * limit_push)
            })
            .collect();
        let gradient = block.transform(user, gradient);
        let alone = block.solve(user, &gradient);
        for (usage, step) in user.usage.iter().zip(&alone.y) {
            for (row, a) in usage {
                right[*row] += a * step;
            }
        }
        gradients.push(gradient);
        goals.push((goal, limit_push));
    }
    let price = newton.prices(&right);
    let mut used = vec![0.0; n_rows];
    let users: Vec<UserPoint> = (0..cluster.users.len())
        .map(|n| {
            let (user, at, block) = (&cluster.users[n], &point.users[n], &newton.blocks[n]);
            let costs: Vec<f64> =
                user.usage.iter().map(|usage| usage.iter().map(|(row, a)| a * price[*row]).sum()).collect();
            let costs = block.transform(user, costs);
            let right: Vec<f64> = gradients[n].iter().zip(&costs).map(|(g, c)| g - c).collect();
            let BlockStep { y, utility, limit_price, part } = block.solve(user, &right);
            for (usage, step) in user.usage.iter().zip(&y) {
                for (row, a) in usage {
                    used[*row] += a * step;
                }
            }
            let (goal, limit_push) = &goals[n];
            let limited = !user.part.is_empty();
            UserPoint {
                z: (0..y.len()).map(|i| (goal[i] - at.z[i] * y[i]) / at.y[i]).collect(),
                lambda: at.lambda * (residuals.users[n].marginal - objective.alpha * utility / at.utility),
                q: if limited { limit_push + limit_price } else { 0.0 },
                h: if limited { residuals.users[n].limit - part } else { 0.0 },
                utility,
                y,
            }
        })
        .collect();
    // If a row binds, its slack is computed from its price, since the difference would be only rounding noise.
    let slack = (0..n_rows).map(|row| match point.slack[row] < point.price[row] / typical_price {
        true => (row_goal[row] - point.slack[row] * price[row]) / point.price[row],
        false => residuals.rows[row] - used[row],
    });
    let slack: Vec<f64> = slack.collect();
    Direction { users, price: price.iter().copied().collect(), slack }
}
