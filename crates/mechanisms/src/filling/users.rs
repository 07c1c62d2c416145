//! The user with the least score that fits on a given server, computed with sets of users.
//!
//! For every row, users are sorted by their demand of the row. Every demanded amount has the set of the users
//! that demand no more than this amount. The users that fit on a server are in the intersection of one set
//! for each row. The least score among them is computed in floating point, and in exact numbers if floating
//! point does not decide. If there are many users, each word of a set has a lower bound of the scores of its
//! users, so that few users are visited.

use std::collections::HashMap;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{Model, State};
use super::rule::{Score, Ties};

/// The number of bits in a word of a set.
const BITS: usize = u64::BITS as usize;
/// The maximum number of sets of users for one row. If a row has more distinct demands, one set represents
/// several demands.
const MOST_SETS: usize = 512;
/// The maximum number of words of all sets, and the maximum number of all bounds. Sets and bounds should fit
/// into the caches.
const MOST_WORDS: usize = 1 << 20;
/// The range of the score of one step in which estimates have errors of a few units in the last place. Products of such
/// estimates and numbers of steps have errors of the same size.
const RANGE: std::ops::Range<f64> = 1e-200..1e200;
/// A factor that is far above the error of a quotient of two estimates.
const NEAR: f64 = 1.0 + 1e-12;

/// Sets of users by the amount that they demand of one row.
struct Table<D: Digits> {
    /// The demands in ascending order.
    demands: Vec<D::Amount>,
    /// The sets of users that demand at most an amount, one set after another in the order of `demands`. The
    /// first set is empty.
    sets: Vec<u64>,
    /// `true` if every demand has its own set.
    is_exact: bool,
}

impl<D: Digits> Table<D> {
    fn new(n_users: usize, demand: impl Fn(usize) -> Option<D::Amount>) -> Self {
        let words = n_users.div_ceil(BITS);
        let mut users: Vec<(D::Amount, usize)> = (0..n_users).filter_map(|n| Some((demand(n)?, n))).collect();
        users.sort_unstable();
        let groups: Vec<&[(D::Amount, usize)]> = users.chunk_by(|a, b| a.0 == b.0).collect();
        let together = groups.len().div_ceil(MOST_SETS).max(1);
        let (mut demands, mut sets) = (Vec::new(), vec![0; words]);
        for groups in groups.chunks(together) {
            sets.extend_from_within(sets.len() - words..);
            let last = sets.len() - words;
            for (_, n) in groups.iter().copied().flatten() {
                sets[last + n / BITS] |= 1 << (n % BITS);
            }
            demands.extend(groups.iter().filter_map(|group| Some(group.first()?.0.clone())).next_back());
        }
        Self { demands, sets, is_exact: together == 1 }
    }

    /// Returns a set that contains all users that demand at most `left`. If the table is exact, the set
    /// contains no other users.
    fn at_most(&self, left: &D::Amount, words: usize) -> &[u64] {
        let within = self.demands.partition_point(|demand| demand <= left);
        let set = if self.is_exact { within } else { (within + 1).min(self.demands.len()) };
        &self.sets[set * words..(set + 1) * words]
    }
}

/// The users and their scores.
pub(super) struct Users<D: Digits> {
    /// The index of the first table of each class. Classes on which every user has the same demand share their
    /// tables. The list is empty if there would be too many tables.
    tables_of: Vec<usize>,
    /// The tables of all classes. The tables of a class are consecutive, one for each row.
    tables: Vec<Table<D>>,
    /// The users that have steps to place.
    waiting: Vec<u64>,
    /// The number of steps of each user at its last update.
    steps: Vec<u64>,
    /// The score of one step of each user, for each class or for all classes together. It is NaN outside the
    /// range of estimates. The list is empty if scores depend on the free amounts, or if there would be too
    /// many scores.
    units: Vec<f64>,
    /// The number of steps of each user as they count in its score.
    counted: Vec<f64>,
    /// A lower bound of the scores of the waiting users in each word, for each class or for all classes
    /// together. The list is empty if scores depend on the free amounts.
    bounds: Vec<f64>,
    /// The users that may fit. The set is temporary storage.
    fitting: Vec<u64>,
    equals: Vec<usize>,
}

impl<D: Digits> Users<D> {
    pub fn new(state: &State<'_, D>) -> Self {
        let model = state.model;
        let (n_users, score) = (model.users.len(), model.rule.score);
        let words = n_users.div_ceil(BITS);
        let (tables_of, tables) = tables(model, MOST_WORDS / words.max(1)).unwrap_or_default();
        let columns = match score {
            Score::Drf | Score::Tsf => 1,
            Score::PsDsf if n_users * model.n_classes() <= MOST_WORDS => model.n_classes(),
            Score::PsDsf | Score::ResidualPsDsf => 0,
        };
        let unit = |at: usize| {
            let unit = D::to_f64(model.unit(at % n_users, at / n_users));
            // A user that may not run on the class has the score 0.
            if unit == 0.0 || RANGE.contains(&unit) { unit } else { f64::NAN }
        };
        let mut users = Self {
            tables_of,
            tables,
            waiting: vec![0; words],
            steps: vec![0; n_users],
            units: (0..columns * n_users).map(unit).collect(),
            counted: vec![0.0; n_users],
            bounds: vec![0.0; columns * words],
            fitting: vec![0; words],
            equals: Vec::new(),
        };
        (0..n_users).for_each(|n| users.update(state, n));
        users
    }

