//! Example certificates of problems with groups: limits that stop users, and comparisons of groups.

use evenhand_exact::{
    Axiom, Certificate, Claim, ClassMark, Evidence, Instance, Party, PartyPrices, PlacePrices, PriceVector,
    Prices, Share,
};
use evenhand_problem::format::Source;
use evenhand_problem::{Problem, Rational};

use super::{allocation, certificate, level, problem, tasks, with};
use crate::q;

/// Returns a problem with one pool. Group `a` may use 6 of its CPUs, and has two kinds of tasks.
fn two_groups() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "name": "two groups", "resources": ["cpu", "gpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 12, "gpu": 12}}],
        "groups": [{"name": "a", "limit": {"cpu": 6}}, {"name": "b", "guarantee": {"gpu": 4}}],
        "users": [{"name": "cpus", "group": "a", "demand": {"cpu": 1}},
                  {"name": "gpus", "group": "a", "demand": {"gpu": 1}, "tasks": 2},
                  {"name": "both", "group": "b", "demand": {"cpu": 1, "gpu": 1}, "tasks": 5}]}"#,
    )
}

/// Returns a problem in which user `one` may run on only one of two classes. A price shows that `one` cannot
/// get more. User `other` then rises further.
fn two_classes() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "name": "two classes", "resources": ["cpu"],
        "servers": [{"name": "fast", "capacity": {"cpu": 4}}, {"name": "slow", "capacity": {"cpu": 6}}],
        "groups": [{"name": "a"}, {"name": "b"}],
        "users": [{"name": "one", "group": "a", "demand": {"cpu": 1}, "servers": ["fast"]},
                  {"name": "other", "group": "b", "demand": {"cpu": 1}}]}"#,
    )
}

/// Returns a problem in which group `a` may use 1 CPU of class `fast`. The price of this limit stops `a`.
fn limited_classes() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "name": "limited classes", "resources": ["cpu"],
        "servers": [{"name": "fast", "capacity": {"cpu": 4}}, {"name": "slow", "capacity": {"cpu": 6}}],
        "groups": [{"name": "a", "on": {"fast": {"limit": {"cpu": 1}}}}, {"name": "b"}],
        "users": [{"name": "one", "group": "a", "demand": {"cpu": 1}},
                  {"name": "other", "group": "b", "demand": {"cpu": 1}, "servers": ["slow"]}]}"#,
    )
}

/// Returns a problem in which group `a` may use 1 CPU of class `fast`, and 5 CPUs in total.
fn twice_limited() -> Problem {
    problem(
        r#"{"kind": "allocation-problem", "name": "twice limited", "resources": ["cpu"],
        "servers": [{"name": "fast", "capacity": {"cpu": 4}}, {"name": "slow", "capacity": {"cpu": 6}}],
        "groups": [{"name": "a", "limit": {"cpu": 5}, "on": {"fast": {"limit": {"cpu": 1}}}}, {"name": "b"}],
        "users": [{"name": "one", "group": "a", "demand": {"cpu": 1}},
                  {"name": "other", "group": "b", "demand": {"cpu": 1}, "servers": ["slow"]}]}"#,
    )
}

/// Returns certificates of a problem with a gang of 3 tasks, a gang of 2 tasks of which fewer tasks wait, and
/// tasks that start alone. Group `a` may use 6 CPUs in total.
fn gangs() -> Vec<(&'static str, Certificate)> {
    let problem = problem(
        r#"{"kind": "allocation-problem", "name": "gangs", "resources": ["cpu"],
        "servers": [{"name": "fast", "count": 2, "capacity": {"cpu": 4}}, {"name": "slow", "count": 3, "capacity": {"cpu": 3}}],
        "groups": [{"name": "a", "on": [{"servers": ["fast", "slow"], "limit": {"cpu": 6}}]}, {"name": "b"}],
        "users": [{"name": "three", "group": "a", "demand": {"cpu": 2}, "gang": 3},
                  {"name": "two", "group": "b", "demand": {"cpu": 2}, "gang": 2, "tasks": 3},
                  {"name": "one", "group": "b", "demand": {"cpu": 1}, "tasks": 4}]}"#,
    );
    let placed = |on_slow: &str| {
        let text = format!(
            r#"{{"kind": "allocation", "placements": [
                {{"server": "fast", "index": 0, "tasks": {{"two": 2}}}},
                {{"server": "fast", "index": 1, "tasks": {{"one": 2}}}}{on_slow}]}}"#
        );
        Source { name: "allocation", text: &text }.allocation(&problem).unwrap().allocation
    };
    let one = r#", {"server": "slow", "index": 1, "tasks": {"one": 2}}"#;
    // In the first allocation, three tasks fit: one on a server of `fast` and two on `slow`. In the second
    // allocation, fewer than three tasks fit on the servers and within the limit.
    let three = r#", {"server": "slow", "index": 1, "tasks": {"three": 1, "one": 1}}, {"server": "slow", "index": 0, "tasks": {"one": 1}}"#;
    let mut all = Vec::new();
    for (name, on_slow) in [("gangs-fit", one), ("gangs-stopped", three)] {
        let x = placed(on_slow);
        let instance = Instance::new(&problem, &x).unwrap();
        let derive = |axiom| Claim::derive(axiom, &instance, &Rational::new()).unwrap();
        let claims = [Axiom::Feasible, Axiom::IntegerFeasible, Axiom::WorkConserving].map(derive).to_vec();
        all.push((name, certificate(&problem, &x, claims)));
    }
    all
}

