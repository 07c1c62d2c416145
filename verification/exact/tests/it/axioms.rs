//! Tests of every axiom on examples that can be computed by hand.

use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::max_min;
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Level, Prices, Share, ShareError};
use evenhand_problem::{Problem, Rational};
use evenhand_testkit::examples::{
    self, allocation, assert_valid, figure_1, figure_1_fair, figure_1_naive, figure_1_prices,
    good_certificates, problem, tasks,
};
use evenhand_testkit::q;

fn derive(axiom: Axiom, problem: &Problem, tasks: &str) -> Claim {
    let allocation = allocation(problem, tasks);
    let instance = Instance::new(problem, &allocation).unwrap();
    Claim::derive(axiom, &instance, &Rational::new()).unwrap()
}

#[test]
fn good_certificates_are_valid() {
    for (_, certificate) in good_certificates() {
        assert_valid(&certificate);
    }
}

#[test]
fn figure_1_has_a_share_of_five_sevenths() {
    let problem = figure_1();
    let x = figure_1_fair(&problem);
    let instance = Instance::new(&problem, &x).unwrap();
    let share = Share::Dominant.coefficients(&problem).unwrap();
    assert_eq!(share.uniform(0), Some(&q("1/14")));
    assert_eq!(max_min::shares(&instance, &share).unwrap(), [q("5/7"), q("5/7")]);
}

#[test]
fn the_naive_allocation_of_figure_1_is_dominated() {
    let problem = figure_1();
    let x = figure_1_naive(&problem);
    let instance = Instance::new(&problem, &x).unwrap();
    let better = Evidence::Dominating(tasks(&[&[(0, "10")], &[(1, "10")]]));
    let claim = Claim::with_evidence(Axiom::ParetoOptimal, None, better, &instance, &q("0")).unwrap();
    // Each user gains 4 tasks. Alone, each would have 12.
    assert_eq!((claim.holds, claim.margin.clone()), (Some(false), Some(q("-2/3"))));
    assert!(claim.is_bound());
    // The prices of the fair allocation prove the same bound: the users have 12 of 20 tasks.
    let mut prices = figure_1_prices(&instance);
    prices.user_weights.iter_mut().chain(&mut prices.rows).for_each(|price| *price /= 12);
    let prices = Evidence::Prices(prices);
    assert!(Claim::with_evidence(Axiom::ParetoOptimal, None, prices.clone(), &instance, &q("0")).is_err());
    let lax = Claim::with_evidence(Axiom::ParetoOptimal, None, prices, &instance, &q("2/3")).unwrap();
    assert_eq!((lax.holds, lax.margin), (Some(true), Some(q("-2/3"))));
}

#[test]
fn malformed_prices_are_refused() {
    let problem = figure_1();
    let x = figure_1_fair(&problem);
    let instance = Instance::new(&problem, &x).unwrap();
    let good = figure_1_prices(&instance);
    let refused = |change: &dyn Fn(&mut Prices)| {
        let mut prices = good.clone();
        change(&mut prices);
        let evidence = Evidence::Prices(prices);
        Claim::with_evidence(Axiom::ParetoOptimal, None, evidence, &instance, &q("1000000"))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused(&|p| p.rows[1] = q("-1")), "a price on server `high-memory` is negative");
    assert_eq!(refused(&|p| p.user_weights[1] = q("-1")), "the weight of user `user 2` is negative");
    assert_eq!(
        refused(&|p| p.user_weights[1] = q("0")),
        "the weight of user `user 2` is below 1 over the number of tasks that it could run alone"
    );
    assert_eq!(
        refused(&|p| p.users[0] = q("1")),
        "user `user 1` has a price on its tasks, which are unlimited"
    );
    assert_eq!(
        refused(&|p| p.rows[0] = q("0")),
        "the prices on server `high-memory` are too low for user `user 1`"
    );
    assert_eq!(refused(&|p| p.rows.clear()), "the prices have another shape than the problem");
}

