//! Rates of a user: the throughput of one accelerator of each server class.
//!
//! A task is one unit of throughput. On class `i` a task takes the demand of one accelerator divided by
//! `rate_ni`. The rates therefore determine the demands on classes and the classes that the user may use
//! (docs/theory.md, section 12).

use rug::Rational;

use super::{Problem, User, lookup};
use crate::quantities::Quantities;

/// The rates of a user, and the most accelerators that it may use at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    by_class: Vec<(usize, Rational)>,
    times: Vec<(usize, Rational)>,
    at_most: Option<Rational>,
}

crate::names::getters! { Rates:
    /// The rates above 0 on classes that the user may use, each with its class, in ascending order of class.
    by_class: [(usize, Rational)];
    /// The number of accelerators that one task takes, `1 / rate_ni`, each with its class, in ascending order
    /// of class.
    times: [(usize, Rational)];
}

impl Rates {
    /// Creates the rates of a user that may use the classes `allowed`, or all classes if `allowed` is `None`.
    /// Rates of 0, and rates on other classes, are left out.
    pub(super) fn new(
        stated: Vec<(usize, Rational)>,
        allowed: Option<&[usize]>,
        at_most: Option<Rational>,
    ) -> Self {
        let may_use = |i: &usize| allowed.is_none_or(|list| list.binary_search(i).is_ok());
        let by_class: Vec<(usize, Rational)> =
            stated.into_iter().filter(|(i, rate)| !rate.is_zero() && may_use(i)).collect();
        let times = by_class.iter().map(|(i, rate)| (*i, Rational::from(rate.recip_ref()))).collect();
        Self { by_class, times, at_most }
    }

    /// Returns the most accelerators that the user may use at once, or `None` without a limit.
    #[must_use]
    pub fn at_most(&self) -> Option<&Rational> {
        self.at_most.as_ref()
    }

    /// Returns the demand of one task on each class, given the demand of one accelerator.
    pub(super) fn demands(&self, of_accelerator: &Quantities) -> Vec<(usize, Quantities)> {
        let demand = |time: &Rational| {
            let amounts = of_accelerator.entries().iter().map(|(r, d)| (*r, Rational::from(d * time)));
            Quantities::new(of_accelerator.len(), amounts.collect())
        };
        self.times.iter().map(|(i, time)| (*i, demand(time))).collect()
    }
}

impl User {
    /// Returns the rates of the user, or `None` if it states no rates.
    #[must_use]
    pub fn rates(&self) -> Option<&Rates> {
        self.rates.as_deref()
    }

    /// Returns the most accelerators that the user may use at once, or `None` without a limit. It is the
    /// bound of `sum_i x_ni / rate_ni`.
    #[must_use]
    pub fn at_most(&self) -> Option<&Rational> {
        self.rates.as_ref()?.at_most.as_ref()
    }

    /// Returns the number of accelerators that one task takes on class `i`, `1 / rate_ni`. Returns `None` if
    /// the user states no rate on the class.
    #[must_use]
    pub fn time_on(&self, i: usize) -> Option<&Rational> {
        lookup(&self.rates.as_ref()?.times, i)
    }
}

impl Problem {
    /// Returns whether some user states rates.
    #[must_use]
    pub fn has_rates(&self) -> bool {
        self.users.iter().any(|user| user.rates.is_some())
    }

    /// Returns whether some user limits the accelerators that it uses at once.
    #[must_use]
    pub fn has_at_most(&self) -> bool {
        self.users.iter().any(|user| user.at_most().is_some())
    }

    /// Returns the tasks of user `n` if it has the fraction `part` of every class: the largest `sum_i x_ni` with
    /// `x_ni <= part gamma_ni`, at most `at_most` accelerators and at most `T_n` tasks.
    ///
    /// The classes are independent of each other except for the accelerators, so the user fills the classes with the
    /// highest rates first.
    #[must_use]
    pub fn most_with(&self, n: usize, part: &Rational) -> Rational {
        let of_part = |i: usize| (i, self.unconstrained_gamma(n, i) * part);
        let most = self.best_use(n, self.classes_of(n).map(of_part).collect());
        match self.users[n].tasks().filter(|tasks| **tasks < most) {
            Some(tasks) => tasks.clone(),
            None => most,
        }
    }

    /// Returns the largest `sum_i x_ni` of user `n`, with at most the given number of tasks `x_ni` on each
    /// class and at most `at_most` accelerators. The number of tasks `T_n` that the user has is not a limit
    /// here.
    #[must_use]
    pub fn best_use(&self, n: usize, mut tasks: Vec<(usize, Rational)>) -> Rational {
        let user = &self.users[n];
        let Some(at_most) = user.at_most() else { return tasks.into_iter().map(|(_, x)| x).sum() };
        // A class on which a task takes fewer accelerators comes first.
        let zero = Rational::new();
        let time = |i: usize| user.time_on(i).unwrap_or(&zero);
        tasks.sort_by(|(a, _), (b, _)| time(*a).cmp(time(*b)).then(a.cmp(b)));
        let (mut left, mut sum) = (at_most.clone(), Rational::new());
        for (i, most) in tasks {
            let takes = Rational::from(time(i) * &most);
            if takes <= left {
                left -= takes;
                sum += most;
            } else {
                sum += left / time(i);
                break;
            }
        }
        sum
    }

    /// Returns the tasks of user `n` if it has the fraction `part` of every class and uses all classes in the
    /// same proportion: `part gamma_n`, scaled down to `at_most` accelerators if the user would otherwise use
    /// more.
    #[must_use]
    pub fn proportional_use(&self, n: usize, part: &Rational) -> Rational {
        let user = &self.users[n];
        let tasks: Vec<(usize, Rational)> =
            self.classes_of(n).map(|i| (i, self.unconstrained_gamma(n, i) * part)).collect();
        let sum: Rational = tasks.iter().map(|(_, x)| x).sum();
        let Some(at_most) = user.at_most() else { return sum };
        let takes = |(i, x): &(usize, Rational)| Some(Rational::from(user.time_on(*i)? * x));
        let all: Rational = tasks.iter().filter_map(takes).sum();
        if all > *at_most { sum * at_most / all } else { sum }
    }
}
