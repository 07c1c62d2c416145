//! First fit for scores of users: the least-scored user, the first server that fits.

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, TooMany};
use super::queue::{Look, Queue};

/// Fills until nothing fits. A server on which a user does not fit never fits it again, so that every
/// user looks at every server once.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let n_users = state.model.users.len();
    let mut first = vec![0_usize; n_users];
    let mut queue = Queue::new(state.model.rule.ties, (0..n_users).map(|n| (state.user_score(n), n)));
    loop {
        let look = |n: usize, _: &D::Ratio| {
            while first[n] < state.model.n_servers() && !state.fits(n, first[n]) {
                first[n] += 1;
            }
            if first[n] < state.model.n_servers() { Look::Same } else { Look::Out }
        };
        let Some(n) = queue.next(draw, look) else { return Ok(()) };
        state.place(n, first[n])?;
        if state.has_more(n) {
            queue.push(state.user_score(n), n);
        }
    }
}
