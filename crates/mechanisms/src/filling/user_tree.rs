//! The least-scored user that fits on a given server, without asking everybody.

use std::cmp::Ordering;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{Model, State, fits};
use super::rule::Ties;

/// Nobody below a node.
const NOBODY: u32 = u32::MAX;

/// A tournament of the users by score. A node knows the winner below it, and the least demand of
/// each resource there: where not even that is left, nobody below fits.
pub(super) struct UserTree<D: Digits> {
    /// Leaves start here, a power of two.
    leaves: usize,
    winner: Vec<u32>,
    scores: Vec<D::Ratio>,
    /// The scores in floating point, which decide where they are far enough apart.
    estimates: Vec<f64>,
    /// By node and row; without a meaning where nobody below may fit.
    least: Vec<D::Amount>,
    n_rows: usize,
    ties: Ties,
}

impl<D: Digits> UserTree<D> {
    /// `scores` by user; `may_fit` says who can be asked about at all, `takes_part` who is so far.
    pub fn new(
        model: &Model<D>,
        scores: Vec<D::Ratio>,
        may_fit: impl Fn(usize) -> bool,
        takes_part: impl Fn(usize) -> bool,
    ) -> Self {
        let (n_users, n_rows) = (scores.len(), model.n_rows);
        let leaves = n_users.next_power_of_two().max(1);
        let mut tree = Self {
            leaves,
            winner: vec![NOBODY; 2 * leaves],
            estimates: scores.iter().map(D::to_f64).collect(),
            scores,
            least: Vec::new(),
            n_rows,
            ties: model.rule.ties,
        };
        let mut bounds: Vec<Option<D::Amount>> = vec![None; 2 * leaves * n_rows];
        for n in 0..n_users {
            if !may_fit(n) {
                continue;
            }
            if takes_part(n) {
                tree.winner[leaves + n] = n as u32;
            }
            for r in 0..n_rows {
                let demands = model.users[n].demands.iter().map(|demand| &demand[r]);
                bounds[(leaves + n) * n_rows + r] = demands.min().cloned();
            }
        }
        for node in (1..leaves).rev() {
            tree.winner[node] = tree.better(tree.winner[2 * node], tree.winner[2 * node + 1]);
            for r in 0..n_rows {
                let below = [2 * node, 2 * node + 1].map(|child| bounds[child * n_rows + r].clone());
                bounds[node * n_rows + r] = below.into_iter().flatten().min();
            }
        }
        tree.least = bounds.into_iter().map(Option::unwrap_or_default).collect();
        tree
    }

    /// User `n`, which may fit, has a new score, or takes no part for now.
    pub fn update(&mut self, n: usize, score: Option<D::Ratio>) {
        let mut node = self.leaves + n;
        match score {
            Some(score) => {
                self.estimates[n] = D::to_f64(&score);
                self.scores[n] = score;
                self.winner[node] = n as u32;
            }
            None => self.winner[node] = NOBODY,
        }
        while node > 1 {
            node /= 2;
            self.winner[node] = self.better(self.winner[2 * node], self.winner[2 * node + 1]);
        }
    }

    /// The user whose turn it is on server `j`.
    pub fn least(&self, state: &State<'_, D>, j: usize, draw: &mut Draw) -> Option<usize> {
        let mut best = NOBODY;
        self.search(1, state, j, &mut best);
        if best == NOBODY {
            return None;
        }
        if self.ties == Ties::Random {
            let mut equals = Vec::new();
            self.gather(1, state, j, &self.scores[best as usize], &mut equals);
            return equals.get(draw.position(equals.len())).copied();
        }
        Some(best as usize)
    }

    fn search(&self, node: usize, state: &State<'_, D>, j: usize, best: &mut u32) {
        let winner = self.winner[node];
        if winner == NOBODY || self.better(*best, winner) == *best || !self.may_fit(node, state.left(j)) {
            return;
        }
        if node >= self.leaves {
            if state.fits(winner as usize, j) {
                *best = winner;
            }
            return;
        }
        let first = usize::from(self.winner[2 * node] != winner);
        self.search(2 * node + first, state, j, best);
        self.search(2 * node + 1 - first, state, j, best);
    }

    /// All users with `score` that fit on server `j`, ascending.
    fn gather(&self, node: usize, state: &State<'_, D>, j: usize, score: &D::Ratio, equals: &mut Vec<usize>) {
        let winner = self.winner[node];
        let is_worse = winner == NOBODY || self.scores[winner as usize] > *score;
        if is_worse || !self.may_fit(node, state.left(j)) {
            return;
        }
        if node < self.leaves {
            self.gather(2 * node, state, j, score, equals);
            self.gather(2 * node + 1, state, j, score, equals);
        } else if self.scores[winner as usize] == *score && state.fits(winner as usize, j) {
            equals.push(winner as usize);
        }
    }

    fn may_fit(&self, node: usize, left: &[D::Amount]) -> bool {
        let least = &self.least[node * self.n_rows..(node + 1) * self.n_rows];
        least.iter().zip(left).all(|(least, left)| least <= left)
    }

    /// Who of the two comes first; the first one if they are the same.
    fn better(&self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (NOBODY, _) => b,
            (_, NOBODY) => a,
            _ => match self.order(a as usize, b as usize) {
                Ordering::Less => a,
                Ordering::Greater => b,
                Ordering::Equal if self.ties == Ties::High => a.max(b),
                Ordering::Equal => a.min(b),
            },
        }
    }

    /// How the scores of two users compare: exact numbers decide where their estimates do not.
    fn order(&self, a: usize, b: usize) -> Ordering {
        /// Above the error of an estimate, a few units in the last place, by far.
        const APART: f64 = 1.0 - 1e-12;
        let (of_a, of_b) = (self.estimates[a], self.estimates[b]);
        if of_a < of_b * APART {
            return Ordering::Less;
        }
        if of_b < of_a * APART {
            return Ordering::Greater;
        }
        self.scores[a].cmp(&self.scores[b])
    }
}

/// The least-scored user that fits on server `j`, by asking everybody of `users`: for scores that
/// change with what is left. Users that do not fit are taken out.
pub(super) fn least_of<D: Digits>(
    state: &State<'_, D>,
    users: &mut Vec<u32>,
    j: usize,
    ties: Ties,
    draw: &mut Draw,
) -> Option<usize> {
    let model = state.model;
    let (class, left) = (model.class[j] as usize, state.left(j));
    let mut equals: Vec<u32> = Vec::new();
    let mut least: Option<D::Ratio> = None;
    let mut at_most = f64::INFINITY;
    users.retain(|&n| {
        let demand = model.demand(n as usize, class).filter(|_| state.has_more(n as usize));
        if !demand.is_some_and(|demand| fits::<D>(demand, left)) {
            return false;
        }
        let estimate = state.estimate(n as usize, j);
        if estimate > at_most {
            return true;
        }
        let score = state.score(n as usize, j);
        match least.as_ref().map(|least| score.cmp(least)) {
            Some(Ordering::Greater) => {}
            Some(Ordering::Equal) => equals.push(n),
            _ => {
                equals.clear();
                equals.push(n);
                least = Some(score);
                // Beyond this, two estimates tell which of their scores is less.
                at_most = estimate * (1.0 + 1e-12);
            }
        }
        true
    });
    let at = match ties {
        Ties::Low => 0,
        Ties::High => equals.len().saturating_sub(1),
        Ties::Random => draw.position(equals.len()),
    };
    equals.get(at).map(|&n| n as usize)
}
