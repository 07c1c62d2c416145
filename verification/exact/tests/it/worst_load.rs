//! Tests of worst-load certificates. Certificates of small instances, computed by enumeration, are accepted and hold
//! for random loads. In the test kit, the rejected certificates are well-formed and wrong, and the malformed
//! certificates cannot be read. Damaged certificates are refused unless they are still true.

use evenhand_exact::ratio::worst_load::{WorstLoadCertificate, is_worst_load_certificate};
use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::{Rational, Reservation};
use evenhand_testkit::agreement::{Finding, agreed, agreed_text};
use evenhand_testkit::build::ratio::Method;
use evenhand_testkit::build::{ratio as build, worst_load as worst};
use evenhand_testkit::certificates::{Fixture, Kind, accepted_of, malformed_of, rejected_of};
use evenhand_testkit::damage::damage;
use evenhand_testkit::plain::{ratio as plain, worst_load as worst_plain};
use evenhand_testkit::random::reservations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

fn parse(text: &str) -> Result<WorstLoadCertificate, FormatError> {
    WorstLoadCertificate::parse(&Source { name: "certificate", text })
}

fn accept(what: &str, certificate: &WorstLoadCertificate) {
    let verdict = agreed(certificate);
    assert!(verdict.valid, "{what}: {:?}\n{}", verdict.reason, certificate.to_json());
    assert_eq!(verdict.claims, certificate.claims().len());
}

/// Returns the example of the introduction, without loads.
fn introduction() -> Reservation {
    reservations::intro(&[Rational::new(), Rational::new(), Rational::new()])
}

fn one_pool(rng: &mut Pcg64) -> Reservation {
    loop {
        let problem = reservations::random(rng);
        if problem.n_pools() == 1 {
            return problem;
        }
    }
}

#[test]
fn accepted_certificates_are_valid() {
    for Fixture { name, text, .. } in accepted_of(Kind::WorstLoad) {
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        accept(&name, &certificate);
        assert_eq!(worst_plain::is_true(&certificate), Some(true));
        assert!(is_worst_load_certificate(&Source { name: "c", text: &text }));
        assert_eq!(parse(&certificate.to_json()).unwrap(), certificate);
    }
}

#[test]
fn rejected_certificates_are_refused() {
    for Fixture { name, text, message, .. } in rejected_of(Kind::WorstLoad) {
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let reason = agreed(&certificate).reason.unwrap_or_else(|| panic!("{name} is accepted"));
        assert!(reason.contains(&message), "{name}: {reason}");
        assert_ne!(worst_plain::is_true(&certificate), Some(true), "{name}");
    }
}

#[test]
fn malformed_certificates_are_unusable() {
    for Fixture { name, text, message, .. } in malformed_of(Kind::WorstLoad) {
        let Err(error) = parse(&text) else { panic!("{name} is read") };
        assert!(error.to_string().contains(&message), "{name}: {error}");
        assert_eq!(agreed_text(&text).status(), 2, "{name}");
    }
}

/// The ratio is the same with and without pruning, and by trees and by tables. No random loads have a smaller ratio.
#[test]
fn random_instances_agree_with_and_without_pruning() {
    let mut rng = Pcg64::seed_from_u64(8);
    let (mut below_one, mut nothing, mut tight) = (0, 0, 0);
    for case in 0..70 {
        let problem = one_pool(&mut rng);
        let pruned = worst::certificate(&problem, Method::Trees, true);
        let complete = worst::certificate(&problem, Method::Tables, false);
        for certificate in [&pruned, &complete] {
            accept(&format!("{case}"), certificate);
            assert_eq!(worst_plain::is_true(certificate), Some(true));
            assert_eq!(parse(&certificate.to_json()).unwrap(), *certificate);
        }
        assert_eq!(pruned.ratio_lower, complete.ratio_lower);
        assert_eq!(pruned.ratio_lower, pruned.ratio_upper);
        assert!(pruned.claims.len() <= complete.claims.len());
        let Some(lower) = &pruned.ratio_lower else {
            nothing += 1;
            continue;
        };
        below_one += usize::from(*lower < 1);
        for _ in 0..8 {
            let near = rng.random_bool(0.5);
            let load = |(j, worst): (usize, &Rational)| {
                let part = Rational::from((rng.random_range(0..13), 12));
                if near { worst * (part / 2u32 + Rational::from((3, 4))) } else { part * problem.most(0, j) }
            };
            let loads: Vec<Rational> = pruned.loads.iter().enumerate().map(load).collect();
            let there = build::certificate(&worst::with_loads(&problem, &loads), Method::Tables);
            let Some(ratio) = there.ratio else { continue };
            assert!(ratio >= *lower, "{case}: {loads:?}: {ratio} < {lower}");
            tight += usize::from(ratio < 1);
        }
    }
    println!("{below_one} of 70 below 1, {nothing} without rewards, {tight} loads below 1");
    assert!(below_one > 10 && nothing > 0 && tight > 30);
}

/// A ratio that is too high cannot be proven, neither by its own claims nor by the claims of a higher ratio.
#[test]
fn a_higher_ratio_is_refused() {
    let mut rng = Pcg64::seed_from_u64(9);
    let mut refused = 0;
    while refused < 40 {
        let mut certificate = worst::certificate(&one_pool(&mut rng), Method::Tables, true);
        let Some(lower) = certificate.ratio_lower.clone().filter(|lower| *lower < 1) else { continue };
        certificate.ratio_lower = Some(&lower + Rational::from((1, 1_000_000)));
        assert!(agreed(&certificate).reason.unwrap().contains("claims: "));
        certificate.ratio_lower = Some(&lower - Rational::from((1, 1_000_000)));
        accept("a weaker claim", &certificate);
        refused += 1;
    }
}

