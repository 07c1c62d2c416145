//! The command `bench`: compares solvers with exact answers, and measures the running times of mechanisms.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use evenhand::Certificate;
use evenhand::lp::model::Model;
use evenhand::lp::read as lp_read;
use evenhand_accuracy::accuracy::{self, Settings};
use evenhand_accuracy::case::{Case, Input, Kind};
use evenhand_accuracy::keeper::{self, Keeper};
use evenhand_accuracy::outside;
use evenhand_accuracy::programmes;
use evenhand_accuracy::record::{Record, Unanswered};
use evenhand_accuracy::references::{self, Reference, ReferenceError};
use evenhand_accuracy::suite::{self, Suite};
use evenhand_accuracy::worker::{Question, Worker};
use evenhand_accuracy::{BenchError, Effort, document, page, speed, text};
use evenhand_budget::{Limits, within};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::lp;
use crate::arguments::{Bench, BenchKind, Common};
use crate::failure::Failure;
use crate::{files, output};

/// The default time limit in seconds for one run of one contender.
const SECONDS: f64 = 10.0;
/// The default time limit in seconds for the exact answer to a programme of `--suite netlib`.
const NETLIB_SECONDS: f64 = 60.0;
/// The folder of the saved references in the folder of a run.
const REFERENCES: &str = "references";

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::solver(error)
    }
}

pub fn run(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    match call.what {
        BenchKind::Accuracy if call.worker => run_worker(),
        BenchKind::Accuracy if call.keeper => run_keeper(),
        BenchKind::Accuracy => run_accuracy(call, common),
        BenchKind::Speed => run_speed(call, common),
    }
}

