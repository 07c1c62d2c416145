//! The defects of public schedulers in examples/schedulers. The tests check that the formulas of the schedulers give
//! the numbers in the snapshots, and that the certificates in the same folder belong to the verdicts. Each formula
//! follows the source code that its function names.

use std::path::{Path, PathBuf};

use crate::common::{refused, snapshot};

use evenhand_cluster::certificate::of_verdict;
use evenhand_cluster::reported::{compared, rule_of};
use evenhand_cluster::{Verdict, moves};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Snapshot, Subject};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/schedulers")
}

/// Returns a snapshot of the folder and its verdict, and compares the certificate of the verdict with the certificate
/// in the folder. `EVENHAND_WRITE_DOCS=1` writes the certificate in the folder anew.
fn judged(name: &str) -> (Snapshot, Verdict) {
    let read = |file: &Path| {
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    let of = snapshot(&read(&folder().join(format!("{name}.json"))));
    let found = Verdict::new(&of, rule_of(&of), &Rational::new()).unwrap();
    let (text, path) = (of_verdict(&found, &[]).unwrap(), folder().join(format!("{name}.verdict.json")));
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = read(&path);
    assert_eq!(written, text, "{}: EVENHAND_WRITE_DOCS=1 writes this file anew", path.display());
    assert_eq!(refused(&written), None, "{}", path.display());
    (of, found)
}

fn queues_below_share(found: &Verdict) -> Vec<&str> {
    found.below_fair_share().map(|row| row.queue.name.as_str()).collect()
}

/// Returns the usage of the first resource for each queue.
fn first_usage(found: &Verdict) -> Vec<Rational> {
    found.queues.iter().map(|row| row.usage[0].clone()).collect()
}

/// Returns the fair share of the first resource for each queue.
fn first_fair_shares(found: &Verdict) -> Vec<Rational> {
    found.queues.iter().map(|row| row.fair_share[0].clone()).collect()
}

/// A queue with its amounts of one resource, as the formulas below need them.
#[derive(Clone)]
struct Queue {
    guarantee: Rational,
    request: Rational,
}

/// Returns the queues of a snapshot with one resource, and the capacity of this resource.
fn queues(of: &Snapshot) -> (Vec<Queue>, Rational) {
    let problem = &of.problem;
    let groups = problem.groups();
    let queue = |v: usize| {
        let users = (0..problem.n_users()).filter(|n| groups.member(*n).group == Some(v));
        let request = |n: usize| {
            let user = &problem.users()[n];
            Rational::from(&user.base_demand()[0] * user.tasks().unwrap())
        };
        let guarantee = groups.list()[v].guarantee.iter().flatten().next();
        Queue {
            guarantee: guarantee.map(|(_, amount)| amount.clone()).unwrap_or_default(),
            request: users.map(request).sum(),
        }
    };
    ((0..groups.list().len()).map(queue).collect(), problem.total_capacity()[0].clone())
}

fn reported(of: &Snapshot) -> Vec<Rational> {
    let mut values = vec![Rational::new(); of.problem.groups().list().len()];
    for reported in &of.reported {
        let Subject::Group(v) = reported.of else { panic!("{reported:?}") };
        values[v] = reported.value.clone().unwrap();
    }
    values
}

/// Returns `deserved` of Volcano's plugin `proportion` for equal weights and no capability. The computation
/// is that of `OnSessionOpen` in pkg/scheduler/plugins/proportion/proportion.go, v1.15.1. The queues are
/// visited in `order`.
fn volcano(queues: &[Queue], total: &Rational, order: &[usize]) -> Vec<Rational> {
    let promised: Rational = queues.iter().map(|queue| &queue.guarantee).sum();
    let beyond = |a: &Rational, b: &Rational| Rational::from(a - b).max(Rational::new());
    let mut deserved = vec![Rational::new(); queues.len()];
    let (mut met, mut remaining) = (vec![false; queues.len()], total.clone());
    loop {
        let weights = met.iter().filter(|met| !**met).count();
        if weights == 0 {
            return deserved;
        }
        let old = remaining.clone();
        let (mut increased, mut decreased) = (Rational::new(), Rational::new());
        for q in order.iter().copied() {
            if met[q] {
                continue;
            }
            let was = deserved[q].clone();
            let capability = beyond(total, &promised) + &queues[q].guarantee;
            let grown = &remaining / Rational::from(weights) + &was;
            let capped = grown.min(capability).min(queues[q].request.clone());
            deserved[q] = capped.max(queues[q].guarantee.clone());
            met[q] = queues[q].request <= deserved[q] || deserved[q] == was;
            increased += beyond(&deserved[q], &was);
            decreased += beyond(&was, &deserved[q]);
        }
        remaining = beyond(&(remaining + decreased), &increased);
        if remaining.is_zero() || remaining == old {
            return deserved;
        }
    }
}

#[test]
fn volcano_lets_queues_deserve_more_than_the_capacity() {
    let (of, found) = judged("volcano");
    let (list, total) = queues(&of);
    let deserved = volcano(&list, &total, &[0, 1, 2]);
    assert_eq!(deserved, reported(&of));
    assert!(deserved.iter().sum::<Rational>() > total);
    // Volcano stops only tasks of queues that use more than they deserve (`AddReclaimableFn`). No queue here uses more.
    assert!(first_usage(&found).iter().zip(&deserved).all(|(held, deserved)| held <= deserved));
    // The guarantee could be met and is missed. Two moves meet it.
    assert_eq!((found.unmet.len(), found.guarantees_can_be_met()), (1, Some(true)));
    assert_eq!(queues_below_share(&found), ["a"]);
    let moves = moves::Moves::new(&found, &moves::Limits::default()).unwrap();
    assert!(moves.list.len() == 2 && moves.are_fewest());
}

#[test]
fn deserved_amounts_of_volcano_do_not_depend_on_the_order_of_queues() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut more = 0;
    // Three queues have guarantees up to 3 and requests up to 4, in clusters of up to 6 units.
    for code in 0..20_u32.pow(3) * 6 {
        let total = Rational::from(code % 6 + 1);
        let queue = |k: u32| {
            let digit = code / 6 / 20_u32.pow(k) % 20;
            Queue { guarantee: Rational::from(digit % 4), request: Rational::from(digit / 4) }
        };
        let list: Vec<Queue> = (0..3).map(queue).collect();
        let found: Vec<Vec<Rational>> = orders.iter().map(|order| volcano(&list, &total, order)).collect();
        assert!(found.iter().all(|of| *of == found[0]), "{code}");
        let promised: Rational = list.iter().map(|queue| &queue.guarantee).sum();
        more += usize::from(promised <= total && found[0].iter().sum::<Rational>() > total);
    }
    assert!(more > 0, "guarantees within the cluster never made queues deserve more than it has");
}

