//! Compares the gain that `explain` reports for one more unit with the solution of a problem that contains the unit.

use std::collections::BTreeMap;

use evenhand_certify::explain::{Between, NotMeasured, OneMoreUnit, explain};
use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Arithmetic, Problem, ProblemSpec, Rational, ServerClass};
use evenhand_testkit::random::problems::{SMALL, Shape, build, random_spec};
use proptest::prelude::*;

fn solved(problem: &Problem, mechanism: &str, flags: &[(&'static str, &str)]) -> Option<Allocation> {
    let flags = flags.iter().fold(Flags::new(Arithmetic::Exact), |set, (name, text)| set.with(name, *text));
    Some(registry::find(mechanism)?.allocate_with(problem, &flags).ok()?.allocation)
}

fn measured(
    problem: &Problem,
    mechanism: &str,
    flags: &[(&'static str, &str)],
    user: usize,
) -> Result<OneMoreUnit, NotMeasured> {
    let allocation = solved(problem, mechanism, flags).unwrap();
    explain(problem, &allocation, user).unwrap().one_more_unit
}

/// Returns the problem with `more` of a resource on a class.
fn raised(spec: &ProblemSpec, server: usize, resource: usize, more: &Rational) -> Problem {
    let mut spec = spec.clone();
    let name = spec.resources[resource].clone();
    let class = &mut spec.servers[server];
    let part = more / class.count.clone().unwrap_or_else(|| Rational::from(1));
    match class.capacity.iter_mut().find(|(of, _)| *of == name) {
        Some((_, amount)) => *amount += part,
        None => class.capacity.push((name, part)),
    }
    build(spec)
}

fn number(text: &str) -> Rational {
    text.parse().unwrap()
}

/// Returns the gain from a row in exact numbers: tasks, rate, and the gains of the other users.
fn row(found: &OneMoreUnit, server: usize, resource: usize) -> (Rational, Rational, Vec<(usize, Rational)>) {
    let row = found.rows.iter().find(|row| (row.server, row.resource) == (server, resource)).unwrap();
    let exact = |value: &Between| value.exact().unwrap().clone();
    (exact(&row.tasks), exact(&row.rate), row.users.iter().map(|(n, gain)| (*n, exact(gain))).collect())
}

/// Fails unless the gains are those of a problem that contains the unit. The mechanism `judge` solves that problem. It
/// gives the same tasks by another method.
fn agrees(
    spec: &ProblemSpec,
    mechanism: &str,
    flags: &[(&'static str, &str)],
    judge: &str,
) -> Result<(), TestCaseError> {
    let problem = build(spec.clone());
    let Some(allocation) = solved(&problem, mechanism, flags) else { return Ok(()) };
    let before = allocation.totals();
    for user in 0..problem.n_users() {
        let found = explain(&problem, &allocation, user).unwrap().one_more_unit.unwrap();
        prop_assert!(!found.differs);
        prop_assert_eq!(found.tasks.exact(), Some(&before[user]));
        // If a class lacks a resource, a unit of it matters to the users that demand the resource.
        let is_demanded = |r: usize| {
            let users = 0..problem.n_users();
            users
                .flat_map(|n| (0..problem.n_servers()).map(move |i| (n, i)))
                .any(|(n, i)| problem.users()[n].may_use(i) && problem.demand(n, i)[r] > 0)
        };
        let counts = |class: &ServerClass, r: usize| class.capacity()[r] > 0 || is_demanded(r);
        let of_class = |class| (0..problem.n_resources()).filter(|r| counts(class, *r)).count();
        let rows: usize = problem.servers().iter().map(of_class).sum();
        prop_assert_eq!(found.rows.len() + found.others, rows);
        for of in &found.rows {
            let gains = |more: &Rational| -> Vec<Rational> {
                let with_more = raised(spec, of.server, of.resource, more);
                let after = solved(&with_more, judge, flags).unwrap().totals();
                after.into_iter().zip(&before).map(|(after, before)| after - before).collect()
            };
            let unit = gains(&Rational::from(1));
            prop_assert_eq!(of.tasks.exact(), Some(&unit[user]));
            let step = gains(&Rational::from((1, 1000)));
            prop_assert_eq!(of.rate.exact().cloned(), Some(Rational::from(&step[user] * 1000u32)));
            let others: BTreeMap<usize, Rational> =
                of.users.iter().map(|(n, gain)| (*n, gain.exact().unwrap().clone())).collect();
            let expected: BTreeMap<usize, Rational> =
                unit.into_iter().enumerate().filter(|(n, gain)| *n != user && !gain.is_zero()).collect();
            prop_assert_eq!(others, expected);
        }
        let gains: Vec<&Rational> = found.rows.iter().filter_map(|of| of.tasks.exact()).collect();
        prop_assert!(gains.windows(2).all(|pair| pair[0] >= pair[1]), "the largest gain first");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn gains_of_max_min_equal_those_of_solving_again(spec in random_spec(SMALL)) {
        for mechanism in ["drfh", "tsf", "asset", "cdrf"] {
            agrees(&spec, mechanism, &[], mechanism)?;
        }
    }

    #[test]
    fn gains_of_other_rules_equal_those_of_solving_again(spec in random_spec(Shape { gamma: 0.0, demand_on: 0.0, ..SMALL })) {
        for mechanism in ["per-server-drf", "tree", "ps-dsf-tdm"] {
            agrees(&spec, mechanism, &[], mechanism)?;
        }
        agrees(&spec, "tree", &[("rule", "mesos")], "tree")?;
        // Without groups, hierarchical filling gives the max-min answer. It shares no code with the rounds of
        // max-min.
        agrees(&spec, "drfh", &[], "tree")?;
    }

    /// With many rows only a few are solved. No other row brings more than the stated bound.
    #[test]
    fn the_bound_holds_for_rows_that_are_not_solved(
        spec in random_spec(Shape { users: (2, 4), classes: (17, 18), resources: (2, 2), zero: 0.0, ..SMALL }),
        mechanism in prop_oneof![Just("drfh"), Just("tsf"), Just("proportional")],
    ) {
        let problem = build(spec.clone());
        let allocation = solved(&problem, mechanism, &[]).unwrap();
        let found = explain(&problem, &allocation, 0).unwrap().one_more_unit.unwrap();
        prop_assert!(found.others > 0);
        prop_assert_eq!(found.rows.len() + found.others, 2 * problem.n_servers());
        let bound = found.others_at_most.unwrap();
        for i in 0..problem.n_servers() {
            for r in 0..2 {
                if found.rows.iter().any(|of| (of.server, of.resource) == (i, r)) {
                    continue;
                }
                let after = solved(&raised(&spec, i, r, &Rational::from(1)), mechanism, &[]).unwrap();
                // Both answers of `proportional` are within a millionth of the optimum.
                let rounding = match mechanism {
                    "proportional" => after.total(0) / 1_000_000u32,
                    _ => Rational::new(),
                };
                let gain = after.total(0) - &found.tasks.at_most;
                prop_assert!(gain <= &bound + rounding, "{} of {}: {}", r, i, gain);
            }
        }
    }
}

const TWO_SERVERS: &str = include_str!("../../../../examples/two-servers.json");

fn read(text: &str) -> Problem {
    Source { name: "problem", text }.problem().unwrap()
}

/// Figure 1 of DRFH, worked out by hand. With 15 units of one resource and 14 of the other resource, a task of one user
/// is a smaller share. Two equations give the answer: equal shares, and full rows (CPU of the first server, memory of
/// the second).
#[test]
fn gains_on_two_servers_agree_with_hand_calculation() {
    let found = measured(&read(TWO_SERVERS), "drfh", &[], 0).unwrap();
    let of = |server, resource| row(&found, server, resource);
    assert_eq!(of(0, 0), (number("20/89"), number("4000/16801"), vec![(1, number("85/89"))]));
    assert_eq!(of(1, 1), (number("85/89"), number("16001/16801"), vec![(1, number("20/89"))]));
    assert_eq!(of(0, 1), (number("10/89"), number("2000/16801"), vec![(1, number("-50/89"))]));
    assert_eq!(of(1, 0), (number("-50/89"), number("-10000/16801"), vec![(1, number("10/89"))]));
    let order: Vec<(usize, usize)> = found.rows.iter().map(|of| (of.server, of.resource)).collect();
    assert_eq!(order, [(1, 1), (0, 0), (0, 1), (1, 0)]);
    assert!(found.rows.iter().all(|of| of.changes_shares));
    assert_eq!((found.others, found.others_at_most), (0, None));
}

/// A user with few tasks frees the capacity that it used on other classes, so one unit brings more than the price of
/// its row.
#[test]
fn one_unit_can_bring_more_than_its_price() {
    let text = r#"{"kind": "allocation-problem", "resources": ["a", "b"],
        "servers": [{"name": "s0", "capacity": {"a": 4, "b": 3}}, {"name": "s1", "capacity": {"a": 2, "b": 5}}],
        "users": [{"name": "u0", "demand": {"a": 1, "b": 1}}, {"name": "u1", "demand": {"a": 1}, "tasks": 3}]}"#;
    let problem = read(text);
    let found = measured(&problem, "drfh", &[], 0).unwrap();
    assert_eq!(row(&found, 0, 0), (Rational::from(1), Rational::from(1), Vec::new()));
    // `u1` has all its tasks, so it gains and loses nothing.
    let satisfied = measured(&problem, "drfh", &[], 1).unwrap();
    assert!(satisfied.rows.iter().all(|of| of.tasks.exact() == Some(&Rational::new())));
}

/// The unit is added to the class as a whole, not to each of its servers.
#[test]
fn one_unit_is_added_to_the_whole_class() {
    let text = |count: u32, capacity: &str| {
        format!(
            r#"{{"kind": "allocation-problem", "resources": ["a"],
            "servers": [{{"name": "s", "count": {count}, "capacity": {{"a": "{capacity}"}}}}],
            "users": [{{"name": "u", "demand": {{"a": 2}}, "weight": 3}}, {{"name": "v", "demand": {{"a": 1}}}}]}}"#
        )
    };
    for problem in [text(5, "4"), text(1, "20")] {
        let found = measured(&read(&problem), "drfh", &[], 0).unwrap();
        // `u` has three quarters of the units, and a task of `u` takes two units.
        assert_eq!(row(&found, 0, 0), (number("3/8"), number("3/8"), vec![(1, number("1/4"))]));
        assert!(found.rows[0].changes_shares);
        let fair = measured(&read(&problem), "proportional", &[], 0).unwrap();
        assert_eq!(row(&fair, 0, 0), (number("3/8"), number("3/8"), vec![(1, number("1/4"))]));
        assert!(!fair.rows[0].changes_shares);
    }
}

/// Shares are fractions of the whole cluster. With more memory, a unit of memory is a smaller share, and a user that
/// needs little memory loses.
#[test]
fn one_unit_can_take_tasks_from_another_user() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "s", "capacity": {"cpu": 9, "memory": 18}}],
        "users": [{"name": "a", "demand": {"cpu": 1, "memory": 4}}, {"name": "b", "demand": {"cpu": 3, "memory": 1}}]}"#;
    let found = measured(&read(text), "drf", &[], 1).unwrap();
    // Without the unit, `a` has 3 tasks and `b` has 2. With 19 memory, `a` has 19 t / 4 tasks and `b` has 3 t, where
    // the CPU gives 19 t / 4 + 9 t = 9.
    let t = number("36/55");
    let (b, a) = (Rational::from(&t * 3u32) - 2u32, &t * number("19/4") - 3u32);
    assert!(b < 0 && a > 0);
    let (tasks, _, users) = row(&found, 0, 1);
    assert_eq!((tasks, users), (b, vec![(0, a)]));
    assert_eq!(found.rows.last().map(|of| of.resource), Some(1), "who loses most stands last");
}

