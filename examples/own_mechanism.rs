//! A mechanism of one's own, judged like those that come with the engine: every user gets its own
//! part of every server, and nobody anything else.
//!
//! `cargo run --release -p evenhand-examples --bin own_mechanism`

use std::error::Error;

use evenhand::certify::default_requests;
use evenhand::exact::Parameters;
use evenhand::mechanisms::{Info, MechanismError, Options, Outcome};
use evenhand::problem::{Problem, Rational, format::Source};
use evenhand::{Allocation, Axiom, Mechanism, certify, report};

/// Everybody runs on `w_n / sum of weights` of every server.
struct Partition;

static INFO: Info = Info {
    id: "partition",
    aliases: &[],
    title: "Static partition",
    equalises: "nothing; each user has its weight's part of every server",
    guarantees: "sharing incentive; envy-free",
    reference: "the uniform allocation of PS-DSF, section II",
};

impl Mechanism for Partition {
    fn info(&self) -> &Info {
        &INFO
    }

    fn applies(&self, _problem: &Problem) -> Result<(), String> {
        Ok(())
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        let weights: Rational = problem.users().iter().map(|user| user.weight()).sum();
        let tasks = (0..problem.n_users())
            .map(|n| {
                let entitlement = Rational::from(problem.users()[n].weight() / &weights);
                let on = |i| (i, problem.gamma(n, i) * &entitlement);
                (0..problem.n_servers()).map(on).filter(|(_, x)| !x.is_zero()).collect()
            })
            .collect();
        let mechanism = Some(INFO.id.to_owned());
        let arithmetic = options.arithmetic;
        Ok(Outcome::of(Allocation { mechanism, arithmetic, tasks, ..Allocation::default() }))
    }

    fn axiom(&self, _allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        None
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("two-servers.json");
    let problem = Source { name: "two-servers.json", text }.problem()?;
    let allocation = Partition.allocate(&problem, &Options::exact())?.allocation;
    let requests = default_requests(&allocation);
    let examination = certify(&problem, &allocation, &requests, &Rational::new())?;
    print!("{}", report::examination(&examination));
    let holds =
        |axiom| examination.certificate.claims.iter().any(|c| c.axiom == axiom && c.holds == Some(true));
    assert!(holds(Axiom::SharingIncentive) && holds(Axiom::EnvyFree) && !holds(Axiom::ParetoOptimal));
    Ok(())
}
