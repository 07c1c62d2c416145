//! The importer for three tables of a spreadsheet, in any order. The header of each table identifies it.
//!
//! | table | columns |
//! |---|---|
//! | servers | `server`, `count` (1), and one for each resource |
//! | teams | `team`, `parent`, `weight` (1), `priority` (0), `guarantee RESOURCE`, `limit RESOURCE`, `lend RESOURCE` |
//! | tasks | `task`, `team`, `server` (of a running task; empty for a waiting one), `count` (1), `gang` (1), `on` (rows of servers that it may use, separated by bars; empty for all), `reason`, and one for each resource |
//!
//! The servers of a row with several servers are named `NAME #0`, `NAME #1` and so on. Only the first column of a table is
//! required, and the table of teams may be missing.

use std::collections::BTreeSet;

use csv::StringRecord;
use evenhand_problem::number;
use evenhand_problem::snapshot::{Origin, Snapshot, System};
use rug::Rational;

use super::build::build;
use super::classes::Part;
use super::cluster::{Amounts, Cluster, Server};
use super::source::Bytes;
use super::tree::{LONGEST_NAME, shown};
use evenhand_import::ImportError;
use evenhand_import::Ordered;
use evenhand_import::split;

/// The largest number of servers of one row. Each server of the row gets a name.
const MOST_SERVERS: u64 = 100_000;
/// The largest number of tasks of one row.
const MOST_TASKS: u64 = 1_000_000;

/// The columns of the table of servers that are not resources.
const SERVERS: [&str; 2] = ["server", "count"];
/// The columns of the table of teams that are not amounts.
const TEAMS: [&str; 4] = ["team", "parent", "weight", "priority"];
/// The columns of the table of tasks that are not resources.
const TASKS: [&str; 7] = ["task", "team", "server", "count", "gang", "on", "reason"];

struct Tables {
    cluster: Cluster,
    /// The rules of tasks. A rule is a set of rows of servers. An empty set stands for all rows.
    rules: Ordered<BTreeSet<String>, ()>,
    /// The names of the rows of servers. The position of a row is the profile of its servers.
    rows: Ordered<String, ()>,
    teams: BTreeSet<String>,
    /// The first columns of the tables that have been read.
    found: BTreeSet<String>,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let cluster = Cluster::new(System::Csv, &[]);
    let mut tables = Tables {
        cluster,
        rules: Ordered::default(),
        rows: Ordered::default(),
        teams: BTreeSet::new(),
        found: BTreeSet::new(),
    };
    for mut bytes in inputs {
        tables.table(&mut bytes)?;
        let sha256 = bytes.sha256();
        tables.cluster.sources.push(Origin { file: bytes.file.clone(), sha256, ..Origin::default() });
    }
    for (first, what) in [("server", "servers"), ("task", "tasks")] {
        let table = format!("a table that begins with the column `{first}`");
        if !tables.found.contains(first) {
            return Err(ImportError::Dumps(format!("no file has {what}: add {table}")));
        }
    }
    let Tables { cluster, rules, rows, .. } = tables;
    for (rule, ()) in rules.entries() {
        if let Some(name) = rule.iter().find(|name| rows.find(*name).is_none()) {
            let message = format!("no table of servers has a row `{}`, which a task may use", shown(name));
            return Err(ImportError::Dumps(evenhand_problem::printable(&message)));
        }
    }
    let allows = |rule: &BTreeSet<String>, row: &String| rule.is_empty() || rule.contains(row);
    let allowed = rules
        .entries()
        .iter()
        .map(|(rule, ())| rows.entries().iter().map(|(row, ())| allows(rule, row)).collect());
    let allowed = allowed.collect();
    build(cluster, &allowed, part)
}

/// A row of a table, with its header.
struct Row<'r> {
    bytes: &'r Bytes,
    line: u64,
    header: &'r [String],
    cells: StringRecord,
}

impl<'r> Row<'r> {
    fn error(&self, column: &str, message: impl AsRef<str>) -> ImportError {
        self.bytes.error(self.line, format!("{column}: {}", message.as_ref()))
    }

    /// Returns the text of a column. Returns `None` if the column is missing or empty.
    fn get(&self, column: &str) -> Option<&str> {
        let at = self.header.iter().position(|name| name == column)?;
        self.cells.get(at).map(str::trim).filter(|cell| !cell.is_empty())
    }

