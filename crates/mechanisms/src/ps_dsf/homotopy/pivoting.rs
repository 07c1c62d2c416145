//! Pivoting: finds where a piece of the path ends and which active set continues it, as in Lemke's method.
//!
//! Along a piece every quantity of Theorem 1 (docs/theory.md, section 4) is affine. The piece ends where the first
//! of those that must not be negative becomes 0: tasks, free parts of rows, what a user lacks or could have
//! elsewhere. The complementary quantity then takes its place in the active set.

use super::active_set::ActiveSet;
use super::piece::{Affine, Perturbed, Piece};
use super::scaled::ScaledModel;

/// What happens at the end of a piece, and changes the active set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pivot {
    /// The parameter is 0.
    Done,
    /// A user runs out of tasks on a class.
    Leave(usize),
    /// A user could have more on a class than it has.
    Enter(usize),
    /// A row becomes full.
    Fill(usize),
    /// The level of a row becomes the highest that there is.
    Free(usize),
    /// A user has all its tasks.
    Satisfy(usize),
    /// A user has all its tasks and would have no more without a limit.
    Release(usize),
    /// The level of the second row falls below that of the first one, in the same class.
    Cross(usize, usize),
}

/// Negative values up to this are rounding, in units in which everything is about 1.
const ROUNDING: f64 = 1e-7;

impl Perturbed<'_> {
    /// The next pivot along `piece` in direction `sign`, and how far away it is.
    pub fn next_pivot(self, set: &ActiveSet, piece: &Piece, sign: f64) -> Option<(f64, Pivot)> {
        let Self { scaled, perturbation } = self;
        let mut first: Option<(f64, Pivot)> = None;
        // The pivot comes where the quantity, which must not be negative, is 0.
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

    /// How the quantity grows along `piece` that `pivot` has made positive.
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

    /// The tasks that the user of `p` has, as the perturbed condition of the pair counts them.
    fn has(self, piece: &Piece, p: usize) -> Affine {
        let user = self.scaled.pairs[p].user;
        piece.totals[user] + piece.beyond[user] + piece.t * self.perturbation.pairs[p]
    }

    /// How far the user of `p`, which does not run there, is content not to: it has no less than some row of
    /// the class offers. That is the largest of quantities that fall; `None` where one of them never becomes
    /// negative, or another one becomes positive in time.
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

    /// By row: the part that is free.
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

    /// Whether `piece` starts where the conditions of `set` hold, but for rounding.
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

/// The active set after `pivot`, which `levels` may decide.
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

/// Where quantities are.
pub fn values(affine: &[Affine]) -> Vec<f64> {
    affine.iter().map(|x| x.value).collect()
}
