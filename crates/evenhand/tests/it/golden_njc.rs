//! Tests of No Justified Complaints on all golden cases. The exact crate judges exact answers, enumeration
//! gives the sets of answers, and limits and trajectories agree within the stated tolerances.

use evenhand_testkit::agreement::agreed;
use evenhand_testkit::golden::{
    self, assert_near, cases, exact, exacts, floats, granted, id, matrix, pool, pool_of,
};
use std::sync::OnceLock;

use evenhand::certify;
use evenhand::certify::Request;
use evenhand::exact::{Axiom, Instance, axiom::njc};
use evenhand::levels::njc::{EnumerationLimits, Face, Goal, NjcSet, Tasks, Witness, enumerate};
use evenhand::mechanisms::njc::{Settings, allocate};
use evenhand::mechanisms::registry;
use evenhand::problem::{Arithmetic, Constraints, Problem, Rational, Sharing, number};
use evenhand_ode::path::{PathSettings, PathStatus, follow};
use evenhand_ode::pool::Pool;
use evenhand_ode::trajectory::{TrajectorySettings, integrate};
use serde_json::Value;

/// Checks the certificate of an axiom, and returns `true` if the axiom holds according to the exact crate.
fn holds(problem: &Problem, x: &[Rational], axiom: Axiom) -> bool {
    let examination = certify(problem, &granted(x), &[Request::of(axiom)], &Rational::new());
    let examination = examination.expect("an examination");
    assert_eq!(examination.undecided, []);
    assert!(agreed(&examination.certificate).valid);
    examination.certificate.claims[0].holds == Some(true)
}

fn is_fair(problem: &Problem, x: &[Rational]) -> bool {
    holds(problem, x, Axiom::Feasible) && holds(problem, x, Axiom::Njc)
}

fn set(problem: &Problem) -> NjcSet {
    enumerate(&Constraints::new(problem, Sharing::Rdm), &EnumerationLimits::default())
        .expect("within the limits")
}

fn totals(tasks: &Tasks) -> Vec<Rational> {
    tasks.iter().map(|tasks| tasks.iter().map(|(_, x)| x).sum()).collect()
}

/// Returns the vertices of the set of all answers. Each vertex is judged.
fn vertices(problem: &Problem) -> Vec<Vec<Rational>> {
    let points: Vec<Vec<Rational>> = set(problem).extreme_points.iter().map(totals).collect();
    assert!(points.iter().all(|x| is_fair(problem, x)), "{points:?}");
    points
}

fn sorted(mut points: Vec<Vec<Rational>>) -> Vec<Vec<Rational>> {
    points.sort();
    points
}

fn answer(problem: &Problem, mechanism: &str) -> Vec<Rational> {
    let mechanism = registry::find(mechanism).expect("a mechanism");
    mechanism.allocate(problem, Arithmetic::Exact).expect("an answer").allocation.totals()
}

/// Returns the answer of NJC with the highest utilisation.
fn most_used(problem: &Problem) -> Vec<Rational> {
    let most = Settings { select: Some(Goal::MaxUtilisation), ..Settings::new(Arithmetic::Exact) };
    allocate(problem, &most).expect("an answer").allocation.totals()
}

/// Returns the exact answer of the engine after judging it.
fn njc_answer(problem: &Problem) -> Vec<Rational> {
    let x = answer(problem, "njc");
    assert!(is_fair(problem, &x), "{x:?}");
    x
}

fn continuous(problem: &Problem) -> Pool {
    let users = 0..problem.n_users();
    let requests = users.clone().flat_map(|n| problem.demand(n, 0).iter().map(number::to_f64)).collect();
    let entitlements = users.map(|n| number::to_f64(problem.users()[n].weight())).collect();
    Pool::new(problem.n_resources(), requests, entitlements, vec![1.0; problem.n_users()]).expect("a pool")
}

/// Returns the limit of the trajectory. If two bottlenecks have no price (Figure 3, entitlements 2/3 and
/// 1/3), rounding stops the method at half of the digits, and its status reports this.
fn limit(problem: &Problem) -> Vec<f64> {
    let end = follow(&continuous(problem), &PathSettings::default());
    assert!(end.status == PathStatus::Solved || end.residual < 1e-8, "{end:?}");
    end.x
}

fn loads(problem: &Problem, x: &[Rational]) -> Vec<Rational> {
    let used =
        |r: usize| x.iter().enumerate().map(|(n, x)| Rational::from(x * &problem.demand(n, 0)[r])).sum();
    (0..problem.n_resources()).map(used).collect()
}

