//! The commands `compare` and `report`: show mechanisms and allocations from files next to each other.

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evenhand::certify::compare::{Compared, Comparison, NoResult, columns};
use evenhand::certify::self_test;
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::format::AllocationFile;
use evenhand::problem::{Arithmetic, Problem, dedicated, printable};
use evenhand::report;

use super::request;
use super::{alpha, mechanism};
use crate::arguments::{Common, Compare, Format};
use crate::failure::Failure;
use crate::{files, output, watch};

pub fn run(call: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    compared(call, common, if call.output.is_some() { write_page } else { print })
}

/// The command `report`: writes a comparison as one HTML document with plots and certificates.
pub fn report(call: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    if evenhand_watch::history::is_sqlite(&call.problem) {
        return super::watch::report(call, common);
    }
    if super::cluster::is_snapshot(&call.problem) {
        return super::cluster::report(call, common);
    }
    compared(call, common, write_page)
}

/// Returns the page of the comparison. All certificates on the page have been accepted by the kernel.
fn page(call: &Compare, problem: &Problem, columns: &[Compared], common: &Common) -> Result<String, Failure> {
    for judged in columns.iter().filter_map(|column| column.result.as_ref().ok()) {
        let certificate = &judged.examination.certificate;
        if !certificate.claims.is_empty() {
            let unchecked = self_test(certificate).map_err(Failure::solver)?;
            output::unchecked(common, unchecked.as_deref());
        }
    }
    Ok(report::document(problem, columns, call.users.is_some()))
}

fn write_page(
    call: &Compare,
    problem: &Problem,
    columns: &[Compared],
    common: &Common,
) -> Result<(), Failure> {
    let document = page(call, problem, columns, common)?;
    // If the page goes to a file, `print` draws the picture below.
    if files::is_standard(call.page()) {
        draw(call, problem, columns)?;
    }
    if !files::write(call.page(), &document)? {
        output::note(common, format!("the page is in {}", call.page().display()));
        print(call, problem, columns, common)?;
    }
    Ok(())
}

/// Prints the comparison in the format of `--format`.
fn print(call: &Compare, problem: &Problem, columns: &[Compared], common: &Common) -> Result<(), Failure> {
    if draw(call, problem, columns)? {
        return Ok(());
    }
    match common.format {
        Format::Json => output::json(&report::json::comparison(problem, columns), common),
        Format::Html => output::text(&page(call, problem, columns, common)?),
        _ => output::page(&report::comparison(problem, columns, call.users.is_some()), common),
    }
}

/// Draws the picture of `--plot`. Returns `true` if the picture went to standard output.
fn draw(call: &Compare, problem: &Problem, columns: &[Compared]) -> Result<bool, Failure> {
    let Some(path) = &call.plot else { return Ok(false) };
    files::write(path, &report::shares(problem, columns).to_svg().map_err(Failure::solver)?)
}

/// Runs the mechanisms, judges their allocations and the allocations of the files, and writes the columns. If
/// the program has to end early, it writes the columns that are complete.
///
/// # Errors
/// If a file cannot be read or written. Also if a column is too large. In this case all other columns are
/// written first.
fn compared(
    call: &Compare,
    common: &Common,
    write: fn(&Compare, &Problem, &[Compared], &Common) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let problem = files::problem(&call.problem, common)?;
    let comparison = comparison(call, &problem)?;
    let names = comparison.names();
    let done = Arc::new(Mutex::new(Some(Vec::new())));
    let take =
        |done: &Mutex<Option<Vec<Compared>>>| done.lock().unwrap_or_else(PoisonError::into_inner).take();
    let bar = output::progress(common, None);
    watch::before_the_end({
        let (call, common, problem) = (call.clone(), common.clone(), problem.clone());
        let (names, done, bar) = (names.clone(), Arc::clone(&done), bar.clone());
        move |why| {
            let mut columns = take(&done)?;
            bar.finish_and_clear();
            let rest = names[columns.len()..].iter().cloned();
            let too_large =
                |name| Compared { name, result: Err(NoResult::TooLarge(format!("too large: {why}"))) };
            columns.extend(rest.map(too_large));
            Some(write(&call, &problem, &columns, &common).and_then(|()| ended(&columns)))
        }
    });
    let mut all = columns(&problem, &comparison);
    for name in names {
        bar.set_message(printable(&name));
        let column = all.next();
        if let Some(done) = &mut *done.lock().unwrap_or_else(PoisonError::into_inner) {
            done.extend(column);
        }
    }
    let columns = take(&done).unwrap_or_else(watch::wait_for_the_end);
    bar.finish_and_clear();
    write(call, &problem, &columns, common)?;
    ended(&columns)
}

/// Returns the exit status after all columns have been written. A column that is too large is a failure.
fn ended(columns: &[Compared]) -> Result<ExitCode, Failure> {
    let is_too_large = |column: &&Compared| matches!(column.result, Err(NoResult::TooLarge(_)));
    let names: Vec<&str> = columns.iter().filter(is_too_large).map(|column| column.name.as_str()).collect();
    if names.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let names = names.join(", ");
    Err(Failure::solver(format!(
        "too large: {names} (--work and --memory raise the limits); the other columns are written"
    )))
}

/// Returns the mechanisms and allocations to compare.
fn comparison(call: &Compare, problem: &Problem) -> Result<Comparison, Failure> {
    let mut mechanisms: Vec<&'static Mechanism> = match call.mechanisms.as_slice() {
        [] => registry::by_default(),
        names => names.iter().map(|name| mechanism(name)).collect::<Result<_, _>>()?,
    };
    let mut seen = HashSet::new();
    mechanisms.retain(|mechanism| seen.insert(mechanism.info.id));
    let alpha = alpha(call.alpha.as_deref())?;
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?;
    let given = call.allocations.iter().map(|path| {
        let name = path.file_stem().map_or_else(|| "-".into(), |stem| stem.to_string_lossy());
        Ok((name.into_owned(), files::allocation_file(path, problem)?))
    });
    let mut allocations: Vec<(String, AllocationFile)> = given.collect::<Result<_, Failure>>()?;
    if call.dedicated {
        allocations.extend([("dedicated", false), ("dedicated-whole", true)].map(|(name, whole)| {
            let allocation = dedicated(problem, whole);
            (name.to_owned(), AllocationFile { allocation, problem_sha256: None, is_final: true })
        }));
    }
    Ok(Comparison {
        mechanisms,
        allocations,
        axioms: call.axioms.iter().map(|text| request(text, problem)).collect::<Result<_, _>>()?,
        alpha,
        arithmetic: if call.float { Arithmetic::Float } else { Arithmetic::Exact },
        tolerance,
        time: Duration::from_secs_f64(call.seconds),
        processor: Some(watch::processor_time_left),
    })
}
