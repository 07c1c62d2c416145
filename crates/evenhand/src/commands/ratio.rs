//! `ratio`: greedy against optimal for a reservation problem, with the certificate.

pub mod sweep;
mod worst_load;

use std::process::ExitCode;
use std::time::Duration;

use evenhand::exact::ratio::{Certificate, Configuration, MOST_BYTES};
use evenhand::mechanisms::ratio;
use evenhand::problem::format::{FormatError, Source};
use evenhand::problem::{Rational, Reservation, number};
use evenhand::report::table::{Cell, Column, Table};
use evenhand::report::{Page, text};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use crate::arguments::{Common, Format, Ratio};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Ratio, common: &Common) -> Result<ExitCode, Failure> {
    let problem = files::read(&call.problem, |source| source.reservation())?;
    if let Some(range) = &call.sweep {
        return sweep::run(call, range, &problem, common);
    }
    if call.worst_load {
        return worst_load::run(call, &problem, common);
    }
    let certificate = ratio::certificate(&problem)?;
    let printed = save(call, || certificate.to_json_within(MOST_BYTES), Certificate::parse, &certificate)?;
    if certificate.ratio.is_none() {
        output::warn(common, "there is nothing to earn: no type has both a reward and a load");
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&super::document("ratio", document(&certificate)))?,
        Format::Table => output::page(&page(&certificate), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the certificate where it is wanted; returns whether that was standard output. Nothing leaves
/// that a reader of the file would not accept.
fn save<C: PartialEq>(
    call: &Ratio,
    text: impl FnOnce() -> Option<String>,
    parse: impl Fn(&Source<'_>) -> Result<C, FormatError>,
    certificate: &C,
) -> Result<bool, Failure> {
    let Some(path) = &call.output else { return Ok(false) };
    let text = text().ok_or_else(|| {
        Failure::solver(format!("too large: the certificate has more than {MOST_BYTES} bytes"))
    })?;
    match parse(&Source { name: "the certificate", text: &text }) {
        Ok(read) if read == *certificate => files::write(path, &text, &[&call.problem]),
        Ok(_) => Err(Failure::solver("the certificate does not read as it was written")),
        Err(error) => Err(Failure::solver(error.to_string())),
    }
}

/// Draws on a terminal only, on standard error.
fn progress(common: &Common) -> ProgressBar {
    let bar = if common.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn document(certificate: &Certificate) -> Value {
    let problem = &certificate.problem;
    let text = |value: &Rational| json!(number::format(value));
    let pool = |i: usize| problem.pools()[i].name();
    let greedy = certificate.greedy.steps.iter().map(|step| {
        json!({
            "pool": pool(step.pool),
            "configuration": configuration(problem, &step.configuration),
            "servers": text(&step.servers),
            "exhausted": step.exhausted.map(|j| problem.jobs()[j].name()),
        })
    });
    let assignment = &certificate.optimum.assignment;
    let optimal = assignment.servers.iter().map(
        |(i, k, x)| json!({"pool": pool(*i), "configuration": configuration(problem, k), "servers": text(x)}),
    );
    let mut document = super::document(
        "ratio",
        json!({
            "greedy": text(&certificate.greedy.reward),
            "optimum": text(&certificate.optimum.bound),
            "ratio": certificate.ratio.as_ref().map(number::format),
            "greedy_configurations": greedy.collect::<Vec<_>>(),
            "optimal_configurations": optimal.collect::<Vec<_>>(),
        }),
    );
    if let Some(whole) = &certificate.integer {
        document["integer"] = json!({
            "greedy": text(&whole.greedy.reward),
            "optimum_lower": text(&whole.optimum.assignment.reward),
            "optimum_upper": text(&whole.optimum.bound),
        });
    }
    document
}

fn configuration(problem: &Reservation, k: &Configuration) -> Value {
    let jobs = k.iter().map(|(j, k)| (problem.jobs()[*j].name().to_owned(), json!(k)));
    Value::Object(jobs.collect::<Map<_, _>>())
}

fn page(certificate: &Certificate) -> Page {
    let (ratio, assignment) = (certificate.ratio.as_ref(), &certificate.optimum.assignment.servers);
    let ratio = ratio.map_or_else(|| "none: nothing to earn".to_owned(), text::number);
    let mut words = format!(
        "greedy   {}\noptimum  {}\nratio    {ratio}\n",
        text::number(&certificate.greedy.reward),
        text::number(&certificate.optimum.bound)
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
