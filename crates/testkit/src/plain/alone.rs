//! A second implementation of the rules that divide every resource separately, written from docs/groups.md
//! ("Each resource alone"). It divides recursively from the root, and raises levels from one event to the
//! next. It shares no code with the engine.

use evenhand_problem::{Problem, Rational};

/// A rule that divides every resource separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// The rule `kai`.
    Kai,
    /// The rule `volcano`.
    Volcano,
    /// The rule `volcano-capacity`.
    VolcanoCapacity,
}

/// A child of the root or of a group.
#[derive(Clone, Copy)]
enum Child {
    Group(usize),
    User(usize),
}

/// The division of one resource of a problem.
struct Resource<'p> {
    problem: &'p Problem,
    rule: Alone,
    r: usize,
    capacity: Rational,
    /// The amount that each group is entitled to.
    entitled: Vec<Rational>,
    /// The amount that each user is entitled to.
    of_users: Vec<Rational>,
}

/// Returns the amounts to which groups are entitled, and the amounts to which users next to groups are
/// entitled. The outer index is the resource.
#[must_use]
pub fn entitled(problem: &Problem, rule: Alone) -> Vec<(Vec<Rational>, Vec<Rational>)> {
    let zeros = |count: usize| vec![Rational::new(); count];
    let of_resource = |r: usize| {
        let capacity = problem.total_capacity()[r].clone();
        let (entitled, of_users) = (zeros(problem.groups().list().len()), zeros(problem.n_users()));
        let mut resource = Resource { problem, rule, r, capacity, entitled, of_users };
        resource.divide(None);
        (resource.entitled, resource.of_users)
    };
    (0..problem.n_resources()).map(of_resource).collect()
}

/// Returns the lesser of two amounts. `None` means no bound.
fn lesser(a: Option<Rational>, b: Option<Rational>) -> Option<Rational> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn sum(amounts: impl IntoIterator<Item = Option<Rational>>) -> Option<Rational> {
    let mut all = Rational::new();
    for amount in amounts {
        all += amount?;
    }
    Some(all)
}

