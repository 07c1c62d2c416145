//! Exact equilibria of linear Fisher markets on random problems, with ties.

use evenhand_exact::axiom::proportional::gap;
use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_mechanisms::{Status, registry};
use evenhand_problem::{Arithmetic, Problem, Rational, format::Source};
use evenhand_testkit::random::pools::cluster;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

fn answer(problem: &Problem) -> Result<(), String> {
    let tdm = registry::find("ps-dsf-tdm").ok_or("there is no ps-dsf-tdm")?;
    let outcome = tdm.allocate(problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
    let instance = Instance::new(problem, &outcome.allocation).map_err(|error| error.to_string())?;
    let feasible = Claim::derive(Axiom::Feasible, &instance, &Rational::new()).map_err(|e| e.to_string())?;
    let prices = outcome.findings.prices.ok_or("no prices")?;
    let gap = gap(&instance, &Rational::from(1), None, &prices).map_err(|refusal| refusal.to_string())?;
    let is_solved = outcome.findings.status == Some(Status::Solved);
    match is_solved && feasible.holds == Some(true) && gap.is_zero() {
        true => Ok(()),
        false => Err("not an equilibrium".to_owned()),
    }
}

fn all(count: u64, mut problem: impl FnMut(&mut Pcg64Mcg) -> Problem) {
    let mut failures = Vec::new();
    for seed in 0..count {
        if let Err(why) = answer(&problem(&mut Pcg64Mcg::seed_from_u64(seed))) {
            failures.push(format!("seed {seed}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
}

#[test]
fn small_markets() {
    all(2000, |random| cluster(random, 12, 8, 4));
}

#[test]
fn markets_of_many_users() {
    all(20, |random| cluster(random, 150, 20, 3));
}

#[test]
fn a_single_server_beside_millions() {
    for (count, capacity) in [("1000000", "500000"), ("10000000000", "1"), ("1000000000000", "1")] {
        for users in [
            r#"{"name": "a", "demand": {"cpu": 2}}"#,
            r#"{"name": "a", "demand": {"cpu": 2}}, {"name": "b", "weight": 3, "demand": {"cpu": "3/7"}, "servers": ["one"]}"#,
            r#"{"name": "a", "demand": {"cpu": 2}, "tasks": 5}, {"name": "b", "demand": {"cpu": 7}, "demand_on": {"one": {"cpu": 3}}}"#,
        ] {
            let text = format!(
                r#"{{"kind": "allocation-problem", "resources": ["cpu"], "users": [{users}], "servers": [
                    {{"name": "many", "count": {count}, "capacity": {{"cpu": {capacity}}}}},
                    {{"name": "one", "capacity": {{"cpu": 5}}}}]}}"#
            );
            let problem = Source { name: "beside", text: &text }.problem().unwrap();
            assert_eq!(answer(&problem), Ok(()), "{text}");
        }
    }
}
