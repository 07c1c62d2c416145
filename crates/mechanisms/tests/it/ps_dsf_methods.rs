//! Tests of Algorithm I, time sharing, the distributed procedure and real rates.

use evenhand_testkit::data::data;
use evenhand_testkit::golden::{case, matrix};
use evenhand_testkit::plain::ps_dsf::{theorem_1, theorem_2};
use evenhand_testkit::random::ps_dsf::{SMALL, Shape, problem, spec};
use std::collections::VecDeque;
use std::io::Read;

use evenhand_mechanisms::ps_dsf::{self, Settings, distributed::ServerProcess, residual_of, tdm};
use evenhand_mechanisms::{MechanismError, Method, Outcome, Status};
use evenhand_problem::number::to_f64;
use evenhand_problem::{
    Arithmetic, Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

type Allocate = fn(&Problem, &Settings) -> Result<Outcome, MechanismError>;

fn solve(allocate: Allocate, problem: &Problem, settings: &Settings) -> Outcome {
    allocate(problem, settings).unwrap_or_else(|error| panic!("{error}"))
}

fn exactly() -> Settings {
    Settings::new(Arithmetic::Exact)
}

fn in_doubles() -> Settings {
    Settings::new(Arithmetic::Float)
}

fn with_method(method: Method, settings: Settings) -> Settings {
    Settings { method: Some(method), ..settings }
}

const UNLIMITED: Shape = Shape { users: 5, classes: 4, resources: 3, finite: 0.0, gamma: 0.0, ..SMALL };

#[test]
fn algorithm_1_does_not_end_on_the_golden_instance() {
    let case = case("psdsf.alg1.nonterminating");
    let (capacities, demands) = (matrix(&case["inputs"]["C"]), matrix(&case["inputs"]["D"]));
    let named =
        |values: &[Rational]| vec![("a".to_owned(), values[0].clone()), ("b".to_owned(), values[1].clone())];
    let servers = capacities.iter().enumerate();
    let users = demands.iter().enumerate();
    let problem = problem(ProblemSpec {
        resources: vec!["a".to_owned(), "b".to_owned()],
        servers: servers
            .map(|(i, c)| ServerSpec { name: format!("s{i}"), count: None, capacity: named(c) })
            .collect(),
        users: users
            .map(|(n, d)| UserSpec { name: format!("u{n}"), demand: named(d), ..UserSpec::default() })
            .collect(),
        ..ProblemSpec::default()
    });
    let ended = solve(ps_dsf::allocate, &problem, &with_method(Method::Algorithm1, exactly()));
    assert_eq!(ended.findings.status, Some(Status::Limit));
    let limit = matrix(&case["expected"]["exact_limit"]);
    for (n, row) in limit.iter().enumerate() {
        for (i, x) in row.iter().enumerate() {
            assert!(to_f64(&(ended.allocation.on(n, i) - x)).abs() < 1e-9, "user {n} on class {i}");
        }
    }
    let float = solve(ps_dsf::allocate, &problem, &with_method(Method::Algorithm1, in_doubles()));
    assert_eq!(float.findings.status, Some(Status::Solved));
    let exact = solve(ps_dsf::allocate, &problem, &exactly()).allocation;
    assert_eq!(exact.totals(), limit.iter().map(|row| row.iter().sum()).collect::<Vec<Rational>>());
}

#[test]
fn theorem_1_holds_if_algorithm_1_ends() {
    let (mut ended, mut same, mut float_ended) = (0, 0, 0);
    for seed in 0..300 {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), UNLIMITED));
        let found = solve(ps_dsf::allocate, &problem, &with_method(Method::Algorithm1, exactly()));
        if found.findings.status == Some(Status::Solved) {
            ended += 1;
            theorem_1(&problem, &found.allocation).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            let swept = solve(ps_dsf::allocate, &problem, &exactly()).allocation;
            same += usize::from(swept.totals() == found.allocation.totals());
        }
        let float = solve(ps_dsf::allocate, &problem, &with_method(Method::Algorithm1, in_doubles()));
        float_ended += usize::from(float.findings.status == Some(Status::Solved));
    }
    eprintln!(
        "of 300 exact runs {ended} ended, {same} with the totals of the sweep; {float_ended} in doubles"
    );
    assert!(ended >= 100 && same * 10 >= ended * 8 && float_ended >= 280, "{ended} {same} {float_ended}");
}