#[test]
fn every_damaged_certificate_is_refused_or_still_true() {
    let mut rng = Pcg64::seed_from_u64(18);
    let mut good = vec![worst::certificate(&introduction(), Method::Trees, true)];
    while good.len() < 30 {
        let problem = one_pool(&mut rng);
        if plain::configurations(&problem).unwrap()[0].len() < 60 {
            let method = if rng.random_bool(0.7) { Method::Trees } else { Method::Tables };
            good.push(worst::certificate(&problem, method, rng.random_bool(0.7)));
        }
    }
    let (mut refused, mut malformed, mut still_true, mut too_large) = (0, 0, 0, 0);
    for good in good {
        let document: Value = serde_json::from_str(&good.to_json()).unwrap();
        for _ in 0..300 {
            let mut damaged = document.clone();
            let what = damage(&mut damaged, &mut rng);
            let text = damaged.to_string();
            let found = agreed_text(&text);
            let Ok(certificate) = parse(&text) else {
                malformed += 1;
                continue;
            };
            match worst_plain::is_true(&certificate) {
                None => too_large += 1,
                Some(truth) => {
                    assert_eq!(found == Finding::Accepted, truth, "{what}: {found:?}\n{damaged}");
                    if truth { still_true += 1 } else { refused += 1 }
                }
            }
        }
    }
    println!("{refused} refused, {malformed} malformed, {still_true} still true, {too_large} too large");
    assert!(refused > 2_000 && malformed > 500 && still_true > 200 && too_large < 300);
}

/// A certificate that is built by hand may have any shape. Writing it never panics. The text may then be another
/// certificate, which may be true.
#[test]
fn certificates_of_any_shape_never_panic() {
    let good = worst::certificate(&introduction(), Method::Trees, true);
    let refused = |change: &dyn Fn(&mut WorstLoadCertificate)| {
        let mut bad = good.clone();
        change(&mut bad);
        let _ = agreed_text(&bad.to_json());
    };
    refused(&|c| c.loads.truncate(1));
    refused(&|c| c.optimum.served.clear());
    refused(&|c| c.greedy.steps[0].pool = 1);
    refused(&|c| c.firsts[0].open.push(9));
    refused(&|c| c.firsts[0].open.reverse());
    refused(&|c| c.firsts[0].configuration.push((9, 1)));
    refused(&|c| c.claims[0].order.push(9));
    refused(&|c| c.claims[0].prices.server.clear());
    refused(&|c| c.claims[0].prices.slot.clear());
    refused(&|c| c.claims[0].prices.load.push(Rational::new()));
}

/// A file cannot make the reader allocate more zeros than the length of the file allows.
#[test]
fn prices_are_bounded() {
    let n = 6_000;
    let jobs: Vec<String> = (0..n).map(|j| format!("{{\"name\": \"{j}\"}}")).collect();
    let all: Vec<String> = (0..n).map(|j| format!("\"{j}\": 1")).collect();
    let claim = r#"{"order": [], "covers": "all", "prices": {"load": {}, "slot": {}, "server": {}},
        "pricing": {"method": "listed"}}"#;
    let text = |claims: usize| {
        format!(
            r#"{{"kind": "worst-load-certificate", "version": 1, "problem": {{"kind": "reservation-problem",
            "jobs": [{}], "configurations": [{{{}}}]}}, "ratio_lower": null, "ratio_upper": null, "loads": {{}},
            "greedy": {{"reward": 0, "steps": []}}, "firsts": [], "claims": [{}],
            "optimum": {{"reward": 0, "assignment": [], "served": {{}}}}}}"#,
            jobs.join(", "),
            all.join(", "),
            vec![claim; claims].join(", ")
        )
    };
    assert_eq!(agreed(&parse(&text(0)).unwrap()).reason, None);
    assert!(
        agreed(&parse(&text(3)).unwrap()).reason.unwrap().contains("expected no ratios, loads or claims")
    );
    assert!(parse(&text(1_000)).unwrap_err().to_string().contains("more prices"));
}

/// Writes the files in `accept`: `cargo test -p evenhand-exact --test it worst_load -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_accept() {
    let write = |name: &str, certificate: &WorstLoadCertificate| {
        std::fs::write(
            Kind::WorstLoad.folder().join("accept").join(name).with_extension("json"),
            certificate.to_json(),
        )
        .unwrap();
    };
    write("introduction", &worst::certificate(&introduction(), Method::Trees, false));
    write("appendix-c-4", &worst::certificate(&reservations::appendix_c(4), Method::Trees, true));
    let mut rng = Pcg64::seed_from_u64(2);
    let mut wanted = vec!["nothing", "listed", "random"];
    while let Some(name) = wanted.last() {
        let problem = one_pool(&mut rng);
        let listed = problem.configurations().is_some();
        let certificate = worst::certificate(&problem, Method::Trees, true);
        let below_one = certificate.ratio_lower.as_ref().is_some_and(|lower| *lower < 1);
        let fits = match *name {
            "nothing" => certificate.ratio_lower.is_none(),
            "listed" => listed && below_one,
            _ => !listed && below_one && certificate.claims.len() > 4,
        };
        if fits {
            write(name, &certificate);
            wanted.pop();
        }
    }
}
