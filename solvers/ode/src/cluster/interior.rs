//! The primal-dual method: Mehrotra's predictor and corrector, with the marginal utility
//! `lambda_n = w_n U_n^-a` as a variable of its own, related to `U_n` through logarithms, so that
//! large exponents do no harm.

use nalgebra::DVector;

use super::model::{Cluster, Scaled};
use super::newton::{BlockStep, Newton, dot};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Newton steps at most.
    pub max_iterations: usize,
    /// Complementarity and residuals, relative to `sum_n w_n U_n^(1-a)`, at which the point counts
    /// as solved; the method goes on below it as long as that helps.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_iterations: 500, tolerance: 1e-9 }
    }
}

/// Change of the logarithm of a marginal utility in one step, at most.
const MOST_CHANGE: f64 = 2.0;
/// Residual at which the next exponent may be tried.
const ROUGH: f64 = 1e-2;
/// Residual of rounding.
const LEAST_RESIDUAL: f64 = 1e-17;
/// Least part of `sum lambda U` that residuals are relative to.
const LEAST_PRICED: f64 = 1e-12;
/// A user expected to have all its tasks is worth at most this times what it pays: a larger weight
/// would change nothing but the digits that are lost.
const MOST_WORTH: f64 = 100.0;
/// Free part of the task limit of a user that has all its tasks.
const SATISFIED: f64 = 1e-6;
/// Part of a user's utility that a start spreads evenly over its placements.
const EVEN: f64 = 0.02;
/// Part of the way to the wall that a step goes.
const NOT_QUITE: f64 = 0.999;
/// Least cost of a unit of utility, in units of its marginal utility.
const LEAST_COST: f64 = 1e-3;
/// Steps shorter than this are replaced by steps towards the middle of the path.
const SHORT: f64 = 0.3;
/// Users start at least at `exp` of this, relative to the largest.
const LEAST_START: f64 = -80.0;

/// How the method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The tolerance was reached.
    Solved,
    /// It was not: too many steps, or steps that no longer help.
    Limit,
}

/// The point reached, with its prices.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterPoint {
    /// By user and placement: tasks, positive, however small.
    pub tasks: Vec<Vec<f64>>,
    /// By user and placement: what the placement lacks to be worth its price, `z_ni`, relative to
    /// `lambda_n v_ni`; 0 where the user may be, 1 where it must not.
    pub reduced: Vec<Vec<f64>>,
    /// By row: price of the whole row, in units of `w_n U_n^(1-a)`.
    pub row_prices: Vec<f64>,
    /// By row: free part of the row.
    pub row_slack: Vec<f64>,
    /// By user: price of one task of its limit.
    pub user_prices: Vec<f64>,
    /// By user: free part of its limit; infinite when there is none.
    pub user_slack: Vec<f64>,
    /// How the method ended.
    pub status: Status,
    /// Newton steps.
    pub iterations: usize,
    /// Complementarity and residuals, relative to `sum_n w_n U_n^(1-a)`.
    pub residual: f64,
}

/// A user's part of the point, in scaled numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct UserPoint {
    pub y: Vec<f64>,
    pub z: Vec<f64>,
    pub lambda: f64,
    /// `v . y`.
    pub utility: f64,
    /// Price and slack of the task limit.
    pub q: f64,
    pub h: f64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub users: Vec<UserPoint>,
    pub price: Vec<f64>,
    pub slack: Vec<f64>,
}

/// Maximises the sum of utilities of `cluster`.
///
/// An exponent far from 1 is reached through exponents between, each solved roughly: utilities
/// that differ by 100 differ by 10^20 in the marginal utility when `a = 10`, and a start must not
/// be wrong by that much.
#[must_use]
pub fn solve(cluster: &Cluster, settings: &Settings) -> ClusterPoint {
    let mut iterations = 0;
    let mut guide = Guide::of_equal_prices(cluster);
    for alpha in exponents(cluster.alpha) {
        let rough = run(&Objective::new(cluster, alpha, &guide), ROUGH, settings.max_iterations - iterations);
        iterations += rough.iterations;
        guide = Guide::of_point(cluster, &rough.point);
    }
    loop {
        let objective = Objective::new(cluster, cluster.alpha, &guide);
        let mut run = run(&objective, 0.0, settings.max_iterations - iterations);
        run.iterations += iterations;
        iterations = run.iterations;
        if objective.weights_do_not_matter(&run.point) || iterations >= settings.max_iterations {
            return finish(&objective, &run, settings.tolerance);
        }
        guide = Guide::of_point(cluster, &run.point);
    }
}

