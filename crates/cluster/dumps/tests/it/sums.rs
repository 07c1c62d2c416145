//! Tests that compare the sums of a snapshot with sums that are computed directly from the dump.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::snapshot::System;
use evenhand_problem::{Rational, Snapshot};
use evenhand_testkit::clusters::{ClusterSize, write_cluster};
use serde_json::Value;

use crate::common::import;

type Amounts = BTreeMap<String, Rational>;

fn quantity(value: &Value) -> Rational {
    let text = value.as_str().unwrap();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().unwrap();
    match &text[digits.len()..] {
        "" => number.into(),
        "m" => Rational::from((number, 1000)),
        "Ki" => Rational::from(number << 10),
        "Mi" => Rational::from(number << 20),
        "Gi" => Rational::from(number << 30),
        "Ti" => Rational::from(number << 40),
        other => panic!("{other}"),
    }
}

fn amounts(value: &Value) -> Amounts {
    let fields = value.as_object().into_iter().flatten();
    fields.filter(|(name, _)| *name != "pods").map(|(name, value)| (name.clone(), quantity(value))).collect()
}

fn plus(a: &Amounts, b: &Amounts) -> Amounts {
    let mut sum = a.clone();
    b.iter().for_each(|(name, x)| *sum.entry(name.clone()).or_default() += x);
    sum
}

/// Returns the request of a generated pod. The pod has one container. It may also have a sidecar, an init
/// container after the sidecar, and an overhead.
fn request(spec: &Value) -> Amounts {
    let main = amounts(&spec["containers"][0]["resources"]["requests"]);
    let inits = spec["initContainers"].as_array().cloned().unwrap_or_default();
    let [sidecar, fetch] =
        [0, 1].map(|k| inits.get(k).map_or_else(Amounts::new, |of| amounts(&of["resources"]["requests"])));
    let (together, before) = (plus(&main, &sidecar), plus(&fetch, &sidecar));
    let mut most = together.clone();
    for (name, x) in before {
        let known = most.entry(name).or_default();
        *known = known.clone().max(x);
    }
    plus(&most, &amounts(&spec["overhead"]))
}

fn without_zeros(amounts: Amounts) -> Amounts {
    amounts.into_iter().filter(|(_, x)| !x.is_zero()).collect()
}