#[test]
fn feasibility_names_the_tightest_limit() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "count": 2, "capacity": {"cpu": 4}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "tasks": 10}, {"name": "v", "demand": {"cpu": 1, "gpu": 1}}]}"#,
    );
    let claim = derive(Axiom::Feasible, &problem, r#"{"u": {"a": 6}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(q("1/4"))));
    assert_eq!(claim.evidence, Evidence::Limit { limit: Limit::Row(0), slack: q("2") });
    let claim = derive(Axiom::Feasible, &problem, r#"{"u": {"a": 10}}"#);
    assert_eq!(claim.evidence, Evidence::Limit { limit: Limit::Row(0), slack: q("-2") });
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(q("-1/4"))));
    let claim = derive(Axiom::Feasible, &problem, r#"{"u": {"a": 1}, "v": {"a": "1/3"}}"#);
    assert_eq!(claim.evidence, Evidence::Limit { limit: Limit::Entry(1, 0), slack: q("-1/3") });
    let claim = derive(Axiom::Feasible, &problem, r#"{"u": {"a": -1}}"#);
    assert_eq!(claim.evidence, Evidence::Limit { limit: Limit::Entry(0, 0), slack: q("-1") });
    let claim = derive(Axiom::Feasible, &problem, r#"{"u": {"a": 0}}"#);
    assert_eq!(claim.margin, Some(q("1")));
}

#[test]
fn a_time_shared_server_has_a_single_row() {
    let problem = figure_1();
    let mut x = allocation(&problem, r#"{"user 1": {"high-memory": 5}, "user 2": {"high-memory": 1}}"#);
    x.sharing = evenhand_problem::Sharing::Tdm;
    // On high-memory, gamma is 10 tasks of user 1 and 2 tasks of user 2, so each user has half of the time.
    let instance = Instance::new(&problem, &x).unwrap();
    assert_eq!(instance.slack(0), q("0"));
    assert_eq!(instance.slack(1), q("1"));
    let envy = Claim::derive(Axiom::EnvyFree, &instance, &q("0")).unwrap();
    assert_eq!(envy.margin, Some(q("0")));
    let mut prices = Prices::zero(&instance);
    prices.user_weights = vec![q("1"), q("1")];
    prices.rows = vec![q("10"), q("10")];
    let gap = prices.gap(&instance, None).unwrap();
    // The unused capacity of high-cpu counts 10. One task of user 2 costs 5 and is worth 1, so its excess is 4.
    assert_eq!(gap, q("14"));
}

#[test]
fn sharing_incentive_counts_active_users_and_finite_tasks() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 12}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "weight": 2}, {"name": "v", "demand": {"cpu": 1}, "tasks": 1},
                  {"name": "idle", "demand": {"cpu": 1}, "tasks": 0, "weight": 100}]}"#,
    );
    let claim = derive(Axiom::SharingIncentive, &problem, r#"{"u": {"a": 8}, "v": {"a": 1}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(q("0"))));
    assert_eq!(claim.evidence, Evidence::Entitlement { user: 0, loss: None });
    let claim = derive(Axiom::SharingIncentive, &problem, r#"{"u": {"a": 8}, "v": {"a": "1/2"}}"#);
    assert_eq!(claim.evidence, Evidence::Entitlement { user: 1, loss: Some(q("1/2")) });
}

#[test]
fn envy_is_weighted_and_bounded_by_the_tasks() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 12}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "weight": 3}, {"name": "v", "demand": {"cpu": 1}, "tasks": 5}]}"#,
    );
    let claim = derive(Axiom::EnvyFree, &problem, r#"{"u": {"a": 6}, "v": {"a": 3}}"#);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(q("-1/4"))));
    assert_eq!(claim.evidence, Evidence::Envy { user: 0, envied: 1, gain: Some(q("3")) });
    let claim = derive(Axiom::EnvyFree, &problem, r#"{"u": {"a": 12}}"#);
    assert_eq!(claim.evidence, Evidence::Envy { user: 1, envied: 0, gain: Some(q("4")) });
}

#[test]
fn problems_without_users_satisfy_every_axiom() {
    let empty = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 0}}], "users": []}"#,
    );
    let x = allocation(&empty, "{}");
    let instance = Instance::new(&empty, &x).unwrap();
    for axiom in [Axiom::Feasible, Axiom::EnvyFree, Axiom::SharingIncentive] {
        let claim = Claim::derive(axiom, &instance, &q("0")).unwrap();
        assert_eq!((claim.holds, claim.margin, claim.evidence), (Some(true), None, Evidence::None));
    }
    let prices = Evidence::Prices(Prices::zero(&instance));
    let claim = Claim::with_evidence(Axiom::ParetoOptimal, None, prices, &instance, &q("0")).unwrap();
    assert_eq!((claim.holds, claim.margin), (Some(true), None));
    let none = Evidence::Levels(Vec::new());
    let claim = Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), none, &instance, &q("0")).unwrap();
    assert_eq!((claim.holds, claim.margin), (Some(true), None));
}

