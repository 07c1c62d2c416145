//! Admission into reserved slots: the paper's example, and what never happens.
#![allow(missing_docs)]

use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};
use evenhand_simulate::reservation::{AdmissionError, Policy, Setting, admit, reserve};

/// Reservation, section 7.1: four types at their worst loads.
fn example() -> Reservation {
    let text = r#"{"kind": "reservation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "s", "capacity": {"cpu": 80, "memory": 640}}],
        "jobs": [{"name": "1", "demand": {"cpu": 1, "memory": 1}, "reward": "9/8", "load": "48/13"},
                 {"name": "2", "demand": {"cpu": 4, "memory": 16}, "reward": 6, "load": "18/13"},
                 {"name": "3", "demand": {"cpu": 2, "memory": 32}, "reward": 6, "load": 3},
                 {"name": "4", "demand": {"cpu": 32, "memory": 256}, "reward": 64, "load": 2}]}"#;
    Source { name: "example", text }.reservation().unwrap()
}

fn setting(servers: usize, policy: Policy) -> Setting {
    Setting { servers, policy, horizon: 60.0, from: 20.0, every: 1.0, seed: 1 }
}

#[test]
fn dra_earns_what_the_fluid_greedy_earns() {
    let problem = example();
    let one = [Rational::from(1)];
    let mut best = MaxReward::new(&problem);
    let greedy = greedy::fluid(&mut best, &problem.loads(), &one).unwrap().reward.to_f64();
    let optimum = configuration_lp::solve(&best, &problem.loads(), &one).unwrap().value.to_f64();
    let with = |servers: usize| {
        admit(&problem, &setting(servers, Policy::Dra { reserve: reserve(servers) })).unwrap()
    };
    let (few, many) = (with(20), with(150));
    assert!(
        few.reward < many.reward && many.reward < 1.03 * greedy,
        "{} {} {greedy}",
        few.reward,
        many.reward
    );
    assert!(many.reward > 0.9 * greedy && many.reward < optimum, "{} {greedy} {optimum}", many.reward);
    assert!(many.migrations > 0 && many.rejected.iter().sum::<u64>() > 0);
    assert_eq!(many, with(150));
    assert_eq!(many.series.len(), 61);
}

#[test]
fn power_of_d_admits_what_fits() {
    let problem = example();
    let found = admit(&problem, &setting(50, Policy::PowerOfD { d: 5 })).unwrap();
    assert!(found.migrations == 0 && found.reward > 50.0 && found.reward < 160.0, "{found:?}");
    let none = admit(&problem, &setting(50, Policy::PowerOfD { d: 0 })).unwrap();
    assert_eq!((none.reward, none.admitted.iter().sum::<u64>()), (0.0, 0));
}

#[test]
fn a_load_of_nothing_earns_nothing() {
    let text = r#"{"kind": "reservation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 2}}],
        "jobs": [{"name": "1", "demand": {"cpu": 1}, "reward": 1}]}"#;
    let problem = Source { name: "nothing", text }.reservation().unwrap();
    assert_eq!(admit(&problem, &setting(3, Policy::Dra { reserve: 1 })).unwrap().reward, 0.0);
    for wrong in [
        Setting { servers: 0, ..setting(1, Policy::PowerOfD { d: 1 }) },
        Setting { from: 60.0, ..setting(1, Policy::PowerOfD { d: 1 }) },
        Setting { every: 0.0, ..setting(1, Policy::PowerOfD { d: 1 }) },
        Setting { horizon: f64::INFINITY, ..setting(1, Policy::PowerOfD { d: 1 }) },
    ] {
        assert!(matches!(admit(&problem, &wrong), Err(AdmissionError::Setting(_))));
    }
}