/// For `alpha` 3 and 3/2 with one resource, `x_n` is in proportion to `(w_n / d_n)^(1/a)`, with irrational roots.
#[test]
fn irrational_answers_are_enclosed() {
    let text = r#"{"kind": "allocation-problem", "resources": ["a"], "servers": [{"name": "s", "capacity": {"a": 10}}],
        "users": [{"name": "u", "demand": {"a": 2}}, {"name": "v", "demand": {"a": 1}, "weight": 3}]}"#;
    for (alpha, exponent) in [("3", 1.0 / 3.0), ("3/2", 2.0 / 3.0)] {
        let found = measured(&read(text), "alpha", &[("alpha", alpha)], 0).unwrap();
        // Compute the gain from one unit of the resource with the first-order conditions, in doubles.
        let (u, v) = (0.5_f64.powf(exponent), 3.0_f64.powf(exponent));
        let unit = u / (2.0 * u + v);
        let of = &found.rows[0];
        assert_eq!(of.tasks.exact(), None, "alpha {alpha}");
        for gain in [&of.tasks, &of.rate] {
            let (least, most) = (gain.at_least.to_f64(), gain.at_most.to_f64());
            assert!(least <= unit && unit <= most, "{least} {unit} {most}");
        }
        let width = Rational::from(&of.tasks.at_most - &of.tasks.at_least).to_f64();
        assert!(width < 1e-3 * unit, "{width}");
        assert_eq!(of.users.len(), 1);
        assert!(of.users[0].1.at_least > 0);
        let tasks = &found.tasks;
        assert!(tasks.at_least.to_f64() <= 10.0 * unit && 10.0 * unit <= tasks.at_most.to_f64());
        assert!(!found.differs);
    }
}

