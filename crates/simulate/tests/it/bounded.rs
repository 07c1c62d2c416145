//! Small scenarios with extreme numbers: they finish within limits, or are refused.

use std::path::Path;

use evenhand_budget::{Exceeded, Kind, Limits, within};
use evenhand_problem::format::Source;
use evenhand_simulate::reservation::{self, is_admission};
use evenhand_simulate::{
    ReadScenario, SimulateError, Simulated, Summary, course_scenario, document, is_course, run, run_course,
    series_csv,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{only, scenario, simulated};

/// The cost limits of a run in these tests: a few seconds, and little memory.
const LIMITS: Limits = Limits { work: Some(500_000_000), memory: Some(200 << 20), time: None, grows: false };

fn one_server(user: Value, rest: Value) -> Value {
    let mut document = json!({"kind": "scenario", "resources": ["cpu"], "policy": {},
        "servers": [{"name": "s", "capacity": {"cpu": 1}}]});
    document["users"] = Value::Array(vec![user]);
    let Value::Object(rest) = rest else { panic!("fields of a scenario: {rest}") };
    for (name, value) in rest {
        document[name] = value;
    }
    document
}

fn within_limits(document: &Value) -> Result<Result<Simulated, SimulateError>, Exceeded> {
    let scenario = scenario(&document.to_string());
    within(&LIMITS, || run(&scenario, &[0], &|_, _| {}))
}

#[test]
fn jobs_closer_than_the_precision_of_times_are_refused() {
    for (rate, from, horizon) in [(1e30, 100.0, 100.0), (10.0, 1e17, 1e17 + 1000.0), (1e12, 0.0, 1e5)] {
        let poisson = json!({"rate": rate, "duration": 1, "from": from});
        let user = json!({"name": "u", "demand": {"cpu": 1}, "poisson": poisson});
        let scenario = scenario(&one_server(user, json!({"horizon": horizon})).to_string());
        let error = run(&scenario, &[0], &|_, _| {}).unwrap_err();
        assert!(matches!(error, SimulateError::TooDense { .. }), "{error}");
        assert_eq!(error.place(&scenario).unwrap().to_string(), "users[0].poisson.rate");
    }
    // Jobs that would arrive after the horizon do not count.
    let poisson = json!({"rate": 1e99, "duration": 1, "from": 7});
    let user = json!({"name": "u", "demand": {"cpu": 1}, "poisson": poisson});
    let simulated = simulated(&one_server(user, json!({"horizon": 5})).to_string());
    assert_eq!(only(&simulated).events, 0);
}

#[test]
fn jobs_at_the_precision_of_times_are_simulated() {
    // At this time doubles are 1/64 apart, and so are jobs on average. About 64 jobs arrive, at rounded times.
    let from = 2_f64.powi(46);
    let poisson = json!({"rate": 64, "duration": 0, "from": from});
    let user = json!({"name": "u", "demand": {"cpu": 1}, "poisson": poisson});
    let simulated = simulated(&one_server(user, json!({"horizon": from + 1.0})).to_string());
    let jobs = &only(&simulated).jobs;
    assert!((30..120).contains(&jobs.len()), "{}", jobs.len());
    assert!(jobs.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn a_gang_is_charged_for_its_servers() {
    let of = |gang: u64, demand: &str| {
        let user = json!({"name": "u", "demand": {"cpu": demand}, "gang": gang,
            "jobs": [{"at": 0, "tasks": 3 * gang, "duration": 1}]});
        let servers = json!([{"name": "s", "count": 10, "capacity": {"cpu": 1}}]);
        let document = one_server(user, json!({"policy": {"tree": {}}, "horizon": 2, "servers": servers}));
        within_limits(&document).unwrap().unwrap()
    };
    // A gang needs seven and a half of ten servers. Gangs run one after another. The third gang is running
    // when the run ends.
    let (few, many) = (of(15, "1/2"), of(15_000_000_000, "0.0000000005"));
    let [one, other] = [&few, &many].map(|simulated| {
        let (problem, run) = &simulated.runs[0];
        (run.tasks[0], run.jobs.len(), run.end, Summary::new(problem, run).utilisation)
    });
    assert_eq!(one.0.started * 1_000_000_000, other.0.started);
    assert_eq!((one.0.started, one.0.completed, one.1, one.2), (45, 30, 0, 2.0));
    assert_eq!((one.1, one.2, &one.3), (other.1, other.2, &other.3));
    let row = &only(&many).rows[0];
    assert_eq!((&row.running[..], row.waiting), (&[15_000_000_000][..], 30_000_000_000));
    let csv = series_csv(&many.runs[0].0, only(&many));
    assert!(csv.lines().nth(1).unwrap().contains(",15000000000,30000000000,"), "{csv}");
}

#[test]
fn random_running_times_of_a_gang_are_charged() {
    let user = json!({"name": "u", "demand": {"cpu": "1e-13"}, "gang": 1_000_000_000_000_u64,
        "jobs": [{"at": 0, "tasks": 1_000_000_000_000_u64, "duration": {"exponential": 1}}]});
    let exceeded = within_limits(&one_server(user, json!({"policy": {"tree": {}}}))).unwrap_err();
    assert!(exceeded.what.contains("gang") && matches!(exceeded.kind, Kind::Work { .. }), "{exceeded}");
}

#[test]
fn tasks_of_duration_zero_end_within_limits() {
    let user = json!({"name": "u", "demand": {"cpu": 1},
        "jobs": [{"at": 0, "tasks": 1_000_000_000_000_u64, "duration": 0}]});
    let exceeded = within_limits(&one_server(user, json!({}))).unwrap_err();
    assert!(matches!(exceeded.kind, Kind::Work { .. }), "{exceeded}");
}

#[test]
fn rows_of_the_series_are_charged_before_the_run() {
    let users: Vec<Value> =
        (0..1_000).map(|n| json!({"name": n.to_string(), "demand": {"cpu": 1}})).collect();
    let rest = json!({"horizon": 1, "every": "1e-6", "users": users});
    let exceeded = within_limits(&one_server(json!({}), rest)).unwrap_err();
    assert!(exceeded.what.contains("series") && matches!(exceeded.kind, Kind::Memory { .. }), "{exceeded}");
    // Without a horizon rows are charged as they come.
    let user = json!({"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": 9e6, "tasks": 1, "duration": 1}]});
    let exceeded = within_limits(&one_server(user, json!({"every": 1}))).unwrap_err();
    assert!(exceeded.what.contains("series") && matches!(exceeded.kind, Kind::Memory { .. }), "{exceeded}");
}

#[test]
fn waiting_and_completed_jobs_are_charged() {
    let jobs = |at: f64| {
        let poisson = json!({"rate": 1e6, "duration": 1e-7, "from": at});
        json!({"name": "u", "demand": {"cpu": 1}, "poisson": poisson})
    };
    let exceeded = within_limits(&one_server(jobs(0.0), json!({"horizon": 40}))).unwrap_err();
    assert!(exceeded.to_string().contains("too large"), "{exceeded}");
}

#[test]
fn more_tasks_than_can_be_counted_are_refused() {
    let job = json!({"at": 0, "tasks": 1_000_000_000_000_u64, "duration": 1});
    let mut users = Vec::new();
    for n in 0..1_200 {
        users.push(json!({"name": n.to_string(), "demand": {"cpu": 1}, "jobs": vec![&job; 1_000]}));
    }
    let document = one_server(json!({}), json!({"users": users, "horizon": 1}));
    let scenario = scenario(&document.to_string());
    let error = run(&scenario, &[0], &|_, _| {}).unwrap_err();
    assert!(matches!(error, SimulateError::TooManyTasks { .. }), "{error}");
}

fn reservation() -> Value {
    json!({"kind": "reservation-scenario", "policy": {"dra": {"reserve": 2}}, "horizon": 40, "every": 1,
        "reservation": {"kind": "reservation-problem", "resources": ["cpu"],
            "servers": [{"name": "pool", "count": 30, "capacity": {"cpu": 4}}],
            "jobs": [{"name": "small", "demand": {"cpu": 1}, "reward": 1, "load": 1},
                     {"name": "large", "demand": {"cpu": 3}, "reward": 4, "load": "1/2"}]}})
}

#[test]
fn too_dense_loads_are_refused_with_their_place() {
    let mut document = reservation();
    document["loads"] = json!([{"at": 10, "loads": {"small": 2}}, {"at": 1e17, "loads": {"small": 1}}]);
    document["horizon"] = json!(1e17 + 1000.0);
    document["every"] = json!(1e15);
    let text = document.to_string();
    let document = Source { name: "s.json", text: &text }.document().unwrap();
    let error = reservation::scenario(&document, Path::new("")).unwrap_err().to_string();
    assert!(error.contains("loads[0]") && error.contains("double precision"), "{error}");
}

/// Generates a number of any order of magnitude. Moderate numbers are more likely.
fn number() -> impl Strategy<Value = f64> {
    let numbers = [0.0, 5e-324, 1e-300, 1e-9, 0.1, 1.0, 2.0, 3.0, 10.0, 1e6, 1e12, 1e17, 1e300, 1.7e308];
    prop_oneof![prop::sample::select(numbers.to_vec()), prop::sample::select(vec![0.5, 1.0, 2.0, 5.0])]
}

fn whole_numbers() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![1, 2, 3, 7, 1_000, 1_000_000, 1_000_000_000_000])
}

