//! `hunt`: job types with a low ratio of greedy and optimum, exact and certified.
//!
//! JSON: `searched` (the size, the method, how far it came and what was done), `found` (the best instance,
//! `null` where none has a ratio below 1), `shrunk` (the same in smaller numbers), `list` (the best few of
//! different ratios), and `below_limit`, whether the best ratio is below `1 - 1/e`.

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

/// After the time that was given, for smaller numbers.
const FOR_SHRINKING: Duration = Duration::from_millis(700);
/// After the time that was given, for all that is left.
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
        return Err(Failure::input("--resume: expected a file, which is read and written"));
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
            "warning: the lowest ratio was not computed again and certified: the time was up, or it is too large"
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
        output::warn(common, "no instance with a ratio below 1 was found: nothing is written");
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
