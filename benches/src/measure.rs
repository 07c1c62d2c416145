//! Measures one question about one file in this process, and reports the result as a line of JSON.
//!
//! The fields are those of the peers (`peers/common.py`). The peak memory is that of the process after the
//! first run, including the memory of the file.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Certificate, Instance, axiom::envy_free, check};
use evenhand_mechanisms::{Flags, Status, registry};
use evenhand_problem::format::{AllocationDocument, Source, read_text};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, number};
use serde_json::{Map, Value, json};

use crate::machine::{self, Clock};
use crate::proof;
use crate::table::median;

/// The question to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Question {
    /// Parsing and checking the text of a problem.
    Parse,
    /// The lexicographic DRFH allocation in doubles.
    Float,
    /// The lexicographic DRFH allocation in rationals.
    Exact,
    /// The exact allocation, proven feasible, max-min and Pareto optimal, with every claim verified.
    Proven,
    /// Evidence for the usual axioms of a given allocation, from solving again to verified claims.
    Certify,
    /// The allocation of `--mechanism`, in doubles with its proven gap, or exactly.
    Allocate,
    /// Evidence for feasibility and for the axiom of the allocation's mechanism.
    CertifyOwn,
    /// Parsing the text of a certificate.
    ReadCertificate,
    /// The kernel's verdict on a certificate, from its text.
    Check,
    /// The verdict on the envy-freeness of a given allocation and its margin, including the preparation of integers.
    Envy,
}

/// The settings of a measurement.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The question that is measured.
    pub question: Question,
    /// The problem, or the certificate for questions about a certificate.
    pub file: PathBuf,
    /// The allocation, for questions about an allocation.
    pub allocation: Option<PathBuf>,
    /// The mechanism, for questions about a mechanism.
    pub mechanism: Mechanism,
    /// The file for the computed allocation or certificate. `None` if it is not written.
    pub output: Option<PathBuf>,
    /// The largest number of runs.
    pub repetitions: usize,
    /// The time in seconds after which no further run starts.
    pub seconds: f64,
}

/// A mechanism and its settings.
#[derive(Debug, Clone, Default, Args)]
pub struct Mechanism {
    /// Mechanism of `allocate`
    #[arg(long = "mechanism")]
    pub name: Option<String>,
    /// Solve exactly
    #[arg(long)]
    pub exact: bool,
    /// Exponent of `alpha`
    #[arg(long)]
    pub alpha: Option<String>,
}

/// The result and the times of the runs.
struct Timed<T> {
    result: T,
    wall: Vec<f64>,
    /// The mean CPU time of the runs. The system's clock of CPU time is too coarse for a single run.
    cpu: Option<f64>,
    peak_mib: Option<f64>,
}

impl Measurement {
    /// Measures the question. The answer is checked if it can be checked.
    ///
    /// # Errors
    /// If a file cannot be read, a solver fails, or an answer is wrong.
    pub fn run(&self) -> Result<Value, String> {
        let text = read(&self.file)?;
        let source = source(&self.file, &text);
        match self.question {
            Question::ReadCertificate => {
                let timed = self.timed(|| Certificate::parse(&source).map_err(message))?;
                let problem = timed.result.problem.clone();
                Ok(self.line(&problem, &timed, json!({"bytes": text.len()})))
            }
            Question::Check => {
                let certificate = Certificate::parse(&source).map_err(message)?;
                let timed = self.timed(|| Ok(check(&certificate)))?;
                if let Some(reason) = &timed.result.reason {
                    return Err(format!("the certificate is not valid: {reason}"));
                }
                Ok(self.line(&certificate.problem, &timed, json!({"claims": timed.result.claims})))
            }
            Question::Parse => {
                let timed = self.timed(|| source.problem().map_err(message))?;
                Ok(self.line(&timed.result, &timed, json!({"bytes": text.len()})))
            }
            _ => self.about(&source.problem().map_err(message)?),
        }
    }