fn servers() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![1, 2, 3, 7, 100, 1_000_000_000_000])
}

fn duration() -> impl Strategy<Value = Value> {
    prop_oneof![
        number().prop_map(|time| json!(time)),
        number().prop_map(|mean| json!({"exponential": mean})),
        (number(), number()).prop_map(|(from, to)| json!({"uniform": [from, to]})),
    ]
}

fn user() -> impl Strategy<Value = Value> {
    let poisson = (number(), whole_numbers(), duration(), number(), number(), 0..4);
    let poisson = poisson.prop_map(|(rate, tasks, duration, from, until, with)| {
        let mut poisson = json!({"rate": rate, "tasks": tasks, "duration": duration});
        if with % 2 == 0 {
            poisson["from"] = json!(from);
        }
        if with / 2 == 0 {
            poisson["until"] = json!(until);
        }
        poisson
    });
    let job = (number(), whole_numbers(), duration());
    let job = job.prop_map(|(at, tasks, duration)| json!({"at": at, "tasks": tasks, "duration": duration}));
    let demand = prop::sample::select(vec!["1", "1/2", "1e-6", "1e-12", "1/3"]);
    (
        demand,
        prop::option::of(poisson),
        prop::collection::vec(job, 0..3),
        prop::option::of(number()),
        whole_numbers(),
    )
        .prop_map(|(demand, poisson, jobs, leaves, gang)| {
            let mut user = json!({"name": "u", "demand": {"cpu": demand}, "jobs": jobs, "gang": gang});
            if let Some(poisson) = poisson {
                user["poisson"] = poisson;
            }
            if let Some(leaves) = leaves {
                user["leaves"] = json!(leaves);
            }
            user
        })
}

