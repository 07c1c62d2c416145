//! The importer for Slurm: accounts, jobs and nodes.
//!
//! Follows Slurm 20.11 to 25.05 (text of `scontrol -o`, `sshare -P -l`, `sacctmgr -P`; JSON of the data
//! parsers v0.0.37 to v0.0.43): the manual pages of these commands and the trackable resources of
//! <https://slurm.schedmd.com/tres.html>. In Slurm, a megabyte has 2^20 bytes.
//!
//! A job on one node is a task. A job on several nodes is a gang with one task for each node, and each task
//! has an equal fraction of the demand. A waiting job counts if it waits only for free capacity, for its
//! turn, or for a limit that the problem has. All other waiting jobs are recorded as left out, with the
//! reason for which they wait. If an array has a throttle, only the number of its tasks that may run at once
//! counts.
//!
//! A type of a generic resource (`gres/gpu:a100`) becomes a separate resource next to the generic resource if
//! a limit names the type or if a node has several types. A job that names a type demands both resources, as
//! in Slurm's own counts. A job that names no type demands only the generic resource, and Slurm does not
//! apply limits on types to it. In all other cases types only decide which nodes a job may use.

mod jobs;
mod nodes;
mod shares;
mod text;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};

use evenhand_problem::groups::{GroupSpec, MOST_DEPTH};
use evenhand_problem::snapshot::{Origin, Snapshot, System};

use super::build::build;
use super::classes::Part;
use super::cluster::Cluster;
use super::source::Bytes;
use super::tree::{At, Item};
use super::{lacks, values};
use evenhand_import::ImportError;
use evenhand_import::Ordered;
use jobs::{Job, Throttled, WAIT_FOR_A_LIMIT};
use nodes::Node;
use shares::Shares;
use text::Piece;
use words::Features;

const LISTS: &[&[&str]] = &[&["nodes"], &["jobs"], &["shares", "shares"], &["partitions"], &["reservations"]];
/// Large fields that the importer does not use, such as the sockets and cores of a job.
const SKIP: &[&str] = &["sockets", "cores", "gres_detail", "errors", "warnings", "steps"];

/// A rule on the nodes that a job may use. A node must satisfy all fields of the rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Rule {
    /// The partitions. A node must be in at least one of them.
    partitions: Vec<String>,
    features: Features,
    /// The generic resources, each with a type that a node must have.
    types: Vec<(String, String)>,
    /// The names of the allowed nodes in ascending order. Empty if all nodes are allowed.
    only: Vec<String>,
    /// The names of excluded nodes in ascending order.
    not: Vec<String>,
}

/// The data of a node by which rules decide.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Profile {
    partitions: BTreeSet<String>,
    features: BTreeSet<String>,
    types: BTreeSet<(String, String)>,
    /// The name of the node. `None` if no rule names the node.
    name: Option<String>,
}

/// The data of a dump while it is read.
struct Slurm {
    cluster: Cluster,
    shares: Shares,
    rules: Ordered<Rule, ()>,
    profiles: HashMap<String, Profile>,
    /// The names of the jobs that have been read.
    jobs: HashSet<String>,
    /// The number of running and waiting tasks, including tasks that are left out.
    n_tasks: u64,
    /// The number of running tasks of each array. The waiting tasks of an array that may start are added
    /// later.
    running_of_arrays: HashMap<String, u64>,
    throttled: Vec<Throttled>,
    /// The names of generic resources with nodes that have several types.
    mixed: HashSet<String>,
    /// The start time of running jobs in seconds since 1970, with the position of the job's entry in the
    /// times of the cluster.
    starts: Vec<(usize, u64)>,
    /// The time in seconds since 1970 at which Slurm last updated the jobs of the dump.
    updated: Option<u64>,
    has_jobs: bool,
    has_nodes: bool,
}

/// The command that prints nodes. Messages suggest it.
const NODES: &str = "scontrol show nodes -o > nodes.txt";
/// The commands that print jobs. Messages suggest them.
const JOBS: &str = "squeue --json > jobs.json (or scontrol show job -o > jobs.txt)";

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut slurm = Slurm {
        cluster: Cluster::new(System::Slurm, &["cpu", "memory"]),
        shares: Shares::default(),
        rules: Ordered::default(),
        profiles: HashMap::new(),
        jobs: HashSet::new(),
        n_tasks: 0,
        running_of_arrays: HashMap::new(),
        throttled: Vec::new(),
        mixed: HashSet::new(),
        starts: Vec::new(),
        updated: None,
        has_jobs: false,
        has_nodes: false,
    };
    for mut bytes in inputs {
        slurm.file(&mut bytes)?;
    }
    lacks(!slurm.has_nodes, "nodes", NODES)?;
    lacks(!slurm.has_jobs, "jobs", JOBS)?;
    slurm.finish(part)
}

