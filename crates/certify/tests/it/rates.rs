//! Tests of rates by accelerator (docs/theory.md, section 12): golden values, answers equal to those of the plain
//! implementation, and certificates on which all checkers agree.

use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Instance, Outcome, Parameters, Share, ShareCoefficients};
use evenhand_mechanisms::{Flags, MechanismError, registry};
use evenhand_problem::format::{Source, problem_sha256, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::plain::optimal::optimum;
use evenhand_testkit::random::rates::{self, Shape};
use evenhand_testkit::reference::{self, Programme};
use evenhand_testkit::{plain, q, qs};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rug::ops::Pow;
use serde_json::{Value, json};

/// The number of random problems for each comparison with the plain implementation.
const PROBLEMS: u64 = 2_000;

fn problem(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "rates", text: &text }.problem().unwrap()
}

/// Returns the problem of two jobs on one V100 and three K80.
fn two_jobs() -> Problem {
    problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "v100", "capacity": {"gpu": 1}}, {"name": "k80", "count": 3, "capacity": {"gpu": 1}}],
        "users": [{"name": "a", "demand": {"gpu": 1}, "rates": {"v100": 4, "k80": 1}, "at_most": 1},
                  {"name": "b", "demand": {"gpu": 1}, "rates": {"v100": 3, "k80": 2}, "at_most": 1}]}))
}

/// Returns the problem of two users with speed-ups on one accelerator of each of two types.
fn speed_ups() -> Problem {
    problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "slow", "capacity": {"gpu": 1}}, {"name": "fast", "capacity": {"gpu": 1}}],
        "users": [{"name": "a", "demand": {"gpu": 1}, "rates": {"slow": 1, "fast": 2}},
                  {"name": "b", "demand": {"gpu": 1}, "rates": {"slow": 1, "fast": 5}}]}))
}

fn solved(
    problem: &Problem,
    name: &str,
    flags: &[(&'static str, &str)],
) -> Result<Allocation, MechanismError> {
    let mut set = Flags::new(Arithmetic::Exact);
    for (flag, value) in flags {
        set = set.with(flag, *value);
    }
    Ok(registry::find(name).unwrap().allocate_with(problem, &set)?.allocation)
}

fn totals(problem: &Problem, name: &str, flags: &[(&'static str, &str)]) -> Vec<Rational> {
    solved(problem, name, flags).unwrap().totals()
}

#[test]
fn the_equal_part_is_a_reference() {
    let jobs = two_jobs();
    assert_eq!(totals(&jobs, "drfh", &[]), qs(&["35/17", "45/17"]));
    assert_eq!(totals(&jobs, "drfh", &[("reference", "proportional")]), qs(&["35/17", "45/17"]));
    assert_eq!(totals(&jobs, "drfh", &[("reference", "best")]), qs(&["5/2", "5/2"]));
    assert_eq!(totals(&jobs, "finish-time", &[]), qs(&["5/2", "5/2"]));
    assert_eq!(totals(&jobs, "utilitarian", &[]), qs(&["4", "2"]));
    assert_eq!(totals(&jobs, "oef", &[("variant", "equal")]), qs(&["5/2", "5/2"]));
}

/// Returns the throughputs of the two jobs at the largest least quotient of throughput and the throughput of an equal part.
fn published_policy(equal_part: [&str; 2]) -> Vec<Rational> {
    let jobs = two_jobs();
    let programme = Programme::new(&jobs, Sharing::Rdm);
    let row = |n: usize| {
        let of_job =
            |&(k, _): &(usize, usize)| if k == n { -q(equal_part[n]).recip() } else { Rational::new() };
        let row: Vec<Rational> = programme.placements.iter().map(of_job).chain([Rational::from(1)]).collect();
        (row, Rational::new())
    };
    let nothing = |_: usize, _: usize| Rational::new();
    let (_, found) = programme.maximise(nothing, Rational::from(1), vec![row(0), row(1)]).optimal();
    let mut totals = vec![Rational::new(); 2];
    programme.placements.iter().zip(&found).for_each(|((n, _), x)| totals[*n] += x);
    totals
}

/// The table of docs/accelerators.md: the equal part of Gavel's code is any allocation in which both jobs run all the
/// time, and the answer of its policy depends on this allocation.
#[test]
fn the_published_policy_depends_on_its_equal_part() {
    assert_eq!(published_policy(["4", "2"]), qs(&["4", "2"]));
    assert_eq!(published_policy(["1", "3"]), qs(&["1", "3"]));
    assert_eq!(published_policy(["1", "2"]), qs(&["10/7", "20/7"]));
    // The makespan of 8 and 4 steps is shortest if both jobs need two units of time.
    let steps = |a: u32, b: u32| {
        let mut document: Value = serde_json::from_str(&problem_to_json(&two_jobs())).unwrap();
        document["users"][0]["weight"] = json!(a);
        document["users"][1]["weight"] = json!(b);
        problem(&document)
    };
    assert_eq!(totals(&steps(8, 4), "oef", &[("variant", "equal")]), qs(&["4", "2"]));
}

#[test]
fn one_job_uses_one_accelerator_at_a_time() {
    let one = |at_most: Value| {
        let mut user = json!({"name": "a", "demand": {"gpu": 1}, "rates": {"x": 2, "y": 1}});
        if !at_most.is_null() {
            user["at_most"] = at_most;
        }
        problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "x", "capacity": {"gpu": 1}}, {"name": "y", "capacity": {"gpu": 1}}],
            "users": [user]}))
    };
    for name in ["drfh", "cdrf", "tsf", "finish-time", "utilitarian"] {
        assert_eq!(totals(&one(json!(1)), name, &[]), qs(&["2"]), "{name}");
        assert_eq!(totals(&one(Value::Null), name, &[]), qs(&["3"]), "{name}");
        assert_eq!(totals(&one(json!("3/2")), name, &[]), qs(&["5/2"]), "{name}");
    }
}

