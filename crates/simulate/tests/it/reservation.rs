//! Admission into reserved slots: the paper's example, and invariants.

use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};
use evenhand_simulate::reservation::{
    Admission, AdmissionError, AdmissionScenario, Coming, Job, Policy, admit, reserve, upper_bound,
};

/// Returns the example of Reservation, section 7.1: four types at their worst loads.
fn example() -> Reservation {
    let text = r#"{"kind": "reservation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "s", "capacity": {"cpu": 80, "memory": 640}}],
        "jobs": [{"name": "1", "demand": {"cpu": 1, "memory": 1}, "reward": "9/8", "load": "48/13"},
                 {"name": "2", "demand": {"cpu": 4, "memory": 16}, "reward": 6, "load": "18/13"},
                 {"name": "3", "demand": {"cpu": 2, "memory": 32}, "reward": 6, "load": 3},
                 {"name": "4", "demand": {"cpu": 32, "memory": 256}, "reward": 64, "load": 2}]}"#;
    Source { name: "example", text }.reservation().unwrap()
}

fn scenario(problem: &Reservation, servers: usize, policy: Policy) -> AdmissionScenario {
    AdmissionScenario::new(problem.clone(), servers, policy, (60.0, 20.0, 1.0))
}

fn run(problem: &Reservation, servers: usize, policy: Policy) -> Admission {
    admit(&scenario(problem, servers, policy), 1, None).unwrap()
}

/// Returns the same scenario with given jobs.
fn with_jobs(scenario: AdmissionScenario, jobs: &[Job]) -> AdmissionScenario {
    let coming = Coming { trace: Some(jobs.to_vec()), ..scenario.coming };
    AdmissionScenario { coming, ..scenario }
}

#[test]
fn dra_earns_as_much_as_the_fluid_greedy() {
    let problem = example();
    let one = [Rational::from(1)];
    let mut best = MaxReward::new(&problem);
    let greedy = greedy::fluid(&mut best, &problem.loads(), &one).unwrap().reward.to_f64();
    let optimum = configuration_lp::solve(&best, &problem.loads(), &one).unwrap().value.to_f64();
    let with = |servers: usize| run(&problem, servers, Policy::Dra { reserve: reserve(servers) });
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

/// Checks that the final classification agrees with the effective servers, which are counted in another way.
#[test]
fn every_server_is_in_exactly_one_group() {
    let problem = example();
    let mut has_rejecting = false;
    for horizon in [1.0, 2.0, 3.0, 10.0] {
        let policy = Policy::Dra { reserve: reserve(30) };
        let short = AdmissionScenario { horizon, from: 0.0, ..scenario(&problem, 30, policy) };
        let run = admit(&short, 1, None).unwrap();
        let servers: usize = run.classified.iter().map(|of| of.accepting + of.rejecting).sum();
        let wanted: usize = run.classified.iter().map(|of| of.wanted).sum();
        assert!(servers <= 30 && wanted <= 30, "{:?}", run.classified);
        for (configuration, effective) in run.effective.last().unwrap() {
            let of = run.classified.iter().find(|of| of.configuration == *configuration).unwrap();
            assert_eq!(*effective, of.wanted.min(of.accepting + of.rejecting), "{of:?}");
        }
        has_rejecting |= run.classified.iter().any(|of| of.rejecting > 0);
    }
    assert!(has_rejecting);
    let fixed = run(&problem, 30, Policy::Static);
    assert!(fixed.classified.is_empty());
}

#[test]
fn power_of_d_admits_every_job_that_fits() {
    let problem = example();
    let found = run(&problem, 50, Policy::PowerOfD { d: 5 });
    assert!(found.migrations == 0 && found.reward > 50.0 && found.reward < 160.0, "{found:?}");
    let none = run(&problem, 50, Policy::PowerOfD { d: 0 });
    assert_eq!((none.reward, none.admitted.iter().sum::<u64>()), (0.0, 0));
}

#[test]
fn a_load_of_zero_earns_no_reward() {
    let text = r#"{"kind": "reservation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 2}}],
        "jobs": [{"name": "1", "demand": {"cpu": 1}, "reward": 1}]}"#;
    let problem = Source { name: "nothing", text }.reservation().unwrap();
    assert_eq!(run(&problem, 3, Policy::Dra { reserve: 1 }).reward, 0.0);
    let right = || scenario(&problem, 1, Policy::PowerOfD { d: 1 });
    for wrong in [
        AdmissionScenario { servers: 0, ..right() },
        AdmissionScenario { from: 60.0, ..right() },
        AdmissionScenario { every: 0.0, ..right() },
        AdmissionScenario { horizon: f64::INFINITY, ..right() },
    ] {
        assert!(matches!(admit(&wrong, 1, None), Err(AdmissionError::Setting(_))));
    }
}

