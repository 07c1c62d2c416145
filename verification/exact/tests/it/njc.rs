//! Tests of no justified complaints: the examples of the paper, clusters, shared time, and a comparison with the
//! definition on random instances.

use evenhand_exact::axiom::njc::{self, Complaint, Witness};
use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_problem::{
    Allocation, Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};
use evenhand_testkit::agreement::assert_shown;
use evenhand_testkit::examples::{allocation, figure_1, figure_1_fair, pool, problem};
use evenhand_testkit::q;
use evenhand_testkit::random::filled::random;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Returns a problem with one server of capacity 1, requests `r` of one task each, and the entitlements as weights.
fn requests(r: &[&[&str]], entitlements: &[&str]) -> Problem {
    let m = r[0].len();
    let users = r.iter().zip(entitlements).enumerate().map(|(n, (demand, weight))| UserSpec {
        name: format!("u{n}"),
        weight: Some(q(weight)),
        tasks: Some(Rational::from(1)),
        demand: demand.iter().enumerate().map(|(r, d)| (format!("r{r}"), q(d))).collect(),
        ..UserSpec::default()
    });
    let capacity = (0..m).map(|r| (format!("r{r}"), Rational::from(1))).collect();
    Problem::new(ProblemSpec {
        name: String::new(),
        resources: (0..m).map(|r| format!("r{r}")).collect(),
        servers: vec![ServerSpec { name: "pool".to_owned(), count: None, capacity }],
        users: users.collect(),
    })
    .unwrap()
}

fn on_the_pool(x: &[&str]) -> Allocation {
    Allocation { tasks: x.iter().map(|x| vec![(0, q(x))]).collect(), ..Allocation::default() }
}

/// Fails unless the allocation is feasible, and free of justified complaints exactly if `expected`.
#[track_caller]
fn check(r: &[&[&str]], e: &[&str], x: &[&str], expected: bool) {
    let problem = requests(r, e);
    let allocation = on_the_pool(x);
    let instance = Instance::new(&problem, &allocation).unwrap();
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    assert_eq!(claim.holds, Some(expected), "{x:?}: {claim:?}");
    assert_shown(&problem, &allocation, &claim, &q("0"));
    let feasible = Claim::derive(Axiom::Feasible, &instance, &q("0")).unwrap();
    assert_eq!(feasible.holds, Some(true), "{x:?}");
}

/// NJC, Figure 2.
#[test]
fn figure_2_has_the_published_verdicts() {
    let r: &[&[&str]] = &[&["1", "1/5"], &["1", "1/5"], &["2/5", "4/5"]];
    let e = ["1/3", "1/3", "1/3"];
    check(r, &e, &["1/3", "1/3", "5/6"], true);
    check(r, &e, &["2/5", "2/5", "1/2"], false);
    check(r, &e, &["1/3", "1/3", "4/5"], false);
}

/// NJC, section 4: higher utilisation is not the goal.
#[test]
fn higher_utilisation_is_not_required() {
    let r: &[&[&str]] = &[&["1/2", "0", "0", "1"], &["1", "1", "1", "0"]];
    check(r, &["1/2", "1/2"], &["1", "1/2"], true);
    check(r, &["1/2", "1/2"], &["2/3", "2/3"], false);
}

/// NJC, section 3: two vertices of the set, and the greedy point, where the second user complains.
#[test]
fn the_greedy_point_has_a_complaint() {
    let r: &[&[&str]] = &[&["1/2", "1/2", "2/3"], &["1/2", "5/8", "1/2"], &["1", "1", "1/3"]];
    let e = ["1/2", "3/8", "1/8"];
    check(r, &e, &["59/60", "3/5", "2/15"], true);
    check(r, &e, &["31/32", "5/8", "1/8"], true);
    check(r, &e, &["1", "2/3", "0"], false);
}

