//! Tests of alpha fairness with the weight inside the utility (Kesidis, equation 5), against its closed form on one
//! resource.

use evenhand_exact::Axiom;
use evenhand_mechanisms::{Flags, Outcome, Status, registry};
use evenhand_problem::format::Source;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Arithmetic, Problem, Rational};
use proptest::prelude::*;

/// The capacity of the only resource.
const CAPACITY: f64 = 80.0;

/// Returns a problem of users on one server. `users` lists the weight, the demand and the criterion of each
/// user.
fn one_resource(users: &[(u32, u32, u32)]) -> Problem {
    let user = |(n, (weight, demand, criterion)): (usize, &(u32, u32, u32))| {
        format!(
            r#"{{"name": "u{n}", "weight": {weight}, "demand": {{"cpu": {demand}}}, "criterion": {{"s": {criterion}}}}}"#
        )
    };
    let users: Vec<String> = users.iter().enumerate().map(user).collect();
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{{"name": "s", "capacity": {{"cpu": {CAPACITY}}}}}],
            "users": [{}]}}"#,
        users.join(", ")
    );
    Source { name: "p.json", text: &text }.problem().unwrap()
}

fn solve(problem: &Problem, alpha: &str, flags: &[&'static str]) -> Outcome {
    let asked = Flags::new(Arithmetic::Exact).with("alpha", alpha);
    let asked = flags.iter().fold(asked, |asked, name| asked.with(name, ""));
    registry::find("alpha").unwrap().allocate_with(problem, &asked).unwrap()
}

/// Returns the optimum of `sum w g(u x / w)`. It satisfies `u (u x / w)^-a = p d` for the price `p` at which the
/// resource is used up.
fn closed_form(users: &[(u32, u32, u32)], alpha: f64) -> Vec<f64> {
    let at_price_1 = users.iter().map(|&(w, d, u)| {
        let (w, d, u) = (f64::from(w), f64::from(d), f64::from(u));
        w / u * (u / d).powf(1.0 / alpha)
    });
    let at_price_1: Vec<f64> = at_price_1.collect();
    let used: f64 = at_price_1.iter().zip(users).map(|(x, user)| x * f64::from(user.1)).sum();
    at_price_1.into_iter().map(|x| x * CAPACITY / used).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn one_resource_agrees_with_the_closed_form_of_equation_5(
        mut users in prop::collection::vec((1_u32..20, 1_u32..9, 1_u32..9), 1..6),
        (text, alpha) in prop::sample::select(vec![("1/2", 0.5), ("2", 2.0), ("3/2", 1.5), ("3", 3.0), ("1", 1.0)]),
        criterion: bool,
    ) {
        if !criterion {
            users.iter_mut().for_each(|user| user.2 = 1);
        }
        let flags: &[&'static str] = if criterion { &["per-weight", "criterion"] } else { &["per-weight"] };
        let outcome = solve(&one_resource(&users), text, flags);
        prop_assert_eq!(outcome.findings.status, Some(Status::Solved));
        let right = closed_form(&users, alpha);
        for (x, right) in outcome.allocation.totals().iter().zip(right) {
            prop_assert!((to_f64(x) - right).abs() <= 1e-4 * right, "{} {}", x, right);
        }
    }
}

#[test]
fn weights_whose_powers_are_rational_lead_to_rational_optima() {
    let problem = one_resource(&[(4, 1, 1), (1, 1, 1)]);
    let divided = solve(&problem, "1/2", &["per-weight"]);
    assert_eq!(divided.allocation.totals(), [64, 16].map(Rational::from));
    assert_eq!(divided.findings.gap, Some(Rational::new()));
    // The condition of equation 15 is 4 x^-1/2 = y^-1/2.
    let plain = solve(&problem, "1/2", &[]).allocation.totals();
    assert_eq!(plain, [(1280, 17), (80, 17)].map(Rational::from));
}

#[test]
fn another_objective_claims_no_axiom_of_the_stated_weights() {
    let problem = one_resource(&[(4, 1, 1), (1, 1, 1)]);
    let own = |alpha: &str, flags: &[&'static str]| {
        let allocation = solve(&problem, alpha, flags).allocation;
        (registry::axiom_of(&allocation).map(|(axiom, _)| axiom), allocation.rule)
    };
    assert_eq!(own("2", &["per-weight"]), (None, Some("per-weight".to_owned())));
    assert_eq!(own("2", &[]), (Some(Axiom::Proportional), None));
    // The two objectives differ by a constant.
    assert_eq!(own("1", &["per-weight"]), (Some(Axiom::Proportional), None));
}
