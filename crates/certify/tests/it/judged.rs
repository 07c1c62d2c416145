//! Tests with ten thousand allocations that are not unchanged answers of a mechanism: exact allocations, allocations
//! written in doubles, perturbed, an ulp over a limit, infeasible or negative. Every axiom is decided, and the
//! certificate is valid. An independent judge, which shares only types, finds every claim true. Pareto optimality and
//! max-min are also compared with a plain exact simplex method.

use evenhand_certify::Request;
use evenhand_certify::{Examination, certify, default_requests};
use evenhand_exact::{Axiom, Outcome, Parameters, Share};
use evenhand_mechanisms::registry;
use evenhand_problem::number::{from_f64, to_f64};
use evenhand_problem::{
    Allocation, Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};
use evenhand_testkit::agreement::agreed;
#[allow(dead_code)]
use evenhand_testkit::{plain, reference};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// The number of allocations that are judged.
const MANY: u64 = 10_000;

fn quantity(rng: &mut Pcg64) -> Rational {
    let whole = rng.random_range(0..6);
    Rational::from((whole, [1, 1, 2, 3][rng.random_range(0..4)]))
}

fn problem(rng: &mut Pcg64) -> Problem {
    let (n_users, n_classes, m) = (rng.random_range(1..5), rng.random_range(1..4), rng.random_range(1..4));
    let resources: Vec<String> = (0..m).map(|r| format!("r{r}")).collect();
    let servers = (0..n_classes).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: rng.random_bool(0.3).then(|| Rational::from(rng.random_range(1..4))),
        capacity: resources.iter().map(|r| (r.clone(), quantity(rng) + 1u32)).collect(),
    });
    let servers: Vec<ServerSpec> = servers.collect();
    let users = (0..n_users).map(|n| {
        let mut demand: Vec<(String, Rational)> =
            resources.iter().map(|r| (r.clone(), quantity(rng))).collect();
        let at = rng.random_range(0..m);
        if demand.iter().all(|(_, d)| d.is_zero()) {
            demand[at].1 = Rational::from(1);
        }
        let named = |rng: &mut Pcg64| {
            let mut list: Vec<String> =
                (0..n_classes).filter(|_| rng.random_bool(0.6)).map(|i| format!("s{i}")).collect();
            if list.is_empty() {
                list.push("s0".to_owned());
            }
            list
        };
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(rng.random_range(1..4))),
            tasks: rng.random_bool(0.4).then(|| quantity(rng)),
            demand,
            servers: rng.random_bool(0.4).then(|| named(rng)),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap()
}

/// Returns a feasible allocation, by a mechanism or at random.
fn start(problem: &Problem, rng: &mut Pcg64) -> Allocation {
    let names = ["drfh", "tsf", "utilitarian", "asset", "per-server-drf", "ps-dsf-tdm"];
    let mechanism = registry::find(names.choose(rng).unwrap()).unwrap();
    if rng.random_bool(0.8)
        && let Ok(outcome) = mechanism.allocate(problem, Arithmetic::Exact)
    {
        let mut allocation = outcome.allocation;
        if rng.random_bool(0.5) {
            allocation.mechanism = None;
        }
        return allocation;
    }
    let mut allocation = Allocation::empty(problem.n_users(), Sharing::Rdm);
    for n in 0..problem.n_users() {
        for i in problem.classes_of(n) {
            let part = Rational::from((rng.random_range(0..4), 3 * problem.n_users() as u32));
            allocation.tasks[n].push((i, problem.gamma(n, i) * part));
        }
    }
    allocation
}

/// Changes numbers as rounding, writing and errors would change them.
fn disturb(allocation: &mut Allocation, rng: &mut Pcg64) {
    let entries = allocation.tasks.iter_mut().flatten();
    match rng.random_range(0..7) {
        0 => {}
        1 => entries.for_each(|(_, x)| *x = from_f64(to_f64(x)).unwrap()),
        2 => {
            let size = [1e-12, 1e-9, 1e-6, 1e-3][rng.random_range(0..4)];
            for (_, x) in entries {
                *x = from_f64(to_f64(x) * (1.0 + size * rng.random_range(-1.0..1.0))).unwrap();
            }
        }
        3 => entries.for_each(|(_, x)| *x = from_f64(to_f64(x).next_up()).unwrap()),
        4 => entries.for_each(|(_, x)| *x *= Rational::from((rng.random_range(1..5), 3))),
        5 => entries.filter(|_| rng.random_bool(0.3)).for_each(|(_, x)| *x = -x.clone()),
        _ => entries
            .filter(|_| rng.random_bool(0.3))
            .for_each(|(_, x)| *x += Rational::from((1, 1_000_000_007))),
    }
}

