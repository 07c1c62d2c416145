//! What groups hold, are promised and keep back, and what their limits leave.

use std::ops::Range;

use rug::Rational;

use super::stated::{DEPTH, Group};
use crate::allocation::Tasks;
use crate::case::Case;
use crate::json::Json;
use crate::names::{Amounts, Names, at};
use crate::problem::Problem;
use crate::work::{self, Checked, ensure_small};

/// Most groups times resources.
pub const CELLS: usize = 1_000_000;
/// What every group is promised, what is kept back for it and what it uses, by group and resource.
pub struct Holdings<'c> {
    pub case: &'c Case<'c>,
    /// `C_r`
    pub capacity: Amounts,
    /// `G_v`: absent where nothing is promised; a resource that is not named is not promised.
    pub guarantee: Vec<Option<Vec<Option<Rational>>>>,
    /// `K_v`, and of the root what its children keep back.
    pub kept: Vec<Vec<Rational>>,
    /// `U_v`, that of the root last.
    pub used: Vec<Vec<Rational>>,
    /// By group, the root last: the sum over the child groups of what is promised of their use, or kept back for them.
    pub below: Vec<Vec<Rational>>,
    /// What is left of limits on server classes.
    pub on: Vec<On<'c>>,
}

/// A limit of a group on server classes; without any, on all.
pub struct On<'c> {
    pub group: usize,
    pub resource: usize,
    pub classes: &'c [usize],
    pub most: &'c Rational,
    /// Of that in an allocation.
    pub left: Rational,
}

impl On<'_> {
    /// What a task of user `n` on class `i` takes of it: on all classes its base demand; `None` where that is nothing.
    pub fn takes<'p>(&self, problem: &'p Problem, n: usize, i: usize) -> Option<&'p Rational> {
        match self.classes {
            [] => at(&problem.users[n].demand, self.resource),
            classes => at(problem.demand(n, i), self.resource).filter(|_| classes.binary_search(&i).is_ok()),
        }
    }
}