#[test]
fn max_min_requires_that_prices_cover_every_user() {
    let problem = figure_1();
    let x = figure_1_fair(&problem);
    let instance = Instance::new(&problem, &x).unwrap();
    let judge = |change: &dyn Fn(&mut Level)| {
        let mut prices = figure_1_prices(&instance);
        prices.user_weights = vec![q("14"), q("14")];
        let mut level = examples::level(&[0, 1], &prices);
        change(&mut level);
        let evidence = Evidence::Levels(vec![level]);
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), evidence, &instance, &q("0"))
            .map_err(|e| e.to_string())
    };
    assert_eq!(judge(&|_| {}).unwrap().margin, Some(q("0")));
    let refused = |change: &dyn Fn(&mut Level)| judge(change).unwrap_err();
    assert_eq!(
        refused(&|l| l.covers = vec![1]),
        "no level covers user `user 1`, so nothing proves that its share cannot rise"
    );
    let twice = "level 1 covers user `user 2`, which an earlier level covers or which needs no level";
    assert_eq!(refused(&|l| l.covers = vec![0, 1, 1]), twice);
    assert!(
        refused(&|l| l.covers = vec![0, 1, 7])
            .contains("which an earlier level covers or which needs no level")
    );
    let weightless = "level 1 covers user `user 1` but states no weight for it";
    assert_eq!(refused(&|l| drop(l.prices.user_weights.remove(0))), weightless);
    assert!(refused(&|l| l.prices.user_weights[0].1 = q("15")).contains("too low for user `user 1`"));
    assert!(refused(&|l| l.prices.user_weights[0].0 = 2).contains("another shape"));
    assert!(refused(&|l| l.prices.rows.reverse()).contains("another shape"));
    // If the weight of a user with the same share changes, the level proves a weaker bound.
    let margin = refused(&|l| l.prices.user_weights[1].1 = q("7"));
    assert_eq!(margin, "the evidence leaves a margin of -5/6, beyond the tolerance");
    let nothing = Evidence::Levels(Vec::new());
    let refusal =
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), nothing, &instance, &q("0")).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "no level covers user `user 1`, so nothing proves that its share cannot rise"
    );
}

