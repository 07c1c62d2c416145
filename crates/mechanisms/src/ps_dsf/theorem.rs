//! PS-DSF, Theorem 1, decided exactly.

use evenhand_problem::Rational;

use super::market::{Market, Point};

/// A bottleneck row for every place, `None` where the user has all its tasks.
///
/// # Errors
/// What does not hold, in words: a negative number of tasks, a row or a task limit that is exceeded,
/// a user without a bottleneck on a class.
pub fn bottlenecks(market: &Market<Rational>, point: &Point<Rational>) -> Result<Vec<Option<usize>>, String> {
    if point.tasks.iter().any(|tasks| *tasks < 0) {
        return Err("somebody has less than nothing".to_owned());
    }
    let used = market.used(point);
    let saturated: Vec<bool> = used.iter().zip(&market.capacity).map(|(used, c)| used == c).collect();
    if used.iter().zip(&market.capacity).any(|(used, c)| used > c) {
        return Err("a resource is overfilled".to_owned());
    }
    let mut satisfied = Vec::with_capacity(market.n_users());
    for (limit, total) in market.limits.iter().zip(&point.totals) {
        if limit.as_ref().is_some_and(|limit| total > limit) {
            return Err("somebody has more than all its tasks".to_owned());
        }
        satisfied.push(limit.as_ref() == Some(total));
    }
    // The highest level among those that hold a row.
    let mut highest: Vec<Option<Rational>> = vec![None; used.len()];
    let levels: Vec<Rational> = (0..market.places.len()).map(|p| market.level(point, p)).collect();
    for (p, place) in market.places.iter().enumerate().filter(|(p, _)| point.tasks[*p] > 0) {
        for (row, _) in place.usage.iter().filter(|(row, _)| saturated[*row]) {
            if highest[*row].as_ref().is_none_or(|level| *level < levels[p]) {
                highest[*row] = Some(levels[p].clone());
            }
        }
    }
    let mut found = Vec::with_capacity(market.places.len());
    for (place, level) in market.places.iter().zip(&levels) {
        if satisfied[place.user] {
            found.push(None);
            continue;
        }
        let is_bottleneck =
            |row: &usize| saturated[*row] && highest[*row].as_ref().is_none_or(|highest| highest <= level);
        let row = place.usage.iter().map(|(row, _)| *row).find(is_bottleneck);
        found.push(Some(row.ok_or_else(|| {
            format!("user {} has no bottleneck on class {}", place.user + 1, place.class + 1)
        })?));
    }
    Ok(found)
}
