//! Problems, allocations and certificates that several tests use.

use evenhand_exact::{
    Axiom, Certificate, Claim, Evidence, Instance, Level, Parameters, PriceVector, Prices, Share, Tasks,
    is_feasible,
};
use evenhand_problem::format::{Source, problem_sha256};
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use crate::agreement::agreed;
use crate::q;

mod groups;
mod optimal;
mod packings;

pub fn problem(text: &str) -> Problem {
    Source { name: "problem", text }.problem().unwrap()
}

pub fn allocation(problem: &Problem, tasks: &str) -> Allocation {
    let text = format!(r#"{{"kind": "allocation", "tasks": {tasks}}}"#);
    Source { name: "allocation", text: &text }.allocation(problem).unwrap().allocation
}

pub fn tasks(entries: &[&[(usize, &str)]]) -> Tasks {
    entries.iter().map(|on| on.iter().map(|(i, x)| (*i, q(x))).collect()).collect()
}

/// Returns the problem of DRFH, Figure 1.
pub fn figure_1() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "name": "two servers", "resources": ["cpu", "memory"],
        "servers": [{"name": "high-memory", "capacity": {"cpu": 2, "memory": 12}},
                    {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}}],
        "users": [{"name": "user 1", "demand": {"cpu": "1/5", "memory": 1}},
                  {"name": "user 2", "demand": {"cpu": 1, "memory": "1/5"}}]}"#,
    )
}

