//! Dedicated clouds: whole servers are divided among users by weight.

use evenhand_problem::format::Source;
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec, dedicated};
use proptest::prelude::*;

fn problem(counts: &[u32], weights: &[u32]) -> Problem {
    let amount = |of: u32| vec![("cpu".to_owned(), Rational::from(of))];
    let servers = counts.iter().enumerate().map(|(i, count)| ServerSpec {
        name: format!("s{i}"),
        count: Some(Rational::from(*count)),
        capacity: amount(7),
    });
    let users = weights.iter().enumerate().map(|(n, weight)| UserSpec {
        name: format!("u{n}"),
        weight: Some(Rational::from(*weight)),
        demand: amount(2),
        ..UserSpec::default()
    });
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec { resources: vec!["cpu".to_owned()], servers, users, ..ProblemSpec::default() })
        .unwrap()
}

proptest! {
    /// Checks that every server has one owner, and that no user is far from its share of all servers.
    #[test]
    fn dedicated_servers_are_in_proportion_to_weights(
        counts in prop::collection::vec(1_u32..40, 1..6),
        weights in prop::collection::vec(1_u32..9, 1..6),
    ) {
        let problem = problem(&counts, &weights);
        // Three and a half tasks fit on each server.
        let divided = dedicated(&problem, false);
        let on_class = |n: usize, i: usize| {
            let tasks = divided.tasks[n].iter().find(|(at, _)| *at == i).map(|(_, tasks)| tasks.clone());
            tasks.unwrap_or_default() * Rational::from((2, 7))
        };
        let own: Vec<Vec<Rational>> =
            (0..weights.len()).map(|n| (0..counts.len()).map(|i| on_class(n, i)).collect()).collect();
        prop_assert!(own.iter().flatten().all(Rational::is_integer));
        for (i, count) in counts.iter().enumerate() {
            prop_assert_eq!(own.iter().map(|own| &own[i]).sum::<Rational>(), *count);
        }
        let (all, servers) = (weights.iter().sum::<u32>(), counts.iter().sum::<u32>());
        for (own, weight) in own.iter().zip(&weights) {
            let part = Rational::from((servers * weight, all));
            let apart = own.iter().sum::<Rational>() - part;
            prop_assert!(apart.abs() < weights.len());
        }
        // Three whole tasks fit on a server.
        let total = |whole| dedicated(&problem, whole).totals().into_iter().sum::<Rational>();
        prop_assert_eq!(total(true), servers * 3);
        prop_assert_eq!(total(false), Rational::from((servers * 7, 2)));
    }
}

#[test]
fn dedicated_users_run_at_most_all_their_tasks() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "count": 4, "capacity": {"cpu": 3}}],
        "users": [{"name": "u", "demand": {"cpu": 2}, "tasks": "3/2"}, {"name": "v", "demand": {"cpu": 2}},
                  {"name": "w", "demand": {"cpu": 9}, "tasks": 0}]}"#;
    let problem = Source { name: "p.json", text }.problem().unwrap();
    // A user without tasks gets no servers.
    assert_eq!(dedicated(&problem, true).totals(), [1, 2, 0]);
    assert_eq!(
        dedicated(&problem, false).totals(),
        [Rational::from((3, 2)), Rational::from(3), Rational::new()]
    );
}
