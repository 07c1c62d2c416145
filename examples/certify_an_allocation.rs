//! Certifies an allocation of another program, which rounds, and has the kernel check the certificate. With one task more, the
//! kernel refuses it.
//!
//! `cargo run --release -p evenhand-examples --bin certify_an_allocation`

use std::error::Error;

use evenhand::certify::default_tolerance;
use evenhand::prelude::*;

/// The allocation of DRFH, Figure 3, as a solver in doubles states it. It exceeds one server by a trillionth.
const ROUNDED: &str = r#"{"kind": "allocation", "mechanism": "drfh",
    "tasks": {"user 1": {"high-memory": 10.000000000001}, "user 2": {"high-cpu": 9.999999999999}}}"#;

fn checked(text: String) -> Result<Option<String>, Box<dyn Error>> {
    let file = File { name: "certificate".to_owned(), text };
    let asked = CheckOptions { require: vec!["max-min:drfh".to_owned()], ..CheckOptions::default() };
    let report = check(&file, &asked).map_err(|unusable| unusable.what)?;
    println!("{}\n", report.text());
    Ok(report.reason)
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("two-servers.json");
    let problem = Source { name: "two-servers.json", text }.problem()?;
    let stated = Source { name: "rounded.json", text: ROUNDED }.allocation(&problem)?;

    let requests = default_requests(&problem, &stated.allocation);
    let examination = certify(&problem, &stated.allocation, &requests, &default_tolerance(&stated))?;
    let mut certificate = examination.certificate;
    assert_eq!(checked(certificate.to_json())?, None);

    certificate.allocation.tasks[0][0].1 += 1;
    assert!(checked(certificate.to_json())?.is_some());
    Ok(())
}
