//! The axioms about groups from their definition: what more tasks do is tried out, bit by bit.

use evenhand_exact::{Axiom, ClassMark};
use evenhand_problem::{Rational, Sharing};

use super::{Plain, zero};

impl Plain<'_> {
    /// Whether the axiom is about this: groups that share resources; for `tree`, users whose base demand is of something.
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

    /// Whether a group or one of its subgroups states a guarantee.
    fn has_guarantee(&self, v: usize) -> bool {
        let stated = self.p().groups().list()[v].guarantee.is_some();
        stated || self.subgroups(v).into_iter().any(|k| self.has_guarantee(k))
    }

    pub(super) fn kept(&self, v: usize, r: usize) -> Rational {
        let lend = self.p().groups().list()[v].lend.iter().find(|(of, _)| *of == r);
        let own = lend.map_or_else(zero, |(_, lend)| self.promised(v, r).unwrap_or_default() - lend);
        let below: Rational = self.subgroups(v).into_iter().map(|k| self.kept(k, r)).sum();
        own.max(below)
    }

    /// What a group uses when user `n` has so many tasks more.
    pub(super) fn used(&self, v: usize, r: usize, (n, more): (usize, &Rational)) -> Rational {
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

    /// How many tasks more user `n` may have before a group uses that much of a resource that the user asks for.
    fn until(&self, v: usize, r: usize, n: usize, mark: &Rational) -> Rational {
        self.until_used(r, n, mark, &|more| self.used(v, r, (n, more)))
    }

    /// How many tasks more user `n` may have before `used` of them is so much.
    pub(super) fn until_used(
        &self,
        r: usize,
        n: usize,
        mark: &Rational,
        used: &dyn Fn(&Rational) -> Rational,
    ) -> Rational {
        let d = self.p().users()[n].base_demand()[r].clone();
        // What all groups below keep back is filled after so many tasks: beyond, every task is used in full.
        let groups = self.p().groups().list().len();
        let all: Rational = (0..groups).map(|k| self.kept(k, r)).sum();
        let far = Rational::from(&all / &d) + 1u32;
        let there = used(&far);
        far + (mark - there) / d
    }

    /// How many tasks a user lacks of what the groups above it are promised (docs/axioms.md, the lack).
    pub fn lack_of_promises(&self, n: usize) -> Rational {
        let p = self.p();
        let groups = p.groups();
        let never = groups.share().zero_weight.name() == "never";
        let asked: Vec<usize> = (0..p.n_resources())
            .filter(|r| p.users()[n].base_demand()[*r] > 0 && p.total_capacity()[*r] > 0)
            .collect();
        let mut rooms: Vec<Rational> = self.left(n).into_iter().chain(self.left_on_classes(n)).collect();
        let mut promises = 0;
        let above = std::iter::successors(groups.member(n).group, |v| groups.list()[*v].parent);
        for v in above {
            let group = &groups.list()[v];
            let named: Vec<usize> =
                asked.iter().copied().filter(|r| self.promised(v, *r).is_some()).collect();
            let nothing = never && group.weight.is_zero() && !self.has_guarantee(v);
            if nothing || (self.has_guarantee(v) && named.is_empty()) {
                return zero();
            }
            promises += named.len();
            for r in &asked {
                let limit = group.limit.iter().find(|(of, _)| of == r).map(|(_, most)| most.clone());
                let marks = limit.into_iter().chain(self.promised(v, *r));
                rooms.extend(marks.map(|mark| self.until(v, *r, n, &mark)));
            }
        }
        let least = rooms.into_iter().min().filter(|_| promises > 0);
        least.unwrap_or_default().max(zero())
    }

    /// What the users below a group take of a resource on some server classes.
    pub(super) fn held_on(&self, v: usize, servers: &[usize], r: usize) -> Rational {
        let below = self.users().filter(|n| self.stands_in(*n, v));
        let held = |n: usize| {
            let on = servers.iter().map(move |i| Rational::from(&self.x[n][*i] * &self.p().demand(n, *i)[r]));
            on.sum::<Rational>()
        };
        below.map(held).sum()
    }

    /// How many tasks limits on server classes leave a user on one of them, each with what it is; none where nothing
    /// limits it.
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

    /// Whether a limit of 0 keeps a user from a class.
    pub(super) fn is_barred(&self, n: usize, i: usize) -> bool {
        let groups = self.p().groups().list().iter().enumerate();
        let mut on = groups.filter(|(v, _)| self.stands_in(n, *v)).flat_map(|(_, of)| &of.on);
        let bars = |(r, most): &(usize, Rational)| most.is_zero() && self.p().demand(n, i)[*r] > 0;
        on.any(|on| on.servers.contains(&i) && on.limit.iter().any(bars))
    }

    /// Whether groups hold no more than they may on server classes.
    pub(super) fn keeps_limits_on_classes(&self) -> bool {
        let groups = self.p().groups().list().iter().enumerate();
        let mut limits = groups.flat_map(|(v, group)| group.on.iter().map(move |on| (v, on)));
        limits.all(|(v, on)| on.limit.iter().all(|(r, most)| self.held_on(v, &on.servers, *r) <= *most))
    }

    /// The least that they leave on each class, added up over the classes on which the user can run; `None` where one
    /// has no limit.
    fn left_on_classes(&self, n: usize) -> Option<Rational> {
        let least = |i: usize| self.class_marks(n, i).into_iter().map(|(_, left)| left).min();
        self.p().classes_of(n).map(least).sum()
    }

    /// The least margin of the limits.
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
        all.into_iter().min()
    }

    /// Minus the largest lack of what is promised.
    pub fn guarantees_margin(&self) -> Option<Rational> {
        let margin = |n: usize| -(self.lack_of_promises(n) / &self.cluster.g[n]);
        self.active().into_iter().map(margin).min()
    }
}
