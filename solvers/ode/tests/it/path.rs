//! Tests of the limit of the path: its optimality conditions on random pools, and changes of the settings that must not
//! change the limit.

use evenhand_ode::margin;
use evenhand_ode::path::{BarrierWeights, PathResult, PathSettings, PathStatus, follow};
use evenhand_ode::pool::Pool;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The kind of difficulty of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Dense,
    Sparse,
    /// Requests take only three values.
    Tied,
    /// The second half of the resources repeats the first.
    Repeated,
    /// One resource is the mean of two others, up to 1e-9.
    NearlyDependent,
    BadRows,
    BadColumns,
    BadEntries,
    BadWeights,
    /// Almost every user can have its whole request.
    NearlyEnough,
}

const KINDS: [Kind; 10] = [
    Kind::Dense,
    Kind::Sparse,
    Kind::Tied,
    Kind::Repeated,
    Kind::NearlyDependent,
    Kind::BadRows,
    Kind::BadColumns,
    Kind::BadEntries,
    Kind::BadWeights,
    Kind::NearlyEnough,
];

#[derive(Debug, Clone, Copy)]
enum Caps {
    One,
    None,
    Mixed,
}

fn pool(kind: Kind, caps: Caps, n: usize, m: usize, seed: u64) -> Pool {
    let mut rng = Pcg64::seed_from_u64(seed);
    let wide = |rng: &mut Pcg64| 10f64.powf(rng.random_range(-4.5..4.5));
    let columns: Vec<f64> =
        (0..m).map(|_| if kind == Kind::BadColumns { wide(&mut rng) } else { 1.0 }).collect();
    let mut requests = Vec::with_capacity(n * m);
    for _ in 0..n {
        let certain = rng.random_range(0..m);
        let row_scale = match kind {
            Kind::BadRows => wide(&mut rng),
            Kind::NearlyEnough => 2.02 / n as f64,
            _ => 1.0,
        };
        let start = requests.len();
        for (j, column) in columns.iter().enumerate() {
            let asks = j == certain || kind != Kind::Sparse || rng.random_bool(0.3);
            let size = match kind {
                Kind::Tied => f64::from(rng.random_range(1..4)) / 3.0,
                Kind::BadEntries => wide(&mut rng),
                _ => rng.random_range(0.001..1.0),
            };
            requests.push(if asks { size * column * row_scale } else { 0.0 });
        }
        let row = &mut requests[start..];
        match kind {
            Kind::Repeated => row.copy_within(0..m / 2, m - m / 2),
            Kind::NearlyDependent if m > 2 => {
                row[2] = (row[0] + row[1]) / 2.0 * (1.0 + 1e-9 * rng.random_range(-1.0..1.0));
            }
            _ => {}
        }
    }
    let entitlements = (0..n)
        .map(|_| if kind == Kind::BadWeights { wide(&mut rng) } else { rng.random_range(0.1..1.0) })
        .collect();
    let caps = (0..n)
        .map(|_| match caps {
            Caps::One => 1.0,
            Caps::None => f64::INFINITY,
            Caps::Mixed => [1.0, f64::INFINITY, rng.random_range(0.01..3.0)][rng.random_range(0..3)],
        })
        .collect();
    Pool::new(m, requests, entitlements, caps).unwrap()
}

/// Returns the largest violation of the optimality conditions. It is computed from the definition, without code of the
/// solver.
fn violation(pool: &Pool, result: &PathResult) -> f64 {
    let total = pool.total_entitlement();
    let mut worst = 0.0_f64;
    for (slack, price) in margin::slacks(pool, &result.x).into_iter().zip(&result.prices) {
        assert!(*price >= 0.0);
        worst = worst.max(-slack).max((price / total * slack).abs());
    }
    for (user, (&x, &q)) in result.x.iter().zip(&result.user_prices).enumerate() {
        let cap = pool.caps()[user];
        assert!(q >= 0.0 && x >= 0.0 && x <= cap && x.is_finite());
        if q > 0.0 {
            worst = worst.max(q / total * (cap - x));
        }
        let paid: f64 = pool.request_row(user).iter().zip(&result.prices).map(|(r, p)| r * p).sum();
        worst = worst.max((x * (paid + q) / pool.entitlements()[user] - 1.0).abs());
    }
    worst
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
}

