//! The problem in floating point, scaled so that all numbers of the method are near 1.

use thiserror::Error;

use super::newton::PARTS;
use crate::settings::INTERIOR;

/// A server class on which a user may run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassUse {
    /// The utility that one task adds to `U_n`. It is 1 if tasks are counted.
    pub worth: f64,
    /// `(row, fraction of the row's capacity that one task uses)`. Fractions are positive, and rows are in ascending
    /// order.
    pub usage: Vec<(usize, f64)>,
}

/// A user and the classes on which it may run.
#[derive(Debug, Clone, PartialEq)]
pub struct UserModel {
    /// The weight `w_n > 0`.
    pub weight: f64,
    /// The task limit `T_n > 0`. Infinite for no limit.
    pub limit: f64,
    /// The possible placements. There is at least one.
    pub placements: Vec<ClassUse>,
}

/// The reason why the numbers do not define a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A number of a user is invalid.
    #[error("user {user}: {what}")]
    UserModel {
        /// The index of the user.
        user: usize,
        /// A description of the error.
        what: &'static str,
    },
    /// The exponent `a` is not positive and finite.
    #[error("alpha must be a positive number")]
    Alpha,
    /// The dense matrix of the rows would not fit into memory.
    #[error("{rows} capacity rows are more than the {most} that the dense matrix of the method allows")]
    TooManyRows {
        /// The number of rows of the problem.
        rows: usize,
        /// The largest possible number of rows.
        most: usize,
    },
}

/// A scaled cluster. The unit of a placement is the most tasks that fit, and the unit of utility is the utility of the
/// user's best placement.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub(super) n_rows: usize,
    pub(super) alpha: f64,
    pub(super) users: Vec<Scaled>,
}

impl Cluster {
    /// Charges one Newton step before it is taken.
    ///
    /// The cost includes all placements with the pairs of their rows, the sums over users for all
    /// pairs of rows, factoring the matrix of the rows, and the partial sums of that matrix.
    pub(super) fn charge_step(&self) {
        const WHAT: &str = "a path to an optimum";
        let usage = self.users.iter().flat_map(|user| &user.usage);
        let placements: u64 = usage.map(|usage| 50 + (usage.len() * usage.len()) as u64).sum();
        let (users, rows) = (self.users.len() as u64, self.n_rows as u64);
        let matrix = rows.saturating_mul(rows);
        evenhand_budget::room(matrix.saturating_mul(8 * (PARTS as u64 + 2)), WHAT);
        evenhand_budget::charge(placements + matrix.saturating_mul(users / 10 + rows / 12), WHAT);
    }
}

/// A user in scaled units.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    /// The logarithm `ln w` of the weight.
    pub log_weight: f64,
    /// The logarithm `ln V`, where `V` is the utility of one scaled unit on the best placement.
    pub log_unit: f64,
    /// For each placement, the number of tasks in one scaled unit: as many as fit on the class.
    pub gamma: Vec<f64>,
    /// For each placement, the scaled utility of one scaled unit, at most 1.
    pub worth: Vec<f64>,
    /// For each placement, the fraction of the task limit in one scaled unit. Empty without a limit.
    pub part: Vec<f64>,
    /// The factor between `part` and `worth`, if `part` is a multiple of `worth`.
    pub part_per_worth: Option<f64>,
    /// For each placement, `(row, fraction of the row)` of one scaled unit, at most 1.
    pub usage: Vec<Vec<(usize, f64)>>,
}

impl Cluster {
    /// Scales the cluster of `users` with `n_rows` capacity rows, for the exponent `alpha`.
    ///
    /// # Errors
    /// [`ClusterError`] when a number is not positive and finite (limits may be infinite), a
    /// placement uses no row, or there are too many rows.
    pub fn new(n_rows: usize, users: &[UserModel], alpha: f64) -> Result<Self, ClusterError> {
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(ClusterError::Alpha);
        }
        if n_rows > INTERIOR.most_rows {
            return Err(ClusterError::TooManyRows { rows: n_rows, most: INTERIOR.most_rows });
        }
        let users = users.iter().enumerate().map(|(n, user)| {
            Scaled::new(n_rows, user).map_err(|what| ClusterError::UserModel { user: n, what })
        });
        Ok(Self { n_rows, alpha, users: users.collect::<Result<_, _>>()? })
    }
}

impl Scaled {
    /// Returns `ln` of the marginal utility `w V^(1-a) U^-a` of the scaled utility `U`, for a given
    /// `ln w`.
    pub fn log_marginal(&self, log_weight: f64, alpha: f64, utility: f64) -> f64 {
        log_weight + (1.0 - alpha) * self.log_unit - alpha * libm::log(utility)
    }

    /// Validates and scales a user.
    fn new(n_rows: usize, user: &UserModel) -> Result<Self, &'static str> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(user.weight) {
            return Err("the weight is not a positive number");
        }
        if user.limit.is_nan() || user.limit <= 0.0 {
            return Err("the task limit is not positive");
        }
        if user.placements.is_empty() {
            return Err("there is no class on which it can run");
        }
        let (mut gamma, mut worth, mut usage) = (Vec::new(), Vec::new(), Vec::new());
        for placement in &user.placements {
            let in_order = placement.usage.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !in_order || placement.usage.last().is_none_or(|(row, _)| *row >= n_rows) {
                return Err("the rows of a placement are missing, unknown or not in ascending order");
            }
            let most = placement.usage.iter().map(|(_, part)| *part).fold(0.0, f64::max);
            let fits = most.recip();
            if !placement.usage.iter().all(|(_, part)| positive(*part)) || !positive(fits) {
                return Err("a task uses no positive part of a row");
            }
            if !positive(placement.worth * fits) {
                return Err("the worth of a task is not a positive number");
            }
            gamma.push(fits);
            worth.push(placement.worth * fits);
            usage.push(placement.usage.iter().map(|(row, part)| (*row, part * fits)).collect());
        }
        let unit = worth.iter().copied().fold(0.0, f64::max);
        for worth in &mut worth {
            *worth /= unit;
        }
        let part: Vec<f64> = match user.limit.is_finite() {
            true => gamma.iter().map(|fits| fits / user.limit).collect(),
            false => Vec::new(),
        };
        let first = user.placements[0].worth;
        let same = user.placements.iter().all(|p| p.worth == first);
        let part_per_worth = (same && !part.is_empty()).then(|| unit / first / user.limit);
        let (log_weight, log_unit) = (libm::log(user.weight), libm::log(unit));
        Ok(Self { log_weight, log_unit, gamma, worth, part, part_per_worth, usage })
    }
}
