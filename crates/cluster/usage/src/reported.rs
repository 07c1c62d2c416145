//! The decayed usage that a scheduler reports, for comparison with the computed usage.

use std::collections::BTreeMap;
use std::io::Read as _;

use evenhand_budget::charge;
use evenhand_import::{ImportError, Input, broken_limit};
use evenhand_problem::number::parse_quantity;
use evenhand_problem::{Rational, printable};
use serde::Deserialize;
use serde_json::Value;

use crate::UsageError;
use crate::law::Law;
use crate::power::Enclosure;
use crate::time::time_of;

/// The size of the largest file that is read, in bytes. A report has a few hundred bytes for each queue.
const MAX_BYTES: u64 = 1 << 26;
/// The columns of `sshare` that are read.
const SSHARE: [&str; 2] = ["Account", "RawUsage"];

/// The scheduler that reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporter {
    /// Slurm. The report is the column `RawUsage` of `sshare -P`, in whole seconds, rounded down.
    Slurm,
    /// Kueue. The report is the consumed resources in the status of local queues, in thousandths.
    Kueue,
    /// Volcano. The report is the state of the plugin `fairshare`, as the plugin stores it in its config map.
    Volcano,
}

/// The decayed usage of queues as a scheduler reports it.
#[derive(Debug, Clone)]
pub struct Reported {
    /// The scheduler that reports the usage.
    pub reporter: Reporter,
    /// The usage of each resource for each queue. Slurm reports one sum over resources, whose name is empty.
    pub queues: BTreeMap<String, Vec<(String, Rational)>>,
    /// The earliest and the latest time at which the numbers were current, in nanoseconds. `None` if the
    /// report does not state them.
    pub times: Option<(i64, i64)>,
}

impl Reporter {
    /// Returns the name of the scheduler.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slurm => "Slurm",
            Self::Kueue => "Kueue",
            Self::Volcano => "Volcano",
        }
    }

    /// Returns `true` if the scheduler counts usage by this law.
    #[must_use]
    pub fn follows(self, law: Law) -> bool {
        match self {
            Self::Slurm => matches!(law, Law::Slurm | Law::SlurmTicks),
            Self::Kueue => law == Law::Kueue,
            Self::Volcano => law == Law::Volcano,
        }
    }
}

