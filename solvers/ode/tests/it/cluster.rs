//! Tests of proportional and alpha fairness on clusters, by the conditions of the optimum and by an independent conic
//! solver.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, PowerConeT,
    SolverStatus, SupportedConeT,
};
use evenhand_ode::cluster::{
    ClassUse, Cluster, ClusterError, ClusterPoint, Settings, Status, UserModel, solve, solve_by_prices,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Parameters of a random cluster.
#[derive(Clone, Copy)]
struct Shape {
    users: usize,
    classes: usize,
    resources: usize,
    limited: f64,
    weights_apart: i32,
    criterion: bool,
}

const SMALL: Shape =
    Shape { users: 12, classes: 4, resources: 3, limited: 0.4, weights_apart: 0, criterion: false };

fn users(random: &mut Pcg64, shape: Shape) -> (usize, Vec<UserModel>) {
    let Shape { users, classes, resources, limited, weights_apart, criterion } = shape;
    let (n, k, m) = (
        random.random_range(1..=users),
        random.random_range(1..=classes),
        random.random_range(1..=resources),
    );
    let capacity: Vec<f64> = (0..k * m).map(|_| random.random_range(10.0..1000.0)).collect();
    let list = (0..n)
        .map(|_| {
            let demand: Vec<f64> = (0..m)
                .map(|r| if r == 0 || random.random_bool(0.7) { random.random_range(0.01..1.0) } else { 0.0 })
                .collect();
            let certain = random.random_range(0..k);
            let allowed: Vec<usize> = (0..k).filter(|&i| i == certain || random.random_bool(0.7)).collect();
            let placements: Vec<ClassUse> = allowed
                .into_iter()
                .map(|i| ClassUse {
                    worth: if criterion { random.random_range(0.5..2.0) } else { 1.0 },
                    usage: (0..m)
                        .filter(|&r| demand[r] > 0.0)
                        .map(|r| (i * m + r, demand[r] / capacity[i * m + r]))
                        .collect(),
                })
                .collect();
            let most = 1000.0 * k as f64 / n as f64;
            let limit = match random.random_bool(limited) {
                true => most * random.random_range(0.05..3.0),
                false => f64::INFINITY,
            };
            let weight = random.random_range(1.0..5.0) * 10f64.powi(random.random_range(0..=weights_apart));
            UserModel { weight, limit, placements }
        })
        .collect();
    (k * m, list)
}

/// Returns `(U_n, x_n)` of each user.
fn totals(users: &[UserModel], tasks: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let total = |(user, tasks): (&UserModel, &Vec<f64>)| {
        let utility = user.placements.iter().zip(tasks).map(|(p, x)| p.worth * x).sum();
        (utility, tasks.iter().sum())
    };
    users.iter().zip(tasks).map(total).collect()
}

/// Returns the largest violation of the conditions of the optimum, each in relative terms.
fn violation(n_rows: usize, users: &[UserModel], alpha: f64, point: &ClusterPoint) -> f64 {
    let totals = totals(users, &point.tasks);
    let worth: f64 =
        users.iter().zip(&totals).map(|(u, (utility, _))| u.weight * utility.powf(1.0 - alpha)).sum();
    let mut used = vec![0.0; n_rows];
    let mut worst: f64 = 0.0;
    for ((user, tasks), (q, (utility, total))) in
        users.iter().zip(&point.tasks).zip(point.user_prices.iter().zip(&totals))
    {
        let marginal = user.weight * utility.powf(-alpha);
        for (placement, x) in user.placements.iter().zip(tasks) {
            let mut cost = *q;
            for (row, part) in &placement.usage {
                used[*row] += part * x;
                cost += part * point.row_prices[*row];
            }
            let gain = marginal * placement.worth;
            // A placement is never worth more than its cost, and never used above its worth.
            worst = worst.max((gain - cost) / gain).max((cost - gain) * x / worth);
        }
        if user.limit.is_finite() {
            worst = worst.max(total / user.limit - 1.0).max(q * (user.limit - total) / worth);
        }
    }
    for (used, price) in used.iter().zip(&point.row_prices) {
        worst = worst.max(used - 1.0).max(price * (1.0 - used) / worth);
    }
    worst
}

fn solved(n_rows: usize, users: &[UserModel], alpha: f64) -> ClusterPoint {
    let cluster = Cluster::new(n_rows, users, alpha).unwrap();
    solve(&cluster, &Settings::default())
}

fn check_all(seeds: std::ops::Range<u64>, shape: Shape, alphas: &[f64], most: f64) {
    for seed in seeds {
        let (n_rows, users) = users(&mut Pcg64::seed_from_u64(seed), shape);
        for &alpha in alphas {
            let point = solved(n_rows, &users, alpha);
            let violation = violation(n_rows, &users, alpha, &point);
            assert_eq!(point.status, Status::Solved, "seed {seed}, alpha {alpha}: {}", point.residual);
            assert!(violation < most, "seed {seed}, alpha {alpha}: {violation:e}");
        }
    }
}

#[test]
fn small_clusters_are_solved_to_rounding() {
    check_all(0..400, SMALL, &[1.0], 1e-10);
}

#[test]
fn solves_every_exponent() {
    check_all(0..100, Shape { limited: 0.0, ..SMALL }, &[0.25, 0.5, 2.0, 4.0], 1e-8);
}

/// With `a = 10`, utilities that differ by a factor of 100 have marginal utilities that differ by 10^18.
///
/// Not every cluster is solved for all users. The status shows which clusters are.
#[test]
fn solves_most_clusters_for_a_large_exponent() {
    let mut n_solved = 0;
    for seed in 0..100 {
        let (n_rows, users) = users(&mut Pcg64::seed_from_u64(seed), Shape { limited: 0.0, ..SMALL });
        let point = solved(n_rows, &users, 10.0);
        if point.status == Status::Solved {
            n_solved += 1;
            assert!(violation(n_rows, &users, 10.0, &point) < 1e-4, "seed {seed}");
        } else {
            assert!(point.worst > 1e-5 || point.residual > 1e-8, "seed {seed}");
        }
    }
    assert!(n_solved >= 90, "{n_solved} of 100");
}

#[test]
fn solves_exponents_with_task_limits() {
    check_all(0..100, SMALL, &[0.5, 2.0, 4.0], 1e-7);
}

#[test]
fn solves_a_criterion_instead_of_tasks() {
    check_all(0..100, Shape { criterion: true, ..SMALL }, &[1.0, 2.0], 1e-7);
}

#[test]
fn solves_weights_far_apart() {
    check_all(0..100, Shape { weights_apart: 9, ..SMALL }, &[1.0], 1e-6);
}

#[test]
fn solves_many_users() {
    let shape = Shape { users: 200, classes: 12, ..SMALL };
    check_all(0..10, shape, &[1.0, 2.0], 1e-8);
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let (n_rows, users) = users(&mut Pcg64::seed_from_u64(7), Shape { users: 600, classes: 9, ..SMALL });
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solved(n_rows, &users, 1.0))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(3));
}

