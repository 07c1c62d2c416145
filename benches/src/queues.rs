//! Queues on clusters: hierarchical filling in rationals, its certificate and the check of it, at growing sizes.

use std::path::Path;

use evenhand_certify::{certify, default_requests};
use evenhand_exact::check;
use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Rational};
use serde_json::{Map, Value, json};

use crate::instances::Random;
use crate::machine::Clock;
use crate::table::{markdown, seconds};

/// Teams of a department and queues of a team, at most.
const TEAMS_OF_A_DEPARTMENT: usize = 8;
const QUEUES_OF_A_TEAM: usize = 5;
const RESOURCES: [&str; 3] = ["cpu", "memory", "gpu"];

/// What a cluster with queues is like: a tree of depth 3, queues with guarantees (seven tenths of them) and limits
/// (three tenths), shapes with 5 to 20 classes each, half of them with a number of tasks; two fifths of the classes
/// have gpus, and the shapes that ask for them run only there.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Queues without subgroups.
    pub queues: usize,
    /// Users.
    pub shapes: usize,
    /// Server classes.
    pub classes: usize,
}

/// The instances of the table, smaller ones first.
pub const SHAPES: &[Shape] = &[
    Shape { queues: 20, shapes: 100, classes: 20 },
    Shape { queues: 50, shapes: 300, classes: 50 },
    Shape { queues: 50, shapes: 500, classes: 30 },
    Shape { queues: 100, shapes: 1_000, classes: 150 },
    Shape { queues: 200, shapes: 2_000, classes: 300 },
];

impl Shape {
    /// The problem of a seed, as a file.
    #[must_use]
    pub fn json(&self, seed: u64) -> Value {
        let mut random = Random::new(seed, (self.shapes * 1_000_003 + self.classes) as u64);
        let mut total = [0u64; RESOURCES.len()];
        let mut with_gpus = Vec::new();
        let mut servers = Vec::new();
        for i in 0..self.classes {
            let has_gpus = i == 0 || random.between(1, 5) <= 2;
            let count = random.between(1, 199);
            let one = [random.between(16, 128), random.between(32, 512), if has_gpus { 8 } else { 0 }];
            for (total, one) in total.iter_mut().zip(one) {
                *total += count * one;
            }
            if has_gpus {
                with_gpus.push(i);
            }
            servers.push(json!({"name": class_name(i), "count": count, "capacity": amounts(&one)}));
        }
        let groups = self.groups(&total, &mut random);
        let users: Vec<Value> =
            (0..self.shapes).map(|n| self.user(n, &with_gpus, &total, &mut random)).collect();
        json!({"kind": "allocation-problem", "name": self.name(), "resources": RESOURCES, "servers": servers,
               "groups": groups, "users": users})
    }

    /// As in tables: `200 queues, 2000 shapes, 300 classes`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} queues, {} shapes, {} classes", self.queues, self.shapes, self.classes)
    }

    fn groups(&self, total: &[u64], random: &mut Random) -> Vec<Value> {
        let teams = self.queues.div_ceil(QUEUES_OF_A_TEAM);
        let departments = teams.div_ceil(TEAMS_OF_A_DEPARTMENT);
        let mut groups = Vec::new();
        for d in 0..departments {
            groups.push(json!({"name": format!("department {d}"), "weight": random.between(1, 4)}));
        }
        for t in 0..teams {
            let parent = format!("department {}", t % departments);
            groups
                .push(json!({"name": format!("team {t}"), "parent": parent, "weight": random.between(1, 4)}));
        }
        for q in 0..self.queues {
            let mut group = json!({"name": queue_name(q), "parent": format!("team {}", q % teams),
                                   "weight": random.between(1, 10)});
            // Up to two thirds of an equal part.
            let part = |random: &mut Random, total: u64, tenths: u64| {
                total * random.between(1, tenths) / (10 * self.queues as u64)
            };
            let mut promised = [0; RESOURCES.len()];
            if random.between(1, 10) <= 7 {
                promised = [0, 1, 2].map(|r: usize| part(random, total[r], 7));
                group["guarantee"] = amounts(&promised);
            }
            if random.between(1, 10) <= 3 {
                let limit = [0, 1, 2].map(|r: usize| promised[r] + 1 + part(random, total[r], 20));
                group["limit"] = amounts(&limit);
            }
            groups.push(group);
        }
        groups
    }

    fn user(&self, n: usize, with_gpus: &[usize], total: &[u64], random: &mut Random) -> Value {
        let asks_for_gpus = random.between(1, 5) <= 2;
        let gpus = if asks_for_gpus { random.between(1, 8) } else { 0 };
        let demand = [random.between(1, 32), random.between(1, 64), gpus];
        let mut classes = if asks_for_gpus { with_gpus.to_vec() } else { (0..self.classes).collect() };
        let k = random.between(5, 20) as usize;
        while classes.len() > k {
            classes.swap_remove(random.below(classes.len()));
        }
        classes.sort_unstable();
        let classes: Vec<String> = classes.into_iter().map(class_name).collect();
        let mut user = json!({"name": format!("shape {n}"), "group": queue_name(random.below(self.queues)),
                              "weight": random.between(1, 4), "demand": amounts(&demand), "servers": classes});
        if random.between(1, 2) == 1 {
            // Around an equal part of the resource that it asks for most of.
            let parts = demand.iter().zip(total).filter(|(d, _)| **d > 0).map(|(d, total)| total / d);
            let equal = parts.min().unwrap_or(1) / self.shapes as u64;
            user["tasks"] = json!((equal * random.between(1, 30) / 10).max(1));
        }
        user
    }
}

