//! Reads files of the kind `sweep`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evenhand_budget::Limits;
use evenhand_exact::Axiom;
use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::format::{Document, FormatError, Object, ReadError, Source, read_text};
use evenhand_problem::{Arithmetic, Rational, hint};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::fault::{Cause, Fault, attempt};
use crate::line::{Head, Line};
use crate::setting::settings;
use crate::solve::{Judging, Subject, Task, solved};
use crate::text::on_one_line;
use crate::vary::Pointer;

const KIND: &str = "sweep";
const FIELDS: &[&str] =
    &["kind", "problems", "vary", "mechanisms", "certify", "axioms", "tolerance", "exact"];

/// The largest number of lines of a grid. If each line took one second, they would take thirty years.
pub const MOST_LINES: u64 = 1_000_000_000;
/// The largest number of paths that match the patterns of a grid. All these paths are in memory.
pub const MOST_PATHS: usize = 1_000_000;

/// A grid of problems, varied parameters and mechanisms.
#[derive(Debug)]
pub struct Grid {
    problems: Vec<Entry>,
    vary: Vec<(Pointer, Vec<Box<RawValue>>)>,
    tasks: Vec<Task>,
    judging: Judging,
    folder: PathBuf,
    /// The number of combinations of the values of all varied parameters.
    combinations: u64,
    sha256: String,
}

/// A problem of a grid: a file, or a text with a name for messages.
#[derive(Debug, Clone)]
enum Entry {
    Path(String),
    Text { name: String, text: String },
}

impl Grid {
    /// Reads a grid. Its paths are relative to `folder`. `seed` is the seed for all random numbers.
    ///
    /// # Errors
    /// [`FormatError`] with the position of the error.
    pub fn read(source: &Source<'_>, folder: &Path, seed: u64) -> Result<Self, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.of_kind(&document, KIND)?;
        object.only_at_top(&document, FIELDS)?;
        let problems = problems(&document, object.need(&document, "problems")?, source.name, folder)?;
        let (vary, combinations) = vary(&document, &object)?;
        let tasks = tasks(&document, &object, seed)?;
        let judging = judging(&document, &object)?;
        let lines = (problems.len() as u64).saturating_mul(combinations).saturating_mul(tasks.len() as u64);
        if lines > MOST_LINES {
            let message = format!("the grid has {lines} lines: expected at most {MOST_LINES}");
            return Err(document.error(document.root(), message));
        }
        let mut hash = Sha256::new();
        hash.update(format!("{} {seed}\n{}\n", env!("CARGO_PKG_VERSION"), source.text));
        problems.iter().for_each(|entry| hash.update(format!("{}\n", entry.name())));
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let folder = folder.to_path_buf();
        let grid = Self { problems, vary, tasks, judging, folder, combinations, sha256 };
        grid.try_pointers(&document, &object)?;
        Ok(grid)
    }

    /// Returns the hash of the grid. It covers the text of the grid, the paths that match its patterns, the
    /// seed, and the version of this software.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the paths of the problem files.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.problems.iter().filter_map(|entry| match entry {
            Entry::Path(path) => Some(self.folder.join(path)),
            Entry::Text { .. } => None,
        })
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn n_lines(&self) -> u64 {
        self.problems.len() as u64 * self.combinations * self.tasks.len() as u64
    }

    /// Returns the number of the problem of a line.
    #[must_use]
    pub fn problem_of(&self, line: u64) -> u64 {
        line / self.tasks.len() as u64
    }

    /// Reads the problem with the number `number`.
    ///
    /// # Errors
    /// [`Fault`] if the problem cannot be read.
    pub fn subject(&self, number: u64, limits: &Limits) -> Result<Subject, Fault> {
        let entry = &self.problems[(number / self.combinations) as usize];
        attempt(limits, || {
            let mut text = entry.text(&self.folder)?;
            for ((pointer, _), value) in self.vary.iter().zip(self.values(number)) {
                let put = pointer.put(&text, value.get());
                text = put.map_err(|what| Fault::new(Cause::Input, format!("{}: {what}", entry.name())))?;
            }
            let problem = Source { name: entry.name(), text: &text }.problem()?;
            Ok(Subject::new(Arc::new(problem)))
        })
    }

    /// Returns the problem, parameters and mechanism of a line.
    #[must_use]
    pub fn head(&self, line: u64, subject: &Result<Subject, Fault>) -> Head {
        let (number, task) = (self.problem_of(line), self.task(line));
        let named = |of: &Subject| (of.problem.name().to_owned(), of.sha256.clone());
        let pointers = self.vary.iter().map(|(pointer, _)| pointer.text().to_owned());
        Head {
            problem: subject.as_ref().ok().map(named),
            number,
            varied: pointers.zip(self.values(number).into_iter().map(ToOwned::to_owned)).collect(),
            mechanism: task.name.clone(),
            settings: task.settings.clone(),
        }
    }

    /// Computes the line of a problem that has already been read.
    #[must_use]
    pub fn line(&self, line: u64, subject: &Result<Subject, Fault>, limits: &Limits) -> Line {
        let task = self.task(line);
        let found = match subject {
            Err(fault) => Err(fault.clone()),
            Ok(subject) => solved(subject, task.mechanism, &task.flags, &self.judging, limits),
        };
        Line { head: self.head(line, subject), found }
    }

    fn task(&self, line: u64) -> &Task {
        &self.tasks[(line % self.tasks.len() as u64) as usize]
    }

    /// Returns the values of the varied parameters. The last parameter changes fastest.
    fn values(&self, number: u64) -> Vec<&RawValue> {
        let mut rest = number % self.combinations;
        let mut values: Vec<&RawValue> = Vec::with_capacity(self.vary.len());
        for (_, all) in self.vary.iter().rev() {
            values.push(&all[(rest % all.len() as u64) as usize]);
            rest /= all.len() as u64;
        }
        values.reverse();
        values
    }

    /// Checks that every pointer leads to a value in the first problem. A pointer that leads to no value
    /// there is probably wrong for most problems.
    fn try_pointers<'t>(&self, document: &Document<'t>, object: &Object<'t>) -> Result<(), FormatError> {
        let (Some(raw), Some(entry)) = (object.get("vary"), self.problems.first()) else { return Ok(()) };
        let Ok(mut text) = entry.text(&self.folder) else { return Ok(()) };
        let of_vary = document.object(raw)?;
        for ((pointer, values), (_, raw)) in self.vary.iter().zip(of_vary.fields()) {
            let put = pointer.put(&text, values[0].get());
            text = put.map_err(|what| document.error_on_key(raw, format!("{what} ({})", entry.name())))?;
        }
        Ok(())
    }
}

