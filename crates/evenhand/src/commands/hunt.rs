//! `hunt`: job types with a low ratio of greedy and optimum, exact and certified.
//!
//! JSON: `searched` (the size, the method, how far it came and what was done), `found` (the best instance,
//! `null` where none has a ratio below 1), `shrunk` (the same in smaller numbers), `list` (the best few of
//! different ratios), and `below_limit`, whether the best ratio is below `1 - 1/e`.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evenhand::exact::ratio::MOST_BYTES;
use evenhand::hunt::{self, Certified, Clock, Found, Hunt, HuntError, STEPS, Settings, State, WALKS};
use evenhand::problem::format::reservation_to_json;
use evenhand::problem::{Quantities, Rational, Reservation, number};
use evenhand::report::table::{Cell, Column, Table};
use evenhand::report::{Page, text};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use crate::arguments::{Common, Format, Hunt as Call};
use crate::failure::Failure;
use crate::{files, output};

/// Steps of a local search for which nobody has asked.
const STEPS_BY_DEFAULT: u64 = 200_000;
/// After the time that was given, for smaller numbers.
const FOR_SHRINKING: Duration = Duration::from_millis(700);
/// After the time that was given, for all that is left.
const FOR_PROOFS: Duration = Duration::from_millis(1_400);
/// Bytes of a saved hunt: a hundred instances of the largest size take less.
const MOST_STATE_BYTES: u64 = 4 << 20;
/// Between two saved states.
const BETWEEN_STATES: Duration = Duration::from_secs(2);

pub fn run(call: &Call, common: &Common) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let at_most = at_most(call)?;
    let settings = Settings {
        types: call.types,
        resources: call.resources,
        capacity: call.capacity,
        rewards: call.rewards,
        exhaustive: call.exhaustive,
        seed: common.seed,
        keep: call.keep,
    };
    distinct(call)?;
    let clock = |more: Duration| {
        call.seconds.map_or_else(Clock::default, |s| Clock::until(start + Duration::from_secs(s) + more))
    };
    let mut hunt = begin(call, settings, clock(Duration::ZERO))?;
    search(&mut hunt, call, common, start)?;
    let best = hunt.best().first();
    let found =
        best.and_then(|best| in_time(hunt::certify(best, &clock(FOR_PROOFS))).transpose()).transpose()?;
    let shrunk = best.and_then(|best| {
        shrunk(best, at_most.as_ref(), &clock(FOR_SHRINKING), &clock(FOR_PROOFS)).transpose()
    });
    let shrunk = shrunk.transpose()?.or_else(|| found.clone());
    if best.is_some() && found.is_none() && !common.quiet {
        eprintln!("warning: the time was up before the lowest ratio was computed again and certified");
    }
    let mut printed = false;
    if let Some(shrunk) = &shrunk {
        let inputs: Vec<&Path> = call.resume.iter().map(AsRef::as_ref).collect();
        if let Some(path) = &call.output {
            printed |= files::write(path, &reservation_to_json(&shrunk.problem), &inputs)?;
        }
        if let Some(path) = &call.certificate {
            let text = shrunk.certificate.to_json_within(MOST_BYTES);
            let text = text.ok_or_else(|| {
                Failure::solver(format!("too large: the certificate has more than {MOST_BYTES} bytes"))
            })?;
            printed |= files::write(path, &text, &inputs)?;
        }
    } else if best.is_none() && (call.output.is_some() || call.certificate.is_some()) {
        output::warn(common, "no instance with a ratio below 1 was found: nothing is written");
    }
    let shrunk = shrunk.as_ref();
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&document(&hunt, found.as_ref(), shrunk, start)?)?,
        Format::Table => output::page(&page(&hunt, found.as_ref(), shrunk), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(error: &HuntError) -> Failure {
    if error.is_usage() { Failure::input(error.to_string()) } else { Failure::solver(error.to_string()) }
}

fn at_most(call: &Call) -> Result<Option<Rational>, Failure> {
    let Some(text) = &call.at_most else { return Ok(None) };
    let value = number::parse(text).map_err(|error| Failure::input(format!("--at-most: {error}")))?;
    if value <= 0 || value >= 1 {
        return Err(Failure::input("--at-most: expected a ratio between 0 and 1"));
    }
    Ok(Some(value))
}

fn distinct(call: &Call) -> Result<(), Failure> {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize().ok();
        (path.as_os_str() != "-").then(|| (folder, path.file_name().map(ToOwned::to_owned)))
    };
    let places = call.output.as_deref().zip(call.certificate.as_deref());
    if places
        .is_some_and(|(output, certificate)| output == certificate || place(output) == place(certificate))
    {
        return Err(Failure::input("the problem and its certificate cannot be one file"));
    }
    if call.resume.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::input("--resume: expected a file, which is read and written"));
    }
    Ok(())
}

