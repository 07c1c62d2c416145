//! Margins and evidence as THEORY, section 7, defines them, where a program is tempted to read it otherwise.

use evenhand_exact::axiom::work_conserving::Room;
use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_problem::{Allocation, Problem};
use evenhand_testkit::agreement::agreed_claim;
use evenhand_testkit::examples::{self, allocation, placed, problem};
use evenhand_testkit::q;

fn claim(axiom: Axiom, problem: &Problem, allocation: &Allocation) -> Claim {
    let instance = Instance::new(problem, allocation).unwrap();
    let claim = Claim::derive(axiom, &instance, &q("0")).unwrap();
    claim.verify(&instance, &q("0")).unwrap();
    agreed_claim(problem, allocation, &claim, &q("0"));
    claim
}

/// Inactive users take part in no axiom: a user alone with them compares itself with nobody.
#[test]
fn nobody_is_compared_with_an_inactive_user() {
    let alone = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 8}}],
        "users": [{"name": "idle", "demand": {"cpu": 1}, "tasks": 0}, {"name": "u", "demand": {"cpu": 1}},
                  {"name": "nobody", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    let x = allocation(&alone, r#"{"u": {"a": 3}}"#);
    for axiom in [Axiom::EnvyFree, Axiom::Ef1] {
        let found = claim(axiom, &alone, &x);
        assert_eq!((found.holds, found.margin, found.evidence), (Some(true), None, Evidence::None));
    }
}

/// More than the entitlement of a full row is no more than enough.
#[test]
fn a_full_row_answers_a_complaint_with_a_margin_of_zero() {
    let two = examples::figure_1();
    let found = claim(Axiom::Njc, &two, &examples::figure_1_fair(&two));
    assert_eq!((found.holds, found.margin), (Some(true), Some(q("0"))));
}

/// The entries of a user without tasks become 0 before loads are taken.
#[test]
fn a_user_without_tasks_is_no_load_of_a_single_server() {
    let one = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 2}}],
        "users": [{"name": "1", "demand": {"cpu": 1}}, {"name": "2", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    let x = placed(&one, &[("a", 0, "1", "9")]);
    let instance = Instance::new(&one, &x).unwrap();
    let found = Claim::derive(Axiom::IntegerFeasible, &instance, &q("0")).unwrap();
    assert_eq!((found.holds, found.margin), (Some(false), Some(q("-9"))));
    let x = placed(&one, &[("a", 0, "2", "1/4")]);
    let instance = Instance::new(&one, &x).unwrap();
    let found = Claim::derive(Axiom::IntegerFeasible, &instance, &q("0")).unwrap();
    assert_eq!(found.margin, Some(q("-1/4")), "the load is 2 of 2, not 9/4");
}

/// A class where a pending task fits is evidence, whether or not another one has more room.
#[test]
fn any_class_with_room_shows_that_work_is_not_conserved() {
    let two = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 4}}, {"name": "b", "capacity": {"cpu": 1}},
                    {"name": "c", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}}]}"#,
    );
    let x = allocation(&two, r#"{"u": {"c": 1}}"#);
    let good = claim(Axiom::WorkConserving, &two, &x);
    assert_eq!(good.margin, Some(q("-5/6")));
    let instance = Instance::new(&two, &x).unwrap();
    let holds_at = |server: usize| {
        let evidence = Evidence::Room(Room { user: 0, server, index: None });
        let claim = Claim { evidence, ..good.clone() };
        assert_eq!(agreed_claim(&two, &x, &claim, &q("0")).valid, claim.verify(&instance, &q("0")).is_ok());
        claim.verify(&instance, &q("0")).is_ok()
    };
    assert_eq!([0, 1, 2, 3].map(holds_at), [true, true, false, false]);
}
