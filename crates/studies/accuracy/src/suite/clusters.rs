//! Clusters whose exact answer has to be computed. Some clusters are random, in many shapes. Others imitate
//! two traces.

use evenhand_problem::{Problem, ProblemError, ProblemSpec, Rational, ServerSpec, UserSpec};

use super::draw::{Draw, scaled};
use super::{Recipe, Size, add};
use crate::case::{Case, Input, Kind};

/// The special features of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits {
    /// The number of classes that a user may use; 0 for all classes.
    pub allowed: usize,
    /// True if a third of the users have a limited number of tasks.
    pub limits: bool,
    /// True if the unit of the first resource is a billionth of the unit of the other resources, as for
    /// bytes.
    pub bytes: bool,
    /// True if a quarter of the users demand `10^12` times less than the other users.
    pub far: bool,
    /// True if a third of the users have a billionth of the weight of the other users.
    pub tiny_weights: bool,
    /// True if every second user equals the user before it up to a billionth of its demand.
    pub near_ties: bool,
    /// True if all classes are identical, and users are identical in groups of four.
    pub degenerate: bool,
    /// True if the first class has a billionth of the capacity of the other classes, and a third of the users
    /// may use no other class.
    pub nearly_nothing: bool,
    /// True if only a few whole tasks fit on the servers.
    pub whole: bool,
}

pub(super) fn recipes(all: &mut Vec<Recipe>) {
    use Size::{Large, Small};
    let usual = Traits::default();
    let sparse = Traits { allowed: 2, ..usual };
    let shapes: [(&str, Size, Shape); 13] = [
        ("random-5x2", Small, (5, 2, 2, usual)),
        ("random-20x4", Small, (20, 4, 3, usual)),
        ("sparse-24x8", Small, (24, 8, 3, sparse)),
        ("limits-20x4", Large, (20, 4, 3, Traits { limits: true, ..usual })),
        ("near-ties-16x4", Small, (16, 4, 3, Traits { near_ties: true, ..usual })),
        ("bytes-16x4", Large, (16, 4, 3, Traits { bytes: true, ..usual })),
        ("far-apart-16x4", Large, (16, 4, 3, Traits { far: true, ..usual })),
        ("tiny-weights-16x4", Large, (16, 4, 3, Traits { tiny_weights: true, ..usual })),
        ("degenerate-16x4", Large, (16, 4, 3, Traits { degenerate: true, ..usual })),
        ("nearly-nothing-16x4", Large, (16, 4, 3, Traits { nearly_nothing: true, ..usual })),
        ("random-100x10", Large, (100, 10, 3, usual)),
        ("sparse-300x40", Large, (300, 40, 3, Traits { allowed: 4, ..usual })),
        ("sparse-2000x100", Large, (2_000, 100, 3, Traits { allowed: 3, ..usual })),
    ];
    for kind in [Kind::MaxMinDrfh, Kind::MaxMinTsf, Kind::Utilitarian, Kind::Market] {
        for (name, size, shape) in shapes {
            if kind == Kind::Utilitarian && size == Large && shape.0 < 100 && !shape.3.bytes && !shape.3.far {
                continue;
            }
            // Both kinds of levels use this shape. The small suite needs it only once.
            let size = if kind == Kind::MaxMinTsf && name == "near-ties-16x4" { Large } else { size };
            add(all, kind, size, name, move |seed| cluster(name, seed, shape));
        }
        let size = if kind == Kind::MaxMinDrfh { Small } else { Large };
        add(all, kind, size, "google-like-20", |seed| google_like(20, seed));
        add(all, kind, Large, "openb-like-60", |seed| openb_like(60, seed));
    }
    add(all, Kind::MaxMinDrfh, Large, "google-like-2000", |seed| google_like(2_000, seed));
    // Sizes at which approximations are compared with the exact answer (docs/approximations.md).
    for n_users in [64, 640, 6_400, 100_000] {
        add(all, Kind::MaxMinDrfh, Large, format!("google-like-{n_users}"), move |seed| {
            google_like(n_users, seed)
        });
    }
    irrational(all, &shapes);
    add(all, Kind::Utilitarian, Large, "random-20000x10", |seed| {
        cluster("random-20000x10", seed, (20_000, 10, 3, Traits::default()))
    });
    let few: [(&str, Size, Shape); 4] = [
        ("random-5x2", Small, (5, 2, 2, usual)),
        ("random-20x4", Small, (20, 4, 3, usual)),
        ("sparse-24x8", Small, (24, 8, 3, sparse)),
        ("sparse-100x10", Large, (100, 10, 3, sparse)),
    ];
    for (name, size, shape) in few {
        add(all, Kind::PsDsf, size, name, move |seed| cluster(name, seed, shape));
        let whole = (shape.0, shape.1, shape.2, Traits { whole: true, ..shape.3 });
        add(all, Kind::Whole, size, name, move |seed| cluster(name, seed, whole));
    }
    add(all, Kind::PsDsf, Small, "one-class-12", |seed| {
        cluster("one-class-12", seed, (12, 1, 3, Traits::default()))
    });
    add(all, Kind::Whole, Large, "google-like-20", |seed| google_like(20, seed));
}

