//! Runs external programs: `NAME=COMMAND {problem} {answer}`.
//!
//! The command is run by `sh -c` in its own process group, in a temporary folder. It reads the problem from
//! `{problem}`. For kinds that are one linear programme it can read `{mps}` instead. It writes an allocation
//! to `{answer}`, or lines `column value` if the command contains `{mps}`. For linear programmes of any kind
//! it may write the solution file of a known solver ([`evenhand_lp::stated`]). `{kind}` and `{alpha}` say
//! which answer is requested. The process group is killed when the time is up. With a [`Keeper`] everything
//! that the command has started is killed, even if this process is killed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use evenhand_export::{Form, of_problem};
use evenhand_lp::model::{Bounds, Direction, Model};
use evenhand_lp::{json as lp_json, mps as lp_mps, stated};
use evenhand_problem::format::{Source, problem_to_json, reservation_to_json};
use evenhand_problem::{Rational, number};
use serde_json::Value;
use thiserror::Error;

use crate::case::{Case, Input, Kind};
use crate::configurations;
use crate::contenders::linear::Programme;
use crate::contenders::{Answer, Contender, NoAnswer};
use crate::keeper::{
    End, FOLDER_PREFIX, Keeper, LOOKS, MOST_WRITTEN, has_written_too_much, in_a_group, kill_group,
};
use crate::memory;
use crate::programmes::{self, ProgrammeStatus};
use crate::record::Cost;
use crate::timing::Effort;

/// The exit status of a program that cannot solve problems of the requested kind.
pub const NOT_MINE: i32 = 77;
/// A program whose first run takes longer than this runs only once, unless a number of runs was requested.
const LONG: Duration = Duration::from_secs(1);
/// The longest answer that is read, in bytes. This length suffices for 100,000 users on a few classes each,
/// with numbers of a hundred digits.
const MOST_BYTES: u64 = 1 << 28;
/// The number of characters that are kept from a program's message about its failure.
const MOST_WORDS: usize = 300;

/// An external program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// The name of the program.
    pub name: String,
    /// The command for the shell.
    pub command: String,
}

/// The reason why a program cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OutsideError {
    /// The `=` between the name and the command is missing.
    #[error("expected NAME=COMMAND, such as `mine=./solver {{problem}} {{answer}}`")]
    Form,
    /// The command does not contain `{answer}`.
    #[error("the command of `{0}` has no {{answer}}")]
    NoAnswer(String),
    /// The command contains neither `{problem}` nor `{mps}`.
    #[error("the command of `{0}` has neither {{problem}} nor {{mps}}")]
    NoProblem(String),
}

impl std::str::FromStr for Outside {
    type Err = OutsideError;

    fn from_str(text: &str) -> Result<Self, OutsideError> {
        let (name, command) = text.split_once('=').ok_or(OutsideError::Form)?;
        if name.trim().is_empty() || command.trim().is_empty() {
            return Err(OutsideError::Form);
        }
        let name = name.trim().to_owned();
        if !command.contains("{answer}") {
            return Err(OutsideError::NoAnswer(name));
        }
        if !command.contains("{problem}") && !command.contains("{mps}") {
            return Err(OutsideError::NoProblem(name));
        }
        Ok(Self { name, command: command.to_owned() })
    }
}

/// Makes the names of programs distinct from each other and from contenders that are compiled in, so that each has
/// its own records.
pub fn distinguish(programs: &mut [Outside], inside: &[Arc<dyn Contender>]) {
    let mut known: Vec<String> =
        inside.iter().flat_map(|contender| [contender.name(), contender.method()]).collect();
    for program in programs {
        if known.contains(&program.name) {
            let of = |count: usize| match count {
                1 => format!("{} (outside)", program.name),
                _ => format!("{} (outside {count})", program.name),
            };
            let free = (1..).map(of).find(|name| !known.contains(name));
            program.name = free.unwrap_or_default();
        }
        known.push(program.name.clone());
    }
}

