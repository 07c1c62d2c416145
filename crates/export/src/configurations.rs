//! The configuration programme. Its optimum is the largest reward that any assignment of configurations to
//! servers earns.

use evenhand_exact::ratio::{Configuration, Optimum, sparse};
use evenhand_problem::reservation::greatest_common_divisor;
use evenhand_problem::{Rational, Reservation};

use crate::numbered;
use crate::vipr::{Programme, Reason, Sense, Terms};

/// Returns the programme that maximises the reward of the served jobs `y`, with the numbers `x` of servers by
/// configuration. `y_j` is at most the number of jobs of type `j`, and at most the number of slots of type
/// `j` on all servers. The number of used servers of a pool is at most the number of servers of the pool.
///
/// The columns are the stated configurations on every pool. If the problem states capacities and demands
/// instead of configurations, the columns are the configurations of the assignment. For whole jobs, the
/// reward is in units of the greatest common divisor of the rewards.
pub(crate) fn programme<T: Clone + Into<Rational>>(
    what: &str,
    problem: &Reservation,
    optimum: &Optimum<T>,
    jobs: &[Rational],
    sizes: &[Rational],
    whole: bool,
) -> Programme {
    let columns = columns(problem, optimum);
    let n_types = problem.n_types();
    let unit = if whole { greatest_common_divisor(&problem.rewards()) } else { None };
    let unit = unit.unwrap_or_else(|| Rational::from(1));
    let names = (1..=n_types).map(|j| format!("y{j}")).chain((1..=columns.len()).map(|c| format!("x{c}")));
    let rewards = problem.rewards().into_iter().map(|u| u / &unit).enumerate();
    let objective = rewards.filter(|(_, u)| !u.is_zero()).collect();
    let mut programme = Programme::new(names.collect(), objective);
    programme.integer = whole;
    programme.about = about(what, problem, &columns, &unit);
    let (prices, one) = (&optimum.prices, Rational::from(1));
    let mut costs: Vec<Rational> = Vec::new();
    let mut multipliers = Terms::new();
    let mut priced = |at: usize, price: &Rational| {
        if !price.is_zero() {
            multipliers.push((at, Rational::from(price / &unit)));
        }
    };
    for (j, most) in jobs.iter().enumerate() {
        let terms = vec![(j, one.clone())];
        let row = programme.push_row(format!("load{}", j + 1), Sense::AtMost, most.clone(), terms);
        priced(row, &prices.load[j]);
        costs.push(Rational::from(&prices.load[j] + &prices.slot[j]) - problem.jobs()[j].reward());
    }
    for j in 0..n_types {
        let held = columns.iter().enumerate();
        let held = held.filter_map(|(c, (_, k))| Some((n_types + c, -Rational::from(jobs_of(k, j)?))));
        let terms = std::iter::once((j, one.clone())).chain(held).collect();
        let row = programme.push_row(format!("slots{}", j + 1), Sense::AtMost, Rational::new(), terms);
        priced(row, &prices.slot[j]);
    }
    for (i, size) in sizes.iter().enumerate() {
        let on = columns.iter().enumerate().filter(|(_, (pool, _))| *pool == i);
        let terms = on.map(|(c, _)| (n_types + c, one.clone())).collect();
        let row = programme.push_row(format!("servers{}", i + 1), Sense::AtMost, size.clone(), terms);
        priced(row, &prices.server[i]);
    }
    for (i, k) in &columns {
        let worth: Rational = k.iter().map(|(j, k)| Rational::from(&prices.slot[*j] * *k)).sum();
        costs.push(&prices.server[*i] - worth);
    }
    let bounds = costs.into_iter().enumerate().filter(|(_, cost)| !cost.is_zero());
    let mut all: Terms = bounds.map(|(v, cost)| (Programme::bound(v), -(cost / &unit))).collect();
    all.extend(multipliers);
    let upper = Rational::from(&optimum.bound / &unit);
    let reason = if whole { Reason::Rounded(all) } else { Reason::Linear(all) };
    // If there are no rewards, the proven bound is `0 <= 0`.
    let reason = if programme.objective.is_empty() { Reason::Linear(Terms::new()) } else { reason };
    programme.push_bound(upper.clone(), reason);
    programme.upper = Some(upper);
    programme.lower = Rational::from(&optimum.assignment.reward / &unit);
    programme.solutions.push(("assignment", assignment(optimum, &columns, n_types)));
    programme
}

/// Returns the columns as pairs `(pool, configuration)` without repetitions.
fn columns<T>(problem: &Reservation, optimum: &Optimum<T>) -> Vec<(usize, Configuration)> {
    let listed = problem.configurations().unwrap_or_default();
    let stated = (0..problem.n_pools()).flat_map(|i| listed.iter().map(move |k| (i, sparse(k))));
    let used = optimum.assignment.servers.iter().map(|(i, k, _)| (*i, k.clone()));
    let mut columns: Vec<_> = stated.chain(used).collect();
    columns.sort();
    columns.dedup();
    columns
}

/// Returns the number of jobs of type `j` in a configuration. Returns `None` if the configuration contains no
/// such job.
fn jobs_of(k: &Configuration, j: usize) -> Option<u64> {
    k.binary_search_by_key(&j, |(at, _)| *at).ok().map(|at| k[at].1)
}

/// Returns the assignment as a point of the programme.
fn assignment<T: Clone + Into<Rational>>(
    optimum: &Optimum<T>,
    columns: &[(usize, Configuration)],
    n_types: usize,
) -> Terms {
    let mut point = vec![Rational::new(); n_types + columns.len()];
    let served = optimum.assignment.served.iter().cloned().map(Into::into);
    point.iter_mut().zip(served).for_each(|(y, served)| *y = served);
    for (i, k, servers) in &optimum.assignment.servers {
        if let Ok(at) = columns.binary_search_by(|(pool, other)| (pool, other).cmp(&(i, k))) {
            point[n_types + at] += servers.clone().into();
        }
    }
    point.into_iter().enumerate().filter(|(_, value)| !value.is_zero()).collect()
}

fn about(
    what: &str,
    problem: &Reservation,
    columns: &[(usize, Configuration)],
    unit: &Rational,
) -> Vec<String> {
    let rewards = format!("yJ: jobs of type J that are served; rewards are in units of {unit}");
    let mut lines = vec![what.to_owned(), rewards];
    lines.extend(numbered("type", problem.jobs().iter().map(|job| job.name())));
    lines.extend(numbered("pool", problem.pools().iter().map(|pool| pool.name())));
    for (c, (i, k)) in columns.iter().enumerate() {
        let k: Vec<String> = k.iter().map(|(j, k)| format!("{k} of type {}", j + 1)).collect();
        let k = if k.is_empty() { "nothing".to_owned() } else { k.join(", ") };
        lines.push(format!("x{}: servers of pool {} with {k}", c + 1, i + 1));
    }
    if problem.configurations().is_none() {
        lines.push(
            "the configurations of the assignment alone: that no other one is worth more than its server, \
             the pricing says"
                .to_owned(),
        );
    }
    lines
}
