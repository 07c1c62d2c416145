//! What groups are entitled to, resource by resource.

use evenhand_mechanisms::tree::{Entitlements, Held};
use evenhand_problem::Problem;

use crate::page::Page;
use crate::table::{Cell, Column, Table};

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
        "Nobody may start one more task within what its groups are entitled to.".to_owned()
    } else {
        format!("One more task fits into what the groups are entitled to, of: {}.", names.join(", "))
    })
}
