//! Groups of users (queues, teams, accounts) in a tree, with what they are promised and allowed.
//!
//! A user is one shape of tasks; the users of a group and its subgroups share what the group has. The root,
//! which has no name, holds the groups without a parent and the users without a group. The definition of all
//! amounts is in docs/theory.md, section 9.

use std::collections::HashSet;

use rug::Rational;

use crate::on::{self, On, OnSpec};
use crate::place::Place;
pub use crate::problem_error::MOST_DEPTH;
use crate::problem_error::{ProblemError, ProblemErrorKind};
pub use crate::quantities::Named;
use crate::resolve::{Index, index_names, named, not_negative, resolve, whole};

/// Groups, the members of each, and how siblings are compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groups {
    list: Vec<Group>,
    /// By user.
    members: Vec<Member>,
    share: GroupShare,
}

/// A group of a checked problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Index of the group that it stands in; `None`: the root.
    pub parent: Option<usize>,
    /// Weight among its siblings, at least 0.
    pub weight: Rational,
    /// Siblings of a higher priority come first, beyond the guarantees.
    pub priority: i64,
    /// What it is promised; `None` where it states none (then what its subgroups are promised adds up to it).
    pub guarantee: Option<Named>,
    /// The most that it may hold.
    pub limit: Named,
    /// What others may use of its guarantee while it does not; a resource that is not named is lent whole.
    pub lend: Named,
    /// What it may hold on some server classes, ascending by these.
    pub on: Vec<On>,
}

/// What is said of a user beside its demand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Member {
    /// Index of its group; `None`: it stands beside the groups of the root.
    pub group: Option<usize>,
    /// Tasks that run together or not at all; `None`: one by one.
    pub gang: Option<u64>,
    /// Tasks that may not be taken; `None`: none.
    pub pinned: Option<Rational>,
}

/// The share by which siblings are compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupShare {
    /// What is counted.
    pub of: ShareOf,
    /// What it is divided by.
    pub over: ShareOver,
    /// `(resource, m_r)`, ascending, those that are not 1.
    pub multipliers: Named,
    /// Whether resources `flavour/name` of one name are added before the largest is taken.
    pub families: bool,
    /// What a weight of 0 means.
    pub zero_weight: ZeroWeight,
    /// What guarantees are for.
    pub guarantees: Guarantees,
}

/// What a share counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShareOf {
    /// All that a group holds.
    #[default]
    Usage,
    /// What it holds beyond its guarantee.
    Surplus,
}

/// What a share is divided by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShareOver {
    /// The capacity of all servers.
    #[default]
    Cluster,
    /// What can be had where the group stands.
    Lendable,
    /// The guarantee of the group.
    Guarantee,
}

/// What a weight of 0 means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ZeroWeight {
    /// The group comes after all its siblings.
    #[default]
    Last,
    /// It gets nothing beyond its guarantee.
    Never,
}

/// What guarantees are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guarantees {
    /// They come before shares.
    #[default]
    First,
    /// Only shares know them: usage over the guarantee, or what exceeds it.
    Compared,
}

crate::names! { ShareOf:
    Usage = "usage", "all that a group holds";
    Surplus = "surplus", "what it holds beyond its guarantee";
}
crate::names! { ShareOver:
    Cluster = "cluster", "the capacity of all servers";
    Lendable = "lendable", "what can be had where the group stands";
    Guarantee = "guarantee", "the guarantee of the group";
}
crate::names! { ZeroWeight:
    Last = "last", "the group comes after all its siblings";
    Never = "never", "it gets nothing beyond its guarantee";
}

crate::names! { Guarantees:
    First = "first", "they come before shares";
    Compared = "compared", "only shares know them";
}