#[test]
fn oef_has_the_published_values() {
    let users = speed_ups();
    assert_eq!(totals(&users, "oef", &[("variant", "equal")]), qs(&["15/7", "15/7"]));
    assert_eq!(totals(&users, "oef", &[]), qs(&["3/2", "15/4"]));
    assert_eq!(totals(&users, "oef", &[("variant", "envy-free")]), qs(&["3/2", "15/4"]));
}

#[test]
fn mechanisms_without_support_for_at_most_refuse_it() {
    let jobs = two_jobs();
    let keep = ["drf", "drfh", "cdrf", "tsf", "finish-time", "utilitarian", "proportional", "alpha", "oef"];
    for mechanism in registry::ALL {
        let id = mechanism.info.id;
        let mut flags = Flags::new(Arithmetic::Exact);
        if mechanism.takes("alpha") {
            flags = flags.with("alpha", "2");
        }
        let answer = mechanism.allocate_with(&jobs, &flags);
        if keep.contains(&id) && !["drf", "oef"].contains(&id) {
            assert!(answer.is_ok(), "{id}: {answer:?}");
        } else {
            assert!(matches!(answer, Err(MechanismError::NotApplicable { .. })), "{id}: {answer:?}");
        }
    }
    for id in ["drfh", "utilitarian", "oef"] {
        let answer = registry::find(id).unwrap().allocate(&jobs, Arithmetic::Float);
        assert!(matches!(answer, Err(MechanismError::NotApplicable { .. })), "{id}: {answer:?}");
    }
    let plain = problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "x", "capacity": {"gpu": 1}}], "users": [{"name": "a", "demand": {"gpu": 1}}]}));
    let answer = solved(&plain, "drfh", &[("reference", "best")]);
    assert!(matches!(answer, Err(MechanismError::BadOption { option: "reference", .. })), "{answer:?}");
}

/// Two jobs on one V100 and three K80: the first job has the higher ratio of rates, so it gets the V100. One job with
/// the rates 2 and 1 gets 2. Without `at_most`, the rates (4, 1) and (2, 1) on one accelerator of each type give 3 and
/// 3/2, as proportional fairness of two bidders.
#[test]
fn proportional_fairness_has_exact_answers_with_rates() {
    for (name, flags) in [("proportional", &[][..]), ("alpha", &[("alpha", "1/2")][..])] {
        assert_eq!(totals(&two_jobs(), name, flags), qs(&["4", "2"]), "{name}");
    }
    let two_users = |at_most: Option<&str>| {
        let user = |name: &str, slow: u32, fast: u32| {
            let mut user = json!({"name": name, "demand": {"gpu": 1}, "rates": {"slow": slow, "fast": fast}});
            if let Some(most) = at_most {
                user["at_most"] = json!(most);
            }
            user
        };
        problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "slow", "capacity": {"gpu": 1}}, {"name": "fast", "capacity": {"gpu": 1}}],
            "users": [user("a", 1, 4), user("b", 1, 2)]}))
    };
    assert_eq!(totals(&two_users(None), "proportional", &[]), qs(&["3", "3/2"]));
    // With the limit, the fast accelerator is divided so that `(1 + 3 t) (2 - t)` is largest: at t = 5/6.
    assert_eq!(totals(&two_users(Some("1")), "proportional", &[]), qs(&["7/2", "7/6"]));
}

