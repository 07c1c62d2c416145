//! The servers of PS-DSF on their own clocks.

use evenhand_problem::Problem;
use evenhand_problem::format::Source;
use evenhand_simulate::Duration;
use evenhand_simulate::SimulateError;
use evenhand_simulate::distributed::{Absence, Network, follow};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// Returns a random cluster with up to 5 users and up to 20 servers of 3 classes.
fn random_cluster(seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut amounts =
        |rng: &mut Pcg64| json!({"cpu": rng.random_range(1..=9), "memory": rng.random_range(1..=9)});
    let classes = rng.random_range(1..=3);
    let server = |rng: &mut Pcg64, i: usize, amounts: &mut dyn FnMut(&mut Pcg64) -> Value| json!({"name": format!("s{i}"), "count": rng.random_range(1..=6), "capacity": amounts(rng)});
    let servers: Vec<Value> = (0..classes).map(|i| server(&mut rng, i, &mut amounts)).collect();
    let mut user = |n: usize| {
        let mut of =
            json!({"name": format!("u{n}"), "weight": rng.random_range(1..=3), "demand": amounts(&mut rng)});
        if classes > 1 && rng.random_bool(0.3) {
            of["servers"] = json!([format!("s{}", rng.random_range(0..classes))]);
        }
        of
    };
    let users: Vec<Value> = (0..2 + seed as usize % 4).map(&mut user).collect();
    let text = json!({"kind": "allocation-problem", "resources": ["cpu", "memory"], "servers": servers, "users": users});
    let text = text.to_string();
    Source { name: "random", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The counts for 120 clusters are in docs/scenarios.md (`EVENHAND_CLUSTERS=120`).
#[test]
fn random_clusters_converge() {
    let clusters = std::env::var("EVENHAND_CLUSTERS").map_or(24, |count| count.parse().unwrap());
    for (delay, loss) in [(0.0, 0.0), (0.5, 0.0), (3.0, 0.0), (0.5, 0.3), (3.0, 0.3)] {
        let delay_ = Duration::Constant(delay);
        let network = Network { random_phases: true, delay: delay_, loss, step: 0.5, ..Network::default() };
        let (mut settled, mut other) = (0, 0);
        for seed in 0..clusters {
            let states = follow(&random_cluster(seed), &[], network, (1_500.0, 10.0), seed, None).unwrap().0;
            let last = states.last().unwrap();
            let is_still = |state: &evenhand_simulate::distributed::State| {
                let pairs = state.totals.iter().zip(&last.totals);
                pairs.into_iter().all(|(then, now)| (then - now).abs() <= 1e-6 * now.max(1.0))
            };
            let is_settled = states.iter().rev().take(10).all(is_still);
            settled += u64::from(is_settled);
            other += u64::from(is_settled && last.distance > 1e-6);
        }
        println!(
            "delay {delay}, loss {loss}: {settled} of {clusters} settle, {other} of them elsewhere than `ps-dsf`"
        );
        assert!(3 * settled >= 2 * clusters, "delay {delay}, loss {loss}: {settled} of {clusters}");
    }
}

/// Returns the cluster of PS-DSF, Figure 5, with the values that Table III implies.
fn cluster() -> Problem {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "A", "count": 8, "capacity": {"cpu": 1, "memory": 1}},
                    {"name": "B", "count": 68, "capacity": {"cpu": 0.5, "memory": 0.5}},
                    {"name": "C", "count": 33, "capacity": {"cpu": 0.5, "memory": 0.25}},
                    {"name": "D", "count": 11, "capacity": {"cpu": 0.5, "memory": 0.75}}],
        "users": [{"name": "1", "weight": 2, "demand": {"cpu": 0.1, "memory": 0.1}},
                  {"name": "2", "weight": 2, "demand": {"cpu": "2/15", "memory": 0.2}},
                  {"name": "3", "demand": {"cpu": 0.2, "memory": 0.1}, "servers": ["C", "D"]},
                  {"name": "4", "demand": {"cpu": 0.2, "memory": 0.3}, "servers": ["C", "D"]}]}"#;
    Source { name: "figure 5", text }.problem().unwrap()
}

const AWAY: [Absence; 1] = [Absence { user: 3, from: 20.0, to: 40.0 }];

#[test]
fn fresh_reports_converge_to_the_exact_allocation() {
    for random_phases in [false, true] {
        let network = Network { random_phases, ..Network::default() };
        let states = follow(&cluster(), &AWAY, network, (60.0, 1.0), 5, None).unwrap().0;
        assert_eq!(states.len(), 61 - usize::from(states.len() == 60));
        for state in states.iter().filter(|state| [15.0, 35.0, 55.0].contains(&state.time)) {
            assert!(state.distance < 1e-9, "{state:?}");
        }
        assert_eq!(states[30].totals[3], 0.0);
        let totals: Vec<f64> = states[15].totals.iter().map(|total| total.round()).collect();
        assert_eq!(totals, [210.0, 105.0, 83.0, 28.0]);
    }
}

#[test]
fn late_and_lost_reports_keep_servers_within_their_capacity() {
    let network =
        Network { random_phases: true, delay: Duration::Uniform(0.0, 3.0), loss: 0.3, ..Network::default() };
    let states = follow(&cluster(), &AWAY, network, (60.0, 1.0), 5, None).unwrap().0;
    assert!(
        states.iter().flat_map(|state| state.utilisation.iter().flatten()).all(|used| *used <= 1.0 + 1e-9)
    );
    assert_eq!(states, follow(&cluster(), &AWAY, network, (60.0, 1.0), 5, None).unwrap().0);
    assert_ne!(states, follow(&cluster(), &AWAY, network, (60.0, 1.0), 6, None).unwrap().0);
}

#[test]
fn short_steps_converge_despite_late_and_lost_reports() {
    for (delay, loss) in [(0.5, 0.0), (0.5, 0.3), (3.0, 0.0)] {
        let delay = Duration::Constant(delay);
        let network = Network { random_phases: loss > 0.0, delay, loss, step: 0.5, ..Network::default() };
        let states = follow(&cluster(), &[], network, (1_000.0, 1.0), 5, None).unwrap().0;
        assert!(states.iter().skip(900).all(|state| state.distance < 1e-6), "{network:?}");
        // Full steps with old totals do not settle.
        if loss == 0.0 {
            let network = Network { step: 1.0, ..network };
            let states = follow(&cluster(), &[], network, (100.0, 1.0), 5, None).unwrap().0;
            assert!(states.iter().skip(50).any(|state| state.distance > 0.1), "{network:?}");
        }
    }
}

#[test]
fn settings_without_a_meaning_are_refused() {
    let with = |network: Network, every: f64| follow(&cluster(), &[], network, (10.0, every), 0, None);
    let network = Network::default();
    for refused in [
        with(Network { loss: 1.0, ..network }, 1.0),
        with(Network { period: 0.0, ..network }, 1.0),
        with(Network { step: 0.0, ..network }, 1.0),
        with(network, f64::NAN),
    ] {
        assert!(matches!(refused, Err(SimulateError::Mechanism(_))));
    }
}
