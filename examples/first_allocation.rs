//! The library example of the README: a problem from a file, solved, certified, and checked by the kernel.

use evenhand::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("examples/two-servers.json")?;
    let problem = Source { name: "two-servers.json", text: &text }.problem()?;
    let outcome = registry::find("drfh").expect("a mechanism").allocate(&problem, Arithmetic::Exact)?;
    let requests = default_requests(&problem, &outcome.allocation);
    let found = certify(&problem, &outcome.allocation, &requests, &Rational::new())?;
    let file = File { name: "certificate".into(), text: found.certificate.to_json() };
    let report = check(&file, &CheckOptions::default()).map_err(|unusable| unusable.what)?;
    println!("tasks {:?}, refused: {:?}", outcome.allocation.totals(), report.reason);
    Ok(())
}