/// From 1 towards `alpha` by factors of 2, both ends left out.
fn exponents(alpha: f64) -> Vec<f64> {
    let factor = if alpha > 1.0 { 2.0 } else { 0.5 };
    let between = |a: f64| (a < alpha / 1.3 && alpha > 1.0) || (a > alpha * 1.3 && alpha < 1.0);
    std::iter::successors(Some(1.0), |a| Some(a * factor)).take_while(|a| between(*a)).collect()
}

/// What a start is made from.
struct Guide {
    /// `ln` of the cost of one unit of utility, by user.
    log_cost: Vec<f64>,
    /// How each user's utility is divided over its placements.
    parts: Vec<Vec<f64>>,
    /// Prices of the rows that these costs come from.
    price: Vec<f64>,
    /// Whether it is more than a guess.
    is_of_point: bool,
}

impl Guide {
    fn of_equal_prices(cluster: &Cluster) -> Self {
        let parts =
            cluster.users.iter().map(|user| vec![(user.worth.len() as f64).recip(); user.worth.len()]);
        Self {
            log_cost: vec![0.0; cluster.users.len()],
            parts: parts.collect(),
            price: vec![1.0; cluster.n_rows],
            is_of_point: false,
        }
    }

    fn of_point(cluster: &Cluster, point: &Point) -> Self {
        let least = LEAST_COST * point.price.iter().copied().fold(0.0, f64::max);
        let price: Vec<f64> = point.price.iter().map(|p| p.max(least)).collect();
        let cost = |user: &Scaled| {
            let costs = user.usage.iter().zip(&user.worth);
            let costs = costs.map(|(usage, v)| usage.iter().map(|(row, a)| a * price[*row]).sum::<f64>() / v);
            libm::log(costs.fold(f64::INFINITY, f64::min))
        };
        let parts = cluster.users.iter().zip(&point.users).map(|(user, at)| {
            let even = (user.worth.len() as f64).recip();
            let present = user.worth.iter().zip(&at.y).map(|(v, y)| v * y / at.utility);
            present.map(|part| (1.0 - EVEN) * part + EVEN * even).collect()
        });
        Self {
            log_cost: cluster.users.iter().map(cost).collect(),
            parts: parts.collect(),
            price,
            is_of_point: true,
        }
    }
}

/// The cluster with one exponent, and a start for it.
struct Objective<'a> {
    cluster: &'a Cluster,
    alpha: f64,
    start: Point,
    /// `ln sum_n w_n U_n^(1-a)` at the start: the unit of everything dual.
    log_total: f64,
    /// By user: `ln w_n`, less where the user is expected to have all its tasks whatever the weight.
    log_weight: Vec<f64>,
}

