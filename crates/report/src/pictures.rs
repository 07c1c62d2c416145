//! Pictures of allocations: each user's usage of every server class, and the equality of shares.

use std::collections::BTreeSet;

use evenhand_certify::compare::Compared;
use evenhand_problem::number::to_f64;
use evenhand_problem::utilisation::dominant_share;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, RowKind};

use crate::plot::{Axis, Bar, Bars, Group, Plot, Series};
use crate::text::{few, row_name};

/// The largest number of users with a separate colour. The legend has eight colours, and the eighth colour is
/// for all other users.
const MOST_USERS: usize = 7;
/// The largest number of server classes with bars. More classes do not fit on a page.
const MOST_CLASSES: usize = 8;
/// The largest number of resources with a bar in every class.
const MOST_RESOURCES: usize = 6;
/// The largest number of points of a curve. More points make the file larger without changing the picture.
const MOST_POINTS: usize = 200;
/// The end of the axis of shares, as a multiple of the largest share.
const ABOVE: f64 = 1.05;

/// Returns a group of bars for every server class. The group has a bar for each resource, or a single bar for
/// the time of a class that is shared by time. A bar shows the fraction of the capacity that each user uses.
///
/// The first eight classes with capacity and the first six resources are shown. If there are more than eight
/// users, the users with the largest dominant shares are shown, and the usage of all other users is summed.
/// Returns `None` if no class has any capacity.
#[must_use]
pub fn holdings(problem: &Problem, allocation: &Allocation) -> Option<Bars> {
    let names: Vec<String> = problem.users().iter().map(|user| user.name().to_owned()).collect();
    let owners: Vec<usize> = (0..names.len()).collect();
    of_owners(problem, allocation, &owners, &names)
}

/// Returns the bars of [`holdings`] by queue. The queues are the innermost groups, and the users outside of
/// groups.
pub(crate) fn holdings_of_queues(problem: &Problem, allocation: &Allocation) -> Option<Bars> {
    let groups = problem.groups();
    let mut names: Vec<String> = groups.list().iter().map(|group| group.name.clone()).collect();
    let mut owners = Vec::with_capacity(problem.n_users());
    for (n, user) in problem.users().iter().enumerate() {
        owners.push(groups.member(n).group.unwrap_or(names.len()));
        if groups.member(n).group.is_none() {
            names.push(user.name().to_owned());
        }
    }
    of_owners(problem, allocation, &owners, &names)
}

/// Returns the bars by owner. `owners` has for each user the owner of its tasks, as an index into `names`.
fn of_owners(problem: &Problem, allocation: &Allocation, owners: &[usize], names: &[String]) -> Option<Bars> {
    let constraints = Constraints::new(problem, allocation.sharing);
    let parts = Parts::new(problem, allocation, owners, names);
    let classes = (0..problem.n_servers()).filter(|&i| !constraints.class_rows(i).is_empty());
    let groups: Vec<Group> = classes
        .take(MOST_CLASSES)
        .map(|i| {
            let kinds: Vec<RowKind> = match constraints.is_time_shared(i) {
                true => vec![RowKind::Time],
                false => (0..problem.n_resources().min(MOST_RESOURCES)).map(RowKind::Resource).collect(),
            };
            let bar = |kind: &RowKind| Bar {
                name: row_name(*kind, problem.resources()).to_owned(),
                heights: parts.heights(&constraints, allocation, i, *kind),
            };
            Group { name: problem.servers()[i].name().to_owned(), bars: kinds.iter().map(bar).collect() }
        })
        .collect();
    (!groups.is_empty()).then(|| Bars {
        title: String::new(),
        y: Axis::linear("fraction of the capacity"),
        parts: parts.names,
        groups,
    })
}

/// The owners with separate colours, and the colour of every user.
struct Parts {
    names: Vec<String>,
    of: Vec<usize>,
}