/// Returns a progress bar on standard error, which is drawn only on a terminal.
fn bar(steps: usize, common: &Common) -> ProgressBar {
    if common.quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:40}");
    ProgressBar::new(steps as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The questions of a run.
struct Questions {
    cases: Box<dyn Iterator<Item = Result<Case, BenchError>>>,
    count: usize,
    /// The fields of the document that describe the run.
    about: Value,
    /// The time limit in seconds for each exact answer. If it is `None`, every question must have an exact
    /// answer.
    exact_seconds: Option<f64>,
}

impl Questions {
    /// Returns questions that may have no exact answer within this time limit.
    fn limited(cases: Vec<Case>, suite: &Value, exact_seconds: f64) -> Self {
        let about = json!({"suite": suite, "exact_limit": exact_seconds});
        let count = cases.len();
        Self { cases: Box::new(cases.into_iter().map(Ok)), count, about, exact_seconds: Some(exact_seconds) }
    }
}

/// Returns the questions of a problem file, of a folder of MPS files, or of a suite that the program
/// generates.
fn questions(call: &Bench, seconds: f64, common: &Common) -> Result<Questions, Failure> {
    let kinds = kinds(call);
    let nothing = |path: &Path| {
        let kinds = call.kinds.join(", ");
        let message = format!("no question of --kind {kinds} can be asked about this problem");
        Failure::input(format!("{}: {message}", path.display()))
    };
    if let Some(path) = &call.problem {
        let mut cases = own_cases(path, common)?;
        cases.retain(|case| kinds.contains(&case.kind));
        if cases.is_empty() {
            return Err(nothing(path));
        }
        return Ok(Questions::limited(cases, &Value::Null, call.exact_seconds.unwrap_or(seconds)));
    }
    let suite: Suite = call.suite.as_deref().and_then(|name| name.parse().ok()).unwrap_or(Suite::Small);
    match (suite, &call.data) {
        (Suite::Netlib, None) => {
            Err(Failure::input("--suite netlib needs --data DIR, the folder of its MPS files"))
        }
        (Suite::Netlib, Some(folder)) => {
            if !kinds.contains(&Kind::LinearProgramme) {
                return Err(nothing(folder));
            }
            let cases = programmes_of(folder, common)?;
            let suite = json!({"name": suite.name(), "programmes": cases.len()});
            Ok(Questions::limited(cases, &suite, call.exact_seconds.unwrap_or(NETLIB_SECONDS)))
        }
        (_, Some(_)) => Err(Failure::input("--data applies only to --suite netlib")),
        (_, None) if call.exact_seconds.is_some() => {
            Err(Failure::input("--exact-seconds applies only to --problem and --suite netlib"))
        }
        (_, None) => Ok(Questions {
            cases: Box::new(suite::cases_of(suite, common.seed, &kinds)),
            count: suite::n_cases_of(suite, &kinds),
            about: json!({
                "suite": {"name": suite.name(), "version": suite::VERSION, "seed": common.seed},
                "exact_limit": null,
            }),
            exact_seconds: None,
        }),
    }
}

fn run_accuracy(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    let seconds = call.seconds.unwrap_or(SECONDS);
    let mut settings = Settings::new(Duration::from_secs_f64(seconds));
    settings.effort = call.runs.map(|runs| Effort::of_runs(runs as usize));
    settings.outside.clone_from(&call.solver);
    outside::distinguish(&mut settings.outside, &settings.inside);
    settings.worker = Some(worker(common)?);
    settings.keeper = Some(keeper()?);
    let Questions { cases, count, mut about, exact_seconds } = questions(call, seconds, common)?;
    about["limit"] = json!(seconds);
    about["unanswered"] = json!([]);
    let bar = bar(count, common);
    let (mut records, mut known): (Vec<Record>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut unanswered: Vec<Unanswered> = Vec::new();
    for case in cases {
        let case: Case = case?;
        let name = format!("{} {}", case.kind, case.name);
        bar.set_message(name.clone());
        let limits = exact_seconds.map(|seconds| exact_limits(&case, call.problem.as_deref(), seconds));
        let reference = match &call.output {
            Some(folder) => saved_reference(&case, folder, limits.as_ref(), common)?,
            None => computed(&case, limits.as_ref()).map_err(|source| no_reference(&case, source)),
        };
        match reference {
            Ok(reference) => {
                known.push(reference.summary(&case));
                let measured = accuracy::measure(case, reference, &settings, &mut |contender| {
                    bar.set_message(format!("{name}: {contender}"));
                });
                records.extend(measured.records);
            }
            // Some questions about a problem or programme of the user have no exact answer.
            Err(error @ BenchError::Reference { .. }) if exact_seconds.is_some() => {
                output::note(common, error.to_string());
                let why = match error {
                    BenchError::Reference { source, .. } => source.to_string(),
                    error => error.to_string(),
                };
                unanswered.push(Unanswered { instance: case.name, kind: case.kind, why });
                about["unanswered"] = document::unanswered(&unanswered);
            }
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
        // The results so far are saved after every case, because a run takes hours and may be stopped.
        if let Some(folder) = &call.output {
            let document = document::accuracy(&records, &about);
            files::save_in(folder, "accuracy.json", format!("{document:#}\n"))?;
            let known = json!({"references": &known});
            files::save_in(folder, "references.json", format!("{known:#}\n"))?;
        }
    }
    bar.finish_and_clear();
    if let Some(folder) = &call.output {
        for file in page::files(&records, &unanswered).map_err(BenchError::from)? {
            files::save_in(folder, file.name, file.text)?;
        }
    }
    output::result(
        common,
        || document::accuracy(&records, &about),
        || text::accuracy(&records).append(text::unanswered(&unanswered)),
    )
}

/// Returns the kinds of questions to ask: the kinds of `--kind`, or all kinds without this option.
fn kinds(call: &Bench) -> Vec<Kind> {
    let is_asked = |kind: &Kind| call.kinds.is_empty() || call.kinds.iter().any(|name| name == kind.name());
    Kind::ALL.into_iter().filter(is_asked).collect()
}

/// Returns the budget of an exact answer with a time limit. An answer about the user's own problem may use
/// the work and memory of `solve`. A linear programme is limited only by time and memory.
fn exact_limits(case: &Case, path: Option<&Path>, seconds: f64) -> Limits {
    let bytes = path.and_then(|path| path.metadata().ok()).map_or(0, |of_file| of_file.len());
    let work = Limits::A_MINUTE.saturating_mul(bytes.div_ceil(Limits::LARGE).max(1));
    let is_programme = case.kind == Kind::LinearProgramme;
    let is_small = !is_programme && bytes < Limits::LARGE;
    let memory = if is_small { Limits::SMALL_MEMORY } else { Limits::LARGE_MEMORY };
    let time = Some(Duration::from_secs_f64(seconds));
    Limits { work: (!is_programme).then_some(work), memory: Some(memory), time, ..Limits::default() }
}

fn computed(case: &Case, limits: Option<&Limits>) -> Result<Reference, ReferenceError> {
    match limits {
        Some(limits) => references::within(case, limits),
        None => references::of(case),
    }
}

/// Returns the command that starts this program as a worker, which runs one contender.
fn worker(common: &Common) -> Result<Worker, Failure> {
    let program = std::env::current_exe().map_err(Failure::solver)?;
    let threads = common.threads.map(|threads| format!("--threads={threads}"));
    let arguments = ["bench", "accuracy", "--worker"].map(OsString::from).into_iter();
    Ok(Worker { program, arguments: arguments.chain(threads.map(OsString::from)).collect() })
}

/// Returns the command that starts this program as the keeper of an external program.
fn keeper() -> Result<Keeper, Failure> {
    let program = std::env::current_exe().map_err(Failure::solver)?;
    let arguments = ["bench", "accuracy", "--keeper"].map(OsString::from).to_vec();
    Ok(Keeper { program, arguments })
}

/// Runs an external program for another process, and kills all processes that the program has started.
fn run_keeper() -> Result<ExitCode, Failure> {
    #[cfg(unix)]
    let wait = {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        use signal_hook::iterator::Signals;
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).map_err(Failure::solver)?;
        move || {
            signals.forever().next();
        }
    };
    #[cfg(not(unix))]
    let wait = || std::thread::park();
    keeper::keep(wait).map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a contender for the parent process, and ends when the parent process ends.
fn run_worker() -> Result<ExitCode, Failure> {
    let question = Question::read(&mut std::io::stdin().lock()).map_err(Failure::input)?;
    // The end of standard input shows that the parent process has ended.
    std::thread::spawn(|| {
        let _closed = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(3)
    });
    let mut say = |line: &str| {
        let mut output = std::io::stdout().lock();
        // The solver may have printed an incomplete line, so the answer begins on a new line.
        writeln!(output, "\n{line}")?;
        output.flush()
    };
    evenhand_accuracy::worker::answer(question, &mut say).map_err(Failure::input)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns all questions that can be asked about the problem of the user: an allocation problem, a
/// reservation or a linear programme.
fn own_cases(path: &Path, common: &Common) -> Result<Vec<Case>, Failure> {
    if let Some(name) = programme_name(path) {
        return Ok(vec![programme_case(&name, lp::programme(path)?, common)]);
    }
    let name = path.file_stem().map_or_else(|| "problem".into(), |stem| stem.to_string_lossy());
    let read = files::read(path, |source| {
        let kind = serde_json::from_str::<Value>(source.text).ok().map(|document| document["kind"].clone());
        match kind.as_ref().and_then(Value::as_str) {
            Some("reservation-problem") => Ok(Ok(Input::Reservation(source.reservation()?))),
            Some("linear-programme") => Ok(Err(source.text.to_owned())),
            _ => Ok(Ok(Input::Allocation(source.problem()?))),
        }
    })?;
    if let Ok(Input::Allocation(problem)) = &read
        && problem.has_rates()
    {
        return Err(Failure::input(
            "users state `rates`, which the solvers of this benchmark do not support",
        ));
    }
    let input = match read {
        Ok(input) => input,
        Err(text) => {
            let model = lp_read::read(&path.display().to_string(), &text)
                .map_err(|error| Failure::input(error.to_string()))?;
            return Ok(vec![programme_case(&name, model, common)]);
        }
    };
    if let Input::Allocation(problem) = &input {
        if !problem.groups().list().is_empty() {
            return Err(Failure::input(format!(
                "{}: the users are in groups, which the solvers of this benchmark do not support: remove the groups",
                path.display()
            )));
        }
        for warning in problem.warnings() {
            output::warn(common, warning.to_string());
        }
    }
    Ok(suite::own(&name, &input))
}

/// Returns the name of a programme, which is the name of its MPS or LP file without extensions. Returns
/// `None` for any other file.
fn programme_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let lower = name.to_ascii_lowercase();
    let without = |packing: &&str| {
        let plain = lower.strip_suffix(*packing)?;
        plain.strip_suffix(".mps").or_else(|| plain.strip_suffix(".lp"))
    };
    let length = ["", ".gz", ".zst", ".zip"].iter().find_map(without)?.len();
    Some(name[..length].to_owned())
}

fn programme_case(name: &str, model: Model, common: &Common) -> Case {
    if model.has_integers() {
        output::note(
            common,
            format!(
                "{name}: some columns have to be integers; all answers are for the relaxation, in which they may take \
                fractions"
            ),
        );
    }
    programmes::case(name, model)
}

/// Returns the programmes of all MPS and LP files of a folder, sorted by name. All files are read before the
/// first programme is solved.
fn programmes_of(folder: &Path, common: &Common) -> Result<Vec<Case>, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", folder.display()));
    let entries = folder.read_dir().map_err(|error| wrong(&error))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let named = |path: PathBuf| programme_name(&path).map(|name| (name, path));
    let mut files: Vec<(String, PathBuf)> =
        paths.map_err(|error| wrong(&error))?.into_iter().filter_map(named).collect();
    files.sort();
    if files.is_empty() {
        return Err(wrong(&"no file ends in .mps, .lp, .mps.gz or .lp.gz"));
    }
    if let Some(pair) = files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(wrong(&format!("two files are named `{}`; remove one of them", pair[0].0)));
    }
    files.iter().map(|(name, path)| Ok(programme_case(name, lp::programme(path)?, common))).collect()
}

fn no_reference(case: &Case, source: ReferenceError) -> BenchError {
    BenchError::Reference { instance: format!("{} {}", case.kind, case.name), source: Box::new(source) }
}

/// Returns the reference of a case. If the certificate in the folder has the committed hash, the reference is
/// read from the folder. Otherwise the reference is computed, and its certificate is written to the folder.
fn saved_reference(
    case: &Case,
    folder: &Path,
    limits: Option<&Limits>,
    common: &Common,
) -> Result<Result<Reference, BenchError>, Failure> {
    let folder = folder.join(REFERENCES);
    let hash = case.sha256();
    let name = format!("{}.json", case.file_name());
    let path = folder.join(&name);
    if let (Some(model), true) = (case.programme(), path.is_file()) {
        let read = files::read(&path, |source| Ok(programmes::proven_optimum(model, source.text)));
        if let Ok(Some(reference)) = read {
            return Ok(Ok(reference));
        }
    }
    let committed = suite::hashes(case.kind, &case.name).filter(|(problem, _)| *problem == hash);
    if let (Some((_, hash)), true) = (committed, path.is_file()) {
        let certificate = files::read(&path, Certificate::parse);
        let read = certificate.ok().and_then(|certificate| references::of_certificate(case, &certificate));
        if let Some(reference) = read.filter(|reference| reference.sha256() == hash) {
            return Ok(Ok(reference));
        }
    }
    let reference = match computed(case, limits) {
        Ok(reference) => reference,
        Err(source) => return Ok(Err(no_reference(case, source))),
    };
    if committed.is_some_and(|(_, hash)| reference.sha256() != hash) {
        return Ok(Err(BenchError::Hash(case.name.clone())));
    }
    let certificate =
        within(limits.unwrap_or(&Limits::default()), || references::certificate(case, &reference));
    match certificate.map_err(ReferenceError::from).flatten() {
        Ok(Some(text)) => files::save_in(&folder, &name, text)?,
        Ok(None) => {}
        Err(why) => {
            output::warn(
                common,
                format!("{} {}: the exact answer is used without a certificate: {why}", case.kind, case.name),
            );
        }
    }
    Ok(Ok(reference))
}

fn run_speed(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    let given = [
        ("--suite", call.suite.is_some()),
        ("--data", call.data.is_some()),
        ("--problem", call.problem.is_some()),
        ("--kind", !call.kinds.is_empty()),
        ("--seconds", call.seconds.is_some()),
        ("--exact-seconds", call.exact_seconds.is_some()),
        ("--solver", !call.solver.is_empty()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::input(format!(
            "{option} does not go with `bench speed`; it is an option of `bench accuracy`"
        )));
    }
    let bar = bar(speed::n_measurements(), common);
    let effort = call.runs.map_or_else(Effort::default, |runs| Effort::of_runs(runs as usize));
    let lines = speed::run(common.seed, effort, |name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let document = document::speed(&lines, common.seed);
    if let Some(folder) = &call.output {
        files::save_in(folder, "speed.json", format!("{document:#}\n"))?;
        files::save_in(folder, "index.html", text::speed(&lines).document())?;
    }
    output::result(common, || document, || text::speed(&lines))
}
