//! Tests of unusual input: numbers that do not define a pool, and extreme pools.

use evenhand_ode::path::{BarrierWeights, PathSettings, PathStatus, follow};
use evenhand_ode::pool::{Pool, PoolError};

const NONE: f64 = f64::INFINITY;

/// Returns the result of building a pool of two users and two resources after `change` has changed its numbers.
fn changed(change: impl Fn(&mut [f64], &mut [f64], &mut [f64])) -> Result<Pool, PoolError> {
    let mut requests = vec![1.0, 0.5, 0.25, 1.0];
    let (mut entitlements, mut caps) = (vec![1.0, 2.0], vec![1.0, NONE]);
    change(&mut requests, &mut entitlements, &mut caps);
    Pool::new(2, requests, entitlements, caps)
}

#[test]
fn refuses_wrong_pools() {
    assert!(changed(|_, _, _| ()).is_ok());
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e61, 1e-61] {
        let request = changed(|r, _, _| r[2] = bad);
        assert!(matches!(request, Err(PoolError::Request { user: 1, resource: 0, .. })), "{bad}");
        let entitlement = changed(|_, e, _| e[1] = bad);
        assert!(bad == 1e61 || matches!(entitlement, Err(PoolError::Entitlement { user: 1, .. })), "{bad}");
        let cap = changed(|_, _, c| c[0] = bad);
        assert!(bad == NONE || matches!(cap, Err(PoolError::Cap { user: 0, .. })), "{bad}");
    }
    assert_eq!(changed(|_, e, _| e[0] = 0.0), Err(PoolError::Entitlement { user: 0, value: 0.0 }));
    assert!(matches!(changed(|_, _, c| c[1] = 0.0), Err(PoolError::Cap { user: 1, .. })));
    assert!(matches!(changed(|_, e, _| e.fill(f64::MAX)), Err(PoolError::Entitlement { .. })));
    assert_eq!(changed(|r, _, _| r[2..].fill(0.0)), Err(PoolError::Unbounded { user: 1 }));
    assert_eq!(Pool::new(2, vec![], vec![], vec![]), Err(PoolError::NoUsers));
    let short = Pool::new(2, vec![1.0], vec![1.0], vec![1.0]);
    assert_eq!(short, Err(PoolError::Length { what: "requests", expected: 2, found: 1 }));
    let caps = Pool::new(1, vec![1.0], vec![1.0], vec![]);
    assert_eq!(caps, Err(PoolError::Length { what: "caps", expected: 1, found: 0 }));
    let nobody = Pool::with_zero_entitlements(1, vec![1.0], vec![0.0], vec![1.0]);
    assert_eq!(nobody, Err(PoolError::NoEntitlement));
    assert!(matches!(
        Pool::new(usize::MAX, vec![], vec![1.0; 2], vec![1.0; 2]),
        Err(PoolError::Length { .. })
    ));
    for bad in [0.0, -1.0, f64::NAN, NONE] {
        assert!(BarrierWeights::new(vec![1.0], bad).is_err());
        assert!(matches!(
            BarrierWeights::new(vec![1.0, bad], 1.0),
            Err(PoolError::BarrierWeight { index: 1, .. })
        ));
    }
}

/// Returns `x` of a pool that must be solved.
fn solved(m: usize, requests: &[f64], entitlements: &[f64], caps: &[f64]) -> Vec<f64> {
    let pool = Pool::new(m, requests.to_vec(), entitlements.to_vec(), caps.to_vec()).unwrap();
    let result = follow(&pool, &PathSettings::default());
    assert_eq!(result.status, PathStatus::Solved, "{result:?}");
    result.x
}

fn assert_near(x: &[f64], expected: &[f64]) {
    for (x, expected) in x.iter().zip(expected) {
        assert!(approx::relative_eq!(x, expected, max_relative = 1e-13), "{x} for {expected}");
    }
}

#[test]
fn solves_edge_cases() {
    // One user, with and without a cap, with and without resources.
    assert_near(&solved(1, &[4.0], &[3.0], &[NONE]), &[0.25]);
    assert_near(&solved(1, &[4.0], &[3.0], &[0.2]), &[0.2]);
    assert_near(&solved(0, &[], &[3.0], &[0.2]), &[0.2]);
    assert_near(&solved(2, &[0.0, 0.0], &[3.0], &[0.2]), &[0.2]);
    // The cap and the capacity bind at once.
    assert_near(&solved(1, &[2.0], &[1.0], &[0.5]), &[0.5]);
    assert_near(&solved(1, &[1.0, 1.0], &[1.0, 1.0], &[0.5, 0.5]), &[0.5, 0.5]);
    // Resources that no user requests, and users that request nothing.
    assert_near(&solved(3, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], &[1.0, 1.0], &[NONE, 1.0]), &[1.0, 1.0]);
    // Every user has its whole request.
    assert_near(&solved(1, &[0.3, 0.3], &[1.0, 5.0], &[1.0, 1.0]), &[1.0, 1.0]);
    // The same resource several times.
    assert_near(&solved(4, &[1.0; 8], &[1.0, 3.0], &[NONE; 2]), &[0.25, 0.75]);
    // A resource that is fully used at price 0.
    assert_near(&solved(2, &[1.0, 0.5, 1.0, 0.5, 0.0, 0.5], &[1.0; 3], &[1.0; 3]), &[0.5, 0.5, 1.0]);
    // Weights and requests of very different sizes.
    assert_near(&solved(1, &[1.0, 1.0], &[1e9, 1.0], &[NONE; 2]), &[1e9 / (1e9 + 1.0), 1.0 / (1e9 + 1.0)]);
    assert_near(&solved(1, &[1e9, 1e-9], &[1.0, 1.0], &[NONE; 2]), &[0.5e-9, 0.5e9]);
    assert_near(&solved(1, &[1e60, 1e-60], &[1.0, 1.0], &[NONE; 2]), &[0.5e-60, 0.5e60]);
    assert_near(&solved(1, &[1e-60, 1e-60], &[1e59, 1.0], &[1e-60, 1e60]), &[1e-60, 1e60]);
    assert_near(&solved(2, &[1.0, 1e-60, 1e-60, 1.0], &[1.0, 1.0], &[NONE; 2]), &[1.0, 1.0]);
}

#[test]
fn limits_set_the_status() {
    let pool = Pool::new(2, vec![1.0, 0.3, 0.2, 1.0, 0.7, 0.6], vec![1.0; 3], vec![1.0; 3]).unwrap();
    let none =
        follow(&pool, &PathSettings { max_iterations: 0, tolerance: 1e-30, ..PathSettings::default() });
    assert_eq!(none.status, PathStatus::Limit);
    assert!(none.x.iter().chain(&none.prices).all(|value| value.is_finite()));
    let exact = follow(&pool, &PathSettings { tolerance: -1.0, ..PathSettings::default() });
    assert_ne!(exact.status, PathStatus::Solved);
    assert!(exact.residual < 1e-14);
    let nan = follow(&pool, &PathSettings { tolerance: f64::NAN, ..PathSettings::default() });
    assert_ne!(nan.status, PathStatus::Solved);
    assert!(nan.x.iter().all(|x| x.is_finite()));
}

/// A user with entitlement 0 gets nothing.
#[test]
fn a_user_without_entitlement_gets_nothing() {
    let pool = Pool::with_zero_entitlements(1, vec![1.0, 1.0], vec![0.0, 2.0], vec![1.0; 2]).unwrap();
    let result = follow(&pool, &PathSettings::default());
    assert_eq!((result.status, result.x), (PathStatus::Solved, vec![0.0, 1.0]));
}
