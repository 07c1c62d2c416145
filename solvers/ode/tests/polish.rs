//! The limit to many digits.
#![cfg(feature = "multiprecision")]

use evenhand_ode::path::{self, PathSettings, PathStatus};
use evenhand_ode::polish::{PolishError, polish};
use evenhand_ode::pool::Pool;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rug::{Float, Rational};

struct Case {
    requests: Vec<Vec<Rational>>,
    entitlements: Vec<Rational>,
    caps: Vec<Option<Rational>>,
}

impl Case {
    fn new(requests: &[&[(u32, u32)]], entitlements: &[u32]) -> Self {
        Self {
            requests: requests.iter().map(|row| row.iter().map(|&r| Rational::from(r)).collect()).collect(),
            entitlements: entitlements.iter().map(|&e| Rational::from(e)).collect(),
            caps: vec![Some(Rational::from(1)); entitlements.len()],
        }
    }

    fn pool(&self) -> Pool {
        Pool::new(
            self.requests[0].len(),
            self.requests.iter().flatten().map(Rational::to_f64).collect(),
            self.entitlements.iter().map(Rational::to_f64).collect(),
            self.caps.iter().map(|cap| cap.as_ref().map_or(f64::INFINITY, Rational::to_f64)).collect(),
        )
        .unwrap()
    }

    /// Largest violation of a capacity or of complementarity, exactly, and of stationarity.
    fn residual(&self, polished: &evenhand_ode::polish::Polished) -> Rational {
        let total: Rational = self.entitlements.iter().sum();
        let mut worst = Rational::new();
        for (j, price) in polished.prices.iter().enumerate() {
            assert!(*price >= 0);
            let usage: Rational =
                self.requests.iter().zip(&polished.x).map(|(row, x)| Rational::from(&row[j] * x)).sum();
            let slack: Rational = 1 - usage;
            worst = worst.max(Rational::from(-&slack));
            worst = worst.max((Rational::from(price / &total) * slack).abs());
        }
        for (user, x) in polished.x.iter().enumerate() {
            let q = &polished.user_prices[user];
            assert!(*q >= 0);
            let paid: Rational =
                self.requests[user].iter().zip(&polished.prices).map(|(r, p)| Rational::from(r * p)).sum();
            worst = worst.max((x * (paid + q) / &self.entitlements[user] - 1u32).abs());
            match &self.caps[user] {
                Some(cap) => {
                    assert!(x <= cap);
                    worst = worst.max(Rational::from(q / &total) * Rational::from(cap - x));
                }
                None => assert!(*q == 0),
            }
        }
        worst
    }
}

fn power_of_ten(digits: u32) -> Rational {
    Rational::from((1, rug::Integer::from(rug::Integer::u_pow_u(10, digits))))
}

/// "No Justified Complaints", section 3: three users for whom greedy fails. The limit lies in
/// Q(sqrt 2017).
#[test]
fn closed_form_to_a_thousand_digits() {
    let case = Case::new(
        &[&[(1, 2), (1, 2), (2, 3)], &[(1, 2), (5, 8), (1, 2)], &[(1, 1), (1, 1), (1, 3)]],
        &[4, 3, 1],
    );
    let start = path::follow(&case.pool(), &PathSettings::default());
    assert_eq!(start.status, PathStatus::Solved);
    let polished = polish(&case.requests, &case.entitlements, &case.caps, &start, 1000).unwrap();
    let root = Float::with_val(3600, 2017).sqrt();
    let expected = [
        (Float::with_val(3600, &root + 143u32)) / 192u32,
        (113u32 - Float::with_val(3600, &root)) / 112u32,
        (Float::with_val(3600, &root - 1u32)) / 336u32,
    ];
    let bound = Float::with_val(64, Float::u_pow_u(10, 999)).recip();
    for (x, expected) in polished.x.iter().zip(&expected) {
        let error = Float::with_val(3600, expected - x).abs();
        assert!(error < bound, "off by {error:.3e}");
    }
    assert!(case.residual(&polished) < power_of_ten(1000));
}

