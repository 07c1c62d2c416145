//! Greedy packing compared with the optimum, in text for people.

use evenhand_certify::ratio::{Monotone, Order, Sweep, lower_bound};
use evenhand_exact::ratio::{Configuration, RatioCertificate, worst_load};
use evenhand_problem::{Rational, Reservation};

use crate::table::{Cell, Table};
use crate::{Page, text};

/// Returns the rewards of greedy packing and of the optimum, with a line for every configuration, and their ratio.
#[must_use]
pub fn ratio(certificate: &RatioCertificate) -> Page {
    let (ratio, assignment) = (certificate.ratio.as_ref(), &certificate.optimum.assignment.servers);
    let ratio = ratio.map_or_else(|| "none, because there is nothing to earn".to_owned(), text::number);
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
        .lines(words.lines())
}

/// Returns a line for every point of a sweep, and the critical loads.
#[must_use]
pub fn sweep(found: &Sweep) -> Page {
    let table = Table::of(&found.points)
        .numbers("load", |point| Cell::number(&point.load))
        .numbers("greedy", |point| Cell::decimal(&point.greedy))
        .numbers("optimum", |point| Cell::decimal(&point.optimum))
        .numbers("ratio", |point| match &point.ratio {
            None => Cell::text("none").with_value(""),
            Some(ratio) => Cell::decimal(ratio),
        })
        .table();
    let mut words = String::new();
    if let Some(load) = &found.all_served {
        words.push_str(&format!("up to {} times the load everything is served\n", text::number(load)));
    }
    if let Some(load) = &found.all_best {
        words.push_str(&format!(
            "from {} times the load on, every server holds the configuration with the greatest reward\n",
            text::number(load)
        ));
    }
    Page::new().table(table).lines(words.lines())
}

/// Returns the page of [`sweep`] with a heading and its picture (SVG).
#[must_use]
pub fn sweep_page(found: &Sweep, name: &str, picture: String) -> Page {
    let points = || found.points.iter().chain(&found.at_critical_loads);
    let ratios = points().filter_map(|point| Some((point.ratio.as_ref()?, &point.load)));
    let mut short: Vec<String> = Vec::new();
    match ratios.min() {
        None => short.push("There is nothing to earn at these loads.".to_owned()),
        Some((ratio, _)) if *ratio == 1 => {
            short.push("Greedy packing earns the optimum at every load of the sweep.".to_owned());
        }
        Some((ratio, load)) => short.push(format!(
            "Greedy packing does worst at {} times the stated load, among {} loads: there it earns {} of the optimum.",
            text::number(load),
            points().count(),
            text::percent(ratio)
        )),
    }
    if let Some(load) = &found.all_served {
        short.push(format!("Up to {} times the load everything is served.", text::number(load)));
    }
    if let Some(load) = &found.all_best {
        let load = text::number(load);
        short.push(format!(
            "From {load} times the load on, every server holds the configuration with the greatest reward."
        ));
    }
    let says =
        "Rewards per server of greedy packing and of the optimum, and their ratio, by multiples of the load";
    let page = Page::new().heading(format!("Greedy against optimal: {name}")).picture(picture, says);
    page.append(sweep(found)).short(short)
}

/// Returns the loads with the least ratio.
#[must_use]
pub fn worst_load(certificate: &worst_load::WorstLoadCertificate) -> Page {
    let worst_load::WorstLoadCertificate {
        problem, ratio_lower, ratio_upper, loads, greedy, optimum, ..
    } = certificate;
    let table = Table::of(problem.jobs().iter().zip(loads))
        .words("job type", |(job, _)| job.name())
        .numbers("load per server", |(_, load)| Cell::number(load))
        .table();
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
            .lines([
                format!("greedy   {}", text::number(&greedy.reward)),
                format!("optimum  {}", text::number(&optimum.reward)),
                format!("ratio    {}", text::number(upper)),
            ]),
        _ => Page::new().text("there is nothing to earn, whatever the demand"),
    }
}

