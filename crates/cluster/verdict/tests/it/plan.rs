//! Tests of plans of servers: public cases with their correct answers, and random snapshots compared with the
//! plain loops of the test kit.

use crate::common::snapshot;

use evenhand_cluster::plan::removable::{Reason, Removable};
use evenhand_cluster::plan::{Goal, Obstacle, Offer, Outcome, Plan};
use evenhand_cluster::{Bound, Changes, ClusterError, Excess, Verdict, gang, placed};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Placement, Rational};
use evenhand_testkit::plain::Plain;
use evenhand_testkit::plain::plan::{all_start, emptied, some_start};
use evenhand_testkit::plain::starts::Running;
use evenhand_testkit::random::snapshots;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn offers(of: &Snapshot, prices: &[(&str, &str)]) -> Vec<Offer> {
    let class = |name: &str| of.problem.servers().iter().position(|class| class.name() == name).unwrap();
    prices.iter().map(|(name, price)| Offer { class: class(name), price: price.parse().unwrap() }).collect()
}

fn planned(of: &Snapshot, prices: &[(&str, &str)], goal: &Goal) -> Plan {
    Plan::new(of, None, &offers(of, prices), goal).unwrap()
}

#[track_caller]
fn cheapest_counts(plan: &Plan) -> Vec<u64> {
    let Outcome::Found(set) = &plan.outcome else { panic!("{plan:?}") };
    assert!(plan.is_cheapest(), "{plan:?}");
    set.counts.clone()
}

/// Returns a snapshot with these classes and users. The placements say which tasks run on which servers.
fn snapshot_of(servers: &Value, users: &Value, placements: &Value) -> Snapshot {
    let document = json!({
        "kind": "snapshot",
        "problem": {"kind": "allocation-problem", "resources": ["cpu", "memory"], "servers": servers, "users": users},
        "allocation": {"kind": "allocation", "placements": placements},
    });
    snapshot(&document.to_string())
}

/// Kubernetes autoscaler, issue 2513: pods of 0.7 CPUs wait. Group group1 adds nodes of 1 CPU, and group2
/// adds nodes of 4 CPUs.
#[test]
fn autoscaler_2513_chooses_small_or_large_nodes() {
    let of = |pods: u32| {
        snapshot_of(
            &json!([{"name": "group1", "count": 4, "capacity": {"cpu": 1, "memory": 1}},
                    {"name": "group2", "count": 1, "capacity": {"cpu": 4, "memory": 4}}]),
            &json!([{"name": "busy", "tasks": 5, "demand": {"memory": 1}, "demand_on": {"group2": {"cpu": 4, "memory": 4}}},
                    {"name": "pods", "tasks": pods, "demand": {"cpu": 0.7, "memory": 0.1}}]),
            &json!(
                [0, 1, 2, 3]
                    .map(|index| json!({"server": "group1", "index": index, "tasks": {"busy": 1}}))
                    .into_iter()
                    .chain([json!({"server": "group2", "index": 0, "tasks": {"busy": 1}})])
                    .collect::<Vec<_>>()
            ),
        )
    };
    let of = |pods: u32| {
        let mut of = of(pods);
        // The running pods leave less than 0.7 CPUs on each small node.
        of.problem =
            Changes { set: vec![("busy.demand.cpu".to_owned(), "0.4".to_owned())], ..Changes::default() }
                .apply(&of)
                .unwrap()
                .problem;
        of
    };
    let prices = [("group1", "1"), ("group2", "4")];
    // For one pod, a small node is the cheapest. A large node holds 5 pods for the price of 4 small nodes.
    assert_eq!(cheapest_counts(&planned(&of(1), &prices, &Goal::All)), [1, 0]);
    assert_eq!(cheapest_counts(&planned(&of(4), &prices, &Goal::All)), [4, 0]);
    assert_eq!(cheapest_counts(&planned(&of(5), &prices, &Goal::All)), [0, 1]);
    assert_eq!(cheapest_counts(&planned(&of(6), &prices, &Goal::All)), [1, 1]);
    assert_eq!(cheapest_counts(&planned(&of(6), &[("group1", "1"), ("group2", "7")], &Goal::All)), [6, 0]);
}