/// NJC, Figures 3 and 5: two users, and one point for each pair of entitlements.
#[test]
fn two_users_have_a_unique_point() {
    let r: &[&[&str]] = &[&["1/4", "2/3", "1"], &["1", "2/3", "0"]];
    for (e, x) in [
        (["1/2", "1/2"], ["3/4", "3/4"]),
        (["1/3", "2/3"], ["2/3", "5/6"]),
        (["2/3", "1/3"], ["1", "1/2"]),
        (["1/10", "9/10"], ["2/5", "9/10"]),
        (["9/10", "1/10"], ["1", "1/2"]),
        (["3/5", "2/5"], ["9/10", "3/5"]),
    ] {
        check(r, &e, &x, true);
    }
    check(r, &["1/2", "1/2"], &["2/3", "5/6"], false);
    check(r, &["1/10", "9/10"], &["3/4", "3/4"], false);
    let r: &[&[&str]] = &[&["2/3"], &["2/3"]];
    check(r, &["2/5", "3/5"], &["3/5", "9/10"], true);
    check(r, &["1/4", "3/4"], &["1/2", "1"], true);
    check(r, &["2/5", "3/5"], &["1/2", "1"], false);
}

/// NJC, section 5.5: `(z, 1 - z, 1 - z)` for `1/2 <= z <= 7/10`, and no point outside these ends.
#[test]
fn the_family_of_section_5_5_is_njc() {
    let r: &[&[&str]] = &[&["1", "1"], &["0", "1"], &["1", "0"]];
    let e = ["1/2", "3/10", "1/5"];
    for (z, rest, expected) in [
        ("1/2", "1/2", true),
        ("3/5", "2/5", true),
        ("7/10", "3/10", true),
        ("49/100", "51/100", false),
        ("71/100", "29/100", false),
    ] {
        check(r, &e, &[z, rest, rest], expected);
    }
}

/// NJC, section 5.5: there are more points than the seven points in the paper.
#[test]
fn the_circulant_has_more_points_than_the_paper() {
    let r: &[&[&str]] =
        &[&["1", "1", "0", "1"], &["1", "1", "1", "0"], &["0", "1", "1", "1"], &["1", "0", "1", "1"]];
    let e = ["1/4"; 4];
    for x in [
        ["1/3", "1/3", "1/3", "1/3"],
        ["1/4", "1/4", "3/8", "3/8"],
        ["1/4", "3/8", "3/8", "1/4"],
        ["1/4", "1/4", "1/4", "1/2"],
        ["1/2", "1/4", "1/4", "1/4"],
        ["7/24", "7/24", "7/24", "5/12"],
    ] {
        check(r, &e, &x, true);
    }
    check(r, &e, &["1/5", "2/5", "2/5", "1/5"], false);
}

/// With one resource and a satisfied user there is a segment of solutions.
#[test]
fn one_resource_has_a_segment_of_answers() {
    let r: &[&[&str]] = &[&["1/10"], &["1"], &["1"]];
    let e = ["1/3", "1/3", "1/3"];
    for x in [["1", "1/3", "17/30"], ["1", "9/20", "9/20"], ["1", "17/30", "1/3"]] {
        check(r, &e, &x, true);
    }
    check(r, &e, &["1", "3/10", "6/10"], false);
    check(r, &e, &["9/10", "9/20", "46/100"], false);
}

/// Points on faces of the set, which a program outside the project computed for random requests.
#[test]
fn points_of_an_outside_program_are_njc() {
    check(
        &[&["3/4", "0"], &["7/10", "9/10"], &["1/10", "3/20"]],
        &["2/9", "2/9", "5/9"],
        &["43/135", "17/18", "1"],
        true,
    );
    check(
        &[&["13/20", "0", "1/10"], &["1", "19/20", "17/20"], &["4/5", "4/5", "3/10"]],
        &["3/19", "8/19", "8/19"],
        &["60/247", "8/19", "10/19"],
        true,
    );
    check(
        &[
            &["0", "17/20", "9/10"],
            &["9/10", "1/20", "1/2"],
            &["3/10", "11/20", "1/5"],
            &["19/20", "0", "13/20"],
        ],
        &["3/17", "8/17", "2/17", "4/17"],
        &["11090/26163", "80/153", "50/51", "80/323"],
        true,
    );
}

