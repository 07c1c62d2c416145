//! Tests of progressive filling and of slots on the golden cases.

use evenhand_testkit::golden::{self, case, cases, exact, floats, id, matrix};
use std::collections::BTreeMap;

use evenhand::mechanisms::MechanismError;
use evenhand::mechanisms::filling::{
    Rule, Score, ServerRule, Statistic, Ties, fill, law, sample, slot_allocation, slots_of_servers,
};
use evenhand::problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec, number, utilisation};
use serde_json::Value;

fn one() -> Rational {
    Rational::from(1)
}

fn score(name: &str) -> Score {
    match name {
        "drf" => Score::Drf,
        "tsf" => Score::Tsf,
        "psdsf" => Score::PsDsf,
        "rpsdsf" => Score::ResidualPsDsf,
        other => panic!("{other}"),
    }
}

/// Returns a problem with the demands `D` and one server for each row of `C`.
fn servers_and_users(case: &Value) -> Problem {
    let (demands, capacities) = (matrix(&case["inputs"]["D"]), matrix(&case["inputs"]["C"]));
    golden::problem(&capacities, &demands, &vec![one(); demands.len()], None)
}

/// Returns the probabilities of the outcomes `x11, x12, x21, x22`.
fn exact_law(problem: &Problem, rule: Rule) -> Vec<(Vec<u64>, Rational)> {
    let outcomes = law(problem, rule, &one()).unwrap();
    let sum: Rational = outcomes.iter().map(|outcome| &outcome.probability).sum();
    assert_eq!(sum, 1, "{rule}");
    outcomes.into_iter().map(|outcome| (outcome.steps.concat(), outcome.probability)).collect()
}

/// Returns the mean and the standard deviation of the value that `of` returns for an outcome.
fn moments(law: &[(Vec<u64>, Rational)], of: impl Fn(&[u64]) -> Rational) -> (f64, f64) {
    let mean: Rational = law.iter().map(|(x, p)| of(x) * p).sum();
    let squares: Rational = law.iter().map(|(x, p)| (of(x) - &mean).square() * p).sum();
    (mean.to_f64(), squares.to_f64().sqrt())
}

#[test]
fn random_servers_follow_the_exact_laws() {
    let cases = cases("fill.random_server.");
    assert_eq!(cases.len(), 8);
    for case in &cases {
        let (inputs, expected) = (&case["inputs"], &case["expected"]);
        let problem = servers_and_users(case);
        let ties = if inputs["tie"] == "low" { Ties::Low } else { Ties::Random };
        let rule = Rule {
            score: score(inputs["criterion"].as_str().unwrap()),
            server: ServerRule::Iid,
            ties,
            unfiltered: false,
        };
        let law = exact_law(&problem, rule);
        let of = |k: usize| moments(&law, |x| Rational::from(x[k]));
        let (means, deviations): (Vec<f64>, Vec<f64>) = (0..4).map(of).unzip();
        golden::assert_near(id(case), &means, &floats(&expected["mean"]), 1e-11);
        golden::assert_near(id(case), &deviations, &floats(&expected["sd"]), 1e-9);
        let (total, deviation) = moments(&law, |x| Rational::from(x.iter().sum::<u64>()));
        let expected_total =
            [number::to_f64(&exact(&expected["total"])), number::to_f64(&exact(&expected["sd_total"]))];
        golden::assert_near(id(case), &[total, deviation], &expected_total, 1e-9);
        for (outcome, probability) in expected["most_likely"].as_object().unwrap() {
            let found =
                law.iter().find(|(x, _)| *outcome == format!("({}, {}, {}, {})", x[0], x[1], x[2], x[3]));
            let found = found.unwrap_or_else(|| panic!("{}: {outcome}", id(case))).1.to_f64();
            assert!((found - probability.as_f64().unwrap()).abs() < 1e-12, "{}: {outcome} {found}", id(case));
        }
        // Compare the tasks and the unused capacity of the trials.
        let found = trials(&problem, rule, &one(), 11, 20_000).unwrap();
        for (k, statistic) in found.tasks.concat().iter().enumerate() {
            let off = (statistic.mean - means[k]).abs();
            assert!(off <= 5.0 * deviations[k] / 20_000_f64.sqrt(), "{} {k}: {statistic:?}", id(case));
            // Outcomes with a very low probability cause the deviation of rPS-DSF.
            let is_rare = deviations[k] < 0.1;
            assert!(
                is_rare || (statistic.deviation() / deviations[k] - 1.0).abs() < 0.35,
                "{} {k}: {statistic:?}",
                id(case)
            );
        }
        for (row, expected) in found.unused.iter().zip(expected["unused"].as_array().unwrap()) {
            for (statistic, expected) in row.iter().zip(floats(expected)) {
                assert!(
                    (statistic.mean - expected).abs() <= 3.0 * statistic.half_width() + 1e-4,
                    "{}",
                    id(case)
                );
            }
        }
    }
}

