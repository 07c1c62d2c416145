//! The least-scored user that fits on a given server, where users are few: tables tell who fits.
//!
//! For every row the users are kept by their demand of it: for every demand that there is, the set of those
//! that want no more. Who fits on a server is the intersection of one set per row, exactly; the least score
//! among them is found in floating point, and exactly where that does not decide.

use std::collections::HashMap;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{Model, State};
use super::rule::Ties;

/// Bits of a word of a set.
const BITS: usize = u64::BITS as usize;
/// More users than this are asked from a tournament: a set gets long, and its members many.
const MOST_USERS: usize = 512;
/// Words of all sets together, at most: they should stay in the caches.
const MOST_WORDS: usize = 1 << 20;
/// Estimates of this range have errors of a few units in the last place, and so have their products with
/// numbers of steps.
const RANGE: std::ops::Range<f64> = 1e-200..1e200;
/// Above the error of a quotient of two estimates, by far.
const NEAR: f64 = 1.0 + 1e-12;

/// Users by their demand of one row.
struct Table<D: Digits> {
    /// The demands that there are, ascending.
    demands: Vec<D::Amount>,
    /// For so many of them the users that want no more, one set after the other; the first one is empty.
    sets: Vec<u64>,
}

impl<D: Digits> Table<D> {
    fn new(n_users: usize, demand: impl Fn(usize) -> Option<D::Amount>) -> Self {
        let words = n_users.div_ceil(BITS);
        let mut users: Vec<(D::Amount, usize)> = (0..n_users).filter_map(|n| Some((demand(n)?, n))).collect();
        users.sort_unstable();
        let (mut demands, mut sets) = (Vec::new(), vec![0; words]);
        for (amount, n) in users {
            if demands.last() != Some(&amount) {
                demands.push(amount);
                sets.extend_from_within(sets.len() - words..);
            }
            let last = sets.len() - words;
            sets[last + n / BITS] |= 1 << (n % BITS);
        }
        Self { demands, sets }
    }

    /// The users that want at most `left`.
    fn at_most(&self, left: &D::Amount, words: usize) -> &[u64] {
        let at = self.demands.partition_point(|demand| demand <= left) * words;
        &self.sets[at..at + words]
    }
}

/// Whose turn it is on a server, for scores of users.
pub(super) struct FewUsers<D: Digits> {
    /// By class: where its tables begin; classes on which everybody has the same demand share them.
    tables_of: Vec<usize>,
    /// By row.
    tables: Vec<Table<D>>,
    /// Users that have steps to place.
    waiting: Vec<u64>,
    /// By user: what a step adds to its score, and its score.
    units: Vec<f64>,
    estimates: Vec<f64>,
    ties: Ties,
    /// Scratch: who fits.
    fitting: Vec<u64>,
    equals: Vec<usize>,
}

impl<D: Digits> FewUsers<D> {
    /// `None` where there are too many users, or numbers beyond the range of estimates.
    pub fn new(state: &State<'_, D>) -> Option<Self> {
        let model = state.model;
        let n_users = model.users.len();
        let units: Vec<f64> = (0..n_users).map(|n| D::to_f64(model.unit(n, 0))).collect();
        if n_users > MOST_USERS || !units.iter().all(|unit| RANGE.contains(unit)) {
            return None;
        }
        let words = n_users.div_ceil(BITS);
        let (tables_of, tables) = tables(model, MOST_WORDS / words.max(1))?;
        let mut users = Self {
            tables_of,
            tables,
            waiting: vec![0; words],
            estimates: units.clone(),
            units,
            ties: model.rule.ties,
            fitting: vec![0; words],
            equals: Vec::new(),
        };
        (0..n_users).for_each(|n| users.update(state, n));
        Some(users)
    }

    /// Takes over the score of user `n`, and whether it has more to place.
    pub fn update(&mut self, state: &State<'_, D>, n: usize) {
        self.estimates[n] = self.units[n] * state.steps[n] as f64;
        let (word, bit) = (&mut self.waiting[n / BITS], 1 << (n % BITS));
        *word = if state.has_more(n) { *word | bit } else { *word & !bit };
    }

    /// The user whose turn it is on server `j`.
    pub fn least(&mut self, state: &State<'_, D>, j: usize, draw: &mut Draw) -> Option<usize> {
        let words = self.waiting.len();
        let tables = &self.tables[self.tables_of[state.model.class[j] as usize]..];
        self.fitting.copy_from_slice(&self.waiting);
        for (table, left) in tables.iter().zip(state.left(j)) {
            let set = table.at_most(left, words);
            self.fitting.iter_mut().zip(set).for_each(|(word, set)| *word &= set);
        }
        let (mut user, mut least, mut second) = (None, f64::INFINITY, f64::INFINITY);
        for n in members(&self.fitting) {
            let estimate = self.estimates[n];
            if estimate < least {
                (user, second, least) = (Some(n), least, estimate);
            } else {
                second = second.min(estimate);
            }
        }
        if second > least * NEAR && self.ties != Ties::Random {
            return user;
        }
        self.decide(state, user?, least * NEAR, draw)
    }

    /// The one of least score among those whose estimates are `at_most` this.
    fn decide(&mut self, state: &State<'_, D>, user: usize, at_most: f64, draw: &mut Draw) -> Option<usize> {
        let mut least = state.user_score(user);
        self.equals.clear();
        for n in members(&self.fitting).filter(|&n| self.estimates[n] <= at_most) {
            let score = state.user_score(n);
            if score < least {
                self.equals.clear();
                least = score;
            } else if score > least {
                continue;
            }
            self.equals.push(n);
        }
        match self.ties {
            Ties::Low => self.equals.first().copied(),
            Ties::High => self.equals.last().copied(),
            Ties::Random => self.equals.get(draw.position(self.equals.len())).copied(),
        }
    }
}

/// By class where its tables begin, and the tables of all classes; `None` where they have more sets than
/// `most_sets`.
fn tables<D: Digits>(model: &Model<D>, most_sets: usize) -> Option<(Vec<usize>, Vec<Table<D>>)> {
    let n_users = model.users.len();
    let (mut known, mut tables, mut n_sets) = (HashMap::new(), Vec::new(), 0);
    let mut tables_of = Vec::with_capacity(model.n_classes());
    for class in 0..model.n_classes() {
        let column: Vec<Option<u32>> = model.users.iter().map(|user| user.demand_on[class]).collect();
        if let Some(at) = known.get(&column) {
            tables_of.push(*at);
            continue;
        }
        tables_of.push(tables.len());
        known.insert(column, tables.len());
        for row in 0..model.n_rows {
            tables.push(Table::new(n_users, |n| Some(model.demand(n, class)?[row].clone())));
            n_sets += tables.last().map_or(0, |table: &Table<D>| table.demands.len() + 1);
            if n_sets > most_sets {
                return None;
            }
        }
    }
    Some((tables_of, tables))
}

/// The members of a set, ascending.
fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            (rest != 0).then(|| {
                rest &= rest - 1;
                at * BITS + bit
            })
        })
    })
}