fn bottlenecks(problem: &Problem, x: &[Rational]) -> Vec<usize> {
    let loads = loads(problem, x);
    (0..loads.len()).filter(|&r| loads[r] == 1).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().expect("a list").iter().map(|i| i.as_u64().expect("an index") as usize).collect()
}

fn near(x: &[Rational]) -> Vec<f64> {
    x.iter().map(number::to_f64).collect()
}

/// Returns an entry of `reproduce njc` by its id.
fn entry(id: &str) -> &'static evenhand_papers::Entry {
    static ENTRIES: OnceLock<Vec<evenhand_papers::Entry>> = OnceLock::new();
    let entries = ENTRIES.get_or_init(|| evenhand_papers::entries(&["njc"]).expect("entries"));
    entries.iter().find(|entry| entry.id == id).unwrap_or_else(|| panic!("no entry {id}"))
}

#[test]
fn njc_agrees_with_every_golden_case() {
    let cases = cases("njc.");
    for case in &cases {
        let what = id(case);
        match what.strip_prefix("njc.").expect("the prefix") {
            "fig2" => figure_2(case),
            "fig2.unique" => {
                assert_eq!(vertices(&pool_of(case)), sorted(matrix(&case["expected"]["all_njc_vertices"])));
            }
            "util4" => utilisation(case),
            "greedy3" => greedy(case),
            "greedy3.eg" => eisenberg_gale(case),
            "fig3.point" => impossible_point(case),
            "family3" => family(case),
            "circulant" => circulant(case),
            "single_resource_continuum" => continuum(case),
            "manipulation" => manipulation(case),
            "zero_entitlement" => zero_entitlement(case),
            "s51" => {
                let expected = &case["expected"];
                assert_eq!(expected["tot"], expected["njc"]);
                assert_eq!(entry("njc.reduction.lifted").agrees, Some(true));
            }
            "s51.text" => reduction(case),
            "stats" => statistics(case),
            "other_entitlements" => other_entitlements(case),
            "exact_theorem" => assert_eq!(case["expected"], serde_json::json!({}), "numbers to compare"),
            name if name.starts_with("fig3.e1=") || name.starts_with("fig5.e1=") => two_users(case),
            name if name.starts_with("random.") => random(case),
            name if name.starts_with("trajectory.") => trajectory(case),
            _ => panic!("{what} is not translated"),
        }
    }
    assert!(cases.len() >= 39, "only {} cases", cases.len());
}

/// Figure 3 with the entitlements 2/3 and 1/3: user 1 has all its tasks and saturates resource 3, and neither
/// bottleneck has a price. The result is correct to at least half of the digits, and the status claims no
/// more than this.
#[test]
fn two_bottlenecks_without_prices_keep_half_the_digits() {
    let (two, one) = (2.0 / 3.0, 1.0 / 3.0);
    let pool =
        Pool::new(3, vec![0.25, two, 1.0, 1.0, two, 0.0], vec![two, one], vec![1.0; 2]).expect("a pool");
    let settings = PathSettings::default();
    let end = follow(&pool, &settings);
    assert_near("two without a price", &end.x, &[1.0, 0.5], 1e-7);
    assert!(end.status != PathStatus::Solved || end.residual <= settings.tolerance, "{end:?}");
}

fn figure_2(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    let amounts = |x: &[Rational]| -> Vec<Vec<Rational>> {
        let of = |n: usize| problem.demand(n, 0).iter().map(|d| Rational::from(d * &x[n])).collect();
        (0..x.len()).map(of).collect()
    };
    let x = njc_answer(&problem);
    assert_eq!(x, exacts(&expected["njc_x"]));
    assert_eq!(amounts(&x), matrix(&expected["njc_a"]));
    let drf = answer(&problem, "drf");
    assert_eq!(drf, exacts(&expected["drf_x"]));
    assert_eq!(amounts(&drf), matrix(&expected["drf_a"]));
    assert_near("figure 2", &limit(&problem), &floats(&expected["eg_x"]), 1e-8);
}

fn utilisation(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    let mean = |x: &[Rational]| loads(&problem, x).into_iter().sum::<Rational>() / 4u32;
    let x = njc_answer(&problem);
    assert_eq!(vertices(&problem), [exacts(&expected["njc_x"])]);
    assert_eq!(x, exacts(&expected["njc_x"]));
    assert_eq!(bottlenecks(&problem, &x), indices(&expected["njc_bottlenecks"]));
    assert_eq!(loads(&problem, &x), exacts(&expected["njc_loads"]));
    assert_eq!(mean(&x), exact(&expected["njc_mean_util"]));
    let drf = answer(&problem, "drf");
    assert_eq!(drf, exacts(&expected["drf_x"]));
    assert_eq!(loads(&problem, &drf), exacts(&expected["drf_loads"]));
    assert_eq!(mean(&drf), exact(&expected["drf_mean_util"]));
}

