//! Tests of random clusters that are written in the format of every system. The imported snapshots have the
//! same sums, guarantees and servers of tasks as the clusters.

mod forms;

use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::snapshot::System;
use evenhand_problem::{Rational, Snapshot};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::import;
use forms::{FORMS, Form, plus};

/// Amounts of three resources: thousandths of a processor, MiB of memory, and GPUs.
type Amounts = [u64; 3];

struct Server {
    name: String,
    /// The capacity that tasks can use.
    has: Amounts,
    /// The additional capacity that pods other than tasks use.
    foreign: Amounts,
    is_open: bool,
}

struct Queue {
    name: String,
    above: Option<usize>,
    weight: u64,
    guarantee: Option<Amounts>,
    limit: Option<Amounts>,
}

struct Task {
    name: String,
    queue: usize,
    asks: Amounts,
    on: Option<usize>,
}

struct Made {
    servers: Vec<Server>,
    queues: Vec<Queue>,
    tasks: Vec<Task>,
    random: Pcg64Mcg,
}

const MIB: u64 = 1 << 20;

fn generated_cluster(seed: u64) -> Made {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut servers = Vec::new();
    for s in 0..random.random_range(1..9) {
        let (cpu, mib) = [(4, 4_096), (8, 16_384), (64, 65_536)][random.random_range(0..3)];
        let has = [cpu * 1000, mib - random.random_range(0..mib / 50), [0, 0, 4][random.random_range(0..3)]];
        let foreign = if random.random_bool(0.3) { [500, 128, 0] } else { [0; 3] };
        servers.push(Server { name: format!("n{s}"), has, foreign, is_open: random.random_bool(0.85) });
    }
    let mut queues = Vec::new();
    for q in 0..random.random_range(1..6) {
        let above = (q > 0 && random.random_bool(0.5)).then(|| random.random_range(0..q));
        let some = |random: &mut Pcg64Mcg, probability: f64| {
            random.random_bool(probability).then(|| {
                [random.random_range(0..9) * 500, random.random_range(0..9) * 256, random.random_range(0..3)]
            })
        };
        let guarantee = some(&mut random, 0.5);
        let limit = some(&mut random, 0.5)
            .map(|limit| std::array::from_fn(|r| limit[r] + 1_000 + guarantee.unwrap_or_default()[r]));
        queues.push(Queue {
            name: format!("q{q}"),
            above,
            weight: random.random_range(1..5),
            guarantee,
            limit,
        });
    }
    let mut free: Vec<Amounts> = servers.iter().map(|server| server.has).collect();
    let mut tasks = Vec::new();
    for t in 0..random.random_range(1..30) {
        let asks = [[1_000, 256, 0], [500, 1_024, 0], [2_000, 2_048, 1], [4_000, 30_000, 2]]
            [random.random_range(0..4)];
        let s = random.random_range(0..servers.len());
        let fits = (0..3).all(|r| asks[r] <= free[s][r]) && random.random_bool(0.8);
        if fits {
            (0..3).for_each(|r| free[s][r] -= asks[r]);
        }
        tasks.push(Task {
            name: format!("t{t}"),
            queue: random.random_range(0..queues.len()),
            asks,
            on: fits.then_some(s),
        });
    }
    Made { servers, queues, tasks, random }
}

/// Converts amounts to the units of problems.
fn ours(of: Amounts) -> [Rational; 3] {
    [Rational::from((of[0], 1000)), Rational::from(of[1] * MIB), Rational::from(of[2])]
}

fn sum<'a>(all: impl Iterator<Item = &'a Amounts>) -> Amounts {
    all.fold([0; 3], |sum, of| plus(sum, *of))
}

