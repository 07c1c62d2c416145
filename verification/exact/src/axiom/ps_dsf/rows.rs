//! The users of every class, sorted by level, and the lack of a user for a row.
//!
//! The users of a class (*holders*) are sorted once. If a row is full and none of its users has a higher level, the
//! lack is 0. In an exact answer this is so for all users. Otherwise the usage of users with a higher level is added
//! up.

use evenhand_problem::RowKind;
use rayon::prelude::*;
use rug::{Integer, Rational};

use crate::budget::TooLarge;
use crate::evidence::Standing;
use crate::instance::{Instance, Usage};
use crate::quotient::Quotient;

/// A user that has tasks on a class.
struct Holder {
    user: usize,
    /// The number `w_m gamma_mi`. The level on the class is the number of tasks divided by this number.
    full: Quotient,
    /// The level of the user, times `L`.
    level: Quotient,
    /// The tasks of the user on the class, times `L`.
    tasks: Integer,
}

/// The users of every class, prepared once for all computations.
pub(super) struct Rows<'a, 'b> {
    instance: &'a Instance<'b>,
    /// The holders of each class, by descending level.
    holders: Vec<Vec<Holder>>,
    /// The number of steps of work for one holder.
    steps: u64,
}

impl<'a, 'b> Rows<'a, 'b> {
    /// Sorts the holders of every class.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the budget is exceeded.
    pub fn new(instance: &'a Instance<'b>) -> Result<Self, TooLarge> {
        let steps = instance.steps();
        let entries: usize = instance.tasks.iter().map(Vec::len).sum();
        instance.budget().charge(entries as u64 * steps)?;
        let mut held: Vec<Vec<(usize, &Integer)>> = vec![Vec::new(); instance.problem().n_servers()];
        for (n, tasks) in instance.tasks.iter().enumerate() {
            for (i, x) in tasks {
                held[*i].push((n, x));
            }
        }
        let of_class = |(i, held): (usize, &Vec<(usize, &Integer)>)| -> Vec<Holder> {
            let holder = |&(user, x): &(usize, &Integer)| {
                let full = full(instance, user, i);
                let level = Quotient::new(
                    Integer::from(&instance.totals[user] * &full.denominator),
                    full.numerator.clone(),
                );
                Holder { user, full, level, tasks: x.clone() }
            };
            let mut holders: Vec<Holder> = held.iter().map(holder).collect();
            holders.sort_by(|a, b| b.level.cmp(&a.level));
            holders
        };
        Ok(Self { instance, holders: held.par_iter().enumerate().map(of_class).collect(), steps })
    }

    /// Returns the margin of user `n`, the class where it is least, and the standing of the user. Returns `None` if the
    /// user is not active.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the budget is exceeded.
    pub fn standing_of(&self, n: usize) -> Result<Option<(Rational, usize, Standing)>, TooLarge> {
        if !self.instance.is_active(n) {
            return Ok(None);
        }
        let mut most: Option<(Rational, usize)> = None;
        let mut bottlenecks = Vec::new();
        for i in self.instance.scaled.classes(n) {
            let (lack, row) = self.best(n, i)?;
            bottlenecks.push(row);
            if most.as_ref().is_none_or(|(most, _)| lack > *most) {
                most = Some((lack, i));
            }
        }
        let Some((lack, server)) = most else { return Ok(None) };
        let margin = -(lack / self.instance.scale(n));
        Ok(Some(match self.satisfied(n).filter(|satisfied| *satisfied >= margin) {
            Some(satisfied) => (satisfied, server, Standing::Satisfied),
            None => (margin, server, Standing::Bottlenecks(bottlenecks)),
        }))
    }

    /// Returns `(x_n - T_n) / g_n`, or `None` if the tasks of the user are unlimited.
    pub fn satisfied(&self, n: usize) -> Option<Rational> {
        let left = self.instance.tasks_left(n)?.to_rational();
        Some(-(left / self.instance.scale(n)))
    }

