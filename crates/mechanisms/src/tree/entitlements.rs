//! The entitlements of groups under schedulers that divide every resource separately (docs/theory.md, section
//! 9).
//!
//! For each resource, starting from the root, guarantees come first: a child with the request
//! `q_k = min(demand below it, limit)` gets `min(G_k, q_k)`, where `G_k` is the guarantee stated for the
//! child itself. Then levels rise up to `q_k`. Each group divides its amount among its children in the same
//! way.
//!
//! Volcano keeps a guarantee for its queue, except for the amount that `lend` releases. A queue may use at
//! most its *real capability*. This is the real capability of its parent (for the root: the whole capacity)
//! minus the amounts kept for its siblings, and at most its own limit. Under `volcano-capacity`, a guarantee
//! is the amount that the queue deserves, whether the queue lends the amount or not (`Division::deserving`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use evenhand_problem::{Problem, Rational};

use super::raise::{Claim, raise};
use super::rounds::{Tier, Wish, give_whole};
use super::rule::PerResource;

/// The entitlements of all groups, and of users that count as queues, with one amount for each resource of
/// the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entitlements {
    /// The entitlement of each group, indexed by group and then by resource.
    pub groups: Vec<Vec<Rational>>,
    /// The entitlement of each user that is a sibling of groups and so counts as a queue of its own, or
    /// `None` for other users. The amount of a group without subgroups is not divided among its users, which
    /// share one queue.
    pub users: Vec<Option<Vec<Rational>>>,
}

/// A child of the root or of a group, for one resource.
struct Child<'e> {
    guarantee: Rational,
    request: Request,
    weight: &'e Rational,
    priority: i64,
    /// The amount that the users of the child deserve (`volcano-capacity`), or 0 under all other rules.
    deserved: Rational,
    /// The amount that the child requests beyond `request`. This amount is divided last (`volcano-capacity`).
    beyond: Rational,
}

/// A requested amount of a resource, or `None` for any amount.
type Request = Option<Rational>;

/// The requests of each group for one resource under `volcano-capacity`. The root comes last.
struct Deserving {
    /// The amount that the queues below deserve, as far as their real capabilities allow.
    deserved: Vec<Rational>,
    /// The amount of `deserved` that the queues below request.
    requested: Vec<Rational>,
    /// The amount requested by queues that deserve another resource, but none of this resource.
    beyond: Vec<Rational>,
}

/// The requests of each group for one resource. The root comes last.
enum Requests {
    Whole(Vec<Request>),
    Deserving(Deserving),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Group(usize),
    User(usize),
}

/// The division of a problem's resources by a rule.
struct Division<'p> {
    problem: &'p Problem,
    capacity: Vec<Rational>,
    /// The root and all groups, each before its subgroups. The index of the root is the number of groups.
    from_the_root: Vec<usize>,
    /// The children of each group, and of the root last: subgroups, and users that are siblings of subgroups.
    /// The users of the root are always included.
    children: Vec<Vec<Node>>,
    rule: PerResource,
    whole: bool,
    one: Rational,
}

impl Entitlements {
    /// Computes the entitlements of a problem with groups. With `whole`, entitlements are whole units of
    /// every resource, as KAI computes them. Returns `None` if rounding would take too long.
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

    /// Returns whether one more task of user `n` fits into the entitlements of its groups, or into its own
    /// entitlement, in addition to the usage `held` and `own`. All resources that the user demands are
    /// checked.
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

