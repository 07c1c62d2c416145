//! How far totals of tasks may grow on classes, by a dense simplex method over all placements.

use evenhand_problem::{Problem, Rational};

use crate::build::ratio::simplex;

/// What a missing task costs where all numbers are alike.
const DEAR: u64 = 1_000_000_000_000;

/// What a missing task costs: far more than anything that can be had for it, which is verified. Numbers that are far
/// apart make it dearer.
fn dear(rows: &[Vec<Rational>], right: &[Rational]) -> Rational {
    let numbers = || rows.iter().flatten().chain(right).filter(|number| !number.is_zero());
    let sizes = || numbers().map(|number| number.clone().abs());
    let apart = sizes().max().unwrap_or_else(|| Rational::from(1))
        / sizes().min().unwrap_or_else(|| Rational::from(1));
    Rational::from(&apart * &apart) * apart * DEAR
}

/// The largest `t` for which `x + t rates` has a place. `x` has one, and some rate is positive.
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
    // What is placed is at most what is asked for, and what lacks is dear.
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
