//! The program `drive RUNS --state FOLDER [--seed S] [--jobs J] [--seconds T] [--work W] [--programs FOLDER]`
//! attacks the programs from outside.
//!
//! It runs `evenhand` and `evenhand-check` at least `RUNS` times as processes with limits on time and memory.
//! The inputs are problems, allocations, certificates, scenarios, checkpoints and arguments that are valid,
//! damaged or extreme. The program records every signal, panic and hang, every status or output that
//! docs/formats.md does not allow, and every disagreement between two programs.
//!
//! The attempts depend only on the seed. The folder stores the progress (`state.json`) and the faults
//! (`found/NUMBER`, with the files and a script `again`). The same command resumes the attack when it is run
//! again. The exit status is 1 if a fault was found.

mod attack;
mod cases;
mod tally;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use attack::{Attack, Plan};
use evenhand_oracles::outside::Limits;
use tally::Tally;

const USAGE: &str =
    "usage: drive RUNS --state FOLDER [--seed S] [--jobs J] [--seconds T] [--work W] [--programs FOLDER]";

/// The number of cases between two saves of the progress. They take some seconds.
const CHUNK: u64 = 64;

struct Call {
    runs: u64,
    state: PathBuf,
    seed: u64,
    jobs: u64,
    plan: Plan,
}

impl Call {
    fn read() -> Result<Self, String> {
        let mut words = std::env::args().skip(1);
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let beside = own.parent().unwrap_or(Path::new("."));
        let mut call = Self {
            runs: 0,
            state: PathBuf::new(),
            seed: 0,
            jobs: 2,
            plan: Plan { programs: beside.to_owned(), limits: Limits::default(), work: None },
        };
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                call.runs = number(&word)?;
                continue;
            }
            let value = words.next().ok_or(USAGE)?;
            match word.as_str() {
                "--state" => call.state = value.into(),
                "--seed" => call.seed = number(&value)?,
                "--jobs" => call.jobs = number(&value)?.clamp(1, 64),
                "--seconds" => call.plan.limits.seconds = number(&value)?.clamp(1, 3_600) as u32,
                "--work" => call.plan.work = Some(value),
                "--programs" => call.plan.programs = value.into(),
                _ => return Err(USAGE.to_owned()),
            }
        }
        let is_whole = call.runs > 0 && !call.state.as_os_str().is_empty();
        let programs = call.plan.programs.canonicalize().map_err(|error| error.to_string())?;
        let is_there = ["evenhand", "evenhand-check"].iter().all(|name| programs.join(name).is_file());
        call.plan.programs = programs;
        match (is_whole, is_there) {
            (false, _) => Err(USAGE.to_owned()),
            (true, false) => Err(format!(
                "{}: build evenhand and evenhand-check first (cargo build --release -p evenhand -p evenhand-check)",
                call.plan.programs.display()
            )),
            (true, true) => Ok(call),
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| USAGE.to_owned())
}

fn main() -> ExitCode {
    match Call::read().and_then(|call| driven(&call)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("drive: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs the cases. Returns `true` if no fault was found.
fn driven(call: &Call) -> Result<bool, String> {
    std::fs::create_dir_all(call.state.join("found")).map_err(|error| error.to_string())?;
    let mut tally = Tally::read(&call.state, call.seed)?;
    while tally.runs < call.runs {
        let first = tally.next;
        let next = AtomicU64::new(first);
        let done: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
            let work = |job| {
                let (next, state) = (&next, &call.state);
                move || {
                    let mut of_job = Tally::default();
                    let scratch = state.join(format!("scratch-{job}"));
                    loop {
                        let case = next.fetch_add(1, Ordering::Relaxed);
                        if case >= first + CHUNK {
                            let _ = std::fs::remove_dir_all(&scratch);
                            return Ok(of_job);
                        }
                        let mut attack = Attack::new(call.seed, case, &scratch, &call.plan, &mut of_job)?;
                        cases::one(&mut attack)?;
                        attack.kept(&state.join("found").join(case.to_string()))?;
                    }
                }
            };
            let jobs: Vec<_> = (0..call.jobs).map(|job| scope.spawn(work(job))).collect();
            jobs.into_iter()
                .map(|job| job.join().unwrap_or_else(|_| Err("a job panicked".to_owned())))
                .collect()
        });
        for of_job in done {
            tally.add(of_job?);
        }
        tally.next = first + CHUNK;
        tally.save(&call.state)?;
        eprintln!("drive: {} runs, {} cases, {} found", tally.runs, tally.next, tally.found.len());
    }
    print!("{}", tally.table());
    Ok(tally.found.is_empty())
}
