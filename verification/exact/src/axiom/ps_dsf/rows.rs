//! The holders of every row by level, and what a row is worth to a user.
//!
//! Sorted once, those that hold less at a lower level left out, so that a pair costs a binary search.

use rayon::prelude::*;
use rug::{Integer, Rational};

use super::{Standing, full};
use crate::claim::Refusal;
use crate::instance::Instance;
use crate::quotient::Quotient;
use crate::usage::Usage;

/// A holder of a row.
pub(super) struct Step {
    pub user: usize,
    /// Its level on the class, times `L`.
    pub level: Quotient,
    /// What it holds of the row, times `L` and the scale of the row.
    amount: Integer,
}

/// The holders of every row, ready for all users. Margins are times `L`.
pub(super) struct Rows<'a, 'b> {
    instance: &'a Instance<'b>,
    /// By row: levels descending and amounts ascending.
    steps: Vec<Vec<Step>>,
}

impl<'a, 'b> Rows<'a, 'b> {
    pub fn new(instance: &'a Instance<'b>) -> Self {
        let mut held: Vec<Vec<(usize, &Integer)>> = vec![Vec::new(); instance.problem().n_servers()];
        for (n, tasks) in instance.tasks.iter().enumerate() {
            for (i, x) in tasks.iter().filter(|(_, x)| *x > 0) {
                held[*i].push((n, x));
            }
        }
        let of_class = |(i, held): (usize, &Vec<(usize, &Integer)>)| -> Vec<Vec<Step>> {
            let holders = held.iter().map(|&(m, x)| {
                let full = full(instance, m, i);
                (m, Quotient::new(&instance.totals[m] * full.denominator, full.numerator), x)
            });
            let mut holders: Vec<(usize, Quotient, &Integer)> = holders.collect();
            holders.sort_by(|a, b| b.1.cmp(&a.1));
            instance.constraints().class_rows(i).map(|row| staircase(instance, row, &holders)).collect()
        };
        let steps: Vec<Vec<Vec<Step>>> = held.par_iter().enumerate().map(of_class).collect();
        Self { instance, steps: steps.into_iter().flatten().collect() }
    }

    pub fn in_tasks(&self, margin: &Quotient) -> Rational {
        Rational::from((&margin.numerator, Integer::from(&margin.denominator * &self.instance.denominator)))
    }

    /// Margin of user `n`, the class where it is least, and what the user has; `None` when it is not active.
    pub fn standing_of(&self, n: usize) -> Option<(Quotient, usize, Standing)> {
        if !self.instance.is_active(n) {
            return None;
        }
        let mut least: Option<(Quotient, usize)> = None;
        let mut bottlenecks = Vec::new();
        for i in self.instance.scaled.classes(n) {
            let (margin, row) = self.best(n, i);
            bottlenecks.push(row);
            if least.as_ref().is_none_or(|(least, _)| margin < *least) {
                least = Some((margin, i));
            }
        }
        let (margin, server) = least?;
        Some(match self.satisfied(n).filter(|satisfied| *satisfied >= margin) {
            Some(satisfied) => (satisfied, server, Standing::Satisfied),
            None => (margin, server, Standing::Bottlenecks(bottlenecks)),
        })
    }

    /// The margin that one standing gives to user `n`.
    pub fn margin_of(&self, n: usize, standing: &Option<Standing>) -> Result<Option<Quotient>, Refusal> {
        let refuse = |what: &str| {
            let name = self.instance.problem().users()[n].name();
            Err(Refusal::new(format!("{what} user `{name}`")))
        };
        match (standing, self.instance.is_active(n)) {
            (None, false) => Ok(None),
            (None, true) => refuse("there is no bottleneck for"),
            (Some(_), false) => refuse("a bottleneck is stated for the inactive"),
            (Some(Standing::Satisfied), true) => match self.satisfied(n) {
                Some(margin) => Ok(Some(margin)),
                None => refuse("tasks are unlimited, and said to be all there, of"),
            },
            (Some(Standing::Bottlenecks(stated)), true) => {
                let rows = self.instance.constraints().rows();
                let classes = stated.iter().map(|&row| rows.get(row).map(|at| at.server));
                if !classes.eq(self.instance.scaled.classes(n).map(Some)) {
                    return refuse("a bottleneck is missing, or on a class of no use, for");
                }
                let mut least: Option<Quotient> = None;
                for &row in stated {
                    let full = full(self.instance, n, rows[row].server);
                    let Some(margin) = self.on_row(n, row, &full, None) else {
                        return refuse("a bottleneck is a resource that is not needed by");
                    };
                    least = Some(least.map_or(margin.clone(), |least| least.min(margin)));
                }
                Ok(least)
            }
        }
    }

