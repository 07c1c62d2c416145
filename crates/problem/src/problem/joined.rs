//! One server class for several identical classes.
//!
//! Some clusters are stated server by server. Some mechanisms compare users only by their numbers of tasks,
//! and not by the servers on which the tasks run. For such a mechanism, classes that are identical for all
//! users may be joined into one class with all their servers. The tasks on the joined class are then spread
//! evenly over the original classes (docs/theory.md, section 2).

use std::collections::{HashMap, HashSet};
use std::hash::Hash as Key;
use std::sync::Arc;

use rug::Rational;

use super::merged::rounded_down;
use super::{Hash, Problem, ServerClass, User};

/// A problem in which identical classes are joined into one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The problem with joined classes. Each class has the name of the first original class that it
    /// represents.
    pub problem: Problem,
    /// The original classes that each class of [`problem`](Self::problem) represents, in ascending order,
    /// each with its fraction of the servers.
    pub members: Vec<Vec<(usize, Rational)>>,
}

/// A partition of the classes, which is refined step by step.
struct Kinds {
    /// The kind of each class.
    of: Vec<usize>,
    next: usize,
}

impl Kinds {
    /// Splits kinds. Given classes of one kind stay together only if their values are equal. They are
    /// separated from the classes of the kind that are not given.
    fn split<V: Key + Eq>(&mut self, classes: impl IntoIterator<Item = (usize, V)>) {
        let mut known = HashMap::new();
        for (i, value) in classes {
            let (kind, next) = (self.of[i], &mut self.next);
            self.of[i] = *known.entry((kind, value)).or_insert_with(|| {
                *next += 1;
                *next - 1
            });
        }
    }
}

impl Problem {
    /// Returns the problem in which identical server classes are joined into one class, or `None` if no two
    /// classes are identical.
    ///
    /// Identical classes have the same capacity. All users have the same demand and criterion on them, and
    /// may use all or none of them. If any user states its `gamma` or `rates`, or any group limits some
    /// classes, nothing is joined.
    #[must_use]
    pub fn joined(&self) -> Option<Joined> {
        let is_named = self.groups.list().iter().any(|group| !group.on.is_empty())
            || self.users.iter().any(|user| !user.given_gamma.is_empty() || user.rates.is_some());
        let mut capacities = HashSet::new();
        if is_named || self.servers.iter().all(|class| capacities.insert(&class.capacity)) {
            return None;
        }
        let mut kinds = Kinds { of: vec![0; self.servers.len()], next: 1 };
        kinds.split(self.servers.iter().map(|class| &class.capacity).enumerate());
        let mut sets = HashSet::new();
        for user in &self.users {
            if let Some(set) = user.servers.as_ref().filter(|set| sets.insert(Arc::as_ptr(set))) {
                kinds.split(set.iter().map(|i| (*i, ())));
            }
            kinds.split(user.demand_overrides.iter().map(|(i, demand)| (*i, demand)));
            kinds.split(user.criterion.iter().map(|(i, worth)| (*i, worth)));
        }
        self.joined_by_kind(&kinds.of)
    }

    fn joined_by_kind(&self, kinds: &[usize]) -> Option<Joined> {
        let mut at_of_kind = HashMap::new();
        let mut identical: Vec<Vec<usize>> = Vec::new();
        for (i, kind) in kinds.iter().enumerate() {
            let at = *at_of_kind.entry(kind).or_insert(identical.len());
            match identical.get_mut(at) {
                Some(classes) => classes.push(i),
                None => identical.push(vec![i]),
            }
        }
        if identical.len() == kinds.len() {
            return None;
        }
        let (mut servers, mut members) =
            (Vec::with_capacity(identical.len()), Vec::with_capacity(identical.len()));
        for classes in &identical {
            let count = classes.iter().try_fold(0_u64, |sum, i| sum.checked_add(self.servers[*i].count))?;
            servers.push(ServerClass { count, ..self.servers[classes[0]].clone() });
            members.push(
                classes.iter().map(|i| (*i, Rational::from((self.servers[*i].count, count)))).collect(),
            );
        }
        // The joined class of each original class. `first_at` has this class only at the first original class
        // that it represents.
        let at: Vec<usize> = kinds.iter().map(|kind| at_of_kind[kind]).collect();
        let of_first = |i: usize| (identical[at[i]][0] == i).then_some(at[i]);
        let mut sets: HashMap<*const [usize], Option<Arc<[usize]>>> = HashMap::new();
        let mut joined = |user: &User| {
            let set = |set: &Arc<[usize]>| {
                let joined = || {
                    let set: Vec<usize> = set.iter().filter_map(|i| of_first(*i)).collect();
                    (set.len() < identical.len()).then(|| Arc::from(set))
                };
                sets.entry(Arc::as_ptr(set)).or_insert_with(joined).clone()
            };
            User {
                servers: user.servers.as_ref().and_then(set),
                demand_overrides: entries_of_firsts(&user.demand_overrides, of_first),
                criterion: entries_of_firsts(&user.criterion, of_first),
                ..user.clone()
            }
        };
        let users = self.users.iter().map(&mut joined).collect();
        let problem = Self { servers, users, hash: Hash::default(), ..self.clone() };
        Some(Joined { problem, members })
    }
}

/// Returns the entries of a list that are about the first class of a kind.
fn entries_of_firsts<T: Clone>(
    list: &[(usize, T)],
    of_first: impl Fn(usize) -> Option<usize>,
) -> Vec<(usize, T)> {
    list.iter().filter_map(|(i, value)| Some((of_first(*i)?, value.clone()))).collect()
}

impl Joined {
    /// Returns the tasks of a user on the original classes, given its tasks on the joined classes.
    #[must_use]
    pub fn parts(&self, tasks: &[(usize, Rational)]) -> Vec<(usize, Rational)> {
        self.spread(tasks, |x, part| Rational::from(x * part))
    }

    /// Returns [`parts`](Self::parts) of floating-point numbers, rounded down so that a feasible allocation
    /// stays feasible.
    #[must_use]
    pub fn rounded_parts(&self, tasks: &[(usize, Rational)]) -> Vec<(usize, Rational)> {
        self.spread(tasks, |x, part| rounded_down(&Rational::from(x * part)).unwrap_or_default())
    }

    fn spread(
        &self,
        tasks: &[(usize, Rational)],
        of: impl Fn(&Rational, &Rational) -> Rational,
    ) -> Vec<(usize, Rational)> {
        let mut all = Vec::with_capacity(tasks.iter().map(|(at, _)| self.members[*at].len()).sum());
        for (at, x) in tasks {
            match self.members[*at].as_slice() {
                [(i, _)] => all.push((*i, x.clone())),
                members => members.iter().for_each(|(i, part)| all.push((*i, of(x, part)))),
            }
        }
        all.retain(|(_, x)| !x.is_zero());
        all.sort_unstable_by_key(|(i, _)| *i);
        all
    }
}
