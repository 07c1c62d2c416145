//! Reading of reservation problems: the accepted files, and the message of every fault.

use evenhand_problem::format::{Source, reservation_to_json};
use evenhand_problem::{Integer, Rational, Reservation};

const EXAMPLE: &str = r#"{
  "kind": "reservation-problem",
  "resources": ["cpu", "memory"],
  "servers": [ {"name": "pool", "count": 1000, "capacity": {"cpu": 80, "memory": 640}} ],
  "jobs": [ {"name": "small", "demand": {"cpu": 2, "memory": 32}, "reward": "6", "load": "1/2"} ]
}"#;

const LISTED: &str = r#"{"kind": "reservation-problem",
  "jobs": [{"name": "a", "reward": 1, "load": 0}, {"name": "b", "reward": 2}],
  "configurations": [{"a": 2}, {"a": 1, "b": "1"}]}"#;

fn read(text: &str) -> Result<Reservation, String> {
    Source { name: "r.json", text }.reservation().map_err(|error| error.to_string())
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    match read(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(message) => assert_eq!(message, expected),
    }
}

/// Returns a problem with the given pools and job types, each on lines of its own.
fn reservation_text(pools: &str, jobs: &str) -> String {
    format!(
        "{{\"kind\":\"reservation-problem\",\"resources\":[\"cpu\"],\n\"servers\":[{pools}],\n\"jobs\":[{jobs}]}}"
    )
}

const POOL: &str = r#"{"name":"p","capacity":{"cpu":4}}"#;
const JOB: &str = r#"{"name":"a","demand":{"cpu":1},"reward":1}"#;

#[test]
fn reads_the_example() {
    let problem = read(EXAMPLE).unwrap();
    assert_eq!(problem.most(0, 0), 20);
    assert_eq!(problem.n_servers(), Some(1000));
    assert_eq!(problem.whole_jobs(), Some(vec![Integer::from(500)]));
    assert_eq!(problem.fractions(), [Rational::from(1)]);
    assert!(problem.is_feasible(0, &[20]) && !problem.is_feasible(0, &[21]));
    assert_eq!(problem.reward(&[3]), 18);
}

#[test]
fn reads_configurations() {
    let problem = read(LISTED).unwrap();
    assert_eq!(problem.configurations(), Some(&[vec![2, 0], vec![1, 1]][..]));
    assert_eq!((problem.n_pools(), problem.n_servers(), problem.most(0, 1)), (1, None, 1));
    assert!(problem.is_feasible(0, &[0, 1]) && !problem.is_feasible(0, &[2, 1]));
    let counted = LISTED.replacen("\"jobs\"", "\"servers\": [{\"name\": \"p\", \"count\": 7}], \"jobs\"", 1);
    assert_eq!(read(&counted).unwrap().n_servers(), Some(7));
}

#[test]
fn pools_without_counts_have_equal_sizes() {
    let two = |counts: [&str; 2]| {
        let pool = |name: &str, count: &str| POOL.replace("\"p\"", &format!("\"{name}\"{count}"));
        read(&reservation_text(&format!("{},{}", pool("p", counts[0]), pool("q", counts[1])), JOB))
    };
    assert_eq!(two(["", ""]).unwrap().fractions(), [(1, 2), (1, 2)].map(Rational::from));
    let counted = two([",\"count\":1", ",\"count\":3"]).unwrap();
    assert_eq!(counted.fractions(), [(1, 4), (3, 4)].map(Rational::from));
    assert_eq!(counted.n_servers(), Some(4));
    assert_eq!(
        two([",\"count\":1", ""]).unwrap_err(),
        "r.json:2:56: servers[1]: this pool has no `count`, but others do: state it for all pools or for none"
    );
}