/// The mechanism is run again with the settings that the allocation states.
#[test]
fn gains_respect_the_settings_of_the_mechanism() {
    let text = r#"{"kind": "allocation-problem", "resources": ["a"], "servers": [{"name": "s", "capacity": {"a": 12}}],
        "users": [{"name": "u", "demand": {"a": 1}, "weight": 4, "criterion": {"s": 1}},
                  {"name": "v", "demand": {"a": 1}, "criterion": {"s": 1}}]}"#;
    // `x_n` is in proportion to `w_n^(1/a)`.
    let problem = read(text);
    for (mechanism, flags, expected) in [
        ("alpha", &[("alpha", "1")][..], "4/5"),
        ("alpha", &[("alpha", "2")], "2/3"),
        ("alpha", &[("alpha", "1/2")], "16/17"),
        ("proportional", &[("criterion", "")], "4/5"),
    ] {
        let found = measured(&problem, mechanism, flags, 0).unwrap();
        let Between { at_least, at_most } = &found.rows[0].tasks;
        let (expected, width) = (number(expected), Rational::from(at_most - at_least));
        assert!(*at_least <= expected && expected <= *at_most, "{mechanism} {flags:?}: {at_least} {at_most}");
        assert!(width < number("1/10000"), "{mechanism} {flags:?}: {width}");
    }
}

