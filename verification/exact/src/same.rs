//! Whether two problems mean the same.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::groups::{ShareOf, ShareOver, ZeroWeight};
use evenhand_problem::{Group, On, Problem, Quantities, Rational};

/// Whether `a` and `b` are one problem: the same resources, server classes and users by name, in any
/// order, with equal numbers. Titles do not count, nor does the way in which a demand is written
/// (for a class, or for all).
pub(crate) fn same_problem(a: &Problem, b: &Problem) -> bool {
    let Some(resource) =
        mapping(a.resources().iter().map(String::as_str), b.resources().iter().map(String::as_str))
    else {
        return false;
    };
    let servers = |p: &'_ Problem| p.servers().iter().map(|s| s.name().to_owned()).collect::<Vec<_>>();
    let users = |p: &'_ Problem| p.users().iter().map(|u| u.name().to_owned()).collect::<Vec<_>>();
    let (Some(server), Some(user)) = (
        mapping(servers(a).iter().map(String::as_str), servers(b).iter().map(String::as_str)),
        mapping(users(a).iter().map(String::as_str), users(b).iter().map(String::as_str)),
    ) else {
        return false;
    };
    let vectors = |x: &Quantities, y: &Quantities| {
        let same = |(r, value): &(usize, Rational)| *value == y[resource[*r]];
        x.entries().len() == y.entries().len() && x.entries().iter().all(same)
    };
    let same_server = |(i, &j): (usize, &usize)| {
        let (x, y) = (&a.servers()[i], &b.servers()[j]);
        x.count() == y.count()
            && x.is_time_shared() == y.is_time_shared()
            && vectors(x.capacity(), y.capacity())
    };
    let listed = |x: &[(usize, Rational)], y: &[(usize, Rational)]| {
        let mut x: Vec<(usize, &Rational)> = x.iter().map(|(i, value)| (server[*i], value)).collect();
        x.sort_by_key(|(i, _)| *i);
        x.into_iter().eq(y.iter().map(|(i, value)| (*i, value)))
    };
    let same_user = |(n, &m): (usize, &usize)| {
        let (x, y) = (&a.users()[n], &b.users()[m]);
        let overridden = !(x.demand_overrides().is_empty() && y.demand_overrides().is_empty());
        let same_on = |(i, &j): (usize, &usize)| {
            x.may_use(i) == y.may_use(j) && (!overridden || vectors(x.demand_on(i), y.demand_on(j)))
        };
        x.weight() == y.weight()
            && x.tasks() == y.tasks()
            && vectors(x.base_demand(), y.base_demand())
            && listed(x.given_gamma(), y.given_gamma())
            && listed(x.criterion(), y.criterion())
            && server.iter().enumerate().all(same_on)
    };
    server.iter().enumerate().all(same_server)
        && user.iter().enumerate().all(same_user)
        && by_name(a) == by_name(b)
}

/// Amounts by name of a resource.
type Named<'p> = BTreeMap<&'p str, &'p Rational>;

/// Group, gang and pinned tasks of a user.
type MemberByName<'p> = (Option<&'p str>, Option<u64>, Option<&'p Rational>);

/// Everything that is said of groups, by name.
#[derive(PartialEq)]
struct GroupsByName<'p> {
    groups: BTreeMap<&'p str, GroupByName<'p>>,
    /// By user: its group, and what is said of its tasks.
    members: BTreeMap<&'p str, MemberByName<'p>>,
    share: (ShareOf, ShareOver, ZeroWeight, bool, Named<'p>),
}

#[derive(PartialEq)]
struct GroupByName<'p> {
    parent: Option<&'p str>,
    weight: &'p Rational,
    priority: i64,
    guarantee: Option<Named<'p>>,
    limit: Named<'p>,
    lend: Named<'p>,
    /// By server classes, in the order of their names.
    on: BTreeMap<Vec<&'p str>, Named<'p>>,
}

fn named<'p>(problem: &'p Problem, amounts: &'p [(usize, Rational)]) -> Named<'p> {
    amounts.iter().map(|(r, amount)| (problem.resources()[*r].as_str(), amount)).collect()
}

/// Names of server classes, sorted.
fn classes<'p>(problem: &'p Problem, on: &On) -> Vec<&'p str> {
    let mut names: Vec<&str> = on.servers.iter().map(|i| problem.servers()[*i].name()).collect();
    names.sort_unstable();
    names
}

fn group<'p>(problem: &'p Problem, group: &'p Group) -> GroupByName<'p> {
    GroupByName {
        parent: group.parent.map(|v| problem.groups().list()[v].name.as_str()),
        weight: &group.weight,
        priority: group.priority,
        guarantee: group.guarantee.as_ref().map(|amounts| named(problem, amounts)),
        limit: named(problem, &group.limit),
        lend: named(problem, &group.lend),
        on: group.on.iter().map(|on| (classes(problem, on), named(problem, &on.limit))).collect(),
    }
}

fn by_name(problem: &Problem) -> GroupsByName<'_> {
    let groups = problem.groups();
    let name = |v: usize| groups.list()[v].name.as_str();
    let member = |n: usize| {
        let member = groups.member(n);
        (member.group.map(name), member.gang, member.pinned.as_ref())
    };
    let users = problem.users().iter().enumerate();
    let share = groups.share();
    GroupsByName {
        groups: groups.list().iter().map(|of| (of.name.as_str(), group(problem, of))).collect(),
        members: users.map(|(n, user)| (user.name(), member(n))).collect(),
        share: (share.of, share.over, share.zero_weight, share.families, named(problem, &share.multipliers)),
    }
}

/// For every name of `a` its position in `b`; `None` when the names differ.
fn mapping<'x>(a: impl Iterator<Item = &'x str>, b: impl Iterator<Item = &'x str>) -> Option<Vec<usize>> {
    let positions: HashMap<&str, usize> = b.enumerate().map(|(position, name)| (name, position)).collect();
    let mapped: Option<Vec<usize>> = a.map(|name| positions.get(name).copied()).collect();
    mapped.filter(|mapped| mapped.len() == positions.len())
}
