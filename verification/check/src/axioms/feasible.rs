//! Feasible and integer feasible: the margin of every limit, of the allocation as it is stated.
//!
//! Evidence, of yes and of no: a limit that attains the least margin, and its slack in its own units.

use rug::Rational;

use crate::allocation::{Placement, Tasks};
use crate::case::{Case, entries, total};
use crate::claim::Claim;
use crate::json::Json;
use crate::problem::{Amounts, MOST};
use crate::work::{self, Checked, ensure, refuse};

/// What limits the tasks; on the server `index` of the class, which is 0 where classes are judged as a whole.
#[derive(PartialEq)]
enum Limit {
    Row { row: usize, index: u64 },
    Tasks { user: usize },
    Entry { user: usize, class: usize, index: u64 },
}

/// `(limit, slack, margin)`.
type Margins = Vec<(Limit, Rational, Rational)>;

pub fn verify(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let single = claim.axiom == "integer-feasible";
    let named = named(case, claim.evidence, single)?;
    let limits = if single { on_servers(case)? } else { by_class(case)? };
    claim.says(limits.iter().map(|(_, _, margin)| margin).min().cloned())?;
    let attains = match (&named, &claim.margin) {
        (Some((limit, slack)), Some(least)) => {
            limits.iter().any(|(at, left, margin)| at == limit && left == slack && margin == least)
        }
        (named, least) => named.is_none() && least.is_none(),
    };
    ensure(attains, "the limit of the evidence is not the tightest")
}

/// Whether nothing is above its limit by more than is tolerated; on single servers not at all.
pub fn holds(case: &Case<'_>) -> Checked<bool> {
    let zero = Rational::new();
    let tolerance = if case.placements.is_some() { &zero } else { &case.tolerance };
    let is_within =
        |limits: Margins| limits.iter().all(|(_, _, margin)| *margin >= Rational::from(-tolerance));
    let placements = case.placements.unwrap_or_default();
    let counts = |placement: &Placement| {
        let mut tasks = placement.tasks.iter().filter(|(_, x)| !x.is_zero());
        tasks.all(|(n, x)| case.limits.counts(*n, placement.class, x))
    };
    // Parts of tasks are another axiom's matter.
    let mut on_servers = of_servers(case, &placements.iter().map(as_list).collect::<Vec<_>>())?;
    on_servers.retain(|(limit, _, _)| matches!(limit, Limit::Row { .. }));
    Ok(is_within(by_class(case)?) && placements.iter().all(counts) && is_within(on_servers))
}

/// Whether the tasks on single servers are whole, and nothing is above its limit.
pub fn are_whole_and_fit(case: &Case<'_>) -> Checked<bool> {
    Ok(on_servers(case)?.iter().all(|(_, _, margin)| *margin >= 0))
}

/// Whether integer feasibility applies: tasks stand on single servers.
pub fn applies(case: &Case<'_>) -> bool {
    let single = |i: usize| case.limits.problem.classes[i].count == 1;
    case.placements.is_some() || entries(case.stated).all(|(_, i, _)| single(i))
}

/// What the evidence names.
fn named(case: &Case<'_>, evidence: &Json<'_>, single: bool) -> Checked<Option<(Limit, Rational)>> {
    if Claim::is_empty(evidence)? {
        return Ok(None);
    }
    let [server, resource, user, index, slack] =
        evidence.fields(["server?", "resource?", "user?", "index?", "slack"])?;
    let slack = slack.computed()?;
    let problem = case.limits.problem;
    let place = [!server.is_absent(), !resource.is_absent(), !user.is_absent(), !index.is_absent()];
    let index = if index.is_absent() { 0 } else { index.count(0, MOST)? };
    let limit = match place {
        [true, true, false, with] if with == single => {
            let class = problem.class_names.named(server)?;
            Limit::Row { row: Claim::row(&case.limits, class, resource)?, index }
        }
        [false, false, true, false] => Limit::Tasks { user: problem.user_names.named(user)? },
        [true, false, true, with] if with == single => {
            let class = problem.class_names.named(server)?;
            Limit::Entry { user: problem.user_names.named(user)?, class, index }
        }
        _ => return evidence.wrong("expected a server and a resource, a user, or a user and a server"),
    };
    Ok(Some((limit, slack)))
}