/// Compares a snapshot with its dump. Their sums may differ only by the amounts that the snapshot states.
fn compare(dump: &Value, snapshot: &Snapshot, is_kueue: bool) {
    let problem = &snapshot.problem;
    let named = |r: usize| problem.resources()[r].clone();
    let items = || dump["items"].as_array().unwrap().iter();
    let kind = |of: &'static str| items().filter(move |item| item["kind"] == of);
    let is_alive = |pod: &&Value| pod["status"]["phase"] != "Succeeded";
    let is_daemon = |pod: &Value| pod["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet";
    let workloads: HashMap<&str, &Value> = kind("Workload")
        .map(|of| (of["metadata"]["ownerReferences"][0]["uid"].as_str().unwrap(), of))
        .collect();
    let workload =
        |pod: &Value| workloads.get(pod["metadata"]["ownerReferences"][0]["uid"].as_str().unwrap()).copied();
    let is_task = |pod: &Value| if is_kueue { workload(pod).is_some() } else { !is_daemon(pod) };
    // The capacity of each node, from which the demand of pods that are not tasks is subtracted below.
    let mut capacity: HashMap<String, Amounts> = kind("Node")
        .map(|node| {
            (node["metadata"]["name"].as_str().unwrap().to_owned(), amounts(&node["status"]["allocatable"]))
        })
        .collect();
    let open: HashMap<String, bool> = kind("Node")
        .map(|node| {
            let is_open =
                node["spec"]["unschedulable"] != true && node["status"]["conditions"][0]["status"] == "True";
            (node["metadata"]["name"].as_str().unwrap().to_owned(), is_open)
        })
        .collect();
    for pod in kind("Pod").filter(is_alive).filter(|pod| !is_task(pod)) {
        if let Some(of_node) = pod["spec"]["nodeName"].as_str().and_then(|name| capacity.get_mut(name)) {
            request(&pod["spec"]).iter().for_each(|(name, x)| *of_node.entry(name.clone()).or_default() -= x);
        }
    }
    let mut runs_on: HashMap<&str, Amounts> = HashMap::new();
    let mut held: BTreeMap<String, Amounts> = BTreeMap::new();
    let mut on: HashMap<String, String> = HashMap::new();
    let group_of = |of: &Value| {
        let namespace = of["metadata"]["namespace"].as_str().unwrap();
        if is_kueue { namespace.replace("team", "queue") } else { namespace.to_owned() }
    };
    for pod in kind("Pod").filter(is_alive).filter(|pod| is_task(pod)) {
        let asked = without_zeros(request(&pod["spec"]));
        let Some(node) = pod["spec"]["nodeName"].as_str() else { continue };
        if asked.is_empty() {
            continue;
        }
        let here = runs_on.entry(node).or_default();
        *here = plus(here, &asked);
        let of = held.entry(group_of(pod)).or_default();
        *of = plus(of, &asked);
        let name = format!(
            "{}/{}",
            pod["metadata"]["namespace"].as_str().unwrap(),
            pod["metadata"]["name"].as_str().unwrap()
        );
        on.insert(name, node.to_owned());
    }
    // Compare the usage of each group.
    let groups = problem.groups();
    let mut found: BTreeMap<String, Amounts> = BTreeMap::new();
    for (n, user) in problem.users().iter().enumerate() {
        let tasks = snapshot.allocation.total(n);
        if tasks.is_zero() {
            continue;
        }
        let of = found.entry(groups.list()[groups.member(n).group.unwrap()].name.clone()).or_default();
        let demand = user.base_demand().entries().iter();
        demand.for_each(|(r, x)| *of.entry(named(*r)).or_default() += Rational::from(x * &tasks));
    }
    assert_eq!(found, held);
    // Compare the servers of tasks: each task runs on the same server as in the dump.
    let names = snapshot.running.iter().flat_map(|running| {
        let server = &snapshot.servers[running.server][running.index as usize];
        running.names.iter().map(move |name| (name.clone(), server.clone()))
    });
    assert_eq!(names.collect::<HashMap<_, _>>(), on);
    // Compare the capacity, including rounded amounts. The capacity of a closed server is the demand of its
    // tasks.
    let left_out: u64 = snapshot
        .not_modelled
        .iter()
        .filter(|of| of.what.starts_with("servers that") && !of.what.contains("as many pods"))
        .map(|of| of.count)
        .sum();
    let kept: Vec<&String> = snapshot.servers.iter().flatten().collect();
    assert_eq!(kept.len() as u64 + left_out, capacity.len() as u64);
    let mut expected = Amounts::new();
    for name in kept {
        let has = if open[name] { capacity[name].clone() } else { runs_on[name.as_str()].clone() };
        expected = plus(&expected, &has);
    }
    // A class whose servers have no names stands for quotas.
    let is_named = |i: usize| snapshot.servers.get(i).is_some_and(|names| !names.is_empty());
    for (_, class) in problem.servers().iter().enumerate().filter(|(i, _)| !is_named(*i)) {
        let amounts = class.capacity().entries().iter().map(|(r, x)| (named(*r), x.clone()));
        expected = plus(&expected, &amounts.collect());
    }
    for (r, name) in problem.resources().iter().enumerate() {
        let rounded: Rational =
            snapshot.rounded.iter().filter(|of| of.resource == r).map(|of| &of.in_all).sum();
        let stated = &problem.total_capacity()[r] + rounded;
        assert_eq!(stated, expected.get(name).cloned().unwrap_or_default(), "{name}");
    }
    // Compare the waiting tasks, including the omitted waiting tasks.
    let waits: u64 = if is_kueue {
        kind("Workload")
            .filter(|of| of["status"]["admission"].is_null())
            .map(|of| of["spec"]["podSets"][0]["count"].as_u64().unwrap())
            .sum()
    } else {
        kind("Pod").filter(|pod| is_task(pod) && pod["spec"]["nodeName"].is_null()).count() as u64
    };
    let waiting: u64 = snapshot.waiting_by_user().iter().sum();
    let idle: u64 = snapshot
        .not_modelled
        .iter()
        .filter(|of| of.what.starts_with("tasks that request nothing"))
        .map(|of| of.count)
        .sum();
    let idle_running = kind("Pod")
        .filter(is_alive)
        .filter(|pod| {
            is_task(pod)
                && !pod["spec"]["nodeName"].is_null()
                && without_zeros(request(&pod["spec"])).is_empty()
        })
        .count() as u64;
    let nowhere: u64 = snapshot
        .not_modelled
        .iter()
        .filter(|of| of.what.starts_with("waiting tasks"))
        .map(|of| of.count)
        .sum();
    let done = if is_kueue { finished_of_admitted(dump) } else { 0 };
    let admitted: Rational = if is_kueue { admitted_beyond(snapshot, on.len()) } else { Rational::new() };
    assert_eq!(
        Rational::from(waiting + nowhere + idle) + &admitted,
        Rational::from(waits + idle_running + done)
    );
}

/// Returns the number of finished pods of admitted workloads. In Kueue such pods still use quota.
fn finished_of_admitted(dump: &Value) -> u64 {
    let done = dump["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["kind"] == "Pod" && item["status"]["phase"] == "Succeeded");
    done.filter(|pod| pod["metadata"]["ownerReferences"][0]["kind"] == "Job").count() as u64
}

fn admitted_beyond(snapshot: &Snapshot, placed: usize) -> Rational {
    snapshot.allocation.totals().iter().sum::<Rational>() - Rational::from(placed)
}

/// Small clusters cover all special cases. The environment variable `EVENHAND_SNAPSHOTS` sets the number of
/// clusters.
#[test]
fn sums_agree_with_the_dump() {
    let many = std::env::var("EVENHAND_SNAPSHOTS").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    for seed in 0..many {
        let kueue = [None, None, Some("v1beta1"), Some("v1beta2")][seed as usize % 4];
        let odd = kueue.is_none();
        let size = ClusterSize {
            nodes: 1 + seed as usize % 13,
            pods: seed as usize % 50,
            queues: 1 + seed as usize % 7,
            kueue,
            odd,
        };
        let mut text = Vec::new();
        write_cluster(&mut text, size, seed).unwrap();
        let text = String::from_utf8(text).unwrap();
        let dump: Value = serde_json::from_str(&text).unwrap();
        let system = if kueue.is_some() { System::Kueue } else { System::Kubernetes };
        for merge in ["0", "3/200", "1/5"] {
            match import(system, &[("dump", &text)], merge) {
                Ok(snapshot) => {
                    compare(&dump, &snapshot, kueue.is_some());
                    assert!(merge != "0" || snapshot.rounded.is_empty());
                }
                // An import may fail only if no node is ready or the dump has no pods.
                Err(error) => {
                    let is_known =
                        error.contains("no server that a task may use") || error.contains("no file has");
                    assert!(is_known, "seed {seed}: {error}");
                }
            }
        }
    }
}

/// Many nodes with slightly different capacities become only a few classes.
#[test]
fn many_jittered_nodes_are_few_classes() {
    let size = ClusterSize { nodes: 400, pods: 800, queues: 20, kueue: Some("v1beta2"), odd: false };
    let mut text = Vec::new();
    write_cluster(&mut text, size, 7).unwrap();
    let text = String::from_utf8(text).unwrap();
    let merged = import(System::Kueue, &[("dump", &text)], "3/200").unwrap();
    assert!(merged.problem.n_servers() <= 12, "{}", merged.problem.n_servers());
    assert!(!merged.rounded.is_empty());
}