    /// `x_n - T_n`.
    pub fn satisfied(&self, n: usize) -> Option<Quotient> {
        let limit = self.instance.problem().users()[n].tasks()?;
        let lead = Integer::from(&self.instance.totals[n] * limit.denom())
            - Integer::from(limit.numer() * &self.instance.denominator);
        Some(Quotient::new(lead, limit.denom().clone()))
    }

    /// The best row of class `i`, on which user `n` can run, and its margin.
    pub fn best(&self, n: usize, i: usize) -> (Quotient, usize) {
        let full = full(self.instance, n, i);
        let class_rows = self.instance.constraints().class_rows(i);
        let mut best: Option<(Quotient, usize)> = None;
        for row in class_rows.clone() {
            let best_yet = best.as_ref().map(|(best, _)| best);
            let Some(margin) = self.on_row(n, row, &full, best_yet) else { continue };
            if best.as_ref().is_none_or(|(best, _)| margin > *best) {
                best = Some((margin, row));
            }
        }
        // Who can run on a class uses some row of it.
        best.unwrap_or_else(|| (Quotient::new(Integer::new(), Integer::from(1)), class_rows.start))
    }

    /// What a row is worth to user `n`; `None` when it does not use it, or the slack alone shows that it
    /// is no better than `best`.
    fn on_row(&self, n: usize, row: usize, full: &Quotient, best: Option<&Quotient>) -> Option<Quotient> {
        let usage = Usage::of(self.instance, n, row)?;
        let missing = self.missing(row, &usage).map(negated);
        if let (Some(missing), Some(best)) = (&missing, best)
            && missing <= best
        {
            return None;
        }
        let ahead = self.lead(n, row, &usage, full).map(|(lead, _)| negated(lead));
        Some(match (missing, ahead) {
            (Some(missing), Some(ahead)) => missing.min(ahead),
            // A saturated row has a holder.
            (missing, ahead) => missing.or(ahead)?,
        })
    }

    /// `|slack| / d_nir` of a row that is not saturated.
    pub fn missing(&self, row: usize, usage: &Usage<'_>) -> Option<Quotient> {
        let slack = self.instance.scaled_slack(row);
        let missing = (!slack.is_zero()).then(|| usage.put(Integer::from(slack.abs_ref())))?;
        Some(Quotient::new(missing, usage.per_task.clone().into_owned()))
    }

    /// The most that a holder of the row is ahead of user `n`, in tasks of `n` and no more than it holds of
    /// the row; negative when all are behind. `None` when nobody holds any.
    pub fn lead(
        &self,
        n: usize,
        row: usize,
        usage: &Usage<'_>,
        full: &Quotient,
    ) -> Option<(Quotient, &Step)> {
        let steps = &self.steps[row];
        let own = Integer::from(&self.instance.totals[n] * &full.denominator);
        let ahead = |step: &Step| {
            let scale = Integer::from(&step.level.denominator * &full.denominator);
            let lead =
                Integer::from(&step.level.numerator * &full.numerator) - &own * &step.level.denominator;
            Quotient::new(lead, scale)
        };
        let first = steps.first()?;
        let lead = ahead(first);
        if lead.numerator <= 0 {
            return Some((lead, first));
        }
        let amount =
            |step: &Step| Quotient::new(usage.put(step.amount.clone()), usage.per_task.clone().into_owned());
        // Leads fall and amounts rise from step to step: the least of both is largest where they cross.
        let crossing = steps.partition_point(|step| amount(step) < ahead(step));
        let before = crossing.checked_sub(1).map(|at| (amount(&steps[at]), &steps[at]));
        let after = steps.get(crossing).map(|step| (ahead(step), step));
        match (before, after) {
            (Some(before), Some(after)) => Some(if after.0 > before.0 { after } else { before }),
            (before, after) => before.or(after),
        }
    }
}

fn negated(mut value: Quotient) -> Quotient {
    value.numerator = -value.numerator;
    value
}

/// The holders of a row, those left out that hold no more than one of a level as high.
fn staircase(instance: &Instance<'_>, row: usize, holders: &[(usize, Quotient, &Integer)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (user, level, x) in holders {
        let Some(usage) = Usage::of(instance, *user, row) else { continue };
        let used = Integer::from(&*usage.per_task * *x);
        // The scale of a row of time is a multiple of the gammas of those who hold some of it.
        let amount = used.div_exact(&usage.put(Integer::from(1)));
        if steps.last().is_none_or(|last| amount > last.amount) {
            steps.push(Step { user: *user, level: level.clone(), amount });
        }
    }
    steps
}
