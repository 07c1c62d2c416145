//! The problem: one pool of resources, each of capacity 1, and the requests of its users.

use thiserror::Error;

/// The largest magnitude of a request, of a finite cap, and of an entitlement relative to the sum of all entitlements.
///
/// Such numbers must be 0 or lie between [`SMALLEST_MAGNITUDE`] and this number. Squares of products of larger numbers
/// leave the range of a double.
pub const LARGEST_MAGNITUDE: f64 = 1e60;
/// The smallest magnitude, except 0, of the numbers that [`LARGEST_MAGNITUDE`] lists.
pub const SMALLEST_MAGNITUDE: f64 = 1e-60;

/// Users that share one pool of resources, each of capacity 1.
///
/// Users are indexed by `0..n_users`, and resources by `0..n_resources`. A pool is valid once it is
/// built: every number is finite and non-negative (a cap may be infinite), and no allocation is
/// unbounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    n_users: usize,
    n_resources: usize,
    requests: Vec<f64>,
    entitlements: Vec<f64>,
    caps: Vec<f64>,
}

/// The reason why the given numbers do not define a pool.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// There is no user.
    #[error("a pool needs at least one user")]
    NoUsers,
    /// A vector has a length that does not match the number of users and resources.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Length {
        /// The name of the vector.
        what: &'static str,
        /// The expected number of entries of the vector.
        expected: usize,
        /// The number of entries of the given vector.
        found: usize,
    },
    /// A request is negative, not finite, or out of range.
    #[error("user {user}, resource {resource}: the request {value} is not 0 or in the range of this solver")]
    Request {
        /// The index of the user.
        user: usize,
        /// The index of the resource.
        resource: usize,
        /// The given number.
        value: f64,
    },
    /// An entitlement is not positive (or is negative, if zero is allowed), not finite, or out of range relative to the
    /// sum of all entitlements.
    #[error("user {user}: the entitlement {value} is not positive or not in the range of this solver")]
    Entitlement {
        /// The index of the user.
        user: usize,
        /// The given number.
        value: f64,
    },
    /// Every entitlement is zero.
    #[error("no user has a positive entitlement")]
    NoEntitlement,
    /// A cap is not positive, NaN, or finite and out of range.
    #[error("user {user}: the cap {value} is not positive or not in the range of this solver")]
    Cap {
        /// The index of the user.
        user: usize,
        /// The given number.
        value: f64,
    },
    /// A user requests nothing and has no cap, so its allocation would be unbounded.
    #[error("user {user} requests nothing and has no cap")]
    Unbounded {
        /// The index of the user.
        user: usize,
    },
    /// A barrier weight is not positive or out of range.
    #[error("barrier weight {index}: {value} is not positive or not in the range of this solver")]
    BarrierWeight {
        /// The index of the resource, or the number of resources for the weight of the caps.
        index: usize,
        /// The given number.
        value: f64,
    },
}

impl Pool {
    /// Builds a pool.
    ///
    /// `requests` is a matrix `users x resources`, row by row, in units of the resource's capacity. `entitlements` has
    /// one positive number per user, in any unit. `caps` has one number per user: the largest fraction of its request
    /// that the user can use. It is normally 1, and [`f64::INFINITY`] for no cap.
    ///
    /// # Errors
    /// [`PoolError`] when the lengths do not match, a number is negative, NaN, or outside the range of
    /// [`LARGEST_MAGNITUDE`], or a user has neither requests nor a cap.
    pub fn new(
        n_resources: usize,
        requests: Vec<f64>,
        entitlements: Vec<f64>,
        caps: Vec<f64>,
    ) -> Result<Self, PoolError> {
        let pool = Self::with_zero_entitlements(n_resources, requests, entitlements, caps)?;
        match pool.entitlements.iter().position(|&e| e == 0.0) {
            Some(user) => Err(PoolError::Entitlement { user, value: 0.0 }),
            None => Ok(pool),
        }
    }

