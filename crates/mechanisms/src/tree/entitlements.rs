//! What the schedulers that divide every resource alone entitle each group to (theory, section 9).
//!
//! For each resource, from the root: among children with requests `q_k = min(what is asked for below, limit)`
//! guarantees come first, `min(G_k, q_k)`, of what a group itself states; then levels rise up to `q_k`. What a group
//! gets is divided among its children in the same way.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use evenhand_problem::{Problem, Rational};

use super::raise::{Claim, raise};
use super::rounds::{Tier, Wish, give_whole};
use super::rule::PerResource;

/// What everybody is entitled to, by resource of the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entitlements {
    /// By group.
    pub groups: Vec<Vec<Rational>>,
    /// By user: where it stands beside groups, as a queue of its own. What a group without subgroups gets is not
    /// divided among its users, who share one queue.
    pub users: Vec<Option<Vec<Rational>>>,
}

/// A child of the root or of a group, and one resource.
struct Child<'e> {
    guarantee: Rational,
    /// `None`: any amount.
    request: Option<Rational>,
    weight: &'e Rational,
    priority: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Group(usize),
    User(usize),
}

struct Division<'p> {
    problem: &'p Problem,
    capacity: Vec<Rational>,
    /// The root, which comes after the groups, and all groups, each before its subgroups.
    from_the_root: Vec<usize>,
    /// By group, then the root: subgroups, and users where there are subgroups.
    children: Vec<Vec<Node>>,
    rule: PerResource,
    whole: bool,
    one: Rational,
}

impl Entitlements {
    /// Of a problem with groups; `whole`: in whole units of every resource, as KAI does. `None` where rounding would
    /// take too long.
    pub(super) fn new(problem: &Problem, rule: PerResource, whole: bool) -> Option<Self> {
        let division = Division::new(problem, rule, whole);
        let zeros = || vec![Rational::new(); problem.n_resources()];
        let groups = vec![zeros(); division.root()];
        let mut entitlements = Self { groups, users: vec![None; problem.n_users()] };
        for node in division.children.iter().flatten() {
            if let Node::User(n) = node {
                entitlements.users[*n] = Some(zeros());
            }
        }
        for r in 0..problem.n_resources() {
            division.divide(&mut entitlements, r)?;
        }
        Some(entitlements)
    }

    /// Whether one more task of user `n` fits into what its groups (or it alone) are entitled to, beside what they
    /// hold: in every resource that it asks for.
    pub(super) fn has_room(
        &self,
        problem: &Problem,
        n: usize,
        held: &[Vec<Rational>],
        own: &[Rational],
    ) -> bool {
        let demand = problem.users()[n].base_demand().entries();
        let fits = |entitled: &[Rational], held: &[Rational]| {
            demand.iter().all(|(r, d)| Rational::from(&held[*r] + d) <= entitled[*r])
        };
        let mut above = problem.groups().member(n).group;
        while let Some(v) = above {
            if !fits(&self.groups[v], &held[v]) {
                return false;
            }
            above = problem.groups().list()[v].parent;
        }
        self.users[n].as_ref().is_none_or(|entitled| fits(entitled, own))
    }
}

impl<'p> Division<'p> {
    fn new(problem: &'p Problem, rule: PerResource, whole: bool) -> Self {
        let list = problem.groups().list();
        let mut children = vec![Vec::new(); list.len() + 1];
        for (v, group) in list.iter().enumerate() {
            children[group.parent.unwrap_or(list.len())].push(Node::Group(v));
        }
        let above = |n: usize| problem.groups().member(n).group.unwrap_or(list.len());
        let stands_beside_groups = |n: &usize| above(*n) == list.len() || !children[above(*n)].is_empty();
        let alone: Vec<usize> = (0..problem.n_users()).filter(stands_beside_groups).collect();
        alone.into_iter().for_each(|n| children[above(n)].push(Node::User(n)));
        let mut from_the_root = problem.groups().from_the_leaves();
        from_the_root.push(list.len());
        from_the_root.reverse();
        Self {
            problem,
            capacity: problem.total_capacity().to_vec(),
            from_the_root,
            children,
            rule,
            whole,
            one: Rational::from(1),
        }
    }

    fn root(&self) -> usize {
        self.problem.groups().list().len()
    }

    /// Divides one resource, from the root.
    fn divide(&self, all: &mut Entitlements, r: usize) -> Option<()> {
        let requests = self.requests(r);
        for v in &self.from_the_root {
            let part = all.groups.get(*v).map_or(&self.capacity[r], |entitled| &entitled[r]).clone();
            let claims: Vec<Child<'_>> =
                self.children[*v].iter().map(|k| self.child(*k, r, &requests)).collect();
            for (k, part) in self.children[*v].iter().zip(self.parts(part, &claims)?) {
                match k {
                    Node::Group(k) => all.groups[*k][r] = part,
                    Node::User(n) => all.users[*n].iter_mut().for_each(|of| of[r].clone_from(&part)),
                }
            }
        }
        Some(())
    }

    /// By group: what is asked for below, at most the limit; `None` where that is any amount.
    fn requests(&self, r: usize) -> Vec<Option<Rational>> {
        let groups = self.problem.groups();
        // The root comes last.
        let mut requests = vec![Some(Rational::new()); self.root() + 1];
        let add = |sum: &mut Option<Rational>, request: Option<Rational>| {
            *sum = sum.take().zip(request).map(|(sum, request)| sum + request);
        };
        for n in 0..self.problem.n_users() {
            add(&mut requests[groups.member(n).group.unwrap_or(self.root())], self.request_of_user(n, r));
        }
        for v in self.from_the_root[1..].iter().rev() {
            let group = &groups.list()[*v];
            let limit = group.limit.iter().find(|(of, _)| *of == r).map(|(_, limit)| limit.clone());
            let request = [requests[*v].take(), limit].into_iter().flatten().min();
            requests[*v].clone_from(&request);
            add(&mut requests[group.parent.unwrap_or(self.root())], request);
        }
        requests
    }

