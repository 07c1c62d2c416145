//! The option `verdict --window`: judges a window of a history.

use std::process::ExitCode;

use evenhand::cluster::certificate::self_test;
use evenhand::import::Input;
use evenhand::problem::Rational;
use evenhand::report::window::OverWindow;
use evenhand::usage::{
    History, Law, MaxMin, Settings, WindowSettings, end_of, judge, parse_duration, parse_time, window,
    window_certificate,
};
use evenhand_watch::history::{is_sqlite, usage};

use super::usage::{note_skipped, option, parsed, weights};
use crate::arguments::cluster::Verdict;
use crate::arguments::{Common, Format};
use crate::failure::Failure;
use crate::{files, output};

fn history(call: &Verdict, common: &Common) -> Result<History, Failure> {
    let reach = option("reach", call.over.reach.as_deref(), parse_duration)?;
    if is_sqlite(&call.snapshot) {
        return Ok(usage(&call.snapshot, reach)?);
    }
    if reach.is_some() {
        return Err(Failure::input(
            "--reach applies only to a history of watch: the rows of a table state their own ends",
        ));
    }
    let input = if files::is_standard(&call.snapshot) {
        Input::new("standard input", std::io::stdin())
    } else {
        Input::open(&call.snapshot)
    };
    let history = History::read_with_facts(input.map_err(Failure::input)?)?;
    note_skipped(&history, common);
    Ok(history)
}

/// Returns the settings of the law that chooses the next queue.
fn law(call: &Verdict, window: i64, of: &WindowSettings) -> Result<Settings, Failure> {
    let over = &call.over;
    let name = call.rule.as_deref().unwrap_or("ideal");
    let law: Law = match name {
        "ideal" => Law::Slurm,
        name => name.parse().map_err(|_| {
            Failure::input(format!(
                "--rule {name} divides a snapshot and does not choose queues by usage over time"
            ))
            .tip("a law: ideal, slurm, slurm-ticks, kueue, kai or volcano")
        })?,
    };
    let mut settings = Settings::new(law, 1);
    settings.half_life = of.half_life;
    settings.at = Some(of.to);
    settings.since = (name == "ideal").then_some(of.from);
    settings.every = option("every", over.every.as_deref(), parse_duration)?;
    settings.weights =
        if law == Law::Volcano { std::collections::BTreeMap::new() } else { of.weights.clone() };
    settings.resource_weights = of.resource_weights.clone();
    if law == Law::Kai {
        settings.window = Some(window);
        settings.resource_weights.clear();
    }
    if let Some((resource, amount)) = &over.capacity {
        settings.capacity = Some((resource.clone(), parsed("capacity", amount)?));
    }
    if let Some(k) = &over.k {
        settings.k = parsed("k", k)?;
        if settings.k < 0 {
            return Err(Failure::input(format!("--k: {k} is negative; k must be at least 0")));
        }
    }
    for (name, is_given) in [("capacity", over.capacity.is_some()), ("k", over.k.is_some())] {
        if is_given && law != Law::Kai {
            return Err(Failure::input(format!("--{name} belongs to --rule kai")));
        }
    }
    Ok(settings)
}

pub fn run(call: &Verdict, length: &str, tolerance: Rational, common: &Common) -> Result<ExitCode, Failure> {
    let over = &call.over;
    if common.format == Format::Prometheus {
        return Err(Failure::input("--format prometheus applies only to a snapshot, not to a window"));
    }
    let length = option("window", Some(length), parse_duration)?.unwrap_or_default();
    let at = option("at", over.at.as_deref(), parse_time)?;
    let mut settings = WindowSettings::new(0, length);
    settings.half_life = match over.half_life.as_deref() {
        None | Some("none") => None,
        text => option("half-life", text, parse_duration)?,
    };
    settings.weights = weights("weight", &over.weight)?;
    settings.resource_weights = weights("resource-weight", &over.resource_weight)?;
    settings.queues.clone_from(&over.queue);
    settings.wanted.clone_from(&over.wanted);
    settings.tolerance = tolerance;
    if let Some(text) = &over.coverage {
        settings.coverage = parsed("coverage", text)?;
    }
    let history = history(call, common)?;
    settings.to = match at {
        Some(at) => at,
        None => end_of(&history)?,
    };
    settings.from = settings.to - length;
    let law = law(call, length, &settings)?;
    let verdict = window(&history, &settings)?;
    let mut printed = false;
    if let Some(path) = &call.output {
        let text = window_certificate(&history, &settings, &verdict)?;
        output::unchecked(common, self_test(&text)?.as_deref());
        printed = files::write(path, &text)?;
    }
    // Without weights of several resources, the ideal law cannot rank queues.
    let is_ranked = call.rule.is_some() || !verdict.resource_weights.is_empty();
    let standings = is_ranked.then(|| judge(&history, &law)).transpose()?;
    let shown = OverWindow {
        history: &history,
        settings: &settings,
        verdict: &verdict,
        law: &law,
        rule: call.rule.as_deref().unwrap_or("ideal"),
        standings: standings.as_ref(),
        is_certified: call.output.is_some(),
    };
    if !printed {
        output::result(common, || shown.document(), || shown.page())?;
    }
    match &verdict.max_min {
        MaxMin::Judged { holds, .. } => Ok(ExitCode::from(u8::from(!holds))),
        MaxMin::DoesNotApply => Ok(ExitCode::SUCCESS),
        MaxMin::NotChecked(why) => {
            Err(Failure::solver(format!("whether the window is fair is not checked: {why}")))
        }
    }
}