#[test]
fn deterministic_rows_agree_with_golden_cases() {
    let cases = cases("fill.");
    let mut n_cases = 0;
    for case in &cases {
        let inputs = &case["inputs"];
        let rule = match id(case) {
            id if id.ends_with(".ni") || id.ends_with(".in") => Rule {
                score: score(inputs["criterion"].as_str().unwrap()),
                server: ServerRule::Joint,
                ..Rule::default()
            },
            id if id.starts_with("fill.bfdrf.l1_first.") => Rule {
                server: ServerRule::BestFit,
                ties: if inputs["tie"] == "low" { Ties::Low } else { Ties::High },
                unfiltered: !inputs["feasible_only"].as_bool().unwrap(),
                ..Rule::default()
            },
            _ => continue,
        };
        n_cases += 1;
        let problem = servers_and_users(case);
        let x = fill(&problem, rule, &one(), 0).unwrap();
        let expected = &case["expected"];
        for (n, row) in matrix(&expected["x"]).iter().enumerate() {
            for (i, tasks) in row.iter().enumerate() {
                assert_eq!(x.on(n, i), *tasks, "{}", id(case));
            }
        }
        assert_eq!(x.totals().iter().sum::<Rational>(), exact(&expected["total"]), "{}", id(case));
        for (i, row) in matrix(&expected["unused"]).iter().enumerate() {
            for (r, unused) in row.iter().enumerate() {
                let used: Rational = (0..2).map(|n| x.on(n, i) * &problem.demand(n, i)[r]).sum();
                assert_eq!(
                    Rational::from(&problem.servers()[i].capacity()[r] - &used),
                    *unused,
                    "{}",
                    id(case)
                );
            }
        }
    }
    assert_eq!(n_cases, 8);
}

#[test]
fn random_ties_have_the_golden_frequencies() {
    for (name, score) in [("psdsf", Score::PsDsf), ("rpsdsf", Score::ResidualPsDsf)] {
        let case = case(&format!("fill.joint.{name}.random_ties"));
        let problem = servers_and_users(&case);
        let rule = Rule { score, server: ServerRule::Joint, ties: Ties::Random, unfiltered: false };
        let law = exact_law(&problem, rule);
        let expected = case["expected"].as_object().unwrap();
        assert_eq!(law.len(), expected.len(), "{name}");
        let mut seen: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        sample(&problem, rule, &one(), 3, 3000, |x| *seen.entry(x.concat()).or_default() += 1).unwrap();
        for (x, probability) in &law {
            let key = format!("({}, {}, {}, {})", x[0], x[1], x[2], x[3]);
            let expected = expected[&key].as_f64().unwrap();
            assert!((probability.to_f64() - expected).abs() < 0.05, "{name} {key}: {probability}");
            let frequency = seen[x] as f64 / 3000.0;
            assert!((probability.to_f64() - frequency).abs() < 0.05, "{name} {key}: {frequency}");
        }
    }
}