/// Allocations that maximise a sum of utilities keep `at_most`. No feasible allocation gains more than the proven gap,
/// which the plain simplex method computes, and all checkers accept the certificate.
#[test]
fn sums_of_utilities_keep_the_limit_of_accelerators() {
    let mut exact = 0;
    for seed in 0..PROBLEMS {
        let mut rng = Pcg64::seed_from_u64(seed);
        let problem = rates::problem(rates::SMALL, &mut rng);
        if !(0..problem.n_users()).any(|n| problem.is_active(n)) {
            continue;
        }
        let alpha = 1 + u32::from(seed % 3 == 2);
        let outcome = match alpha {
            1 => registry::find("proportional").unwrap().allocate(&problem, Arithmetic::Exact),
            _ => {
                let flags = Flags::new(Arithmetic::Exact).with("alpha", "2");
                registry::find("alpha").unwrap().allocate_with(&problem, &flags)
            }
        };
        let outcome = outcome.unwrap();
        let gap = outcome.findings.gap.clone().unwrap();
        exact += u32::from(gap.is_zero());
        let totals = outcome.allocation.totals();
        let worth = |n: usize| match problem.is_active(n) {
            true => problem.users()[n].weight() / totals[n].clone().pow(alpha),
            false => Rational::new(),
        };
        let now: Rational = totals.iter().enumerate().map(|(n, x)| worth(n) * x).sum();
        let programme = Programme::new(&problem, Sharing::Rdm);
        let (best, _) = programme.maximise(|n, _| worth(n), Rational::new(), Vec::new()).optimal();
        let gain = Rational::from(&best - &now);
        assert!(gain >= 0 && gain <= gap, "{seed}: {gain} {gap}");
        assert!(gap <= Rational::from(&now / 10_000_000_000_u64), "{seed}: {gap}");
        if seed % 10 == 0 {
            let own = default_requests(&problem, &outcome.allocation);
            let text = judged(&problem, &outcome.allocation, &own, &q("1/1000000000"));
            assert!(text.contains(r#""axiom":"proportional""#), "{text}");
        }
    }
    assert!(exact > 1_300, "only {exact} answers are exact");
}

/// The partial allocation keeps the fractions 1/2 and 3/5 of the two users with the rates (4, 1) and (2, 1). On random
/// problems, the bounds of every fraction enclose the fraction in doubles, and no fraction is below `1/e`.
#[test]
fn the_partial_allocation_keeps_the_published_fractions() {
    let two = problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "slow", "capacity": {"gpu": 1}}, {"name": "fast", "capacity": {"gpu": 1}}],
        "users": [{"name": "a", "demand": {"gpu": 1}, "rates": {"slow": 1, "fast": 4}},
                  {"name": "b", "demand": {"gpu": 1}, "rates": {"slow": 1, "fast": 2}}]}));
    let partial = |problem: &Problem| {
        let flags = Flags::new(Arithmetic::Exact).with("partial", "");
        registry::find("proportional").unwrap().allocate_with(problem, &flags)
    };
    let outcome = partial(&two).unwrap();
    assert_eq!(outcome.findings.fractions, Some(vec![(q("1/2"), q("1/2")), (q("3/5"), q("3/5"))]));
    assert_eq!(outcome.allocation.totals(), qs(&["3/2", "9/10"]));
    let fair = |problem: &Problem| {
        let outcome = registry::find("proportional").unwrap().allocate(problem, Arithmetic::Exact).unwrap();
        outcome.allocation.totals().iter().map(Rational::to_f64).collect::<Vec<f64>>()
    };
    for seed in 0..200 {
        let problem = rates::problem(rates::SMALL, &mut Pcg64::seed_from_u64(seed));
        let active: Vec<usize> = (0..problem.n_users()).filter(|n| problem.is_active(*n)).collect();
        let outcome = partial(&problem).unwrap();
        let instance = Instance::new(&problem, &outcome.allocation).unwrap();
        assert!(evenhand_exact::axiom::feasible::holds_exactly(&instance), "{seed}");
        let (fractions, all) = (outcome.findings.fractions.unwrap(), fair(&problem));
        for &n in &active {
            let alone = fair(&problem.without_tasks_of(&[n]));
            let weight = |m: usize| problem.users()[m].weight().to_f64();
            let others = active.iter().filter(|m| **m != n);
            let log: f64 = others.map(|m| weight(*m) * (all[*m] / alone[*m]).ln()).sum();
            let expected = (log / weight(n)).exp();
            let (least, most) = (fractions[n].0.to_f64(), fractions[n].1.to_f64());
            assert!(
                least - 1e-9 <= expected && expected <= most + 1e-9,
                "{seed} {n} {expected} {least} {most}"
            );
            assert!(most - least < 1e-4 && most >= (-1_f64).exp(), "{seed} {n} {least} {most}");
        }
    }
}

