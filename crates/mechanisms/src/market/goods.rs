//! The users of time-shared classes as buyers of a market. Numbers are in floating point where that is
//! accurate enough.

use evenhand_budget::each;
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Problem, Rational};
use rug::Integer;

use crate::fisher::tree::Fixed;

/// The number of classes above which the matrix of a Newton step is too large.
const MOST_GOODS: usize = 2000;
/// The largest absolute value of the natural logarithm of a weight.
const RANGE: f64 = 400.0;

/// The buyers and the logarithms of their rates. An entry is a pair of a buyer and a class on which it can run.
pub struct Goods<'a> {
    pub problem: &'a Problem,
    /// The users that can run a task, which are the buyers.
    pub active: Vec<usize>,
    /// The bounds of each buyer's entries: the entries of buyer `b` are `start[b]..start[b + 1]`.
    pub start: Vec<usize>,
    /// The class of each entry.
    pub good: Vec<u32>,
    /// `ln gamma_ni` of each entry.
    pub log_rate: Vec<f64>,
    /// `w_n` of each buyer.
    pub weight: Vec<f64>,
    /// `ln w_n` of each buyer.
    pub log_weight: Vec<f64>,
    /// `ln T_n` of each buyer, infinite without a limit.
    pub log_tasks: Vec<f64>,
}

impl<'a> Goods<'a> {
    /// Collects the buyers. Returns `None` if some classes are not shared by time, there are too many classes, or a
    /// weight is outside the accepted range.
    pub fn new(constraints: &Constraints<'a>) -> Option<Self> {
        let problem = constraints.problem();
        let n_goods = problem.n_servers();
        if n_goods > MOST_GOODS || !(0..n_goods).all(|i| constraints.is_time_shared(i)) {
            return None;
        }
        let buyer = |n: usize| {
            let classes: Vec<(u32, f64)> =
                problem.classes_of(n).map(|i| (i as u32, log(&problem.unconstrained_gamma(n, i)))).collect();
            (n, classes)
        };
        let buyer = |n: usize| problem.is_active(n).then(|| buyer(n));
        let buyers: Vec<(usize, Vec<(u32, f64)>)> =
            each(problem.n_users(), problem.n_servers(), buyer).into_iter().flatten().collect();
        let n_places = buyers.iter().map(|(_, classes)| classes.len()).sum();
        let mut goods = Self {
            problem,
            active: Vec::with_capacity(buyers.len()),
            start: vec![0],
            good: Vec::with_capacity(n_places),
            log_rate: Vec::with_capacity(n_places),
            weight: Vec::with_capacity(buyers.len()),
            log_weight: Vec::with_capacity(buyers.len()),
            log_tasks: Vec::with_capacity(buyers.len()),
        };
        for (n, classes) in buyers {
            let user = &problem.users()[n];
            goods.active.push(n);
            goods.good.extend(classes.iter().map(|(i, _)| i));
            goods.log_rate.extend(classes.iter().map(|(_, rate)| rate));
            goods.start.push(goods.good.len());
            goods.log_weight.push(log(user.weight()));
            goods.weight.push(user.weight().to_f64());
            goods.log_tasks.push(user.tasks().map_or(f64::INFINITY, log));
        }
        goods.log_weight.iter().all(|w| w.abs() < RANGE).then_some(goods)
    }

    pub fn n_buyers(&self) -> usize {
        self.active.len()
    }

    pub fn n_goods(&self) -> usize {
        self.problem.n_servers()
    }

    /// Returns the exact `gamma_ni` of buyer `b` on class `i`.
    pub fn rate(&self, b: usize, i: usize) -> Rational {
        self.problem.unconstrained_gamma(self.active[b], i)
    }

    /// Returns the exact `w_n` of buyer `b`.
    pub fn exact_weight(&self, b: usize) -> &Rational {
        self.problem.users()[self.active[b]].weight()
    }

    /// Returns the exact `T_n` of buyer `b`, or `None` without a limit.
    pub fn tasks(&self, b: usize) -> Option<&Rational> {
        self.problem.users()[self.active[b]].tasks()
    }

    /// Returns the money spent on each class by the buyers with a single class, and the fraction of each
    /// class that they leave.
    ///
    /// `class` returns the class of a buyer with a single class and whether it has all its tasks. It returns
    /// `None` for all other buyers.
    pub fn fixed(&self, class: impl Fn(usize) -> Option<(usize, bool)>) -> Fixed {
        let mut money = vec![Rational::new(); self.n_goods()];
        let mut used = vec![Vec::new(); self.n_goods()];
        for b in 0..self.n_buyers() {
            let Some((i, is_satisfied)) = class(b) else { continue };
            match self.tasks(b).filter(|_| is_satisfied) {
                Some(tasks) => used[i].push(tasks / self.rate(b, i)),
                None => money[i] += self.exact_weight(b),
            }
        }
        let left = used.into_iter().map(|terms| Rational::from(1) - sum(terms)).collect();
        Fixed { money, left }
    }

    /// Returns the classes on which buyer `b` can run, each with `ln gamma_ni`.
    pub fn places(&self, b: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let places = self.start[b]..self.start[b + 1];
        places.map(|k| (self.good[k] as usize, self.log_rate[k]))
    }

    /// Returns `ln gamma_ni` of buyer `b` on class `i`.
    pub fn log_rate_of(&self, b: usize, i: usize) -> f64 {
        self.places(b).find(|(good, _)| *good == i).map_or(f64::NEG_INFINITY, |(_, rate)| rate)
    }
}

/// Returns the natural logarithm of a positive number of any size. The error is a few units in the last place of the
/// result or of 1, whichever is larger.
pub fn log(value: &Rational) -> f64 {
    let (numerator, denominator) = (value.numer(), value.denom());
    if numerator.significant_bits() < 500 && denominator.significant_bits() < 500 {
        return libm::log(numerator.to_f64() / denominator.to_f64());
    }
    let part = |term: &Integer| term.to_f64_exp();
    let ((a, high), (b, low)) = (part(numerator), part(denominator));
    libm::log(a / b) + (f64::from(high) - f64::from(low)) * std::f64::consts::LN_2
}

/// Returns the natural logarithm with full relative accuracy even if `value` is close to 1.
pub fn log_near_one(value: &Rational) -> f64 {
    let above = Rational::from(value - 1u32);
    if above.clone().abs() < Rational::from((1, 4)) { libm::log1p(near(&above)) } else { log(value) }
}

/// Returns the sum of many numbers, adding them in pairs. A sum of fractions with different denominators is
/// as long as all of them together, so terms of similar length are added first.
fn sum(mut terms: Vec<Rational>) -> Rational {
    while terms.len() > 1 {
        let pairs = terms.chunks(2);
        terms = pairs
            .map(|pair| match pair {
                [a, b] => Rational::from(a + b),
                _ => pair[0].clone(),
            })
            .collect();
    }
    terms.pop().unwrap_or_default()
}
