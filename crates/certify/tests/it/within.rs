//! Tests of optimality within limits of groups. All checkers agree on certified allocations, and all refuse damaged
//! certificates.

use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Claim, Evidence, Outcome, Parameters, Share};
use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn problem(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "limits", text: &text }.problem().unwrap()
}

fn allocation(problem: &Problem, tasks: &Value) -> Allocation {
    let text = json!({"kind": "allocation", "arithmetic": "exact", "tasks": tasks}).to_string();
    Source { name: "x", text: &text }.allocation(problem).unwrap().allocation
}

fn filled(problem: &Problem) -> Allocation {
    registry::find("tree").unwrap().allocate(problem, Arithmetic::Exact).unwrap().allocation
}

/// Returns every axiom that compares an allocation with all possible allocations, if the numbers stay short.
fn requests() -> Vec<Request> {
    let of = |axiom, share: Option<Share>| Request { axiom, parameters: Parameters::from(share) };
    let alpha = |alpha: u32| Request {
        axiom: Axiom::Proportional,
        parameters: Parameters { share: None, alpha: Some(Rational::from(alpha)) },
    };
    vec![
        of(Axiom::ParetoOptimal, None),
        of(Axiom::MaxMin, Some(Share::Dominant)),
        of(Axiom::MaxMin, Some(Share::TaskShare)),
        of(Axiom::BottleneckFair, None),
        of(Axiom::GlobalBottleneckFair, None),
        of(Axiom::SingleResourceFair, None),
        alpha(1),
        alpha(2),
    ]
}

/// Returns the claims, which all three checkers accept, with the text of the certificate.
fn agreed_claims(problem: &Problem, allocation: &Allocation, requests: &[Request]) -> (Vec<Claim>, String) {
    let examination = certify(problem, allocation, requests, &Rational::new()).unwrap();
    let text = examination.certificate.to_json();
    // A user that can have no tasks within the limits has no proportional share.
    let is_open = |(axiom, _): &(Axiom, _)| *axiom == Axiom::Proportional;
    assert!(examination.undecided.iter().all(is_open), "{:?} {text}", examination.undecided);
    assert_eq!(agreed_text(&text), Finding::Accepted, "{text}");
    assert_eq!(plain::fault(&examination.certificate), None, "{text}");
    (examination.certificate.claims, text)
}

/// Returns a problem with two groups that may each use 4 of 10 CPUs.
fn two_limited_groups() -> Value {
    json!({"kind": "allocation-problem", "resources": ["cpu"],
           "servers": [{"name": "s", "capacity": {"cpu": 10}}],
           "groups": [{"name": "g", "limit": {"cpu": 4}}, {"name": "h", "limit": {"cpu": 4}}],
           "users": [{"name": "a", "demand": {"cpu": 1}, "group": "g"},
                     {"name": "b", "demand": {"cpu": 1}, "group": "h"}]})
}

#[test]
fn users_with_all_that_limits_allow_are_optimal() {
    let problem = problem(&two_limited_groups());
    let tree = filled(&problem);
    let asked = default_requests(&problem, &tree);
    assert!(asked.iter().any(|request| request.axiom == Axiom::ParetoOptimal));
    for claim in agreed_claims(&problem, &tree, &asked)
        .0
        .into_iter()
        .chain(agreed_claims(&problem, &tree, &requests()).0)
    {
        assert_eq!(claim.outcome(), Outcome::Holds, "{claim:?}");
    }
}

#[test]
fn wasting_capacity_that_limits_allow_is_not_optimal() {
    let problem = problem(&two_limited_groups());
    let x = allocation(&problem, &json!({"a": {"s": 4}, "b": {"s": 3}}));
    let (claims, text) = agreed_claims(&problem, &x, &requests()[..1]);
    // `b` can have one more task, of the ten that it would have alone. It cannot have two more, although the server has
    // free capacity for them.
    assert_eq!(claims[0].margin, Some(Rational::from((-1, 10))));
    let Evidence::Dominating(y) = &claims[0].evidence else { panic!("{claims:?}") };
    assert_eq!(y[1], [(0, Rational::from(4))]);
    let beyond = text.replace(r#""b":{"s":"4"}"#, r#""b":{"s":"5"}"#).replace("-1/10", "-1/5");
    assert_ne!(beyond, text);
    assert!(matches!(agreed_text(&beyond), Finding::Refused(_)));
}

/// An allocation that exceeds a limit is compared with allocations that exceed the limit no further.
#[test]
fn an_exceeded_limit_may_stay_exceeded() {
    let problem = problem(&two_limited_groups());
    let x = allocation(&problem, &json!({"a": {"s": 6}, "b": {"s": 4}}));
    let (claims, _) = agreed_claims(&problem, &x, &requests()[..1]);
    assert_eq!(claims[0].outcome(), Outcome::Holds);
    let x = allocation(&problem, &json!({"a": {"s": 5}, "b": {"s": 3}}));
    assert_eq!(agreed_claims(&problem, &x, &requests()[..1]).0[0].margin, Some(Rational::from((-1, 10))));
}

#[test]
fn axioms_do_not_apply_to_capacity_kept_back_or_time_sharing() {
    let mut document = two_limited_groups();
    document["groups"][0]["guarantee"] = json!({"cpu": 2});
    document["groups"][0]["lend"] = json!({"cpu": 1});
    let holding = problem(&document);
    let (claims, text) = agreed_claims(&holding, &filled(&holding), &requests());
    for claim in claims {
        assert_eq!(claim.outcome(), Outcome::NotApplicable);
        assert!(claim.why.is_some_and(|why| why == "groups hold resources back"));
    }
    // An axiom that does not apply may not be claimed, whatever prices are given.
    let priced = r#""holds":true,"margin":"0","evidence":{"user_weights":{"a":"1","b":"1"},"prices":{},
        "limit_prices":[{"group":"g","resource":"cpu","price":"1"},{"group":"h","resource":"cpu","price":"1"}]}"#;
    let open = r#""holds":null,"margin":null,"evidence":{},"why":"groups hold resources back""#;
    let claimed = text.replacen(open, priced, 1);
    assert_ne!(claimed, text);
    assert!(matches!(agreed_text(&claimed), Finding::Refused(_)));
    let mut document = two_limited_groups();
    document["users"][0]["gamma"] = json!({"s": 3});
    let timed = problem(&document);
    let x = allocation(&timed, &json!({"a": {"s": 1}, "b": {"s": 4}}));
    assert_eq!(agreed_claims(&timed, &x, &requests()[..1]).0[0].outcome(), Outcome::NotApplicable);
}

