//! The Alibaba GPU cluster trace of 2023 (cluster-trace-gpu-v2023, "openb").

use std::collections::{BTreeSet, HashMap};

use evenhand_problem::problem::{Problem, ProblemSpec, ServerSpec, UserSpec};
use rug::Rational;

use super::stream::{Builder, NewTask, TraceStream};
use super::{
    Import, ImportError, Input, Note, amounts, input::Record, note::notes, ordered::Ordered, writable,
};

const RESOURCES: [&str; 3] = ["cpu", "memory", "gpu"];
const NODE_COLUMNS: [&str; 5] = ["sn", "cpu_milli", "memory_mib", "gpu", "model"];
const POD_COLUMNS: [&str; 5] = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"];
const MORE_POD_COLUMNS: [&str; 11] = [
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
];

/// Reads a problem from a node list and a pod list.
///
/// The resources are `cpu` in thousandths of a core, `memory` in MiB, and `gpu` in GPUs. Nodes with the same
/// CPU, memory, number of GPUs and GPU model are one server class. Pods with the same request (CPU, memory,
/// number of GPUs, thousandths of each GPU, allowed models) are one user of weight 1, with as many tasks as
/// there are pods. The allowed GPU models are the user's placement constraint. Classes and users are in the
/// order of their first appearance in the files.
///
/// # Errors
/// Returns an [`ImportError`] if a file cannot be read, a header or row is malformed, or there is no node.
pub fn openb(nodes: Input, pods: Input) -> Result<Import, ImportError> {
    let nodes = read_nodes(nodes)?;
    let pods = read_pods(pods)?;
    let mut notes = pods.notes();
    let models: BTreeSet<&str> = nodes.iter().map(|(node, _)| node.model.as_str()).collect();
    notes.extend(unknown_models(&models, &pods));
    let servers = nodes.iter().map(|(node, count)| node.server(*count)).collect();
    let mut users = Vec::with_capacity(pods.shapes.len());
    for (shape, count) in &pods.shapes {
        let allowed = nodes.iter().filter(|(node, _)| shape.may_use(node));
        let allowed: Vec<String> = allowed.map(|(node, _)| node.name()).collect();
        if shape.demands_nothing() {
            continue;
        }
        if allowed.is_empty() && !nodes.is_empty() {
            notes.push(Note::NoServerAllowed { models: shape.models.clone(), tasks: *count });
            continue;
        }
        let servers = if shape.models.is_empty() { None } else { Some(allowed) };
        users.push(shape.user(*count, servers));
    }
    let problem = Problem::new(ProblemSpec {
        name: "Alibaba GPU cluster 2023 (openb)".to_owned(),
        resources: RESOURCES.map(str::to_owned).to_vec(),
        servers,
        users,
    })?;
    Ok(Import { problem: writable(problem)?, notes, originals: Vec::new() })
}

/// Reads the nodes of an openb node list as server classes, as [`openb`] does.
///
/// # Errors
/// Returns an error in the same cases as [`openb`].
pub fn openb_nodes(list: Input) -> Result<Vec<ServerSpec>, ImportError> {
    Ok(read_nodes(list)?.iter().map(|(node, count)| node.server(*count)).collect())
}

/// Returns the names of the server classes whose GPU model pods of a shape may use, or `None` if they may use
/// any model. The name of a class ends with its model.
fn server_names(shape: &Shape, servers: &[ServerSpec]) -> Option<Vec<String>> {
    if shape.models.is_empty() {
        return None;
    }
    let has = |server: &&ServerSpec| {
        shape
            .allowed_models()
            .any(|model| server.name.strip_suffix(model).is_some_and(|rest| rest.ends_with('-')))
    };
    Some(servers.iter().filter(has).map(|server| server.name.clone()).collect())
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    cpu: u64,
    memory: u64,
    gpu: u64,
    model: String,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    cpu: u64,
    memory: u64,
    gpus: u64,
    milli: u64,
    /// The allowed GPU models joined by `|`, as written. The text is empty if any model is allowed.
    models: String,
}

struct Pods {
    shapes: Vec<(Shape, u64)>,
    rows: u64,
    has_more_columns: bool,
}

