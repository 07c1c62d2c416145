//! Runs contenders that are compiled into this program, each in its own process. A process is killed when the
//! time is up. A crash affects only the process of the contender. The peak of memory of the process is that
//! of the contender.
//!
//! A process reads a case as one line from standard input, which stays open until the caller ends. The
//! process writes a line when it has read the case, and a line for every run. Doubles are written as their
//! bits.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::Duration;

use evenhand_problem::format::{FormatError, Source, problem_to_json, reservation_to_json};
use evenhand_problem::{Allocation, Arithmetic, Placement, Rational};
use serde::{Deserialize, Serialize};

use crate::case::{Case, Input, Kind};
use crate::contenders::{self, Answer, NoAnswer};
use crate::inside::{self, Message, Ran};
use crate::timing::Effort;

/// The longest line that is read, in bytes.
const MOST_BYTES: u64 = 1 << 32;

/// The program that runs a contender in a process of its own. It receives a [`Question`] on standard input.
#[derive(Debug, Clone)]
pub struct Worker {
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
}

/// The case and the contender that a process runs.
#[derive(Serialize, Deserialize)]
pub struct Question {
    contender: String,
    name: String,
    kind: String,
    alpha: String,
    problem: String,
    is_reservation: bool,
    limit: Duration,
    /// The smallest and the largest number of runs, and the time after which no further run starts.
    effort: Option<(usize, usize, Duration)>,
}

/// A line that the process writes.
#[derive(Serialize, Deserialize)]
enum Line {
    Ready,
    Ran { answer: Result<Box<Written>, Refused>, seconds: Duration, memory: Option<u64> },
}

#[derive(Serialize, Deserialize)]
enum Refused {
    Failed(String),
    Malformed(String),
    Timeout,
    Kind,
}

/// An answer in which doubles are written as their bits.
#[derive(Serialize, Deserialize)]
struct Written {
    tasks: Vec<Vec<(usize, u64)>>,
    allocation: Option<Exact>,
    served: Vec<u64>,
    servers: Vec<(usize, Vec<u64>, u64)>,
    x: Vec<u64>,
    prices: Option<Vec<u64>>,
    says: Option<String>,
    only_least: bool,
    status: String,
    objective: Option<u64>,
    gap: Option<u64>,
    steps: Option<u64>,
}

/// Pairs of an index and a number.
type Numbers = Vec<(usize, String)>;

/// An allocation whose numbers are written as quotients.
#[derive(Serialize, Deserialize)]
struct Exact {
    mechanism: Option<String>,
    alpha: Option<String>,
    is_float: bool,
    tasks: Vec<Numbers>,
    placements: Option<Vec<(usize, u64, Numbers)>>,
}

impl Worker {
    /// Starts the program on a case. The lines that it writes go to `send`, which is closed when the program
    /// ends. The standard input of the program stays open until the returned value is dropped.
    pub(crate) fn start(
        &self,
        contender: &str,
        case: &Case,
        limit: Duration,
        effort: Option<Effort>,
        send: Sender<Message>,
    ) -> io::Result<(Child, Sender<()>)> {
        let (problem, is_reservation) = match &case.input {
            Input::Allocation(problem) => (problem_to_json(problem), false),
            Input::Reservation(problem) => (reservation_to_json(problem), true),
            Input::Programme(model) => (evenhand_lp::json::write(model), false),
        };
        let effort = effort.map(|effort| (effort.least_runs, effort.most_runs, effort.enough));
        let question = Question {
            contender: contender.to_owned(),
            name: case.name.clone(),
            kind: case.kind.name().to_owned(),
            alpha: case.alpha.to_string(),
            problem,
            is_reservation,
            limit,
            effort,
        };
        let text = serde_json::to_string(&question)?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (hold, held) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let asked = input.map(|mut input: ChildStdin| (writeln!(input, "{text}"), input));
            // The process ends when its input is closed.
            let _closed: Result<(), _> = held.recv();
            drop(asked);
        });
        std::thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n')) {
                let Ok(line) = line else { return };
                // A solver may print lines of its own, which are skipped.
                let Ok(said) = serde_json::from_slice::<Line>(&line) else { continue };
                if send.send(Message::from(said)).is_err() {
                    return;
                }
            }
        });
        Ok((child, hold))
    }
}

