//! Clusters that are constructed from an optimum. Tasks, prices and demands are drawn first. Then capacities
//! and weights are chosen so that the drawn tasks are optimal.
//!
//! Row `r` of class `i` has the price `p_r m_i` with a markup `m_i`, so classes with the same markup have the
//! same cost. Every user has a home class, and may also use classes that are not cheaper. A user runs on its
//! home class and on other classes with the same markup. The capacity of a row equals the amount used, and
//! may be larger if the row has no price. Weights are `x^a` times the cost of a task.

use evenhand_exact::{Prices, Tasks};
use evenhand_problem::{
    Constraints, Problem, ProblemError, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};
use rug::ops::Pow;

use super::draw::{Draw, scaled};
use super::{Recipe, Size, add};
use crate::case::{Case, Input, Kind, Planted};

/// The special features of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Like {
    /// The largest number of classes that a user may use in addition to its home class.
    pub beside: usize,
    /// True if all markups are equal. In this case all placements of the tasks are equally good.
    pub degenerate: bool,
    /// True if markups differ by a billionth.
    pub near_ties: bool,
    /// True if the last resource is used up on every class but has no price.
    pub free: bool,
    /// True if levels differ by a factor of `10^12`.
    pub far: bool,
    /// True if the unit of the first resource is a billionth of the unit of the other resources, as for
    /// bytes.
    pub bytes: bool,
    /// True if a third of the users have no more tasks than they run.
    pub limits: bool,
}

const NOTE: &str = "made around its optimum, which is rational";

pub(super) fn recipes(all: &mut Vec<Recipe>) {
    use Kind::{Alpha, Proportional};
    use Size::{Large, Small};
    let usual = Like { beside: 3, ..Like::default() };
    let one = (1, 1);
    let mut make = |kind, size, name: &str, users, classes, alpha: (u32, u32), like: Like| {
        let own = name.to_owned();
        add(all, kind, size, name, move |seed| planted(&own, seed, (users, classes, 3), &alpha.into(), like));
    };
    make(Proportional, Small, "planted-6x2", 6, 2, one, usual);
    make(Proportional, Small, "planted-40x5", 40, 5, one, usual);
    make(Proportional, Small, "sparse-60x20", 60, 20, one, Like { beside: 1, ..usual });
    make(Proportional, Small, "limits-30x4", 30, 4, one, Like { limits: true, ..usual });
    make(Proportional, Small, "degenerate-20x6", 20, 6, one, Like { degenerate: true, beside: 6, ..usual });
    make(Proportional, Small, "near-ties-20x6", 20, 6, one, Like { near_ties: true, beside: 6, ..usual });
    make(Proportional, Small, "free-bottleneck-20x4", 20, 4, one, Like { free: true, ..usual });
    make(Proportional, Small, "far-apart-20x4", 20, 4, one, Like { far: true, ..usual });
    make(Proportional, Small, "bytes-20x4", 20, 4, one, Like { bytes: true, ..usual });
    make(Proportional, Large, "planted-300x10", 300, 10, one, usual);
    make(Proportional, Large, "planted-2000x20", 2_000, 20, one, usual);
    make(Proportional, Large, "planted-20000x30", 20_000, 30, one, usual);
    make(Proportional, Large, "planted-100000x10", 100_000, 10, one, usual);
    make(Proportional, Large, "sparse-2000x100", 2_000, 100, one, Like { beside: 2, ..usual });
    make(Proportional, Large, "far-apart-300x10", 300, 10, one, Like { far: true, bytes: true, ..usual });
    for (alpha, of) in [((1, 2), "half"), ((2, 1), "2"), ((3, 1), "3")] {
        let size = if of == "3" { Large } else { Small };
        make(Alpha, size, &format!("alpha-{of}-20x4"), 20, 4, alpha, usual);
        make(Alpha, Large, &format!("alpha-{of}-1000x10"), 1_000, 10, alpha, Like { limits: true, ..usual });
        let like = Like { far: true, beside: 2, ..usual };
        make(Alpha, Large, &format!("alpha-{of}-far-apart-20x4"), 20, 4, alpha, like);
    }
    make(Alpha, Small, "alpha-2-limits-30x5", 30, 5, (2, 1), Like { limits: true, free: true, ..usual });
    make(Alpha, Large, "alpha-2-100000x5", 100_000, 5, (2, 1), usual);
}