impl<'a> Objective<'a> {
    /// An interior start: utilities as the costs of the guide tell, `w_n U_n^-a` proportional to the
    /// cost, so much of the fullest row used that the marginal utility is twice that of all of it; prices high enough that no placement is worth more than it
    /// costs.
    fn new(cluster: &'a Cluster, alpha: f64, guide: &Guide) -> Self {
        let mut log_weight: Vec<f64> = cluster.users.iter().map(|user| user.log_weight).collect();
        let logs = || {
            let costs = cluster.users.iter().zip(&guide.log_cost);
            costs.map(|(user, cost)| (user.log_marginal(user.log_weight, alpha, 1.0) - cost) / alpha)
        };
        let most = logs().fold(f64::NEG_INFINITY, f64::max);
        let spread = logs().zip(&cluster.users).zip(&guide.parts).map(|((log, user), parts)| {
            let utility = libm::exp((log - most).max(LEAST_START));
            user.worth.iter().zip(parts).map(|(worth, part)| utility * part / worth).collect::<Vec<f64>>()
        });
        let mut spread: Vec<Vec<f64>> = spread.collect();
        let fullest = load(cluster, &spread).into_iter().fold(0.0, f64::max);
        let half = libm::pow(0.5, alpha.max(1.0).recip());
        for y in &mut spread {
            y.iter_mut().for_each(|y| *y *= half / fullest);
        }
        let slack: Vec<f64> = load(cluster, &spread).into_iter().map(|load| 1.0 - load).collect();
        let mut users: Vec<UserPoint> = Vec::with_capacity(cluster.users.len());
        for (user, y) in cluster.users.iter().zip(spread) {
            let utility = dot(&user.worth, &y);
            let part = dot(&user.part, &y);
            users.push(UserPoint { utility, h: 1.0 - part, y, ..UserPoint::default() });
        }
        // What a user without a limit pays for its last task; with one it is worth more to it.
        let log_scale = alpha * (most - libm::log(half / fullest));
        if guide.is_of_point {
            for (n, user) in cluster.users.iter().enumerate() {
                if let Some(part) = user.part_per_worth {
                    let most = guide.log_cost[n] + log_scale + libm::log(MOST_WORTH);
                    let excess = user.log_marginal(user.log_weight, alpha, part.recip()) - most;
                    log_weight[n] -= excess.max(0.0);
                }
            }
        }
        let worth = cluster.users.iter().zip(&users).zip(&guide.log_cost).zip(&log_weight);
        let log_total = libm::log(
            worth
                .map(|(((user, at), cost), weight)| {
                    let paid = (cost + log_scale).min(user.log_marginal(*weight, alpha, at.utility));
                    libm::exp(paid - log_scale) * at.utility
                })
                .sum::<f64>(),
        ) + log_scale;
        let scale = libm::exp(log_scale - log_total);
        let price: Vec<f64> = guide.price.iter().map(|p| 2.0 * scale * p).collect();
        let mu = dot(&price, &slack) / cluster.n_rows as f64;
        for (n, (user, at)) in cluster.users.iter().zip(&mut users).enumerate() {
            let paid = scale * libm::exp(guide.log_cost[n]);
            if !user.part.is_empty() {
                let dearest = user.worth.iter().zip(&user.part).map(|(v, t)| v / t).fold(0.0, f64::max);
                let price = |utility: f64| {
                    let marginal = libm::exp(user.log_marginal(log_weight[n], alpha, utility) - log_total);
                    ((marginal - paid).max(0.0) + 0.1 * paid) * dearest
                };
                at.q = price(at.utility);
                let least_slack = (mu / price(at.utility / (1.0 - at.h).max(1.0))).min(0.5);
                if at.h < least_slack {
                    let shrink = (1.0 - least_slack) / (1.0 - at.h);
                    at.y.iter_mut().for_each(|y| *y *= shrink);
                    at.utility *= shrink;
                    at.h = least_slack;
                    at.q = price(at.utility);
                }
            }
            at.lambda = libm::exp(user.log_marginal(log_weight[n], alpha, at.utility) - log_total);
            let cost = |i: usize| {
                let rows: f64 = user.usage[i].iter().map(|(row, a)| a * price[*row]).sum();
                rows + at.q * user.part.get(i).copied().unwrap_or_default()
            };
            at.z = (0..at.y.len()).map(|i| cost(i) - at.lambda * user.worth[i]).collect();
        }
        let placed: Vec<Vec<f64>> = users.iter().map(|at| at.y.clone()).collect();
        let slack = load(cluster, &placed).into_iter().map(|load| 1.0 - load).collect();
        Self { cluster, alpha, start: Point { users, price, slack }, log_total, log_weight }
    }
}

impl Objective<'_> {
    /// Whether every user whose weight was reduced has all its tasks, so that the reduction has
    /// changed nothing.
    fn weights_do_not_matter(&self, point: &Point) -> bool {
        let users = self.cluster.users.iter().zip(&point.users).zip(&self.log_weight);
        users.into_iter().all(|((user, at), weight)| *weight >= user.log_weight || at.h < SATISFIED)
    }
}

/// What a run of the method came to.
struct Run {
    point: Point,
    residual: f64,
    iterations: usize,
}

