//! Tests of lexicographic optima of clusters with placement constraints, with many levels and many ties. Every optimum
//! must be exact, and its own prices must prove it.

use crate::common;

use common::{assert_feasible, assert_proven, exact, factor};
use evenhand_exact::axiom::max_min::Standing;
use evenhand_exact::{Instance, Share};
use evenhand_levels::level::{Settings, lexicographic_duals_nearly};
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Sharing, format::Source};
use evenhand_testkit::random::clusters::{Cluster, Eligibility};
use evenhand_testkit::random::static_shares::Noise;
use evenhand_testkit::{reference, total};

fn solve(problem: &Problem, share: Share) {
    let Ok(coefficients) = share.coefficients(problem) else { return };
    let optimum = exact(problem, Sharing::Rdm, &coefficients).expect("an exact optimum");
    assert_feasible(problem, Sharing::Rdm, &optimum.tasks);
    assert_proven(problem, Sharing::Rdm, share, &optimum);
}

#[test]
fn solves_clusters_of_many_shapes() {
    for seed in 0..u64::from(80 * factor()) {
        let mut noise = Noise::new(seed);
        let cluster = Cluster::any(&mut noise);
        let problem = cluster.problem(&mut noise);
        let share = if seed % 2 == 0 { Share::Dominant } else { Share::TaskShare };
        let solved = std::panic::catch_unwind(|| solve(&problem, share));
        assert!(solved.is_ok(), "seed {seed}: {cluster:?}");
    }
}

/// Small clusters compared with the dense reference.
#[test]
fn small_clusters_equal_the_reference() {
    for seed in 0..u64::from(60 * factor()) {
        let mut noise = Noise::new(seed);
        let any = Cluster::any(&mut noise);
        let cluster = Cluster { users: 1 + any.users % 7, classes: 1 + any.classes % 4, ..any };
        let problem = cluster.problem(&mut noise);
        let share = Share::Dominant.coefficients(&problem).expect("it applies");
        let optimum = exact(&problem, Sharing::Rdm, &share).expect("an exact optimum");
        let levels = reference::lexicographic(&problem, Sharing::Rdm, &share);
        for (n, (tasks, level)) in optimum.tasks.iter().zip(&levels).enumerate() {
            let weight = problem.users()[n].weight();
            let mine = share.of(n, 0) * total(tasks) / weight;
            assert_eq!(mine, *level, "seed {seed}, user {n}: {cluster:?}");
        }
    }
}

/// Users with one to three of thirty classes each, and a few dozen levels. Rounding makes the programme of a late round
/// infeasible.
#[test]
fn solves_sparse_placement_constraints() {
    let texts = [include_str!("../data/sparse-141x30.json"), include_str!("../data/sparse-400x30.json")];
    for text in texts {
        let problem = Source { name: "sparse", text }.problem().unwrap();
        for share in [Share::Dominant, Share::TaskShare] {
            solve(&problem, share);
        }
    }
}

/// All users may run on all of many classes. The simplex method would need more pivots than it is
/// allowed, so the basis comes from an interior point.
#[test]
fn solves_many_classes_open_to_all_users() {
    for (seed, zero, finite) in [(1, 0, 0), (2, 25, 0), (3, 0, 60)] {
        let mut noise = Noise::new(seed);
        let cluster = Cluster { users: 300, classes: 50, resources: 3, zero, finite, ..LARGE };
        solve(&cluster.problem(&mut noise), Share::Dominant);
    }
}

/// Parts are solved in parallel and combined in one order.
#[test]
fn the_answer_does_not_depend_on_threads() {
    let mut noise = Noise::new(5);
    let cluster = Cluster { users: 200, classes: 60, resources: 3, eligibility: Eligibility::Few, ..LARGE };
    let problem = cluster.problem(&mut noise);
    let share = Share::Dominant.coefficients(&problem).expect("it applies");
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let optimum = pool.install(|| exact(&problem, Sharing::Rdm, &share)).expect("an exact optimum");
        let duals = optimum.duals.into_iter().map(|d| (d.level, d.prices));
        (optimum.tasks, duals.collect::<Vec<_>>())
    };
    let one = on(1);
    assert!(one.1.len() > 3, "there should be several levels");
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
}

/// Prices from doubles prove true bounds, and bound nearly all users as the exact prices do.
#[test]
fn short_prices_prove_levels_up_to_rounding() {
    let least = Rational::from((1, 1_000_000_000));
    for (seed, eligibility) in [(6, Eligibility::Everywhere), (7, Eligibility::Few), (8, Eligibility::Zones)]
    {
        let mut noise = Noise::new(seed);
        let problem =
            Cluster { users: 300, classes: 30, resources: 3, eligibility, ..LARGE }.problem(&mut noise);
        let share = Share::Dominant.coefficients(&problem).expect("it applies");
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let optimum = exact(&problem, Sharing::Rdm, &share).expect("an exact optimum");
        let allocation = Allocation { tasks: optimum.tasks, ..Allocation::default() };
        let instance = Instance::new(&problem, &allocation).expect("it fits");
        let standing = Standing::new(&instance, &share).expect("short numbers");
        let all = standing.uncovered().len();
        // The search starts from no allocation, from the answer, and from an allocation that is not the answer.
        let other = vec![vec![(0, 1.0)]; problem.n_users()];
        let of_user = |row: &Vec<(usize, Rational)>| row.iter().map(|(i, x)| (*i, x.to_f64())).collect();
        let answer: Vec<Vec<(usize, f64)>> = allocation.tasks.iter().map(of_user).collect();
        for known in [None, Some(&answer), Some(&other)] {
            let mut open = standing.uncovered();
            for dual in lexicographic_duals_nearly(&constraints, &share, &Settings::default(), known) {
                let curve = standing.curve(&dual.prices).expect("valid prices");
                let short = dual.prices.user_weights.iter().map(|(_, l)| l.denom().significant_bits()).max();
                assert!(short.unwrap_or(0) < 500, "long numbers");
                open.retain(|n| curve.is_within(*n, &least) != Some(true));
            }
            assert!(10 * open.len() < all, "{} of {all} users are not bounded", open.len());
        }
    }
}

const LARGE: Cluster = Cluster {
    users: 0,
    classes: 0,
    resources: 0,
    eligibility: Eligibility::Everywhere,
    zero: 0,
    finite: 0,
    most: 64,
    weights: 5,
};
