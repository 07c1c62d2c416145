//! The right-hand side: equation (13) with the dummy resources, solved by Woodbury's identity.
//!
//! The state is `x` of all users, the distances `d_i = cap_i - x_i` of those with a cap, the slacks
//! `s_j` of the resources that somebody requests, and in log time `c` itself. Distances and slacks
//! are linear in `x`, so that Runge-Kutta steps keep them equal to what they stand for; they are in
//! the state because the step-size control is relative to every component, and because near the
//! end differences such as `1 - usage` have no correct digits.

use std::cell::{Cell, RefCell};

use nalgebra::{Cholesky, DMatrix, DVector};
use ode_solvers::System;

use crate::margin;
use crate::pool::Pool;

/// The independent variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// `c` itself; the right-hand side does not depend on it.
    C,
    /// `ln c`; `c` is the last component of the state.
    LogC,
}

/// Where the parts of the state are.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Users with a finite cap, in the order of their distances.
    pub capped: Vec<usize>,
    /// Resources that somebody requests, in the order of their slacks.
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

    /// Allocations, distances, slacks, and what remains.
    pub fn split<'a>(&self, state: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64], &'a [f64]) {
        let (x, rest) = state.split_at(self.n_users);
        let (distances, rest) = rest.split_at(self.capped.len());
        let (slacks, rest) = rest.split_at(self.requested.len());
        (x, distances, slacks, rest)
    }

    /// Whether every component is within its bounds: positive distances and slacks, `x >= 0`.
    pub fn in_domain(&self, state: &[f64]) -> bool {
        let (x, distances, slacks, rest) = self.split(state);
        x.iter().all(|&x| x >= 0.0 && x.is_finite())
            && distances.iter().chain(slacks).chain(rest).all(|&value| value > 0.0 && value.is_finite())
    }
}

/// Equation (13) for a pool.
pub(super) struct Trajectory<'a> {
    pool: &'a Pool,
    layout: &'a Layout,
    total: f64,
    /// Requests of the requested resources, `users x resources`.
    requests: Vec<f64>,
    /// Stop when nobody complains by more than this.
    tolerance: f64,
    /// Counts the evaluations: an integrator that fails does not tell.
    evaluations: &'a Cell<usize>,
    scratch: RefCell<Scratch>,
}

struct Scratch {
    /// Requests over slacks, `users x resources`.
    pressures: Vec<f64>,
    /// Diagonal of the N x N matrix, one per user.
    diagonal: Vec<f64>,
    /// `1 / s_j`.
    inverse_slacks: Vec<f64>,
    /// Lower triangle of the sums over users, `resources x resources`.
    products: Vec<f64>,
    /// Right-hand side of the small system.
    rhs: DVector<f64>,
}

impl<'a> Trajectory<'a> {
    pub fn new(pool: &'a Pool, layout: &'a Layout, tolerance: f64, evaluations: &'a Cell<usize>) -> Self {
        let m = layout.requested.len();
        let requests: Vec<f64> = (0..layout.n_users)
            .flat_map(|user| layout.requested.iter().map(move |&j| pool.request_row(user)[j]))
            .collect();
        let scratch = Scratch {
            pressures: vec![0.0; requests.len()],
            diagonal: vec![0.0; layout.n_users],
            inverse_slacks: vec![0.0; m],
            products: vec![0.0; m * m],
            rhs: DVector::zeros(m),
        };
        let total = pool.total_entitlement();
        Self { pool, layout, total, requests, tolerance, evaluations, scratch: RefCell::new(scratch) }
    }

    /// Whether no user complains, to the tolerance.
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

