//! One round of a watch: it takes the dump, imports the dump, and judges the snapshot within limits of work
//! and memory.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use evenhand_budget::{Limits, exceeded, handle, within};
use evenhand_cluster::reported::{compared, rule_of};
use evenhand_cluster::{ClusterError, Verdict};
use evenhand_dumps::Options;
use evenhand_import::{ImportError, Input};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::format::{MAX_FILE_BYTES, Source as Text, snapshot_to_json};
use evenhand_problem::snapshot::{Origin, Snapshot, System};
use evenhand_problem::{Rational, number, printable};
use evenhand_report as report;
use evenhand_report::metrics::{Metric, labels};
use evenhand_report::over_time::utc;
use sha2::{Digest, Sha256};

use crate::client::CommandLine;
use crate::error::Failure;
use crate::stop::Stop;

/// The commands that print the state of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The commands of a system. Each command prints a file of the dump.
    Dump(System, Vec<CommandLine>),
    /// A command that prints a snapshot in the format of `evenhand import`.
    Snapshot(CommandLine),
}

impl Source {
    /// Returns the name of the system. Returns an empty name for a snapshot.
    #[must_use]
    pub fn system(&self) -> &'static str {
        match self {
            Self::Dump(system, _) => system.name(),
            Self::Snapshot(_) => "",
        }
    }

    /// Returns the commands.
    #[must_use]
    pub fn commands(&self) -> &[CommandLine] {
        match self {
            Self::Dump(_, commands) => commands,
            Self::Snapshot(command) => std::slice::from_ref(command),
        }
    }
}

/// The settings of every round of a watch.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The commands that print the state of the cluster.
    pub source: Source,
    /// The time limit for all commands of a round together.
    pub timeout: Duration,
    /// The rule of the fair shares. `None` stands for the rule of the snapshot's scheduler, and `Some(None)`
    /// for the share that the problem states.
    pub rule: Option<Option<Rule>>,
    /// The fraction of its fair share that a queue may lack without being below its fair share.
    pub tolerance: Rational,
    /// The options for the import of the dump.
    pub import: Options,
    /// The limits of work and memory of a round.
    pub limits: Limits,
    /// True if each round creates the page and the JSON document of the verdict.
    pub is_shown: bool,
}

/// A queue of a round in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRow {
    /// The label of the queue, which is unique.
    pub queue: String,
    /// The number of waiting tasks. `None` if the number is unlimited.
    pub waiting: Option<Rational>,
    /// True if the queue is below its fair share by a whole task.
    pub is_below: bool,
    /// The amounts by resource.
    pub shares: Vec<ShareRow>,
}

/// The amounts of a resource in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareRow {
    /// The resource.
    pub resource: String,
    /// The amount that the queue uses.
    pub usage: Rational,
    /// The fair share of the queue.
    pub fair_share: Rational,
    /// The amount that the queue lacks to its fair share.
    pub lacking: Rational,
    /// The guarantee. `None` if the queue has no guarantee.
    pub guarantee: Option<Rational>,
    /// The limit. `None` if the queue has no limit.
    pub limit: Option<Rational>,
}

/// The verdict of a round.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The time at which the client was started, in milliseconds since 1970.
    pub time: i64,
    /// The seconds that the client, the import and the verdict took.
    pub seconds: [f64; 3],
    /// The SHA-256 of the snapshot in the format of `evenhand import`.
    pub sha256: String,
    /// The first sentence of the verdict's answer.
    pub answer: String,
    /// True if the exit status of the verdict is 0.
    pub is_fair: bool,
    /// True if the verdict is complete: every axiom is checked, and it is known for each waiting task whether
    /// the task could start.
    pub is_decided: bool,
    /// The number of starts that could happen now. `None` if the number is not known.
    pub could_start: Option<u64>,
    /// The number of tasks, conditions and other data that the snapshot leaves out.
    pub not_modelled: u64,
    /// The queues.
    pub queues: Vec<QueueRow>,
    /// The metrics.
    pub metrics: Arc<Vec<Metric>>,
    /// The page of the verdict. Empty unless [`Settings::is_shown`] is set.
    pub page: Arc<str>,
    /// The JSON document of the verdict. Empty unless [`Settings::is_shown`] is set.
    pub document: Arc<str>,
}

