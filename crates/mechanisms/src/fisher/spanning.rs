//! Purchases without cycles: a forest of classes whose edges are the users that buy on several classes.
//!
//! In a cycle of purchases that are all optimal for their users, money can be pushed around until one
//! purchase is 0 (docs/theory.md, section 4, fact 5). A user with only one class left is removed from the
//! structure. The structure therefore never has more users than classes, however many users are tied.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The spending of users with several classes.
pub struct Spanning {
    /// The money that each user with at least two classes spends on each class.
    pub split: BTreeMap<usize, BTreeMap<usize, f64>>,
    /// The users with several classes that buy on each class.
    at: Vec<BTreeSet<usize>>,
    /// The pairs `(user, class)` of users with a single class, in the order in which they left the structure.
    pub single: Vec<(usize, usize)>,
}

impl Spanning {
    pub fn new(n_goods: usize) -> Self {
        Self { split: BTreeMap::new(), at: vec![BTreeSet::new(); n_goods], single: Vec::new() }
    }

    /// Adds the purchases of a user. There must be at least one purchase.
    pub fn add(&mut self, user: usize, purchases: &[(usize, f64)]) {
        if let &[(class, _)] = purchases {
            self.single.push((user, class));
            return;
        }
        self.split.insert(user, BTreeMap::new());
        for &(class, money) in purchases {
            self.connect(user, class, money);
        }
        self.release(user);
    }

    /// Adds one purchase. If the purchase closes a cycle, money is pushed around the cycle until one of its
    /// purchases is 0, and this purchase is removed.
    fn connect(&mut self, user: usize, class: usize, money: f64) {
        let path = self.path(user, class);
        let Some(path) = path else {
            self.set(user, class, money);
            return;
        };
        // Purchases along the path increase and decrease alternately, starting with an increase. The new purchase
        // decreases.
        let less = path.iter().skip(1).step_by(2).map(|&(u, i)| (self.split[&u][&i], u, i));
        let least = less.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(least, ..)| *least < money);
        let push = least.map_or(money, |(least, ..)| least);
        for (k, (u, i)) in path.iter().enumerate() {
            if let Some(spent) = self.split.get_mut(u).and_then(|list| list.get_mut(i)) {
                *spent += if k % 2 == 0 { push } else { -push };
            }
        }
        if let Some((_, u, i)) = least {
            self.set(user, class, money - push);
            self.split.get_mut(&u).map(|list| list.remove(&i));
            self.at[i].remove(&u);
            if u != user {
                self.release(u);
            }
        }
    }

    fn set(&mut self, user: usize, class: usize, money: f64) {
        self.split.entry(user).or_default().insert(class, money);
        self.at[class].insert(user);
    }

    /// Removes a user that is left with a single class.
    fn release(&mut self, user: usize) {
        if self.split.get(&user).is_some_and(|list| list.len() < 2) {
            let list = self.split.remove(&user).unwrap_or_default();
            for class in list.into_keys() {
                self.at[class].remove(&user);
                self.single.push((user, class));
            }
        }
    }

    /// Returns the purchases on the path from a user to a class, or `None` if the two are not connected.
    fn path(&self, user: usize, class: usize) -> Option<Vec<(usize, usize)>> {
        // Breadth-first search. `through` stores the user through which each class was reached, and `from`
        // the class through which each user was reached.
        let mut through: BTreeMap<usize, usize> = BTreeMap::new();
        let mut from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([user]);
        while let Some(at) = queue.pop_front() {
            for &i in self.split.get(&at)?.keys() {
                if through.contains_key(&i) {
                    continue;
                }
                through.insert(i, at);
                if i == class {
                    let mut path = Vec::new();
                    let mut good = i;
                    loop {
                        let by = through[&good];
                        path.push((by, good));
                        if by == user {
                            break;
                        }
                        good = from[&by];
                        path.push((by, good));
                    }
                    path.reverse();
                    return Some(path);
                }
                for &next in &self.at[i] {
                    if next != user && !from.contains_key(&next) {
                        from.insert(next, i);
                        queue.push_back(next);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_loses_its_least_purchase() {
        let mut spanning = Spanning::new(3);
        spanning.add(0, &[(0, 2.0), (1, 1.0)]);
        spanning.add(1, &[(1, 3.0), (2, 2.0)]);
        spanning.add(2, &[(0, 4.0), (2, 0.5)]);
        // Half a unit of money is pushed around the cycle, and user 2 is left with class 0.
        assert_eq!(spanning.single, [(2, 0)]);
        assert_eq!(spanning.split[&0], BTreeMap::from([(0, 1.5), (1, 1.5)]));
        assert_eq!(spanning.split[&1], BTreeMap::from([(1, 2.5), (2, 2.5)]));
    }

    #[test]
    fn identical_users_leave_one_split_user() {
        let mut spanning = Spanning::new(2);
        for user in 0..1000 {
            spanning.add(user, &[(0, 1.0), (1, 2.0)]);
        }
        assert!(spanning.split.len() <= 1);
        assert_eq!(spanning.single.len() + spanning.split.len(), 1000);
        let on = |class| spanning.single.iter().filter(|(_, i)| *i == class).count();
        assert!((332..=334).contains(&on(0)), "{}", on(0));
    }
}
