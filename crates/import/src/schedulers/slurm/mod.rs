//! Slurm: accounts, jobs and nodes.
//!
//! Follows Slurm 20.11 to 25.05 (text of `scontrol -o`, `sshare -P -l`, `sacctmgr -P`; JSON of the data parsers v0.0.37 to
//! v0.0.43): the manual pages of these commands and the trackable resources of <https://slurm.schedmd.com/tres.html>. A
//! megabyte of Slurm has 2^20 bytes.
//!
//! A job of one node is a task; one of several nodes is a gang of as many tasks, each with an equal part. A job that waits
//! counts where only room or its place in the queue is missing; others are named with their reason.

mod jobs;
mod nodes;
mod shares;
mod text;
mod words;

use std::collections::{BTreeSet, HashMap};

use evenhand_problem::snapshot::{Origin, Snapshot, System};

use super::build::build;
use super::classes::Part;
use super::cluster::Cluster;
use super::source::Bytes;
use super::tree::{At, Item};
use super::values;
use crate::ImportError;
use crate::ordered::Ordered;
use jobs::Job;
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
    /// Only these; empty: any.
    only: Vec<String>,
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
    jobs: HashMap<String, ()>,
    has_jobs: bool,
}

pub(super) fn read(inputs: Vec<Bytes>, part: &Part) -> Result<Snapshot, ImportError> {
    let mut slurm = Slurm {
        cluster: Cluster::new(System::Slurm, &["cpu", "memory"]),
        shares: Shares::default(),
        rules: Ordered::default(),
        profiles: HashMap::new(),
        jobs: HashMap::new(),
        has_jobs: false,
    };
    for mut bytes in inputs {
        slurm.file(&mut bytes)?;
    }
    if !slurm.has_jobs && !slurm.cluster.servers.entries().is_empty() {
        slurm.cluster.left_out.add_many("jobs: no file has any", 0, Vec::new());
    }
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
                self.has_jobs = true;
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
            Piece::Record(record) => record,
        };
        if record.get("NodeName")?.is_some() {
            if let Some(of_node) = record.get("Version")?
                && version.is_empty()
            {
                *version = format!("Slurm {of_node}");
            }
            let node = Node::from_record(&record)?;
            return self.node(node, &|message| record.error(message));
        }
        if record.get("JobId")?.is_some() {
            self.has_jobs = true;
            let job = Job::from_record(&record)?;
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

    fn finish(mut self, part: &Part) -> Result<Snapshot, ImportError> {
        self.shares.finish(&mut self.cluster)?;
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
        let allowed = rules
            .iter()
            .map(|(rule, ())| profiles.entries().iter().map(|(profile, ())| rule.allows(profile)).collect());
        build(self.cluster, &allowed.collect(), part)
    }
}

impl Rule {
    fn allows(&self, node: &Profile) -> bool {
        let is_named = |list: &[String]| node.name.as_ref().is_some_and(|name| list.contains(name));
        self.partitions.iter().any(|partition| node.partitions.contains(partition))
            && self.features.allow(&node.features)
            && self.types.iter().all(|of| node.types.contains(of))
            && (self.only.is_empty() || is_named(&self.only))
            && !is_named(&self.not)
    }
}
