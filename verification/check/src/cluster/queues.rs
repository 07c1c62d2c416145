//! The queues of a problem, which are its groups and the users that belong to no group. A queue is below its fair share
//! by a whole task if its usage together with a gang of a waiting user is within its fair share.

use rug::Rational;

use super::starts::Rules;
use crate::case::Case;
use crate::groups::stated::DEPTH;
use crate::names::Amounts;
use crate::work::{self, Checked};

/// Amounts by resource.
pub type Vector = Vec<Rational>;

/// The queues of a problem.
pub struct Queues<'c> {
    pub case: &'c Case<'c>,
    pub names: Vec<&'c str>,
    /// The queues of each user: its own queue, and the queues that contain its queue.
    pub above: Vec<Vec<usize>>,
    /// The users of each queue, including the users of queues inside it.
    pub users: Vec<Vec<usize>>,
    /// The amounts of each user that one start of a gang takes, by resource.
    pub unit: Vec<Amounts>,
    /// The number of tasks in a gang of each user.
    pub gang: Vec<u64>,
    rules: &'c Rules,
}

impl<'c> Queues<'c> {
    pub fn new(case: &'c Case<'c>, rules: &'c Rules) -> Checked<Self> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        work::spend(problem.users.len().saturating_mul(DEPTH))?;
        let mut names: Vec<&str> = groups.names.list.iter().map(String::as_str).collect();
        let mut above = Vec::new();
        for n in 0..problem.users.len() {
            let mut path: Vec<usize> = groups.above_user(n).collect();
            if path.is_empty() {
                path.push(names.len());
                names.push(case.user(n));
            }
            above.push(path);
        }
        let mut users = vec![Vec::new(); names.len()];
        above.iter().enumerate().for_each(|(n, path)| path.iter().for_each(|v| users[*v].push(n)));
        let gang: Vec<u64> = groups.members.iter().map(|member| member.gang).collect();
        let unit = |n: usize| -> Checked<Amounts> {
            let mut sum = std::collections::BTreeMap::<usize, Rational>::new();
            for m in rules.start(n) {
                work::spend(problem.users[*m].demand.len())?;
                for (r, d) in &problem.users[*m].demand {
                    *sum.entry(*r).or_default() += Rational::from(d * gang[*m]);
                }
            }
            Ok(sum.into_iter().collect())
        };
        let unit = (0..gang.len()).map(unit).collect::<Checked<_>>()?;
        Ok(Self { case, names, above, users, unit, gang, rules })
    }

