//! `explain`: why a user has what it has.

use std::process::ExitCode;

use evenhand::certify::explain::explain;
use evenhand::problem::User;
use evenhand::report;

use crate::arguments::{Common, Explain, Format};
use crate::failure::Failure;
use crate::{files, output, suggest};

pub fn run(call: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    files::distinct(&[&call.problem, &call.allocation])?;
    let problem = files::problem(&call.problem, common)?;
    let name = &call.user;
    let names = || problem.users().iter().map(User::name);
    let user = problem.user_named(name).ok_or_else(|| suggest::unknown("user", name, names()))?;
    let allocation = files::allocation(&call.allocation, &problem)?;
    let explanation =
        explain(&problem, &allocation, user).map_err(|error| Failure::input(error.to_string()))?;
    match common.format {
        Format::Json => {
            output::json(&report::json::explanation(&problem, allocation.sharing, &explanation))?;
        }
        Format::Table => {
            output::page(&report::explanation(&problem, allocation.sharing, &explanation), common)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
