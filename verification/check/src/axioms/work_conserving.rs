//! Work-conserving: nobody with tasks left could run more in what is free, as things stand.
//!
//! Evidence of yes: for every user with pending tasks a row that is short on every class where it can run; on
//! single servers rows of which every server lacks one for a task. Evidence of no: a user, and a class or a
//! server where a task fits.

use std::collections::BTreeMap;

use rug::Rational;

use crate::case::Case;
use crate::claim::Claim;
use crate::json::{Json, Kind};
use crate::problem::MOST;
use crate::work::{self, Checked, ensure};

pub fn verify(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    if limits.active().next().is_none() {
        claim.says(None)?;
        return claim.without_evidence();
    }
    let evidence = Evidence::read(case, claim.evidence)?;
    let servers = case.placements.map(|_| Servers::new(case)).transpose()?;
    // The most that somebody could run more, over what it would have alone.
    let mut most = Rational::new();
    for n in limits.active().filter(|n| case.is_pending(*n)) {
        most = most.max(match &servers {
            None => more(case, n)?,
            Some(servers) if servers.fits_somewhere(case, n)? => limits.g[n].clone().recip(),
            Some(_) => Rational::new(),
        });
    }
    claim.says(Some(-most.clone()))?;
    match (&evidence, claim.holds == Some(true)) {
        (Evidence::Short(short), true) => {
            let users = short.iter().map(|(n, _)| *n);
            let pending = limits.active().filter(|n| case.is_pending(*n));
            ensure(users.eq(pending), "what is short is not stated for just those who have pending tasks")?;
            let mut least = Rational::new();
            for (n, short) in short {
                let classes = short.iter().map(|(i, _)| *i);
                ensure(
                    classes.eq(limits.problem.classes_of(*n)),
                    "what is short is not stated for every class",
                )?;
                least = least.max(match &servers {
                    None => left_by(case, *n, short)?,
                    Some(servers) => servers.all_lack(case, *n, short)?,
                });
            }
            ensure(least == most, "the rows of the evidence leave another margin")
        }
        (Evidence::Room { user, class, index }, false) => {
            let can = case.is_pending(*user) && limits.problem.can_run(*user, *class);
            let has_room = match (&servers, index) {
                (None, None) => {
                    let free = |(row, _): (usize, _)| case.slack[row] > 0;
                    can && limits.uses(*user, *class).into_iter().all(free) && more(case, *user)? == most
                }
                (Some(_), Some(index)) => {
                    let is_there = *index < limits.problem.classes[*class].count;
                    let fits =
                        can && is_there && lacking(&free(case, *class, *index)?, case, *user).is_none();
                    fits && limits.g[*user].clone().recip() == most
                }
                _ => false,
            };
            ensure(has_room, "the task of the evidence does not fit, or another user could run more")
        }
        _ => ensure(false, "the evidence is not of the form that the verdict takes"),
    }
}

/// `(class, rows)`
type Short = Vec<(usize, Vec<usize>)>;

enum Evidence {
    Short(Vec<(usize, Short)>),
    Room { user: usize, class: usize, index: Option<u64> },
}

impl Evidence {
    fn read(case: &Case<'_>, raw: &Json<'_>) -> Checked<Self> {
        let limits = &case.limits;
        if !raw.get("short").is_absent() || Claim::is_empty(raw)? {
            let [short] = raw.fields(["short?"])?;
            let rows = |i: usize, raw: &Json<'_>| match &raw.kind {
                Kind::List(list) => list.iter().map(|raw| Claim::row(limits, i, raw)).collect(),
                _ => Ok(vec![Claim::row(limits, i, raw)?]),
            };
            let names = &limits.problem.class_names;
            let of_user = |_, raw: &Json<'_>| raw.object().and_then(|_| names.map(raw, rows));
            return Ok(Self::Short(limits.problem.user_names.map(short, of_user)?));
        }
        let [user, server, index] = raw.fields(["user", "server", "index?"])?;
        let class = limits.problem.class_names.named(server)?;
        let index = if index.is_absent() { None } else { Some(index.count(0, MOST)?) };
        Ok(Self::Room { user: limits.problem.user_names.named(user)?, class, index })
    }
}

/// `min(T_n - x_n, sum_i min_r slack_ir / d_nir) / g_n`
fn more(case: &Case<'_>, n: usize) -> Checked<Rational> {
    let limits = &case.limits;
    let mut parts = Vec::new();
    for i in limits.problem.classes_of(n) {
        let uses = limits.uses(n, i);
        // Nothing is left of a full row: no number has to be divided.
        if uses.iter().all(|(row, _)| case.slack[*row] > 0) {
            work::spend(uses.len())?;
            parts.extend(uses.into_iter().map(|(row, d)| Rational::from(&case.slack[row] / &*d)).min());
        }
    }
    let room = work::sum(parts)?;
    Ok(within_tasks(case, n, room))
}