#[test]
fn complaints_name_the_share_of_the_user() {
    let pool = pool();
    let x = allocation(&pool, r#"{"1": {"pool": "2/5"}, "2": {"pool": "2/5"}, "3": {"pool": "1/2"}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    // The user has 1/5 of the cpu, but its entitlement is 1/3.
    assert_eq!((claim.holds, claim.margin.clone()), (Some(false), Some(q("-2/15"))));
    let complaint = Complaint { user: 2, entitlement: q("1/3"), shares: vec![(0, q("1/5"))] };
    assert_eq!(claim.evidence, Evidence::Complaint(complaint));
    let lax = Claim::derive(Axiom::Njc, &instance, &q("2/15")).unwrap();
    let row = Some(Witness::Row(0));
    assert_eq!((lax.holds, lax.evidence), (Some(true), Evidence::Witnesses(vec![row, row, row])));
}

/// A nearly full row counts, if its slack is within the tolerance.
#[test]
fn a_tolerance_covers_the_slack() {
    let pool = pool();
    let x = allocation(&pool, r#"{"1": {"pool": "1/3"}, "2": {"pool": "1/3"}, "3": {"pool": 0.8333}}"#);
    let instance = Instance::new(&pool, &x).unwrap();
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    // The slack is 1/3 - 2/5 * 0.8333 = 1/75000 of the cpu.
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(q("-1/75000"))));
    let claim = Claim::derive(Axiom::Njc, &instance, &q("1/75000")).unwrap();
    assert_eq!(claim.holds, Some(true));
    assert_shown(&pool, &x, &claim, &q("1/75000"));
}

/// On a cluster, the share of a single saturated row of one server is enough.
#[test]
fn one_saturated_row_suffices_on_a_cluster() {
    let two = figure_1();
    let fair = figure_1_fair(&two);
    let instance = Instance::new(&two, &fair).unwrap();
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    // The rows are cpu and memory of each server. User 1 has the whole first server, which is full.
    assert_eq!(claim.margin, Some(q("0")));
    assert_eq!(claim.evidence, Evidence::Witnesses(vec![Some(Witness::Row(0)), Some(Witness::Row(3))]));
}

/// If time is shared, the witness is a share of the time.
#[test]
fn witnesses_are_shares_of_time_if_time_is_shared() {
    let two = figure_1();
    let mut x =
        allocation(&two, r#"{"user 1": {"high-memory": 5, "high-cpu": 1}, "user 2": {"high-memory": 1}}"#);
    x.sharing = Sharing::Tdm;
    let instance = Instance::new(&two, &x).unwrap();
    // On high-memory, gamma is 10 tasks of user 1 and 2 tasks of user 2. The time of the class is used up, and each
    // user has half of it.
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(q("0"))));
    assert_eq!(claim.evidence, Evidence::Witnesses(vec![Some(Witness::Row(0)), Some(Witness::Row(0))]));
    let channel = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "c"}],
        "users": [{"name": "u", "gamma": {"c": 4}}, {"name": "v", "weight": 2, "gamma": {"c": "1/3"}}]}"#,
    );
    for (u, v, margin) in [("4/3", "2/9", "0"), ("1", "1/4", "-1/12"), ("2", "1/6", "-1/6")] {
        let x = allocation(&channel, &format!(r#"{{"u": {{"c": "{u}"}}, "v": {{"c": "{v}"}}}}"#));
        let instance = Instance::new(&channel, &x).unwrap();
        let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
        assert_eq!(claim.margin, Some(q(margin)), "{u}");
        assert_shown(&channel, &x, &claim, &q("0"));
    }
}

/// The weights of users that cannot run any task do not count.
#[test]
fn only_active_users_are_entitled() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 12}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "weight": 2}, {"name": "v", "demand": {"cpu": 1}},
                  {"name": "idle", "demand": {"cpu": 1}, "tasks": 0, "weight": 100},
                  {"name": "nowhere", "demand": {"gpu": 1}, "weight": 100}]}"#,
    );
    let x = allocation(&problem, r#"{"u": {"a": 8}, "v": {"a": 4}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    let row = Some(Witness::Row(0));
    assert_eq!((claim.holds, claim.evidence), (Some(true), Evidence::Witnesses(vec![row, row, None, None])));
    let nobody = allocation(&problem, "{}");
    let instance = Instance::new(&problem, &nobody).unwrap();
    assert_eq!(njc::margin(&instance, 2), None);
    assert_eq!(njc::margin(&instance, 9), None);
    assert_eq!(njc::complaint(&instance, 3), None);
}

