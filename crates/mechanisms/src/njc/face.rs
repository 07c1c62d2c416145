//! Faces near a floating-point optimum, and rounding of the optimum onto a face. A face is a polytope of
//! exact NJC answers (docs/theory.md, section 3, fact 4). It states which rows are saturated and, for every
//! user, why the user has no justified complaint.
//!
//! A user that has exactly its entitlement, or exactly all its tasks, gets that number of tasks. The tasks of
//! all other users are rounded to a simple fraction or a short decimal. Then as many placements as there are
//! saturated rows are corrected, so that these rows are saturated exactly. The placements that can change
//! most in both directions are corrected. The correction solves a rational system whose size is the number of
//! bottlenecks, whatever the number of users.

use evenhand_levels::njc::{Face, Tasks, Witness};
use evenhand_lp::linear::Lu;
use evenhand_ode::dense;
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Rational};
use nalgebra::DMatrix;

use crate::fair_sum::FairPoint;

/// The fractions of a row that may be free for the row to count as saturated, in the order in which they are
/// tried.
///
/// The first value is nearly always right, since the slack of a saturated row without a price is about the
/// square root of the accuracy. The last three are for points in long numbers: near a tie that differs by
/// 1e-12, rows that are not saturated may have a free fraction of only 1e-24. Without the last two values, 12
/// of 10,000 such problems had no exact answer.
const TOLERANCES: [f64; 11] = [1e-7, 1e-6, 1e-9, 1e-11, 1e-13, 1e-10, 1e-5, 1e-3, 1e-18, 1e-23, 1e-28];
/// The fraction of a user's tasks below which its tasks on a class count as 0. The interior point method
/// leaves such small amounts where the optimum has 0.
const NEGLIGIBLE: f64 = 1e-8;
/// The relative distance from the entitlement within which a user counts as having exactly its entitlement.
const TIGHT: f64 = 1e-8;
/// The relative size of a pivot below which the remaining equations count as dependent on the other
/// equations. The exact check shows whether they are.
const LEAST_PIVOT: f64 = 1e-9;

/// Returns the faces that can be read from `point`, one for each tolerance, in the order of [`TOLERANCES`].
pub fn faces_near(
    constraints: &Constraints<'_>,
    point: &FairPoint,
    entitlements: &[Rational],
) -> impl Iterator<Item = Face> {
    TOLERANCES.iter().filter_map(|tolerance| read_face(constraints, point, entitlements, *tolerance).ok())
}

/// A placement that may be changed: the tasks of a user on one class.
struct Movable {
    user: usize,
    /// The position of the class in the user's list of classes.
    place: usize,
    /// The position of the class from which tasks are moved, for users whose total is fixed.
    from: Option<usize>,
    /// The approximate number of tasks by which the placement can change in both directions.
    room: f64,
}

