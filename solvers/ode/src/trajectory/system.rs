//! The right-hand side: equation (13) with the dummy resources, solved by Woodbury's identity.
//!
//! The state consists of `x` of all users, the distances `d_i = cap_i - x_i` of the users with a cap, the slacks `s_j`
//! of the resources that some user requests, and, in log time, `c` itself. Distances and slacks are linear in `x`, so
//! Runge-Kutta steps keep them consistent with `x`. They are part of the state for two reasons. The step-size control
//! is relative to every component. Differences such as `1 - usage` have no correct digits near the end.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;

use nalgebra::{Cholesky, DMatrix, DVector};
use ode_solvers::System;
use pulp::{Arch, Simd, WithSimd};

use crate::lanes::{self, BLOCK, LANES};
use crate::margin;
use crate::pool::Pool;

/// The independent variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// The parameter `c` itself. The right-hand side does not depend on it.
    C,
    /// The logarithm `ln c`. The last component of the state is `c`.
    LogC,
}

/// The positions of the components of the state.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The users with a finite cap, in the order of their distances.
    pub capped: Vec<usize>,
    /// The resources that some user requests, in the order of their slacks.
    pub requested: Vec<usize>,
    pub n_users: usize,
}

impl Layout {
    pub fn new(pool: &Pool) -> Self {
        let n_users = pool.n_users();
        let requested = (0..pool.n_resources())
            .filter(|&j| (0..n_users).any(|user| pool.request_row(user)[j] > 0.0))
            .collect();
        let capped = (0..n_users).filter(|&user| pool.caps()[user].is_finite()).collect();
        Self { capped, requested, n_users }
    }

    pub fn len(&self, time: Time) -> usize {
        self.n_users + self.capped.len() + self.requested.len() + usize::from(time == Time::LogC)
    }

    /// Splits a state into allocations, distances, slacks, and the rest.
    pub fn split<'a>(&self, state: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64], &'a [f64]) {
        let (x, rest) = state.split_at(self.n_users);
        let (distances, rest) = rest.split_at(self.capped.len());
        let (slacks, rest) = rest.split_at(self.requested.len());
        (x, distances, slacks, rest)
    }

    /// Returns the slack of each resource. It is 1 if no user requests the resource.
    pub fn slacks(&self, state: &[f64], n_resources: usize) -> Vec<f64> {
        let mut slacks = vec![1.0; n_resources];
        for (resource, slack) in self.requested.iter().zip(self.split(state).2) {
            slacks[*resource] = *slack;
        }
        slacks
    }

    /// Returns the distance of each user from its cap. Infinite without a cap.
    pub fn distances(&self, state: &[f64]) -> Vec<f64> {
        let mut distances = vec![f64::INFINITY; self.n_users];
        for (user, distance) in self.capped.iter().zip(self.split(state).1) {
            distances[*user] = *distance;
        }
        distances
    }

    /// Returns true if every component is within its bounds: positive distances and slacks, and `x >= 0`.
    pub fn in_domain(&self, state: &[f64]) -> bool {
        let (x, distances, slacks, rest) = self.split(state);
        x.iter().all(|&x| x >= 0.0 && x.is_finite())
            && distances.iter().chain(slacks).chain(rest).all(|&value| value > 0.0 && value.is_finite())
    }
}

/// The differential equation (13) for a pool.
pub(super) struct Trajectory<'a> {
    pool: &'a Pool,
    layout: &'a Layout,
    total: f64,
    /// The requests in blocks of `rows x BLOCK`. A row of zeros makes the number of rows even.
    requests: Vec<f64>,
    /// The entitlements as fractions of their sum. 0 for lanes of a block without a user.
    shares: Vec<f64>,
    rows: usize,
    /// The integration stops when no user's margin is below minus this tolerance.
    tolerance: f64,
    /// The number of evaluations, counted here because an integrator that fails does not report it.
    evaluations: &'a Cell<usize>,
    scratch: RefCell<Scratch>,
}

struct Scratch {
    /// The diagonal of the N x N matrix, and later its inverse. One entry for each user.
    diagonal: Vec<f64>,
    /// The inverse slacks `1 / s_j`, one for each row.
    inverse_slacks: Vec<f64>,
    /// The requests times a weight, `rows x BLOCK`.
    weighted: Vec<f64>,
    /// The lanes of the sums over users: a vector, followed by a matrix.
    lanes: Vec<f64>,
}