impl Outside {
    /// Returns `true` if the program reads a linear programme.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.command.contains("{mps}")
    }

    /// Returns `true` if the program can solve a case. Other cases have no records.
    #[must_use]
    pub fn applies(&self, case: &Case) -> bool {
        if case.kind == Kind::LinearProgramme {
            return true;
        }
        let has_programme = matches!(case.kind, Kind::Utilitarian | Kind::Configurations)
            || matches!(case.kind, Kind::MaxMinDrfh | Kind::MaxMinTsf);
        if self.is_linear() { has_programme } else { case.kind != Kind::Configurations }
    }

    /// Returns the first answer, or the reason why there is no answer, and the cost. Returns `None` if the program says
    /// that it cannot solve problems of this kind.
    pub(crate) fn run(
        &self,
        case: &Case,
        limit: Duration,
        effort: Option<Effort>,
        keeper: Option<&Keeper>,
    ) -> Option<(Result<Answer, NoAnswer>, Cost)> {
        let failed = |error: &dyn std::fmt::Display| {
            (Err(NoAnswer::Failed(format!("it cannot be run: {error}"))), Cost::default())
        };
        let files = match Files::new(case, self) {
            Ok(files) => files,
            Err(error) => return Some(failed(&error)),
        };
        let repeat = effort.unwrap_or_default();
        let (mut first, mut seconds, mut cost) = (None, Vec::new(), Cost::default());
        let all = Instant::now();
        for count in 0..=repeat.most_runs {
            let ran = match files.run(limit, keeper) {
                Ok(ran) => ran,
                Err(error) => return Some(failed(&error)),
            };
            if ran.exit == Some(NOT_MINE) {
                return None;
            }
            seconds.push(ran.time.as_secs_f64());
            cost.memory = cost.memory.max(ran.memory);
            if first.is_none() {
                cost.exit = ran.exit;
                first = Some(files.answer(case, self, &ran));
            }
            let is_failed = ran.timed_out || ran.wrote_too_much || ran.exit != Some(0);
            if is_failed || (count == 0 && effort.is_none() && ran.time > LONG) {
                break;
            }
            if count >= repeat.least_runs && all.elapsed() >= repeat.enough {
                break;
            }
        }
        if seconds.len() > 1 {
            seconds.remove(0);
        }
        seconds.sort_by(f64::total_cmp);
        cost.runs = seconds.len();
        cost.seconds = seconds[seconds.len() / 2];
        Some((first?, cost))
    }
}

/// The files of a case for a program.
struct Files {
    folder: tempfile::TempDir,
    command: String,
    programme: Option<Programme>,
    /// The linear programme as it was written to the file, if the case is a linear programme.
    written: Option<Model>,
}

impl Files {
    fn new(case: &Case, program: &Outside) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir()?;
        let (problem, mps) = (folder.path().join("problem.json"), folder.path().join("problem.mps"));
        let written = case.programme().map(programmes::for_programs);
        fs::write(
            &problem,
            match &case.input {
                Input::Allocation(problem) => problem_to_json(problem),
                Input::Reservation(problem) => reservation_to_json(problem),
                Input::Programme(model) => lp_json::write(written.as_ref().unwrap_or(model)),
            },
        )?;
        let mut programme = None;
        if program.is_linear() {
            let (text, made) = match &written {
                Some(model) => (lp_mps::write(model).map_err(io::Error::other)?, None),
                None => linear(case)?,
            };
            fs::write(&mps, text)?;
            programme = made;
        }
        let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
        let command = program
            .command
            .replace("{problem}", &quoted(&problem))
            .replace("{answer}", &quoted(&folder.path().join("answer")))
            .replace("{mps}", &quoted(&mps))
            .replace("{kind}", case.kind.name())
            .replace("{alpha}", &number::format(&case.alpha));
        Ok(Self { folder, command, programme, written })
    }

    fn run(&self, limit: Duration, keeper: Option<&Keeper>) -> io::Result<End> {
        let path = |name: &str| self.folder.path().join(name);
        let is_folder = fs::symlink_metadata(path("answer")).is_ok_and(|answer| answer.is_dir());
        let remove = if is_folder { fs::remove_dir_all } else { fs::remove_file };
        match remove(path("answer")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if let Some(keeper) = keeper {
            return keeper.run(&self.command, self.folder.path(), limit);
        }
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(path("words"))?);
        in_a_group(&mut command);
        let mut end = watch(&mut command.spawn()?, self.folder.path(), limit)?;
        let read = File::open(path("words"))?.take(1 << 16).read_to_string(&mut end.words);
        if read.is_err() {
            end.words.clear();
        }
        Ok(end)
    }

    fn answer(&self, case: &Case, program: &Outside, ran: &End) -> Result<Answer, NoAnswer> {
        if ran.timed_out {
            return Err(NoAnswer::Timeout);
        }
        if ran.wrote_too_much {
            let most = MOST_WRITTEN >> 20;
            return Err(NoAnswer::Malformed(format!("it wrote more than {most} MiB, or too many files")));
        }
        if ran.exit != Some(0) {
            let last = ran.words.trim().lines().last().unwrap_or_default();
            let last: String = last.chars().take(MOST_WORDS).collect();
            let how =
                ran.exit.map_or_else(|| "a signal ended it".to_owned(), |code| format!("exit status {code}"));
            let words = if last.is_empty() { how } else { format!("{how}: {last}") };
            return Err(NoAnswer::Failed(words));
        }
        let malformed = |error: &dyn std::fmt::Display| NoAnswer::Malformed(error.to_string());
        let path = self.folder.path().join("answer");
        // The answer must be a regular file. Reading a pipe might never end.
        match fs::metadata(&path) {
            Err(_) => return Err(malformed(&"it wrote no answer")),
            Ok(answer) if !answer.is_file() => return Err(malformed(&"its answer is not an ordinary file")),
            Ok(answer) if answer.len() > MOST_BYTES => {
                return Err(malformed(&format!("its answer has more than {} MiB", MOST_BYTES >> 20)));
            }
            Ok(_) => {}
        }
        let file = File::open(path).map_err(|error| malformed(&error))?;
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).map_err(|error| malformed(&error))?;
        if let Some(model) = &self.written {
            return solution(model, &text);
        }
        if program.is_linear() {
            return columns(case, &text, self.programme.as_ref());
        }
        let problem = case.problem().ok_or(NoAnswer::Kind)?;
        let source = Source { name: "answer", text: &text };
        let file = source.allocation(problem).map_err(|error| malformed(&error))?;
        let claims: Value = serde_json::from_str(&text).map_err(|error| malformed(&error))?;
        let number_of = |name: &str| match &claims[name] {
            Value::Number(value) => value.as_f64(),
            Value::String(text) => number::parse_result(text).ok().map(|value| number::to_f64(&value)),
            _ => None,
        };
        let status = claims["status"].as_str().unwrap_or_default();
        Ok(Answer {
            allocation: Some(file.allocation),
            status: status.chars().take(MOST_WORDS).collect(),
            objective: number_of("objective"),
            gap: number_of("gap"),
            ..Answer::default()
        })
    }
}

