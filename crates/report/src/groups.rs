//! Groups for people: where they stand, why they have what they have, and what they are entitled to.

use evenhand_mechanisms::tree::{Entitlements, Held, NodeKind, Reported, Standing, Stop, StopKind, Why};
use evenhand_problem::{Problem, Rational};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{few, number};

/// Most holders and lenders that are named.
const NAMED: usize = 4;

/// What the group holds and may still have by resource, and by user what stops it.
#[must_use]
pub fn why(problem: &Problem, why: &Why) -> Page {
    let standing = &why.standing;
    let mut page = Page::new().heading(format!("Group {}", standing.name)).text(format!(
        "Its share is {}, its level {}{}.",
        number(&standing.share),
        number(&standing.level),
        match &standing.next {
            None => "; no user in it wants more".to_owned(),
            Some(next) => format!(
                ", and it is number {}{} among its siblings",
                next.rank,
                if next.is_tied { " (a tie)" } else { "" }
            ),
        }
    ));
    let amount = |amount: &Rational| Cell::text(number(amount));
    let table = Table::of(&why.amounts)
        .words("resource", |of| problem.resources()[of.resource].as_str())
        .numbers("held", |of| amount(&of.held))
        .numbers("guarantee", |of| of.guarantee.as_ref().map(amount))
        .numbers("limit", |of| of.limit.as_ref().map(amount))
        .numbers("own, unused", |of| amount(&of.own))
        .numbers("may borrow", |of| amount(&of.may_borrow))
        .words("from", |of| named(&of.lenders))
        .table();
    page = page.table(table);
    for of in &why.users {
        let user = problem.users()[of.user].name();
        page = page.text(if of.wants_no_more {
            format!("{user} wants no more.")
        } else if of.stops.is_empty() {
            format!("{user} could run up to {} more tasks as things stand.", number(&of.room))
        } else {
            let stops: Vec<String> = of.stops.iter().map(|stop| words(problem, stop)).collect();
            format!("{user} is stopped: {}.", stops.join("; "))
        });
    }
    page
}

fn named(list: &[(String, Rational)]) -> String {
    let names: Vec<String> = list.iter().map(|(name, amount)| format!("{name} {}", number(amount))).collect();
    few(&names, NAMED)
}

fn words(problem: &Problem, stop: &Stop) -> String {
    let what = what_stops(problem, &stop.kind);
    match stop.kind {
        StopKind::Weight { .. } => what,
        _ if stop.brings.is_zero() => {
            format!("{what}, of which one more unit by itself leaves room for no task")
        }
        _ => format!(
            "{what}, of which one more unit leaves room for up to {} tasks, all else as it stands",
            number(&stop.brings)
        ),
    }
}

/// What stops a user, in words.
pub(crate) fn what_stops(problem: &Problem, stop: &StopKind) -> String {
    let resource = |r: &usize| &problem.resources()[*r];
    match stop {
        StopKind::Limit { group, resource: r, most } => {
            format!("{group} uses all the {} {} that it may", number(most), resource(r))
        }
        StopKind::Weight { group } => {
            format!("{group} has the weight 0 and gets nothing beyond its guarantee")
        }
        StopKind::KeptBack { resource: r } => {
            format!("what is left of {} is kept back for groups that do not lend it", resource(r))
        }
        StopKind::ClassLimit { group, servers, resource: r, most } => format!(
            "{group} holds the {} {} that it may on {}",
            number(most),
            resource(r),
            problem.class_names(servers)
        ),
        StopKind::Full { server, resource: r, holders } => format!(
            "{} of {} is used up ({})",
            resource(r),
            problem.servers()[*server].name(),
            named(holders)
        ),
    }
}

/// The root, then groups and users in the order in which they would be served, those inside a group indented under it.
#[must_use]
pub fn levels(standings: &[Standing]) -> Page {
    let mut table = Table::of(standings)
        .words("group or user", |standing| {
            let shown = if standing.kind == NodeKind::Root { "all groups" } else { &standing.name };
            Cell::text(format!("{}{shown}", "  ".repeat(standing.depth))).with_value(&standing.name)
        })
        .numbers("share", |standing| Cell::decimal(&standing.share))
        .numbers("level", |standing| Cell::decimal(&standing.level));
    if standings.iter().any(|standing| standing.reported.is_some()) {
        table = table.numbers("reported", |standing| match &standing.reported {
            None => Cell::none(),
            Some(Reported::Infinite) => Cell::text("infinite"),
            Some(Reported::Share(share)) => Cell::decimal(share),
        });
    }
    let next = |standing: &&Standing| {
        let next = standing.next.as_ref()?;
        Some(Cell::text(format!("{}{}", next.rank, if next.is_tied { " (tie)" } else { "" })))
    };
    let compared_by = |standing: &&Standing| {
        let Some(next) = &standing.next else { return Cell::text("wants no more").muted() };
        let by = if next.is_below_guarantee { "part of the guarantee" } else { "level" };
        let stopped = if next.is_stopped { ", stopped" } else { "" };
        Cell::text(format!("{by} {}{stopped}", number(&next.level)))
    };
    let table = table.numbers("next", next).words("compared by", compared_by).table();
    let page = Page::new().table(table).text(
        "The rule serves the group with the least place first, and within it again; equal places are left open. A \
         group below its guarantee is compared by the part of it that is used, and comes before the others.",
    );
    if standings.iter().any(|of| of.next.as_ref().is_some_and(|next| next.is_stopped)) {
        page.text("Stopped: no user there may grow as things stand, because of a limit, a weight of 0 or a resource that is used up.")
    } else {
        page
    }
}

/// Groups in the order of the file, those inside a group indented under it, and users that stand beside groups.
#[must_use]
pub fn entitlements(problem: &Problem, entitlements: &Entitlements, held: Option<&Held>) -> Page {
    let mut columns = vec![Column::words("group or user")];
    for r in problem.resources() {
        columns.push(Column::numbers(&format!("{r}, entitled")));
        if held.is_some() {
            columns.push(Column::numbers("held"));
        }
    }
    let mut table = Table::new(columns);
    let list = problem.groups().list();
    let mut waiting: Vec<(usize, usize)> =
        (0..list.len()).filter(|v| list[*v].parent.is_none()).map(|v| (v, 0)).rev().collect();
    while let Some((v, depth)) = waiting.pop() {
        waiting.extend((0..list.len()).filter(|k| list[*k].parent == Some(v)).map(|k| (k, depth + 1)).rev());
        let mut row =
            vec![Cell::text(format!("{}{}", "  ".repeat(depth), list[v].name)).with_value(&list[v].name)];
        for (r, entitled) in entitlements.groups[v].iter().enumerate() {
            row.push(Cell::number(entitled));
            row.extend(held.map(|held| Cell::number(&held.groups[v][r])));
        }
        table.row(row);
    }
    for (user, entitled) in problem.users().iter().zip(&entitlements.users) {
        let Some(entitled) = entitled else { continue };
        let mut row = vec![Cell::text(user.name())];
        for entitled in entitled {
            row.push(Cell::number(entitled));
            row.extend(held.map(|_| Cell::none()));
        }
        table.row(row);
    }
    let page = Page::new().table(table);
    let Some(held) = held else { return page };
    let starts = problem.users().iter().zip(&held.may_start).filter(|(_, may)| **may);
    let names: Vec<&str> = starts.map(|(user, _)| user.name()).collect();
    page.text(if names.is_empty() {
        "No user may start one more task within what its groups are entitled to.".to_owned()
    } else {
        format!("One more task fits into what the groups are entitled to, of: {}.", names.join(", "))
    })
}
