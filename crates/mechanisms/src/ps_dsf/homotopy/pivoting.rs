//! Pivoting: the end of a piece of the path and the active set that continues the path, as in Lemke's method.
//!
//! Along a piece, every quantity of Theorem 1 (docs/theory.md, section 4) is linear. Some of these quantities
//! must not be negative: tasks, free fractions of rows, the tasks that a user lacks, and a user's surplus
//! over what other classes offer. The piece ends where the first of them becomes 0. The complementary
//! quantity then takes its position in the active set.

use super::active_set::ActiveSet;
use super::piece::{Affine, Perturbed, Piece};
use super::scaled::ScaledModel;

/// The event at the end of a piece, which changes the active set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pivot {
    /// The parameter `t` is 0.
    Done,
    /// The user of a pair runs out of tasks on the class of the pair.
    Leave(usize),
    /// The user of a pair could have more tasks on the class of the pair than it has.
    Enter(usize),
    /// A row becomes full.
    Fill(usize),
    /// The level of a row reaches the highest level, so the row is no longer full.
    Free(usize),
    /// A user reaches its task limit.
    Satisfy(usize),
    /// A user with all its tasks would not have more without its task limit.
    Release(usize),
    /// The level of the second row falls below that of the first row of the same class.
    Cross(usize, usize),
}

/// The size up to which negative values count as rounding errors. All quantities are about 1 in scaled units.
const ROUNDING: f64 = 1e-7;

