//! The smaller problem that is solved instead of a problem with identical users or classes. Identical users
//! are merged into one user ([`Equals`]), and identical server classes into one class ([`Joined`]).
//!
//! The answer and its proofs are then expanded to the original users and classes. The result is an answer of
//! the mechanism to the original problem.

use std::collections::BTreeMap;

use evenhand_budget::{charge, each_of, room, words_of_bits};
use evenhand_exact::{PriceVector, Prices, Tasks};
use evenhand_levels::level::{LevelDual, TasksInDoubles};
use evenhand_problem::{Arithmetic, Constraints, Joined, Merged, Problem, Rational, Sharing};

use crate::equals::Equals;
use crate::fair_sum::{FairPoint, OnClass};
use crate::mechanism::{Findings, Intervals, Outcome};

/// A smaller problem, in which merged users and server classes represent several identical users and classes.
#[derive(Debug)]
pub struct Reduced<'p> {
    original: &'p Problem,
    /// The merging of the original users, or `None` if no two users are identical.
    users: Option<Merged>,
    /// The merging of classes after users were merged, or `None` if no two classes are identical.
    classes: Option<Joined>,
}

impl<'p> Reduced<'p> {
    /// Returns the smaller problem, or `None` if nothing can be merged. Classes are merged only if `joins` is set.
    #[must_use]
    pub fn new(problem: &'p Problem, equals: &Equals, joins: bool) -> Option<Self> {
        let users = equals.merge(problem);
        let of_users = users.as_ref().map_or(problem, |merged| &merged.problem);
        let classes = if joins { of_users.joined() } else { None };
        (users.is_some() || classes.is_some()).then_some(Self { original: problem, users, classes })
    }

