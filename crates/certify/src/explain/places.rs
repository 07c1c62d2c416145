//! Explanations about the classes and servers on which a user runs: its bottlenecks by virtual dominant share, and
//! the rows that lack capacity for one more whole task.

use std::collections::BTreeMap;

use evenhand_exact::axiom::ps_dsf;
use evenhand_exact::axiom::work_conserving::Room;
use evenhand_exact::{Claim, Evidence, Instance};
use evenhand_problem::{Allocation, Constraints, Integer, Placement, Rational, Usage};

/// A user's shares and bottleneck on a class, as PS-DSF defines them.
#[derive(Debug, Clone, PartialEq)]
pub struct VirtualView {
    /// The index of the class.
    pub server: usize,
    /// The virtual dominant share of the user on the class, `x_n / gamma_ni`.
    pub share: Rational,
    /// The virtual dominant share divided by the user's weight.
    pub level: Rational,
    /// The row that is the user's bottleneck on the class, if there is one.
    pub bottleneck: Option<usize>,
    /// The user of that row with the highest level, and its level. Among equal levels, it is the first such user.
    pub highest: Option<(usize, Rational)>,
}

/// One more task of the user on the single servers of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneMore {
    /// The index of the class.
    pub server: usize,
    /// The number of servers of the class on which one more task fits.
    pub fits: u64,
    /// The number of whole tasks that fit on all these servers together.
    pub tasks: Integer,
    /// `(row, number of servers on which this row lacks capacity for one more task)`. On a server, more than one row
    /// can lack capacity.
    pub short: Vec<(usize, u64)>,
}

/// Returns a view of every class on which the user can run, for the mechanisms of PS-DSF. `rounding` is the tolerance
/// for bottlenecks, as a fraction of the tasks that the class could run.
pub(crate) fn virtual_views(
    instance: &Instance<'_>,
    allocation: &Allocation,
    user: usize,
    rounding: &Rational,
) -> Vec<VirtualView> {
    let by_server = ["ps-dsf", "ps-dsf-tdm"].map(Some).contains(&allocation.mechanism.as_deref());
    if !by_server || !instance.is_active(user) {
        return Vec::new();
    }
    let problem = instance.problem();
    let view = |server: usize| {
        let level = ps_dsf::level(instance, user, server)?;
        let (row, margin) = ps_dsf::bottleneck(instance, user, server).ok()??;
        let nothing = problem.gamma(user, server) * rounding;
        let bottleneck = (margin >= -nothing).then_some(row);
        let highest = bottleneck.and_then(|row| highest_holder(instance, allocation, row));
        let share = Rational::from(&level * problem.users()[user].weight());
        Some(VirtualView { server, share, level, bottleneck, highest })
    };
    (0..problem.n_servers()).filter_map(view).collect()
}

/// Returns the user with the highest level on the class among the users of a row, with that level.
fn highest_holder(instance: &Instance<'_>, allocation: &Allocation, row: usize) -> Option<(usize, Rational)> {
    let constraints = instance.constraints();
    let server = constraints.rows()[row].server;
    let offset = row - constraints.class_rows(server).start;
    let holds = |n: usize| {
        constraints.usage(n, server).is_some_and(|usage| !usage[offset].is_zero())
            && allocation.on(n, server) > 0
    };
    let holders = (0..instance.problem().n_users()).filter(|&n| holds(n));
    holders
        .filter_map(|n| Some((n, ps_dsf::level(instance, n, server)?)))
        .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))
}

/// Returns an entry for every class on which the user can run. The list is empty for an allocation without placements.
pub(crate) fn one_more(instance: &Instance<'_>, allocation: &Allocation, user: usize) -> Vec<OneMore> {
    let Some(placements) = &allocation.placements else { return Vec::new() };
    let constraints = instance.constraints();
    let mut placed: BTreeMap<usize, Vec<&Placement>> = BTreeMap::new();
    for placement in placements {
        placed.entry(placement.server).or_default().push(placement);
    }
    let view = |server: usize| {
        let own = constraints.usage(user, server)?;
        let mut view = OneMore { server, fits: 0, tasks: Integer::new(), short: Vec::new() };
        let mut short: BTreeMap<usize, u64> = BTreeMap::new();
        let used = placed.get(&server).map_or(&[][..], Vec::as_slice);
        let empty = instance.problem().servers()[server].count() - used.len() as u64;
        let servers = used.iter().map(|placement| (placement.tasks.as_slice(), 1));
        for (tasks, servers) in servers.chain([(&[][..], empty)]).filter(|(_, servers)| *servers > 0) {
            let room = room_by_row(constraints, server, &own, tasks);
            let least = room.iter().map(|(_, tasks)| tasks).min().filter(|least| **least > 0);
            if let Some(least) = least {
                view.fits += servers;
                view.tasks += Integer::from(least * servers);
            }
            for (row, _) in room.iter().filter(|(_, tasks)| *tasks <= 0) {
                *short.entry(*row).or_default() += servers;
            }
        }
        view.short = short.into_iter().collect();
        Some(view)
    };
    (0..instance.problem().n_servers()).filter_map(view).collect()
}

/// Returns, for each row that a task needs, how many more whole tasks of usage `own` the row allows on one server that
/// runs `tasks`.
fn room_by_row(
    constraints: &Constraints<'_>,
    server: usize,
    own: &Usage<'_>,
    tasks: &[(usize, Rational)],
) -> Vec<(usize, Integer)> {
    let servers = constraints.problem().servers()[server].count();
    let usages: Vec<_> =
        tasks.iter().filter_map(|(n, x)| Some((constraints.usage(*n, server)?, x))).collect();
    let rows = constraints.class_rows(server).enumerate().filter(|(offset, _)| !own[*offset].is_zero());
    let room = |(offset, row): (usize, usize)| {
        let used: Rational = usages.iter().map(|(usage, x)| Rational::from(&usage[offset] * *x)).sum();
        let free = Rational::from(&constraints.rows()[row].capacity / servers) - used;
        (row, (free / &own[offset]).floor().into_numer_denom().0)
    };
    rows.map(room).collect()
}

/// Returns how many more whole tasks of a user fit on single servers without moving other tasks. The number is at most
/// the number of tasks that the user lacks.
fn tasks_that_fit(instance: &Instance<'_>, allocation: &Allocation, user: usize) -> Integer {
    let fit: Integer = one_more(instance, allocation, user).iter().map(|class| &class.tasks).sum();
    match instance.problem().users()[user].tasks() {
        None => fit,
        Some(tasks) => {
            let left = (tasks - allocation.total(user)).floor();
            fit.min(left.into_numer_denom().0.max(Integer::new()))
        }
    }
}

/// Returns the margin of a claim, in tasks of the user that has this margin. For gangs on single servers the margin
/// says only whether a gang fits, so the result is the number of tasks that fit. If groups keep capacity back, fewer
/// tasks may be allowed, so the result is one gang.
pub(crate) fn in_tasks(instance: &Instance<'_>, allocation: &Allocation, claim: &Claim) -> Option<Rational> {
    let Evidence::Room(Room { user, index: Some(_), by_class, .. }) = &claim.evidence else {
        return claim.tasks(instance);
    };
    let fit = match instance.problem().groups().hold_back() {
        true => Integer::from(by_class.iter().map(|(_, tasks)| tasks).sum::<u64>().max(1)),
        false => tasks_that_fit(instance, allocation, *user),
    };
    Some(Rational::from(-fit))
}