    /// Builds a pool in which an entitlement may be 0, as the literal trajectory of the paper allows.
    ///
    /// A user with entitlement 0 gets nothing, so the allocation need not be Pareto optimal. The arguments are those of
    /// [`Pool::new`].
    ///
    /// # Errors
    /// The same errors as [`Pool::new`], and an error when every entitlement is 0.
    pub fn with_zero_entitlements(
        n_resources: usize,
        requests: Vec<f64>,
        entitlements: Vec<f64>,
        caps: Vec<f64>,
    ) -> Result<Self, PoolError> {
        let n_users = entitlements.len();
        if n_users == 0 {
            return Err(PoolError::NoUsers);
        }
        check_length("requests", n_users.saturating_mul(n_resources), requests.len())?;
        check_length("caps", n_users, caps.len())?;
        let pool = Self { n_users, n_resources, requests, entitlements, caps };
        pool.check_entitlements()?;
        for user in 0..n_users {
            pool.check_user(user)?;
        }
        Ok(pool)
    }

    fn check_entitlements(&self) -> Result<(), PoolError> {
        for (user, &value) in self.entitlements.iter().enumerate() {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(PoolError::Entitlement { user, value });
            }
        }
        let total = self.total_entitlement();
        if total == 0.0 {
            return Err(PoolError::NoEntitlement);
        }
        // If the total is infinite, every ratio is 0 and is rejected here.
        for (user, &value) in self.entitlements.iter().enumerate() {
            let share = value / total;
            if !in_range(share) || (value > 0.0 && share == 0.0) {
                return Err(PoolError::Entitlement { user, value });
            }
        }
        Ok(())
    }

    fn check_user(&self, user: usize) -> Result<(), PoolError> {
        let row = self.request_row(user);
        if let Some(resource) = row.iter().position(|&r| !in_range(r)) {
            return Err(PoolError::Request { user, resource, value: row[resource] });
        }
        let cap = self.caps[user];
        if !(cap > 0.0 && (cap == f64::INFINITY || in_range(cap))) {
            return Err(PoolError::Cap { user, value: cap });
        }
        if cap == f64::INFINITY && row.iter().all(|&r| r == 0.0) {
            return Err(PoolError::Unbounded { user });
        }
        Ok(())
    }

    /// Returns the number of users.
    #[must_use]
    pub fn n_users(&self) -> usize {
        self.n_users
    }

    /// Returns the number of resources.
    #[must_use]
    pub fn n_resources(&self) -> usize {
        self.n_resources
    }

    /// Returns the requests, `users x resources`, row by row, in units of the resource's capacity.
    #[must_use]
    pub fn requests(&self) -> &[f64] {
        &self.requests
    }

    /// Returns the requests of `user` for every resource.
    ///
    /// # Panics
    /// If there is no such user.
    #[must_use]
    pub fn request_row(&self, user: usize) -> &[f64] {
        &self.requests[user * self.n_resources..(user + 1) * self.n_resources]
    }

    /// Returns the entitlements, one per user, in the unit in which they were given.
    #[must_use]
    pub fn entitlements(&self) -> &[f64] {
        &self.entitlements
    }

    /// Returns the cap of each user: the largest fraction of its request that the user can use. Infinite for no cap.
    #[must_use]
    pub fn caps(&self) -> &[f64] {
        &self.caps
    }

    /// Returns the sum of all entitlements.
    #[must_use]
    pub fn total_entitlement(&self) -> f64 {
        self.entitlements.iter().sum()
    }
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), PoolError> {
    if expected == found { Ok(()) } else { Err(PoolError::Length { what, expected, found }) }
}

/// Returns true if a number is 0 or of a size with which the solvers can calculate.
pub(crate) fn in_range(value: f64) -> bool {
    value == 0.0 || (value.is_finite() && (SMALLEST_MAGNITUDE..=LARGEST_MAGNITUDE).contains(&value))
}
