//! Why a group has what it has, in words.

use evenhand_mechanisms::tree::{Stop, StopKind, Why};
use evenhand_problem::{Problem, Rational};

use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::number;

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
            None => "; nobody in it wants more".to_owned(),
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
    let names = list.iter().take(NAMED).map(|(name, amount)| format!("{name} {}", number(amount)));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if list.len() > NAMED {
        text += &format!(" and {} more", list.len() - NAMED);
    }
    text
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
