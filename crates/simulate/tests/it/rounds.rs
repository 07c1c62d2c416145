//! Jobs in rounds: golden values, a second plain implementation on random scenarios, refused input, and the
//! public lists of jobs.

use evenhand_import::{GavelOptions, Input, gavel_scenario};
use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_simulate::{
    RoundRun, RoundScenario, SimulateError, is_of_rounds, rounds_csv, rounds_document, rounds_jobs_csv,
    rounds_scenario, run_rounds,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn read_text(text: &str) -> Result<RoundScenario, String> {
    let document = Source { name: "s.json", text }.document().unwrap();
    assert!(is_of_rounds(&document));
    rounds_scenario(&document).map_err(|error| error.to_string())
}

fn read(document: &Value) -> Result<RoundScenario, String> {
    read_text(&document.to_string())
}

fn run(document: &Value) -> RoundRun {
    run_rounds(&read(document).unwrap(), 0, None).unwrap()
}

fn one_job() -> Value {
    json!({"kind": "scenario", "resources": ["gpu"],
        "servers": [{"name": "fast", "capacity": {"gpu": 1}}, {"name": "slow", "capacity": {"gpu": 1}}],
        "users": [{"name": "train", "demand": {"gpu": 1}, "rates": {"fast": 2, "slow": 1}, "at_most": 1,
            "work": 1440}],
        "policy": {"rounds": {"mechanism": "drfh"}}})
}

#[test]
fn one_job_on_two_idle_accelerators_runs_at_its_best_rate() {
    for mechanism in ["drfh", "utilitarian", "proportional", "oef", "finish-time"] {
        let mut document = one_job();
        document["policy"]["rounds"]["mechanism"] = json!(mechanism);
        if mechanism == "oef" {
            // The other variant does not apply to users with `at_most`.
            document["policy"]["rounds"]["flags"] = json!({"variant": "equal"});
        }
        let run = run(&document);
        // The rate is 2, and not 3: the job runs on one accelerator at a time.
        assert_eq!(run.finished, [Some(Rational::from(720))], "{mechanism}");
        assert_eq!(run.received, [[2, 0]], "{mechanism}");
    }
}

#[test]
fn a_job_finishes_within_a_round_at_its_exact_time() {
    let mut document = one_job();
    document["users"][0]["rates"] = json!({"fast": 3});
    document["users"][0]["work"] = json!(1081);
    document["users"][0]["arrives"] = json!(1);
    let scenario = read(&document).unwrap();
    let run = run_rounds(&scenario, 0, None).unwrap();
    // The job begins at time 360 and does 1,080 units of work in its first round.
    assert_eq!(run.finished, [Some(Rational::from(720) + Rational::from((1, 3)))]);
    assert_eq!(run.mean_completion_time(&scenario), Some(Rational::from((2158, 3))));
    assert_eq!(
        rounds_jobs_csv(&scenario, &run),
        "job,arrives,finished,completion_time,work_left,rounds on fast,rounds on slow\n\
         train,1,2161/3,2158/3,0,2,0\n"
    );
    assert_eq!(rounds_csv(&scenario, &run), "begins,job,server\n360,train,fast\n720,train,fast\n");
    assert_eq!(rounds_document(&scenario, std::slice::from_ref(&run))["runs"][0]["rounds"], 2);
}

#[test]
fn identical_jobs_take_turns() {
    let document = json!({"kind": "scenario", "resources": ["gpu"],
        "servers": [{"name": "a", "capacity": {"gpu": 1}}],
        "users": [{"name": "1", "demand": {"gpu": 1}, "rates": {"a": 1}, "work": 2},
                  {"name": "2", "demand": {"gpu": 1}, "rates": {"a": 1}, "work": 2}],
        "policy": {"rounds": {"mechanism": "drfh", "length": 1}}});
    let run = run(&document);
    let jobs: Vec<usize> = run.rounds.iter().map(|round| round.placed[0].0).collect();
    assert_eq!(jobs, [0, 1, 0, 1]);
    assert_eq!(run.finished, [Some(Rational::from(3)), Some(Rational::from(4))]);
    let mut until_2 = document;
    until_2["horizon"] = json!(2);
    let scenario = read(&until_2).unwrap();
    let run = run_rounds(&scenario, 0, None).unwrap();
    assert_eq!((run.left.clone(), run.makespan()), (vec![Rational::from(1); 2], None));
    assert_eq!(run.mean_completion_time(&scenario), None);
}

/// Runs a scenario by the plain rules: one step per round, and the pair with the highest priority is searched
/// for again after each placement.
fn plain(document: &Value, flags: &[(&'static str, &str)]) -> Option<PlainRun> {
    let number = |value: &Value| evenhand_problem::number::parse(&value.to_string()).unwrap();
    let users = document["users"].as_array().unwrap();
    let servers = document["servers"].as_array().unwrap();
    let length = number(&document["policy"]["rounds"]["length"]);
    let id = document["policy"]["rounds"]["mechanism"].as_str().unwrap();
    let rate = |n: usize, i: usize| number(&users[n]["rates"][servers[i]["name"].as_str().unwrap()]);
    let mut left: Vec<Rational> = users.iter().map(|user| number(&user["work"])).collect();
    let mut finished: Vec<Option<Rational>> = vec![None; users.len()];
    let mut rounds_of = vec![vec![0_u32; servers.len()]; users.len()];
    let mut rounds = Vec::new();
    let mut now = Rational::new();
    while finished.contains(&None) {
        let is_there = |n: &usize| finished[*n].is_none() && number(&users[*n]["arrives"]) <= now;
        let present: Vec<usize> = (0..users.len()).filter(is_there).collect();
        if present.is_empty() {
            now += &length;
            continue;
        }
        let mut problem = json!({"kind": "allocation-problem", "resources": document["resources"],
            "servers": servers, "users": []});
        for n in &present {
            let mut user = users[*n].clone();
            user.as_object_mut().unwrap().retain(|field, _| field != "arrives" && field != "work");
            user["at_most"] = json!(1);
            problem["users"].as_array_mut().unwrap().push(user);
        }
        let problem = Source { name: "p", text: &problem.to_string() }.problem().unwrap();
        let settings =
            flags.iter().fold(Flags::new(Arithmetic::Exact), |all, (name, text)| all.with(name, *text));
        let allocation = registry::find(id)?.allocate_with(&problem, &settings).ok()?.allocation;
        let mut free: Vec<Rational> = servers.iter().map(|server| number(&server["count"])).collect();
        let mut placed: Vec<(usize, usize)> = Vec::new();
        loop {
            let mut best: Option<((Rational, Rational), usize, usize)> = None;
            for (k, n) in present.iter().enumerate() {
                for i in 0..servers.len() {
                    let tasks = allocation.on(k, i);
                    if tasks == 0
                        || placed.iter().any(|(job, _)| job == n)
                        || number(&users[*n]["demand"]["gpu"]) > free[i]
                    {
                        continue;
                    }
                    let fraction = tasks / rate(*n, i);
                    // Pairs without a round come first: their first number is larger than every fraction.
                    let priority = match rounds_of[*n][i] {
                        0 => (Rational::from(1_000_000), fraction),
                        received => (fraction / received, Rational::new()),
                    };
                    if best.as_ref().is_none_or(|(most, ..)| priority > *most) {
                        best = Some((priority, *n, i));
                    }
                }
            }
            let Some((_, n, i)) = best else { break };
            free[i] -= number(&users[n]["demand"]["gpu"]);
            placed.push((n, i));
        }
        for (n, i) in &placed {
            rounds_of[*n][*i] += 1;
            let work = rate(*n, *i) * &length;
            if work >= left[*n] {
                finished[*n] = Some(now.clone() + left[*n].clone() / rate(*n, *i));
                left[*n] = Rational::new();
            } else {
                left[*n] -= work;
            }
        }
        assert!(!placed.is_empty());
        rounds.push((now.clone(), placed));
        now += &length;
    }
    Some(PlainRun { rounds, finished })
}

struct PlainRun {
    rounds: Vec<(Rational, Vec<(usize, usize)>)>,
    finished: Vec<Option<Rational>>,
}

#[test]
fn random_scenarios_agree_with_the_plain_implementation() {
    let policies: [(&str, &[(&'static str, &str)]); 6] = [
        ("drfh", &[]),
        ("drfh", &[("reference", "best")]),
        ("utilitarian", &[]),
        ("oef", &[("variant", "equal")]),
        ("finish-time", &[]),
        ("proportional", &[]),
    ];
    let mut random = Pcg64::seed_from_u64(60);
    let (mut compared, mut rounds) = (0, 0);
    for k in 0..2000 {
        let (mechanism, flags) = policies[k % policies.len()];
        let classes = random.random_range(1..=3);
        let counts: Vec<u64> = (0..classes).map(|_| random.random_range(1..=4)).collect();
        let servers: Vec<Value> = counts
            .iter()
            .enumerate()
            .map(|(i, count)| json!({"name": format!("c{i}"), "count": count, "capacity": {"gpu": 1}}))
            .collect();
        let most = *counts.iter().max().unwrap();
        let users: Vec<Value> = (0..random.random_range(1..=5))
            .map(|n| {
                let demand = random.random_range(1..=most.min(3));
                let mut rates = json!({});
                for (i, count) in counts.iter().enumerate() {
                    let rate = if demand > *count { 0 } else { random.random_range(1..=6) };
                    rates[format!("c{i}")] = json!(rate);
                }
                json!({"name": format!("u{n}"), "weight": random.random_range(1..=3), "demand": {"gpu": demand},
                    "rates": rates, "arrives": random.random_range(0..=9), "work": random.random_range(1..=40)})
            })
            .collect();
        let mut rule = json!({"mechanism": mechanism, "length": random.random_range(1..=3)});
        for (name, text) in flags {
            rule["flags"][name] = json!(text);
        }
        let document = json!({"kind": "scenario", "resources": ["gpu"], "servers": servers, "users": users,
            "policy": {"rounds": rule}});
        let scenario = read(&document).unwrap_or_else(|error| panic!("{error}: {document}"));
        let run = run_rounds(&scenario, 0, None);
        let Some(plain) = plain(&document, flags) else {
            assert!(matches!(run, Err(SimulateError::Mechanism(_))), "{document}");
            continue;
        };
        let run = run.unwrap_or_else(|error| panic!("{error}: {document}"));
        let steps: Vec<_> =
            run.rounds.iter().map(|round| (round.begins.clone(), round.placed.clone())).collect();
        assert_eq!(steps, plain.rounds, "{document}");
        assert_eq!(run.finished, plain.finished, "{document}");
        assert!(run.left.iter().all(Rational::is_zero));
        compared += 1;
        rounds += steps.len();
    }
    println!("{compared} scenarios with {rounds} rounds are equal");
    assert!(compared >= 1900, "only {compared} scenarios were compared");
}

#[test]
fn wrong_input_is_refused_at_its_place() {
    let with = |pointer: &str, value: Value| {
        let mut document = one_job();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        document.pointer_mut(parent).unwrap()[field] = value;
        read(&document).unwrap_err()
    };
    for (pointer, value, place, message) in [
        ("/users/0/work", json!(0), "users[0].work", "found 0: expected a number above 0"),
        ("/users/0/arrives", json!(-1), "users[0].arrives", "found -1: expected a number of at least 0"),
        ("/users/0/at_most", json!(2), "users[0].at_most", "`at_most` must be 1"),
        ("/users/0/tasks", json!(2), "users[0].tasks", "state the amount of work as `work`"),
        (
            "/users/0/demand",
            json!({"gpu": 2}),
            "users[0]",
            "demands more gpu than all servers of class `fast`",
        ),
        ("/users/0/jobs", json!([]), "users[0].jobs", "unknown field"),
        (
            "/policy/rounds/mechanism",
            json!("drhf"),
            "policy.rounds.mechanism",
            "there is no mechanism `drhf`",
        ),
        ("/policy/rounds/length", json!(0), "policy.rounds.length", "expected a number above 0"),
        (
            "/policy/rounds/flags",
            json!({"reference": "x"}),
            "policy.rounds.flags.reference",
            "expected one of",
        ),
        ("/horizon", json!(0), "horizon", "expected a number above 0"),
        ("/every", json!(1), "every", "unknown field"),
    ] {
        let error = with(pointer, value);
        assert!(error.contains(place) && error.contains(message), "{pointer}: {error}");
    }
    for (field, message) in [("rates", "the field `rates` is missing"), ("work", "`work` is missing")] {
        let mut document = one_job();
        let user = document["users"][0].as_object_mut().unwrap();
        user.remove(field);
        user.remove("at_most");
        let error = read(&document).unwrap_err();
        assert!(error.contains("users[0]") && error.contains(message), "{error}");
    }
    let mut refused = one_job();
    refused["policy"]["rounds"]["mechanism"] = json!("ps-dsf");
    let error = run_rounds(&read(&refused).unwrap(), 0, None).unwrap_err();
    assert!(matches!(error, SimulateError::Mechanism(_)), "{error}");
}

/// Checks that a run on real jobs is possible: no class is over its capacity, and no job runs twice at once.
fn assert_possible(scenario: &RoundScenario, run: &RoundRun) {
    let all: Vec<usize> = (0..scenario.jobs.len()).collect();
    let problem: Problem = scenario.problem(&all).unwrap();
    for round in &run.rounds {
        let mut used = vec![Rational::new(); problem.n_servers()];
        let mut jobs: Vec<usize> = round.placed.iter().map(|(job, _)| *job).collect();
        for (job, class) in &round.placed {
            assert!(scenario.jobs[*job].arrives <= round.begins);
            used[*class] += &problem.users()[*job].base_demand().entries()[0].1;
        }
        jobs.sort_unstable();
        jobs.dedup();
        assert_eq!(jobs.len(), round.placed.len());
        assert!(used.iter().zip(problem.servers()).all(|(used, class)| *used <= class.count()));
    }
}

#[test]
fn public_lists_of_jobs_run() {
    let names = [
        "gavel/simulation_throughputs.json.zst",
        "gavel/physical_max_min_fairness.trace",
        "gavel/msr_seed0_ed69ec.trace.gz",
    ];
    let [Some(table), Some(physical), Some(simulated)] = names.map(evenhand_testkit::data::data) else {
        println!("skipped: the data of Gavel is not here");
        return;
    };
    let read_list = |list, options: &GavelOptions| {
        let lists = vec![Input::open(list).unwrap()];
        read_text(&gavel_scenario(Input::open(&table).unwrap(), lists, options).unwrap()).unwrap()
    };
    let accelerators = [("v100", 8), ("p100", 16), ("k80", 24)].map(|(name, count)| (name.to_owned(), count));
    let options = GavelOptions { accelerators: accelerators.to_vec(), jobs: Some(12) };
    let of_cluster = read_list(&physical, &options);
    assert_eq!(of_cluster.jobs[0].work, 925_982);
    assert_eq!(of_cluster.spec.users[0].name, "job 1: ResNet-18 (batch size 128) on 4");
    let arriving = read_list(&simulated, &GavelOptions { jobs: Some(40), ..GavelOptions::default() });
    assert!(arriving.jobs.iter().any(|job| job.arrives > 0));
    for scenario in [of_cluster, arriving] {
        let run = run_rounds(&scenario, 0, None).unwrap();
        assert!(run.finished.iter().all(Option::is_some));
        assert_possible(&scenario, &run);
        assert_eq!(run, run_rounds(&scenario, 0, None).unwrap());
    }
}
