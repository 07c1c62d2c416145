//! The tree of groups of users (queues, teams, accounts), with their guarantees and limits.
//!
//! A user stands for identical tasks. The users of a group and its subgroups share the resources of the group. The root
//! has no name. It contains the groups without a parent and the users without a group. docs/theory.md, section 9,
//! defines all amounts.

use std::collections::HashSet;

use rug::Rational;

use crate::on::{self, On, OnSpec};
use crate::place::Place;
pub use crate::problem_error::MOST_DEPTH;
use crate::problem_error::{ProblemError, ProblemErrorKind};
pub use crate::quantities::Named;
use crate::resolve::{Index, index_names, named, not_negative, resolve, whole};

/// The groups, the membership of each user, and the rule for comparing siblings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groups {
    list: Vec<Group>,
    /// The group, gang and pinned tasks of each user.
    members: Vec<Member>,
    share: GroupShare,
}

/// A group of a checked problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Index of the parent group. `None` means the root.
    pub parent: Option<usize>,
    /// Weight among the siblings, at least 0.
    pub weight: Rational,
    /// Priority. Beyond the guarantees, siblings of a higher priority come first.
    pub priority: i64,
    /// Guaranteed amounts, or `None` if none are stated. A group without a stated guarantee has the sum of
    /// its subgroups' guarantees.
    pub guarantee: Option<Named>,
    /// The maximum amounts that the group may use.
    pub limit: Named,
    /// The amount of an unused guarantee that other groups may use. For a resource that is not named, this is the whole
    /// unused guarantee.
    pub lend: Named,
    /// The maximum amounts that the group may use on some server classes, in ascending order of the classes.
    pub on: Vec<On>,
}

/// The statements about a user that are not about its demand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Member {
    /// Index of the user's group. `None` means the root.
    pub group: Option<usize>,
    /// Number of tasks that start together, or `None` if tasks start one at a time.
    pub gang: Option<u64>,
    /// Number of tasks that may not be stopped, or `None` if all tasks may be stopped.
    pub pinned: Option<Rational>,
}

/// The definition of the share by which siblings are compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupShare {
    /// The amount that is counted.
    pub of: ShareOf,
    /// The amount by which the counted amount is divided.
    pub over: ShareOver,
    /// The pairs `(resource, m_r)` of the multipliers that are not 1, in ascending order of resource.
    pub multipliers: Named,
    /// `true` if the amounts of resources `flavour/name` with the same name are added before the largest amount
    /// is taken.
    pub families: bool,
    /// The meaning of a weight of 0.
    pub zero_weight: ZeroWeight,
    /// The role of guarantees.
    pub guarantees: Guarantees,
}

/// The numerator of a share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShareOf {
    /// The group's whole usage.
    #[default]
    Usage,
    /// The group's usage beyond its guarantee.
    Surplus,
}

/// The denominator of a share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShareOver {
    /// The capacity of all servers.
    #[default]
    Cluster,
    /// The maximum that the parent could have, minus the amounts that its children keep back.
    Lendable,
    /// The guarantee of the group.
    Guarantee,
}

/// The meaning of a weight of 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ZeroWeight {
    /// The group comes after all its siblings.
    #[default]
    Last,
    /// The group gets nothing beyond its guarantee.
    Never,
}

/// The role of guarantees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guarantees {
    /// Guarantees are met before shares are compared.
    #[default]
    First,
    /// Guarantees only enter the shares: as the denominator, or as amounts subtracted from the usage.
    Compared,
}

crate::names! { ShareOf:
    Usage = "usage", "all usage of the group";
    Surplus = "surplus", "usage of the group beyond its guarantee";
}
crate::names! { ShareOver:
    Cluster = "cluster", "the capacity of all servers";
    Lendable = "lendable", "the most that the parent could have, minus amounts that its children keep back";
    Guarantee = "guarantee", "the guarantee of the group";
}
crate::names! { ZeroWeight:
    Last = "last", "the group comes after all its siblings";
    Never = "never", "the group gets nothing beyond its guarantee";
}

crate::names! { Guarantees:
    First = "first", "guarantees are served before shares are compared";
    Compared = "compared", "guarantees count only in shares";
}