    /// Returns the problem to solve.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        let of_users = || self.users.as_ref().map_or(self.original, |merged| &merged.problem);
        self.classes.as_ref().map_or_else(of_users, |joined| &joined.problem)
    }

    /// Expands the outcome of the smaller problem to the original problem.
    pub(crate) fn outcome(&self, mut outcome: Outcome) -> Outcome {
        if let Some(joined) = &self.classes {
            outcome = self.spread(outcome, joined);
        }
        match &self.users {
            Some(merged) => split_users(outcome, merged),
            None => outcome,
        }
    }

    /// Expands the tasks of merged users and classes to the users and classes of the original problem.
    #[must_use]
    pub fn tasks(&self, mut tasks: Tasks) -> Tasks {
        if let Some(joined) = &self.classes {
            tasks = spread_tasks(&tasks, joined, Joined::parts);
        }
        match &self.users {
            Some(merged) => split_tasks(&tasks, merged),
            None => tasks,
        }
    }

    /// Sums up the tasks of the original users and classes for each merged user and class.
    #[must_use]
    pub fn together(&self, tasks: &TasksInDoubles) -> TasksInDoubles {
        let users = self.users.as_ref().map(|merged| &merged.part_of);
        let mut class_of: Vec<usize> = (0..self.original.n_servers()).collect();
        for (at, members) in self.classes.iter().flat_map(|joined| joined.members.iter().enumerate()) {
            members.iter().for_each(|(i, _)| class_of[*i] = at);
        }
        let mut sums: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); self.problem().n_users()];
        for (n, of_user) in tasks.iter().enumerate() {
            let at = users.map_or(n, |part_of| part_of[n].0);
            of_user.iter().for_each(|(i, x)| *sums[at].entry(class_of[*i]).or_default() += x);
        }
        sums.into_iter().map(|sum| sum.into_iter().collect()).collect()
    }

    /// Expands the proofs of the levels to the original problem.
    #[must_use]
    pub fn levels(&self, mut levels: Vec<LevelDual>) -> Vec<LevelDual> {
        if let Some(joined) = &self.classes {
            spread_levels(&mut levels, &self.rows(joined));
        }
        match &self.users {
            Some(merged) => split_levels(&levels, merged),
            None => levels,
        }
    }

    /// Expands the optimum of a sum, in doubles, to the original problem. Identical rows get the same price and the
    /// same free fraction, and so do the task limits of identical users.
    pub(crate) fn point(&self, mut point: FairPoint) -> FairPoint {
        if let Some(joined) = &self.classes {
            let rows = self.rows(joined);
            point.row_prices = copy_to_rows(&point.row_prices, &rows);
            point.row_slack = copy_to_rows(&point.row_slack, &rows);
            let on_members = |place: &OnClass| {
                let OnClass { class, tasks, excess } = *place;
                let members = joined.members[class].iter();
                members.map(move |(i, part)| OnClass { class: *i, tasks: tasks * part.to_f64(), excess })
            };
            for places in &mut point.places {
                *places = places.iter().flat_map(on_members).collect();
                places.sort_unstable_by_key(|place| place.class);
            }
        }
        if let Some(merged) = &self.users {
            let of_user = |(at, part): &(usize, Rational)| {
                let (places, part) = (point.places[*at].iter(), part.to_f64());
                places.map(|place| OnClass { tasks: place.tasks * part, ..*place }).collect()
            };
            point.places = merged.part_of.iter().map(of_user).collect();
            point.user_prices = merged.each(&point.user_prices);
            point.user_slack = merged.each(&point.user_slack);
        }
        point
    }

    /// Returns the rows of the original problem that each row of the smaller problem represents, in ascending order.
    fn rows(&self, joined: &Joined) -> Vec<Vec<usize>> {
        let [small, large] =
            [&joined.problem, self.original].map(|problem| Constraints::new(problem, Sharing::Rdm));
        let of_class = |(at, members): (usize, &Vec<(usize, Rational)>)| {
            let starts: Vec<usize> = members.iter().map(|(i, _)| large.class_rows(*i).start).collect();
            let of_row = move |k| starts.iter().map(|start| start + k).collect::<Vec<usize>>();
            (0..small.class_rows(at).len()).map(of_row).collect::<Vec<_>>()
        };
        joined.members.iter().enumerate().flat_map(of_class).collect()
    }

    /// Expands an outcome from merged classes to all classes. Identical rows get the same price.
    fn spread(&self, outcome: Outcome, joined: &Joined) -> Outcome {
        let Outcome { mut allocation, mut findings, .. } = outcome;
        allocation.tasks = match allocation.arithmetic {
            Arithmetic::Exact => spread_tasks(&allocation.tasks, joined, Joined::parts),
            Arithmetic::Float => spread_tasks(&allocation.tasks, joined, Joined::rounded_parts),
        };
        let rows = self.rows(joined);
        if let Some(prices) = &mut findings.prices {
            prices.rows = copy_to_rows(&prices.rows, &rows);
        }
        if let Some(levels) = &mut findings.levels {
            spread_levels(levels, &rows);
        }
        Outcome { allocation, findings, ..outcome }
    }
}

/// Expands the tasks of each user from merged classes to all classes.
fn spread_tasks(
    tasks: &[Vec<(usize, Rational)>],
    joined: &Joined,
    parts: impl Fn(&Joined, &[(usize, Rational)]) -> Vec<(usize, Rational)>,
) -> Tasks {
    let words = |of: &(usize, Rational)| {
        words_of(std::slice::from_ref(of)).saturating_mul(joined.members[of.0].len() as u64)
    };
    charge_words(tasks.iter().flatten().map(words).fold(0, u64::saturating_add));
    tasks.iter().map(|row| parts(joined, row)).collect()
}

/// Copies the value of each merged row to all rows that it represents.
fn copy_to_rows<T: Clone + Default>(of: &[T], rows: &[Vec<usize>]) -> Vec<T> {
    let mut all = vec![T::default(); rows.iter().map(Vec::len).sum()];
    for (value, rows) in of.iter().zip(rows) {
        rows.iter().for_each(|row| all[*row].clone_from(value));
    }
    all
}

/// Copies the prices in the proofs of levels from merged rows to all rows that they represent.
fn spread_levels(levels: &mut [LevelDual], rows: &[Vec<usize>]) {
    for LevelDual { prices, .. } in levels {
        let of = |(row, price): &(usize, Rational)| {
            let price = price.clone();
            rows[*row].iter().map(move |row| (*row, price.clone()))
        };
        prices.rows = prices.rows.iter().flat_map(of).collect();
        prices.rows.sort_unstable_by_key(|(row, _)| *row);
    }
}

