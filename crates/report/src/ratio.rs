//! Greedy against optimal, for people.

use evenhand_certify::ratio::{Sweep, lower_bound};
use evenhand_exact::ratio::{Configuration, RatioCertificate, worst_load};
use evenhand_problem::{Rational, Reservation};

use crate::table::{Cell, Column, Table};
use crate::{Page, text};

/// Greedy and the optimum, a line for every configuration, and their ratio.
#[must_use]
pub fn ratio(certificate: &RatioCertificate) -> Page {
    let (ratio, assignment) = (certificate.ratio.as_ref(), &certificate.optimum.assignment.servers);
    let ratio = ratio.map_or_else(|| "none: nothing to earn".to_owned(), text::number);
    let mut words = format!(
        "greedy   {}\noptimum  {}\nratio    {ratio}\nat least {} by greedy's own steps (Theorem C)\n",
        text::number(&certificate.greedy.reward),
        text::number(&certificate.optimum.bound),
        text::number(&lower_bound(certificate)),
    );
    if let Some(whole) = &certificate.integer {
        let (lower, upper) = (&whole.optimum.assignment.reward, &whole.optimum.bound);
        let between = match lower == upper {
            true => text::number(lower),
            false => format!("{} to {}", text::number(lower), text::number(upper)),
        };
        let greedy = text::number(&whole.greedy.reward);
        words.push_str(&format!("whole servers and jobs: greedy {greedy}, optimum {between}\n"));
    }
    let optimal =
        assignment.iter().map(|(pool, configuration, servers)| (*pool, servers, None, configuration));
    let greedy = certificate.greedy.steps.iter();
    let greedy = greedy.map(|step| (step.pool, &step.servers, step.exhausted, &step.configuration));
    Page::new()
        .table(table("greedy", &certificate.problem, greedy))
        .table(table("optimum", &certificate.problem, optimal))
        .text(words)
}

/// A line for every point of a sweep, and the critical loads.
#[must_use]
pub fn sweep(found: &Sweep) -> Page {
    let mut table = Table::new(["load", "greedy", "optimum", "ratio"].map(Column::numbers));
    for point in &found.points {
        let ratio = point.ratio.as_ref().map_or_else(|| Cell::text("none").with_value(""), Cell::decimal);
        table.row([
            Cell::number(&point.load),
            Cell::decimal(&point.greedy),
            Cell::decimal(&point.optimum),
            ratio,
        ]);
    }
    let mut words = String::new();
    if let Some(load) = &found.all_served {
        words.push_str(&format!("up to {} times the load everything is served\n", text::number(load)));
    }
    if let Some(load) = &found.all_best {
        words.push_str(&format!(
            "from {} times the load on every server holds the configuration of greatest reward\n",
            text::number(load)
        ));
    }
    Page::new().table(table).text(words)
}

/// The loads at which greedy looks worst.
#[must_use]
pub fn worst_load(certificate: &worst_load::WorstLoadCertificate) -> Page {
    let worst_load::WorstLoadCertificate {
        problem, ratio_lower, ratio_upper, loads, greedy, optimum, ..
    } = certificate;
    let mut table = Table::new([Column::words("at worst"), Column::numbers("load per server")]);
    for (job, load) in problem.jobs().iter().zip(loads) {
        table.row([Cell::text(job.name()), Cell::number(load)]);
    }
    match (ratio_lower, ratio_upper) {
        (Some(lower), Some(_)) if *lower == 1 => {
            Page::new().text("for these types greedy packing earns the optimum, whatever the demand")
        }
        (Some(lower), Some(upper)) => Page::new()
            .text(format!(
                "for these types greedy packing never earns less than {} of the optimum, whatever the demand",
                text::number(lower)
            ))
            .table(table)
            .text(format!(
                "greedy   {}\noptimum  {}\nratio    {}",
                text::number(&greedy.reward),
                text::number(&optimum.reward),
                text::number(upper)
            )),
        _ => Page::new().text("there is nothing to earn, whatever the demand"),
    }
}

/// A line for every pool and configuration: the part of the servers, and the type that it exhausts.
fn table<'a>(
    name: &str,
    problem: &Reservation,
    lines: impl Iterator<Item = (usize, &'a Rational, Option<usize>, &'a Configuration)>,
) -> Table {
    let exhausts = Column::words("exhausts").unless_all("");
    let part = Column::numbers("part of the servers");
    let mut table = Table::new([Column::words(name), part, exhausts, Column::words("configuration")]);
    let job = |j: usize| problem.jobs()[j].name();
    for (pool, servers, exhausted, configuration) in lines {
        let jobs: Vec<String> = configuration.iter().map(|(j, k)| format!("{k} {}", job(*j))).collect();
        table.row([
            Cell::text(problem.pools()[pool].name()),
            Cell::number(servers),
            exhausted.map_or_else(Cell::default, |j| Cell::text(job(j))),
            Cell::text(jobs.join(", ")),
        ]);
    }
    table
}