/// A group as stated, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupSpec {
    /// Name of the group.
    pub name: String,
    /// Name of the parent group.
    pub parent: Option<String>,
    /// Weight, at least 0. The default is 1.
    pub weight: Option<Rational>,
    /// Priority, a whole number. The default is 0.
    pub priority: Option<Rational>,
    /// Guaranteed amounts, each with the name of its resource.
    pub guarantee: Option<Vec<(String, Rational)>>,
    /// Limits, each with the name of its resource.
    pub limit: Vec<(String, Rational)>,
    /// Amounts that the group lends, each with the name of its resource.
    pub lend: Vec<(String, Rational)>,
    /// Limits on some server classes.
    pub on: Vec<OnSpec>,
}

/// The statements about a user apart from its demand, before they are checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemberSpec {
    /// Name of the user's group.
    pub group: Option<String>,
    /// Number of tasks that start together, a whole number of at least 1.
    pub gang: Option<Rational>,
    /// Number of tasks that may not be stopped, at least 0.
    pub pinned: Option<Rational>,
}

/// The share by which siblings are compared, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupShareSpec {
    /// The amount that is counted.
    pub of: ShareOf,
    /// The amount by which the counted amount is divided.
    pub over: ShareOver,
    /// Multipliers above 0, each with the name of its resource.
    pub multipliers: Vec<(String, Rational)>,
    /// `true` if the flavours of a resource are added.
    pub families: bool,
    /// The meaning of a weight of 0.
    pub zero_weight: ZeroWeight,
    /// The role of guarantees.
    pub guarantees: Guarantees,
}

crate::names::getters! { Groups:
    /// The groups, in the order of the file.
    list: [Group];
    /// The definition of the share by which siblings are compared.
    share: GroupShare;
}

impl Groups {
    pub(crate) fn new(
        specs: Vec<GroupSpec>,
        share: GroupShareSpec,
        resources: &Index,
        servers: &Index,
    ) -> Result<(Self, Index), ProblemError> {
        let at = Place::root().key("groups");
        let index =
            index_names("group", specs.iter().map(|spec| spec.name.as_str()), |v| at.index(v).key("name"))?;
        let mut list = Vec::with_capacity(specs.len());
        for (v, spec) in specs.into_iter().enumerate() {
            list.push(Group::new(spec, &index, [resources, servers], &at.index(v))?);
        }
        if let Some(v) = first_on_a_cycle(&list) {
            let kind = ProblemErrorKind::GroupInItself(list[v].name.clone());
            return Err(at.index(v).key("parent").error(kind));
        }
        let above = |v: usize| std::iter::successors(list[v].parent, |v| list[*v].parent);
        if let Some(v) = (0..list.len()).find(|v| above(*v).take(MOST_DEPTH).count() == MOST_DEPTH) {
            let kind = ProblemErrorKind::GroupTooDeep(list[v].name.clone());
            return Err(at.index(v).key("parent").error(kind));
        }
        let place = Place::root().key("share").key("multipliers");
        let mut multipliers = named(share.multipliers, resources, || place.clone())?;
        if let Some((r, m)) = multipliers.iter().find(|(_, m)| m.is_zero()) {
            return Err(place.key(resources.name_of(*r)).error(ProblemErrorKind::NotPositive(m.to_string())));
        }
        multipliers.retain(|(_, m)| *m != 1);
        let GroupShareSpec { of, over, families, zero_weight, guarantees, .. } = share;
        let share = GroupShare { of, over, multipliers, families, zero_weight, guarantees };
        Ok((Self { list, members: Vec::new(), share }, index))
    }

    /// Reserves memory for `users` users.
    pub(crate) fn reserve(&mut self, users: usize) {
        self.members.reserve_exact(users);
    }

    /// Adds the group, gang and pinned tasks of the next user. Places in errors are relative to the user.
    pub(crate) fn join(&mut self, spec: MemberSpec, index: &Index) -> Result<(), ProblemError> {
        let at = Place::root();
        let group = spec.group.map(|name| resolve("group", &name, index, || at.key("group"))).transpose()?;
        let bad = |gang: &Rational| at.key("gang").error(ProblemErrorKind::BadGang(gang.to_string()));
        let gang = spec.gang.map(|gang| whole(&gang, 1).ok_or_else(|| bad(&gang))).transpose()?;
        let pinned = spec.pinned.map(|pinned| not_negative(pinned, &|| at.key("pinned"))).transpose()?;
        let (gang, pinned) = (gang.filter(|tasks| *tasks > 1), pinned.filter(|tasks| !tasks.is_zero()));
        self.members.push(Member { group, gang, pinned });
        Ok(())
    }

    /// Returns the same groups with other members.
    pub(crate) fn with(&self, members: Vec<Member>) -> Self {
        Self { list: self.list.clone(), members, share: self.share.clone() }
    }

