//! The queue of users by score, in which users with equal scores form one group.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::draw::Draw;
use super::rule::Ties;

/// The result of checking a user's score again. Scores never fall.
pub(super) enum Look<R> {
    /// The score is unchanged.
    Same,
    /// The score has risen to this value.
    Risen(R),
    /// The user fits nowhere any more.
    Out,
}

/// A queue of users by score. The users with the least score form a separate group, so that ties are decided without
/// examining other users. A user that is served comes back with a greater score.
pub(super) struct Queue<R> {
    heap: BinaryHeap<Reverse<(R, usize)>>,
    /// The users with the least score, in ascending order.
    group: VecDeque<usize>,
    /// The score of the users in `group`.
    least: Option<R>,
    ties: Ties,
}

impl<R: Ord + Clone> Queue<R> {
    pub fn new(ties: Ties, users: impl Iterator<Item = (R, usize)>) -> Self {
        Self { heap: users.map(Reverse).collect(), group: VecDeque::new(), least: None, ties }
    }

    /// Adds a user with its score.
    pub fn push(&mut self, score: R, user: usize) {
        // A user that was outside the queue may come back with a score that is not above the score of the
        // group. The group is then formed again.
        if let Some(least) = self.least.as_ref().filter(|least| score <= **least) {
            self.heap.extend(self.group.drain(..).map(|user| Reverse((least.clone(), user))));
        }
        self.heap.push(Reverse((score, user)));
    }

    /// Removes and returns the next user. `look` checks the score of a user before it is chosen.
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

    /// Forms the group of the users with the least score. Returns `None` if no user is left.
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

    /// Removes users from the group if their score has risen or they fit nowhere.
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
