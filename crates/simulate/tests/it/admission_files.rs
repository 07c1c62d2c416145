//! Scenarios of admission from their files: what is read, what is refused and at which place, and the results of runs.

use std::path::Path;

use evenhand_problem::format::Source;
use evenhand_simulate::reservation::{
    AdmissionError, AdmissionScenario, Policy, admit, document, is_admission, reserve, run, scenario,
    series_csv,
};

const FILE: &str = r#"{"kind": "reservation-scenario", "name": "two types",
  "reservation": {"kind": "reservation-problem", "resources": ["cpu"],
    "servers": [{"name": "pool", "count": 40, "capacity": {"cpu": 4}}],
    "jobs": [{"name": "small", "demand": {"cpu": 1}, "reward": 1, "load": 2},
             {"name": "large", "demand": {"cpu": 3}, "reward": 4, "load": "1/2"}]},
  "policy": {"dra": {}}, "horizon": 20, "from": 5, "every": "1/2"}"#;

fn read(text: &str) -> Result<AdmissionScenario, String> {
    let document = Source { name: "s.json", text }.document().map_err(|error| error.to_string())?;
    scenario(&document, Path::new("")).map_err(|error| error.to_string())
}

#[test]
fn files_state_all_settings_of_the_library() {
    let stated = read(FILE).unwrap();
    assert_eq!((stated.servers, stated.horizon, stated.from, stated.every), (40, 20.0, 5.0, 0.5));
    assert_eq!(stated.policy, Policy::Dra { reserve: reserve(40) });
    let admitted = run(&stated, &[7, 8], None).unwrap();
    let policy = stated.policy.clone();
    let made = AdmissionScenario::new(stated.problem.clone(), 40, policy, (20.0, 5.0, 0.5));
    assert_eq!(admitted.runs[1], (8, admit(&made, 8, None).unwrap()));
    // The optimum puts one large and one small job on half of the servers, and four small jobs on three eighths: reward 4.
    let optimum = admitted.optimum.unwrap();
    assert!((optimum - 4.0).abs() < 1e-12, "{optimum}");
    let document = document(&admitted);
    let of = &document["runs"][0];
    assert_eq!(of["seed"], 7);
    let all: u64 =
        ["admitted", "rejected"].iter().map(|name| of["types"]["small"][name].as_u64().unwrap()).sum();
    assert!(all > 1_000, "{of}");
    assert!(document["means"]["reward"]["half_width"].as_f64().unwrap() > 0.0);
    let csv = series_csv(&admitted, &admitted.runs[0].1);
    assert_eq!(csv.lines().count(), 42, "a header, and a row for every half unit of time from 0 to 20");
    assert!(csv.lines().nth(1).unwrap().starts_with("0,0,0,0,"), "no job runs at time 0");
}