/// The names of the steps of a round in metrics.
pub const STEPS: [&str; 3] = ["client", "import", "verdict"];

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::Dump(printable(&error.to_string()))
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        Self::Verdict(printable(&error.to_string()))
    }
}

/// Runs one round. `time` is the beginning of the round in milliseconds since 1970.
///
/// # Errors
/// [`Failure`] if the client fails, the dump is refused, a limit is reached, or there is no verdict. A panic
/// is a defect. It becomes a failure of this round, so that the watch continues.
pub fn round(settings: &Settings, time: i64, stop: &Stop) -> Result<Judged, Failure> {
    let begun = Instant::now();
    let files = take(settings, begun, stop)?;
    let taken = begun.elapsed().as_secs_f64();
    attempt(&settings.limits, || judge(settings, files, time, taken))
}

/// Runs all commands one after the other, and returns the files that they print.
fn take(settings: &Settings, begun: Instant, stop: &Stop) -> Result<Vec<(String, File)>, Failure> {
    let end = begun + settings.timeout;
    let mut files = Vec::new();
    for command in settings.source.commands() {
        let mut file = command.run(end, settings.timeout, stop)?;
        if matches!(settings.source, Source::Dump(System::Slurm, _)) {
            refuse_half_a_line(command, &mut file)?;
        }
        files.push((printable(&command.to_string()), file));
    }
    Ok(files)
}

/// Refuses a text of Slurm that does not end with a line feed. The missing line feed is the only sign that
/// such a text is cut off.
fn refuse_half_a_line(command: &CommandLine, file: &mut File) -> Result<(), Failure> {
    let io = |error: std::io::Error| Failure::Dump(format!("`{command}`: {error}"));
    let mut first = [0];
    file.read_exact(&mut first).map_err(io)?;
    let mut last = [0];
    file.seek(SeekFrom::End(-1)).map_err(io)?;
    file.read_exact(&mut last).map_err(io)?;
    file.rewind().map_err(io)?;
    // The parsers report an error by themselves if JSON or a compressed file is cut off.
    let is_text = first[0].is_ascii_graphic() && !matches!(first[0], b'{' | b'[');
    if is_text && last[0] != b'\n' {
        let command = printable(&command.to_string());
        return Err(Failure::Dump(format!(
            "the output of `{command}` is cut off: its last line is incomplete"
        )));
    }
    Ok(())
}

/// Runs a computation within limits. The limits also apply to the threads of the current pool. A panic
/// becomes a failure of this round.
fn attempt<T>(limits: &Limits, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let outside = handle();
    let done = catch_unwind(AssertUnwindSafe(|| {
        within(limits, || {
            let inside = handle();
            rayon::broadcast(|_| inside.adopt());
            work()
        })
    }));
    rayon::broadcast(|_| outside.adopt());
    match done {
        Ok(Ok(done)) => done,
        Ok(Err(exceeded)) => Err(Failure::Limit(exceeded.to_string())),
        // The limits of an enclosing computation were reached.
        Err(payload) if exceeded(&*payload).is_some() => resume_unwind(payload),
        Err(payload) => {
            let words = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
            let words = words.unwrap_or_else(|| "it stopped without a message".to_owned());
            Err(Failure::Verdict(format!(
                "this is a defect of evenhand, please report it: {}",
                printable(&words)
            )))
        }
    }
}

