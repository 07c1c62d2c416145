//! Users that arrive and leave under divisible mechanisms: the results of the runs as a page, and the picture
//! of a run.

use evenhand_simulate::{Course, CourseScenario};

use crate::page::Page;
use crate::plot::{Axis, Figure, Plot, Series};
use crate::table::{Cell, Table};

/// The largest number of users in a table, unless the table shows all users.
const MOST_USERS: usize = 20;
/// The largest number of lines of a plot. More lines cannot be distinguished.
const MOST_LINES: usize = 8;

/// Returns the page of the runs: the presence, tasks and shares of the users in every run.
#[must_use]
pub fn course(scenario: &CourseScenario, courses: &[Course]) -> Page {
    let mut page = Page::new();
    if !scenario.spec.name.is_empty() {
        page = page.heading(&scenario.spec.name);
    }
    let words = format!(
        "{} up to time {}; tasks are means over the time that a user is present, shares over the whole run",
        scenario.policy.words(),
        scenario.horizon
    );
    page = page.short(short(scenario, courses)).text(words);
    for course in courses {
        let shares = course.mean_shares();
        let table = Table::of(scenario.spec.users.iter().enumerate())
            .numbers("seed", |_| course.seed)
            .words("user", |(_, user)| user.name.as_str())
            .numbers("present", |(n, _)| number(course.present[*n]))
            .numbers("tasks", |(n, _)| course.tasks[*n].map(number))
            .numbers("dominant share", |(n, _)| number(shares[*n]))
            .table();
        page = page.table(table.at_most(MOST_USERS, "users"));
        if course.end < scenario.horizon {
            page = page.text(format!("the run with seed {} stopped at time {}", course.seed, course.end));
        }
        if let Some(last) = course.distance.as_ref().and_then(|distance| distance.last()) {
            let words = format!(
                "at the end {last:.2e} from the exact allocation, as a fraction of a user's solo tasks"
            );
            page = page.text(words);
        }
    }
    page
}

/// Returns sentences about the users with the largest and the smallest share in the first run.
fn short(scenario: &CourseScenario, courses: &[Course]) -> Vec<String> {
    let mut sentences = vec![format!(
        "{} users shared the servers until time {} under {}.",
        scenario.spec.users.len(),
        scenario.horizon,
        scenario.policy.words()
    )];
    let Some(first) = courses.first() else { return sentences };
    let of_first = if courses.len() > 1 { "In the first run, " } else { "" };
    let shares = first.mean_shares();
    let named = || scenario.spec.users.iter().zip(&shares);
    let most = named().max_by(|a, b| a.1.total_cmp(b.1));
    let least = named().min_by(|a, b| a.1.total_cmp(b.1));
    if let (Some((most, much)), Some((least, little)), 2..) = (most, least, shares.len()) {
        sentences.push(format!(
            "{of_first}{} had the largest dominant share on average ({much:.3}), and {} the smallest ({little:.3}).",
            most.name, least.name
        ));
    }
    sentences
}

fn number(value: f64) -> Cell {
    Cell::text(format!("{value:.3}")).with_value(value.to_string())
}

/// Returns the figure of dominant shares and utilisation over time, with at most a fixed number of lines.
#[must_use]
pub fn course_series(scenario: &CourseScenario, course: &Course) -> Figure {
    let line = |name: String, value: &dyn Fn(usize) -> f64| {
        // Shares change in steps, so a line has two points at the time of each change.
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (at, moment) in course.moments.iter().enumerate() {
            let before = points.last().map(|(_, before)| (moment.time, *before));
            points.extend(before.filter(|(_, before)| *before != value(at)));
            points.push((moment.time, value(at)));
        }
        Series::line(name, points)
    };
    let plot = |y: &str, series| Plot::new(Axis::linear("time"), Axis::parts(y), series);
    let mut plots = Vec::new();
    let users = scenario.spec.users.iter().enumerate().take(MOST_LINES);
    let shares = users.map(|(n, user)| line(user.name.clone(), &|at| course.moments[at].shares[n]));
    plots.push(plot("global dominant share", shares.collect()));
    let rows = scenario.spec.servers.iter().enumerate().flat_map(|(i, server)| {
        let first = course.moments.first().map_or(&[][..], |moment| &moment.utilisation[i]);
        first.iter().map(move |(resource, _)| (i, format!("{}: {resource}", server.name), resource))
    });
    let of = |i: usize, resource: &String, at: usize| {
        let rows = &course.moments[at].utilisation[i];
        rows.iter().find(|(name, _)| name == resource).map_or(0.0, |(_, part)| *part)
    };
    let lines = rows.take(MOST_LINES).map(|(i, name, resource)| line(name, &|at| of(i, resource, at)));
    plots.push(plot("utilisation", lines.collect()));
    Figure { title: scenario.spec.name.clone(), plots, columns: 1 }
}
