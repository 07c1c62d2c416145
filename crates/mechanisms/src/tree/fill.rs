//! The hierarchical filling, segment by segment, until no user can grow.
//!
//! On one class without class limits, a filling that respects the total capacity can always be placed.
//! Otherwise the tree is filled under linear bounds on the tasks that every placement satisfies. The filling
//! starts without any bounds. From time to time, a linear programme checks whether the tasks can be placed.
//! If they cannot, they violate a further bound, and the filling goes back to a state that satisfies this
//! bound. Tasks only grow, so if the final tasks can be placed, so can all earlier tasks. Every user that was
//! stopped at a bound is therefore stopped by a real lack of capacity.

use evenhand_budget::charge;
use evenhand_exact::tree::{Bound, ClassLimits, Forest};
use evenhand_levels::LevelsError;
use evenhand_levels::placement::{Place, Placed, Placements, Totals};
use evenhand_lp::LpError;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use super::course::{Course, Endless};
use super::trail::Trail;

/// The maximum work, in units of the size of the tree. A unit takes a few nanoseconds while numbers are
/// short.
const WORK: usize = 10_000_000_000;
/// The minimum number of segments between two checks of the placement, which is also the initial number. The
/// number of segments is doubled after each success and halved after each failure.
const FIRST_STRIDE: usize = 16;
/// The maximum number of segments between two checks. If a bound is violated, half of these segments are lost
/// on average.
const LONGEST_STRIDE: usize = 512;
/// The maximum number of bounds that are computed in one step.
const MOST_BOUNDS: usize = 50;
/// The fraction of the distance to a bound to which totals are moved back.
const WITHIN: f64 = 1.0 - 1e-6;

/// Runs one segment and charges the budget some steps for each node and user. Long numbers are charged
/// separately.
fn segment(forest: &Forest<'_>, course: &mut Course<'_>) -> Result<bool, LevelsError> {
    charge((forest.size() as u64).saturating_mul(5), "hierarchical filling");
    course.segment().map_err(|_: Endless| LevelsError::Lp(LpError::ExactlyUnbounded))
}

/// The tasks of each user that could be placed at the last check, as far as doubles show: pairs
/// `(class, tasks)`.
pub type SoFar = Vec<Vec<(usize, f64)>>;

/// A filled tree.
pub struct Filled {
    /// The tasks of each user as pairs `(class, tasks)`, in ascending order of the class.
    pub tasks: Placed,
    /// The bounds that are reached.
    pub bounds: Vec<Bound>,
    /// The number of segments.
    pub segments: usize,
    /// The number of linear programmes.
    pub programmes: usize,
    /// `true` if the time was up before the filling was complete.
    pub is_late: bool,
}

/// Computes the exact hierarchical filling, or `None` if this would take too much work. `so_far` receives the tasks
/// placed so far, for a caller that ends the filling early.
pub fn fill(
    problem: &Problem,
    forest: &Forest<'_>,
    so_far: &mut SoFar,
) -> Result<Option<Filled>, LevelsError> {
    let most = WORK / forest.size().max(1);
    let nothing = vec![Rational::new(); problem.n_users()];
    let is_plain = forest.is_plain.iter().all(|is_plain| *is_plain);
    if problem.n_servers() > 1 || !forest.class_limits.list.is_empty() || !is_plain {
        return on_classes(problem, forest, &nothing, most, so_far);
    }
    // All servers are identical and divisible, so tasks that fit into the total capacity can be placed.
    let mut course = Course::new(forest, &nothing, &[]);
    for segments in 0..most {
        // The tasks are recorded rarely, since recording visits all users. They are needed if the work budget
        // ends before the program notices that the time is up.
        if segments.is_power_of_two() {
            let tasks = course.nearly().into_iter().map(|tasks| tasks.to_f64());
            *so_far = tasks.map(|x| if x > 0.0 { vec![(0, x)] } else { Vec::new() }).collect();
        }
        let is_late = evenhand_budget::is_late();
        if is_late || !segment(forest, &mut course)? {
            let of_user = |x: Rational| if x.is_zero() { Vec::new() } else { vec![(0, x)] };
            let tasks = course.exactly().into_iter().map(of_user).collect();
            return Ok(Some(Filled { tasks, bounds: Vec::new(), segments, programmes: 0, is_late }));
        }
    }
    Ok(None)
}

/// Returns a bound in which every task counts: all rows of capacity have the price 1.
fn every_task(constraints: &Constraints<'_>, limits: &ClassLimits) -> Bound {
    let rows = constraints.rows().len();
    let price = |row: usize| Rational::from(u32::from(row < rows));
    let prices: Vec<Rational> = (0..rows + limits.list.len()).map(price).collect();
    Bound::of_rows(constraints, limits, &prices)
}