impl Perturbed<'_> {
    /// Returns the next pivot along `piece` in the direction `sign`, and the distance to it.
    pub fn next_pivot(self, set: &ActiveSet, piece: &Piece, sign: f64) -> Option<(f64, Pivot)> {
        let Self { scaled, perturbation } = self;
        let mut first: Option<(f64, Pivot)> = None;
        // A pivot happens where its quantity, which must not be negative, becomes 0.
        let mut meet = |quantity: Affine, pivot: Pivot| {
            let slope = quantity.slope * sign;
            if slope < 0.0 {
                let distance = quantity.value.max(0.0) / -slope;
                if first.is_none_or(|(least, _)| distance < least) {
                    first = Some((distance, pivot));
                }
            }
        };
        meet(piece.t, Pivot::Done);
        for (user, support) in set.support.iter().enumerate() {
            support.iter().for_each(|p| meet(piece.tasks[*p], Pivot::Leave(*p)));
            if set.satisfied[user] {
                meet(piece.beyond[user], Pivot::Release(user));
            } else if scaled.limits[user].is_finite() && !support.is_empty() {
                let limit = Affine::constant(scaled.limits[user]) + piece.t * perturbation.users[user];
                meet(limit - piece.totals[user], Pivot::Satisfy(user));
            }
        }
        for (row, free) in self.free_parts(set, piece).into_iter().enumerate() {
            if set.full[row] {
                let highest = Affine::constant(scaled.highest[scaled.class_of_row[row]]);
                meet(highest - piece.levels[row], Pivot::Free(row));
            } else {
                meet(free, Pivot::Fill(row));
            }
        }
        for (p, pair) in scaled.pairs.iter().enumerate() {
            if set.runs[p] {
                let Some(row) = set.bottleneck[p] else { continue };
                for (other, _) in pair.usage.iter().filter(|(other, _)| set.full[*other] && *other != row) {
                    meet(piece.levels[*other] - piece.levels[row], Pivot::Cross(row, *other));
                }
            } else if let Some(end) = self.content_until(piece, p, sign) {
                meet(Affine { value: end, slope: -sign }, Pivot::Enter(p));
            }
        }
        first
    }

    /// Returns the rate along `piece` of the quantity that `pivot` has allowed to become positive.
    pub fn growth(self, set: &ActiveSet, piece: &Piece, pivot: Pivot) -> f64 {
        match pivot {
            Pivot::Done => -piece.t.slope,
            Pivot::Leave(p) => {
                let pair = &self.scaled.pairs[p];
                let row = set.lowest(self.scaled, &values(&piece.levels), p);
                let highest = Affine::constant(self.scaled.highest[pair.class]);
                let level = row.map_or(highest, |row| piece.levels[row]);
                (self.has(piece, p) - level * pair.tasks_per_level).slope
            }
            Pivot::Enter(p) => piece.tasks[p].slope,
            Pivot::Fill(row) => -piece.levels[row].slope,
            Pivot::Free(row) => self.free_parts(set, piece)[row].slope,
            Pivot::Satisfy(user) => piece.beyond[user].slope,
            Pivot::Release(user) => self.perturbation.users[user] * piece.t.slope - piece.totals[user].slope,
            Pivot::Cross(row, lower) => piece.levels[row].slope - piece.levels[lower].slope,
        }
    }

    /// Returns the tasks of the user of pair `p`, as counted by the perturbed condition of the pair.
    fn has(self, piece: &Piece, p: usize) -> Affine {
        let user = self.scaled.pairs[p].user;
        piece.totals[user] + piece.beyond[user] + piece.t * self.perturbation.pairs[p]
    }

    /// Returns the distance along the piece up to which the user of pair `p`, which does not run on the
    /// class, has no reason to start there. The user has no reason while some row of the class offers it no
    /// more tasks than it has.
    ///
    /// This distance is the largest distance at which a falling surplus becomes 0. Returns `None` if some
    /// surplus never becomes negative, or if another surplus becomes positive before.
    fn content_until(self, piece: &Piece, p: usize, sign: f64) -> Option<f64> {
        let pair = &self.scaled.pairs[p];
        let has = self.has(piece, p);
        let surplus = |row: usize| {
            let surplus = has - piece.levels[row] * pair.tasks_per_level;
            (surplus.value, sign * surplus.slope)
        };
        let mut best = (f64::NEG_INFINITY, 0.0);
        let mut end = 0.0_f64;
        let mut rises = false;
        for (row, _) in &pair.usage {
            let (here, slope) = surplus(*row);
            if here > best.0 {
                best = (here, slope);
            }
            if here >= 0.0 {
                if slope >= 0.0 {
                    return None;
                }
                end = end.max(here / -slope);
            }
            rises |= here < 0.0 && slope > 0.0;
        }
        if best.0 < 0.0 && best.1 >= 0.0 {
            return None;
        }
        let in_time = |(here, slope): (f64, f64)| here < 0.0 && slope > 0.0 && -here / slope <= end;
        (!(rises && pair.usage.iter().any(|(row, _)| in_time(surplus(*row))))).then_some(end)
    }

    /// Returns the free fraction of each row.
    fn free_parts(self, set: &ActiveSet, piece: &Piece) -> Vec<Affine> {
        let part = |more: &f64| Affine::constant(1.0) + piece.t * *more;
        let mut free: Vec<Affine> = self.perturbation.rows.iter().map(part).collect();
        for p in set.support.iter().flatten() {
            for (row, d) in &self.scaled.pairs[*p].usage {
                free[*row] = free[*row] - piece.tasks[*p] * *d;
            }
        }
        free
    }

    /// Returns whether the conditions of `set` hold at the start of `piece`, except for rounding errors.
    pub fn is_valid(self, set: &ActiveSet, piece: &Piece) -> bool {
        let free = self.free_parts(set, piece);
        let fits = |(n, total): (usize, &Affine)| {
            total.value - self.perturbation.users[n] * piece.t.value <= self.scaled.limits[n] + ROUNDING
        };
        set.support.iter().flatten().all(|p| piece.tasks[*p].value >= -ROUNDING)
            && free.iter().zip(&set.full).all(|(free, full)| *full || free.value >= -ROUNDING)
            && piece.totals.iter().enumerate().all(fits)
    }
}

/// Changes the active set by `pivot`. The `levels` decide which row blocks a user that enters.
pub fn apply(scaled: &ScaledModel, set: &mut ActiveSet, levels: &[f64], pivot: Pivot) {
    match pivot {
        Pivot::Done => {}
        Pivot::Leave(p) => set.leave(scaled, p),
        Pivot::Enter(p) => set.enter(scaled, levels, p),
        Pivot::Fill(row) => set.fill(scaled, row),
        Pivot::Free(row) => set.free(scaled, row),
        Pivot::Satisfy(user) => set.satisfied[user] = true,
        Pivot::Release(user) => set.satisfied[user] = false,
        Pivot::Cross(row, lower) => set.cross(scaled, row, lower),
    }
}

/// Returns the values of quantities at the current point.
pub fn values(affine: &[Affine]) -> Vec<f64> {
    affine.iter().map(|x| x.value).collect()
}
