//! Example certificates about the most tasks in total under a condition.

use evenhand_exact::{Axiom, Certificate, EnvyPrices, Evidence, Instance, Prices};

use super::{allocation, certificate, derived, problem, tasks, with};
use crate::q;

/// Returns certificates of claims that hold, and of claims that are violated.
pub(super) fn certificates() -> Vec<(&'static str, Certificate)> {
    // The speed-ups of docs/accelerators.md, stated as demands. Other formats of certificates have no rates.
    let speed_ups = problem(
        r#"{"kind": "allocation-problem", "name": "speed-ups", "resources": ["gpu"],
        "servers": [{"name": "slow", "capacity": {"gpu": 1}}, {"name": "fast", "capacity": {"gpu": 1}}],
        "users": [{"name": "vision", "demand": {"gpu": 1}, "demand_on": {"fast": {"gpu": "1/2"}}},
                  {"name": "speech", "demand": {"gpu": 1}, "demand_on": {"fast": {"gpu": "1/5"}}}]}"#,
    );
    let x = allocation(&speed_ups, r#"{"vision": {"slow": 1, "fast": "1/2"}, "speech": {"fast": "15/4"}}"#);
    let instance = Instance::new(&speed_ups, &x).unwrap();
    // The bundle of speech is worth to vision as many tasks as vision has, so only this envy has a price.
    let free = EnvyPrices { rows: vec![(0, q("7/4")), (1, q("7/2"))], envy: vec![(0, 1, q("3/4"))] };
    let mut claims = derived(&instance);
    claims.push(with(Axiom::OptimalEnvyFree, None, Evidence::EnvyPrices(free), &instance));
    let better = tasks(&[&[(0, "1"), (1, "8/7")], &[(1, "15/7")]]);
    let wasted = allocation(&speed_ups, r#"{"vision": {"slow": 1}, "speech": {"fast": 1}}"#);
    let of_wasted = Instance::new(&speed_ups, &wasted).unwrap();
    let mut of_violated = derived(&of_wasted);
    of_violated.push(with(Axiom::OptimalEqual, None, Evidence::Better(better.clone()), &of_wasted));
    let envied = tasks(&[&[(0, "1"), (1, "1/2")], &[(1, "15/4")]]);
    of_violated.push(with(Axiom::OptimalEnvyFree, None, Evidence::Better(envied), &of_wasted));

    let equal =
        allocation(&speed_ups, r#"{"vision": {"slow": 1, "fast": "8/7"}, "speech": {"fast": "15/7"}}"#);
    let of_equal = Instance::new(&speed_ups, &equal).unwrap();
    // A task of vision costs 10/7 on both accelerators, and a task of speech on the fast one costs 4/7.
    let prices = Prices {
        user_weights: vec![q("10/7"), q("4/7")],
        rows: vec![q("10/7"), q("20/7")],
        ..Prices::zero(&of_equal)
    };
    let mut of_levels = derived(&of_equal);
    of_levels.push(with(Axiom::OptimalEqual, None, Evidence::Prices(prices), &of_equal));
    vec![
        ("optimal-envy-free", certificate(&speed_ups, &x, claims)),
        ("optimal-violated", certificate(&speed_ups, &wasted, of_violated)),
        ("optimal-equal", certificate(&speed_ups, &equal, of_levels)),
    ]
}
