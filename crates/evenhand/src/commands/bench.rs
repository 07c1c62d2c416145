//! `bench`: solvers against the exact answer, and how long mechanisms take.

use std::process::ExitCode;

use evenhand_accuracy::{BenchError, Effort, accuracy, document, pictures, speed, text};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::{Bench, BenchKind, Common};
use crate::failure::Failure;
use crate::{files, output};

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::solver(error)
    }
}

pub fn run(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    match call.what {
        BenchKind::Accuracy => run_accuracy(call, common),
        BenchKind::Speed => run_speed(call, common),
    }
}

fn effort(call: &Bench) -> Effort {
    call.runs.map_or_else(Effort::default, |runs| Effort::of_runs(runs as usize))
}

/// Measures, with a bar that is drawn on a terminal only, on standard error.
fn measured<T>(
    steps: usize,
    common: &Common,
    run: impl FnOnce(&mut dyn FnMut(&str)) -> Result<T, BenchError>,
) -> Result<T, Failure> {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:18}");
    let bar = match common.quiet {
        true => ProgressBar::hidden(),
        false => {
            ProgressBar::new(steps as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }
    };
    let measured = run(&mut |name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    Ok(measured?)
}

fn run_accuracy(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    let steps = accuracy::n_measurements(common.seed);
    let measured = measured(steps, common, |step| accuracy::run(common.seed, effort(call), step))?;
    let document = document::accuracy(&measured, common.seed);
    if let Some(folder) = &call.output {
        let draw = |figure: evenhand::report::plot::Figure| figure.to_svg().map_err(BenchError::from);
        files::save_in(folder, "work-precision.json", format!("{document:#}\n"))?;
        files::save_in(folder, "work-precision.svg", draw(pictures::work_precision(&measured))?)?;
        files::save_in(folder, "trajectory.svg", draw(pictures::trajectory(&measured))?)?;
    }
    output::result(common, || document, || text::accuracy(&measured))
}

fn run_speed(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    let lines =
        measured(speed::n_measurements(), common, |step| speed::run(common.seed, effort(call), step))?;
    let document = document::speed(&lines, common.seed);
    if let Some(folder) = &call.output {
        files::save_in(folder, "speed.json", format!("{document:#}\n"))?;
    }
    output::result(common, || document, || text::speed(&lines))
}