#[test]
fn accepts_missing_loads_and_rewards_and_no_types() {
    let problem = read(&reservation_text(POOL, r#"{"name":"a","demand":{"cpu":1}}"#)).unwrap();
    assert_eq!((problem.loads(), problem.rewards()), (vec![Rational::new()], vec![Rational::new()]));
    assert_eq!(read(&reservation_text(POOL, "")).unwrap().n_types(), 0);
}

#[test]
fn every_fault_names_its_place() {
    let job = |text: &str| reservation_text(POOL, text);
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":5}}"#),
        "r.json:3:9: jobs[0]: job type `a` fits on no server, not even alone: expected a server with room for at least one of its jobs",
    );
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":0}}"#),
        "r.json:3:30: jobs[0].demand: job type `a` demands nothing: expected at least one resource with a demand above 0",
    );
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":-1}}"#),
        "r.json:3:37: jobs[0].demand.cpu: -1 is negative: expected a number of at least 0",
    );
    refuses(
        &job(r#"{"name":"a","demand":{"gpu":1}}"#),
        "r.json:3:37: jobs[0].demand.gpu: there is no resource `gpu` (did you mean `cpu`?)",
    );
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":1},"reward":-2}"#),
        "r.json:3:49: jobs[0].reward: -2 is negative: expected a number of at least 0",
    );
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":1},"load":"-1/2"}"#),
        "r.json:3:47: jobs[0].load: -1/2 is negative: expected a number of at least 0",
    );
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":1},"lode":1}"#),
        "r.json:3:40: jobs[0].lode: unknown field `lode` (did you mean `load`?): expected one of name, demand, reward, load",
    );
    refuses(&job(&format!("{JOB},{JOB}")), "r.json:3:60: jobs[1].name: the job type `a` is named twice");
    refuses(&job(r#"{"name":"a"}"#), "r.json:3:9: jobs[0]: the field `demand` is missing");
    refuses(
        &job(r#"{"name":"a","demand":{"cpu":"1e-13"}}"#),
        "r.json:3:9: jobs[0]: more than 10^12 jobs of type `a` fit on one server: expected at most 10^12",
    );
    refuses(
        &reservation_text(r#"{"name":"p","count":0,"capacity":{"cpu":4}}"#, JOB),
        "r.json:2:32: servers[0].count: 0 is not a count of servers: expected an integer from 1 to 10^12",
    );
    refuses(
        &reservation_text(r#"{"name":"p"}"#, JOB),
        "r.json:2:12: servers[0]: the field `capacity` is missing",
    );
    refuses(&reservation_text("", JOB), "r.json:2:11: servers: expected at least one server class");
    refuses(
        &reservation_text(&format!("{POOL},{POOL}"), JOB),
        "r.json:2:54: servers[1].name: the server `p` is named twice",
    );
    refuses(
        r#"{"kind":"allocation-problem"}"#,
        "r.json:1:9: kind: this file is of the kind `allocation-problem`: expected `reservation-problem`",
    );
}

#[test]
fn faults_of_configurations_name_their_place() {
    refuses(
        &LISTED.replace("[{\"a\": 2}, {\"a\": 1, \"b\": \"1\"}]", "[]"),
        "r.json:3:21: configurations: expected at least one configuration",
    );
    refuses(
        &LISTED.replace("{\"a\": 2}", "{\"c\": 2}"),
        "r.json:3:28: configurations[0].c: there is no job type `c`",
    );
    refuses(
        &LISTED.replace("{\"a\": 2}", "{\"a\": 1.5}"),
        "r.json:3:28: configurations[0].a: 3/2 is not a number of jobs: expected an integer from 0 to 10^12",
    );
    refuses(
        &LISTED.replace("\"b\": \"1\"", "\"b\": 0"),
        "r.json:2:51: jobs[1]: job type `b` fits on no server, not even alone: expected a server with room for at least one of its jobs",
    );
    refuses(
        &LISTED.replace("\"load\": 0", "\"demand\": {\"cpu\": 1}"),
        "r.json:2:49: jobs[0].demand: `demand` cannot be combined with `configurations`: state either configurations, or capacities and demands",
    );
}

#[test]
fn the_canonical_form_reads_back() {
    for text in
        [EXAMPLE.to_owned(), LISTED.to_owned(), reservation_text(POOL, JOB), reservation_text(POOL, "")]
    {
        let problem = read(&text).unwrap();
        let canonical = reservation_to_json(&problem);
        assert_eq!(read(&canonical).unwrap(), problem);
        assert_eq!(reservation_to_json(&read(&canonical).unwrap()), canonical);
    }
    let respelled = EXAMPLE.replace("\"1/2\"", "0.50").replace("80", "\"80.0\"");
    assert_eq!(reservation_to_json(&read(EXAMPLE).unwrap()), reservation_to_json(&read(&respelled).unwrap()));
}
