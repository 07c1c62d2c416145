//! `import`: a problem from real cluster data.

use std::path::Path;
use std::process::ExitCode;

use evenhand::import::{GoogleOptions, GoogleUsers, Input, google, openb};
use evenhand::problem::format::problem_to_json;

use crate::arguments::{Common, Import, ImportSource};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Import, common: &Common) -> Result<ExitCode, Failure> {
    let open = |path: &Path| {
        let opened =
            if path.as_os_str() == "-" { Input::new("-", std::io::stdin()) } else { Input::open(path) };
        opened.map_err(Failure::input)
    };
    // As with the flags of mechanisms: what would be ignored is refused.
    let given = [("--time", call.time != 0), ("--by-shape", call.by_shape)];
    if let (ImportSource::Openb, Some((flag, _))) = (call.source, given.iter().find(|(_, given)| *given)) {
        return Err(Failure::input(format!("{flag} does not go with openb")));
    }
    let imported = match (call.source, call.files.as_slice()) {
        (ImportSource::Openb, [nodes, pods]) => openb(open(nodes)?, open(pods)?),
        (ImportSource::Openb, _) => {
            return Err(Failure::input("openb takes two files: the node list and a pod list"));
        }
        (ImportSource::Google, [machines, tasks @ ..]) if !tasks.is_empty() => {
            let users = if call.by_shape { GoogleUsers::ByShape } else { GoogleUsers::ByUser };
            let tasks = tasks.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
            google(open(machines)?, tasks, GoogleOptions { time: call.time, users })
        }
        (ImportSource::Google, _) => {
            return Err(Failure::input("google takes a machine table or machine events, then task events"));
        }
    };
    let imported = imported.map_err(Failure::input)?;
    for note in &imported.notes {
        output::note(common, note.to_string());
    }
    for warning in imported.problem.warnings() {
        output::warn(common, warning.to_string());
    }
    let text = problem_to_json(&imported.problem);
    match &call.output {
        Some(path) => {
            files::write(path, &text)?;
        }
        None => output::document(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}
