//! Where the line of an active set ends, and the active set beyond.

use super::active::ActiveSet;
use super::equations::{Line, Moving, Shift};
use super::model::Model;

/// What happens at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The parameter is 0.
    Done,
    /// A user runs out of tasks at a place.
    Leave(usize),
    /// A user could have more at a place than it has.
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

/// Negative values up to this are rounding.
const ROUNDING: f64 = 1e-7;

/// The next event along `line` in direction `sign`, and how far away it is.
pub fn next(model: &Model, set: &ActiveSet, shift: &Shift, line: &Line, sign: f64) -> Option<(f64, Event)> {
    let mut first: Option<(f64, Event)> = None;
    let mut meet = |value: Moving, event: Event| {
        let by = value.by * sign;
        if by < 0.0 {
            let at = value.at.max(0.0) / -by;
            if first.is_none_or(|(least, _)| at < least) {
                first = Some((at, event));
            }
        }
    };
    meet(line.t, Event::Done);
    for (user, places) in set.support.iter().enumerate() {
        places.iter().for_each(|p| meet(line.tasks[*p], Event::Leave(*p)));
        if set.satisfied[user] {
            meet(line.beyond[user], Event::Release(user));
        } else if model.limits[user].is_finite() && !places.is_empty() {
            let (all, total) = (model.limits[user], line.totals[user]);
            let room = shift.users[user];
            let left = Moving { at: all + room * line.t.at - total.at, by: room * line.t.by - total.by };
            meet(left, Event::Satisfy(user));
        }
    }
    for (row, free) in free_parts(model, set, shift, line).into_iter().enumerate() {
        let level = line.levels[row];
        if set.full[row] {
            let highest = model.highest[model.class_of_row[row]];
            meet(Moving { at: highest - level.at, by: -level.by }, Event::Free(row));
        } else {
            meet(free, Event::Fill(row));
        }
    }
    for (p, place) in model.places.iter().enumerate() {
        if set.runs[p] {
            let Some(row) = set.bottleneck[p] else { continue };
            for (other, _) in place.usage.iter().filter(|(other, _)| set.full[*other] && *other != row) {
                let (a, b) = (line.levels[*other], line.levels[row]);
                meet(Moving { at: a.at - b.at, by: a.by - b.by }, Event::Cross(row, *other));
            }
        } else if let Some(end) = surplus_ends(model, shift, line, p, sign) {
            meet(Moving { at: end, by: -sign }, Event::Enter(p));
        }
    }
    first
}

/// The active set after `event`, which `levels` may decide.
pub fn apply(model: &Model, set: &mut ActiveSet, levels: &[f64], event: Event) {
    match event {
        Event::Done => {}
        Event::Leave(p) => set.leave(model, p),
        Event::Enter(p) => set.enter(model, levels, p),
        Event::Fill(row) => set.fill(model, row),
        Event::Free(row) => set.free(model, row),
        Event::Satisfy(user) => set.satisfied[user] = true,
        Event::Release(user) => set.satisfied[user] = false,
        Event::Cross(row, lower) => set.cross(model, row, lower),
    }
}

/// How the quantity grows that `event` has made positive, along `line`.
pub fn growth(model: &Model, set: &ActiveSet, shift: &Shift, line: &Line, event: Event) -> f64 {
    match event {
        Event::Done => -line.t.by,
        Event::Leave(p) => {
            let level = set.lowest(model, &at(&line.levels), p);
            surplus(model, shift, line, p, level).by
        }
        Event::Enter(p) => line.tasks[p].by,
        Event::Fill(row) => -line.levels[row].by,
        Event::Free(row) => free_parts(model, set, shift, line)[row].by,
        Event::Satisfy(user) => line.beyond[user].by,
        Event::Release(user) => shift.users[user] * line.t.by - line.totals[user].by,
        Event::Cross(row, lower) => line.levels[row].by - line.levels[lower].by,
    }
}

/// Where quantities are.
pub fn at(moving: &[Moving]) -> Vec<f64> {
    moving.iter().map(|x| x.at).collect()
}

/// What a user has more at a place than `row` offers there, or nothing full.
fn surplus(model: &Model, shift: &Shift, line: &Line, p: usize, row: Option<usize>) -> Moving {
    let place = &model.places[p];
    let level = row.map_or(Moving { at: model.highest[place.class], by: 0.0 }, |row| line.levels[row]);
    let (total, beyond) = (line.totals[place.user], line.beyond[place.user]);
    Moving {
        at: total.at + beyond.at + shift.places[p] * line.t.at - place.pace * level.at,
        by: total.by + beyond.by + shift.places[p] * line.t.by - place.pace * level.by,
    }
}

/// How far the user of `p`, which does not run there, has no less than some row offers there: the
/// largest of lines that fall, none where one of them does not fall or rises in time.
fn surplus_ends(model: &Model, shift: &Shift, line: &Line, p: usize, sign: f64) -> Option<f64> {
    let place = &model.places[p];
    let has = line.totals[place.user].at + line.beyond[place.user].at + shift.places[p] * line.t.at;
    let more = line.totals[place.user].by + line.beyond[place.user].by + shift.places[p] * line.t.by;
    let surplus = |row: usize| {
        let level = line.levels[row];
        (has - place.pace * level.at, sign * (more - place.pace * level.by))
    };
    let mut best = (f64::NEG_INFINITY, 0.0);
    let mut end = 0.0_f64;
    let mut rises = false;
    for (row, _) in &place.usage {
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
    (!(rises && place.usage.iter().any(|(row, _)| in_time(surplus(*row))))).then_some(end)
}

/// By row: the part that is free.
fn free_parts(model: &Model, set: &ActiveSet, shift: &Shift, line: &Line) -> Vec<Moving> {
    let mut free: Vec<Moving> = (shift.rows.iter())
        .map(|shift| Moving { at: 1.0 + shift * line.t.at, by: shift * line.t.by })
        .collect();
    for p in set.support.iter().flatten() {
        for (row, d) in &model.places[*p].usage {
            free[*row].at -= d * line.tasks[*p].at;
            free[*row].by -= d * line.tasks[*p].by;
        }
    }
    free
}

/// Whether `line` is where the conditions of `set` hold, but for rounding.
pub fn is_valid(model: &Model, set: &ActiveSet, shift: &Shift, line: &Line) -> bool {
    let free = free_parts(model, set, shift, line);
    set.support.iter().flatten().all(|p| line.tasks[*p].at >= -ROUNDING)
        && free.iter().zip(&set.full).all(|(free, full)| *full || free.at >= -ROUNDING)
        && (line.totals.iter().enumerate())
            .all(|(n, x)| x.at - shift.users[n] * line.t.at <= model.limits[n] + ROUNDING)
}