    fn request_of_user(&self, n: usize, r: usize) -> Option<Rational> {
        let user = &self.problem.users()[n];
        let d = &user.base_demand()[r];
        if d.is_zero() { Some(Rational::new()) } else { user.tasks().map(|tasks| Rational::from(tasks * d)) }
    }

    fn child(&self, node: Node, r: usize, requests: &[Option<Rational>]) -> Child<'_> {
        match node {
            Node::Group(v) => {
                let group = &self.problem.groups().list()[v];
                // These schedulers know what a queue itself states; its children's quotas do not add up to it.
                let stated = group.guarantee.iter().flatten().find(|(of, _)| *of == r);
                Child {
                    guarantee: stated.map(|(_, amount)| amount.clone()).unwrap_or_default(),
                    request: requests[v].clone(),
                    weight: &group.weight,
                    priority: group.priority,
                }
            }
            Node::User(n) => Child {
                guarantee: Rational::new(),
                request: self.request_of_user(n, r),
                weight: self.problem.users()[n].weight(),
                priority: 0,
            },
        }
    }

    /// What each child gets of a part.
    fn parts(&self, part: Rational, children: &[Child<'_>]) -> Option<Vec<Rational>> {
        let mut parts: Vec<Rational> = children.iter().map(Child::first).collect();
        let left = part.clone() - parts.iter().sum::<Rational>();
        match self.rule {
            PerResource::Kai { .. } if left <= 0 => {}
            PerResource::Kai { sole_takes_all } if self.whole => {
                let mut tiers: BTreeMap<Reverse<i64>, Tier> = BTreeMap::new();
                for (k, child) in children.iter().enumerate() {
                    let tier = tiers.entry(Reverse(child.priority)).or_default();
                    tier.queues.push(k);
                    let left = child.room(&parts[k]);
                    if left.as_ref().is_none_or(|left| *left > 0) {
                        tier.wishes.push(Wish { child: k, weight: child.weight.clone(), left });
                    }
                }
                give_whole(tiers, left, sole_takes_all, |k, gain| parts[k] += gain)?;
            }
            PerResource::Kai { sole_takes_all } => by_priority(children, &mut parts, left, sole_takes_all),
            PerResource::Volcano if left < 0 => {
                let promised: Vec<usize> = (0..children.len()).filter(|k| parts[*k] > 0).collect();
                // Equal fractions of what is promised, up to what is asked for.
                let claim = |k: &usize| Claim {
                    base: Rational::new(),
                    weight: children[*k].guarantee.clone(),
                    room: Some(parts[*k].clone()),
                };
                let (gains, _) = raise(&promised.iter().map(claim).collect::<Vec<_>>(), part);
                promised.into_iter().zip(gains).for_each(|(k, gain)| parts[k] = gain);
            }
            PerResource::Volcano => {
                let (last, first): (Vec<usize>, Vec<usize>) =
                    (0..children.len()).partition(|k| children[*k].weight.is_zero());
                let mut left = left;
                for tier in [first, last] {
                    let claim = |k: &usize| Claim {
                        base: parts[*k].clone(),
                        weight: Some(children[*k].weight)
                            .filter(|w| !w.is_zero())
                            .unwrap_or(&self.one)
                            .clone(),
                        room: children[*k].room(&parts[*k]),
                    };
                    let (gains, rest) = raise(&tier.iter().map(claim).collect::<Vec<_>>(), left);
                    left = rest;
                    tier.into_iter().zip(gains).for_each(|(k, gain)| parts[k] += gain);
                }
            }
        }
        Some(parts)
    }
}

/// KAI without rounding: priorities from high to low, in each the least `(e - min(G, q)) / w` rises.
fn by_priority(children: &[Child<'_>], parts: &mut [Rational], mut left: Rational, sole_takes_all: bool) {
    let mut tiers: BTreeMap<Reverse<i64>, Vec<usize>> = BTreeMap::new();
    for (k, child) in children.iter().enumerate() {
        tiers.entry(Reverse(child.priority)).or_default().push(k);
    }
    for mut tier in tiers.into_values() {
        if let ([k], true) = (tier.as_slice(), sole_takes_all) {
            parts[*k] += std::mem::take(&mut left);
            continue;
        }
        tier.retain(|k| !children[*k].weight.is_zero());
        let claim = |k: &usize| Claim {
            base: Rational::new(),
            weight: children[*k].weight.clone(),
            room: children[*k].room(&parts[*k]),
        };
        let (gains, rest) = raise(&tier.iter().map(claim).collect::<Vec<_>>(), left);
        left = rest;
        tier.into_iter().zip(gains).for_each(|(k, gain)| parts[k] += gain);
    }
}

impl Child<'_> {
    /// What comes first: the guarantee, as far as it is asked for.
    fn first(&self) -> Rational {
        self.request.clone().into_iter().fold(self.guarantee.clone(), Rational::min)
    }

    /// What it asks for beyond what it has.
    fn room(&self, has: &Rational) -> Option<Rational> {
        self.request.as_ref().map(|request| Rational::from(request - has))
    }
}