impl Reported {
    /// Reads the report of a scheduler. A report is the output of `sshare -P`, the output of `kubectl get
    /// localqueues -A -o json`, or the config map of Volcano's plugin `fairshare` (or the state in it) as
    /// JSON.
    ///
    /// # Errors
    /// [`UsageError`] with file and line for a file of another form, and for a number that cannot be read.
    pub fn read(input: Input) -> Result<Self, UsageError> {
        let (name, mut reader, packed) = input.parts();
        let mut bytes = Vec::new();
        let read = (&mut reader).take(MAX_BYTES + 1).read_to_end(&mut bytes);
        let read = read.map_err(|source| ImportError::Io { file: name.clone(), source })? as u64;
        let limit = match read > MAX_BYTES {
            true => Some(format!("more than {MAX_BYTES} bytes, the most that a report may have")),
            false => broken_limit(packed.get(), read),
        };
        if let Some(limit) = limit {
            return Err(ImportError::TooLarge { file: name, line: 1, limit }.into());
        }
        charge(10 * read, "the scheduler's report");
        let file = File { name };
        let text = std::str::from_utf8(&bytes).map_err(|_| file.error(1, "the file is not UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}');
        let reported = if text.trim_start().starts_with('{') { file.json(text) } else { file.sshare(text) }?;
        match reported.queues.is_empty() {
            true => Err(file.error(1, "no queue is reported")),
            false => Ok(reported),
        }
    }

    /// Returns the sum of the reported usage of a queue times the weights of the resources. Returns `None` if
    /// the queue is not reported.
    #[must_use]
    pub fn charged(&self, queue: &str, resource_weights: &[(String, Rational)]) -> Option<Rational> {
        let usage = self.queues.get(queue)?;
        let weight = |resource: &str| {
            let known = resource_weights.iter().find(|(name, _)| name == resource);
            known.map_or_else(Rational::new, |(_, weight)| weight.clone())
        };
        Some(match self.reporter {
            Reporter::Slurm => usage.iter().map(|(_, amount)| amount).sum(),
            Reporter::Kueue => usage.iter().map(|(name, amount)| weight(name) * amount).sum(),
            // Volcano counts one resource, which its state does not name.
            Reporter::Volcano => usage.iter().map(|(_, amount)| amount).sum(),
        })
    }

    /// Returns `true` if a computed usage agrees with a reported usage, up to the rounding of the report.
    #[must_use]
    pub fn agrees(&self, computed: &Enclosure, reported: &Rational, weights: &[(String, Rational)]) -> bool {
        /// The relative error of Volcano's sums in floating point, which has one rounding per cycle.
        const OF_DOUBLES: (u32, u32) = (1, 1_000_000);
        let rounding = match self.reporter {
            Reporter::Slurm => Rational::from(1),
            Reporter::Kueue => {
                let sum: Rational = weights.iter().map(|(_, weight)| weight).sum();
                sum / 1000
            }
            Reporter::Volcano => Rational::from(OF_DOUBLES) * reported,
        };
        Rational::from(&computed.high - reported) >= -rounding.clone()
            && Rational::from(&computed.low - reported) <= rounding
    }
}

struct File {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VolcanoState {
    #[serde(default)]
    last_cycle: String,
    queues: BTreeMap<String, BTreeMap<String, f64>>,
}

impl File {
    fn error(&self, line: u64, message: impl Into<String>) -> UsageError {
        UsageError::Row { file: self.name.clone(), line, message: message.into() }
    }

    fn amount(&self, line: u64, what: &str, text: &str) -> Result<Rational, UsageError> {
        parse_quantity(text.trim()).ok().filter(|amount| *amount >= 0).ok_or_else(|| {
            let found = printable(&text.chars().take(60).collect::<String>());
            self.error(line, format!("{what}: found `{found}`, expected a number of at least 0"))
        })
    }

    fn sshare(&self, text: &str) -> Result<Reported, UsageError> {
        let expected = "expected the output of sshare -P with the columns Account and RawUsage, or JSON of Kueue or Volcano";
        let mut lines = text.lines().enumerate().map(|(k, line)| (k as u64 + 1, line.trim_end()));
        let Some((line, header)) = lines.find(|(_, line)| !line.is_empty()) else {
            return Err(self.error(1, format!("the file is empty: {expected}")));
        };
        let names: Vec<&str> = header.split('|').map(str::trim).collect();
        let position = |wanted: &str| names.iter().position(|name| *name == wanted);
        let [Some(account), Some(usage)] = SSHARE.map(position) else {
            return Err(self.error(line, format!("found another header: {expected}")));
        };
        let user = position("User");
        let mut queues = BTreeMap::new();
        for (line, row) in lines.filter(|(_, line)| !line.is_empty()) {
            let fields: Vec<&str> = row.split('|').map(str::trim).collect();
            let field = |at: usize| fields.get(at).copied().unwrap_or_default();
            // Users of an account have rows of their own.
            if user.is_some_and(|user| !field(user).is_empty()) {
                continue;
            }
            if field(account).is_empty() {
                return Err(self.error(line, "Account: the name is empty"));
            }
            let amount = self.amount(line, "RawUsage", field(usage))?;
            let old = queues.insert(field(account).to_owned(), vec![(String::new(), amount)]);
            if old.is_some() {
                let name = printable(field(account));
                return Err(self.error(
                    line,
                    format!(
                        "Account: `{name}` has a second row; print the column User too, and one cluster only"
                    ),
                ));
            }
        }
        Ok(Reported { reporter: Reporter::Slurm, queues, times: None })
    }

    fn json(&self, text: &str) -> Result<Reported, UsageError> {
        let document: Value = serde_json::from_str(text)
            .map_err(|found| self.error(found.line() as u64, format!("the file is not JSON: {found}")))?;
        if document["kind"] == "ConfigMap" {
            let Some(state) = document["data"]["state.json"].as_str() else {
                return Err(
                    self.error(1, "data: expected the key `state.json` of Volcano's plugin fairshare")
                );
            };
            return self.volcano(state);
        }
        if document.get("queues").is_some() {
            return self.volcano(text);
        }
        self.kueue(&document)
    }

    fn volcano(&self, text: &str) -> Result<Reported, UsageError> {
        let state: VolcanoState = serde_json::from_str(text).map_err(|found| {
            self.error(1, format!("this is not the state of Volcano's plugin fairshare: {found}"))
        })?;
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        state.queues.values().flat_map(BTreeMap::keys).for_each(|name| *count.entry(name).or_default() += 1);
        let mut queues = BTreeMap::new();
        for (queue, namespaces) in &state.queues {
            for (namespace, usage) in namespaces {
                // A namespace with usage in several queues is a user of each of these queues.
                let is_unique = count.get(namespace.as_str()) == Some(&1);
                let name = if is_unique { namespace.clone() } else { format!("{queue}/{namespace}") };
                let amount = Rational::from_f64(*usage).filter(|amount| *amount >= 0).ok_or_else(|| {
                    self.error(
                        1,
                        format!("queues.{queue}.{namespace}: {usage} is not a number of at least 0"),
                    )
                })?;
                queues.insert(name, vec![(String::new(), amount)]);
            }
        }
        let time = time_of(state.last_cycle.as_bytes(), false);
        Ok(Reported { reporter: Reporter::Volcano, queues, times: time.map(|time| (time, time)) })
    }

    fn kueue(&self, document: &Value) -> Result<Reported, UsageError> {
        let expected = "expected local queues of Kueue (kubectl get localqueues -A -o json) or the state of Volcano's plugin fairshare";
        let one = std::slice::from_ref(document);
        let items = document["items"].as_array().map_or(one, Vec::as_slice);
        if items.iter().any(|item| item["kind"] != "LocalQueue") {
            return Err(self.error(1, format!("found other JSON: {expected}")));
        }
        let mut queues = BTreeMap::new();
        let mut times: Option<(i64, i64)> = None;
        let names: Vec<&str> =
            items.iter().map(|item| item["metadata"]["name"].as_str().unwrap_or_default()).collect();
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        names.iter().for_each(|name| *count.entry(name).or_default() += 1);
        for (k, item) in items.iter().enumerate() {
            let status = &item["status"]["fairSharing"]["admissionFairSharingStatus"];
            let Some(consumed) = status["consumedResources"].as_object() else { continue };
            let namespace = item["metadata"]["namespace"].as_str().unwrap_or_default();
            let is_unique = count.get(names[k]) == Some(&1);
            let name = if is_unique { names[k].to_owned() } else { format!("{namespace}/{}", names[k]) };
            let mut usage = Vec::new();
            for (resource, amount) in consumed {
                let place = format!("items[{k}].status, {}", printable(resource));
                let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
                usage.push((resource.clone(), self.amount(1, &place, &text)?));
            }
            if let Some(time) = status["lastUpdate"].as_str().and_then(|text| time_of(text.as_bytes(), false))
            {
                times = Some(times.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
            }
            queues.insert(name, usage);
        }
        if queues.is_empty() {
            let why = "no local queue has the status fairSharing.admissionFairSharingStatus: is admission fair sharing on?";
            return Err(self.error(1, why));
        }
        Ok(Reported { reporter: Reporter::Kueue, queues, times })
    }
}
