//! Whether two reservation problems mean the same.

use std::collections::HashSet;

use evenhand_problem::{Quantities, Reservation};

/// Whether `a` and `b` are one problem: the same resources by name in any order, the same pools and
/// job types in the same order (which decides what greedy does) with equal numbers, the same
/// configurations. Titles do not count.
pub(super) fn same_reservation(a: &Reservation, b: &Reservation) -> bool {
    let counts = a.pools().iter().zip(b.pools()).all(|(x, y)| x.count() == y.count());
    same_types(a, b) && counts && a.jobs().iter().zip(b.jobs()).all(|(x, y)| x.load() == y.load())
}

/// The same, whatever the loads of the types and the numbers of servers.
pub(super) fn same_types(a: &Reservation, b: &Reservation) -> bool {
    let listed = a.configurations().is_some();
    if listed != b.configurations().is_some() || a.n_pools() != b.n_pools() || a.n_types() != b.n_types() {
        return false;
    }
    let resources = if listed { Some(Vec::new()) } else { mapping(a.resources(), b.resources()) };
    let Some(resources) = resources else { return false };
    let vectors = |x: &Quantities, y: &Quantities| {
        x.entries().len() == y.entries().len() && x.entries().iter().all(|(r, x)| *x == y[resources[*r]])
    };
    let mut pools = a.pools().iter().zip(b.pools());
    let pools = pools.all(|(x, y)| x.name() == y.name() && vectors(x.capacity(), y.capacity()));
    let jobs =
        a.jobs().iter().zip(b.jobs()).all(|(x, y)| {
            x.name() == y.name() && x.reward() == y.reward() && vectors(x.demand(), y.demand())
        });
    pools && jobs && same_configurations(a.configurations(), b.configurations())
}

/// Whether the parts of the one list are those of the other.
fn same_configurations(a: Option<&[Vec<u64>]>, b: Option<&[Vec<u64>]>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return true };
    let (in_a, in_b): (HashSet<_>, HashSet<_>) = (a.iter().collect(), b.iter().collect());
    let part =
        |k: &Vec<u64>, list: &[Vec<u64>]| list.iter().any(|most| k.iter().zip(most).all(|(k, m)| k <= m));
    in_a.difference(&in_b).all(|k| part(k, b)) && in_b.difference(&in_a).all(|k| part(k, a))
}

/// For every name of `a` its position in `b`; `None` when the names differ.
fn mapping(a: &[String], b: &[String]) -> Option<Vec<usize>> {
    if a.len() != b.len() {
        return None;
    }
    let positions: std::collections::HashMap<&String, usize> =
        b.iter().enumerate().map(|(position, name)| (name, position)).collect();
    a.iter().map(|name| positions.get(name).copied()).collect()
}
