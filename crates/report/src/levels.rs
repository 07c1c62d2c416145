//! Where groups and users stand, and whom a rule would serve next.

use evenhand_mechanisms::tree::Standing;

use crate::page::Page;
use crate::table::{Cell, Column, Table};

/// Groups and users in the order in which they would be served, those inside a group indented under it.
#[must_use]
pub fn levels(standings: &[Standing]) -> Page {
    let mut table = Table::new([
        Column::words("group or user"),
        Column::numbers("share"),
        Column::numbers("level"),
        Column::numbers("next"),
        Column::words("compared by"),
    ]);
    for standing in standings {
        let name = format!("{}{}", "  ".repeat(standing.depth), standing.name);
        let (next, by) = match &standing.next {
            None => (Cell::none(), Cell::text("wants no more").muted()),
            Some(next) => {
                let rank = next.rank.to_string();
                let rank = if next.is_tied { format!("{rank} (tie)") } else { rank };
                let by = if next.is_below_guarantee { "part of the guarantee" } else { "level" };
                (Cell::text(rank), Cell::text(format!("{by} {}", crate::text::number(&next.level))))
            }
        };
        table.row([
            Cell::text(name).with_value(&standing.name),
            Cell::decimal(&standing.share),
            Cell::decimal(&standing.level),
            next,
            by,
        ]);
    }
    Page::new().table(table).text(
        "The rule serves the group with the least place first, and within it again; equal places are left open. A \
         group below its guarantee is compared by the part of it that is used, and comes before the others.",
    )
}