impl Resource<'_> {
    fn subgroups(&self, v: Option<usize>) -> Vec<usize> {
        let list = self.problem.groups().list();
        (0..list.len()).filter(|k| list[*k].parent == v).collect()
    }

    fn users(&self, v: Option<usize>) -> Vec<usize> {
        (0..self.problem.n_users()).filter(|n| self.problem.groups().member(*n).group == v).collect()
    }

    fn children(&self, v: Option<usize>) -> Vec<Child> {
        let groups = self.subgroups(v);
        let users = if v.is_some() && groups.is_empty() { Vec::new() } else { self.users(v) };
        groups.into_iter().map(Child::Group).chain(users.into_iter().map(Child::User)).collect()
    }

    fn stated(&self, v: usize, r: usize) -> Rational {
        let guarantee = self.problem.groups().list()[v].guarantee.iter().flatten();
        guarantee.filter(|(of, _)| *of == r).map(|(_, amount)| amount.clone()).next().unwrap_or_default()
    }

    fn lent(&self, v: usize) -> Option<Rational> {
        let lend = &self.problem.groups().list()[v].lend;
        lend.iter().find(|(of, _)| *of == self.r).map(|(_, lent)| lent.clone())
    }

    /// Returns the amount of the guarantee that is kept back from other groups. The amount is 0 if the group
    /// does not state what it lends.
    fn kept(&self, v: usize) -> Rational {
        self.lent(v).map_or_else(Rational::new, |lent| (self.stated(v, self.r) - lent).max(Rational::new()))
    }

    /// Returns the amount that a child gets before anything is divided by weight.
    fn guaranteed(&self, child: Child) -> Rational {
        match (self.rule, child) {
            (_, Child::User(_)) => Rational::new(),
            (Alone::VolcanoCapacity, Child::Group(v)) => self.kept(v),
            (Alone::Volcano, Child::Group(v)) if self.lent(v).is_some() => self.kept(v),
            (_, Child::Group(v)) => self.stated(v, self.r),
        }
    }

    /// Returns the most that a group may use. `None` means no bound.
    fn most(&self, v: Option<usize>) -> Option<Rational> {
        let keeps = self.rule != Alone::Kai;
        let Some(v) = v else { return keeps.then(|| self.capacity.clone()) };
        let group = &self.problem.groups().list()[v];
        let limit = group.limit.iter().find(|(of, _)| *of == self.r).map(|(_, most)| most.clone());
        let real = self.most(group.parent).filter(|_| keeps).map(|most| {
            let kept: Rational = self.subgroups(group.parent).into_iter().map(|k| self.kept(k)).sum();
            (most - kept).max(Rational::new()) + self.kept(v)
        });
        lesser(limit, real)
    }

    fn of_user(&self, n: usize) -> Option<Rational> {
        let user = &self.problem.users()[n];
        let d = &user.base_demand()[self.r];
        if d.is_zero() { Some(Rational::new()) } else { user.tasks().map(|tasks| Rational::from(tasks * d)) }
    }

    fn deserves(&self, v: usize, r: usize) -> bool {
        self.subgroups(Some(v)).is_empty() && self.stated(v, r) > 0
    }

    /// Returns the amounts by which `volcano-capacity` divides a group's share: the amount that a child
    /// deserves, its request up to this amount, and its request beyond this amount.
    fn deserved(&self, child: Child) -> [Rational; 3] {
        let Child::Group(v) = child else { return Default::default() };
        let most = self.most(Some(v)).unwrap();
        let below = self.subgroups(Some(v));
        if !below.is_empty() {
            let mut all: [Rational; 3] = Default::default();
            for k in below {
                let of = self.deserved(Child::Group(k));
                all.iter_mut().zip(of).for_each(|(all, of)| *all += of);
            }
            let [deserved, requested, beyond] = all;
            let first = requested.clone().min(most.clone());
            return [deserved, first.clone(), (requested + beyond).min(most) - first];
        }
        let counts = |n: &usize| {
            let demand = self.problem.users()[*n].base_demand();
            self.deserves(v, self.r)
                || (0..self.problem.n_resources()).any(|r| demand[r] > 0 && self.deserves(v, r))
        };
        let request = sum(self.users(Some(v)).into_iter().filter(counts).map(|n| self.of_user(n)));
        let request = lesser(request, Some(most.clone())).unwrap();
        if self.deserves(v, self.r) {
            let deserved = self.stated(v, self.r).min(most);
            return [deserved.clone(), deserved.min(request), Rational::new()];
        }
        [Rational::new(), Rational::new(), request]
    }

    fn request(&self, child: Child) -> Option<Rational> {
        match (self.rule, child) {
            (Alone::VolcanoCapacity, child) => Some(self.deserved(child)[1].clone()),
            (_, Child::User(n)) => self.of_user(n),
            (_, Child::Group(v)) => {
                let below = self.subgroups(Some(v)).into_iter().map(Child::Group);
                let below = below.chain(self.users(Some(v)).into_iter().map(Child::User));
                lesser(sum(below.map(|k| self.request(k))), self.most(Some(v)))
            }
        }
    }

    fn weight(&self, child: Child) -> Rational {
        match child {
            Child::Group(v) => self.problem.groups().list()[v].weight.clone(),
            Child::User(n) => self.problem.users()[n].weight().clone(),
        }
    }

    /// Divides the share of a group, or of the root, among its children.
    fn divide(&mut self, v: Option<usize>) {
        let children = self.children(v);
        let share = v.map_or_else(|| self.capacity.clone(), |v| self.entitled[v].clone());
        for (child, part) in children.iter().zip(self.parts(&children, &share)) {
            match *child {
                Child::Group(k) => {
                    self.entitled[k] = part;
                    self.divide(Some(k));
                }
                Child::User(n) => self.of_users[n] = part,
            }
        }
    }

    /// Returns the amount of the share that each child gets.
    fn parts(&self, children: &[Child], share: &Rational) -> Vec<Rational> {
        let requests: Vec<Option<Rational>> = children.iter().map(|k| self.request(*k)).collect();
        let kept: Vec<Rational> = children.iter().map(|k| self.guaranteed(*k)).collect();
        let first = kept.iter().zip(&requests);
        let mut parts: Vec<Rational> =
            first.map(|(kept, request)| lesser(Some(kept.clone()), request.clone()).unwrap()).collect();
        let mut left = share.clone() - parts.iter().sum::<Rational>();
        let nothing = vec![Rational::new(); children.len()];
        let weights: Vec<Rational> = children.iter().map(|k| self.weight(*k)).collect();
        if self.rule == Alone::Kai {
            let priority = |k: usize| match children[k] {
                Child::Group(v) => self.problem.groups().list()[v].priority,
                Child::User(_) => 0,
            };
            let mut priorities: Vec<i64> = (0..children.len()).map(priority).collect();
            priorities.sort_unstable();
            priorities.dedup();
            for of in priorities.into_iter().rev() {
                let may = |k: usize| priority(k) == of && weights[k] > 0;
                let start = parts.clone();
                rise(&mut parts, &start, &weights, &requests, &mut left, may);
            }
            return parts;
        }
        if left < 0 {
            let promised: Vec<Option<Rational>> = parts.iter().cloned().map(Some).collect();
            parts = nothing.clone();
            rise(&mut parts, &nothing, &kept, &promised, &mut share.clone(), |k| kept[k] > 0);
            return parts;
        }
        let mut start = nothing.clone();
        let mut most = requests;
        if self.rule == Alone::VolcanoCapacity {
            let of: Vec<[Rational; 3]> = children.iter().map(|k| self.deserved(*k)).collect();
            let deserved: Vec<Rational> = of.iter().map(|[deserved, ..]| deserved.clone()).collect();
            rise(&mut parts, &nothing, &deserved, &most, &mut left, |k| deserved[k] > 0);
            start = parts.clone();
            most = of.iter().map(|[_, first, beyond]| Some(Rational::from(first + beyond))).collect();
            if left <= 0 {
                return parts;
            }
        }
        rise(&mut parts, &start, &weights, &most, &mut left, |k| weights[k] > 0);
        let ones = vec![Rational::from(1); children.len()];
        rise(&mut parts, &start, &ones, &most, &mut left, |k| weights[k].is_zero());
        parts
    }
}

