//! Theorems A, B and C of docs/theory.md: experiments that try to refute them, and instances for which their bounds are
//! attained.

use evenhand_certify::ratio::lower_bound;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Arithmetic, Rational};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

mod lies;

use crate::entry::Entry;
use crate::error::PaperError;
use crate::instance::solve;
use crate::ps_dsf::random::Law;
use crate::reservation::cases::{Type, certified, problem, worst};

/// The number of random problems for Theorem A.
const CLUSTERS: usize = 400;
/// The number of random packings at random loads for Theorem C.
const PACKINGS: usize = 2000;
/// The number of random packings for Theorem C for which all loads are searched.
const SEARCHED: usize = 60;
/// The numbers of types for which this file attains the bound of Theorem C.
const ATTAINED: std::ops::RangeInclusive<usize> = 2..=8;

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = theorem_a()?;
    entries.extend([lies::at_random()?, lies::by_class()?]);
    entries.extend([at_random_loads()?, at_all_loads()?, attained()?]);
    Ok(entries)
}

/// Returns the entries on Theorem A: every problem has a PS-DSF allocation, and a problem with a single class
/// has only one.
fn theorem_a() -> Result<Vec<Entry>, PaperError> {
    let mut problems = Law { seed: 101, one_bottleneck: false }.problems(CLUSTERS / 2)?;
    problems.extend(Law { seed: 102, one_bottleneck: true }.problems(CLUSTERS / 2)?);
    let (mut found, mut on_one_class, mut the_same) = (0, 0, 0);
    for problem in &problems {
        // If a mechanism returns no allocation, or if a certificate is refused, the theorem counts as refuted on this
        // problem.
        let Ok(fair) = solve(problem, "ps-dsf") else { continue };
        found += usize::from(fair.arithmetic == Arithmetic::Exact);
        if problem.n_servers() == 1 {
            on_one_class += 1;
            the_same += usize::from(solve(problem, "drf")?.totals() == fair.totals());
        }
    }
    Ok(vec![
        Entry {
            id: "theorems.a.exists".to_owned(),
            source: "Theorem A (theory, section 4): every problem has a PS-DSF allocation (RDM)",
            paper: String::new(),
            ours: format!("{found} of {CLUSTERS} random problems have a proven one"),
            agrees: Some(found == CLUSTERS),
            note: "2 to 4 users, 1 to 3 classes and resources, demands of 0, placement constraints"
                .to_owned(),
        },
        Entry {
            id: "theorems.a.one-class".to_owned(),
            source: "Theorem A, on one class: the allocation is the only one",
            paper: String::new(),
            ours: format!("that of DRF, found by linear programmes, in {the_same} of {on_one_class}"),
            agrees: Some(the_same == on_one_class && on_one_class > 0),
            note: "those of the same problems that have one class".to_owned(),
        },
    ])
}

/// Returns `1 - (1 - 1/J)^J`, the bound of Theorem C, for `J` types.
fn bound(n_types: usize) -> Rational {
    let rest = Rational::from((n_types - 1, n_types));
    1 - (0..n_types).fold(Rational::from(1), |product, _| product * &rest)
}

/// Returns a random packing of `n_types` types in small whole numbers. Loads are multiples of 1/10.
fn packing(random: &mut Pcg64Mcg, n_types: usize) -> (Vec<Rational>, Vec<Type>) {
    let capacity: Vec<u32> = (0..random.random_range(1..=3)).map(|_| random.random_range(2..=12)).collect();
    let types = (1..=n_types).map(|j| {
        let mut demand: Vec<u32> = capacity.iter().map(|c| random.random_range(0..=*c)).collect();
        if demand.iter().all(|d| *d == 0) {
            demand[0] = 1;
        }
        Type {
            name: format!("type {j}"),
            demand: demand.into_iter().map(Rational::from).collect(),
            reward: Rational::from(random.random_range(1..=20)),
            load: Rational::from((random.random_range(1..=40), 10)),
        }
    });
    let types = types.collect();
    (capacity.into_iter().map(Rational::from).collect(), types)
}

