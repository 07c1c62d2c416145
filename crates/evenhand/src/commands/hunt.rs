//! The command `hunt`: searches for job types for which greedy packing earns a small fraction of the optimum.
//! The ratio is exact and certified.
//!
//! The fields of the JSON document are `searched` (the size, the method and the progress), `found` (the best
//! instance, or `null` if no ratio is below 1), `shrunk` (the same instance with smaller numbers), `list`
//! (the best instances with different ratios), and `below_limit` (whether the best ratio is below `1 - 1/e`).

mod session;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use evenhand::exact::ratio::MOST_BYTES;
use evenhand::problem::format::reservation_to_json;
use evenhand_hunt::{self as hunt, Clock, HuntError, Settings};
use session::{at_most, begin, in_time, search, shrunk};

use crate::arguments::{Common, Format, Hunt as Call};
use crate::failure::Failure;
use crate::{files, output};

/// The additional time after `--seconds` for making the numbers of the instance smaller.
const FOR_SHRINKING: Duration = Duration::from_millis(700);
/// The additional time after `--seconds` for the proofs and all other work.
const FOR_PROOFS: Duration = Duration::from_millis(1_400);

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
    if call.resume.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::input(
            "--resume: expected a file that can be read and written, found standard input (-)",
        ));
    }
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
        eprintln!(
            "warning: the lowest ratio is not certified: the time was up, or its certificate would be too large"
        );
    }
    let mut printed = false;
    if let Some(shrunk) = &shrunk {
        if let Some(path) = &call.output {
            printed |= files::write(path, &reservation_to_json(&shrunk.problem))?;
        }
        if let Some(path) = &call.certificate {
            let text = super::ratio::written(shrunk.certificate.to_json_within(MOST_BYTES))?;
            printed |= files::write(path, &text)?;
        }
    } else if best.is_none() && (call.output.is_some() || call.certificate.is_some()) {
        output::warn(common, "no instance with a ratio below 1 was found, so nothing is written");
    }
    let shrunk = shrunk.as_ref();
    match common.format {
        _ if printed => {}
        Format::Json => {
            let seconds = start.elapsed().as_secs_f64();
            output::json(&hunt::document(&hunt, found.as_ref(), shrunk, seconds)?, common)?;
        }
        _ => output::page(&hunt::page(&hunt, found.as_ref(), shrunk), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl From<HuntError> for Failure {
    fn from(error: HuntError) -> Self {
        if error.is_usage() { Self::input(error) } else { Self::solver(error) }
    }
}