fn of_users(case: &Case<'_>) -> Margins {
    let limits = &case.limits;
    let of_user = |n: usize| {
        let above = limits.satisfied(n, &total(&case.stated[n]))?;
        Some((Limit::Tasks { user: n }, -Rational::from(&above * &limits.g[n]), -above))
    };
    (0..limits.n_users()).filter_map(of_user).collect()
}

fn by_class(case: &Case<'_>) -> Checked<Margins> {
    let limits = &case.limits;
    let slack = limits.slack(case.stated)?;
    let mut margins = of_users(case);
    for (row, slack) in slack.into_iter().enumerate() {
        let margin = Rational::from(&slack / &limits.rows[row].capacity);
        margins.push((Limit::Row { row, index: 0 }, slack, margin));
    }
    for (n, i, x) in entries(case.stated).filter(|(n, i, x)| !limits.counts(*n, *i, x)) {
        let slack = -x.clone().abs();
        let margin = limits.in_units(n, &slack);
        margins.push((Limit::Entry { user: n, class: i, index: 0 }, slack, margin));
    }
    Ok(margins)
}

/// `(class, index, tasks)` of a server.
type Server<'a> = (usize, u64, &'a Amounts);

fn as_list(placement: &Placement) -> Server<'_> {
    (placement.class, placement.index, &placement.tasks)
}

fn on_servers(case: &Case<'_>) -> Checked<Margins> {
    if !applies(case) {
        return refuse("it does not apply: the tasks are not placed on single servers");
    }
    let mut by_class: Tasks = vec![Vec::new(); case.limits.problem.classes.len()];
    entries(case.stated).for_each(|(n, i, x)| by_class[i].push((n, x.clone())));
    let servers: Vec<Server<'_>> = match case.placements {
        Some(placements) => placements.iter().map(as_list).collect(),
        None => by_class.iter().enumerate().map(|(i, tasks)| (i, 0, tasks)).collect(),
    };
    let mut margins = of_users(case);
    margins.extend(of_servers(case, &servers)?);
    Ok(margins)
}

/// The rows of every server with tasks, and the entries that are none or not whole.
fn of_servers(case: &Case<'_>, servers: &[Server<'_>]) -> Checked<Margins> {
    let limits = &case.limits;
    let mut margins = Vec::new();
    for (class, index, tasks) in
        servers.iter().filter(|(_, _, tasks)| tasks.iter().any(|(_, x)| !x.is_zero()))
    {
        let rows = limits.rows_of(*class);
        let count = limits.problem.classes[*class].count;
        let mut left: Vec<Rational> =
            rows.clone().map(|row| Rational::from(&limits.rows[row].capacity / count)).collect();
        for (n, x) in tasks.iter().filter(|(_, x)| !x.is_zero()) {
            let whole = Rational::from(x.round_ref());
            let slack = match limits.counts(*n, *class, x) {
                true => -Rational::from(x - &whole).abs(),
                false => -x.clone().abs(),
            };
            if limits.counts(*n, *class, x) {
                let uses = limits.uses(*n, *class);
                work::spend(uses.len())?;
                uses.into_iter().for_each(|(row, d)| left[row - rows.start] -= Rational::from(&*d * x));
            }
            if !slack.is_zero() {
                let margin = limits.in_units(*n, &slack);
                margins.push((Limit::Entry { user: *n, class: *class, index: *index }, slack, margin));
            }
        }
        for (row, left) in rows.zip(left) {
            let margin = Rational::from(&left / &limits.rows[row].capacity) * count;
            margins.push((Limit::Row { row, index: *index }, left, margin));
        }
    }
    Ok(margins)
}