#[test]
fn accepts_no_users_and_refuses_wrong_input() {
    let point = solved(3, &[], 1.0);
    assert_eq!((point.status, point.row_prices), (Status::Solved, vec![0.0; 3]));
    let user = |weight, limit, usage: Vec<(usize, f64)>| UserModel {
        weight,
        limit,
        placements: vec![ClassUse { worth: 1.0, usage }],
    };
    let good = || user(1.0, 1.0, vec![(0, 0.5)]);
    assert!(Cluster::new(1, &[good()], 1.0).is_ok());
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Cluster::new(1, &[good()], alpha).unwrap_err(), ClusterError::Alpha);
    }
    let bad = [
        user(0.0, 1.0, vec![(0, 0.5)]),
        user(1.0, 0.0, vec![(0, 0.5)]),
        user(1.0, f64::NAN, vec![(0, 0.5)]),
        user(1.0, 1.0, vec![]),
        user(1.0, 1.0, vec![(1, 0.5)]),
        user(1.0, 1.0, vec![(0, 0.0)]),
        user(1.0, 1.0, vec![(0, f64::INFINITY)]),
        UserModel { placements: vec![], ..good() },
    ];
    for user in bad {
        let error = Cluster::new(1, &[good(), user], 1.0).unwrap_err();
        assert!(matches!(error, ClusterError::UserModel { user: 1, .. }), "{error}");
    }
    assert!(matches!(Cluster::new(1 << 20, &[good()], 1.0), Err(ClusterError::TooManyRows { .. })));
}

