//! All problems in small whole numbers. Problems that differ only in the order of users, classes and resources occur
//! once.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use evenhand_problem::{ProblemSpec, Rational, ServerSpec, UserSpec};
use rayon::prelude::*;

use super::premises::Premises;
use crate::stated::Stated;

/// The problems of one size: all combinations of the values in the following lists.
struct Layer {
    users: usize,
    classes: usize,
    resources: usize,
    capacity: &'static [u8],
    demand: &'static [u8],
    weight: &'static [u8],
    /// The numbers of tasks of a user; 0 stands for unlimited tasks.
    tasks: &'static [u8],
    constrained: bool,
    /// The rates of a user on a class, for mechanisms that use a criterion.
    rate: &'static [u8],
}

/// A layer whose problems have no special features.
const PLAIN: Layer = Layer {
    users: 1,
    classes: 1,
    resources: 1,
    capacity: &[1, 2],
    demand: &[0, 1, 2],
    weight: &[1],
    tasks: &[0],
    constrained: false,
    rate: &[],
};

/// The layers, smaller problems first.
const LAYERS: &[Layer] = &[
    Layer { resources: 2, tasks: &[0, 1], ..PLAIN },
    Layer { users: 2, capacity: &[1, 2, 3], demand: &[1, 2], weight: &[1, 2], tasks: &[0, 1], ..PLAIN },
    Layer { users: 2, resources: 2, weight: &[1, 2], tasks: &[0, 1], ..PLAIN },
    Layer {
        users: 2,
        classes: 2,
        demand: &[1, 2],
        weight: &[1, 2],
        tasks: &[0, 1],
        constrained: true,
        ..PLAIN
    },
    Layer { users: 3, resources: 2, ..PLAIN },
    Layer {
        users: 2,
        classes: 2,
        resources: 2,
        capacity: &[0, 1],
        demand: &[0, 1],
        tasks: &[0, 1],
        constrained: true,
        ..PLAIN
    },
    Layer { users: 2, classes: 2, resources: 2, constrained: true, ..PLAIN },
    Layer { users: 3, resources: 3, demand: &[0, 1], ..PLAIN },
    Layer { users: 3, classes: 2, demand: &[1, 2], constrained: true, ..PLAIN },
    Layer {
        users: 3,
        classes: 2,
        resources: 2,
        capacity: &[0, 1],
        demand: &[0, 1],
        constrained: true,
        ..PLAIN
    },
];

/// The layers for a mechanism that uses a criterion.
const WITH_CRITERION: &[Layer] = &[
    Layer { resources: 2, tasks: &[0, 1], rate: &[1, 2], ..PLAIN },
    Layer { users: 2, demand: &[1, 2], weight: &[1, 2], tasks: &[0, 1], rate: &[1, 2], ..PLAIN },
    Layer { users: 2, resources: 2, demand: &[0, 1], tasks: &[0, 1], rate: &[1, 2], ..PLAIN },
    Layer { users: 2, classes: 2, demand: &[1, 2], constrained: true, rate: &[1, 2], ..PLAIN },
    Layer {
        users: 2,
        classes: 2,
        resources: 2,
        capacity: &[1],
        demand: &[0, 1],
        constrained: true,
        rate: &[1, 2],
        ..PLAIN
    },
    Layer { users: 3, resources: 2, demand: &[0, 1], rate: &[1, 2], ..PLAIN },
];

/// A user in small numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SmallUser {
    demand: Vec<u8>,
    weight: u8,
    tasks: u8,
    may_use: Vec<bool>,
    rate: Vec<u8>,
}

/// A problem in small numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Small {
    capacity: Vec<Vec<u8>>,
    users: Vec<SmallUser>,
}

/// All problems of the layers that satisfy the premises, in the order of the search.
pub struct Universe {
    layers: &'static [Layer],
    premises: Premises,
    /// The numbers of the problems of each layer. Problems that differ only in order occur once.
    firsts: Vec<Vec<u64>>,
}

/// The universes that were built. The key says whether the problems have a criterion, and which premises they
/// satisfy.
type Made = HashMap<(bool, Premises), Arc<Universe>>;

/// A cache of the universes. All mechanisms without a criterion share them.
static MADE: LazyLock<Mutex<Made>> = LazyLock::new(Mutex::default);

impl Universe {
    /// Returns the problems with a criterion, or the problems without one.
    #[must_use]
    pub fn of(with_criterion: bool, premises: Premises) -> Arc<Self> {
        let key = (with_criterion, premises);
        let known = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(universe) = known().get(&key) {
            return Arc::clone(universe);
        }
        let layers = if with_criterion { WITH_CRITERION } else { LAYERS };
        let firsts = layers.iter().map(|layer| layer.firsts(premises)).collect();
        let universe = Arc::new(Self { layers, premises, firsts });
        Arc::clone(known().entry(key).or_insert(universe))
    }

    /// Returns the number of problems.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.firsts.iter().map(|numbers| numbers.len() as u64).sum()
    }

    /// Returns the problem with this index.
    #[must_use]
    pub fn problem(&self, place: u64) -> Option<Stated> {
        let mut left = usize::try_from(place).ok()?;
        for (layer, numbers) in self.layers.iter().zip(&self.firsts) {
            match numbers.get(left) {
                Some(number) => return Some(layer.decode(*number, self.premises).stated()),
                None => left -= numbers.len(),
            }
        }
        None
    }
}

/// A number whose digits are read one after the other, each in its own base.
struct Digits(u64);

