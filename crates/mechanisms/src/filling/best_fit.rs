//! Best fit: the server of least mismatch `H` (DRFH, equation 9), among those that fit or among all.

use std::cmp::Ordering;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, TooMany};
use super::queue::{Look, Queue};
use super::rule::{Rule, Ties};
use super::server_tree::{Aim, End, ServerTree};

/// Fills until nothing fits, or no best server fits its user.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    if state.model.n_servers() == 0 {
        return Ok(());
    }
    let rule = state.model.rule;
    match rule {
        Rule { score, filter: true, .. } if score.is_of_user() => among_fitting(state, draw),
        Rule { score, ties: Ties::Low | Ties::High, .. } if score.is_of_user() => among_all(state, draw),
        _ => by_proposals(state, draw),
    }
}

/// The least-scored user that fits somewhere, its best server among those.
fn among_fitting<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let (ties, n_users, servers) =
        (state.model.rule.ties, state.model.users.len(), 0..state.model.n_servers());
    let mut tree = ServerTree::new(state);
    let mut fitting: Vec<usize> = vec![0; n_users];
    let mut queue = Queue::new(ties, (0..n_users).map(|n| (state.user_score(n), n)));
    loop {
        let look = |n: usize, _: &D::Ratio| {
            if state.fits(n, fitting[n]) {
                return Look::Same;
            }
            let found = tree.fitting(state, n, &servers, Some(End::First));
            found.first().map_or(Look::Out, |range| {
                fitting[n] = range.start;
                Look::Same
            })
        };
        let Some(n) = queue.next(draw, look) else { return Ok(()) };
        let Some(j) = tree.best(state, n, Aim::Fitting, ties, draw) else { continue };
        state.place(n, j)?;
        tree.update(state, j);
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
    }
}

/// A user whose best server is too full for it.
struct Blocked<R> {
    user: usize,
    server: usize,
    mismatch: R,
}

/// The best server of all, whether the task fits or not. A user that does not fit there waits until a
/// placement makes another server its best one.
fn among_all<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let (ties, n_users) = (state.model.rule.ties, state.model.users.len());
    let mut tree = ServerTree::new(state);
    let mut queue = Queue::new(ties, (0..n_users).map(|n| (state.user_score(n), n)));
    let mut blocked: Vec<Blocked<D::Ratio>> = Vec::new();
    while let Some(n) = queue.next(draw, |_, _| Look::Same) {
        let Some(j) = tree.best(state, n, Aim::Closest, ties, draw) else { continue };
        if !state.fits(n, j) {
            blocked.extend(state.mismatch(n, j).map(|mismatch| Blocked { user: n, server: j, mismatch }));
            continue;
        }
        state.place(n, j)?;
        tree.update(state, j);
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
        blocked.retain_mut(|waiting| {
            let user = waiting.user;
            if waiting.server == j {
                let Some(best) = tree.best(state, user, Aim::Closest, ties, draw) else { return false };
                waiting.server = best;
            } else {
                match state.mismatch(user, j) {
                    Some(now) if is_better(&now, j, &waiting.mismatch, waiting.server, ties) => {
                        waiting.server = j;
                    }
                    _ => return true,
                }
            }
            if state.fits(user, waiting.server) {
                queue.push(state.user_score(user), user);
                return false;
            }
            let Some(mismatch) = state.mismatch(user, waiting.server) else { return false };
            waiting.mismatch = mismatch;
            true
        });
    }
    Ok(())
}

/// Whether server `j` comes before server `k` where the mismatches are these.
fn is_better<R: Ord>(of_j: &R, j: usize, of_k: &R, k: usize, ties: Ties) -> bool {
    match of_j.cmp(of_k) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => (j < k) == (ties == Ties::Low),
    }
}

/// Every user names its best server, and of those that fit there the one with the least score on its
/// server is served. Only the server that got a task changes, so that a user compares that one with
/// what it named before; where ties are decided at random everybody is asked each time.
fn by_proposals<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let Rule { ties, filter, .. } = state.model.rule;
    let aim = if filter { Aim::Fitting } else { Aim::Closest };
    let mut tree = ServerTree::new(state);
    let mut users: Vec<usize> = (0..state.model.users.len()).collect();
    let mut named: Vec<Option<(usize, D::Ratio)>> = vec![None; users.len()];
    let mut changed = None;
    loop {
        users.retain(|&n| {
            if !state.has_more(n) {
                return false;
            }
            let keeps = match (&named[n], changed) {
                (Some((server, mismatch)), Some(j)) if ties != Ties::Random && *server != j => {
                    let now = state.mismatch(n, j).filter(|_| !filter || state.fits(n, j));
                    let better = now.filter(|now| is_better(now, j, mismatch, *server, ties));
                    if let Some(now) = better {
                        named[n] = Some((j, now));
                    }
                    true
                }
                _ => false,
            };
            if !keeps {
                let best = tree.best(state, n, aim, ties, draw);
                named[n] = best.and_then(|j| Some((j, state.mismatch(n, j)?)));
            }
            named[n].is_some()
        });
        let Some((n, j)) = least(state, &users, &named, ties, draw) else { return Ok(()) };
        state.place(n, j)?;
        tree.update(state, j);
        changed = Some(j);
    }
}

/// The user with the least score on the server that it named, of those that fit there.
fn least<D: Digits>(
    state: &State<'_, D>,
    users: &[usize],
    named: &[Option<(usize, D::Ratio)>],
    ties: Ties,
    draw: &mut Draw,
) -> Option<(usize, usize)> {
    let mut equals: Vec<(usize, usize)> = Vec::new();
    let mut least: Option<D::Ratio> = None;
    for &n in users {
        let Some((j, _)) = named[n] else { continue };
        if !state.fits(n, j) {
            continue;
        }
        let score = state.score(n, j);
        let order = least.as_ref().map_or(Ordering::Less, |least| score.cmp(least));
        if order == Ordering::Less {
            equals.clear();
            least = Some(score);
        }
        if order != Ordering::Greater {
            equals.push((n, j));
        }
    }
    match ties {
        Ties::Low => equals.first().copied(),
        Ties::High => equals.last().copied(),
        Ties::Random => equals.get(draw.position(equals.len())).copied(),
    }
}
