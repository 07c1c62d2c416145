//! The explanation of a group's allocation: its position among its siblings, what stops its users, who uses the
//! resources concerned, how many tasks one more unit would bring, how much the group can still borrow, and from which
//! groups.

use std::collections::BTreeMap;

use evenhand_problem::{Allocation, Constraints, Problem, Rational, RowKind, Sharing};

use super::allocate::{Settings, TREE, forest_of};
use super::levels::{LimitOnClasses, NodeKind, Standing, levels, limits_on_classes};
use crate::error::MechanismError;
use evenhand_exact::tree::Holdings;
use evenhand_exact::tree::{Forest, Leaf};

/// The explanation of a group in an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The group's position among its siblings.
    pub standing: Standing,
    /// The group's amounts of each resource that some server has.
    pub amounts: Vec<Amount>,
    /// The users below the group.
    pub users: Vec<Wanting>,
}

/// The amounts of one resource for a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    /// The index of the resource.
    pub resource: usize,
    /// The amount that the tasks of the group's users take.
    pub held: Rational,
    /// The guarantee of the group, if it states one.
    pub guarantee: Option<Rational>,
    /// The limit of the group, if it states one.
    pub limit: Option<Rational>,
    /// The amount of its guarantee that the group does not use.
    pub own: Rational,
    /// The amount that the group can use beyond its guarantee until a limit above it or the total capacity
    /// stops it.
    pub may_borrow: Rational,
    /// The groups that do not use all of their guarantee and lend the rest, with the amounts in descending order.
    pub lenders: Vec<(String, Rational)>,
}

/// A user below the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanting {
    /// The index of the user.
    pub user: usize,
    /// `true` if the user has all its tasks or cannot run any.
    pub wants_no_more: bool,
    /// The number of tasks that the user could still run now.
    pub room: Rational,
    /// The reasons that stop the user. The list is empty if it is not stopped.
    pub stops: Vec<Stop>,
}

/// A reason that stops a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The kind of reason.
    pub kind: StopKind,
    /// The number of tasks that one more unit would bring if everything else stayed the same. It is 0 if
    /// another reason stops the user as well.
    pub brings: Rational,
}

/// The kinds of reasons that can stop a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopKind {
    /// A group above the user has reached its limit on a resource.
    Limit {
        /// The name of the group.
        group: String,
        /// The index of the resource.
        resource: usize,
        /// The amount of the limit.
        most: Rational,
    },
    /// A group above the user has weight 0 and gets nothing beyond its guarantee.
    Weight {
        /// The name of the group.
        group: String,
    },
    /// The unused amount of a resource is kept back for groups that do not lend it.
    KeptBack {
        /// The index of the resource.
        resource: usize,
    },
    /// A group above the user has reached its limit on a resource on some server classes.
    ClassLimit {
        /// The name of the group.
        group: String,
        /// The indices of the classes.
        servers: Vec<usize>,
        /// The index of the resource.
        resource: usize,
        /// The amount of the limit.
        most: Rational,
    },
    /// A resource of a server class is used up.
    Full {
        /// The index of the class.
        server: usize,
        /// The index of the resource.
        resource: usize,
        /// The usage of each group, and of each user without a group, in descending order.
        holders: Vec<(String, Rational)>,
    },
}