#[test]
fn the_time_shared_sweep_ends_at_the_market() {
    for seed in 0..300 {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), Shape { finite: 0.0, ..SMALL }));
        let market = solve(tdm::allocate, &problem, &exactly()).allocation;
        theorem_2(&problem, &market).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let swept = solve(tdm::allocate, &problem, &with_method(Method::Sweep, exactly())).allocation;
        theorem_2(&problem, &swept).unwrap_or_else(|why| panic!("seed {seed}, swept: {why}"));
        assert_eq!(market.totals(), swept.totals(), "seed {seed}");
    }
    for seed in 0..300 {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), SMALL));
        let found = solve(tdm::allocate, &problem, &with_method(Method::Market, exactly())).allocation;
        theorem_2(&problem, &found).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        // With task limits, the sweep need not end at the optimum and is not offered.
        if problem.users().iter().any(|user| user.tasks().is_some()) {
            let swept = tdm::allocate(&problem, &with_method(Method::Sweep, exactly()));
            assert!(matches!(swept, Err(MechanismError::BadOption { .. })), "seed {seed}");
        }
    }
}

/// Lets servers act in random order. Messages wait in separate queues and are read in any order.
fn asynchronously(problem: &Problem, random: &mut Pcg64Mcg, part: f64) -> f64 {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let n = problem.n_servers();
    let mut servers: Vec<ServerProcess> =
        (0..n).map(|i| ServerProcess::new(&constraints, i).damped(part)).collect();
    let mut inbox: Vec<VecDeque<(usize, usize, u64, f64)>> = vec![VecDeque::new(); n];
    // The last message for each receiver, sender and user, and the time at which it was sent.
    let mut heard = vec![vec![vec![(0, 0.0); problem.n_users()]; n]; n];
    for time in 1..=3000 * n as u64 {
        let i = random.random_range(0..n);
        for _ in 0..random.random_range(0..=2 * inbox[i].len()) {
            let Some(k) = (!inbox[i].is_empty()).then(|| random.random_range(0..inbox[i].len())) else {
                break;
            };
            let Some((from, user, sent, tasks)) = inbox[i].remove(k) else { break };
            if heard[i][from][user].0 < sent {
                heard[i][from][user] = (sent, tasks);
                servers[i].hear(user, heard[i].iter().map(|list| list[user].1).sum());
            }
        }
        for (user, tasks) in servers[i].act() {
            for (to, queue) in inbox.iter_mut().enumerate().filter(|(to, _)| *to != i) {
                let _ = to;
                queue.push_back((i, user, time, tasks));
            }
        }
    }
    let tasks = (0..problem.n_users())
        .map(|user| (0..n).map(|i| (i, servers[i].tasks(user))).filter(|(_, x)| *x > 0.0).collect())
        .collect::<Vec<_>>();
    residual_of(&constraints, &tasks)
}

#[test]
fn servers_with_stale_totals_mostly_converge() {
    let mut counts = [0, 0];
    const INSTANCES: u64 = 100;
    for seed in 0..INSTANCES {
        let problem =
            problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), Shape { users: 6, classes: 4, ..SMALL }));
        for (count, part) in counts.iter_mut().zip([1.0, 0.3]) {
            let mut random = Pcg64Mcg::seed_from_u64(1000 + seed);
            *count += u64::from(asynchronously(&problem, &mut random, part) < 1e-6);
        }
    }
    eprintln!("{} of {INSTANCES} converged at once, {} damped", counts[0], counts[1]);
    assert!(counts[0] >= 60 && counts[1] >= 80, "{counts:?}");
}