fn read_nodes(nodes: Input) -> Result<Vec<(Node, u64)>, ImportError> {
    let mut rows = nodes.rows_of("the node list,", &NODE_COLUMNS)?;
    let mut classes = Ordered::default();
    while let Some(row) = rows.next()? {
        row.expect_columns(NODE_COLUMNS.len())?;
        let node = Node {
            cpu: row.whole(1, "cpu_milli")?,
            memory: row.whole(2, "memory_mib")?,
            gpu: row.whole(3, "gpu")?,
            model: row.field(4).to_owned(),
        };
        *classes.value(&node, || 0) += 1;
    }
    Ok(classes.into_entries())
}

fn read_pods(pods: Input) -> Result<Pods, ImportError> {
    let expected = format!("the pod list, `{}` and possibly more columns", POD_COLUMNS.join(","));
    let mut rows = pods.rows(&expected);
    let header = rows.first()?;
    let has_more_columns = header.is(&MORE_POD_COLUMNS);
    if !has_more_columns && !header.is(&POD_COLUMNS) {
        return Err(header.error(format!("found another header: expected {expected}")));
    }
    let columns = header.len();
    let mut shapes = Ordered::default();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        row.expect_columns(columns)?;
        *shapes.value(&shape(&row)?, || 0) += 1;
        count += 1;
    }
    Ok(Pods { shapes: shapes.into_entries(), rows: count, has_more_columns })
}

fn shape(row: &Record<'_>) -> Result<Shape, ImportError> {
    let shape = Shape {
        cpu: row.whole(1, "cpu_milli")?,
        memory: row.whole(2, "memory_mib")?,
        gpus: row.whole(3, "num_gpu")?,
        milli: row.whole(4, "gpu_milli")?,
        models: row.field(5).to_owned(),
    };
    if shape.milli > 1000 {
        return Err(row.column_error(4, "gpu_milli", "at most 1000, one whole GPU"));
    }
    Ok(shape)
}

impl Node {
    fn name(&self) -> String {
        let Self { cpu, memory, gpu, model } = self;
        match (model.as_str(), gpu) {
            ("", 0) => format!("cpu{cpu}-mem{memory}"),
            ("", _) => format!("cpu{cpu}-mem{memory}-gpu{gpu}"),
            _ => format!("cpu{cpu}-mem{memory}-gpu{gpu}-{model}"),
        }
    }

    fn server(&self, count: u64) -> ServerSpec {
        ServerSpec {
            name: self.name(),
            count: Some(Rational::from(count)),
            capacity: amounts(RESOURCES, [self.cpu, self.memory, self.gpu].map(Rational::from)),
        }
    }
}

impl Shape {
    fn name(&self) -> String {
        let Self { cpu, memory, gpus, milli, models } = self;
        let mut name = format!("cpu{cpu}-mem{memory}");
        if (*gpus, *milli) != (0, 0) {
            name.push_str(&format!("-gpu{gpus}x{milli}"));
        }
        if !models.is_empty() {
            name.push('-');
            name.push_str(models);
        }
        name
    }

    fn allowed_models(&self) -> impl Iterator<Item = &str> {
        self.models.split('|').filter(|model| !model.is_empty())
    }

    fn may_use(&self, node: &Node) -> bool {
        self.models.is_empty() || self.allowed_models().any(|model| model == node.model)
    }

    fn gpu(&self) -> Rational {
        Rational::from((self.gpus, 1000)) * self.milli
    }

    fn demands_nothing(&self) -> bool {
        self.cpu == 0 && self.memory == 0 && self.gpu().is_zero()
    }

    fn user(&self, count: u64, servers: Option<Vec<String>>) -> UserSpec {
        UserSpec {
            name: self.name(),
            tasks: Some(Rational::from(count)),
            demand: amounts(RESOURCES, [self.cpu.into(), self.memory.into(), self.gpu()]),
            servers,
            ..UserSpec::default()
        }
    }
}

