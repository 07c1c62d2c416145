//! The shares of an allocation as integers, and the shares that users would have alone.

use rug::{Integer, Rational};

use crate::instance::Instance;
use crate::quotient::Quotient;
use crate::refusal::Refusal;
use crate::share::ShareCoefficients;

/// Returns `G_n` of every user: its share if it has the whole cluster to itself. The number is 0 for users that take no
/// part in the axiom.
fn ceilings(instance: &Instance<'_>, share: &ShareCoefficients) -> Vec<Rational> {
    (0..instance.problem().n_users()).map(|n| ceiling(instance, share, n)).collect()
}

/// Returns `G_n`, which is 0 for an inactive user.
fn ceiling(instance: &Instance<'_>, share: &ShareCoefficients, n: usize) -> Rational {
    if !instance.is_active(n) {
        return Rational::new();
    }
    let user = &instance.problem().users()[n];
    if let Some(u) = share.uniform(n) {
        return Rational::from(u * instance.scale(n)) / user.weight();
    }
    // The user places its `T_n` tasks on the most valuable classes first.
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

/// The shares `U_n` as integers, and the shares that users would have alone.
pub(super) struct Levels<'a, 'b> {
    pub instance: &'a Instance<'b>,
    /// The common denominator of [`Levels::scaled`].
    pub over: Integer,
    /// The shares `U_n`, times the denominator of the share and `L`.
    pub scaled: Vec<Integer>,
    /// The shares `G_n` that users would have alone.
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

    /// Returns true if user `n` takes part in the axiom: the user is active, and its share can be above 0.
    pub fn is_judged(&self, n: usize) -> bool {
        !self.ceilings[n].is_zero()
    }

    /// Returns true if user `n` has a smaller share than it would have alone.
    pub fn can_rise(&self, n: usize) -> bool {
        let ceiling = &self.ceilings[n];
        let own = || Integer::from(&self.scaled[n] * ceiling.denom());
        !ceiling.is_zero() && own() < Integer::from(&self.over * ceiling.numer())
    }

    /// Returns `U_n`.
    pub fn of(&self, n: usize) -> Quotient {
        Quotient::new(self.scaled[n].clone(), self.over.clone())
    }
}
