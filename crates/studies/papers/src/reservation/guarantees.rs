//! Reservation, Definition 3.8 (monotonicity): tests whether greedy may earn less when the load grows.

use evenhand_packing::MaxReward;
use evenhand_packing::monotone::{Monotone, monotone};
use evenhand_problem::Rational;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::cases::{Type, problem, row};
use super::section_7::{SERVER, four_types};
use crate::entry::{Entry, list};
use crate::error::PaperError;

/// The number of random problems with two types.
const PROBLEMS: usize = 500;

fn decide(capacity: &[Rational], types: &[Type]) -> Result<Monotone, PaperError> {
    let problem = problem(capacity, types)?;
    monotone(&mut MaxReward::new(&problem), &mut |_| {}).map_err(PaperError::from)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    Ok(vec![two_types()?, three_types()?, worst_types()?])
}

fn two_types() -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(38);
    let mut monotone = 0;
    for _ in 0..PROBLEMS {
        let capacity: Vec<i32> = (0..2).map(|_| random.random_range(4..=20)).collect();
        let types: Vec<Type> = (1..=2)
            .map(|j| Type {
                name: format!("type {j}"),
                demand: capacity.iter().map(|c| Rational::from(random.random_range(1..=*c))).collect(),
                reward: Rational::from(random.random_range(1..=20)),
                load: Rational::from(1),
            })
            .collect();
        let capacity: Vec<Rational> = capacity.into_iter().map(Rational::from).collect();
        monotone += usize::from(matches!(decide(&capacity, &types)?, Monotone::Holds { .. }));
    }
    Ok(Entry {
        id: "reservation.monotone.two-types".to_owned(),
        source: "Reservation, after Definition 3.8: two types are always monotone",
        paper: "holds".to_owned(),
        ours: format!("holds for {monotone} of {PROBLEMS} random pairs"),
        agrees: Some(monotone == PROBLEMS),
        note: "decided for each pair, over all loads".to_owned(),
    })
}

/// Returns the entry on the types that the paper calls its worst types (section 7.1).
fn worst_types() -> Result<Entry, PaperError> {
    let ours = match decide(&SERVER.map(Rational::from), &four_types())? {
        Monotone::Holds { orders } => format!("holds in all {orders} orders in which types can run out"),
        Monotone::Fails { smaller, larger, reward_of_smaller, reward_of_larger } => format!(
            "fails: loads ({}) earn {reward_of_smaller}, loads ({}) only {reward_of_larger}",
            list(&smaller),
            list(&larger)
        ),
    };
    Ok(Entry {
        id: "reservation.monotone.worst-types".to_owned(),
        source: "Reservation, Definition 3.8 for the types (1,1), (4,16), (2,32), (32,256) of section 7.1",
        paper: String::new(),
        ours,
        agrees: None,
        note: "The paper does not say if these types have the property. `ratio --monotone` decides it for \
               any types."
            .to_owned(),
    })
}

/// Returns the entry on three types on a server (16, 10). With these types greedy may earn less
/// when the load grows.
fn three_types() -> Result<Entry, PaperError> {
    let types: Vec<Type> = [("9 3", 18), ("9 1", 16), ("1 3", 5)]
        .iter()
        .enumerate()
        .map(|(j, (demand, reward))| {
            let (name, reward) = (format!("type {}", j + 1), Rational::from(*reward));
            Ok(Type { name, demand: row(demand)?, reward, load: Rational::from(1) })
        })
        .collect::<Result<_, PaperError>>()?;
    let (ours, fails) = match decide(&row("16 10")?, &types)? {
        Monotone::Holds { .. } => ("monotone".to_owned(), false),
        Monotone::Fails { smaller, larger, reward_of_smaller, reward_of_larger } => (
            format!(
                "loads ({}) earn {reward_of_smaller}, loads ({}) only {reward_of_larger}",
                list(&smaller),
                list(&larger)
            ),
            true,
        ),
    };
    Ok(Entry {
        id: "reservation.monotone.three-types".to_owned(),
        source: "Reservation, after Definition 3.8: it may fail for more types",
        paper: "may fail".to_owned(),
        ours,
        agrees: Some(fails),
        note: "demands (9,3), (9,1), (1,3) with rewards 18, 16, 5 on a server (16,10)".to_owned(),
    })
}
