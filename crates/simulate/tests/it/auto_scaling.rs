//! Reservation scenarios whose jobs do not arrive as the problem states: from a trace, with their own loads and mean
//! times, or with classifications at regular intervals. Also tests the rewards with which runs are compared.

use std::path::Path;

use evenhand_problem::format::Source;
use evenhand_simulate::reservation::{
    Admission, AdmissionError, AdmissionScenario, Admitted, Job, beside_csv, run, scenario, series_csv,
    upper_bound,
};
use serde_json::{Value, json};

fn stated() -> Value {
    json!({"kind": "reservation-scenario", "policy": {"dra": {"reserve": 2}}, "horizon": 40, "every": 1,
        "reservation": {"kind": "reservation-problem", "resources": ["cpu"],
            "servers": [{"name": "pool", "count": 30, "capacity": {"cpu": 4}}],
            "jobs": [{"name": "small", "demand": {"cpu": 1}, "reward": 1, "load": 1},
                     {"name": "large", "demand": {"cpu": 3}, "reward": 4, "load": "1/2"}]}})
}

fn read_in(document: &Value, folder: &Path) -> Result<AdmissionScenario, String> {
    let text = document.to_string();
    let document = Source { name: "s.json", text: &text }.document().unwrap();
    scenario(&document, folder).map_err(|error| error.to_string())
}

fn read(document: &Value) -> Result<AdmissionScenario, String> {
    read_in(document, Path::new(""))
}

fn admitted(document: &Value) -> Admitted {
    run(&read(document).unwrap(), &[3], None).unwrap()
}

/// Checks that rewards are the rewards of the running jobs, and that there are never more jobs than slots.
fn is_consistent(run: &Admission, rewards: [f64; 2], servers: f64) {
    for (k, (_, reward)) in run.series.iter().enumerate() {
        let jobs = &run.jobs[k];
        let sum = jobs[0] as f64 * rewards[0] + jobs[1] as f64 * rewards[1];
        assert!((sum / servers - reward).abs() < 1e-9, "{k}");
        assert!(run.slots[k].iter().zip(jobs).all(|(slots, jobs)| jobs <= slots), "{k}");
        assert!(run.all[k].iter().zip(jobs).all(|(all, jobs)| jobs <= all), "{k}");
    }
}

