//! Example certificates about whole tasks over time.

use evenhand_exact::ratio::{Tree, TreeNode};
use evenhand_exact::{Axiom, Certificate, Evidence, Instance, Packing, PackingLevel, Share};

use super::{allocation, certificate, derived, problem, with};
use crate::q;

fn packing(server: usize, part: &str, tasks: &[(usize, u64)]) -> Packing {
    Packing { server, part: q(part), tasks: tasks.to_vec() }
}

/// Returns certificates of claims that hold, and of claims that are violated.
pub(super) fn certificates() -> Vec<(&'static str, Certificate)> {
    let share = Some(Share::Dominant);
    // Kesidis (19), (20). A packing of either server has at most 21 tasks, since 6 (k + l) <= 130.
    let servers = problem(
        r#"{"kind": "allocation-problem", "name": "Kesidis (19), (20)", "resources": ["cpu", "memory"],
        "servers": [{"name": "first", "capacity": {"cpu": 100, "memory": 30}},
                    {"name": "second", "capacity": {"cpu": 30, "memory": 100}}],
        "users": [{"name": "one", "demand": {"cpu": 5, "memory": 1}},
                  {"name": "other", "demand": {"cpu": 1, "memory": 5}}]}"#,
    );
    let root = Tree {
        multipliers: vec![vec![(0, q("1/6")), (1, q("1/6"))]],
        nodes: vec![TreeNode::Leaf { multipliers: 0 }],
    };
    let level = PackingLevel {
        covers: vec![0, 1],
        user_weights: vec![(0, q("1")), (1, q("1"))],
        class_prices: vec![(0, q("21")), (1, q("21"))],
        user_prices: Vec::new(),
        pricing: vec![(0, root.clone()), (1, root)],
    };
    let schedule = vec![packing(0, "1", &[(0, 19), (1, 2)]), packing(1, "1", &[(0, 2), (1, 19)])];
    let evidence = || Evidence::Packings { schedule: schedule.clone(), levels: vec![level.clone()] };
    let x =
        allocation(&servers, r#"{"one": {"first": 19, "second": 2}, "other": {"first": 2, "second": 19}}"#);
    let instance = Instance::new(&servers, &x).unwrap();
    let mut claims = derived(&instance);
    claims.push(with(Axiom::MaxMinPackings, share, evidence(), &instance));
    let kesidis = certificate(&servers, &x, claims);

    // If tasks are divisible, each user can have 65/3 tasks.
    let x = allocation(
        &servers,
        r#"{"one": {"first": "235/12", "second": "25/12"}, "other": {"first": "25/12", "second": "235/12"}}"#,
    );
    let instance = Instance::new(&servers, &x).unwrap();
    let mut claims = derived(&instance);
    claims.push(with(Axiom::MaxMinPackings, share, evidence(), &instance));
    let divided = certificate(&servers, &x, claims);

    // `few` has one task, and `many` gets 3 tasks over time. `same` has the demand of `many`, but may not run
    // on the servers of `many`.
    let finite = problem(
        r#"{"kind": "allocation-problem", "name": "finite tasks", "resources": ["cpu"],
        "servers": [{"name": "pair", "count": 2, "capacity": {"cpu": 5}}, {"name": "small", "capacity": {"cpu": 2}}],
        "users": [{"name": "many", "demand": {"cpu": 2}, "servers": ["pair"]},
                  {"name": "few", "demand": {"cpu": 3}, "tasks": 1},
                  {"name": "same", "demand": {"cpu": 2}, "servers": ["small"], "weight": 2},
                  {"name": "large", "demand": {"cpu": 6}}]}"#,
    );
    let x = allocation(&finite, r#"{"many": {"pair": 3}, "few": {"pair": 1}, "same": {"small": 1}}"#);
    let instance = Instance::new(&finite, &x).unwrap();
    let split = Tree {
        multipliers: vec![Vec::new()],
        nodes: vec![
            TreeNode::Split { job: 1, at: 1 },
            TreeNode::Leaf { multipliers: 0 },
            TreeNode::Leaf { multipliers: 0 },
        ],
    };
    let levels = vec![
        PackingLevel { covers: vec![3], user_weights: vec![(3, q("1"))], ..PackingLevel::default() },
        PackingLevel {
            covers: vec![2],
            user_weights: vec![(2, q("1"))],
            class_prices: vec![(1, q("1"))],
            ..PackingLevel::default()
        },
        PackingLevel {
            covers: vec![0],
            user_weights: vec![(0, q("1")), (1, q("2"))],
            class_prices: vec![(0, q("2"))],
            user_prices: vec![(1, q("1"))],
            pricing: vec![(0, split)],
        },
    ];
    let schedule =
        vec![packing(0, "1/2", &[(0, 2)]), packing(0, "1/2", &[(0, 1), (1, 1)]), packing(1, "1", &[(2, 1)])];
    let evidence = Evidence::Packings { schedule, levels };
    let mut claims = derived(&instance);
    claims.push(with(Axiom::MaxMinPackings, share, evidence.clone(), &instance));
    claims.push(with(Axiom::MaxMinPackings, Some(Share::TaskShare), evidence, &instance));
    let finite = certificate(&finite, &x, claims);
    vec![("packings", kesidis), ("packings-violated", divided), ("packings-finite", finite)]
}