/// The exponents other than 1, with their names.
const EXPONENTS: [((u32, u32), &str); 3] = [((1, 2), "half"), ((2, 1), "2"), ((3, 1), "3")];

/// The number of users of the largest cluster with an irrational optimum. The work of a step with a thousand bits grows
/// with the cube of the number of unknowns.
const MOST_IRRATIONAL: usize = 60;

/// Adds cases of sums of utilities on the same clusters. Their optima are irrational.
fn irrational(all: &mut Vec<Recipe>, shapes: &[(&'static str, Size, Shape)]) {
    use Size::{Large, Small};
    for &(name, size, shape) in shapes.iter().filter(|(.., shape)| shape.0 <= MOST_IRRATIONAL) {
        // The small suite has only the shapes without special features.
        let size = if shape.3.near_ties { Large } else { size };
        add(all, Kind::Proportional, size, name, move |seed| cluster(name, seed, shape));
        for (alpha, of) in EXPONENTS.into_iter().filter(|_| shape.0 == 20) {
            let size = if of == "3" { Large } else { size };
            let with_alpha = move |case: Case| Case { alpha: alpha.into(), ..case };
            let make = move |seed| cluster(name, seed, shape).map(with_alpha);
            add(all, Kind::Alpha, size, format!("alpha-{of}-{name}"), make);
        }
    }
    add(all, Kind::Proportional, Small, "google-like-20", |seed| google_like(20, seed));
    add(all, Kind::Proportional, Large, "openb-like-20", |seed| openb_like(20, seed));
    add(all, Kind::Alpha, Large, "alpha-2-openb-like-20", |seed| {
        openb_like(20, seed).map(|case| Case { alpha: 2.into(), ..case })
    });
}

/// The shape of a cluster: the numbers of users, classes and resources, and the special features.
pub type Shape = (usize, usize, usize, Traits);

/// Returns a random cluster with classes of 1 to 100 servers, and users with weights from 1 to 5.
///
/// # Errors
/// [`ProblemError`] if there are no classes or resources.
pub fn cluster(
    name: &str,
    seed: u64,
    (n_users, n_classes, n_resources, like): Shape,
) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, name);
    let resources: Vec<String> = (1..=n_resources).map(|r| format!("r{r}")).collect();
    let unit = |r: usize| if like.bytes && r == 0 { 9 } else { 0 };
    let mut servers: Vec<ServerSpec> = Vec::new();
    for i in 0..n_classes {
        let count = if like.whole { draw.between(1, 4) } else { draw.between(1, 100) };
        let tiny = if like.nearly_nothing && i == 0 { -9 } else { 0 };
        let capacity: Vec<Rational> =
            (0..n_resources).map(|r| scaled(draw.between(20, 400), unit(r) + tiny)).collect();
        let same = servers.first().filter(|_| like.degenerate);
        servers.push(ServerSpec {
            name: format!("class {}", i + 1),
            count: same.map_or_else(|| Some(Rational::from(count)), |first| first.count.clone()),
            capacity: same.map_or_else(
                || resources.iter().cloned().zip(capacity).collect(),
                |first| first.capacity.clone(),
            ),
        });
    }
    let mut users: Vec<UserSpec> = Vec::new();
    for n in 0..n_users {
        let size = if like.far && n % 4 == 1 { -12 } else { 0 };
        let least = if like.whole { 100 } else { 1 };
        let demand: Vec<Rational> = (0..n_resources)
            .map(|r| match r != n % n_resources && draw.one_in(4) {
                true => Rational::new(),
                false => scaled(Rational::from((draw.between(least, 400), 20u32)), unit(r) + size),
            })
            .collect();
        let off = scaled(draw.between(1, 9), -9);
        let mut user = UserSpec {
            name: format!("user {}", n + 1),
            weight: Some(scaled(draw.between(1, 5), if like.tiny_weights && n % 3 == 0 { -9 } else { 0 })),
            demand: resources.iter().cloned().zip(demand).collect(),
            ..UserSpec::default()
        };
        let tasks = Rational::from((draw.between(1, 4_000), 10u32));
        if like.limits && draw.one_in(3) {
            user.tasks = Some(tasks);
        }
        if like.near_ties && n % 2 == 1 {
            let before = users[n - 1].demand.clone();
            user.demand = before.into_iter().map(|(r, d)| (r, d * (Rational::from(1) + &off))).collect();
            user.weight.clone_from(&users[n - 1].weight);
        }
        if like.degenerate && n % 4 != 0 {
            user.demand.clone_from(&users[n - n % 4].demand);
            user.weight.clone_from(&users[n - n % 4].weight);
        }
        if like.allowed > 0 && like.allowed < n_classes {
            let mut may: Vec<usize> = vec![n % n_classes];
            while may.len() < like.allowed {
                let other = draw.index(n_classes);
                if !may.contains(&other) {
                    may.push(other);
                }
            }
            may.sort_unstable();
            user.servers = Some(may.iter().map(|i| format!("class {}", i + 1)).collect());
        }
        if like.nearly_nothing && n % 3 == 0 {
            user.servers = Some(vec!["class 1".to_owned()]);
        }
        users.push(user);
    }
    case("random", ProblemSpec { name: String::new(), resources, servers, users })
}