/// A nearly satisfied user also needs to be covered: the price on its own tasks bounds its rise.
#[test]
fn prices_must_cover_a_nearly_satisfied_user() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 12}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "tasks": 2}]}"#,
    );
    let judge = |tasks: &str, is_covered: bool, tolerance: &str| {
        let x = allocation(&problem, tasks);
        let instance = Instance::new(&problem, &x).unwrap();
        let mut prices = Prices::zero(&instance);
        (prices.user_weights[0], prices.users[0]) = (q("12"), q("1"));
        let levels = if is_covered { vec![examples::level(&[0], &prices)] } else { Vec::new() };
        let evidence = Evidence::Levels(levels);
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Asset), evidence, &instance, &q(tolerance))
    };
    assert_eq!(judge(r#"{"u": {"a": 2}}"#, false, "0").unwrap().margin, Some(q("0")));
    assert!(judge(r#"{"u": {"a": 2}}"#, true, "0").is_err(), "it needs no cover");
    assert!(judge(r#"{"u": {"a": 1.9}}"#, true, "0").is_err());
    assert!(judge(r#"{"u": {"a": 1.9}}"#, false, "0.1").is_err());
    assert_eq!(judge(r#"{"u": {"a": 1.9}}"#, true, "0.1").unwrap().margin, Some(q("-0.05")));
}

#[test]
fn a_rise_must_not_take_from_poorer_users() {
    let problem = figure_1();
    let x = allocation(&problem, r#"{"user 1": {"high-memory": 2}, "user 2": {"high-memory": "8/5"}}"#);
    let instance = Instance::new(&problem, &x).unwrap();
    let rise = |user: usize, entries: &[&[(usize, &str)]]| {
        let evidence = Evidence::Rise { resource: None, user, allocation: tasks(entries) };
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), evidence, &instance, &q("0"))
            .map_err(|e| e.to_string())
    };
    // The shares are 2/14 and 1.6/14. Alone, each user would have 12/14. User 1 falls to 1.8/14, so user 2 rises to
    // that level.
    assert_eq!(rise(1, &[&[(0, "9/5")], &[(1, "10")]]).unwrap().margin, Some(q("-1/60")));
    assert_eq!(rise(1, &[&[(0, "2")], &[(1, "10")]]).unwrap().margin, Some(q("-7/10")));
    assert_eq!(
        rise(1, &[&[(0, "1")], &[(1, "10")]]).unwrap_err(),
        "the share of user `user 1` falls in the evidence to the old share of user `user 2`"
    );
    assert_eq!(
        rise(0, &[&[(0, "10")], &[(1, "1")]]).unwrap_err(),
        "the share of user `user 2` falls in the evidence to the old share of user `user 1`"
    );
    assert_eq!(
        rise(0, &[&[(0, "2")], &[(1, "2")]]).unwrap_err(),
        "user `user 1` does not gain in the evidence"
    );
    assert_eq!(
        rise(0, &[&[(0, "20")], &[(1, "2")]]).unwrap_err(),
        "the allocation of the evidence is not feasible"
    );
}

#[test]
fn bottleneck_axioms_name_their_resources() {
    let two = figure_1();
    assert!(Axiom::BottleneckFair.bottlenecks(&two).is_err());
    assert!(Axiom::GlobalBottleneckFair.bottlenecks(&two).is_err());
    assert_eq!(
        Axiom::SingleResourceFair.bottlenecks(&two).unwrap_err().to_string(),
        "the problem has 2 resources"
    );
    assert!(Axiom::MaxMin.bottlenecks(&two).is_err());
    let cpu = problem(
        r#"{"kind": "allocation-problem", "resources": ["disk", "cpu", "memory"],
        "servers": [{"name": "a", "capacity": {"cpu": 2, "memory": 4}}, {"name": "b", "capacity": {"cpu": 2, "memory": 2}}],
        "users": [{"name": "u", "demand": {"cpu": 1, "memory": 1}}, {"name": "v", "demand": {"cpu": 1}}]}"#,
    );
    assert_eq!(Axiom::BottleneckFair.bottlenecks(&cpu), Ok(vec![1]));
    assert_eq!(Axiom::GlobalBottleneckFair.bottlenecks(&cpu), Ok(vec![1]));
}

#[test]
fn shares_of_a_problem_with_placement_constraints() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "a", "count": 3, "capacity": {"cpu": 2, "memory": 4}}, {"name": "b", "capacity": {"cpu": 2, "memory": 2}}],
        "users": [{"name": "u", "demand": {"cpu": 1, "memory": 1}, "servers": ["a"], "criterion": {"a": 5}},
                  {"name": "v", "demand": {"memory": "1/3"}, "demand_on": {"b": {"cpu": 2}}, "criterion": {"a": 1}}]}"#,
    );
    let of = |name: &str| Share::parse(name, &problem).unwrap().coefficients(&problem);
    assert_eq!(of("drfh").unwrap().uniform(0), Some(&q("1/8")));
    assert_eq!(of("asset").unwrap().uniform(0), Some(&q("11/56")));
    assert_eq!(of("tsf").unwrap().uniform(0), Some(&q("1/8")));
    assert_eq!(of("tsf").unwrap().uniform(1), Some(&q("1/37")));
    let memory = of("resource:memory").unwrap();
    assert_eq!((memory.of(1, 0), memory.of(1, 1), memory.uniform(1)), (&q("1/42"), &q("0"), None));
    assert!(matches!(of("cdrf"), Err(ShareError::NotApplicable(_))));
    let Err(ShareError::NotApplicable(why)) = of("generic") else { panic!() };
    assert_eq!(why, "user `v` states no criterion for server `b`, where it can run");
    assert!(matches!(Share::parse("drf-x", &problem), Err(ShareError::Unknown(_))));
    assert!(matches!(Share::parse("resource:gpu", &problem), Err(ShareError::UnknownResource(_))));
    for name in ["drfh", "cdrf", "tsf", "asset", "generic", "resource:memory"] {
        assert_eq!(Share::parse(name, &problem).unwrap().name(&problem), name);
    }
}

#[test]
fn allocations_of_the_wrong_shape_are_refused() {
    let problem = figure_1();
    let mut x = figure_1_fair(&problem);
    x.tasks.pop();
    assert!(Instance::new(&problem, &x).is_err());
    x.tasks.push(vec![(7, q("1"))]);
    assert!(Instance::new(&problem, &x).is_err());
    x.tasks[1] = vec![(1, q("1")), (0, q("1"))];
    assert!(Instance::new(&problem, &x).is_err());
}
