//! The prices and purchases of a linear Fisher market along a forest, in rationals.
//!
//! In each tree, one price determines all other prices. The tasks follow from the value of the tree's goods,
//! and the purchases are computed from the leaves inwards (docs/theory.md, section 4, fact 5).

use std::collections::BTreeMap;

use evenhand_problem::Rational;

use rug::ops::Pow;
use rug::{Complete, Integer};

/// A market in exact numbers.
pub trait ExactMarket {
    /// Returns the number of goods.
    fn n_goods(&self) -> usize;
    /// Returns the number of tasks that a user can run on the whole of a good.
    fn rate(&self, user: usize, good: usize) -> Rational;
    /// Returns the weight `w_n` of a user.
    fn weight(&self, user: usize) -> &Rational;
    /// Returns the number of tasks of a user that buys all its tasks, or `None` for a user that buys tasks as
    /// long as they are worth their price.
    fn all_tasks(&self, user: usize) -> Option<&Rational>;
    /// Returns the exponent `a` of the objective.
    fn alpha(&self) -> &Rational;
    /// Returns an approximate price of the whole good, for trees whose money does not determine it.
    fn near_price(&self, good: usize) -> Rational;
}

/// The effect of users outside the trees on the goods. Each of these users buys one good.
pub struct Fixed {
    /// The money spent on each good by users that spend all of their money. It is known in advance only for the
    /// exponent 1.
    pub money: Vec<Rational>,
    /// The fraction of each good that users with all their tasks leave.
    pub left: Vec<Rational>,
}

/// The prices and purchases that follow from a forest.
pub struct Solved {
    /// The price of each whole good. It may be 0.
    pub prices: Vec<Rational>,
    /// The tasks of each user in a tree, as pairs of good and tasks.
    pub tasks: BTreeMap<usize, Vec<(usize, Rational)>>,
    /// The trees whose prices are known only up to a factor.
    pub anchored: Vec<Anchored>,
}

/// A tree whose prices are known up to a factor. The factor follows from the condition that a task of `user`
/// is worth its price. It can be irrational for an exponent other than 1.
pub struct Anchored {
    pub goods: Vec<usize>,
    pub user: usize,
    /// The price of a task of `user`, without the factor of the tree.
    pub price: Rational,
}

/// Computes the unique prices and purchases of a forest, given by the goods that each user buys. Returns
/// `None` if they do not exist, or if a purchase is negative.
pub fn solve<M: ExactMarket>(
    market: &M,
    purchases: &BTreeMap<usize, Vec<usize>>,
    fixed: &Fixed,
) -> Option<Solved> {
    let n_goods = market.n_goods();
    let mut buyers: Vec<Vec<usize>> = vec![Vec::new(); n_goods];
    for (user, goods) in purchases {
        goods.iter().for_each(|good| buyers[*good].push(*user));
    }
    let solved =
        Solved { prices: vec![Rational::new(); n_goods], tasks: BTreeMap::new(), anchored: Vec::new() };
    let mut forest = Forest { market, purchases, fixed, buyers, seen: vec![false; n_goods], solved };
    for root in 0..n_goods {
        if !forest.seen[root] {
            forest.tree(root)?;
        }
    }
    Some(forest.solved)
}

#[derive(Clone, Copy, PartialEq)]
enum Node {
    Good(usize),
    User(usize),
}

/// A node of a tree with the position of its parent. The price is the price of a whole good or of a user's
/// task.
struct Place {
    node: Node,
    parent: usize,
    price: Rational,
}

struct Forest<'a, M> {
    market: &'a M,
    purchases: &'a BTreeMap<usize, Vec<usize>>,
    fixed: &'a Fixed,
    /// The users that buy each good.
    buyers: Vec<Vec<usize>>,
    /// One entry for each good: `true` if the good is part of a tree already.
    seen: Vec<bool>,
    solved: Solved,
}

