//! Tests that the kernel gives the expected verdict for every certificate of the test kit.

use evenhand_check::{File, Options, Report, Unusable, check};
use evenhand_testkit::certificates::{Fixture, Kind, accepted, malformed, rejected, unread};

/// Returns the verdict of the kernel. The options of the reader allow the sharing and the tolerance of every fixture.
fn verdict_on(fixture: &Fixture) -> Result<Report, Unusable> {
    let mut options = Options::default();
    if fixture.kind == Kind::Allocation {
        let is_tdm = fixture.text.replace(' ', "").contains("\"sharing\":\"tdm\"");
        options.sharing = Some(if is_tdm { "tdm" } else { "rdm" }.to_owned());
        options.max_tolerance = Some("0.999999".to_owned());
    }
    check(&File { name: fixture.name.clone(), text: fixture.text.clone() }, &options)
}

#[test]
fn true_certificates_are_accepted() {
    for fixture in accepted().into_iter().chain(unread()) {
        let reason = verdict_on(&fixture).map(|report| report.reason);
        assert_eq!(reason, Ok(None), "{}", fixture.name);
    }
}

#[test]
fn false_certificates_are_refused() {
    let mut bad = Vec::new();
    for fixture in rejected() {
        match verdict_on(&fixture) {
            Ok(report) if report.reason.is_some() => {}
            other => bad.push(format!("{:?} {}: {:?}", fixture.kind, fixture.name, other.map(|r| r.reason))),
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn malformed_certificates_are_unusable() {
    let mut bad = Vec::new();
    for fixture in malformed() {
        match verdict_on(&fixture) {
            Err(u) if u.status == 2 => {}
            other => bad.push(format!("{:?} {}: {:?}", fixture.kind, fixture.name, other.map(|r| r.reason))),
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
