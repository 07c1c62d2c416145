//! The fraction of the servers that an allocation uses, and the share of each user.

use evenhand_budget::each;
use rug::Rational;

use crate::{
    allocation::Allocation,
    constraint::{Constraints, RowKind, Sharing},
    problem::{Problem, ServerClass},
    sums::Sums,
};

/// Returns the dominant share of user `n`, not divided by its weight. It is the maximum over resources of the
/// amount that the user has (see [`held`]) as a fraction of the amount on all servers, `sum_i k_i c_ir`.
///
/// Resources that no server has do not count.
#[must_use]
pub fn dominant_share(problem: &Problem, allocation: &Allocation, n: usize) -> Rational {
    let shares = held(problem, allocation, n).into_iter().zip(problem.total_capacity());
    let shares = shares.filter(|(_, total)| !total.is_zero()).map(|(used, total)| used / total);
    shares.max().unwrap_or_default()
}

/// Returns the usage of user `n` of every resource over all servers together, in the units of the problem. On a
/// class whose resources are divided it is `x_ni d_nir`. On a class that is shared by time, because a user states
/// its `gamma` there, the user has the whole class for the fraction `x_ni / gamma_ni` of the time, and counts as
/// using that fraction of each of its resources.
#[must_use]
pub fn held(problem: &Problem, allocation: &Allocation, n: usize) -> Vec<Rational> {
    let mut used = vec![Rational::new(); problem.n_resources()];
    add_usage(&mut used, problem, allocation, n);
    used
}

/// Returns the usage of every resource over all servers together, as a fraction of its capacity, or `None` if the
/// capacity is 0. Classes on which a user states its `gamma` do not count, since users of such a class share its time
/// and not its resources.
#[must_use]
pub fn by_resource(problem: &Problem, allocation: &Allocation) -> Vec<Option<Rational>> {
    if shares_only_time(problem) {
        return vec![None; problem.n_resources()];
    }
    let mut used = vec![Rational::new(); problem.n_resources()];
    let mut total = used.clone();
    let classes = used_rows(problem, allocation, Sharing::Rdm);
    for (server, rows) in problem.servers().iter().zip(classes) {
        for (kind, part) in rows {
            if let (RowKind::Resource(r), Some(part)) = (kind, part) {
                let capacity = Rational::from(&server.capacity()[r] * server.count());
                used[r] += part * &capacity;
                total[r] += capacity;
            }
        }
    }
    used.into_iter().zip(&total).map(|(used, total)| fraction(used, total)).collect()
}

/// Returns the used fraction of the time of the servers that are shared by time because a user states its
/// `gamma` there. Returns `None` if there are no such servers.
#[must_use]
pub fn time(problem: &Problem, allocation: &Allocation) -> Option<Rational> {
    let mut of_class = vec![Sums::new(1); problem.n_servers()];
    for (n, tasks) in allocation.tasks.iter().enumerate().take(problem.n_users()) {
        for (i, x) in tasks.iter().filter(|(i, _)| problem.servers()[*i].is_time_shared()) {
            let gamma = problem.gamma(n, *i);
            if !gamma.is_zero() {
                of_class[*i].add_product(x, &gamma.recip());
            }
        }
    }
    let (mut used, mut total) = (Rational::new(), Rational::new());
    for (server, all) in problem.servers().iter().zip(of_class) {
        if server.is_time_shared() {
            used += all.rationals().sum::<Rational>() * server.count();
            total += server.count();
        }
    }
    fraction(used, &total)
}

/// Returns the fraction of the time of class `i` that `x` tasks of user `n` take, or 0 if the user cannot run.
fn time_of(problem: &Problem, n: usize, i: usize, x: &Rational) -> Rational {
    let gamma = problem.gamma(n, i);
    if gamma.is_zero() { Rational::new() } else { x / gamma }
}

/// Returns the used fraction of every capacity of every class. A fraction is `None` if the capacity is 0.
///
/// A class whose resources are divided has one entry for each resource. A class that is shared by time
/// because a user states its `gamma` there has the single entry [`RowKind::Time`]. If the allocation shares a
/// class by time, the class has entries for its resources, followed by the entry for its time.
#[must_use]
pub fn by_class(problem: &Problem, allocation: &Allocation) -> Vec<Vec<(RowKind, Option<Rational>)>> {
    let mut classes = used_rows(problem, allocation, Sharing::Rdm);
    if allocation.sharing == Sharing::Tdm && !shares_only_time(problem) {
        let times = used_rows(problem, allocation, Sharing::Tdm);
        for ((rows, time), server) in classes.iter_mut().zip(times).zip(problem.servers()) {
            if !server.is_time_shared() {
                rows.extend(time);
            }
        }
    }
    classes
}