fn snapshot(settings: &Settings, files: Vec<(String, File)>) -> Result<Snapshot, Failure> {
    match &settings.source {
        Source::Dump(system, _) => {
            let inputs = files.into_iter().map(|(name, file)| Input::new(name, file));
            let inputs = inputs.collect::<Result<Vec<Input>, ImportError>>()?;
            Ok(evenhand_dumps::snapshot(*system, inputs, &settings.import)?)
        }
        Source::Snapshot(_) => {
            let (mut name, mut text) = (String::new(), String::new());
            for (command, file) in files {
                let io = |error: std::io::Error| Failure::Dump(format!("`{command}`: {error}"));
                let read = file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(io)?;
                if read as u64 > MAX_FILE_BYTES {
                    return Err(Failure::Dump(format!("`{command}`: more than {MAX_FILE_BYTES} bytes")));
                }
                name = command;
            }
            evenhand_budget::read(text.len() as u64);
            let read = Text { name: &name, text: &text }.snapshot();
            read.map_err(|error| Failure::Dump(printable(&error.to_string())))
        }
    }
}

fn judge(settings: &Settings, files: Vec<(String, File)>, time: i64, taken: f64) -> Result<Judged, Failure> {
    let begun = Instant::now();
    let mut snapshot = snapshot(settings, files)?;
    let digest = Sha256::digest(snapshot_to_json(&snapshot));
    let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let imported = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let rule = settings.rule.unwrap_or_else(|| rule_of(&snapshot));
    let found = Verdict::new(&snapshot, rule, &settings.tolerance)?;
    let sentences = report::cluster::in_short(&snapshot, &found);
    let (mut page, mut document) = (String::new(), String::new());
    if settings.is_shown {
        let compared = compared(&snapshot, &found.problem, found.rule)?;
        // The dump states no time, or a time in the time zone of the client. The page shows the time of the
        // round instead.
        if snapshot.sources.is_empty() {
            snapshot.sources.push(Origin::default());
        }
        for source in snapshot.sources.iter_mut().filter(|source| source.time.is_empty()) {
            source.time = utc(time);
        }
        page = report::html::cluster(&snapshot, &found, &compared);
        document = format!("{:#}\n", report::json::cluster_verdict(&snapshot, &found, &compared));
    }
    let judged = Judged {
        time,
        seconds: [taken, imported, begun.elapsed().as_secs_f64()],
        sha256,
        answer: sentences.into_iter().next().unwrap_or_default(),
        is_fair: found.is_fair(),
        is_decided: found.is_known() && found.held.undecided.is_empty(),
        could_start: found.starts.as_ref().map(|starts| starts.could.len() as u64),
        not_modelled: snapshot.not_modelled.iter().fold(0, |sum, of| sum.saturating_add(of.count)),
        queues: queues(&found),
        metrics: Arc::new(report::metrics::of_verdict(&snapshot, &found)),
        page: page.into(),
        document: document.into(),
    };
    Ok(judged)
}

/// Returns the rows of the queues for the history. A resource is left out of the row of a queue that neither
/// uses the resource nor is entitled to it.
fn queues(found: &Verdict) -> Vec<QueueRow> {
    let problem = &found.problem;
    let row = |(row, queue): (&evenhand_cluster::Row, String)| {
        let limits = match row.queue.kind {
            evenhand_cluster::Kind::Group(v) => problem.groups().list()[v].limit.as_slice(),
            evenhand_cluster::Kind::User(_) => &[],
        };
        let of = |list: &[(usize, Rational)], r: usize| {
            list.iter().find(|(of, _)| *of == r).map(|(_, amount)| amount.clone())
        };
        let guaranteed: HashSet<usize> = row.guarantee.iter().map(|(r, _)| *r).collect();
        let is_shown =
            |r: &usize| !row.usage[*r].is_zero() || !row.fair_share[*r].is_zero() || guaranteed.contains(r);
        let shares = (0..problem.n_resources()).filter(is_shown).map(|r| ShareRow {
            resource: problem.resources()[r].clone(),
            usage: row.usage[r].clone(),
            fair_share: row.fair_share[r].clone(),
            lacking: row.lacking[r].clone(),
            guarantee: of(&row.guarantee, r),
            limit: of(limits, r),
        });
        QueueRow { queue, waiting: row.waiting.clone(), is_below: row.by.is_some(), shares: shares.collect() }
    };
    found.queues.iter().zip(labels(&found.queues)).map(row).collect()
}

/// Returns a rational in the format of the history: `7` or `5/7`.
pub(crate) fn stored(value: &Rational) -> String {
    number::format(value)
}
