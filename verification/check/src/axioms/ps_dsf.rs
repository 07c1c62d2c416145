//! Per-server dominant-share fairness (theory, section 4): every user has all its tasks, or a bottleneck on
//! every class where it can run.
//!
//! What user `n` lacks on class `i` for a row, in tasks: what is free of the row, and of what everybody else
//! holds the part that is ahead of `n`, over what a task of `n` takes of it. Evidence of yes: `satisfied`, or a
//! row for every class; of no: a user and a class with what it lacks there.

use std::borrow::Cow;

use rug::Rational;

use crate::case::{Case, entries};
use crate::claim::Claim;
use crate::work::{self, Checked, ensure};

/// Somebody with tasks on a class: its level there `x_m / (w_m gamma_mi)`, and what that is over.
struct Holder {
    user: usize,
    full: Rational,
    level: Rational,
    tasks: Rational,
}

struct Levels<'c, 'a> {
    case: &'c Case<'a>,
    /// By class: levels descending.
    holders: Vec<Vec<Holder>>,
}

pub fn verify(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let levels = Levels::new(case)?;
    let mut of_user = vec![None; limits.n_users()];
    for n in limits.active() {
        let mut most = Rational::new();
        for i in limits.problem.classes_of(n) {
            most = most.max(levels.least_lack(n, i)?);
        }
        of_user[n] = levels.margin(n, &most);
    }
    let least = of_user.into_iter().flatten().min();
    let raw = claim.evidence;
    if Claim::is_empty(raw)? {
        claim.says(least)?;
        return claim.without_evidence();
    }
    let names = &limits.problem.class_names;
    if !raw.get("bottlenecks").is_absent() {
        let [stated] = raw.fields(["bottlenecks"])?;
        let stated = limits.problem.user_names.map(stated, |_, raw| {
            if let Ok(word) = raw.text() {
                return if word == "satisfied" {
                    Ok(None)
                } else {
                    raw.wrong("expected `satisfied`, or rows")
                };
            }
            raw.object()?;
            names.map(raw, |i, raw| Claim::row(limits, i, raw)).map(Some)
        })?;
        claim.says(least.clone())?;
        ensure(
            stated.iter().map(|(n, _)| *n).eq(limits.active()),
            "a user has no bottlenecks, or needs none",
        )?;
        let mut shown = Vec::new();
        for (n, rows) in stated {
            let Some(rows) = rows else {
                shown.push(limits.satisfied(n, &case.total[n]));
                continue;
            };
            let classes = rows.iter().map(|(i, _)| *i);
            ensure(
                classes.eq(limits.problem.classes_of(n)),
                "a bottleneck is not stated for just every class",
            )?;
            let mut most = Some(Rational::new());
            for (_, row) in rows {
                most = most.zip(levels.lack(n, row, None)?).map(|(most, lack)| most.max(lack));
            }
            shown.push(most.map(|most| -most / &limits.g[n]));
        }
        let attains = claim.holds == Some(true) && shown.iter().all(Option::is_some);
        return ensure(
            attains && shown.into_iter().flatten().min() == least,
            "the bottlenecks show another margin",
        );
    }
    let [user, server, lacks] = raw.fields(["user", "server", "lacks"])?;
    let (user, i) = (limits.problem.user_names.named(user)?, names.named(server)?);
    let mut stated = Vec::new();
    for (name, raw) in lacks.object()? {
        stated.push((Claim::row_named(limits, i, name, raw)?, raw.computed()?));
    }
    stated.sort_by_key(|(row, _)| *row);
    claim.says(least.clone())?;
    let can = limits.is_active(user) && limits.problem.can_run(user, i);
    ensure(can && claim.holds == Some(false), "the user of the evidence has no complaint there")?;
    ensure(levels.margin(user, &levels.least_lack(user, i)?) == least, "the evidence shows another margin")?;
    let mut found = Vec::new();
    for row in limits.rows_of(i) {
        found.extend(levels.lack(user, row, None)?.map(|lack| (row, lack)));
    }
    ensure(stated == found, "what the user of the evidence lacks is something else")
}

impl<'c, 'a> Levels<'c, 'a> {
    fn new(case: &'c Case<'a>) -> Checked<Self> {
        let mut holders: Vec<Vec<Holder>> = case.limits.problem.classes.iter().map(|_| Vec::new()).collect();
        for (user, i, x) in entries(&case.x) {
            work::spend(3)?;
            let full = full(case, user, i);
            let level = Rational::from(&case.total[user] / &full);
            holders[i].push(Holder { user, full, level, tasks: x.clone() });
        }
        holders.iter_mut().for_each(|holders| holders.sort_by(|a, b| b.level.cmp(&a.level)));
        Ok(Self { case, holders })
    }

    /// `max(x_n - T_n, -lack) / g_n`
    fn margin(&self, n: usize, lack: &Rational) -> Option<Rational> {
        let limits = &self.case.limits;
        limits.satisfied(n, &self.case.total[n]).max(Some(-Rational::from(lack / &limits.g[n])))
    }

    /// What user `n` lacks on a class where it can run, for the row for which that is least.
    fn least_lack(&self, n: usize, i: usize) -> Checked<Rational> {
        let mut least: Option<Rational> = None;
        for (row, _) in self.case.limits.uses(n, i) {
            match self.lack(n, row, least.as_ref())? {
                Some(lack) if lack.is_zero() => return Ok(lack),
                Some(lack) => least = Some(least.map_or(lack.clone(), |least| least.min(lack))),
                None => {}
            }
        }
        Ok(least.unwrap_or_default())
    }

    /// What user `n` lacks for a row; `None` where it takes nothing of it, or what is free of it alone is no
    /// less than `most`.
    fn lack(&self, n: usize, row: usize, most: Option<&Rational>) -> Checked<Option<Rational>> {
        let case = self.case;
        let Some(own) = case.limits.usage(n, row) else { return Ok(None) };
        let free = Rational::from(&case.slack[row] / &*own);
        if most.is_some_and(|most| !free.is_zero() && free >= *most) {
            return Ok(None);
        }
        let i = case.limits.rows[row].class;
        let level = Rational::from(&case.total[n] / &full(case, n, i));
        let mut parts = vec![free];
        for holder in self.holders[i].iter().take_while(|holder| holder.level > level) {
            work::spend(6)?;
            let ahead = &case.total[holder.user] - Rational::from(&level * &holder.full);
            let theirs = case.limits.usage(holder.user, row).unwrap_or(Cow::Owned(Rational::new()));
            parts.push(ahead.min(holder.tasks.clone()) * &*theirs / &*own);
        }
        work::sum(parts).map(Some)
    }
}

/// `w_n gamma_ni`
fn full(case: &Case<'_>, n: usize, i: usize) -> Rational {
    case.limits.problem.gamma(n, i) * &case.limits.problem.users[n].weight
}
