//! The usage, guarantees and kept-back capacity of groups, and the amounts that their limits leave.

use std::ops::Range;

use rug::Rational;

use super::stated::{DEPTH, Group};
use crate::allocation::Tasks;
use crate::case::Case;
use crate::json::Json;
use crate::names::{Amounts, Names, at};
use crate::problem::Problem;
use crate::work::{self, Checked, ensure_small};

/// The largest number of cells of a table of groups by resources.
pub const CELLS: usize = 1_000_000;

/// The usage, guarantees and kept-back capacity of all groups, by group and resource.
pub struct Holdings<'c> {
    pub case: &'c Case<'c>,
    /// The capacity of all servers together, `C_r`.
    pub capacity: Amounts,
    /// The guarantee `G_v` of each group, by resource. `None` if no guarantee is stated for the group or for any group
    /// below it. Only resources that the guarantee names have an amount.
    pub guarantee: Vec<Option<Vec<Option<Rational>>>>,
    /// The amount kept back for each group, `K_v`, by resource. For the root, the sum over its children.
    pub kept: Vec<Vec<Rational>>,
    /// The usage `U_v` of each group, by resource, with the root last.
    pub used: Vec<Vec<Rational>>,
    /// For each group, with the root last: the sum over its child groups, by resource. The summand of a child is the
    /// part of its usage that a guarantee covers, or the amount kept back for it if that amount is larger.
    pub below: Vec<Vec<Rational>>,
    /// The limits on server classes, with the unused amount of each limit.
    pub on: Vec<On<'c>>,
}

/// A limit of a group on some server classes. An empty list of classes means the whole cluster.
pub struct On<'c> {
    pub group: usize,
    pub resource: usize,
    pub classes: &'c [usize],
    /// The limit: the largest usage that is allowed.
    pub most: &'c Rational,
    /// The unused amount of the limit in an allocation.
    pub left: Rational,
}

impl On<'_> {
    /// Returns the amount of the limit that a task of user `n` on class `i` uses. Returns `None` if the task does not
    /// count. A limit on the whole cluster counts the base demand.
    pub fn takes<'p>(&self, problem: &'p Problem, n: usize, i: usize) -> Option<&'p Rational> {
        match self.classes {
            [] => at(&problem.users[n].demand, self.resource),
            classes => at(problem.demand(n, i), self.resource).filter(|_| classes.binary_search(&i).is_ok()),
        }
    }
}

