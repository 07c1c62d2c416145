//! The holders of every class by level, and what users lack of a row.
//!
//! Sorted once: where a row is full and no user that holds some of it is ahead, nothing is lacking, and that
//! is what users of an exact answer find. Else those ahead are added up.

use evenhand_problem::RowKind;
use rayon::prelude::*;
use rug::{Integer, Rational};

use crate::budget::TooLarge;
use crate::evidence::Standing;
use crate::instance::{Instance, Usage};
use crate::quotient::Quotient;

/// Somebody who has tasks on a class.
struct Holder {
    user: usize,
    /// `w_m gamma_mi`: its level on the class is its tasks over this.
    full: Quotient,
    /// Its level, times `L`.
    level: Quotient,
    /// Its tasks there, times `L`.
    tasks: Integer,
}

/// The holders of every class, ready for all users.
pub(super) struct Rows<'a, 'b> {
    instance: &'a Instance<'b>,
    /// By class: levels descending.
    holders: Vec<Vec<Holder>>,
    /// Steps of work that a look at a holder takes.
    steps: u64,
}

impl<'a, 'b> Rows<'a, 'b> {
    /// # Errors
    /// [`TooLarge`] when the work is not left.
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

    /// Margin of user `n`, the class where it is least, and what the user has; `None` when it is not active.
    ///
    /// # Errors
    /// [`TooLarge`] when the work is not left.
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

    /// `(x_n - T_n) / g_n`.
    pub fn satisfied(&self, n: usize) -> Option<Rational> {
        let left = self.instance.tasks_left(n)?.to_rational();
        Some(-(left / self.instance.scale(n)))
    }

    /// What user `n` lacks on class `i`, on which it can run, and the row for which that is least.
    ///
    /// # Errors
    /// [`TooLarge`] when the work is not left.
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
        // Who can run on a class uses some row of it.
        Ok(best.unwrap_or_else(|| (Rational::new(), rows.start)))
    }

    /// What user `n` lacks for a row, in tasks; `None` when it does not use it, or it is certain to be no
    /// less than `limit`.
    ///
    /// # Errors
    /// [`TooLarge`] when the work is not left.
    pub fn lack(&self, n: usize, row: usize, limit: Option<&Rational>) -> Result<Option<Rational>, TooLarge> {
        let instance = self.instance;
        let Some(usage) = Usage::of(instance, n, row) else { return Ok(None) };
        let i = instance.constraints().rows()[row].server;
        let in_tasks = |amount: Rational| {
            let per_task = Rational::from((&usage.put(Integer::from(1)), &*usage.per_task));
            amount * per_task / &instance.denominator
        };
        // Times L and the scale of the row.
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
        let mut looks = 1;
        // What those who are ahead, and not by all that they have there, would hold of the row at level 1: it is
        // multiplied by the level, a wide number, once for all of them.
        let mut at_level_one = Rational::new();
        for holder in &self.holders[i] {
            if holder.level <= level {
                break;
            }
            looks += 1;
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
        instance.budget().charge(looks * self.steps)?;
        Ok(Some(in_tasks(lacking)))
    }
}

/// `w_n gamma_ni`: the tasks at which the level is 1. Positive, for a user that can run on the class.
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
        // Who can run there demands something, each of which has a row.
        let (capacity, demand) = least.map_or_else(Default::default, |(c, d)| (c.clone(), d.clone()));
        Quotient::new(capacity, demand.max(Integer::from(1)))
    };
    let weight = user.weight();
    Quotient::new(gamma.numerator * weight.numer(), gamma.denominator * weight.denom())
}