/// Weights without a common multiple of reasonable width are accepted here. Only envy cannot be judged with such
/// weights.
#[test]
fn weights_without_a_common_multiple_are_accepted() {
    let mut rng = Pcg64::seed_from_u64(5);
    let users = (0..20_000).map(|n| UserSpec {
        name: format!("u{n}"),
        weight: Some(Rational::from((rng.random_range(1u64 << 52..1 << 53), 1u64 << 53))),
        demand: vec![("cpu".to_owned(), Rational::from(1))],
        ..UserSpec::default()
    });
    let capacity = vec![("cpu".to_owned(), Rational::from(1))];
    let problem = Problem::new(ProblemSpec {
        name: String::new(),
        resources: vec!["cpu".to_owned()],
        servers: vec![ServerSpec { name: "a".to_owned(), count: None, capacity }],
        users: users.collect(),
    })
    .unwrap();
    let all: Rational = problem.users().iter().map(evenhand_problem::User::weight).sum();
    let tasks = problem.users().iter().map(|user| vec![(0, Rational::from(user.weight() / &all))]).collect();
    let allocation = Allocation { tasks, ..Allocation::default() };
    let instance = Instance::new(&problem, &allocation).unwrap();
    let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(q("0"))));
    let envy = Claim::derive(Axiom::EnvyFree, &instance, &q("0")).unwrap();
    assert_eq!(envy.holds, Some(true));
}

/// Returns true if no user has a complaint by the literal definition.
fn nobody_complains(problem: &Problem, allocation: &Allocation) -> bool {
    let constraints = Constraints::new(problem, allocation.sharing);
    let x = |n: usize, i: usize| {
        let found = allocation.tasks[n].iter().find(|(server, _)| *server == i && problem.can_run(n, i));
        found.map_or_else(Rational::new, |(_, x)| x.clone())
    };
    let usage = |n: usize, row: usize| {
        let i = constraints.rows()[row].server;
        constraints
            .usage(n, i)
            .map_or_else(Rational::new, |d| d[row - constraints.class_rows(i).start].clone())
    };
    let users = 0..problem.n_users();
    let active: Vec<usize> = users.clone().filter(|&n| problem.is_active(n)).collect();
    let weights: Rational = active.iter().map(|&n| problem.users()[n].weight()).sum();
    active.iter().all(|&n| {
        let total: Rational = (0..problem.n_servers()).map(|i| x(n, i)).sum();
        let entitled = Rational::from(problem.users()[n].weight() / &weights);
        problem.users()[n].tasks().is_some_and(|tasks| total >= *tasks)
            || (0..constraints.rows().len()).any(|row| {
                let at = &constraints.rows()[row];
                let used: Rational = users.clone().map(|n| usage(n, row) * x(n, at.server)).sum();
                at.capacity > 0
                    && used == at.capacity
                    && usage(n, row) > 0
                    && usage(n, row) * x(n, at.server) >= Rational::from(&entitled * &at.capacity)
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_margin_agrees_with_the_definition(seed in any::<u64>()) {
        let (problem, allocation) = random(seed);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let claim = Claim::derive(Axiom::Njc, &instance, &q("0")).unwrap();
        assert_shown(&problem, &allocation, &claim, &q("0"));
        let repaired = Allocation { tasks: instance.tasks(), ..allocation };
        prop_assert_eq!(claim.holds, Some(nobody_complains(&problem, &repaired)));
        let margins = (0..problem.n_users()).filter_map(|n| njc::margin(&instance, n));
        prop_assert_eq!(claim.margin, margins.min());
    }
}
