//! A case: files in a folder, the programs that are run on these files, and the faults in their ends.

use std::path::{Path, PathBuf};

use evenhand_oracles::mutated;
use evenhand_oracles::outside::{End, Limits, fault, run, shown};
use evenhand_testkit::damage::damaged_text;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::tally::Tally;

/// The settings of all cases.
pub struct Plan {
    /// The folder of the programs.
    pub programs: PathBuf,
    /// The limits of a run.
    pub limits: Limits,
    /// The value of `--work` for `evenhand`. `None` if the option is not passed.
    pub work: Option<String>,
}

/// A case that is being tried.
pub struct Attack<'a> {
    pub rng: Pcg64,
    case: u64,
    folder: &'a Path,
    plan: &'a Plan,
    tally: &'a mut Tally,
    /// The commands that were run, as lines of shell.
    lines: Vec<String>,
    found: Vec<String>,
}

impl<'a> Attack<'a> {
    pub fn new(
        seed: u64,
        case: u64,
        folder: &'a Path,
        plan: &'a Plan,
        tally: &'a mut Tally,
    ) -> Result<Self, String> {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let rng = Pcg64::new(seed.into(), case.into());
        let mut attack = Self { rng, case, folder, plan, tally, lines: Vec::new(), found: Vec::new() };
        // Neighbouring streams of random numbers begin with similar numbers, so the generator is seeded
        // again.
        attack.rng = Pcg64::seed_from_u64(attack.rng.random::<u64>() ^ case);
        Ok(attack)
    }

    pub fn seed(&mut self) -> u32 {
        self.rng.random()
    }

    pub fn odds(&mut self, odds: f64) -> bool {
        self.rng.random_bool(odds)
    }

    pub fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.rng.random_range(0..from.len())]
    }

    /// Returns one of several names that are given with their help texts.
    pub fn name(&mut self, from: &[(&'static str, &'static str)]) -> &'static str {
        from[self.rng.random_range(0..from.len())].0
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        std::fs::write(self.folder.join(name), bytes).map_err(|error| format!("{name}: {error}"))
    }

    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.folder.join(name)).ok()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns a damaged document. In one of five cases the bytes are damaged, and otherwise the document.
    pub fn damaged(&mut self, document: &[u8]) -> Vec<u8> {
        let seed = self.seed();
        let as_document = if self.odds(0.8) { mutated(document, seed) } else { None };
        as_document
            .unwrap_or_else(|| damaged_text(&String::from_utf8_lossy(document), &mut self.rng).into_bytes())
    }

    /// Runs `evenhand`, and records the faults in its end.
    pub fn evenhand(&mut self, arguments: &[&str]) -> Result<End, String> {
        self.run("evenhand", &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    pub fn kernel(&mut self, arguments: &[&str]) -> Result<End, String> {
        self.run("evenhand-check", &arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    pub fn run(&mut self, program: &str, arguments: &[String]) -> Result<End, String> {
        // The arguments of a process cannot contain null bytes.
        let mut arguments: Vec<String> = arguments.iter().map(|word| word.replace('\0', "")).collect();
        let is_limited = program != "evenhand" || arguments.iter().any(|word| word == "--work");
        if let Some(work) = self.plan.work.as_ref().filter(|_| !is_limited && !arguments.is_empty()) {
            arguments.extend(["--work".to_owned(), work.clone()]);
        }
        let path = self.plan.programs.join(program);
        self.lines.push(shown(&path, &arguments));
        let end = run(&path, &arguments, self.folder, self.plan.limits)
            .map_err(|error| format!("{program}: {error}"))?;
        let command =
            if program == "evenhand" { arguments.first().map_or("", String::as_str) } else { program };
        self.tally.count(command, &end);
        if let Some(why) = fault(&arguments, &end) {
            self.note(why);
        }
        Ok(end)
    }

    /// Records a fault of the last program.
    pub fn note(&mut self, why: impl Into<String>) {
        let last = self.lines.last().cloned().unwrap_or_default();
        self.found.push(format!("{last}: {}", why.into()));
    }

    /// Saves the files of a case that has faults.
    pub fn kept(self, folder: &Path) -> Result<(), String> {
        if self.found.is_empty() {
            return Ok(());
        }
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).map_err(failed)?;
        for entry in std::fs::read_dir(self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                std::fs::copy(&path, folder.join(name)).map_err(failed)?;
            }
        }
        std::fs::write(folder.join("again"), self.lines.join("\n") + "\n").map_err(failed)?;
        std::fs::write(folder.join("why"), self.found.join("\n") + "\n").map_err(failed)?;
        let case = self.case;
        self.tally.found.extend(self.found.into_iter().map(|why| (case, why)));
        Ok(())
    }
}
