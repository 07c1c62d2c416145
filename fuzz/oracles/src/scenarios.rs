//! The oracle for scenarios of all three kinds, and for checkpoints of their runs.

use std::path::Path;

use evenhand_budget::within;
use evenhand_problem::format::{Document, FormatError, Source};
use evenhand_problem::printable;
use evenhand_report as report;
use evenhand_simulate::{
    self as simulate, Checkpoint, Observer, ReadScenario, Scenario, SimulateError, Simulated, reservation,
};
use serde_json::{Value, json};

use crate::{LIMITS, said};

/// The number of events after which a run is stopped.
const MOST_EVENTS: u64 = 5_000;
/// The number of events between two checkpoints.
const BETWEEN: u64 = 16;
/// The number of checkpoints of a run that are resumed.
const CHECKPOINTS: usize = 3;
/// The seed of every run.
const SEED: u64 = 7;

/// The separator between a scenario and a checkpoint.
const THEN: &str = "\n----\n";

/// Runs a scenario of any kind. If the run has checkpoints, it is resumed from some of them, which must give
/// the same result.
pub fn scenarios(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { name: "scenario.json", text };
    let document = match source.document() {
        Ok(document) => document,
        Err(error) => return said::format_error(&error, &source),
    };
    let ended = within(&LIMITS, || {
        if reservation::is_admission(&document) {
            admission(&document)
        } else if simulate::is_course(&document) {
            course(&document)
        } else {
            tasks(&document)
        }
    });
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => said::format_error(&error, &source),
        Err(exceeded) => said::one_line(&printable(&exceeded.to_string())),
    }
}

fn admission(document: &Document<'_>) -> Result<(), FormatError> {
    let scenario = reservation::scenario(document, Path::new("absent"))?;
    match reservation::run(&scenario, &[SEED], None) {
        Ok(admitted) => said::page(&report::admission(&admitted)),
        Err(error) => said::one_line(&printable(&error.to_string())),
    }
    Ok(())
}

fn course(document: &Document<'_>) -> Result<(), FormatError> {
    let scenario = simulate::course_scenario(document)?;
    match simulate::run_course(&scenario, SEED, None) {
        Ok(course) => said::page(&report::course(&scenario, &[course])),
        Err(error) => said::one_line(&printable(&error.to_string())),
    }
    Ok(())
}

fn tasks(document: &Document<'_>) -> Result<(), FormatError> {
    let scenario = document.scenario(Path::new("absent"))?;
    let mut keeper = Keeper::default();
    let Some(whole) = run(&scenario, None, &mut keeper) else { return Ok(()) };
    let result = simulate::document(&whole);
    said::page(&report::simulation(&whole));
    for checkpoint in keeper.kept {
        let text = checkpoint.to_json();
        let read = Checkpoint::from_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(read, checkpoint);
        let resumed = run(&scenario, Some(&read), &mut Keeper::default());
        assert_eq!(
            resumed.map(|run| simulate::document(&run)),
            Some(result.clone()),
            "from event {}",
            read.events
        );
    }
    Ok(())
}

/// Runs a scenario. Returns the result if the run ends without an error and does not have too many events.
fn run(scenario: &Scenario, from: Option<&Checkpoint>, keeper: &mut Keeper) -> Option<Simulated> {
    match simulate::run_from(scenario, SEED, from, keeper) {
        Ok(simulated) => simulated,
        Err(error) => {
            said::one_line(&printable(&error.to_string()));
            None
        }
    }
}

/// An observer that stores the first checkpoints, and stops a long run.
#[derive(Default)]
struct Keeper {
    kept: Vec<Checkpoint>,
}

impl Observer for Keeper {
    fn every(&self) -> u64 {
        BETWEEN
    }

    fn look(
        &mut self,
        _: f64,
        events: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        if self.kept.len() < CHECKPOINTS {
            self.kept.push(checkpoint());
        }
        Ok(events < MOST_EVENTS)
    }
}

/// Resumes a run from a checkpoint that may have been changed. The checkpoint is tried unchanged and with a
/// corrected checksum. The input consists of a scenario, a line `----`, and a checkpoint.
pub fn checkpoints(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some((scenario, checkpoint)) = text.split_once(THEN) else { return };
    let source = Source { name: "scenario.json", text: scenario };
    let Ok(scenario) = source.scenario(Path::new("absent")) else { return };
    for text in std::iter::once(checkpoint.to_owned()).chain(with_its_sum(checkpoint)) {
        match Checkpoint::from_json(&text) {
            Err(error) => said::one_line(&printable(&error.to_string())),
            Ok(checkpoint) => {
                let resumed = within(&LIMITS, || run(&scenario, Some(&checkpoint), &mut Keeper::default()));
                match resumed {
                    Ok(Some(simulated)) => said::page(&report::simulation(&simulated)),
                    Ok(None) => {}
                    Err(exceeded) => said::one_line(&printable(&exceeded.to_string())),
                }
            }
        }
    }
}

/// Returns the input with another scenario or with a damaged checkpoint. Returns `None` if the damaged part
/// is not a document.
#[must_use]
pub fn other_checkpoint(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let (scenario, checkpoint) = std::str::from_utf8(bytes).ok()?.split_once(THEN)?;
    let damaged = |text: &str| String::from_utf8(crate::mutated(text.as_bytes(), seed)?).ok();
    Some(
        match seed % 4 {
            0 => damaged(scenario)? + THEN + checkpoint,
            _ => scenario.to_owned() + THEN + &damaged(checkpoint)?,
        }
        .into_bytes(),
    )
}

/// Returns the checkpoint with a corrected checksum of its words (FNV-1a), as an attacker would state it.
fn with_its_sum(checkpoint: &str) -> Option<String> {
    let mut document: Value = serde_json::from_str(checkpoint).ok()?;
    let words: Option<Vec<u64>> = document.get("words")?.as_array()?.iter().map(Value::as_u64).collect();
    let bytes = words?.into_iter().flat_map(u64::to_le_bytes);
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    document["check"] = json!(sum);
    Some(document.to_string())
}

/// Returns a random scenario and a checkpoint of its run, in the form that [`checkpoints`] reads. The result
/// is empty if the run has no checkpoint.
#[must_use]
pub fn random_checkpoint(seed: u32) -> Vec<u8> {
    let bytes = crate::grammar::random_scenario(seed);
    let text = String::from_utf8_lossy(&bytes);
    let mut keeper = Keeper::default();
    if let Ok(scenario) = (Source { name: "scenario.json", text: &text }).scenario(Path::new("absent")) {
        let _ = within(&LIMITS, || run(&scenario, None, &mut keeper));
    }
    keeper
        .kept
        .last()
        .map(|checkpoint| format!("{text}{THEN}{}", checkpoint.to_json()))
        .unwrap_or_default()
        .into_bytes()
}
