//! Tests of the literal trajectory, compared with values of equation (12) that were computed independently.

use evenhand_ode::margin;
use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::pool::Pool;
use evenhand_ode::trajectory::{RungeKutta, TrajectorySettings, TrajectoryStatus, integrate};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Pairs of `c` and `x(c)`.
type Points = Vec<(f64, Vec<f64>)>;

/// Returns values of `x(c)` at `c = 0.1, 1, 10, ...`: "No Justified Complaints", equation (12) with
/// dummy resources, solved to full precision at each `c`.
fn published() -> Vec<(&'static str, Pool, Points)> {
    let pool = |m: usize, requests: &[f64], e: &[f64]| {
        Pool::new(m, requests.to_vec(), e.to_vec(), vec![1.0; e.len()]).unwrap()
    };
    vec![
        (
            "figure 2",
            pool(2, &[1.0, 0.2, 1.0, 0.2, 0.4, 0.8], &[1.0 / 3.0; 3]),
            vec![
                (0.1, vec![0.014779148280683028, 0.014779148280683028, 0.014852496749074252]),
                (1.0, vec![0.11990518614681252, 0.11990518614681252, 0.1259142381594026]),
                (10.0, vec![0.338842684195566, 0.338842684195566, 0.4894115861923261]),
                (100.0, vec![0.34540265215609117, 0.3454026521560911, 0.7464537780602482]),
                (10000.0, vec![0.3335479334554327, 0.3335479334554327, 0.8320101092857128]),
                (1000000.0, vec![0.3333354997904053, 0.3333354997904053, 0.8333200010254754]),
            ],
        ),
        (
            "three users for whom greedy fails",
            pool(3, &[0.5, 0.5, 2.0 / 3.0, 0.5, 0.625, 0.5, 1.0, 1.0, 1.0 / 3.0], &[0.5, 0.375, 0.125]),
            vec![
                (0.1, vec![0.018378633887649865, 0.014025693983971101, 0.0036911966153813655]),
                (1.0, vec![0.15580684354384328, 0.12046337877716447, 0.032295376534670114]),
                (10.0, vec![0.6058475156032339, 0.49169163240111446, 0.13421356521468206]),
                (100.0, vec![0.8638866763943456, 0.6435224053513694, 0.15048453670141135]),
                (10000.0, vec![0.9744092764447329, 0.610256423995142, 0.1312774113895499]),
                (1000000.0, vec![0.9786583118532841, 0.6079630192792407, 0.13069288712577204]),
            ],
        ),
        (
            "a family of solutions",
            pool(2, &[1.0, 1.0, 0.0, 1.0, 1.0, 0.0], &[0.5, 0.3, 0.2]),
            vec![
                (0.1, vec![0.016259065087460715, 0.014657184784472064, 0.009819833368455985]),
                (1.0, vec![0.13262428247807515, 0.1210795458919648, 0.08441001505533816]),
                (10.0, vec![0.4236751139137208, 0.4029929425278806, 0.34360904966758116]),
                (100.0, vec![0.4944631506479521, 0.48871039032319863, 0.4803552042726864]),
                (10000.0, vec![0.4999499417152575, 0.4998833749578973, 0.49980003335555695]),
                (1000000.0, vec![0.4999994999941667, 0.4999988333375, 0.49999800000333333]),
            ],
        ),
        (
            "circulant",
            pool(
                4,
                &[1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
                &[0.25; 4],
            ),
            vec![
                (0.1, vec![0.006153669751790385; 4]),
                (1.0, vec![0.053925787210461804; 4]),
                (10.0, vec![0.22925001200507486; 4]),
                (100.0, vec![0.3202761920791269; 4]),
                (10000.0, vec![0.3332000266773241; 4]),
                (1000000.0, vec![0.33333200000266666; 4]),
            ],
        ),
    ]
}

fn settings(method: RungeKutta, c_max: f64) -> TrajectorySettings {
    TrajectorySettings {
        method,
        c_max,
        relative_tolerance: 1e-10,
        stop_tolerance: 0.0,
        ..TrajectorySettings::default()
    }
}

#[test]
fn trajectories_pass_through_published_points() {
    for (name, pool, points) in published() {
        for method in [RungeKutta::Dopri5, RungeKutta::Dop853] {
            for (c, expected) in &points {
                let result = integrate(&pool, &settings(method, *c));
                assert_eq!(result.status, TrajectoryStatus::ReachedC, "{name} {method:?} {c}");
                assert!(
                    approx::relative_eq!(result.c, *c, max_relative = 1e-8),
                    "{name} {method:?}: c = {}",
                    result.c
                );
                for (x, expected) in result.x.iter().zip(expected) {
                    assert!(
                        approx::abs_diff_eq!(*x, *expected, epsilon = 1e-8),
                        "{name} {method:?} c = {c}: {x} for {expected}"
                    );
                }
                // The slacks are also right, relative to their own size.
                assert!(result.error < 1e-7, "{name} {method:?} c = {c}: {:e}", result.error);
            }
        }
    }
}

/// docs/theory.md, fact 2: the trajectory tends to the Eisenberg-Gale point at a distance of about `1 / c`.
#[test]
fn trajectories_tend_to_the_limit_of_the_path() {
    for (name, pool, _) in published() {
        let limit = follow(&pool, &PathSettings::default());
        for method in [RungeKutta::Dopri5, RungeKutta::Dop853] {
            let result = integrate(&pool, &TrajectorySettings { method, ..TrajectorySettings::default() });
            assert_eq!(result.status, TrajectoryStatus::Converged, "{name}");
            let least = margin::margins(&pool, &result.x, 2e-6).into_iter().fold(f64::INFINITY, f64::min);
            assert!(least >= -2e-6, "{name} {method:?}: {least:e}");
            for (x, limit) in result.x.iter().zip(&limit.x) {
                assert!(
                    approx::abs_diff_eq!(*x, *limit, epsilon = 1e-2),
                    "{name} {method:?}: {x} for {limit}"
                );
            }
            let far = integrate(&pool, &settings(method, 1e9));
            for (x, limit) in far.x.iter().zip(&limit.x) {
                assert!(
                    approx::abs_diff_eq!(*x, *limit, epsilon = 1e-3),
                    "{name} {method:?}: {x} for {limit}"
                );
            }
        }
    }
}

#[test]
fn an_unfinished_integration_has_not_converged() {
    let (_, pool, _) = published().swap_remove(1);
    let default = TrajectorySettings::default;
    let early = integrate(&pool, &TrajectorySettings { c_max: 50.0, ..default() });
    assert_eq!(early.status, TrajectoryStatus::ReachedC);
    approx::assert_abs_diff_eq!(early.c, 50.0, epsilon = 1e-6);
    for method in [RungeKutta::Dopri5, RungeKutta::Dop853] {
        let few = integrate(&pool, &TrajectorySettings { method, max_steps: 12, ..default() });
        assert_eq!(few.status, TrajectoryStatus::MaxSteps);
        assert!(few.steps + few.rejected_steps <= 13, "{} {}", few.steps, few.rejected_steps);
        assert!(few.x.iter().all(|x| x.is_finite() && *x > 0.0));
    }
    for c_max in [0.0, -1.0, f64::NAN] {
        let nothing = integrate(&pool, &TrajectorySettings { c_max, ..default() });
        assert_eq!((nothing.status, nothing.c, nothing.steps), (TrajectoryStatus::ReachedC, 0.0, 0));
        assert_eq!(nothing.x, [0.0; 3]);
    }
    for relative_tolerance in [f64::NAN, 0.0, -1.0, 1e-40, f64::INFINITY] {
        let result =
            integrate(&pool, &TrajectorySettings { relative_tolerance, max_steps: 500, ..default() });
        if result.status == TrajectoryStatus::Converged {
            let least = margin::margins(&pool, &result.x, 2e-6).into_iter().fold(f64::INFINITY, f64::min);
            assert!(least >= -2e-6, "{relative_tolerance} {least:e}");
        }
        assert!(result.x.iter().all(|x| x.is_finite()));
    }
    let endless = TrajectorySettings { c_max: f64::INFINITY, stop_tolerance: 0.0, ..default() };
    let endless = integrate(&pool, &endless);
    assert_ne!(endless.status, TrajectoryStatus::Converged);
    assert!(endless.x.iter().all(|x| x.is_finite()));
}

#[test]
fn recorded_points_rise() {
    let (_, pool, _) = published().swap_remove(0);
    let settings = TrajectorySettings { record: true, ..TrajectorySettings::default() };
    let result = integrate(&pool, &settings);
    assert_eq!(result.points.first().map(|point| point.c), Some(0.0));
    assert_eq!(result.points.last().map(|point| &point.x), Some(&result.x));
    assert_eq!(result.points.len(), result.steps + 1);
    assert!(result.points.is_sorted_by(|a, b| a.c < b.c));
    assert!(integrate(&pool, &TrajectorySettings::default()).points.is_empty());
}

/// A user with entitlement 0 gets nothing, and the other users are not affected.
#[test]
fn a_user_without_entitlement_gets_nothing() {
    let pool = Pool::with_zero_entitlements(1, vec![1.0, 1.0], vec![1.0, 0.0], vec![1.0; 2]).unwrap();
    let result = integrate(&pool, &TrajectorySettings::default());
    assert_eq!(result.status, TrajectoryStatus::Converged);
    assert!(approx::abs_diff_eq!(result.x[0], 1.0, epsilon = 1e-5) && result.x[1] == 0.0, "{:?}", result.x);
}

/// Weights and requests of very different sizes, resources that no user requests, and no caps.
#[test]
fn solves_unusual_pools() {
    let none = f64::INFINITY;
    let pools = [
        Pool::new(1, vec![1.0], vec![1.0], vec![none]),
        Pool::new(0, vec![], vec![1.0], vec![0.5]),
        Pool::new(3, vec![0.0, 1.0, 0.0, 0.0, 0.5, 0.0], vec![1.0, 2.0], vec![1.0, none]),
        Pool::new(2, vec![1e9, 1.0, 1e-9, 1.0], vec![1.0, 1.0], vec![none; 2]),
        Pool::new(2, vec![1.0, 1.0, 1.0, 1.0], vec![1e9, 1.0], vec![1.0; 2]),
        Pool::new(2, vec![0.0, 0.0, 1.0, 1.0], vec![1.0, 1.0], vec![1.0; 2]),
    ];
    for (index, pool) in pools.into_iter().enumerate() {
        let pool = pool.unwrap();
        for method in [RungeKutta::Dopri5, RungeKutta::Dop853] {
            let result = integrate(&pool, &TrajectorySettings { method, ..TrajectorySettings::default() });
            assert_eq!(result.status, TrajectoryStatus::Converged, "{index} {method:?} {result:?}");
            assert!(result.error < 1e-4, "{index} {method:?} {result:?}");
        }
    }
}

/// A converged result is feasible and free of complaints, however rough the integration.
#[test]
fn converged_results_of_rough_integration_are_free_of_complaints() {
    let mut others = 0;
    for seed in 0..400 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (n, m) = (rng.random_range(1..30), rng.random_range(1..6));
        let requests = (0..n * m).map(|_| rng.random_range(0.001..1.0)).collect();
        let entitlements = (0..n).map(|_| rng.random_range(0.1..1.0)).collect();
        let pool = Pool::new(m, requests, entitlements, vec![rng.random_range(0.1..2.0); n]).unwrap();
        let settings = TrajectorySettings { relative_tolerance: 0.1, ..TrajectorySettings::default() };
        let result = integrate(&pool, &settings);
        if result.status == TrajectoryStatus::Converged {
            assert!(margin::slacks(&pool, &result.x).iter().all(|&slack| slack > -1e-15));
            let least = margin::margins(&pool, &result.x, 2e-6).into_iter().fold(f64::INFINITY, f64::min);
            assert!(least >= -2e-6, "{seed}: {least:e}");
        } else {
            others += 1;
            if result.status == TrajectoryStatus::LeftDomain {
                assert_eq!(result.error, f64::INFINITY);
            }
        }
    }
    assert!(others > 0, "not rough enough to show anything");
}