    /// Updates the score of user `n`, and whether it has more steps to place.
    pub fn update(&mut self, state: &State<'_, D>, n: usize) {
        let (word, bit) = (n / BITS, 1 << (n % BITS));
        self.counted[n] = state.counted[n] as f64;
        let was_waiting = self.waiting[word] & bit != 0;
        if state.has_more(n) {
            self.waiting[word] |= bit;
            if !was_waiting || state.steps[n] < self.steps[n] {
                self.bounds.iter_mut().skip(word).step_by(self.waiting.len()).for_each(|bound| *bound = 0.0);
            }
        } else {
            self.waiting[word] &= !bit;
        }
        self.steps[n] = state.steps[n];
    }

    /// Returns the user that is served next on server `j`.
    pub fn least(&mut self, state: &State<'_, D>, j: usize, draw: &mut Draw) -> Option<usize> {
        self.intersect(state, j);
        let (mut user, mut least, mut second) = (None, f64::INFINITY, f64::INFINITY);
        for word in 0..self.fitting.len() {
            let fitting = self.fitting[word];
            if fitting == 0 || self.bound(state, j, word).is_some_and(|bound| *bound > least * NEAR) {
                continue;
            }
            let is_bounded = !self.bounds.is_empty() && self.fitting.len() > FEW_WORDS;
            let mut bound = f64::INFINITY;
            for n in members(word, if is_bounded { self.waiting[word] } else { fitting }) {
                let estimate = self.estimate(state, n, j);
                if estimate.is_nan() {
                    return self.decide(state, j, f64::INFINITY, draw);
                }
                bound = bound.min(estimate);
                if estimate >= second || fitting >> (n % BITS) & 1 == 0 || !state.fits(n, j) {
                    continue;
                }
                if estimate < least {
                    (user, second, least) = (Some(n), least, estimate);
                } else {
                    second = estimate;
                }
            }
            if is_bounded && let Some(known) = self.bound(state, j, word) {
                *known = bound;
            }
        }
        if second > least * NEAR && state.model.rule.ties != Ties::Random {
            return user;
        }
        user.and_then(|_| self.decide(state, j, least * NEAR, draw))
    }

    /// Sets `fitting` to the users that may fit on server `j`.
    fn intersect(&mut self, state: &State<'_, D>, j: usize) {
        self.fitting.copy_from_slice(&self.waiting);
        let Some(&first) = self.tables_of.get(state.model.class[j] as usize) else { return };
        for (table, left) in self.tables[first..].iter().zip(state.left(j)) {
            let set = table.at_most(left, self.waiting.len());
            self.fitting.iter_mut().zip(set).for_each(|(word, set)| *word &= set);
        }
    }

    fn estimate(&self, state: &State<'_, D>, n: usize, j: usize) -> f64 {
        match self.units.get(self.column(state, j) * self.counted.len() + n) {
            Some(unit) => unit * self.counted[n],
            None => state.estimate(n, j),
        }
    }

    fn column(&self, state: &State<'_, D>, j: usize) -> usize {
        if state.model.rule.score.is_of_user() { 0 } else { state.model.class[j] as usize }
    }

    fn bound(&mut self, state: &State<'_, D>, j: usize, word: usize) -> Option<&mut f64> {
        let column = self.column(state, j);
        self.bounds.get_mut(column * self.waiting.len() + word)
    }

    /// Returns the user with the least exact score among the users whose estimates are at most `at_most`.
    fn decide(&mut self, state: &State<'_, D>, j: usize, at_most: f64, draw: &mut Draw) -> Option<usize> {
        let mut equals = std::mem::take(&mut self.equals);
        equals.clear();
        let mut least: Option<D::Ratio> = None;
        for word in 0..self.fitting.len() {
            if self.bound(state, j, word).is_some_and(|bound| *bound > at_most) {
                continue;
            }
            for n in members(word, self.fitting[word]) {
                if self.estimate(state, n, j) > at_most || !state.fits(n, j) {
                    continue;
                }
                let score = state.score(n, j);
                if least.as_ref().is_none_or(|least| score < *least) {
                    equals.clear();
                    least = Some(score);
                } else if least.as_ref().is_some_and(|least| score > *least) {
                    continue;
                }
                equals.push(n);
            }
        }
        let chosen = match state.model.rule.ties {
            Ties::Low => equals.first().copied(),
            Ties::High => equals.last().copied(),
            Ties::Random => equals.get(draw.position(equals.len())).copied(),
        };
        self.equals = equals;
        chosen
    }
}

/// The number of words of a set up to which all users that fit are visited.
const FEW_WORDS: usize = 4;

/// Returns the index of the first table of each class, and the tables of all classes. Returns `None` if the
/// tables have more than `most_sets` sets.
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

/// Returns the users of a word of a set, in ascending order.
fn members(at: usize, word: u64) -> impl Iterator<Item = usize> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let bit = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            at * BITS + bit
        })
    })
}
