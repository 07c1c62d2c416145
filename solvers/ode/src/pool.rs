//! The problem: one pool of resources, each of capacity 1, and what users ask of it.

use thiserror::Error;

/// Requests, finite caps and entitlements (relative to their sum) must be zero or lie between
/// [`SMALLEST_MAGNITUDE`] and this number: beyond, squares of their products leave the range
/// of a double.
pub const LARGEST_MAGNITUDE: f64 = 1e60;
/// See [`LARGEST_MAGNITUDE`].
pub const SMALLEST_MAGNITUDE: f64 = 1e-60;

/// Users who share one pool of resources, each of capacity 1.
///
/// Users are indexed by `0..n_users`, resources by `0..n_resources`. Valid once built: every
/// number is finite and non-negative (a cap may be infinite), and no allocation is unbounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    n_users: usize,
    n_resources: usize,
    requests: Vec<f64>,
    entitlements: Vec<f64>,
    caps: Vec<f64>,
}

/// Why the numbers given are no pool.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// There is no user to share.
    #[error("a pool needs at least one user")]
    NoUsers,
    /// A vector of another length than the users and resources ask for.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Length {
        /// Which vector.
        what: &'static str,
        /// Length that fits.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// A request that is negative, not finite, or out of range.
    #[error("user {user}, resource {resource}: the request {value} is not 0 or in the range of this solver")]
    Request {
        /// Index of the user.
        user: usize,
        /// Index of the resource.
        resource: usize,
        /// The number given.
        value: f64,
    },
    /// An entitlement that is not positive (or, where zero is allowed, negative), not finite, or
    /// out of range relative to the sum of all.
    #[error("user {user}: the entitlement {value} is not positive or not in the range of this solver")]
    Entitlement {
        /// Index of the user.
        user: usize,
        /// The number given.
        value: f64,
    },
    /// Every entitlement is zero.
    #[error("no user has a positive entitlement")]
    NoEntitlement,
    /// A cap that is not positive, NaN, or finite and out of range.
    #[error("user {user}: the cap {value} is not positive or not in the range of this solver")]
    Cap {
        /// Index of the user.
        user: usize,
        /// The number given.
        value: f64,
    },
    /// A user that requests nothing and has no cap could be given infinitely much.
    #[error("user {user} requests nothing and has no cap")]
    Unbounded {
        /// Index of the user.
        user: usize,
    },
    /// A barrier weight that is not positive or out of range.
    #[error("barrier weight {index}: {value} is not positive or not in the range of this solver")]
    BarrierWeight {
        /// Index of the resource; the number of resources stands for the weight of the caps.
        index: usize,
        /// The number given.
        value: f64,
    },
}

impl Pool {
    /// A pool from `requests` (`users x resources`, row by row, in units of the resource's
    /// capacity), `entitlements` (one per user, positive, in any unit) and `caps` (one per user,
    /// the largest fraction of its request that a user can use: 1 normally,
    /// [`f64::INFINITY`] for none).
    ///
    /// # Errors
    /// Lengths that do not fit, a number that is negative, NaN, or outside of
    /// [`LARGEST_MAGNITUDE`], a user without requests and without a cap.
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

    /// As [`Pool::new`], but an entitlement may be 0, as the literal trajectory of the paper
    /// allows. Such a user gets nothing, so the allocation need not be Pareto optimal.
    ///
    /// # Errors
    /// As [`Pool::new`], and when every entitlement is 0.
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
        // An infinite total makes every ratio 0 and is refused below.
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

    /// Number of users.
    #[must_use]
    pub fn n_users(&self) -> usize {
        self.n_users
    }

    /// Number of resources.
    #[must_use]
    pub fn n_resources(&self) -> usize {
        self.n_resources
    }

    /// Requests, `users x resources`, row by row, in units of the resource's capacity.
    #[must_use]
    pub fn requests(&self) -> &[f64] {
        &self.requests
    }

    /// What `user` requests of every resource.
    ///
    /// # Panics
    /// If there is no such user.
    #[must_use]
    pub fn request_row(&self, user: usize) -> &[f64] {
        &self.requests[user * self.n_resources..(user + 1) * self.n_resources]
    }

    /// Entitlements, one per user, in the unit in which they were given.
    #[must_use]
    pub fn entitlements(&self) -> &[f64] {
        &self.entitlements
    }

    /// The largest useful fraction of its request, one per user; infinite for none.
    #[must_use]
    pub fn caps(&self) -> &[f64] {
        &self.caps
    }

    /// The sum of all entitlements.
    #[must_use]
    pub fn total_entitlement(&self) -> f64 {
        self.entitlements.iter().sum()
    }
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), PoolError> {
    if expected == found { Ok(()) } else { Err(PoolError::Length { what, expected, found }) }
}

/// Whether a number is zero or of a size with which the solvers can calculate.
pub(crate) fn in_range(value: f64) -> bool {
    value == 0.0 || (value.is_finite() && (SMALLEST_MAGNITUDE..=LARGEST_MAGNITUDE).contains(&value))
}
