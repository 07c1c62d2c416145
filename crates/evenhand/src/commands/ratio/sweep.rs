//! `ratio --sweep`: greedy and the optimum while the load grows.

use std::path::Path;
use std::process::ExitCode;

use evenhand::certify::ratio::{Sweep, multiples, sweep};
use evenhand::problem::{Rational, Reservation, number};
use evenhand::report;

use crate::arguments::{Common, Ratio};
use crate::failure::Failure;
use crate::{files, output};

/// Most points of a sweep.
const MOST_STEPS: usize = 100_000;

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

/// `FROM:TO:STEPS`
#[derive(Debug, Clone)]
pub struct Range {
    from: Rational,
    to: Rational,
    steps: usize,
}

impl Range {
    /// Reads it; what is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [from, to, steps] = parts[..] else {
            return Err("expected FROM:TO:STEPS".to_owned());
        };
        let multiple = |name: &str, text: &str| {
            let value = number::parse(text).map_err(|error| format!("{name}: {error}"))?;
            if value < 0 { Err(format!("{name} is negative")) } else { Ok(value) }
        };
        let (from, to) = (multiple("FROM", from)?, multiple("TO", to)?);
        let steps = steps.parse().ok().filter(|steps| (1..=MOST_STEPS).contains(steps));
        let steps = steps.ok_or_else(|| format!("STEPS: expected a whole number from 1 to {MOST_STEPS}"))?;
        match steps {
            _ if from > to => Err("FROM is larger than TO".to_owned()),
            1 if from < to => Err("STEPS: both ends are points, which makes two at least".to_owned()),
            2.. if from == to => Err("STEPS: FROM and TO are one point".to_owned()),
            _ => Ok(Self { from, to, steps }),
        }
    }
}

fn draw(path: &Path, found: &Sweep, about: &Reservation, problem: &Path) -> Result<bool, Failure> {
    let file = problem.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = if about.name().is_empty() { file.unwrap_or_default() } else { about.name().to_owned() };
    let svg = report::sweep(found, &name).to_svg().map_err(Failure::solver)?;
    files::write(path, &svg)
}
