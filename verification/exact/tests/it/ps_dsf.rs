//! Tests of per-server dominant-share fairness: the examples of the paper, shared time, rounding, and a comparison with
//! the definition on random instances.

use evenhand_exact::axiom::ps_dsf::{self, Standing, Unblocked};
use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_problem::{Allocation, Problem, Rational, Sharing};
use evenhand_testkit::agreement::assert_shown;
use evenhand_testkit::examples::{allocation, problem, ps_dsf_2};
use evenhand_testkit::plain::Plain;
use evenhand_testkit::q;
use evenhand_testkit::random::filled::random;
use proptest::prelude::*;

fn claim(problem: &Problem, allocation: &Allocation, tolerance: &str) -> Claim {
    let instance = Instance::new(problem, allocation).unwrap();
    let claim = Claim::derive(Axiom::PsDsf, &instance, &q(tolerance)).unwrap();
    assert_shown(problem, allocation, &claim, &q(tolerance));
    claim
}

/// PS-DSF, Figure 2: the bottlenecks are cpu and memory of the first server, and all resources of the second.
#[test]
fn figure_2_has_the_published_bottlenecks() {
    let problem = ps_dsf_2();
    let x = allocation(&problem, r#"{"1": {"a": "18/5"}, "2": {"a": "18/5"}, "3": {"b": 8}, "4": {"b": 8}}"#);
    let found = claim(&problem, &x, "0");
    assert_eq!((found.holds, found.margin), (Some(true), Some(q("0"))));
    // The rows of a are cpu, memory and bandwidth. The rows of b follow.
    let on = |rows: &[usize]| Some(Standing::Bottlenecks(rows.to_vec()));
    let Evidence::Bottlenecks(standings) = found.evidence else { panic!("{:?}", found.evidence) };
    assert_eq!(standings[..2], [on(&[0]), on(&[0])]);
    let instance = Instance::new(&problem, &x).unwrap();
    assert_eq!(ps_dsf::level(&instance, 3, 0), Some(q("8/9")));
    assert_eq!(ps_dsf::level(&instance, 1, 1), None, "no bandwidth there");
    // Users 3 and 4 have the levels 8/12 and 8/9 on the first server. The users with tasks there have the level 3/5.
    assert_eq!(standings[2..], [on(&[0, 3]), on(&[0, 3])]);
}

/// If a user has more than its level allows, the excess of its tasks counts.
#[test]
fn usage_above_the_level_counts_by_its_excess() {
    let problem = ps_dsf_2();
    let x = allocation(&problem, r#"{"1": {"a": 4}, "2": {"a": 3}, "3": {"b": 8}, "4": {"b": 8}}"#);
    let found = claim(&problem, &x, "0");
    // The cpu of the first server is full. User 1 is at level 4/6, and user 2 is one task behind. Memory has 2 units
    // left. For user 2, the lack is 3/2 of its tasks in cpu, and also 3/2 in memory, including the free capacity. Alone
    // it would have 6 tasks.
    assert_eq!((found.holds, found.margin.clone()), (Some(false), Some(q("-1/4"))));
    let lacks = vec![(0, q("3/2")), (1, q("3/2")), (2, q("4"))];
    assert_eq!(found.evidence, Evidence::Unblocked(Unblocked { user: 1, server: 0, lacks }));
    assert_eq!(claim(&problem, &x, "1/4").holds, Some(true));
}

/// Tests that tiny errors of every kind have tiny margins: errors of a level or of a slack, and traces of tasks on
/// another class.
#[test]
fn rounding_is_small() {
    let problem = ps_dsf_2();
    let almost = |tasks: &str| {
        let found = claim(&problem, &allocation(&problem, tasks), "0");
        assert_eq!(found.holds, Some(false), "{tasks}");
        let margin = found.margin.unwrap();
        assert!(margin > q("-1e-11") && margin < 0, "{tasks}: {margin}");
        assert_eq!(claim(&problem, &allocation(&problem, tasks), "1e-11").holds, Some(true));
    };
    almost(r#"{"1": {"a": 3.600000000001}, "2": {"a": 3.599999999999}, "3": {"b": 8}, "4": {"b": 8}}"#);
    almost(r#"{"1": {"a": 3.599999999999}, "2": {"a": 3.599999999999}, "3": {"b": 8}, "4": {"b": 8}}"#);
    // User 4 has a much higher level on the first server, and uses a trace of it.
    almost(r#"{"1": {"a": "18/5"}, "2": {"a": "18/5"}, "3": {"b": 8}, "4": {"a": 1e-12, "b": 8}}"#);
    // A negative entry counts as 0.
    let tasks = r#"{"1": {"a": "18/5"}, "2": {"a": "18/5"}, "3": {"b": 8}, "4": {"a": -1e-12, "b": 8}}"#;
    assert_eq!(claim(&problem, &allocation(&problem, tasks), "0").margin, Some(q("0")));
}

/// A class that another user occupies counts by the number of tasks that the user itself could run there.
#[test]
fn occupied_classes_count_by_tasks_of_the_user() {
    let problem = ps_dsf_2();
    let found = claim(&problem, &allocation(&problem, r#"{"1": {"a": 6}}"#), "0");
    assert_eq!(found.margin, Some(q("-1")));
    let Evidence::Unblocked(unblocked) = found.evidence else { panic!() };
    // User 2 lacks 6 tasks of memory, which is everything that it would have alone.
    assert_eq!((unblocked.user, unblocked.server), (1, 0));
    assert_eq!(unblocked.lacks, [(0, q("9")), (1, q("6")), (2, q("10"))]);
}

/// Theory, section 4: with finite tasks, several allocations satisfy the condition under TDM. With one resource, both
/// ways of sharing are equal.
#[test]
fn finite_tasks_allow_several_answers() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}, {"name": "b", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "servers": ["a"]},
                  {"name": "v", "demand": {"cpu": 1}, "tasks": "1/2"},
                  {"name": "w", "demand": {"cpu": 1}, "servers": ["b"]}]}"#,
    );
    for (u, on_a, on_b, w, margin) in [
        ("1", "0", "1/2", "1/2", "0"),
        ("3/4", "1/4", "1/4", "3/4", "0"),
        ("1/2", "1/2", "0", "1", "0"),
        ("1", "0", "0", "1", "-1"),
        ("1/2", "1/4", "1/4", "3/4", "-1/4"),
    ] {
        for sharing in [Sharing::Rdm, Sharing::Tdm] {
            let tasks = format!(
                r#"{{"u": {{"a": "{u}"}}, "v": {{"a": "{on_a}", "b": "{on_b}"}}, "w": {{"b": "{w}"}}}}"#
            );
            let mut x = allocation(&problem, &tasks);
            x.sharing = sharing;
            assert_eq!(claim(&problem, &x, "0").margin, Some(q(margin)), "{u} {on_a} {on_b} {w}");
        }
    }
}

/// A class with a stated gamma has a row of time, even if the resources of other classes are divided.
#[test]
fn a_class_with_gamma_has_a_row_of_time() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "c", "capacity": {"cpu": 6}}, {"name": "d", "capacity": {"cpu": 3}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "gamma": {"c": 4}},
                  {"name": "v", "demand": {"cpu": 2}, "weight": 2},
                  {"name": "idle", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    // On c, gamma is 4 for u and 3 for v. On d, it is 3 for u and 3/2 for v. The levels of u are x/4 and x/3, and the
    // levels of v are x/6 and x/3.
    let x = allocation(&problem, r#"{"u": {"d": "5/3"}, "v": {"c": 3, "d": "2/3"}}"#);
    let found = claim(&problem, &x, "0");
    // On c, user v is ahead by 7/6 of its tasks, which are worth 14/9 tasks of u. On d it is ahead by 2 tasks, of which
    // 2/3 run on d.
    assert_eq!((found.holds, found.margin), (Some(false), Some(q("-2/9"))));
    let x = allocation(&problem, r#"{"u": {"d": 3}, "v": {"c": 3}}"#);
    let found = claim(&problem, &x, "0");
    assert_eq!((found.holds, found.margin), (Some(true), Some(q("0"))));
    let Evidence::Bottlenecks(standings) = found.evidence else { panic!() };
    assert_eq!(standings[0], Some(Standing::Bottlenecks(vec![0, 1])));
    assert_eq!(standings[2], None);
}

fn naive<'a>(problem: &'a Problem, allocation: &Allocation) -> Plain<'a> {
    Plain::new(problem, allocation)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn the_margin_agrees_with_the_definition(seed in any::<u64>(), coarse in any::<bool>()) {
        let (problem, mut allocation) = random(seed);
        if coarse {
            // Add tied levels, traces and negative entries.
            for (n, tasks) in allocation.tasks.iter_mut().enumerate() {
                for (i, x) in tasks.iter_mut() {
                    let change = Rational::from(((seed >> (7 * n + 3 * *i) & 7) as i64 - 2, 10));
                    *x = x.clone().floor() + change;
                }
            }
        }
        let found = claim(&problem, &allocation, "0");
        let plain = naive(&problem, &allocation);
        prop_assert_eq!(&found.margin, &plain.ps_dsf_margin());
        let instance = Instance::new(&problem, &allocation).unwrap();
        for n in 0..problem.n_users() {
            for i in 0..problem.n_servers() {
                prop_assert_eq!(ps_dsf::margin(&instance, n, i).unwrap(), plain.ps_dsf_on(n, i));
            }
        }
        // There is one verdict for every tolerance.
        for tolerance in ["0", "1/10", "1/2", "9/10"] {
            let within = found.margin.as_ref().is_none_or(|margin| *margin >= -q(tolerance));
            prop_assert_eq!(claim(&problem, &allocation, tolerance).holds, Some(within));
        }
    }
}
