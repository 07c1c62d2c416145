//! The server classes of a problem as knapsacks.

use std::collections::{BTreeMap, HashMap};

use evenhand_exact::ratio::{PricingProof, Tree, TreeNode};
use evenhand_problem::{Problem, Rational};
use rug::Integer;

use crate::knapsack::{Knapsack, Verdict};
use crate::limits::{PackingError, SearchLimits};
use crate::settings::PACKING;

/// The tasks of one packing: `(user, tasks)`, ascending by user, without zeros.
pub type Tasks = Vec<(usize, u64)>;

/// A server class with users that can run whole tasks on it.
pub struct Class {
    /// The position of the class in the problem.
    pub server: usize,
    /// The number of servers of the class.
    pub count: u64,
    /// The users of each type of task. The users of one type have the same demand, and their numbers of tasks do not
    /// limit a packing. A user whose tasks limit a packing has a separate type.
    pub types: Vec<Vec<usize>>,
    knapsack: Knapsack,
}

/// All server classes on which whole tasks fit.
pub struct Classes {
    pub list: Vec<Class>,
    has_packing: Vec<bool>,
}

impl Classes {
    /// Scales the knapsacks of all classes to integers.
    ///
    /// # Errors
    /// [`PackingError::Budget`] if the knapsacks have too many numbers.
    pub fn new(problem: &Problem, limits: &SearchLimits) -> Result<Self, PackingError> {
        let mut has_packing = vec![false; problem.n_users()];
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); problem.n_servers()];
        for n in (0..problem.n_users()).filter(|n| problem.is_active(*n)) {
            problem.classes_of(n).for_each(|i| users[i].push(n));
        }
        let mut list = Vec::new();
        for (server, users) in users.iter().enumerate() {
            let class = Class::new(problem, server, users, limits)?;
            class.types.iter().flatten().for_each(|n| has_packing[*n] = true);
            if !class.types.is_empty() {
                list.push(class);
            }
        }
        Ok(Self { list, has_packing })
    }

    /// Returns true if some packing has a task of user `n`.
    pub fn has_packing(&self, n: usize) -> bool {
        self.has_packing[n]
    }
}

/// Returns the largest whole number that is not above a number of at least 0, or the largest `u64`.
fn floor(value: &Rational) -> u64 {
    Integer::from(value.floor_ref()).to_u64().unwrap_or(u64::MAX)
}

impl Class {
    fn new(
        problem: &Problem,
        server: usize,
        users: &[usize],
        limits: &SearchLimits,
    ) -> Result<Self, PackingError> {
        let of = &problem.servers()[server];
        let mut types: Vec<Vec<usize>> = Vec::new();
        let (mut demands, mut most) = (Vec::new(), Vec::new());
        let mut known: HashMap<_, usize> = HashMap::new();
        let mut is_limited = false;
        for &n in users {
            let demand = problem.demand(n, server);
            let fit = demand.entries().iter().map(|(r, d)| Rational::from(&of.capacity()[*r] / d)).min();
            let fit = fit.map_or(0, |fit| floor(&fit));
            let tasks = problem.users()[n].tasks().map_or(u64::MAX, floor);
            if fit.min(tasks) == 0 {
                continue;
            }
            if fit.min(tasks) > PACKING.most_tasks {
                let what = "tasks on one server";
                return Err(PackingError::Budget { what, limit: PACKING.most_tasks as usize });
            }
            if tasks < fit {
                is_limited = true;
            } else if let Some(at) = known.get(demand) {
                types[*at].push(n);
                continue;
            } else {
                known.insert(demand, types.len());
            }
            types.push(vec![n]);
            demands.push(demand.entries());
            most.push(fit.min(tasks));
        }
        let knapsack = Knapsack::of(&demands, of.capacity(), most, !is_limited, limits)?;
        Ok(Self { server, count: of.count(), types, knapsack })
    }

    /// Returns for every user the packing that fills a server with tasks of this user alone.
    pub fn alone(&self) -> impl Iterator<Item = Tasks> + '_ {
        let of_type = |(users, most): (&'_ Vec<usize>, &u64)| {
            let most = *most;
            users.iter().map(move |n| vec![(*n, most)]).collect::<Vec<_>>()
        };
        self.types.iter().zip(&self.knapsack.most).flat_map(of_type)
    }

    /// Returns for each type the user whose tasks have the largest value, and this value.
    fn best<V: PartialOrd>(&self, value: impl Fn(usize) -> V) -> Vec<(usize, V)> {
        let of_type = |users: &Vec<usize>| {
            let mut best = (users[0], value(users[0]));
            for n in &users[1..] {
                let other = value(*n);
                if other > best.1 {
                    best = (*n, other);
                }
            }
            best
        };
        self.types.iter().map(of_type).collect()
    }

    fn tasks<V>(best: &[(usize, V)], k: &[u64]) -> Tasks {
        let pairs = best.iter().zip(k).filter(|(_, k)| **k > 0).map(|((n, _), k)| (*n, *k));
        pairs.collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    /// Returns packings that are worth more than `bound`. `value` returns the value of a user's task, which is rounded
    /// to a multiple of `1 / precision`.
    pub fn better(&self, value: impl Fn(usize) -> f64, bound: f64, precision: f64) -> Vec<Tasks> {
        let best = self.best(value);
        let whole = |value: f64| Integer::from_f64((value * precision).round()).unwrap_or_default();
        let profits: Vec<Integer> = best.iter().map(|(_, value)| whole(value.max(0.0))).collect();
        let bound = Integer::from_f64((bound * precision).ceil()).unwrap_or_default();
        let found = self.knapsack.better(&profits, &bound);
        found.iter().map(|k| Self::tasks(&best, k)).collect()
    }

    /// Proves with a branch tree that no packing is worth more than `bound`, or returns a packing that is worth more.
    ///
    /// # Errors
    /// [`PackingError`] if the search exceeds its limits.
    pub fn verify(
        &self,
        value: impl Fn(usize) -> Rational,
        bound: &Rational,
    ) -> Result<Result<Option<Tree>, Tasks>, PackingError> {
        let best = self.best(value);
        let profits: Vec<Rational> =
            best.iter().map(|(_, value)| if *value > 0 { value.clone() } else { Rational::new() }).collect();
        match self.knapsack.verify(&profits, bound)? {
            Verdict::Refuted(k) => Ok(Err(Self::tasks(&best, &k))),
            Verdict::Proven(PricingProof::Tree { multipliers, nodes }) => {
                self.knapsack.limits.nodes(nodes.len())?;
                let named = |node| match node {
                    TreeNode::Split { job, at } => TreeNode::Split { job: self.types[job][0], at },
                    leaf @ TreeNode::Leaf { .. } => leaf,
                };
                let is_plain = nodes.len() == 1 && multipliers.iter().all(Vec::is_empty);
                let tree = Tree { multipliers, nodes: nodes.into_iter().map(named).collect() };
                Ok(Ok(Some(tree).filter(|_| !is_plain)))
            }
            // The limits allow only trees as proofs.
            Verdict::Proven(_) => Err(PackingError::Inexact),
        }
    }
}
