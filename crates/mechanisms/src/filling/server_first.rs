//! Rules that choose the server first, and then the user with the least score that fits there: random servers for
//! every task, random rounds, and first fit for scores that depend on the server.

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, TooMany};
use super::rule::ServerRule;
use super::users::Users;

/// Fills until nothing fits.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let all = (0..state.model.n_servers()).collect();
    fill_on(state, &mut Users::new(state), all, draw)
}

/// Fills the given servers, which are in ascending order. On all other servers no step may fit.
pub(super) fn fill_on<D: Digits>(
    state: &mut State<'_, D>,
    users: &mut Users<D>,
    servers: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    match state.model.rule.server {
        ServerRule::Iid => independent(state, users, servers, draw),
        ServerRule::Rrr => in_rounds(state, users, servers, draw),
        _ => one_by_one(state, users, &servers, draw),
    }
}

/// Draws a server for every task. A server on which nothing fits is removed, since nothing will fit there again.
fn independent<D: Digits>(
    state: &mut State<'_, D>,
    users: &mut Users<D>,
    mut live: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    while !live.is_empty() {
        let at = draw.position(live.len());
        if !serve(state, users, live[at], draw)? {
            live.swap_remove(at);
        }
    }
    Ok(())
}

/// Serves every server once in random order, and repeats this until nothing fits.
fn in_rounds<D: Digits>(
    state: &mut State<'_, D>,
    users: &mut Users<D>,
    mut live: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    while !live.is_empty() {
        let mut served = Vec::with_capacity(live.len());
        while !live.is_empty() {
            let j = live.swap_remove(draw.position(live.len()));
            if serve(state, users, j, draw)? {
                served.push(j);
            }
        }
        live = served;
    }
    Ok(())
}

/// Fills one server after the other, each until it is full.
fn one_by_one<D: Digits>(
    state: &mut State<'_, D>,
    users: &mut Users<D>,
    servers: &[usize],
    draw: &mut Draw,
) -> Result<(), TooMany> {
    for &j in servers {
        while serve(state, users, j, draw)? {}
    }
    Ok(())
}

/// Places a step of the user with the least score on server `j`. Returns whether any user fits there.
pub(super) fn serve<D: Digits>(
    state: &mut State<'_, D>,
    users: &mut Users<D>,
    j: usize,
    draw: &mut Draw,
) -> Result<bool, TooMany> {
    let Some(n) = users.least(state, j, draw) else { return Ok(false) };
    state.place(n, j)?;
    users.update(state, n);
    Ok(true)
}
