//! Pivoting: finds where a piece of the path ends and which active set continues it, as in Lemke's method.
//!
//! Along a piece every quantity of Theorem 1 (docs/theory.md, section 4) is affine. The piece ends where the first
//! of those that must not be negative becomes 0: tasks, free parts of rows, what a user lacks or could have
//! elsewhere. The complementary quantity then takes its place in the active set.

use super::active_set::ActiveSet;
use super::piece::{Affine, Perturbation, Piece};
use super::scaled::ScaledModel;

/// What happens at the end of a line.
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

/// The next event along `line` in direction `sign`, and how far away it is.
pub fn next(
    scaled: &ScaledModel,
    set: &ActiveSet,
    perturbation: &Perturbation,
    piece: &Piece,
    sign: f64,
) -> Option<(f64, Pivot)> {
    let mut first: Option<(f64, Pivot)> = None;
    let mut meet = |value: Affine, event: Pivot| {
        let slope = value.slope * sign;
        if slope < 0.0 {
            let distance = value.value.max(0.0) / -slope;
            if first.is_none_or(|(least, _)| distance < least) {
                first = Some((distance, event));
            }
        }
    };
    meet(piece.t, Pivot::Done);
    for (user, pairs) in set.support.iter().enumerate() {
        pairs.iter().for_each(|p| meet(piece.tasks[*p], Pivot::Leave(*p)));
        if set.satisfied[user] {
            meet(piece.beyond[user], Pivot::Release(user));
        } else if scaled.limits[user].is_finite() && !pairs.is_empty() {
            let (all, total) = (scaled.limits[user], piece.totals[user]);
            let room = perturbation.users[user];
            let left = Affine::constant(all) + piece.t * room - total;
            meet(left, Pivot::Satisfy(user));
        }
    }
    for (row, free) in free_parts(scaled, set, perturbation, piece).into_iter().enumerate() {
        let level = piece.levels[row];
        if set.full[row] {
            let highest = scaled.highest[scaled.class_of_row[row]];
            meet(Affine::constant(highest) - level, Pivot::Free(row));
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
        } else if let Some(end) = surplus_ends(scaled, perturbation, piece, p, sign) {
            meet(Affine { value: end, slope: -sign }, Pivot::Enter(p));
        }
    }
    first
}

/// The active set after `event`, which `levels` may decide.
pub fn apply(scaled: &ScaledModel, set: &mut ActiveSet, levels: &[f64], event: Pivot) {
    match event {
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

/// How the quantity grows that `event` has made positive, along `line`.
pub fn growth(
    scaled: &ScaledModel,
    set: &ActiveSet,
    perturbation: &Perturbation,
    piece: &Piece,
    event: Pivot,
) -> f64 {
    match event {
        Pivot::Done => -piece.t.slope,
        Pivot::Leave(p) => {
            let level = set.lowest(scaled, &values(&piece.levels), p);
            surplus(scaled, perturbation, piece, p, level).slope
        }
        Pivot::Enter(p) => piece.tasks[p].slope,
        Pivot::Fill(row) => -piece.levels[row].slope,
        Pivot::Free(row) => free_parts(scaled, set, perturbation, piece)[row].slope,
        Pivot::Satisfy(user) => piece.beyond[user].slope,
        Pivot::Release(user) => perturbation.users[user] * piece.t.slope - piece.totals[user].slope,
        Pivot::Cross(row, lower) => piece.levels[row].slope - piece.levels[lower].slope,
    }
}

/// Where quantities are.
pub fn values(affine: &[Affine]) -> Vec<f64> {
    affine.iter().map(|x| x.value).collect()
}

/// What a user has more than `row` offers on a class there, or nothing full.
fn surplus(
    scaled: &ScaledModel,
    perturbation: &Perturbation,
    piece: &Piece,
    p: usize,
    row: Option<usize>,
) -> Affine {
    let pair = &scaled.pairs[p];
    let level = row.map_or(Affine::constant(scaled.highest[pair.class]), |row| piece.levels[row]);
    has(scaled, perturbation, piece, p) - level * pair.tasks_per_level
}

/// The tasks that the user of `p` has, as the perturbed condition of the pair counts them.
fn has(scaled: &ScaledModel, perturbation: &Perturbation, piece: &Piece, p: usize) -> Affine {
    let user = scaled.pairs[p].user;
    piece.totals[user] + piece.beyond[user] + piece.t * perturbation.pairs[p]
}

/// How far the user of `p`, which does not run there, has no less than some row offers there: the
/// largest of lines that fall, none where one of them does not fall or rises in time.
fn surplus_ends(
    scaled: &ScaledModel,
    perturbation: &Perturbation,
    piece: &Piece,
    p: usize,
    sign: f64,
) -> Option<f64> {
    let pair = &scaled.pairs[p];
    let has = has(scaled, perturbation, piece, p);
    let surplus = |row: usize| {
        let surplus = has - piece.levels[row] * pair.tasks_per_level;
        (surplus.value, sign * surplus.slope)
    };
    let mut best = (f64::NEG_INFINITY, 0.0);
    let mut end = 0.0_f64;
    let mut rises = false;
    for (row, _) in &pair.usage {
        let (here, by) = surplus(*row);
        if here > best.0 {
            best = (here, by);
        }
        if here >= 0.0 {
            if by >= 0.0 {
                return None;
            }
            end = end.max(here / -by);
        }
        rises |= here < 0.0 && by > 0.0;
    }
    if best.0 < 0.0 && best.1 >= 0.0 {
        return None;
    }
    // A row that comes to offer less in time keeps the user content.
    let in_time = |(here, by): (f64, f64)| here < 0.0 && by > 0.0 && -here / by <= end;
    (!(rises && pair.usage.iter().any(|(row, _)| in_time(surplus(*row))))).then_some(end)
}

/// By row: the part that is free.
fn free_parts(
    scaled: &ScaledModel,
    set: &ActiveSet,
    perturbation: &Perturbation,
    piece: &Piece,
) -> Vec<Affine> {
    let mut free: Vec<Affine> =
        (perturbation.rows.iter()).map(|more| Affine::constant(1.0) + piece.t * *more).collect();
    for p in set.support.iter().flatten() {
        for (row, d) in &scaled.pairs[*p].usage {
            free[*row] = free[*row] - piece.tasks[*p] * *d;
        }
    }
    free
}

/// Whether `line` is where the conditions of `set` hold, but for rounding.
pub fn is_valid(scaled: &ScaledModel, set: &ActiveSet, perturbation: &Perturbation, piece: &Piece) -> bool {
    let free = free_parts(scaled, set, perturbation, piece);
    set.support.iter().flatten().all(|p| piece.tasks[*p].value >= -ROUNDING)
        && free.iter().zip(&set.full).all(|(free, full)| *full || free.value >= -ROUNDING)
        && (piece.totals.iter().enumerate())
            .all(|(n, x)| x.value - perturbation.users[n] * piece.t.value <= scaled.limits[n] + ROUNDING)
}
