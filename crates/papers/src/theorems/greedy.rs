//! Theorem C: greedy earns at least `1 - (1 - 1/J)^J` of the optimum, and no more can be promised.

use evenhand_packing::{MaxReward, greedy};
use evenhand_problem::{Rational, number::to_f64};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::reservation::{Type, certified, problem};
use crate::{Entry, PaperError};

/// Random problems for every number of types.
const PROBLEMS: usize = 60;
/// Numbers of types of the random problems, and of the sharp family.
const TYPES: std::ops::RangeInclusive<usize> = 2..=5;
const FAMILY: std::ops::RangeInclusive<usize> = 2..=12;

/// `1 - (1 - 1/J)^J`
fn promised(types: usize) -> Rational {
    let rest = Rational::from((types - 1, types));
    1 - (0..types).fold(Rational::from(1), |product, _| product * &rest)
}

fn new(j: usize, demand: Vec<Rational>, reward: Rational, load: Rational) -> Type {
    Type { name: format!("type {}", j + 1), demand, reward, load }
}

/// Two resources; demands that are not all 0, rewards, loads.
fn random(types: usize, random: &mut Pcg64Mcg) -> (Vec<Rational>, Vec<Type>) {
    let capacity = [random.random_range(4..=12), random.random_range(4..=12)];
    let made = (0..types).map(|j| {
        let first = random.random_range(0..=4_u32);
        let second = random.random_range(u32::from(first == 0)..=4);
        let reward = Rational::from(random.random_range(1..=12_u32));
        let load = Rational::from((random.random_range(1..=12_u32), 4));
        new(j, [first, second].map(Rational::from).to_vec(), reward, load)
    });
    let made = made.collect();
    (capacity.map(|c: u32| Rational::from(c)).to_vec(), made)
}

/// The instances of the theorem where greedy earns no more than it promises.
fn sharp(types: usize) -> (Vec<Rational>, Vec<Type>) {
    let (one, n) = (Rational::from(1), types);
    if n == 2 {
        let half = Rational::from((1, 2));
        let demand = |amounts: [u32; 2]| amounts.map(Rational::from).to_vec();
        let made = vec![new(0, demand([1, 0]), half.clone(), one.clone()), new(1, demand([1, 1]), half, one)];
        return (demand([2, 1]), made);
    }
    let part = Rational::from((1, n));
    let rest = Rational::from(1 - &part);
    let power = |exponent: usize| (0..exponent).fold(Rational::from(1), |product, _| product * &rest);
    let small = (0..n - 1).map(|j| {
        let mut demand = vec![Rational::new(); n];
        demand[j] = part.clone();
        demand[n - 1] = part.clone();
        new(j, demand, &part * power(j), one.clone())
    });
    let mut demand = vec![rest.clone(); n - 1];
    demand.push(part.clone());
    let large = new(n - 1, demand, power(n - 1), one.clone());
    (vec![one.clone(); n], small.chain([large]).collect())
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut generator = Pcg64Mcg::seed_from_u64(43);
    let (mut broken, mut tried, mut words) = (0, 0, Vec::new());
    for types in TYPES {
        let mut least: Option<Rational> = None;
        for _ in 0..PROBLEMS {
            let (capacity, made) = random(types, &mut generator);
            let problem = problem(&capacity, &made)?;
            let ratio = certified(&problem)?.ratio.ok_or("nothing can be earned")?;
            let fluid = greedy::fluid(&mut MaxReward::new(&problem), &problem.loads(), &[Rational::from(1)])?;
            // The bound of the pieces that greedy really used is at least the one of their number.
            let unused =
                fluid.steps.iter().fold(Rational::from(1), |product, step| product * (1 - &step.servers));
            tried += 1;
            broken += usize::from(ratio < 1 - unused || ratio < promised(types));
            least = Some(least.map_or(ratio.clone(), |least| least.min(ratio)));
        }
        let least = least.unwrap_or_default();
        words.push(format!("{types}: {:.3} ({:.3})", to_f64(&least), to_f64(&promised(types))));
    }
    let mut attained = Vec::new();
    let mut all = true;
    for types in FAMILY {
        let (capacity, made) = sharp(types);
        let ratio = certified(&problem(&capacity, &made)?)?.ratio.ok_or("nothing can be earned")?;
        all &= ratio == promised(types);
        attained.push(ratio.to_string());
    }
    attained.truncate(4);
    Ok(vec![
        Entry {
            id: "theorems.c.bound".to_owned(),
            source: "Theory, Theorem C: what greedy earns of the optimum",
            paper: "at least 1 - the product of the parts of the servers that its pieces leave".to_owned(),
            ours: format!(
                "{broken} of {tried} random problems have less; least ratio by number of types (promised): {}",
                words.join(", ")
            ),
            agrees: Some(broken == 0),
            note: "two resources, demands 0 to 4 of 4 to 12, rewards 1 to 12, loads up to 3; ratios are exact, with \
                   checked certificates"
                .to_owned(),
        },
        Entry {
            id: "theorems.c.sharp".to_owned(),
            source: "Theory, Theorem C is sharp",
            paper: "1 - (1 - 1/J)^J is attained".to_owned(),
            ours: format!("{}, ...", attained.join(", ")),
            agrees: Some(all),
            note: format!("J from {} to {}, exactly", FAMILY.start(), FAMILY.end()),
        },
    ])
}
