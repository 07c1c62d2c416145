//! Solves one tree of purchases of a linear Fisher market (docs/theory.md, section 4, fact 5): its prices up to a
//! common factor, and what is bought along it, in rationals.

use evenhand_problem::Rational;

use super::root::power;
use super::{Buyer, Market, Unsolved};
use crate::rounding::short;

/// A tree that has been solved.
pub struct Tree {
    /// Users, then rows after the last user, each node after its parent.
    nodes: Vec<usize>,
    /// Price of a whole row, or of a task of a user, but for the factor of the tree.
    relative: Vec<Rational>,
    /// What tells the factor.
    anchor: Anchor,
}

/// What tells the factor of the prices of a tree.
enum Anchor {
    /// A task of the user at this position is worth what it costs.
    User(usize),
    /// Users that have all their tasks fill the rows exactly: a range of prices does, and floating point
    /// is inside of it.
    Price(Rational),
}

impl Tree {
    /// The tasks that are bought along the tree are added to `tasks`.
    pub fn solve(
        market: &Market<'_>,
        nodes: Vec<usize>,
        parents: &[usize],
        buyers: &[Buyer],
        tasks: &mut [Vec<(usize, Rational)>],
    ) -> Result<Self, Unsolved> {
        let problem = market.constraints.problem();
        let n_users = problem.n_users();
        let mut relative = vec![Rational::from(1); nodes.len()];
        for k in 1..nodes.len() {
            let (node, near, parent) = (nodes[k], nodes[parents[k]], &relative[parents[k]]);
            relative[k] = match node < n_users {
                true => parent / market.rate(node, near - n_users),
                false => parent * market.rate(near, node - n_users),
            };
        }
        // What is left for those that buy as long as it is worth it, at these prices.
        let mut left = Rational::new();
        let mut spenders = Vec::new();
        for (k, (node, price)) in nodes.iter().zip(&relative).enumerate() {
            if *node >= n_users {
                left += price;
            } else if buyers[*node] == Buyer::Spends {
                spenders.push(k);
            } else if let Some(limit) = problem.users()[*node].tasks() {
                left -= Rational::from(price * limit);
            }
        }
        let mut bought = vec![Rational::new(); nodes.len()];
        let anchor = match spenders.first() {
            Some(&first) => {
                divide(market, &nodes, &relative, &spenders, &left, &mut bought)?;
                Anchor::User(first)
            }
            None if left.is_zero() => Anchor::Price(short(market.row_price(nodes[0] - n_users))),
            None => return Err(Unsolved::NoAnchor),
        };
        for (k, node) in nodes.iter().enumerate().filter(|(_, node)| **node < n_users) {
            if let (Buyer::Satisfied, Some(limit)) = (buyers[*node], problem.users()[*node].tasks()) {
                bought[k].clone_from(limit);
            }
        }
        let tree = Self { nodes, relative, anchor };
        tree.purchases(market, parents, &bought, tasks)?;
        Ok(tree)
    }

    /// From the leaves inwards: what is left of the money of a node goes to its parent.
    fn purchases(
        &self,
        market: &Market<'_>,
        parents: &[usize],
        bought: &[Rational],
        tasks: &mut [Vec<(usize, Rational)>],
    ) -> Result<(), Unsolved> {
        let n_users = market.constraints.problem().n_users();
        let nodes = self.nodes.iter().zip(&self.relative).zip(bought);
        let money = |((node, price), bought): ((&usize, &Rational), &Rational)| match *node < n_users {
            true => Rational::from(price * bought),
            false => price.clone(),
        };
        let mut left: Vec<Rational> = nodes.map(money).collect();
        for k in (1..self.nodes.len()).rev() {
            let money = std::mem::take(&mut left[k]);
            if money < 0 {
                return Err(Unsolved::NegativePurchase);
            }
            left[parents[k]] -= &money;
            let (node, near) = (k, parents[k]);
            let (user, row) = if self.nodes[node] < n_users { (node, near) } else { (near, node) };
            if !money.is_zero() {
                let class = market.constraints.rows()[self.nodes[row] - n_users].server;
                tasks[self.nodes[user]].push((class, money / &self.relative[user]));
            }
        }
        if left[0].is_zero() { Ok(()) } else { Err(Unsolved::Uneven) }
    }

    /// Writes the prices of the rows of the tree, one unit of each; `worth` tells what a task of a user is
    /// worth.
    pub fn price<'w>(
        &self,
        market: &Market<'_>,
        worth: &dyn Fn(usize) -> Option<&'w Rational>,
        prices: &mut [Rational],
    ) -> Result<(), Unsolved> {
        let n_users = market.constraints.problem().n_users();
        let factor = match &self.anchor {
            Anchor::Price(price) => price.clone(),
            Anchor::User(at) => {
                let worth = worth(self.nodes[*at]).ok_or(Unsolved::NothingBought)?;
                Rational::from(worth / &self.relative[*at])
            }
        };
        for (node, relative) in self.nodes.iter().zip(&self.relative).filter(|(node, _)| **node >= n_users) {
            let row = node - n_users;
            prices[row] = Rational::from(relative * &factor) / &market.constraints.rows()[row].capacity;
        }
        Ok(())
    }
}

/// Divides what is `left` among the users at `spenders`: a task of each is worth what it costs, so that
/// `x_n` is proportional to `(w_n / price_n)^(1/a)`.
fn divide(
    market: &Market<'_>,
    nodes: &[usize],
    relative: &[Rational],
    spenders: &[usize],
    left: &Rational,
    bought: &mut [Rational],
) -> Result<(), Unsolved> {
    let users = market.constraints.problem().users();
    let marginal = |k: usize| Rational::from(users[nodes[k]].weight() / &relative[k]);
    let first = marginal(spenders[0]);
    let inverse = Rational::from(market.alpha.recip_ref());
    let mut sum = Rational::new();
    for &k in spenders {
        let ratio = power(&(marginal(k) / &first), &inverse);
        bought[k] = ratio.ok_or(Unsolved::Irrational)?;
        sum += Rational::from(&bought[k] * &relative[k]);
    }
    if *left <= 0 {
        return Err(Unsolved::NothingLeft);
    }
    let unit = Rational::from(left / &sum);
    for &k in spenders {
        bought[k] *= &unit;
    }
    Ok(())
}