/// Returns every request that applies to problems with rates, and some that do not.
fn requests() -> Vec<Request> {
    let share = |share| Request { axiom: Axiom::MaxMin, parameters: Parameters::from(Some(share)) };
    let shares = [
        Share::Dominant,
        Share::BestPart,
        Share::FinishTime,
        Share::TaskShare,
        Share::Containerized,
        Share::Asset,
    ];
    let alpha = |alpha: u32| Request {
        axiom: Axiom::Proportional,
        parameters: Parameters { share: None, alpha: Some(Rational::from(alpha)) },
    };
    let not_listed = [Axiom::MaxMin, Axiom::Proportional];
    let others = Axiom::ALL.into_iter().filter(|axiom| !not_listed.contains(axiom)).map(Request::of);
    others.chain(shares.map(share)).chain([alpha(1), alpha(2)]).collect()
}

/// Returns the text of the certificate, which all checkers accept.
fn judged(problem: &Problem, allocation: &Allocation, requests: &[Request], tolerance: &Rational) -> String {
    let examination = certify(problem, allocation, requests, tolerance).unwrap();
    let text = examination.certificate.to_json();
    let fault = plain::fault(&examination.certificate);
    assert_eq!(agreed_text(&text), Finding::Accepted, "{fault:?} {text}");
    assert_eq!(fault, None, "{text}");
    text
}

/// Returns a random allocation: the answer of a mechanism, or such an answer with some entries changed.
fn allocation(problem: &Problem, rng: &mut Pcg64) -> Allocation {
    let names = ["drfh", "finish-time", "tsf", "utilitarian", "proportional"];
    let mut allocation = solved(problem, names[rng.random_range(0..names.len())], &[]).unwrap();
    if rng.random_bool(0.5) {
        let factor = [q("1/2"), q("9/10"), q("11/10"), q("2")][rng.random_range(0..4)].clone();
        for tasks in &mut allocation.tasks {
            if rng.random_bool(0.5) {
                tasks.iter_mut().for_each(|(_, x)| *x *= &factor);
            }
        }
    }
    allocation
}

