//! Tests of worked examples of the papers, and of the golden cases if they are available.

use crate::common;

use common::{assert_proven, exact, totals};
use evenhand_exact::Share;
use evenhand_problem::{Problem, ProblemSpec, Rational, Sharing};
use evenhand_testkit::random::problems::{build, class_name, spec, spec_of};
use evenhand_testkit::{golden, q, qs, total};
use serde_json::Value;

/// Returns the problem of DRFH, Figure 1: two servers of (2, 12) and (12, 2), demands (1/5, 1) and
/// (1, 1/5).
fn drfh_figure_1() -> ProblemSpec {
    spec_of(&["2 12", "12 2"], &["1/5 1", "1 1/5"])
}

/// Returns the problem of PS-DSF, Figure 1: two servers of (9, 12, 100) and (12, 12, 0); weights 1,
/// 1, 2.
fn psdsf_figure_1() -> Problem {
    let mut spec = spec_of(&["9 12 100", "12 12 0"], &["1 2 10", "1 2 1", "1 2 0"]);
    spec.users[2].weight = Some(q("2"));
    build(spec)
}

#[test]
fn drfh_figures_1_to_3_give_ten_tasks_each_at_five_sevenths() {
    let problem = build(drfh_figure_1());
    let share = Share::Dominant.coefficients(&problem).expect("applies");
    let optimum = exact(&problem, Sharing::Rdm, &share).expect("an optimum");
    assert_eq!(optimum.tasks, vec![vec![(0, q("10"))], vec![(1, q("10"))]]);
    assert_eq!(optimum.rounds, 1);
    let levels: Vec<&Rational> = optimum.duals.iter().map(|dual| &dual.level).collect();
    assert_eq!(levels, [&q("5/7")]);
}

#[test]
fn drfh_section_v_a_respects_weights_2_to_1() {
    let mut spec = drfh_figure_1();
    spec.users[0].weight = Some(q("2"));
    assert_eq!(totals(&build(spec), Share::Dominant), qs(&["120/11", "60/11"]));
}

#[test]
fn drfh_section_v_a_gives_more_if_the_other_user_has_four_tasks() {
    let mut spec = drfh_figure_1();
    spec.users[0].tasks = Some(q("4"));
    assert_eq!(totals(&build(spec), Share::Dominant), qs(&["4", "56/5"]));
}

#[test]
fn drfh_programme_7_continues_after_the_first_level() {
    let problem = build(spec_of(&["4 0", "0 6"], &["1 0", "0 1", "0 2"]));
    let share = Share::Dominant.coefficients(&problem).expect("applies");
    let optimum = exact(&problem, Sharing::Rdm, &share).expect("an optimum");
    assert_eq!(optimum.tasks.iter().map(total).collect::<Vec<_>>(), qs(&["4", "3", "3/2"]));
    assert_eq!(optimum.duals.iter().map(|d| d.level.clone()).collect::<Vec<_>>(), qs(&["1/2", "1"]));
}

#[test]
fn psdsf_figure_1_has_the_published_c_drfh_answer() {
    assert_eq!(totals(&psdsf_figure_1(), Share::Dominant), qs(&["60/23", "72/23", "144/23"]));
}

#[test]
fn psdsf_figure_1_has_the_published_tsf_answer() {
    assert_eq!(totals(&psdsf_figure_1(), Share::TaskShare), qs(&["2", "2", "8"]));
}

/// Ghodsi et al., "Dominant Resource Fairness", section 4.1: 9 CPUs and 18 GB; 3 and 2 tasks.
#[test]
fn drf_section_4_1_has_the_published_answers() {
    let problem = build(spec_of(&["9 18"], &["1 4", "3 1"]));
    for share in [Share::Dominant, Share::Containerized] {
        assert_eq!(totals(&problem, share), qs(&["3", "2"]));
    }
    // Section 4.2 of the same paper: asset fairness gives 2.52 and 2.16 tasks.
    assert_eq!(totals(&problem, Share::Asset), qs(&["63/25", "54/25"]));
}

/// Builds the problem of a golden case: `C`, `D`, weights `w` or `phi`, `tasks`, `eligible`.
fn problem(inputs: &Value) -> Problem {
    let matrix =
        |key: &str| inputs[key].as_array().expect("a matrix").iter().map(golden::exacts).collect::<Vec<_>>();
    let mut spec = spec(&matrix("C"), &matrix("D"));
    let classes = spec.servers.len();
    for (n, user) in spec.users.iter_mut().enumerate() {
        user.weight = ["w", "phi"].iter().find_map(|key| inputs.get(*key)).map(|w| golden::exact(&w[n]));
        user.tasks = inputs.get("tasks").map(|t| &t[n]).filter(|t| !t.is_null()).map(golden::exact);
        let allowed = |row: &Value| (0..classes).filter(|&i| row[i] == 1).map(class_name).collect();
        user.servers = inputs.get("eligible").map(|e| allowed(&e[n]));
    }
    build(spec)
}

#[test]
fn max_min_agrees_with_golden_cases() {
    let cases = golden::cases("");
    let mut compared = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().expect("an id");
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let mut judge = |share: Share, key: &str| {
            let Some(tasks) = expected.get(key) else { return };
            let problem = problem(inputs);
            let coefficients = share.coefficients(&problem).expect("applies");
            let optimum = exact(&problem, Sharing::Rdm, &coefficients).expect("an optimum");
            let found: Vec<Rational> = optimum.tasks.iter().map(total).collect();
            assert_eq!(found, golden::exacts(tasks), "{id}, {key}");
            assert_proven(&problem, Sharing::Rdm, share, &optimum);
            if let Some(rounds) = expected.get("rounds").and_then(Value::as_array) {
                let levels: Vec<Rational> = rounds.iter().map(|round| golden::exact(&round[0])).collect();
                let of = |n: usize, x: &Rational| {
                    let weighted = Rational::from(x / problem.users()[n].weight());
                    coefficients.uniform(n).map_or_else(Rational::new, |u| weighted * u)
                };
                let mut reached: Vec<Rational> = found.iter().enumerate().map(|(n, x)| of(n, x)).collect();
                reached.sort();
                reached.dedup();
                assert_eq!(reached, levels, "{id}: levels");
            }
            compared.push(format!("{id} {key}"));
        };
        if id.starts_with("drfh.") {
            judge(Share::Dominant, "x_n");
        } else if id == "psdsf.fig1" || id.starts_with("tsf.") {
            judge(Share::Dominant, "cdrfh");
            judge(Share::TaskShare, "tsf");
        }
    }
    println!("{} golden comparisons: {compared:?}", compared.len());
    for needed in ["drfh.fig1 x_n", "drfh.zero_demand x_n", "psdsf.fig1 cdrfh", "psdsf.fig1 tsf"] {
        assert!(compared.iter().any(|c| c == needed), "{needed} is not among the golden cases");
    }
    assert!(compared.len() >= 15, "{compared:?}");
}
