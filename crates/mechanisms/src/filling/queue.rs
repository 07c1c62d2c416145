//! Whose turn it is: users by score, equals in one group.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::draw::Draw;
use super::rule::Ties;

/// What a second look at a user's score says. Scores never fall.
pub(super) enum Look<R> {
    /// It is still this score.
    Same,
    /// It has risen to this.
    Risen(R),
    /// It fits nowhere any more.
    Out,
}

/// Users by score. Those with the least one stand in a group of their own, so that a tie is decided
/// without looking at anybody else; a user that is served comes back with a greater score.
pub(super) struct Queue<R> {
    heap: BinaryHeap<Reverse<(R, usize)>>,
    /// The users of the least score, ascending.
    group: VecDeque<usize>,
    least: Option<R>,
    ties: Ties,
}

impl<R: Ord + Clone> Queue<R> {
    pub fn new(ties: Ties, users: impl Iterator<Item = (R, usize)>) -> Self {
        Self { heap: users.map(Reverse).collect(), group: VecDeque::new(), least: None, ties }
    }

    pub fn push(&mut self, score: R, user: usize) {
        // Somebody who waited elsewhere may come back with no more than the group has.
        if let Some(least) = self.least.as_ref().filter(|least| score <= **least) {
            self.heap.extend(self.group.drain(..).map(|user| Reverse((least.clone(), user))));
        }
        self.heap.push(Reverse((score, user)));
    }

    /// Takes out the user whose turn it is, and its score; `look` is asked before anybody is chosen.
    pub fn next(&mut self, draw: &mut Draw, mut look: impl FnMut(usize, &R) -> Look<R>) -> Option<usize> {
        loop {
            if self.group.is_empty() {
                self.gather(&mut look)?;
            }
            let at = match self.ties {
                Ties::Low => 0,
                Ties::High => self.group.len() - 1,
                Ties::Random => {
                    self.sift(&mut look);
                    if self.group.is_empty() {
                        continue;
                    }
                    draw.position(self.group.len())
                }
            };
            let (Some(user), Some(least)) = (self.group.remove(at), &self.least) else { continue };
            match look(user, least) {
                Look::Same => return Some(user),
                Look::Risen(score) => self.push(score, user),
                Look::Out => {}
            }
        }
    }

    /// Makes a group of the users with the least score.
    fn gather(&mut self, look: &mut impl FnMut(usize, &R) -> Look<R>) -> Option<()> {
        loop {
            let Reverse((score, user)) = self.heap.pop()?;
            match look(user, &score) {
                Look::Same => {
                    self.group.push_back(user);
                    self.least = Some(score);
                    break;
                }
                Look::Risen(score) => self.push(score, user),
                Look::Out => {}
            }
        }
        while let (Some(Reverse((score, _))), Some(least)) = (self.heap.peek(), &self.least) {
            if score != least {
                break;
            }
            let Some(Reverse((score, user))) = self.heap.pop() else { break };
            match look(user, &score) {
                Look::Same => self.group.push_back(user),
                Look::Risen(score) => self.push(score, user),
                Look::Out => {}
            }
        }
        Some(())
    }

    /// Leaves in the group who belongs there.
    fn sift(&mut self, look: &mut impl FnMut(usize, &R) -> Look<R>) {
        let Some(least) = &self.least else { return };
        let heap = &mut self.heap;
        self.group.retain(|&user| match look(user, least) {
            Look::Same => true,
            Look::Risen(score) => {
                heap.push(Reverse((score, user)));
                false
            }
            Look::Out => false,
        });
    }
}