/// Newton steps until `tolerance`, or until they no longer help.
fn run(objective: &Objective<'_>, tolerance: f64, max_iterations: usize) -> Run {
    let mut point = objective.start.clone();
    let mut best = Run { point: point.clone(), residual: f64::INFINITY, iterations: 0 };
    let mut iterations = 0;
    let mut without_progress = 0;
    while !point.users.is_empty() {
        let residuals = Residuals::new(objective, &point);
        let size = residuals.size(&point);
        without_progress = if size < 0.5 * best.residual { 0 } else { without_progress + 1 };
        if size < best.residual {
            best = Run { point: point.clone(), residual: size, iterations };
        }
        let stuck = without_progress > if best.residual < 1e-9 { 5 } else { 100 };
        if stuck || best.residual <= tolerance.max(LEAST_RESIDUAL) || iterations >= max_iterations {
            break;
        }
        let Some(newton) = Newton::new(objective.cluster, &point, objective.alpha) else { break };
        iterations += 1;
        let affine = direction(objective, &point, &newton, &residuals, 0.0, None);
        let pairs = count(objective.cluster);
        let mu = complementarity(&point) / pairs;
        let reached =
            complementarity(&moved(objective.cluster, &point, &affine, affine.longest(&point))) / pairs;
        let target = (reached / mu).powi(3).clamp(1e-6, 1.0) * mu;
        // Complementarity must not run ahead of the equations.
        let target = target.max((0.3 * residuals.infeasibility(&point) / pairs).min(3.0 * mu));
        let mut step = direction(objective, &point, &newton, &residuals, target, Some(&affine));
        if step.longest(&point) < SHORT {
            // The point is too close to a wall: back towards the middle of the path.
            let central = direction(objective, &point, &newton, &residuals, mu, None);
            if central.longest(&point) > step.longest(&point) {
                step = central;
            }
        }
        point = moved(objective.cluster, &point, &step, NOT_QUITE * step.longest(&point));
    }
    Run { iterations, ..best }
}

/// `A y` by row.
fn load(cluster: &Cluster, y: &[Vec<f64>]) -> Vec<f64> {
    let mut load = vec![0.0; cluster.n_rows];
    for (user, y) in cluster.users.iter().zip(y) {
        for (usage, y) in user.usage.iter().zip(y) {
            for (row, a) in usage {
                load[*row] += a * y;
            }
        }
    }
    load
}

/// Complementary pairs.
fn count(cluster: &Cluster) -> f64 {
    let pairs = |user: &Scaled| user.worth.len() + usize::from(!user.part.is_empty());
    (cluster.n_rows + cluster.users.iter().map(pairs).sum::<usize>()) as f64
}

fn complementarity(point: &Point) -> f64 {
    let users = point.users.iter().map(|at| dot(&at.y, &at.z) + at.q * at.h);
    dot(&point.price, &point.slack) + users.sum::<f64>()
}

/// How far a point is from the equations.
struct Residuals {
    /// `1 - A y - s` by row.
    rows: Vec<f64>,
    users: Vec<UserResidual>,
}

struct UserResidual {
    /// `lambda v - A'p - t q + z` by placement.
    dual: Vec<f64>,
    /// `ln w - a ln U - ln lambda`.
    marginal: f64,
    /// `1 - t.y - h`.
    limit: f64,
}

