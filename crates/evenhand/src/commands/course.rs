//! The command `simulate` under a divisible mechanism: users arrive and leave.

use std::process::ExitCode;
use std::time::Instant;

use evenhand::problem::format::Document;
use evenhand::report;
use evenhand::simulate::{self, Course, SimulateError};

use super::simulate::{RunFolder, finish, refuse_checkpoints, seeds};
use crate::arguments::{Common, Simulate};
use crate::failure::Failure;

pub fn run(
    document: &Document<'_>,
    call: &Simulate,
    until: Option<Instant>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    refuse_checkpoints(call, "a divisible mechanism")?;
    let source = document.source();
    let scenario =
        simulate::course_scenario(document).map_err(|error| Failure::format(&error, source.text))?;
    let run = |seed: u64| simulate::run_course(&scenario, seed, until);
    let courses: Result<Vec<Course>, SimulateError> = seeds(call, common).into_iter().map(run).collect();
    let courses = courses.map_err(|error| of_policy(document, error))?;
    let mut run_folder = RunFolder::new(call, courses.len());
    for course in courses.iter().filter(|_| call.output.is_some()) {
        let seed = Some(course.seed);
        run_folder.save(seed, "series.csv", simulate::course_tasks_csv(&scenario, course))?;
        run_folder.save(seed, "utilisation.csv", simulate::course_utilisation_csv(&scenario, course))?;
        let says = "Dominant shares of users, and use of each server class, over time";
        run_folder.picture(
            course.seed,
            "series.svg",
            report::course_series(&scenario, course).to_svg(),
            says,
        )?;
    }
    let stopped = courses.iter().filter(|course| course.end < scenario.horizon);
    let stopped = stopped.map(|course| (course.seed, course.end));
    let summary = simulate::course_document(&scenario, &courses);
    finish(run_folder, common, summary, || report::course(&scenario, &courses), stopped)
}

/// Returns the failure of a mechanism that has no allocation for the users of the scenario. The message
/// points to the policy.
pub(super) fn of_policy(document: &Document<'_>, error: SimulateError) -> Failure {
    let policy = evenhand::problem::Place::root().key("policy");
    let located = document.error(document.locate(&policy), error.to_string());
    let failure = Failure::from(error);
    if failure.is_of_input() {
        Failure::format(&located, document.source().text)
    } else {
        Failure::solver(located.to_string())
    }
}
