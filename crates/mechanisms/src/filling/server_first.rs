//! Rules that choose the server first, and then the least-scored user that fits there: at random for
//! every task, in random rounds, and first fit for scores that depend on the server.

use super::digits::Digits;
use super::draw::Draw;
use super::few_users::FewUsers;
use super::model::{State, TooMany};
use super::rule::{Score, ServerRule};
use super::user_tree::{UserTree, least_of};

/// Fills until nothing fits.
pub(super) fn fill<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    let all = (0..state.model.n_servers()).collect();
    fill_on(state, &mut Chooser::new(state), all, draw)
}

/// Fills the servers named, ascending; on the others nothing fits.
pub(super) fn fill_on<D: Digits>(
    state: &mut State<'_, D>,
    chooser: &mut Chooser<D>,
    servers: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
    match state.model.rule.server {
        ServerRule::Iid => independent(state, chooser, servers, draw),
        ServerRule::Rrr => in_rounds(state, chooser, servers, draw),
        _ => one_by_one(state, chooser, &servers, draw),
    }
}

/// A server for every task. A server on which nothing fits never gets anything again.
fn independent<D: Digits>(
    state: &mut State<'_, D>,
    chooser: &mut Chooser<D>,
    mut live: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
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
    mut live: Vec<usize>,
    draw: &mut Draw,
) -> Result<(), TooMany> {
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
    servers: &[usize],
    draw: &mut Draw,
) -> Result<(), TooMany> {
    for &j in servers {
        while chooser.serve(state, j, draw)? {}
    }
    Ok(())
}

/// Whose turn it is on a server.
pub(super) enum Chooser<D: Digits> {
    /// Scores of users, who are few: tables of who fits.
    Few(FewUsers<D>),
    /// Scores of users: one tournament.
    Users(UserTree<D>),
    /// Scores on classes: a tournament for each, brought up to date when one of its servers is asked, and
    /// the users whose scores have changed, in order.
    Classes(Vec<ClassTree<D>>, Vec<u32>),
    /// Scores that change with what is left: everybody that may still fit, by server.
    Servers(Vec<Option<Vec<u32>>>),
    /// The same where servers are given something back: everybody is asked.
    Everybody,
}

/// The tournament of a class, up to date with the first so many changes.
pub(super) struct ClassTree<D: Digits> {
    tree: Option<UserTree<D>>,
    seen: usize,
}

/// Users times classes for which tournaments are kept.
const MAX_LEAVES: usize = 1 << 22;
/// Users times servers for which it is kept who does not fit any more.
const MAX_LISTED: usize = 1 << 27;

impl<D: Digits> Chooser<D> {
    fn new(state: &State<'_, D>) -> Self {
        match Self::ongoing(state) {
            Self::Everybody => Self::Servers(vec![None; state.model.n_servers()]),
            trees => trees,
        }
    }

    /// For servers that are given something back.
    pub fn ongoing(state: &State<'_, D>) -> Self {
        let model = state.model;
        let n_users = model.users.len();
        match model.rule.score {
            Score::Drf | Score::Tsf => {
                if let Some(users) = FewUsers::new(state) {
                    return Self::Few(users);
                }
                let scores = (0..n_users).map(|n| state.user_score(n)).collect();
                Self::Users(UserTree::new(model, scores, |_| true, |n| state.has_more(n)))
            }
            Score::PsDsf if n_users.saturating_mul(model.n_classes()) <= MAX_LEAVES => {
                let tree = |_| ClassTree { tree: None, seen: 0 };
                Self::Classes((0..model.n_classes()).map(tree).collect(), Vec::new())
            }
            _ => Self::Everybody,
        }
    }

    /// Places a step of the user whose turn it is on server `j`; says whether there is one.
    pub fn serve(&mut self, state: &mut State<'_, D>, j: usize, draw: &mut Draw) -> Result<bool, TooMany> {
        let class = state.model.class[j] as usize;
        let chosen = match self {
            Self::Few(users) => users.least(state, j, draw),
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
            Self::Everybody => {
                let mut users = (0..state.model.users.len() as u32).collect();
                least_of(state, &mut users, j, state.model.rule.ties, draw)
            }
        };
        let Some(n) = chosen else { return Ok(false) };
        state.place(n, j)?;
        self.note(state, n);
        Ok(true)
    }

    /// Takes over the score of user `n`, and whether it has more to place.
    pub fn note(&mut self, state: &State<'_, D>, n: usize) {
        match self {
            Self::Few(users) => users.update(state, n),
            Self::Users(tree) => tree.update(n, state.has_more(n).then(|| state.user_score(n))),
            Self::Classes(trees, changed) => {
                changed.push(n as u32);
                if changed.len() >= MOST_CHANGES.max(16 * state.model.users.len()) {
                    for (class, tree) in trees.iter_mut().enumerate() {
                        tree.forget(state, class, changed);
                    }
                    changed.clear();
                }
            }
            Self::Servers(_) | Self::Everybody => {}
        }
    }
}

/// Changes of scores that are remembered before all tournaments are brought up to date; more where
/// there are many users, so that each tournament costs less than what it skipped.
const MOST_CHANGES: usize = 1 << 10;

impl<D: Digits> ClassTree<D> {
    /// Brings it up to date with all changes, which are then forgotten; one that nobody has asked for
    /// long is made anew when somebody does.
    fn forget(&mut self, state: &State<'_, D>, class: usize, changed: &[u32]) {
        if self.tree.is_some() && changed.len() - self.seen < state.model.users.len() {
            self.up_to_date(state, class, changed);
        } else {
            self.tree = None;
        }
        self.seen = 0;
    }

    /// The tournament with the scores of now. `served` lists the users of all changes, in order.
    fn up_to_date(&mut self, state: &State<'_, D>, class: usize, served: &[u32]) -> &UserTree<D> {
        let model = state.model;
        let score = |n: usize| D::times(model.unit(n, class), state.steps[n]);
        let may_fit = |n: usize| model.fits_empty(n, class);
        // Where many have changed a new one costs less.
        if served.len() - self.seen >= model.users.len() {
            self.tree = None;
        }
        let since = if self.tree.is_some() { &served[self.seen..] } else { &[] };
        let tree = self.tree.get_or_insert_with(|| {
            UserTree::new(model, (0..model.users.len()).map(score).collect(), may_fit, |n| state.has_more(n))
        });
        for &n in since {
            let n = n as usize;
            if may_fit(n) {
                tree.update(n, state.has_more(n).then(|| score(n)));
            }
        }
        self.seen = served.len();
        tree
    }
}