/// Where the limits of a group are in a list that ascends by group.
fn of_group(on: &[On<'_>], v: usize) -> Range<usize> {
    on.partition_point(|of| of.group < v)..on.partition_point(|of| of.group <= v)
}

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
        work::spend(12 * n * m)?;
        let mut used = vec![vec![Rational::new(); m]; n + 1];
        let mut below = used.clone();
        for ((user, member), x) in problem.users.iter().zip(&groups.members).zip(&case.total) {
            let of_group = &mut used[member.group.unwrap_or(n)];
            for (r, d) in &user.demand {
                of_group[*r] = work::plus(&of_group[*r], &work::times(d, x)?)?;
            }
        }
        let (mut guarantee, mut kept) = (vec![None; n], vec![vec![Rational::new(); m]; n + 1]);
        // Groups from the deepest on: what stands below a group is then known.
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

    /// What tasks leave of limits on server classes; and of limits on the whole cluster, of what the users of the groups
    /// hold, if these are asked for.
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
                work::spend(tasks.len())?;
                let taken =
                    |(i, x): &(usize, Rational)| Some(Rational::from(on[at].takes(problem, n, *i)? * x));
                let taken: Rational = tasks.iter().filter_map(taken).sum();
                on[at].left -= taken;
            }
        }
        Ok(on)
    }

    /// The limits, in a list that ascends by group, of the groups above a user.
    pub fn on_of_user(case: &Case<'_>, on: &[On<'_>], n: usize) -> Checked<Vec<usize>> {
        let above = case.problem.groups.above_user(n).filter(|_| !on.is_empty());
        let own: Vec<usize> = above.flat_map(|v| of_group(on, v)).collect();
        work::steps((DEPTH + own.len()) as u64)?;
        Ok(own)
    }

    /// How many tasks they leave to a user on a class; `None` where there is none.
    pub fn left_on_class(&self, n: usize, i: usize) -> Checked<Option<Rational>> {
        let own = Self::on_of_user(self.case, &self.on, n)?;
        work::spend(own.len())?;
        let own = own.into_iter().map(|at| &self.on[at]);
        let tasks = own.filter_map(|of| Some(Rational::from(&of.left / of.takes(self.case.problem, n, i)?)));
        Ok(tasks.min().map(|least| least.max(Rational::new())))
    }

    /// The groups above a user, the root last: of each by resource that there is how much of it a task of the user asks for,
    /// and what is kept back and not used for the groups between, which more use fills first.
    pub fn way(&self, n: usize) -> Checked<Vec<(usize, Vec<Step<'c>>)>> {
        let (user, root) = (&self.case.problem.users[n], self.guarantee.len());
        let asked = user.demand.iter().filter(|(r, _)| at(&self.capacity, *r).is_some());
        let mut steps: Vec<_> = asked.map(|(r, d)| Step { r: *r, d, spare: Rational::new() }).collect();
        let mut way = Vec::new();
        for v in self.case.problem.groups.above_user(n).chain([root]) {
            work::spend(4 * steps.len() + 1)?;
            way.push((v, steps.clone()));
            for Step { r, spare, .. } in &mut steps {
                *spare += Rational::from(&self.kept[v][*r] - &self.used[v][*r]).max(Rational::new());
            }
        }
        Ok(way)
    }

    /// The part of the use of a group that a guarantee covers, of its own or of a group below.
    pub fn promised_use(&self, v: usize, r: usize) -> Rational {
        promised_use(&self.case.problem.groups.list[v], r, &self.used[v][r], &self.below[v][r])
    }

    /// What is promised to a group, where that is named.
    pub fn promised(&self, v: usize, r: usize) -> Option<&Rational> {
        self.guarantee.get(v)?.as_ref()?[r].as_ref()
    }

    /// The limit of a group; of the root, which comes after them, the capacity of what is kept back: what runs ends at the
    /// classes.
    pub fn limit(&self, v: usize, r: usize) -> Option<&Rational> {
        let is_kept = |_: &&Rational| self.kept.get(v).is_some_and(|kept| !kept[r].is_zero());
        let group = self.case.problem.groups.list.get(v);
        group.map_or_else(|| at(&self.capacity, r).filter(is_kept), |group| at(&group.limit, r))
    }

    /// How many tasks more everything that may stop a user leaves it. More use fills what is kept back for the groups
    /// between, and not used, before it is more use of a group; it may go on to the limit, or not at all beyond it.
    pub fn stops(&self, n: usize) -> Checked<Vec<Rational>> {
        let (groups, used) = (&self.case.problem.groups, &self.used);
        let mut stops = Vec::new();
        for (v, steps) in self.way(n)? {
            let group = groups.list.get(v);
            let is_shut = group.is_some() && groups.is_shut(v);
            let mut is_promised = false;
            for Step { r, d, spare } in steps {
                let left =
                    |mark: &Rational| (Rational::from(mark - &used[v][r]).max(Rational::new()) + &spare) / d;
                stops.extend(self.limit(v, r).map(left));
                if let Some(promised) = group.filter(|_| is_shut).and_then(|_| self.promised(v, r)) {
                    is_promised = true;
                    stops.push(if promised.is_zero() { Rational::new() } else { left(promised) });
                }
            }
            if is_shut && !is_promised {
                stops.push(Rational::new());
            }
        }
        Ok(stops)
    }
}

/// A resource, how much of it a task asks for, and what it fills first.
#[derive(Clone)]
pub struct Step<'c> {
    pub r: usize,
    pub d: &'c Rational,
    pub spare: Rational,
}

/// Prices of limits, each of which its group, its classes (none: all) and its resource name: by position, if there is one.
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

/// Server classes that evidence names together, some of them, by position.
fn set(raw: &Json<'_>, classes: &Names) -> Checked<Vec<usize>> {
    match classes.listed(raw)? {
        none if none.is_empty() => raw.wrong("expected names of server classes, none twice"),
        set => Ok(set),
    }
}
