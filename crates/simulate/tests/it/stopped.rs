//! Runs that stop early because their time is up: their results are the results up to the time of the stop.

use std::time::Instant;

use evenhand_problem::format::Source;
use evenhand_simulate::{
    Checkpoint, Observer, Scenario, SimulateError, Simulated, course_document, course_scenario, document,
    reservation, run, run_course, run_from, run_until,
};

use crate::common::{only, scenario};

/// An observer whose time is up after a number of looks at the run.
struct Patience {
    looks: u32,
    kept: Option<Checkpoint>,
}

impl Observer for Patience {
    fn every(&self) -> u64 {
        50
    }

    fn until(&self) -> Option<Instant> {
        (self.looks == 0).then(Instant::now)
    }

    fn look(
        &mut self,
        _: f64,
        _: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        self.looks = self.looks.saturating_sub(1);
        self.kept = Some(checkpoint());
        Ok(true)
    }
}

fn scenario_with_policy(policy: &str) -> Scenario {
    scenario(&format!(
        r#"{{"kind": "scenario", "resources": ["cpu", "memory"], "policy": {policy},
        "servers": [{{"name": "s1", "count": 4, "capacity": {{"cpu": 10, "memory": 7}}}},
                    {{"name": "s2", "count": 3, "capacity": {{"cpu": 6, "memory": 12}}}}],
        "events": [{{"at": 20, "server": "s1", "remove": 2}}, {{"at": 40, "server": "s1", "add": 1}}],
        "users": [{{"name": "1", "demand": {{"cpu": 3, "memory": 1}}, "leaves": 60,
                   "jobs": [{{"at": 0, "tasks": 40, "duration": {{"exponential": 5}}}}]}},
                  {{"name": "2", "demand": {{"cpu": 1, "memory": 2}}, "weight": 2,
                   "poisson": {{"rate": 2, "tasks": 3, "duration": {{"uniform": [1, 6]}}}}}}],
        "horizon": 90, "every": 1}}"#
    ))
}

#[test]
fn a_stopped_run_keeps_its_results_and_resumes() {
    for policy in [r#"{"server": "best-fit"}"#, r#"{"tree": {"preemption": "shares"}}"#, r#"{"slots": 4}"#] {
        let scenario = scenario_with_policy(policy);
        let whole = run(&scenario, &[3], &|_, _| {}).unwrap();
        for looks in [1, 3, 7] {
            let mut patience = Patience { looks, kept: None };
            let stopped = run_from(&scenario, 3, None, &mut patience).unwrap().unwrap();
            let end = only(&stopped).end;
            assert!(only(&stopped).is_stopped && 0.0 < end && end < 90.0, "{policy} {end}");
            assert_eq!(document(&stopped)["runs"][0]["stopped_at"], end);
            // The result equals the result of a run with the horizon `end`.
            let shorter =
                run(&Scenario { horizon: Some(end), ..scenario.clone() }, &[3], &|_, _| {}).unwrap();
            assert_eq!(marked_as_finished(&stopped), marked_as_finished(&shorter), "{policy}");
            let mut patience = Patience { looks: u32::MAX, kept: patience.kept };
            let from = patience.kept.take();
            let gone_on = run_from(&scenario, 3, from.as_ref(), &mut patience).unwrap().unwrap();
            assert_eq!(gone_on, whole, "{policy}");
        }
    }
}

/// Checks that a run that is resumed repeatedly reaches its end, however little time it gets each time.
#[test]
fn a_resumed_run_makes_progress() {
    let scenario = scenario_with_policy("{}");
    let whole = run(&scenario, &[3], &|_, _| {}).unwrap();
    let mut patience = Patience { looks: 1, kept: None };
    let mut last = run_from(&scenario, 3, None, &mut patience).unwrap().unwrap();
    let mut times = 0;
    while only(&last).is_stopped {
        let before = only(&last).end;
        let from = patience.kept.take();
        last = run_from(&scenario, 3, from.as_ref(), &mut patience).unwrap().unwrap();
        assert!(only(&last).end > before, "{before}");
        times += 1;
    }
    assert!(times > 1 && last == whole, "{times}");
}

/// Returns the runs marked as not stopped.
fn marked_as_finished(simulated: &Simulated) -> Simulated {
    let mut same = simulated.clone();
    same.runs.iter_mut().for_each(|(_, run)| run.is_stopped = false);
    same
}

#[test]
fn runs_without_any_time_report_that_they_stopped() {
    let simulated =
        run_until(&scenario_with_policy("{}"), &[1, 2], Some(Instant::now()), &|_, _| {}).unwrap();
    for (_, run) in &simulated.runs {
        assert_eq!((run.is_stopped, run.end, run.events), (true, 0.0, 0));
    }
    assert_eq!(document(&simulated)["runs"][1]["stopped_at"], 0.0);
}

#[test]
fn divisible_runs_stop_at_the_time_limit() {
    for policy in [
        r#"{"mechanism": "drfh"}"#,
        r#"{"distributed": {"period": 0.01, "random_phases": true}}"#,
        r#"{"least_gap": {"steps": 10}}"#,
    ] {
        let text = format!(
            r#"{{"kind": "scenario", "resources": ["cpu"], "servers": [{{"name": "A", "capacity": {{"cpu": 8}}}}],
            "users": [{{"name": "1", "demand": {{"cpu": 1}}}}, {{"name": "2", "demand": {{"cpu": 2}}}}],
            "events": [{{"at": 10, "leaves": "2"}}, {{"at": 20, "comes": "2"}}],
            "policy": {policy}, "horizon": 30, "every": 0.1}}"#
        );
        let source = Source { name: "s.json", text: &text };
        let scenario = course_scenario(&source.document().unwrap()).unwrap();
        let whole = run_course(&scenario, 1, None).unwrap();
        let stopped = run_course(&scenario, 1, Some(Instant::now())).unwrap();
        assert!(stopped.end < 30.0 && !stopped.moments.is_empty(), "{policy}: {}", stopped.end);
        assert_eq!(stopped.moments[..], whole.moments[..stopped.moments.len()], "{policy}");
        assert!(stopped.present.iter().all(|time| *time <= stopped.end + 1e-9), "{policy}");
        let written = course_document(&scenario, &[stopped.clone(), whole]);
        assert_eq!(written["runs"][0]["stopped_at"], stopped.end);
        assert!(written["runs"][1].get("stopped_at").is_none());
    }
}

#[test]
fn admission_runs_stop_at_the_time_limit() {
    let text = r#"{"kind": "reservation-scenario", "policy": {"dra": {}}, "horizon": 20,
        "reservation": {"kind": "reservation-problem", "resources": ["cpu"],
            "servers": [{"name": "pool", "count": 30, "capacity": {"cpu": 4}}],
            "jobs": [{"name": "small", "demand": {"cpu": 1}, "reward": 1, "load": 1}]}}"#;
    let source = Source { name: "s.json", text };
    let scenario = reservation::scenario(&source.document().unwrap(), std::path::Path::new("")).unwrap();
    let admitted = reservation::run(&scenario, &[1], Some(Instant::now())).unwrap();
    assert_eq!(admitted.runs[0].1.stopped_at, Some(0.0));
    assert_eq!(admitted.runs[0].1.reward, 0.0);
    assert_eq!(reservation::document(&admitted)["runs"][0]["stopped_at"], 0.0);
}