#[test]
fn an_order_is_obeyed_and_checked() {
    let cluster = problem(spec(&mut Pcg64Mcg::seed_from_u64(1), SMALL));
    let order = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let refuses = |allocate: Allocate, settings: Settings| {
        assert!(matches!(allocate(&cluster, &settings), Err(MechanismError::BadOption { .. })));
    };
    refuses(ps_dsf::allocate, Settings { order: order(&["nowhere"]), ..exactly() });
    refuses(ps_dsf::allocate, Settings { order: order(&["s0", "s0"]), ..exactly() });
    refuses(ps_dsf::allocate, Settings { method: Some(Method::Market), ..exactly() });
    refuses(tdm::allocate, Settings { order: order(&["s0"]), ..exactly() });
    refuses(tdm::allocate, Settings { method: Some(Method::Algorithm1), ..exactly() });
    let finite = problem(spec(&mut Pcg64Mcg::seed_from_u64(1), Shape { finite: 1.0, ..SMALL }));
    let settings = Settings { method: Some(Method::Algorithm1), ..exactly() };
    assert!(matches!(ps_dsf::allocate(&finite, &settings), Err(MechanismError::BadOption { .. })));
    // Another order may lead to another answer, which is PS-DSF too.
    let mut differ = 0;
    for seed in 0..200 {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), Shape { classes: 3, ..SMALL }));
        let names: Vec<String> = problem.servers().iter().rev().map(|s| s.name().to_owned()).collect();
        let there = solve(ps_dsf::allocate, &problem, &exactly()).allocation;
        let back =
            solve(ps_dsf::allocate, &problem, &Settings { order: Some(names), ..exactly() }).allocation;
        theorem_1(&problem, &back).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        differ += usize::from(there.totals() != back.totals());
    }
    eprintln!("{differ} of 200 have other totals in the reverse order");
    assert!(differ > 0);
}

/// Checks jobs of gavel's throughput table on three kinds of GPUs. Steps per second are rates of time-shared
/// classes.
#[test]
fn throughputs_of_gavel_are_solved() {
    let Some(path) = data("gavel/simulation_throughputs.json.zst") else { return };
    let file = std::fs::File::open(path).expect("a file that can be read");
    let mut text = String::new();
    let mut input = ruzstd::decoding::StreamingDecoder::new(std::io::BufReader::new(file)).expect("zstd");
    input.read_to_string(&mut text).expect("readable");
    let table: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let kinds: Vec<&String> = table.as_object().expect("an object").keys().collect();
    let rate = |kind: &str, job: &str| table[kind][job]["null"].as_f64().filter(|rate| *rate > 0.0);
    let jobs: Vec<&String> = table[kinds[0]].as_object().expect("jobs").keys().collect();
    let users: Vec<UserSpec> = (jobs.iter().enumerate())
        .map(|(n, job)| {
            let rates: Vec<(String, Rational)> = (kinds.iter())
                .filter_map(|kind| {
                    Some(((*kind).clone(), evenhand_problem::number::from_f64(rate(kind, job)?)?))
                })
                .collect();
            UserSpec {
                name: (*job).clone(),
                weight: Some(Rational::from(1 + n % 3)),
                servers: Some(rates.iter().map(|(kind, _)| kind.clone()).collect()),
                gamma: rates,
                ..UserSpec::default()
            }
        })
        .filter(|user| !user.gamma.is_empty())
        .collect();
    let servers = kinds.iter().map(|kind| ServerSpec {
        name: (*kind).clone(),
        count: None,
        capacity: vec![("gpu".to_owned(), Rational::from(1))],
    });
    let spec = ProblemSpec {
        resources: vec!["gpu".to_owned()],
        servers: servers.collect(),
        users,
        ..ProblemSpec::default()
    };
    let problem = problem(spec);
    assert!(
        problem.n_users() >= 20 && problem.n_servers() >= 3,
        "{} {}",
        problem.n_users(),
        problem.n_servers()
    );
    let market = solve(tdm::allocate, &problem, &exactly()).allocation;
    theorem_2(&problem, &market).expect("a market");
    // Every class is shared by time, so both mechanisms give the same answer.
    let divided = solve(ps_dsf::allocate, &problem, &exactly()).allocation;
    theorem_1(&problem, &divided).expect("PS-DSF");
    assert_eq!(market.totals(), divided.totals());
}