/// Returns the answer to the question whether a larger load can reduce the reward of greedy packing. The
/// proof of a negative answer shows the first orders in which types run out. The proof of a positive answer
/// is a counterexample of two loads.
#[must_use]
pub fn monotone(problem: &Reservation, found: &Monotone) -> Page {
    match found {
        Monotone::Holds { orders, proof } => {
            let page = Page::new().lines([
                "more load never earns greedy less with these types (monotone greedy property), whatever the load"
                    .to_owned(),
                format!(
                    "proof: types can run out in {orders} orders; in each the reward is linear in the loads, and falls \
                     with none of them"
                ),
            ]);
            let left = orders - MOST_ORDERS.min(proof.len());
            let page = if proof.is_empty() { page } else { page.table(of_orders(problem, proof)) };
            match left {
                0 => page,
                _ if proof.is_empty() => page.text("too many orders to be listed"),
                _ => page.text(format!("and {left} more orders: `--format json` lists them all")),
            }
        }
        Monotone::Fails(two) => {
            let jobs = two.smaller.problem.jobs().iter().zip(two.larger.problem.jobs());
            let table = Table::of(jobs)
                .words("jobs per server", |(less, _)| less.name())
                .numbers("smaller load", |(less, _)| Cell::number(less.load()))
                .numbers("larger load", |(_, more)| Cell::number(more.load()))
                .table();
            Page::new()
                .text("more load may earn greedy less with these types: no monotone greedy property")
                .table(table)
                .lines([
                    format!("greedy with the smaller load  {}", text::number(&two.smaller.greedy.reward)),
                    format!("greedy with the larger load   {}", text::number(&two.larger.greedy.reward)),
                    "proof: the ratio certificates of both loads, which `--output FOLDER` writes".to_owned(),
                ])
        }
    }
}

/// The largest number of orders that are shown.
const MOST_ORDERS: usize = 16;

fn of_orders(problem: &Reservation, proof: &[Order]) -> Table {
    let name = |j: usize| problem.jobs()[j].name();
    let listed = |list: &mut dyn Iterator<Item = String>| list.collect::<Vec<_>>().join(", ");
    let orders = proof.iter().take(MOST_ORDERS).filter_map(|order| Some((order, order.steps.last()?)));
    Table::of(orders)
        .words("run out", |(order, _)| match order.exhausted.as_slice() {
            [] => "none".to_owned(),
            run_out => listed(&mut run_out.iter().map(|j| name(*j).to_owned())),
        })
        .words("servers then hold", |(_, last)| {
            let held = last.configuration.iter().enumerate().filter(|(_, k)| **k > 0);
            listed(&mut held.map(|(j, k)| format!("{k} {}", name(j))))
        })
        .numbers("reward", |(_, last)| Cell::number(&last.reward))
        .words("one more job per server earns", |(order, _)| {
            let earned = order.exhausted.iter().zip(&order.derivatives);
            listed(&mut earned.map(|(j, g)| format!("{} {g}", name(*j))))
        })
        .table()
}

/// Returns a line for every pool and configuration: the fraction of the servers with this configuration, and
/// the type that runs out.
fn table<'a>(
    name: &str,
    problem: &Reservation,
    lines: impl Iterator<Item = (usize, &'a Rational, Option<usize>, &'a Configuration)>,
) -> Table {
    let job = |j: usize| problem.jobs()[j].name();
    Table::of(lines)
        .words(name, |(pool, ..)| problem.pools()[*pool].name())
        .numbers("fraction of the servers", |(_, servers, ..)| Cell::number(servers))
        .words("exhausts", |(_, _, exhausted, _)| exhausted.map_or("", job))
        .unless_all("")
        .words("configuration", |(.., configuration)| {
            let jobs = configuration.iter().map(|(j, k)| format!("{k} {}", job(*j)));
            jobs.collect::<Vec<_>>().join(", ")
        })
        .table()
}
