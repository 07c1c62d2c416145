//! Tests of exact answers that are hard to compute from an approximate answer. If every user has all its tasks and some
//! resources are completely full, most placements are free and few of them fit. If classes differ by many orders of
//! magnitude, an amount that is negligible for a user is all of a class.

use evenhand_certify::{Request, certify};
use evenhand_exact::Axiom;
use evenhand_import::{Input, openb};
use evenhand_mechanisms::registry;
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use evenhand_testkit::data::data;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn is_exact(problem: &Problem, what: &str) {
    let mechanism = registry::find("ps-dsf").expect("registered");
    let outcome =
        mechanism.allocate(problem, Arithmetic::Exact).unwrap_or_else(|error| panic!("{what}: {error}"));
    let requests = [Request::of(Axiom::Feasible), Request::of(Axiom::PsDsf)];
    let examined = certify(problem, &outcome.allocation, &requests, &Rational::new()).expect("an allocation");
    for claim in &examined.certificate.claims {
        assert_eq!(claim.holds, Some(true), "{what}: {}", claim.axiom.name());
    }
}

/// Returns a problem made by placing whole tasks at random. The users have exactly these tasks. Classes have exactly
/// enough capacity for them, or more.
fn filled(random: &mut Pcg64Mcg) -> Problem {
    let (n_users, n_classes, n_resources) =
        (random.random_range(5..=40), random.random_range(2..=8), random.random_range(1..=3));
    let resources: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
    let mut used = vec![vec![0_u32; n_resources]; n_classes];
    let mut users = Vec::new();
    for n in 0..n_users {
        let demand: Vec<u32> = (0..n_resources).map(|_| random.random_range(1..=9)).collect();
        let mut tasks = 0;
        for class in &mut used {
            let placed = if random.random_bool(0.5) { random.random_range(0..=6) } else { 0 };
            tasks += placed;
            class.iter_mut().zip(&demand).for_each(|(used, d)| *used += placed * d);
        }
        users.push(UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(random.random_range(1..=3))),
            tasks: Some(Rational::from(tasks)),
            demand: resources.iter().cloned().zip(demand.into_iter().map(Rational::from)).collect(),
            ..UserSpec::default()
        });
    }
    let servers = used.iter().enumerate().map(|(i, used)| ServerSpec {
        name: format!("s{i}"),
        count: None,
        capacity: resources
            .iter()
            .zip(used)
            .map(|(name, used)| {
                let spare = if random.random_bool(0.4) { 0 } else { random.random_range(1..=30) };
                (name.clone(), Rational::from((used + spare).max(1)))
            })
            .collect(),
    });
    let servers = servers.collect();
    Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })
        .expect("a valid problem")
}

#[test]
fn clusters_with_exactly_the_requested_capacity_are_exact() {
    let mut random = Pcg64Mcg::seed_from_u64(4);
    for k in 0..150 {
        is_exact(&filled(&mut random), &format!("problem {k}"));
    }
}

/// Returns a problem with classes of one server and classes of a thousand million servers. The capacities differ by the
/// same factor.
fn wide(random: &mut Pcg64Mcg) -> Problem {
    let resources: Vec<String> = (0..random.random_range(1..=3)).map(|r| format!("r{r}")).collect();
    let n_classes = random.random_range(2..=4);
    let servers = (0..n_classes).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: Some(Rational::from(10_u64.pow(random.random_range(0..=9)))),
        capacity: resources
            .iter()
            .map(|name| {
                let size = 10_u64.pow(random.random_range(0..=4));
                (name.clone(), Rational::from(random.random_range(1..=9) * size))
            })
            .collect(),
    });
    let servers = servers.collect();
    let users = (0..random.random_range(1..=4)).map(|n| UserSpec {
        name: format!("u{n}"),
        weight: Some(Rational::from(random.random_range(1..=3))),
        demand: resources
            .iter()
            .map(|name| (name.clone(), Rational::from(random.random_range(1..=9))))
            .collect(),
        ..UserSpec::default()
    });
    let users = users.collect();
    Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })
        .expect("a valid problem")
}

#[test]
fn classes_of_very_different_sizes_are_exact() {
    let mut random = Pcg64Mcg::seed_from_u64(9);
    for k in 0..300 {
        is_exact(&wide(&mut random), &format!("problem {k}"));
    }
}

#[test]
fn the_openb_cluster_is_exact_for_several_pod_lists() {
    let Some(folder) = data("alibaba_gpu2023_openb") else { return };
    for pods in ["default", "gpuspec10", "gpuspec33", "multigpu50", "cpu037", "cpu0"] {
        let open = |name: &str| Input::open(&folder.join(name)).expect("a file of the trace");
        let nodes = open("openb_node_list_all_node.csv.gz");
        let import = openb(nodes, open(&format!("openb_pod_list_{pods}.csv.gz"))).expect("a trace");
        is_exact(&import.problem, pods);
    }
}