impl<M: ExactMarket> Forest<'_, M> {
    /// Computes the prices and purchases of the tree that contains the good `root`.
    fn tree(&mut self, root: usize) -> Option<()> {
        let mut places = self.grow(root)?;
        let left = self.left(&places);
        let is_spender = |place: &Place| match place.node {
            Node::User(user) => self.market.all_tasks(user).is_none(),
            Node::Good(_) => false,
        };
        let spenders: Vec<usize> = (0..places.len()).filter(|k| is_spender(&places[*k])).collect();
        let mut money: Rational = places.iter().filter_map(|place| self.fixed_money(place)).sum();
        if spenders.is_empty() && money.is_zero() {
            // A good for which no user pays has the price 0 if some of it is left over. If all of it is used,
            // its price may be any number in a range.
            if !left.is_zero() {
                return (left > 0 && places.len() == 1).then_some(());
            }
            scale(&mut places, &self.market.near_price(root));
        } else if left <= 0 {
            return None;
        }
        let mut paid = vec![Rational::new(); places.len()];
        if *self.market.alpha() == 1 {
            for &k in &spenders {
                paid[k].clone_from(self.weight(&places[k]));
                money += &paid[k];
            }
            if money > 0 {
                scale(&mut places, &(money / left));
            }
        } else if let Some(first) = spenders.first() {
            self.divide(&places, &spenders, &left, &mut paid)?;
            self.anchor(&places, *first);
        }
        self.buy(&places, paid)
    }

    /// Returns the nodes of the tree, each after its parent, with prices up to a common factor. Returns `None` if
    /// there is a cycle.
    fn grow(&mut self, root: usize) -> Option<Vec<Place>> {
        let mut places = vec![Place { node: Node::Good(root), parent: 0, price: Rational::from(1) }];
        self.seen[root] = true;
        let mut next = 0;
        while let Some(Place { node, parent, price }) = places.get(next) {
            let above = places[*parent].node;
            let mut found = Vec::new();
            match *node {
                Node::Good(good) => {
                    for &user in self.buyers[good].iter().filter(|user| Node::User(**user) != above) {
                        let price = price / self.market.rate(user, good);
                        found.push(Place { node: Node::User(user), parent: next, price });
                    }
                }
                Node::User(user) => {
                    for &good in self.purchases[&user].iter().filter(|good| Node::Good(**good) != above) {
                        if std::mem::replace(&mut self.seen[good], true) {
                            return None;
                        }
                        let price = price * self.market.rate(user, good);
                        found.push(Place { node: Node::Good(good), parent: next, price });
                    }
                }
            }
            places.append(&mut found);
            next += 1;
        }
        Some(places)
    }

    /// Returns the value of the tree's goods, without the fractions that users with all their tasks take.
    fn left(&self, places: &[Place]) -> Rational {
        let worth = |Place { node, price, .. }: &Place| match *node {
            Node::Good(good) => Some(Rational::from(price * &self.fixed.left[good])),
            Node::User(user) => self.market.all_tasks(user).map(|tasks| -Rational::from(price * tasks)),
        };
        places.iter().filter_map(worth).sum()
    }

    fn fixed_money(&self, place: &Place) -> Option<&Rational> {
        match place.node {
            Node::Good(good) => Some(&self.fixed.money[good]),
            Node::User(_) => None,
        }
    }

    fn weight(&self, place: &Place) -> &Rational {
        match place.node {
            Node::User(user) => self.market.weight(user),
            Node::Good(good) => &self.fixed.money[good],
        }
    }

    /// Divides the value `left` among the users at `spenders`.
    ///
    /// A task of each user is worth its cost, so `x_n` is proportional to `(w_n / price_n)^(1/a)`. Returns
    /// `None` if the roots are irrational.
    fn divide(
        &self,
        places: &[Place],
        spenders: &[usize],
        left: &Rational,
        paid: &mut [Rational],
    ) -> Option<()> {
        let marginal = |k: usize| Rational::from(self.weight(&places[k]) / &places[k].price);
        let first = marginal(*spenders.first()?);
        let inverse = Rational::from(self.market.alpha().recip_ref());
        for &k in spenders {
            paid[k] = power(&(marginal(k) / &first), &inverse)? * &places[k].price;
        }
        let unit = left / spenders.iter().map(|k| &paid[*k]).sum::<Rational>();
        spenders.iter().for_each(|k| paid[*k] *= &unit);
        Some(())
    }

    /// Records that the prices of a tree are known up to a factor, which the user at the position `at` determines.
    fn anchor(&mut self, places: &[Place], at: usize) {
        let good = |place: &Place| match place.node {
            Node::Good(good) => Some(good),
            Node::User(_) => None,
        };
        if let Node::User(user) = places[at].node {
            let goods = places.iter().filter_map(good).collect();
            self.solved.anchored.push(Anchored { goods, user, price: places[at].price.clone() });
        }
    }

    /// Computes the purchases from the leaves inwards. The parent of a good pays the unpaid value of the good. A user
    /// spends its remaining money on its parent.
    fn buy(&mut self, places: &[Place], paid: Vec<Rational>) -> Option<()> {
        let due = places.iter().zip(paid).map(|(Place { node, price, .. }, paid)| match *node {
            Node::Good(good) => Rational::from(price * &self.fixed.left[good]) - &self.fixed.money[good],
            Node::User(user) => {
                self.market.all_tasks(user).map_or(paid, |tasks| Rational::from(price * tasks))
            }
        });
        let mut due: Vec<Rational> = due.collect();
        for k in (1..places.len()).rev() {
            let money = std::mem::take(&mut due[k]);
            if money < 0 {
                return None;
            }
            let parent = places[k].parent;
            due[parent] -= &money;
            let (user, good, cost) = match (places[k].node, places[parent].node) {
                (Node::Good(good), Node::User(user)) => (user, good, &places[parent].price),
                (Node::User(user), Node::Good(good)) => (user, good, &places[k].price),
                _ => return None,
            };
            if !money.is_zero() && !cost.is_zero() {
                self.solved.tasks.entry(user).or_default().push((good, money / cost));
            }
        }
        for place in places {
            if let Node::Good(good) = place.node {
                self.solved.prices[good].clone_from(&place.price);
            }
        }
        due[0].is_zero().then_some(())
    }
}