/// Returns the range of the limits of a group in a list that is in ascending order of groups.
fn of_group(on: &[On<'_>], v: usize) -> Range<usize> {
    on.partition_point(|of| of.group < v)..on.partition_point(|of| of.group <= v)
}

/// Returns the part of the usage of a group that is covered by a guarantee. This is the guarantee of the group itself
/// if it states one, and otherwise the guarantees of the groups below it.
fn promised_use(group: &Group, r: usize, used: &Rational, below: &Rational) -> Rational {
    match &group.guarantee {
        Some(stated) => at(stated, r).map_or_else(Rational::new, |promised| promised.min(used).clone()),
        None => below.clone(),
    }
}

impl<'c> Holdings<'c> {
    pub fn new(case: &'c Case<'c>) -> Checked<Self> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        let (n, m) = (groups.list.len(), problem.resources.list.len());
        ensure_small(n.saturating_mul(m) <= CELLS, "groups times resources")?;
        // Sums charge themselves. All other operations are on stated amounts, or compare a sum with one of them.
        work::spend_stated(12 * n * m)?;
        let mut used = vec![vec![Rational::new(); m]; n + 1];
        let mut below = used.clone();
        for ((user, member), x) in problem.users.iter().zip(&groups.members).zip(&case.total) {
            let of_group = &mut used[member.group.unwrap_or(n)];
            for (r, d) in &user.demand {
                of_group[*r] = work::plus(&of_group[*r], &work::times(d, x)?)?;
            }
        }
        let (mut guarantee, mut kept) = (vec![None; n], vec![vec![Rational::new(); m]; n + 1]);
        // Groups are processed from the deepest upwards. So all groups below a group are complete.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_cached_key(|v| std::cmp::Reverse(groups.above(Some(*v)).count()));
        for v in order {
            let group = &groups.list[v];
            if let Some(stated) = &group.guarantee {
                guarantee[v] = Some((0..m).map(|r| at(stated, r).cloned()).collect::<Vec<_>>());
            }
            for (r, lent) in &group.lend {
                let promised = guarantee[v].as_ref().and_then(|promised| promised[*r].clone());
                kept[v][*r] = kept[v][*r].clone().max(promised.unwrap_or_default() - lent);
            }
            for r in 0..m {
                let (k, u) = (kept[v][r].clone(), used[v][r].clone());
                work::steps(4 * (work::words(&u) + work::words(&below[v][r])))?;
                let above = &mut used[group.parent.unwrap_or(n)][r];
                *above = work::plus(above, (&u).max(&k))?;
                let part = promised_use(group, r, &u, &below[v][r]);
                let above = &mut below[group.parent.unwrap_or(n)][r];
                *above = work::plus(above, &part.max(k.clone()))?;
                kept[group.parent.unwrap_or(n)][r] += k;
            }
            let above = group.parent.filter(|above| groups.list[*above].guarantee.is_none());
            let Some((above, promised)) = above.zip(guarantee[v].clone()) else { continue };
            let sum = guarantee[above].get_or_insert_with(|| vec![None; m]);
            for (sum, promised) in sum.iter_mut().zip(promised) {
                *sum = [sum.take(), promised].into_iter().flatten().reduce(|a, b| a + b);
            }
        }
        let on = Self::limits(case, &case.x, false)?;
        Ok(Self { case, capacity: problem.total_capacity(), guarantee, kept, used, below, on })
    }

    /// Returns the limits on server classes, with the amount of each limit that the tasks do not use. If `whole` is
    /// true, limits on the whole cluster are included, with the amount that the users of the group do not use.
    pub fn limits(case: &'c Case<'_>, tasks: &Tasks, whole: bool) -> Checked<Vec<On<'c>>> {
        let (problem, groups) = (case.problem, &case.problem.groups);
        let mut on = Vec::new();
        for (group, of) in groups.list.iter().enumerate() {
            let of_all = Some((&[][..], &of.limit)).filter(|_| whole);
            let of_some = of.on.iter().map(|(classes, limit)| (&classes[..], limit));
            for (classes, limit) in of_all.into_iter().chain(of_some) {
                for (resource, most) in limit {
                    on.push(On { group, resource: *resource, classes, most, left: most.clone() });
                }
            }
        }
        for (n, tasks) in tasks.iter().enumerate().take(if on.is_empty() { 0 } else { usize::MAX }) {
            for at in Self::on_of_user(case, &on, n)? {
                for (i, x) in tasks {
                    let Some(takes) = on[at].takes(problem, n, *i) else { continue };
                    on[at].left = work::plus(&on[at].left, &-work::times(takes, x)?)?;
                }
            }
        }
        Ok(on)
    }

    /// Returns the positions of the limits of all groups above a user, in a list that is in ascending order of groups.
    pub fn on_of_user(case: &Case<'_>, on: &[On<'_>], n: usize) -> Checked<Vec<usize>> {
        let above = case.problem.groups.above_user(n).filter(|_| !on.is_empty());
        let own: Vec<usize> = above.flat_map(|v| of_group(on, v)).collect();
        work::steps((DEPTH + own.len()) as u64)?;
        Ok(own)
    }

    /// Returns the number of tasks of a user that the limits allow on a class, or `None` if there is no limit.
    pub fn left_on_class(&self, n: usize, i: usize) -> Checked<Option<Rational>> {
        let own = Self::on_of_user(self.case, &self.on, n)?;
        work::spend(own.len())?;
        let own = own.into_iter().map(|at| &self.on[at]);
        let tasks = own.filter_map(|of| Some(Rational::from(&of.left / of.takes(self.case.problem, n, i)?)));
        Ok(tasks.min().map(|least| least.max(Rational::new())))
    }

    /// Returns the groups above a user, with the root last. For each group it lists, by existing resource, the demand
    /// of a task and the amounts that are kept back for the groups in between and are not used. Additional usage first
    /// uses these amounts.
    pub fn path(&self, n: usize) -> Checked<Vec<(usize, Vec<Step<'c>>)>> {
        let (user, root) = (&self.case.problem.users[n], self.guarantee.len());
        let asked = user.demand.iter().filter(|(r, _)| at(&self.capacity, *r).is_some());
        let mut steps: Vec<_> = asked.map(|(r, d)| Step { r: *r, d, spare: Rational::new() }).collect();
        let mut path = Vec::new();
        for v in self.case.problem.groups.above_user(n).chain([root]) {
            work::steps(4 * steps.iter().map(|step| work::words(&step.spare) + 4).sum::<u64>() + 1)?;
            path.push((v, steps.clone()));
            for Step { r, spare, .. } in &mut steps {
                let kept = &self.kept[v][*r];
                // Usage is never negative, so nothing is spare where nothing is kept back.
                if !kept.is_zero() {
                    let unused = work::plus(kept, &-self.used[v][*r].clone())?;
                    *spare = work::plus(spare, &unused.max(Rational::new()))?;
                }
            }
        }
        Ok(path)
    }

    /// Returns the part of the usage of a group that a guarantee covers: its own guarantee if it states one, and
    /// otherwise the guarantees of the groups below it.
    pub fn promised_use(&self, v: usize, r: usize) -> Rational {
        promised_use(&self.case.problem.groups.list[v], r, &self.used[v][r], &self.below[v][r])
    }

    /// Returns the guarantee of a group for a resource. Returns `None` if the guarantee does not name the resource.
    pub fn promised(&self, v: usize, r: usize) -> Option<&Rational> {
        self.guarantee.get(v)?.as_ref()?[r].as_ref()
    }

    /// Returns the limit of a group for a resource. The position of the root comes after all groups. The limit of the
    /// root is the capacity, but only for resources of which groups keep some capacity back. For all other resources,
    /// the classes limit the running tasks.
    pub fn limit(&self, v: usize, r: usize) -> Option<&Rational> {
        let is_kept = |_: &&Rational| self.kept.get(v).is_some_and(|kept| !kept[r].is_zero());
        let group = self.case.problem.groups.list.get(v);
        group.map_or_else(|| at(&self.capacity, r).filter(is_kept), |group| at(&group.limit, r))
    }

    /// Returns the number of further tasks that each limit or guarantee allows a user. Additional usage first uses the
    /// amounts that are kept back for the groups in between and not used. Only after these amounts are used up does it
    /// raise the usage of a group. Usage above a limit may not grow at all.
    pub fn stops(&self, n: usize) -> Checked<Vec<Rational>> {
        let (groups, used) = (&self.case.problem.groups, &self.used);
        let mut stops = Vec::new();
        for (v, steps) in self.path(n)? {
            let group = groups.list.get(v);
            let is_shut = group.is_some() && groups.is_shut(v);
            let mut is_promised = false;
            for Step { r, d, spare } in steps {
                let left = |mark: &Rational| {
                    let unused = work::plus(mark, &-used[v][r].clone())?.max(Rational::new());
                    work::over(&work::plus(&unused, &spare)?, d)
                };
                stops.extend(self.limit(v, r).map(left).transpose()?);
                if let Some(promised) = group.filter(|_| is_shut).and_then(|_| self.promised(v, r)) {
                    is_promised = true;
                    stops.push(if promised.is_zero() { Rational::new() } else { left(promised)? });
                }
            }
            if is_shut && !is_promised {
                stops.push(Rational::new());
            }
        }
        Ok(stops)
    }
}