fn within_tasks(case: &Case<'_>, n: usize, room: Rational) -> Rational {
    let left = case.limits.problem.users[n].tasks.as_ref().map(|tasks| tasks - case.total[n].clone());
    left.map_or(room.clone(), |left| left.min(room)) / &case.limits.g[n]
}

/// What the stated rows, one for each class, leave to user `n`.
fn left_by(case: &Case<'_>, n: usize, short: &Short) -> Checked<Rational> {
    let mut room = Vec::new();
    for (_, rows) in short {
        let d = match rows.as_slice() {
            [row] => case.limits.usage(n, *row).map(|d| (row, d)),
            _ => None,
        };
        let Some((row, d)) = d else {
            return ensure(false, "what is short is not one row that the user takes something of")
                .map(|()| Rational::new());
        };
        room.push(Rational::from(&case.slack[*row] / &*d));
    }
    Ok(within_tasks(case, n, work::sum(room)?))
}

/// What is free on the servers of every class: each vector once, by row of the class.
struct Servers {
    free: Vec<Vec<Vec<Rational>>>,
}

impl Servers {
    fn new(case: &Case<'_>) -> Checked<Self> {
        let classes = &case.limits.problem.classes;
        let mut used: BTreeMap<usize, u64> = BTreeMap::new();
        let mut list: Vec<Vec<Vec<Rational>>> = vec![Vec::new(); classes.len()];
        for placement in case.placements.unwrap_or_default() {
            *used.entry(placement.class).or_default() += 1;
            list[placement.class].push(left(case, placement.class, &placement.tasks)?);
        }
        for (i, list) in list.iter_mut().enumerate() {
            if used.get(&i).copied().unwrap_or(0) < classes[i].count {
                list.push(left(case, i, &[])?);
            }
            list.sort_unstable();
            list.dedup();
        }
        Ok(Self { free: list })
    }

    fn fits_somewhere(&self, case: &Case<'_>, n: usize) -> Checked<bool> {
        for i in case.limits.problem.classes_of(n) {
            work::steps(100 * self.free[i].len() as u64)?;
            if self.free[i].iter().any(|free| lacking(&(i, free), case, n).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// 0, if every server lacks one of the stated rows of its class.
    fn all_lack(&self, case: &Case<'_>, n: usize, short: &Short) -> Checked<Rational> {
        for (i, rows) in short {
            work::steps(100 * self.free[*i].len() as u64)?;
            let uses = single_uses(case, n, *i);
            let first = case.limits.rows_of(*i).start;
            let lacks = |free: &Vec<Rational>| {
                uses.iter().any(|(row, d)| rows.contains(row) && free[row - first] < *d)
            };
            ensure(self.free[*i].iter().all(lacks), "a server lacks none of the stated resources")?;
        }
        Ok(Rational::new())
    }
}

/// A row of which a server of a class, with so much free, has too little for a task of user `n`.
fn lacking(on: &(usize, impl AsRef<[Rational]>), case: &Case<'_>, n: usize) -> Option<usize> {
    let first = case.limits.rows_of(on.0).start;
    let mut uses = single_uses(case, n, on.0).into_iter();
    uses.find(|(row, d)| on.1.as_ref()[row - first] < *d).map(|(row, _)| row)
}

/// What a task takes of each row of one server: of its time `k_i` times what it takes of that of all.
fn single_uses(case: &Case<'_>, n: usize, i: usize) -> Vec<(usize, Rational)> {
    let servers = if case.limits.is_timed(i) { case.limits.problem.classes[i].count } else { 1 };
    case.limits.uses(n, i).into_iter().map(|(row, d)| (row, Rational::from(&*d * servers))).collect()
}

/// What these tasks leave of each row of one server.
fn left(case: &Case<'_>, i: usize, tasks: &[(usize, Rational)]) -> Checked<Vec<Rational>> {
    let rows = case.limits.rows_of(i);
    let servers = if case.limits.is_timed(i) { 1 } else { case.limits.problem.classes[i].count };
    let capacity = |row: usize| Rational::from(&case.limits.rows[row].capacity / servers);
    let mut left: Vec<Rational> = rows.clone().map(capacity).collect();
    for (n, x) in tasks {
        work::spend(rows.len())?;
        single_uses(case, *n, i).into_iter().for_each(|(row, d)| left[row - rows.start] -= d * x);
    }
    Ok(left)
}

/// What is free on one server, and its class.
fn free(case: &Case<'_>, i: usize, index: u64) -> Checked<(usize, Vec<Rational>)> {
    let placements = case.placements.unwrap_or_default();
    let here = placements.iter().find(|placement| (placement.class, placement.index) == (i, index));
    Ok((i, left(case, i, here.map_or(&[], |placement| &placement.tasks))?))
}
