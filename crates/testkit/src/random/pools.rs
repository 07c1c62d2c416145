//! Random pools and clusters.

use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// The kind of numbers in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Dense,
    Sparse,
    Tied,
    NearlyTied,
    BadlyScaled,
}

/// Returns a problem with one server of capacity 1, requests as fractions of the server, and one task for
/// each user (NJC, section 3).
pub fn pool(random: &mut Pcg64Mcg, kind: Kind) -> Problem {
    let (most_users, most_resources) = match kind {
        Kind::Tied | Kind::NearlyTied => (8, 4),
        _ => (50, 10),
    };
    let n_users = random.random_range(1..=most_users);
    let n_resources = random.random_range(1..=most_resources);
    let resources: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
    let request = |random: &mut Pcg64Mcg| match kind {
        Kind::Dense => Rational::from((random.random_range(1..=1000), 1000)),
        Kind::Sparse if random.random_bool(0.6) => Rational::new(),
        Kind::Sparse => Rational::from((random.random_range(1..=100), 100)),
        Kind::Tied => Rational::from((random.random_range(0..=2), 2)),
        Kind::NearlyTied => {
            let base = Rational::from((random.random_range(0..=2), 2));
            let off = Rational::from((random.random_range(0..=3), 1_000_000_000));
            if base > 0 { base - off } else { base }
        }
        Kind::BadlyScaled => {
            let scale = 10_u64.pow(random.random_range(0..=9));
            Rational::from((random.random_range(1..=1000), 1000 * scale))
        }
    };
    let users = (0..n_users).map(|n| {
        let mut demand: Vec<Rational> = (0..n_resources).map(|_| request(random)).collect();
        if demand.iter().all(|d| *d == 0) {
            demand[random.random_range(0..n_resources)] = Rational::from((1, 2));
        }
        let weight = match kind {
            Kind::BadlyScaled => 10_u64.pow(random.random_range(0..=9)),
            _ => random.random_range(1..=5),
        };
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(weight)),
            tasks: Some(Rational::from(1)),
            demand: resources.iter().cloned().zip(demand).collect(),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let capacity = resources.iter().map(|r| (r.clone(), Rational::from(1))).collect();
    let servers = vec![ServerSpec { name: "pool".to_owned(), count: None, capacity }];
    let spec = ProblemSpec { resources, servers, users, ..ProblemSpec::default() };
    Problem::new(spec).expect("a valid pool")
}

/// Returns a problem with several classes, placement constraints, finite and unlimited tasks, weights and zero
/// demands.
pub fn cluster(
    random: &mut Pcg64Mcg,
    most_users: usize,
    most_classes: usize,
    most_resources: usize,
) -> Problem {
    let n_users = random.random_range(1..=most_users);
    let n_classes = random.random_range(1..=most_classes);
    let n_resources = random.random_range(1..=most_resources);
    let resources: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
    let names: Vec<String> = (0..n_classes).map(|i| format!("s{i}")).collect();
    let servers = names.iter().map(|name| ServerSpec {
        name: name.clone(),
        count: Some(Rational::from(random.random_range(1..=3))),
        capacity: resources
            .iter()
            .map(|r| {
                let capacity = if random.random_bool(0.1) { 0 } else { random.random_range(1..=9) };
                (r.clone(), Rational::from(capacity))
            })
            .collect(),
    });
    let servers = servers.collect();
    let users = (0..n_users).map(|n| {
        let mut demand: Vec<Rational> =
            (0..n_resources).map(|_| Rational::from((random.random_range(0..=5), 4))).collect();
        if demand.iter().all(|d| *d == 0) {
            demand[random.random_range(0..n_resources)] = Rational::from(1);
        }
        let allowed: Vec<String> = names.iter().filter(|_| random.random_bool(0.7)).cloned().collect();
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(random.random_range(1..=4))),
            tasks: random.random_bool(0.4).then(|| Rational::from((random.random_range(0..=12), 3))),
            demand: resources.iter().cloned().zip(demand).collect(),
            servers: (!allowed.is_empty()).then_some(allowed),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })
        .expect("a valid cluster")
}

/// Returns a cluster like [`cluster`], with weights that differ by a factor of about `10^most_power`.
pub fn far_apart(
    random: &mut Pcg64Mcg,
    (most_users, most_classes, most_resources): (usize, usize, usize),
    most_power: u32,
) -> Problem {
    let n_resources = random.random_range(1..=most_resources);
    let resources: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
    let names: Vec<String> = (0..random.random_range(1..=most_classes)).map(|i| format!("s{i}")).collect();
    let quantity = |random: &mut Pcg64Mcg, most: u32| Rational::from((random.random_range(1..=most), 2));
    let servers = names.iter().map(|name| ServerSpec {
        name: name.clone(),
        count: Some([1, 3, 7, 100][random.random_range(0..4)].into()),
        capacity: resources.iter().map(|r| (r.clone(), quantity(random, 40))).collect(),
    });
    let servers: Vec<ServerSpec> = servers.collect();
    let users = (0..random.random_range(1..=most_users)).map(|n| {
        let kept = random.random_range(0..n_resources);
        let demanded = resources.iter().enumerate().filter(|(r, _)| *r == kept || random.random_bool(0.7));
        let demanded: Vec<String> = demanded.map(|(_, name)| name.clone()).collect();
        let allowed = names.iter().filter(|_| random.random_bool(0.7)).cloned().collect::<Vec<_>>();
        let weight = 10_u64.pow(random.random_range(0..=most_power)) * random.random_range(1..=9);
        let tasks = random.random_bool(0.4).then(|| Rational::from((random.random_range(1..=1000), 20)));
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(weight)),
            tasks,
            demand: demanded.into_iter().map(|r| (r, quantity(random, 70))).collect(),
            servers: (!allowed.is_empty()).then_some(allowed),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let spec = ProblemSpec { resources, servers, users, ..ProblemSpec::default() };
    Problem::new(spec).expect("a valid problem")
}