    /// Returns the group, gang and pinned tasks of user `n`.
    #[must_use]
    pub fn member(&self, n: usize) -> &Member {
        &self.members[n]
    }

    /// Returns whether the problem states nothing about groups: no group, no gang, no pinned task and no share.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
            && self.share == GroupShare::default()
            && self.members.iter().all(|member| *member == Member::default())
    }

    /// Returns whether any group withholds capacity from its users or from other groups. A group does so by a limit, by
    /// stating how much of its guarantee it lends, or by a weight of 0 that gives it nothing beyond its guarantee.
    #[must_use]
    pub fn hold_back(&self) -> bool {
        self.have_limits() || self.keep_back()
    }

    /// Returns whether any group withholds capacity without a limit: it states how much of its guarantee it lends, or
    /// its weight of 0 gives it nothing beyond its guarantee.
    #[must_use]
    pub fn keep_back(&self) -> bool {
        let never = self.share.zero_weight == ZeroWeight::Never;
        self.list.iter().any(|group| !group.lend.is_empty() || (never && group.weight.is_zero()))
    }

    /// Returns whether a group has a limit, on the whole cluster or on some server classes.
    #[must_use]
    pub fn have_limits(&self) -> bool {
        self.list.iter().any(|group| !group.limit.is_empty() || !group.on.is_empty())
    }

    /// Returns whether a group has a limit on some server classes.
    #[must_use]
    pub fn limit_classes(&self) -> bool {
        self.list.iter().any(|group| !group.on.is_empty())
    }

    /// Returns the group `from` and its ancestors, from the innermost outwards.
    pub fn above(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |v| self.list[*v].parent)
    }

    /// Returns all groups, each after its subgroups.
    #[must_use]
    pub fn from_the_leaves(&self) -> Vec<usize> {
        let mut children = vec![Vec::new(); self.list.len()];
        let mut order = Vec::with_capacity(self.list.len());
        for (v, group) in self.list.iter().enumerate() {
            match group.parent {
                Some(parent) => children[parent].push(v),
                None => order.push(v),
            }
        }
        let mut next = 0;
        while next < order.len() {
            order.extend_from_slice(&children[order[next]]);
            next += 1;
        }
        order.reverse();
        order
    }
}

impl Group {
    fn new(
        spec: GroupSpec,
        groups: &Index,
        [resources, servers]: [&Index; 2],
        at: &Place,
    ) -> Result<Self, ProblemError> {
        let parent =
            spec.parent.map(|name| resolve("group", &name, groups, || at.key("parent"))).transpose()?;
        let weight = not_negative(spec.weight.unwrap_or_else(|| Rational::from(1)), &|| at.key("weight"))?;
        let priority = spec.priority.unwrap_or_default();
        let Some(priority) = priority.numer().to_i64().filter(|_| priority.is_integer()) else {
            return Err(at.key("priority").error(ProblemErrorKind::BadPriority(priority.to_string())));
        };
        let amounts = |stated, field: &str| named(stated, resources, || at.key(field));
        let guarantee = spec.guarantee.map(|stated| amounts(stated, "guarantee")).transpose()?;
        let limit = amounts(spec.limit, "limit")?;
        let lend = amounts(spec.lend, "lend")?;
        for (r, promised) in guarantee.iter().flatten() {
            let most = limit.binary_search_by_key(r, |(of, _)| *of).ok().map(|at| &limit[at].1);
            if let Some(most) = most.filter(|most| *most < promised) {
                let kind = ProblemErrorKind::GuaranteeAboveLimit {
                    guarantee: promised.to_string(),
                    limit: most.to_string(),
                };
                return Err(at.key("guarantee").key(resources.name_of(*r)).error(kind));
            }
        }
        let on = on::read(spec.on, resources, servers, &at.key("on"))?;
        Ok(Self { name: spec.name, parent, weight, priority, guarantee, limit, lend, on })
    }
}

/// Returns a group that is its own ancestor, or `None` if there is no such group.
fn first_on_a_cycle(list: &[Group]) -> Option<usize> {
    // Marks the groups whose ancestors are known to end at the root.
    let mut is_rooted = vec![false; list.len()];
    for start in 0..list.len() {
        let mut path = Vec::new();
        let mut on_path = HashSet::new();
        let mut next = Some(start);
        while let Some(v) = next.filter(|v| !is_rooted[*v]) {
            if !on_path.insert(v) {
                return Some(v);
            }
            path.push(v);
            next = list[v].parent;
        }
        path.into_iter().for_each(|v| is_rooted[v] = true);
    }
    None
}