#[test]
fn permuted_rounds_agree_with_golden_cases() {
    for (name, score) in [("drf", Score::Drf), ("psdsf", Score::PsDsf)] {
        let case = case(&format!("fill.permuted_rounds.{name}"));
        let problem = servers_and_users(&case);
        // The golden numbers come from trials with ties. The case does not state how ties were broken.
        let rule = Rule { score, server: ServerRule::Rrr, ties: Ties::Random, unfiltered: false };
        let law = exact_law(&problem, rule);
        let (means, deviations): (Vec<f64>, Vec<f64>) =
            (0..4).map(|k| moments(&law, |x| Rational::from(x[k]))).unzip();
        let expected = &case["expected"];
        golden::assert_near(id(&case), &means, &floats(&expected["mean"]), 0.1);
        golden::assert_near(id(&case), &deviations, &floats(&expected["sd"]), 0.1);
        for (x21, frequency) in expected["x21"].as_object().unwrap() {
            let of = |x: &&(Vec<u64>, Rational)| x.0[2].to_string() == *x21;
            let probability: Rational = law.iter().filter(of).map(|(_, p)| p).sum();
            assert!((probability.to_f64() - frequency.as_f64().unwrap()).abs() < 0.05, "{name} {x21}");
        }
        let found = trials(&problem, rule, &one(), 7, 5000).unwrap();
        let off = (found.total.mean - means.iter().sum::<f64>()).abs();
        assert!(off <= 3.0 * found.total.half_width(), "{name}: {:?}", found.total);
    }
}

/// Returns a problem with the CPU and memory of the ten server classes of Table I. The case states how often
/// each class is drawn.
fn problem_of_drawn_servers(case: &Value, users: &[(usize, [&str; 2])]) -> Problem {
    const TABLE_I: [(&str, &str); 10] = [
        ("0.50", "0.50"),
        ("0.50", "0.25"),
        ("0.50", "0.75"),
        ("1.00", "1.00"),
        ("0.25", "0.25"),
        ("0.50", "0.12"),
        ("0.50", "0.03"),
        ("0.50", "0.97"),
        ("1.00", "0.50"),
        ("0.50", "0.06"),
    ];
    let resources = ["cpu".to_owned(), "memory".to_owned()];
    let named = |values: [&str; 2]| {
        resources.iter().cloned().zip(values.map(|value| number::parse(value).unwrap())).collect::<Vec<_>>()
    };
    let draw = case["inputs"]["draw"].as_array().unwrap();
    let servers = draw.iter().map(exact).enumerate().filter(|(_, count)| *count > 0);
    let servers = servers.map(|(i, count)| {
        let (cpu, memory) = TABLE_I[i];
        ServerSpec { name: format!("class {i}"), count: Some(count), capacity: named([cpu, memory]) }
    });
    let servers = servers.collect();
    let users = users.iter().map(|(n, demand)| UserSpec {
        name: n.to_string(),
        demand: named(*demand),
        ..UserSpec::default()
    });
    let users = users.collect();
    Problem::new(ProblemSpec { servers, users, resources: resources.to_vec(), ..ProblemSpec::default() })
        .unwrap()
}

const USERS: [[&str; 2]; 3] = [["1/5", "3/10"], ["1/2", "1/10"], ["1/10", "3/10"]];

#[test]
fn whole_tasks_on_drawn_servers_agree_with_golden_cases() {
    let case = case("drfh.dynamic.discrete");
    for (name, expected) in case["expected"].as_object().unwrap() {
        let list = name.trim_end_matches(|c: char| c.is_alphabetic());
        let users: Vec<usize> = serde_json::from_str(list).unwrap();
        let chosen: Vec<(usize, [&str; 2])> = users.iter().map(|&n| (n, USERS[n])).collect();
        let problem = problem_of_drawn_servers(&case, &chosen);
        let rule = match name.ends_with("bf") {
            true => Rule { server: ServerRule::BestFit, ..Rule::default() },
            false => Rule::default(),
        };
        let x = fill(&problem, rule, &one(), 0).unwrap();
        for (at, n) in users.iter().enumerate() {
            let row = floats(&expected[n.to_string()]);
            let part = |r: usize| {
                Rational::from(&problem.users()[at].base_demand()[r] * &x.total(at))
                    / &problem.total_capacity()[r]
            };
            let share = utilisation::dominant_share(&problem, &x, at);
            let found: Vec<f64> =
                [x.total(at), share, part(0), part(1)].iter().map(Rational::to_f64).collect();
            golden::assert_near(&format!("{name} user {n}"), &found, &row, 1e-12);
        }
    }
}