    fn about(&self, problem: &Problem) -> Result<Value, String> {
        match self.question {
            Question::Float => {
                let timed = self.timed(|| proof::drfh_float(problem))?;
                let found = &timed.result;
                let shares = proof::shares_float(problem, &found.tasks)?;
                let rest = json!({"shares": shares, "rounds": found.rounds, "solves": found.solves});
                Ok(self.line(problem, &timed, rest))
            }
            Question::Exact => {
                let timed = self.timed(|| proof::drfh_exact(problem))?;
                let found = &timed.result;
                let mut levels: Vec<_> = found.duals.iter().map(|dual| &dual.level).collect();
                levels.dedup();
                let rest = json!({
                    "shares": proof::shares_exact(problem, &found.tasks)?,
                    "rounds": found.rounds,
                    "levels": levels.len(),
                    "solves": found.solves,
                    "pivots": found.pivots,
                    "bits": widest(&found.tasks),
                });
                let line = self.line(problem, &timed, rest);
                self.write_allocation(problem, &proof::allocation(timed.result))?;
                Ok(line)
            }
            Question::Proven => {
                let timed = self.timed(|| proof::drfh_proven(problem))?;
                let found = &timed.result;
                let verdict = check(found);
                if let Some(reason) = verdict.reason {
                    return Err(format!("the certificate is not valid: {reason}"));
                }
                let shares = proof::shares_exact(problem, &found.allocation.tasks)?;
                let line = self.line(problem, &timed, json!({"shares": shares, "claims": verdict.claims}));
                self.write_allocation(problem, &found.allocation)?;
                Ok(line)
            }
            Question::Allocate => self.allocate(problem),
            Question::Certify | Question::CertifyOwn => {
                let allocation = self.read_allocation(problem)?;
                let requests = match self.question {
                    Question::Certify => default_requests(problem, &allocation),
                    _ => own_requests(&allocation)?,
                };
                let tolerance = Rational::new();
                let timed =
                    self.timed(|| certify(problem, &allocation, &requests, &tolerance).map_err(message))?;
                let found = &timed.result;
                let holding = found.certificate.claims.iter().filter(|c| c.holds == Some(true)).count();
                let undecided: Vec<&str> = found.undecided.iter().map(|(axiom, _)| axiom.name()).collect();
                let json = found.certificate.to_json();
                let rest = json!({
                    "claims": found.certificate.claims.len(),
                    "holding": holding,
                    "undecided": undecided,
                    "bytes": json.len(),
                });
                if let Some(path) = &self.output {
                    std::fs::write(path, json).map_err(message)?;
                }
                Ok(self.line(problem, &timed, rest))
            }
            Question::Envy => {
                let allocation = self.read_allocation(problem)?;
                let timed = self.timed(|| {
                    let instance = Instance::new(problem, &allocation).map_err(message)?;
                    envy_free::tightest(&instance).map_err(message)
                })?;
                let margin =
                    timed.result.as_ref().map(|tightest| tightest.margin.clone()).unwrap_or_default();
                let rest = json!({"margin": margin.to_string(), "holds": margin >= 0});
                Ok(self.line(problem, &timed, rest))
            }
            Question::Parse | Question::ReadCertificate | Question::Check => {
                Err("not about a problem".to_owned())
            }
        }
    }

    fn allocate(&self, problem: &Problem) -> Result<Value, String> {
        let name = self.mechanism.name.as_deref().ok_or("this question needs a mechanism")?;
        let mechanism = registry::find(name).ok_or("no mechanism of that name")?;
        let arithmetic = if self.mechanism.exact { Arithmetic::Exact } else { Arithmetic::Float };
        let mut flags = Flags::new(arithmetic);
        if let Some(alpha) = &self.mechanism.alpha {
            flags = flags.with("alpha", alpha);
        }
        let alpha = flags.number("alpha").map_err(message)?;
        let timed = self.timed(|| mechanism.allocate_with(problem, &flags).map_err(message))?;
        let found = &timed.result;
        let power = 1.0 - alpha.as_ref().map_or(1.0, number::to_f64);
        let totals = found.allocation.totals();
        let sum: f64 = problem
            .users()
            .iter()
            .zip(&totals)
            .filter(|(_, x)| **x > 0)
            .map(|(user, x)| number::to_f64(user.weight()) * number::to_f64(x).powf(power))
            .sum();
        let rest = json!({
            "sum": sum,
            "mechanism": name,
            "exact": self.mechanism.exact,
            "alpha": self.mechanism.alpha,
            "status": found.findings.status.map(Status::name),
            "iterations": found.findings.iterations,
            "gap": found.findings.gap.as_ref().map(number::to_f64),
            "bits": widest(&found.allocation.tasks),
        });
        self.write_allocation(problem, &found.allocation)?;
        Ok(self.line(problem, &timed, rest))
    }