/// Kubernetes autoscaler, issue 1821: two kinds of nodes have the same capacity, and the cheaper one is added.
#[test]
fn autoscaler_1821_chooses_the_cheaper_of_two_equal_nodes() {
    let of = snapshot_of(
        &json!([{"name": "i3.2xlarge", "count": 1, "capacity": {"cpu": 8, "memory": 61}},
                {"name": "r5.2xlarge", "count": 1, "capacity": {"cpu": 8, "memory": 64}}]),
        &json!([{"name": "web", "tasks": 7, "demand": {"cpu": 4, "memory": 8}}]),
        &json!([{"server": "i3.2xlarge", "index": 0, "tasks": {"web": 2}},
                {"server": "r5.2xlarge", "index": 0, "tasks": {"web": 2}}]),
    );
    let prices = [("i3.2xlarge", "0.624"), ("r5.2xlarge", "0.504")]
        .map(|(name, price)| (name, evenhand_problem::number::parse(price).unwrap().to_string()));
    let prices = prices.each_ref().map(|(name, price)| (*name, price.as_str()));
    assert_eq!(cheapest_counts(&planned(&of, &prices, &Goal::All)), [0, 2]);
    assert_eq!(cheapest_counts(&planned(&of, &prices[..1], &Goal::Starts(vec![(0, None)]))), [2]);
    assert_eq!(cheapest_counts(&planned(&of, &prices, &Goal::Starts(vec![(0, Some(1))]))), [0, 1]);
}

/// cluster-capacity, issue 139: given numbers of small and of large pods have to run together.
#[test]
fn cluster_capacity_139_plans_several_kinds_of_pods() {
    let of = snapshot_of(
        &json!([{"name": "node", "count": 2, "capacity": {"cpu": 4, "memory": 8}}]),
        &json!([{"name": "small-pod", "tasks": 6, "demand": {"cpu": 1, "memory": 1}},
                {"name": "large-pod", "tasks": 3, "demand": {"cpu": 3, "memory": 5}},
                {"name": "other", "tasks": 2, "demand": {"cpu": 3, "memory": 1}}]),
        &json!([{"server": "node", "index": 0, "tasks": {"other": 1}}, {"server": "node", "index": 1, "tasks": {"other": 1}}]),
    );
    // Two small pods could start now. Each large pod needs a node of its own, on which one small pod still
    // fits.
    let plan = planned(&of, &[("node", "1")], &Goal::All);
    assert_eq!(cheapest_counts(&plan), [4]);
    let Outcome::Found(set) = &plan.outcome else { unreachable!() };
    assert_eq!(set.starts.iter().map(|of| of.tasks()).collect::<Vec<_>>(), [6, 3]);
    assert_eq!(cheapest_counts(&planned(&of, &[("node", "1")], &Goal::Starts(vec![(1, None)]))), [3]);
    let no = planned(&of, &[("node", "1")], &Goal::Starts(vec![(0, Some(2))]));
    assert_eq!(cheapest_counts(&no), [0]);
}

