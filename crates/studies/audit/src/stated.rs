//! Problems in a form that searches can change. Such a problem states an amount of every resource, and may
//! have groups.

use evenhand_problem::groups::{GroupShare, GroupShareSpec, GroupSpec, MemberSpec, Named};
use evenhand_problem::{Member, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

/// A problem that can be changed. Every server and user states an amount of every resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stated {
    /// The resources, servers and users.
    pub spec: ProblemSpec,
    /// The groups. Most searches have none.
    pub groups: Vec<GroupSpec>,
    /// The group and the gang of each user, indexed by user. Empty if there are neither groups nor gangs.
    pub members: Vec<MemberSpec>,
    /// The share by which groups and users are compared.
    pub share: GroupShareSpec,
}

impl From<ProblemSpec> for Stated {
    fn from(spec: ProblemSpec) -> Self {
        Self { spec, ..Self::default() }
    }
}

/// Converts a problem. Limits of groups on classes and priorities are left out, because searches do not use them.
impl From<&Problem> for Stated {
    fn from(problem: &Problem) -> Self {
        let mut spec = ProblemSpec::from(problem);
        let ProblemSpec { resources, servers, users, .. } = &mut spec;
        servers.iter_mut().for_each(|ServerSpec { capacity, .. }| in_full(resources, capacity));
        users.iter_mut().for_each(|UserSpec { demand, .. }| in_full(resources, demand));
        let list = problem.groups().list();
        let named = |amounts: &Named| -> Vec<(String, Rational)> {
            amounts.iter().map(|(r, amount)| (problem.resources()[*r].clone(), amount.clone())).collect()
        };
        let groups = list.iter().map(|group| GroupSpec {
            name: group.name.clone(),
            parent: group.parent.map(|parent| list[parent].name.clone()),
            weight: Some(group.weight.clone()),
            guarantee: group.guarantee.as_ref().map(named),
            limit: named(&group.limit),
            lend: named(&group.lend),
            ..GroupSpec::default()
        });
        let member = |n: usize| {
            let Member { group, gang, pinned } = problem.groups().member(n).clone();
            let group = group.map(|group| list[group].name.clone());
            MemberSpec { group, gang: gang.map(Rational::from), pinned }
        };
        let members = if list.is_empty() { 0 } else { problem.n_users() };
        let GroupShare { of, over, multipliers, families, zero_weight, guarantees } =
            problem.groups().share().clone();
        let multipliers = named(&multipliers);
        let share = GroupShareSpec { of, over, multipliers, families, zero_weight, guarantees };
        Self { spec, groups: groups.collect(), members: (0..members).map(member).collect(), share }
    }
}

/// Adds every missing resource with the amount 0.
fn in_full(resources: &[String], amounts: &mut Vec<(String, Rational)>) {
    let stated = std::mem::take(amounts);
    let of = |name: &String| stated.iter().find(|(of, _)| of == name).map(|(_, amount)| amount.clone());
    *amounts = resources.iter().map(|name| (name.clone(), of(name).unwrap_or_default())).collect();
}

impl Stated {
    /// Returns the problem, if it is valid. The problem may be invalid because a search has removed the last
    /// demand of a user.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        Problem::grouped(self.spec.clone(), self.groups.clone(), self.share.clone(), self.members.clone())
            .ok()
    }

    /// Returns the problem with numbered names of resources, classes and users, as searches use them.
    #[must_use]
    pub fn renamed(&self) -> Self {
        let mut next = self.clone();
        let spec = &mut next.spec;
        let of = |old: &mut String, prefix: &str, position: usize| {
            (std::mem::replace(old, format!("{prefix}{}", position + 1)), format!("{prefix}{}", position + 1))
        };
        let resources = spec.resources.iter_mut().enumerate();
        let resources: Vec<(String, String)> = resources.map(|(r, name)| of(name, "r", r)).collect();
        let servers = spec.servers.iter_mut().enumerate();
        let servers: Vec<(String, String)> =
            servers.map(|(i, server)| of(&mut server.name, "s", i)).collect();
        let groups = next.groups.iter_mut().enumerate();
        let groups: Vec<(String, String)> = groups.map(|(v, group)| of(&mut group.name, "g", v)).collect();
        let rename = |names: &[(String, String)], name: &mut String| {
            if let Some((_, new)) = names.iter().find(|(old, _)| old == name) {
                name.clone_from(new);
            }
        };
        let amounts = |list: &mut Vec<(String, Rational)>| {
            list.iter_mut().for_each(|(name, _)| rename(&resources, name));
        };
        spec.servers.iter_mut().for_each(|server| amounts(&mut server.capacity));
        for (n, user) in spec.users.iter_mut().enumerate() {
            user.name = format!("u{}", n + 1);
            amounts(&mut user.demand);
            user.servers.iter_mut().flatten().for_each(|name| rename(&servers, name));
            user.criterion.iter_mut().for_each(|(name, _)| rename(&servers, name));
        }
        for group in &mut next.groups {
            amounts(&mut group.limit);
            amounts(&mut group.lend);
            group.guarantee.iter_mut().for_each(amounts);
            group.parent.iter_mut().for_each(|name| rename(&groups, name));
        }
        amounts(&mut next.share.multipliers);
        next.members
            .iter_mut()
            .filter_map(|member| member.group.as_mut())
            .for_each(|name| rename(&groups, name));
        next
    }

    /// Removes a user.
    pub fn remove_user(&mut self, n: usize) {
        self.spec.users.remove(n);
        if n < self.members.len() {
            self.members.remove(n);
        }
    }

    /// Removes a group. Its users then belong to no group.
    pub fn remove_group(&mut self, v: usize) {
        let name = self.groups.remove(v).name;
        for member in &mut self.members {
            member.group.take_if(|group| *group == name);
        }
        if self.groups.is_empty() {
            self.members.clear();
        }
    }
}
