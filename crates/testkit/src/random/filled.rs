//! Random problems with allocations, which several tests use.

use evenhand_problem::{
    Allocation, Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Returns a random problem with an allocation. Placement, tasks, weights, sharing and the numbers of servers
/// vary with the seed.
pub fn random(seed: u64) -> (Problem, Allocation) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let rng = &mut rng;
    let (n, k, m) = (rng.random_range(1..6), rng.random_range(1..4), rng.random_range(1..4));
    let small = |rng: &mut Pcg64| Rational::from((rng.random_range(0..4), rng.random_range(1..4)));
    let demand = |rng: &mut Pcg64| -> Vec<(String, Rational)> {
        let mut all: Vec<_> = (0..m).map(|r| (format!("r{r}"), small(rng))).collect();
        all[0].1 += Rational::from((1, 2));
        all
    };
    let servers: Vec<_> = (0..k)
        .map(|i| ServerSpec {
            name: format!("s{i}"),
            count: Some(Rational::from(rng.random_range(1..3))),
            capacity: (0..m)
                .map(|r| (format!("r{r}"), small(rng) + Rational::from(rng.random_range(0..2))))
                .collect(),
        })
        .collect();
    let users: Vec<_> = (0..n)
        .map(|n| UserSpec {
            name: format!("u{n}"),
            weight: Some(small(rng) + Rational::from((1, 3))),
            tasks: rng.random_bool(0.4).then(|| small(rng)),
            demand: demand(rng),
            servers: rng.random_bool(0.3).then(|| vec![format!("s{}", rng.random_range(0..k))]),
            ..UserSpec::default()
        })
        .collect();
    let resources = (0..m).map(|r| format!("r{r}")).collect();
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    let sharing = if rng.random_bool(0.3) { Sharing::Tdm } else { Sharing::Rdm };
    // Most rows are filled exactly: each user in turn takes all of the remaining capacity, or a fraction of
    // it.
    let constraints = Constraints::new(&problem, sharing);
    let mut left: Vec<Rational> = constraints.rows().iter().map(|row| row.capacity.clone()).collect();
    let mut tasks = vec![Vec::new(); n];
    for (user, tasks) in tasks.iter_mut().enumerate() {
        for i in 0..k {
            let Some(usage) = constraints.usage(user, i).filter(|_| rng.random_bool(0.8)) else { continue };
            let rows = constraints.class_rows(i);
            let fits = rows.clone().zip(usage.iter()).filter(|(_, d)| !d.is_zero());
            let most = fits.map(|(row, d)| Rational::from(&left[row] / d)).min().unwrap();
            let x = most * Rational::from((rng.random_range(0..4), 3));
            for (row, d) in rows.zip(usage.iter()) {
                left[row] -= Rational::from(d * &x);
            }
            tasks.push((i, x));
        }
    }
    (problem, Allocation { tasks, sharing, ..Allocation::default() })
}
