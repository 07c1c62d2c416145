//! Random problems with an allocation that is optimal at known prices, and allocations near the optimum. Such
//! an allocation is rounded, has negative tasks, exceeds limits and capacities, or has ties and small
//! deviations.

use evenhand_exact::{Instance, Prices, Tasks};
use evenhand_problem::{
    Allocation, Constraints, Problem, ProblemSpec, Rational, Row, RowKind, ServerSpec, Sharing, UserSpec,
};
use rand::Rng;
use rand_pcg::Pcg64;

/// A problem with a Pareto-optimal allocation, and weights and prices whose gap is 0.
pub struct Optimum {
    pub problem: Problem,
    pub allocation: Allocation,
    pub prices: Prices,
}

fn positive(rng: &mut Pcg64) -> Rational {
    // There are few different numbers, so ties are common.
    Rational::from((rng.random_range(1..4), rng.random_range(1..4)))
}

/// Returns a factor near 1.
pub fn perturbed(parts: u32, rng: &mut Pcg64) -> Rational {
    Rational::from((rng.random_range(-100i32..=100), 100)) / parts + 1u32
}

/// Returns a random problem with its optimum. Prices and tasks are drawn first, and then capacities that fit:
/// every row with a price is full.
pub fn optimum(rng: &mut Pcg64, one_resource: bool) -> Optimum {
    let (n, k) = (rng.random_range(1..5), rng.random_range(1..4));
    let m = if one_resource { 1 } else { rng.random_range(1..4) };
    let mut prices: Vec<Rational> =
        (0..k * m).map(|_| if rng.random_bool(0.7) { positive(rng) } else { Rational::new() }).collect();
    (0..k).for_each(|i| prices[i * m] = positive(rng));
    let mut used = vec![Rational::new(); k * m];
    let (mut users, mut own, mut weights, mut x) = (Vec::new(), Vec::new(), Vec::new(), Tasks::new());
    for n in 0..n {
        let demand: Vec<Rational> = (0..m)
            .map(|r| if r == 0 || rng.random_bool(0.7) { positive(rng) } else { Rational::new() })
            .collect();
        let sure = rng.random_range(0..k);
        let allowed: Vec<usize> = (0..k).filter(|&i| i == sure || rng.random_bool(0.7)).collect();
        let cost =
            |i: usize| -> Rational { (0..m).map(|r| Rational::from(&demand[r] * &prices[i * m + r])).sum() };
        let least = allowed.iter().map(|&i| cost(i)).min().unwrap();
        let cheapest = allowed.iter().filter(|&&i| cost(i) == least);
        let on: Vec<(usize, Rational)> = cheapest.map(|i| (*i, positive(rng))).collect();
        for (i, x) in &on {
            (0..m).for_each(|r| used[i * m + r] += Rational::from(&demand[r] * x));
        }
        let total: Rational = on.iter().map(|(_, x)| x).sum();
        let price = if rng.random_bool(0.3) { positive(rng) } else { Rational::new() };
        let limit = rng.random_bool(0.3).then(|| &total + positive(rng));
        weights.push(Rational::from(&least + &price));
        users.push(UserSpec {
            name: format!("u{n}"),
            weight: Some(positive(rng)),
            tasks: if price.is_zero() { limit } else { Some(total) },
            demand: demand.iter().enumerate().map(|(r, d)| (format!("r{r}"), d.clone())).collect(),
            servers: Some(allowed.iter().map(|i| format!("s{i}")).collect()),
            criterion: allowed.iter().map(|i| (format!("s{i}"), positive(rng))).collect(),
            ..UserSpec::default()
        });
        own.push(price);
        x.push(on);
    }
    // This user has no tasks in the optimum. It may later be given a negative number of tasks.
    if rng.random_bool(0.2) {
        users.push(UserSpec {
            name: "idle".to_owned(),
            tasks: Some(Rational::new()),
            demand: vec![("r0".to_owned(), positive(rng))],
            criterion: (0..k).map(|i| (format!("s{i}"), positive(rng))).collect(),
            ..UserSpec::default()
        });
        own.push(Rational::new());
        weights.push(Rational::new());
        x.push(Vec::new());
    }
    let servers = (0..k).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: None,
        capacity: (0..m)
            .map(|r| {
                let free = if prices[i * m + r].is_zero() { positive(rng) } else { Rational::new() };
                (format!("r{r}"), free + &used[i * m + r])
            })
            .collect(),
    });
    let (resources, servers) = ((0..m).map(|r| format!("r{r}")).collect(), servers.collect());
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let price_of = |row: &Row| match row.kind {
        RowKind::Resource(r) => prices[row.server * m + r].clone(),
        RowKind::Time => Rational::new(),
    };
    let rows = constraints.rows().iter().map(price_of).collect();
    let prices = Prices { user_weights: weights, rows, users: own };
    Optimum { problem, allocation: Allocation { tasks: x, ..Allocation::default() }, prices }
}