impl Slurm {
    fn file(&mut self, bytes: &mut Bytes) -> Result<(), ImportError> {
        let mut version = String::new();
        let mut time = String::new();
        if matches!(bytes.first()?, Some(b'{' | b'[')) {
            let mut receive = |item: Item<'_>| {
                let at = item.at();
                match item.place.steps() {
                    [] => self.document(at, &mut version, &mut time),
                    _ => self.element(&item, at),
                }
            };
            values(bytes, LISTS, SKIP, &mut receive)?;
        } else {
            text::read(bytes, &mut |piece| self.piece(piece, &mut version))?;
        }
        let sha256 = bytes.sha256();
        self.cluster.sources.push(Origin { file: bytes.file.clone(), version, time, sha256 });
        Ok(())
    }

    fn element(&mut self, item: &Item<'_>, at: At<'_>) -> Result<(), ImportError> {
        let place = item.place.to_string();
        match place.split('[').next().unwrap_or_default() {
            "nodes" => self.node(Node::from_json(at)?, &|message| at.error(message)),
            "jobs" => {
                let job = Job::from_json(at)?;
                self.job(&job, &|message| at.error(message))
            }
            "shares.shares" => self.shares.read_json(at),
            "partitions" => Ok(()),
            "reservations" => {
                let name = at.text_of("name")?.unwrap_or("?");
                self.cluster.left_out.add("reservations of nodes", name);
                Ok(())
            }
            _ => {
                Err(at
                    .error("expected an object with the list `nodes`, `jobs` or `shares`, as --json prints"))
            }
        }
    }

    fn document(&mut self, at: At<'_>, version: &mut String, time: &mut String) -> Result<(), ImportError> {
        if let Some(meta) = at.get("meta")?
            && let Some(slurm) = meta.first(&["Slurm", "slurm"])?
            && let Some(release) = slurm.text_of("release")?
        {
            *version = format!("Slurm {release}");
        }
        if let Some(update) = at.first(&["last_update", "last_backfill"])? {
            let number = if update.is_map() { update.get("number")? } else { Some(update) };
            if let Some(number) = number {
                *time = number.scalar()?.to_owned();
                if at.names("jobs") {
                    self.updated = time.parse().ok().filter(|time| *time > 0);
                }
            }
        }
        // A list proves that the command that printed the dump asked for its objects, even if the list is
        // empty.
        self.has_jobs |= at.names("jobs");
        self.has_nodes |= at.names("nodes");
        let is_known = LISTS.iter().any(|list| at.names(list[0])) || at.names("sinfo");
        if !is_known {
            return Err(at.error("found no list `nodes`, `jobs` or `shares`: expected a dump of Slurm"));
        }
        if at.names("sinfo") {
            let message = "sinfo of this version prints only sums by partition: use the output of scontrol show nodes --json";
            return Err(at.error(message));
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece<'_>, version: &mut String) -> Result<(), ImportError> {
        let record = match piece {
            Piece::Row(row) => return self.shares.read_row(&row, &mut self.cluster.left_out),
            Piece::NoEntries(text) => {
                self.has_jobs |= text.starts_with("No jobs");
                return Ok(());
            }
            Piece::Record(record) => record,
        };
        if record.get("NodeName")?.is_some() {
            if let Some(of_node) = record.get("Version")?
                && version.is_empty()
            {
                *version = format!("Slurm {of_node}");
            }
            self.has_nodes = true;
            let node = Node::from_record(&record)?;
            return self.node(node, &|message| record.error(message));
        }
        if record.get("JobId")?.is_some() {
            self.has_jobs = true;
            let job = Job::from_record(&record)?;
            if record.has_odd_name {
                let what = "jobs whose name looks like fields: the name is read up to the last ` UserId=`, and only --json is certain";
                self.cluster.left_out.add(what, record.need("JobId")?);
            }
            return self.job(&job, &|message| record.error(message));
        }
        if let Some(name) = record.get("ReservationName")? {
            self.cluster.left_out.add("reservations of nodes", name);
            return Ok(());
        }
        let name = record.need("PartitionName")?;
        for field in ["MaxNodes", "MaxCPUsPerNode", "MaxMemPerNode"] {
            if record.get(field)?.is_some_and(|value| value != "UNLIMITED") {
                self.cluster.left_out.add(&format!("limits of partitions: {field}"), name);
            }
        }
        for field in ["AllowGroups", "AllowAccounts", "AllowQos"] {
            if record.get(field)?.is_some_and(|value| value != "ALL") {
                self.cluster.left_out.add(&format!("access to partitions: {field}"), name);
            }
        }
        Ok(())
    }

    /// Removes types of generic resources from the problem. A type stays if it has a limit, or if some node
    /// has several types of its resource.
    ///
    /// For a removed type it suffices that jobs with this type may only use nodes with this type.
    fn leave_types_to_rules(&mut self) {
        let groups = self.cluster.groups.entries().iter();
        let limited: HashSet<&String> =
            groups.flat_map(|(_, group)| &group.limit).map(|(resource, _)| resource).collect();
        let resources = self.cluster.resources.entries().iter();
        let is_rule = |name: &String| {
            words::type_of(name)
                .is_some_and(|(kind, _)| !limited.contains(name) && !self.mixed.contains(kind))
        };
        let drops: Vec<bool> = resources.map(|(name, ())| is_rule(name)).collect();
        if !drops.contains(&true) {
            return;
        }
        for s in 0..self.cluster.servers.entries().len() {
            self.cluster.servers.at(s).capacity.retain(|r, _| !drops[*r]);
        }
        for (mut shape, tasks) in std::mem::take(&mut self.cluster.tasks).into_entries() {
            shape.demand.retain(|(r, _)| !drops[*r]);
            self.cluster.tasks.value(&shape, Default::default).merge(tasks);
        }
    }

    /// Leaves out the tasks that wait for a limit that is not in the dump, because it is not known whether
    /// these tasks could start.
    fn leave_out_unknown_limits(&mut self) {
        let parents: HashMap<&str, &GroupSpec> =
            self.cluster.groups.entries().iter().map(|(name, group)| (name.as_str(), group)).collect();
        let mut unknown = Vec::new();
        for (at, (shape, tasks)) in self.cluster.tasks.entries().iter().enumerate() {
            for (reason, begin) in WAIT_FOR_A_LIMIT {
                let Some(position) = tasks.waiting.find(reason) else { continue };
                let own = shape.group.map(|v| &self.cluster.groups.entries()[v].1);
                let mut above = std::iter::successors(own, |group| {
                    group.parent.as_ref().and_then(|parent| parents.get(parent.as_str()).copied())
                })
                .take(MOST_DEPTH);
                let is_limited = |group: &GroupSpec| group.limit.iter().any(|(of, _)| of.starts_with(begin));
                if !above.any(is_limited) {
                    unknown.push((at, position, reason));
                }
            }
        }
        for (at, position, reason) in unknown {
            let waits = std::mem::take(self.cluster.tasks.at(at).waiting.at(position));
            let what = format!(
                "waiting tasks of jobs that may not start now: {reason}, a limit that is not in the dump"
            );
            self.cluster.left_out.add_many(&what, waits.tasks, waits.names);
        }
        for at in 0..self.cluster.tasks.entries().len() {
            self.cluster.tasks.at(at).waiting.retain(|_, waits| waits.tasks > 0);
        }
    }

    fn finish(mut self, part: &Part) -> Result<Snapshot, ImportError> {
        self.start_throttled();
        self.update_times_left();
        self.shares.finish(&mut self.cluster)?;
        self.leave_out_unknown_limits();
        self.leave_types_to_rules();
        let rules = self.rules.into_entries();
        let named: BTreeSet<&String> =
            rules.iter().flat_map(|(rule, ())| rule.only.iter().chain(&rule.not)).collect();
        let mut profiles: Ordered<Profile, ()> = Ordered::default();
        for s in 0..self.cluster.servers.entries().len() {
            let name = self.cluster.servers.entries()[s].0.clone();
            let Some(mut profile) = self.profiles.remove(&name) else { continue };
            profile.name = Some(name).filter(|name| named.contains(name));
            self.cluster.servers.at(s).profile = profiles.place(&profile, || ());
        }
        evenhand_budget::charge(
            (rules.len() * profiles.entries().len() * 4) as u64,
            "the rules of jobs times nodes",
        );
        let allowed = rules
            .iter()
            .map(|(rule, ())| profiles.entries().iter().map(|(profile, ())| rule.allows(profile)).collect());
        build(self.cluster, &allowed.collect(), part)
    }
}

impl Rule {
    /// Returns `true` if the rule allows a node.
    fn allows(&self, node: &Profile) -> bool {
        let is_named =
            |list: &[String]| node.name.as_ref().is_some_and(|name| list.binary_search(name).is_ok());
        self.partitions.iter().any(|partition| node.partitions.contains(partition))
            && self.features.allow(&node.features)
            && self.types.iter().all(|of| node.types.contains(of))
            && (self.only.is_empty() || is_named(&self.only))
            && !is_named(&self.not)
    }
}
