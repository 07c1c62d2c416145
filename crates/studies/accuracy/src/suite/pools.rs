//! Cases with one pool. Some are the pools of the papers, others are random. Resources have capacity 1, and a
//! user gets at most its whole request.

use evenhand_problem::{Problem, ProblemError, ProblemSpec, Rational, ServerSpec, UserSpec};

use super::draw::{Draw, scaled};
use super::{Recipe, Size, add};
use crate::case::{Case, Input, Kind};

pub(super) fn recipes(all: &mut Vec<Recipe>) {
    use Size::{Large, Small};
    for kind in [Kind::Pool, Kind::Njc] {
        add(all, kind, Small, "three-users", |_| three_users());
        add(all, kind, Small, "figure-2", |_| figure_2());
        add(all, kind, Small, "family-z", |_| family_z());
        add(all, kind, Small, "free-bottleneck", |_| free_bottleneck());
        for (users, resources, size) in [(5, 3, Small), (50, 8, Small), (200, 4, Large), (1_000, 8, Large)] {
            let name = format!("random-{users}x{resources}");
            add(all, kind, size, name, move |seed| random(users, resources, seed));
        }
    }
    add(all, Kind::Pool, Large, "random-10000x8", |seed| random(10_000, 8, seed));
    add(all, Kind::Pool, Large, "random-100000x4", |seed| random(100_000, 4, seed));
    add(all, Kind::Pool, Small, "tiny-weights-20x3", |seed| tiny_weights(20, 3, seed));
    add(all, Kind::Pool, Small, "far-apart-20x3", |seed| far_apart(20, 3, seed));
    add(all, Kind::Pool, Small, "near-tie-12x4", |seed| near_tie(12, 4, seed));
    add(all, Kind::Pool, Large, "tiny-weights-300x6", |seed| tiny_weights(300, 6, seed));
    add(all, Kind::Pool, Large, "far-apart-300x6", |seed| far_apart(300, 6, seed));
    add(all, Kind::Proportional, Small, "islands-3", |seed| islands(3, seed));
    add(all, Kind::Proportional, Large, "islands-12", |seed| islands(12, seed));
}

/// Returns a pool with these requests by user and resource, and these entitlements.
///
/// # Errors
/// [`ProblemError`] if the numbers do not form a valid problem.
pub fn pool(
    note: &'static str,
    requests: &[Vec<Rational>],
    weights: &[Rational],
) -> Result<Case, ProblemError> {
    side_by_side(note, &[(requests.to_vec(), weights.to_vec())])
}

/// Returns a problem with several pools as server classes, each with its own users.
fn side_by_side(
    note: &'static str,
    pools: &[(Vec<Vec<Rational>>, Vec<Rational>)],
) -> Result<Case, ProblemError> {
    let n_resources = pools.iter().flat_map(|(requests, _)| requests).map(Vec::len).max().unwrap_or(0);
    let resources: Vec<String> = (1..=n_resources).map(|r| format!("r{r}")).collect();
    let by_name = |amounts: &[Rational]| resources.iter().cloned().zip(amounts.iter().cloned()).collect();
    let (mut servers, mut users) = (Vec::new(), Vec::new());
    for (at, (requests, weights)) in pools.iter().enumerate() {
        let name = if pools.len() == 1 { "pool".to_owned() } else { format!("pool {}", at + 1) };
        let capacity = by_name(&vec![Rational::from(1); requests[0].len()]);
        servers.push(ServerSpec { name: name.clone(), capacity, ..ServerSpec::default() });
        for (request, weight) in requests.iter().zip(weights) {
            users.push(UserSpec {
                name: format!("user {}", users.len() + 1),
                weight: Some(weight.clone()),
                tasks: Some(Rational::from(1)),
                demand: by_name(request),
                servers: (pools.len() > 1).then(|| vec![name.clone()]),
                ..UserSpec::default()
            });
        }
    }
    let spec = ProblemSpec { name: String::new(), resources, servers, users };
    let input = Input::Allocation(Problem::new(spec)?);
    Ok(Case { name: String::new(), kind: Kind::Pool, note, input, alpha: 1.into(), planted: None })
}

fn stated(
    note: &'static str,
    requests: &[&[(u32, u32)]],
    entitlements: &[(u32, u32)],
) -> Result<Case, ProblemError> {
    let exact = |numbers: &[(u32, u32)]| numbers.iter().copied().map(Rational::from).collect::<Vec<_>>();
    let requests: Vec<Vec<Rational>> = requests.iter().map(|row| exact(row)).collect();
    pool(note, &requests, &exact(entitlements))
}