/// Returns the optimal allocation with a random disturbance.
pub fn disturbed(optimum: &Optimum, rng: &mut Pcg64) -> Allocation {
    let mut allocation = optimum.allocation.clone();
    let parts = 10u32.pow(rng.random_range(0..9));
    let kind = rng.random_range(0..6);
    for (n, on) in allocation.tasks.iter_mut().enumerate() {
        for (_, x) in on.iter_mut() {
            match kind {
                0 => {}
                // The tasks are rounded to some decimals, to the nearest decimal or down.
                1 => *x = Rational::from(Rational::from(&*x * parts).round_ref()) / parts,
                2 => *x = Rational::from(Rational::from(&*x * parts).floor_ref()) / parts,
                3 => *x *= perturbed(parts, rng),
                4 => *x *= Rational::from((rng.random_range(0..4), 3)),
                _ if n == 0 => *x -= Rational::from((1, parts)),
                _ => {}
            }
        }
    }
    // A small deviation is added anywhere. The tasks may become negative, or be on a class where the user
    // cannot run.
    if rng.random_bool(0.4) {
        let n = rng.random_range(0..allocation.tasks.len());
        let i = rng.random_range(0..optimum.problem.n_servers());
        let on = &mut allocation.tasks[n];
        let trace = Rational::from((rng.random_range(-2i32..=2), parts));
        match on.binary_search_by_key(&i, |(class, _)| *class) {
            Ok(at) => on[at].1 += trace,
            Err(at) => on.insert(at, (i, trace)),
        }
    }
    allocation
}

/// Returns `(1 - part) a + part b`.
pub fn mixed(a: &Tasks, b: &Tasks, part: &Rational) -> Tasks {
    let classes =
        |n: usize| a[n].iter().chain(&b[n]).map(|(i, _)| *i).collect::<std::collections::BTreeSet<_>>();
    let on = |tasks: &Tasks, n: usize, i: usize| {
        tasks[n].iter().find(|(class, _)| *class == i).map(|(_, x)| x.clone()).unwrap_or_default()
    };
    let rest = Rational::from(1) - part;
    let of =
        |n: usize| classes(n).into_iter().map(|i| (i, on(a, n, i) * &rest + on(b, n, i) * part)).collect();
    (0..a.len()).map(of).collect()
}

/// Returns the allocation filled up: every user in turn takes what is left, class by class.
pub fn filled(instance: &Instance<'_>, tasks: &Tasks) -> Tasks {
    let (problem, constraints) = (instance.problem(), instance.constraints());
    let mut filled = tasks.clone();
    for n in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
        for i in problem.classes_of(n) {
            let Ok(now) = instance.with_tasks(&filled) else { return filled };
            let usage = constraints.usage(n, i).unwrap().to_vec();
            let rows = constraints.class_rows(i).zip(&usage).filter(|(_, d)| **d > 0);
            let mut more = rows.map(|(row, d)| now.slack(row) / d).min().unwrap_or_default();
            if let Some(limit) = problem.users()[n].tasks() {
                more = more.min(limit - now.total(n));
            }
            if more > 0 {
                match filled[n].binary_search_by_key(&i, |(class, _)| *class) {
                    Ok(at) => filled[n][at].1 += more,
                    Err(at) => filled[n].insert(at, (i, more)),
                }
            }
        }
    }
    filled
}