/// Returns the DRFH allocation of Figure 1. Each user has 10 tasks and the dominant share 5/7.
pub fn figure_1_fair(problem: &Problem) -> Allocation {
    allocation(problem, r#"{"user 1": {"high-memory": 10}, "user 2": {"high-cpu": 10}}"#)
}

/// Returns the allocation of Figure 1 by DRF in every server. Each user has 6 tasks.
pub fn figure_1_naive(problem: &Problem) -> Allocation {
    allocation(
        problem,
        r#"{"user 1": {"high-memory": 5, "high-cpu": 1}, "user 2": {"high-memory": 1, "high-cpu": 5}}"#,
    )
}

/// Returns prices that prove that both users together cannot have more than 20 tasks.
pub fn figure_1_prices(instance: &Instance<'_>) -> Prices {
    let mut prices = Prices::zero(instance);
    prices.user_weights = vec![q("1"), q("1")];
    prices.rows = vec![q("5"), q("0"), q("0"), q("5")];
    prices
}

pub fn with(
    axiom: Axiom,
    parameters: impl Into<Parameters>,
    evidence: Evidence,
    instance: &Instance<'_>,
) -> Claim {
    Claim::with_evidence(axiom, parameters, evidence, instance, &Rational::new()).unwrap()
}

pub fn derived(instance: &Instance<'_>) -> Vec<Claim> {
    derived_within(instance, &Rational::new())
}

/// Returns all claims that need no evidence from a solver. For an infeasible allocation, these claims only
/// state the infeasibility.
pub fn derived_within(instance: &Instance<'_>, tolerance: &Rational) -> Vec<Claim> {
    let axioms = [
        Axiom::Feasible,
        Axiom::IntegerFeasible,
        Axiom::NonWasteful,
        Axiom::WorkConserving,
        Axiom::EnvyFree,
        Axiom::Ef1,
        Axiom::SharingIncentive,
        Axiom::Njc,
        Axiom::PsDsf,
    ];
    let judged = if is_feasible(instance, tolerance) { &axioms[..] } else { &axioms[..2] };
    judged.iter().map(|axiom| Claim::derive(*axiom, instance, tolerance).unwrap()).collect()
}

/// Returns a vector of prices that covers these users, as a level of evidence.
pub fn level(covers: &[usize], prices: &Prices) -> Level {
    Level { covers: covers.to_vec(), prices: PriceVector::of(prices) }
}

pub fn certificate(problem: &Problem, allocation: &Allocation, claims: Vec<Claim>) -> Certificate {
    let not_checked =
        Axiom::questions(problem).filter(|axiom| claims.iter().all(|claim| claim.axiom != *axiom));
    Certificate {
        problem: problem.clone(),
        allocation: allocation.clone(),
        problem_sha256: None,
        tolerance: Rational::new(),
        not_checked: not_checked.map(|axiom| axiom.name().to_owned()).collect(),
        claims,
    }
}

/// Checks that the certificate is valid, and that it is still valid after a round trip through its text.
pub fn assert_valid(certificate: &Certificate) {
    let verdict = agreed(certificate);
    assert!(verdict.valid, "{:?}", verdict.reason);
    assert_eq!(verdict.claims, certificate.claims.len());
    let text = certificate.to_json();
    let read = Certificate::parse(&Source { name: "certificate", text: &text }).unwrap();
    let claims = |of: &Certificate| of.claims.iter().map(Claim::as_read).collect::<Vec<_>>();
    assert_eq!((claims(&read), &read.problem), (claims(certificate), &certificate.problem));
    assert!(agreed(&read).valid);
}

/// Returns good certificates with evidence of every form, for claims that hold and claims that are violated.
pub fn good_certificates() -> Vec<(&'static str, Certificate)> {
    let mut all = Vec::new();
    let two = figure_1();
    let drfh = Some(Share::Dominant);

    let x = figure_1_fair(&two);
    let instance = Instance::new(&two, &x).unwrap();
    let mut claims = derived(&instance);
    let prices = figure_1_prices(&instance);
    claims.push(with(Axiom::ParetoOptimal, None, Evidence::Prices(prices.clone()), &instance));
    let mut weighted = prices.clone();
    weighted.user_weights = vec![q("14"), q("14")];
    claims.push(with(Axiom::MaxMin, drfh, Evidence::Levels(vec![level(&[0, 1], &weighted)]), &instance));
    claims.push(Claim::derive(Axiom::BottleneckFair, &instance, &Rational::new()).unwrap());
    claims.push(Claim::derive(Axiom::SingleResourceFair, &instance, &Rational::new()).unwrap());
    let mut drfh_of_two = certificate(&two, &x, claims);
    drfh_of_two.problem_sha256 = Some(problem_sha256(&two));
    all.push(("figure-1-drfh", drfh_of_two));

    // The allocation of Figure 1 in doubles. One number is an ulp too large, and one number is slightly
    // negative.
    let x = allocation(
        &two,
        r#"{"user 1": {"high-memory": 10.000000000000002}, "user 2": {"high-memory": -1e-17, "high-cpu": 10}}"#,
    );
    let instance = Instance::new(&two, &x).unwrap();
    let tolerance = q("1e-9");
    let mut claims = derived_within(&instance, &tolerance);
    let judge =
        |axiom, share, evidence| Claim::with_evidence(axiom, share, evidence, &instance, &tolerance).unwrap();
    claims.push(judge(Axiom::ParetoOptimal, None, Evidence::Prices(prices.clone())));
    claims.push(judge(
        Axiom::MaxMin,
        drfh,
        Evidence::Levels(vec![level(&[0], &weighted), level(&[1], &weighted)]),
    ));
    let mut repaired = certificate(&two, &x, claims);
    repaired.tolerance = tolerance.clone();
    all.push(("figure-1-repaired", repaired));

    let x = figure_1_naive(&two);
    let instance = Instance::new(&two, &x).unwrap();
    let better = tasks(&[&[(0, "10")], &[(1, "10")]]);
    let mut claims = derived(&instance);
    claims.push(with(Axiom::ParetoOptimal, None, Evidence::Dominating(better.clone()), &instance));
    let rise = Evidence::Rise { resource: None, user: 1, allocation: better };
    claims.push(with(Axiom::MaxMin, drfh, rise, &instance));
    all.push(("figure-1-naive", certificate(&two, &x, claims)));

    let x = allocation(
        &two,
        r#"{"user 1": {"high-memory": 9, "high-cpu": 2}, "user 2": {"high-memory": "-1/4"}}"#,
    );
    let instance = Instance::new(&two, &x).unwrap();
    all.push(("figure-1-violated", certificate(&two, &x, derived(&instance))));

    // The problem has one resource and three users. One user has all its tasks, and another may not use the
    // second server.
    let one = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "count": 2, "capacity": {"cpu": 3}}, {"name": "b", "capacity": {"cpu": 10}}],
        "users": [{"name": "small", "demand": {"cpu": 1}, "tasks": "1"},
                  {"name": "bound", "demand": {"cpu": 1}, "servers": ["a"]},
                  {"name": "free", "demand": {"cpu": 2}, "weight": 2}]}"#,
    );
    let x = allocation(&one, r#"{"small": {"b": 1}, "bound": {"a": 5}, "free": {"a": "1/2", "b": "9/2"}}"#);
    let instance = Instance::new(&one, &x).unwrap();
    // The levels are 1/16, 5/16 and 5/16. All CPUs are used. `bound` and `free` share the rest 1 to 2.
    let mut levels = Prices::zero(&instance);
    levels.user_weights = vec![q("16"), q("16"), q("32")];
    levels.rows = vec![q("1"), q("1")];
    let of_cpu = vec![level(&[1, 2], &levels)];
    let evidence = Evidence::LevelsByResource(vec![(0, of_cpu.clone())]);
    let mut claims = derived(&instance);
    claims.push(
        Claim::with_evidence(Axiom::SingleResourceFair, None, evidence.clone(), &instance, &q("0"))
            .unwrap_or_else(|e| panic!("{e}")),
    );
    claims.push(with(Axiom::BottleneckFair, None, evidence.clone(), &instance));
    claims.push(with(Axiom::GlobalBottleneckFair, None, evidence, &instance));
    let evidence = Evidence::Levels(of_cpu);
    claims.push(with(Axiom::MaxMin, Some(Share::Resource(0)), evidence, &instance));
    claims.push(Claim::not_applicable(
        Axiom::MaxMin,
        Some(Share::Containerized),
        "placement constraints".to_owned(),
    ));
    let mut prices = levels;
    prices.user_weights = vec![q("1"), q("1"), q("2")];
    claims.push(with(Axiom::ParetoOptimal, None, Evidence::Prices(prices), &instance));
    let fair = x.tasks.clone();
    all.push(("one-resource", certificate(&one, &x, claims)));

    // `bound` has less than `free`, which could come down.
    let x = allocation(&one, r#"{"small": {"b": 1}, "bound": {"a": 3}, "free": {"a": "3/2", "b": "9/2"}}"#);
    let instance = Instance::new(&one, &x).unwrap();
    let mut claims = derived(&instance);
    let rise = |resource| Evidence::Rise { resource, user: 1, allocation: fair.clone() };
    for axiom in [Axiom::SingleResourceFair, Axiom::BottleneckFair, Axiom::GlobalBottleneckFair] {
        claims.push(with(axiom, None, rise(Some(0)), &instance));
    }
    claims.push(with(Axiom::MaxMin, Some(Share::TaskShare), rise(None), &instance));
    all.push(("one-resource-uneven", certificate(&one, &x, claims)));

    // In Figure 1 with time-shared servers, a task of user 1 takes 1/10 of the time of the first server.
    let mut x = figure_1_fair(&two);
    x.sharing = Sharing::Tdm;
    let instance = Instance::new(&two, &x).unwrap();
    let mut prices = Prices::zero(&instance);
    prices.user_weights = vec![q("1"), q("1")];
    prices.rows = vec![q("10"), q("10")];
    let mut claims = derived(&instance);
    claims.push(with(Axiom::ParetoOptimal, None, Evidence::Prices(prices.clone()), &instance));
    prices.user_weights = vec![q("14"), q("14")];
    claims.push(with(Axiom::MaxMin, drfh, Evidence::Levels(vec![level(&[0, 1], &prices)]), &instance));
    all.push(("figure-1-tdm", certificate(&two, &x, claims)));

    // Shares and demands depend on the class. There is a price of finite tasks, and a tolerance.
    let three = generic();
    for (name, v, tolerance) in [("generic", "3/4", "0"), ("generic-tolerance", "0.7499", "1/100")] {
        let tasks =
            format!(r#"{{"t": {{"a": "1/2"}}, "u": {{"b": "7/12"}}, "v": {{"a": "{v}", "b": "5/12"}}}}"#);
        let x = allocation(&three, &tasks);
        let instance = Instance::new(&three, &x).unwrap();
        let tolerance = q(tolerance);
        let judge = |axiom, share, evidence| {
            Claim::with_evidence(axiom, share, evidence, &instance, &tolerance).unwrap()
        };
        let derive = |axiom| Claim::derive(axiom, &instance, &tolerance).unwrap();
        let mut claims =
            vec![derive(Axiom::Feasible), derive(Axiom::EnvyFree), derive(Axiom::SharingIncentive)];
        let mut prices = Prices::zero(&instance);
        prices.user_weights = vec![q("2"), q("1"), q("1")];
        prices.rows = vec![q("1"), q("1")];
        prices.users[0] = q("3/2");
        claims.push(judge(Axiom::ParetoOptimal, None, Evidence::Prices(prices.clone())));
        prices.user_weights = vec![q("1/2"), q("1/2"), q("1")];
        prices.users[0] = q("0");
        let levels = Evidence::Levels(vec![level(&[1, 2], &prices)]);
        claims.push(judge(Axiom::MaxMin, Some(Share::Generic), levels));
        let mut all_of_it = certificate(&three, &x, claims);
        all_of_it.tolerance = tolerance.clone();
        all.push((name, all_of_it));
    }

    // The class `channel` is time-shared, because a user states its gamma there.
    let channel = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "channel", "capacity": {}}, {"name": "b", "capacity": {"cpu": 3}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "gamma": {"channel": 4}},
                  {"name": "v", "demand": {"cpu": 1}, "weight": 2, "gamma": {"channel": "1/3"}, "tasks": 7}]}"#,
    );
    let x =
        allocation(&channel, r#"{"u": {"channel": 3, "b": "1/2"}, "v": {"channel": "1/12", "b": "5/2"}}"#);
    let instance = Instance::new(&channel, &x).unwrap();
    let mut claims = derived(&instance);
    claims.push(Claim::derive(Axiom::SingleResourceFair, &instance, &Rational::new()).unwrap());
    all.push(("channel", certificate(&channel, &x, claims)));
    all.extend(of_the_pool());
    all.extend(per_server());
    all.extend(whole_tasks());
    all.extend(groups::certificates());
    all.extend(packings::certificates());
    all.extend(optimal::certificates());
    all
}

