//! Proven lower bounds on the servers that tasks need: sums of resources, and numbers of large tasks.

use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::Rational;

use super::Offer;
use super::packing::Lot;
use crate::starts::Standing;

/// The largest number of steps for all needs. A step looks at one server.
const MOST_STEPS: usize = 1_000_000;

/// A need: the sum of `by_offer` times the number of servers of each offer must be at least `least`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Need {
    /// The contribution of one server, by offer.
    pub by_offer: Vec<Rational>,
    /// The sum that is needed.
    pub least: Rational,
    /// The user whose tasks have no room elsewhere, if the need is about one user alone.
    pub user: Option<usize>,
}

impl Need {
    /// Returns what a set lacks; at most 0 if it meets the need.
    pub(super) fn rest(&self, counts: &[u64]) -> Rational {
        let has: Rational =
            self.by_offer.iter().zip(counts).map(|(own, count)| Rational::from(own * *count)).sum();
        Rational::from(&self.least - &has)
    }

    /// Returns whether servers on offer can meet the need.
    pub(super) fn can_be_met(&self) -> bool {
        self.least <= 0 || self.by_offer.iter().any(|own| *own > 0)
    }
}

/// Returns the needs of tasks that have to start. `standing` is the cluster of today.
pub(super) fn needs(standing: &Standing<'_>, lots: &[Lot], offers: &[Offer]) -> Vec<Need> {
    let servers: usize = standing.servers.classes.iter().map(Vec::len).sum();
    let mut left = (MOST_STEPS / (servers + 1)).max(8);
    let mut needs = Vec::new();
    for lot in lots {
        needs.push(rooms(standing, lot, offers));
    }
    // Sets of classes: those of single lots, and the union of all.
    let mut sets: BTreeSet<Vec<usize>> = lots.iter().map(|lot| lot.classes.clone()).collect();
    sets.insert(lots.iter().flat_map(|lot| lot.classes.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect());
    let mut sets: Vec<Vec<usize>> = sets.into_iter().collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    for set in &sets {
        let inside: Vec<&Lot> =
            lots.iter().filter(|lot| lot.classes.iter().all(|i| set.binary_search(i).is_ok())).collect();
        for r in 0..standing.problem.n_resources() {
            let demands: Vec<(Rational, u64)> = inside
                .iter()
                .map(|lot| (lot.least_demand(standing.problem, r), lot.tasks))
                .filter(|(demand, _)| *demand > 0)
                .collect();
            if demands.is_empty() || left == 0 {
                continue;
            }
            left -= 1;
            needs.push(sums(standing, &inside, set, r, &demands, offers));
            let sizes: BTreeSet<&Rational> = demands.iter().map(|(demand, _)| demand).collect();
            for size in sizes.into_iter().rev() {
                if left == 0 {
                    break;
                }
                left -= 1;
                needs.push(numbers(standing, &inside, set, r, &demands, size, offers));
            }
        }
    }
    needs.retain(|need| need.least > 0);
    needs
}

/// Returns the need of one lot: the number of its tasks, and for how many of them each server has room.
fn rooms(standing: &Standing<'_>, lot: &Lot, offers: &[Offer]) -> Need {
    let problem = standing.problem;
    let mut least = Rational::from(lot.tasks);
    for class in &lot.classes {
        for server in &standing.servers.classes[*class] {
            if least <= 0 {
                break;
            }
            least -= server.room(problem, *class, lot.user, lot.most);
        }
    }
    let by_offer = offers.iter().map(|offer| lot.room_on_new(problem, offer.class).into()).collect();
    Need { by_offer, least, user: Some(lot.user) }
}

/// Returns the servers of a set of classes on which a task of some lot has room, as pairs of the class and the free amount.
fn usable<'s>(
    standing: &'s Standing<'_>,
    inside: &'s [&Lot],
    set: &'s [usize],
    r: usize,
) -> impl Iterator<Item = &'s Rational> {
    let problem = standing.problem;
    set.iter().flat_map(move |class| {
        let here: BTreeMap<usize, ()> = inside
            .iter()
            .filter(|lot| lot.classes.binary_search(class).is_ok())
            .map(|lot| (lot.user, ()))
            .collect();
        standing.servers.classes[*class]
            .iter()
            .filter(move |server| server.free[r] > 0 && here.keys().any(|n| server.fits(problem, *class, *n)))
            .map(move |server| &server.free[r])
    })
}

/// Returns the need of a resource: the sum of the demands, and the free amounts.
fn sums(
    standing: &Standing<'_>,
    inside: &[&Lot],
    set: &[usize],
    r: usize,
    demands: &[(Rational, u64)],
    offers: &[Offer],
) -> Need {
    let mut least: Rational = demands.iter().map(|(demand, tasks)| Rational::from(demand * *tasks)).sum();
    for free in usable(standing, inside, set, r) {
        least -= free;
        if least <= 0 {
            break;
        }
    }
    let by_offer = offers.iter().map(|offer| {
        let is_inside = set.binary_search(&offer.class).is_ok();
        if is_inside { standing.problem.servers()[offer.class].capacity()[r].clone() } else { Rational::new() }
    });
    Need { by_offer: by_offer.collect(), least, user: None }
}

/// Returns the need of tasks that demand at least `size` of a resource: their number, and how many such tasks each server can
/// run at most.
fn numbers(
    standing: &Standing<'_>,
    inside: &[&Lot],
    set: &[usize],
    r: usize,
    demands: &[(Rational, u64)],
    size: &Rational,
    offers: &[Offer],
) -> Need {
    let large = demands.iter().filter(|(demand, _)| demand >= size);
    let mut least: Rational = large.map(|(_, tasks)| Rational::from(*tasks)).sum();
    let whole = |free: &Rational| Rational::from(free / size).floor();
    for free in usable(standing, inside, set, r) {
        least -= whole(free);
        if least <= 0 {
            break;
        }
    }
    let by_offer = offers.iter().map(|offer| {
        let is_inside = set.binary_search(&offer.class).is_ok();
        let capacity = &standing.problem.servers()[offer.class].capacity()[r];
        if is_inside { whole(capacity) } else { Rational::new() }
    });
    Need { by_offer: by_offer.collect(), least, user: None }
}
