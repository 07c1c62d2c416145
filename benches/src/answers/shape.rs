//! Random problems of many shapes and magnitudes.

use evenhand_exact::Share;
use evenhand_problem::{Problem, ProblemError, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::instances::Random;

/// The classes on which users may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// All classes.
    Everywhere,
    /// One to three classes.
    Few,
    /// Each class with probability one half.
    Half,
    /// A pool of three classes. One user in ten may run in two pools.
    Pools,
}

/// The magnitudes of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Numbers that are 1 or 2, which cause ties.
    Tied,
    /// Numbers up to 64.
    Small,
    /// Fractions whose numerators and denominators have three digits.
    Fractions,
    /// Demands, capacities and weights that differ by up to twelve orders of magnitude.
    FarApart,
    /// Numbers up to 64, and weights from 1 to 10 to the power of this number.
    Weights(usize),
    /// Numbers up to 4 that are wrong by a relative error of up to 1e-12. They cause near ties, which doubles
    /// cannot distinguish from ties.
    NearTies,
}

/// The shape of random problems.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The name in the table.
    pub name: &'static str,
    /// The classes on which users may run.
    pub placement: Placement,
    /// The magnitude of numbers.
    pub numbers: Numbers,
    /// The percentage of demands and capacities that are 0.
    pub zero: u64,
    /// The percentage of users with finite tasks.
    pub finite: u64,
    /// The percentage of users whose demand differs between classes, or that have a criterion for each class.
    pub by_class: u64,
    /// The share that the mechanism equalises.
    pub share: Share,
}

/// The shape without any special properties.
pub(super) const PLAIN: Shape = Shape {
    name: "",
    placement: Placement::Everywhere,
    numbers: Numbers::Small,
    zero: 0,
    finite: 0,
    by_class: 0,
    share: Share::Dominant,
};

/// The shapes of the table.
pub const SHAPES: &[Shape] = &[
    Shape { name: "everywhere", ..PLAIN },
    Shape { name: "1-3 classes each", placement: Placement::Few, ..PLAIN },
    Shape { name: "half of the classes each", placement: Placement::Half, ..PLAIN },
    Shape { name: "pools with bridges", placement: Placement::Pools, ..PLAIN },
    Shape { name: "1-3 classes, ties", placement: Placement::Few, numbers: Numbers::Tied, ..PLAIN },
    Shape {
        name: "half, ties, zeros",
        placement: Placement::Half,
        numbers: Numbers::Tied,
        zero: 30,
        ..PLAIN
    },
    Shape { name: "1-3 classes, zeros", placement: Placement::Few, zero: 40, ..PLAIN },
    Shape { name: "1-3 classes, finite tasks", placement: Placement::Few, finite: 60, ..PLAIN },
    Shape { name: "half, all finite, zeros", placement: Placement::Half, finite: 100, zero: 40, ..PLAIN },
    Shape { name: "everywhere, finite, zeros", finite: 60, zero: 40, share: Share::TaskShare, ..PLAIN },
    Shape { name: "fractions", placement: Placement::Half, numbers: Numbers::Fractions, finite: 30, ..PLAIN },
    Shape { name: "asset fairness", placement: Placement::Few, zero: 20, share: Share::Asset, ..PLAIN },
    Shape { name: "by class", placement: Placement::Half, by_class: 40, share: Share::Generic, ..PLAIN },
    Shape {
        name: "by class, finite",
        placement: Placement::Few,
        by_class: 60,
        finite: 60,
        zero: 20,
        share: Share::Generic,
        ..PLAIN
    },
    Shape { name: "far apart", numbers: Numbers::FarApart, placement: Placement::Half, ..PLAIN },
    Shape {
        name: "far apart, few, finite, zeros",
        numbers: Numbers::FarApart,
        placement: Placement::Few,
        finite: 50,
        zero: 30,
        ..PLAIN
    },
    Shape { name: "near ties", numbers: Numbers::NearTies, placement: Placement::Half, ..PLAIN },
    Shape {
        name: "near ties, finite, zeros",
        numbers: Numbers::NearTies,
        placement: Placement::Pools,
        finite: 70,
        zero: 30,
        ..PLAIN
    },
];

