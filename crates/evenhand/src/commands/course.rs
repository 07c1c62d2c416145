//! `simulate` of users that come and go under a divisible mechanism.

use std::process::ExitCode;
use std::time::Instant;

use evenhand::problem::format::Document;
use evenhand::report;
use evenhand::simulate::{self, Course, SimulateError};

use crate::arguments::{Common, Simulate};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(
    document: &Document<'_>,
    call: &Simulate,
    until: Option<Instant>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    super::simulate::refuse_checkpoints(call, "a divisible mechanism")?;
    let source = document.source();
    let scenario =
        simulate::course_scenario(document).map_err(|error| Failure::format(&error, source.text))?;
    let seeds = (0..u64::from(call.replications)).map(|k| common.seed.wrapping_add(k));
    let courses: Result<Vec<Course>, SimulateError> =
        seeds.map(|seed| simulate::run_course(&scenario, seed, until)).collect();
    let courses = courses.map_err(|error| of_policy(document, error))?;
    let summary = simulate::course_document(&scenario, &courses);
    if let Some(folder) = &call.output {
        for course in &courses {
            let name = |name: &str| match courses.len() {
                1 => name.to_owned(),
                _ => format!("{}-{name}", course.seed),
            };
            files::save_in(folder, &name("series.csv"), simulate::course_tasks_csv(&scenario, course))?;
            let used = simulate::course_utilisation_csv(&scenario, course);
            files::save_in(folder, &name("utilisation.csv"), used)?;
            let svg = report::course_series(&scenario, course).to_svg();
            let svg = svg.map_err(|error| Failure::solver(error.to_string()))?;
            files::save_in(folder, &name("series.svg"), svg)?;
        }
        // Last: where it stands everything else does.
        files::save_in(folder, "summary.json", format!("{summary:#}\n"))?;
    }
    output::result(common, || summary, || report::course(&scenario, &courses))?;
    let stopped = courses.iter().filter(|course| course.end < scenario.horizon);
    super::simulate::ended(stopped.map(|course| (course.seed, course.end)), call)
}

/// A mechanism that has no allocation for users of the scenario: said at the policy.
fn of_policy(document: &Document<'_>, error: SimulateError) -> Failure {
    let policy = evenhand::problem::Place::root().key("policy");
    let located = document.error(document.locate(&policy), error.to_string());
    let failure = Failure::from(error);
    if failure.is_of_input() {
        Failure::format(&located, document.source().text)
    } else {
        Failure::solver(located.to_string())
    }
}
