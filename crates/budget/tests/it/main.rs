//! Tests of the limits on work, memory and time, in one thread and in several threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use evenhand_budget::{
    Kind, Limits, both, charge, each, each_of, exceeded, for_a_thread, handle, hold, is_late, operations,
    read, room, spent, table, within, work_left,
};
use rayon::prelude::*;

fn work(limit: u64) -> Limits {
    Limits { work: Some(limit), ..Limits::default() }
}

fn memory(limit: u64) -> Limits {
    Limits { memory: Some(limit), ..Limits::default() }
}

#[test]
fn computations_without_limits_never_end_early() {
    charge(u64::MAX, "anything");
    table(usize::MAX, usize::MAX, 8, "a table");
    assert_eq!(work_left(), None);
    assert_eq!(within(&Limits::default(), || charge(u64::MAX, "anything")), Ok(()));
}

#[test]
fn the_last_step_is_granted_and_the_next_is_not() {
    assert_eq!(within(&work(10), || charge(10, "ten")), Ok(()));
    let error = within(&work(10), || charge(11, "eleven")).unwrap_err();
    assert_eq!((error.what.as_str(), error.kind), ("eleven", Kind::Work { limit: 10 }));
}

#[test]
fn work_stays_refused_after_an_overflow() {
    let ended = within(&work(10), || {
        let inner = catch_unwind(AssertUnwindSafe(|| charge(u64::MAX, "all"))).unwrap_err();
        assert_eq!(exceeded(&*inner).map(|exceeded| exceeded.what.as_str()), Some("all"));
        charge(1, "one more");
    });
    assert_eq!(ended.unwrap_err().what, "one more");
}

#[test]
fn memory_is_free_again_when_it_is_dropped() {
    let done = within(&memory(100), || {
        let first = hold(60, "the first");
        room(40, "the second");
        drop(first);
        let _third = hold(100, "the third");
    });
    assert_eq!(done, Ok(()));
    let error = within(&memory(100), || {
        let _first = hold(60, "the first");
        room(41, "the second");
    });
    assert_eq!(error.unwrap_err().kind, Kind::Memory { needed: 41, left: 40 });
}

#[test]
fn a_table_is_charged_for_memory_before_work() {
    let limits = Limits { work: Some(5), memory: Some(48), ..Limits::default() };
    assert!(matches!(within(&limits, || table(2, 4, 8, "a table")).unwrap_err().kind, Kind::Memory { .. }));
    assert!(matches!(within(&limits, || table(2, 3, 8, "a table")).unwrap_err().kind, Kind::Work { .. }));
    assert_eq!(within(&limits, || table(1, 5, 8, "a table")), Ok(()));
}

#[test]
fn inner_work_counts_against_outer_limits() {
    let outer = within(&work(100), || {
        assert!(within(&work(10), || charge(11, "inner")).is_err());
        assert_eq!(within(&work(60), || charge(50, "inner")), Ok(()));
        // The 11 steps that the inner limit refused were never charged to the outer limits.
        assert_eq!((spent(), work_left()), (50, Some(50)));
        within(&work(1_000), || charge(51, "beyond the outer limit"))
    });
    assert_eq!(outer.unwrap_err().what, "beyond the outer limit");
}

#[test]
fn panics_are_passed_on() {
    let caught = catch_unwind(|| within(&work(10), || panic!("a defect")));
    assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "a defect");
}

#[test]
fn limits_end_with_their_computation() {
    assert!(within(&work(1), || charge(2, "two")).is_err());
    charge(2, "outside");
    assert_eq!(spent(), 0);
}

#[test]
fn threads_with_a_handle_are_charged() {
    let ended = within(&work(999), || {
        let handle = handle();
        (0..1_000_u64).into_par_iter().for_each(|_| handle.enter(|| charge(1, "a part")));
    });
    assert_eq!(ended.unwrap_err().kind, Kind::Work { limit: 999 });
}

#[test]
fn a_time_limit_ends_charging_computations() {
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let ended = within(&limits, || {
        assert!(is_late());
        charge(1, "the first step");
    });
    assert_eq!(ended.unwrap_err().kind, Kind::Time);
    assert!(!is_late());
}

#[test]
fn wide_fractions_cost_more() {
    let cost = |words| {
        within(&Limits::default(), || {
            operations(1, words, "an operation");
            spent()
        })
    };
    assert_eq!((cost(1), cost(16), cost(1_000)), (Ok(24), Ok(148), Ok(254_020)));
}

#[test]
fn messages_name_the_option() {
    let error = within(&memory(1 << 20), || room(3 << 30, "the table of users and classes")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the table of users and classes is too large: it takes 3 GiB of memory, and 1024 KiB are left \
         (--memory raises the limit)"
    );
    let error = within(&work(7), || charge(8, "the search")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the search is too large: it takes more than 7 steps of work (--work raises the limit)"
    );
}

#[test]
fn limits_grow_with_the_input() {
    let done = within(&Limits::by_input(), || {
        let before = handle().limits();
        read(999_999);
        assert_eq!((before, handle().limits()), (before, before));
        assert_eq!(before, (Some(Limits::A_MINUTE), Some(2 << 30)));
        read(1_500_001);
        assert_eq!(handle().limits(), (Some(3 * Limits::A_MINUTE), Some(16 << 30)));
        charge(3 * Limits::A_MINUTE, "three minutes");
        room(16 << 30, "a large table");
    });
    assert_eq!(done, Ok(()));
}

#[test]
fn stated_limits_do_not_grow() {
    let limits = Limits { work: Some(7), ..Limits::by_input() };
    let done = within(&limits, || {
        read(10_000_000);
        handle().limits()
    });
    assert_eq!(done, Ok((Some(7), Some(16 << 30))));
}

#[test]
fn parallel_results_keep_their_positions() {
    for visits in [0, 1, 3, 100, 100_000] {
        let few = for_a_thread(visits);
        for count in [0, 1, few - 1, few, 10 * few + 1] {
            let squares: Vec<usize> = (0..count).map(|place| place * place).collect();
            assert_eq!(each(count, visits, |place| place * place), squares);
            assert_eq!(each_of((0..count).collect(), visits, |place| place * place), squares);
            assert_eq!(both(count * visits, || count, || squares.len()), (count, count));
        }
        // Below the threshold, all work stays on the calling thread.
        let here = std::thread::current().id();
        let found = each(few - 1, visits, |_| std::thread::current().id());
        assert!(found.iter().all(|found| *found == here));
    }
}
