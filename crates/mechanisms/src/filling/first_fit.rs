//! First fit for scores of users: the least-scored user, the first server that fits. The joint choice
//! is the same where all servers are equal to a score, and the last server where ties go there.

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, TooMany};
use super::queue::{Look, Queue};
use super::rule::{Rule, ServerRule, Ties};
use super::server_tree::{End, ServerTree};

/// Fills until nothing fits. A server on which a user does not fit never fits it again, so that every
/// user looks at every server once.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let (n_users, n_servers) = (state.model.users.len(), state.model.n_servers());
    let Rule { server, ties, .. } = state.model.rule;
    let from_the_last = server == ServerRule::Joint && ties == Ties::High;
    let server = |at: usize| if from_the_last { n_servers - 1 - at } else { at };
    let mut first = vec![0_usize; n_users];
    let mut queue = Queue::new(ties, (0..n_users).map(|n| (state.user_score(n), n)));
    loop {
        let look = |n: usize, _: &D::Ratio| {
            while first[n] < n_servers && !state.fits(n, server(first[n])) {
                first[n] += 1;
            }
            if first[n] < n_servers { Look::Same } else { Look::Out }
        };
        let Some(n) = queue.next(draw, look) else { return Ok(()) };
        state.place(n, server(first[n]))?;
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
    }
}

/// Places tasks of `users` alone until none of them fits, on servers that may have been given something
/// back since.
pub(super) fn fill_among<D: Digits>(
    state: &mut State<'_, D>,
    servers: &mut ServerTree<D>,
    users: &[usize],
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let n_servers = state.model.n_servers();
    // While this goes on servers only fill up: where a user did not fit it need not look again.
    let mut first = vec![0_usize; state.model.users.len()];
    let mut queue = Queue::new(state.model.rule.ties, users.iter().map(|&n| (state.user_score(n), n)));
    loop {
        let look = |n: usize, _: &D::Ratio| {
            if first[n] < n_servers && !state.fits(n, first[n]) {
                let found = servers.fitting(state, n, &(first[n] + 1..n_servers), Some(End::First));
                first[n] = found.first().map_or(n_servers, |range| range.start);
            }
            if first[n] < n_servers { Look::Same } else { Look::Out }
        };
        let Some(n) = queue.next(draw, look) else { return Ok(()) };
        let j = first[n];
        state.place(n, j)?;
        servers.update(state, j);
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
    }
}