/// Computes an exact allocation near `point` in which the rows of `face` are saturated and its satisfied
/// users have all their tasks. Returns `None` if no such correction of `point` exists.
///
/// An exact check must then decide whether the allocation is an answer. `rounded` converts numbers that will
/// be corrected. Users without a witness are not restricted.
pub fn round_onto(
    constraints: &Constraints<'_>,
    point: &FairPoint,
    face: &Face,
    entitlements: &[Rational],
    rounded: fn(f64) -> Rational,
) -> Option<Tasks> {
    let mut tasks: Tasks = Vec::with_capacity(point.places.len());
    let mut movable = Vec::new();
    for (n, places) in point.places.iter().enumerate() {
        let total: f64 = places.iter().map(|place| place.tasks).sum();
        let used: Vec<_> = places.iter().filter(|p| p.tasks > NEGLIGIBLE * total).collect();
        let mut list: Vec<(usize, Rational)> = used.iter().map(|p| (p.class, rounded(p.tasks))).collect();
        match face.witnesses[n] {
            Some(Witness::Satisfied) => {
                let limit = constraints.problem().users()[n].tasks()?;
                let key = (0..used.len()).max_by(|&a, &b| used[a].tasks.total_cmp(&used[b].tasks))?;
                let others: Rational = (0..used.len()).filter(|k| *k != key).map(|k| &list[k].1).sum();
                list[key].1 = limit - others;
                for place in (0..used.len()).filter(|k| *k != key) {
                    let room = used[place].tasks.min(used[key].tasks);
                    movable.push(Movable { user: n, place, from: Some(key), room });
                }
            }
            Some(Witness::Row(row)) => {
                let class = constraints.rows()[row].server;
                let place = used.iter().position(|p| p.class == class)?;
                let least = threshold(constraints, n, row, &entitlements[n])?;
                let above = used[place].tasks - near(&least);
                let free = tasks_to_limit(point, n, total);
                for other in (0..used.len()).filter(|k| *k != place) {
                    movable.push(Movable {
                        user: n,
                        place: other,
                        from: None,
                        room: used[other].tasks.min(free),
                    });
                }
                if above.abs() < TIGHT * used[place].tasks {
                    list[place].1 = least;
                } else {
                    movable.push(Movable { user: n, place, from: None, room: above.min(free) });
                }
            }
            None => {
                let free = tasks_to_limit(point, n, total);
                for (place, used) in used.iter().enumerate() {
                    movable.push(Movable { user: n, place, from: None, room: used.tasks.min(free) });
                }
            }
        }
        tasks.push(list);
    }
    correct(constraints, face, &mut tasks, &movable)?;
    for list in &mut tasks {
        list.retain(|(_, x)| !x.is_zero());
    }
    Some(tasks)
}

/// Returns the number of tasks that user `n` lacks to have all its tasks, or `total` if the user has no
/// limit.
fn tasks_to_limit(point: &FairPoint, n: usize, total: f64) -> f64 {
    if point.user_slack[n].is_finite() { point.user_slack[n] * total } else { total }
}

/// Returns `e_n C / d`, the number of tasks with which the user uses exactly its entitlement of the row.
fn threshold(
    constraints: &Constraints<'_>,
    n: usize,
    row: usize,
    entitlement: &Rational,
) -> Option<Rational> {
    let at = &constraints.rows()[row];
    let usage = constraints.usage(n, at.server)?;
    let usage = &usage[row - constraints.class_rows(at.server).start];
    (!usage.is_zero()).then(|| Rational::from(entitlement * &at.capacity) / usage)
}