    /// Returns the least lack of user `n` on class `i`, where it can run, and the row with this lack.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the budget is exceeded.
    pub fn best(&self, n: usize, i: usize) -> Result<(Rational, usize), TooLarge> {
        let rows = self.instance.constraints().class_rows(i);
        let mut best: Option<(Rational, usize)> = None;
        for row in rows.clone() {
            let limit = best.as_ref().map(|(best, _)| best);
            let Some(lack) = self.lack(n, row, limit)? else { continue };
            let found = lack.is_zero();
            if best.as_ref().is_none_or(|(best, _)| lack < *best) {
                best = Some((lack, row));
            }
            if found {
                break;
            }
        }
        // Not reached: a user that can run on a class uses some row of the class.
        Ok(best.unwrap_or_else(|| (Rational::new(), rows.start)))
    }

    /// Returns the lack of user `n` for a row, in tasks. Returns `None` if the user does not use the row, or if the
    /// lack is certain to be at least `limit`.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the budget is exceeded.
    pub fn lack(&self, n: usize, row: usize, limit: Option<&Rational>) -> Result<Option<Rational>, TooLarge> {
        let instance = self.instance;
        let Some(usage) = Usage::of(instance, n, row) else { return Ok(None) };
        let i = instance.constraints().rows()[row].server;
        let in_tasks = |amount: Rational| {
            let per_task = Rational::from((&usage.put(Integer::from(1)), &*usage.per_task));
            amount * per_task / &instance.denominator
        };
        // The lack in units of the row, times `L` and the scale of the row.
        let mut lacking = Rational::from(instance.scaled_slack(row));
        if let Some(limit) = limit
            && !lacking.is_zero()
            && in_tasks(lacking.clone()) >= *limit
        {
            return Ok(None);
        }
        let own = full(instance, n, i);
        let level =
            Quotient::new(Integer::from(&instance.totals[n] * &own.denominator), own.numerator.clone());
        let mut holders_seen = 1;
        // The usage, at level 1, of the users with a higher level that would still have tasks here at the lower level.
        // The level is a wide number, so it is multiplied only once, with the sum of these users.
        let mut at_level_one = Rational::new();
        for holder in &self.holders[i] {
            if holder.level <= level {
                break;
            }
            holders_seen += 1;
            let Some(theirs) = Usage::of(instance, holder.user, row) else { continue };
            let takes = Rational::from((&*theirs.per_task, &theirs.put(Integer::from(1))));
            let total = &instance.totals[holder.user];
            let elsewhere = Integer::from(total - &holder.tasks);
            if Quotient::new(elsewhere * &holder.full.denominator, holder.full.numerator.clone()) < level {
                lacking += Rational::from(&takes * total);
                at_level_one += takes * Rational::from((&holder.full.numerator, &holder.full.denominator));
            } else {
                lacking += takes * &holder.tasks;
            }
        }
        lacking -= Rational::from((&level.numerator, &level.denominator)) * at_level_one;
        instance.budget().charge(holders_seen * self.steps)?;
        Ok(Some(in_tasks(lacking)))
    }
}

/// Returns `w_n gamma_ni`, the number of tasks at which the level is 1. It is positive for a user that can run on the
/// class.
pub(super) fn full(instance: &Instance<'_>, n: usize, i: usize) -> Quotient {
    let problem = instance.problem();
    let user = &problem.users()[n];
    let gamma = if instance.constraints().is_time_shared(i) {
        Quotient::from(&problem.unconstrained_gamma(n, i))
    } else {
        let scaled = &instance.scaled;
        let row = |r: usize| instance.constraints().row_of(i, RowKind::Resource(r));
        let rates =
            scaled.demand(n, i).iter().filter_map(|(r, demand)| Some((&scaled.capacity[row(*r)?], demand)));
        let mut least: Option<(&Integer, &Integer)> = None;
        for (capacity, demand) in rates {
            if least.is_none_or(|(c, d)| Integer::from(capacity * d) < Integer::from(c * demand)) {
                least = Some((capacity, demand));
            }
        }
        // A user that can run on the class demands at least one resource, and each demanded resource has a row.
        let (capacity, demand) = least.map_or_else(Default::default, |(c, d)| (c.clone(), d.clone()));
        Quotient::new(capacity, demand.max(Integer::from(1)))
    };
    let weight = user.weight();
    Quotient::new(gamma.numerator * weight.numer(), gamma.denominator * weight.denom())
}