/// Returns the usage after tasks of one unit have been placed in the order of `YuniKorn`'s queues. The
/// computation is that of `getFairShare` in pkg/common/resources/resources.go and
/// `sortQueuesByFairnessAndPriority` in pkg/scheduler/objects/sorters.go, v1.9.0.
fn yunikorn(queues: &[Queue], total: &Rational) -> Vec<Rational> {
    let mut held = vec![Rational::new(); queues.len()];
    while held.iter().sum::<Rational>() < *total {
        let share = |q: usize| {
            let guarantee = &queues[q].guarantee;
            &held[q] / Rational::from(if guarantee.is_zero() { total } else { guarantee })
        };
        let pending = |q: usize| Rational::from(&queues[q].request - &held[q]);
        let waits = (0..queues.len()).filter(|q| pending(*q) > 0);
        let Some(next) = waits.min_by_key(|q| (share(*q), std::cmp::Reverse(pending(*q)), *q)) else { break };
        held[next] += 1_u32;
    }
    held
}

#[test]
fn yunikorn_lets_a_guarantee_cost_its_queue_most_of_its_fair_share() {
    let (of, found) = judged("yunikorn");
    let (mut list, total) = queues(&of);
    assert_eq!(yunikorn(&list, &total), first_usage(&found));
    assert_eq!(queues_below_share(&found), ["a"]);
    // Without the guarantee, the queue would have its fair share.
    list[0].guarantee = Rational::new();
    assert_eq!(yunikorn(&list, &total), first_fair_shares(&found));
}