/// Kubernetes autoscaler, issue 1240: a node with few pods or a node with many pods can go, but not both.
#[test]
fn autoscaler_1240_removes_the_node_with_fewest_pods() {
    let of = snapshot_of(
        &json!([{"name": "worker", "count": 3, "capacity": {"cpu": 10, "memory": 10}}]),
        &json!([{"name": "pod", "tasks": 11, "demand": {"cpu": 1, "memory": 1}}]),
        &json!([{"server": "worker", "index": 0, "tasks": {"pod": 6}}, {"server": "worker", "index": 1, "tasks": {"pod": 2}},
                {"server": "worker", "index": 2, "tasks": {"pod": 3}}]),
    );
    let removable = Removable::new(&of, None).unwrap();
    assert_eq!(removable.alone.iter().map(|gone| gone.place.index).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(removable.together.iter().map(|place| place.index).collect::<Vec<_>>(), [1]);
    assert_eq!(removable.moves.iter().map(|of| of.tasks).sum::<u64>(), 2);
}

#[test]
fn names_obstacles_that_no_server_lifts() {
    let document = |limit: u32, demand: u32| {
        snapshot(
            &json!({
                "kind": "snapshot",
                "problem": {"kind": "allocation-problem", "resources": ["gpu"],
                    "servers": [{"name": "node", "count": 2, "capacity": {"gpu": 8}}],
                    "groups": [{"name": "X", "limit": {"gpu": limit}}],
                    "users": [{"name": "job", "group": "X", "tasks": 2, "demand": {"gpu": demand}},
                              {"name": "other", "demand": {"gpu": 1}}]},
                "allocation": {"kind": "allocation", "placements": [{"server": "node", "index": 0, "tasks": {"job": 1}}]},
            })
            .to_string(),
        )
    };
    let job = Goal::Starts(vec![(0, None)]);
    let of = document(14, 8);
    let plan = planned(&of, &[("node", "1")], &job);
    let Outcome::Impossible(Obstacle::Bound { user: 0, bound: Bound::Limit(0, 0), excess }) = plan.outcome
    else {
        panic!("{plan:?}")
    };
    assert_eq!(excess, 2);
    // The job could start now.
    assert_eq!(cheapest_counts(&planned(&document(16, 8), &[("node", "1")], &job)), [0]);
    let plan = planned(&document(16, 8), &[("node", "1")], &Goal::All);
    assert_eq!(plan.outcome, Outcome::Impossible(Obstacle::Unlimited(1)));
    let of = Changes { set: vec![("job.demand.gpu".to_owned(), "9".to_owned())], ..Changes::default() };
    let mut of = of.apply(&document(40, 8)).unwrap();
    of.allocation.placements = Some(Vec::new());
    of.allocation.tasks = vec![Vec::new(); 2];
    let plan = planned(&of, &[("node", "1")], &job);
    assert_eq!(plan.outcome, Outcome::Impossible(Obstacle::NoServer(0)));
}

#[test]
fn refuses_wrong_goals_and_offers() {
    let mut of = snapshot_of(
        &json!([{"name": "node", "count": 2, "capacity": {"cpu": 4}}, {"name": "empty", "count": 1, "capacity": {}}]),
        &json!([{"name": "a", "tasks": 1, "demand": {"cpu": 3}}, {"name": "b", "tasks": 3, "demand": {"cpu": 4}}]),
        &json!([{"server": "node", "index": 0, "tasks": {"a": 1}}]),
    );
    let error = |of: &Snapshot, class: &str, goal: &Goal| {
        let found = Plan::new(of, None, &offers(of, &[(class, "1")]), goal);
        found.unwrap_err().to_string()
    };
    assert!(error(&of, "node", &Goal::Starts(vec![(0, None)])).contains("`a` has no waiting tasks"));
    assert!(error(&of, "empty", &Goal::All).contains("no capacity"));
    of.closed = vec![evenhand_problem::snapshot::Closed { server: 0, reason: "cordoned".to_owned() }];
    assert!(error(&of, "node", &Goal::All).contains("take no new tasks"));
    of.allocation.placements = None;
    assert_eq!(Plan::new(&of, None, &[], &Goal::All), Err(ClusterError::NoPlacements));
    assert_eq!(Removable::new(&of, None), Err(ClusterError::NoPlacements));
}

/// More servers can make a cluster unfair: the fair share of a queue grows, but the large task of the queue
/// fits on no server.
#[test]
fn fairness_is_not_monotone() {
    let of = snapshot(include_str!("../../../../../examples/cluster.json"));
    let plan = planned(&of, &[("gpu-node", "1")], &Goal::Fair);
    let Outcome::Found(set) = &plan.outcome else { panic!("{plan:?}") };
    let after = Changes { add: vec![("gpu-node".to_owned(), set.counts[0])], ..Changes::default() };
    let mut after = after.apply(&of).unwrap();
    start(&mut after, set);
    let verdict = Verdict::new(&after, None, &Rational::new()).unwrap();
    assert!(verdict.is_fair() && verdict.is_known());
    assert!(plan.is_cheapest(), "{plan:?}");
}

/// Makes the starts of a plan in a snapshot that already has the new servers.
fn start(after: &mut Snapshot, set: &evenhand_cluster::plan::Set) {
    let mut placements: std::collections::BTreeMap<
        (usize, u64),
        std::collections::BTreeMap<usize, Rational>,
    > = std::collections::BTreeMap::new();
    for on in after.allocation.placements.iter().flatten() {
        placements.entry((on.server, on.index)).or_default().extend(on.tasks.iter().cloned());
    }
    for started in &set.starts {
        for (place, tasks) in &started.places {
            *placements.entry((place.class, place.index)).or_default().entry(started.user).or_default() +=
                *tasks;
        }
        if let Some(of) = after.constraints.iter_mut().find(|of| of.user == started.user) {
            of.admitted -= started.admitted;
        }
    }
    let placements = placements.into_iter().map(|((server, index), tasks)| Placement {
        server,
        index,
        tasks: tasks.into_iter().collect(),
    });
    after.allocation = placed(&after.allocation, placements.collect());
}

/// Returns a random snapshot in which few tasks wait, so that all starts can be tried.
fn random_snapshot(seed: u64, rng: &mut Pcg64) -> Snapshot {
    let mut of = snapshots::snapshot(seed);
    let counts: Vec<u64> = {
        let running = Running::new(&of);
        (0..of.problem.n_users()).map(|n| running.count(n)).collect()
    };
    let mut waiting = 0;
    let mut set = Vec::new();
    for (n, count) in counts.into_iter().enumerate() {
        let more = rng.random_range(0..=2) * gang(&of.problem, n);
        let more = if waiting + more > 4 { 0 } else { more };
        waiting += more;
        let pinned = of.problem.groups().member(n).pinned.clone().unwrap_or_default();
        let tasks = Rational::from(count + more).max(pinned);
        set.push((format!("{}.tasks", of.problem.users()[n].name()), tasks.to_string()));
    }
    of = Changes { set, ..Changes::default() }.apply(&of).unwrap();
    of
}

fn random_offers(of: &Snapshot, rng: &mut Pcg64) -> Vec<Offer> {
    let open = |i: &usize| {
        !of.closed.iter().any(|closed| closed.server == *i)
            && of.problem.servers()[*i].capacity().iter().any(|amount| *amount > 0)
    };
    let mut classes: Vec<usize> = (0..of.problem.n_servers()).filter(open).collect();
    while classes.len() > 2 {
        classes.remove(rng.random_range(0..classes.len()));
    }
    let prices = ["1", "2", "3", "1/2", "5/3"];
    let price = |rng: &mut Pcg64| prices.choose(rng).unwrap().parse().unwrap();
    classes.into_iter().map(|class| Offer { class, price: price(rng) }).collect()
}

/// Returns all sets of at most this many servers of each class.
fn sets(classes: usize, most: u64) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for _ in 0..classes {
        all = all
            .into_iter()
            .flat_map(|set: Vec<u64>| (0..=most).map(move |k| [&set[..], &[k]].concat()))
            .collect();
    }
    all
}

