//! The pair of user and server with the least score.
//!
//! A user's least score over the servers never falls: it gets more tasks, and what is left of the
//! servers shrinks. So users wait in a queue with a score that was right once, and look again when it
//! is their turn.

use std::ops::Range;

use super::digits::Digits;
use super::draw::Draw;
use super::finder::Finder;
use super::model::{State, TooMany};
use super::queue::{Look, Queue};
use super::rule::{Rule, Score, Ties};
use super::server_tree::{End, ServerTree};
use super::target::Aim;

/// Fills until nothing fits.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    if state.model.n_servers() == 0 {
        return Ok(());
    }
    let users: Vec<usize> = (0..state.model.users.len()).collect();
    let mut servers = Servers::new(state);
    fill_among(state, &mut servers, &users, draw)
}

/// Fills with tasks of `users` alone.
pub(super) fn fill_among<D: Digits>(
    state: &mut State<'_, D>,
    servers: &mut Servers<D>,
    users: &[usize],
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let n_users = state.model.users.len();
    let mut candidates: Vec<Option<Candidate>> = (0..n_users).map(|_| None).collect();
    for &n in users {
        candidates[n] = Some(Candidate::new(state, n));
    }
    let mut queue = Queue::new(state.model.rule.ties, users.iter().map(|&n| (D::zero(), n)));
    loop {
        let look = |n: usize, score: &D::Ratio| {
            let candidate = candidates[n].as_mut();
            match candidate.and_then(|candidate| candidate.score(n, state, servers)) {
                None => Look::Out,
                Some(now) if now == *score => Look::Same,
                Some(now) => Look::Risen(now),
            }
        };
        let Some(n) = queue.next(draw, look) else { return Ok(()) };
        let Some(candidate) = &mut candidates[n] else { continue };
        let Some(j) = candidate.server(n, state, servers, draw) else { continue };
        state.place(n, j)?;
        servers.update(state, j);
        if state.has_more(n)
            && let Some(score) = candidate.score(n, state, servers)
        {
            queue.push(score, n);
        }
    }
}

/// The servers as the score looks at them.
pub(super) struct Servers<D: Digits> {
    in_order: ServerTree<D>,
    /// By their room too, for scores that change with what is left.
    by_room: Option<Finder<D>>,
    /// By server: how often it has changed.
    touched: Vec<u64>,
}

impl<D: Digits> Servers<D> {
    pub fn new(state: &State<'_, D>) -> Self {
        let Rule { score, ties, .. } = state.model.rule;
        let looks_at_room = score == Score::ResidualPsDsf;
        Self {
            in_order: ServerTree::new(state),
            by_room: looks_at_room.then(|| Finder::new(state, Aim::MostRoom, ties)),
            touched: vec![0; state.model.n_servers()],
        }
    }

    /// Takes over what is left of server `j`.
    pub fn update(&mut self, state: &State<'_, D>, j: usize) {
        self.touched[j] += 1;
        self.in_order.update(state, j);
        if let Some(finder) = &mut self.by_room {
            finder.update(state, j);
        }
    }

    /// The server with the most room for user `n`, by the ties of the rule.
    fn with_most_room(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<usize> {
        Some(self.by_room.as_ref()?.best(state, n, draw)?.server)
    }
}

/// Where a user may go next.
struct Candidate {
    /// A server on which it fits with its least score, when `touched` was this.
    server: Option<(usize, u64)>,
    /// Classes by what a task adds to the score there, ascending; those before `class` are full for
    /// this user.
    classes: Vec<u32>,
    class: usize,
}

impl Candidate {
    fn new<D: Digits>(state: &State<'_, D>, n: usize) -> Self {
        let model = state.model;
        let mut classes: Vec<u32> = Vec::new();
        if model.rule.score == Score::PsDsf {
            classes.extend((0..model.n_classes()).filter(|&i| model.fits_empty(n, i)).map(|i| i as u32));
            classes.sort_by(|&a, &b| model.unit(n, a as usize).cmp(model.unit(n, b as usize)));
        }
        Self { server: None, classes, class: 0 }
    }

    /// The least score of user `n` over the servers on which it fits; `None` if there is none.
    fn score<D: Digits>(&mut self, n: usize, state: &State<'_, D>, servers: &Servers<D>) -> Option<D::Ratio> {
        let (model, tree) = (state.model, &servers.in_order);
        let score = model.rule.score;
        if score.is_of_user() || state.steps[n] == 0 {
            if !self.server.is_some_and(|(j, _)| state.fits(n, j)) {
                self.server = first(tree, state, n, &(0..model.n_servers()));
            }
            return self.server.map(|_| if score.is_of_user() { state.user_score(n) } else { D::zero() });
        }
        if score == Score::PsDsf {
            while let Some(&class) = self.classes.get(self.class) {
                let is_here = |j: usize| model.class[j] == class && state.fits(n, j);
                if self.server.is_some_and(|(j, _)| is_here(j)) {
                    break;
                }
                self.server = first(tree, state, n, &servers_of(state, class));
                if self.server.is_some() {
                    break;
                }
                self.class += 1;
            }
            let class = *self.classes.get(self.class)?;
            return Some(D::times(model.unit(n, class as usize), state.steps[n]));
        }
        if self.known(servers).is_none() {
            // All of them have the same score.
            let best = servers.with_most_room(state, n, &mut Draw::new(0, 0));
            self.server = best.map(|j| (j, servers.touched[j]));
        }
        self.server.map(|(j, _)| state.score(n, j))
    }

    /// The server among those of least score.
    fn server<D: Digits>(
        &self,
        n: usize,
        state: &State<'_, D>,
        servers: &Servers<D>,
        draw: &mut Draw,
    ) -> Option<usize> {
        let (model, tree) = (state.model, &servers.in_order);
        let ties = model.rule.ties;
        if model.rule.score.is_of_user() || state.steps[n] == 0 {
            return tree.pick(state, n, std::slice::from_ref(&(0..model.n_servers())), ties, draw);
        }
        if model.rule.score == Score::PsDsf {
            let unit = |class: u32| model.unit(n, class as usize);
            let least = *self.classes.get(self.class)?;
            let equal = self.classes[self.class..].iter().take_while(|&&class| unit(class) == unit(least));
            let ranges: Vec<Range<usize>> = equal.map(|&class| servers_of(state, class)).collect();
            return tree.pick(state, n, &ranges, ties, draw);
        }
        match self.known(servers) {
            Some(j) if ties != Ties::Random => Some(j),
            _ => servers.with_most_room(state, n, draw),
        }
    }

    /// The server with the most room, found before, if nothing has been placed there since.
    fn known<D: Digits>(&self, servers: &Servers<D>) -> Option<usize> {
        self.server.filter(|&(j, when)| servers.touched[j] == when).map(|(j, _)| j)
    }
}

fn servers_of<D: Digits>(state: &State<'_, D>, class: u32) -> Range<usize> {
    let first = &state.model.first_server;
    first[class as usize]..first[class as usize + 1]
}

fn first<D: Digits>(
    tree: &ServerTree<D>,
    state: &State<'_, D>,
    n: usize,
    within: &Range<usize>,
) -> Option<(usize, u64)> {
    let found = tree.fitting(state, n, within, Some(End::First));
    // Never taken for the best one: no server is touched so often.
    found.first().map(|range| (range.start, u64::MAX))
}