fn greedy(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    assert!(is_fair(&problem, &exacts(&expected["njc_x"])));
    njc_answer(&problem);
    assert_eq!(vertices(&problem), sorted(matrix(&expected["all_face_vertices"])));
    assert_near("greedy", &limit(&problem), &floats(&expected["eg_x"]), 1e-8);
    let complains = |x: [(u32, u32); 3], user: usize| {
        let x = x.map(Rational::from);
        assert!(holds(&problem, &x, Axiom::Feasible));
        let allocation = granted(&x);
        let instance = Instance::new(&problem, &allocation).expect("an instance");
        njc::margin(&instance, user).expect("an active user") < 0
    };
    assert_eq!(expected["paper_checks"].as_object().expect("checks").len(), 2);
    assert!(complains([(1, 1), (2, 3), (0, 1)], 1));
    assert!(!complains([(3, 4), (1, 1), (0, 1)], 0) && !complains([(3, 4), (1, 1), (0, 1)], 1));
}

/// Evaluates a closed form such as `sqrt(2017)/192 + 143/192` in floating point.
fn value_of(closed_form: &str) -> f64 {
    let terms = closed_form.replace("- ", "+ -");
    let value = |term: &str| {
        let (top, bottom) = term.split_once('/').expect("a fraction");
        let bottom: f64 = bottom.trim().parse().expect("a denominator");
        let (sign, top) = top.trim().strip_prefix('-').map_or((1.0, top.trim()), |rest| (-1.0, rest));
        let root = top.strip_prefix("sqrt(").and_then(|rest| rest.strip_suffix(')'));
        let top: f64 = root.unwrap_or(top).parse().expect("a number");
        sign * if root.is_some() { top.sqrt() } else { top } / bottom
    };
    terms.split(" + ").map(value).sum()
}

fn eisenberg_gale(case: &Value) {
    let referred = golden::case(case["inputs"]["r"].as_str().expect("an id"));
    let problem = pool_of(&referred);
    let x = limit(&problem);
    assert_near("greedy", &x, &floats(&case["expected"]["eg_x"]), number::to_f64(&exact(&case["tolerance"])));
    let forms = case["expected"]["eg_x_closed_form"].as_array().expect("a list");
    let values: Vec<f64> = forms.iter().map(|form| value_of(form.as_str().expect("text"))).collect();
    assert_near("closed form", &x, &values, 1e-14);
    assert!(entry("njc.greedy.eisenberg-gale").ours.contains("sqrt(2017)"));
}

fn two_users(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    assert_eq!(njc_answer(&problem), exacts(&expected["njc_x"]), "{}", id(case));
    assert_eq!(vertices(&problem), matrix(&expected["all_njc"]), "{}", id(case));
    assert_near(id(case), &limit(&problem), &near(&exacts(&expected["njc_x"])), 1e-7);
}

fn impossible_point(case: &Value) {
    let half = Rational::from((1, 2));
    let problem = pool(&matrix(&case["inputs"]["r"]), &[half.clone(), half]);
    let x = exacts(&case["inputs"]["x"]);
    assert_eq!(loads(&problem, &x)[0], exact(&case["expected"]["load_resource1"]));
    assert!(!holds(&problem, &x, Axiom::Feasible));
}

fn family(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    assert_eq!(vertices(&problem), sorted(matrix(&expected["face_vertices"])));
    assert_eq!(set(&problem).polytopes.len(), 1);
    let end = exacts(&expected["eg_x"]);
    assert!(holds(&problem, &end, Axiom::Proportional), "without any gap");
    assert_near("family", &limit(&problem), &near(&end), 1e-12);
    assert_near("family", &limit(&problem), &floats(&expected["trajectory_limit"]), 1e-6);
}

