//! The command `solve`: computes an allocation.

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::time::Instant;

use evenhand::mechanisms::flags::Takes;
use evenhand::mechanisms::tree::{self, Entitlements};
use evenhand::mechanisms::{Flags, Method, Outcome, Status};
use evenhand::problem::format::problem_sha256;
use evenhand::problem::{Arithmetic, ServerClass, User};
use evenhand::{Problem, report};
use evenhand_budget::handle;

use super::mechanism;
use crate::arguments::{Common, Format, Solve};
use crate::failure::{Failure, unknown};
use crate::{files, output};

pub fn run(call: &Solve, common: &Common) -> Result<ExitCode, Failure> {
    let mechanism = mechanism(&call.mechanism)?;
    let arithmetic = if call.float { Arithmetic::Float } else { Arithmetic::Exact };
    let flags = call.flags.checked(arithmetic, common.seed)?;
    mechanism.check(&flags)?;
    let is_trajectory = flags.value("method")? == Some(Method::Trajectory);
    if call.series_output.series.is_some() && !is_trajectory {
        return Err(Failure::input("--series needs --method trajectory".to_owned()));
    }
    // Leaked on purpose: the process is about to exit, and dropping 100,000 users takes some hundredths of a
    // second.
    let problem = ManuallyDrop::new(files::problem(&call.problem, common)?);
    check_names(call, &problem)?;
    super::note_rule(flags.value("rule")?, &problem, common);
    let started = Instant::now();
    // Every answer states the hash of the problem. Computing the hash while the mechanism runs saves time,
    // because the problem stores the hash.
    let hash = || problem_sha256(&problem);
    let outcome =
        ManuallyDrop::new(with_background(&problem, || mechanism.allocate_with(&problem, &flags), hash).0?);
    if let Some(entitlements) = &outcome.findings.entitlements {
        return entitled(call, common, &problem, &flags, entitlements);
    }
    let seconds = started.elapsed().as_secs_f64();
    let mut document = report::json::allocation(&problem, &outcome);
    document.summary = call.summary;
    document.seconds = Some(seconds);
    let page = || report::outcome(&problem, &outcome, common.format == Format::Csv);
    let is_shown = common.format != Format::Json && !call.output.as_deref().is_some_and(files::is_standard);
    // A document that is written only to a file is streamed, so that it is never in memory as a whole.
    let as_made = call.output.as_deref().filter(|_| is_shown && !common.decimals);
    let document = || match as_made {
        Some(path) => files::save_by(path, &|out| document.write_json(out)).map(|()| None),
        None if is_shown && call.output.is_none() => Ok(None),
        None => document.to_json().map(Some).map_err(Failure::solver),
    };
    let (text, shown) = with_background(&problem, document, || is_shown.then(page));
    let mut text = text?;
    if common.decimals {
        text =
            text.map(|text| report::json::text_with_decimals(&text)).transpose().map_err(Failure::solver)?;
    }
    let printed = match (&call.output, &text) {
        (Some(path), Some(text)) => files::write(path, text)?,
        _ => false,
    };
    let printed = draw(call, is_trajectory, &problem, &outcome)? || printed;
    match &text {
        _ if printed => {}
        Some(text) if common.format == Format::Json => output::document(text)?,
        _ => output::page(&shown.flatten().unwrap_or_else(page), common)?,
    }
    match outcome.findings.status {
        None | Some(Status::Solved | Status::Interval) => Ok(ExitCode::SUCCESS),
        Some(status) => Err(Failure::solver(format!(
            "{} ended with the status `{}`: what was written is its last point{}",
            "{} stopped with the status `{}`: the result is the last point it reached{}",
            status.name(),
            if outcome.findings.gap.is_some() { ", with a proven gap to the optimum" } else { "" }
        ))),
    }
}

/// The number of users above which a second result takes some milliseconds to compute. Starting a thread
/// takes 0.1 ms.
const MANY_USERS: usize = 1_000;

/// Computes the first result, and at the same time the second result on another thread. The second result is
/// `None` if the problem is small, no thread is free, or a limit stops the computation. In this case the
/// caller computes the second result itself.
fn with_background<A, B: Send>(
    problem: &Problem,
    first: impl FnOnce() -> A,
    second: impl FnOnce() -> B + Send,
) -> (A, Option<B>) {
    if problem.n_users() < MANY_USERS || rayon::current_num_threads() == 1 {
        return (first(), None);
    }
    let limits = handle();
    std::thread::scope(|scope| {
        let second = std::thread::Builder::new().spawn_scoped(scope, || limits.enter(second));
        let first = first();
        (first, second.ok().and_then(|thread| thread.join().ok()))
    })
}

/// Writes the fair shares of groups, for a rule whose answer is fair shares and not tasks.
fn entitled(
    call: &Solve,
    common: &Common,
    problem: &Problem,
    flags: &Flags,
    entitlements: &Entitlements,
) -> Result<ExitCode, Failure> {
    let document = report::json::entitlements(problem, &tree::settings(flags)?, entitlements, None);
    let text = serde_json::to_string_pretty(&document).map_err(Failure::solver)?;
    let printed = match &call.output {
        Some(path) => files::write(path, &(text + "\n"))?,
        None => false,
    };
    if !printed {
        output::result(common, || document, || report::entitlements(problem, entitlements, None))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks that the problem has the server classes and users that the flags name.
fn check_names(call: &Solve, problem: &Problem) -> Result<(), Failure> {
    for (flag, text) in &call.flags.0 {
        let (kind, known): (_, Vec<&str>) = match flag.takes {
            Takes::Classes(_) => ("server class", problem.servers().iter().map(ServerClass::name).collect()),
            Takes::Users(_) => ("user", problem.users().iter().map(User::name).collect()),
            _ => continue,
        };
        if let Some(name) = text.split(',').map(str::trim).find(|name| !known.contains(name)) {
            return Err(unknown(kind, name, known));
        }
    }
    Ok(())
}

/// Writes the outputs of `--series` and `--plot`. Returns `true` if at least one of them went to standard
/// output.
fn draw(call: &Solve, is_trajectory: bool, problem: &Problem, outcome: &Outcome) -> Result<bool, Failure> {
    let steps = outcome.findings.series.as_deref().unwrap_or_default();
    let mut printed = false;
    if let Some(path) = &call.series_output.series {
        printed |= files::write(path, &report::trajectory_csv(problem, steps))?;
    }
    match &call.plot {
        Some(path) if is_trajectory => {
            let svg = report::trajectory(problem, steps).to_svg().map_err(Failure::solver)?;
            printed |= files::write(path, &svg)?;
        }
        Some(path) => printed |= super::draw_holdings(path, problem, &outcome.allocation)?,
        None => {}
    }
    Ok(printed)
}