/// Returns the problem of Kesidis, Table II, with the second server three times.
pub fn kesidis() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "a", "capacity": {"cpu": 100, "memory": 30}},
                    {"name": "b", "count": 3, "capacity": {"cpu": 30, "memory": 100}}],
        "users": [{"name": "1", "demand": {"cpu": 5, "memory": 1}},
                  {"name": "2", "demand": {"cpu": 1, "memory": 5}, "weight": 2, "tasks": 60}]}"#,
    )
}

/// Returns an allocation of the tasks of users 1 and 2 to single servers.
pub fn placed(problem: &Problem, single: &[(&str, u64, &str, &str)]) -> Allocation {
    let single = single.iter().map(|(server, index, one, two)| {
        format!(r#"{{"server": "{server}", "index": {index}, "tasks": {{"1": "{one}", "2": "{two}"}}}}"#)
    });
    let single: Vec<String> = single.collect();
    let text = format!(r#"{{"kind": "allocation", "placements": [{}]}}"#, single.join(", "));
    Source { name: "allocation", text: &text }.allocation(problem).unwrap().allocation
}

/// Returns certificates about whole tasks on single servers.
fn whole_tasks() -> Vec<(&'static str, Certificate)> {
    let three = kesidis();
    let good = [("a", 0, "19", "2"), ("b", 0, "2", "18"), ("b", 2, "2", "18"), ("b", 1, "6", "0")];
    let unfair = [("a", 0, "19", "2"), ("b", 2, "0", "4")];
    let wrong = [("a", 0, "19", "7"), ("b", 1, "5/2", "-3/2")];
    let parts = [("a", 0, "19", "2"), ("b", 1, "5/2", "3/2")];
    let mut all = Vec::new();
    for (name, single) in [
        ("integer", &good[..]),
        ("integer-unfair", &unfair),
        ("integer-wrong", &wrong),
        ("integer-parts", &parts),
    ] {
        let x = placed(&three, single);
        let instance = Instance::new(&three, &x).unwrap();
        let mut claims = derived(&instance);
        let dominating = |single: &[(&str, u64, &str, &str)]| {
            let placements = placed(&three, single).placements.unwrap();
            with(Axiom::IntegerParetoOptimal, None, Evidence::DominatingPlacements(placements), &instance)
        };
        match name {
            "integer" => claims.push(dominating(&[
                ("a", 0, "19", "2"),
                ("b", 0, "2", "19"),
                ("b", 2, "2", "18"),
                ("b", 1, "6", "0"),
            ])),
            "integer-unfair" => claims.push(dominating(&[("a", 0, "19", "2"), ("b", 2, "4", "4")])),
            "integer-wrong" => {}
            _ => {
                let why = "parts of tasks".to_owned();
                claims.push(Claim::not_applicable(Axiom::IntegerParetoOptimal, None, why));
            }
        }
        let it = certificate(&three, &x, claims);
        all.push((name, it));
    }
    // Half a unit is left, which is less than a task of any user needs. Prices prove that no user can have
    // more.
    let half = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": "19/2"}}],
        "users": [{"name": "1", "demand": {"cpu": 1}}, {"name": "2", "demand": {"cpu": 2}}]}"#,
    );
    let x = placed(&half, &[("a", 0, "3", "3")]);
    let instance = Instance::new(&half, &x).unwrap();
    let mut claims = derived(&instance);
    let prices =
        Prices { user_weights: vec![q("1"), q("2")], rows: vec![q("1")], users: vec![q("0"), q("0")] };
    claims.push(with(Axiom::IntegerParetoOptimal, None, Evidence::Prices(prices), &instance));
    all.push(("integer-optimal", certificate(&half, &x, claims)));
    let mut x = placed(&three, &[("a", 0, "10", "3"), ("b", 1, "3", "10")]);
    x.sharing = Sharing::Tdm;
    let instance = Instance::new(&three, &x).unwrap();
    all.push(("integer-tdm", certificate(&three, &x, derived(&instance))));
    all
}

