//! One user instead of several users that are equivalent up to weight.
//!
//! A cluster has many users and few shapes of tasks. Some mechanisms divide one amount among equivalent users
//! in proportion to their weights. Such a mechanism may compute the amount for a single user instead of all
//! equivalent users (docs/theory.md, section 2).

use std::collections::HashMap;

use evenhand_budget::each;
use rug::{Integer, Rational};

use super::{Hash, Kinds, Problem, User};
use crate::groups::Member;
use crate::number;
use crate::sums::Sums;

/// A problem in which one user represents all equivalent users.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The problem with merged users. Each user has the name of the first original user that it represents.
    pub problem: Problem,
    /// For each original user, the user of [`problem`](Self::problem) that represents it, and the original
    /// user's fraction of that user's tasks.
    pub part_of: Vec<(usize, Rational)>,
}

/// The size of a user compared with equivalent users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// The size, positive. The allocations and the numbers of tasks of equivalent users are in proportion to
    /// their sizes.
    pub size: Rational,
    /// `true` if only users of the same weight are equivalent.
    pub of_weight: bool,
}

/// The properties that equivalent users have in common.
#[derive(PartialEq, Eq, Hash)]
struct Kind<'p> {
    shape: u32,
    criterion: &'p [(usize, Rational)],
    weight: Option<&'p Rational>,
    /// Number of tasks, divided by the user's size.
    tasks: Option<Rational>,
    group: Option<usize>,
    gang: Option<u64>,
    /// Number of pinned tasks, divided by the user's size.
    pinned: Option<Rational>,
}

impl Problem {
    /// Returns the problem in which equivalent users are merged into one user, or `None` if no two users can
    /// be merged.
    ///
    /// `size` returns the size of a user. `weight` returns the weight of the merged user. Its arguments are
    /// the weight of the first user, and the total size of all equivalent users as a multiple of the first
    /// user's size. Users stay separate if `weight` returns `None`, or if the sum of their sizes would be a
    /// long number.
    #[must_use]
    pub fn merged(
        &self,
        size: impl Fn(&User) -> Size,
        weight: impl Fn(&Rational, &Rational) -> Option<Rational>,
    ) -> Option<Merged> {
        if self.has_rates() {
            // The reference of a share counts the users, and limits of accelerators are not in proportion to sizes.
            return None;
        }
        let shapes = self.shapes();
        if shapes.first.len() == self.users.len() {
            return None;
        }
        let sizes: Vec<Size> = self.users.iter().map(size).collect();
        let kinds = Kinds::new(self.users.len(), |n| self.kind(n, shapes.of[n], &sizes[n]));
        if kinds.first.len() == self.users.len() {
            return None;
        }
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); kinds.first.len()];
        kinds.of.iter().enumerate().for_each(|(n, kind)| members[*kind as usize].push(n));
        let mut problem = self.without_users();
        let mut of_group = Vec::new();
        let mut totals = Vec::new();
        // For each original user, the user that represents it, and the index in `totals` of the total size of
        // that user.
        let mut stands = vec![(0, None); self.users.len()];
        for equivalent in members {
            let first = equivalent[0];
            let sizes_of = || equivalent.iter().map(|n| &sizes[*n].size);
            let total = if equivalent.len() > 1 { short_sum(sizes_of()) } else { None };
            let of_all = total.and_then(|total| {
                let times = Rational::from(&total / &sizes[first].size);
                Some((weight(&self.users[first].weight, &times)?, times, total))
            });
            let mut add = |user: User, member: Member| {
                problem.users.push(user);
                of_group.push(member);
                problem.users.len() - 1
            };
            match of_all {
                Some((weight, times, total)) => {
                    let (mut user, mut member) =
                        (self.users[first].clone(), self.groups.member(first).clone());
                    user.weight = weight;
                    user.tasks = user.tasks.map(|tasks| tasks * &times);
                    member.pinned = member.pinned.map(|pinned| pinned * &times);
                    let at = add(user, member);
                    totals.push(total);
                    equivalent.iter().for_each(|n| stands[*n] = (at, Some(totals.len() - 1)));
                }
                None => {
                    for n in equivalent {
                        stands[n] = (add(self.users[n].clone(), self.groups.member(n).clone()), None);
                    }
                }
            }
        }
        if problem.users.len() == self.users.len() {
            return None;
        }
        problem.groups = self.groups.with(of_group);
        let part_of = each(stands.len(), 1, |n| match stands[n] {
            (at, Some(total)) => (at, Rational::from(&sizes[n].size / &totals[total])),
            (at, None) => (at, Rational::from(1)),
        });
        Some(Merged { problem, part_of })
    }

    fn kind(&self, n: usize, shape: u32, size: &Size) -> Kind<'_> {
        let (user, member) = (&self.users[n], self.groups.member(n));
        let over = |amount: &Rational| Rational::from(amount / &size.size);
        Kind {
            shape,
            criterion: &user.criterion,
            weight: size.of_weight.then_some(&user.weight),
            tasks: user.tasks.as_ref().map(over),
            group: member.group,
            gang: member.gang,
            pinned: member.pinned.as_ref().map(over),
        }
    }

    fn without_users(&self) -> Self {
        Self {
            name: self.name.clone(),
            resources: self.resources.clone(),
            servers: self.servers.clone(),
            users: Vec::new(),
            groups: self.groups.with(Vec::new()),
            total_capacity: self.total_capacity.clone(),
            hash: Hash::default(),
        }
    }
}