impl Pods {
    fn count(&self, which: impl Fn(&Shape) -> bool) -> u64 {
        self.shapes.iter().filter(|(shape, _)| which(shape)).map(|(_, count)| count).sum()
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = notes([
            (self.count(Shape::demands_nothing), Note::NothingRequested),
            (self.count(|shape| shape.cpu == 0 && !shape.demands_nothing()), Note::NoCpuRequest),
            (self.count(|shape| shape.gpus == 1 && (1..1000).contains(&shape.milli)), Note::SharedGpu),
        ]);
        if self.has_more_columns && self.rows > 0 {
            let columns = MORE_POD_COLUMNS[6..].join(", ");
            notes.push(Note::ColumnsNotModelled { columns, rows: self.rows });
        }
        notes
    }
}

fn unknown_models(models: &BTreeSet<&str>, pods: &Pods) -> Vec<Note> {
    let named: BTreeSet<&str> = pods.shapes.iter().flat_map(|(shape, _)| shape.allowed_models()).collect();
    let unknown = named.into_iter().filter(|model| !models.contains(model));
    unknown
        .map(|model| Note::UnknownGpuModel {
            model: model.to_owned(),
            tasks: pods.count(|shape| shape.allowed_models().any(|allowed| allowed == model)),
        })
        .collect()
}

/// The column of the creation time, in seconds.
const CREATED: usize = 8;
/// The column of the deletion time, in seconds.
const DELETED: usize = 9;

/// Reads the pods of a list with times. Each pod is a job of one task. Pods with the same request and the
/// same allowed GPU models are one user of weight 1. The user may use the classes of `servers` (as
/// [`openb_nodes`] names them) with an allowed model.
///
/// All rows are read and checked first, because the users are known only at the end, and the rows need not be
/// in the order of their times. The tasks are sorted in temporary files.
///
/// # Errors
/// Returns an [`ImportError`] if the list cannot be read, has no times, or a row is malformed. Returns
/// [`ImportError::Temporary`] if a temporary file cannot be written or read.
pub fn openb_stream(pods: Input, servers: &[ServerSpec]) -> Result<TraceStream, ImportError> {
    let mut builder = Builder::new();
    let (users, notes) = read_times(pods, servers, |task| builder.push(&task))?;
    builder.finish(users, notes, |user| user)
}

/// Passes each pod that is kept to `push`. Returns the users, and notes about pods that are left out.
fn read_times(
    pods: Input,
    servers: &[ServerSpec],
    mut push: impl FnMut(NewTask) -> Result<(), ImportError>,
) -> Result<(Vec<UserSpec>, Vec<Note>), ImportError> {
    let mut rows = pods.rows_of("a pod list with times,", &MORE_POD_COLUMNS)?;
    let mut specs: Vec<UserSpec> = Vec::new();
    let mut users: HashMap<Shape, Option<u32>> = HashMap::new();
    let (mut nothing, mut nowhere) = (0, 0);
    let mut order = 0;
    while let Some(row) = rows.next()? {
        row.expect_columns(MORE_POD_COLUMNS.len())?;
        let shape = shape(&row)?;
        let (created, deleted) = (row.whole(CREATED, "creation_time")?, row.whole(DELETED, "deletion_time")?);
        if deleted < created {
            return Err(row.error(format!("deleted at {deleted}, before it was created at {created}")));
        }
        order += 1;
        if shape.demands_nothing() {
            nothing += 1;
            continue;
        }
        let user = match users.get(&shape) {
            Some(user) => *user,
            None => {
                let allowed = server_names(&shape, servers);
                let is_nowhere = allowed.as_ref().is_some_and(Vec::is_empty);
                let user = (!is_nowhere).then_some(specs.len() as u32);
                if !is_nowhere {
                    specs.push(UserSpec { tasks: None, ..shape.user(1, allowed) });
                }
                users.insert(shape, user);
                user
            }
        };
        let Some(user) = user else {
            nowhere += 1;
            continue;
        };
        let (at, seconds) = (created as f64, (deleted - created) as f64);
        push(NewTask { job: [order, 0], order, at, user, seconds, priority: None })?;
    }
    let mut notes = notes([(nothing, Note::NothingRequested)]);
    if nowhere > 0 {
        notes.push(Note::NoServerAllowed { models: "GPU models".to_owned(), tasks: nowhere });
    }
    Ok((specs, notes))
}
