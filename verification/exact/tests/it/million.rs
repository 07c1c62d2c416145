//! Tests with a million users on one server: certificates of proportional fairness and of no justified complaints can
//! be checked, in limited memory. The command
//! `cargo test --release -p evenhand-exact --test million -- --ignored --nocapture` prints times and the largest
//! resident size so far.

use std::time::Instant;

use evenhand_exact::axiom::{njc, proportional};
use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_problem::number::{from_f64, to_f64};
use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The form in which the tasks of a user are written.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    Binary,
    Decimal,
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    println!("{what:<40} {:>9.2?}   peak {peak}", start.elapsed());
    result
}

/// The number of resources with a price.
const PRICED: usize = 3;

/// Returns a pool with weights and demands in thousandths, where each user has at most one task. For every `alpha` it
/// also returns the best tasks at the price `p` of each of the first resources. The capacity of these resources is
/// the usage of these tasks, rounded up.
fn pool(n_users: usize, n_resources: usize, alpha: f64, p: f64) -> (Problem, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(3);
    let name = |r: usize| format!("r{r}");
    let mut used = vec![0.0; n_resources];
    let mut tasks = Vec::with_capacity(n_users);
    let mut users = Vec::with_capacity(n_users);
    for n in 0..n_users {
        let weight = rng.random_range(1..1000u32);
        let demand: Vec<u32> =
            (0..n_resources).map(|r| rng.random_range(0..1000) + u32::from(r == 0)).collect();
        let cost: f64 = demand.iter().take(PRICED).map(|d| f64::from(*d) * p).sum();
        let x = (f64::from(weight) / cost).powf(1.0 / alpha).min(1.0);
        for (used, d) in used.iter_mut().zip(&demand) {
            *used += x * f64::from(*d) / 1000.0;
        }
        tasks.push(x);
        users.push(UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from((weight, 1000))),
            tasks: Some(Rational::from(1)),
            demand: demand.iter().enumerate().map(|(r, d)| (name(r), Rational::from((*d, 1000)))).collect(),
            ..UserSpec::default()
        });
    }
    let capacity = used.iter().enumerate().map(|(r, used)| {
        let free = if r < PRICED { 1.0 + 1e-12 } else { 2.0 };
        (name(r), from_f64(used * free).unwrap())
    });
    let server = ServerSpec { name: "pool".to_owned(), count: None, capacity: capacity.collect() };
    let resources = (0..n_resources).map(name).collect();
    let spec = ProblemSpec { name: String::new(), resources, servers: vec![server], users };
    (Problem::new(spec).unwrap(), tasks)
}

fn examine(n_users: usize, n_resources: usize, numbers: Numbers) {
    let zero = Rational::new();
    let p = f64::from(u32::try_from(n_users).unwrap()) / 10.0;
    for (name, exponent) in [("1", 1.0), ("2", 2.0), ("1/2", 0.5), ("7/10", 0.7)] {
        println!("alpha {name}");
        let (problem, tasks) = timed("problem", || pool(n_users, n_resources, exponent, p));
        let exact = |x: &f64| match numbers {
            Numbers::Binary => from_f64(*x).unwrap(),
            Numbers::Decimal => evenhand_problem::number::parse(&format!("{x:e}")).unwrap(),
        };
        let tasks = tasks.iter().map(|x| vec![(0, exact(x))]).collect();
        let allocation = Allocation { tasks, ..Allocation::default() };
        let instance = timed("instance", || Instance::new(&problem, &allocation).unwrap());
        let alpha = evenhand_problem::number::parse(name).unwrap();
        let rows: Vec<Rational> = (0..n_resources)
            .map(|r| from_f64(if r < PRICED { p * (1.0 - 1e-15) } else { 0.0 }).unwrap())
            .collect();
        let users = vec![Rational::new(); n_users];
        let lift = || proportional::lift_prices(&instance, &alpha, None, &rows, &users).unwrap();
        let prices = timed("lift prices", lift);
        let gap = timed("gap", || proportional::gap(&instance, &alpha, None, &prices).unwrap());
        let enclosures = timed("worth", || proportional::worth(&instance, &alpha, None).unwrap());
        let sum: Rational = enclosures
            .iter()
            .enumerate()
            .map(|(n, bounds)| bounds.as_ref().unwrap().0.clone() * instance.total(n))
            .take(1000)
            .sum();
        let all = sum * Rational::from((n_users, n_users.min(1000)));
        println!("gap, of the sum: {:e}", to_f64(&Rational::from(&gap / &all)));
        assert!(gap >= 0 && gap * 1_000_000_000u32 < all);
        if alpha == 1 {
            let claim = timed("njc", || Claim::derive(Axiom::Njc, &instance, &zero).unwrap());
            let found = timed("njc, examined", || njc::examine(&instance).unwrap());
            println!("njc margin {:e}", to_f64(&found.margin));
            assert_eq!(claim.margin, Some(found.margin));
        }
    }
}

#[test]
fn examines_ten_thousand_users_and_a_hundred_resources() {
    examine(10_000, 100, Numbers::Decimal);
}

#[test]
#[ignore = "3 GiB"]
fn examines_a_million_users() {
    examine(1_000_000, 16, Numbers::Binary);
}

#[test]
#[ignore = "3 GiB"]
fn examines_a_million_users_in_decimals() {
    examine(1_000_000, 16, Numbers::Decimal);
}