/// Returns the sum of the sizes, or `None` if it is long. Without a common denominator the sum has the digits
/// of all sizes, and so has each user's fraction of the sum.
fn short_sum<'p>(mut sizes: impl Iterator<Item = &'p Rational>) -> Option<Rational> {
    /// The maximum number of bits of numerator and denominator together. It is a small multiple of the
    /// longest number in a problem.
    const MOST_BITS: u32 = 1 << 12;
    let sum = sizes.try_fold(Sums::new(1), |mut sum, size| {
        sum.add_over(size.numer(), Integer::ONE, size.denom());
        if sum.bits() > MOST_BITS {
            sum = Sums::of(&[sum.first()]);
        }
        (sum.bits() <= MOST_BITS).then_some(sum)
    });
    sum.map(Sums::first)
}

/// Returns the largest number such that both numbers are integer multiples of it. If one number is 0, returns
/// the other number.
fn common_divisor(a: &Rational, b: &Rational) -> Rational {
    let (over_a, over_b) = (Integer::from(a.numer() * b.denom()), Integer::from(b.numer() * a.denom()));
    Rational::from((over_a.gcd(&over_b), Integer::from(a.denom() * b.denom())))
}

/// Returns the decimal that the double nearest to `value` prints as.
fn rounded(value: &Rational) -> Option<Rational> {
    number::from_f64(number::to_f64(value))
}

/// Returns the decimal that the largest double not above `value` prints as.
pub(super) fn rounded_down(value: &Rational) -> Option<Rational> {
    let nearest = number::to_f64(value);
    number::from_f64(nearest).filter(|found| found <= value).or_else(|| number::from_f64(nearest.next_down()))
}

impl Merged {
    /// Returns the tasks of every original user, given the tasks of the merged users.
    #[must_use]
    pub fn parts(&self, tasks: &[Vec<(usize, Rational)>]) -> Vec<Vec<(usize, Rational)>> {
        // Many users share few fractions, and products of long numbers take longer than copies.
        let kinds = Kinds::new(self.part_of.len(), |n| &self.part_of[n]);
        let mut products: Vec<Vec<(usize, Rational)>> = each(kinds.first.len(), 1, |kind| {
            let (at, part) = &self.part_of[kinds.first[kind]];
            tasks[*at].iter().map(|(i, x)| (*i, Rational::from(x * part))).collect()
        });
        let copies = each(kinds.of.len(), 1, |n| {
            let kind = kinds.of[n] as usize;
            (kinds.first[kind] < n).then(|| products[kind].clone())
        });
        let own = |(copy, kind): (Option<_>, u32)| {
            copy.unwrap_or_else(|| std::mem::take(&mut products[kind as usize]))
        };
        copies.into_iter().zip(kinds.of).map(own).collect()
    }

    /// Returns [`parts`](Self::parts) of floating-point numbers, exactly in proportion.
    ///
    /// If some product is not a double, rounding each product separately would violate the proportion.
    /// Instead, the largest common divisor of the fractions is rounded down, and each fraction becomes a
    /// multiple of the rounded divisor. The divisor is rounded down, so a feasible allocation stays feasible.
    #[must_use]
    pub fn rounded_parts(&self, tasks: &[Vec<(usize, Rational)>]) -> Vec<Vec<(usize, Rational)>> {
        let mut all: Vec<Vec<(usize, Rational)>> = vec![Vec::new(); self.part_of.len()];
        for (row, members) in tasks.iter().zip(self.members()) {
            let mut first_of: HashMap<&Rational, usize> = HashMap::new();
            for (n, part) in &members {
                first_of.entry(part).or_insert(*n);
            }
            let common = first_of.keys().fold(Rational::new(), |common, part| common_divisor(&common, part));
            for (i, x) in row {
                let is_double = |part: &&Rational| {
                    let own = Rational::from(x * *part);
                    rounded(&own).is_some_and(|double| double == own)
                };
                let one = match first_of.keys().all(is_double) {
                    true => None,
                    false => rounded_down(&Rational::from(x * &common)).map(|one| one / &common),
                };
                for (part, n) in &first_of {
                    all[*n].push((*i, Rational::from(one.as_ref().unwrap_or(x) * *part)));
                }
            }
            for (n, part) in &members {
                let same = first_of[part];
                if same != *n {
                    all[*n] = all[same].clone();
                }
            }
        }
        all
    }

    /// Returns the original users that each user of [`problem`](Self::problem) represents, in ascending
    /// order, each with its fraction of that user's tasks.
    #[must_use]
    pub fn members(&self) -> Vec<Vec<(usize, &Rational)>> {
        let mut members = vec![Vec::new(); self.problem.n_users()];
        for (n, (at, part)) in self.part_of.iter().enumerate() {
            members[*at].push((n, part));
        }
        members
    }

    /// Returns a value for each original user, given the values of the merged users. An original user has the
    /// value of the user that represents it.
    #[must_use]
    pub fn each<T: Clone>(&self, of: &[T]) -> Vec<T> {
        self.part_of.iter().map(|(at, _)| of[*at].clone()).collect()
    }
}