fn price(offers: &[Offer], set: &[u64]) -> Rational {
    offers.iter().zip(set).map(|(offer, count)| Rational::from(&offer.price * *count)).sum()
}

fn with_added_servers(of: &Snapshot, offers: &[Offer], set: &[u64]) -> Snapshot {
    let add = offers.iter().zip(set).filter(|(_, count)| **count > 0);
    let name = |offer: &Offer| of.problem.servers()[offer.class].name().to_owned();
    let add = add.map(|(offer, count)| (name(offer), *count)).collect();
    Changes { add, ..Changes::default() }.apply(of).unwrap()
}

/// Compares a plan with all sets of at most 2 servers of each class. Returns the kind of the plan: found, impossible,
/// or unproven.
fn compare(
    seed: u64,
    of: &Snapshot,
    offers: &[Offer],
    plan: &Plan,
    is_enough: &dyn Fn(&Snapshot) -> bool,
) -> [usize; 3] {
    match &plan.outcome {
        Outcome::Found(set) => {
            if set.counts.iter().all(|count| *count <= 3) {
                assert!(
                    is_enough(&with_added_servers(of, offers, &set.counts)),
                    "seed {seed}: not enough: {plan:?}"
                );
            }
            assert_eq!(set.price, price(offers, &set.counts));
            assert!(plan.least <= set.price, "seed {seed}: {plan:?}");
            for cheaper in sets(offers.len(), 2).into_iter().filter(|set| price(offers, set) < plan.least) {
                assert!(
                    !is_enough(&with_added_servers(of, offers, &cheaper)),
                    "seed {seed}: {cheaper:?} is enough: {plan:?}"
                );
            }
            [1, 0, usize::from(!plan.is_cheapest())]
        }
        Outcome::Impossible(_) => {
            for set in sets(offers.len(), 2) {
                assert!(
                    !is_enough(&with_added_servers(of, offers, &set)),
                    "seed {seed}: {set:?} is enough: {plan:?}"
                );
            }
            [0, 1, 0]
        }
        Outcome::NotFound => [0, 0, 1],
    }
}