impl<'a> Trajectory<'a> {
    pub fn new(pool: &'a Pool, layout: &'a Layout, tolerance: f64, evaluations: &'a Cell<usize>) -> Self {
        let rows = layout.requested.len().next_multiple_of(2);
        let padded = layout.n_users.next_multiple_of(BLOCK);
        let total = pool.total_entitlement();
        let mut requests = vec![0.0; padded * rows];
        let mut shares: Vec<f64> = pool.entitlements().iter().map(|e| e / total).collect();
        shares.resize(padded, 0.0);
        for user in 0..layout.n_users {
            let offset = user / BLOCK * BLOCK * rows + user % BLOCK;
            for (row, &j) in layout.requested.iter().enumerate() {
                requests[offset + row * BLOCK] = pool.request_row(user)[j];
            }
        }
        let scratch = RefCell::new(Scratch {
            diagonal: vec![0.0; padded],
            inverse_slacks: vec![0.0; rows],
            weighted: vec![0.0; rows * BLOCK],
            lanes: vec![0.0; rows * (rows + 1) * LANES],
        });
        Self { pool, layout, total, requests, shares, rows, tolerance, evaluations, scratch }
    }

    /// Returns true if no user has a justified complaint, up to the tolerance.
    pub fn satisfied(&self, state: &[f64]) -> bool {
        let (x, distances, slacks, _) = self.layout.split(state);
        let mut all_slacks = vec![1.0; self.pool.n_resources()];
        for (&j, &slack) in self.layout.requested.iter().zip(slacks) {
            all_slacks[j] = slack;
        }
        let mut at_cap = vec![false; x.len()];
        for (&user, &distance) in self.layout.capped.iter().zip(distances) {
            at_cap[user] = distance <= self.tolerance * self.pool.caps()[user];
        }
        (0..x.len()).all(|user| {
            at_cap[user]
                || margin::user_margin(self.pool, user, x[user], self.total, &all_slacks, self.tolerance)
                    >= -self.tolerance
        })
    }

    /// Computes `d state / d time`. Returns `None` outside the domain.
    fn derivative(&self, state: &[f64], derivative: &mut [f64]) -> Option<()> {
        if !self.layout.in_domain(state) {
            return None;
        }
        let (x, distances, slacks, rest) = self.layout.split(state);
        let scratch = &mut *self.scratch.borrow_mut();
        for (inverse, &slack) in scratch.inverse_slacks.iter_mut().zip(slacks) {
            *inverse = 1.0 / slack;
        }
        // The dummy resource of a user contributes 1 / d for its cap, and x / d^2 for the
        // derivative.
        scratch.diagonal.fill(0.0);
        for (&user, &distance) in self.layout.capped.iter().zip(distances) {
            // This is (1 + x / d) / d with one division.
            scratch.diagonal[user] = (distance + x[user]) / (distance * distance);
        }
        let arch = Arch::new();
        arch.dispatch(AddUsers { system: self, x, scratch });
        let w = solve_small(slacks.len(), self.rows, scratch)?;
        let speed = rest.first().copied().unwrap_or(1.0);
        let mut prices = vec![0.0; self.rows];
        for ((price, &w), &inverse) in prices.iter_mut().zip(&w).zip(&scratch.inverse_slacks) {
            *price = w * inverse;
        }
        let (dx, rest) = derivative.split_at_mut(x.len());
        arch.dispatch(MoveUsers { system: self, x, prices: &prices, speed, slopes: &scratch.diagonal, dx });
        let (dd, rest) = rest.split_at_mut(distances.len());
        for (dd, &user) in dd.iter_mut().zip(&self.layout.capped) {
            *dd = -dx[user];
        }
        let (ds, rest) = rest.split_at_mut(slacks.len());
        for ((ds, &w), &slack) in ds.iter_mut().zip(&w).zip(slacks) {
            *ds = -speed * slack * w;
        }
        if let Some(dc) = rest.first_mut() {
            *dc = speed;
        }
        Some(())
    }
}

/// A pass over users that completes and inverts their diagonals, and adds the sums for the small
/// system.
struct AddUsers<'a> {
    system: &'a Trajectory<'a>,
    x: &'a [f64],
    scratch: &'a mut Scratch,
}