/// Generates the arguments of [`pool`], so that a failure prints no long vectors.
fn any_pool() -> impl Strategy<Value = (Kind, Caps, usize, usize, u64)> {
    let caps = prop_oneof![Just(Caps::One), Just(Caps::None), Just(Caps::Mixed)];
    (proptest::sample::select(KINDS.to_vec()), caps, 1..120_usize, 1..12_usize, any::<u64>())
}

/// Returns the settings for a kind. If resources depend on each other up to 1e-9, rounding hides
/// which of them are bottlenecks.
fn settings(kind: Kind) -> PathSettings {
    let tolerance = if kind == Kind::NearlyDependent { 1e-9 } else { 1e-14 };
    PathSettings { tolerance, ..PathSettings::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn answers_are_optimal((kind, caps, n, m, seed) in any_pool()) {
        let pool = pool(kind, caps, n, m, seed);
        let settings = settings(kind);
        let result = follow(&pool, &settings);
        prop_assert_eq!(result.status, PathStatus::Solved, "{:e} after {}", result.residual, result.iterations);
        prop_assert!(violation(&pool, &result) <= settings.tolerance + 1e-14);
        // Fact 1: no user has a justified complaint.
        let near = if kind == Kind::NearlyDependent { 1e-6 } else { 1e-11 };
        let least = margin::margins(&pool, &result.x, near).into_iter().fold(f64::INFINITY, f64::min);
        prop_assert!(least >= -10.0 * near, "margin {:e}", least);
    }

    #[test]
    fn barrier_weights_do_not_move_the_limit((kind, caps, n, m, seed) in any_pool()) {
        let pool = pool(kind, caps, n, m, seed);
        let mut rng = Pcg64::seed_from_u64(seed);
        let weights = (0..m).map(|_| 10f64.powf(rng.random_range(-1.5..1.5))).collect();
        let barrier = BarrierWeights::new(weights, 10f64.powf(rng.random_range(-1.5..1.5))).unwrap();
        let weighted = follow(&pool, &PathSettings { barrier, ..settings(kind) });
        let plain = follow(&pool, &settings(kind));
        prop_assert_eq!(weighted.status, PathStatus::Solved, "{:e}", weighted.residual);
        let difference = largest_difference(&weighted.x, &plain.x);
        let bound = match kind {
            Kind::NearlyDependent => 1e-4,
            Kind::BadWeights | Kind::NearlyEnough => 1e-11,
            _ => 1e-13,
        };
        prop_assert!(difference < bound, "{:e}", difference);
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let pool = pool(Kind::Sparse, Caps::One, 20_000, 6, 3);
    let with = |threads| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| follow(&pool, &PathSettings::default()))
    };
    let one = with(1);
    assert_eq!(one.status, PathStatus::Solved);
    for threads in [2, 3, 7] {
        assert_eq!(one, with(threads));
    }
}

/// Many users: few, most or none of them are at their caps.
#[test]
fn solves_many_users_with_and_without_caps() {
    for (n, cap) in [(30_000, 1.0), (30_000, 4.0 / 30_000.0), (100_000, f64::INFINITY)] {
        let mut rng = Pcg64::seed_from_u64(n);
        let requests: Vec<f64> =
            (0..n * 8).map(|_| rng.random_range(0.0..1.0)).map(|r| if r < 0.001 { 0.0 } else { r }).collect();
        let n = n as usize;
        let entitlements = (0..n).map(|_| rng.random_range(0.5..2.0)).collect();
        let pool = Pool::new(8, requests, entitlements, vec![cap; n]).unwrap();
        let result = follow(&pool, &PathSettings::default());
        assert_eq!(result.status, PathStatus::Solved);
        assert!(violation(&pool, &result) < 1e-13);
    }
}