/// Fills a problem for which placements must be checked.
fn on_classes(
    problem: &Problem,
    forest: &Forest<'_>,
    nothing: &[Rational],
    most: usize,
    so_far: &mut SoFar,
) -> Result<Option<Filled>, LevelsError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &forest.class_limits)?;
    let is_plain = forest.is_plain.iter().all(|is_plain| *is_plain);
    // If the usage of groups is not the sum of their running tasks, the capacity may not end the filling. A
    // bound must end it in this case.
    let mut bounds: Vec<Bound> =
        if is_plain { Vec::new() } else { vec![every_task(&constraints, &forest.class_limits)] };
    let mut course = Course::new(forest, nothing, &bounds);
    let mut trail = Trail::new(&course, nothing, bounds.len());
    let (mut segments, mut programmes, mut stride) = (0, 0, FIRST_STRIDE);
    // The number of segments from the beginning to the current state.
    let mut at = 0;
    while segments < most {
        let mut is_end = false;
        for done in 0..stride {
            trail.pass(&course, at, bounds.len(), done, stride);
            if !segment(forest, &mut course)? {
                is_end = true;
                break;
            }
            segments += 1;
            at += 1;
        }
        programmes += 1;
        let tasks = course.nearly();
        let broken = if is_end {
            match placements.place(&mut course)? {
                Place::Found(placed) => {
                    course.retain_reached(&mut bounds);
                    return Ok(Some(Filled { tasks: placed, bounds, segments, programmes, is_late: false }));
                }
                Place::Broken(bound) => Some(bound),
            }
        } else {
            placements.broken(&tasks)?.filter(|bound| !bounds.contains(bound))
        };
        if let Some(bound) = broken {
            programmes += further(&mut placements, trail.place(), tasks, bound, &mut bounds)?;
            stride = (stride / 2).max(FIRST_STRIDE);
            let Some(state) = trail.back(&bounds) else {
                return Err(LevelsError::Lp(LpError::ExactlyInfeasible));
            };
            (course, at) = state;
        } else {
            *so_far = placements.in_doubles();
            trail.arrive(&course, at, bounds.len(), tasks);
            stride = (stride * 2).min(LONGEST_STRIDE);
        }
    }
    Ok(None)
}

/// Adds a bound that totals violate, and further bounds. Returns the number of linear programmes that were
/// solved.
///
/// The tasks of the bound's users are moved back until they satisfy the bound. If the totals still cannot be
/// placed, they violate another bound, and the step is repeated.
fn further(
    placements: &mut Placements,
    from: &[Rational],
    mut totals: Vec<Rational>,
    bound: Bound,
    bounds: &mut Vec<Bound>,
) -> Result<usize, LevelsError> {
    let mut next = Some(bound);
    let mut found = 0;
    while let Some(bound) = next.take() {
        found += 1;
        let (before, after) = (bound.left(from), bound.left(&totals));
        if before > 0 && after < 0 && found < MOST_BOUNDS {
            let part = (&before / Rational::from(&before - &after)).to_f64() * WITHIN;
            for (n, _) in &bound.worth {
                let from = from[*n].to_f64();
                let total = (totals[*n].to_f64() - from).mul_add(part, from);
                totals[*n] = Rational::from_f64(total).unwrap_or_default();
            }
            next = placements.broken(&totals)?.filter(|next| *next != bound && !bounds.contains(next));
        }
        bounds.push(bound);
    }
    Ok(found - 1)
}

#[cfg(test)]
mod tests {
    use evenhand_budget::{Limits, spent, within};
    use evenhand_problem::format::Source;
    use serde_json::{Value, json};

    use super::*;
    use crate::rounding;
    use crate::tree::Settings;

    /// Returns a problem with two groups with limits and three classes, in which every user has different demands and
    /// tasks.
    fn problem() -> Problem {
        let server =
            |i: u32| json!({"name": format!("s{i}"), "capacity": {"cpu": 3000 + 700 * i, "memory": 5000}});
        let user = |n: u32| {
            let (cpu, memory) = (1 + n % 7, 1 + n % 5);
            json!({"name": format!("u{n}"), "group": if n.is_multiple_of(2) { "a" } else { "b" }, "tasks": 1 + n * n % 83,
                   "demand": {"cpu": cpu, "memory": memory}})
        };
        let text = json!({
            "kind": "allocation-problem", "resources": ["cpu", "memory"],
            "groups": [{"name": "a", "weight": 2}, {"name": "b", "limit": {"cpu": 4000}}],
            "servers": (0..3).map(server).collect::<Vec<Value>>(),
            "users": (0..60).map(user).collect::<Vec<Value>>(),
        });
        Source { name: "-", text: &text.to_string() }.problem().unwrap()
    }

    #[test]
    fn an_interrupted_filling_leaves_a_feasible_allocation() {
        let problem = problem();
        let forest = crate::tree::allocate::forest_of(&problem, &Settings::default()).unwrap();
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let whole = || (fill(&problem, &forest, &mut SoFar::new()), spent());
        let (total, cost) = within(&Limits::default(), whole).unwrap();
        let total = total.unwrap().unwrap();
        let most = |n: usize| total.tasks[n].iter().map(|(_, x)| x).sum::<Rational>();
        let mut some = 0;
        for work in (1..60).map(|k| cost * k / 60) {
            let mut so_far = SoFar::new();
            let limits = Limits { work: Some(work), ..Limits::default() };
            if within(&limits, || fill(&problem, &forest, &mut so_far)).is_ok() || so_far.is_empty() {
                continue;
            }
            some += 1;
            let tasks = rounding::feasible(&constraints, so_far);
            let mut used = vec![Rational::new(); constraints.rows().len()];
            for (n, list) in tasks.iter().enumerate() {
                assert!(list.iter().map(|(_, x)| x).sum::<Rational>() <= most(n), "user {n}");
                for (i, x) in list {
                    let usage = constraints.usage(n, *i).unwrap();
                    for (row, usage) in constraints.class_rows(*i).zip(usage.iter()) {
                        used[row] += Rational::from(usage * x);
                    }
                }
            }
            assert!(used.iter().zip(constraints.rows()).all(|(used, row)| *used <= row.capacity));
            assert!(used.iter().any(|used| *used > 0));
        }
        assert!(some > 0, "no bound ended the filling");
    }
}
