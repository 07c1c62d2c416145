//! The amounts that groups hold back from users, computed from their definition. The effect of further tasks
//! is computed step by step.

use evenhand_problem::Rational;

use super::{Plain, zero};

impl Plain<'_> {
    /// Returns `true` if some group has a limit, states what it lends, or gets nothing beyond its guarantee.
    pub fn holds_back(&self) -> bool {
        let groups = self.p().groups();
        let never = groups.share().zero_weight.name() == "never";
        groups.list().iter().any(|group| {
            let names_any = !group.limit.is_empty() || !group.lend.is_empty() || !group.on.is_empty();
            names_any || (never && group.weight.is_zero())
        })
    }

    /// Returns the usage of a resource by all users and groups of the root when user `n` has `more` further tasks.
    pub(super) fn used_by_all(&self, r: usize, (n, more): (usize, &Rational)) -> Rational {
        let p = self.p();
        let mut all = zero();
        for m in self.users().filter(|m| p.groups().member(*m).group.is_none()) {
            let x = if m == n { self.total(m) + more } else { self.total(m) };
            all += x * &p.users()[m].base_demand()[r];
        }
        for (v, _) in p.groups().list().iter().enumerate().filter(|(_, group)| group.parent.is_none()) {
            all += self.used(v, r, (n, more)).max(self.kept(v, r));
        }
        all
    }

    /// Returns the bounds that may stop a user, each as the number of further tasks after which it stops the
    /// user.
    fn stops(&self, n: usize) -> Vec<Rational> {
        let p = self.p();
        let groups = p.groups();
        let never = groups.share().zero_weight.name() == "never";
        let asks = |r: &usize| p.users()[n].base_demand()[*r] > 0 && p.total_capacity()[*r] > 0;
        let asked: Vec<usize> = (0..p.n_resources()).filter(asks).collect();
        // Returns the number of tasks until the usage reaches the mark. If the usage exceeds the mark
        // already, this is the number of tasks until the usage grows.
        let until = |r: usize, mark: &Rational, used: &dyn Fn(&Rational) -> Rational| {
            self.until_used(r, n, &mark.clone().max(used(&zero())), used)
        };
        let mut stops = Vec::new();
        let mut above = groups.member(n).group;
        while let Some(group) = above {
            let stated = &groups.list()[group];
            let shut = never && stated.weight.is_zero();
            for resource in asked.iter().copied() {
                let used = |more: &Rational| self.used(group, resource, (n, more));
                if let Some((_, most)) = stated.limit.iter().find(|(r, _)| *r == resource) {
                    stops.push(until(resource, most, &used));
                }
                match self.promised(group, resource).filter(|_| shut) {
                    Some(none) if none.is_zero() => stops.push(zero()),
                    Some(promised) => {
                        stops.push(until(resource, &promised, &used));
                    }
                    None => {}
                }
            }
            if shut && asked.iter().all(|r| self.promised(group, *r).is_none()) {
                stops.push(zero());
            }
            above = stated.parent;
        }
        let is_kept = |r: &usize| (0..groups.list().len()).any(|v| self.kept(v, *r) > 0);
        for resource in asked.into_iter().filter(is_kept) {
            let used = |more: &Rational| self.used_by_all(resource, (n, more));
            stops.push(until(resource, &p.total_capacity()[resource], &used));
        }
        stops
    }

    /// Returns a number of tasks divided by `g_n`. If tasks are on single servers, returns 1 if the tasks
    /// make a gang, and 0 otherwise.
    pub(super) fn gang_or_part(&self, n: usize, tasks: Rational) -> Rational {
        match self.placements.is_some() {
            true => Rational::from(u32::from(tasks >= self.gang(n))),
            false => self.more(n, tasks),
        }
    }

    /// Returns the number of further tasks that groups leave to a user, divided by `g_n`.
    pub fn unstopped(&self, n: usize) -> Rational {
        // No user could have more than the whole cluster.
        let all = Rational::from(&self.cluster.g[n] * 2u32) + 1u32;
        let stops = if self.holds_back() { self.stops(n) } else { Vec::new() };
        let least = stops.into_iter().fold(all, Rational::min);
        self.gang_or_part(n, least)
    }
}