impl Entry {
    fn name(&self) -> &str {
        match self {
            Self::Path(name) | Self::Text { name, .. } => name,
        }
    }

    fn text(&self, folder: &Path) -> Result<String, Fault> {
        let path = match self {
            Self::Text { text, .. } => return Ok(text.clone()),
            Self::Path(path) => path,
        };
        // Messages name the file as the grid does, whatever folder the grid is read from.
        read_text(&folder.join(path)).map_err(|error| match error {
            ReadError::Io { source, .. } => Fault::new(Cause::Input, format!("{path}: {source}")),
            ReadError::TooLarge { limit, .. } => ReadError::TooLarge { file: path.clone(), limit }.into(),
            ReadError::Format(mut error) => {
                error.file.clone_from(path);
                error.into()
            }
            error => error.into(),
        })
    }
}

fn problems<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    grid: &str,
    folder: &Path,
) -> Result<Vec<Entry>, FormatError> {
    let mut all = Vec::new();
    for (position, raw) in document.list(raw)?.into_iter().enumerate() {
        if raw.get().starts_with('{') {
            let name = format!("{grid}: problems[{position}]");
            all.push(Entry::Text { name, text: raw.get().to_owned() });
        } else {
            let pattern = document.string(raw)?;
            paths(&pattern, folder, &mut all).map_err(|what| document.error(raw, what))?;
        }
    }
    if all.is_empty() {
        return Err(document.error(raw, "found an empty list: expected problems"));
    }
    Ok(all)
}

/// Returns the files that match a pattern in alphabetical order. A file whose name is the pattern itself
/// takes precedence.
fn paths(pattern: &str, folder: &Path, all: &mut Vec<Entry>) -> Result<(), String> {
    if pattern.is_empty() || pattern == "-" {
        return Err(format!("found `{pattern}`: expected the path of a problem"));
    }
    let is_pattern = pattern.contains(['*', '?', '[']) && !folder.join(pattern).exists();
    if !is_pattern {
        all.push(Entry::Path(pattern.to_owned()));
        return Ok(());
    }
    let within = folder.to_str().ok_or("the folder of the grid has a name that is not UTF-8")?;
    let within = glob::Pattern::escape(within);
    let separator =
        if within.is_empty() || within.ends_with('/') || pattern.starts_with('/') { "" } else { "/" };
    let whole =
        if pattern.starts_with('/') { pattern.to_owned() } else { format!("{within}{separator}{pattern}") };
    let mut found = Vec::new();
    for path in glob::glob(&whole).map_err(|error| format!("`{pattern}` is not a valid pattern: {error}"))? {
        let path = path.map_err(|error| error.to_string())?;
        let path = path.strip_prefix(folder).map(Path::to_path_buf).unwrap_or(path);
        let path = path.into_os_string().into_string();
        found.push(path.map_err(|path| format!("{}: a name that is not UTF-8", path.display()))?);
        if all.len() + found.len() > MOST_PATHS {
            return Err(format!("the patterns lead to more than {MOST_PATHS} files"));
        }
    }
    found.sort_unstable();
    if found.is_empty() {
        return Err(format!("no file fits the pattern `{pattern}`"));
    }
    all.extend(found.into_iter().map(Entry::Path));
    Ok(())
}