    fn name(&self, column: &str) -> Result<&str, ImportError> {
        let name = self.get(column).ok_or_else(|| self.error(column, "expected a name"))?;
        match name.len() > LONGEST_NAME {
            true => Err(self
                .error(column, format!("a name of {} bytes: expected at most {LONGEST_NAME}", name.len()))),
            false => Ok(name),
        }
    }

    fn amount(&self, column: &str, text: &str) -> Result<Rational, ImportError> {
        let value = number::parse_quantity(text).map_err(|error| self.error(column, error.to_string()))?;
        if value < 0 {
            return Err(
                self.error(column, format!("{} is negative: expected a quantity of at least 0", shown(text)))
            );
        }
        match number::stated(&value) {
            Some(_) => Ok(value),
            None => Err(self.error(column, "a number with too many digits")),
        }
    }

    fn whole(&self, column: &str, most: u64) -> Result<u64, ImportError> {
        let Some(text) = self.get(column) else { return Ok(1) };
        let value = text.parse::<u64>().ok().filter(|value| (1..=most).contains(value));
        value.ok_or_else(|| {
            self.error(column, format!("found `{}`: expected a whole number from 1 to {most}", shown(text)))
        })
    }

    /// Reads the resources. Every column that is not in `known` is a resource.
    fn resources(&self, known: &[&str], cluster: &mut Cluster) -> Result<Amounts, ImportError> {
        let mut amounts = Amounts::new();
        for column in self.header.iter().filter(|name| !known.contains(&name.as_str())) {
            let amount = self.get(column).map_or(Ok(Rational::new()), |text| self.amount(column, text))?;
            amounts.insert(cluster.resource(column), amount);
        }
        Ok(amounts)
    }
}

impl Tables {
    fn table(&mut self, bytes: &mut Bytes) -> Result<(), ImportError> {
        let expected = "a table that begins with the column `server`, `team` or `task`";
        let mut header: Option<Vec<String>> = None;
        while let Some((line, text)) = bytes.next_line()? {
            if text.trim().is_empty() {
                continue;
            }
            let mut cells = StringRecord::new();
            split(text.trim_start_matches('\u{feff}'), &mut cells);
            let Some(header) = &header else {
                header = Some(self.header(bytes, line, &cells, expected)?);
                continue;
            };
            if cells.len() != header.len() {
                let message =
                    format!("found {} columns: expected {}: {}", cells.len(), header.len(), header.join(","));
                return Err(bytes.error(line, message));
            }
            let row = Row { bytes, line, header, cells };
            match header[0].as_str() {
                "server" => self.server(&row)?,
                "team" => self.team(&row)?,
                _ => self.task(&row)?,
            }
        }
        match header {
            Some(header) => {
                self.found.extend(header.into_iter().next());
                Ok(())
            }
            None => Err(bytes.error(0, format!("the file is empty: expected {expected}"))),
        }
    }

    fn header(
        &self,
        bytes: &Bytes,
        line: u64,
        cells: &StringRecord,
        expected: &str,
    ) -> Result<Vec<String>, ImportError> {
        let header: Vec<String> = cells.iter().map(|cell| cell.trim().to_owned()).collect();
        let shown_header = shown(&header.join(","));
        if !matches!(header[0].as_str(), "server" | "team" | "task") {
            return Err(bytes.error(line, format!("found the header `{shown_header}`: expected {expected}")));
        }
        let mut seen = BTreeSet::new();
        if let Some(name) = header.iter().find(|name| name.is_empty() || !seen.insert(name.as_str())) {
            let message =
                format!("the column `{name}` of the header `{shown_header}` has no name or is named twice");
            return Err(bytes.error(line, message));
        }
        if header[0] == "team" {
            let is_known = |name: &&String| {
                let of = name.split_once(' ').is_some_and(|(what, of)| {
                    matches!(what, "guarantee" | "limit" | "lend") && !of.trim().is_empty()
                });
                of || TEAMS.contains(&name.as_str())
            };
            if let Some(other) = header.iter().find(|name| !is_known(name)) {
                let message = format!(
                    "the column `{other}` is not known: expected {}, `guarantee RESOURCE`, `limit RESOURCE` or `lend RESOURCE`",
                    TEAMS.join(", ")
                );
                return Err(bytes.error(line, message));
            }
        }
        Ok(header)
    }

