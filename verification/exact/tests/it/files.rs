//! Tests of the certificates of the test kit that are about allocations. The accepted certificates are valid, the
//! rejected certificates are well-formed and false, and the malformed certificates cannot be read.

use evenhand_exact::Certificate;
use evenhand_problem::format::Source;
use evenhand_testkit::agreement::{Finding, agreed, agreed_text};
use evenhand_testkit::certificates::{Kind, accepted_of, malformed_of, rejected_of, unread, with_claims};
use evenhand_testkit::examples;

fn parse(text: &str) -> Result<Certificate, evenhand_problem::format::FormatError> {
    Certificate::parse(&Source { name: "certificate", text })
}

#[test]
fn accepted_files_are_valid() {
    let mut files = Vec::new();
    for case in accepted_of(Kind::Allocation) {
        let certificate = parse(&case.text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let verdict = agreed(&certificate);
        assert!(verdict.valid, "{}: {:?}", case.name, verdict.reason);
        files.push((case.name, case.text));
    }
    let good = examples::good_certificates().into_iter();
    let mut good: Vec<_> = good.map(|(name, it)| (name.to_owned(), it.to_json())).collect();
    good.sort();
    assert!(files == good, "the files are not those that `write_accept` writes");
}

#[test]
fn unread_fields_may_have_any_value() {
    for case in unread() {
        assert_eq!(agreed_text(&case.text), Finding::Accepted, "{}", case.name);
    }
}

#[test]
fn rejected_files_are_refused() {
    let mut wrong = Vec::new();
    for case in rejected_of(Kind::Allocation) {
        match parse(&case.text).map(|certificate| agreed(&certificate)) {
            Ok(verdict) if verdict.reason.as_ref().is_some_and(|reason| reason.contains(&case.message)) => {
                assert!(!verdict.valid && !verdict.too_large, "{}", case.name);
            }
            found => wrong.push(format!("{}: {:?}", case.name, found.map(|verdict| verdict.reason))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn malformed_files_are_unusable() {
    let mut wrong = Vec::new();
    for case in malformed_of(Kind::Allocation) {
        assert_eq!(agreed_text(&case.text).status(), 2, "{}", case.name);
        match parse(&case.text) {
            Err(error) if error.to_string().contains(&case.message) => {}
            found => {
                wrong.push(format!("{}: {:?}", case.name, found.map_err(|error| error.to_string()).err()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn thirty_two_claims_of_proportional_are_read() {
    let good = &accepted_of(Kind::Allocation)[0].text;
    assert!(parse(&with_claims(good, 32)).is_ok());
}

/// Writes the folder `accept` again: `cargo test --release -p evenhand-exact --test it files -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_accept() {
    let folder = Kind::Allocation.folder().join("accept");
    for (name, certificate) in examples::good_certificates() {
        std::fs::write(folder.join(name).with_extension("json"), certificate.to_json()).unwrap();
    }
}