/// A resource, the demand of a task for the resource, and the amount kept back that additional usage uses first.
#[derive(Clone)]
pub struct Step<'c> {
    pub r: usize,
    pub d: &'c Rational,
    pub spare: Rational,
}

/// Reads prices of limits. A limit is named by its group, its classes (no classes mean the whole cluster) and its
/// resource. Each price has the position of its limit, or `None` if there is no such limit.
pub fn named(case: &Case<'_>, on: &[On<'_>], raw: &Json<'_>) -> Checked<Vec<(Option<usize>, Rational)>> {
    let problem = case.problem;
    let mut prices = Vec::new();
    for [group, classes, resource, price] in raw.rows("group on? resource price", Ok)? {
        let classes = classes.given().map_or(Ok(Vec::new()), |on| set(on, &problem.class_names))?;
        let (group, resource) = (problem.groups.names.named(group)?, problem.resources.named(resource)?);
        let of_group = of_group(on, group);
        work::steps((of_group.len() * (classes.len() + 1)) as u64)?;
        let is_it = |at: &usize| on[*at].resource == resource && on[*at].classes == classes;
        prices.push((of_group.into_iter().find(is_it), price.computed()?));
    }
    Ok(prices)
}

/// Reads a list of server classes that is not empty. Returns the positions of the classes.
fn set(raw: &Json<'_>, classes: &Names) -> Checked<Vec<usize>> {
    match classes.listed(raw)? {
        none if none.is_empty() => raw.wrong("expected names of server classes, none twice"),
        set => Ok(set),
    }
}
