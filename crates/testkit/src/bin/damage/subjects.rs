//! Good certificates that are going to be damaged. They come from random problems of every shape in the test
//! kit, from golden cases, and from the accepted certificates of the test kit.

use evenhand_certify::ratio as solved;
use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::registry;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Reservation};
use evenhand_testkit::build::ratio::Method;
use evenhand_testkit::build::{ratio, worst_load};
use evenhand_testkit::plain::ratio::configurations;
use evenhand_testkit::random::clusters::{Cluster, Eligibility};
use evenhand_testkit::random::problems::Numbers;
use evenhand_testkit::random::static_shares::Noise;
use evenhand_testkit::random::{
    filled, gangs, optima, pools, problems, ps_dsf, rates, reservations, small, trees,
};
use evenhand_testkit::{certificates, golden};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::{Pcg64, Pcg64Mcg};

/// The largest number of configurations of a pool for builders that list all of them.
const MOST_CONFIGURATIONS: usize = 60;

/// Returns the text of a good certificate.
pub fn certificate(rng: &mut Pcg64) -> String {
    loop {
        let made = match rng.random_range(0..20) {
            0 => certificates::accepted().choose(rng).map(|fixture| fixture.text.clone()),
            1..=3 => ratio_certificate(rng),
            4..=5 => worst_load_certificate(rng),
            _ => examined(rng),
        };
        if let Some(text) = made {
            return text;
        }
    }
}

/// Returns a random value of a strategy.
fn drawn<T>(strategy: &impl Strategy<Value = T>, rng: &mut Pcg64) -> Option<T> {
    let mut seed = [0; 32];
    rng.fill(&mut seed);
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    strategy.new_tree(&mut runner).ok().map(|tree| tree.current())
}

/// Returns a problem, with an allocation if the generator makes one.
fn subject(rng: &mut Pcg64) -> Option<(Problem, Option<Allocation>)> {
    let few = |shape: problems::Shape| problems::Shape { users: (1, 4), classes: (1, 3), ..shape };
    Some(match rng.random_range(0..17) {
        0..=2 => {
            let (problem, allocation) = filled::random(rng.random());
            (problem, Some(allocation))
        }
        3 | 4 => {
            let optimum = optima::optimum(rng, rng.clone().random_bool(0.3));
            let allocation = optima::disturbed(&optimum, rng);
            (optimum.problem, Some(allocation))
        }
        5 => {
            let shape = small::Shape { users: 4, classes: 3, ..small::SMALL };
            (drawn(&small::problem(shape), rng)?, None)
        }
        6 => (drawn(&problems::random(few(problems::SMALL)), rng)?, None),
        7 => {
            let numbers = *[Numbers::FarApart, Numbers::NearTies].choose(rng)?;
            (drawn(&problems::random(few(problems::Shape { numbers, ..problems::SMALL })), rng)?, None)
        }
        8 => {
            let shape = ps_dsf::Shape { users: 4, classes: 3, ..ps_dsf::SMALL };
            let mut random = Pcg64Mcg::seed_from_u64(rng.random());
            (ps_dsf::problem(ps_dsf::spec(&mut random, shape)), None)
        }
        9 => {
            let kind = *[pools::Kind::Tied, pools::Kind::NearlyTied].choose(rng)?;
            (pools::pool(&mut Pcg64Mcg::seed_from_u64(rng.random()), kind), None)
        }
        10 => {
            let mut noise = Noise::new(rng.random());
            let eligibility =
                [Eligibility::Everywhere, Eligibility::Few, Eligibility::Half, Eligibility::Zones];
            let shape = Cluster {
                users: rng.random_range(2..7),
                classes: rng.random_range(1..5),
                eligibility: eligibility[rng.random_range(0..4)],
                ..Cluster::any(&mut noise)
            };
            (shape.problem(&mut noise), None)
        }
        11 | 12 => {
            let of = *[trees::problem, trees::by_class].choose(rng)?;
            let problem = of(rng, trees::Shape { groups: 4, users: 5, classes: 3 });
            let filled = registry::find("tree")?.allocate(&problem, Arithmetic::Exact).ok()?;
            (problem, Some(filled.allocation))
        }
        13 => {
            let (problem, allocation) = gangs::placed(rng);
            (problem, Some(allocation))
        }
        14 | 15 => (rates::problem(rates::Shape { users: 4, ..rates::SMALL }, rng), None),
        _ => (of_golden_case(rng)?, None),
    })
}