    fn timed<T>(&self, mut run: impl FnMut() -> Result<T, String>) -> Result<Timed<T>, String> {
        let start = Clock::now();
        let (mut wall, mut peak_mib) = (Vec::new(), None);
        loop {
            let clock = Clock::now();
            let result = run()?;
            wall.push(clock.elapsed().0);
            peak_mib = peak_mib.or_else(machine::peak_mib);
            let (so_far, cpu) = start.elapsed();
            if wall.len() >= self.repetitions || so_far > self.seconds {
                let cpu = cpu.map(|seconds| seconds / wall.len() as f64);
                return Ok(Timed { result, wall, cpu, peak_mib });
            }
        }
    }

    fn line<T>(&self, problem: &Problem, timed: &Timed<T>, rest: Value) -> Value {
        let question = self.question.to_possible_value();
        let name = question.as_ref().map_or("", |value| value.get_name());
        let mut line = Map::new();
        line.insert("peer".to_owned(), json!(format!("evenhand-{name}")));
        line.insert("problem".to_owned(), json!(problem.name()));
        line.insert("users".to_owned(), json!(problem.n_users()));
        line.insert("classes".to_owned(), json!(problem.n_servers()));
        line.insert("resources".to_owned(), json!(problem.n_resources()));
        line.insert(
            "seconds".to_owned(),
            json!(timed.wall.iter().map(|&s| significant(s)).collect::<Vec<_>>()),
        );
        line.insert("median".to_owned(), json!(median(&timed.wall).map(significant)));
        line.insert("cpu_mean".to_owned(), json!(timed.cpu.map(significant)));
        line.insert("peak_mib".to_owned(), json!(timed.peak_mib.map(|mib| (mib * 10.0).round() / 10.0)));
        if let Value::Object(rest) = rest {
            line.extend(rest);
        }
        line.insert("load".to_owned(), json!(machine::load()));
        Value::Object(line)
    }

    fn read_allocation(&self, problem: &Problem) -> Result<Allocation, String> {
        let path = self.allocation.as_ref().ok_or("this question needs an allocation")?;
        let text = read(path)?;
        source(path, &text).allocation(problem).map(|file| file.allocation).map_err(message)
    }

    fn write_allocation(&self, problem: &Problem, allocation: &Allocation) -> Result<(), String> {
        let Some(path) = &self.output else { return Ok(()) };
        let json = AllocationDocument::new(problem, allocation).to_json().map_err(message)?;
        std::fs::write(path, json).map_err(message)
    }
}

fn own_requests(allocation: &Allocation) -> Result<Vec<Request>, String> {
    let (axiom, parameters) = registry::axiom_of(allocation).ok_or("the mechanism has no axiom")?;
    Ok(vec![Request::of(Axiom::Feasible), Request { axiom, parameters }])
}

/// Returns the number of bits of the widest denominator.
fn widest(tasks: &[Vec<(usize, Rational)>]) -> u32 {
    tasks.iter().flatten().map(|(_, x)| x.denom().significant_bits()).max().unwrap_or(0)
}

/// Returns a number that is rounded to four digits.
pub(crate) fn significant(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

fn read(path: &Path) -> Result<String, String> {
    read_text(path).map_err(message)
}

fn source<'a>(path: &'a Path, text: &'a str) -> Source<'a> {
    Source { name: path.to_str().unwrap_or("file"), text }
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}
