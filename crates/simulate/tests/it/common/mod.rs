//! Helpers shared by the tests of runs. Some tests do not use all of these helpers.
#![allow(dead_code)]

use std::path::Path;

use evenhand_mechanisms::filling::Draw;
use evenhand_problem::format::Source;
use evenhand_simulate::{
    Checkpoint, Observer, ReadScenario, Run, Scenario, SimulateError, Simulated, run, run_from,
};

pub fn scenario(text: &str) -> Scenario {
    Source { name: "s.json", text }.scenario(Path::new("")).unwrap()
}

pub fn simulated(text: &str) -> Simulated {
    run(&scenario(text), &[0], &|_, _| {}).unwrap()
}

pub fn only(simulated: &Simulated) -> &Run {
    &simulated.runs[0].1
}

/// An observer that stops a run after a number of events and keeps the checkpoint.
pub struct Kill {
    pub after: u64,
    pub kept: Option<Checkpoint>,
}

impl Observer for Kill {
    fn every(&self) -> u64 {
        self.after
    }

    fn look(
        &mut self,
        _: f64,
        _: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        self.kept = Some(checkpoint());
        Ok(false)
    }
}

/// Stops a run repeatedly, each time after at most `most` events, and continues it from its checkpoint, which
/// is written as text and read again. Returns the result and the number of stops.
pub fn killed(scenario: &Scenario, seed: u64, draw: &mut Draw, most: u64) -> (Simulated, u64) {
    let (mut from, mut kills): (Option<Checkpoint>, u64) = (None, 0);
    loop {
        let mut kill = Kill { after: 1 + draw.below(most), kept: None };
        if let Some(done) = run_from(scenario, seed, from.as_ref(), &mut kill).unwrap() {
            return (done, kills);
        }
        kills += 1;
        from = Some(Checkpoint::from_json(&kill.kept.unwrap().to_json()).unwrap());
    }
}
