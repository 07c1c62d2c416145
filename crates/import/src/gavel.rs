//! Traces of Gavel (Narayanan and others, OSDI 2020): a table of throughputs by type of accelerator, and lists of jobs.

use std::collections::BTreeMap;
use std::io::Read;

use evenhand_budget::charge;
use evenhand_problem::number;
use evenhand_problem::problem::{Problem, ProblemSpec, ServerSpec, UserSpec};
use rug::Rational;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{
    FREE_BYTES, Import, ImportError, Input, MAX_EXPANSION, MAX_UNPACKED_BYTES, Note, amounts, writable,
};

/// The title of the problem.
const NAME: &str = "Jobs of Gavel (OSDI 2020)";
/// The name of the only resource of the problem.
const RESOURCE: &str = "gpu";
/// The number of columns of the list of jobs of the simulations.
const COLUMNS: usize = 7;
/// The number of columns of the list of jobs of the physical cluster, which also states weights.
const COLUMNS_WITH_WEIGHTS: usize = 10;
/// The ending of the names of types whose throughput is the throughput of GPUs on several servers.
const SPREAD: &str = "_unconsolidated";
/// The key of the throughput of a job that shares its GPUs with no other job.
const ALONE: &str = "null";

/// The settings of [`gavel`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GavelOptions {
    /// The types of accelerators of the cluster, each with the number of GPUs.
    pub accelerators: Vec<(String, u64)>,
    /// The number of jobs to take from the beginning of the lists, or `None` for all jobs.
    pub jobs: Option<u64>,
}

impl Default for GavelOptions {
    /// Returns the cluster of the paper's simulations, and all jobs.
    fn default() -> Self {
        let of = |name: &str| (name.to_owned(), 36);
        Self { accelerators: ["v100", "p100", "k80"].map(of).to_vec(), jobs: None }
    }
}

/// The throughputs of one type of accelerator in steps per second, for each job type and number of GPUs.
type Throughputs = BTreeMap<String, Rational>;

/// Reads a problem from the table of throughputs and from lists of jobs.
///
/// The resource is `gpu`, and every type of accelerator is one server class. Every job is a user of its own.
/// It demands as many GPUs as its scale factor. Its rates are the steps per second of the whole job when it
/// shares its GPUs with no other job. Its `at_most` is 1, because a job runs on one type of accelerator at a
/// time. The rate is 0 on a type with fewer GPUs than the job needs. Lists of the physical cluster state
/// weights. All jobs are in the problem at the same time: their arrivals and their numbers of steps are not
/// part of the problem.
///
/// # Errors
/// Returns an [`ImportError`] if a file cannot be read, a row is malformed, or the table has no throughput of
/// a job or of a type of accelerator.
pub fn gavel(table: Input, jobs: Vec<Input>, options: &GavelOptions) -> Result<Import, ImportError> {
    let (problem, rows) = read(table, jobs, options)?;
    let columns = "arrival_time, total_steps".to_owned();
    let notes = vec![Note::ColumnsNotModelled { columns, rows: rows.len() as u64 }];
    Ok(Import { problem, notes, originals: Vec::new() })
}