fn one_resource() -> Reservation {
    let text = r#"{"kind": "reservation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 4}}],
        "jobs": [{"name": "small", "demand": {"cpu": 1}, "reward": 1, "load": 3},
                 {"name": "large", "demand": {"cpu": 4}, "reward": 40, "load": "1/4"}]}"#;
    Source { name: "one", text }.reservation().unwrap()
}

fn job(at: f64, of_type: usize, lasts: f64) -> Job {
    Job { at, of_type, lasts }
}

#[test]
fn small_jobs_are_preempted_for_large_jobs() {
    let problem = one_resource();
    // Small jobs fill both servers. Then two large jobs arrive.
    let mut jobs: Vec<Job> = (0..8).map(|at| job(f64::from(at) / 8.0, 0, 100.0)).collect();
    jobs.extend([job(2.5, 1, 5.0), job(3.5, 1, 5.0)]);
    let base = |policy| AdmissionScenario::new(problem.clone(), 2, policy, (10.0, 0.0, 1.0));
    let with = |policy| admit(&with_jobs(base(policy), &jobs), 1, None).unwrap();
    let plain = with(Policy::Dra { reserve: 1 });
    let preempting = with(Policy::Preempting { reserve: 1, priorities: vec![0, 1] });
    assert_eq!(plain.preempted, [0, 0]);
    assert_eq!(preempting.rejected[1], 0);
    assert_eq!(preempting.admitted[1], 2);
    assert!(preempting.preempted[0] > 0 && preempting.preempted[1] == 0, "{preempting:?}");
    assert!(preempting.reward > plain.reward);
    // If no job may be preempted, the algorithm is the plain algorithm.
    let nobody = with(Policy::Preempting { reserve: 1, priorities: vec![1, 1] });
    assert_eq!(nobody, plain);
    let bounds: Vec<f64> = (0..10).map(f64::from).collect();
    let bounds = upper_bound(&problem, 2, &jobs, &bounds).unwrap();
    for found in [&plain, &preempting] {
        for ((_, reward), (_, bound)) in found.series.iter().zip(&bounds) {
            assert!(reward <= &(bound + 1e-9), "{reward} {bound}");
        }
    }
    // At 4.5 eight small and two large jobs would be present. The two large jobs earn 80.
    assert_eq!(upper_bound(&problem, 2, &jobs, &[4.5]).unwrap(), [(4.5, 40.0)]);
}

#[test]
fn static_slots_follow_the_optimum() {
    let problem = example();
    let one = [Rational::from(1)];
    let best = MaxReward::new(&problem);
    let optimum = configuration_lp::solve(&best, &problem.loads(), &one).unwrap().value.to_f64();
    let found = run(&problem, 150, Policy::Static);
    assert!(found.migrations == 0 && found.reward < optimum, "{} {optimum}", found.reward);
    assert!(found.reward > 0.85 * optimum, "{} {optimum}", found.reward);
}

#[test]
fn effective_servers_never_exceed_the_servers() {
    let problem = example();
    let found = run(&problem, 40, Policy::Dra { reserve: reserve(40) });
    assert_eq!(found.effective.len(), found.series.len());
    for effective in &found.effective {
        assert!(!effective.is_empty());
        assert!(effective.iter().map(|(_, servers)| servers).sum::<usize>() <= 40);
    }
}

#[test]
fn impossible_jobs_are_refused() {
    let problem = one_resource();
    let of = |policy, jobs: &[Job]| admit(&with_jobs(scenario(&problem, 2, policy), jobs), 1, None);
    let run = |jobs: &[Job]| of(Policy::PowerOfD { d: 2 }, jobs);
    for wrong in [
        [job(1.0, 0, 1.0), job(0.5, 0, 1.0)],
        [job(0.0, 0, 1.0), job(1.0, 2, 1.0)],
        [job(0.0, 0, 1.0), job(1.0, 0, -1.0)],
        [job(0.0, 0, 1.0), job(f64::NAN, 0, 1.0)],
    ] {
        assert!(matches!(run(&wrong), Err(AdmissionError::Job { index: 1, .. })));
        assert!(upper_bound(&problem, 2, &wrong, &[1.0]).is_err());
    }
    let policy = Policy::Preempting { reserve: 1, priorities: vec![0] };
    assert!(matches!(of(policy, &[]), Err(AdmissionError::Setting(_))));
}