/// Returns the problem of a golden case about an allocation.
fn of_golden_case(rng: &mut Pcg64) -> Option<Problem> {
    let prefix = ["njc.", "psdsf.", "drfh.", "alpha.", "fill.", "tsf."].choose(rng)?;
    let cases = golden::cases(prefix);
    let case = cases.choose(rng)?;
    let inputs = &case["inputs"];
    if inputs["r"].is_array() && inputs["e"].is_array() {
        // One case has an entitlement of 0, which is not a valid weight.
        let are_weights = golden::exacts(&inputs["e"]).iter().all(|weight| *weight > 0);
        return are_weights.then(|| golden::pool_of(case));
    }
    if !inputs["C"].is_array() || !inputs["D"].is_array() {
        return None;
    }
    let demands = golden::matrix(&inputs["D"]);
    let weights = ["phi", "w"].into_iter().find(|name| inputs[*name].is_array());
    let weights =
        weights.map_or_else(|| vec![Rational::from(1); demands.len()], |name| golden::exacts(&inputs[name]));
    Some(golden::problem(&golden::matrix(&inputs["C"]), &demands, &weights, None))
}

/// Returns an allocation that a mechanism makes in exact arithmetic.
fn allocated(problem: &Problem, rng: &mut Pcg64) -> Option<Allocation> {
    let mechanism = registry::ALL.choose(rng)?;
    mechanism.allocate(problem, Arithmetic::Exact).ok().map(|outcome| outcome.allocation)
}

/// Returns the certificate of an allocation.
fn examined(rng: &mut Pcg64) -> Option<String> {
    let (problem, made) = subject(rng)?;
    let allocation = match made {
        Some(made) if rng.random_bool(0.8) => made,
        _ => allocated(&problem, rng)?,
    };
    let tolerance = *["0", "0", "1e-9", "1/1000", "1/2"].choose(rng)?;
    let tolerance = evenhand_testkit::q(tolerance);
    let requests =
        if rng.random_bool(0.2) { default_requests(&problem, &allocation) } else { requests(&problem, rng) };
    let examination = certify(&problem, &allocation, &requests, &tolerance).ok()?;
    (!examination.certificate.claims.is_empty()).then(|| examination.certificate.to_json())
}

/// Returns random axioms with parameters.
fn requests(problem: &Problem, rng: &mut Pcg64) -> Vec<Request> {
    let mut requests = vec![Request::of(Axiom::Feasible)];
    for axiom in Axiom::ALL.into_iter().skip(1) {
        // No theorem of Coq is about the optima under a condition. Few certificates have them, so that most can be
        // compared with the proved checker.
        let part = match axiom {
            Axiom::MaxMin | Axiom::Proportional => 0.5,
            Axiom::OptimalEnvyFree | Axiom::OptimalEqual => 0.05,
            _ => 0.3,
        };
        if !rng.random_bool(part) {
            continue;
        }
        let parameters = match axiom {
            Axiom::MaxMin => {
                let resource = Share::Resource(rng.random_range(0..problem.n_resources()));
                let named = [
                    Share::Dominant,
                    Share::Containerized,
                    Share::TaskShare,
                    Share::Asset,
                    Share::Generic,
                    Share::BestPart,
                    Share::FinishTime,
                ];
                let share = if rng.random_bool(0.2) { resource } else { named[rng.random_range(0..7)] };
                Parameters::from(Some(share))
            }
            Axiom::MaxMinPackings => {
                let share = if rng.random_bool(0.5) { Share::Dominant } else { Share::TaskShare };
                Parameters::from(Some(share))
            }
            Axiom::Proportional => {
                let alphas = ["1", "2", "1/2", "3/2", "1/3", "5"];
                let alpha = Some(evenhand_testkit::q(alphas[rng.random_range(0..alphas.len())]));
                Parameters { alpha, share: rng.random_bool(0.3).then_some(Share::Generic) }
            }
            _ => Parameters::default(),
        };
        requests.push(Request { axiom, parameters });
    }
    requests
}

/// Returns a random reservation problem, or a problem of the Reservation paper.
fn reservation(rng: &mut Pcg64) -> Option<Reservation> {
    let problem = match rng.random_range(0..6) {
        0 => {
            let loads = [(); 3].map(|()| Rational::from((rng.random_range(0..9), rng.random_range(1..9))));
            reservations::intro(&loads)
        }
        1 => reservations::appendix_c(rng.random_range(3..5)),
        _ => reservations::random(rng),
    };
    let few = configurations(&problem)?.iter().all(|all| all.len() < MOST_CONFIGURATIONS);
    few.then_some(problem)
}

fn method(rng: &mut Pcg64) -> Method {
    if rng.random_bool(0.7) { Method::Trees } else { Method::Tables }
}

fn ratio_certificate(rng: &mut Pcg64) -> Option<String> {
    let problem = reservation(rng)?;
    if rng.random() {
        return solved::certificate(&problem).ok().map(|made| made.to_json());
    }
    Some(ratio::certificate(&problem, method(rng)).to_json())
}

fn worst_load_certificate(rng: &mut Pcg64) -> Option<String> {
    let problem = reservation(rng).filter(|problem| problem.n_pools() == 1)?;
    if rng.random() {
        return solved::worst_load(&problem, &mut |_, _| {}).ok().map(|made| made.to_json());
    }
    Some(worst_load::certificate(&problem, method(rng), rng.random_bool(0.7)).to_json())
}
