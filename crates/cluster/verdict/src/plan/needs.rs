//! Proven lower bounds on the servers that tasks need: sums of resources, and numbers of large tasks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use evenhand_problem::Rational;

use super::Offer;
use super::packing::Lot;
use crate::servers::Server;
use crate::starts::Standing;

/// The largest number of steps for the needs of single lots, and again for the needs of sets of classes. A step
/// considers one server for one user.
const MOST_STEPS: usize = 3_000_000;

/// A need: a lower bound on a weighted number of servers. For a set that is enough, the number of servers of
/// each offer times `by_offer`, summed over the offers, is at least `least`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Need {
    /// The weight of one server, by offer.
    pub by_offer: Vec<Rational>,
    /// The least weighted number of servers.
    pub least: Rational,
    /// The user whose tasks fit on no other server, if the need is about a single user.
    pub user: Option<usize>,
}

impl Need {
    /// Returns the amount by which a set of servers misses the need. It is at most 0 if the set meets the need.
    pub(super) fn rest(&self, counts: &[u64]) -> Rational {
        let has: Rational =
            self.by_offer.iter().zip(counts).map(|(own, count)| Rational::from(own * *count)).sum();
        Rational::from(&self.least - &has)
    }

    /// Returns `true` if servers on offer can meet the need.
    pub(super) fn can_be_met(&self) -> bool {
        self.least <= 0 || self.by_offer.iter().any(|own| *own > 0)
    }
}

/// Returns the needs of tasks that have to start. `standing` is the cluster of today.
pub(super) fn needs(standing: &Standing<'_>, lots: &[Lot], offers: &[Offer]) -> Vec<Need> {
    let mut left = MOST_STEPS;
    let mut needs = Vec::new();
    let count = |set: &[usize]| -> usize { set.iter().map(|i| standing.servers.classes[*i].len()).sum() };
    for lot in lots {
        // A user that fits on no server on offer is an obstacle, so this need is always computed.
        let is_hopeless = offers.iter().all(|offer| lot.room_on_new(standing.problem, offer.class) == 0);
        let cost = count(&lot.classes);
        if cost <= left || is_hopeless {
            left = left.saturating_sub(cost);
            needs.push(rooms(standing, lot, offers));
        }
    }
    // The sets of classes are the union of all classes of lots, and the classes of each lot.
    let mut sets: BTreeSet<Vec<usize>> = lots.iter().map(|lot| lot.classes.clone()).collect();
    let union: BTreeSet<usize> = lots.iter().flat_map(|lot| lot.classes.iter().copied()).collect();
    sets.insert(union.into_iter().collect());
    let mut sets: Vec<Vec<usize>> = sets.into_iter().collect();
    sets.sort_by_key(|set| Reverse(set.len()));
    left = MOST_STEPS;
    for set in sets {
        let inside: Vec<&Lot> =
            lots.iter().filter(|lot| lot.classes.iter().all(|i| set.binary_search(i).is_ok())).collect();
        let users: BTreeSet<usize> = inside.iter().map(|lot| lot.user).collect();
        let cost = count(&set) * users.len();
        if cost > left {
            continue;
        }
        left -= cost;
        let of = Inside { standing, usable: usable(standing, &inside, &set), inside, set, offers };
        for r in 0..standing.problem.n_resources() {
            of.needs(r, &mut left, &mut needs);
        }
    }
    needs.retain(|need| need.least > 0);
    needs
}

/// Returns the need of one lot: the number of its tasks minus the number for which today's servers have free
/// capacity. A server on offer counts with the number of tasks that fit on it.
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

/// Returns the servers of a set of classes that have free capacity for a task of some lot.
fn usable<'s>(standing: &'s Standing<'_>, inside: &[&Lot], set: &[usize]) -> Vec<&'s Server> {
    let problem = standing.problem;
    let mut usable = Vec::new();
    for class in set {
        let users: BTreeSet<usize> = inside
            .iter()
            .filter(|lot| lot.classes.binary_search(class).is_ok())
            .map(|lot| lot.user)
            .collect();
        let servers = standing.servers.classes[*class].iter();
        usable.extend(servers.filter(|server| users.iter().any(|n| server.fits(problem, *class, *n))));
    }
    usable
}

/// The lots that may start only on a given set of classes.
struct Inside<'n, 'p> {
    standing: &'n Standing<'p>,
    inside: Vec<&'n Lot>,
    set: Vec<usize>,
    /// The servers that have free capacity for a task of these lots.
    usable: Vec<&'n Server>,
    offers: &'n [Offer],
}

impl Inside<'_, '_> {
    /// Adds the needs for a resource: for the sum of the demands, and for the number of tasks that demand at least some
    /// amount. A server with a free amount `f` runs at most `floor(f / size)` tasks that demand at least `size`.
    fn needs(&self, r: usize, left: &mut usize, needs: &mut Vec<Need>) {
        let problem = self.standing.problem;
        let demands: Vec<(Rational, u64)> = self
            .inside
            .iter()
            .map(|lot| (lot.least_demand(problem, r), lot.tasks))
            .filter(|(demand, _)| *demand > 0)
            .collect();
        if demands.is_empty() {
            return;
        }
        let sum = demands.iter().map(|(demand, tasks)| Rational::from(demand * *tasks)).sum();
        needs.push(self.need(r, sum, &Rational::clone));
        let sizes: BTreeSet<&Rational> = demands.iter().map(|(demand, _)| demand).collect();
        for size in sizes.into_iter().rev() {
            if *left < self.usable.len() {
                break;
            }
            *left -= self.usable.len();
            let large = demands.iter().filter(|(demand, _)| demand >= size);
            let count = large.map(|(_, tasks)| Rational::from(*tasks)).sum();
            needs.push(self.need(r, count, &|free: &Rational| Rational::from(free / size).floor()));
        }
    }

    /// Returns the need for a sum. `value` gives the contribution of a server with a free amount of the resource.
    fn need(&self, r: usize, sum: Rational, value: &dyn Fn(&Rational) -> Rational) -> Need {
        let mut least = sum;
        for server in self.usable.iter().filter(|server| server.free[r] > 0) {
            least -= value(&server.free[r]);
            if least <= 0 {
                break;
            }
        }
        let by_offer = self.offers.iter().map(|offer| {
            let is_inside = self.set.binary_search(&offer.class).is_ok();
            let capacity = &self.standing.problem.servers()[offer.class].capacity()[r];
            if is_inside { value(capacity) } else { Rational::new() }
        });
        Need { by_offer: by_offer.collect(), least, user: None }
    }
}