/// Computes `U_n` with Clarabel: one column for each placement, then one for each user's term.
fn by_cones(n_rows: usize, users: &[UserModel], alpha: f64) -> Option<Vec<f64>> {
    let starts: Vec<usize> = users
        .iter()
        .scan(0, |next, user| {
            let start = *next;
            *next += user.placements.len();
            Some(start)
        })
        .collect();
    let n_columns = starts.last()? + users.last()?.placements.len();
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |row: usize, column: usize, value: f64| {
        rows.push(row);
        columns.push(column);
        values.push(value);
    };
    let mut right = vec![1.0; n_rows];
    // The unit of a placement: the most tasks that fit.
    let unit = |placement: &ClassUse| placement.usage.iter().map(|(_, a)| *a).fold(0.0, f64::max).recip();
    let mut limits = n_rows;
    for (n, user) in users.iter().enumerate() {
        for (k, placement) in user.placements.iter().enumerate() {
            let column = starts[n] + k;
            for (row, part) in &placement.usage {
                put(*row, column, part * unit(placement));
            }
            put(limits, column, -1.0);
            right.push(0.0);
            limits += 1;
        }
        if user.limit.is_finite() {
            for (k, placement) in user.placements.iter().enumerate() {
                put(limits, starts[n] + k, unit(placement) / user.limit);
            }
            right.push(1.0);
            limits += 1;
        }
    }
    let mut cones: Vec<SupportedConeT<f64>> = vec![NonnegativeConeT(limits)];
    let mut cost = vec![0.0; n_columns + users.len()];
    let mut row = limits;
    for (n, user) in users.iter().enumerate() {
        let scale = user.placements.iter().map(|p| p.worth * unit(p)).fold(0.0, f64::max);
        let (term, utility) =
            (n_columns + n, |k: usize, p: &ClassUse| (starts[n] + k, p.worth * unit(p) / scale));
        // Cones of a user's term. For `ln`: (t, 1, U). For U^(1-a)/(1-a) with a = 2: s^(1/2) U^(1/2) >= 1. With a =
        // 1/2: U^(1/2) >= t.
        let (of_term, of_utility, one) = match alpha {
            1.0 => (0, 2, 1),
            2.0 => (0, 1, 2),
            _ => (2, 0, 1),
        };
        cones.push(if alpha == 1.0 { ExponentialConeT() } else { PowerConeT(0.5) });
        put(row + of_term, term, -1.0);
        for (k, placement) in user.placements.iter().enumerate() {
            let (column, value) = utility(k, placement);
            put(row + of_utility, column, -value);
        }
        let mut constants = [0.0; 3];
        constants[one] = 1.0;
        right.extend(constants);
        let weight = user.weight * scale.powf(1.0 - alpha);
        cost[term] = match alpha {
            1.0 => -weight,
            2.0 => weight,
            _ => -2.0 * weight,
        };
        row += 3;
    }
    let largest = cost.iter().map(|c: &f64| c.abs()).fold(0.0, f64::max);
    cost.iter_mut().for_each(|c| *c /= largest);
    let a = CscMatrix::new_from_triplets(row, n_columns + users.len(), rows, columns, values);
    let settings = DefaultSettingsBuilder::default().verbose(false).build().ok()?;
    let zero = CscMatrix::zeros((cost.len(), cost.len()));
    let mut solver = DefaultSolver::new(&zero, &cost, &a, &right, &cones, settings).ok()?;
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then(|| {
        let x = &solver.solution.x;
        users
            .iter()
            .enumerate()
            .map(|(n, user)| {
                let parts = user.placements.iter().enumerate();
                parts.map(|(k, p)| p.worth * unit(p) * x[starts[n] + k]).sum()
            })
            .collect()
    })
}

#[test]
fn agrees_with_a_conic_solver() {
    let mut compared = 0;
    for seed in 0..90 {
        let (n_rows, users) = users(&mut Pcg64::seed_from_u64(seed), SMALL);
        let alpha = [1.0, 2.0, 0.5][seed as usize % 3];
        let point = solved(n_rows, &users, alpha);
        let Some(theirs) = by_cones(n_rows, &users, alpha) else { continue };
        compared += 1;
        for ((ours, _), theirs) in totals(&users, &point.tasks).iter().zip(&theirs) {
            assert!(
                approx::relative_eq!(ours, theirs, max_relative = 2e-3),
                "seed {seed}, alpha {alpha}: {ours} and {theirs}"
            );
        }
    }
    assert!(compared >= 75, "Clarabel solved only {compared}");
}

/// The interior point method and the method of prices share no code except the problem.
#[test]
fn agrees_with_the_method_of_prices() {
    for seed in 0..90 {
        let (n_rows, users) = users(&mut Pcg64::seed_from_u64(seed), SMALL);
        let alpha = [1.0, 2.0, 0.5][seed as usize % 3];
        let point = solved(n_rows, &users, alpha);
        let cluster = Cluster::new(n_rows, &users, alpha).unwrap();
        let other = solve_by_prices(&cluster).unwrap();
        assert_eq!(other.status, Status::Solved, "seed {seed}");
        for (ours, theirs) in totals(&users, &point.tasks).iter().zip(totals(&users, &other.tasks)) {
            assert!(
                approx::relative_eq!(ours.0, theirs.0, max_relative = 1e-5),
                "seed {seed}, alpha {alpha}: {ours:?} and {theirs:?}"
            );
        }
    }
}

/// Numbers that leave the range of doubles end in a status, not in a panic or an endless loop.
#[test]
fn numbers_far_apart_end_in_a_status() {
    for exponent in [100, 150, 200, 250, 300] {
        let small = 10.0_f64.powi(-exponent);
        let user = |limit: f64| UserModel {
            weight: 1.0,
            limit,
            placements: vec![
                ClassUse { worth: 1.0, usage: vec![(0, small.recip())] },
                ClassUse { worth: 1.0, usage: vec![(1, 1.0)] },
            ],
        };
        for alpha in [0.1, 1.0, 10.0] {
            let cluster = Cluster::new(2, &[user(0.5), user(f64::INFINITY), user(small)], alpha).unwrap();
            let point = solve(&cluster, &Settings::default());
            assert!(matches!(point.status, Status::Solved | Status::Limit));
            let _ = solve_by_prices(&cluster);
        }
    }
}
