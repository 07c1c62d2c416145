//! Servers of PS-DSF on their own clocks.

use evenhand_problem::Problem;
use evenhand_problem::format::Source;
use evenhand_simulate::Duration;
use evenhand_simulate::SimulateError;
use evenhand_simulate::distributed::{Absence, Network, follow};

/// PS-DSF, Figure 5, as Table III forces it.
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
fn fresh_reports_lead_to_the_exact_allocation() {
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
fn short_steps_settle_where_reports_are_late_and_get_lost() {
    for (delay, loss) in [(0.5, 0.0), (0.5, 0.3), (3.0, 0.0)] {
        let delay = Duration::Constant(delay);
        let network = Network { random_phases: loss > 0.0, delay, loss, step: 0.5, ..Network::default() };
        let states = follow(&cluster(), &[], network, (1_000.0, 1.0), 5, None).unwrap().0;
        assert!(states.iter().skip(900).all(|state| state.distance < 1e-6), "{network:?}");
        // Full steps on old totals do not.
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
