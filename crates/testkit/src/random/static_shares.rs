//! Allocations as other programs produce them. They are stated in doubles, and then repaired until they are
//! feasible.

use evenhand_problem::{Constraints, Problem, Rational, Sharing, UserSpec, number};

use super::problems::{build, class_name, spec};
use crate::total;

pub type Tasks = Vec<Vec<(usize, Rational)>>;

/// Returns a feasible allocation close to the wanted numbers of tasks. Numbers that are too large for a class
/// or a user are scaled down.
pub fn repaired(
    problem: &Problem,
    sharing: Sharing,
    mut wanted: impl FnMut(usize, usize) -> Rational,
) -> Tasks {
    let constraints = Constraints::new(problem, sharing);
    let mut tasks: Tasks = (0..problem.n_users())
        .map(|n| {
            let classes = (0..problem.n_servers()).filter(|&i| problem.can_run(n, i));
            let list: Vec<_> = classes.map(|i| (i, wanted(n, i))).filter(|(_, x)| *x > 0).collect();
            scaled(list, n, problem)
        })
        .collect();
    let mut loads = vec![Rational::new(); constraints.rows().len()];
    for (n, list) in tasks.iter().enumerate() {
        for (i, x) in list {
            let usage = constraints.usage(n, *i).expect("it can run there");
            for (row, d) in constraints.class_rows(*i).zip(usage.iter()) {
                loads[row] += Rational::from(d * x);
            }
        }
    }
    for list in &mut tasks {
        for (i, x) in list.iter_mut() {
            let rows = constraints.class_rows(*i).filter(|&row| !loads[row].is_zero());
            let part = rows.map(|row| Rational::from(&constraints.rows()[row].capacity / &loads[row])).min();
            if let Some(part) = part.filter(|part| *part < 1) {
                *x *= part;
            }
        }
        list.retain(|(_, x)| *x > 0);
    }
    tasks
}

fn scaled(mut list: Vec<(usize, Rational)>, n: usize, problem: &Problem) -> Vec<(usize, Rational)> {
    let sum = total(&list);
    if let Some(limit) = problem.users()[n].tasks().filter(|limit| **limit < sum) {
        for (_, x) in &mut list {
            *x *= Rational::from(limit / &sum);
        }
    }
    list.retain(|(_, x)| *x > 0);
    list
}

/// A generator of pseudo-random numbers (xorshift). The same seed gives the same numbers.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        let mut noise = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..10 {
            noise.below(2);
        }
        noise
    }

    /// Returns a number from 0 to `n - 1`.
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 16) % u64::from(n)).expect("it is below n")
    }

    /// Returns a number from 0 to below 1.
    pub fn part(&mut self) -> f64 {
        f64::from(self.below(1 << 30)) / f64::from(1 << 30)
    }
}

/// Returns the exact value of the decimal that a double prints as.
pub fn decimal(value: f64) -> Rational {
    number::parse_result(&format!("{value}")).expect("a number")
}

/// Returns forty teams on ten classes of servers, with a static partition by weight in doubles. Every number
/// deviates by up to the fraction `off`, and on each class some capacity is used up.
pub fn teams(seed: u64, off: f64) -> (Problem, Tasks) {
    let mut noise = Noise::new(seed);
    let numbers = |noise: &mut Noise, most: u32| -> Vec<Rational> {
        (0..3).map(|_| Rational::from(1 + noise.below(most))).collect()
    };
    let capacities: Vec<_> = (0..10).map(|_| numbers(&mut noise, 640)).collect();
    let demands: Vec<_> = (0..40).map(|_| numbers(&mut noise, 16)).collect();
    let mut spec = spec(&capacities, &demands);
    for user in &mut spec.users {
        let classes = (0..10).filter(|_| noise.below(2) == 0).map(class_name).collect::<Vec<_>>();
        *user = UserSpec {
            weight: Some(Rational::from(1 + noise.below(5))),
            tasks: (noise.below(4) == 0).then(|| Rational::from((1 + noise.below(400), 4))),
            servers: (!classes.is_empty() && noise.below(2) == 0).then_some(classes),
            ..std::mem::take(user)
        };
    }
    let problem = build(spec);
    let weights: f64 = problem.users().iter().map(|user| user.weight().to_f64()).sum();
    let tasks = repaired(&problem, Sharing::Rdm, |n, i| {
        let part = problem.users()[n].weight().to_f64() / weights;
        decimal(part * problem.gamma(n, i).to_f64() * (1.0 + off * noise.part()))
    });
    (problem, tasks)
}
