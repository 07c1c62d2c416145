//! Certificates that an earlier version accepted by mistake, in format version 2, and the verdicts on them now.

use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, Prices};
use evenhand_problem::format::Source;
use evenhand_testkit::agreement::agreed;
use evenhand_testkit::examples::{allocation, certificate, level, problem, tasks};
use evenhand_testkit::q;

/// Two opposite verdicts on Pareto optimality were valid, because a user without tasks had minus half a task.
#[test]
fn an_infeasible_allocation_has_only_one_verdict() {
    let two = r#"{"kind": "allocation-problem", "resources": ["cpu", "mem"],
        "servers": [{"name": "s", "capacity": {"cpu": 10, "mem": 10}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "tasks": 0, "demand": {"mem": 1}}]}"#;
    let judge = |claim: &str| {
        let text = format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {two}, "tolerance": "0", "not_checked": [],
            "allocation": {{"kind": "allocation", "tasks": {{"a": {{"s": "10"}}, "b": {{"s": "-1/2"}}}}}},
            "claims": [{claim}]}}"#
        );
        agreed(&Certificate::parse(&Source { name: "certificate", text: &text }).unwrap())
    };
    let yes = r#"{"axiom": "pareto-optimal", "holds": true, "margin": "0",
        "evidence": {"user_weights": {"a": "1"}, "prices": {"s": {"cpu": "1"}}}}"#;
    let no = r#"{"axiom": "pareto-optimal", "holds": false, "margin": "-1/2", "evidence": {"dominating": {"a": {"s": "10"}}}}"#;
    for claim in [yes, no] {
        let reason = judge(claim).reason.unwrap();
        assert_eq!(reason, "the allocation is infeasible, so it may have no claim except `feasible`");
    }
    let infeasible = r#"{"axiom": "feasible", "holds": false, "margin": "-1/2", "evidence": {"user": "b", "server": "s", "slack": "-1/2"}}"#;
    assert!(judge(infeasible).valid);
}

/// An allocation of a thousand tasks where ten fit is not fair to any user.
#[test]
fn an_overfull_server_is_not_envy_free() {
    let one = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 10, "gpu": 1}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]}"#,
    );
    let x = allocation(&one, r#"{"a": {"s": 1000}, "b": {"s": 1000}}"#);
    let instance = Instance::new(&one, &x).unwrap();
    for axiom in [Axiom::EnvyFree, Axiom::SharingIncentive, Axiom::NonWasteful] {
        let claim = Claim::derive(axiom, &instance, &q("0")).unwrap();
        let mut it = certificate(&one, &x, vec![claim]);
        for tolerance in ["0", "1e-9", "0.999"] {
            it.tolerance = q(tolerance);
            assert!(agreed(&it).reason.unwrap().contains("the allocation is infeasible"));
        }
    }
}

/// Only the first of two tied resources was judged. Now every tied resource has to be fair, in any order of the file.
#[test]
fn the_order_of_tied_resources_does_not_change_the_verdict() {
    for (resources, unfair) in [(r#"["x", "y"]"#, 1), (r#"["y", "x"]"#, 0)] {
        let two = problem(&format!(
            r#"{{"kind": "allocation-problem", "resources": {resources},
            "servers": [{{"name": "s", "capacity": {{"x": 4, "y": 4}}}}, {{"name": "t", "capacity": {{"x": 1, "y": 3}}}}],
            "users": [{{"name": "a", "demand": {{"x": 1, "y": 1}}, "servers": ["s"]}},
                      {{"name": "b", "demand": {{"x": 1, "y": 1}}, "demand_on": {{"t": {{"x": 1, "y": 3}}}}}}]}}"#
        ));
        let x = allocation(&two, r#"{"a": {"s": "5/2"}, "b": {"s": "3/2", "t": 1}}"#);
        let instance = Instance::new(&two, &x).unwrap();
        let judge =
            |evidence| Claim::with_evidence(Axiom::BottleneckFair, None, evidence, &instance, &q("0"));
        // For resource x alone the allocation is fair, because each user has half of x.
        let mut prices = Prices::zero(&instance);
        prices.user_weights = vec![q("5"), q("5")];
        let is_x = |row: &evenhand_problem::Row| row.kind == evenhand_problem::RowKind::Resource(1 - unfair);
        for (row, price) in instance.constraints().rows().iter().zip(&mut prices.rows) {
            *price = if is_x(row) { q("1") } else { q("0") };
        }
        let of_x = judge(Evidence::LevelsByResource(vec![(1 - unfair, vec![level(&[0, 1], &prices)])]));
        let refusal = of_x.unwrap_err().to_string();
        assert!(
            refusal.contains("the resources of the evidence are not those that the axiom is about"),
            "{refusal}"
        );
        // User b has 9/14 of resource y, and user a has 5/14. So b can fall to 8/14.
        let better = tasks(&[&[(0, "7/2")], &[(0, "1/2"), (1, "1")]]);
        let margins = [0, 1].map(|resource| {
            let rise = Evidence::Rise { resource: Some(resource), user: 0, allocation: better.clone() };
            judge(rise).ok().map(|claim| (claim.holds, claim.margin))
        });
        assert_eq!(margins[unfair], Some((Some(false), Some(q("-1/4")))));
        assert_eq!(margins[1 - unfair], None);
    }
}

/// An axiom about a resource that no user demands holds, and the evidence names this resource.
#[test]
fn max_min_names_a_resource_that_no_user_demands() {
    let one = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 10, "gpu": 1}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]}"#,
    );
    let x = allocation(&one, r#"{"a": {"s": 10}}"#);
    let instance = Instance::new(&one, &x).unwrap();
    let gpu = evenhand_exact::Share::Resource(1);
    let nothing = Evidence::Levels(Vec::new());
    let claim = Claim::with_evidence(Axiom::MaxMin, Some(gpu), nothing.clone(), &instance, &q("0")).unwrap();
    assert_eq!((claim.holds, claim.margin.clone(), claim.share), (Some(true), None, Some(gpu)));
    let text = certificate(&one, &x, vec![claim]).to_json();
    assert!(text.contains(r#""share":"resource:gpu""#), "{text}");
    let cpu = Some(evenhand_exact::Share::Resource(0));
    assert!(Claim::with_evidence(Axiom::MaxMin, cpu, nothing, &instance, &q("0")).is_err());
}