fn scale(places: &mut [Place], factor: &Rational) {
    places.iter_mut().for_each(|place| place.price *= factor);
}

/// The maximum number of bits of a power. A million bits are 300,000 digits, more than a certificate may state.
const MOST_BITS: u64 = 1 << 20;

/// Returns `value^exponent` for positive numbers, or `None` if it is irrational or too long.
///
/// The ratios of tasks in an equilibrium are rational if `1/a` is whole, and in some other cases (docs/theory.md,
/// section 3).
fn power(value: &Rational, exponent: &Rational) -> Option<Rational> {
    let (power, index) = (exponent.numer().to_u32()?, exponent.denom().to_u32()?);
    let bits = u64::from(value.numer().significant_bits().max(value.denom().significant_bits()));
    if bits * u64::from(power) > MOST_BITS {
        return None;
    }
    let of = |term: &Integer| {
        let (root, rest) = term.root_rem_ref(index).complete();
        rest.is_zero().then(|| root.pow(power))
    };
    Some(Rational::from((of(value.numer())?, of(value.denom())?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irrational_powers_are_not_computed() {
        let q = |a: u32, b: u32| Rational::from((a, b));
        assert_eq!(power(&q(4, 9), &q(3, 2)), Some(q(8, 27)));
        assert_eq!(power(&q(2, 9), &q(1, 2)), None);
        assert_eq!(power(&q(2, 3), &q(10, 1)), Some(q(1024, 59049)));
    }
}
