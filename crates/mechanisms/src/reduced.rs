//! The smaller problem that is solved in place of one with much that is alike: users that are alike are one
//! ([`Equals`]), and so are server classes that are alike ([`Joined`]).
//!
//! The answer is put back together, with what proves it: it is one of the mechanism for the problem as it is given.

use std::collections::BTreeMap;

use evenhand_budget::{charge, each_of, room, words_of_bits};
use evenhand_exact::{PriceVector, Prices, Tasks};
use evenhand_levels::level::{LevelDual, TasksInDoubles};
use evenhand_problem::{Arithmetic, Constraints, Joined, Merged, Problem, Rational, Sharing};

use crate::equals::Equals;
use crate::fair_sum::{FairPoint, OnClass};
use crate::mechanism::{Findings, Intervals, Outcome};

/// A problem in which users and server classes stand for others that are alike.
#[derive(Debug)]
pub struct Reduced<'p> {
    original: &'p Problem,
    /// Of the original; none where no two users are alike.
    users: Option<Merged>,
    /// Of the problem of these users; none where no two classes are alike.
    classes: Option<Joined>,
}

impl<'p> Reduced<'p> {
    /// The smaller problem; `None` where nothing is alike. Classes are one where the mechanism `joins` them.
    #[must_use]
    pub fn new(problem: &'p Problem, equals: &Equals, joins: bool) -> Option<Self> {
        let users = equals.merge(problem);
        let of_users = users.as_ref().map_or(problem, |merged| &merged.problem);
        let classes = if joins { of_users.joined() } else { None };
        (users.is_some() || classes.is_some()).then_some(Self { original: problem, users, classes })
    }

