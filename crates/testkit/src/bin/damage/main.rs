//! `damage FROM TO --state FILE [--keep FOLDER] [--each N] [--proof PROGRAM]` damages certificates at random,
//! and judges each of them by the kernel and by the plain judges.
//!
//! Every seed from `FROM` to below `TO` gives one good certificate (see `subjects`). The kernel must accept
//! it, and so must the plain judges of the test kit if it is small enough. Then `N` damaged certificates
//! follow (100 by default). The kernel must accept a damaged certificate exactly if the plain judges find
//! nothing false in it. Each failure is saved in the folder, and the exit status is then 1. With `--proof`,
//! the checker that is verified in Coq also judges each certificate, and must contradict neither of the other
//! judges. Certificates that it does not cover are counted by reason.
//!
//! The state file has the next seed and the counts so far. A run continues where the last run stopped. A run
//! that is killed loses only its current seed.

mod proof;
mod subjects;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use evenhand_testkit::agreement::{Finding, Judged};
use evenhand_testkit::damage::{damage, damaged_text};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

use proof::{Answer, Proof};

const USAGE: &str = "usage: damage FROM TO --state FILE [--keep FOLDER] [--each N] [--proof PROGRAM]";

/// The number of damaged certificates for each good certificate. Making a good certificate takes as long as
/// judging this many.
const EACH: u64 = 100;

/// The names of the counts, in the order in which they are printed.
const COUNTS: [&str; 9] = [
    "good",
    "good_not_judged_plainly",
    "tried",
    "malformed",
    "refused",
    "too_large",
    "accepted",
    "true_for_the_plain_judge",
    "failures",
];

struct Call {
    from: u64,
    to: u64,
    each: u64,
    state: PathBuf,
    keep: PathBuf,
    /// The program of the checker that is verified in Coq, if it also judges.
    proof: Option<String>,
}

/// The verdicts on one text.
struct Verdicts {
    judged: Judged,
    /// The verdict of the verified checker, if it also judges.
    proof: Option<Answer>,
}

impl Verdicts {
    fn of(text: &str, proof: Option<&mut Proof>) -> Result<Self, String> {
        let judged = Judged::of(text);
        let proof = proof.map(|proof| proof.judge(text, judged.sharing)).transpose()?;
        Ok(Self { judged, proof })
    }

    /// Returns the kind of disagreement between the verdicts, if there is one.
    fn failure(&self) -> Option<&'static str> {
        let contradicts = |proof: &Answer| proof.contradicts(&self.judged.kernel);
        self.judged.failure().or_else(|| self.proof.as_ref().is_some_and(contradicts).then_some("proof"))
    }
}

/// The next seed, and the counts with their names.
struct State {
    next: u64,
    counts: Map<String, Value>,
    /// The counts of the pairs of verdicts of the kernel and the verified checker. The keys are descriptions
    /// of the pairs.
    beside: Map<String, Value>,
}

impl State {
    fn read(path: &Path, from: u64) -> Result<Self, String> {
        let fresh = || Self {
            next: from,
            counts: COUNTS.map(|name| (name.to_owned(), json!(0))).into_iter().collect(),
            beside: Map::new(),
        };
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(fresh()),
            Err(error) => return Err(format!("{}: {error}", path.display())),
            Ok(text) => text,
        };
        let document: Value =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        match (document["next"].as_u64(), document["counts"].as_object()) {
            (Some(next), Some(counts)) => {
                let beside = document["beside"].as_object().cloned().unwrap_or_default();
                Ok(Self { next, counts: counts.clone(), beside })
            }
            _ => Err(format!("{}: no state of `damage`", path.display())),
        }
    }

    /// Replaces the file atomically, so that a run that is killed leaves a readable file.
    fn write(&self, path: &Path) -> Result<(), String> {
        let text = format!("{}\n", json!({"next": self.next, "counts": self.counts, "beside": self.beside}));
        let beside = path.with_extension("new");
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, path))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    fn add(&mut self, name: &str) {
        let count = self.get(name) + 1;
        self.counts.insert(name.to_owned(), json!(count));
    }

    /// Counts the verdict of the verified checker on a good or a damaged certificate.
    fn compare(&mut self, what: &str, said: &Verdicts) {
        let Some(proof) = &said.proof else { return };
        let words = format!("{what}; {}", proof.beside(&said.judged.kernel));
        let count = self.beside.get(&words).and_then(Value::as_u64).unwrap_or(0) + 1;
        self.beside.insert(words, json!(count));
    }

    fn get(&self, name: &str) -> u64 {
        self.counts.get(name).and_then(Value::as_u64).unwrap_or(0)
    }
}