#[test]
fn every_policy_can_be_stated() {
    let policy = r#""policy": {"dra": {}}"#;
    for (instead, expected) in [
        (r#""policy": {"dra": {"reserve": 3}}"#, Policy::Dra { reserve: 3 }),
        (
            r#""policy": {"dra": {"reserve": "3", "priorities": {"large": 2}}}"#,
            Policy::Preempting { reserve: 3, priorities: vec![0, 2] },
        ),
        (r#""policy": {"power_of_d": 5}"#, Policy::PowerOfD { d: 5 }),
        (r#""policy": {"static": {}}"#, Policy::Static),
    ] {
        let stated = read(&FILE.replace(policy, instead)).unwrap();
        assert_eq!(stated.policy, expected);
        let admitted = run(&stated, &[1], None).unwrap();
        let reward = admitted.runs[0].1.reward;
        let optimum = admitted.optimum.unwrap();
        assert!(reward > 0.5 * optimum && reward < 1.1 * optimum, "{instead}: {reward}");
    }
}

#[test]
fn faults_name_their_place() {
    for (from, to, message) in [
        (r#""policy": {"dra": {}}, "#, "", "the field `policy` is missing"),
        (r#"{"dra": {}}"#, "{}", "policy: expected one of `dra`, `power_of_d` and `static`"),
        (r#"{"dra": {}}"#, r#"{"dra": {}, "static": {}}"#, "expected one of"),
        (r#"{"dra": {}}"#, r#"{"dra": {"reserve": -1}}"#, "found -1: expected a whole number from 0"),
        (r#"{"dra": {}}"#, r#"{"dra": {"reserve": 41}}"#, "0 to 40"),
        (r#"{"dra": {}}"#, r#"{"dra": {"priorities": {"smal": 1}}}"#, "did you mean `small`?"),
        (r#"{"dra": {}}"#, r#"{"dra": {"priorities": {"small": 0.5}}}"#, "expected a whole number from 0"),
        (r#"{"dra": {}}"#, r#"{"power_of_d": 0}"#, "expected a whole number from 1 to 40"),
        (r#"{"dra": {}}"#, r#"{"static": {"d": 1}}"#, "d"),
        (r#""horizon": 20"#, r#""horizon": 0"#, "before the horizon"),
        (r#""horizon": 20"#, r#""horizon": -1"#, "expected a time of at least 0"),
        (
            r#""from": 5"#,
            r#""from": 20"#,
            "from: expected a time before the horizon, from which rewards are averaged",
        ),
        (r#""every": "1/2""#, r#""every": 0"#, "every: expected a time above 0"),
        (r#""every": "1/2""#, r#""evry": 1"#, "evry"),
        (r#""count": 40, "#, "", "the field `servers` is missing"),
        (r#""horizon": 20"#, r#""horizon": 20, "servers": 100001"#, "servers: found 100001"),
        (r#""load": 2"#, r#""load": -2"#, "load"),
        (r#""cpu": 4}"#, r#""cpu": 2}"#, "large"),
    ] {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE, "{from}");
        let error = read(&text).unwrap_err();
        assert!(error.contains(message) && error.starts_with("s.json:"), "{message}: {error}");
    }
    let listed = FILE.replace(
        r#""servers": [{"name": "pool", "count": 40, "capacity": {"cpu": 4}}]"#,
        r#""servers": [{"name": "a", "capacity": {"cpu": 4}}, {"name": "b", "capacity": {"cpu": 4}}]"#,
    );
    assert!(read(&listed).unwrap_err().contains("one pool"));
    let away = FILE.split(r#""reservation": {"#).next().unwrap().to_owned()
        + r#""reservation": "nowhere.json", "policy": {"static": {}}, "horizon": 1}"#;
    assert!(read(&away).unwrap_err().contains("nowhere.json"));
}

/// Scenarios that would take hours or gigabytes are refused before they start.
#[test]
fn too_large_scenarios_are_refused_before_they_start() {
    for (from, to, what) in [
        (r#""load": 2"#, r#""load": "1e9""#, "jobs that are expected"),
        (r#""horizon": 20"#, r#""horizon": 1e9"#, "jobs that are expected"),
        (r#""every": "1/2""#, r#""every": 1e-9"#, "rows of the series"),
    ] {
        let error = run(&read(&FILE.replacen(from, to, 1)).unwrap(), &[1], None).unwrap_err();
        assert!(matches!(error, AdmissionError::TooLarge { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let jobs: Vec<String> = (0..200)
        .map(|j| format!(r#"{{"name": "{j}", "demand": {{"cpu": 1}}, "reward": 1, "load": 0}}"#))
        .collect();
    let text = format!(
        r#"{{"kind": "reservation-scenario", "servers": 100000, "policy": {{"power_of_d": 2}}, "horizon": 1,
        "reservation": {{"kind": "reservation-problem", "resources": ["cpu"],
            "servers": [{{"name": "p", "capacity": {{"cpu": 1}}}}], "jobs": [{}]}}}}"#,
        jobs.join(",")
    );
    let error = run(&read(&text).unwrap(), &[1], None).unwrap_err();
    assert!(error.to_string().contains("servers times types"), "{error}");
}

#[test]
fn the_kind_identifies_admission_scenarios() {
    let is = |text: &str| Source { name: "-", text }.document().is_ok_and(|document| is_admission(&document));
    assert!(is(FILE) && is(r#"{"kind": "reservation-scenario"}"#));
    assert!(!is(r#"{"kind": "scenario"}"#) && !is("{") && !is("[]") && !is("{}"));
}
