//! Rules that choose the user first and then its server: first fit and best fit for scores of users, and the
//! joint choice. The user with the least score on a server with enough free capacity for its task is served
//! next.
//!
//! A user's least score over the servers never falls, because the user gets more tasks and the free capacity
//! shrinks. Users therefore wait in a queue with a score that may be outdated. The score is checked again
//! when it is the user's turn.

use std::ops::Range;

use super::digits::Digits;
use super::draw::Draw;
use super::lines::Lines;
use super::model::{State, TooMany};
use super::queue::{Look, Queue};
use super::rule::{Rule, Score, ServerRule, Ties};
use super::server_tree::{End, ServerTree};

/// Fills until nothing fits.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let users: Vec<usize> = (0..state.model.users.len()).collect();
    let mut servers = Servers::once(state);
    fill_among(state, &mut servers, &users, draw)
}

/// Fills with tasks of `users` only, which are in ascending order.
pub(super) fn fill_among<D: Digits>(
    state: &mut State<'_, D>,
    servers: &mut Servers<'_, D>,
    users: &[usize],
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let mut candidates: Vec<Candidate> = users.iter().map(|&n| Candidate::new(state, n)).collect();
    let is_of_user = state.model.rule.score.is_of_user();
    let first = |n: usize| if is_of_user { state.user_score(n) } else { D::zero() };
    let first = users.iter().enumerate().map(|(k, &n)| (first(n), k));
    let mut queue = Queue::new(state.model.rule.ties, first);
    loop {
        let look = |k: usize, score: &D::Ratio| candidates[k].look(state, servers, score);
        let Some(k) = queue.next(draw, look) else { return Ok(()) };
        let Some(j) = candidates[k].server(state, servers, draw) else { continue };
        state.place(users[k], j)?;
        servers.update(state, j);
        if state.has_more(users[k])
            && let Some(score) = candidates[k].score(state, servers)
        {
            queue.push(score, k);
        }
    }
}

/// The servers with the index that the rule needs.
pub(super) struct Servers<'m, D: Digits> {
    index: Index<'m, D>,
    /// The value of `changes` at the last change of each server.
    touched: Vec<u64>,
    /// The number of changes of servers so far.
    changes: u64,
}

/// An index of the servers.
enum Index<'m, D: Digits> {
    /// No index. If free capacity only shrinks and first fit chooses the servers, each user visits every
    /// server once.
    None,
    InOrder(ServerTree<D>),
    ByProportion(Lines<'m, D>),
}

impl<'m, D: Digits> Servers<'m, D> {
    /// Creates the index for a single filling.
    fn once(state: &State<'m, D>) -> Self {
        let rule = state.model.rule;
        let takes_any = rule.server == ServerRule::Joint && rule.ties == Ties::Random;
        if rule.server != ServerRule::BestFit && rule.score.is_of_user() && !takes_any {
            return Self { index: Index::None, touched: Vec::new(), changes: 0 };
        }
        Self::new(state)
    }

    /// Creates the index for fillings between which servers are given capacity back.
    pub fn new(state: &State<'m, D>) -> Self {
        let model = state.model;
        let index = match model.rule.server {
            ServerRule::BestFit => Index::ByProportion(Lines::new(state)),
            _ => Index::InOrder(ServerTree::new(state)),
        };
        Self { index, touched: vec![0; model.n_servers()], changes: 0 }
    }

    /// Updates the index for the free amounts of server `j`.
    pub fn update(&mut self, state: &State<'_, D>, j: usize) {
        self.changes += 1;
        match &mut self.index {
            Index::None => return,
            Index::InOrder(tree) => tree.update(state, j),
            Index::ByProportion(lines) => lines.update(state, j),
        }
        self.touched[j] = self.changes;
    }

    fn roomiest(&self, state: &State<'_, D>, n: usize) -> Option<usize> {
        let Index::InOrder(tree) = &self.index else { return None };
        // Only the score matters here, so any server with the least score is acceptable.
        tree.roomiest(state, n, &mut Draw::new(0, 0))
    }

    /// Returns the first or the last server of a range on which user `n` fits. For best fit, returns the best
    /// of all servers.
    fn one(&self, state: &State<'_, D>, n: usize, within: Range<usize>, end: End) -> Option<usize> {
        match &self.index {
            Index::None if end == End::First => within.into_iter().find(|j| state.fits(n, *j)),
            Index::None => within.rev().find(|j| state.fits(n, *j)),
            Index::InOrder(tree) => tree.one(state, n, within, end),
            // Any of the best servers is acceptable here.
            Index::ByProportion(lines) => Some(lines.best(state, n, &mut Draw::new(0, 0))?.server),
        }
    }
}

/// A waiting user, and the server on which it may be served next.
struct Candidate {
    user: usize,
    /// The server that the last search found for the user. The user may no longer fit on it.
    server: Option<usize>,
    /// The value of [`Servers::changes`] when `server` had the most free capacity for the user, or `None` if
    /// `server` is just any server on which the user fits.
    when: Option<u64>,
    /// The classes in ascending order of the score of a task there. The classes before position `class` are
    /// full for this user.
    classes: Vec<u32>,
    class: usize,
}

impl Candidate {
    fn new<D: Digits>(state: &State<'_, D>, user: usize) -> Self {
        let model = state.model;
        let mut classes: Vec<u32> = Vec::new();
        if model.rule.score == Score::PsDsf {
            classes.extend((0..model.n_classes()).filter(|&i| model.fits_empty(user, i)).map(|i| i as u32));
            classes.sort_by(|&a, &b| model.unit(user, a as usize).cmp(model.unit(user, b as usize)));
        }
        Self { user, server: None, when: None, classes, class: 0 }
    }

