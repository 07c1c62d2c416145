//! Groups that are blocked by nobody but themselves.
//!
//! No level exceeds what a group has with all of its classes to itself. Where placements are few that is often the first
//! blocking level: the group then fills a row of each of its classes, and whoever uses those rows runs elsewhere. Where
//! the others reach that level off these classes, as the next round shows, the maximum is this group alone and the maximum
//! of the rest; the rows that it fills, priced so that a unit of level costs 1 on every class, prove its level. A linear
//! programme finds that slowly: nearly all of its rows have a price of 0 at the optimum.

use evenhand_problem::Rational;

use super::duals::BlockDual;
use super::part::{Part, Seat, Target};
use super::split::Settled;
use super::start::{guess, rough_level};
use crate::settings::LEVELS;

/// A group that has its classes to itself.
pub struct Peeled {
    pub level: Rational,
    pub dual: BlockDual,
    pub settled: Settled<Rational>,
    /// `(group, class of the problem)` of the others on its classes.
    pub left: Vec<(usize, usize)>,
}

/// The next group that may be blocked by itself, and what is left without it and its classes; `None` where there is none.
pub fn peel<'a>(part: &Part<'a>) -> Option<(Peeled, Part<'a>)> {
    if part.targets.iter().any(|target| *target != Target::Active) {
        return None;
    }
    let alone = |g: usize| (alone(part, g), g);
    let (least, g) = (0..part.groups.len()).map(alone).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_low = |bound: f64| least <= bound * (1.0 + LEVELS.price_tolerance);
    if part.groups.len() == 1 || !(is_low(rough_level(part)) && is_low(guess(part).level)) {
        return None;
    }
    let mut level = Rational::new();
    let (mut tasks, mut full) = (Vec::new(), vec![None; part.n_classes()]);
    let mut dual = BlockDual::default();
    dual.groups.insert(part.groups[g], (Rational::from(1), Rational::new()));
    for &c in &part.classes[g] {
        let usage = part.exact_usage(g, c).into_iter().filter(|(_, usage)| !usage.is_zero());
        let room = usage.map(|(row, usage)| (Rational::from(part.row_capacity(row) / &usage), row, usage));
        let (most, row, usage) = room.min_by(|a, b| a.0.cmp(&b.0))?;
        let per_level = part.tasks_per_level_on(g, c);
        level += Rational::from(&most / &per_level);
        dual.rows.insert(part.rows[row], (usage * per_level).recip());
        tasks.push((part.class_id(c), most));
        full[c] = Some(row);
    }
    if part.exactly_satisfied_at(g).is_some_and(|at| *at <= level) {
        return None;
    }
    tasks.retain(|(_, x)| !x.is_zero());
    let (mut seats, mut left) = (Vec::with_capacity(part.groups.len() - 1), Vec::new());
    for other in (0..part.groups.len()).filter(|other| *other != g) {
        let mut classes = Vec::with_capacity(part.classes[other].len());
        for &c in &part.classes[other] {
            match full[c] {
                None => classes.push(part.class_id(c)),
                Some(full) if part.usage(other, c).any(|(row, usage)| row == full && usage > 0.0) => {
                    left.push((part.groups[other], part.class_id(c)));
                }
                Some(_) => return None,
            }
        }
        if classes.is_empty() {
            return None;
        }
        let (group, ran) = (part.groups[other], Vec::new());
        seats.push(Seat { group, classes, target: Target::Active, frozen_at: f64::NAN, ran });
    }
    let rest = Part::new(part.data, seats, None, Vec::new());
    Some((Peeled { level, dual, settled: (part.groups[g], tasks), left }, rest))
}

/// The level of a group alone, in doubles; infinite where it has all its tasks before, or one is not worth the same on
/// every class.
fn alone(part: &Part<'_>, g: usize) -> f64 {
    if part.tasks_per_level(g).is_none() {
        return f64::INFINITY;
    }
    let most = |&c: &usize| {
        let rooms = part.usage(g, c).filter(|(_, usage)| *usage > 0.0);
        let most = rooms.map(|(row, usage)| part.capacity[row] / usage).fold(f64::INFINITY, f64::min);
        most / part.tasks_per_level_f64(g, c)
    };
    let level = part.classes[g].iter().map(most).sum();
    if level < part.satisfied_at[g] { level } else { f64::INFINITY }
}