/// Reads a scenario of jobs in rounds (docs/scenarios.md) from the same files as [`gavel`].
///
/// The scenario has the users of the problem that [`gavel`] reads. Each also has its arrival in seconds and its
/// number of steps as work. The policy is `drfh` in rounds of six minutes. Returns the text of the scenario.
///
/// # Errors
/// Returns an [`ImportError`] in the same cases as [`gavel`], and for an arrival below 0 and a number of steps
/// that is not above 0.
pub fn gavel_scenario(table: Input, jobs: Vec<Input>, options: &GavelOptions) -> Result<String, ImportError> {
    /// The length of a round in seconds.
    const LENGTH: u32 = 360;
    let (problem, rows) = read(table, jobs, options)?;
    let classes = problem.servers();
    let servers = classes
        .iter()
        .map(|class| json!({"name": class.name(), "count": class.count(), "capacity": {RESOURCE: 1}}));
    let users = problem.users().iter().zip(rows).map(|(user, row)| {
        let rates = user.rates().map_or(&[][..], |rates| rates.by_class()).iter();
        let rates: Map<String, Value> =
            rates.map(|(i, rate)| (classes[*i].name().to_owned(), exact(rate))).collect();
        let demand = user.base_demand().entries().iter();
        let demand: Map<String, Value> =
            demand.map(|(_, amount)| (RESOURCE.to_owned(), exact(amount))).collect();
        json!({
            "name": user.name(),
            "weight": exact(user.weight()),
            "demand": demand,
            "rates": rates,
            "at_most": 1,
            "arrives": exact(&row.arrives),
            "work": exact(&row.steps),
        })
    });
    let scenario = json!({
        "kind": "scenario",
        "name": NAME,
        "resources": [RESOURCE],
        "servers": servers.collect::<Vec<_>>(),
        "users": users.collect::<Vec<_>>(),
        "policy": {"rounds": {"mechanism": "drfh", "length": LENGTH}},
    });
    Ok(format!("{scenario:#}\n"))
}

/// Returns a number in JSON: a whole number as such, and another number as a text with its exact value.
fn exact(value: &Rational) -> Value {
    let whole = if value.is_integer() { value.numer().to_u64() } else { None };
    whole.map_or_else(|| json!(number::format_stated(value)), |whole| json!(whole))
}

/// The columns of a job that are not part of a problem.
struct Row {
    /// The time of arrival in seconds.
    arrives: Rational,
    /// The number of training steps.
    steps: Rational,
}

/// Reads the problem of all jobs, and the arrival and the steps of each job.
fn read(table: Input, jobs: Vec<Input>, options: &GavelOptions) -> Result<(Problem, Vec<Row>), ImportError> {
    let (name, text) = text_of(table)?;
    let rates = throughputs(&name, &text, &options.accelerators)?;
    let mut users: Vec<UserSpec> = Vec::new();
    let mut rows = Vec::new();
    for list in jobs {
        let (file, text) = text_of(list)?;
        for (line, row) in text.lines().enumerate().filter(|(_, row)| !row.is_empty()) {
            let number = rows.len() as u64 + 1;
            if options.jobs.is_some_and(|most| number > most) {
                break;
            }
            charge(
                row.len() as u64 + 50 * (1 + rates.len() as u64),
                "the processing of the rows of the list of jobs",
            );
            let error =
                |message: String| ImportError::Record { file: file.clone(), line: line as u64 + 1, message };
            let (user, row) = user(number, row, &rates, options, &error)?;
            users.push(user);
            rows.push(row);
        }
    }
    let servers = options.accelerators.iter().map(|(name, count)| ServerSpec {
        name: name.clone(),
        count: Some(Rational::from(*count)),
        capacity: amounts([RESOURCE], [Rational::from(1)]),
    });
    let problem = Problem::new(ProblemSpec {
        name: NAME.to_owned(),
        resources: vec![RESOURCE.to_owned()],
        servers: servers.collect(),
        users,
    })?;
    Ok((writable(problem)?, rows))
}

/// Returns the name and the unpacked text of a file.
fn text_of(input: Input) -> Result<(String, String), ImportError> {
    let (file, reader, packed) = input.parts();
    let mut text = String::new();
    let read = reader.take(MAX_UNPACKED_BYTES + 1).read_to_string(&mut text);
    if let Err(source) = read {
        return Err(ImportError::Io { file, source });
    }
    let bytes = text.len() as u64;
    let is_expanded = bytes > FREE_BYTES && bytes / MAX_EXPANSION > packed.get();
    if bytes > MAX_UNPACKED_BYTES || is_expanded {
        let limit = "more unpacked bytes than an importer accepts".to_owned();
        return Err(ImportError::TooLarge { file, line: 1, limit });
    }
    charge(bytes, "the processing of the bytes of a table");
    Ok((file, text))
}