fn case(note: &'static str, spec: ProblemSpec) -> Result<Case, ProblemError> {
    let input = Input::Allocation(Problem::new(spec)?);
    Ok(Case { name: String::new(), kind: Kind::MaxMinDrfh, note, input, alpha: 1.into(), planted: None })
}

/// A server class: its number of servers, and the CPU and memory of a server as fractions.
type Servers = (u32, (u32, u32), (u32, u32));

/// The server classes of the Google cluster (DRFH, Table I), with their CPU and memory. The users are not
/// from the trace.
const GOOGLE: [Servers; 10] = [
    (6732, (1, 2), (1, 2)),
    (3863, (1, 2), (1, 4)),
    (1001, (1, 2), (3, 4)),
    (795, (1, 1), (1, 1)),
    (126, (1, 4), (1, 4)),
    (52, (1, 2), (3, 25)),
    (5, (1, 2), (3, 100)),
    (5, (1, 2), (97, 100)),
    (3, (1, 1), (1, 2)),
    (1, (1, 2), (3, 50)),
];

fn google_like(n_users: usize, seed: u64) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, &format!("google {n_users}"));
    let servers = GOOGLE.iter().enumerate().map(|(i, (count, cpu, memory))| ServerSpec {
        name: format!("class {}", i + 1),
        count: Some(Rational::from(*count)),
        capacity: vec![
            ("cpu".to_owned(), Rational::from(*cpu)),
            ("memory".to_owned(), Rational::from(*memory)),
        ],
    });
    let servers = servers.collect();
    let users = (1..=n_users).map(|n| UserSpec {
        name: format!("user {n}"),
        demand: vec![
            ("cpu".to_owned(), Rational::from((draw.between(1, 500), 1_000u32))),
            ("memory".to_owned(), Rational::from((draw.between(1, 500), 1_000u32))),
        ],
        ..UserSpec::default()
    });
    let users = users.collect();
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    case(
        "servers as in the Google cluster, users made up",
        ProblemSpec { name: String::new(), resources, servers, users },
    )
}

/// The server classes of a cluster of GPUs: name, number of servers, and the millicores, GiB and GPUs of a
/// server.
const GPUS: [(&str, u32, u32, u32, u32); 6] = [
    ("cpu", 300, 94_000, 384, 0),
    ("v100", 190, 96_000, 384, 8),
    ("p100", 130, 64_000, 256, 2),
    ("t4", 420, 96_000, 384, 2),
    ("g2", 550, 96_000, 768, 8),
    ("g3", 40, 128_000, 1_024, 8),
];

fn openb_like(n_users: usize, seed: u64) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, &format!("openb {n_users}"));
    let resources: Vec<String> = ["cpu", "memory", "gpu"].map(str::to_owned).into();
    let amounts = |cpu: u64, gib: u64, gpu: Rational| {
        let memory = Rational::from(gib) * (1u64 << 30);
        vec![("cpu".to_owned(), cpu.into()), ("memory".to_owned(), memory), ("gpu".to_owned(), gpu)]
    };
    let servers = GPUS.iter().map(|(name, count, cpu, gib, gpus)| ServerSpec {
        name: (*name).to_owned(),
        count: Some(Rational::from(*count)),
        capacity: amounts(u64::from(*cpu), u64::from(*gib), Rational::from(*gpus)),
    });
    let servers = servers.collect();
    let users = (1..=n_users).map(|n| {
        let wants = draw.below(4);
        let gpu = match wants {
            0 => Rational::new(),
            1 => Rational::from((draw.between(1, 19), 20u32)),
            _ => Rational::from(1u64 << draw.below(4)),
        };
        let stated = draw.one_in(3) && wants > 1;
        let (first, second) = (1 + draw.index(5), 1 + draw.index(5));
        let mut names = vec![GPUS[first.min(second)].0.to_owned()];
        if first != second {
            names.push(GPUS[first.max(second)].0.to_owned());
        }
        UserSpec {
            name: format!("user {n}"),
            weight: Some(Rational::from(draw.between(1, 4))),
            demand: amounts(1_000 * draw.between(1, 32), draw.between(1, 120), gpu),
            servers: stated.then_some(names),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    case(
        "servers like those of a GPU cluster, in millicores and bytes",
        ProblemSpec { name: String::new(), resources, servers, users },
    )
}
