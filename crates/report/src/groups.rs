//! Groups in text for people: their levels, the explanation of their usage, and their fair shares.

use evenhand_mechanisms::tree::{Entitlements, Held, NodeKind, Reported, Standing, Stop, StopKind, Why};
use evenhand_problem::{Problem, Rational};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{few, number};

/// The largest number of groups that are named as users of capacity or as lenders.
const NAMED: usize = 4;

/// Returns the usage and the free amounts of a group by resource, and the bounds that block each of its
/// users.
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
        .numbers("uses", |of| amount(&of.held))
        .numbers("guarantee", |of| of.guarantee.as_ref().map(amount))
        .numbers("limit", |of| of.limit.as_ref().map(amount))
        .numbers("unused guarantee", |of| amount(&of.own))
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
            format!("{what}; one more unit by itself would allow no further task")
        }
        _ => format!("{what}; one more unit by itself would allow up to {} more tasks", number(&stop.brings)),
    }
}

/// Returns the words for the bound that blocks a user.
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
            format!("the rest of {} is kept back for groups that do not lend it", resource(r))
        }
        StopKind::ClassLimit { group, servers, resource: r, most } => format!(
            "{group} uses all the {} {} that it may on {}",
            number(most),
            resource(r),
            problem.class_names(servers)
        ),
        StopKind::Full { server, resource: r, holders } => format!(
            "{} of {} is full (used by {})",
            resource(r),
            problem.servers()[*server].name(),
            named(holders)
        ),
    }
}

/// Returns the root, followed by groups and users in the order in which they would be served. They are
/// indented by their depth.
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
        let by = if next.is_below_guarantee { "fraction of the guarantee" } else { "level" };
        let stopped = if next.is_stopped { ", stopped" } else { "" };
        Cell::text(format!("{by} {}{stopped}", number(&next.level)))
    };
    let table = table.numbers("next", next).words("compared by", compared_by).table();
    let page = Page::new().table(table).text(
        "The rule serves the group with the lowest number in `next` first, and then the lowest inside it; equal numbers are a tie. \
         A group below its guarantee is compared by the fraction of the guarantee that it uses, and comes before the others.",
    );
    if standings.iter().any(|of| of.next.as_ref().is_some_and(|next| next.is_stopped)) {
        page.text("Stopped: no user of the group can get more as things stand, because of a limit, a weight of 0 or a full resource.")
    } else {
        page
    }
}

/// Returns the fair shares of groups in the order of the file, indented by their depth. Also returns the fair
/// shares of users outside of groups.
#[must_use]
pub fn entitlements(problem: &Problem, entitlements: &Entitlements, held: Option<&Held>) -> Page {
    let mut columns = vec![Column::words("group or user")];
    for r in problem.resources() {
        columns.push(Column::numbers(&format!("{r}, fair share")));
        if held.is_some() {
            columns.push(Column::numbers("uses"));
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
        "No user could start another task within the fair shares of its groups.".to_owned()
    } else {
        format!("Another task would still be within the fair shares of its groups for: {}.", names.join(", "))
    })
}
