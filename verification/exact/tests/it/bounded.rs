//! Tests that a small budget leads to the answer that judging is too large, and never to a wrong verdict. Inputs that
//! once took gigabytes or hours are now judged, or are too large.

use evenhand_testkit::agreement::agreed;
use evenhand_testkit::examples::{self, good_certificates};
use evenhand_testkit::q;
use std::fmt::Write;

use evenhand_exact::{
    Axiom, Budget, Certificate, Claim, Evidence, Instance, InstanceError, TooLarge, is_feasible,
};
use evenhand_problem::Rational;
use evenhand_problem::format::Source;

/// Derives a claim again with a budget of `steps` steps. Returns `None` if judging is too large.
fn derived(certificate: &Certificate, claim: &Claim, steps: u64) -> Option<Claim> {
    let budget = Budget::of(steps);
    let instance = match Instance::within(&certificate.problem, &certificate.allocation, budget) {
        Ok(instance) => instance,
        Err(error) => {
            assert!(matches!(error, InstanceError::TooLarge(_)), "{error}");
            return None;
        }
    };
    let tolerance = &certificate.tolerance;
    let found = match claim.axiom.needs_evidence() {
        true => {
            let evidence = claim.evidence.clone();
            Claim::with_evidence(claim.axiom, claim.parameters(), evidence, &instance, tolerance)
        }
        false => Claim::derive(claim.axiom, &instance, tolerance),
    };
    match found {
        Ok(found) => Some(found),
        Err(refusal) => {
            assert!(refusal.is_too_large(), "{refusal}");
            None
        }
    }
}

#[test]
fn a_small_budget_never_changes_a_verdict() {
    let mut too_large = 0;
    for (name, certificate) in good_certificates() {
        // A claim that an axiom does not apply needs no work.
        for claim in certificate.claims.iter().filter(|claim| claim.holds.is_some()) {
            let truth = derived(&certificate, claim, 10_000_000).map(|truth| (truth.holds, truth.margin));
            assert_eq!(truth, Some((claim.holds, claim.margin.clone())), "{name}");
            for steps in [0, 1, 3, 10, 30, 100, 300, 1_000, 10_000] {
                let found = derived(&certificate, claim, steps).map(|found| (found.holds, found.margin));
                assert!(found.is_none() || found == truth, "{name} with {steps} steps");
                too_large += usize::from(found.is_none());
            }
        }
    }
    assert!(too_large > 100, "{too_large}");
}

/// Returns a problem with thousands of users and resources, where each user names one resource. The memory is linear
/// in the file.
fn thousands(size: usize) -> String {
    let mut text = "{\"kind\": \"allocation-problem\", \"resources\": [".to_owned();
    (0..size).for_each(|r| write!(text, "{}\"r{r}\"", if r == 0 { "" } else { "," }).unwrap());
    text.push_str("], \"servers\": [{\"name\": \"s\", \"capacity\": {\"r0\": 1}}], \"users\": [");
    for n in 0..size {
        let comma = if n == 0 { "" } else { "," };
        write!(text, "{comma}{{\"name\": \"u{n}\", \"demand\": {{\"r{}\": 1}}}}", n % 2).unwrap();
    }
    text + "]}"
}

fn certificate_of(problem: &str, tasks: &str, claims: &str) -> Certificate {
    let text = format!(
        r#"{{"kind": "certificate", "version": 2, "problem": {problem},
        "allocation": {{"kind": "allocation", "tasks": {tasks}}}, "claims": {claims}, "not_checked": []}}"#
    );
    Certificate::parse(&Source { name: "certificate", text: &text }).unwrap()
}

#[test]
fn three_thousand_users_and_resources_are_judged() {
    let problem = thousands(3_000);
    let nothing = certificate_of(&problem, "{}", "[]");
    assert_eq!(agreed(&nothing).reason.unwrap(), "the certificate has no claims");
    let instance = Instance::new(&nothing.problem, &nothing.allocation).unwrap();
    assert!(is_feasible(&instance, &Rational::new()));
    let claims = examples::derived(&instance);
    let idle = claims.iter().find(|claim| claim.axiom == Axiom::WorkConserving).unwrap();
    assert_eq!((idle.holds, idle.margin.clone()), (Some(false), Some(q("-1"))));
    assert!(agreed(&Certificate { claims, ..nothing }).valid);
}

/// A thousand users have numbers without a common factor, and each has its own classes.
#[test]
fn envy_without_common_factors_exceeds_a_small_budget() {
    let mut users = String::new();
    let mut tasks = String::new();
    for n in 0..1_000usize {
        let comma = if n == 0 { "" } else { "," };
        // The numbers have 380 digits, and all are odd and different.
        let digits: String =
            (0..379).map(|k| char::from(b'1' + ((n * 7 + k * k * (n + 3) + k) % 9) as u8)).collect();
        let classes: Vec<String> = (0..5).map(|k| format!("\"s{}\"", (n + k) % 8)).collect();
        write!(
            users,
            "{comma}{{\"name\": \"u{n}\", \"demand\": {{\"cpu\": \"1/{digits}1\"}}, \"servers\": [{}]}}",
            classes.join(",")
        )
        .unwrap();
        write!(tasks, "{comma}\"u{n}\": {{\"s{}\": 1}}", n % 8).unwrap();
    }
    let servers: Vec<String> =
        (0..8).map(|i| format!("{{\"name\": \"s{i}\", \"capacity\": {{\"cpu\": 1}}}}")).collect();
    let problem = format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{}], "users": [{users}]}}"#,
        servers.join(",")
    );
    let claims = r#"[{"axiom": "envy-free", "holds": true, "margin": "0",
        "evidence": {"tightest": {"user": "u1", "envied": "u2"}}}]"#;
    let certificate = certificate_of(&problem, &format!("{{{tasks}}}"), claims);
    let verdict = agreed(&certificate);
    assert!(!verdict.valid);
    assert_eq!(derived(&certificate, &certificate.claims[0], 10_000_000), None);
}

/// Preparing an allocation and judging it share one budget. The error states the size of this budget.
#[test]
fn exceeding_the_budget_gives_no_verdict() {
    let (_, good) = good_certificates().swap_remove(0);
    let claim = good.claims.iter().find(|claim| claim.axiom == Axiom::MaxMin).unwrap();
    assert!(matches!(claim.evidence, Evidence::Levels(_)));
    let prepare = |steps: u64| Instance::within(&good.problem, &good.allocation, Budget::of(steps));
    assert!(matches!(prepare(0), Err(InstanceError::TooLarge(TooLarge::Work { allowed: 0 }))));
    let least = (0..10_000).find(|steps| prepare(*steps).is_ok()).unwrap();
    let instance = prepare(least).unwrap();
    let refusal =
        Claim::with_evidence(claim.axiom, claim.parameters(), claim.evidence.clone(), &instance, &q("0"));
    let refusal = refusal.unwrap_err();
    assert!(refusal.is_too_large());
    assert_eq!(
        refusal.to_string(),
        format!("too large: judging this needs more than {least} steps of work (--work raises the limit)")
    );
}
