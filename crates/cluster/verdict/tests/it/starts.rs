//! Tests of tasks that could start, and of moves, compared with the plain loops of the test kit on random
//! snapshots.
//!
//! `EVENHAND_SNAPSHOTS=FROM..TO` chooses other seeds. `make snapshots` tests 10,000 seeds.

use crate::common::refused;

use evenhand_cluster::certificate::{of_moves, of_verdict};
use evenhand_cluster::moves::{Limits, Move, Moves};
use evenhand_cluster::{Answer, Verdict};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;
use evenhand_testkit::plain::Plain;
use evenhand_testkit::plain::starts::{Running, Task};
use evenhand_testkit::random::snapshots;

fn seeds(count: u64) -> std::ops::Range<u64> {
    let stated = std::env::var("EVENHAND_SNAPSHOTS").ok();
    let range = stated.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..count)
}

fn judged(of: &Snapshot) -> Verdict {
    Verdict::new(of, None, &Rational::new()).unwrap()
}

#[test]
fn verdicts_say_what_could_start() {
    let (mut yes, mut no, mut open) = (0, 0, 0);
    for seed in seeds(1_000) {
        let of = snapshots::snapshot(seed);
        let found = judged(&of);
        let running = Running::new(&of);
        let starts = found.starts.as_ref().unwrap();
        for n in (0..of.problem.n_users()).filter(|n| running.together(*n)[0] == *n) {
            let could = running.could_start(n);
            let stated = starts.could.iter().chain(&starts.by_model).find(|fit| fit.user == n);
            if starts.not_known.contains(&n) {
                open += 1;
                continue;
            }
            assert_eq!(stated.is_some(), could.is_some(), "seed {seed}, user {n}: {could:?}");
            if let Some(fit) = stated {
                let parts = fit.assignment.parts.iter();
                let tasks: Vec<Task> = parts
                    .flat_map(|(m, places)| places.iter().map(|place| (*m, place.class, place.index)))
                    .collect();
                assert!(running.may_start(&tasks), "seed {seed}, user {n}: {tasks:?}");
            }
            if could.is_some() { yes += 1 } else { no += 1 }
        }
        assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None, "seed {seed}");
    }
    println!("could start: {yes} yes, {no} no, {open} not known");
    assert!(yes > 200 && no > 500 && open * 100 < yes + no, "{yes} {no} {open}");
}

/// Returns the tasks that a move starts, and the tasks that it stops.
fn tasks(step: &Move) -> (Vec<Task>, Vec<Task>) {
    let each = |of: &std::collections::BTreeMap<usize, evenhand_cluster::moves::Tasks>| {
        let mut all = Vec::new();
        for (n, tasks) in of {
            for (place, count) in tasks {
                all.extend((0..*count).map(|_| (*n, place.class, place.index)));
            }
        }
        all
    };
    (each(&step.start), each(&step.stop))
}

#[test]
fn moves_harm_no_queue() {
    let (mut moves_seen, mut stops_seen, mut fewest, mut tried) = (0, 0, 0, 0);
    for seed in seeds(1_000) {
        let of = snapshots::snapshot(seed);
        let found = judged(&of);
        let strict = seed % 5 == 0;
        let limits = Limits { strict_priority: strict, ..Limits::default() };
        let moves = Moves::new(&found, &limits).unwrap();
        tried += usize::from(!moves.below[0].is_empty());
        let mut running = Running::new(&of);
        for (at, step) in moves.list.iter().enumerate() {
            let (start, stop) = tasks(step);
            let before = running.clone();
            for task in &stop {
                let position = running.tasks.iter().position(|of| of == task);
                running
                    .tasks
                    .remove(position.unwrap_or_else(|| panic!("seed {seed}: {task:?} does not run")));
                let rule = running.constraint(task.0);
                assert!(!rule.protected, "seed {seed}: a protected task stops");
                if strict {
                    let priority = running.constraint(start[0].0).priority;
                    assert!(rule.priority <= priority, "seed {seed}: a higher priority stops");
                }
            }
            assert!(running.may_start(&start), "seed {seed}, move {at}: {start:?} after {stop:?}");
            running.tasks.extend(&start);
            let worse = before.excesses().into_iter().zip(running.excesses()).find(|(was, is)| is > was);
            assert_eq!(worse, None, "seed {seed}, move {at}: an excess grows");
            let (was, is) = (before.below(&found.due.amounts), running.below(&found.due.amounts));
            assert!(is.iter().all(|v| was.contains(v)), "seed {seed}, move {at}: {is:?} after {was:?}");
            let (old, new) = (before.allocation(), running.allocation());
            let (old, new) = (Plain::new(&of.problem, &old), Plain::new(&of.problem, &new));
            for n in new.active() {
                assert!(
                    new.lack_of_promises(n) <= old.lack_of_promises(n),
                    "seed {seed}, move {at}: the lack of user {n} grows"
                );
            }
            moves_seen += 1;
            stops_seen += stop.len();
        }
        assert_eq!(running.below(&found.due.amounts), moves.below[1], "seed {seed}");
        assert_eq!(running.allocation().placements, moves.after.placements, "seed {seed}");
        assert!(moves.least <= moves.list.len() || !moves.below[1].is_empty(), "seed {seed}");
        fewest += usize::from(moves.are_fewest() && !moves.list.is_empty());
        assert_eq!(refused(&of_moves(&found, &moves, &[]).unwrap()), None, "seed {seed}");
        // If there are no moves, no start of a queue below its fair share is possible without stops.
        if moves.list.is_empty() && !moves.below[1].is_empty() {
            let starts = found.starts.as_ref().unwrap();
            for v in &moves.below[1] {
                let by = found.queues[*v].by.expect("below");
                let could = starts.could.iter().any(|fit| fit.user == by);
                assert!(!could, "seed {seed}: user {by} could start, and moves start nothing");
            }
        }
    }
    println!(
        "{tried} snapshots with a queue below its fair share, {moves_seen} moves, {stops_seen} stops, {fewest} proven fewest"
    );
    assert!(moves_seen > 100 && stops_seen > 30 && fewest > 20, "{moves_seen} {stops_seen} {fewest}");
}

#[test]
fn admitted_tasks_are_judged_by_servers_alone() {
    let (mut yes, mut no) = (0, 0);
    for seed in seeds(1_000) {
        let of = snapshots::snapshot(seed);
        let found = judged(&of);
        for admitted in &found.starts.as_ref().unwrap().admitted {
            match admitted.answer {
                Answer::Yes(_) => yes += 1,
                Answer::No => no += 1,
                Answer::NotKnown => {}
            }
        }
    }
    assert!(yes > 10 && no > 5, "{yes} {no}");
}
