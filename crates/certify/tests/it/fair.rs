//! Tests of proportional and alpha fairness, and of the trajectory. Exact optima are compared with closed forms, and
//! gaps with the exact judge, for numbers of any size.

use evenhand_certify::{Request, certify};
use evenhand_exact::axiom::proportional::{gap, total_worth};
use evenhand_exact::{Axiom, Instance, Parameters};
use evenhand_mechanisms::njc::{self, Settings};
use evenhand_mechanisms::{Flags, Method, Outcome, Status, registry};
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::agreed;
use evenhand_testkit::random::pools::far_apart;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const ALPHAS: [(u32, u32); 8] = [(1, 10), (1, 3), (1, 2), (1, 1), (2, 1), (3, 1), (5, 1), (10, 1)];

fn q(a: u32, b: u32) -> Rational {
    Rational::from((a, b))
}

fn read(text: &str) -> Problem {
    Source { name: "problem", text }.problem().unwrap()
}

fn solve(problem: &Problem, alpha: &Rational, arithmetic: Arithmetic) -> Result<Outcome, String> {
    let stated = (*alpha != 1).then(|| alpha.clone());
    let mechanism = registry::find(if stated.is_some() { "alpha" } else { "proportional" }).unwrap();
    let flags = Flags::new(arithmetic);
    let flags = stated.map_or(flags.clone(), |alpha| flags.with("alpha", alpha.to_string()));
    mechanism.allocate_with(problem, &flags).map_err(|error| error.to_string())
}

fn exact(problem: &Problem, alpha: &Rational) -> Outcome {
    solve(problem, alpha, Arithmetic::Exact).unwrap()
}

/// Returns an error unless the prices prove the stated gap, the gap matches the status, and `certify` agrees.
fn judge(problem: &Problem, alpha: &Rational, outcome: &Outcome) -> Result<(), String> {
    let findings = &outcome.findings;
    if findings.status != Some(Status::Solved) {
        return Err(format!("status {:?}", findings.status));
    }
    let instance = Instance::new(problem, &outcome.allocation).map_err(|error| error.to_string())?;
    let prices = findings.prices.as_ref().ok_or("no prices")?;
    let proven = gap(&instance, alpha, None, prices).map_err(|refusal| refusal.to_string())?;
    if findings.gap.as_ref() != Some(&proven) {
        return Err("the stated gap is another one".to_owned());
    }
    let total = total_worth(&instance, alpha, None).map_err(|refusal| refusal.to_string())?;
    if proven > total * q(1, 1_000_000_000) / 10u32 {
        return Err("the gap is too wide for `solved`".to_owned());
    }
    let is_exact = outcome.allocation.arithmetic == Arithmetic::Exact && proven.is_zero();
    let tolerance = if is_exact { Rational::new() } else { q(1, 1_000_000_000) };
    let requests = [Request::of(Axiom::Feasible), Request::of(Axiom::Proportional)];
    let found =
        certify(problem, &outcome.allocation, &requests, &tolerance).map_err(|error| error.to_string())?;
    match found.undecided.is_empty() && found.certificate.claims.iter().all(|claim| claim.holds == Some(true))
    {
        true => agreed(&found.certificate).reason.map_or(Ok(()), Err),
        false => Err(format!("certify: {:?} {:?}", found.undecided, found.certificate.claims)),
    }
}

