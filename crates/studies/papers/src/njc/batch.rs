//! Tests the properties that the NJC paper claims on random pools.

use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::trajectory::{TrajectorySettings, TrajectoryStatus, integrate};
use evenhand_problem::{Problem, Rational};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::drf::allocate;
use super::setting::{answers, continuous, is_fair, pool_of};
use super::trajectory::largest_difference;
use crate::entry::Entry;
use crate::error::PaperError;

/// The number of instances of each kind.
const INSTANCES: usize = 200;
/// The values of `c` at which trajectories are compared with their limits.
const LATE: [f64; 3] = [1e4, 1e8, 1e12];
/// The numbers of users and resources.
const SHAPES: [(usize, usize); 4] = [(2, 3), (3, 2), (3, 3), (4, 3)];

/// Returns a random pool. Requests are multiples of 1/20, and a quarter of them are 0. Weights are from 1 to
/// 5.
pub fn random_pool(random: &mut Pcg64Mcg, n_users: usize, n_resources: usize) -> Result<Problem, PaperError> {
    let mut requests = Vec::new();
    for _ in 0..n_users {
        let mut request: Vec<Rational> = (0..n_resources)
            .map(|_| if random.random_bool(0.25) { 0 } else { random.random_range(1..=20) })
            .map(|twentieths| Rational::from((twentieths, 20)))
            .collect();
        if request.iter().all(Rational::is_zero) {
            request[random.random_range(0..n_resources)] = Rational::from((1, 2));
        }
        requests.push(request);
    }
    let weights: Vec<Rational> = (0..n_users).map(|_| Rational::from(random.random_range(1..=5))).collect();
    pool_of(&requests, &weights)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = uniqueness()?;
    entries.push(convergence()?);
    entries.push(exact_answers()?);
    Ok(entries)
}

fn uniqueness() -> Result<Vec<Entry>, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(55);
    let mut shares = Vec::new();
    for (n_users, n_resources) in SHAPES {
        let mut unique = 0;
        for _ in 0..INSTANCES {
            unique +=
                usize::from(answers(&random_pool(&mut random, n_users, n_resources)?)?.points.len() == 1);
        }
        shares.push((n_users, n_resources, unique));
    }
    let (two, more) = shares.split_first().ok_or("no shapes")?;
    let text: Vec<String> = more
        .iter()
        .map(|(n, m, unique)| format!("{n} users, {m} resources: {unique} of {INSTANCES}"))
        .collect();
    Ok(vec![
        Entry {
            id: "njc.random.two-users-unique".to_owned(),
            source: "NJC, section 5.3: with two users the solution is unique",
            paper: "holds".to_owned(),
            ours: format!("one answer in {} of {INSTANCES} random instances", two.2),
            agrees: Some(two.2 == INSTANCES),
            note: "all answers enumerated".to_owned(),
        },
        Entry {
            id: "njc.random.unique".to_owned(),
            source: "NJC, section 5.5: with more users the solution is not unique in general",
            paper: String::new(),
            ours: format!("one answer: {}", text.join("; ")),
            agrees: None,
            note: "Requests are multiples of 1/20, a quarter of them are 0, and weights are 1 to 5. All \
                   answers are enumerated."
                .to_owned(),
        },
    ])
}

fn convergence() -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(54);
    let mut furthest = [0.0_f64; LATE.len()];
    let mut failed = 0;
    for _ in 0..INSTANCES {
        let (n_users, n_resources) = (random.random_range(2..=8), random.random_range(1..=4));
        let pool = continuous(&random_pool(&mut random, n_users, n_resources)?)?;
        let limit = follow(&pool, &PathSettings::default());
        for (furthest, c_max) in furthest.iter_mut().zip(LATE) {
            let settings = TrajectorySettings { c_max, stop_tolerance: 0.0, ..TrajectorySettings::default() };
            let end = integrate(&pool, &settings);
            failed += usize::from(end.status != TrajectoryStatus::ReachedC);
            *furthest = furthest.max(largest_difference(&end.x, &limit.x));
        }
    }
    let table: Vec<String> =
        furthest.iter().zip(LATE).map(|(furthest, c)| format!("{furthest:.0e} at c = {c:.0e}")).collect();
    Ok(Entry {
        id: "njc.random.trajectory-converges".to_owned(),
        source: "NJC, section 5.4, Lemma 2: x(t) may not tend to a limit, a subsequence does",
        paper: "open".to_owned(),
        ours: format!(
            "largest distance of {INSTANCES} random trajectories from the optimum of sum e_i log x_i: {}",
            table.join(", ")
        ),
        agrees: None,
        note: format!(
            "The trajectories always tend to this optimum, because each is the central path with c = 1/mu. \
             The distance falls like 1/c, or like the root of 1/c if a bottleneck has no price. The results \
             are in floating point, and {failed} integrations failed. The problems have up to 8 users and 4 \
             resources."
        ),
    })
}

fn exact_answers() -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(6);
    let mut fair = 0;
    for _ in 0..INSTANCES {
        let (n_users, n_resources) = (random.random_range(2..=30), random.random_range(1..=8));
        let problem = random_pool(&mut random, n_users, n_resources)?;
        fair += usize::from(is_fair(&problem, &allocate(&problem, "njc")?)?);
    }
    Ok(Entry {
        id: "njc.random.exact".to_owned(),
        source: "NJC, section 6: is there a method that is polynomial in N and m?",
        paper: "open".to_owned(),
        ours: format!(
            "an exact rational answer, judged by the exact crate, for {fair} of {INSTANCES} random instances"
        ),
        agrees: None,
        note: "The optimum of sum e_i log x_i determines the bottlenecks and the reason why each user is \
             content. With these, an answer is a point of a rational polytope that is not empty. The \
             problems have up to 30 users and 8 resources."
            .to_owned(),
    })
}