fn add(sum: &mut [usize; 3], more: [usize; 3]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

#[test]
fn plans_starts_with_the_fewest_servers() {
    let mut sum = [0; 3];
    for seed in 0..1_000 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let of = random_snapshot(seed, &mut rng);
        let offers = random_offers(&of, &mut rng);
        let running = Running::new(&of);
        let admitted = of.constraints.iter().any(|of| of.admitted > 0);
        let leaders: Vec<usize> =
            (0..of.problem.n_users()).filter(|n| running.together(*n)[0] == *n).collect();
        let waiting: Vec<usize> = leaders.into_iter().filter(|n| running.waits(*n)).collect();
        let times = |n: usize| -> usize {
            let mut running = Running::new(&of);
            let mut count = 0;
            while running.waits(n) {
                for m in running.together(n) {
                    let gang = running.gang(m);
                    running.tasks.extend((0..gang).map(|_| (m, 0, u64::MAX)));
                }
                count += 1;
            }
            count
        };
        let job = waiting.choose(&mut rng).copied();
        let (goal, starts): (Goal, Vec<usize>) = match job {
            _ if rng.random_bool(0.4) => {
                if admitted {
                    continue;
                }
                (Goal::All, waiting.iter().flat_map(|n| vec![*n; times(*n)]).collect())
            }
            Some(n) if rng.random_bool(0.5) => (Goal::Starts(vec![(n, Some(1))]), vec![n]),
            Some(n) if of.constraints.iter().all(|of| of.admitted == 0) => {
                (Goal::Starts(vec![(n, None)]), vec![n; times(n)])
            }
            _ => continue,
        };
        if offers.is_empty() || starts.len() > 4 {
            continue;
        }
        let plan = Plan::new(&of, None, &offers, &goal).unwrap();
        let is_enough = |of: &Snapshot| all_start(&Running::new(of), &starts);
        add(&mut sum, compare(seed, &of, &offers, &plan, &is_enough));
    }
    println!("starts: {} found, {} impossible, {} not proven", sum[0], sum[1], sum[2]);
    assert!(sum[0] > 300 && sum[1] > 50 && sum[2] * 50 < sum[0], "{sum:?}");
}

