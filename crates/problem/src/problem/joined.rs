//! Server classes that are alike, as one.
//!
//! Some clusters are stated server by server. Where all users are compared by their tasks alone, wherever these run, classes
//! that no user can tell apart may be one class of all their servers, whose tasks are spread over them evenly
//! (docs/theory.md, section 2).

use std::collections::{HashMap, HashSet};
use std::hash::Hash as Key;
use std::sync::Arc;

use rug::Rational;

use super::merged::rounded_down;
use super::{Hash, Problem, ServerClass, User};

/// A problem in which one class stands for all that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The problem; each of its classes has the name of the first for which it stands.
    pub problem: Problem,
    /// By class of [`problem`](Self::problem): those for which it stands, ascending, each with its part of the servers.
    pub members: Vec<Vec<(usize, Rational)>>,
}

/// Classes, told apart more and more.
struct Kinds {
    /// By class.
    of: Vec<usize>,
    next: usize,
}

impl Kinds {
    /// Tells those of these classes that are of one kind apart from each other where they have other values, and from all
    /// that are not named.
    fn part<V: Key + Eq>(&mut self, classes: impl IntoIterator<Item = (usize, V)>) {
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
    /// The problem in which server classes that are alike are one; `None` where no two are.
    ///
    /// They have the same capacity, and all users the same demand and the same criterion on them, if they may run there at
    /// all. Rates of whole classes and limits of groups on some classes keep all of them apart.
    #[must_use]
    pub fn joined(&self) -> Option<Joined> {
        let is_named = self.groups.list().iter().any(|group| !group.on.is_empty())
            || self.users.iter().any(|user| !user.given_gamma.is_empty());
        let mut capacities = HashSet::new();
        if is_named || self.servers.iter().all(|class| capacities.insert(&class.capacity)) {
            return None;
        }
        let mut kinds = Kinds { of: vec![0; self.servers.len()], next: 1 };
        kinds.part(self.servers.iter().map(|class| &class.capacity).enumerate());
        let mut sets = HashSet::new();
        for user in &self.users {
            if let Some(set) = user.servers.as_ref().filter(|set| sets.insert(Arc::as_ptr(set))) {
                kinds.part(set.iter().map(|i| (*i, ())));
            }
            kinds.part(user.demand_overrides.iter().map(|(i, demand)| (*i, demand)));
            kinds.part(user.criterion.iter().map(|(i, worth)| (*i, worth)));
        }
        self.of_kinds(&kinds.of)
    }

    fn of_kinds(&self, kinds: &[usize]) -> Option<Joined> {
        let mut at_of_kind = HashMap::new();
        let mut alike: Vec<Vec<usize>> = Vec::new();
        for (i, kind) in kinds.iter().enumerate() {
            let at = *at_of_kind.entry(kind).or_insert(alike.len());
            match alike.get_mut(at) {
                Some(classes) => classes.push(i),
                None => alike.push(vec![i]),
            }
        }
        if alike.len() == kinds.len() {
            return None;
        }
        let (mut servers, mut members) = (Vec::with_capacity(alike.len()), Vec::with_capacity(alike.len()));
        for classes in &alike {
            let count = classes.iter().try_fold(0_u64, |sum, i| sum.checked_add(self.servers[*i].count))?;
            servers.push(ServerClass { count, ..self.servers[classes[0]].clone() });
            members.push(
                classes.iter().map(|i| (*i, Rational::from((self.servers[*i].count, count)))).collect(),
            );
        }
        // By class: which stands for it; and where it is the first, that it does.
        let at: Vec<usize> = kinds.iter().map(|kind| at_of_kind[kind]).collect();
        let of_first = |i: usize| (alike[at[i]][0] == i).then_some(at[i]);
        let mut sets: HashMap<*const [usize], Option<Arc<[usize]>>> = HashMap::new();
        let mut joined = |user: &User| {
            let set = |set: &Arc<[usize]>| {
                let joined = || {
                    let set: Vec<usize> = set.iter().filter_map(|i| of_first(*i)).collect();
                    (set.len() < alike.len()).then(|| Arc::from(set))
                };
                sets.entry(Arc::as_ptr(set)).or_insert_with(joined).clone()
            };
            User {
                servers: user.servers.as_ref().and_then(set),
                demand_overrides: of_firsts(&user.demand_overrides, of_first),
                criterion: of_firsts(&user.criterion, of_first),
                ..user.clone()
            }
        };
        let users = self.users.iter().map(&mut joined).collect();
        let problem = Self { servers, users, hash: Hash::default(), ..self.clone() };
        Some(Joined { problem, members })
    }
}

/// What is said of the first classes of their kinds.
fn of_firsts<T: Clone>(list: &[(usize, T)], of_first: impl Fn(usize) -> Option<usize>) -> Vec<(usize, T)> {
    list.iter().filter_map(|(i, value)| Some((of_first(*i)?, value.clone()))).collect()
}

impl Joined {
    /// What a user has on the classes of the original, by class, given what it has on those that stand for them.
    #[must_use]
    pub fn parts(&self, tasks: &[(usize, Rational)]) -> Vec<(usize, Rational)> {
        self.spread(tasks, |x, part| Rational::from(x * part))
    }

    /// [`parts`](Self::parts) of floating-point numbers, rounded down, so that what is feasible stays so.
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