/// The shares of random problems equal the shares of the plain implementation.
#[test]
fn max_min_agrees_with_the_plain_implementation() {
    for seed in 0..PROBLEMS {
        let problem = rates::problem(rates::SMALL, &mut Pcg64::seed_from_u64(seed));
        let of = [
            ("drfh", &[][..], Share::Dominant),
            ("drfh", &[("reference", "best")][..], Share::BestPart),
            ("finish-time", &[][..], Share::FinishTime),
            ("tsf", &[][..], Share::TaskShare),
        ];
        let (name, flags, share) = of[(seed % 4) as usize];
        let allocation = solved(&problem, name, flags).unwrap();
        let u = share.coefficients(&problem).unwrap();
        check_coefficients(&problem, share, &u);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let levels = evenhand_exact::axiom::max_min::shares(&instance, &u).unwrap();
        assert_eq!(levels, reference::lexicographic(&problem, Sharing::Rdm, &u), "{seed} {name}");
        if seed % 10 == 0 {
            let own = default_requests(&problem, &allocation);
            let text = judged(&problem, &allocation, &own, &Rational::new());
            assert!(text.contains(r#""axiom":"max-min""#), "{text}");
        }
    }
}

/// Fails unless the coefficients of the engine equal the coefficients of the plain judge.
fn check_coefficients(problem: &Problem, share: Share, u: &ShareCoefficients) {
    let nothing = Allocation::empty(problem.n_users(), Sharing::Rdm);
    let of_plain = plain::Plain::new(problem, &nothing).coefficients(share).unwrap();
    for n in (0..problem.n_users()).filter(|n| problem.is_active(*n)) {
        for i in problem.classes_of(n) {
            assert_eq!(*u.of(n, i), of_plain[n][i]);
        }
    }
}

/// The sums of random problems equal the sums of the plain implementation.
#[test]
fn sums_agree_with_the_plain_implementation() {
    for seed in 0..PROBLEMS {
        let mut rng = Pcg64::seed_from_u64(seed);
        let problem = rates::problem(rates::SMALL, &mut rng);
        let weight = |n: usize| problem.users()[n].weight().clone();
        let programme = Programme::new(&problem, Sharing::Rdm);
        let (best, _) = programme.maximise(|n, _| weight(n), Rational::new(), Vec::new()).optimal();
        let utilitarian = totals(&problem, "utilitarian", &[]);
        let sum: Rational = utilitarian.iter().enumerate().map(|(n, x)| weight(n) * x).sum();
        assert_eq!(sum, best, "{seed}");
        let equal: Rational = totals(&problem, "oef", &[("variant", "equal")]).iter().sum();
        assert_eq!(Some(equal), optimum(&problem, Axiom::OptimalEqual), "{seed} {problem:?}");
        let shape = Shape { at_most: false, finite: false, ..rates::SMALL };
        let unlimited = rates::problem(shape, &mut rng);
        let answer = solved(&unlimited, "oef", &[]).unwrap();
        let sum: Rational = answer.totals().iter().sum();
        assert_eq!(Some(sum), optimum(&unlimited, Axiom::OptimalEnvyFree), "{seed} {unlimited:?}");
        let envy = certify(&unlimited, &answer, &[Request::of(Axiom::EnvyFree)], &Rational::new()).unwrap();
        assert_eq!(envy.certificate.claims[0].outcome(), Outcome::Holds, "{seed}");
    }
}

/// All checkers accept the certificates of random allocations, and agree on damaged ones.
#[test]
fn the_checkers_agree() {
    let tolerances = [q("0"), q("1/1000"), q("1/5")];
    let requests = requests();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..300 {
        let mut rng = Pcg64::seed_from_u64(1_000_000 + seed);
        let problem = rates::problem(Shape { users: 4, ..rates::SMALL }, &mut rng);
        let allocation = allocation(&problem, &mut rng);
        let text = judged(&problem, &allocation, &requests, &tolerances[(seed % 3) as usize]);
        let document: Value = serde_json::from_str(&text).unwrap();
        for _ in 0..34 {
            let mut damaged = document.clone();
            let what = damage(&mut damaged, &mut rng);
            match agreed_text(&damaged.to_string()) {
                Finding::Accepted => accepted += 1,
                Finding::Refused(_) | Finding::Malformed(_) => refused += 1,
                other => panic!("{seed} {what}: {other:?}"),
            }
        }
    }
    assert!(refused > 5_000, "{refused} refused, {accepted} accepted");
}

/// A certificate whose allocation uses more accelerators than a user may is refused. So are prices of accelerators that
/// are missing, too low, or of a user without a limit.
#[test]
fn the_limit_is_never_ignored() {
    let jobs = two_jobs();
    let best = solved(&jobs, "drfh", &[("reference", "best")]).unwrap();
    let own = default_requests(&jobs, &best);
    let text = judged(&jobs, &best, &own, &Rational::new());
    for (from, to) in [
        // The limit of `a` would be exceeded: 1/2 accelerator on the V100 and 3/2 on K80.
        (r#""a":{"v100":"2","k80":"1/2"}"#, r#""a":{"v100":"2","k80":"3/2"}"#),
        (r#""at_most":"1""#, r#""at_most":"1/2""#),
        (r#""at_most":"1""#, r#""at_most":"2""#),
        (r#","at_most":"1""#, ""),
        (r#""at_most_prices":{"#, r#""other_prices":{"#),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from} {text}");
        assert_ne!(agreed_text(&damaged), Finding::Accepted, "{from} {to}");
    }
    let free = text.replace(r#","at_most":"1""#, "");
    assert_ne!(agreed_text(&free), Finding::Accepted);
    // No user can have all of the cluster's capacity, so prices of accelerators are needed.
    assert!(text.contains("at_most_prices"), "{text}");
}

#[test]
fn files_state_rates_and_follow_from_them() {
    let text = problem_to_json(&two_jobs());
    assert!(
        text.contains(r#"{"name":"a","demand":{"gpu":"1"},"rates":{"v100":"4","k80":"1"},"at_most":"1"}"#),
        "{text}"
    );
    let again = Source { name: "again", text: &text }.problem().unwrap();
    assert_eq!(again, two_jobs());
    let of = |rates: Value, servers: Value| {
        let mut user = json!({"name": "a", "demand": {"gpu": 2}, "rates": rates});
        if !servers.is_null() {
            user["servers"] = servers;
        }
        problem(&json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "x", "capacity": {"gpu": 1}}, {"name": "y", "capacity": {"gpu": 1}}],
            "users": [user]}))
    };
    // Zeros, and rates on classes that the user may not use, change nothing.
    let hash = problem_sha256(&of(json!({"x": 3}), Value::Null));
    assert_eq!(hash, problem_sha256(&of(json!({"x": "3", "y": 0}), Value::Null)));
    assert_eq!(hash, problem_sha256(&of(json!({"y": 5, "x": 3}), json!(["x"]))));
    assert_ne!(hash, problem_sha256(&of(json!({"x": 4}), Value::Null)));
    let user = &of(json!({"x": 3, "y": 1}), Value::Null).users()[0].clone();
    assert_eq!(user.demand_on(0)[0], q("2/3"));
    assert_eq!(user.demand_on(1)[0], 2);
}

#[test]
fn wrong_rates_are_refused() {
    let user = |more: Value| {
        let mut user = json!({"name": "a", "demand": {"gpu": 1}});
        for (field, value) in more.as_object().unwrap() {
            user[field] = value.clone();
        }
        let text = json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "x", "capacity": {"gpu": 1}}, {"name": "y", "capacity": {"gpu": 1}}],
            "groups": if more["group"].is_null() { json!([]) } else { json!([{"name": "g"}]) },
            "users": [user]})
        .to_string();
        let error = Source { name: "p", text: &text }.problem().unwrap_err().to_string();
        // The kernel also refuses this problem.
        let kernel = format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {text}, "allocation": {{"kind": "allocation",
            "tasks": {{}}}}, "not_checked": [], "claims": [{{"axiom": "non-wasteful", "holds": true, "margin": "0"}}]}}"#
        );
        assert!(matches!(agreed_text(&kernel), Finding::Malformed(_)), "{kernel}");
        error
    };
    for (more, expected) in [
        (json!({"rates": {"x": -1}}), "users[0].rates.x: -1 is negative"),
        (json!({"rates": {"z": 1}}), "there is no server `z`"),
        (json!({"rates": {"x": 0}}), "no server class that user `a` may use has a rate above 0"),
        (json!({"rates": {}}), "no server class that user `a` may use has a rate above 0"),
        (
            json!({"rates": {"x": 1}, "servers": ["y"]}),
            "no server class that user `a` may use has a rate above 0",
        ),
        (json!({"rates": {"x": 1}, "at_most": 0}), "users[0].at_most: 0 is not positive"),
        (json!({"at_most": 1}), "`at_most` needs `rates`"),
        (
            json!({"rates": {"x": 1}, "demand_on": {"x": {"gpu": 1}}}),
            "`rates` cannot be combined with `demand_on`",
        ),
        (json!({"rates": {"x": 1}, "gamma": {"x": 1}}), "`rates` cannot be combined with `gamma`"),
        (json!({"rates": {"x": 1}, "group": "g"}), "`rates` are not supported in a problem with groups"),
        (json!({"rates": {"x": 1}, "demand": {}}), "demands nothing"),
    ] {
        let error = user(more);
        assert!(error.contains(expected), "{error}: expected {expected}");
    }
}
