//! No justified complaints (NJC, section 3; on clusters docs/theory.md, section 3). Every active user has `x_n = T_n`,
//! or it has its entitlement of a saturated row `(i, r)` that it uses: `d_nir > 0` and `x_ni d_nir >= e_n k_i c_ir`.
//! Where time is shared, the row of time is used instead of the resources, with `1 / gamma_ni` as `d_nir` and the
//! capacity 1.
//!
//! Each of these two reasons is a [`Witness`], with a margin for the user:
//! - satisfied: `(x_n - T_n) / g_n`;
//! - a row of capacity `C`: the lesser of `-slack / C` and `x_ni d_nir / C - e_n`.
//!
//! The margin of a user is the best margin of its witnesses, and the margin of the axiom is the least margin of the
//! active users. Here `e_n = w_n / sum of the weights of the active users`. On a cluster the axiom is weak: a single
//! saturated class, however small, is enough to remove the complaint of every user that has its share of that class.
//!
//! The evidence that the axiom holds is a witness for every active user. The evidence that it is violated is the user
//! with the least margin, its entitlement, and its share of every saturated row that it could use.

use rayon::prelude::*;
use rug::{Assign, Integer, Rational};

use crate::axiom::rule::{Found, Rule};
use crate::evidence::Evidence;
pub use crate::evidence::{Complaint, Witness};
use crate::instance::{Instance, Usage};
use crate::names::write::{Json, Names, fields, number, string};
use crate::quotient::Quotient;
use crate::refusal::Refusal;

/// The result of [`examine`].
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// The margin of the axiom, as a fraction of `g_n` or of a capacity.
    pub margin: Rational,
    /// The first user with this margin.
    pub user: usize,
    /// The best witness of each active user. `None` for other users. Among equally good witnesses, having all tasks
    /// comes first, then the first row.
    pub witnesses: Vec<Option<Witness>>,
}

/// The number of users that a thread examines at a time. This is enough work to make the cost of distributing it
/// negligible.
const CHUNK: usize = 1 << 10;

/// Returns the margin, the user with this margin, and the best witness of every user. Returns `None` if no user is
/// active.
#[must_use]
pub fn examine(instance: &Instance<'_>) -> Option<Examined> {
    let shares = Shares::new(instance);
    let n_users = instance.problem().n_users();
    let chunks: Vec<_> = (0..n_users.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut least: Option<(Quotient, usize)> = None;
            let mut witnesses = Vec::with_capacity(CHUNK);
            for n in chunk * CHUNK..n_users.min((chunk + 1) * CHUNK) {
                let best = shares.best(n);
                witnesses.push(best.as_ref().map(|(_, witness)| *witness));
                if let Some((margin, _)) = best
                    && least.as_ref().is_none_or(|(least, _)| margin < *least)
                {
                    least = Some((margin, n));
                }
            }
            (least, witnesses)
        })
        .collect();
    let mut least: Option<(Quotient, usize)> = None;
    let mut witnesses = Vec::with_capacity(n_users);
    for (found, part) in chunks {
        witnesses.extend(part);
        if let Some(found) = found
            && least.as_ref().is_none_or(|least| found < *least)
        {
            least = Some(found);
        }
    }
    let (margin, user) = least?;
    Some(Examined { margin: margin.to_rational(), user, witnesses })
}

/// Returns the margin of user `n`, or `None` if it is not active.
#[must_use]
pub fn margin(instance: &Instance<'_>, n: usize) -> Option<Rational> {
    let shares = Shares::new(instance);
    let (margin, _) = (n < instance.problem().n_users()).then(|| shares.best(n))??;
    Some(margin.to_rational())
}

/// Returns the fractions of saturated rows that user `n` uses, and its entitlement. Returns `None` if the user is not
/// active.
#[must_use]
pub fn complaint(instance: &Instance<'_>, n: usize) -> Option<Complaint> {
    if n >= instance.problem().n_users() || !instance.is_active(n) {
        return None;
    }
    let scaled = &instance.scaled;
    let mut shares = Vec::new();
    for i in scaled.classes(n) {
        let held = instance.tasks_on(n, i).cloned().unwrap_or_default();
        for row in instance.constraints().class_rows(i).filter(|&row| instance.scaled_slack(row).is_zero()) {
            let Some(usage) = Usage::of(instance, n, row) else { continue };
            let capacity = usage.put(instance.scaled_capacity(row)) * &instance.denominator;
            shares.push((row, Rational::from((Integer::from(&held * &*usage.per_task), capacity))));
        }
    }
    let entitlement = Rational::from((scaled.weight(n), &scaled.active_weight));
    Some(Complaint { user: n, entitlement, shares })
}