type Vary = Vec<(Pointer, Vec<Box<RawValue>>)>;

fn vary<'t>(document: &Document<'t>, object: &Object<'t>) -> Result<(Vary, u64), FormatError> {
    let mut all = Vec::new();
    let mut combinations = 1_u64;
    let Some(raw) = object.get("vary") else { return Ok((all, combinations)) };
    for (name, raw) in document.object(raw)?.fields() {
        let pointer = Pointer::parse(name).map_err(|what| document.error_on_key(raw, what))?;
        let value = |raw: &'t RawValue| {
            let text = RawValue::from_string(on_one_line(raw.get()));
            text.map_err(|error| document.error(raw, error.to_string()))
        };
        let values = document.list(raw)?.into_iter().map(value).collect::<Result<Vec<_>, _>>()?;
        if values.is_empty() {
            return Err(document.error(raw, "found an empty list: expected values"));
        }
        combinations = combinations.saturating_mul(values.len() as u64);
        all.push((pointer, values));
    }
    Ok((all, combinations))
}

fn tasks<'t>(document: &Document<'t>, object: &Object<'t>, seed: u64) -> Result<Vec<Task>, FormatError> {
    let exact = object.get("exact").map(|raw| document.boolean(raw)).transpose()?.unwrap_or(true);
    let arithmetic = if exact { Arithmetic::Exact } else { Arithmetic::Float };
    let raw = object.need(document, "mechanisms")?;
    let list = document.list(raw)?;
    if list.is_empty() {
        return Err(document.error(raw, "found an empty list: expected mechanisms"));
    }
    let mut asked = Flags::new(arithmetic);
    asked.seed = seed;
    list.into_iter().map(|raw| task(document, raw, asked.clone())).collect()
}

fn task<'t>(document: &Document<'t>, raw: &'t RawValue, flags: Flags) -> Result<Task, FormatError> {
    let object = raw.get().starts_with('{').then(|| document.object(raw)).transpose()?;
    if let Some(object) = &object {
        object.only(document, &["mechanism", "name", "settings"])?;
    }
    let of = object.as_ref().map(|object| object.need(document, "mechanism")).transpose()?.unwrap_or(raw);
    let id = document.string(of)?;
    let mechanism = registry::find(&id).ok_or_else(|| {
        let what = format!("there is no mechanism `{id:.60}`{}", hint(&id, registry::names()));
        document.error(of, what)
    })?;
    let field = |name| object.as_ref().and_then(|object| object.get(name));
    let name = field("name").map(|raw| document.string(raw)).transpose()?;
    let (flags, settings) = match field("settings") {
        Some(raw) => settings(document, raw, mechanism, flags)?,
        None => (flags, RawValue::NULL.to_owned()),
    };
    let settings = if settings.get() == "null" { empty() } else { settings };
    Ok(Task { name: name.unwrap_or(id).into_owned(), settings, mechanism, flags })
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn judging<'t>(document: &Document<'t>, object: &Object<'t>) -> Result<Judging, FormatError> {
    let certify = object.get("certify").map(|raw| document.boolean(raw)).transpose()?.unwrap_or(true);
    let tolerance = object.get("tolerance").map(|raw| tolerance(document, raw)).transpose()?;
    let axioms = object.get("axioms").map(|raw| {
        let axiom = |raw: &'t RawValue| {
            let text = document.string(raw)?;
            let name = text.split(':').next().unwrap_or_default();
            match Axiom::parse(name) {
                Some(_) => Ok(text.into_owned()),
                None => {
                    let near = hint(name, Axiom::ALL.map(Axiom::name));
                    Err(document.error(raw, format!("there is no axiom `{name:.60}`{near}")))
                }
            }
        };
        document.list(raw)?.into_iter().map(axiom).collect::<Result<Vec<_>, _>>()
    });
    let axioms = axioms.transpose()?;
    for name in ["axioms", "tolerance"] {
        if let Some(raw) = object.get(name).filter(|_| !certify) {
            return Err(
                document.error_on_key(raw, format!("`{name}` has no meaning where `certify` is false"))
            );
        }
    }
    Ok(Judging { certify, axioms, tolerance })
}

fn tolerance<'t>(document: &Document<'t>, raw: &'t RawValue) -> Result<Rational, FormatError> {
    let value = document.number(raw)?;
    if (0..1).contains(&value) {
        return Ok(value);
    }
    let found = raw.get().trim_matches('"');
    Err(document.error(raw, format!("found {found:.60}: expected a number from 0 to below 1")))
}
