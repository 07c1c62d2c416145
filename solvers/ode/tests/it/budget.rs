//! Tests that the budget is charged before steps are taken.

use evenhand_budget::{Kind, Limits, spent, within};
use evenhand_ode::cluster::{self, ClassUse, Cluster, UserModel};
use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::pool::Pool;
use evenhand_ode::trajectory::{TrajectorySettings, integrate};

fn pool() -> Pool {
    let requests = (0..60).map(|k| f64::from(1 + k * 7 % 11) / 11.0).collect();
    Pool::new(3, requests, vec![1.0; 20], vec![1.0; 20]).unwrap()
}

fn cluster() -> Cluster {
    let user = |n: usize| UserModel {
        weight: 1.0 + (n % 3) as f64,
        limit: f64::INFINITY,
        placements: (0..4)
            .map(|i| ClassUse { worth: 1.0, usage: vec![(i, 0.01 * (1 + (n + i) % 5) as f64)] })
            .collect(),
    };
    let users: Vec<UserModel> = (0..20).map(user).collect();
    Cluster::new(4, &users, 1.0).unwrap()
}

#[track_caller]
fn ends_with_less_than_it_needs(run: impl Fn()) {
    let cost = |work| {
        within(&Limits { work, ..Limits::default() }, || {
            run();
            spent()
        })
    };
    let needed = cost(None).unwrap();
    assert!(needed > 1000, "{needed}");
    assert_eq!(cost(Some(needed)), Ok(needed));
    for limit in [0, needed / 10, needed - 1] {
        assert_eq!(cost(Some(limit)).unwrap_err().kind, Kind::Work { limit });
    }
}

#[test]
fn a_path_ends_at_its_limit() {
    let pool = pool();
    ends_with_less_than_it_needs(|| drop(follow(&pool, &PathSettings::default())));
}

#[test]
fn a_trajectory_ends_at_its_limit() {
    let pool = pool();
    ends_with_less_than_it_needs(|| drop(integrate(&pool, &TrajectorySettings::default())));
}

#[test]
fn the_methods_for_clusters_end_at_their_limits() {
    let cluster = cluster();
    ends_with_less_than_it_needs(|| drop(cluster::solve(&cluster, &cluster::Settings::default())));
    ends_with_less_than_it_needs(|| drop(cluster::solve_by_prices(&cluster)));
}