fn circulant(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    let list = |key: &str| expected[key].as_array().expect("a list").clone();
    for point in list("paper_points") {
        let x = exacts(&point["x"]);
        assert_eq!(is_fair(&problem, &x), point["njc"] == Value::Bool(true), "{x:?}");
        assert_eq!(bottlenecks(&problem, &x), indices(&point["bottlenecks"]), "{x:?}");
    }
    let points = vertices(&problem);
    assert_eq!(points.len() as u64, expected["n_extreme_points"].as_u64().expect("a number"));
    let listed = list("extreme_points").iter().map(|point| exacts(&point["x"])).collect();
    assert_eq!(points, sorted(listed));
    for point in list("extreme_points") {
        assert_eq!(loads(&problem, &exacts(&point["x"])), exacts(&point["loads"]));
    }
    // The note counts triangles over pairs that contain the symmetric point. (The number 72 also counts faces
    // that are contained in other faces.)
    let symmetric = exacts(&expected["eg_x"]);
    let polytopes = set(&problem).polytopes;
    assert_eq!(polytopes.len(), 6);
    for polytope in &polytopes {
        assert_eq!((polytope.vertices.len(), polytope.dimension), (3, 2));
        assert!(polytope.vertices.iter().any(|tasks| totals(tasks) == symmetric));
    }
    assert!(holds(&problem, &symmetric, Axiom::Proportional), "without any gap");
    let x = most_used(&problem);
    assert_eq!(x, exacts(&expected["max_util_x"]));
    assert_eq!(loads(&problem, &x).into_iter().sum::<Rational>(), exact(&expected["max_util"]));
}

fn continuum(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    let ends = vertices(&problem);
    assert_eq!(ends, sorted(matrix(&expected["njc_segment"])));
    assert_eq!(set(&problem).polytopes.len(), 1);
    assert!(ends.iter().all(|x| !holds(&problem, x, Axiom::EnvyFree)), "the ends are not envy-free");
    assert_eq!(answer(&problem, "drf"), exacts(&expected["drf"]));
    assert!(holds(&problem, &exacts(&expected["eg"]), Axiom::Proportional), "without any gap");
    assert_near("continuum", &limit(&problem), &near(&exacts(&expected["eg"])), 1e-12);
}

fn manipulation(case: &Value) {
    let (inputs, expected) = (&case["inputs"], &case["expected"]);
    let (truth, lie) = (matrix(&inputs["r"]), exacts(&inputs["lie"]));
    let entitlements = vec![Rational::from((1, 3)); truth.len()];
    let tolerance = number::to_f64(&exact(&case["tolerance"]));
    let honest = limit(&pool(&truth, &entitlements))[0];
    assert_near("truth", &[honest], &floats(&serde_json::json!([expected["truth"]])), tolerance);
    let told = [vec![lie.clone()], truth[1..].to_vec()].concat();
    let granted = limit(&pool(&told, &entitlements))[0];
    let runs =
        lie.iter().zip(&truth[0]).map(|(lie, truth)| granted * number::to_f64(lie) / number::to_f64(truth));
    let lied = runs.fold(1.0, f64::min);
    assert_near("lie", &[lied], &floats(&serde_json::json!([expected["lied"]])), tolerance);
    assert_near("gain", &[lied - honest], &floats(&serde_json::json!([inputs["gain"]])), tolerance);
}

fn zero_entitlement(case: &Value) {
    let (inputs, expected) = (&case["inputs"], &case["expected"]);
    let requests = matrix(&inputs["r"]);
    let flat = requests.iter().flatten().map(number::to_f64).collect();
    let pool_of_0 =
        Pool::with_zero_entitlements(2, flat, floats(&inputs["e"]), vec![1.0; 2]).expect("a pool");
    let x = exacts(&expected["trajectory_limit"]);
    let end =
        integrate(&pool_of_0, &TrajectorySettings { c_max: 1e8, stop_tolerance: 0.0, ..Default::default() });
    assert_near("trajectory", &end.x, &near(&x), 1e-7);
    assert_near("path", &follow(&pool_of_0, &PathSettings::default()).x, &near(&x), 1e-12);
    let one = Rational::from(1);
    let problem = pool(&requests, &[one.clone(), one]);
    assert!(!holds(&problem, &x, Axiom::ParetoOptimal));
}

fn reduction(case: &Value) {
    let expected = &case["expected"];
    let of = |values: &[Rational]| values.iter().map(Rational::to_string).collect::<Vec<_>>().join(", ");
    assert_eq!(entry("njc.reduction.entitlements").ours, of(&exacts(&expected["e"])));
    assert_eq!(entry("njc.reduction.factor").ours, of(&[exact(&expected["factor_res1"])]));
}