#[test]
fn random_pools() {
    let mut rng = Pcg64::seed_from_u64(5);
    for round in 0..40 {
        let (n, m) = (rng.random_range(1..25), rng.random_range(1..6));
        let requests: Vec<Vec<Rational>> = (0..n)
            .map(|_| {
                let certain = rng.random_range(0..m);
                (0..m)
                    .map(|j| {
                        let some = j == certain || rng.random_bool(0.6);
                        Rational::from((if some { rng.random_range(1..60) } else { 0 }, 60))
                    })
                    .collect()
            })
            .collect();
        let entitlements = (0..n).map(|_| Rational::from(rng.random_range(1..9))).collect();
        let cap = |_| (round % 2 == 0).then(|| Rational::from((1, 3)));
        let case = Case { requests, entitlements, caps: (0..n).map(cap).collect() };
        let start = path::follow(&case.pool(), &PathSettings::default());
        assert_eq!(start.status, PathStatus::Solved);
        let polished = polish(&case.requests, &case.entitlements, &case.caps, &start, 80).unwrap();
        assert!(case.residual(&polished) < power_of_ten(80));
        for (x, polished) in start.x.iter().zip(&polished.x) {
            let relative = (x / polished.to_f64() - 1.0).abs();
            assert!(relative < 1e-13, "double precision is off by {relative:e}");
        }
    }
}

/// Double precision on a larger pool, against the truth.
#[test]
fn many_users() {
    let mut rng = Pcg64::seed_from_u64(8);
    let (n, m) = (2000, 8);
    let requests =
        (0..n).map(|_| (0..m).map(|_| Rational::from((rng.random_range(0..1000), 1000))).collect()).collect();
    let entitlements = (0..n).map(|_| Rational::from(rng.random_range(1..9))).collect();
    let caps = (0..n).map(|_| Some(Rational::from((1, 800)))).collect();
    let case = Case { requests, entitlements, caps };
    let start = path::follow(&case.pool(), &PathSettings::default());
    assert_eq!(start.status, PathStatus::Solved);
    let polished = polish(&case.requests, &case.entitlements, &case.caps, &start, 40).unwrap();
    for (x, polished) in start.x.iter().zip(&polished.x) {
        let relative = (x / polished.to_f64() - 1.0).abs();
        assert!(relative < 1e-13, "double precision is off by {relative:e}");
    }
}

/// Equal resources: prices are not unique, allocations are.
#[test]
fn dependent_bottlenecks() {
    let case = Case::new(&[&[(1, 1), (1, 1), (1, 2)], &[(1, 2), (1, 2), (1, 1)]], &[2, 1]);
    let start = path::follow(&case.pool(), &PathSettings::default());
    let polished = polish(&case.requests, &case.entitlements, &case.caps, &start, 200).unwrap();
    assert!(case.residual(&polished) < power_of_ten(200));
}

/// A resource that is used up at price 0.
#[test]
fn used_up_for_nothing() {
    let case = Case::new(&[&[(1, 1), (1, 2)], &[(1, 1), (1, 2)], &[(0, 1), (1, 2)]], &[1, 1, 1]);
    let start = path::follow(&case.pool(), &PathSettings::default());
    let polished = polish(&case.requests, &case.entitlements, &case.caps, &start, 60).unwrap();
    for (x, expected) in polished.x.iter().zip([(1, 2), (1, 2), (1, 1)]) {
        assert!((x - Rational::from(expected)).abs() < power_of_ten(60));
    }
}

#[test]
fn wrong_start_and_wrong_input() {
    let case = Case::new(&[&[(1, 1), (1, 2)], &[(1, 3), (1, 1)]], &[1, 1]);
    let start = path::follow(&case.pool(), &PathSettings::default());
    let at = |digits| polish(&case.requests, &case.entitlements, &case.caps, &start, digits);
    assert_eq!(at(0), Err(PolishError::Digits(0)));
    assert!(at(50).is_ok());
    let mut far = start.clone();
    far.prices.fill(1e-9);
    match polish(&case.requests, &case.entitlements, &case.caps, &far, 50) {
        Ok(polished) => assert!(case.residual(&polished) < power_of_ten(50)),
        Err(error) => assert!(matches!(error, PolishError::NoConvergence { .. }), "{error}"),
    }
    far.prices.pop();
    assert!(matches!(
        polish(&case.requests, &case.entitlements, &case.caps, &far, 50),
        Err(PolishError::Length { what: "requests", .. })
    ));
}
