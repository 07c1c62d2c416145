//! Your own mechanism, judged like the mechanisms of the engine. It gives every user its own fraction of every server, and nothing
//! else.
//!
//! `cargo run --release -p evenhand-examples --bin own_mechanism`

use std::error::Error;

use evenhand::certify::default_requests;
use evenhand::mechanisms::equals::Equals;
use evenhand::mechanisms::guarantees::Condition;
use evenhand::mechanisms::{Info, Late, Outcome};
use evenhand::problem::{Arithmetic, Problem, Rational, format::Source};
use evenhand::{Allocation, Axiom, Mechanism, certify, report};

/// Every user runs on the fraction `w_n / sum of weights` of every server.
static PARTITION: Mechanism = Mechanism {
    info: &Info {
        id: "partition",
        aliases: &[],
        title: "Static partition",
        equalises: "no quantity; each user gets its weight's fraction of every server",
        guarantees: "sharing incentive; envy-free",
        reference: "the uniform allocation of PS-DSF, section II",
    },
    proven: &[(Condition::Resources, &[Axiom::SharingIncentive, Axiom::EnvyFree])],
    flags: &[],
    axiom: |_| None,
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Itself,
    solve: |problem, flags| Ok(partition(problem, flags.arithmetic)),
};

fn partition(problem: &Problem, arithmetic: Arithmetic) -> Outcome {
    let weights: Rational = problem.users().iter().map(|user| user.weight()).sum();
    let tasks = (0..problem.n_users())
        .map(|n| {
            let entitlement = Rational::from(problem.users()[n].weight() / &weights);
            let on = |i| (i, problem.gamma(n, i) * &entitlement);
            (0..problem.n_servers()).map(on).filter(|(_, x)| !x.is_zero()).collect()
        })
        .collect();
    let mechanism = Some(PARTITION.info.id.to_owned());
    Outcome::of(Allocation { mechanism, arithmetic, tasks, ..Allocation::default() })
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("two-servers.json");
    let problem = Source { name: "two-servers.json", text }.problem()?;
    let allocation = PARTITION.allocate(&problem, Arithmetic::Exact)?.allocation;
    let requests = default_requests(&problem, &allocation);
    let examination = certify(&problem, &allocation, &requests, &Rational::new())?;
    print!("{}", report::examination(&examination));
    let holds =
        |axiom| examination.certificate.claims.iter().any(|c| c.axiom == axiom && c.holds == Some(true));
    assert!(holds(Axiom::SharingIncentive) && holds(Axiom::EnvyFree) && !holds(Axiom::ParetoOptimal));
    Ok(())
}
