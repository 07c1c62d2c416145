//! `ratio --sweep`: greedy and the optimum while the load grows.

use std::path::Path;
use std::process::ExitCode;

use evenhand::certify::ratio::{Sweep, multiples, sweep};
use evenhand::problem::Reservation;
use evenhand::report;

use crate::arguments::{Common, Range, Ratio};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Ratio, range: &Range, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    let multiples = multiples(&range.from, &range.to, range.steps);
    let bar = output::progress(common, None);
    let found = sweep(problem, &multiples, &mut |done| bar.set_message(format!("{done} of {}", range.steps)));
    bar.finish_and_clear();
    let found = found.map_err(Failure::solver)?;
    if problem.n_pools() > 1 {
        output::warn(common, "critical loads are defined for one pool of identical servers only");
    }
    if found.points.iter().all(|point| point.ratio.is_none()) {
        output::warn(common, "there is nothing to earn: no type has both a reward and a load");
    }
    let printed = match &call.plot {
        Some(path) => draw(path, &found, problem, &call.problem)?,
        None => false,
    };
    if !printed {
        output::result(common, || report::json::sweep(&found), || report::ratio::sweep(&found))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn draw(path: &Path, found: &Sweep, about: &Reservation, problem: &Path) -> Result<bool, Failure> {
    let file = problem.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = if about.name().is_empty() { file.unwrap_or_default() } else { about.name().to_owned() };
    let svg = report::sweep(found, &name).to_svg().map_err(Failure::solver)?;
    files::write(path, &svg)
}
