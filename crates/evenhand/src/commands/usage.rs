//! The command `usage`: computes the decayed usage of queues by the law of a scheduler, and the queue that is
//! served next.

use std::collections::BTreeMap;
use std::process::ExitCode;

use evenhand::import::{ImportError, Input};
use evenhand::problem::{Rational, number};
use evenhand::report;
use evenhand::usage::{History, Law, Reported, Settings, UsageError, judge, parse_duration, parse_time};

use crate::arguments::Common;
use crate::arguments::usage::Usage;
use crate::failure::Failure;
use crate::{files, output};

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        match error {
            UsageError::Import(error @ ImportError::Temporary { .. }) => Self::solver(error),
            error => Self::input(error),
        }
    }
}

/// Parses the value of an option. The message of an error begins with the name of the option.
pub(super) fn option<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, UsageError>,
) -> Result<Option<T>, Failure> {
    let value = text.map(parse).transpose();
    value.map_err(|error| Failure::input(format!("--{name}: {error}")))
}

pub(super) fn parsed(name: &str, text: &str) -> Result<Rational, Failure> {
    number::parse_quantity(text).map_err(|error| Failure::input(format!("--{name}: {error}")))
}

pub(super) fn weights(name: &str, list: &[(String, String)]) -> Result<BTreeMap<String, Rational>, Failure> {
    let mut weights = BTreeMap::new();
    for (of, text) in list {
        if weights.insert(of.clone(), parsed(name, text)?).is_some() {
            return Err(Failure::input(format!("--{name}: `{of}` has two weights; state one")));
        }
    }
    Ok(weights)
}

fn settings(call: &Usage) -> Result<Settings, Failure> {
    let law: Law = call.law.parse()?;
    let mut settings = Settings::new(law, 1);
    settings.half_life = match call.half_life.as_deref() {
        None if !matches!(law, Law::Kai | Law::Karma) => {
            let law = law.name();
            return Err(Failure::input(format!("--law {law} needs --half-life, such as 7d or 168h")));
        }
        Some("none") | None => None,
        text => option("half-life", text, parse_duration)?,
    };
    settings.at = option("at", call.at.as_deref(), parse_time)?;
    settings.since = option("since", call.since.as_deref(), parse_time)?;
    settings.every = option("every", call.every.as_deref(), parse_duration)?;
    settings.weights = weights("weight", &call.weight)?;
    settings.resource_weights = weights("resource-weight", &call.resource_weight)?;
    settings.has_entry_penalty = call.entry_penalty;
    settings.window = option("window", call.window.as_deref(), parse_duration)?;
    settings.window_start = option("window-start", call.window_start.as_deref(), parse_time)?;
    if let Some((resource, amount)) = &call.capacity {
        settings.capacity = Some((resource.clone(), parsed("capacity", amount)?));
    }
    if let Some(k) = &call.k {
        settings.k = parsed("k", k)?;
        if settings.k < 0 {
            return Err(Failure::input(format!("--k: {k} is negative; k must be at least 0")));
        }
    }
    if let Some(alpha) = &call.alpha {
        settings.alpha = Some(parsed("alpha", alpha)?);
    }
    if let Some(credits) = &call.credits {
        settings.credits = Some(parsed("credits", credits)?);
    }
    let foreign = [
        ("entry-penalty", call.entry_penalty, Law::Kueue),
        ("capacity", call.capacity.is_some() && law != Law::Karma, Law::Kai),
        ("alpha", call.alpha.is_some(), Law::Karma),
        ("credits", call.credits.is_some(), Law::Karma),
        ("window", call.window.is_some(), Law::Kai),
        ("window-start", call.window_start.is_some(), Law::Kai),
        ("k", call.k.is_some(), Law::Kai),
    ];
    if let Some((name, _, of)) = foreign.iter().find(|(_, is_given, of)| *is_given && *of != law) {
        let of = of.name();
        return Err(Failure::input(format!("--{name} belongs to --law {of}, not to {}", law.name())));
    }
    if law == Law::Volcano && !settings.weights.is_empty() {
        return Err(Failure::input("--weight: Volcano's plugin fairshare has no weights of queues"));
    }
    if law == Law::Karma && settings.half_life.is_some() {
        return Err(Failure::input("--half-life: credits do not decay"));
    }
    if law == Law::Karma && !(settings.weights.is_empty() && settings.resource_weights.is_empty()) {
        return Err(Failure::input(
            "--weight and --resource-weight: Karma's credits have no weights; --capacity names the resource",
        ));
    }
    if law == Law::Kai && !settings.resource_weights.is_empty() {
        return Err(Failure::input(
            "--resource-weight: KAI divides each resource separately; --capacity names the resource",
        ));
    }
    Ok(settings)
}

pub fn run(call: &Usage, common: &Common) -> Result<ExitCode, Failure> {
    let settings = settings(call)?;
    let input = if files::is_standard(&call.history) {
        Input::new("standard input", std::io::stdin())
    } else {
        Input::open(&call.history)
    };
    let history = History::read(input.map_err(Failure::input)?)?;
    note_skipped(&history, common);
    let reported = call.reported.as_deref().map(Input::open).transpose().map_err(Failure::input)?;
    let reported = reported.map(Reported::read).transpose()?;
    if let Some(reported) = reported.as_ref().filter(|reported| !reported.reporter.follows(settings.law)) {
        let (by, law) = (reported.reporter.name(), settings.law.name());
        return Err(Failure::input(format!("--reported: the file is from {by}, whose law is not {law}")));
    }
    let standings = judge(&history, &settings)?;
    output::result(
        common,
        || report::standings_document(&history, &settings, &standings, reported.as_ref()),
        || report::standings(&history, &settings, &standings, reported.as_ref()),
    )
}

/// Writes a note about the rows that were left out.
pub(super) fn note_skipped(history: &History, common: &Common) {
    let skipped = history.skipped;
    for (count, what) in [
        (skipped.not_started, "jobs that have not started"),
        (skipped.steps, "steps of jobs, which repeat the usage of their job"),
        (skipped.without_resources, "jobs without allocated resources"),
    ] {
        if count > 0 {
            output::note(common, format!("rows left out: {count} ({what})"));
        }
    }
}
