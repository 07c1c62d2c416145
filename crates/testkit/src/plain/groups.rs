//! The axioms about groups, written from their definition. The effect of further tasks is computed step by
//! step.

use evenhand_exact::{Axiom, ClassMark};
use evenhand_problem::{Rational, Sharing};

use super::{Plain, zero};

impl Plain<'_> {
    /// Returns `true` if an axiom about groups applies to the problem. Resources must be divided, and there
    /// must be groups. For `tree` there need not be groups, but the base demand of no active user may be
    /// empty.
    pub fn has_groups(&self, axiom: Axiom) -> bool {
        let p = self.p();
        if axiom == Axiom::WorkConserving && !self.holds_back() {
            return true;
        }
        let divided =
            self.sharing() == Sharing::Rdm && p.servers().iter().all(|class| !class.is_time_shared());
        let is_counted = |n: usize| {
            (0..p.n_resources()).any(|r| p.users()[n].base_demand()[r] > 0 && p.total_capacity()[r] > 0)
        };
        match axiom {
            Axiom::Tree => divided && self.active().into_iter().all(is_counted),
            _ => divided && !p.groups().list().is_empty(),
        }
    }

    fn subgroups(&self, v: usize) -> Vec<usize> {
        let list = self.p().groups().list();
        (0..list.len()).filter(|k| list[*k].parent == Some(v)).collect()
    }

    pub(super) fn promised(&self, v: usize, r: usize) -> Option<Rational> {
        match &self.p().groups().list()[v].guarantee {
            Some(stated) => stated.iter().find(|(of, _)| *of == r).map(|(_, amount)| amount.clone()),
            None => self.subgroups(v).into_iter().filter_map(|k| self.promised(k, r)).reduce(|a, b| a + b),
        }
    }

    fn states_guarantee(&self, v: usize) -> bool {
        self.p().groups().list()[v].guarantee.is_some()
    }

    pub(super) fn kept(&self, v: usize, r: usize) -> Rational {
        let lend = self.p().groups().list()[v].lend.iter().find(|(of, _)| *of == r);
        let own = lend.map_or_else(zero, |(_, lend)| self.promised(v, r).unwrap_or_default() - lend);
        let below: Rational = self.subgroups(v).into_iter().map(|k| self.kept(k, r)).sum();
        own.max(below)
    }

    /// Returns the usage of a group when user `n` has `more` further tasks.
    pub fn used(&self, v: usize, r: usize, (n, more): (usize, &Rational)) -> Rational {
        let p = self.p();
        let own: Rational = self
            .users()
            .filter(|m| p.groups().member(*m).group == Some(v))
            .map(|m| {
                let x = if m == n { self.total(m) + more } else { self.total(m) };
                x * &p.users()[m].base_demand()[r]
            })
            .sum();
        let below = self.subgroups(v).into_iter().map(|k| self.used(k, r, (n, more)).max(self.kept(k, r)));
        own + below.sum::<Rational>()
    }

    /// Returns how many further tasks user `n` may have before `used` reaches `mark`.
    pub(super) fn until_used(
        &self,
        r: usize,
        n: usize,
        mark: &Rational,
        used: &dyn Fn(&Rational) -> Rational,
    ) -> Rational {
        let d = self.p().users()[n].base_demand()[r].clone();
        // Kept-back amounts are filled by at most this many tasks. Beyond that, every task counts in full.
        let groups = self.p().groups().list().len();
        let all: Rational = (0..groups).map(|k| self.kept(k, r)).sum();
        let far = Rational::from(&all / &d) + 1u32;
        let there = used(&far);
        far + (mark - there) / d
    }

    /// Returns the lowest group above a user that states a guarantee.
    fn lowest_with_guarantee(&self, n: usize) -> Option<usize> {
        let list = self.p().groups().list();
        let mut above = self.p().groups().member(n).group;
        while let Some(v) = above.filter(|v| !self.states_guarantee(*v)) {
            above = list[v].parent;
        }
        above
    }

    /// Returns the part of a group's usage that is within the guarantee of the group or of the groups below it.
    fn promised_use(&self, v: usize, r: usize) -> Rational {
        if self.states_guarantee(v) {
            return self.promised(v, r).unwrap_or_default().min(self.used(v, r, (usize::MAX, &zero())));
        }
        self.subgroups(v).into_iter().map(|k| self.promised_use(k, r).max(self.kept(k, r))).sum()
    }

    /// Returns the usage of a group above user `n` that counts when the user has `more` further tasks. Inside the
    /// group `promised`, which states the guarantee, all usage counts. Above it, other groups count only with usage
    /// within their guarantees.
    fn counted(&self, v: usize, r: usize, (n, more): (usize, &Rational), promised: usize) -> Rational {
        let groups = self.p().groups().list();
        let mut within = Some(v);
        while let Some(group) = within {
            if group == promised {
                return self.used(v, r, (n, more));
            }
            within = groups[group].parent;
        }
        let mut sum = zero();
        for k in self.subgroups(v) {
            let used = match self.stands_in(n, k) {
                true => self.counted(k, r, (n, more), promised),
                false => self.promised_use(k, r),
            };
            sum += used.max(self.kept(k, r));
        }
        sum
    }

    /// Returns the fraction of the tasks of user `m` that counts against limits on classes for user `n`.
    fn fraction(&self, m: usize, n: usize, promised: usize, r: usize) -> Rational {
        if self.stands_in(m, promised) {
            return Rational::from(1);
        }
        let groups = 0..self.p().groups().list().len();
        let apart = groups.filter(|v| self.stands_in(m, *v) && !self.stands_in(n, *v));
        // A group with fewer ancestors is nearer to the root.
        let depth =
            |v: &usize| std::iter::successors(Some(*v), |v| self.p().groups().list()[*v].parent).count();
        let Some(top) = apart.filter(|v| self.states_guarantee(*v)).min_by_key(depth) else { return zero() };
        let used = self.used(top, r, (usize::MAX, &zero()));
        match self.promised(top, r) {
            None => zero(),
            Some(promised) if promised < used => promised / used,
            Some(_) => Rational::from(1),
        }
    }

    /// Returns how many tasks a user lacks of the guarantees of the groups above it (docs/axioms.md, the lack).
    pub fn lack_of_promises(&self, n: usize) -> Rational {
        let p = self.p();
        let groups = p.groups();
        let never = groups.share().zero_weight.name() == "never";
        let asked: Vec<usize> = (0..p.n_resources())
            .filter(|r| p.users()[n].base_demand()[*r] > 0 && p.total_capacity()[*r] > 0)
            .collect();
        let Some(promised) = self.lowest_with_guarantee(n) else { return zero() };
        let mut rooms: Vec<Rational> =
            self.left(n).into_iter().chain(self.rooms_on_classes(n, promised)).collect();
        let above = std::iter::successors(groups.member(n).group, |v| groups.list()[*v].parent);
        for v in above {
            let group = &groups.list()[v];
            let is_bound = group.guarantee.is_some() || (never && group.weight.is_zero());
            if is_bound && asked.iter().all(|r| self.promised(v, *r).is_none()) {
                return zero();
            }
            for r in &asked {
                let limit = group.limit.iter().find(|(of, _)| of == r).map(|(_, most)| most.clone());
                let guarantee = self.promised(v, *r).filter(|_| is_bound);
                for mark in limit.into_iter().chain(guarantee) {
                    let counted = |more: &Rational| self.counted(v, *r, (n, more), promised);
                    rooms.push(self.until_used(*r, n, &mark, &counted));
                }
            }
        }
        rooms.into_iter().min().unwrap_or_default().max(zero())
    }

    /// Returns the usage of a resource on some server classes by the users below a group.
    pub(super) fn held_on(&self, v: usize, servers: &[usize], r: usize) -> Rational {
        let below = self.users().filter(|n| self.stands_in(*n, v));
        let held = |n: usize| {
            let on = servers.iter().map(move |i| Rational::from(&self.x[n][*i] * &self.p().demand(n, *i)[r]));
            on.sum::<Rational>()
        };
        below.map(held).sum()
    }

    /// Returns each limit on a server class that affects the user there, with the number of further tasks that it
    /// allows.
    pub(super) fn class_marks(&self, n: usize, i: usize) -> Vec<(ClassMark, Rational)> {
        let p = self.p();
        let mut marks = Vec::new();
        for (group, of) in p.groups().list().iter().enumerate().filter(|(v, _)| self.stands_in(n, *v)) {
            for on in of.on.iter().filter(|on| on.servers.contains(&i)) {
                for (resource, most) in on.limit.iter().filter(|(r, _)| p.demand(n, i)[*r] > 0) {
                    let left = Rational::from(most - &self.held_on(group, &on.servers, *resource));
                    let tasks = (left / p.demand(n, i)[*resource].clone()).max(zero());
                    let (on, resource) = (on.servers.clone(), *resource);
                    marks.push((ClassMark { group, on, resource }, tasks));
                }
            }
        }
        marks
    }

    /// Returns `true` if a limit of 0 bars a user from a class.
    pub(super) fn is_barred(&self, n: usize, i: usize) -> bool {
        let groups = self.p().groups().list().iter().enumerate();
        let mut on = groups.filter(|(v, _)| self.stands_in(n, *v)).flat_map(|(_, of)| &of.on);
        let bars = |(r, most): &(usize, Rational)| most.is_zero() && self.p().demand(n, i)[*r] > 0;
        on.any(|on| on.servers.contains(&i) && on.limit.iter().any(bars))
    }

    /// Returns `true` if groups respect their limits on server classes.
    pub(super) fn keeps_limits_on_classes(&self) -> bool {
        let groups = self.p().groups().list().iter().enumerate();
        let mut limits = groups.flat_map(|(v, group)| group.on.iter().map(move |on| (v, on)));
        limits.all(|(v, on)| on.limit.iter().all(|(r, most)| self.held_on(v, &on.servers, *r) <= *most))
    }

    /// Returns, for each limit on classes, how many further tasks the limit allows user `n` on each class
    /// before the guarantee of `promised` is met. An entry is `None` on a class where the limit counts no
    /// task of the user.
    fn left_on_classes(&self, n: usize, promised: usize) -> Vec<Vec<Option<Rational>>> {
        let p = self.p();
        let mut rows = Vec::new();
        for (v, group) in p.groups().list().iter().enumerate().filter(|(v, _)| self.stands_in(n, *v)) {
            for on in &group.on {
                for (r, most) in &on.limit {
                    let mut left = most.clone();
                    for m in self.users().filter(|m| self.stands_in(*m, v)) {
                        let fraction = self.fraction(m, n, promised, *r);
                        for k in &on.servers {
                            left -= Rational::from(&self.x[m][*k] * &p.demand(m, *k)[*r]) * &fraction;
                        }
                    }
                    let room = |i: usize| {
                        let demand = p.demand(n, i)[*r].clone();
                        let counts = on.servers.contains(&i) && demand > 0;
                        counts.then(|| (left.clone() / demand).max(zero()))
                    };
                    rows.push(p.classes_of(n).map(room).collect());
                }
            }
        }
        rows
    }

    /// Returns bounds on all further tasks of the user. There is one bound for each limit that counts all
    /// further tasks, and one bound that is the sum of the least bounds on each class.
    fn rooms_on_classes(&self, n: usize, promised: usize) -> Vec<Rational> {
        let rows = self.left_on_classes(n, promised);
        let mut rooms: Vec<Rational> = Vec::new();
        for row in &rows {
            if row.iter().all(Option::is_some) {
                rooms.extend(row.iter().flatten().max().cloned());
            }
        }
        let classes = 0..self.p().classes_of(n).count();
        let least = |i: usize| rows.iter().filter_map(|row| row[i].clone()).min();
        rooms.extend(classes.map(least).sum::<Option<Rational>>());
        rooms
    }

    /// Returns the least margin of the limits.
    pub fn limits_margin(&self) -> Option<Rational> {
        let p = self.p();
        let capacity = p.total_capacity();
        let mut all = Vec::new();
        for (v, group) in p.groups().list().iter().enumerate() {
            for (r, most) in group.limit.iter().filter(|(r, _)| capacity[*r] > 0) {
                all.push((most - self.used(v, *r, (usize::MAX, &zero()))) / &capacity[*r]);
            }
            for on in &group.on {
                for (r, most) in on.limit.iter().filter(|(r, _)| capacity[*r] > 0) {
                    all.push((most - self.held_on(v, &on.servers, *r)) / &capacity[*r]);
                }
            }
        }
        let is_kept = |r: &usize| (0..p.groups().list().len()).any(|v| self.kept(v, *r) > 0);
        for r in (0..p.n_resources()).filter(|r| capacity[*r] > 0).filter(is_kept) {
            all.push((&capacity[r] - self.used_by_all(r, (usize::MAX, &zero()))) / &capacity[r]);
        }
        all.into_iter().min()
    }

    /// Returns minus the largest lack of guarantees.
    pub fn guarantees_margin(&self) -> Option<Rational> {
        let margin = |n: usize| -(self.lack_of_promises(n) / &self.cluster.g[n]);
        self.active().into_iter().map(margin).min()
    }
}
