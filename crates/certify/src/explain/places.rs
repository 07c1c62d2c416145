//! What `explain` says of the places where a user runs: its bottlenecks by virtual dominant share, and
//! what is short for one more whole task.

use std::collections::BTreeMap;

use evenhand_exact::Instance;
use evenhand_exact::axiom::ps_dsf;
use evenhand_problem::{Allocation, Constraints, Placement, Rational, Usage};

/// A class in the eyes of PS-DSF.
#[derive(Debug, Clone, PartialEq)]
pub struct VirtualView {
    /// The class.
    pub server: usize,
    /// The virtual dominant share of the user there, `x_n / gamma_ni`.
    pub share: Rational,
    /// The same by weight.
    pub level: Rational,
    /// The row that is its bottleneck there, if one is.
    pub bottleneck: Option<usize>,
    /// The holder of that row with the highest level, the first among equals, and that level.
    pub highest: Option<(usize, Rational)>,
}

/// The single servers of a class, and one more task of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneMore {
    /// The class.
    pub server: usize,
    /// Servers on which one more task fits.
    pub fits: u64,
    /// `(row, servers on which it is short)`, of the others; more than one row can be short on a server.
    pub short: Vec<(usize, u64)>,
}

/// Every class that the user can run on, where the mechanism is one of PS-DSF. A row counts as a bottleneck
/// within `rounding` of the tasks that the class could run.
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

/// Who holds some of a row and has the highest level on its class.
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

/// For every class that the user can run on; empty for an allocation without placements.
pub(crate) fn one_more(instance: &Instance<'_>, allocation: &Allocation, user: usize) -> Vec<OneMore> {
    let Some(placements) = &allocation.placements else { return Vec::new() };
    let constraints = instance.constraints();
    let mut placed: BTreeMap<usize, Vec<&Placement>> = BTreeMap::new();
    for placement in placements {
        placed.entry(placement.server).or_default().push(placement);
    }
    let view = |server: usize| {
        let own = constraints.usage(user, server)?;
        let mut view = OneMore { server, fits: 0, short: Vec::new() };
        let mut short: BTreeMap<usize, u64> = BTreeMap::new();
        let used = placed.get(&server).map_or(&[][..], Vec::as_slice);
        let empty = instance.problem().servers()[server].count() - used.len() as u64;
        let servers = used.iter().map(|placement| (placement.tasks.as_slice(), 1));
        for (tasks, servers) in servers.chain([(&[][..], empty)]).filter(|(_, servers)| *servers > 0) {
            let missing = short_rows(constraints, server, &own, tasks);
            if missing.is_empty() {
                view.fits += servers;
            }
            for row in missing {
                *short.entry(row).or_default() += servers;
            }
        }
        view.short = short.into_iter().collect();
        Some(view)
    };
    (0..instance.problem().n_servers()).filter_map(view).collect()
}

/// The rows of one server with `tasks` that have no room for a task that takes `own`.
fn short_rows(
    constraints: &Constraints<'_>,
    server: usize,
    own: &Usage<'_>,
    tasks: &[(usize, Rational)],
) -> Vec<usize> {
    let servers = constraints.problem().servers()[server].count();
    let usages: Vec<_> =
        tasks.iter().filter_map(|(n, x)| Some((constraints.usage(*n, server)?, x))).collect();
    let is_short = |&(offset, row): &(usize, usize)| {
        let used: Rational = usages.iter().map(|(usage, x)| Rational::from(&usage[offset] * *x)).sum();
        let capacity = Rational::from(&constraints.rows()[row].capacity / servers);
        !own[offset].is_zero() && used + &own[offset] > capacity
    };
    constraints.class_rows(server).enumerate().filter(is_short).map(|(_, row)| row).collect()
}
