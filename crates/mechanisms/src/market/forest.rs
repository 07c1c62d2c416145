//! The prices and purchases of a forest between the classes, in rationals.

use std::collections::BTreeMap;

use evenhand_problem::Rational;

use super::goods::{Goods, sum};

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

/// What a basis leads to.
pub struct Solved {
    /// Price of every class; of some 0.
    pub prices: Vec<Rational>,
    /// Tasks of the buyers with several classes.
    pub split: BTreeMap<usize, Vec<(usize, Rational)>>,
}

/// Who buys one class alone: money of those that spend all of theirs, and what is left beside those that have all their tasks.
pub struct Fixed {
    pub money: Vec<Rational>,
    pub left: Vec<Rational>,
}

impl Fixed {
    /// Of the buyers `b` for which `class` tells the class and whether they have all their tasks.
    pub fn new(goods: &Goods<'_>, class: impl Fn(usize) -> Option<(usize, bool)>) -> Self {
        let n_goods = goods.n_goods();
        let mut money = vec![Rational::new(); n_goods];
        let mut used = vec![Vec::new(); n_goods];
        for b in 0..goods.n_buyers() {
            let Some((i, is_satisfied)) = class(b) else { continue };
            match goods.tasks(b).filter(|_| is_satisfied) {
                Some(tasks) => used[i].push(tasks / goods.rate(b, i)),
                None => money[i] += goods.exact_weight(b),
            }
        }
        let left = used.into_iter().map(|terms| Rational::from(1) - sum(terms)).collect();
        Self { money, left }
    }
}

/// A node of a tree: a class, or a buyer between classes.
#[derive(Clone, Copy)]
enum Node {
    Class(usize),
    Buyer(usize),
}

impl Basis {
    /// The only prices and purchases of this basis; `None` where there are none, or a purchase is negative.
    pub fn solve(&self, goods: &Goods<'_>) -> Option<Solved> {
        let fixed = Fixed::new(goods, |b| {
            let is_single = !self.split.contains_key(&b) && !self.free.contains_key(&b);
            is_single.then(|| (self.class[b] as usize, self.satisfied[b]))
        });
        let n_goods = goods.n_goods();
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); n_goods];
        for (b, classes) in &self.split {
            classes.iter().for_each(|i| at[*i].push(*b));
        }
        let mut solved = Solved { prices: vec![Rational::new(); n_goods], split: BTreeMap::new() };
        let mut seen = vec![false; n_goods];
        for root in 0..n_goods {
            if !seen[root] {
                self.tree(goods, &fixed, &at, root, &mut seen, &mut solved)?;
            }
        }
        // Short numbers, where there is room for their rounding.
        let short = self.give_free(goods, fixed.left.clone(), &mut solved, crate::rounding::short);
        short.or_else(|| {
            let all_digits = |part| Rational::from_f64(part).unwrap_or_default();
            self.give_free(goods, fixed.left, &mut solved, all_digits)
        })?;
        Some(solved)
    }

    fn tree(
        &self,
        goods: &Goods<'_>,
        fixed: &Fixed,
        at: &[Vec<usize>],
        root: usize,
        seen: &mut [bool],
        solved: &mut Solved,
    ) -> Option<()> {
        // Nodes, each after its parent, with prices of classes and of tasks but for a common factor.
        let mut nodes = vec![(Node::Class(root), 0, Rational::from(1))];
        seen[root] = true;
        let (mut money, mut left) = (Rational::new(), Rational::new());
        let mut next = 0;
        while next < nodes.len() {
            let (node, parent, price) = (nodes[next].0, nodes[next].1, nodes[next].2.clone());
            match node {
                Node::Class(i) => {
                    money += &fixed.money[i];
                    left += Rational::from(&price * &fixed.left[i]);
                    let above = match nodes[parent].0 {
                        Node::Buyer(b) => Some(b),
                        Node::Class(_) => None,
                    };
                    for &b in at[i].iter().filter(|b| Some(**b) != above) {
                        nodes.push((Node::Buyer(b), next, &price / goods.rate(b, i)));
                    }
                }
                Node::Buyer(b) => {
                    match goods.tasks(b).filter(|_| self.satisfied[b]) {
                        Some(tasks) => left -= Rational::from(&price * tasks),
                        None => money += goods.exact_weight(b),
                    }
                    let Node::Class(above) = nodes[parent].0 else { return None };
                    for &i in self.split[&b].iter().filter(|i| **i != above) {
                        if std::mem::replace(&mut seen[i], true) {
                            return None;
                        }
                        nodes.push((Node::Class(i), next, &price * goods.rate(b, i)));
                    }
                }
            }
            next += 1;
        }
        let factor = if money > 0 {
            if left <= 0 {
                return None;
            }
            money / left
        } else if left < 0 {
            return None;
        } else if left > 0 {
            // Nobody pays for what is left over.
            return (nodes.len() == 1).then_some(());
        } else {
            self.near[root].clone()
        };
        nodes.iter_mut().for_each(|(_, _, price)| *price *= &factor);
        self.purchases(goods, fixed, &nodes, solved)
    }

    /// From the leaves inwards: what a class still needs comes from its parent, what a buyer has left goes to it.
    fn purchases(
        &self,
        goods: &Goods<'_>,
        fixed: &Fixed,
        nodes: &[(Node, usize, Rational)],
        solved: &mut Solved,
    ) -> Option<()> {
        let due = nodes.iter().map(|(node, _, price)| match node {
            Node::Class(i) => Rational::from(price * &fixed.left[*i]) - &fixed.money[*i],
            Node::Buyer(b) => match goods.tasks(*b).filter(|_| self.satisfied[*b]) {
                Some(tasks) => Rational::from(price * tasks),
                None => goods.exact_weight(*b).clone(),
            },
        });
        let mut due: Vec<Rational> = due.collect();
        for k in (1..nodes.len()).rev() {
            let money = std::mem::take(&mut due[k]);
            if money < 0 {
                return None;
            }
            let parent = nodes[k].1;
            due[parent] -= &money;
            let (b, i, cost) = match (nodes[k].0, nodes[parent].0) {
                (Node::Class(i), Node::Buyer(b)) => (b, i, &nodes[parent].2),
                (Node::Buyer(b), Node::Class(i)) => (b, i, &nodes[k].2),
                _ => return None,
            };
            if !money.is_zero() && !cost.is_zero() {
                solved.split.entry(b).or_default().push((i, money / cost));
            }
        }
        for (node, _, price) in nodes {
            if let Node::Class(i) = node {
                solved.prices[*i].clone_from(price);
            }
        }
        due[0].is_zero().then_some(())
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
            solved.split.insert(b, list);
        }
        let is_full = |(left, price): (&Rational, &Rational)| *left >= 0 || !price.is_zero();
        left.iter().zip(&solved.prices).all(is_full).then_some(())
    }
}
