//! Reads an allocation.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use rug::Rational;
use serde_json::value::RawValue;

use super::{
    Document, FormatError, Object, Source, canonical::problem_sha256, document::shorten, fields::some_text,
};
use crate::{
    allocation::{Allocation, Arithmetic, Placement},
    constraint::Sharing,
    names::hint,
    place::Place,
    problem::{Problem, ServerClass, User},
};

/// All fields of an allocation document. The fields after `placements` are for people and other programs, and are not
/// read.
const FIELDS: [&str; 35] = [
    "kind",
    "mechanism",
    "alpha",
    "criterion",
    "rule",
    "sharing",
    "arithmetic",
    "problem_sha256",
    "tasks",
    "placements",
    "summary",
    "decimals",
    "utilisation",
    "seconds",
    "prices",
    "user_prices",
    "at_most_prices",
    "fractions",
    "gap",
    "relative_gap",
    "witness",
    "bottlenecks",
    "status",
    "levels",
    "width",
    "iterations",
    "selection",
    "faces",
    "extreme_points",
    "integrality",
    "series",
    "search",
    "schedule",
    "warnings",
    "version",
];

/// The content of an allocation document.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationFile {
    /// The tasks of each user on each class.
    pub allocation: Allocation,
    /// The hash of the problem that the allocation was made for, or `None` if the document states no hash.
    pub problem_sha256: Option<String>,
    /// `true` if the answer is final: the document states no gap above 0, no interval, and no status other than
    /// `solved`.
    pub is_final: bool,
}

impl AllocationFile {
    /// Returns whether the stored hash is that of `problem`, or no hash is stored.
    #[must_use]
    pub fn is_for(&self, problem: &Problem) -> bool {
        self.problem_sha256.as_ref().is_none_or(|hash| *hash == problem_sha256(problem))
    }
}

impl<'a> Source<'a> {
    /// Reads the text as an allocation for `problem`.
    ///
    /// Does not compare the stored hash with the hash of the problem: see [`AllocationFile::is_for`].
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the text is not JSON or not an allocation, names a user or server that
    /// the problem does not have, or has placements that do not add up to its tasks.
    pub fn allocation(&self, problem: &Problem) -> Result<AllocationFile, FormatError> {
        Reader::new(&self.document()?, problem).read()
    }

    /// Reads an allocation that is part of this text. `raw` is borrowed from [`Source::text`] and is at `at` in the
    /// document.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Source::allocation`], with lines and columns of the whole
    /// text.
    pub fn allocation_in(
        &self,
        raw: &'a RawValue,
        at: &Place,
        problem: &Problem,
    ) -> Result<AllocationFile, FormatError> {
        Reader::new(&self.document_in(raw, at)?, problem).read()
    }
}

struct Reader<'r, 't> {
    document: &'r Document<'t>,
    problem: &'r Problem,
    users: HashMap<&'r str, usize>,
    servers: HashMap<&'r str, usize>,
}

type Tasks = Vec<Vec<(usize, Rational)>>;

impl<'r, 't> Reader<'r, 't> {
    fn new(document: &'r Document<'t>, problem: &'r Problem) -> Self {
        Self { document, problem, users: problem.user_index(), servers: problem.server_index() }
    }

    fn read(&self) -> Result<AllocationFile, FormatError> {
        let document = self.document;
        let object = document.object(document.root())?;
        object.of_kind(document, "allocation")?;
        object.only_at_top(document, &FIELDS)?;
        let text = |name| some_text(document, &object, name);
        let mechanism = text("mechanism")?;
        let problem_sha256 = text("problem_sha256")?;
        let sharing = self.one_of(object.get("sharing"), Sharing::NAMES)?;
        let arithmetic = self.one_of(object.get("arithmetic"), Arithmetic::NAMES)?;
        let placements = object.get("placements").map(|raw| self.placements(raw)).transpose()?;
        let tasks = match (object.get("tasks"), &placements) {
            (Some(raw), None) => self.tasks(raw)?,
            (Some(raw), Some(placements)) => {
                let tasks = self.tasks(raw)?;
                self.compare_sums(raw, &tasks, &self.sums(placements))?;
                tasks
            }
            (None, Some(placements)) => self.sums(placements),
            (None, None) => return Err(document.error(object.raw(), "the field `tasks` is missing")),
        };
        for name in FIELDS.iter().skip_while(|name| **name != "summary") {
            if let Some(raw) = object.get(name) {
                document.decoration(raw)?;
            }
        }
        let alpha = object.get("alpha").map(|raw| self.alpha(raw)).transpose()?;
        let criterion = object.get("criterion").map(|raw| document.boolean(raw)).transpose()?;
        let criterion = criterion.unwrap_or_default();
        let rule = text("rule")?;
        let allocation =
            Allocation { mechanism, alpha, criterion, rule, sharing, arithmetic, tasks, placements };
        Ok(AllocationFile { allocation, problem_sha256, is_final: self.is_final(&object)? })
    }

    fn is_final(&self, object: &Object<'t>) -> Result<bool, FormatError> {
        let has_gap = match object.get("gap") {
            Some(raw) if raw.get() != "null" => self.document.result_number(raw)? > 0,
            _ => false,
        };
        let is_solved = match object.get("status") {
            Some(raw) if raw.get() != "null" => self.document.string(raw)? == "solved",
            _ => true,
        };
        Ok(!has_gap && is_solved && object.get("levels").is_none() && object.get("width").is_none())
    }

