//! Tests of rules that divide every resource separately, against plain loops that share no code with them.

use evenhand_mechanisms::tree::{self, Rule, Settings};
use evenhand_problem::format::Source;
use evenhand_problem::{Problem, Rational};
use evenhand_testkit::plain::alone::{Alone, entitled};
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// Returns a random tree of queues with guarantees. Some guarantees are kept and others are lent.
fn random(seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut document = trees::json(&mut rng, Shape { groups: 8, users: 10, classes: 3 });
    for group in document["groups"].as_array_mut().unwrap() {
        let Some(promised) = group["guarantee"].as_object().cloned() else { continue };
        if rng.random_bool(0.5) {
            let lent = |(r, amount): (&String, &Value), rng: &mut Pcg64| {
                (r.clone(), json!(rng.random_range(0..=amount.as_u64().unwrap())))
            };
            group["lend"] = promised.iter().map(|of| lent(of, &mut rng)).collect();
        }
    }
    let text = document.to_string();
    Source { name: "tree", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn entitlements_agree_with_plain_loops() {
    let rules = [
        (Rule::Kai, Alone::Kai),
        (Rule::Volcano, Alone::Volcano),
        (Rule::VolcanoCapacity, Alone::VolcanoCapacity),
    ];
    let (mut compared, mut differ, mut some) = (0, 0, 0);
    for seed in 0..3000 {
        let problem = random(seed);
        let mut of_rules = Vec::new();
        for (rule, plain) in rules {
            let settings = Settings { rule: Some(rule), ..Settings::default() };
            let Ok(Some(found)) = tree::entitlements(&problem, &settings) else { continue };
            for (r, (groups, users)) in entitled(&problem, plain).into_iter().enumerate() {
                for (v, amount) in groups.iter().enumerate() {
                    assert_eq!(found.groups[v][r], *amount, "{rule}, seed {seed}, group {v}, resource {r}");
                }
                for (n, amount) in users.iter().enumerate() {
                    let of_user = found.users[n].as_ref().map_or_else(Rational::new, |of| of[r].clone());
                    assert_eq!(of_user, *amount, "{rule}, seed {seed}, user {n}, resource {r}");
                }
            }
            compared += 1;
            some += usize::from(found.groups.iter().flatten().any(|amount| *amount > 0));
            of_rules.push(found);
        }
        differ += usize::from(of_rules.len() == 3 && of_rules[1] != of_rules[2]);
    }
    assert!(compared > 6000 && differ > 1000 && some > 5000, "{compared} {differ} {some}");
}