/// Returns the problem of PS-DSF, Figure 2: four users and two servers. The second server has no bandwidth.
pub fn ps_dsf_2() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "memory", "bandwidth"],
        "servers": [{"name": "a", "capacity": {"cpu": 9, "memory": 12, "bandwidth": 100}},
                    {"name": "b", "capacity": {"cpu": 12, "memory": 12}}],
        "users": [{"name": "1", "demand": {"cpu": "3/2", "memory": 1, "bandwidth": 10}},
                  {"name": "2", "demand": {"cpu": 1, "memory": 2, "bandwidth": 10}},
                  {"name": "3", "demand": {"cpu": "1/2", "memory": 1}},
                  {"name": "4", "demand": {"cpu": 1, "memory": "1/2"}}]}"#,
    )
}

/// Returns certificates about PS-DSF, of claims that hold and of claims that are violated. Some have finite
/// tasks or a tolerance.
fn per_server() -> Vec<(&'static str, Certificate)> {
    let mut all = Vec::new();
    let two = ps_dsf_2();
    for (name, tasks, sharing) in [
        ("ps-dsf", r#"{"1": {"a": "18/5"}, "2": {"a": "18/5"}, "3": {"b": 8}, "4": {"b": 8}}"#, Sharing::Rdm),
        ("ps-dsf-tdm", r#"{"1": {"a": 3}, "2": {"a": 3}, "3": {"b": 6}, "4": {"b": 6}}"#, Sharing::Tdm),
        ("ps-dsf-violated", r#"{"1": {"a": 4}, "2": {"a": 2}, "3": {"b": 4, "a": 1}}"#, Sharing::Rdm),
        ("ps-dsf-held", r#"{"1": {"a": 4}, "2": {"a": 3}, "3": {"b": 8}, "4": {"b": 8}}"#, Sharing::Rdm),
    ] {
        let mut x = allocation(&two, tasks);
        x.sharing = sharing;
        let instance = Instance::new(&two, &x).unwrap();
        all.push((name, certificate(&two, &x, derived(&instance))));
    }
    // The example of docs/theory.md, section 4: two classes, and a user that may use both and has half a
    // task.
    let finite = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}, {"name": "b", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "servers": ["a"]},
                  {"name": "v", "demand": {"cpu": 1}, "tasks": "1/2"},
                  {"name": "w", "demand": {"cpu": 1}, "servers": ["b"], "weight": 2}]}"#,
    );
    for (name, tasks) in [
        ("ps-dsf-finite", r#"{"u": {"a": "3/4"}, "v": {"a": "1/4", "b": "1/4"}, "w": {"b": "3/4"}}"#),
        ("ps-dsf-trace", r#"{"u": {"a": "0.7"}, "v": {"a": "0.3", "b": "0.2001"}, "w": {"b": "0.8"}}"#),
    ] {
        let x = allocation(&finite, tasks);
        let instance = Instance::new(&finite, &x).unwrap();
        let tolerance = q("1/1000");
        let claims = vec![Claim::derive(Axiom::PsDsf, &instance, &tolerance).unwrap()];
        let mut it = certificate(&finite, &x, claims);
        it.tolerance = tolerance;
        all.push((name, it));
    }
    all
}

/// Returns the problem of NJC, Figure 2: a pool of two resources, one task for each user, equal entitlements.
pub fn pool() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "pool", "capacity": {"cpu": 1, "memory": 1}}],
        "users": [{"name": "1", "demand": {"cpu": 1, "memory": "1/5"}, "tasks": 1, "weight": "1/3"},
                  {"name": "2", "demand": {"cpu": 1, "memory": "1/5"}, "tasks": 1, "weight": "1/3"},
                  {"name": "3", "demand": {"cpu": "2/5", "memory": "4/5"}, "tasks": 1, "weight": "1/3"}]}"#,
    )
}