fn main() -> ExitCode {
    let found = call(std::env::args().skip(1).collect()).and_then(|call| run(&call));
    match found {
        Ok(failures) => ExitCode::from(u8::from(failures > 0)),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn call(arguments: Vec<String>) -> Result<Call, String> {
    let mut places = Vec::new();
    let (mut state, mut keep, mut each, mut proof) = (None, PathBuf::from("damaged"), EACH, None);
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a value; {USAGE}"));
        match argument.as_str() {
            "--state" => state = Some(PathBuf::from(value()?)),
            "--keep" => keep = PathBuf::from(value()?),
            "--proof" => proof = Some(value()?),
            "--each" => each = value()?.parse().map_err(|_| USAGE.to_owned())?,
            _ => places.push(argument.parse::<u64>().map_err(|_| USAGE.to_owned())?),
        }
    }
    match (places.as_slice(), state) {
        (&[from, to], Some(state)) => Ok(Call { from, to, each, state, keep, proof }),
        _ => Err(USAGE.to_owned()),
    }
}

/// Runs all seeds. Returns the number of failures in this run and in the runs before it.
fn run(call: &Call) -> Result<u64, String> {
    let mut state = State::read(&call.state, call.from)?;
    let mut proof = call.proof.as_deref().map(Proof::start).transpose()?;
    while state.next < call.to {
        let seed = state.next;
        one(seed, call, proof.as_mut(), &mut state)?;
        state.next += 1;
        state.write(&call.state)?;
    }
    for name in COUNTS {
        println!("{:>12} {}", state.get(name), name.replace('_', " "));
    }
    for (words, count) in &state.beside {
        println!("{:>12} {words}", count.as_u64().unwrap_or(0));
    }
    Ok(state.get("failures"))
}

/// Judges the good certificate of a seed, and damaged copies of it.
fn one(seed: u64, call: &Call, mut proof: Option<&mut Proof>, state: &mut State) -> Result<(), String> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let good = subjects::certificate(&mut rng);
    let said = Verdicts::of(&good, proof.as_deref_mut())?;
    state.add("good");
    state.compare("good", &said);
    if said.judged.truth.is_none() {
        state.add("good_not_judged_plainly");
    }
    if said.judged.kernel != Finding::Accepted || said.failure().is_some() {
        keep(call, state, &format!("{seed}-good"), &good, &said, "the certificate as it was made")?;
    }
    let document: Value = serde_json::from_str(&good).map_err(|error| error.to_string())?;
    for at in 0..call.each {
        let mut damaged = document.clone();
        let mut what = damage(&mut damaged, &mut rng);
        if rng.random_bool(0.2) {
            what = format!("{what}; {}", damage(&mut damaged, &mut rng));
        }
        let mut text = damaged.to_string();
        if rng.random_bool(0.05) {
            text = damaged_text(&text, &mut rng);
            what.push_str("; bytes");
        }
        let said = Verdicts::of(&text, proof.as_deref_mut())?;
        state.add("tried");
        state.compare("damaged", &said);
        match said.judged.kernel {
            Finding::Accepted => state.add("accepted"),
            Finding::Refused(_) => state.add("refused"),
            Finding::Malformed(_) => state.add("malformed"),
            Finding::TooLarge(_) => state.add("too_large"),
            Finding::Crashed(_) => {}
        }
        if said.judged.truth == Some(true) {
            state.add("true_for_the_plain_judge");
        }
        if said.failure().is_some() {
            keep(call, state, &format!("{seed}-{at}"), &text, &said, &what)?;
        }
    }
    Ok(())
}

/// Saves a certificate that failed, together with the verdicts.
fn keep(
    call: &Call,
    state: &mut State,
    name: &str,
    text: &str,
    said: &Verdicts,
    what: &str,
) -> Result<(), String> {
    state.add("failures");
    let Verdicts { judged: Judged { kernel, unread, truth, .. }, proof } = said;
    let failure = said.failure().unwrap_or("good-refused");
    let said = format!(
        "{failure}: {what}\nkernel: {kernel:?}\nreader: {unread:?}\nplain judge: {truth:?}\nproof: {proof:?}\n"
    );
    eprint!("{name}: {said}");
    let write = |extension: &str, text: &str| {
        let path = call.keep.join(format!("{failure}-{name}.{extension}"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    std::fs::create_dir_all(&call.keep).map_err(|error| format!("{}: {error}", call.keep.display()))?;
    write("json", text)?;
    write("txt", &said)
}