    /// `d state / d time`; `None` outside of the domain.
    fn derivative(&self, state: &[f64], derivative: &mut [f64]) -> Option<()> {
        if !self.layout.in_domain(state) {
            return None;
        }
        let (x, distances, slacks, rest) = self.layout.split(state);
        let m = slacks.len();
        let scratch = &mut *self.scratch.borrow_mut();
        for (inverse, &slack) in scratch.inverse_slacks.iter_mut().zip(slacks) {
            *inverse = 1.0 / slack;
        }
        // The dummy resource of a user: 1 / d for the pull of its cap, x / d^2 for its derivative.
        scratch.diagonal.fill(0.0);
        for (&user, &distance) in self.layout.capped.iter().zip(distances) {
            scratch.diagonal[user] = (1.0 + x[user] / distance) / distance;
        }
        self.add_users(x, m, scratch);
        let speed = rest.first().copied().unwrap_or(1.0);
        let w = solve_small(m, scratch)?;
        for user in 0..x.len() {
            let pressures = &scratch.pressures[user * m..(user + 1) * m];
            let pull: f64 = pressures.iter().zip(w.iter()).map(|(&t, &w)| t * w).sum();
            derivative[user] = speed * (self.entitlement(user) - x[user] * pull) / scratch.diagonal[user];
        }
        let (dx, rest) = derivative.split_at_mut(x.len());
        let (dd, rest) = rest.split_at_mut(distances.len());
        for (dd, &user) in dd.iter_mut().zip(&self.layout.capped) {
            *dd = -dx[user];
        }
        let (ds, rest) = rest.split_at_mut(m);
        for ((ds, &w), &slack) in ds.iter_mut().zip(w.iter()).zip(slacks) {
            *ds = -speed * slack * w;
        }
        if let Some(dc) = rest.first_mut() {
            *dc = speed;
        }
        Some(())
    }

    fn entitlement(&self, user: usize) -> f64 {
        self.pool.entitlements()[user] / self.total
    }

    /// Diagonal of every user, and the sums over users of the small system.
    fn add_users(&self, x: &[f64], m: usize, scratch: &mut Scratch) {
        let Scratch { pressures, diagonal, inverse_slacks, products, rhs } = scratch;
        products.fill(0.0);
        rhs.fill(0.0);
        let rhs = rhs.as_mut_slice();
        for user in 0..x.len() {
            let requests = &self.requests[user * m..(user + 1) * m];
            let pressures = &mut pressures[user * m..(user + 1) * m];
            for ((t, &r), &inverse) in pressures.iter_mut().zip(requests).zip(inverse_slacks.iter()) {
                *t = r * inverse;
            }
            diagonal[user] += pressures.iter().sum::<f64>();
            let slope = 1.0 / diagonal[user];
            let (response, drive) = (x[user] * slope, self.entitlement(user) * slope);
            for (j, &t) in pressures.iter().enumerate() {
                rhs[j] += drive * t;
                let weighted = response * t;
                for (sum, &other) in products[j * m..=j * m + j].iter_mut().zip(&*pressures) {
                    *sum += weighted * other;
                }
            }
        }
    }
}

/// `w_j = (sum_i r_ij dx_i/dc) / s_j` from `(1 + S^-1 R^T D R S^-1) w = S^-1 R^T D e`.
fn solve_small(m: usize, scratch: &Scratch) -> Option<DVector<f64>> {
    let matrix = DMatrix::from_fn(m, m, |j, k| {
        if k > j { 0.0 } else { scratch.products[j * m + k] + if j == k { 1.0 } else { 0.0 } }
    });
    Some(Cholesky::new(matrix)?.solve(&scratch.rhs))
}

impl System<f64, DVector<f64>> for Trajectory<'_> {
    fn system(&self, _time: f64, state: &DVector<f64>, derivative: &mut DVector<f64>) {
        self.evaluations.set(self.evaluations.get() + 1);
        if self.derivative(state.as_slice(), derivative.as_mut_slice()).is_none() {
            // The step-size control answers NaN with a smaller step.
            derivative.fill(f64::NAN);
        }
    }

    fn solout(&mut self, _time: f64, state: &DVector<f64>, _derivative: &DVector<f64>) -> bool {
        !self.layout.in_domain(state.as_slice()) || self.satisfied(state.as_slice())
    }
}