/// Explains the allocation of the group with the index `group`.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`](super::allocate()), and for a rule that divides
/// every resource separately.
pub fn why(
    problem: &Problem,
    allocation: &Allocation,
    group: usize,
    settings: &Settings,
) -> Result<Why, MechanismError> {
    let standings = levels(problem, allocation, settings)?;
    let forest = forest_of(problem, settings)?;
    let v = 1 + group;
    let standing = standings.into_iter().find(|of| of.kind == NodeKind::Group && of.name == forest.name(v));
    let Some(standing) = standing else {
        let why = "there is no such group".to_owned();
        return Err(MechanismError::NotApplicable { mechanism: TREE.info.id, why });
    };
    let holdings = Holdings::new(&forest, allocation.totals());
    let (left, on) = (free_amounts(problem, allocation), limits_on_classes(&forest, allocation));
    let view = View { forest: &forest, holdings: &holdings, allocation, left, on };
    let amounts = (0..forest.resources.len()).map(|r| view.amount(v, r)).collect();
    let below = (0..problem.n_users()).filter(|n| forest.above(forest.leaf(*n)).any(|above| above == v));
    let users =
        below.filter_map(|n| Some(view.wanting(forest.nodes[forest.leaf(n)].leaf.as_ref()?))).collect();
    Ok(Why { standing, amounts, users })
}

/// An allocation with the amounts that explanations need.
pub(super) struct View<'v> {
    pub forest: &'v Forest<'v>,
    pub holdings: &'v Holdings,
    pub allocation: &'v Allocation,
    /// The free amounts, indexed by class and then by resource of the problem.
    pub left: Vec<Vec<Rational>>,
    /// The limits on server classes, with the amounts that are left.
    pub on: Vec<LimitOnClasses>,
}

/// Returns the amounts that an allocation leaves free, indexed by class and then by resource.
pub(super) fn free_amounts(problem: &Problem, allocation: &Allocation) -> Vec<Vec<Rational>> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut left = vec![vec![Rational::new(); problem.n_resources()]; problem.n_servers()];
    for row in constraints.rows() {
        if let RowKind::Resource(r) = row.kind {
            left[row.server][r].clone_from(&row.capacity);
        }
    }
    for (n, tasks) in allocation.tasks.iter().enumerate() {
        for (i, x) in tasks {
            for (r, d) in problem.demand(n, *i).entries() {
                left[*i][*r] -= Rational::from(d * x);
            }
        }
    }
    left
}