/// Returns the shares of Armada for equal weights, first uncapped and then capped by demand. The computation
/// is that of `updateFairShares` in internal/scheduler/scheduling/context/scheduling.go, v0.22.7.
fn armada(queues: &[Queue], total: &Rational) -> [Vec<Rational>; 2] {
    let n = queues.len();
    let demand: Vec<Rational> = queues.iter().map(|queue| Rational::from(&queue.request / total)).collect();
    let [mut uncapped, mut capped, mut spare] = [const { Vec::new() }; 3];
    [&mut uncapped, &mut capped, &mut spare].into_iter().for_each(|of| of.resize(n, Rational::new()));
    let (mut achieved, mut left) = (vec![false; n], Rational::from(1));
    for _ in 0..10 {
        if left <= Rational::from((1, 100)) {
            break;
        }
        let weights = achieved.iter().filter(|achieved| !**achieved).count();
        for q in 0..n {
            let with_this = Rational::from(weights + usize::from(achieved[q]));
            uncapped[q] += Rational::from(&left - &spare[q]) / with_this;
        }
        if weights == 0 {
            break;
        }
        for q in (0..n).filter(|q| !achieved[*q]) {
            capped[q] += &left / Rational::from(weights);
        }
        left = Rational::new();
        for q in 0..n {
            spare[q] = Rational::from(&capped[q] - &demand[q]).max(Rational::new());
            if spare[q] > 0 {
                capped[q].clone_from(&demand[q]);
                achieved[q] = true;
                left += &spare[q];
            }
        }
    }
    [uncapped, capped]
}

#[test]
fn uncapped_shares_of_armada_add_up_to_more_than_the_pool() {
    let (of, found) = judged("armada");
    let (list, total) = queues(&of);
    let [uncapped, capped] = armada(&list, &total);
    assert_eq!(uncapped, reported(&of));
    assert_eq!(uncapped.iter().sum::<Rational>(), Rational::from((37, 30)));
    // The capped shares are the fair shares.
    let shares: Vec<Rational> =
        first_fair_shares(&found).iter().map(|due| Rational::from(due / &total)).collect();
    assert_eq!(capped, shares);
    assert!(found.is_fair());
}

/// Returns the fair shares of KAI for equal weights and priorities, without quotas and past usage. The queues
/// are sorted by age, the oldest queue first. The computation is that of `divideOverQuotaResource` in
/// pkg/scheduler/plugins/proportion/resource_division/resource_division.go, v0.20.1.
fn kai(queues: &[Queue], total: &Rational) -> Vec<Rational> {
    let mut share = vec![Rational::new(); queues.len()];
    let mut rest: Vec<Option<Rational>> = vec![None; queues.len()];
    let mut left = total.clone();
    loop {
        let (round, mut again) = (left.clone(), false);
        let wants: Vec<usize> = (0..queues.len()).filter(|q| share[*q] < queues[*q].request).collect();
        for q in wants.iter().copied() {
            let fair = &round / Rational::from(wants.len());
            let asked = Rational::from(&queues[q].request - &share[q]);
            let given = if asked <= fair {
                rest[q] = None;
                asked.clone()
            } else {
                let whole = fair.clone().floor();
                let more = Rational::from(&fair - &whole);
                if more > 0 {
                    rest[q] = Some(more);
                }
                whole
            };
            again |= !given.is_zero() && asked < fair;
            share[q] += &given;
            left -= given;
        }
        if !again || left.is_zero() {
            break;
        }
    }
    let mut order: Vec<usize> = (0..queues.len()).filter(|q| rest[*q].is_some()).collect();
    order.sort_by(|a, b| rest[*b].cmp(&rest[*a]).then(a.cmp(b)));
    for q in order {
        let given = left.clone().min(Rational::from(1));
        share[q] += &given;
        left -= given;
    }
    share
}

#[test]
fn kai_gives_leftover_whole_units_to_the_oldest_queues() {
    let (of, found) = judged("kai");
    let (list, total) = queues(&of);
    let shares = kai(&list, &total);
    assert_eq!(shares, reported(&of));
    // Each queue uses the amount to which KAI entitles it, and two queues are below their fair share by a
    // whole task.
    assert_eq!(shares, first_usage(&found));
    assert_eq!(queues_below_share(&found), ["b", "c"]);
}

#[test]
fn kueue_queues_preempt_each_other_although_a_fair_state_exists() {
    // `evenhand audit preemption` finds the steps from one snapshot to the other and back.
    let (of, first) = judged("kueue");
    assert_eq!(queues_below_share(&first), ["a"]);
    let (next, second) = judged("kueue-next");
    assert!(second.is_fair());
    for (of, found) in [(of, first), (next, second)] {
        let shares = compared(&of, &found.problem, found.rule).unwrap();
        assert!(shares.len() == 2 && shares.iter().all(|of| of.agrees() == Some(true)), "{shares:?}");
    }
}
