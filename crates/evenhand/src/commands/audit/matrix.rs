//! The command `audit matrix`: examines every mechanism by every axiom and property.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evenhand_audit::MOST_INSTANCES;
use evenhand_audit::matrix::{self, Matrix, Progress, Settings};

use crate::arguments::Common;
use crate::arguments::audit::AuditMatrix;
use crate::failure::Failure;
use crate::{files, output};

/// The largest size of a saved matrix in bytes. A complete matrix needs less than a megabyte.
const MOST_STATE_BYTES: u64 = 64 << 20;
/// The time between two saved states.
const BETWEEN_STATES: Duration = Duration::from_secs(2);

pub fn run(call: &AuditMatrix, common: &Common) -> Result<ExitCode, Failure> {
    if call.resume.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::input(
            "--resume: expected a file that can be read and written, found standard input (-)",
        ));
    }
    let instances = call.instances;
    if !(1..=MOST_INSTANCES).contains(&instances) {
        return Err(Failure::input(format!(
            "--instances: expected a number from 1 to {MOST_INSTANCES}, found {instances}"
        )));
    }
    let settings = Settings { seed: common.seed, instances, premises: super::premises(call.premises) };
    let mut progress = begin(call, settings)?;
    search(&mut progress, call, common)?;
    let matrix = progress.finish();
    if let Some(folder) = &call.output {
        write(folder, &matrix)?;
    }
    output::result(common, || matrix::document(&matrix), || matrix::page(&matrix))
}

/// Starts the search. Resumes the saved state if it exists.
fn begin(call: &AuditMatrix, settings: Settings) -> Result<Progress, Failure> {
    let Some(path) = call.resume.as_deref().filter(|path| path.exists()) else {
        return Ok(Progress::new(settings));
    };
    let name = path.display();
    let failed = |error: std::io::Error| Failure::input(format!("{name}: {error}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MOST_STATE_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_STATE_BYTES {
        return Err(Failure::input(format!(
            "{name}: this is not a saved matrix: it has more than {MOST_STATE_BYTES} bytes"
        )));
    }
    let progress = Progress::read(&text).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    if *progress.settings() != settings {
        let options = options_text(progress.settings());
        return Err(Failure::input(format!(
            "{name}: the saved matrix was made with other options: {options}"
        )));
    }
    Ok(progress)
}

/// Returns the options of the command line that produce these settings.
fn options_text(settings: &Settings) -> String {
    let Settings { seed, instances, premises } = settings;
    let positive = if premises.positive { " --positive" } else { "" };
    let unlimited = if premises.unlimited { " --unlimited" } else { "" };
    let everywhere = if premises.everywhere { " --everywhere" } else { "" };
    format!("--seed {seed} --instances {instances}{positive}{unlimited}{everywhere}")
}

fn search(progress: &mut Progress, call: &AuditMatrix, common: &Common) -> Result<(), Failure> {
    let bar = output::progress(common, Some(progress.steps().1));
    // If the file already contains the complete matrix, it is not written again.
    let is_saved = progress.is_complete() && call.resume.as_deref().is_some_and(Path::exists);
    let mut saved = Instant::now();
    while !progress.is_complete() {
        let (done, all) = progress.steps();
        bar.set_length(all);
        bar.set_position(done);
        bar.set_message(progress.current().unwrap_or_default());
        progress.advance();
        if saved.elapsed() >= BETWEEN_STATES {
            save(progress, call)?;
            saved = Instant::now();
        }
    }
    bar.finish_and_clear();
    if is_saved { Ok(()) } else { save(progress, call) }
}

fn save(progress: &Progress, call: &AuditMatrix) -> Result<(), Failure> {
    let Some(path) = &call.resume else { return Ok(()) };
    files::save(path, format!("{}\n", progress.to_json()).as_bytes())
}

/// Writes the page, the matrix, and the certificates that refute cells of the matrix and claims of papers.
fn write(folder: &Path, matrix: &Matrix) -> Result<(), Failure> {
    let cells = matrix.cells.iter().map(|cell| (cell.file_name(), cell));
    let claims = matrix.claims.iter().map(|judged| (matrix::claim_name(judged), &judged.cell));
    for (name, cell) in cells.chain(claims) {
        let Some(shown) = &cell.shown else { continue };
        for (file, text) in matrix::certificates(&name, shown) {
            let path = Path::new(&file);
            let within = path.parent().map_or_else(|| folder.to_path_buf(), |parent| folder.join(parent));
            let last = path.file_name().unwrap_or_default().to_string_lossy();
            files::save_in(&within, &last, text)?;
        }
    }
    let document = format!("{:#}\n", matrix::document(matrix));
    files::save_in(folder, "matrix.json", evenhand::problem::printable_json(&document))?;
    files::save_in(folder, "index.html", matrix::html(matrix, true))
}
