//! Random clusters with queues.

use serde_json::{Map, Value, json};

use crate::instances::Random;

/// The largest number of teams of a department.
const TEAMS_OF_A_DEPARTMENT: usize = 8;
/// The largest number of queues of a team.
const QUEUES_OF_A_TEAM: usize = 5;
/// The number of queues in a division of [`Kind::Deep`].
const QUEUES_OF_A_DIVISION: usize = 20;
const RESOURCES: [&str; 3] = ["cpu", "memory", "gpu"];

/// The kind of a cluster with queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A tree of depth 3. Seven tenths of the queues have guarantees, and three tenths have limits. A shape
    /// of tasks may run on 5 to 20 classes, and half of the shapes have a finite number of tasks. Two fifths
    /// of the classes have GPUs, and shapes that demand GPUs run only on these classes.
    Teams,
    /// A tree like that of `Teams`, but with depth 4. Weights are from 1 to 100, divisions have guarantees
    /// too, and a tenth of the queues have priorities. Each shape may run on 2 to 6 neighbouring classes.
    Deep,
    /// Sibling queues without guarantees. All shapes have unlimited tasks, and each shape may run on 30 to
    /// 120 classes.
    Open,
    /// Shares of the surplus divided by the lendable amount, as in Kueue. Every queue has a limit, and a
    /// guarantee of four tenths to all of an equal share. Half of the queues lend only a part of their
    /// guarantee, and a tenth of the queues have the weight 0.
    Promised,
    /// The queues of ten departments. Half of the queues have a guarantee, and a third have a limit. Half of
    /// the shapes may run on every class. The other shapes may run on a half, a quarter or a tenth of the
    /// classes. Most shapes have few tasks.
    Anywhere,
    /// A tree like [`Kind::Teams`], in which three tenths of the queues have limits on a tenth of the
    /// classes.
    OnClasses,
}

impl Kind {
    /// Returns the name of the kind in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Teams => "teams",
            Self::Deep => "deep",
            Self::Open => "open",
            Self::Promised => "promised",
            Self::Anywhere => "anywhere",
            Self::OnClasses => "on-classes",
        }
    }

    /// Returns the number of classes on which a shape may run, out of `all` classes.
    fn classes(self, all: usize, random: &mut Random) -> usize {
        let between = |random: &mut Random, least, most| random.between(least, most) as usize;
        match self {
            Self::Deep => between(random, 2, 6),
            Self::Open => between(random, 30, 120),
            Self::Anywhere => all / [1, 1, 1, 2, 4, 10][random.below(6)],
            _ => between(random, 5, 20),
        }
    }
}

/// The parameters of a random cluster.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The kind of the cluster.
    pub kind: Kind,
    /// The number of queues without subgroups.
    pub queues: usize,
    /// The number of users.
    pub shapes: usize,
    /// The number of server classes.
    pub classes: usize,
}