impl Question {
    /// Reads the question that a [`Worker`] wrote.
    ///
    /// # Errors
    /// The line is not a question.
    pub fn read(input: &mut impl BufRead) -> io::Result<Self> {
        let mut text = String::new();
        BufRead::read_line(&mut Read::take(&mut *input, MOST_BYTES), &mut text)?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// The reason why a [`Question`] has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswerable {
    /// The problem or the linear programme cannot be read.
    #[error("{0}")]
    Problem(FormatError),
    /// A name is unknown.
    #[error("no {what} `{name}`")]
    Unknown {
        /// The kind of name: of a contender or of a kind of case.
        what: &'static str,
        /// The unknown name.
        name: String,
    },
}

/// Runs the contender of a question. `say` is called with each line of the answer.
///
/// # Errors
/// [`Unanswerable`] if the contender or kind does not exist, or if the problem cannot be read.
pub fn answer(question: Question, say: &mut dyn FnMut(&str) -> io::Result<()>) -> Result<(), Unanswerable> {
    let unknown = |what, name: &str| Unanswerable::Unknown { what, name: name.to_owned() };
    let kind: Kind = question.kind.parse().map_err(|_| unknown("kind", &question.kind))?;
    let source = Source { name: "the problem", text: &question.problem };
    let input = match question.is_reservation {
        _ if kind == Kind::LinearProgramme => {
            Input::Programme(evenhand_lp::json::read(source).map_err(Unanswerable::Problem)?)
        }
        true => Input::Reservation(source.reservation().map_err(Unanswerable::Problem)?),
        false => Input::Allocation(source.problem().map_err(Unanswerable::Problem)?),
    };
    let contender = contenders::all().into_iter().find(|one| one.name() == question.contender);
    let contender = contender.ok_or_else(|| unknown("contender", &question.contender))?;
    let alpha = question.alpha.parse().map_err(|_| unknown("exponent", &question.alpha))?;
    let case = Case { name: question.name, kind, note: "", input, alpha, planted: None };
    let effort =
        question.effort.map(|(least_runs, most_runs, enough)| Effort { least_runs, most_runs, enough });
    let mut say = |line: Line| serde_json::to_string(&line).ok().is_some_and(|text| say(&text).is_ok());
    if say(Line::Ready) {
        inside::runs(&*contender, &case, question.limit, effort, &mut |ran| say(Line::from(ran)));
    }
    Ok(())
}

impl From<Ran> for Line {
    fn from(ran: Ran) -> Self {
        let answer = ran.answer.map(|answer| Box::new(Written::from(&answer))).map_err(|why| match why {
            NoAnswer::Timeout => Refused::Timeout,
            NoAnswer::Kind => Refused::Kind,
            NoAnswer::Malformed(words) => Refused::Malformed(words),
            why => Refused::Failed(why.to_string()),
        });
        Self::Ran { answer, seconds: ran.time, memory: ran.memory }
    }
}

impl From<Line> for Message {
    fn from(line: Line) -> Self {
        match line {
            Line::Ready => Self::Ready,
            Line::Ran { answer, seconds, memory } => {
                let answer = match answer {
                    Ok(written) => written.answer(),
                    Err(Refused::Timeout) => Err(NoAnswer::Timeout),
                    Err(Refused::Kind) => Err(NoAnswer::Kind),
                    Err(Refused::Malformed(words)) => Err(NoAnswer::Malformed(words)),
                    Err(Refused::Failed(words)) => Err(NoAnswer::Failed(words)),
                };
                Self::Ran(Box::new(Ran { answer, time: seconds, memory }))
            }
        }
    }
}

impl From<&Answer> for Written {
    fn from(answer: &Answer) -> Self {
        let bits = |value: &f64| value.to_bits();
        Self {
            tasks: answer
                .tasks
                .iter()
                .map(|list| list.iter().map(|(i, x)| (*i, x.to_bits())).collect())
                .collect(),
            allocation: answer.allocation.as_ref().map(Exact::from),
            served: answer.served.iter().map(bits).collect(),
            servers: answer
                .servers
                .iter()
                .map(|(pool, jobs, x)| (*pool, jobs.clone(), x.to_bits()))
                .collect(),
            x: answer.x.iter().map(bits).collect(),
            prices: answer.prices.as_ref().map(|prices| prices.iter().map(bits).collect()),
            says: answer.says.map(|says| says.name().to_owned()),
            only_least: answer.only_least,
            status: answer.status.clone(),
            objective: answer.objective.as_ref().map(bits),
            gap: answer.gap.as_ref().map(bits),
            steps: answer.steps,
        }
    }
}

impl Written {
    fn answer(self) -> Result<Answer, NoAnswer> {
        let garbled = || NoAnswer::Failed("its process garbled numbers".to_owned());
        let exact = |exact: Exact| exact.allocation().ok_or_else(garbled);
        let allocation = self.allocation.map(exact).transpose()?;
        Ok(Answer {
            tasks: self
                .tasks
                .into_iter()
                .map(|list| list.into_iter().map(|(i, x)| (i, f64::from_bits(x))).collect())
                .collect(),
            allocation,
            served: self.served.into_iter().map(f64::from_bits).collect(),
            servers: self
                .servers
                .into_iter()
                .map(|(pool, jobs, x)| (pool, jobs, f64::from_bits(x)))
                .collect(),
            x: self.x.into_iter().map(f64::from_bits).collect(),
            prices: self.prices.map(|prices| prices.into_iter().map(f64::from_bits).collect()),
            stated: None,
            says: self.says.map(|says| says.parse().map_err(|_| garbled())).transpose()?,
            only_least: self.only_least,
            status: self.status,
            objective: self.objective.map(f64::from_bits),
            gap: self.gap.map(f64::from_bits),
            steps: self.steps,
        })
    }
}

fn written(list: &[(usize, Rational)]) -> Numbers {
    list.iter().map(|(at, x)| (*at, x.to_string())).collect()
}

fn read(list: Numbers) -> Option<Vec<(usize, Rational)>> {
    list.into_iter().map(|(at, x)| Some((at, x.parse().ok()?))).collect()
}

impl From<&Allocation> for Exact {
    fn from(allocation: &Allocation) -> Self {
        let placement =
            |placement: &Placement| (placement.server, placement.index, written(&placement.tasks));
        Self {
            mechanism: allocation.mechanism.clone(),
            alpha: allocation.alpha.as_ref().map(Rational::to_string),
            is_float: allocation.arithmetic == Arithmetic::Float,
            tasks: allocation.tasks.iter().map(|list| written(list)).collect(),
            placements: allocation.placements.as_ref().map(|list| list.iter().map(placement).collect()),
        }
    }
}

impl Exact {
    /// Returns the allocation. The caller sets its sharing of servers from the case.
    fn allocation(self) -> Option<Allocation> {
        let placement = |(server, index, tasks)| Some(Placement { server, index, tasks: read(tasks)? });
        let placements =
            self.placements.map(|list| list.into_iter().map(placement).collect::<Option<Vec<_>>>());
        Some(Allocation {
            mechanism: self.mechanism,
            alpha: self.alpha.map(|alpha| alpha.parse()).transpose().ok()?,
            arithmetic: if self.is_float { Arithmetic::Float } else { Arithmetic::Exact },
            tasks: self.tasks.into_iter().map(read).collect::<Option<_>>()?,
            placements: placements.map_or(Some(None), |list| list.map(Some))?,
            ..Allocation::default()
        })
    }
}
