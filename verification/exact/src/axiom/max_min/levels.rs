//! The shares of an allocation in integers, and what users would have alone.

use rug::{Integer, Rational};

use crate::instance::Instance;
use crate::quotient::Quotient;
use crate::refusal::Refusal;
use crate::share::ShareCoefficients;

/// `G_n` of every user, by `n`: its share when it has everything to itself; 0 for those that are not
/// judged.
fn ceilings(instance: &Instance<'_>, share: &ShareCoefficients) -> Vec<Rational> {
    (0..instance.problem().n_users()).map(|n| ceiling(instance, share, n)).collect()
}

/// `G_n`; 0 for a user that is not active.
fn ceiling(instance: &Instance<'_>, share: &ShareCoefficients, n: usize) -> Rational {
    if !instance.is_active(n) {
        return Rational::new();
    }
    let user = &instance.problem().users()[n];
    if let Some(u) = share.uniform(n) {
        return Rational::from(u * instance.scale(n)) / user.weight();
    }
    // With room for T_n tasks in all, those on the most valuable classes.
    let mut classes: Vec<usize> = instance.scaled.classes(n).collect();
    classes.sort_by(|&a, &b| share.of(n, b).cmp(share.of(n, a)));
    let mut left = user.tasks().cloned();
    let mut sum = Rational::new();
    for i in classes {
        let mut tasks = instance.problem().gamma(n, i);
        if let Some(left) = &mut left {
            if *left < tasks {
                tasks.clone_from(left);
            }
            *left -= &tasks;
        }
        sum += tasks * share.of(n, i);
    }
    sum / user.weight()
}

/// `U_n` in integers, with what users would have alone.
pub(super) struct Levels<'a, 'b> {
    pub instance: &'a Instance<'b>,
    /// What [`Levels::scaled`] is over.
    pub over: Integer,
    /// `U_n` times the denominator of the share and `L`.
    pub scaled: Vec<Integer>,
    pub ceilings: Vec<Rational>,
}

impl<'a, 'b> Levels<'a, 'b> {
    pub fn new(instance: &'a Instance<'b>, share: &ShareCoefficients) -> Result<Self, Refusal> {
        let ceilings = ceilings(instance, share);
        let share = share.scaled(instance)?;
        let scaled = (0..instance.problem().n_users()).map(|n| share.level(instance, n)).collect();
        let over = Integer::from(&share.denominator * &instance.denominator);
        Ok(Self { instance, over, scaled, ceilings })
    }

    /// Whether the axiom says anything about user `n`: it is active and its share can be above 0.
    pub fn is_judged(&self, n: usize) -> bool {
        !self.ceilings[n].is_zero()
    }

    /// Whether user `n` has less than it would have alone.
    pub fn can_rise(&self, n: usize) -> bool {
        let ceiling = &self.ceilings[n];
        let own = || Integer::from(&self.scaled[n] * ceiling.denom());
        !ceiling.is_zero() && own() < Integer::from(&self.over * ceiling.numer())
    }

    pub fn of(&self, n: usize) -> Quotient {
        Quotient::new(self.scaled[n].clone(), self.over.clone())
    }
}
