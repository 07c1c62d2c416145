//! Tests that damage valid certificates at random. Each damaged certificate is then refused, or its statements are
//! still true, as a second, plain checker confirms.

use evenhand_exact::Certificate;
use evenhand_problem::format::Source;
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::damage::{damage, damaged_text};
use evenhand_testkit::examples::good_certificates;
use evenhand_testkit::plain;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

/// Returns true if the plain checker agrees with the two other checkers. It computes margins with roots only to 40
/// digits, so a difference in later digits is not judged.
fn agree(found: &Finding, truth: bool) -> bool {
    let digit = "claim `proportional`: the margin is stated as";
    (*found == Finding::Accepted) == truth
        || truth && found.reason().is_some_and(|why| why.starts_with(digit))
}

#[test]
fn the_plain_checker_accepts_good_certificates() {
    for (name, certificate) in good_certificates() {
        assert_eq!(plain::fault(&certificate), None, "{name}");
    }
}

#[test]
fn every_damaged_certificate_is_refused_or_still_true() {
    let (mut refused, mut malformed, mut true_still) = (0, 0, 0);
    for (seed, (name, good)) in (1u64..).zip(good_certificates()) {
        let document: Value = serde_json::from_str(&good.to_json()).unwrap();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..600 {
            let mut damaged = document.clone();
            let mut what = damage(&mut damaged, &mut rng);
            if rng.random_bool(0.2) {
                what = format!("{what}; {}", damage(&mut damaged, &mut rng));
            }
            let text = damaged.to_string();
            let found = agreed_text(&text);
            let Ok(certificate) = Certificate::parse(&Source { name: "damaged", text: &text }) else {
                malformed += 1;
                continue;
            };
            let truth = plain::is_true(&certificate);
            assert!(agree(&found, truth), "{name}: {what}: {found:?}\n{text}");
            if truth {
                true_still += 1;
            } else {
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {malformed} malformed, {true_still} still true");
    assert!(refused > 1_000 && malformed > 100 && true_still > 10);
}

/// Bytes are changed, dropped or doubled. The reader never panics on the result.
#[test]
fn damaged_text_never_panics() {
    for (seed, (_, good)) in (10u64..).zip(good_certificates()) {
        let text = good.to_json();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..500 {
            let text = damaged_text(&text, &mut rng);
            let found = agreed_text(&text);
            if let Ok(certificate) = Certificate::parse(&Source { name: "damaged", text: &text }) {
                assert!(agree(&found, plain::is_true(&certificate)), "{found:?}\n{text}");
            }
        }
    }
}
