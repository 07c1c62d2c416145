//! `compare`: mechanisms, and allocations from files, side by side.

use std::process::ExitCode;
use std::time::Duration;

use evenhand::certify::compare::{Compared, Comparison, compare};
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::format::AllocationFile;
use evenhand::problem::{Arithmetic, Problem, dedicated, printable};
use evenhand::report;

use super::requests::request;
use super::{alpha, mechanism};
use crate::arguments::{Common, Compare, Format};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    let problem = files::problem(&call.problem, common)?;
    let columns = columns(call, &problem, common)?;
    print(call, &problem, &columns, common)?;
    Ok(ExitCode::SUCCESS)
}

/// The comparison as it is printed.
pub fn print(
    call: &Compare,
    problem: &Problem,
    columns: &[Compared],
    common: &Common,
) -> Result<(), Failure> {
    match common.format {
        Format::Json => output::json(&report::json::comparison(problem, columns)),
        Format::Table => output::page(&report::comparison(problem, columns, call.users.is_some()), common),
    }
}

/// Runs the mechanisms and judges what they and the files allocate.
pub fn columns(call: &Compare, problem: &Problem, common: &Common) -> Result<Vec<Compared>, Failure> {
    let mut mechanisms: Vec<&'static Mechanism> = match call.mechanisms.as_slice() {
        [] => registry::ALL.to_vec(),
        names => names.iter().map(|name| mechanism(name)).collect::<Result<_, _>>()?,
    };
    let mut seen = std::collections::HashSet::new();
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
    let comparison = Comparison {
        mechanisms,
        allocations,
        axioms: call.axioms.iter().map(|text| request(text, problem)).collect::<Result<_, _>>()?,
        alpha,
        arithmetic: if call.float { Arithmetic::Float } else { Arithmetic::Exact },
        tolerance,
        time: Duration::from_secs_f64(call.seconds),
    };
    let bar = output::progress(common, None);
    let columns = compare(problem, &comparison, |name| bar.set_message(printable(name)));
    bar.finish_and_clear();
    Ok(columns)
}
