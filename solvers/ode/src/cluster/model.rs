//! The problem in floating point, scaled so that every number the method sees is near 1.

use thiserror::Error;

use super::newton::PARTS;
use crate::settings::INTERIOR;

/// One class on which a user may run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassUse {
    /// What one task adds to the user's utility `U_n`; 1 where tasks are counted.
    pub worth: f64,
    /// `(row, part of the row's capacity that one task uses)`, positive, rows ascending.
    pub usage: Vec<(usize, f64)>,
}

/// A user and where it may run.
#[derive(Debug, Clone, PartialEq)]
pub struct UserModel {
    /// `w_n > 0`.
    pub weight: f64,
    /// `T_n > 0`; infinite when unlimited.
    pub limit: f64,
    /// At least one.
    pub placements: Vec<ClassUse>,
}

/// Why there is no such cluster.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A number of a user is not what it must be.
    #[error("user {user}: {what}")]
    UserModel {
        /// Index of the user.
        user: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// `a` must be positive and finite.
    #[error("alpha must be a positive number")]
    Alpha,
    /// The dense matrix of the rows would not fit.
    #[error("{rows} capacity rows are more than the {most} that the dense matrix of the method allows")]
    TooManyRows {
        /// Rows of the problem.
        rows: usize,
        /// Rows that are possible.
        most: usize,
    },
}

/// A cluster, scaled: placements in units of what fits at most, utilities in units of the user's
/// best placement.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub(super) n_rows: usize,
    pub(super) alpha: f64,
    pub(super) users: Vec<Scaled>,
}

impl Cluster {
    /// Charges one Newton step before it is taken: all placements with the pairs of their rows, the sums over users of
    /// all pairs of rows, the factors of the rows' matrix, and the parts in which it is summed.
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

/// A user in scaled numbers.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    /// `ln w`.
    pub log_weight: f64,
    /// `ln V`, `V` the utility of one scaled unit on the best placement.
    pub log_unit: f64,
    /// By placement: tasks in one scaled unit, at most what fits on the class.
    pub gamma: Vec<f64>,
    /// By placement: scaled utility of one scaled unit, at most 1.
    pub worth: Vec<f64>,
    /// By placement: part of the task limit in one scaled unit; empty when there is no limit.
    pub part: Vec<f64>,
    /// Whether `part` is a multiple of `worth`, and which.
    pub part_per_worth: Option<f64>,
    /// By placement: `(row, part of the row)` of one scaled unit, at most 1.
    pub usage: Vec<Vec<(usize, f64)>>,
}

impl Cluster {
    /// The cluster of `users` with `n_rows` capacity rows, for the exponent `alpha`.
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
    /// `ln` of the marginal utility `w V^(1-a) U^-a` of the scaled utility `U`, for `ln w`.
    pub fn log_marginal(&self, log_weight: f64, alpha: f64, utility: f64) -> f64 {
        log_weight + (1.0 - alpha) * self.log_unit - alpha * libm::log(utility)
    }

    fn new(n_rows: usize, user: &UserModel) -> Result<Self, &'static str> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(user.weight) {
            return Err("the weight is not a positive number");
        }
        if user.limit.is_nan() || user.limit <= 0.0 {
            return Err("the task limit is not positive");
        }
        if user.placements.is_empty() {
            return Err("there is no class to run on");
        }
        let (mut gamma, mut worth, mut usage) = (Vec::new(), Vec::new(), Vec::new());
        for placement in &user.placements {
            let in_order = placement.usage.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !in_order || placement.usage.last().is_none_or(|(row, _)| *row >= n_rows) {
                return Err("the rows of a placement are none, unknown or out of order");
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