fn policy() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({"score": "ps-dsf", "server": "best-fit"}),
        json!({"server": "joint", "ties": "random"}),
        json!({"slots": 3}),
        json!({"tree": {}}),
        json!({"tree": {"preemption": "shares"}}),
        json!({"mechanism": "drfh"}),
        json!({"distributed": {"period": 1e-3}}),
        json!({"least_gap": {}}),
    ])
}

prop_compose! {
    fn tiny()(
        policy in policy(),
        users in prop::collection::vec(user(), 1..3),
        count in servers(),
        horizon in prop::option::of(number()),
        every in prop::option::of(number()),
        event in prop::option::of((number(), whole_numbers(), 0..3)),
    ) -> Value {
        let is_tree = policy.get("tree").is_some();
        let is_course = ["mechanism", "distributed", "least_gap"].iter().any(|name| policy.get(name).is_some());
        let users: Vec<Value> = users.into_iter().enumerate().map(|(n, mut user)| {
            user["name"] = json!(n.to_string());
            let fields = user.as_object_mut().unwrap();
            if !is_tree {
                fields.remove("gang");
            }
            if is_course {
                ["jobs", "poisson", "leaves"].iter().for_each(|name| drop(fields.remove(*name)));
            }
            user
        }).collect();
        let mut document = json!({"kind": "scenario", "resources": ["cpu"], "policy": policy,
            "servers": [{"name": "s", "count": count, "capacity": {"cpu": 2}}], "users": users});
        if let Some(horizon) = horizon {
            document["horizon"] = json!(horizon);
        }
        if let Some(every) = every {
            document["every"] = json!(every);
        }
        if let (Some((at, number, which)), true) = (event, is_course) {
            let which = if which == 0 { "comes" } else { "leaves" };
            document["events"] = json!([{"at": at, which: "0"}, {"at": number, which: "1"}]);
        } else if let Some((at, number, which)) = event {
            document["events"] = match which {
                0 => json!([{"at": at, "server": "s", "add": number}]),
                1 => json!([{"at": at, "server": "s", "remove": number}]),
                _ => json!([{"at": at, "server": "s", "capacity": {"cpu": 1}, "count": number}]),
            };
        }
        document
    }
}