/// Reads the throughputs of the types of accelerators, in the order of `types`.
fn throughputs(file: &str, text: &str, types: &[(String, u64)]) -> Result<Vec<Throughputs>, ImportError> {
    let wrong = |place: &str, message: String| ImportError::Dump {
        file: file.to_owned(),
        place: place.to_owned(),
        message,
    };
    let table: BTreeMap<String, BTreeMap<String, BTreeMap<String, Box<RawValue>>>> =
        serde_json::from_str(text)
            .map_err(|error| wrong("", format!("not a table of throughputs: {error}")))?;
    let mut all = Vec::with_capacity(types.len());
    for (name, _) in types {
        let Some(of_type) = table.get(name) else {
            let known: Vec<&str> =
                table.keys().map(String::as_str).filter(|name| !name.ends_with(SPREAD)).collect();
            let message =
                format!("there is no type of accelerator `{name}`: expected one of {}", known.join(", "));
            return Err(wrong("", message));
        };
        let mut throughputs = Throughputs::new();
        for (job, shared) in of_type {
            let Some(alone) = shared.get(ALONE) else { continue };
            let rate = number::parse(alone.get()).ok().filter(|rate| *rate >= 0);
            let Some(rate) = rate else {
                let place = format!("{name}.{job}.{ALONE}");
                return Err(wrong(
                    &place,
                    format!("found `{}`: expected a number of at least 0", alone.get()),
                ));
            };
            throughputs.insert(job.clone(), rate);
        }
        all.push(throughputs);
    }
    Ok(all)
}

/// Reads a row of a list of jobs. `error` returns the error of the row with a message.
fn user(
    number: u64,
    row: &str,
    rates: &[Throughputs],
    options: &GavelOptions,
    error: &dyn Fn(String) -> ImportError,
) -> Result<(UserSpec, Row), ImportError> {
    let fields: Vec<&str> = row.split('\t').collect();
    // Both kinds of lists begin with the job type, and their seventh column is the scale factor. The eighth
    // column of the list of the physical cluster is the weight. The steps stand two columns before the scale
    // factor in the first kind of list, and next to it in the other kind.
    let (scale, weight, steps, arrives) = match fields.len() {
        COLUMNS => (fields[6], None, fields[4], fields[5]),
        COLUMNS_WITH_WEIGHTS => (fields[6], Some(fields[7]), fields[5], fields[9]),
        found => {
            return Err(error(format!(
                "found {found} fields between tabs: expected {COLUMNS} or {COLUMNS_WITH_WEIGHTS}"
            )));
        }
    };
    let scale: u64 = scale.parse().ok().filter(|scale| *scale > 0).ok_or_else(|| {
        error(format!("found the scale factor `{scale}`: expected a whole number of GPUs above 0"))
    })?;
    let weight = weight.map(|text| {
        let weight = number::parse(text).ok().filter(|weight| *weight > 0);
        weight.ok_or_else(|| error(format!("found the weight `{text}`: expected a number above 0")))
    });
    let steps = number::parse(steps)
        .ok()
        .filter(|steps| *steps > 0)
        .ok_or_else(|| error(format!("found the number of steps `{steps}`: expected a number above 0")))?;
    let arrives = number::parse(arrives).ok().filter(|arrives| *arrives >= 0).ok_or_else(|| {
        error(format!("found the arrival `{arrives}`: expected a number of seconds of at least 0"))
    })?;
    let key = format!("('{}', {scale})", fields[0]);
    let of_types = options.accelerators.iter().zip(rates).map(|((name, count), throughputs)| {
        let rate = throughputs.get(&key).filter(|_| *count >= scale).cloned().unwrap_or_default();
        (name.clone(), rate)
    });
    let of_types: Vec<(String, Rational)> = of_types.collect();
    if of_types.iter().all(|(_, rate)| rate.is_zero()) {
        return Err(error(format!("no type of accelerator of the cluster has a throughput of `{key}`")));
    }
    let user = UserSpec {
        name: format!("job {number}: {} on {scale}", fields[0]),
        weight: weight.transpose()?,
        demand: amounts([RESOURCE], [Rational::from(scale)]),
        rates: Some(of_types),
        at_most: Some(Rational::from(1)),
        ..UserSpec::default()
    };
    Ok((user, Row { arrives, steps }))
}
