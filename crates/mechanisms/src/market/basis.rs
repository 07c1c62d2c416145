//! The purchases of the users of time-shared classes, and the exact prices that these purchases determine.

use std::collections::BTreeMap;

use evenhand_problem::Rational;

use super::goods::Goods;
use crate::fisher::tree::{self, ExactMarket, Solved};

/// The classes that each buyer buys. The purchases form a forest of buyers and classes.
pub struct Basis {
    /// The class of each buyer. For buyers of several classes, the first class.
    pub class: Vec<u32>,
    /// One entry for each buyer: `true` if the buyer has all its tasks.
    pub satisfied: Vec<bool>,
    /// The classes of buyers that buy several classes with a positive price.
    pub split: BTreeMap<usize, Vec<usize>>,
    /// The classes of buyers that use several free classes, each with the fraction of the buyer's tasks.
    pub free: BTreeMap<usize, Vec<(usize, f64)>>,
    /// An approximate price of each class, for trees in which the money does not determine the prices rationally.
    pub near: Vec<Rational>,
}

/// The market of a basis in exact numbers.
struct Exact<'a> {
    goods: &'a Goods<'a>,
    basis: &'a Basis,
    alpha: Rational,
}

impl ExactMarket for Exact<'_> {
    fn n_goods(&self) -> usize {
        self.goods.n_goods()
    }

    fn rate(&self, b: usize, i: usize) -> Rational {
        self.goods.rate(b, i)
    }

    fn weight(&self, b: usize) -> &Rational {
        self.goods.exact_weight(b)
    }

    fn all_tasks(&self, b: usize) -> Option<&Rational> {
        self.goods.tasks(b).filter(|_| self.basis.satisfied[b])
    }

    fn alpha(&self) -> &Rational {
        &self.alpha
    }

    fn near_price(&self, i: usize) -> Rational {
        self.basis.near[i].clone()
    }
}

impl Basis {
    /// Computes the unique prices and purchases of this basis. Returns `None` if they do not exist, or if a
    /// purchase is negative.
    pub fn solve(&self, goods: &Goods<'_>) -> Option<Solved> {
        let market = Exact { goods, basis: self, alpha: Rational::from(1) };
        let fixed = goods.fixed(|b| {
            let is_single = !self.split.contains_key(&b) && !self.free.contains_key(&b);
            is_single.then(|| (self.class[b] as usize, self.satisfied[b]))
        });
        let mut solved = tree::solve(&market, &self.split, &fixed)?;
        // Short numbers are tried first. If rounding overfills a class, all digits are used.
        let short = self.give_free(goods, fixed.left.clone(), &mut solved, crate::rounding::short);
        short.or_else(|| {
            let all_digits = |part| Rational::from_f64(part).unwrap_or_default();
            self.give_free(goods, fixed.left, &mut solved, all_digits)
        })?;
        Some(solved)
    }

    /// Gives the buyers of free classes all their tasks, in about the fractions that floating point found.
    /// Returns `None` if the free capacity does not suffice.
    fn give_free(
        &self,
        goods: &Goods<'_>,
        mut left: Vec<Rational>,
        solved: &mut Solved,
        rounded: impl Fn(f64) -> Rational,
    ) -> Option<()> {
        for (&b, parts) in &self.free {
            let all = goods.tasks(b)?;
            let (first, others) = parts.split_first()?;
            let mut list = Vec::new();
            let mut rest = all.clone();
            for (i, part) in others {
                let tasks = rounded(*part) * all;
                rest -= &tasks;
                list.push((*i, tasks));
            }
            list.push((first.0, rest));
            for (i, tasks) in &list {
                left[*i] -= tasks / goods.rate(b, *i);
                if *tasks < 0 || !solved.prices[*i].is_zero() {
                    return None;
                }
            }
            solved.tasks.insert(b, list);
        }
        let is_full = |(left, price): (&Rational, &Rational)| *left >= 0 || !price.is_zero();
        left.iter().zip(&solved.prices).all(is_full).then_some(())
    }
}