/// Returns a cluster with these numbers of users, classes and resources.
///
/// # Errors
/// [`ProblemError`] if the numbers do not form a valid problem.
pub fn planted(
    name: &str,
    seed: u64,
    (n_users, n_classes, n_resources): (usize, usize, usize),
    alpha: &Rational,
    like: Like,
) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, name);
    let unit = |r: usize| if like.bytes && r == 0 { 9 } else { 0 };
    let prices: Vec<Rational> = (0..n_resources)
        .map(|r| match like.free && r + 1 == n_resources {
            true => Rational::new(),
            false => scaled(draw.between(1, 40), -unit(r)),
        })
        .collect();
    // Markups repeat every few classes, so that several classes have the same markup.
    let markups: Vec<Rational> = (0..n_classes)
        .map(|i| match (like.degenerate, like.near_ties) {
            (true, _) => Rational::from(1),
            (_, true) => Rational::from(1) + scaled((i % 3) as u64, -9),
            _ => Rational::from((10 + (i % 3) as u64, 10u32)),
        })
        .collect();
    let mut users = Vec::with_capacity(n_users);
    let mut tasks: Tasks = Vec::with_capacity(n_users);
    let mut own = Vec::with_capacity(n_users);
    let mut used = vec![vec![Rational::new(); n_resources]; n_classes];
    let (s, q) = (alpha.numer().to_u32().unwrap_or(1), alpha.denom().to_u32().unwrap_or(1));
    for n in 0..n_users {
        let home = n % n_classes;
        let demand: Vec<Rational> = (0..n_resources)
            .map(|r| match r != n % n_resources && draw.one_in(4) {
                true => Rational::new(),
                false => scaled(Rational::from((draw.between(1, 200), 10u32)), unit(r)),
            })
            .collect();
        let mut may: Vec<usize> = vec![home];
        for _ in 0..like.beside {
            let other = draw.index(n_classes);
            if markups[other] >= markups[home] && !may.contains(&other) {
                may.push(other);
            }
        }
        may.sort_unstable();
        // The level is a `q`-th power, so that its root is rational.
        let root = Rational::from((draw.between(8, 80), 8u32));
        let root = if like.far && draw.one_in(3) { scaled(root, -12 / q as i32) } else { root };
        let total = root.clone().pow(q);
        let same: Vec<usize> = may.iter().copied().filter(|i| markups[*i] == markups[home]).collect();
        let parts: Vec<u64> = same.iter().map(|i| if *i == home { 3 } else { draw.below(3) }).collect();
        let all: u64 = parts.iter().sum();
        let mut placed = Vec::new();
        for (i, part) in same.iter().zip(&parts).filter(|(_, part)| **part > 0) {
            let x = &total * Rational::from((*part, all));
            for (used, d) in used[*i].iter_mut().zip(&demand).filter(|(_, d)| !d.is_zero()) {
                *used += Rational::from(d * &x);
            }
            placed.push((*i, x));
        }
        tasks.push(placed);
        let cost: Rational = demand.iter().zip(&prices).map(|(d, p)| Rational::from(d * p)).sum();
        let cost = cost * &markups[home];
        // A user that demands only resources without a price needs a limit. The price of the limit gives its tasks a
        // value.
        let is_limited = cost.is_zero() || (like.limits && draw.one_in(3));
        let price = if is_limited { Rational::from(draw.between(1, 30)) } else { Rational::new() };
        let weight = root.pow(s) * Rational::from(&cost + &price);
        own.push(price);
        users.push(UserSpec {
            name: format!("user {}", n + 1),
            weight: Some(weight),
            tasks: is_limited.then_some(total),
            demand: demand.into_iter().enumerate().map(|(r, d)| (format!("r{}", r + 1), d)).collect(),
            servers: (may.len() < n_classes)
                .then(|| may.iter().map(|i| format!("class {}", i + 1)).collect()),
            ..UserSpec::default()
        });
    }
    let servers = used.iter().enumerate().map(|(i, used)| {
        let amount = |(r, used): (usize, &Rational)| {
            let spare = prices[r].is_zero() && draw.one_in(2) && !like.free;
            let amount = if spare { Rational::from(used * 2u32) } else { used.clone() };
            (format!("r{}", r + 1), amount)
        };
        let capacity = used.iter().enumerate().map(amount).collect();
        ServerSpec { name: format!("class {}", i + 1), capacity, ..ServerSpec::default() }
    });
    let servers = servers.collect();
    let resources = (1..=n_resources).map(|r| format!("r{r}")).collect();
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users })?;
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let price = |row: &evenhand_problem::Row| match row.kind {
        evenhand_problem::RowKind::Resource(r) => Rational::from(&prices[r] * &markups[row.server]),
        evenhand_problem::RowKind::Time => Rational::new(),
    };
    let rows = constraints.rows().iter().map(price).collect();
    let planted = Some(Planted { tasks, prices: Prices { user_weights: Vec::new(), rows, users: own } });
    let (input, alpha) = (Input::Allocation(problem), alpha.clone());
    Ok(Case { name: String::new(), kind: Kind::Proportional, note: NOTE, input, alpha, planted })
}
