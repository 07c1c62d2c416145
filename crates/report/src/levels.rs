//! Where groups and users stand, and whom a rule would serve next.

use evenhand_mechanisms::tree::{NodeKind, Reported, Standing};

use crate::page::Page;
use crate::table::{Cell, Column, Table};

/// The root, then groups and users in the order in which they would be served, those inside a group indented under it.
#[must_use]
pub fn levels(standings: &[Standing]) -> Page {
    let reports = standings.iter().any(|standing| standing.reported.is_some());
    let mut columns =
        vec![Column::words("group or user"), Column::numbers("share"), Column::numbers("level")];
    if reports {
        columns.push(Column::numbers("reported"));
    }
    columns.extend([Column::numbers("next"), Column::words("compared by")]);
    let mut table = Table::new(columns);
    for standing in standings {
        let shown = if standing.kind == NodeKind::Root { "all groups" } else { &standing.name };
        let name = format!("{}{shown}", "  ".repeat(standing.depth));
        let (next, by) = match &standing.next {
            None => (Cell::none(), Cell::text("wants no more").muted()),
            Some(next) => {
                let rank = next.rank.to_string();
                let rank = if next.is_tied { format!("{rank} (tie)") } else { rank };
                let by = if next.is_below_guarantee { "part of the guarantee" } else { "level" };
                let stopped = if next.is_stopped { ", stopped" } else { "" };
                let by = format!("{by} {}{stopped}", crate::text::number(&next.level));
                (Cell::text(rank), Cell::text(by))
            }
        };
        let mut row = vec![
            Cell::text(name).with_value(&standing.name),
            Cell::decimal(&standing.share),
            Cell::decimal(&standing.level),
        ];
        if reports {
            row.push(match &standing.reported {
                None => Cell::none(),
                Some(Reported::Infinite) => Cell::text("infinite"),
                Some(Reported::Share(share)) => Cell::decimal(share),
            });
        }
        row.extend([next, by]);
        table.row(row);
    }
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