#[test]
fn plans_fair_shares_with_the_fewest_servers() {
    let mut sum = [0; 3];
    for seed in 0..300 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let of = random_snapshot(seed, &mut rng);
        let offers = random_offers(&of, &mut rng);
        let is_simple =
            |of: &Snapshot| of.constraints.iter().all(|of| of.not_modelled.is_empty() && of.admitted == 0);
        if offers.is_empty() || !is_simple(&of) {
            continue;
        }
        let plan = Plan::new(&of, None, &offers, &Goal::Fair).unwrap();
        let users: Vec<usize> = (0..of.problem.n_users()).collect();
        let is_enough = |of: &Snapshot| {
            some_start(&Running::new(of), &users, &mut |state| {
                if users.iter().any(|n| state.could_start(*n).is_some()) {
                    return false;
                }
                let after = Snapshot { allocation: state.allocation(), ..of.clone() };
                let verdict = Verdict::new(&after, None, &Rational::new()).unwrap();
                verdict.is_fair() && verdict.is_known()
            })
        };
        add(&mut sum, compare(seed, &of, &offers, &plan, &is_enough));
    }
    println!("fair: {} found, {} impossible, {} not proven", sum[0], sum[1], sum[2]);
    assert!(sum[0] > 50, "{sum:?}");
}

#[test]
fn plans_guarantees_with_the_fewest_servers() {
    let mut sum = [0; 3];
    for seed in 0..500 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let of = random_snapshot(seed, &mut rng);
        let offers = random_offers(&of, &mut rng);
        let is_simple =
            |of: &Snapshot| of.constraints.iter().all(|of| of.not_modelled.is_empty() && of.admitted == 0);
        if offers.is_empty() || !is_simple(&of) {
            continue;
        }
        let plan = Plan::new(&of, None, &offers, &Goal::Guarantees).unwrap();
        let users: Vec<usize> = (0..of.problem.n_users()).collect();
        let is_enough = |of: &Snapshot| {
            some_start(&Running::new(of), &users, &mut |state| {
                let allocation = state.allocation();
                let plain = Plain::new(&of.problem, &allocation);
                let misses = |n: &usize| state.waits(*n) && plain.lack_of_promises(*n) >= state.gang(*n);
                !users.iter().any(misses)
            })
        };
        add(&mut sum, compare(seed, &of, &offers, &plan, &is_enough));
    }
    println!("guarantees: {} found, {} impossible, {} not proven", sum[0], sum[1], sum[2]);
    assert!(sum[0] > 100, "{sum:?}");
}

/// Returns `true` if some number of a verdict gets worse. The numbers are the amounts that queues lack, the
/// lacks of guarantees, and the excesses over limits.
fn is_worse(before: &Verdict, after: &Verdict) -> bool {
    let lacks = before
        .queues
        .iter()
        .zip(&after.queues)
        .any(|(was, now)| was.lacking.iter().zip(&now.lacking).any(|(was, now)| now > was));
    let misses = after.unmet.iter().any(|now| {
        let was = before.unmet.iter().find(|was| was.user == now.user);
        was.is_none_or(|was| now.tasks > was.tasks)
    });
    let bounds = |of: &Verdict| -> Vec<(Bound, Rational)> {
        let each = of.excesses.iter().filter_map(|excess| match excess {
            Excess::Bound { bound, used, most, .. } => Some((bound.clone(), Rational::from(used - most))),
            _ => None,
        });
        each.collect()
    };
    let was = bounds(before);
    let exceeds = bounds(after)
        .into_iter()
        .any(|(bound, amount)| was.iter().find(|(of, _)| *of == bound).is_none_or(|(_, was)| amount > *was));
    let was_met = before.guarantees_can_be_met() == Some(true);
    lacks || misses || exceeds || (was_met && after.guarantees_can_be_met() != Some(true))
}

