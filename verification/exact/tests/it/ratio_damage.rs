//! Valid ratio certificates are damaged at random. Each is then refused, or its statements are still true and proven,
//! as a second, plain checker confirms.

use evenhand_exact::ratio::RatioCertificate;
use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::build::ratio as build;
use evenhand_testkit::build::ratio::Method;
use evenhand_testkit::damage::{damage, damaged_text};
use evenhand_testkit::plain::ratio as plain;
use evenhand_testkit::random::reservations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

fn good() -> Vec<RatioCertificate> {
    let mut rng = Pcg64::seed_from_u64(17);
    let loads = [Rational::from((3, 5)), Rational::from((3, 10)), Rational::from((4, 5))];
    let mut good: Vec<RatioCertificate> =
        [Method::Trees, Method::Tables].map(|m| build::certificate(&reservations::intro(&loads), m)).into();
    good.extend((3..5).map(|j| build::certificate(&reservations::appendix_c(j), Method::Trees)));
    while good.len() < 40 {
        let problem = reservations::random(&mut rng);
        let few = plain::configurations(&problem).unwrap().iter().all(|all| all.len() < 60);
        if few {
            let method = if rng.random_bool(0.7) { Method::Trees } else { Method::Tables };
            good.push(build::certificate(&problem, method));
        }
    }
    good
}

#[derive(Debug, Default)]
struct Count {
    refused: usize,
    malformed: usize,
    still_true: usize,
    changed_and_true: usize,
    too_large: usize,
}

impl Count {
    /// Judges one damaged text with both checkers.
    fn judge(&mut self, good: &RatioCertificate, text: &str, what: &str) {
        let found = agreed_text(text);
        let Ok(certificate) = RatioCertificate::parse(&Source { name: "damaged", text }) else {
            self.malformed += 1;
            return;
        };
        let Some(truth) = plain::is_true(&certificate) else {
            self.too_large += 1;
            return;
        };
        assert_eq!(found == Finding::Accepted, truth, "{what}: {found:?}\n{text}");
        if !truth {
            self.refused += 1;
        } else if certificate == *good {
            self.still_true += 1;
        } else {
            self.changed_and_true += 1;
        }
    }
}

#[test]
fn every_damaged_certificate_is_refused_or_still_true() {
    let mut count = Count::default();
    for (seed, good) in (1u64..).zip(good()) {
        let document: Value = serde_json::from_str(&good.to_json()).unwrap();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..400 {
            let mut damaged = document.clone();
            let mut what = damage(&mut damaged, &mut rng);
            if rng.random_bool(0.2) {
                what = format!("{what}; {}", damage(&mut damaged, &mut rng));
            }
            count.judge(&good, &damaged.to_string(), &what);
        }
    }
    println!("{count:?}");
    assert!(count.refused > 5_000 && count.malformed > 1_000 && count.changed_and_true > 200);
    assert!(count.still_true > 100 && count.too_large < 500);
}

/// Bytes are changed, dropped or doubled. The reader never panics on the result.
#[test]
fn damaged_text_never_panics() {
    let mut count = Count::default();
    for (seed, good) in (10u64..).zip(good()) {
        let text = good.to_json();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..200 {
            count.judge(&good, &damaged_text(&text, &mut rng), "bytes");
        }
    }
    println!("{count:?}");
    assert!(count.refused > 150 && count.malformed > 5_000);
}