/// Checks that the random instances of this test have the statistics that the case states for its own
/// instances.
fn statistics(case: &Value) {
    let (a2, a3) = (&case["expected"]["a2"], &case["expected"]["a3"]);
    assert_eq!(a3["n2_nonunique"], 0);
    assert_eq!(entry("njc.random.two-users-unique").agrees, Some(true));
    for batch in a2["iii"].as_array().expect("a list") {
        assert_eq!(batch["trials"], batch["recovered"]);
    }
    let numbers =
        |text: &str| text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>();
    let all = |text: &str| numbers(text).get(..2).is_some_and(|two| two[0] == two[1]);
    let exactly = &entry("njc.random.exact").ours;
    assert!(all(exactly), "{exactly}");
    let distances = &entry("njc.random.trajectory-converges").ours;
    let distances: Vec<f64> = distances
        .split_whitespace()
        .filter(|word| word.contains("e-"))
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(distances.len() == 3 && distances.is_sorted_by(|a, b| a > b), "{distances:?}");
    assert!(distances[2] < 1e-5, "{distances:?}");
    for (key, case_of_it) in [("greedy3_eg", "njc.greedy3.eg"), ("s51_text", "njc.s51.text")] {
        let other = &golden::case(case_of_it)["expected"];
        assert!(a3[key] == *other || a3[key] == other["eg_x_closed_form"], "{key}");
    }
}

fn other_entitlements(case: &Value) {
    let (inputs, expected) = (&case["inputs"], &case["expected"]);
    let (requests, x, prices) = (matrix(&inputs["r"]), exacts(&inputs["x"]), exacts(&inputs["lam"]));
    let paid = |n: usize| {
        let each = requests[n].iter().zip(&prices).map(|(r, p)| Rational::from(r * p));
        each.sum::<Rational>() * &x[n]
    };
    let entitlements: Vec<Rational> = (0..x.len()).map(paid).collect();
    assert_eq!(entitlements, exacts(&expected["e_prime"]));
    let problem = pool(&requests, &entitlements);
    assert!(holds(&problem, &x, Axiom::Proportional), "without any gap");
    let tolerance = number::to_f64(&exact(&case["tolerance"]));
    assert_near("other entitlements", &limit(&problem), &floats(&expected["eg_for_e_prime"]), tolerance);
    let equal = vec![Rational::from((1, 4)); x.len()];
    let given = pool(&requests, &equal);
    assert!(is_fair(&given, &x) && !holds(&given, &x, Axiom::Proportional), "an answer and not the limit");
}

fn random(case: &Value) {
    let (problem, expected, what) = (pool_of(case), &case["expected"], id(case));
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    assert_near(what, &limit(&problem), &floats(&expected["eg_x"]), 1e-5);
    njc_answer(&problem);
    let x = exacts(&expected["one_exact_njc"]);
    assert!(is_fair(&problem, &x), "{what}");
    let rows = indices(&expected["bottlenecks"]);
    let mut witnesses = vec![None; problem.n_users()];
    for n in indices(&expected["satiated"]) {
        witnesses[n] = Some(Witness::Satisfied);
    }
    for (n, row) in expected["assignment"].as_object().expect("a map") {
        let n: usize = n.parse().expect("a user");
        witnesses[n] = Some(Witness::Row(row.as_u64().expect("a row") as usize));
    }
    let face = Face { bottlenecks: rows, witnesses };
    let tasks: Tasks = granted(&x).tasks;
    assert_eq!(face.contains(&constraints, &tasks), Ok(true), "{what}");
    let all = set(&problem);
    assert!(all.polytopes.iter().any(|p| p.face.contains(&constraints, &tasks) == Ok(true)), "{what}");
    let selected = most_used(&problem);
    assert!(is_fair(&problem, &selected), "{what}");
    let used = |x: &[Rational]| loads(&problem, x).into_iter().sum::<Rational>();
    let best = all.extreme_points.iter().map(|tasks| used(&totals(tasks))).max();
    assert_eq!(Some(used(&selected)), best, "{what}");
    if let Some(best) = expected.get("max_utilisation") {
        assert_near(what, &[number::to_f64(&used(&selected))], &[best.as_f64().expect("a number")], 1e-6);
    }
}

fn trajectory(case: &Value) {
    let (problem, expected) = (pool_of(case), &case["expected"]);
    let tolerance = number::to_f64(&exact(&case["tolerance"]));
    let pool = continuous(&problem);
    let at = |c: f64| {
        let exactly = TrajectorySettings {
            c_max: c,
            relative_tolerance: 1e-10,
            stop_tolerance: 0.0,
            ..Default::default()
        };
        integrate(&pool, &exactly).x
    };
    let points = expected["x_at_c"].as_object().expect("points");
    assert!(points.len() >= 6);
    for (c, x) in points {
        assert_near(id(case), &at(c.parse().expect("a number")), &floats(x), tolerance);
    }
    let early = 1e-7;
    let slope: Vec<f64> = at(early).iter().map(|x| x / early).collect();
    assert_near(id(case), &slope, &floats(&expected["start_slope"]), 1e-6);
}
