//! Solves a linear programme exactly, has the kernel check the certificate, and judges an answer that a solver printed.
//!
//! `cargo run --release -p evenhand-examples --bin linear_programme`

use std::error::Error;

use evenhand::lp::judge::judge;
use evenhand::lp::read::read;
use evenhand::lp::solve::{Settings, Status, solve};
use evenhand::lp::{json, stated};
use evenhand::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let model = read("linear-programme.mps", include_str!("linear-programme.mps"))?;
    let answer = solve(&model, &Settings::default())?;
    let Status::Optimal(optimum) = &answer.status else { return Err("the programme has an optimum".into()) };
    println!("optimum {}, prices {:?}", optimum.objective, optimum.y);

    let certificate = json::certificate(&model, &answer).ok_or("an optimum has a certificate")?;
    let file = File { name: "certificate".to_owned(), text: certificate };
    let report = check(&file, &CheckOptions::default()).map_err(|unusable| unusable.what)?;
    println!("refused: {:?}", report.reason);

    let judgement = judge(&model, &stated::read(&model, include_str!("linear-programme.sol"))?);
    let violation = judgement.row.ok_or("this answer is slightly wrong")?;
    println!("largest violation of a row: {}", violation.by);
    assert_eq!((violation.by, report.reason), (Rational::from((3, 1_000_000_000)), None));
    Ok(())
}