#[test]
fn slots_on_drawn_servers_agree_with_golden_cases() {
    let case = case("drfh.slots");
    let users: Vec<(usize, [&str; 2])> = USERS.iter().copied().enumerate().collect();
    let problem = problem_of_drawn_servers(&case, &users);
    for (slots, expected) in case["expected"].as_object().unwrap() {
        let slots: u64 = slots.parse().unwrap();
        let all = slots_of_servers(&problem, slots).into_iter().zip(problem.servers());
        let all: u64 = all.map(|(slots, class)| slots * class.count()).sum();
        assert_eq!(all, expected["slots"].as_u64().unwrap(), "{slots}");
        let x = slot_allocation(&problem, slots, Ties::Low, 0).unwrap();
        for n in 0..3 {
            assert_eq!(x.total(n), exact(&expected["tasks"][n.to_string()]), "{slots} user {n}");
        }
        let used = utilisation::by_resource(&problem, &x);
        let found: Vec<f64> = used.iter().flatten().map(Rational::to_f64).collect();
        golden::assert_near(
            &slots.to_string(),
            &found,
            &[expected["cpu"].as_f64().unwrap(), expected["mem"].as_f64().unwrap()],
            1e-12,
        );
    }
}

/// The statistics of many trials of a rule.
struct Trials {
    /// The number of tasks, indexed by user and by class.
    tasks: Vec<Vec<Statistic>>,
    /// The number of tasks of all users.
    total: Statistic,
    /// The unused capacity in the units of the problem, indexed by class and by resource. All resources of a
    /// class that is shared by time count as unused.
    unused: Vec<Vec<Statistic>>,
}

/// Returns the statistics of `runs` trials.
fn trials(
    problem: &Problem,
    rule: Rule,
    step: &Rational,
    seed: u64,
    runs: u64,
) -> Result<Trials, MechanismError> {
    let (n_users, n_classes) = (problem.n_users(), problem.n_servers());
    let demand =
        |n: usize, i: usize| problem.demand(n, i).iter().map(|d| Rational::from(d * step).to_f64()).collect();
    let demands: Vec<Vec<Vec<f64>>> =
        (0..n_users).map(|n| (0..n_classes).map(|i| demand(n, i)).collect()).collect();
    let capacity = problem
        .servers()
        .iter()
        .map(|class| class.capacity().iter().map(|c| Rational::from(c * class.count()).to_f64()).collect());
    let capacity: Vec<Vec<f64>> = capacity.collect();
    let step_size = step.to_f64();
    let mut found = Trials {
        tasks: vec![vec![Statistic::default(); n_classes]; n_users],
        total: Statistic::default(),
        unused: vec![vec![Statistic::default(); problem.n_resources()]; n_classes],
    };
    sample(problem, rule, step, seed, runs, |steps| {
        let mut total = 0;
        for (row, steps) in found.tasks.iter_mut().zip(steps) {
            for (statistic, &steps) in row.iter_mut().zip(steps) {
                statistic.add(steps as f64 * step_size);
                total += steps;
            }
        }
        found.total.add(total as f64 * step_size);
        for (i, row) in found.unused.iter_mut().enumerate() {
            let is_divided = !problem.servers()[i].is_time_shared();
            for (r, statistic) in row.iter_mut().enumerate() {
                let used = (0..n_users).filter(|_| is_divided).map(|n| steps[n][i] as f64 * demands[n][i][r]);
                statistic.add(capacity[i][r] - used.sum::<f64>());
            }
        }
    })?;
    Ok(found)
}