/// Waits until a program ends, the time is up, or the program has written too much. Then kills its process
/// group.
fn watch(child: &mut Child, folder: &Path, limit: Duration) -> io::Result<End> {
    let begun = Instant::now();
    let (mut pause, longest) = LOOKS;
    let mut end = End::default();
    loop {
        end.memory = end.memory.max(memory::of_group(child.id()));
        let status = child.try_wait()?;
        end.time = begun.elapsed();
        end.wrote_too_much = has_written_too_much(folder);
        end.timed_out = status.is_none() && end.time >= limit;
        if status.is_some() || end.timed_out || end.wrote_too_much {
            // Processes that the program has left behind are killed as well.
            kill_group(child.id());
            if status.is_none() {
                child.kill()?;
                child.wait()?;
            }
            end.exit = status.and_then(|status| status.code());
            return Ok(end);
        }
        std::thread::sleep(pause);
        pause = (pause * 3 / 2).min(longest);
    }
}

/// Returns the linear programme of a case in MPS format. Also returns the programme itself, if it was derived from an
/// allocation or reservation problem.
fn linear(case: &Case) -> io::Result<(String, Option<Programme>)> {
    let other = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    match &case.input {
        Input::Allocation(problem) if case.kind == Kind::Utilitarian => {
            let programme = of_problem(problem, Form::Mps).map_err(|error| other(&error))?;
            Ok((programme.to_string(), None))
        }
        Input::Allocation(problem) => {
            let programme =
                crate::contenders::linear::least_share(case, problem).map_err(|error| other(&error))?;
            Ok((mps(&programme)?, Some(programme)))
        }
        Input::Programme(_) => Err(other(&"it is written as it is")),
        Input::Reservation(problem) => {
            let listed =
                configurations::all(problem).ok_or_else(|| io::Error::other("too many configurations"))?;
            let (programme, _) = configurations::programme(problem, &listed);
            Ok((mps(&programme)?, Some(programme)))
        }
    }
}

/// Writes a programme in free MPS format, with columns `c1`, `c2` and so on.
fn mps(programme: &Programme) -> io::Result<String> {
    let exact =
        |value: f64| Rational::from_f64(value).ok_or_else(|| io::Error::other("a number is not finite"));
    let mut model = Model::new("evenhand", Direction::Maximise);
    let mut columns = vec![Vec::new(); programme.costs.len()];
    for (at, (entries, most)) in programme.rows.iter().enumerate() {
        let row = model.row(format!("r{}", at + 1), Bounds::at_most(exact(*most)?));
        for (column, value) in entries {
            columns[*column].push((row, exact(*value)?));
        }
    }
    for (at, (cost, entries)) in programme.costs.iter().zip(columns).enumerate() {
        model.column(format!("c{}", at + 1), exact(*cost)?, Bounds::at_least(0), entries);
    }
    lp_mps::write(&model).map_err(io::Error::other)
}