    /// The problem to solve.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        let of_users = || self.users.as_ref().map_or(self.original, |merged| &merged.problem);
        self.classes.as_ref().map_or_else(of_users, |joined| &joined.problem)
    }

    /// The outcome for the original.
    pub(crate) fn outcome(&self, mut outcome: Outcome) -> Outcome {
        if let Some(joined) = &self.classes {
            outcome = self.spread(outcome, joined);
        }
        match &self.users {
            Some(merged) => parted(outcome, merged),
            None => outcome,
        }
    }

    /// What every user of the original has, given what those have that stand for them.
    #[must_use]
    pub fn tasks(&self, mut tasks: Tasks) -> Tasks {
        if let Some(joined) = &self.classes {
            tasks = spread_tasks(&tasks, joined, Joined::parts);
        }
        match &self.users {
            Some(merged) => parted_tasks(&tasks, merged),
            None => tasks,
        }
    }

    /// What users of the original have together for whom one stands, on classes for which one stands.
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

    /// What proves the levels of the original.
    #[must_use]
    pub fn levels(&self, mut levels: Vec<LevelDual>) -> Vec<LevelDual> {
        if let Some(joined) = &self.classes {
            spread_levels(&mut levels, &self.rows(joined));
        }
        match &self.users {
            Some(merged) => parted_levels(&levels, merged),
            None => levels,
        }
    }

    /// The optimum of a sum in doubles, of the original: prices of a row and of a task are the same, and so is the free part of
    /// rows and limits.
    pub(crate) fn point(&self, mut point: FairPoint) -> FairPoint {
        if let Some(joined) = &self.classes {
            let rows = self.rows(joined);
            point.row_prices = on_all(&point.row_prices, &rows);
            point.row_slack = on_all(&point.row_slack, &rows);
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

    /// By row of the smaller problem: those of the original for which it stands, ascending.
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

    /// The outcome for all classes, from that for those which stand for them: rows that are alike have one price.
    fn spread(&self, outcome: Outcome, joined: &Joined) -> Outcome {
        let Outcome { mut allocation, mut findings, .. } = outcome;
        allocation.tasks = match allocation.arithmetic {
            Arithmetic::Exact => spread_tasks(&allocation.tasks, joined, Joined::parts),
            Arithmetic::Float => spread_tasks(&allocation.tasks, joined, Joined::rounded_parts),
        };
        let rows = self.rows(joined);
        if let Some(prices) = &mut findings.prices {
            prices.rows = on_all(&prices.rows, &rows);
        }
        if let Some(levels) = &mut findings.levels {
            spread_levels(levels, &rows);
        }
        Outcome { allocation, findings, ..outcome }
    }
}

/// The tasks of every user on all classes.
fn spread_tasks(
    tasks: &[Vec<(usize, Rational)>],
    joined: &Joined,
    parts: impl Fn(&Joined, &[(usize, Rational)]) -> Vec<(usize, Rational)>,
) -> Tasks {
    let words = |of: &(usize, Rational)| {
        words_of(std::slice::from_ref(of)).saturating_mul(joined.members[of.0].len() as u64)
    };
    pay(tasks.iter().flatten().map(words).fold(0, u64::saturating_add));
    tasks.iter().map(|row| parts(joined, row)).collect()
}

/// The same of all rows that are alike.
fn on_all<T: Clone + Default>(of: &[T], rows: &[Vec<usize>]) -> Vec<T> {
    let mut all = vec![T::default(); rows.iter().map(Vec::len).sum()];
    for (value, rows) in of.iter().zip(rows) {
        rows.iter().for_each(|row| all[*row].clone_from(value));
    }
    all
}

/// The prices of levels for all rows: those that are alike have one price.
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

/// The outcome for the problem as it is given, from that for the merged one.
fn parted(outcome: Outcome, merged: &Merged) -> Outcome {
    let Outcome { mut allocation, findings, .. } = outcome;
    allocation.tasks = match allocation.arithmetic {
        Arithmetic::Exact => parted_tasks(&allocation.tasks, merged),
        Arithmetic::Float => rounded_tasks(&allocation.tasks, merged),
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
        levels: findings.levels.map(|levels| parted_levels(&levels, merged)),
        intervals: findings
            .intervals
            .map(|of| Intervals { levels: merged.each(&of.levels), width: of.width }),
        ..findings
    };
    Outcome { allocation, findings, ..outcome }
}

/// What every user has of what those have that stand for them.
fn parted_tasks(tasks: &[Vec<(usize, Rational)>], merged: &Merged) -> Tasks {
    let words: Vec<u64> = tasks.iter().map(|row| words_of(row)).collect();
    pay(merged.part_of.iter().map(|(at, _)| words[*at]).sum());
    merged.parts(tasks)
}

/// The same of floating-point numbers, exactly in proportion.
fn rounded_tasks(tasks: &[Vec<(usize, Rational)>], merged: &Merged) -> Tasks {
    // Each number is some times a common one, by as many digits as the part has.
    let of_part = |of: &(usize, Rational)| {
        let one = words_of(std::slice::from_ref(of));
        words_of(&tasks[of.0]).saturating_add(one.saturating_mul(tasks[of.0].len() as u64))
    };
    pay(merged.part_of.iter().map(of_part).fold(0, u64::saturating_add));
    merged.rounded_parts(tasks)
}

/// Words of 64 bits of a list of numbers, those of its entries and of what the allocator adds included.
fn words_of(list: &[(usize, Rational)]) -> u64 {
    /// Words of an entry beside its digits.
    const OF_ENTRY: u64 = 8;
    let of =
        |x: &Rational| words_of_bits(u64::from(x.numer().significant_bits() + x.denom().significant_bits()));
    list.iter().map(|(_, x)| of(x) + OF_ENTRY).sum()
}

/// Charges so many words before they are written.
fn pay(words: u64) {
    const WHAT: &str = "what users have that are alike";
    room(words.saturating_mul(8), WHAT);
    charge(words, WHAT);
}

/// What proves the levels of the problem as it is given: the weight of a user is parted among those for which it stands, and
/// the price of its limit of tasks is that of each.
fn parted_levels(levels: &[LevelDual], merged: &Merged) -> Vec<LevelDual> {
    let members = merged.members();
    let of_members = |list: &[(usize, Rational)]| -> u64 {
        list.iter().map(|entry| words_of(std::slice::from_ref(entry)) * members[entry.0].len() as u64).sum()
    };
    let lists = levels.iter().flat_map(|level| [&level.prices.user_weights, &level.prices.users]);
    pay(lists.map(|list| of_members(list)).sum());
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
