//! The usage of every group by resource, computed from the base demands of its users, next to the guarantee,
//! limit and fair share of the group.

use evenhand_problem::{Allocation, Problem, Promises, Rational, utilisation};

use crate::table::{Cell, Table};
use crate::text::amount;

/// The largest number of rows in the table for people.
const LONGEST: usize = 40;

/// The usage of a resource by a group.
pub(crate) struct Held {
    /// The index of the group.
    /// The number of groups that contain the group.
    pub group: usize,
    pub depth: usize,
    pub resource: usize,
    pub amount: Rational,
    pub guarantee: Option<Rational>,
    pub limit: Option<Rational>,
    /// The usage in the allocation that defines fair shares. `None` if there is no such allocation.
    pub due: Option<Rational>,
    /// True if a user of the group demands the resource and has fewer tasks than it wants.
    pub wants_more: bool,
}

impl Held {
    /// Returns the amount that the group lacks to its fair share, or to its guarantee if there is no fair
    /// share. The amount is negative if the group uses more.
    pub(crate) fn lacks(&self) -> Option<Rational> {
        let due = self.due.as_ref().or(self.guarantee.as_ref());
        due.map(|due| Rational::from(due - &self.amount))
    }
}

/// Returns the usage by group and resource. Each group is followed by its subgroups. Pairs of a group and a
/// resource are left out if the group has neither usage, guarantee, limit nor fair share of the resource.
/// `due` is the allocation that defines the fair shares.
pub(crate) fn by_group(problem: &Problem, allocation: &Allocation, due: Option<&Allocation>) -> Vec<Held> {
    let groups = problem.groups();
    let promises = Promises::new(groups);
    let (n_groups, n_resources) = (groups.list().len(), problem.n_resources());
    let mut amounts_of = utilisation::by_group(problem, allocation);
    let due = due.map(|due| utilisation::by_group(problem, due));
    let mut wanted = vec![vec![false; n_resources]; n_groups];
    for n in (0..problem.n_users()).filter(|n| problem.is_active(*n)) {
        let user = &problem.users()[n];
        if user.tasks().is_some_and(|tasks| allocation.total(n) >= *tasks) {
            continue;
        }
        for v in groups.above(groups.member(n).group) {
            (0..n_resources).for_each(|r| wanted[v][r] |= user.base_demand()[r] > 0);
        }
    }
    let mut children = vec![Vec::new(); n_groups];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for v in (0..n_groups).rev() {
        match groups.list()[v].parent {
            Some(parent) => children[parent].push(v),
            None => stack.push((v, 0)),
        }
    }
    let mut all = Vec::new();
    while let Some((v, depth)) = stack.pop() {
        stack.extend(children[v].iter().map(|child| (*child, depth + 1)));
        for r in 0..n_resources {
            let held = Held {
                group: v,
                depth,
                resource: r,
                amount: std::mem::take(&mut amounts_of[v][r]),
                guarantee: promises.promised(v, r).cloned(),
                limit: groups.list()[v].limit.iter().find(|(of, _)| *of == r).map(|(_, most)| most.clone()),
                due: due.as_ref().map(|due| due[v][r].clone()),
                wants_more: wanted[v][r],
            };
            let is_due = held.due.as_ref().is_some_and(|due| !due.is_zero());
            if is_due || !held.amount.is_zero() || held.guarantee.is_some() || held.limit.is_some() {
                all.push(held);
            }
        }
    }
    all
}

/// Returns the usage of groups as a table. Returns `None` if there are no groups.
pub(crate) fn group_table(
    problem: &Problem,
    allocation: &Allocation,
    due: Option<&Allocation>,
) -> Option<Table> {
    if problem.groups().list().is_empty() {
        return None;
    }
    let resource = |of: &Held| problem.resources()[of.resource].as_str();
    let cell = |of: &Held, value: &Rational| Cell::decimal(value).shown_as(&amount(resource(of), value));
    let table = Table::of(by_group(problem, allocation, due))
        .words("group", |of| {
            let name = &problem.groups().list()[of.group].name;
            Cell::text(format!("{}{name}", "  ".repeat(of.depth))).with_value(name)
        })
        .words("resource", resource)
        .numbers("uses", |of| cell(of, &of.amount))
        .numbers("of total", |of| {
            let all = &problem.total_capacity()[of.resource];
            (!all.is_zero()).then(|| Cell::percent(&Rational::from(&of.amount / all)))
        });
    let table = match due {
        Some(_) => table.numbers("fair share", |of| of.due.as_ref().map(|value| cell(of, value))),
        None => table,
    };
    let table = table
        .numbers("guarantee", |of| of.guarantee.as_ref().map(|value| cell(of, value)))
        .unless_all("-")
        .numbers("limit", |of| of.limit.as_ref().map(|value| cell(of, value)))
        .unless_all("-")
        .words(if due.is_some() { "next to fair share" } else { "next to guarantee" }, |of| {
            let lacks = of.lacks()?;
            let words = |what: &str, value: &Rational| format!("{} {what}", amount(resource(of), value));
            Some(match &lacks {
                lacks if lacks.is_zero() => Cell::text("exactly met"),
                lacks if *lacks < 0 && of.due.is_some() => Cell::text(words("over", &Rational::from(-lacks))),
                lacks if *lacks < 0 => Cell::text(words("more", &Rational::from(-lacks))),
                lacks if of.wants_more => Cell::text(words("lacking", lacks)).bad(),
                lacks => Cell::text(words("unused", lacks)),
            })
        })
        .unless_all("-")
        .table();
    Some(table.at_most(LONGEST, "rows of groups and resources"))
}