/// Raises the amounts in `parts` with the least level `(part - start) / weight` from event to event, until
/// nothing is left or no amount may rise.
fn rise(
    parts: &mut [Rational],
    start: &[Rational],
    weights: &[Rational],
    most: &[Option<Rational>],
    left: &mut Rational,
    may: impl Fn(usize) -> bool,
) {
    let level = |parts: &[Rational], k: usize| Rational::from(&parts[k] - &start[k]) / &weights[k];
    while *left > 0 {
        let grows = |k: &usize| may(*k) && most[*k].as_ref().is_none_or(|most| parts[*k] < *most);
        let open: Vec<usize> = (0..parts.len()).filter(grows).collect();
        let Some(least) = open.iter().map(|k| level(parts, *k)).min() else { return };
        let growing: Vec<usize> = open.iter().copied().filter(|k| level(parts, *k) == least).collect();
        let pace: Rational = growing.iter().map(|k| &weights[*k]).sum();
        let next = open.iter().map(|k| level(parts, *k)).filter(|level| *level > least).min();
        let mut steps = vec![Rational::from(&*left / &pace)];
        steps.extend(next.map(|next| next - &least));
        for k in &growing {
            steps.extend(most[*k].as_ref().map(|most| Rational::from(most - &parts[*k]) / &weights[*k]));
        }
        let step = steps.into_iter().min().unwrap();
        for k in growing {
            parts[k] += Rational::from(&step * &weights[k]);
        }
        *left -= step * pace;
    }
}
