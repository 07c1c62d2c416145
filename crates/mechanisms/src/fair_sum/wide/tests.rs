//! Tests with known optima: prices and tasks are chosen, and the weights are computed from them.

use evenhand_problem::{Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};

use super::{Optimum, maximise};

/// Returns `10^power`.
fn ten(power: i32) -> Rational {
    let most = (0..power.abs()).fold(Rational::from(1), |ten, _| ten * 10);
    if power < 0 { most.recip() } else { most }
}

fn vector(values: [&Rational; 2]) -> Vec<(String, Rational)> {
    ["cpu", "memory"].into_iter().zip(values).map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Returns a problem with the tasks of its optimum for the exponent `alpha`.
///
/// It has two classes with prices that differ by a factor of `10^12`, and three users with tasks that differ by
/// `10^(2 spread)`. The classes are fully used.
fn known(alpha: u32, spread: i32) -> (ProblemSpec, Vec<Rational>) {
    let prices = [[ten(0), ten(3)], [ten(-9), Rational::from(2)]];
    let demands = [[Rational::from(3), ten(-2)], [ten(5), Rational::from(7)], [Rational::from(1), ten(-6)]];
    let tasks = vec![ten(spread), Rational::from((7, 3)), ten(-spread)];
    // The class of each user, and whether the user may also run on the other class.
    let on = [(1, true), (0, false), (1, true)];
    let cost = |n: usize, i: usize| -> Rational {
        demands[n].iter().zip(&prices[i]).map(|(d, p)| Rational::from(d * p)).sum()
    };
    let used = |i: usize, r: usize| -> Rational {
        let there = (0..3).filter(|n| on[*n].0 == i);
        there.map(|n| Rational::from(&tasks[n] * &demands[n][r])).sum()
    };
    let servers = (0..2).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: None,
        capacity: vector([&used(i, 0), &used(i, 1)]),
    });
    let users = (0..3).map(|n| {
        let (class, anywhere) = on[n];
        assert!(cost(n, class) <= cost(n, 1 - class) || !anywhere, "the example is an optimum");
        let power = (0..alpha).fold(Rational::from(1), |power, _| power * &tasks[n]);
        UserSpec {
            name: format!("u{n}"),
            weight: Some(cost(n, class) * power),
            demand: vector([&demands[n][0], &demands[n][1]]),
            servers: (!anywhere).then(|| vec![format!("s{class}")]),
            ..UserSpec::default()
        }
    });
    let spec = ProblemSpec {
        name: "known".to_owned(),
        resources: vec!["cpu".to_owned(), "memory".to_owned()],
        servers: servers.collect(),
        users: users.collect(),
    };
    (spec, tasks)
}

fn totals(optimum: &Optimum) -> Vec<Rational> {
    optimum.digits.as_ref().unwrap().tasks.iter().map(|list| list.iter().map(|(_, x)| x).sum()).collect()
}

#[test]
fn computes_optima_known_beforehand() {
    for (alpha, spread) in [(1, 0), (1, 12), (2, 6), (5, 8), (10, 12)] {
        let (spec, tasks) = known(alpha, spread);
        let problem = Problem::new(spec).unwrap();
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let found = maximise(&constraints, &Rational::from(alpha), None).unwrap();
        for (x, right) in totals(&found).iter().zip(&tasks) {
            let off = Rational::from(x - right).abs() / right;
            assert!(off < ten(-25), "alpha {alpha}, {spread}: {} instead of {right}", x.to_f64());
        }
        assert!(found.digits.as_ref().unwrap().prices.rows.iter().all(|price| *price >= 0));
    }
}

#[test]
fn task_limits_count_as_rows() {
    let (mut spec, tasks) = known(5, 6);
    // The user with the fewest tasks is limited to half of them, and the others share the rest.
    let limit = Rational::from(&tasks[2] / 2u32);
    spec.users[2].tasks = Some(limit.clone());
    let problem = Problem::new(spec).unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let found = maximise(&constraints, &Rational::from(5), None).unwrap();
    assert!(Rational::from(&limit - &totals(&found)[2]) < limit * ten(-20));
    assert!(found.digits.as_ref().unwrap().prices.users[2] > 0 && found.point.user_slack[2] < 1e-15);
    assert!(found.digits.as_ref().unwrap().prices.users[0] == 0 && found.point.user_slack[0].is_infinite());
}

#[test]
fn too_large_problems_are_skipped() {
    let (mut spec, _) = known(2, 0);
    let class = spec.servers[0].clone();
    spec.servers.extend((0..200).map(|i| ServerSpec { name: format!("more{i}"), ..class.clone() }));
    let problem = Problem::new(spec).unwrap();
    assert!(maximise(&Constraints::new(&problem, Sharing::Rdm), &Rational::from(2), None).is_none());
}