    /// Divides one resource, starting from the root.
    fn divide(&self, all: &mut Entitlements, r: usize) -> Option<()> {
        let kept = self.kept(r);
        let most = self.most(r, &kept);
        let requests = match self.rule {
            PerResource::VolcanoCapacity => Requests::Deserving(self.deserving(r, &most)),
            _ => Requests::Whole(self.requests(r, &most)),
        };
        for v in &self.from_the_root {
            let part = all.groups.get(*v).map_or(&self.capacity[r], |entitled| &entitled[r]).clone();
            let claims: Vec<Child<'_>> =
                self.children[*v].iter().map(|k| self.child(*k, r, &requests, &kept)).collect();
            for (k, part) in self.children[*v].iter().zip(self.parts(part, &claims)?) {
                match k {
                    Node::Group(k) => all.groups[*k][r] = part,
                    Node::User(n) => all.users[*n].iter_mut().for_each(|of| of[r].clone_from(&part)),
                }
            }
        }
        Some(())
    }

    /// Returns the amount of a resource that is kept for each group, used or not: the guarantee stated for the group
    /// itself, minus the amount that it lends.
    fn kept(&self, r: usize) -> Vec<Rational> {
        let kept = |v: usize| self.lent(v, r).map(|lent| (self.stated(v, r) - lent).max(Rational::new()));
        (0..self.root()).map(|v| kept(v).unwrap_or_default()).collect()
    }

    /// Returns the guarantee stated for the group itself. These schedulers do not add up the quotas of its children.
    fn stated(&self, v: usize, r: usize) -> Rational {
        let guarantee = self.problem.groups().list()[v].guarantee.iter().flatten();
        amount(guarantee, r).cloned().unwrap_or_default()
    }

    /// Returns the amount of its guarantee that a group lends, or `None` if the group does not state it.
    fn lent(&self, v: usize, r: usize) -> Option<&Rational> {
        amount(&self.problem.groups().list()[v].lend, r)
    }

    /// Returns the amount that a group gets first. Volcano does not guarantee an amount that the group lends, but
    /// counts it as deserved.
    fn guaranteed(&self, v: usize, r: usize, kept: &[Rational]) -> Rational {
        let is_kept_alone = match self.rule {
            PerResource::Kai { .. } => false,
            PerResource::Volcano => self.lent(v, r).is_some(),
            PerResource::VolcanoCapacity => true,
        };
        if is_kept_alone { kept[v].clone() } else { self.stated(v, r) }
    }

    /// Returns the maximum amount of a resource that each group, and the root, may use. `None` means any
    /// amount. Volcano calls this maximum the real capability.
    fn most(&self, r: usize, kept: &[Rational]) -> Vec<Request> {
        let list = self.problem.groups().list();
        let limit = |v: usize| amount(&list[v].limit, r).cloned();
        let mut most: Vec<Request> = (0..list.len()).map(limit).collect();
        most.push(None);
        if !self.rule.keeps_guarantees() {
            return most;
        }
        most[self.root()] = Some(self.capacity[r].clone());
        for v in &self.from_the_root {
            let below = || self.children[*v].iter().filter_map(|k| k.group());
            let all = below().map(|k| &kept[k]).sum::<Rational>();
            let Some(beside) = most[*v].as_ref().map(|most| most - all) else { continue };
            let beside = beside.max(Rational::new());
            for k in below() {
                let real = Rational::from(&beside + &kept[k]);
                most[k] = most[k].take().into_iter().chain([real]).min();
            }
        }
        most
    }

    /// Returns the amounts requested below each group, at most the amount that the group may use. The root
    /// comes last.
    fn requests(&self, r: usize, most: &[Request]) -> Vec<Request> {
        let groups = self.problem.groups();
        let mut requests = vec![Some(Rational::new()); self.root() + 1];
        let add = |sum: &mut Request, request: Request| {
            *sum = sum.take().zip(request).map(|(sum, request)| sum + request);
        };
        for n in 0..self.problem.n_users() {
            add(&mut requests[groups.member(n).group.unwrap_or(self.root())], self.request_of_user(n, r));
        }
        for v in self.from_the_root[1..].iter().rev() {
            let request = [requests[*v].take(), most[*v].clone()].into_iter().flatten().min();
            requests[*v].clone_from(&request);
            add(&mut requests[groups.list()[*v].parent.unwrap_or(self.root())], request);
        }
        requests
    }

