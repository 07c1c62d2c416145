//! A snapshot in text for people: the size of the cluster, the running and waiting tasks, and the data that
//! are left out.

use evenhand_problem::{Rational, Snapshot};

use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{self, few, number};

/// The largest number of names in a line.
const NAMED: usize = 3;

/// Returns the summary of an import: servers, queues, tasks and resources, the rounding of servers, and the
/// data that are not modelled.
#[must_use]
pub fn imported(snapshot: &Snapshot) -> Page {
    let Snapshot { problem, allocation, .. } = snapshot;
    let running: Rational = allocation.totals().iter().sum();
    let waiting: u64 = snapshot.waiting.iter().map(|waiting| waiting.tasks).sum();
    let counts = [
        ("servers", problem.n_single_servers().to_string()),
        ("server classes", problem.n_servers().to_string()),
        ("queues", problem.groups().list().len().to_string()),
        ("users: request shapes of queues", problem.n_users().to_string()),
        ("tasks running", number(&running)),
        ("tasks waiting", waiting.to_string()),
    ];
    let counts = Table::of(counts)
        .words(snapshot.system.map_or("snapshot", |system| system.name()), |(what, _)| *what)
        .numbers("count", |(_, count)| Cell::text(count))
        .table();
    let page = Page::new().table(counts).table(resources(snapshot));
    let page = if snapshot.rounded.is_empty() {
        page
    } else {
        page.heading("Rounded down, so that similar servers form one class").table(rounded(snapshot))
    };
    if snapshot.not_modelled.is_empty() {
        return page;
    }
    let left_out = Table::of(&snapshot.not_modelled)
        .words("what", |left_out| left_out.what.as_str())
        .numbers("count", |left_out| left_out.count)
        .words("names", |left_out| {
            let beyond = usize::try_from(left_out.count).unwrap_or(usize::MAX);
            let mut names = few(&left_out.names, NAMED);
            if left_out.names.len() <= NAMED && left_out.names.len() < beyond && !names.is_empty() {
                names.push_str(", ...");
            }
            names
        })
        .table();
    page.heading("Not modelled").table(left_out)
}

/// Returns the table of resources: the capacity of all servers, and the usage of running and of waiting tasks.
fn resources(snapshot: &Snapshot) -> Table {
    let Snapshot { problem, allocation, .. } = snapshot;
    let sum = |tasks: &[Rational], r: usize| -> Rational {
        let users = problem.users().iter().zip(tasks);
        users.map(|(user, tasks)| Rational::from(&user.base_demand()[r] * tasks)).sum()
    };
    let running = allocation.totals();
    let waiting: Vec<Rational> = snapshot.waiting_by_user().into_iter().map(Rational::from).collect();
    let amount = |r: usize, of: &Rational| Cell::text(text::amount(&problem.resources()[r], of));
    Table::of(problem.resources().iter().enumerate())
        .words("resource", |(_, name)| name.as_str())
        .numbers("capacity", |(r, _)| amount(*r, &problem.total_capacity()[*r]))
        .numbers("running", |(r, _)| amount(*r, &sum(&running, *r)))
        .numbers("waiting", |(r, _)| amount(*r, &sum(&waiting, *r)))
        .table()
}

/// Returns the table of the rounding by resource: the largest loss of a server, and the total loss of all
/// servers.
fn rounded(snapshot: &Snapshot) -> Table {
    let problem = &snapshot.problem;
    let of = |r: usize| snapshot.rounded.iter().filter(move |rounded| rounded.resource == r);
    let rows = (0..problem.n_resources()).filter(|r| of(*r).next().is_some());
    let rows = rows.map(|r| {
        let most = of(r).map(|rounded| &rounded.most).max().cloned().unwrap_or_default();
        let in_all: Rational = of(r).map(|rounded| &rounded.in_all).sum();
        (r, most, in_all)
    });
    let part = |r: usize, in_all: &Rational| in_all / Rational::from(&problem.total_capacity()[r] + in_all);
    Table::of(rows)
        .words("resource", |(r, ..)| problem.resources()[*r].as_str())
        .numbers("at most", |(r, most, _)| Cell::text(text::amount(&problem.resources()[*r], most)))
        .numbers("in total", |(r, _, in_all)| Cell::text(text::amount(&problem.resources()[*r], in_all)))
        .numbers("of the capacity", |(r, _, in_all)| Cell::percent(&part(*r, in_all)))
        .table()
}
