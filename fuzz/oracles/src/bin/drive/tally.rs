//! The record of all runs and faults so far.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use evenhand_oracles::outside::End;
use serde_json::{Value, json};

/// The counts of a command.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Row {
    /// The number of runs by exit status. Runs that a signal ended come last.
    pub ends: [u64; 5],
    /// The duration of the longest run in milliseconds.
    pub longest: u64,
}

/// The progress of the attack.
#[derive(Debug, Default)]
pub struct Tally {
    pub seed: u64,
    /// The number of the next case.
    pub next: u64,
    pub runs: u64,
    pub rows: BTreeMap<String, Row>,
    /// The faults, each with the number of its case and a description.
    pub found: Vec<(u64, String)>,
}

const STATE: &str = "state.json";

impl Tally {
    /// Reads the progress of an earlier run. Returns an empty record if there is none.
    pub fn read(folder: &Path, seed: u64) -> Result<Self, String> {
        let fresh = Self { seed, ..Self::default() };
        let text = match std::fs::read_to_string(folder.join(STATE)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(fresh),
            text => text.map_err(|error| error.to_string())?,
        };
        let damaged = || format!("{STATE} is damaged");
        let value: Value = serde_json::from_str(&text).map_err(|_| damaged())?;
        let number = |value: &Value| value.as_u64().ok_or_else(damaged);
        if number(&value["seed"])? != seed {
            return Err(format!("{STATE} is of another seed"));
        }
        let mut tally = Self { next: number(&value["next"])?, runs: number(&value["runs"])?, ..fresh };
        for (command, row) in value["rows"].as_object().ok_or_else(damaged)? {
            let ends: Vec<u64> =
                row["ends"].as_array().ok_or_else(damaged)?.iter().map(number).collect::<Result<_, _>>()?;
            let ends = ends.try_into().map_err(|_| damaged())?;
            tally.rows.insert(command.clone(), Row { ends, longest: number(&row["longest"])? });
        }
        for each in value["found"].as_array().ok_or_else(damaged)? {
            let why = each[1].as_str().ok_or_else(damaged)?;
            tally.found.push((number(&each[0])?, why.to_owned()));
        }
        Ok(tally)
    }

    /// Saves the progress by replacing the file in one step.
    pub fn save(&self, folder: &Path) -> Result<(), String> {
        let rows: serde_json::Map<String, Value> = self
            .rows
            .iter()
            .map(|(command, row)| (command.clone(), json!({"ends": row.ends, "longest": row.longest})))
            .collect();
        let value = json!({"seed": self.seed, "next": self.next, "runs": self.runs, "rows": rows, "found": self.found});
        let new = folder.join("state.new");
        std::fs::write(&new, value.to_string())
            .and_then(|()| std::fs::rename(&new, folder.join(STATE)))
            .map_err(|error| format!("{STATE}: {error}"))
    }

    pub fn count(&mut self, command: &str, end: &End) {
        let row = self.rows.entry(command.to_owned()).or_default();
        let at = end.status.and_then(|status| usize::try_from(status).ok()).filter(|status| *status < 4);
        row.ends[at.unwrap_or(4)] += 1;
        row.longest = row.longest.max(milliseconds(end.took));
        self.runs += 1;
    }

    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        for (command, other) in other.rows {
            let row = self.rows.entry(command).or_default();
            row.ends.iter_mut().zip(other.ends).for_each(|(count, more)| *count += more);
            row.longest = row.longest.max(other.longest);
        }
        self.found.extend(other.found);
    }

    pub fn table(&self) -> String {
        let mut text = format!(
            "| {:<15} | {:>8} | {:>8} | {:>8} | {:>8} | {:>8} | {:>9} |\n",
            "command", "status 0", "1", "2", "3", "other", "longest"
        );
        text.push_str("|---|---|---|---|---|---|---|\n");
        for (command, Row { ends: [a, b, c, d, e], longest }) in &self.rows {
            let seconds = *longest as f64 / 1_000.0;
            let _ = writeln!(
                text,
                "| {command:<15} | {a:>8} | {b:>8} | {c:>8} | {d:>8} | {e:>8} | {seconds:>7.2} s |"
            );
        }
        let _ = writeln!(text, "\n{} runs of {} cases, seed {}", self.runs, self.next, self.seed);
        for (case, why) in &self.found {
            let _ = writeln!(text, "found/{case}: {why}");
        }
        text
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
