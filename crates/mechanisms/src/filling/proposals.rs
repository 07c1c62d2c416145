//! Best fit with proposals. Every user names its best server. Among the users whose task fits on the server
//! that they named, the user with the least score on that server is served.
//!
//! Only the server that gets a task changes. A user that named another server therefore only compares the two
//! servers. A user that named the changed server searches again. With random ties, a user with several best
//! servers draws one of them each time.

use std::cmp::Ordering;

use super::digits::Digits;
use super::draw::Draw;
use super::lines::{Found, Lines};
use super::model::{State, TooMany};
use super::queue::{Look, Queue};
use super::rule::Ties;

/// Fills until no user fits on its best server.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let users = (0..state.model.users.len()).collect();
    let mut lines = Lines::new(state);
    if state.model.rule.score.is_of_user() && state.model.rule.ties != Ties::Random {
        return by_scores_of_users(state, &mut lines, draw);
    }
    fill_among(state, &mut lines, users, draw)
}

/// Fills if scores do not depend on the server and servers need not be drawn at random.
///
/// In this case only the user with the least score names its server. If its task does not fit there, the user
/// waits until a placement makes another server its best one. For 300 users this takes half the time of the
/// general method.
fn by_scores_of_users<D: Digits>(
    state: &mut State<'_, D>,
    lines: &mut Lines<'_, D>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let (ties, n_users) = (state.model.rule.ties, state.model.users.len());
    let mut queue = Queue::new(ties, (0..n_users).map(|n| (state.user_score(n), n)));
    let mut blocked: Vec<(usize, Found<D::Ratio>)> = Vec::new();
    while let Some(n) = queue.next(draw, |_, _| Look::Same) {
        let Some(found) = lines.best(state, n, draw) else { continue };
        let j = found.server;
        if !state.fits(n, j) {
            blocked.push((n, found));
            continue;
        }
        state.place(n, j)?;
        lines.update(state, j);
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
        blocked.retain_mut(|(user, waits_for)| {
            let found = if waits_for.server == j {
                if lines.stays(state, *user, waits_for) {
                    return true;
                }
                lines.best(state, *user, draw)
            } else {
                match lines.compare(state, *user, j, waits_for) {
                    Some((order, found)) if comes_first(order, j, waits_for.server, ties) => Some(found),
                    _ => return true,
                }
            };
            let Some(found) = found else { return false };
            if state.fits(*user, found.server) {
                queue.push(state.user_score(*user), *user);
                return false;
            }
            *waits_for = found;
            true
        });
    }
    Ok(())
}

/// Fills with tasks of `users` only. `users` must be in ascending order.
pub(super) fn fill_among<D: Digits>(
    state: &mut State<'_, D>,
    lines: &mut Lines<'_, D>,
    mut users: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let ties = state.model.rule.ties;
    let n_users = state.model.users.len();
    let mut named: Vec<Option<Found<D::Ratio>>> = (0..n_users).map(|_| None).collect();
    let mut turns = Turns::new(n_users);
    let mut changed = None;
    loop {
        users.retain(|&n| {
            if !state.has_more(n) {
                turns.set(state, n, None);
                return false;
            }
            if let (Some(found), Some(j)) = (&mut named[n], changed)
                && found.server == j
                && lines.stays(state, n, found)
            {
                turns.set(state, n, Some(j));
                return true;
            }
            if let (Some(found), Some(j)) = (&mut named[n], changed)
                && found.server != j
                && (ties != Ties::Random || found.is_only)
            {
                match lines.compare(state, n, j, found) {
                    // Two servers are now equally good, and one of them must be drawn.
                    Some((Ordering::Equal, _)) if ties == Ties::Random => {}
                    Some((order, better)) if comes_first(order, j, found.server, ties) => {
                        named[n] = Some(better);
                        turns.set(state, n, Some(j));
                        return true;
                    }
                    _ => return true,
                }
            }
            named[n] = lines.best(state, n, draw);
            let server = named[n].as_ref().map(|found| found.server);
            turns.set(state, n, server);
            server.is_some()
        });
        let Some((n, j)) = turns.next(state, &named, draw) else { return Ok(()) };
        state.place(n, j)?;
        lines.update(state, j);
        changed = Some(j);
    }
}

/// Returns whether server `j` is preferred to server `k`, given the order of their mismatches. With random ties,
/// equal servers are not preferred.
fn comes_first(order: Ordering, j: usize, k: usize, ties: Ties) -> bool {
    match (order, ties) {
        (Ordering::Equal, Ties::Low) => j < k,
        (Ordering::Equal, Ties::High) => j > k,
        _ => order == Ordering::Less,
    }
}

/// The users that can be served, with estimates of their scores.
struct Turns {
    /// The estimate for each user. It is infinite if the user cannot be served, and negative if the score
    /// cannot be estimated.
    estimates: Vec<f64>,
}

impl Turns {
    fn new(n_users: usize) -> Self {
        Self { estimates: vec![f64::INFINITY; n_users] }
    }

    /// Records that user `n` names `server`, or that it names no server.
    fn set<D: Digits>(&mut self, state: &State<'_, D>, n: usize, server: Option<usize>) {
        let served = server.filter(|&j| state.has_more(n) && state.fits(n, j));
        self.estimates[n] = served.map_or(f64::INFINITY, |j| {
            let estimate = state.estimate(n, j);
            if estimate.is_nan() { -1.0 } else { estimate }
        });
    }

    /// Returns the user with the least score on the server that it named. Exact scores decide between users whose
    /// estimates are too close.
    fn next<D: Digits>(
        &self,
        state: &State<'_, D>,
        named: &[Option<Found<D::Ratio>>],
        draw: &mut Draw,
    ) -> Option<(usize, usize)> {
        let least = self.estimates.iter().fold(f64::INFINITY, |least, estimate| least.min(*estimate));
        if least == f64::INFINITY {
            return None;
        }
        let at_most = if least < 0.0 { f64::MAX } else { least * (1.0 + 1e-12) };
        let near = (0..named.len()).filter(|&n| self.estimates[n] <= at_most);
        let near = near.filter_map(|n| Some((n, named[n].as_ref()?.server)));
        let near: Vec<(usize, usize)> = near.collect();
        if let [one] = near[..] {
            return Some(one);
        }
        let scores: Vec<D::Ratio> = near.iter().map(|&(n, j)| state.score(n, j)).collect();
        let least = scores.iter().min()?;
        let equals = near.iter().zip(&scores).filter(|(_, score)| *score == least);
        let equals: Vec<(usize, usize)> = equals.map(|(user, _)| *user).collect();
        match state.model.rule.ties {
            Ties::Low => equals.first().copied(),
            Ties::High => equals.last().copied(),
            Ties::Random => equals.get(draw.position(equals.len())).copied(),
        }
    }
}