    /// Checks the score of the user again. If the score does not depend on the server, the only possible change is that
    /// the user no longer fits anywhere.
    fn look<D: Digits>(
        &mut self,
        state: &State<'_, D>,
        servers: &Servers<'_, D>,
        known: &D::Ratio,
    ) -> Look<D::Ratio> {
        if state.model.rule.score.is_of_user() {
            return if self.may_fit(state, servers) { Look::Same } else { Look::Out };
        }
        match self.least(state, servers) {
            None => Look::Out,
            Some(now) if now == *known => Look::Same,
            Some(now) => Look::Risen(now),
        }
    }

    /// Returns the score with which the user waits for its next turn, or `None` if the user fits nowhere.
    fn score<D: Digits>(&mut self, state: &State<'_, D>, servers: &Servers<'_, D>) -> Option<D::Ratio> {
        if state.model.rule.score.is_of_user() {
            return Some(state.user_score(self.user));
        }
        self.least(state, servers)
    }

    /// Returns whether the user fits on its server or on another server, which then becomes its server. For
    /// best fit, the search is postponed until the user's turn. Random ties are an exception, because they
    /// need the set of users that fit now.
    fn may_fit<D: Digits>(&mut self, state: &State<'_, D>, servers: &Servers<'_, D>) -> bool {
        if matches!(servers.index, Index::ByProportion(_)) && state.model.rule.ties != Ties::Random {
            return true;
        }
        if !self.server.is_some_and(|j| state.fits(self.user, j)) {
            self.server = self.next(state, servers);
            self.when = None;
        }
        self.server.is_some()
    }

    /// Returns the least score over the servers on which the user fits, for scores that depend on the server. Returns
    /// `None` if there is no such server.
    fn least<D: Digits>(&mut self, state: &State<'_, D>, servers: &Servers<'_, D>) -> Option<D::Ratio> {
        let (model, n) = (state.model, self.user);
        if state.steps[n] == 0 {
            return self.may_fit(state, servers).then(D::zero);
        }
        if model.rule.score == Score::PsDsf {
            while !self.is_on_its_class(state, servers) {
                self.class += 1;
            }
            let class = *self.classes.get(self.class)?;
            return Some(D::times(model.unit(n, class as usize), state.steps[n]));
        }
        if self.roomiest(servers).is_none() {
            // All servers with the most free capacity have the same score.
            self.server = servers.roomiest(state, n);
            self.when = Some(servers.changes);
        }
        self.server.map(|j| state.score(n, j))
    }

    /// Returns another server on which the user fits. The user never fits again on servers that the search has passed.
    fn next<D: Digits>(&self, state: &State<'_, D>, servers: &Servers<'_, D>) -> Option<usize> {
        let rule = state.model.rule;
        let is_last = rule.server == ServerRule::Joint && rule.ties == Ties::High;
        let (end, all) = (if is_last { End::Last } else { End::First }, 0..state.model.n_servers());
        let rest = match self.server {
            None => all,
            Some(j) if is_last => 0..j,
            Some(j) => j + 1..all.end,
        };
        servers.one(state, self.user, rest, end)
    }

    /// Returns whether the user fits on a server of its class, which then becomes its server. Also returns `true` if
    /// the user has no class left.
    fn is_on_its_class<D: Digits>(&mut self, state: &State<'_, D>, servers: &Servers<'_, D>) -> bool {
        let Some(&class) = self.classes.get(self.class) else { return true };
        if !self.server.is_some_and(|j| state.model.class[j] == class && state.fits(self.user, j)) {
            self.server = servers.one(state, self.user, servers_of(state, class), End::First);
        }
        self.server.is_some()
    }

    /// Returns the server that had the most free capacity in the last search, if it has not changed since.
    fn roomiest<D: Digits>(&self, servers: &Servers<'_, D>) -> Option<usize> {
        self.server.filter(|&j| self.when.is_some_and(|when| servers.touched[j] <= when))
    }

    /// Returns the server for the user's task. It is chosen among the servers on which the task has the least
    /// score.
    fn server<D: Digits>(
        &self,
        state: &State<'_, D>,
        servers: &Servers<'_, D>,
        draw: &mut Draw,
    ) -> Option<usize> {
        let (model, n) = (state.model, self.user);
        let Rule { score, server, ties, .. } = model.rule;
        match &servers.index {
            Index::ByProportion(lines) => Some(lines.best(state, n, draw)?.server),
            Index::InOrder(tree) if server != ServerRule::FirstFit => {
                if score.is_of_user() || state.steps[n] == 0 {
                    return tree.pick(state, n, std::slice::from_ref(&(0..model.n_servers())), draw);
                }
                if score == Score::PsDsf {
                    return tree.pick(state, n, &self.least_classes(state), draw);
                }
                let known = self.roomiest(servers).filter(|_| ties != Ties::Random);
                known.or_else(|| tree.roomiest(state, n, draw))
            }
            _ => self.server,
        }
    }

    /// Returns the servers of the classes on which a task has the least score.
    fn least_classes<D: Digits>(&self, state: &State<'_, D>) -> Vec<Range<usize>> {
        let unit = |class: u32| state.model.unit(self.user, class as usize);
        let classes = &self.classes[self.class..];
        let equal = classes.iter().take_while(|&&class| unit(class) == unit(classes[0]));
        equal.map(|&class| servers_of(state, class)).collect()
    }
}

fn servers_of<D: Digits>(state: &State<'_, D>, class: u32) -> Range<usize> {
    let first = &state.model.first_server;
    first[class as usize]..first[class as usize + 1]
}