impl Digits {
    fn of(&mut self, values: &[u8]) -> u8 {
        let many = values.len() as u64;
        let digit = (self.0 % many) as usize;
        self.0 /= many;
        values[digit]
    }
}

impl Layer {
    fn demand(&self, premises: Premises) -> &'static [u8] {
        if premises.positive && self.demand[0] == 0 { &self.demand[1..] } else { self.demand }
    }

    fn tasks(&self, premises: Premises) -> &'static [u8] {
        if premises.unlimited { &self.tasks[..1] } else { self.tasks }
    }

    fn is_constrained(&self, premises: Premises) -> bool {
        self.constrained && !premises.everywhere
    }

    fn numbers(&self, premises: Premises) -> u64 {
        if premises.one_server && self.classes > 1 {
            return 0;
        }
        let power = |base: usize, exponent: usize| (base as u64).pow(exponent as u32);
        let classes = if self.is_constrained(premises) { power(2, self.classes) } else { 1 };
        let rates = power(self.rate.len().max(1), if self.rate.is_empty() { 0 } else { self.classes });
        let user = power(self.demand(premises).len(), self.resources)
            * power(self.weight.len(), 1)
            * power(self.tasks(premises).len(), 1)
            * classes
            * rates;
        power(self.capacity.len(), self.classes * self.resources) * user.pow(self.users as u32)
    }

    /// Returns the numbers of the problems that represent all problems up to order: no smaller number gives the same
    /// problem in another order.
    fn firsts(&self, premises: Premises) -> Vec<u64> {
        let is_first = |number: &u64| {
            let small = self.decode(*number, premises);
            small.is_a_problem() && small.is_first(self)
        };
        (0..self.numbers(premises)).into_par_iter().filter(is_first).collect()
    }

    fn decode(&self, number: u64, premises: Premises) -> Small {
        let digits = &mut Digits(number);
        let row = |digits: &mut Digits, many: usize, values: &[u8]| -> Vec<u8> {
            (0..many).map(|_| digits.of(values)).collect()
        };
        let is_constrained = self.is_constrained(premises);
        let capacity = (0..self.classes).map(|_| row(digits, self.resources, self.capacity)).collect();
        let users = (0..self.users).map(|_| SmallUser {
            demand: row(digits, self.resources, self.demand(premises)),
            weight: digits.of(self.weight),
            tasks: digits.of(self.tasks(premises)),
            may_use: (0..self.classes).map(|_| !is_constrained || digits.of(&[1, 0]) == 1).collect(),
            rate: if self.rate.is_empty() { Vec::new() } else { row(digits, self.classes, self.rate) },
        });
        let users = users.collect();
        Small { capacity, users }
    }
}

impl Small {
    fn is_a_problem(&self) -> bool {
        let is_something = |row: &Vec<u8>| row.iter().any(|amount| *amount > 0);
        self.capacity.iter().all(is_something)
            && self.users.iter().all(|user| is_something(&user.demand) && user.may_use.contains(&true))
    }

    /// Returns `true` if no other order of users, classes and resources gives a smaller number.
    fn is_first(&self, layer: &Layer) -> bool {
        if !self.users.is_sorted() {
            return false;
        }
        for classes in orders(layer.classes) {
            for resources in orders(layer.resources) {
                let pick = |row: &Vec<u8>, order: &[usize]| -> Vec<u8> {
                    order.iter().filter_map(|at| row.get(*at).copied()).collect()
                };
                let capacity = classes.iter().map(|i| pick(&self.capacity[*i], &resources)).collect();
                let user = |user: &SmallUser| SmallUser {
                    demand: pick(&user.demand, &resources),
                    weight: user.weight,
                    tasks: user.tasks,
                    may_use: classes.iter().map(|i| user.may_use[*i]).collect(),
                    rate: pick(&user.rate, &classes),
                };
                let mut users: Vec<SmallUser> = self.users.iter().map(user).collect();
                users.sort();
                if (Self { capacity, users }) < *self {
                    return false;
                }
            }
        }
        true
    }

    fn stated(&self) -> Stated {
        let resources: Vec<String> = (1..=self.capacity[0].len()).map(|r| format!("r{r}")).collect();
        let class = |i: usize| format!("s{}", i + 1);
        let amounts =
            |row: &Vec<u8>| resources.iter().cloned().zip(row.iter().map(|d| Rational::from(*d))).collect();
        let server =
            |(i, row): (usize, &Vec<u8>)| ServerSpec { name: class(i), count: None, capacity: amounts(row) };
        let servers = self.capacity.iter().enumerate().map(server).collect();
        let user = |(n, user): (usize, &SmallUser)| {
            let allowed = user.may_use.iter().enumerate().filter(|(_, may)| **may);
            UserSpec {
                name: format!("u{}", n + 1),
                weight: (user.weight != 1).then(|| Rational::from(user.weight)),
                tasks: (user.tasks > 0).then(|| Rational::from(user.tasks)),
                demand: amounts(&user.demand),
                servers: user.may_use.contains(&false).then(|| allowed.map(|(i, _)| class(i)).collect()),
                criterion: user
                    .rate
                    .iter()
                    .enumerate()
                    .map(|(i, u)| (class(i), Rational::from(*u)))
                    .collect(),
                ..UserSpec::default()
            }
        };
        let users = self.users.iter().enumerate().map(user).collect();
        Stated::from(ProblemSpec { resources: resources.clone(), servers, users, ..ProblemSpec::default() })
    }
}

/// Returns all permutations of `many` items.
fn orders(many: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for thing in 0..many {
        let places = |order: Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, thing);
                longer
            })
        };
        all = all.into_iter().flat_map(places).collect();
    }
    all
}