/// A group, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupSpec {
    /// Name of the group.
    pub name: String,
    /// Name of the group that it stands in.
    pub parent: Option<String>,
    /// Weight, at least 0; 1 if absent.
    pub weight: Option<Rational>,
    /// Priority, a whole number; 0 if absent.
    pub priority: Option<Rational>,
    /// Amounts by resource.
    pub guarantee: Option<Vec<(String, Rational)>>,
    /// Amounts by resource.
    pub limit: Vec<(String, Rational)>,
    /// Amounts by resource.
    pub lend: Vec<(String, Rational)>,
    /// What is said of it on some server classes.
    pub on: Vec<OnSpec>,
}

/// What is said of a user beside its demand, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemberSpec {
    /// Name of its group.
    pub group: Option<String>,
    /// Tasks that run together, a whole number of at least 1.
    pub gang: Option<Rational>,
    /// Tasks that may not be taken, at least 0.
    pub pinned: Option<Rational>,
}

/// How siblings are compared, as stated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupShareSpec {
    /// What is counted.
    pub of: ShareOf,
    /// What it is divided by.
    pub over: ShareOver,
    /// Multipliers by resource, above 0.
    pub multipliers: Vec<(String, Rational)>,
    /// Whether flavours of a resource are added.
    pub families: bool,
    /// What a weight of 0 means.
    pub zero_weight: ZeroWeight,
    /// What guarantees are for.
    pub guarantees: Guarantees,
}

crate::names::getters! { Groups:
    /// The groups, in the order of the file.
    list: [Group];
    /// How siblings are compared.
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

    /// Makes room for so many users.
    pub(crate) fn reserve(&mut self, users: usize) {
        self.members.reserve_exact(users);
    }

    /// Adds what is said of the next user. The places of errors are those within it.
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

    /// The same groups with other users.
    pub(crate) fn with(&self, members: Vec<Member>) -> Self {
        Self { list: self.list.clone(), members, share: self.share.clone() }
    }

    /// What is said of user `n`.
    #[must_use]
    pub fn member(&self, n: usize) -> &Member {
        &self.members[n]
    }

    /// Whether nothing is said of groups: neither is there one, nor a gang or a pinned task, nor another share.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
            && self.share == GroupShare::default()
            && self.members.iter().all(|member| *member == Member::default())
    }

    /// Whether a group holds anything back from its users or from others: it names a limit or what it lends, or has
    /// the weight 0 and gets nothing beyond its guarantee.
    #[must_use]
    pub fn hold_back(&self) -> bool {
        self.have_limits() || self.keep_back()
    }

    /// The same but for limits: whether a group names what it lends, or has the weight 0 and gets nothing beyond its
    /// guarantee.
    #[must_use]
    pub fn keep_back(&self) -> bool {
        let never = self.share.zero_weight == ZeroWeight::Never;
        self.list.iter().any(|group| !group.lend.is_empty() || (never && group.weight.is_zero()))
    }

    /// Whether a group has a limit, on the whole cluster or on some server classes.
    #[must_use]
    pub fn have_limits(&self) -> bool {
        self.list.iter().any(|group| !group.limit.is_empty() || !group.on.is_empty())
    }

    /// Whether a group may hold only so much on some server classes.
    #[must_use]
    pub fn limit_classes(&self) -> bool {
        self.list.iter().any(|group| !group.on.is_empty())
    }

    /// The group `from` and those that it stands in, from the innermost on.
    pub fn above(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |v| self.list[*v].parent)
    }

    /// All groups, each after its subgroups.
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

/// A group that is above itself.
fn first_on_a_cycle(list: &[Group]) -> Option<usize> {
    // Whether a group is known to end at the root.
    let mut ends = vec![false; list.len()];
    for start in 0..list.len() {
        let mut way = Vec::new();
        let mut on_way = HashSet::new();
        let mut next = Some(start);
        while let Some(v) = next.filter(|v| !ends[*v]) {
            if !on_way.insert(v) {
                return Some(v);
            }
            way.push(v);
            next = list[v].parent;
        }
        way.into_iter().for_each(|v| ends[v] = true);
    }
    None
}