impl Shape {
    /// Returns the problem with the seed `seed` and up to `most_users` users.
    ///
    /// # Errors
    /// Never, because the generated numbers are valid.
    pub fn problem(&self, seed: u64, most_users: usize) -> Result<Problem, ProblemError> {
        let mut random = Random::new(seed, self.name.len() as u64);
        let n_users = 1 + random.below(most_users);
        let n_classes = 1 + random.below((most_users / 2).max(1));
        let n_resources = 1 + random.below(4);
        let resources: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
        let capacity_unit = if self.numbers == Numbers::Tied { 4 } else { 16 };
        let servers = (0..n_classes).map(|i| ServerSpec {
            name: format!("s{i}"),
            count: Some(Rational::from(random.between(1, 10))),
            capacity: self.vector(&resources, capacity_unit, &mut random),
        });
        let servers: Vec<ServerSpec> = servers.collect();
        let users = (0..n_users).map(|n| {
            let classes = self.classes(n_classes, &mut random);
            let mut user = UserSpec {
                name: format!("u{n}"),
                weight: Some(match self.numbers {
                    Numbers::Tied => Rational::from(1),
                    Numbers::FarApart => self.number(&mut random),
                    Numbers::Weights(digits) => {
                        Rational::from(random.between(1, 9)) * power_of_ten(random.below(digits + 1))
                    }
                    _ => Rational::from(random.between(1, 10)),
                }),
                demand: self.vector(&resources, 1, &mut random),
                ..UserSpec::default()
            };
            if random.between(1, 100) <= self.finite {
                let scale = Rational::from((random.between(1, 400), random.between(1, 20)));
                user.tasks = Some(
                    scale
                        * if self.numbers == Numbers::FarApart {
                            self.number(&mut random)
                        } else {
                            Rational::from(1)
                        },
                );
            }
            let own = classes.clone().unwrap_or_else(|| (0..n_classes).collect());
            if self.share == Share::Generic {
                let u = self.number(&mut random);
                let varies = random.between(1, 100) <= self.by_class;
                let on =
                    |i: &usize| (format!("s{i}"), if varies { self.number(&mut random) } else { u.clone() });
                user.criterion = own.iter().map(on).collect();
            }
            if random.between(1, 100) <= self.by_class / 2 {
                let i = own[random.below(own.len())];
                user.demand_on = vec![(format!("s{i}"), self.vector(&resources, 1, &mut random))];
            }
            user.servers = classes.map(|list| list.into_iter().map(|i| format!("s{i}")).collect());
            user
        });
        let users = users.collect();
        Problem::new(ProblemSpec { name: self.name.to_owned(), resources, servers, users })
    }

    fn number(&self, random: &mut Random) -> Rational {
        match self.numbers {
            Numbers::Tied => Rational::from(random.between(1, 2)),
            Numbers::Small | Numbers::Weights(_) => Rational::from(random.between(1, 64)),
            Numbers::Fractions => Rational::from((random.between(1, 999), random.between(1, 999))),
            Numbers::FarApart => {
                let digits = Rational::from(random.between(1, 999));
                let ten = power_of_ten(random.below(6));
                if random.between(1, 2) == 1 { digits * ten } else { digits / ten }
            }
            Numbers::NearTies => {
                let off = Rational::from((random.between(0, 8), 4_000_000_000_000_u64));
                Rational::from(random.between(1, 4)) * (Rational::from(1) + off)
            }
        }
    }

    /// Returns an amount for each resource. At least one amount is positive.
    fn vector(&self, resources: &[String], unit: u64, random: &mut Random) -> Vec<(String, Rational)> {
        let kept = random.below(resources.len());
        let amount = |(r, name): (usize, &String)| {
            let value = self.number(random) * unit;
            let zero = r != kept && random.between(1, 100) <= self.zero;
            (name.clone(), if zero { Rational::new() } else { value })
        };
        resources.iter().enumerate().map(amount).collect()
    }

    fn classes(&self, n: usize, random: &mut Random) -> Option<Vec<usize>> {
        let mut list: Vec<usize> = match self.placement {
            Placement::Everywhere => return None,
            Placement::Few => (0..random.between(1, 3)).map(|_| random.below(n)).collect(),
            Placement::Half => (0..n).filter(|_| random.between(1, 2) == 1).collect(),
            Placement::Pools => {
                let n_pools = n.div_ceil(3);
                let first = random.below(n_pools);
                let second = if random.between(1, 10) == 1 { random.below(n_pools) } else { first };
                (0..n).filter(|i| [first, second].contains(&(i / 3))).collect()
            }
        };
        if list.is_empty() {
            list.push(0);
        }
        list.sort_unstable();
        list.dedup();
        Some(list)
    }
}

fn power_of_ten(digits: usize) -> Rational {
    (0..digits).fold(Rational::from(1), |ten, _| ten * 10u32)
}
