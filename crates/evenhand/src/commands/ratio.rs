//! `ratio`: greedy against optimal for a reservation problem, with the certificate.

pub mod sweep;
mod worst_load;

use std::process::ExitCode;
use std::time::Duration;

use evenhand::exact::ratio::{Certificate, Configuration, MOST_BYTES};
use evenhand::mechanisms::ratio;
use evenhand::problem::format::{FormatError, Source};
use evenhand::problem::{Rational, Reservation, number};
use evenhand::report::text;
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
    if certificate.ratio.is_none() && !common.quiet {
        eprintln!("warning: there is nothing to earn: no type has both a reward and a load");
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&document(&certificate))?,
        Format::Table => output::text(&table(&certificate))?,
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

fn table(certificate: &Certificate) -> String {
    let problem = &certificate.problem;
    let pool = |i: usize| problem.pools()[i].name().to_owned();
    let jobs = |k: &Configuration| {
        let jobs = k.iter().map(|(j, k)| format!("{k} {}", problem.jobs()[*j].name()));
        jobs.collect::<Vec<_>>().join(", ")
    };
    let greedy = certificate.greedy.steps.iter().map(|step| {
        let exhausted = step.exhausted.map_or_else(String::new, |j| problem.jobs()[j].name().to_owned());
        vec![pool(step.pool), text::number(&step.servers), exhausted, jobs(&step.configuration)]
    });
    let optimal = certificate.optimum.assignment.servers.iter();
    let optimal = optimal.map(|(i, k, x)| vec![pool(*i), text::number(x), jobs(k)]);
    let header = ["greedy", "part of the servers", "exhausts", "configuration"];
    let mut out = text::table_with_words(&header, greedy.collect());
    out.push('\n');
    let header = ["optimum", "part of the servers", "configuration"];
    out.push_str(&text::table_with_words(&header, optimal.collect()));
    out.push('\n');
    let value = |value: &Rational| text::number(value);
    out.push_str(&format!("greedy   {}\n", value(&certificate.greedy.reward)));
    out.push_str(&format!("optimum  {}\n", value(&certificate.optimum.bound)));
    let ratio = certificate.ratio.as_ref().map_or_else(|| "none: nothing to earn".to_owned(), value);
    out.push_str(&format!("ratio    {ratio}\n"));
    if let Some(whole) = &certificate.integer {
        let (lower, upper) = (&whole.optimum.assignment.reward, &whole.optimum.bound);
        let between =
            if lower == upper { value(lower) } else { format!("{} to {}", value(lower), value(upper)) };
        out.push_str(&format!(
            "whole servers and jobs: greedy {}, optimum {between}\n",
            value(&whole.greedy.reward)
        ));
    }
    out
}