fn compare(form: &Form, made: &Made, snapshot: &Snapshot, is_exact: bool) {
    let problem = &snapshot.problem;
    let groups = problem.groups();
    let place = |r: usize| problem.resources().iter().position(|name| name == form.resources[r]);
    let of_users = |tasks: &dyn Fn(usize) -> Rational| {
        let mut sums: BTreeMap<String, [Rational; 3]> = BTreeMap::new();
        for (n, user) in problem.users().iter().enumerate().filter(|(n, _)| !tasks(*n).is_zero()) {
            let of = sums.entry(groups.list()[groups.member(n).group.unwrap()].name.clone()).or_default();
            (0..3).for_each(|r| {
                of[r] += place(r).map_or(Rational::new(), |at| &user.base_demand()[at] * tasks(n));
            });
        }
        sums
    };
    let of_tasks = |tasks: &dyn Fn(&Task) -> bool| {
        let mut sums: BTreeMap<String, Vec<Amounts>> = BTreeMap::new();
        made.tasks.iter().filter(|task| tasks(task)).for_each(|task| {
            sums.entry((form.of_tasks)(made, task.queue)).or_default().push(task.asks);
        });
        sums.into_iter().map(|(name, all)| (name, ours(sum(all.iter())))).collect::<BTreeMap<_, _>>()
    };
    // Compare the running tasks by queue and by server.
    assert_eq!(of_users(&|n| snapshot.allocation.total(n)), of_tasks(&|task| task.on.is_some()));
    let running = snapshot.running.iter().flat_map(|running| {
        let server = snapshot.servers[running.server][running.index as usize].clone();
        running.names.iter().map(move |name| (name.clone(), server.clone()))
    });
    let on =
        made.tasks.iter().filter_map(|task| Some(((form.task)(task), made.servers[task.on?].name.clone())));
    assert_eq!(running.collect::<BTreeSet<_>>(), on.collect::<BTreeSet<_>>());
    // Compare the waiting tasks. Without rounding, they are all tasks that fit on an open server without
    // other tasks.
    let waits = snapshot.waiting_by_user();
    let left_out = |what: &str| -> u64 {
        snapshot.not_modelled.iter().filter(|of| of.what.starts_with(what)).map(|of| of.count).sum()
    };
    if form.has_waiting {
        let fits = |task: &Task| {
            made.servers.iter().any(|server| server.is_open && (0..3).all(|r| task.asks[r] <= server.has[r]))
        };
        let all = made.tasks.iter().filter(|task| task.on.is_none());
        assert_eq!(waits.iter().sum::<u64>() + left_out("waiting tasks"), all.clone().count() as u64);
        if is_exact {
            assert_eq!(of_users(&|n| waits[n].into()), of_tasks(&|task| task.on.is_none() && fits(task)));
        }
    } else {
        assert_eq!(waits.iter().sum::<u64>(), 0);
    }
    // Compare the capacity, including rounded amounts. The capacity of a closed server is the demand of its
    // tasks.
    let kept: BTreeSet<&String> = snapshot.servers.iter().flatten().collect();
    let of_kept = made.servers.iter().enumerate().filter(|(_, server)| kept.contains(&server.name)).map(
        |(s, server)| {
            let here = made.tasks.iter().filter(|task| task.on == Some(s)).map(|task| &task.asks);
            if server.is_open { server.has } else { sum(here) }
        },
    );
    let there = ours(sum(of_kept.collect::<Vec<_>>().iter()));
    let gone = made.servers.iter().enumerate().filter(|(_, server)| !kept.contains(&server.name));
    assert!(
        gone.clone().all(|(s, server)| !server.is_open && made.tasks.iter().all(|task| task.on != Some(s)))
    );
    assert_eq!(gone.count() as u64, left_out("servers that are"));
    for (r, there) in there.iter().enumerate() {
        let Some(at) = place(r) else {
            // The resource is not modelled, so no running task demands it.
            assert!(made.tasks.iter().all(|task| task.on.is_none() || task.asks[r] == 0));
            continue;
        };
        let rounded: Rational =
            snapshot.rounded.iter().filter(|of| of.resource == at).map(|of| &of.in_all).sum();
        assert!(!is_exact || rounded.is_zero());
        assert_eq!(&problem.total_capacity()[at] + rounded, *there);
    }
    // Compare the tree with its guarantees and limits.
    for (q, queue) in made.queues.iter().enumerate() {
        let name = (form.group)(made, q);
        let group = groups.list().iter().find(|group| group.name == name).unwrap();
        let above = group.parent.map(|v| groups.list()[v].name.clone());
        assert_eq!(above, queue.above.map(|above| (form.group)(made, above)));
        if form.has_weights {
            assert_eq!(group.weight, queue.weight);
        }
        if form.has_quotas {
            for r in 0..3 {
                let Some(at) = place(r) else { continue };
                let of =
                    |list: &[(usize, Rational)]| list.iter().find(|(r, _)| *r == at).map(|(_, x)| x.clone());
                let expected = |of: Option<Amounts>| of.map(|of| ours(of)[r].clone());
                let guarantee = of(group.guarantee.as_deref().unwrap_or_default());
                let promised = if form.system == System::Kai {
                    Some(expected(queue.guarantee).unwrap_or_default())
                } else {
                    expected(queue.guarantee)
                };
                assert_eq!(guarantee, promised);
                assert_eq!(of(&group.limit), expected(queue.limit));
            }
        }
    }
}

/// The environment variable `EVENHAND_SNAPSHOTS` sets the number of clusters.
#[test]
fn written_dumps_are_read() {
    let many = std::env::var("EVENHAND_SNAPSHOTS").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let mut read = 0;
    for seed in 0..many {
        for form in &FORMS {
            let mut made = generated_cluster(seed);
            // Slurm assigns whole processors. Its text format has no empty list of jobs.
            if form.system == System::Slurm {
                made.tasks.retain(|task| task.asks[0] % 1000 == 0);
            }
            if made.tasks.is_empty() {
                continue;
            }
            if !form.has_waiting {
                made.tasks.retain(|task| task.on.is_some());
            }
            let texts = (form.write)(&mut made);
            let files: Vec<(&str, &str)> = texts.iter().map(|text| ("dump", text.as_str())).collect();
            for merge in ["0", "3/200", "1/5"] {
                match import(form.system, &files, merge) {
                    Ok(snapshot) => {
                        compare(form, &made, &snapshot, merge == "0");
                        read += 1;
                    }
                    Err(error) => {
                        let is_empty = made.servers.iter().enumerate().all(|(s, server)| {
                            !server.is_open && made.tasks.iter().all(|task| task.on != Some(s))
                        });
                        assert!(
                            is_empty && error.contains("no server that a task may use"),
                            "seed {seed}, {}: {error}",
                            form.system
                        );
                    }
                }
            }
        }
    }
    assert!(read > many * 12, "{read}");
}