/// An allocation that differs from the mechanism's answer is reported as different. The gains are computed for the
/// mechanism's answer.
#[test]
fn a_different_allocation_is_reported_as_different() {
    let problem = read(TWO_SERVERS);
    let answer = solved(&problem, "drfh", &[]).unwrap();
    let mut other = answer.clone();
    other.tasks[0] = vec![(0, Rational::from(7))];
    let found = explain(&problem, &other, 0).unwrap().one_more_unit.unwrap();
    assert!(found.differs);
    let own = explain(&problem, &answer, 0).unwrap().one_more_unit.unwrap();
    assert!(!own.differs);
    assert_eq!((found.rows, found.tasks), (own.rows, Between::known(Rational::from(10))));
    // Rounding does not count as a difference.
    let mut near = answer;
    near.arithmetic = Arithmetic::Float;
    near.tasks[0] = vec![(0, number("9999999999/1000000000"))];
    assert!(!explain(&problem, &near, 0).unwrap().one_more_unit.unwrap().differs);
}

#[test]
fn unmeasured_gains_state_the_reason() {
    let problem = read(TWO_SERVERS);
    for (mechanism, why) in [
        ("utilitarian", NotMeasured::SeveralAnswers("utilitarian")),
        ("njc", NotMeasured::SeveralAnswers("njc")),
        ("ps-dsf", NotMeasured::SeveralAnswers("ps-dsf")),
        ("fill", NotMeasured::WholeTasks("fill")),
        ("slots", NotMeasured::WholeTasks("slots")),
    ] {
        let flags: &[(&str, &str)] = if mechanism == "slots" { &[("slots", "10")] } else { &[] };
        assert_eq!(measured(&problem, mechanism, flags, 0), Err(why), "{mechanism}");
    }
    let nameless = |name: Option<&str>| {
        let mut allocation = solved(&problem, "drfh", &[]).unwrap();
        allocation.mechanism = name.map(str::to_owned);
        explain(&problem, &allocation, 0).unwrap().one_more_unit
    };
    assert_eq!(nameless(None), Err(NotMeasured::NoMechanism));
    assert_eq!(nameless(Some("luck")), Err(NotMeasured::UnknownMechanism("luck".to_owned())));
    // `alpha` lacks its exponent, and `drf` does not apply to two servers.
    assert!(matches!(nameless(Some("alpha")), Err(NotMeasured::Mechanism(_))));
    assert!(matches!(nameless(Some("drf")), Err(NotMeasured::Mechanism(_))));
    let text = r#"{"kind": "allocation-problem", "resources": ["a"],
        "servers": [{"name": "s", "capacity": {"a": 1}}, {"name": "t", "capacity": {"a": 1}}],
        "users": [{"name": "u", "demand": {"a": 1}, "criterion": {"s": 1, "t": 2}}]}"#;
    assert_eq!(measured(&read(text), "generic", &[], 0), Err(NotMeasured::SeveralPlacements("generic")));
    assert_eq!(
        measured(&problem, "tree", &[("rule", "kai")], 0),
        Err(NotMeasured::NoTasks("kai".to_owned()))
    );
}