/// Reads the solution file of a linear programme. A file needs no values if it states that there is no
/// optimum.
fn solution(model: &Model, text: &str) -> Result<Answer, NoAnswer> {
    let status: String = stated_status(text).unwrap_or_default().chars().take(MOST_WORDS).collect();
    let says = ProgrammeStatus::of_words(&status);
    if says.is_some_and(|says| says != ProgrammeStatus::Optimal) {
        return Ok(Answer { status, says, ..Answer::default() });
    }
    let stated = stated::read(model, text).map_err(|error| NoAnswer::Malformed(error.to_string()))?;
    let objective = stated.objective.as_ref().map(number::to_f64);
    Ok(Answer { stated: Some(stated), says, status, objective, ..Answer::default() })
}

/// Returns the status that a solution file states. The status may follow `# status`, or be in the format of
/// HiGHS, SCIP, CPLEX, glpsol or JSON.
fn stated_status(text: &str) -> Option<String> {
    if text.trim_start().starts_with('{') {
        let document: Value = serde_json::from_str(text).ok()?;
        return document["status"].as_str().map(str::to_owned);
    }
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if line == "Model status" {
            return lines.next().map(|next| next.trim().to_owned());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["#", "status", rest @ ..] | ["solution", "status:", rest @ ..] => return Some(rest.join(" ")),
            ["s", "bas", _, _, primal, dual, _] => {
                return Some(match (*primal, *dual) {
                    ("f", "f") => "optimal".to_owned(),
                    ("n", _) => "infeasible".to_owned(),
                    (_, "n") => "infeasible or unbounded".to_owned(),
                    _ => format!("primal {primal}, dual {dual}"),
                });
            }
            _ => {}
        }
        if let Some((_, rest)) = line.split_once("solutionStatusString=\"") {
            return rest.split('"').next().map(str::to_owned);
        }
    }
    None
}

/// Reads lines `column value` as an answer. Missing columns are 0. The lines `# status WORD` and `# objective
/// NUMBER` state the program's own status and objective.
fn columns(case: &Case, text: &str, programme: Option<&Programme>) -> Result<Answer, NoAnswer> {
    let malformed = |line: &str, why: &str| NoAnswer::Malformed(format!("`{line}`: {why}"));
    let mut answer = Answer::default();
    let mut values: Vec<(String, f64)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let short: String = line.chars().take(60).collect();
        if let Some(said) = line.strip_prefix('#') {
            match said.trim().split_once(' ') {
                Some(("status", word)) => answer.status = word.chars().take(MOST_WORDS).collect(),
                Some(("objective", value)) => answer.objective = value.trim().parse().ok(),
                _ => {}
            }
            continue;
        }
        let (name, value) = line
            .split_once(char::is_whitespace)
            .ok_or_else(|| malformed(&short, "expected `column value`"))?;
        let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        values.push((name.to_owned(), value.ok_or_else(|| malformed(&short, "expected a finite number"))?));
    }
    let unknown = |name: &str| malformed(name, "there is no such column");
    if let Some(programme) = programme {
        let mut x = vec![0.0; programme.costs.len()];
        for (name, value) in values {
            let at = name
                .strip_prefix('c')
                .and_then(|at| at.parse::<usize>().ok())
                .and_then(|at| at.checked_sub(1));
            *at.and_then(|at| x.get_mut(at)).ok_or_else(|| unknown(&name))? = value;
        }
        return crate::contenders::linear::read(case, &x, answer);
    }
    let problem = case.problem().ok_or(NoAnswer::Kind)?;
    answer.tasks = vec![Vec::new(); problem.n_users()];
    for (name, value) in values {
        let place = name.strip_prefix('x').and_then(|at| at.split_once('_')).and_then(|(n, i)| {
            let (n, i): (usize, usize) = (n.parse().ok()?, i.parse().ok()?);
            Some((n.checked_sub(1)?, i.checked_sub(1)?))
        });
        let (n, i) = place
            .filter(|(n, i)| *n < problem.n_users() && *i < problem.n_servers())
            .ok_or_else(|| unknown(&name))?;
        answer.tasks[n].push((i, value));
    }
    // The objective in the file is the weighted sum times this factor.
    let factor: Rational = (0..problem.n_users())
        .filter(|&n| problem.is_active(n))
        .fold(evenhand_problem::Integer::from(1), |all, n| all.lcm(problem.users()[n].weight().denom()))
        .into();
    answer.objective = answer.objective.map(|value| value / number::to_f64(&factor));
    Ok(answer)
}
