//! Slurm: accounts, jobs and nodes.
//!
//! Follows Slurm 20.11 to 25.05 (text of `scontrol -o`, `sshare -P -l`, `sacctmgr -P`; JSON of the data parsers v0.0.37 to
//! v0.0.43): the manual pages of these commands and the trackable resources of <https://slurm.schedmd.com/tres.html>. A
//! megabyte of Slurm has 2^20 bytes.
//!
//! A job of one node is a task; one of several nodes is a gang of as many tasks, each with an equal part, and the gang of a
//! shape is the number of nodes. A job that waits counts where only room, its place in the queue or a limit of the problem is
//! missing; others are named with their reason. Of an array with a throttle only as many tasks count as may run at once.
//!
//! A type of a generic resource (`gres/gpu:a100`) is a resource of its own, next to the generic resource, where a limit names
//! it or a node has several types. Jobs that name a type take both, as in Slurm's own counts. Jobs that name none take no type:
//! Slurm does not hold them to a limit on a type either. Elsewhere types only decide which nodes a job may use.

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
/// Which socket and core a job has, job scripts' surroundings: large, and not looked at.
const SKIP: &[&str] = &["sockets", "cores", "gres_detail", "errors", "warnings", "steps"];

/// Which nodes a job may use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Rule {
    partitions: Vec<String>,
    features: Features,
    /// Types of generic resources.
    types: Vec<(String, String)>,
    /// Only these, in order; empty: any.
    only: Vec<String>,
    /// None of these, in order.
    not: Vec<String>,
}

/// What rules ask about a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Profile {
    partitions: BTreeSet<String>,
    features: BTreeSet<String>,
    types: BTreeSet<(String, String)>,
    /// The node, where a rule names it.
    name: Option<String>,
}

/// All of a dump while it is read.
struct Slurm {
    cluster: Cluster,
    shares: Shares,
    rules: Ordered<Rule, ()>,
    profiles: HashMap<String, Profile>,
    /// Jobs that have been read.
    jobs: HashSet<String>,
    /// Tasks that run and wait, also those that are left out.
    n_tasks: u64,
    /// By array: tasks that run, then also those that may start.
    running_of_arrays: HashMap<String, u64>,
    throttled: Vec<Throttled>,
    /// Generic resources of which some node has several types.
    mixed: HashSet<String>,
    has_jobs: bool,
    has_nodes: bool,
}

/// What the commands are that print what a dump lacks.
const NODES: &str = "scontrol show nodes -o > nodes.txt";
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
            }
        }
        // A list that is there says how many there are, also where it is empty.
        self.has_jobs |= at.names("jobs");
        self.has_nodes |= at.names("nodes");
        let is_known = LISTS.iter().any(|list| at.names(list[0])) || at.names("sinfo");
        if !is_known {
            return Err(at.error("found no list `nodes`, `jobs` or `shares`: expected a dump of Slurm"));
        }
        if at.names("sinfo") {
            let message = "sinfo of this version prints sums by partition: dump the nodes with scontrol show nodes --json";
            return Err(at.error(message));
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece<'_>, version: &mut String) -> Result<(), ImportError> {
        let record = match piece {
            Piece::Row(row) => return self.shares.read_row(&row, &mut self.cluster.left_out),
            Piece::None(text) => {
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
                let what = "jobs whose name looks like fields: the name ends before the last ` UserId=`, and only --json is certain";
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

    /// Leaves types of generic resources out of the problem, unless they decide: a limit is about one, or a node has several.
    ///
    /// Elsewhere it is enough that a job which names a type runs on nodes that have it.
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

    /// Names the tasks that wait for a limit which the dump does not have: that they could start is not known.
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
                "waiting tasks of jobs that may not start now: {reason}, a limit that the dump does not have"
            );
            self.cluster.left_out.add_many(&what, waits.tasks, waits.names);
        }
        for at in 0..self.cluster.tasks.entries().len() {
            self.cluster.tasks.at(at).waiting.retain(|_, waits| waits.tasks > 0);
        }
    }

    fn finish(mut self, part: &Part) -> Result<Snapshot, ImportError> {
        self.start_throttled();
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