/// From the saved state if there is one.
fn begin(call: &Call, settings: Settings, clock: Clock) -> Result<Hunt, Failure> {
    let saved = call.resume.as_deref().filter(|path| path.exists());
    let Some(path) = saved else {
        return Hunt::within(settings, clock).map_err(|error| failure(&error));
    };
    let text = state_text(path)?;
    let name = path.display();
    let state: State = serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("{name}: no saved hunt: {error}")))?;
    if state.settings != settings {
        return Err(Failure::input(format!(
            "{name}: the saved hunt has other options: {}",
            said(&state.settings)
        )));
    }
    Hunt::resume_within(state, clock).map_err(|error| match error {
        HuntError::State(_) => Failure::input(format!("{name}: {error}")),
        error => failure(&error),
    })
}

/// The text of a saved hunt, of which no more is read than there can be.
fn state_text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error: std::io::Error| Failure::input(format!("{name}: {error}"));
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = String::new();
    file.take(MOST_STATE_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_STATE_BYTES {
        return Err(Failure::input(format!("{name}: no saved hunt: more than {MOST_STATE_BYTES} bytes")));
    }
    Ok(text)
}

/// The options that lead to these settings.
fn said(settings: &Settings) -> String {
    let Settings { types, resources, capacity, rewards, exhaustive, seed, keep } = settings;
    let method = if *exhaustive { "--exhaustive " } else { "" };
    format!(
        "{method}--types {types} --resources {resources} --capacity {capacity} --rewards {rewards} \
         --seed {seed} --keep {keep}"
    )
}

fn search(hunt: &mut Hunt, call: &Call, common: &Common, start: Instant) -> Result<(), Failure> {
    let most_steps = match (call.steps, call.seconds) {
        (None, None) if !call.exhaustive => Some(STEPS_BY_DEFAULT),
        (steps, _) => steps,
    };
    let most_time = call.seconds.map(Duration::from_secs);
    let bar = if common.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut saved = Instant::now();
    while !hunt.is_complete() {
        let (steps, all) = hunt.steps();
        if most_steps.is_some_and(|most| steps >= most)
            || most_time.is_some_and(|most| start.elapsed() >= most)
        {
            break;
        }
        let ratio = hunt.best().first().map_or_else(|| "none yet".to_owned(), |best| decimal(&best.ratio));
        let all = all.map_or_else(String::new, |all| format!(" of {all}"));
        bar.set_message(format!("{steps}{all} steps, lowest ratio {ratio}"));
        hunt.advance().map_err(|error| failure(&error))?;
        if saved.elapsed() >= BETWEEN_STATES {
            save(hunt, call)?;
            saved = Instant::now();
        }
    }
    bar.finish_and_clear();
    save(hunt, call)
}

fn save(hunt: &Hunt, call: &Call) -> Result<(), Failure> {
    let Some(path) = &call.resume else { return Ok(()) };
    let name = path.display();
    let text = serde_json::to_string_pretty(&hunt.state())
        .map_err(|error| Failure::solver(format!("{name}: {error}")))?;
    files::save(path, format!("{text}\n").as_bytes())
}

fn shrunk(
    best: &Found,
    at_most: Option<&Rational>,
    shrinking: &Clock,
    proving: &Clock,
) -> Result<Option<Certified>, Failure> {
    let target = at_most.filter(|target| best.ratio <= **target).unwrap_or(&best.ratio);
    let shrunk = hunt::shrink(best, target, shrinking).map_err(|error| failure(&error))?;
    in_time(hunt::certify(&shrunk, proving))
}

/// What was not done in time is not there.
fn in_time(certified: Result<Certified, HuntError>) -> Result<Option<Certified>, Failure> {
    match certified {
        Ok(certified) => Ok(Some(certified)),
        Err(HuntError::OutOfTime) => Ok(None),
        Err(error) => Err(failure(&error)),
    }
}

fn decimal(value: &Rational) -> String {
    format!("{:.6}", number::to_f64(value))
}

type Shrunk<'a> = Option<&'a Certified>;

fn document(
    hunt: &Hunt,
    found: Option<&Certified>,
    shrunk: Shrunk<'_>,
    start: Instant,
) -> Result<Value, Failure> {
    let list = hunt.best().iter().map(|found| {
        let problem = found.instance.problem(&[]).map_err(|error| failure(&error.into()))?;
        Ok(json!({
            "ratio": number::format(&found.ratio),
            "decimal": number::to_f64(&found.ratio),
            "problem": problem_value(&problem)?,
        }))
    });
    Ok(super::document(
        "hunt",
        json!({
            "searched": searched(hunt),
            "found": found.map(find).transpose()?,
            "shrunk": shrunk.map(find).transpose()?,
            "list": list.collect::<Result<Vec<Value>, Failure>>()?,
            "below_limit": below_limit(found, shrunk),
            "seconds": start.elapsed().as_secs_f64(),
        }),
    ))
}