/// Whole tasks on single servers. In one case a limit allows no more tasks, in the other case it does.
#[test]
fn optimality_of_whole_tasks_respects_limits() {
    let mut document = two_limited_groups();
    document["servers"][0]["count"] = json!(2);
    let problem = problem(&document);
    let place = |of_b: u32| {
        let text = json!({"kind": "allocation", "arithmetic": "exact", "placements": [
            {"server": "s", "index": 0, "tasks": {"a": 4}}, {"server": "s", "index": 1, "tasks": {"b": of_b}}]});
        let text = text.to_string();
        Source { name: "x", text: &text }.allocation(&problem).unwrap().allocation
    };
    let request = [Request::of(Axiom::IntegerParetoOptimal)];
    assert_eq!(agreed_claims(&problem, &place(4), &request).0[0].outcome(), Outcome::Holds);
    let (claims, text) = agreed_claims(&problem, &place(3), &request);
    assert_eq!(claims[0].outcome(), Outcome::Violated);
    let beyond = text.replacen(r#""b":"4""#, r#""b":"5""#, 1);
    assert_ne!(beyond, text);
    assert!(matches!(agreed_text(&beyond), Finding::Refused(_)));
}

/// The queues of the documentation.
#[test]
fn three_teams_get_an_optimal_allocation_within_their_limits() {
    let text = include_str!("../../../../examples/queues.json");
    let problem = Source { name: "queues", text }.problem().unwrap();
    let tree = filled(&problem);
    let claims = agreed_claims(&problem, &tree, &default_requests(&problem, &tree)).0;
    assert!(claims.iter().any(|claim| claim.axiom == Axiom::ParetoOptimal));
    assert!(claims.iter().all(|claim| claim.outcome() == Outcome::Holds), "{claims:?}");
}

/// Random problems with limits on the whole cluster and on classes: every axiom is decided, and all checkers agree.
#[test]
fn checkers_agree_on_random_limits() {
    let mut rng = Pcg64::seed_from_u64(31);
    let (mut found, mut priced) = ([0; 3], 0);
    for seed in 0..150 {
        let mut document = trees::json(&mut rng, Shape { groups: 5, users: 6, classes: 1 + seed % 3 });
        for group in document["groups"].as_array_mut().unwrap().iter_mut().filter(|_| seed % 5 > 0) {
            group.as_object_mut().unwrap().remove("lend");
        }
        if seed % 2 == 0 {
            trees::limit_classes(&mut rng, &mut document);
        }
        if seed % 4 < 2 {
            trees::demands_by_class(&mut rng, &mut document);
        }
        let problem = problem(&document);
        let mut allocation = filled(&problem);
        allocation.mechanism = None;
        for scaled in [false, true] {
            for x in allocation.tasks.iter_mut().flatten().filter(|_| scaled) {
                x.1 *= Rational::from((rng.random_range(2..=5), 4));
            }
            let (claims, text) = agreed_claims(&problem, &allocation, &requests());
            for claim in &claims {
                found[claim.holds.map_or(2, usize::from)] += 1;
            }
            let Some(at) = text.find(r#""limit_prices":["#) else { continue };
            priced += 1;
            damaged(&text, at, &problem);
        }
    }
    assert!(found.iter().all(|count| *count > 40) && priced > 40, "{found:?} {priced}");
}

/// Fails unless certificates with another price, a limit that is named twice, or an unknown group are refused.
fn damaged(text: &str, at: usize, problem: &Problem) {
    let (before, after) = text.split_at(at + r#""limit_prices":["#.len());
    let (first, rest) = after.split_once('}').unwrap();
    let refused = |text: String| {
        let found = agreed_text(&text);
        assert!(!matches!(found, Finding::Accepted), "{text}");
    };
    refused(format!("{before}{first}}},{first}}}{rest}"));
    let name = |v: usize| format!(r#""group":"{}""#, problem.groups().list()[v].name);
    let own = (0..problem.groups().list().len()).map(name).find(|name| first.contains(name)).unwrap();
    refused(format!("{before}{}}}{rest}", first.replace(&own, r#""group":"nobody""#)));
    let (start, price) = first.rsplit_once(r#""price":"#).unwrap();
    refused(format!("{before}{start}\"price\":\"-1\"}}{rest}"));
    let price = price.trim_matches('"');
    refused(format!("{before}{start}\"price\":\"{price}1\"}}{rest}"));
}
