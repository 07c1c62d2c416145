//! Best fit: the server of least mismatch `H` (DRFH, equation 9), among those that fit or among all.

use std::cmp::Ordering;

use super::digits::Digits;
use super::draw::Draw;
use super::finder::{Finder, Found};
use super::line::Lines;
use super::model::{State, TooMany};
use super::proposals;
use super::queue::{Look, Queue};
use super::rule::{Rule, Ties};
use super::target::Aim;

/// Servers among which the best one of those that fit is looked for.
pub(super) trait BestServers<D: Digits> {
    /// The best server of user `n` on which it fits.
    fn best_server(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<usize>;

    /// Takes over what is left of server `j`.
    fn take_over(&mut self, state: &State<'_, D>, j: usize);
}

impl<D: Digits> BestServers<D> for Finder<D> {
    fn best_server(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<usize> {
        self.best(state, n, draw).map(|found| found.server)
    }

    fn take_over(&mut self, state: &State<'_, D>, j: usize) {
        self.update(state, j);
    }
}

/// Fills until nothing fits, or no best server fits its user.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    match state.model.rule {
        Rule { score, unfiltered: false, ties, .. } if score.is_of_user() => {
            let users: Vec<usize> = (0..state.model.users.len()).collect();
            if let Some(mut lines) = Lines::new(state, ties) {
                return among_fitting(state, &mut lines, &users, draw);
            }
            among_fitting(state, &mut Finder::new(state, Aim::Fitting, ties), &users, draw)
        }
        Rule { score, ties: Ties::Low | Ties::High, .. } if score.is_of_user() => among_all(state, draw),
        _ => proposals::fill(state, draw),
    }
}

/// The least-scored one of `users` that fits somewhere, its best server among those.
pub(super) fn among_fitting<D: Digits>(
    state: &mut State<'_, D>,
    servers: &mut impl BestServers<D>,
    users: &[usize],
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let (ties, n_users) = (state.model.rule.ties, state.model.users.len());
    // Where users are drawn, only those that fit somewhere may be: a server of each that does.
    let mut fitting: Vec<Option<usize>> = vec![None; n_users];
    let mut nothing = draw.clone();
    let mut queue = Queue::new(ties, users.iter().map(|&n| (state.user_score(n), n)));
    loop {
        let look = |n: usize, _: &D::Ratio| {
            if ties != Ties::Random || fitting[n].is_some_and(|j| state.fits(n, j)) {
                return Look::Same;
            }
            fitting[n] = servers.best_server(state, n, &mut nothing);
            if fitting[n].is_some() { Look::Same } else { Look::Out }
        };
        let Some(n) = queue.next(draw, look) else { return Ok(()) };
        let Some(j) = servers.best_server(state, n, draw) else { continue };
        fitting[n] = Some(j);
        state.place(n, j)?;
        servers.take_over(state, j);
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
    }
}

/// The best server of all, whether the task fits or not. A user that does not fit there waits until a
/// placement makes another server its best one.
fn among_all<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let (ties, n_users) = (state.model.rule.ties, state.model.users.len());
    let mut finder = Finder::new(state, Aim::Closest, ties);
    let mut queue = Queue::new(ties, (0..n_users).map(|n| (state.user_score(n), n)));
    let mut blocked: Vec<(usize, Found<D::Ratio>)> = Vec::new();
    while let Some(n) = queue.next(draw, |_, _| Look::Same) {
        let Some(found) = finder.best(state, n, draw) else { continue };
        let j = found.server;
        if !state.fits(n, j) {
            blocked.push((n, found));
            continue;
        }
        state.place(n, j)?;
        finder.update(state, j);
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
        blocked.retain_mut(|(user, waits_for)| {
            let found = if waits_for.server == j {
                if finder.stays(state, *user, waits_for) {
                    return true;
                }
                finder.best(state, *user, draw)
            } else {
                match finder.compare(state, *user, j, waits_for) {
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

/// Whether server `j` is preferred to server `k` where their mismatches compare like this; equals at
/// random are not.
pub(super) fn comes_first(order: Ordering, j: usize, k: usize, ties: Ties) -> bool {
    match order {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => match ties {
            Ties::Low => j < k,
            Ties::High => j > k,
            Ties::Random => false,
        },
    }
}