    /// Returns the usage of every queue by resource. `total(r, n)` is the number of tasks of user `n` that count for
    /// resource `r`.
    pub fn held<'t>(&self, total: impl Fn(usize, usize) -> &'t Rational) -> Checked<Vec<Vector>> {
        let m = self.case.problem.resources.list.len();
        let mut held = vec![vec![Rational::new(); m]; self.names.len()];
        for (n, user) in self.case.problem.users.iter().enumerate() {
            for (r, d) in &user.demand {
                let amount = work::times(d, total(*r, n))?;
                for v in &self.above[n] {
                    held[*v][*r] = work::plus(&held[*v][*r], &amount)?;
                }
            }
        }
        Ok(held)
    }

    /// Returns true if a user waits: the user and all users that start together with it can run somewhere, and each of
    /// these users has enough tasks left for a gang.
    pub fn waits(&self, n: usize, totals: &[Rational]) -> bool {
        let has_gang = |n: &usize| {
            let left =
                self.case.problem.users[*n].tasks.as_ref().map(|tasks| Rational::from(tasks - &totals[*n]));
            self.case.is_active(*n) && left.is_none_or(|left| left >= self.gang[*n])
        };
        self.rules.start(n).iter().all(has_gang)
    }

    /// Returns, for each resource, whether a waiting task of a queue demands the resource.
    pub fn wanted(&self, v: usize, totals: &[Rational]) -> Vec<bool> {
        let mut wanted = vec![false; self.case.problem.resources.list.len()];
        let waiting = self.users[v].iter().filter(|n| self.waits(**n, totals));
        waiting.flat_map(|n| &self.unit[*n]).for_each(|(r, _)| wanted[*r] = true);
        wanted
    }

    /// Returns true if the usage `held`, plus one gang of a user, is within the fair share `due`.
    pub fn is_within(&self, n: usize, held: &[Rational], due: &[Rational]) -> Checked<bool> {
        work::spend(2 * self.unit[n].len())?;
        Ok(self.unit[n].iter().all(|(r, unit)| Rational::from(&held[*r] + unit) <= due[*r]))
    }

    /// Returns the first waiting user whose gang would still be within the fair share of its queue. A difference within
    /// the tolerance does not count.
    pub fn short_by(
        &self,
        v: usize,
        held: &[Rational],
        due: &[Rational],
        totals: &[Rational],
        tolerance: &Rational,
    ) -> Checked<Option<usize>> {
        let is_beyond = |(r, _): &(usize, Rational)| {
            Rational::from(&due[*r] - &held[*r]) > Rational::from(tolerance * &due[*r])
        };
        for n in &self.users[v] {
            let waits = self.waits(*n, totals);
            if waits && self.is_within(*n, held, due)? && self.unit[*n].iter().any(is_beyond) {
                return Ok(Some(*n));
            }
        }
        Ok(None)
    }

    /// Returns a lower bound on the number of starts after which no queue is below its fair share by a whole task.
    ///
    /// While a gang of user `n` waits and is within the fair share, one of two things has to happen. Either the gang
    /// starts, or the queue's usage of a resource grows until less of the fair share is left than the gang demands. One
    /// start adds at most the largest gang of the queue. The bounds of sibling queues are added. Users outside of
    /// groups count once if they start together.
    pub fn least_starts(&self, held: &[Vector], due: &[Vector], totals: &[Rational]) -> Checked<Rational> {
        let (groups, zero) = (&self.case.problem.groups, Rational::new);
        let mut below = vec![zero(); self.names.len() + 1];
        // Users outside of groups are queues of their own. The key is the first of the users that start together. The
        // value is the largest bound among these users.
        let mut outside = std::collections::BTreeMap::<usize, Rational>::new();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let depth = |v: usize| groups.above(Some(v).filter(|v| *v < groups.list.len())).count();
        order.sort_by_cached_key(|v| std::cmp::Reverse(depth(*v)));
        for v in order {
            let mut largest = vec![zero(); held[v].len()];
            for (r, unit) in self.users[v].iter().flat_map(|n| &self.unit[*n]) {
                largest[*r] = largest[*r].clone().max(unit.clone());
            }
            let mut least = below[v].clone();
            for n in &self.users[v] {
                // A user without a base demand never makes a queue count as below its fair share.
                let waits = !self.unit[*n].is_empty() && self.waits(*n, totals);
                if !waits || !self.is_within(*n, &held[v], &due[v])? {
                    continue;
                }
                work::spend(6 * self.unit[*n].len())?;
                // The number of times that these users can start together.
                let left = |n: &usize| {
                    let left =
                        self.case.problem.users[*n].tasks.as_ref().map(|tasks| tasks - totals[*n].clone());
                    left.map(|left| (left / self.gang[*n]).floor())
                };
                let gangs = self.rules.start(*n).iter().filter_map(left).min();
                let until = |(r, unit): &(usize, Rational)| {
                    let rest = Rational::from(&due[v][*r] - &held[v][*r]) - unit;
                    (rest / &largest[*r]).floor() + 1_u32
                };
                let starts = self.unit[*n].iter().map(until).chain(gangs).min();
                least = starts.into_iter().fold(least, Rational::max);
            }
            if let Some(group) = groups.list.get(v) {
                below[group.parent.unwrap_or(self.names.len())] += least;
            } else if let Some(n) = self.users[v].first() {
                let of_start = outside.entry(self.rules.start(*n)[0]).or_default();
                *of_start = of_start.clone().max(least);
            }
        }
        Ok(outside.into_values().fold(below.pop().unwrap_or_default(), |sum, least| sum + least))
    }
}
