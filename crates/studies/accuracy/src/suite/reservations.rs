//! Reservation problems with configuration programmes that are small enough to be written out.

use evenhand_problem::{JobSpec, ProblemError, Rational, Reservation, ReservationSpec, ServerSpec};

use super::draw::{Draw, scaled};
use super::{Recipe, Size, add};
use crate::case::{Case, Input, Kind};

pub(super) fn recipes(all: &mut Vec<Recipe>) {
    use Size::{Large, Small};
    for (name, size, types, pools, like) in [
        ("random-3", Small, 3, 1, Like::Usual),
        ("random-5", Small, 5, 1, Like::Usual),
        ("two-pools-4", Small, 4, 2, Like::Usual),
        ("virtual-machines-6", Small, 6, 1, Like::Machines),
        ("far-rewards-4", Small, 4, 1, Like::FarRewards),
        ("near-ties-5", Large, 5, 1, Like::NearTies),
        ("random-6", Large, 6, 1, Like::Usual),
        ("three-pools-5", Large, 5, 3, Like::Usual),
        ("virtual-machines-8", Large, 8, 1, Like::Machines),
    ] {
        add(all, Kind::Configurations, size, name, move |seed| reservation(name, seed, types, pools, like));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Like {
    Usual,
    /// Demands are powers of two.
    Machines,
    /// Rewards differ by a factor of `10^9`.
    FarRewards,
    /// Rewards per resource are equal up to a billionth.
    NearTies,
}

fn reservation(name: &str, seed: u64, types: usize, pools: usize, like: Like) -> Result<Case, ProblemError> {
    let mut draw = Draw::new(seed, name);
    let amounts =
        |cpu: u64, memory: u64| vec![("cpu".to_owned(), cpu.into()), ("memory".to_owned(), memory.into())];
    let servers = (1..=pools).map(|i| ServerSpec {
        name: format!("pool {i}"),
        count: (pools > 1).then(|| Rational::from(draw.between(10, 40))),
        capacity: amounts(draw.between(20, 32), draw.between(20, 32)),
    });
    let servers = servers.collect();
    let jobs = (1..=types).map(|j| {
        let (cpu, memory) = match like {
            Like::Machines => (2 << draw.below(4), 2 << draw.below(4)),
            _ => (draw.between(2, 14), draw.between(2, 14)),
        };
        let reward = match like {
            Like::NearTies => {
                Rational::from(cpu + memory) * (Rational::from(1) + scaled(draw.between(0, 9), -9))
            }
            Like::FarRewards if j % 2 == 0 => scaled(draw.between(1, 20), -9),
            _ => Rational::from(draw.between(1, 20)),
        };
        JobSpec {
            name: format!("type {j}"),
            demand: amounts(cpu, memory),
            reward: Some(reward),
            load: Some(Rational::from((draw.between(1, 30), 10u32))),
        }
    });
    let jobs = jobs.collect();
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    let spec = ReservationSpec { name: String::new(), resources, pools: servers, jobs, configurations: None };
    let input = Input::Reservation(Reservation::new(spec)?);
    Ok(Case {
        name: String::new(),
        kind: Kind::Configurations,
        note: "random job types",
        input,
        alpha: 1.into(),
        planted: None,
    })
}