impl Parts {
    fn new(problem: &Problem, allocation: &Allocation, owners: &[usize], names: &[String]) -> Self {
        let is_owner: BTreeSet<usize> = owners.iter().copied().collect();
        let mut shown: Vec<usize> = is_owner.into_iter().collect();
        let all = shown.len();
        if all > MOST_USERS + 1 {
            let mut shares = vec![Rational::new(); names.len()];
            for (n, owner) in owners.iter().enumerate() {
                shares[*owner] += dominant_share(problem, allocation, n);
            }
            shown.sort_by(|a, b| shares[*b].cmp(&shares[*a]));
            shown.truncate(MOST_USERS);
            shown.sort_unstable();
        }
        let others = (all > shown.len()).then(|| format!("{} others", all - shown.len()));
        let part = |owner: &usize| shown.binary_search(owner).unwrap_or(shown.len());
        Self {
            names: shown.iter().map(|owner| names[*owner].clone()).chain(others).collect(),
            of: owners.iter().map(part).collect(),
        }
    }

    /// Returns the usage of a row of class `i` by colour, as a fraction of the capacity. Returns 0 if the
    /// class has no such row.
    fn heights(
        &self,
        constraints: &Constraints<'_>,
        allocation: &Allocation,
        i: usize,
        kind: RowKind,
    ) -> Vec<f64> {
        let mut held = vec![Rational::new(); self.names.len()];
        let Some(row) = constraints.row_of(i, kind) else { return vec![0.0; held.len()] };
        let position = row - constraints.class_rows(i).start;
        for (n, tasks) in allocation.tasks.iter().enumerate() {
            let Some((_, x)) = tasks.iter().find(|(class, _)| *class == i) else { continue };
            let Some(usage) = constraints.usage(n, i) else { continue };
            let Some((_, each)) = usage.entries().find(|(at, _)| *at == position) else { continue };
            held[self.of[n]] += Rational::from(x * each);
        }
        let capacity = &constraints.rows()[row].capacity;
        held.into_iter().map(|held| to_f64(&(held / capacity))).collect()
    }
}

/// The largest number of columns that a line of the legend names.
const MOST_NAMES: usize = 3;

/// Returns the plot of dominant shares divided by weights, in ascending order. A flatter line means more
/// equal shares. A line that begins higher means that the worst-off user is better off. Columns with the same
/// shares have a common line. If there are many users, only some of them are shown, at equal distances.
#[must_use]
pub fn shares(problem: &Problem, columns: &[Compared]) -> Plot {
    let mut lines: Vec<(Vec<Rational>, Vec<&str>)> = Vec::new();
    for (name, judged) in columns.iter().filter_map(|c| Some((c.name.as_str(), c.result.as_ref().ok()?))) {
        let weighted =
            |n: usize| dominant_share(problem, &judged.allocation, n) / problem.users()[n].weight().clone();
        let active = (0..problem.n_users()).filter(|&n| problem.is_active(n));
        let mut shares: Vec<Rational> = active.map(weighted).collect();
        shares.sort_unstable();
        match lines.iter_mut().find(|(others, _)| *others == shares) {
            Some((_, names)) => names.push(name),
            None => lines.push((shares, vec![name])),
        }
    }
    let greatest = lines.iter().filter_map(|(shares, _)| shares.last()).max().map_or(0.0, to_f64);
    let series = lines.iter().map(|(shares, names)| {
        // The first and the last user are always shown.
        let last = shares.len().saturating_sub(1);
        let count = shares.len().min(MOST_POINTS);
        let ranks = (0..count).map(|k| if count > 1 { k * last / (count - 1) } else { 0 });
        let points = ranks.map(|rank| ((rank + 1) as f64, to_f64(&shares[rank])));
        Series::new(few(names, MOST_NAMES), points.collect())
    });
    Plot {
        title: "Dominant shares divided by weights, in ascending order".to_owned(),
        x: Axis::linear("users in the order of their shares"),
        y: Axis::linear("dominant share / weight").with_range(0.0, ABOVE * greatest),
        series: series.collect(),
    }
}