fn searched(hunt: &Hunt) -> Value {
    let settings = hunt.settings();
    let counts = hunt.counts();
    let (steps, all) = hunt.steps();
    let mut searched = json!({
        "types": settings.types,
        "resources": settings.resources,
        "capacity": settings.capacity,
        "rewards": settings.rewards,
        "method": if settings.exhaustive { "exhaustive" } else { "local-search" },
        "seed": settings.seed,
        "complete": hunt.is_complete(),
        "steps": steps,
        "steps_in_all": all,
        "examined": counts.examined,
        "discarded_at_once": counts.discarded_at_once,
        "discarded": counts.discarded,
        "evaluated": counts.evaluated,
        "by_rationals": counts.by_rationals,
        "programmes": counts.programmes,
    });
    if let Some(all) = hunt.exhaustive() {
        searched["demand_matrices"] = json!(all.matrices);
        searched["classes"] = json!(all.n_classes());
        searched["covered"] = json!(hunt.covered().map(|covered| covered.to_string()));
    }
    searched
}

fn problem_value(problem: &Reservation) -> Result<Value, Failure> {
    serde_json::from_str(&reservation_to_json(problem)).map_err(|error| Failure::solver(error.to_string()))
}

fn find(certified: &Certified) -> Result<Value, Failure> {
    let jobs = certified.problem.jobs().iter();
    let loads = jobs.map(|job| (job.name().to_owned(), json!(number::format(job.load()))));
    Ok(json!({
        "ratio": number::format(&certified.ratio),
        "decimal": number::to_f64(&certified.ratio),
        "greedy": number::format(&certified.certificate.greedy.reward),
        "optimum": number::format(&certified.certificate.optimum.bound),
        "loads": loads.collect::<Map<_, _>>(),
        "problem": problem_value(&certified.problem)?,
    }))
}

fn page(hunt: &Hunt, found: Option<&Certified>, shrunk: Shrunk<'_>) -> Page {
    let mut page = Page::new();
    if let Some(certified) = shrunk {
        page = page.table(types(&certified.problem)).text(format!(
            "greedy {}, optimum {}, ratio {}: no loads of these types have a lower one",
            text::number(&certified.certificate.greedy.reward),
            text::number(&certified.certificate.optimum.bound),
            text::number(&certified.ratio),
        ));
    }
    let mut list = Table::new([Column::words("lowest ratios found"), Column::numbers("decimal")]);
    for found in hunt.best() {
        list.row([Cell::text(number::format(&found.ratio)), Cell::text(decimal(&found.ratio))]);
    }
    let verdict = match found {
        None if hunt.best().is_empty() => "no ratio below 1 was found\n",
        None => "the time was up before the lowest ratio was computed again and certified\n",
        Some(_) if below_limit(found, shrunk) => {
            "the lowest ratio is BELOW 1 - 1/e = 0.632120..., which the paper's example tends to\n"
        }
        Some(_) => "no ratio below 1 - 1/e = 0.632120... was found\n",
    };
    page.table(list).text(words(hunt) + verdict)
}

/// The server and the job types of a problem: what they have and demand, rewards, worst loads.
fn types(problem: &Reservation) -> Table {
    let resources = problem.resources().iter().map(|name| Column::numbers(name));
    let rest = ["reward", "worst load"].map(Column::numbers);
    let mut table = Table::new([Column::words("type")].into_iter().chain(resources).chain(rest));
    let numbers = |numbers: &Quantities| numbers.iter().map(Cell::number).collect::<Vec<Cell>>();
    table.row([Cell::text("server")].into_iter().chain(numbers(problem.pools()[0].capacity())));
    for job in problem.jobs() {
        let rest = [Cell::number(job.reward()), Cell::number(job.load())];
        table.row([Cell::text(job.name())].into_iter().chain(numbers(job.demand())).chain(rest));
    }
    table
}

/// Whether a ratio is below `1 - 1/e`; shrinking may have lowered it.
fn below_limit(found: Option<&Certified>, shrunk: Shrunk<'_>) -> bool {
    let mut all = found.into_iter().chain(shrunk);
    all.any(|certified| hunt::against_limit(&certified.ratio).is_lt())
}

/// What was searched.
fn words(hunt: &Hunt) -> String {
    let counts = hunt.counts();
    let (steps, all) = hunt.steps();
    let mut words = match (hunt.exhaustive(), all) {
        (Some(classes), Some(all)) => format!(
            "all demands: {} matrices in {} classes; {steps} of {all} vectors of rewards\n",
            classes.matrices,
            classes.n_classes()
        ),
        _ => format!("local search: {steps} steps of {WALKS} walks, {STEPS} at a time\n"),
    };
    words.push_str(&format!(
        "instances examined {}: discarded at once {}, by linear programmes {}, evaluated {}\n",
        counts.examined, counts.discarded_at_once, counts.discarded, counts.evaluated
    ));
    if let Some(covered) = hunt.covered() {
        words.push_str(&format!("complete: settles {covered} instances of this size\n"));
    }
    words
}