impl Residuals {
    fn new(objective: &Objective<'_>, point: &Point) -> Self {
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

    /// Everything that is not 0 yet, relative to the part of `sum lambda U` that rows are paid for.
    fn size(&self, point: &Point) -> f64 {
        let worth: f64 = point.users.iter().map(|at| at.lambda * at.utility).sum();
        let total = point.price.iter().sum::<f64>().clamp(LEAST_PRICED * worth, worth);
        (complementarity(point) + self.infeasibility(point)) / total
    }

    fn infeasibility(&self, point: &Point) -> f64 {
        let rows: f64 = self.rows.iter().zip(&point.price).map(|(r, p)| r.abs() * p).sum();
        let users = self.users.iter().zip(&point.users).map(|(r, at)| {
            let dual: f64 = r.dual.iter().zip(&at.y).map(|(r, y)| r.abs() * y).sum();
            dual + r.marginal.abs() * at.lambda * at.utility + r.limit.abs() * at.q
        });
        rows + users.sum::<f64>()
    }
}

/// A Newton step.
struct Direction {
    users: Vec<UserPoint>,
    price: Vec<f64>,
    slack: Vec<f64>,
}

impl Direction {
    /// The longest step that keeps everything non-negative; may exceed 1.
    fn longest(&self, point: &Point) -> f64 {
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
            // Beyond this the marginal utility is another than its tangent says.
            limit(MOST_CHANGE * at.lambda, d.lambda);
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

fn moved(cluster: &Cluster, point: &Point, by: &Direction, length: f64) -> Point {
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

/// The Newton direction towards complementarity `target` (0 for the predictor), with the
/// predictor's second-order terms taken off for the corrector.
fn direction(
    objective: &Objective<'_>,
    point: &Point,
    newton: &Newton,
    residuals: &Residuals,
    target: f64,
    predictor: Option<&Direction>,
) -> Direction {
    let cluster = objective.cluster;
    let second = |f: &dyn Fn(&Direction) -> f64| predictor.map_or(0.0, f);
    let n_rows = cluster.n_rows;
    let typical_price = point.price.iter().copied().fold(0.0, f64::max);
    let mut right = DVector::zeros(n_rows);
    let row_goal: Vec<f64> = (0..n_rows)
        .map(|row| target - point.price[row] * point.slack[row] - second(&|d| d.price[row] * d.slack[row]))
        .collect();
    for row in 0..n_rows {
        right[row] = row_goal[row] / point.price[row] - residuals.rows[row];
    }
    // By user: the gradient in the block's coordinates, and what it alone would move.
    let mut gradients = Vec::with_capacity(cluster.users.len());
    let mut goals = Vec::with_capacity(cluster.users.len());
    for (n, (user, at)) in cluster.users.iter().zip(&point.users).enumerate() {
        let (block, residual) = (&newton.blocks[n], &residuals.users[n]);
        let limit_goal = target - at.q * at.h - second(&|d| d.users[n].q * d.users[n].h);
        let goal: Vec<f64> = (0..at.y.len())
            .map(|i| target - at.y[i] * at.z[i] - second(&|d| d.users[n].y[i] * d.users[n].z[i]))
            .collect();
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
    // Where the row binds, the slack is told by its price: as a difference it would be noise.
    let slack = (0..n_rows).map(|row| match point.slack[row] < point.price[row] / typical_price {
        true => (row_goal[row] - point.slack[row] * price[row]) / point.price[row],
        false => residuals.rows[row] - used[row],
    });
    let slack: Vec<f64> = slack.collect();
    Direction { users, price: price.iter().copied().collect(), slack }
}

fn finish(objective: &Objective<'_>, run: &Run, tolerance: f64) -> ClusterPoint {
    let total = libm::exp(objective.log_total);
    let users = || objective.cluster.users.iter().zip(&run.point.users);
    let scaled = |values: &[f64], by: &[f64]| values.iter().zip(by).map(|(v, b)| v * b).collect::<Vec<f64>>();
    let reduced = |(user, at): (&Scaled, &UserPoint)| {
        at.z.iter().zip(&user.worth).map(|(z, v)| (z / (at.lambda * v)).min(1.0)).collect()
    };
    let nobody = objective.cluster.users.is_empty();
    let residual = if nobody { 0.0 } else { run.residual };
    let limit_price = |(n, (user, at)): (usize, (&Scaled, &UserPoint))| {
        let Some(part) = user.part.first() else { return 0.0 };
        let per_task = part / user.gamma[0];
        // What the weight that was taken off is worth.
        let more = user.part_per_worth.map_or(0.0, |part| {
            let marginal = |weight: f64| libm::exp(user.log_marginal(weight, objective.alpha, at.utility));
            (marginal(user.log_weight) - marginal(objective.log_weight[n])) / part
        });
        (at.q * total + more) * per_task
    };
    ClusterPoint {
        tasks: users().map(|(user, at)| scaled(&at.y, &user.gamma)).collect(),
        reduced: users().map(reduced).collect(),
        row_prices: run.point.price.iter().map(|p| if nobody { 0.0 } else { p * total }).collect(),
        row_slack: run.point.slack.clone(),
        user_prices: users().enumerate().map(limit_price).collect(),
        user_slack: users()
            .map(|(user, at)| if user.part.is_empty() { f64::INFINITY } else { at.h })
            .collect(),
        status: if residual <= tolerance { Status::Solved } else { Status::Limit },
        iterations: run.iterations,
        residual,
    }
}
