//! Rules that choose the server first, and then the least-scored user that fits there: at random for
//! every task, in random rounds, and first fit for scores that depend on the server.

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, TooMany};
use super::rule::{Score, ServerRule};
use super::user_tree::{UserTree, least_of};

/// Fills until nothing fits.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let mut chooser = Chooser::new(state);
    match state.model.rule.server {
        ServerRule::Iid => independent(state, &mut chooser, draw),
        ServerRule::Rrr => in_rounds(state, &mut chooser, draw),
        _ => one_by_one(state, &mut chooser, draw),
    }
}

/// A server for every task. A server on which nothing fits never gets anything again.
fn independent<D: Digits>(
    state: &mut State<'_, D>,
    chooser: &mut Chooser<D>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let mut live: Vec<usize> = (0..state.model.n_servers()).collect();
    while !live.is_empty() {
        let at = draw.position(live.len());
        if !chooser.serve(state, live[at], draw)? {
            live.swap_remove(at);
        }
    }
    Ok(())
}

/// Every server once, in random order, and again.
fn in_rounds<D: Digits>(
    state: &mut State<'_, D>,
    chooser: &mut Chooser<D>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    let mut live: Vec<usize> = (0..state.model.n_servers()).collect();
    while !live.is_empty() {
        let mut served = Vec::with_capacity(live.len());
        while !live.is_empty() {
            let j = live.swap_remove(draw.position(live.len()));
            if chooser.serve(state, j, draw)? {
                served.push(j);
            }
        }
        live = served;
    }
    Ok(())
}

/// One server after the other, each until it is full.
fn one_by_one<D: Digits>(
    state: &mut State<'_, D>,
    chooser: &mut Chooser<D>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    for j in 0..state.model.n_servers() {
        while chooser.serve(state, j, draw)? {}
    }
    Ok(())
}

/// Whose turn it is on a server.
enum Chooser<D: Digits> {
    /// Scores of users: one tournament.
    Users(UserTree<D>),
    /// Scores on classes: a tournament for each, brought up to date when one of its servers is asked.
    Classes(Vec<ClassTree<D>>, Vec<u32>),
    /// Scores that change with what is left: everybody that may still fit, by server.
    Servers(Vec<Option<Vec<u32>>>),
}

/// The tournament of a class, up to date with the first so many placements.
struct ClassTree<D: Digits> {
    tree: Option<UserTree<D>>,
    seen: usize,
}

/// Users times classes for which tournaments are kept.
const MAX_LEAVES: usize = 1 << 22;
/// Users times servers for which it is kept who does not fit any more.
const MAX_LISTED: usize = 1 << 27;

impl<D: Digits> Chooser<D> {
    fn new(state: &State<'_, D>) -> Self {
        let model = state.model;
        let n_users = model.users.len();
        match model.rule.score {
            Score::Drf | Score::Tsf => {
                let scores = (0..n_users).map(|n| state.user_score(n)).collect();
                Self::Users(UserTree::new(model, scores, |_| true))
            }
            Score::PsDsf if n_users.saturating_mul(model.n_classes()) <= MAX_LEAVES => {
                let tree = |_| ClassTree { tree: None, seen: 0 };
                Self::Classes((0..model.n_classes()).map(tree).collect(), Vec::new())
            }
            _ => Self::Servers(vec![None; model.n_servers()]),
        }
    }

    /// Places a step of the user whose turn it is on server `j`; says whether there is one.
    fn serve(&mut self, state: &mut State<'_, D>, j: usize, draw: &mut Draw) -> Result<bool, TooMany> {
        let class = state.model.class[j] as usize;
        let chosen = match self {
            Self::Users(tree) => tree.least(state, j, draw),
            Self::Classes(trees, served) => {
                trees[class].up_to_date(state, class, served).least(state, j, draw)
            }
            Self::Servers(users) => {
                let n_users = state.model.users.len() as u32;
                let mut still = users[j].take().unwrap_or_else(|| (0..n_users).collect());
                let chosen = least_of(state, &mut still, j, state.model.rule.ties, draw);
                if n_users as usize * users.len() <= MAX_LISTED {
                    users[j] = Some(still);
                }
                chosen
            }
        };
        let Some(n) = chosen else { return Ok(false) };
        state.place(n, j)?;
        match self {
            Self::Users(tree) => tree.update(n, state.has_more(n).then(|| state.user_score(n))),
            Self::Classes(_, served) => served.push(n as u32),
            Self::Servers(_) => {}
        }
        Ok(true)
    }
}

impl<D: Digits> ClassTree<D> {
    /// The tournament with the scores of now. `served` lists the users of all placements, in order.
    fn up_to_date(&mut self, state: &State<'_, D>, class: usize, served: &[u32]) -> &UserTree<D> {
        let model = state.model;
        let score = |n: usize| D::times(model.unit(n, class), state.steps[n]);
        let takes_part = |n: usize| state.has_more(n) && model.fits_empty(n, class);
        // Where many have changed a new one costs less.
        if served.len() - self.seen >= model.users.len() {
            self.tree = None;
        }
        let since = if self.tree.is_some() { &served[self.seen..] } else { &[] };
        let tree = self.tree.get_or_insert_with(|| {
            UserTree::new(model, (0..model.users.len()).map(score).collect(), takes_part)
        });
        for &n in since {
            let n = n as usize;
            tree.update(n, takes_part(n).then(|| score(n)));
        }
        self.seen = served.len();
        tree
    }
}