/// Returns certificates about no justified complaints and proportional fairness, of claims that hold and of
/// claims that are violated.
fn of_the_pool() -> Vec<(&'static str, Certificate)> {
    let mut all = Vec::new();
    let pool = pool();
    let alpha = |text: &str| Parameters::alpha(q(text));
    let x = allocation(&pool, r#"{"1": {"pool": "1/3"}, "2": {"pool": "1/3"}, "3": {"pool": "5/6"}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    let mut prices = Prices::zero(&instance);
    prices.rows[0] = q("1");
    let mut claims = derived(&instance);
    claims.push(with(Axiom::Proportional, alpha("1"), Evidence::Prices(prices), &instance));
    let better = tasks(&[&[(0, "7/20")], &[(0, "7/20")], &[(0, "3/4")]]);
    claims.push(with(Axiom::Proportional, alpha("2"), Evidence::Better(better.clone()), &instance));
    claims.push(with(Axiom::Proportional, alpha("3/2"), Evidence::Better(better), &instance));
    let other = tasks(&[&[(0, "8/25")], &[(0, "8/25")], &[(0, "9/10")]]);
    claims.push(with(Axiom::Proportional, alpha("1/2"), Evidence::Better(other), &instance));
    all.push(("pool", certificate(&pool, &x, claims)));

    // In the allocation by DRF the third user has a justified complaint.
    let drf = allocation(&pool, r#"{"1": {"pool": "2/5"}, "2": {"pool": "2/5"}, "3": {"pool": "1/2"}}"#);
    let instance = Instance::new(&pool, &drf).unwrap();
    let mut claims = derived(&instance);
    let better = Evidence::Better(x.tasks.clone());
    claims.push(with(Axiom::Proportional, None, better, &instance));
    all.push(("pool-drf", certificate(&pool, &drf, claims)));

    let x = allocation(&pool, r#"{"2": {"pool": "3/5"}, "3": {"pool": 1}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    let mut claims = derived(&instance);
    for a in ["1", "1/3"] {
        claims.push(with(Axiom::Proportional, alpha(a), Evidence::Nothing { user: 0 }, &instance));
    }
    claims.push(Claim::not_applicable(Axiom::Proportional, Some(Share::Generic), "no criterion".to_owned()));
    all.push(("pool-nothing", certificate(&pool, &x, claims)));

    // The certificates have rounded numbers, a tolerance, a price of finite tasks, and an alpha of each kind.
    let cluster = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "count": 3, "capacity": {"cpu": 1}}, {"name": "b", "capacity": {"cpu": 2}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "demand_on": {"b": {"cpu": "1/2"}}, "weight": 2},
                  {"name": "v", "demand": {"cpu": 1}, "servers": ["a"], "tasks": "1/2"},
                  {"name": "w", "demand": {"cpu": 2}, "servers": ["a"], "weight": 3},
                  {"name": "idle", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    let x = allocation(&cluster, r#"{"u": {"b": 4}, "v": {"a": "1/2"}, "w": {"a": 1.2499}}"#);
    let instance = Instance::new(&cluster, &x).unwrap();
    let tolerance = q("1/100");
    let mut claims = vec![
        Claim::derive(Axiom::Feasible, &instance, &tolerance).unwrap(),
        Claim::derive(Axiom::Njc, &instance, &tolerance).unwrap(),
    ];
    for (a, rows, v) in
        [("1", ["1.2002", "1"], "0.8"), ("2", ["0.9602", "1/4"], "3.04"), ("1/2", ["1.3418", "2"], "0.08")]
    {
        let mut prices = Prices::zero(&instance);
        prices.rows = rows.map(q).to_vec();
        prices.users[1] = q(v);
        let evidence = Evidence::Prices(prices);
        claims.push(
            Claim::with_evidence(Axiom::Proportional, alpha(a), evidence, &instance, &tolerance)
                .unwrap_or_else(|refusal| panic!("{a}: {refusal}")),
        );
    }
    let mut certificate_of_it = certificate(&cluster, &x, claims);
    certificate_of_it.tolerance = tolerance;
    all.push(("cluster-tolerance", certificate_of_it));

    // The servers are time-shared, and the share is `generic`.
    let three = generic();
    let tasks_of_three = r#"{"t": {"a": "1/2"}, "u": {"b": "7/8"}, "v": {"a": "3/4", "b": "1/8"}}"#;
    let mut x = allocation(&three, tasks_of_three);
    x.sharing = Sharing::Tdm;
    let instance = Instance::new(&three, &x).unwrap();
    let lax = q("1/5");
    let mut claims = derived_within(&instance, &lax);
    let mut prices = Prices::zero(&instance);
    prices.rows = vec![q("8/7"), q("8/7")];
    prices.users[0] = q("10/7");
    let generic = |a: &str| Parameters { share: Some(Share::Generic), alpha: Some(q(a)) };
    let judge = |parameters, prices: Prices| {
        Claim::with_evidence(Axiom::Proportional, parameters, Evidence::Prices(prices), &instance, &lax)
            .unwrap_or_else(|refusal| panic!("{refusal}"))
    };
    claims.push(judge(generic("1"), prices.clone()));
    prices.rows = vec![q("64/49"), q("64/49")];
    prices.users[0] = q("164/49");
    claims.push(judge(generic("2"), prices.clone()));
    let mut certificate_of_it = certificate(&three, &x, claims);
    certificate_of_it.tolerance = lax;
    all.push(("generic-tdm", certificate_of_it));
    all
}

/// Returns a problem with three users whose criterion depends on the class. The demand of one user also
/// depends on the class.
pub fn generic() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}, {"name": "b", "capacity": {"cpu": 1}}],
        "users": [{"name": "t", "demand": {"cpu": 1}, "demand_on": {"a": {"cpu": "1/2"}}, "tasks": "1/2",
                   "criterion": {"a": 1, "b": 1}},
                  {"name": "u", "demand": {"cpu": 1}, "criterion": {"a": 1, "b": 2}},
                  {"name": "v", "demand": {"cpu": 1}, "criterion": {"a": 1, "b": 1}}]}"#,
    )
}