/// Every solved problem can be certified, in both arithmetics, for weights that differ by up to a factor of a million.
#[test]
fn every_solved_problem_is_certified() {
    let mut failures = Vec::new();
    for (a, b) in ALPHAS {
        let alpha = q(a, b);
        let mut random = Pcg64Mcg::seed_from_u64(u64::from(7 * a + b));
        for k in 0..60 {
            let problem = far_apart(&mut random, (5, 3, 3), [0, 1, 3, 6][k % 4]);
            for arithmetic in [Arithmetic::Exact, Arithmetic::Float] {
                let judged =
                    solve(&problem, &alpha, arithmetic).and_then(|outcome| judge(&problem, &alpha, &outcome));
                if let Err(why) = judged {
                    failures.push(format!("alpha {alpha}, case {k}, {arithmetic:?}: {why}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}: {failures:#?}", failures.len());
}

/// Returns the optimum for one server and one resource. Users get all their tasks in the order of `w_n / (d_n T_n^a)`.
/// The other users divide the remaining capacity in proportion to `(w_n / d_n)^(1/a)` tasks.
fn water_filling(
    users: &[(Rational, Rational, Option<Rational>)],
    capacity: &Rational,
    root: i32,
) -> Vec<Rational> {
    let wish = |(w, d, _): &(Rational, Rational, Option<Rational>)| {
        (0..root).fold(Rational::from(1), |power, _| power * w / d)
    };
    let mut satisfied = vec![false; users.len()];
    loop {
        let (mut left, mut sum) = (capacity.clone(), Rational::new());
        for (user, full) in users.iter().zip(&satisfied) {
            match (&user.2, full) {
                (Some(limit), true) => left -= Rational::from(&user.1 * limit),
                _ => sum += wish(user) * &user.1,
            }
        }
        let level = if sum.is_zero() { Rational::new() } else { left / sum };
        let over = |k: &usize| {
            !satisfied[*k] && users[*k].2.as_ref().is_some_and(|limit| wish(&users[*k]) * &level >= *limit)
        };
        let more: Vec<usize> = (0..users.len()).filter(over).collect();
        if more.is_empty() {
            let tasks = |(user, full): (&(Rational, Rational, Option<Rational>), &bool)| match (&user.2, full)
            {
                (Some(limit), true) => limit.clone(),
                _ => wish(user) * &level,
            };
            return users.iter().zip(&satisfied).map(tasks).collect();
        }
        more.into_iter().for_each(|k| satisfied[k] = true);
    }
}

#[test]
fn one_resource_equals_water_filling() {
    for seed in 0..300 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let root = random.random_range(1..=3);
        let capacity = q(random.random_range(1..=1000), random.random_range(1..=9));
        let number = |random: &mut Pcg64Mcg| q(random.random_range(1..=60), random.random_range(1..=7));
        let users: Vec<_> = (0..random.random_range(1..=7))
            .map(|_| {
                let limit = random.random_bool(0.4).then(|| number(&mut random));
                (number(&mut random), number(&mut random), limit)
            })
            .collect();
        let stated = users.iter().enumerate().map(|(n, (w, d, limit))| {
            let limit = limit.as_ref().map_or_else(String::new, |t| format!(r#", "tasks": "{t}""#));
            format!(r#"{{"name": "u{n}", "weight": "{w}", "demand": {{"cpu": "{d}"}}{limit}}}"#)
        });
        let problem = read(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu"],
                "servers": [{{"name": "pool", "capacity": {{"cpu": "{capacity}"}}}}], "users": [{}]}}"#,
            stated.collect::<Vec<_>>().join(", ")
        ));
        let outcome = exact(&problem, &Rational::from((1, root)));
        let expected = water_filling(&users, &capacity, root);
        let found: Vec<Rational> = (0..users.len()).map(|n| outcome.allocation.total(n)).collect();
        assert_eq!(found, expected, "seed {seed}, alpha 1/{root}");
        if root == 1 {
            assert_eq!(outcome.findings.gap, Some(Rational::new()), "seed {seed}");
        }
    }
}

/// Kesidis, Tables II to V: each user has 65/3 tasks for every exponent (docs/proofs.md). The optimality conditions are
/// not linear, since every user pays for two resources.
#[test]
fn rational_optima_of_nonlinear_systems_are_exact() {
    let problem = read(
        r#"{"kind": "allocation-problem", "resources": ["a", "b"],
            "servers": [{"name": "s", "capacity": {"a": 100, "b": 30}}, {"name": "t", "capacity": {"a": 30, "b": 100}}],
            "users": [{"name": "u", "demand": {"a": 5, "b": 1}}, {"name": "v", "demand": {"a": 1, "b": 5}}]}"#,
    );
    for (a, b) in ALPHAS {
        let outcome = exact(&problem, &q(a, b));
        for n in 0..2 {
            assert_eq!(outcome.allocation.total(n), q(65, 3), "alpha {a}/{b}");
        }
        if b == 1 {
            assert_eq!(outcome.findings.gap, Some(Rational::new()));
        }
        judge(&problem, &q(a, b), &outcome).unwrap();
    }
}

#[test]
fn damaged_gaps_are_refused() {
    let problem = read(include_str!("../defects/fisher-market.json"));
    let one = Rational::from(1);
    let outcome = exact(&problem, &one);
    assert_eq!(outcome.findings.gap, Some(Rational::new()));
    judge(&problem, &one, &outcome).unwrap();
    let mut damaged = outcome.clone();
    damaged.findings.gap = Some(q(1, 1000));
    assert!(judge(&problem, &one, &damaged).is_err());
    let mut damaged = outcome.clone();
    damaged.findings.prices.as_mut().unwrap().rows[0] *= q(999, 1000);
    assert!(judge(&problem, &one, &damaged).is_err());
    let mut damaged = outcome;
    damaged.allocation.tasks[0][0].1 *= q(999_999, 1_000_000);
    assert!(judge(&problem, &one, &damaged).is_err());
}

#[test]
fn known_defects_stay_fixed() {
    let third = read(include_str!("../defects/alpha-third.json"));
    for problem in [third, read(include_str!("../defects/alpha-limit.json"))] {
        for (a, b) in ALPHAS {
            judge(&problem, &q(a, b), &exact(&problem, &q(a, b))).unwrap();
        }
    }
    // Numbers far beyond the range of doubles lead to an answer, a status or an error, but not to a panic.
    for text in [
        include_str!("../defects/panic-min.json"),
        include_str!("../defects/cli-1-1.json"),
        include_str!("../defects/cli-1-2.json"),
        include_str!("../defects/panic-proportional-2.json"),
    ] {
        let problem = read(text);
        for arithmetic in [Arithmetic::Exact, Arithmetic::Float] {
            for (a, b) in ALPHAS {
                let outcome = solve(&problem, &q(a, b), arithmetic);
                if let Ok(outcome) = outcome.as_ref().filter_solved() {
                    judge(&problem, &q(a, b), outcome).unwrap();
                }
            }
        }
    }
}

trait FilterSolved<'a> {
    fn filter_solved(self) -> Result<&'a Outcome, ()>;
}

impl<'a> FilterSolved<'a> for Result<&'a Outcome, &'a String> {
    fn filter_solved(self) -> Result<&'a Outcome, ()> {
        self.ok().filter(|outcome| outcome.findings.status == Some(Status::Solved)).ok_or(())
    }
}

fn trajectory(problem: &Problem, c_max: Option<Rational>) -> Result<Outcome, String> {
    let settings = Settings { method: Some(Method::Trajectory), c_max, ..Settings::new(Arithmetic::Exact) };
    njc::allocate(problem, &settings).map_err(|error| error.to_string())
}

#[test]
fn the_trajectory_ends_at_the_proportional_allocation() {
    let near = |a: &Rational, b: &Rational| Rational::from(a - b).abs() <= b * q(1, 100_000_000);
    for seed in 0..40 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let problem = far_apart(&mut random, (6, 1, 3), 1);
        let outcome = trajectory(&problem, None).unwrap();
        assert_eq!(outcome.findings.status, Some(Status::Solved), "seed {seed}");
        let limit = exact(&problem, &Rational::from(1));
        for n in 0..problem.n_users() {
            assert!(near(&outcome.allocation.total(n), &limit.allocation.total(n)), "seed {seed}, user {n}");
        }
        let tolerance = q(1, 1_000_000_000);
        let requests = [Request::of(Axiom::Feasible), Request::of(Axiom::Njc)];
        let found = certify(&problem, &outcome.allocation, &requests, &tolerance).unwrap();
        assert!(found.certificate.claims.iter().all(|claim| claim.holds == Some(true)), "seed {seed}");
        // Equation (12) is satisfied along the trajectory: free and used capacity add up.
        let steps = outcome.findings.series.unwrap();
        assert!(steps.len() > 10 && steps.windows(2).all(|pair| pair[0].c < pair[1].c));
        let short = trajectory(&problem, Some(Rational::from(10))).unwrap();
        assert_eq!(short.findings.status, Some(Status::Limit));
        assert!(short.findings.gap.unwrap() > 0);
    }
}

