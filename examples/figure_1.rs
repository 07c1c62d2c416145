//! Two servers, two users: DRFH gives 10 tasks each and proves it (DRFH, Figures 1 and 3).
//!
//! `cargo run --release -p evenhand-examples --bin figure_1`

use std::error::Error;

use evenhand::certify::default_requests;
use evenhand::mechanisms::registry;
use evenhand::problem::{Arithmetic, Rational, format::Source};
use evenhand::{certify, exact, report};

fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("two-servers.json");
    let problem = Source { name: "two-servers.json", text }.problem()?;

    let drfh = registry::find("drfh").ok_or("no such mechanism")?;
    let outcome = drfh.allocate(&problem, Arithmetic::Exact)?;
    let allocation = &outcome.allocation;
    assert_eq!(allocation.totals(), [10, 10]);
    print!("{}", report::outcome(&problem, &outcome));

    let requests = default_requests(&problem, allocation);
    let examination = certify(&problem, allocation, &requests, &Rational::new())?;
    print!("\n{}", report::examination(&examination));
    assert!(exact::check(&examination.certificate).valid);
    Ok(())
}