/// The rows and weights, multiplied by common factors, so that all users can share them.
struct Shares<'a, 'b> {
    instance: &'a Instance<'b>,
    /// The capacity of every row, times its scale and `L`.
    capacity: Vec<Integer>,
    /// The capacity of every row, times its scale, `L` and the sum of the weights.
    weighted: Vec<Integer>,
    /// The slack of every row, times its scale, `L` and the sum of the weights.
    missing: Vec<Integer>,
}

impl<'a, 'b> Shares<'a, 'b> {
    fn new(instance: &'a Instance<'b>) -> Self {
        let rows = 0..instance.constraints().rows().len();
        let all = &instance.scaled.active_weight;
        let capacity: Vec<Integer> =
            rows.clone().map(|row| instance.scaled_capacity(row) * &instance.denominator).collect();
        let weighted = capacity.iter().map(|capacity| Integer::from(capacity * all)).collect();
        let missing = rows.map(|row| Integer::from(instance.scaled_slack(row) * all)).collect();
        Self { instance, capacity, weighted, missing }
    }

    /// Returns the best margin of user `n` and its witness, or `None` if the user is not active.
    fn best(&self, n: usize) -> Option<(Quotient, Witness)> {
        if !self.instance.is_active(n) {
            return None;
        }
        let mut best = self.satisfied(n).map(|margin| (margin, Witness::Satisfied));
        let weight = self.instance.scaled.weight(n);
        let mut scratch = <[Integer; 2]>::default();
        for i in self.instance.scaled.classes(n) {
            let held = self.held(n, i);
            for row in self.instance.constraints().class_rows(i) {
                let best_yet = best.as_ref().map(|(best, _)| best);
                if best_yet.is_some_and(|best| self.is_hopeless(row, best, &mut scratch)) {
                    continue;
                }
                let Some(margin) = self.on_row(n, row, &held, &weight) else { continue };
                if best.as_ref().is_none_or(|(best, _)| margin > *best) {
                    best = Some((margin, Witness::Row(row)));
                }
            }
        }
        best
    }

    /// Returns true if the slack of a row alone shows that the margin on the row is no better than `best`. For most
    /// rows of most problems this test is enough.
    fn is_hopeless(&self, row: usize, best: &Quotient, scratch: &mut [Integer; 2]) -> bool {
        if self.missing[row].is_zero() || best.numerator >= 0 {
            return !self.missing[row].is_zero();
        }
        // Tests `-missing / capacity <= best`.
        let [low, high] = scratch;
        low.assign(&self.missing[row] * &best.denominator);
        high.assign(&best.numerator * &self.weighted[row]);
        *low += &*high;
        *low >= 0
    }

    /// Returns `x_ni L`, times the sum of the weights.
    fn held(&self, n: usize, i: usize) -> Integer {
        let held = self.instance.tasks_on(n, i);
        held.map_or_else(Integer::new, |x| Integer::from(x * &self.instance.scaled.active_weight))
    }

    /// Returns `(x_n - T_n) / g_n`.
    fn satisfied(&self, n: usize) -> Option<Quotient> {
        let left = self.instance.tasks_left(n)?;
        let unit = self.instance.scale(n);
        Some(Quotient::new(-left.numerator * unit.denom(), left.denominator * unit.numer()))
    }

    /// Returns the lesser of `x_ni d_nir / C - e_n` and `-slack / C`.
    fn on_row(&self, n: usize, row: usize, held: &Integer, weight: &Integer) -> Option<Quotient> {
        let usage = Usage::of(self.instance, n, row)?;
        let due = usage.put(Integer::from(&self.capacity[row] * weight));
        let margin = Integer::from(held * &*usage.per_task) - due;
        let margin = margin.min(-usage.put(self.missing[row].clone()));
        Some(Quotient::new(margin, usage.put(self.weighted[row].clone())))
    }
}

/// The axiom `njc`.
pub(crate) struct Njc;

impl Rule for Njc {
    fn name(&self) -> &'static str {
        "njc"
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        instance.charge_all_users()?;
        Ok(examine(instance).map(|found| Found {
            margin: found.margin,
            yes: Evidence::Witnesses(found.witnesses),
            no: complaint(instance, found.user).map(Evidence::Complaint),
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Witnesses(witnesses) => {
                let stated = witnesses.iter().enumerate().filter_map(|(n, w)| Some((n, (*w)?)));
                let stated = stated.map(|(n, witness)| (names.user(n), write_witness(names, witness)));
                Some(fields([("witness", Json::Object(stated.collect()))]))
            }
            Evidence::Complaint(Complaint { user, entitlement, shares }) => Some(fields([
                ("user", names.user_name(*user)),
                ("entitlement", number(entitlement)),
                ("shares", names.by_row(shares.iter().map(|(row, share)| (*row, share)))),
            ])),
            _ => None,
        }
    }
}

fn write_witness(names: &Names<'_>, witness: Witness) -> Json {
    let Witness::Row(row) = witness else { return string("satisfied") };
    let (server, resource) = names.row(row);
    fields([("server", Json::Text(server)), ("resource", Json::Text(resource))])
}
