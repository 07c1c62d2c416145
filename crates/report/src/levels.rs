//! Where groups and users stand, and whom a rule would serve next.

use evenhand_mechanisms::tree::{NodeKind, Reported, Standing};

use crate::page::Page;
use crate::table::{Cell, Table};

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
        Cell::text(format!("{by} {}{stopped}", crate::text::number(&next.level)))
    };
    let table = table.numbers("next", next).words("compared by", compared_by).table();
    let page = Page::new().table(table).text(
        "The rule serves the group with the least place first, and within it again; equal places are left open. A \
         group below its guarantee is compared by the part of it that is used, and comes before the others.",
    );
    if standings.iter().any(|of| of.next.as_ref().is_some_and(|next| next.is_stopped)) {
        page.text("Stopped: nobody there may grow as things stand, for a limit, a weight of 0 or a resource that is used up.")
    } else {
        page
    }
}