fn amounts(values: &[u64]) -> Value {
    let named = RESOURCES.iter().zip(values).filter(|(_, value)| **value > 0);
    Value::Object(named.map(|(r, value)| ((*r).to_owned(), json!(value))).collect::<Map<_, _>>())
}

fn class_name(i: usize) -> String {
    format!("s{i}")
}

fn queue_name(q: usize) -> String {
    format!("queue {q}")
}

/// A table of the sizes with at most so many shapes of tasks; each problem is also written to `folder`.
///
/// # Errors
/// When a file cannot be written, or an answer is not proven.
pub fn table(seed: u64, most_shapes: usize, folder: Option<&Path>) -> Result<String, String> {
    let shapes: Vec<&Shape> = SHAPES.iter().filter(|shape| shape.shapes <= most_shapes).collect();
    let texts: Vec<String> = shapes.iter().map(|shape| shape.json(seed).to_string()).collect();
    for (shape, text) in shapes.iter().zip(&texts) {
        if let Some(folder) = folder {
            let path = folder.join(format!("queues-{}-{}.json", shape.shapes, shape.classes));
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    let rows: Vec<Vec<String>> =
        shapes.iter().zip(&texts).map(|(shape, text)| row(shape, text)).collect::<Result<_, _>>()?;
    let head = [
        "queues, shapes, classes",
        "segments",
        "programmes",
        "widest number",
        "solve",
        "certify",
        "check",
        "in all",
    ];
    Ok(markdown(&head, &rows, 1))
}

fn row(shape: &Shape, text: &str) -> Result<Vec<String>, String> {
    let problem = Source { name: "queues", text }.problem().map_err(|error| error.to_string())?;
    let mechanism = registry::find("tree").ok_or("there is no mechanism `tree`")?;
    let start = Clock::now();
    let cpu = || {
        let (wall, cpu) = start.elapsed();
        cpu.unwrap_or(wall)
    };
    let outcome = mechanism.allocate(&problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
    let solved = cpu();
    let requests = default_requests(&problem, &outcome.allocation);
    let examined = certify(&problem, &outcome.allocation, &requests, &Rational::new());
    let examined = examined.map_err(|error| error.to_string())?;
    let certified = cpu();
    let verdict = check(&examined.certificate);
    if let Some(reason) = verdict.reason {
        return Err(format!("{}: the certificate is not valid: {reason}", shape.name()));
    }
    let checked = cpu();
    let bits = |x: &Rational| x.numer().significant_bits() + x.denom().significant_bits();
    let widest = outcome.allocation.totals().iter().map(bits).max().unwrap_or_default();
    Ok(vec![
        shape.name(),
        outcome.rounds.to_string(),
        outcome.programmes.to_string(),
        format!("{widest} bits"),
        seconds(solved),
        seconds(certified - solved),
        seconds(checked - certified),
        seconds(checked),
    ])
}