/// Returns certificates about optimality within limits.
fn within() -> Vec<(&'static str, Certificate)> {
    let problem = twice_limited();
    let drfh = Some(Share::Dominant);
    // The rows are those of `fast` and `slow`, the limit of group `a`, and the limit of `a` on `fast`.
    let prices = |instance: &Instance<'_>, weights: [&str; 2], rows: [&str; 4]| Prices {
        user_weights: weights.map(q).to_vec(),
        rows: rows.map(q).to_vec(),
        ..Prices::zero(instance)
    };

    let x = allocation(&problem, r#"{"one": {"fast": 1, "slow": "5/2"}, "other": {"slow": "7/2"}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let even = prices(&instance, ["1", "1"], ["0", "1", "0", "1"]);
    let level = level(&[0, 1], &prices(&instance, ["10", "10"], ["0", "1", "0", "1"]));
    let fair = prices(&instance, ["0", "0"], ["0", "2/7", "0", "2/7"]);
    let claims = vec![
        with(Axiom::ParetoOptimal, None, Evidence::Prices(even), &instance),
        with(Axiom::MaxMin, drfh, Evidence::Levels(vec![level]), &instance),
        with(Axiom::Proportional, None, Evidence::Prices(fair), &instance),
    ];
    let fair = certificate(&problem, &x, claims);

    // Group `a` uses all that its limit allows, which is more than group `b` uses.
    let y = tasks(&[&[(0, "1"), (1, "5/2")], &[(1, "7/2")]]);
    let x = allocation(&problem, r#"{"one": {"fast": 1, "slow": 4}, "other": {"slow": 2}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let both = prices(&instance, ["1/3", "1/6"], ["0", "1/6", "1/6", "1/6"]);
    let rise = Evidence::Rise { resource: None, user: 1, allocation: y.clone() };
    let claims = vec![
        with(Axiom::ParetoOptimal, None, Evidence::Prices(both), &instance),
        with(Axiom::MaxMin, drfh, rise, &instance),
        with(Axiom::Proportional, None, Evidence::Better(y), &instance),
    ];
    let uneven = certificate(&problem, &x, claims);

    let x = allocation(&problem, r#"{"one": {"slow": 3}, "other": {"slow": 2}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let better = tasks(&[&[(0, "1"), (1, "4")], &[(1, "2")]]);
    let claims = vec![with(Axiom::ParetoOptimal, None, Evidence::Dominating(better), &instance)];
    let wasted = certificate(&problem, &x, claims);
    vec![("limits-fair", fair), ("limits-uneven", uneven), ("limits-wasted", wasted)]
}

/// Returns the certificate of a problem with two kinds of GPUs. A task of user `one` takes two old GPUs or
/// one new GPU, and counts as one GPU for its group. Group `a` may use one old GPU. Both users rise together
/// until `one` has ten tasks on new GPUs and half a task on old GPUs. Then user `other` rises further.
fn by_class() -> Certificate {
    let problem = problem(
        r#"{"kind": "allocation-problem", "name": "two kinds of cards", "resources": ["gpu"],
        "servers": [{"name": "new", "capacity": {"gpu": 10}}, {"name": "old", "capacity": {"gpu": 12}}],
        "groups": [{"name": "a", "limit": {"gpu": 14}, "on": {"old": {"limit": {"gpu": 1}}}},
                   {"name": "b", "guarantee": {"gpu": 4}}],
        "users": [{"name": "one", "group": "a", "demand": {"gpu": 1}, "demand_on": {"old": {"gpu": 2}}},
                  {"name": "other", "group": "b", "demand": {"gpu": 1}}]}"#,
    );
    let x = allocation(&problem, r#"{"one": {"new": 10, "old": "1/2"}, "other": {"old": 11}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let axioms = [Axiom::Feasible, Axiom::WorkConserving, Axiom::Limits, Axiom::Guarantees];
    let derived = |axiom| Claim::derive(axiom, &instance, &Rational::new()).unwrap();
    let mut claims: Vec<Claim> = axioms.map(derived).into();
    let limit = (ClassMark { group: 0, on: vec![1], resource: 0 }, q("1"));
    let prices = vec![
        PlacePrices { rows: vec![(0, q("2"))], limits: vec![limit] },
        PlacePrices { rows: vec![(0, q("2")), (1, q("1"))], limits: Vec::new() },
    ];
    let tasks = tasks(&[&[(0, "10"), (1, "1/2")], &[(1, "11")]]);
    claims.push(with(Axiom::Tree, None, Evidence::Filling { tasks, prices }, &instance));
    certificate(&problem, &x, claims)
}

/// Returns certificates of claims that hold, and of claims that are violated.
pub(super) fn certificates() -> Vec<(&'static str, Certificate)> {
    let problem = two_groups();
    let exactly = Rational::new();
    let derived = |instance: &Instance<'_>| -> Vec<Claim> {
        let axioms = [Axiom::Feasible, Axiom::WorkConserving, Axiom::Limits, Axiom::Guarantees];
        axioms.map(|axiom| Claim::derive(axiom, instance, &exactly).unwrap()).into()
    };
    let (a, b) = (Party::Group(0), Party::Group(1));
    // A task of `user` has the worth 1, and a unit of the row has the price 1.
    let one = |user: usize, row: usize| PriceVector {
        user_weights: vec![(user, q("1"))],
        rows: vec![(row, q("1"))],
        users: Vec::new(),
    };

    let x = allocation(&problem, r#"{"cpus": {"pool": 6}, "gpus": {"pool": 2}, "both": {"pool": 5}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let mut claims = derived(&instance);
    // `cpus` has all CPUs in the share of `a`, and `both` has all its tasks.
    let proof = |party, envied: &[Party], prices| PartyPrices { party, envied: envied.to_vec(), prices };
    let own = vec![proof(a, &[], one(0, 0)), proof(b, &[], PriceVector::default())];
    claims.push(with(Axiom::GroupSharingIncentive, None, Evidence::PartyPrices(own), &instance));
    // `b` uses 5 CPUs, and `a` uses 2 GPUs.
    let beside = vec![proof(a, &[b], one(0, 0)), proof(b, &[a], one(2, 1))];
    claims.push(with(Axiom::GroupEnvyFree, None, Evidence::PartyPrices(beside), &instance));
    let filling =
        || Evidence::Filling { tasks: tasks(&[&[(0, "6")], &[(0, "2")], &[(0, "5")]]), prices: Vec::new() };
    claims.push(with(Axiom::Tree, None, filling(), &instance));
    let kept = certificate(&problem, &x, claims);

    let x = allocation(&problem, r#"{"cpus": {"pool": 3}, "gpus": {"pool": 2}, "both": {"pool": 5}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let mut claims = derived(&instance);
    let could = |envied, cpus: &str| Evidence::PartyGains {
        party: a,
        envied,
        allocation: tasks(&[&[(0, cpus)], &[(0, "2")], &[]]),
    };
    claims.push(with(Axiom::GroupSharingIncentive, None, could(None, "6"), &instance));
    claims.push(with(Axiom::GroupEnvyFree, None, could(Some(b), "5"), &instance));
    claims.push(with(Axiom::Tree, None, filling(), &instance));
    let violated = certificate(&problem, &x, claims);

    let problem = two_classes();
    let x = allocation(&problem, r#"{"one": {"fast": 4}, "other": {"slow": 6}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let filling = tasks(&[&[(0, "4")], &[(1, "6")]]);
    let prices = PlacePrices { rows: vec![(0, q("1"))], limits: Vec::new() };
    let evidence = Evidence::Filling { tasks: filling, prices: vec![prices] };
    let claim = with(Axiom::Tree, None, evidence, &instance);
    let filled = certificate(&problem, &x, vec![claim]);

    let problem = limited_classes();
    let x = allocation(&problem, r#"{"one": {"fast": 1, "slow": "5/2"}, "other": {"slow": "7/2"}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let filling = tasks(&[&[(0, "1"), (1, "5/2")], &[(1, "7/2")]]);
    let limit = (ClassMark { group: 0, on: vec![0], resource: 0 }, q("1"));
    let prices = PlacePrices { rows: vec![(1, q("1"))], limits: vec![limit] };
    let evidence = Evidence::Filling { tasks: filling, prices: vec![prices] };
    let claim = with(Axiom::Tree, None, evidence, &instance);
    let limited = certificate(&problem, &x, vec![claim]);
    let mut all = vec![
        ("groups", kept),
        ("groups-violated", violated),
        ("groups-filled", filled),
        ("groups-limited", limited),
        ("groups-by-class", by_class()),
    ];
    all.extend(within());
    all.extend(gangs());
    all
}