/// Returns whether every class has a user that states its `gamma` there.
fn shares_only_time(problem: &Problem) -> bool {
    problem.servers().iter().all(ServerClass::is_time_shared)
}

/// Returns the used fraction of every row of every class.
fn used_rows(
    problem: &Problem,
    allocation: &Allocation,
    sharing: Sharing,
) -> Vec<Vec<(RowKind, Option<Rational>)>> {
    let constraints = Constraints::new(problem, sharing);
    let rows = constraints.rows();
    let used = of_rows(&constraints, &allocation.tasks);
    let part = |row: usize| Rational::from(&used[row] / &rows[row].capacity);
    let class = |i| match constraints.is_time_shared(i) {
        true => constraints.class_rows(i).map(|row| (RowKind::Time, Some(part(row)))).collect(),
        false => {
            let kinds = (0..problem.n_resources()).map(RowKind::Resource);
            kinds.map(|kind| (kind, constraints.row_of(i, kind).map(part))).collect()
        }
    };
    (0..problem.n_servers()).map(class).collect()
}

/// Returns the usage of every row by the given tasks, as pairs of class and tasks for each user. Tasks on a
/// class where their user cannot run count as using nothing.
#[must_use]
pub fn of_rows(constraints: &Constraints<'_>, tasks: &[Vec<(usize, Rational)>]) -> Vec<Rational> {
    let n_users = tasks.len().min(constraints.problem().n_users());
    let of_part = |part: usize| {
        let mut used = vec![Sums::new(1); constraints.rows().len()];
        let users = n_users * part / PARTS..n_users * (part + 1) / PARTS;
        for (n, row) in users.clone().zip(&tasks[users]) {
            for (i, x) in row {
                if let Some(usage) = constraints.usage(n, *i) {
                    let start = constraints.class_rows(*i).start;
                    for (position, usage) in usage.entries() {
                        used[start + position].add_product(x, usage);
                    }
                }
            }
        }
        used
    };
    let mut parts = each(PARTS, n_users / PARTS, of_part).into_iter();
    let mut used = parts.next().unwrap_or_default();
    for part in parts {
        used.iter_mut().zip(&part).for_each(|(used, part)| used.add(part));
    }
    used.into_iter().flat_map(Sums::rationals).collect()
}

/// Number of blocks of users. Threads may share the blocks.
const PARTS: usize = 8;

/// Returns the usage of every resource by each group including its subgroups, as guarantees and limits count
/// it. A task counts with its base demand wherever it runs. Where classes are shared by time, usage is
/// defined by [`held`].
#[must_use]
pub fn by_group(problem: &Problem, allocation: &Allocation) -> Vec<Vec<Rational>> {
    let groups = problem.groups();
    let mut all = vec![Sums::new(problem.n_resources()); groups.list().len()];
    let shares_time = problem.servers().iter().any(ServerClass::is_time_shared);
    for n in 0..problem.n_users() {
        let Some(group) = groups.member(n).group else { continue };
        let held = if shares_time {
            Sums::of(&held(problem, allocation, n))
        } else {
            let total = allocation.total(n);
            Sums::of(&problem.users()[n].base_demand().to_vec()).times(&total)
        };
        all[group].add(&held);
    }
    // Deeper groups come first, which keeps most sums short.
    let mut upwards: Vec<usize> = (0..all.len()).collect();
    upwards.sort_by_key(|v| std::cmp::Reverse(groups.above(Some(*v)).count()));
    for v in upwards {
        if let Some(parent) = groups.list()[v].parent {
            let inside = all[v].clone();
            all[parent].add(&inside);
        }
    }
    all.into_iter().map(|sums| sums.rationals().collect()).collect()
}

/// Adds the usage of user `n` to `used`.
fn add_usage(used: &mut [Rational], problem: &Problem, allocation: &Allocation, n: usize) {
    for (i, x) in &allocation.tasks[n] {
        let server = &problem.servers()[*i];
        if server.is_time_shared() {
            let time = time_of(problem, n, *i, x) * server.count();
            for (r, capacity) in server.capacity().entries() {
                used[*r] += Rational::from(&time * capacity);
            }
            continue;
        }
        for (r, demand) in problem.demand(n, *i).entries() {
            used[*r] += Rational::from(x * demand);
        }
    }
}

/// Returns the used fraction of a capacity, or `None` if the capacity is 0.
fn fraction(used: Rational, capacity: &Rational) -> Option<Rational> {
    if capacity.is_zero() { None } else { Some(used / capacity) }
}