fn requests(problem: &Problem, allocation: &Allocation) -> Vec<Request> {
    let mut requests = default_requests(problem, allocation);
    let more =
        [Axiom::BottleneckFair, Axiom::GlobalBottleneckFair, Axiom::Njc, Axiom::PsDsf, Axiom::NonWasteful];
    requests.extend(more.map(Request::of));
    for share in [Share::TaskShare, Share::Resource(problem.n_resources() - 1)] {
        requests.push(Request { axiom: Axiom::MaxMin, parameters: Parameters::from(Some(share)) });
    }
    requests
}

/// Returns the largest sum of gains that leaves no user worse off. Each gain is divided by the user's solo
/// tasks.
fn pareto_gain(plain: &plain::Plain<'_>, problem: &Problem, sharing: Sharing) -> Rational {
    let mut programme = reference::Programme::new(problem, sharing);
    for n in 0..problem.n_users() {
        programme.push(|k, _| Rational::from(if k == n { -1 } else { 0 }), -plain.total(n));
    }
    let worth = |n: usize| match plain.cluster.active[n] {
        true => plain.cluster.g[n].clone().recip(),
        false => Rational::new(),
    };
    let (best, _) = programme.maximise(|n, _| worth(n), Rational::new(), Vec::new()).optimal();
    let present: Rational = (0..problem.n_users()).map(|n| plain.total(n) * worth(n)).sum();
    best - present
}

fn compare_with_the_simplex_method(
    seed: u64,
    problem: &Problem,
    examination: &Examination,
    tolerance: &Rational,
) {
    let certificate = &examination.certificate;
    let plain = plain::Plain::new(problem, &certificate.allocation);
    let sharing = certificate.allocation.sharing;
    if let Some(claim) = examination.claim(Axiom::ParetoOptimal, &Parameters::default()) {
        let gain = pareto_gain(&plain, problem, sharing);
        assert_eq!(claim.holds, Some(gain <= *tolerance), "{seed}: Pareto: {gain}");
        assert_eq!(claim.outcome() == Outcome::Holds, gain <= 0, "{seed}: Pareto: {gain}");
    }
    let share = Share::TaskShare;
    if let Some(claim) = examination.claim(Axiom::MaxMin, &Parameters::from(Some(share)))
        && let Ok(coefficients) = share.coefficients(problem)
        && claim.holds.is_some()
    {
        let best = reference::lexicographic(problem, sharing, &coefficients);
        let level = |n: usize| plain.total(n) * coefficients.of(n, 0) / problem.users()[n].weight();
        let same = (0..problem.n_users()).filter(|&n| plain.cluster.active[n]).all(|n| level(n) == best[n]);
        assert_eq!(claim.outcome() == Outcome::Holds, same, "{seed}: max-min");
    }
}

fn judge(seed: u64) -> (bool, usize) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let problem = problem(&mut rng);
    let mut allocation = start(&problem, &mut rng);
    disturb(&mut allocation, &mut rng);
    let tolerance = match rng.random_range(0..4) {
        0 => Rational::new(),
        1 => Rational::from((1, 1_000_000)),
        2 => Rational::from((1, 100)),
        _ => Rational::from((1, 1_000_000_000)),
    };
    let requests = requests(&problem, &allocation);
    let examination = certify(&problem, &allocation, &requests, &tolerance).expect("an allocation");
    assert_eq!(examination.undecided, [], "{seed}");
    let certificate = &examination.certificate;
    let verdict = agreed(certificate);
    assert!(verdict.valid, "{seed}: {:?}", verdict.reason);
    assert_eq!(plain::fault(certificate), None, "{seed}");
    if seed.is_multiple_of(5) {
        compare_with_the_simplex_method(seed, &problem, &examination, &tolerance);
    }
    (examination.infeasible, certificate.claims.len())
}

#[test]
fn verdicts_agree_with_an_independent_judge() {
    let found: Vec<(bool, usize)> = (0..MANY).into_par_iter().map(judge).collect();
    let infeasible = found.iter().filter(|(infeasible, _)| *infeasible).count();
    let claims: usize = found.iter().map(|(_, claims)| claims).sum();
    println!("{MANY} allocations, {infeasible} of them infeasible, {claims} claims");
    assert!(infeasible > MANY as usize / 20 && infeasible < MANY as usize / 2);
}