#[test]
fn a_trace_is_followed_and_compared_with_greedy_and_the_bound() {
    let folder = std::env::temp_dir().join(format!("evenhand-auto-scaling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rows = "time,user,tasks,duration\n0.5,small,2,10\n1.5,large,1,2.25\n2.5,small,9,1\n";
    std::fs::write(folder.join("jobs.csv"), rows).unwrap();
    let mut document = stated();
    document["servers"] = json!(2);
    document["horizon"] = json!(5);
    document["policy"] = json!({"dra": {"reserve": 1}});
    document["trace"] = json!("jobs.csv");
    let read = read_in(&document, &folder).unwrap();
    let admitted = run(&read, &[1], None).unwrap();
    let run = &admitted.runs[0].1;
    // Computed by hand: two small jobs, the large job from 1.5 to 3.75, and nine more small jobs from 2.5 to
    // 3.5.
    assert_eq!(run.all, [vec![0, 0], vec![2, 0], vec![2, 1], vec![11, 1], vec![2, 0], vec![2, 0]]);
    // Computed by hand, per server: the reward rate is 1 from .5, 3 from 1.5, 4.5 from 2.5 to 3.5, 3 until
    // 3.75, then 1. The mean is over five time units.
    let unrejected = admitted.unrejected.unwrap();
    let bound = (1.0 + 3.0 + 4.5 + 0.25 * 3.0 + 1.25) / 5.0;
    assert!((unrejected.bound - bound).abs() < 1e-12, "{unrejected:?} {bound}");
    assert!(run.reward <= unrejected.bound && unrejected.greedy <= unrejected.bound, "{unrejected:?}");
    is_consistent(run, [1.0, 4.0], 2.0);
    // At time 3 five small jobs run together with the large job on two servers of 4 units, so the reward is 4
    // + 5 on both servers together.
    let at_3 = admitted.beside.iter().find(|beside| beside.time == 3.0).unwrap();
    assert_eq!((at_3.greedy, at_3.bound), (4.5, 4.5));
    let job = |at, of_type, lasts| Job { at, of_type, lasts };
    let mut jobs = vec![job(0.5, 0, 10.0); 2];
    jobs.push(job(1.5, 1, 2.25));
    jobs.extend([job(2.5, 0, 1.0); 9]);
    let times: Vec<f64> = admitted.beside.iter().map(|beside| beside.time).collect();
    assert_eq!(times, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let bounds = upper_bound(&read.problem, 2, &jobs, &times).unwrap();
    assert_eq!(bounds, admitted.beside.iter().map(|of| (of.time, of.bound)).collect::<Vec<_>>());
    assert!(
        series_csv(&admitted, run)
            .starts_with("time,reward,jobs of small,jobs of large,slots of small,slots of large\n0,0,0,0,")
    );
    assert_eq!(beside_csv(&admitted).lines().nth(4), Some("3,4.5,4.5"));
    std::fs::write(folder.join("jobs.csv"), "time,user,tasks,duration\n0.5,smal,2,10\n").unwrap();
    assert!(read_in(&document, &folder).unwrap_err().contains("trace: there is no job type `smal`"));
    document["loads"] = json!([{"at": 1, "loads": {"small": 1}}]);
    assert!(read_in(&document, &folder).unwrap_err().contains("loads: the jobs come from the `trace`"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn loads_are_mean_numbers_of_jobs_for_any_mean_time() {
    // The load of a type is the mean number of its jobs on a server without rejections, whatever the mean running time.
    let mut document = stated();
    document["horizon"] = json!(400);
    document["servers"] = json!(100);
    document["mean_times"] = json!({"small": 4, "large": "1/4"});
    document["loads"] =
        json!([{"at": 200, "loads": {"small": "1/4"}}, {"at": 300, "loads": {"small": 0, "large": 0}}]);
    let admitted = admitted(&document);
    let run = &admitted.runs[0].1;
    is_consistent(run, [1.0, 4.0], 100.0);
    let mean = |rows: std::ops::Range<usize>, j: usize| {
        rows.clone().map(|k| run.all[k][j] as f64).sum::<f64>() / rows.len() as f64
    };
    for (rows, j, expected) in
        [(20..200, 0, 100.0), (20..200, 1, 50.0), (220..300, 0, 25.0), (220..300, 1, 50.0)]
    {
        // A count varies by the square root of its mean. 80 rows contain about twenty independent counts.
        assert!((mean(rows.clone(), j) - expected).abs() < f64::sqrt(expected), "{rows:?} {j}");
    }
    assert_eq!(run.all[399], [0, 0]);
    assert!(admitted.beside.iter().all(|of| of.greedy <= of.bound + 1e-9));
    assert_eq!(admitted.optimum, None);
    // There are far more events than pieces. The mean bound at 50 times is therefore close to the mean over
    // all events.
    let unrejected = admitted.unrejected.unwrap();
    let sampled = admitted.beside.iter().map(|of| of.bound).sum::<f64>() / admitted.beside.len() as f64;
    assert!((unrejected.bound - sampled).abs() < 0.1 * sampled, "{unrejected:?} {sampled}");
    assert!(run.reward <= unrejected.bound && unrejected.greedy <= unrejected.bound + 1e-9, "{unrejected:?}");
    for (time, reward) in &run.series {
        let bound = admitted.beside.iter().find(|of| of.time == *time);
        assert!(bound.is_none_or(|of| *reward <= of.bound + 1e-9), "{time}");
    }
}

#[test]
fn initial_jobs_run_at_time_0() {
    let mut document = stated();
    document["loads"] = json!([{"at": 0, "loads": {"small": 0, "large": 0}}]);
    document["initial"] = json!({"small": 7, "large": 2});
    // The reserve is so large that no job would be admitted.
    for policy in [json!({"dra": {"reserve": 30}}), json!({"static": {}}), json!({"power_of_d": 30})] {
        document["policy"] = policy;
        let run = admitted(&document).runs[0].1.clone();
        assert_eq!((&run.admitted, &run.rejected), (&vec![0, 0], &vec![0, 0]));
        assert_eq!(run.jobs[0], [7, 2]);
        assert_eq!((&run.jobs, run.jobs.last()), (&run.all, Some(&vec![0, 0])));
    }
    // The configurations of four servers are the jobs that they have: 4 and 3 small jobs, and twice a large
    // job. For these jobs the greedy placement wants (1, 1) twice and (4, 0) twice, and all but one of these
    // configurations go to empty servers.
    document["policy"] = json!({"dra": {"reserve": 0}});
    document["horizon"] = json!(1e-9);
    document["every"] = json!(1e-9);
    let run = admitted(&document).runs[0].1.clone();
    is_consistent(&run, [1.0, 4.0], 30.0);
    assert_eq!(run.slots[0], [4 + 3 + 2 + 4, 2 + 2]);
}

#[test]
fn initial_jobs_without_room_are_refused() {
    let mut document = stated();
    document["policy"] = json!({"static": {}});
    let slots = admitted(&document).runs[0].1.slots[0][0];
    assert!(
        (30..60).contains(&slots),
        "one for each server is expected, of 120 that there could be: {slots}"
    );
    for (policy, room) in
        [(json!({"dra": {}}), 120), (json!({"power_of_d": 2}), 120), (json!({"static": {}}), slots)]
    {
        document["policy"] = policy;
        document["initial"] = json!({"small": room});
        assert_eq!(admitted(&document).runs[0].1.jobs[0], [room, 0]);
        document["initial"] = json!({"small": room + 1});
        match run(&read(&document).unwrap(), &[3], None) {
            Err(AdmissionError::Initial { name, fit }) if name == "small" => assert_eq!(fit, room),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn servers_are_classified_from_time_to_time() {
    let with = |every: Option<Value>| {
        let mut document = stated();
        document["every"] = json!("1/8");
        if let Some(every) = every {
            document["policy"]["dra"]["every"] = every;
        }
        admitted(&document).runs[0].1.clone()
    };
    let (always, often, seldom, never) =
        (with(None), with(Some(json!(1e-3))), with(Some(json!(2))), with(Some(json!(41))));
    for run in [&always, &often, &seldom, &never] {
        is_consistent(run, [1.0, 4.0], 30.0);
        assert_eq!(run.all, always.all);
    }
    // Slots move to other types only when servers are classified, every 16 rows. The next row shows the change.
    let changes = |run: &Admission| {
        let pairs = run.slots.windows(2).enumerate();
        pairs.filter(|(_, pair)| pair[0] != pair[1]).map(|(k, _)| k + 1).collect::<Vec<_>>()
    };
    assert!(changes(&never).is_empty());
    assert!(
        !changes(&seldom).is_empty() && changes(&seldom).iter().all(|k| k % 16 == 1),
        "{:?}",
        changes(&seldom)
    );
    assert!(changes(&always).iter().any(|k| k % 16 != 1));
    assert!((often.reward - always.reward).abs() < 0.05 * always.reward);
    assert!(never.reward < always.reward);
}

#[test]
fn configurations_replace_capacities() {
    let with = |servers: Value, configurations: Option<Value>, policy: Value| {
        let mut document = stated();
        document["policy"] = policy;
        document["servers"] = json!(30);
        document["reservation"]["servers"] = servers;
        if let Some(configurations) = configurations {
            let problem = document["reservation"].as_object_mut().unwrap();
            problem.insert("configurations".to_owned(), configurations);
            problem.remove("resources");
            problem.remove("servers");
            for job in problem["jobs"].as_array_mut().unwrap() {
                job.as_object_mut().unwrap().remove("demand");
            }
        }
        read(&document).map(|scenario| run(&scenario, &[1], None).unwrap())
    };
    let pool = json!([{"name": "pool", "count": 30, "capacity": {"cpu": 4}}]);
    let listed = json!([{"small": 4}, {"small": 1, "large": 1}]);
    for policy in [json!({"dra": {"reserve": 2}}), json!({"static": {}})] {
        let of_capacity = with(pool.clone(), None, policy.clone()).unwrap();
        let of_list = with(pool.clone(), Some(listed.clone()), policy).unwrap();
        assert_eq!(of_capacity.runs, of_list.runs);
        assert_eq!(of_capacity.beside, of_list.beside);
    }
    for policy in [json!({"power_of_d": 2}), json!({"dra": {"priorities": {"small": 1}}})] {
        let error = with(pool.clone(), Some(listed.clone()), policy).unwrap_err();
        assert!(error.contains("policy: `power_of_d` and `priorities` compare"), "{error}");
    }
}

#[test]
fn faults_name_their_place() {
    for (field, value, expected) in [
        (
            "mean_times",
            json!({"smal": 1}),
            "mean_times.smal: there is no job type `smal` (did you mean `small`?)",
        ),
        ("mean_times", json!({"small": 0}), "mean_times.small: found 0"),
        ("initial", json!({"small": 0.5}), "initial.small: found 0.5"),
        (
            "loads",
            json!([{"at": 2, "loads": {}}, {"at": 1, "loads": {}}]),
            "loads[1]: time goes back from 2 to 1",
        ),
        ("loads", json!([{"at": 2, "loads": {"large": -1}}]), "loads[0].loads.large"),
        ("loads", json!([{"at": 2}]), "loads[0]: the field `loads` is missing"),
        ("trace", json!("nowhere.csv"), "nowhere.csv"),
        ("policy", json!({"dra": {"every": 0}}), "policy.dra.every: found 0"),
        ("policy", json!({"dra": {"every": 1e-9}}), "policy: more than 1e7 classifications"),
    ] {
        let mut document = stated();
        document[field] = value;
        let error = read(&document).unwrap_err();
        assert!(error.starts_with("s.json:1:") && error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn runs_do_not_depend_on_the_number_of_threads() {
    let mut document = stated();
    document["initial"] = json!({"small": 3});
    document["loads"] = json!([{"at": 10, "loads": {"large": 1}}]);
    let scenario = read(&document).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scenario, &[1, 2, 3, 4], None).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn policies_use_estimates_instead_of_loads() {
    let with = |policy: Value, load: &str| {
        let mut document = stated();
        document["policy"] = policy;
        document["loads"] = json!([{"at": 0, "loads": {"small": 1}}]);
        document["reservation"]["jobs"][0]["load"] = json!(load);
        admitted(&document).runs[0].1.clone()
    };
    // With an estimate, slots are for a load of 3 whatever the problem states. Without an estimate, they are
    // for the stated load.
    let estimated = with(json!({"static": {"estimates": {"small": 3}}}), "1");
    assert_eq!(estimated, with(json!({"static": {}}), "3"));
    assert_ne!(estimated, with(json!({"static": {}}), "1"));
    assert_eq!(with(json!({"static": {"error": 0}}), "1"), with(json!({"static": {}}), "1"));
    assert_ne!(with(json!({"static": {"error": 1}}), "1").slots, with(json!({"static": {}}), "1").slots);
    // With an estimate, DRA has slots before the jobs arrive.
    let first = |policy: Value| with(policy, "1").slots[0].clone();
    let (plain, waits) =
        (first(json!({"dra": {"reserve": 2}})), json!({"dra": {"reserve": 2, "estimates": {"small": 2}}}));
    assert!(first(waits)[0] >= 60 && plain[0] < 20, "{plain:?}");
    let same = with(json!({"dra": {"reserve": 2, "estimates": {"small": 0, "large": 0}}}), "1");
    assert_eq!(same, with(json!({"dra": {"reserve": 2}}), "1"));
    for (policy, expected) in [
        (json!({"static": {"error": 2}}), "policy.static.error: expected a fraction of the estimates"),
        (json!({"static": {"estimates": {"smal": 1}}}), "there is no job type `smal`"),
        (json!({"dra": {"estimates": {"small": -1}}}), "policy.dra.estimates.small"),
    ] {
        let mut document = stated();
        document["policy"] = policy;
        let error = read(&document).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
