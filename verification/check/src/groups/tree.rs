//! The constant data of the tree that is filled (docs/theory.md, section 9): parents and children, amounts kept back,
//! and the divisors of shares.

use std::collections::BTreeMap;

use rug::Rational;

use super::holdings::{CELLS, Holdings};
use crate::case::Case;
use crate::names::at;
use crate::work::{self, Checked, ensure_small};

/// Amounts by resource.
pub type Vector = Vec<Rational>;

/// A tree whose nodes are the groups, the root and the users.
pub struct Tree<'c> {
    pub case: &'c Case<'c>,
    pub of: Holdings<'c>,
    /// The position of the root. Groups have smaller positions, and users have larger positions.
    pub root: usize,
    /// The children of each node, in ascending order.
    pub children: Vec<Vec<usize>>,
    /// The families of resources. The amounts of a family are summed with a multiplier for each resource, and a share
    /// is the largest such sum.
    pub families: Vec<Vec<(usize, Rational)>>,
    /// The divisors of shares, by node and family. A family with the divisor 0 is ignored.
    pub divisors: Vec<Vector>,
}

impl<'c> Tree<'c> {
    pub fn new(case: &'c Case<'c>) -> Checked<Self> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        let (m, root) = (problem.resources.list.len(), groups.list.len());
        let count = root + 1 + problem.users.len();
        ensure_small(count.saturating_mul(m) <= CELLS, "groups and users, times resources")?;
        work::spend(8 * count * m)?;
        let of = Holdings::new(case)?;
        let mut families = BTreeMap::<&str, Vec<(usize, Rational)>>::new();
        for (r, _) in &of.capacity {
            let name = problem.resources.list[*r].as_str();
            let name = if groups.share.families { name.rsplit('/').next().unwrap_or(name) } else { name };
            let multiplier = at(&groups.share.multipliers, *r).cloned().unwrap_or(Rational::from(1));
            families.entry(name).or_default().push((*r, multiplier));
        }
        let mut children = vec![Vec::new(); count];
        let parents = groups.list.iter().map(|group| group.parent);
        let parents = parents.chain([None]).chain(groups.members.iter().map(|member| member.group));
        for (k, parent) in parents.enumerate().filter(|(k, _)| *k != root) {
            children[parent.unwrap_or(root)].push(k);
        }
        let families = families.into_values().collect();
        let mut tree = Self { case, of, root, children, families, divisors: vec![Vector::new(); count] };
        let all: Vector = (0..m).map(|r| at(&tree.of.capacity, r).cloned().unwrap_or_default()).collect();
        tree.divide(root, &all, &all);
        Ok(tree)
    }

    /// Computes the divisors of shares below a node. A divisor is the capacity of the cluster, the lendable amount at
    /// the node, or the guarantee of the node.
    fn divide(&mut self, v: usize, all: &[Rational], lendable: &[Rational]) {
        let over = self.case.problem.groups.share.words[1];
        let divisor = |family: &Vec<(usize, Rational)>| {
            let whole = |r: usize| match over {
                None => all[r].clone(),
                Some("lendable") => lendable[r].clone(),
                Some(_) => self.of.promised(v, r).cloned().unwrap_or_default(),
            };
            let sum: Rational = family.iter().map(|(r, _)| whole(*r)).sum();
            let is_cluster = over == Some("guarantee") && !self.says("surplus") && sum.is_zero();
            if is_cluster { family.iter().map(|(r, _)| &all[*r]).sum() } else { sum }
        };
        let divisors = self.families.iter().map(divisor).collect();
        let there = |r: usize| Rational::from(self.kept(v, r) + &lendable[r]);
        let most = |r: usize| self.of.limit(v, r).into_iter().cloned().fold(there(r), Rational::min);
        let below: Vector = (0..all.len()).map(|r| most(r) - self.kept_below(v, r)).collect();
        self.divisors[v] = divisors;
        self.children[v].clone().into_iter().for_each(|k| self.divide(k, all, &below));
    }

    /// Returns true if the settings of the share contain this word.
    pub fn says(&self, word: &str) -> bool {
        self.case.problem.groups.share.words.contains(&Some(word))
    }

    pub fn user(&self, v: usize) -> Option<usize> {
        v.checked_sub(self.root + 1)
    }

    /// Returns the weight of a group or a user, or `None` for the root.
    pub fn weight(&self, v: usize) -> Option<&Rational> {
        let group = self.case.problem.groups.list.get(v).map(|group| &group.weight);
        group.or_else(|| Some(&self.case.problem.users[self.user(v)?].weight))
    }

    /// Returns the amount that is kept back for a node, `K_v`.
    pub fn kept(&self, v: usize, r: usize) -> &Rational {
        self.of.kept[..self.root].get(v).map_or(Rational::ZERO, |kept| &kept[r])
    }

    /// Returns the sum of the amounts that are kept back for the children of a node. The usage of the node includes
    /// this amount before any user has tasks.
    pub fn kept_below(&self, v: usize, r: usize) -> Rational {
        self.children[v].iter().map(|k| self.kept(*k, r)).sum()
    }

    pub fn users_below(&self, v: usize) -> Vec<usize> {
        let below = self.children[v].iter().flat_map(|k| self.users_below(*k));
        self.user(v).into_iter().chain(below).collect()
    }

    /// Returns the nodes from the parent of user `n` up to the root.
    pub fn above(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        self.case.problem.groups.above_user(n).chain([self.root])
    }

    /// Returns the demands of a task of user `n` for resources that some server has.
    pub fn asked(&self, n: usize) -> impl Iterator<Item = &(usize, Rational)> {
        self.case.problem.users[n].demand.iter().filter(|(r, _)| at(&self.of.capacity, *r).is_some())
    }
}