impl WithSimd for AddUsers<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Scratch { diagonal, inverse_slacks, weighted, lanes } = self.scratch;
        let rows = self.system.rows;
        lanes.fill(0.0);
        let (rhs, gram) = lanes.split_at_mut(rows * LANES);
        for (block, diagonal) in diagonal.chunks_exact_mut(BLOCK).enumerate() {
            let requests = &self.system.requests[block * rows * BLOCK..(block + 1) * rows * BLOCK];
            let shares = &self.system.shares[block * BLOCK..(block + 1) * BLOCK];
            let present = (self.x.len() - block * BLOCK).min(BLOCK);
            let mut x = [0.0; BLOCK];
            x[..present].copy_from_slice(&self.x[block * BLOCK..block * BLOCK + present]);
            let mut pressure = [0.0; BLOCK];
            lanes::payments(simd, requests, inverse_slacks, &mut pressure);
            // Without a user, the diagonal only needs to be positive.
            pressure[present..].fill(1.0);
            let mut response = [0.0; BLOCK];
            let mut drive = [0.0; BLOCK];
            for i in 0..BLOCK {
                diagonal[i] = 1.0 / (diagonal[i] + pressure[i]);
                response[i] = x[i] * diagonal[i];
                drive[i] = shares[i] * diagonal[i];
            }
            for (sums, row) in rhs.chunks_exact_mut(LANES).zip(requests.chunks_exact(BLOCK)) {
                lanes::add_products(simd, &drive, row, sums);
            }
            lanes::add_gram(simd, requests, &response, weighted, gram);
        }
    }
}

/// A pass over users that computes `dx` from the solution of the small system.
struct MoveUsers<'a> {
    system: &'a Trajectory<'a>,
    x: &'a [f64],
    /// The prices `w_j / s_j`, one for each row.
    prices: &'a [f64],
    speed: f64,
    /// The inverses of the diagonal.
    slopes: &'a [f64],
    dx: &'a mut [f64],
}

impl WithSimd for MoveUsers<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let length = self.system.rows * BLOCK;
        for (block, dx) in self.dx.chunks_mut(BLOCK).enumerate() {
            let first = block * BLOCK;
            let mut pull = [0.0; BLOCK];
            let requests = &self.system.requests[block * length..(block + 1) * length];
            lanes::payments(simd, requests, self.prices, &mut pull);
            let slopes = &self.slopes[first..];
            let users = dx.iter_mut().zip(&self.x[first..]).zip(&self.system.shares[first..]);
            for (((dx, &x), &share), (&pull, &slope)) in users.zip(pull.iter().zip(slopes)) {
                *dx = self.speed * (share - x * pull) * slope;
            }
        }
    }
}

/// Computes `w_j = (sum_i r_ij dx_i/dc) / s_j` from `(1 + S^-1 R^T D R S^-1) w = S^-1 R^T D e`.
fn solve_small(m: usize, rows: usize, scratch: &Scratch) -> Option<Vec<f64>> {
    let (rhs, gram) = scratch.lanes.as_chunks().0.split_at(rows);
    let inverse = &scratch.inverse_slacks;
    let matrix = DMatrix::from_fn(m, m, |j, k| match j.cmp(&k) {
        Ordering::Less => 0.0,
        Ordering::Equal => 1.0 + lanes::add_lanes(&gram[j * rows + k]) * inverse[j] * inverse[k],
        Ordering::Greater => lanes::add_lanes(&gram[j * rows + k]) * inverse[j] * inverse[k],
    });
    let rhs = DVector::from_fn(m, |j, _| lanes::add_lanes(&rhs[j]) * inverse[j]);
    Some(Cholesky::new(matrix)?.solve(&rhs).data.into())
}

impl System<f64, DVector<f64>> for Trajectory<'_> {
    fn system(&self, _time: f64, state: &DVector<f64>, derivative: &mut DVector<f64>) {
        self.evaluations.set(self.evaluations.get() + 1);
        // The sums over users for all pairs of rows are computed eight at a time.
        let (users, rows) = (self.layout.n_users as u64, self.rows as u64);
        evenhand_budget::charge(users * (2 + rows + rows * rows / 8) + rows.pow(3) / 50, "the trajectory");
        if self.derivative(state.as_slice(), derivative.as_mut_slice()).is_none() {
            // The step-size control reacts to NaN with a smaller step.
            derivative.fill(f64::NAN);
        }
    }

    fn solout(&mut self, _time: f64, state: &DVector<f64>, _derivative: &DVector<f64>) -> bool {
        !self.layout.in_domain(state.as_slice()) || self.satisfied(state.as_slice())
    }
}