    /// Returns the amounts of a resource that queues deserve and request.
    ///
    /// A queue without subqueues deserves its guarantee `D`, whether it lends the guarantee or not. If the
    /// queue states the resource, it requests at most the deserved amount. If it does not, it requests the
    /// demand of its tasks that also demand a stated resource: a scheduler that gives these tasks the stated
    /// resource must give them this resource too. A queue that deserves no amount requests none, since
    /// Volcano does not reclaim anything for it.
    fn deserving(&self, r: usize, most: &[Request]) -> Deserving {
        let groups = self.problem.groups();
        let zeros = || vec![Rational::new(); self.root() + 1];
        let (mut deserved, mut requested, mut beyond) = (zeros(), zeros(), zeros());
        let deserves = |v: usize, r: usize| {
            let stated = amount(groups.list()[v].guarantee.iter().flatten(), r);
            stated.filter(|stated| **stated > 0 && !self.has_subgroups(v))
        };
        let mut requests: Vec<Request> = vec![Some(Rational::new()); self.root()];
        for n in 0..self.problem.n_users() {
            let Some(v) = groups.member(n).group else { continue };
            let demand = self.problem.users()[n].base_demand().entries();
            if deserves(v, r).is_some() || demand.iter().any(|(other, _)| deserves(v, *other).is_some()) {
                let request = self.request_of_user(n, r);
                requests[v] = requests[v].take().zip(request).map(|(sum, request)| sum + request);
            }
        }
        for v in self.from_the_root[1..].iter().rev() {
            let most = most[*v].as_ref().unwrap_or(&self.capacity[r]);
            let request = requests[*v].take().into_iter().fold(most.clone(), Rational::min);
            match deserves(*v, r) {
                Some(stated) => {
                    deserved[*v] = stated.clone().min(most.clone());
                    requested[*v] = request.min(deserved[*v].clone());
                }
                None if self.has_subgroups(*v) => {
                    let all = Rational::from(&requested[*v] + &beyond[*v]).min(most.clone());
                    requested[*v] = std::mem::take(&mut requested[*v]).min(most.clone());
                    beyond[*v] = all - &requested[*v];
                }
                None => beyond[*v] = request,
            }
            let parent = groups.list()[*v].parent.unwrap_or(self.root());
            for sums in [&mut deserved, &mut requested, &mut beyond] {
                let of_child = sums[*v].clone();
                sums[parent] += of_child;
            }
        }
        Deserving { deserved, requested, beyond }
    }

    fn has_subgroups(&self, v: usize) -> bool {
        self.children[v].iter().any(|k| k.group().is_some())
    }

    fn request_of_user(&self, n: usize, r: usize) -> Request {
        let user = &self.problem.users()[n];
        let d = &user.base_demand()[r];
        if d.is_zero() { Some(Rational::new()) } else { user.tasks().map(|tasks| Rational::from(tasks * d)) }
    }