impl Shape {
    /// Returns the problem with the seed `seed` in the form of a file.
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
        let groups = match self.kind {
            Kind::Open => (0..self.queues)
                .map(|q| json!({"name": queue_name(q), "weight": random.between(1, 10)}))
                .collect(),
            _ => self.groups(&total, &mut random),
        };
        let users: Vec<Value> =
            (0..self.shapes).map(|n| self.user(n, &with_gpus, &total, &mut random)).collect();
        let mut problem = json!({"kind": "allocation-problem", "name": self.name(), "resources": RESOURCES,
                                 "servers": servers, "groups": groups, "users": users});
        if self.kind == Kind::Promised {
            problem["share"] = json!({"of": "surplus", "over": "lendable"});
        }
        problem
    }

    /// Returns the name of the shape in tables, such as `teams: 200 queues, 2000 shapes, 300 classes`.
    #[must_use]
    pub fn name(&self) -> String {
        let Self { kind, queues, shapes, classes } = self;
        format!("{}: {queues} queues, {shapes} shapes, {classes} classes", kind.name())
    }

    /// Returns a short file name.
    #[must_use]
    pub fn file(&self) -> String {
        format!("queues-{}-{}-{}.json", self.kind.name(), self.shapes, self.classes)
    }

    fn groups(&self, total: &[u64], random: &mut Random) -> Vec<Value> {
        let teams = self.queues.div_ceil(QUEUES_OF_A_TEAM);
        let departments = teams.div_ceil(TEAMS_OF_A_DEPARTMENT);
        let mut groups = Vec::new();
        for d in 0..departments {
            groups.push(json!({"name": format!("department {d}"), "weight": random.between(1, 4)}));
        }
        let divisions = if self.kind == Kind::Deep { self.queues.div_ceil(QUEUES_OF_A_DIVISION) } else { 0 };
        for v in 0..divisions {
            let third = |total: &u64| total * random.between(1, 3) / (9 * divisions as u64);
            let promised: Vec<u64> = total.iter().map(third).collect();
            groups.push(json!({"name": format!("division {v}"), "weight": random.between(1, 100),
                               "parent": format!("department {}", v % departments),
                               "guarantee": amounts(&promised)}));
        }
        for t in 0..teams {
            let parent = match divisions {
                0 => format!("department {}", t % departments),
                _ => format!("division {}", t % divisions),
            };
            groups
                .push(json!({"name": format!("team {t}"), "parent": parent, "weight": random.between(1, 4)}));
        }
        for q in 0..self.queues {
            groups.push(self.queue(q, q % teams, total, random));
        }
        groups
    }

    fn queue(&self, q: usize, team: usize, total: &[u64], random: &mut Random) -> Value {
        let mut group = json!({"name": queue_name(q), "parent": format!("team {team}"),
                               "weight": random.between(1, if self.kind == Kind::Deep { 100 } else { 10 })});
        let tenths_of_a_part = |random: &mut Random, total: u64, least: u64, most: u64| {
            total * random.between(least, most) / (10 * self.queues as u64)
        };
        let all = [0, 1, 2];
        let mut promised = [0; RESOURCES.len()];
        let is_promised = self.kind == Kind::Promised;
        if is_promised || random.between(1, 10) <= 7 {
            let (least, most) = if is_promised { (4, 10) } else { (1, 7) };
            promised = all.map(|r: usize| tenths_of_a_part(random, total[r], least, most));
            group["guarantee"] = amounts(&promised);
        }
        if is_promised || random.between(1, 10) <= 3 {
            let limit = all.map(|r: usize| promised[r] + 1 + tenths_of_a_part(random, total[r], 1, 20));
            group["limit"] = amounts(&limit);
        }
        if is_promised && random.between(1, 2) == 1 {
            group["lend"] = amounts(&promised.map(|amount| amount / 2));
        }
        if is_promised && random.between(1, 10) == 1 {
            group["weight"] = json!(0);
        }
        if self.kind == Kind::Deep && random.between(1, 10) == 1 {
            group["priority"] = json!(1);
        }
        if self.kind == Kind::OnClasses && random.between(1, 10) <= 3 {
            let classes: Vec<String> =
                (0..self.classes).filter(|_| random.between(1, 10) == 1).map(class_name).collect();
            if !classes.is_empty() {
                let limit = all.map(|r: usize| 1 + tenths_of_a_part(random, total[r], 1, 3));
                group["on"] = json!([{"servers": classes, "limit": amounts(&limit)}]);
            }
        }
        group
    }

    fn user(&self, n: usize, with_gpus: &[usize], total: &[u64], random: &mut Random) -> Value {
        let asks_for_gpus = random.between(1, 5) <= 2;
        let gpus = if asks_for_gpus { random.between(1, 8) } else { 0 };
        let demand = [random.between(1, 32), random.between(1, 64), gpus];
        let mut classes = if asks_for_gpus { with_gpus.to_vec() } else { (0..self.classes).collect() };
        let k = self.kind.classes(self.classes, random).max(1);
        if self.kind == Kind::Deep {
            let from = random.below(classes.len());
            classes.rotate_left(from);
            classes.truncate(k);
        }
        while classes.len() > k {
            classes.swap_remove(random.below(classes.len()));
        }
        classes.sort_unstable();
        let classes: Vec<String> = classes.into_iter().map(class_name).collect();
        let mut user = json!({"name": format!("shape {n}"), "group": queue_name(random.below(self.queues)),
                              "weight": random.between(1, 4), "demand": amounts(&demand), "servers": classes});
        if self.kind == Kind::Anywhere && random.between(1, 10) <= 7 {
            user["tasks"] = json!(random.between(1, 200));
        } else if !matches!(self.kind, Kind::Open | Kind::Anywhere) && random.between(1, 2) == 1 {
            // The number of tasks is around an equal share of the resource that limits the user most.
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
