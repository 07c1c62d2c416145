//! The distance of an answer from the optimum. All programs are measured in the same way, with compensated
//! sums, so that the rounding errors of the measurement itself are negligible.

use evenhand_ode::pool::Pool;

/// The violations of the optimality conditions of `max sum_i e_i log x_i`, for entitlements with the sum 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// `max_j (usage_j - 1)+` and `max_i (x_i / cap_i - 1)+`.
    pub primal: f64,
    /// `max_j p_j |1 - usage_j|`, and `max_j (-p_j)+`.
    pub complementarity: f64,
    /// `max_i |x_i (pi_i + q_i) / e_i - 1|` with `pi_i = sum_j p_j r_ij`. The price `q_i = (e_i / cap_i -
    /// pi_i)+` on the cap is the price that fits best.
    pub stationarity: f64,
}

impl Residual {
    /// Returns the largest violation.
    #[must_use]
    pub fn worst(&self) -> f64 {
        self.primal.max(self.complementarity).max(self.stationarity)
    }
}

/// Returns the larger number. Returns infinity if `b` is not a number.
fn greater(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// Returns the violations of the allocation `x` with the prices `prices`.
#[must_use]
pub fn residual(pool: &Pool, x: &[f64], prices: &[f64]) -> Residual {
    let total = pool.total_entitlement();
    let usage = usage(pool, x);
    let mut found = Residual { primal: 0.0, complementarity: 0.0, stationarity: 0.0 };
    for (usage, price) in usage.iter().zip(prices) {
        let slack = 1.0 - usage.value();
        found.primal = greater(found.primal, -slack);
        found.complementarity = greater(found.complementarity, (price * slack).abs().max(-price));
    }
    for (user, &x) in x.iter().enumerate() {
        let (cap, e) = (pool.caps()[user], pool.entitlements()[user] / total);
        let mut paid = Sum::default();
        for (&request, &price) in pool.request_row(user).iter().zip(prices) {
            paid.add_product(request, price);
        }
        let q = (e / cap - paid.value()).max(0.0);
        found.primal = greater(found.primal, x / cap - 1.0);
        found.stationarity = greater(found.stationarity, (x * (paid.value() + q) / e - 1.0).abs());
    }
    found
}

/// Returns the distance of `x` from the point of the trajectory at `c`. It is the largest value of `|x_i
/// (sum_j r_ij / s_j + 1 / (cap_i - x_i)) / (c e_i) - 1|`, and infinite outside of the domain.
#[must_use]
pub fn off_trajectory(pool: &Pool, x: &[f64], c: f64) -> f64 {
    let total = pool.total_entitlement();
    let slacks: Vec<f64> = usage(pool, x).iter().map(|usage| 1.0 - usage.value()).collect();
    let mut worst = 0.0_f64;
    for (user, &x) in x.iter().enumerate() {
        let distance = pool.caps()[user] - x;
        if distance.is_nan() || distance <= 0.0 || slacks.iter().any(|&slack| slack.is_nan() || slack <= 0.0)
        {
            return f64::INFINITY;
        }
        let pull: f64 = pool.request_row(user).iter().zip(&slacks).map(|(r, s)| r / s).sum();
        let share = pool.entitlements()[user] / total;
        worst = greater(worst, (x * (pull + 1.0 / distance) / (c * share) - 1.0).abs());
    }
    worst
}

fn usage(pool: &Pool, x: &[f64]) -> Vec<Sum> {
    let mut usage = vec![Sum::default(); pool.n_resources()];
    for (user, &x) in x.iter().enumerate() {
        for (sum, &request) in usage.iter_mut().zip(pool.request_row(user)) {
            sum.add_product(x, request);
        }
    }
    usage
}

/// A sum of products with the accuracy of twice as many digits (Ogita, Rump, Oishi: "Accurate Sum and Dot
/// Product", algorithm 5.3).
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let lost_in_product = a.mul_add(b, -product);
        let sum = self.high + product;
        let part = sum - self.high;
        let lost_in_sum = (self.high - (sum - part)) + (product - part);
        self.high = sum;
        self.low += lost_in_product + lost_in_sum;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_separate_a_known_optimum_from_other_points() {
        // For one resource and the entitlements 3 and 1, the shares are 3/4 and 1/4, and the price is 1.
        let pool = Pool::new(1, vec![1.0, 0.5], vec![3.0, 1.0], vec![1.0, 1.0]).unwrap();
        assert_eq!(residual(&pool, &[0.75, 0.5], &[1.0]).worst(), 0.0);
        let off = residual(&pool, &[0.75, 0.75], &[1.0]);
        assert_eq!((off.primal, off.complementarity, off.stationarity), (0.125, 0.125, 0.5));
        assert_eq!(residual(&pool, &[0.75, 0.5], &[0.5]).stationarity, 0.5);
        assert_eq!(residual(&pool, &[f64::NAN, 0.5], &[1.0]).worst(), f64::INFINITY);
    }

    #[test]
    fn compensated_sums_keep_digits_that_doubles_lose() {
        let mut sum = Sum::default();
        for (a, b) in [(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0), (1.0 / 3.0, 3.0), (-1.0, 1.0)] {
            sum.add_product(a, b);
        }
        assert_eq!(sum.value(), 1.0 + (1.0f64 / 3.0).mul_add(3.0, -1.0));
    }

    #[test]
    fn the_trajectory_of_one_user_has_residual_zero() {
        // The equation `x (1 / (1 - x) + 1 / (1 - x)) = c` has the solution `x = 1/2` for `c = 2`.
        let pool = Pool::new(1, vec![1.0], vec![1.0], vec![1.0]).unwrap();
        assert_eq!(off_trajectory(&pool, &[0.5], 2.0), 0.0);
        assert_eq!(off_trajectory(&pool, &[0.5], 1.0), 1.0);
        assert_eq!(off_trajectory(&pool, &[1.0], 1.0), f64::INFINITY);
    }
}