    fn server(&mut self, row: &Row<'_>) -> Result<(), ImportError> {
        let name = row.name("server")?;
        if self.rows.find(name).is_some() {
            return Err(row.error("server", format!("`{}` is given twice", shown(name))));
        }
        let profile = self.rows.place(name, || ());
        let count = row.whole("count", MOST_SERVERS)?;
        let capacity = row.resources(&SERVERS, &mut self.cluster)?;
        self.cluster.copies(2 * count, name.len() + 8, "the servers of a row");
        self.cluster.copies(count.saturating_mul(capacity.len() as u64), 64, "the servers of a row");
        for k in 0..count {
            let single = if count == 1 { name.to_owned() } else { format!("{name} #{k}") };
            if self.cluster.servers.find(&single).is_some() {
                return Err(row.error("server", format!("`{}` is given twice", shown(&single))));
            }
            let server = Server { capacity: capacity.clone(), closed: None, hint: name.to_owned(), profile };
            self.cluster.servers.value(&single, || server);
        }
        Ok(())
    }

    fn team(&mut self, row: &Row<'_>) -> Result<(), ImportError> {
        let name = row.name("team")?;
        if !self.teams.insert(name.to_owned()) {
            return Err(row.error("team", format!("`{}` is given twice", shown(name))));
        }
        let group = self.cluster.group(name);
        let parent = row.get("parent").map(str::to_owned);
        if let Some(parent) = &parent {
            self.cluster.group(parent);
        }
        let plain = |column: &str| {
            row.get(column)
                .map(|text| number::parse(text).map_err(|error| row.error(column, error.to_string())))
                .transpose()
        };
        let weight = plain("weight")?;
        if weight.as_ref().is_some_and(|weight| *weight < 0) {
            return Err(row.error("weight", "expected a number of at least 0"));
        }
        let priority = plain("priority")?;
        let amounts = |what: &str| -> Result<Vec<(String, Rational)>, ImportError> {
            let mut amounts = Vec::new();
            for column in row.header {
                let of = column.split_once(' ').filter(|(first, _)| *first == what);
                if let (Some((_, resource)), Some(text)) = (of, row.get(column)) {
                    amounts.push((resource.trim().to_owned(), row.amount(column, text)?));
                }
            }
            Ok(amounts)
        };
        let (guarantee, limit, lend) = (amounts("guarantee")?, amounts("limit")?, amounts("lend")?);
        for (resource, promised) in &guarantee {
            if limit.iter().any(|(of, most)| of == resource && most < promised) {
                return Err(row.error(&format!("guarantee {resource}"), "the guarantee is above the limit"));
            }
        }
        let spec = self.cluster.groups.at(group);
        (spec.parent, spec.weight, spec.priority) = (parent, weight, priority);
        spec.guarantee = (!guarantee.is_empty()).then_some(guarantee);
        (spec.limit, spec.lend) = (limit, lend);
        Ok(())
    }

    fn task(&mut self, row: &Row<'_>) -> Result<(), ImportError> {
        let name = row.name("task")?;
        let group = self.cluster.group(row.get("team").unwrap_or("all"));
        let (count, gang) = (row.whole("count", MOST_TASKS)?, row.whole("gang", MOST_TASKS)?);
        let demand = row.resources(&TASKS, &mut self.cluster)?;
        let on = row.get("on").unwrap_or_default().split('|').map(str::trim).filter(|name| !name.is_empty());
        let rule = self.rules.place(&on.map(str::to_owned).collect::<BTreeSet<_>>(), || ());
        let named =
            if row.get("server").is_some() { count } else { count.min(super::cluster::MOST_TASK_NAMES) };
        self.cluster.copies(named, name.len() + 8, "the tasks of a row");
        let names = (0..count).map(|k| if count == 1 { name.to_owned() } else { format!("{name} #{k}") });
        match row.get("server") {
            Some(server) => {
                let place = self.cluster.place(server);
                let tasks = self.cluster.tasks(Some(group), &demand, rule, gang);
                names.for_each(|name| tasks.runs(place, name));
            }
            None => {
                let reason = row.get("reason").unwrap_or_default();
                let names = names.take(super::cluster::MOST_TASK_NAMES as usize);
                self.cluster.tasks(Some(group), &demand, rule, gang).waits(reason, count, names);
            }
        }
        Ok(())
    }
}