    fn child(&self, node: Node, r: usize, requests: &Requests, kept: &[Rational]) -> Child<'_> {
        let (guarantee, weight, priority) = match node {
            Node::Group(v) => {
                let group = &self.problem.groups().list()[v];
                (self.guaranteed(v, r, kept), &group.weight, group.priority)
            }
            Node::User(n) => (Rational::new(), self.problem.users()[n].weight(), 0),
        };
        let none = Rational::new;
        let (request, deserved, beyond) = match (requests, node) {
            (Requests::Whole(requests), Node::Group(v)) => (requests[v].clone(), none(), none()),
            (Requests::Whole(_), Node::User(n)) => (self.request_of_user(n, r), none(), none()),
            (Requests::Deserving(of), Node::Group(v)) => {
                (Some(of.requested[v].clone()), of.deserved[v].clone(), of.beyond[v].clone())
            }
            // A user that is a sibling of groups is a queue that deserves nothing.
            (Requests::Deserving(_), Node::User(_)) => (Some(none()), none(), none()),
        };
        Child { guarantee, request, weight, priority, deserved, beyond }
    }

    /// Divides the amount `part` among the children. Returns `None` if rounding would take too long.
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
            PerResource::Volcano | PerResource::VolcanoCapacity if left < 0 => {
                let promised: Vec<usize> = (0..children.len()).filter(|k| parts[*k] > 0).collect();
                // Divide in equal fractions of the guarantees, up to the requests.
                let claim = |k: &usize| Claim {
                    base: Rational::new(),
                    weight: children[*k].guarantee.clone(),
                    room: Some(parts[*k].clone()),
                };
                let (gains, _) = raise(&promised.iter().map(claim).collect::<Vec<_>>(), part);
                promised.into_iter().zip(gains).for_each(|(k, gain)| parts[k] = gain);
            }
            PerResource::Volcano => {
                let base = parts.clone();
                let rooms: Vec<Request> =
                    children.iter().zip(&parts).map(|(child, part)| child.room(part)).collect();
                self.by_weight(children, &base, &rooms, &mut parts, left);
            }
            PerResource::VolcanoCapacity => {
                let claim = |(child, part): (&Child<'_>, &Rational)| Claim {
                    base: part.clone(),
                    weight: Some(&child.deserved).filter(|w| !w.is_zero()).unwrap_or(&self.one).clone(),
                    room: child.room(part),
                };
                let claims: Vec<Claim> = children.iter().zip(&parts).map(claim).collect();
                let (gains, left) = raise(&claims, left);
                parts.iter_mut().zip(gains).for_each(|(part, gain)| *part += gain);
                let base = vec![Rational::new(); children.len()];
                let rooms: Vec<Request> = children.iter().map(|child| Some(child.beyond.clone())).collect();
                self.by_weight(children, &base, &rooms, &mut parts, left);
            }
        }
        Some(parts)
    }

    /// Raises the lowest `(base + gain) / w` of the children while something is left. Children of weight 0 come after
    /// all others, and then count with the weight 1.
    fn by_weight(
        &self,
        children: &[Child<'_>],
        base: &[Rational],
        rooms: &[Request],
        parts: &mut [Rational],
        mut left: Rational,
    ) {
        let (last, first): (Vec<usize>, Vec<usize>) =
            (0..children.len()).partition(|k| children[*k].weight.is_zero());
        for tier in [first, last] {
            let claim = |k: &usize| Claim {
                base: base[*k].clone(),
                weight: Some(children[*k].weight).filter(|w| !w.is_zero()).unwrap_or(&self.one).clone(),
                room: rooms[*k].clone(),
            };
            let (gains, rest) = raise(&tier.iter().map(claim).collect::<Vec<_>>(), left);
            left = rest;
            tier.into_iter().zip(gains).for_each(|(k, gain)| parts[k] += gain);
        }
    }
}

/// Returns the amount of resource `r`, or `None` if the list does not name the resource.
fn amount<'a>(amounts: impl IntoIterator<Item = &'a (usize, Rational)>, r: usize) -> Option<&'a Rational> {
    amounts.into_iter().find(|(of, _)| *of == r).map(|(_, amount)| amount)
}

impl Node {
    fn group(self) -> Option<usize> {
        if let Self::Group(v) = self { Some(v) } else { None }
    }
}

/// Divides the rest as KAI does without rounding. Priorities are served from high to low. Within a priority,
/// the lowest `(e - min(G, q)) / w` rises.
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
    /// Returns the amount that the child gets first: the requested part of its guarantee.
    fn first(&self) -> Rational {
        self.request.clone().into_iter().fold(self.guarantee.clone(), Rational::min)
    }

    /// Returns the amount that the child requests in addition to `has`.
    fn room(&self, has: &Rational) -> Option<Rational> {
        self.request.as_ref().map(|request| Rational::from(request - has))
    }
}
