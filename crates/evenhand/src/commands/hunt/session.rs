//! The steps of a hunt, from its saved state to its certified results.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use evenhand::problem::{Rational, number};
use evenhand_hunt::{self as hunt, Certified, Clock, Found, Hunt, HuntError, Settings, State};

use crate::arguments::{Common, Hunt as Call};
use crate::failure::Failure;
use crate::{files, output};

/// The default number of steps of a local search.
const STEPS_BY_DEFAULT: u64 = 200_000;
/// The largest size of a saved hunt in bytes. A hundred instances of the largest size need less.
const MOST_STATE_BYTES: u64 = 4 << 20;
/// The time between two saved states.
const BETWEEN_STATES: Duration = Duration::from_secs(2);

/// Reads the value of `--at-most`.
pub fn at_most(call: &Call) -> Result<Option<Rational>, Failure> {
    let Some(text) = &call.at_most else { return Ok(None) };
    let value = number::parse(text).map_err(|error| Failure::input(format!("--at-most: {error}")))?;
    if value <= 0 || value >= 1 {
        return Err(Failure::input("--at-most: expected a ratio between 0 and 1"));
    }
    Ok(Some(value))
}

/// Starts the hunt. Resumes the saved state if it exists.
pub fn begin(call: &Call, settings: Settings, clock: Clock) -> Result<Hunt, Failure> {
    let saved = call.resume.as_deref().filter(|path| path.exists());
    let Some(path) = saved else {
        return Ok(Hunt::within(settings, clock)?);
    };
    let text = state_text(path)?;
    let name = path.display();
    let state: State = serde_json::from_str(&text)
        .map_err(|error| Failure::input(format!("{name}: this is not a saved hunt: {error}")))?;
    if state.settings != settings {
        return Err(Failure::input(format!(
            "{name}: the saved hunt was made with other options: {}",
            options_text(&state.settings)
        )));
    }
    Hunt::resume_within(state, clock).map_err(|error| match error {
        HuntError::State(_) => Failure::input(format!("{name}: {error}")),
        error => error.into(),
    })
}

/// Reads the text of a saved hunt, up to the largest possible size.
fn state_text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error: std::io::Error| Failure::input(format!("{name}: {error}"));
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = String::new();
    file.take(MOST_STATE_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_STATE_BYTES {
        return Err(Failure::input(format!(
            "{name}: this is not a saved hunt: it has more than {MOST_STATE_BYTES} bytes"
        )));
    }
    Ok(text)
}

/// Returns the options of the command line that produce these settings.
fn options_text(settings: &Settings) -> String {
    let Settings { types, resources, capacity, rewards, exhaustive, seed, keep } = settings;
    let method = if *exhaustive { "--exhaustive " } else { "" };
    format!(
        "{method}--types {types} --resources {resources} --capacity {capacity} --rewards {rewards} \
         --seed {seed} --keep {keep}"
    )
}

/// Searches until the search is complete, or until the requested number of steps or seconds is reached.
pub fn search(hunt: &mut Hunt, call: &Call, common: &Common, start: Instant) -> Result<(), Failure> {
    let most_steps = match (call.steps, call.seconds) {
        (None, None) if !call.exhaustive => Some(STEPS_BY_DEFAULT),
        (steps, _) => steps,
    };
    let most_time = call.seconds.map(Duration::from_secs);
    let bar = output::progress(common, None);
    let mut saved = Instant::now();
    while !hunt.is_complete() {
        let (steps, all) = hunt.steps();
        if most_steps.is_some_and(|most| steps >= most)
            || most_time.is_some_and(|most| start.elapsed() >= most)
        {
            break;
        }
        let ratio = hunt
            .best()
            .first()
            .map_or_else(|| "none yet".to_owned(), |best| format!("{:.6}", number::to_f64(&best.ratio)));
        let all = all.map_or_else(String::new, |all| format!(" of {all}"));
        bar.set_message(format!("{steps}{all} steps, lowest ratio {ratio}"));
        hunt.advance()?;
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

/// Returns the certified instance with smaller numbers. Returns `None` if there was not enough time.
pub fn shrunk(
    best: &Found,
    at_most: Option<&Rational>,
    shrinking: &Clock,
    proving: &Clock,
) -> Result<Option<Certified>, Failure> {
    let target = at_most.filter(|target| best.ratio <= **target).unwrap_or(&best.ratio);
    let shrunk = hunt::shrink(best, target, shrinking)?;
    in_time(hunt::certify(&shrunk, proving))
}

/// Replaces the error of a result that ran out of time or is too large by `None`.
pub fn in_time(certified: Result<Certified, HuntError>) -> Result<Option<Certified>, Failure> {
    match certified {
        Ok(certified) => Ok(Some(certified)),
        Err(error) if matches!(error, HuntError::OutOfTime) || error.is_too_large() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