fn three_users() -> Result<Case, ProblemError> {
    stated(
        "NJC, section 3: three users for whom greedy fails; the limit is irrational",
        &[&[(1, 2), (1, 2), (2, 3)], &[(1, 2), (5, 8), (1, 2)], &[(1, 1), (1, 1), (1, 3)]],
        &[(1, 2), (3, 8), (1, 8)],
    )
}

fn figure_2() -> Result<Case, ProblemError> {
    stated(
        "NJC, Figure 2",
        &[&[(1, 1), (1, 5)], &[(1, 1), (1, 5)], &[(2, 5), (4, 5)]],
        &[(1, 3), (1, 3), (1, 3)],
    )
}

fn family_z() -> Result<Case, ProblemError> {
    stated(
        "all (z, 1-z, 1-z) with 1/2 <= z <= 7/10 are free of justified complaints; z = 1/2 is the limit",
        &[&[(1, 1), (1, 1)], &[(0, 1), (1, 1)], &[(1, 1), (0, 1)]],
        &[(1, 2), (3, 10), (1, 5)],
    )
}

fn free_bottleneck() -> Result<Case, ProblemError> {
    stated(
        "the second resource is used up at the limit and has no price: slack and price both tend to 0",
        &[&[(3, 4), (15, 16)], &[(1, 1), (3, 4)]],
        &[(1, 2), (1, 2)],
    )
}

type Requests = (Vec<Vec<Rational>>, Vec<Rational>);

/// Draws random users of different sizes. The range of sizes grows with the number of users, so that some
/// users get their whole request. All numbers are multiples of a power of two, so doubles represent them
/// exactly. All errors are therefore errors of the method.
fn requests(n_users: usize, n_resources: usize, draw: &mut Draw) -> Requests {
    let sizes = u64::from(n_users.max(2).ilog2());
    let (mut requests, mut weights) = (Vec::with_capacity(n_users), Vec::with_capacity(n_users));
    for _ in 0..n_users {
        let unit = 1024_u64 << draw.below(sizes);
        let surely = draw.index(n_resources);
        let row = (0..n_resources).map(|r| {
            let asks = draw.below(4) > 0 || r == surely;
            let amount = draw.between(1, 1023);
            if asks { Rational::from((amount, unit)) } else { Rational::new() }
        });
        requests.push(row.collect());
        weights.push(Rational::from(draw.between(1, 9)));
    }
    (requests, weights)
}

/// Returns a random pool.
///
/// # Errors
/// [`ProblemError`] if there are no users or resources.
pub fn random(n_users: usize, n_resources: usize, seed: u64) -> Result<Case, ProblemError> {
    let (requests, weights) =
        requests(n_users, n_resources, &mut Draw::new(seed, &format!("pool {n_users} {n_resources}")));
    pool("random: users of different sizes, every number exact in doubles", &requests, &weights)
}

fn tiny_weights(n_users: usize, n_resources: usize, seed: u64) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, "tiny weights");
    let (requests, mut weights) = requests(n_users, n_resources, &mut draw);
    for weight in weights.iter_mut().step_by(3) {
        *weight = scaled(std::mem::take(weight), -9);
    }
    pool("a third of the users have a billionth of the weight of the others", &requests, &weights)
}

fn far_apart(n_users: usize, n_resources: usize, seed: u64) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, "far apart");
    let (mut requests, weights) = requests(n_users, n_resources, &mut draw);
    for request in requests.iter_mut().step_by(4) {
        request.iter_mut().for_each(|amount| *amount = scaled(std::mem::take(amount), -12));
    }
    pool("a quarter of the users ask for 10^12 times less than the others", &requests, &weights)
}

fn near_tie(n_users: usize, n_resources: usize, seed: u64) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, "near tie");
    let (mut requests, weights) = requests(n_users, n_resources, &mut draw);
    for request in &mut requests {
        // The last resource equals the first resource up to a billionth.
        let first = request[0].clone();
        let off = scaled(draw.between(1, 9), -9);
        if let Some(last) = request.last_mut() {
            *last = &first * (Rational::from(1) - off);
        }
    }
    pool("two resources are asked for alike but for a billionth", &requests, &weights)
}

fn islands(count: usize, seed: u64) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, &format!("islands {count}"));
    let pools: Vec<Requests> = (0..count).map(|at| requests(4 + 3 * at, 2 + at % 4, &mut draw)).collect();
    side_by_side("server classes with users of their own: the answer is irrational on each", &pools)
}
