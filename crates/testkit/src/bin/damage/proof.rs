//! A third judge: `evenhand-proof --batch`, whose rules are proved in Coq (docs/proof.md).

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use evenhand_problem::Sharing;
use evenhand_testkit::agreement::Finding;

/// The verdict of the verified checker on one text.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status: 0 proven, 1 false, 2 malformed, 3 not covered.
    status: u8,
    /// The reason why the status is not 0.
    why: String,
}

/// A running `evenhand-proof --batch`, which judges one text after the other.
pub struct Proof {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The process, which ends when its input is closed.
    _process: Child,
}

impl Proof {
    /// Starts the program.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(program: &str) -> Result<Self, String> {
        let fault = |error: &dyn std::fmt::Display| format!("{program}: {error}");
        let mut command = Command::new(program);
        let mut process = command
            .arg("--batch")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| fault(&error))?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(input), Some(output)) => {
                Ok(Self { input, output: BufReader::new(output), _process: process })
            }
            _ => Err(fault(&"no pipes")),
        }
    }

    /// Returns the verdict on a text.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn judge(&mut self, text: &str, sharing: Option<Sharing>) -> Result<Answer, String> {
        let fault = |error: std::io::Error| format!("evenhand-proof: {error}");
        let sharing = sharing.map_or("-", Sharing::name);
        let mut line = Vec::new();
        write!(self.input, "{} {sharing}\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .and_then(|()| self.output.read_until(b'\n', &mut line))
            .map_err(fault)?;
        let line = String::from_utf8_lossy(&line);
        // The tab separates the answer from the text that is printed for people.
        let line = line.split('\t').next().unwrap_or_default();
        let (status, why) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
        let status = status.parse().map_err(|_| format!("evenhand-proof: it said `{line}`"))?;
        Ok(Answer { status, why: why.to_owned() })
    }
}

impl Answer {
    /// Returns `true` if the verified checker and the kernel contradict each other: one accepts and the other
    /// refuses. It is no contradiction if the verified checker does not cover a certificate, or if the kernel
    /// finds it too large.
    pub fn contradicts(&self, kernel: &Finding) -> bool {
        match (self.status, kernel.status()) {
            (0, 0 | 3) | (1 | 2, 1..=3) | (3, 0..=3) => false,
            _ => true,
        }
    }

    /// Returns both verdicts as text. If the verified checker does not cover the certificate, the text names
    /// the uncovered feature, without the names between quotes.
    pub fn beside(&self, kernel: &Finding) -> String {
        let said = |status| match status {
            0 => "accepted",
            1 => "refused",
            2 => "malformed",
            _ => "too large or not covered",
        };
        let mut both = format!("kernel: {}; proof: {}", said(kernel.status()), said(self.status));
        if self.status == 3 {
            let parts = self.why.split('`').step_by(2).collect::<Vec<_>>();
            both = format!("{both}: {}", parts.join("`...`"));
        }
        both
    }
}