fn at_random_loads() -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(103);
    let (mut below, mut nearest) = (0, None::<Rational>);
    for _ in 0..PACKINGS {
        let n_types = random.random_range(2..=6);
        let (capacity, types) = packing(&mut random, n_types);
        let certificate = certified(&problem(&capacity, &types)?)?;
        let of_steps = lower_bound(&certificate);
        let ratio = certificate.ratio.ok_or("nothing can be earned")?;
        let excess = ratio - &of_steps;
        below += usize::from(excess < 0 || of_steps < bound(n_types));
        nearest = Some(nearest.map_or(excess.clone(), |least| least.min(excess)));
    }
    Ok(Entry {
        id: "theorems.c.random-loads".to_owned(),
        source: "Theorem C (theory, section 6): greedy earns at least 1 - (1 - 1/J)^J of the optimum",
        paper: String::new(),
        ours: format!(
            "{below} of {PACKINGS} random problems are below the bound by their own steps, or have such a \
             bound below 1 - (1 - 1/J)^J. The nearest ratio is {:.4} above",
            to_f64(&nearest.unwrap_or_default())
        ),
        agrees: Some(below == 0),
        note: "The problems have 2 to 6 types and 1 to 3 resources. Every ratio is exact, and its \
               certificate is checked."
            .to_owned(),
    })
}

fn at_all_loads() -> Result<Entry, PaperError> {
    /// The number of types of the problems for which all loads are searched.
    const TYPES: usize = 3;
    let mut random = Pcg64Mcg::seed_from_u64(104);
    let mut least = Rational::from(1);
    for _ in 0..SEARCHED {
        let (capacity, types) = packing(&mut random, TYPES);
        least = least.min(worst(&problem(&capacity, &types)?)?.ratio_lower);
    }
    let bound = bound(TYPES);
    Ok(Entry {
        id: "theorems.c.all-loads".to_owned(),
        source: "Theorem C at the worst loads of three types",
        paper: String::new(),
        ours: format!("at least {:.4} in {SEARCHED} random problems; the bound is {bound}", to_f64(&least)),
        agrees: Some(least >= bound),
        note: "over all loads of each, proven from both sides".to_owned(),
    })
}

/// Returns the capacity and types of the instance that attains the bound.
///
/// Rewards are `u_j = (1/J) (1 - 1/J)^(j - 1)` for `j < J` and `u_J = (1 - 1/J)^(J - 1)`. Type `j < J` needs `1/J` of
/// the resources `j` and `J`. Type `J` needs `(J - 1)/J` of the resources before `J` and `1/J` of resource `J`. All
/// loads are 1. For two types the capacity is (2, 1), the demands are (1, 0) and (1, 1), and the rewards are 1/2.
fn attaining(n_types: usize) -> (Vec<Rational>, Vec<Type>) {
    let one = Rational::from(1);
    let of = |j: usize, demand: Vec<Rational>, reward: Rational| Type {
        name: format!("type {}", j + 1),
        demand,
        reward,
        load: one.clone(),
    };
    if n_types == 2 {
        let half = Rational::from((1, 2));
        let types =
            vec![of(0, vec![one.clone(), Rational::new()], half.clone()), of(1, vec![one.clone(); 2], half)];
        return (vec![Rational::from(2), one.clone()], types);
    }
    let last = n_types - 1;
    let part = Rational::from((1, n_types));
    let rest = Rational::from(1 - &part);
    let power = |exponent: usize| (0..exponent).fold(one.clone(), |product, _| product * &rest);
    let mut types: Vec<Type> = (0..last)
        .map(|j| {
            let mut demand = vec![Rational::new(); n_types];
            demand[j] = part.clone();
            demand[last] = part.clone();
            of(j, demand, Rational::from(&part * &power(j)))
        })
        .collect();
    let mut demand = vec![rest.clone(); last];
    demand.push(part.clone());
    types.push(of(last, demand, power(last)));
    (vec![one; n_types], types)
}

fn attained() -> Result<Entry, PaperError> {
    let mut ratios = Vec::new();
    let mut all = true;
    for n_types in ATTAINED {
        let (capacity, types) = attaining(n_types);
        let certificate = certified(&problem(&capacity, &types)?)?;
        let of_steps = lower_bound(&certificate);
        let ratio = certificate.ratio.ok_or("nothing can be earned")?;
        all &= ratio == bound(n_types) && ratio == of_steps;
        ratios.push(ratio.to_string());
    }
    Ok(Entry {
        id: "theorems.c.attained".to_owned(),
        source: "Theorem C: for every number of types the bound is attained",
        paper: String::new(),
        ours: ratios.join(", "),
        agrees: Some(all),
        note: format!(
            "{} to {} types; Appendix C of the paper has one type more for the same ratio",
            ATTAINED.start(),
            ATTAINED.end()
        ),
    })
}
