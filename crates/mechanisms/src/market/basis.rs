//! Purchases of the users of time-shared classes, and the exact prices that they lead to.

use std::collections::BTreeMap;

use evenhand_problem::Rational;

use super::goods::Goods;
use crate::fisher::tree::{self, ExactMarket, Solved};

/// Who buys where, without cycles.
pub struct Basis {
    /// By buyer: the class where it buys; for those that buy on several, the first.
    pub class: Vec<u32>,
    /// By buyer: whether it has all its tasks.
    pub satisfied: Vec<bool>,
    /// Buyers with several classes that have a price.
    pub split: BTreeMap<usize, Vec<usize>>,
    /// Buyers with several classes that cost nothing: the parts of their tasks.
    pub free: BTreeMap<usize, Vec<(usize, f64)>>,
    /// By class: a price near the right one, for trees whose money does not tell it.
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
    /// The only prices and purchases of this basis; `None` where there are none, or a purchase is negative.
    pub fn solve(&self, goods: &Goods<'_>) -> Option<Solved> {
        let market = Exact { goods, basis: self, alpha: Rational::from(1) };
        let fixed = goods.fixed(|b| {
            let is_single = !self.split.contains_key(&b) && !self.free.contains_key(&b);
            is_single.then(|| (self.class[b] as usize, self.satisfied[b]))
        });
        let mut solved = tree::solve(&market, &self.split, &fixed)?;
        // Short numbers, where there is room for their rounding.
        let short = self.give_free(goods, fixed.left.clone(), &mut solved, crate::rounding::short);
        short.or_else(|| {
            let all_digits = |part| Rational::from_f64(part).unwrap_or_default();
            self.give_free(goods, fixed.left, &mut solved, all_digits)
        })?;
        Some(solved)
    }

    /// Those that cost nothing get all their tasks out of what is left, in about the parts that floating point found.
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