impl View<'_> {
    pub(super) fn problem(&self) -> &Problem {
        self.forest.problem
    }

    pub(super) fn most(&self, v: usize, r: usize) -> Option<&Rational> {
        match v {
            0 => Some(&self.forest.capacity[r]).filter(|_| self.forest.is_bounded[r]),
            _ => self.forest.nodes[v].limit[r].as_ref(),
        }
    }

    fn promised(&self, v: usize, r: usize) -> Option<&Rational> {
        self.forest.nodes[v].guarantee.as_ref().and_then(|guarantee| guarantee[r].as_ref())
    }

    /// Returns the nodes from `from` to the root that have a limit (or, for the root, the capacity). Each is
    /// paired with the additional amount that `from` may use until that bound is reached. An amount kept back
    /// for a node already counts as usage of the nodes above.
    pub(super) fn rooms(&self, from: usize, r: usize) -> Vec<(usize, Rational)> {
        let mut spare = Rational::new();
        let mut rooms = Vec::new();
        for v in std::iter::once(from).chain(self.forest.above(from)) {
            let used = &self.holdings.used[v][r];
            rooms.extend(self.most(v, r).map(|most| (v, Rational::from(most - used) + &spare)));
            let kept = Rational::from(&self.forest.nodes[v].kept[r] - used);
            spare += kept.max(Rational::new());
        }
        rooms
    }

    fn amount(&self, v: usize, r: usize) -> Amount {
        let guarantee = self.promised(v, r).cloned();
        let used = &self.holdings.used[v][r];
        let zero = Rational::new;
        let own =
            guarantee.as_ref().map_or_else(zero, |promised| Rational::from(promised - used).max(zero()));
        // If only the classes restrict the running tasks, the free capacity on the classes counts.
        let resource = self.forest.resources[r];
        let free = (!self.forest.is_bounded[r]).then(|| self.left.iter().map(|of| &of[resource]).sum());
        let rooms = self.rooms(v, r).into_iter().map(|(_, room)| room);
        let room = rooms.chain(free).min().unwrap_or_default();
        let may_borrow = (room.max(zero()) - &own).max(zero());
        let way: Vec<usize> = std::iter::once(v).chain(self.forest.above(v)).collect();
        let mut lenders = Vec::new();
        for above in &way {
            for k in self.forest.nodes[*above].children.iter().filter(|k| !way.contains(k) && *above != v) {
                let Some(promised) = self.promised(*k, r) else { continue };
                let held = (&self.holdings.used[*k][r]).max(&self.forest.nodes[*k].kept[r]);
                if held < promised {
                    lenders.push((self.forest.name(*k).to_owned(), Rational::from(promised - held)));
                }
            }
        }
        lenders.sort_by(|a, b| b.1.cmp(&a.1));
        let limit = self.forest.nodes[v].limit[r].clone();
        let held = self.holdings.running[v][r].clone();
        Amount { resource, held, guarantee, limit, own, may_borrow, lenders }
    }

    fn wanting(&self, leaf: &Leaf) -> Wanting {
        let nothing = |wants_no_more| Wanting {
            user: leaf.user,
            wants_no_more,
            room: Rational::new(),
            stops: Vec::new(),
        };
        let Some(way) = self.holdings.way(self.forest, leaf) else { return nothing(true) };
        let node = self.forest.leaf(leaf.user);
        let never = self.forest.share.zero_weight == evenhand_problem::groups::ZeroWeight::Never;
        let shut = way
            .nodes
            .iter()
            .find(|(v, below)| never && *v != 0 && self.forest.nodes[*v].weight.is_zero() && !below);
        // The number of further tasks that each bound allows. The bounds are the user's own tasks and the groups above
        // it. The classes follow below.
        let mut bounds: Vec<(Option<StopKind>, Rational, Rational)> = Vec::new();
        if let Some(tasks) = &leaf.tasks {
            bounds.push((None, Rational::from(tasks - &self.holdings.tasks[leaf.user]), Rational::new()));
        }
        for (r, d) in &leaf.demand {
            for (v, room) in self.rooms(node, *r) {
                let resource = self.forest.resources[*r];
                let kind = if v == 0 { StopKind::KeptBack { resource } } else { self.limit(v, *r) };
                bounds.push((Some(kind), (room / d).max(Rational::new()), d.clone().recip()));
            }
        }
        let classes: Vec<usize> = self.problem().classes_of(leaf.user).collect();
        let demand = |i: usize| self.problem().demand(leaf.user, i);
        let own: Vec<usize> = self.of_user(leaf);
        // The number of tasks that fit on a class with one more unit of a resource there, or of a limit.
        let in_class = |i: usize, extra: Option<usize>, raised: Option<usize>| -> Rational {
            let room = demand(i).entries().iter().map(|(r, d)| {
                let left = Rational::from(&self.left[i][*r] + u32::from(extra == Some(*r)));
                (left / d).max(Rational::new())
            });
            let limits = own.iter().filter_map(|at| self.on[*at].room(demand(i), i, raised == Some(*at)));
            room.chain(limits).min().unwrap_or_default()
        };
        // The number of tasks that fit on all classes together. A limit on several classes restricts their sum.
        let on_classes = |raised: Option<usize>| -> Rational {
            let rooms: Vec<(usize, Rational)> =
                classes.iter().map(|i| (*i, in_class(*i, None, raised))).collect();
            let all: Rational = rooms.iter().map(|(_, room)| room).sum();
            let within = |at: &usize| {
                let mut there: Vec<(&Rational, &Rational)> = rooms
                    .iter()
                    .filter(|(i, _)| self.on[*at].is_on(*i))
                    .map(|(i, room)| (&demand(*i)[self.on[*at].resource], room))
                    .collect();
                // Classes where a task takes the least of the limit come first, so that as many tasks as possible fit.
                there.sort();
                let left = Rational::from(&self.on[*at].left + u32::from(raised == Some(*at)));
                let mut left = left.max(Rational::new());
                let mut over = Rational::new();
                for (demand, room) in there {
                    let taken = Rational::from(demand * room);
                    if taken > left {
                        over += Rational::from(&taken - &left) / demand;
                    }
                    left = (left - taken).max(Rational::new());
                }
                all.clone() - over
            };
            own.iter().map(within).fold(all.clone(), Rational::min)
        };
        let there = on_classes(None);
        let least = |skip: Option<usize>| {
            let of = bounds.iter().enumerate().filter(|(at, _)| Some(*at) != skip);
            of.map(|(_, (_, room, _))| room).min().cloned()
        };
        let room = least(None).into_iter().fold(there.clone(), Rational::min);
        if let Some((v, _)) = shut {
            let kind = StopKind::Weight { group: self.forest.name(*v).to_owned() };
            return Wanting { stops: vec![Stop { kind, brings: Rational::new() }], ..nothing(false) };
        }
        let mut stops = Vec::new();
        if room.is_zero() {
            for (at, (kind, bound, unit)) in bounds.iter().enumerate().filter(|(_, of)| of.1.is_zero()) {
                let Some(kind) = kind else { continue };
                let _ = bound;
                // If the total capacity is used up, a full class is the better explanation.
                if matches!(kind, StopKind::KeptBack { .. }) && there.is_zero() {
                    continue;
                }
                let brings = least(Some(at)).into_iter().fold(unit.clone().min(there.clone()), Rational::min);
                stops.push(Stop { kind: kind.clone(), brings });
            }
            if there.is_zero() {
                // One more unit of a class is one more unit of the total capacity.
                let others =
                    bounds.iter().filter(|(kind, ..)| !matches!(kind, Some(StopKind::KeptBack { .. })));
                let others = others.map(|(_, room, _)| room).min().cloned();
                for at in &own {
                    if self.on[*at].left > 0 || !classes.iter().any(|i| self.on[*at].is_on(*i)) {
                        continue;
                    }
                    let kind = self.class_limit(*at);
                    // The one unit can be used on any of the classes of the limit.
                    let brings = others.clone().into_iter().fold(on_classes(Some(*at)), Rational::min);
                    stops.push(Stop { kind, brings });
                }
                for i in classes.iter().copied() {
                    for (r, _) in demand(i).entries() {
                        if self.left[i][*r] > 0 {
                            continue;
                        }
                        let brings =
                            others.clone().into_iter().fold(in_class(i, Some(*r), None), Rational::min);
                        let kind = StopKind::Full { server: i, resource: *r, holders: self.holders(i, *r) };
                        stops.push(Stop { kind, brings });
                    }
                }
            }
        }
        Wanting { user: leaf.user, wants_no_more: false, room, stops }
    }

    /// Returns the usage of a resource of a class by each group, and by each user without a group, in
    /// descending order.
    fn holders(&self, i: usize, r: usize) -> Vec<(String, Rational)> {
        let mut held: BTreeMap<String, Rational> = BTreeMap::new();
        for (n, tasks) in self.allocation.tasks.iter().enumerate() {
            let parent = self.forest.nodes[self.forest.leaf(n)].parent.filter(|v| *v != 0);
            let name = self.forest.name(parent.unwrap_or_else(|| self.forest.leaf(n)));
            for (_, x) in tasks.iter().filter(|(of, _)| *of == i) {
                let demand = self.problem().demand(n, i).entries().iter().find(|(of, _)| *of == r);
                if let Some((_, d)) = demand {
                    *held.entry(name.to_owned()).or_default() += Rational::from(d * x);
                }
            }
        }
        let mut held: Vec<(String, Rational)> = held.into_iter().filter(|(_, amount)| *amount > 0).collect();
        held.sort_by(|a, b| b.1.cmp(&a.1));
        held
    }
}