prop_compose! {
    fn admission()(
        policy in prop::sample::select(vec![
            json!({"dra": {}}), json!({"dra": {"every": 1e-9}}), json!({"static": {}}), json!({"power_of_d": 2}),
            json!({"dra": {"priorities": {"large": 1}}}),
        ]),
        servers in servers(),
        times in [number(), number(), number()],
        loads in [number(), number()],
        change in (number(), number()),
        initial in prop::option::of(whole_numbers()),
    ) -> Value {
        let mut document = reservation();
        let [horizon, every, mean] = times;
        document["policy"] = policy;
        document["servers"] = json!(servers);
        document["horizon"] = json!(horizon);
        document["every"] = json!(every);
        document["mean_times"] = json!({"small": mean});
        document["reservation"]["jobs"][0]["load"] = json!(loads[0]);
        document["loads"] = json!([{"at": change.0, "loads": {"small": change.1, "large": loads[1]}}]);
        if let Some(initial) = initial {
            document["initial"] = json!({"small": initial});
        }
        document
    }
}

/// Reads and runs a scenario of any kind. Returns whether the run reached its end.
fn ends(text: &str) -> bool {
    let source = Source { name: "s.json", text };
    let document_of = source.document().unwrap();
    // The limit is about a tenth of a second.
    let done = within(&Limits { work: Some(20_000_000), ..LIMITS }, || {
        if is_admission(&document_of) {
            let Ok(scenario) = reservation::scenario(&document_of, Path::new("")) else { return false };
            return reservation::run(&scenario, &[1], None).is_ok();
        }
        if is_course(&document_of) {
            let Ok(scenario) = course_scenario(&document_of) else { return false };
            return run_course(&scenario, 1, None).is_ok();
        }
        let Ok(scenario) = source.scenario(Path::new("")) else { return false };
        match run(&scenario, &[1], &|_, _| {}) {
            Ok(simulated) => {
                let run = &document(&simulated)["runs"][0];
                let number = |name: &str| run["tasks"][name].as_u64().unwrap();
                let came = number("submitted") + number("preempted") + number("evicted");
                assert_eq!(came, number("started") + number("withdrawn") + number("waiting"), "{text}");
                true
            }
            Err(_) => false,
        }
    });
    done.unwrap_or(false)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tiny_scenarios_with_extreme_numbers_end(document in tiny()) {
        ends(&document.to_string());
    }

    #[test]
    fn tiny_reservations_with_extreme_numbers_end(document in admission()) {
        ends(&document.to_string());
    }
}