/// Expands the outcome from merged users to all users.
fn split_users(outcome: Outcome, merged: &Merged) -> Outcome {
    let Outcome { mut allocation, findings, .. } = outcome;
    allocation.tasks = match allocation.arithmetic {
        Arithmetic::Exact => split_tasks(&allocation.tasks, merged),
        Arithmetic::Float => split_tasks_rounded(&allocation.tasks, merged),
    };
    let each = |prices: Prices| Prices {
        user_weights: if prices.user_weights.is_empty() {
            Vec::new()
        } else {
            merged.each(&prices.user_weights)
        },
        users: merged.each(&prices.users),
        ..prices
    };
    let findings = Findings {
        prices: findings.prices.map(each),
        witnesses: findings.witnesses.map(|witnesses| merged.each(&witnesses)),
        levels: findings.levels.map(|levels| split_levels(&levels, merged)),
        intervals: findings
            .intervals
            .map(|of| Intervals { levels: merged.each(&of.levels), width: of.width }),
        ..findings
    };
    Outcome { allocation, findings, ..outcome }
}

/// Splits the exact tasks of merged users among the users that they represent.
fn split_tasks(tasks: &[Vec<(usize, Rational)>], merged: &Merged) -> Tasks {
    let words: Vec<u64> = tasks.iter().map(|row| words_of(row)).collect();
    charge_words(merged.part_of.iter().map(|(at, _)| words[*at]).sum());
    merged.parts(tasks)
}

/// Splits tasks in floating-point arithmetic among the users, exactly in proportion.
fn split_tasks_rounded(tasks: &[Vec<(usize, Rational)>], merged: &Merged) -> Tasks {
    // The product of a user's fraction and a number can have as many digits as the two factors together.
    let of_part = |of: &(usize, Rational)| {
        let one = words_of(std::slice::from_ref(of));
        words_of(&tasks[of.0]).saturating_add(one.saturating_mul(tasks[of.0].len() as u64))
    };
    charge_words(merged.part_of.iter().map(of_part).fold(0, u64::saturating_add));
    merged.rounded_parts(tasks)
}

/// Returns the size of a list of numbers in 64-bit words, including the list entries and the allocator's overhead.
fn words_of(list: &[(usize, Rational)]) -> u64 {
    /// The words of a list entry without its digits.
    const OF_ENTRY: u64 = 8;
    let of =
        |x: &Rational| words_of_bits(u64::from(x.numer().significant_bits() + x.denom().significant_bits()));
    list.iter().map(|(_, x)| of(x) + OF_ENTRY).sum()
}

/// Charges the work and the memory of `words` words before they are written.
fn charge_words(words: u64) {
    const WHAT: &str = "the sum of the tasks of identical users";
    room(words.saturating_mul(8), WHAT);
    charge(words, WHAT);
}

/// Expands the proofs of levels from merged users to all users. The weight of a merged user is split among
/// the users that it represents. Each of these users gets the same price for its task limit.
fn split_levels(levels: &[LevelDual], merged: &Merged) -> Vec<LevelDual> {
    let members = merged.members();
    let of_members = |list: &[(usize, Rational)]| -> u64 {
        list.iter().map(|entry| words_of(std::slice::from_ref(entry)) * members[entry.0].len() as u64).sum()
    };
    let lists = levels.iter().flat_map(|level| [&level.prices.user_weights, &level.prices.users]);
    charge_words(lists.map(|list| of_members(list)).sum());
    let spread = |of: &[(usize, Rational)], of_member: fn(&Rational, &Rational) -> Rational| {
        let all =
            of.iter().flat_map(|(at, value)| members[*at].iter().map(move |(n, part)| (*n, value, *part)));
        let mut all: Vec<(usize, &Rational, &Rational)> = all.collect();
        all.sort_unstable_by_key(|(n, ..)| *n);
        each_of(all, 1, |(n, value, part)| (n, of_member(value, part)))
    };
    let of_members = |LevelDual { level, prices }: &LevelDual| LevelDual {
        level: level.clone(),
        prices: PriceVector {
            user_weights: spread(&prices.user_weights, |weight, part| Rational::from(weight * part)),
            rows: prices.rows.clone(),
            users: spread(&prices.users, |price, _| price.clone()),
        },
    };
    levels.iter().map(of_members).collect()
}