    fn alpha(&self, raw: &'t RawValue) -> Result<Rational, FormatError> {
        let alpha = self.document.number(raw)?;
        if alpha <= 0 {
            return Err(self.document.error(raw, format!("found {}: expected a positive number", raw.get())));
        }
        Ok(alpha)
    }

    /// Reads a name, which must be one of a closed set. Returns the default if no name is stated.
    fn one_of<T: Default + FromStr>(
        &self,
        raw: Option<&'t RawValue>,
        names: &[(&str, &str)],
    ) -> Result<T, FormatError> {
        let Some(raw) = raw else { return Ok(T::default()) };
        let found = self.document.string(raw)?;
        found.parse().map_err(|_| {
            let expected: Vec<String> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let message = format!("found `{}`: expected {}", shorten(&found), expected.join(" or "));
            self.document.error(raw, message)
        })
    }

    fn user(&self, name: &str, value: &RawValue) -> Result<usize, FormatError> {
        self.users.get(name).copied().ok_or_else(|| {
            let hint = hint(name, self.problem.users().iter().map(User::name));
            let message = format!("the problem has no user `{}`{hint}", shorten(name));
            self.document.error_on_key(value, message)
        })
    }

    fn no_server(&self, name: &str) -> String {
        let hint = hint(name, self.problem.servers().iter().map(ServerClass::name));
        format!("the problem has no server `{}`{hint}", shorten(name))
    }

    fn tasks(&self, raw: &'t RawValue) -> Result<Tasks, FormatError> {
        let mut tasks = vec![Vec::new(); self.problem.n_users()];
        for (user, on_servers) in self.document.object(raw)?.fields() {
            let n = self.user(user, on_servers)?;
            let entries = self.document.object(on_servers)?;
            let mut row = Vec::with_capacity(entries.fields().len());
            for (server, value) in entries.fields() {
                let unknown = || self.document.error_on_key(value, self.no_server(server));
                let i = self.servers.get(&**server).copied().ok_or_else(unknown)?;
                row.push((i, self.document.result_number(value)?));
            }
            row.sort_by_key(|(i, _)| *i);
            tasks[n] = row;
        }
        Ok(tasks)
    }

    fn placements(&self, raw: &'t RawValue) -> Result<Vec<Placement>, FormatError> {
        let document = self.document;
        let list = document.list(raw)?;
        let mut placements = Vec::with_capacity(list.len());
        let mut seen = HashSet::with_capacity(list.len());
        for raw in list {
            let object = document.object(raw)?;
            object.only(document, &["server", "index", "tasks"])?;
            let server_raw = object.need(document, "server")?;
            let name = document.string(server_raw)?;
            let unknown = || document.error(server_raw, self.no_server(&name));
            let server = self.servers.get(&*name).copied().ok_or_else(unknown)?;
            let index_raw = object.need(document, "index")?;
            let index = self.index(index_raw, server)?;
            if !seen.insert((server, index)) {
                let message =
                    format!("server {index} of `{name}` is given twice: state all its tasks in one entry");
                return Err(document.error(index_raw, message));
            }
            let tasks = object.need(document, "tasks")?;
            placements.push(Placement { server, index, tasks: self.placed_tasks(tasks)? });
        }
        Ok(placements)
    }

    fn index(&self, raw: &'t RawValue, server: usize) -> Result<u64, FormatError> {
        let value = self.document.number(raw)?;
        let class = &self.problem.servers()[server];
        let index = if value.is_integer() { value.numer().to_u64() } else { None };
        index.filter(|&index| index < class.count()).ok_or_else(|| {
            let last = class.count() - 1;
            self.document.error(raw, format!("found {}: expected an integer from 0 to {last}", raw.get()))
        })
    }

    fn placed_tasks(&self, raw: &'t RawValue) -> Result<Vec<(usize, Rational)>, FormatError> {
        let object = self.document.object(raw)?;
        let mut tasks = Vec::with_capacity(object.fields().len());
        for (user, value) in object.fields() {
            tasks.push((self.user(user, value)?, self.document.result_number(value)?));
        }
        tasks.sort_by_key(|(n, _)| *n);
        Ok(tasks)
    }

    fn sums(&self, placements: &[Placement]) -> Tasks {
        let mut sums: Vec<HashMap<usize, Rational>> = vec![HashMap::new(); self.problem.n_users()];
        for placement in placements {
            for (n, tasks) in &placement.tasks {
                *sums[*n].entry(placement.server).or_default() += tasks;
            }
        }
        let sorted = |sums: HashMap<usize, Rational>| {
            let mut row: Vec<_> = sums.into_iter().collect();
            row.sort_by_key(|(i, _)| *i);
            row
        };
        sums.into_iter().map(sorted).collect()
    }

    fn compare_sums(&self, raw: &'t RawValue, tasks: &Tasks, sums: &Tasks) -> Result<(), FormatError> {
        let without_zeros = |row: &[(usize, Rational)]| -> Vec<(usize, Rational)> {
            row.iter().filter(|(_, x)| !x.is_zero()).cloned().collect()
        };
        for (n, (stated, placed)) in tasks.iter().zip(sums).enumerate() {
            if without_zeros(stated) != without_zeros(placed) {
                let name = self.problem.users()[n].name();
                let object = self.document.object(raw)?;
                let message = format!(
                    "the tasks of user `{name}` are not the sums of its placements: correct them or leave out `tasks`"
                );
                return Err(self.document.error(object.get(name).unwrap_or(raw), message));
            }
        }
        Ok(())
    }
}
