//! Best fit where every user names its best server first, and of those that fit there the one with the
//! least score on its server is served.
//!
//! Only the server that got a task changes, so that a user compares that one with what it named
//! before, and looks again only if it named that one. Where ties are decided at random, users with
//! several best servers name one anew each time.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::best_fit::comes_first;
use super::digits::Digits;
use super::draw::Draw;
use super::finder::{Finder, Found};
use super::model::{State, TooMany};
use super::rule::{Rule, Ties};
use super::target::Aim;

/// Fills until no best server fits its user.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let Rule { ties, filter, .. } = state.model.rule;
    let aim = if filter { Aim::Fitting } else { Aim::Closest };
    let mut finder = Finder::new(state, aim, ties);
    let mut users: Vec<usize> = (0..state.model.users.len()).collect();
    let mut named: Vec<Option<Found<D::Ratio>>> = users.iter().map(|_| None).collect();
    let mut turns = Turns::new(users.len(), ties);
    let mut changed = None;
    loop {
        users.retain(|&n| {
            if !state.has_more(n) {
                turns.set(n, None);
                return false;
            }
            if let (Some(found), Some(j)) = (&mut named[n], changed)
                && found.server == j
                && finder.stays(state, n, found)
            {
                turns.set(n, state.fits(n, j).then(|| state.score(n, j)));
                return true;
            }
            if let (Some(found), Some(j)) = (&mut named[n], changed)
                && found.server != j
                && (ties != Ties::Random || found.is_only)
            {
                match finder.compare(state, n, j, found) {
                    // Now there are two, one of which is drawn.
                    Some((Ordering::Equal, _)) if ties == Ties::Random => {}
                    Some((order, better)) if comes_first(order, j, found.server, ties) => {
                        named[n] = Some(better);
                        turns.set(n, state.fits(n, j).then(|| state.score(n, j)));
                        return true;
                    }
                    _ => return true,
                }
            }
            named[n] = finder.best(state, n, draw);
            let server = named[n].as_ref().map(|found| found.server);
            let served = server.filter(|&j| state.fits(n, j));
            turns.set(n, served.map(|j| state.score(n, j)));
            server.is_some()
        });
        let Some(n) = turns.next(draw) else { return Ok(()) };
        let Some(j) = named[n].as_ref().map(|found| found.server) else { return Ok(()) };
        state.place(n, j)?;
        finder.update(state, j);
        changed = Some(j);
    }
}

/// Users that can be served, by score.
struct Turns<R> {
    scores: Vec<Option<R>>,
    users: BTreeSet<(R, usize)>,
    ties: Ties,
}

impl<R: Ord + Clone> Turns<R> {
    fn new(n_users: usize, ties: Ties) -> Self {
        Self { scores: vec![None; n_users], users: BTreeSet::new(), ties }
    }

    /// Among equals the first one is preferred.
    fn key(&self, n: usize) -> usize {
        if self.ties == Ties::High { usize::MAX - n } else { n }
    }

    /// User `n` has a new score, or cannot be served.
    fn set(&mut self, n: usize, score: Option<R>) {
        let key = self.key(n);
        if let Some(old) = self.scores[n].take() {
            if score.as_ref() == Some(&old) {
                self.scores[n] = score;
                return;
            }
            self.users.remove(&(old, key));
        }
        if let Some(score) = &score {
            self.users.insert((score.clone(), key));
        }
        self.scores[n] = score;
    }

    /// Whose turn it is.
    fn next(&self, draw: &mut Draw) -> Option<usize> {
        let (least, first) = self.users.first()?;
        if self.ties != Ties::Random {
            return Some(self.key(*first));
        }
        let equals = self.users.iter().take_while(|(score, _)| score == least);
        let equals: Vec<usize> = equals.map(|(_, n)| *n).collect();
        equals.get(draw.position(equals.len())).copied()
    }
}