/// Returns a snapshot without some servers. In `allocation` the tasks of these servers run on other servers.
fn without_servers(of: &Snapshot, allocation: Allocation, mut gone: Vec<(usize, u64)>) -> Snapshot {
    gone.sort_unstable();
    gone.reverse();
    let remove = gone.iter().map(|(class, index)| of.server_name(*class, *index));
    // The servers are removed in descending order, so that the names of the remaining servers do not change.
    let mut after = Snapshot { allocation, ..of.clone() };
    for (name, (class, index)) in remove.zip(&gone) {
        let name = if after.problem.servers()[*class].count() == 1 {
            after.problem.servers()[*class].name().to_owned()
        } else if name.contains(" #") {
            format!("{} #{index}", after.problem.servers()[*class].name())
        } else {
            name
        };
        after = Changes { remove: vec![name], ..Changes::default() }.apply(&after).unwrap();
    }
    after
}

#[test]
fn lists_removable_servers() {
    let (mut can, mut cannot, mut not_known, mut together) = (0, 0, 0, 0);
    for seed in 0..1_000 {
        let of = snapshots::snapshot(seed);
        // The number of tasks that wait because of limits on classes depends on the servers to which tasks
        // move.
        let is_simple = !of.problem.groups().limit_classes();
        let removable = Removable::new(&of, None).unwrap();
        let before = Verdict::new(&of, None, &Rational::new()).unwrap();
        let running = Running::new(&of);
        for (class, server) in
            of.problem.servers().iter().enumerate().filter(|(_, server)| server.count() > 1)
        {
            for index in 0..server.count() {
                let at = (class, index);
                let stated = removable.alone.iter().any(|gone| (gone.place.class, gone.place.index) == at);
                if removable.not_known.iter().any(|place| (place.class, place.index) == at) {
                    not_known += 1;
                    continue;
                }
                let Some(after) = emptied(&running, at) else {
                    assert!(!stated, "seed {seed}: {at:?} cannot be emptied");
                    let lack = removable.stays.get(&Reason::Lack).into_iter().flatten();
                    assert!(
                        !lack.into_iter().any(|place| (place.class, place.index) == at),
                        "seed {seed}: {at:?}"
                    );
                    cannot += 1;
                    continue;
                };
                if !is_simple {
                    continue;
                }
                let after = without_servers(&of, after.allocation(), vec![at]);
                let verdict = Verdict::new(&after, None, &Rational::new()).unwrap();
                assert_eq!(stated, !is_worse(&before, &verdict), "seed {seed}: {at:?}");
                if stated { can += 1 } else { cannot += 1 }
            }
        }
        if removable.together.is_empty() {
            continue;
        }
        let mut after = running.clone();
        for moved in &removable.moves {
            for _ in 0..moved.tasks {
                let task = (moved.user, moved.from.class, moved.from.index);
                let position = after.tasks.iter().position(|of| *of == task).expect("a running task");
                after.tasks.remove(position);
            }
        }
        for moved in &removable.moves {
            for _ in 0..moved.tasks {
                let task = (moved.user, moved.to.class, moved.to.index);
                assert!(after.has_room(task), "seed {seed}: {moved:?}");
                after.tasks.push(task);
            }
        }
        let gone: Vec<(usize, u64)> =
            removable.together.iter().map(|place| (place.class, place.index)).collect();
        assert!(!after.tasks.iter().any(|(_, class, index)| gone.contains(&(*class, *index))), "seed {seed}");
        let is_last = |class: usize| {
            gone.iter().filter(|(of, _)| *of == class).count() as u64 == of.problem.servers()[class].count()
        };
        if (0..of.problem.n_servers()).any(is_last) {
            continue;
        }
        let after = without_servers(&of, after.allocation(), gone);
        let verdict = Verdict::new(&after, None, &Rational::new()).unwrap();
        assert!(!is_worse(&before, &verdict), "seed {seed}: {:?}", removable.together);
        together += removable.together.len();
    }
    println!("{can} servers can go, {cannot} cannot, {not_known} are not known; {together} go together");
    assert!(
        can > 200 && cannot > 500 && not_known * 20 < can && together > 100,
        "{can} {cannot} {not_known} {together}"
    );
}
