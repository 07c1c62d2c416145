//! The largest growth of users' totals that can be placed on classes, computed by a dense simplex method over
//! all placements.

use evenhand_problem::{Problem, Rational};

use crate::build::ratio::simplex;

/// The cost of a missing task if all numbers are of similar size.
const DEAR: u64 = 1_000_000_000_000;

/// Returns the cost of a missing task. The cost is far more than could be gained by leaving out a task, which
/// [`reach`] verifies. It is larger if the numbers differ by large factors.
fn dear(rows: &[Vec<Rational>], right: &[Rational]) -> Rational {
    let numbers = || rows.iter().flatten().chain(right).filter(|number| !number.is_zero());
    let sizes = || numbers().map(|number| number.clone().abs());
    let apart = sizes().max().unwrap_or_else(|| Rational::from(1))
        / sizes().min().unwrap_or_else(|| Rational::from(1));
    Rational::from(&apart * &apart) * apart * DEAR
}

/// Returns the largest `t` for which `x + t rates` can be placed. `x` must have a placement, and some rate must be
/// positive.
pub fn reach(problem: &Problem, x: &[Rational], rates: &[Rational]) -> Rational {
    let n_resources = problem.n_resources();
    let placements: Vec<(usize, usize)> =
        (0..x.len()).flat_map(|n| problem.classes_of(n).map(move |i| (n, i))).collect();
    let mut rows = Vec::new();
    let mut right = Vec::new();
    for (i, class) in problem.servers().iter().enumerate() {
        for r in 0..n_resources {
            let uses = |(n, of): &(usize, usize)| {
                if *of == i { problem.demand(*n, i)[r].clone() } else { Rational::new() }
            };
            rows.push([Rational::new()].into_iter().chain(placements.iter().map(uses)).collect::<Vec<_>>());
            right.push(Rational::from(&class.capacity()[r] * class.count()));
        }
    }
    for (v, group) in problem.groups().list().iter().enumerate() {
        for on in &group.on {
            for (r, most) in &on.limit {
                let uses = |(n, i): &(usize, usize)| {
                    let mut above = problem.groups().member(*n).group;
                    while above.is_some_and(|of| of != v) {
                        above = problem.groups().list()[above.unwrap()].parent;
                    }
                    let counts = above.is_some() && on.servers.contains(i);
                    if counts { problem.demand(*n, *i)[*r].clone() } else { Rational::new() }
                };
                rows.push([Rational::new()].into_iter().chain(placements.iter().map(uses)).collect());
                right.push(most.clone());
            }
        }
    }
    // At most the requested tasks are placed, and missing tasks cost much.
    for (n, total) in x.iter().enumerate() {
        let placed = placements.iter().map(|(of, _)| Rational::from(u32::from(*of == n)));
        rows.push([Rational::from(-&rates[n])].into_iter().chain(placed).collect());
        right.push(total.clone());
    }
    let all: Rational = rates.iter().sum();
    let dear = dear(&rows, &right);
    let mut gain = vec![Rational::from(1) - all * &dear];
    gain.extend(placements.iter().map(|_| dear.clone()));
    let (solution, _) = simplex(rows, right, gain);
    let t = solution[0].clone();
    for (n, total) in x.iter().enumerate() {
        let placed: Rational =
            placements.iter().zip(&solution[1..]).filter(|((of, _), _)| *of == n).map(|(_, x)| x).sum();
        assert_eq!(placed, Rational::from(&rates[n] * &t) + total, "everything has a place");
    }
    t
}