#[test]
fn the_trajectory_refuses_unsuitable_problems() {
    let two = read(include_str!("../defects/alpha-limit.json"));
    assert!(trajectory(&two, None).unwrap_err().contains("one server"));
    let one = read(include_str!("../defects/alpha-third.json"));
    assert!(trajectory(&one, Some(Rational::new())).unwrap_err().contains("--c-max"));
    let settings = Settings { c_max: Some(Rational::from(1)), ..Settings::new(Arithmetic::Exact) };
    assert!(njc::allocate(&one, &settings).unwrap_err().to_string().contains("--method trajectory"));
    let settings = Settings { method: Some(Method::Sweep), ..Settings::new(Arithmetic::Exact) };
    assert!(njc::allocate(&one, &settings).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Numbers of any documented size lead to an answer, a status or an error.
    #[test]
    fn exponents_of_any_size_cause_no_panic(
        capacities in prop::collection::vec((1u32..1000, -300i32..300), 4),
        demands in prop::collection::vec((0u32..1000, -300i32..300), 6),
        weights in prop::collection::vec((1u32..1000, -6i32..6), 3),
        limits in prop::collection::vec(prop::option::of((1u32..1000, -300i32..300)), 3),
        alpha in prop::sample::select(ALPHAS.to_vec()),
    ) {
        let number = |(digits, exponent): &(u32, i32)| format!("{digits}e{exponent}");
        let servers = capacities.chunks(2).enumerate().map(|(i, c)| {
            format!(r#"{{"name": "s{i}", "capacity": {{"a": {}, "b": {}}}}}"#, number(&c[0]), number(&c[1]))
        });
        let users = demands.chunks(2).zip(weights.iter().zip(&limits)).enumerate().map(|(n, (d, (w, limit)))| {
            let limit = limit.as_ref().map_or_else(String::new, |t| format!(r#", "tasks": {}"#, number(t)));
            let first = (d[0].0.max(1), d[0].1);
            format!(r#"{{"name": "u{n}", "weight": {}, "demand": {{"a": {}, "b": {}}}{limit}}}"#, number(w), number(&first), number(&d[1]))
        });
        let problem = read(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["a", "b"], "servers": [{}], "users": [{}]}}"#,
            servers.collect::<Vec<_>>().join(", "), users.collect::<Vec<_>>().join(", ")
        ));
        let alpha = q(alpha.0, alpha.1);
        for arithmetic in [Arithmetic::Exact, Arithmetic::Float] {
            if let Ok(outcome) = solve(&problem, &alpha, arithmetic).as_ref().filter_solved() {
                prop_assert!(outcome.findings.gap.is_some());
            }
        }
        let _ = registry::find("njc").unwrap().allocate(&problem, Arithmetic::Exact);
    }
}

/// The kernel computes from the gap how far every user can be from the optimum.
#[test]
fn the_kernel_bounds_every_user_by_the_gap() {
    let problem = read(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 10}}],
            "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]}"#,
    );
    let mut widest = Vec::new();
    for (own, alpha) in
        [("5.0001", q(1, 1)), ("5.001", q(1, 1)), ("5.01", q(1, 1)), ("5.001", q(3, 1)), ("5.001", q(1, 2))]
    {
        let own = evenhand_problem::number::parse(own).unwrap();
        let other = Rational::from(10 - &own);
        let allocation = evenhand_problem::Allocation {
            arithmetic: Arithmetic::Exact,
            tasks: vec![vec![(0, own.clone())], vec![(0, other.clone())]],
            ..Default::default()
        };
        let parameters = Parameters { alpha: Some(alpha.clone()), ..Parameters::default() };
        let request = Request { axiom: Axiom::Proportional, parameters };
        let found =
            certify(&problem, &allocation, &[Request::of(Axiom::Feasible), request], &q(1, 100)).unwrap();
        let file = evenhand_check::File { name: "certificate".to_owned(), text: found.certificate.to_json() };
        let options = evenhand_check::Options {
            max_tolerance: Some("0.01".to_owned()),
            ..evenhand_check::Options::default()
        };
        let report = evenhand_check::check(&file, &options).unwrap();
        assert_eq!(report.reason, None);
        let line = report.claims.iter().find(|line| line.starts_with("proportional")).unwrap();
        let (_, bounds) = line.split_once("every user has at least ").unwrap_or_else(|| panic!("{line}"));
        let (least, rest) = bounds.split_once(" and at most ").unwrap();
        let (most, _) = rest.split_once(" times its level here").unwrap();
        let [least, most] = [least, most].map(|text| evenhand_problem::number::parse_result(text).unwrap());
        // Both users have 5 tasks in the optimum, whatever the exponent.
        for here in [&own, &other] {
            let factor = Rational::from(5) / here;
            assert!(least <= factor && factor <= most, "{line}");
        }
        assert!(least > q(8, 10) && most < q(13, 10), "{line}");
        widest.push(Rational::from(&most - &least));
    }
    assert!(widest[0] < widest[1] && widest[1] < widest[2], "{widest:?}");
}