/// Changes movable placements so that the rows of the face are saturated. Returns `None` if this is impossible or a
/// number of tasks becomes negative.
fn correct(constraints: &Constraints<'_>, face: &Face, tasks: &mut Tasks, movable: &[Movable]) -> Option<()> {
    let position: std::collections::HashMap<usize, usize> =
        face.bottlenecks.iter().enumerate().map(|(k, row)| (*row, k)).collect();
    // The amounts by which the saturated rows are still free.
    let mut missing: Vec<Rational> =
        face.bottlenecks.iter().map(|row| constraints.rows()[*row].capacity.clone()).collect();
    for (n, list) in tasks.iter().enumerate() {
        for (i, x) in list {
            for (k, usage) in entries(constraints, &position, n, *i) {
                missing[k] -= usage * x;
            }
        }
    }
    if missing.iter().all(Rational::is_zero) {
        return Some(());
    }
    // The effect of one more task of each movable placement on the saturated rows.
    let columns: Vec<Vec<(usize, Rational)>> = movable
        .iter()
        .map(|m| {
            let mut column = entries(constraints, &position, m.user, tasks[m.user][m.place].0);
            if let Some(from) = m.from {
                for (k, usage) in entries(constraints, &position, m.user, tasks[m.user][from].0) {
                    match column.iter_mut().find(|(at, _)| *at == k) {
                        Some((_, value)) => *value -= usage,
                        None => column.push((k, -usage)),
                    }
                }
            }
            column.retain(|(_, value)| !value.is_zero());
            column
        })
        .collect();
    // Elimination with complete pivoting scans the whole table for every pivot.
    let what = "a correction of saturated rows";
    evenhand_budget::table(missing.len(), columns.len(), size_of::<f64>(), what);
    evenhand_budget::charge((missing.len() * missing.len() * columns.len() / 2) as u64, what);
    let mut scaled = DMatrix::zeros(missing.len(), columns.len());
    for (c, (column, m)) in columns.iter().zip(movable).enumerate() {
        for (k, value) in column {
            let capacity = near(&constraints.rows()[face.bottlenecks[*k]].capacity);
            scaled[(*k, c)] += near(value) * m.room / capacity;
        }
    }
    // Large pivots are placements that can change much, so corrections are unlikely to make a number of tasks negative.
    let (rows, chosen) = dense::pivots(scaled, LEAST_PIVOT);
    let at: std::collections::HashMap<usize, usize> =
        rows.iter().enumerate().map(|(k, row)| (*row, k)).collect();
    let mut matrix = vec![Vec::new(); rows.len()];
    for (c, &column) in chosen.iter().enumerate() {
        for (k, value) in &columns[column] {
            if let Some(row) = at.get(k) {
                matrix[*row].push((c, value.clone()));
            }
        }
    }
    let factors = Lu::factor(matrix, chosen.len()).ok()?;
    let mut change = vec![Rational::new(); chosen.len()];
    factors.solve(rows.iter().map(|row| missing[*row].clone()).collect(), &mut change);
    for (column, change) in chosen.into_iter().zip(change) {
        let m = &movable[column];
        tasks[m.user][m.place].1 += &change;
        if let Some(from) = m.from {
            tasks[m.user][from].1 -= change;
        }
    }
    tasks.iter().flatten().all(|(_, x)| *x >= 0).then_some(())
}

/// Returns the usage of each saturated row by one task of user `n` on class `i`, as pairs of the row's
/// position and the usage.
fn entries(
    constraints: &Constraints<'_>,
    position: &std::collections::HashMap<usize, usize>,
    n: usize,
    i: usize,
) -> Vec<(usize, Rational)> {
    let usage = constraints.usage(n, i).unwrap_or_default();
    let rows = constraints.class_rows(i).zip(usage.iter()).filter(|(_, usage)| !usage.is_zero());
    rows.filter_map(|(row, usage)| Some((*position.get(&row)?, usage.clone()))).collect()
}

/// Reads the face of `point`, in which rows with a free fraction below `tolerance` are saturated.
///
/// A saturated row without a price has a slack of about the square root of the complementarity that was
/// reached, so the tolerance must be well above that slack.
///
/// # Errors
/// Returns the user that has neither all its tasks nor its entitlement of a saturated row.
pub fn read_face(
    constraints: &Constraints<'_>,
    point: &FairPoint,
    entitlements: &[Rational],
    tolerance: f64,
) -> Result<Face, usize> {
    let rows = constraints.rows();
    let saturated: Vec<bool> = (0..rows.len())
        .map(|row| point.row_slack[row] < tolerance && !rows[row].capacity.is_zero())
        .collect();
    let mut witnesses = vec![None; point.places.len()];
    for (n, places) in point.places.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
        if point.user_slack[n] < tolerance {
            witnesses[n] = Some(Witness::Satisfied);
            continue;
        }
        let mut best = (0.0, None);
        for place in places {
            let usage = constraints.usage(n, place.class).unwrap_or_default();
            let used = constraints.class_rows(place.class).zip(usage.iter());
            for (row, usage) in used.filter(|(row, _)| saturated[*row]) {
                let share = place.tasks * near(usage) / near(&rows[row].capacity);
                if share > best.0 {
                    best = (share, Some(row));
                }
            }
        }
        match best {
            (share, Some(row)) if share >= near(&entitlements[n]) * (1.0 - tolerance.sqrt()) => {
                witnesses[n] = Some(Witness::Row(row));
            }
            _ => return Err(n),
        }
    }
    Ok(Face { bottlenecks: (0..rows.len()).filter(|&row| saturated[row]).collect(), witnesses })
}
