//! Nodes: their capacity, and whether jobs may start on them.

use std::collections::BTreeSet;

use rug::Rational;

use super::super::cluster::{Amounts, Server};
use super::super::tree::At;
use super::text::Record;
use super::words::{self, MEGABYTE};
use super::{Profile, Slurm};
use evenhand_import::ImportError;

/// A node, from JSON or text.
pub(super) struct Node {
    name: String,
    /// The states of the node in capitals.
    states: Vec<String>,
    cpus: Rational,
    megabytes: Rational,
    gres: String,
    features: Vec<String>,
    partitions: Vec<String>,
}

/// Reads a number of Slurm's JSON: a plain number, or `{"set": true, "infinite": false, "number": 8}`.
pub(super) fn number(at: At<'_>) -> Result<Option<Rational>, ImportError> {
    if !at.is_map() {
        return at.number().map(Some);
    }
    let is_set = at.get("set")?.map_or(Ok(true), At::boolean)? && !at.is_true("infinite")?;
    match at.get("number")? {
        Some(number) if is_set => number.number().map(Some),
        _ => Ok(None),
    }
}

/// Reads the texts of a list, or of a text in which commas separate them.
pub(super) fn names(at: Option<At<'_>>) -> Result<Vec<String>, ImportError> {
    match at {
        None => Ok(Vec::new()),
        Some(at) if at.is_list() => at.list()?.map(|name| Ok(name.text()?.to_owned())).collect(),
        Some(at) => Ok(split(at.text()?)),
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

impl Node {
    pub fn from_json(at: At<'_>) -> Result<Self, ImportError> {
        let amount = |names: &[&str]| at.first(names)?.map_or(Ok(None), number);
        let missing = |field: &str| at.error(format!("the field `{field}` is missing"));
        let mut states = names(at.get("state")?)?;
        states.extend(names(at.get("state_flags")?)?);
        let cpus = amount(&["effective_cpus", "cpus"])?.ok_or_else(|| missing("cpus"))?;
        let memory = amount(&["real_memory"])?.ok_or_else(|| missing("real_memory"))?;
        let reserved = amount(&["specialized_memory"])?.unwrap_or_default();
        Ok(Self {
            name: at.need("name")?.name()?.to_owned(),
            states: states.iter().map(|state| state.to_uppercase()).collect(),
            cpus,
            megabytes: (memory - reserved).max(Rational::new()),
            gres: at.text_of("gres")?.unwrap_or_default().to_owned(),
            features: names(at.first(&["active_features", "features"])?)?,
            partitions: names(at.get("partitions")?)?,
        })
    }

    pub fn from_record(record: &Record<'_>) -> Result<Self, ImportError> {
        let whole = |field: &str, text: &str| {
            let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
            let value = text.parse::<u64>().ok().filter(|_| is_whole);
            value.ok_or_else(|| {
                record.wrong(field, &format!("found `{text}`: expected a whole number of at least 0"))
            })
        };
        let cpus = match record.get("CPUEfctv")? {
            Some(text) => whole("CPUEfctv", text)?,
            None => whole("CPUTot", record.need("CPUTot")?)?,
        };
        let memory = whole("RealMemory", record.need("RealMemory")?)?;
        let reserved = record.get("MemSpecLimit")?.map_or(Ok(0), |text| whole("MemSpecLimit", text))?;
        let state = record.need("State")?.to_uppercase();
        Ok(Self {
            name: record.need("NodeName")?.to_owned(),
            states: state.split('+').map(str::to_owned).collect(),
            cpus: cpus.into(),
            megabytes: memory.saturating_sub(reserved).into(),
            gres: record.get("Gres")?.unwrap_or_default().to_owned(),
            features: split(record.get("ActiveFeatures")?.unwrap_or_default()),
            partitions: split(record.get("Partitions")?.unwrap_or_default()),
        })
    }

    /// Returns the reason why no job may start on the node. Suffixes of states are ignored, for example the
    /// suffix for a node that does not respond or that is powering up.
    fn closed(&self) -> Option<&'static str> {
        let is = |names: &[&str]| {
            self.states.iter().any(|state| {
                names.contains(&state.trim_end_matches(['*', '~', '#', '!', '%', '$', '@', '^', '-']))
            })
        };
        if is(&[
            "DOWN",
            "ERROR",
            "UNKNOWN",
            "FUTURE",
            "FAIL",
            "FAILING",
            "INVAL",
            "INVALID_REG",
            "NOT_RESPONDING",
            "NO_RESPOND",
        ]) {
            return Some("servers that are down or do not answer");
        }
        if is(&["DRAIN", "DRAINED", "DRAINING", "UNDRAIN_PENDING"]) {
            return Some("servers that are drained: they take no new tasks");
        }
        if is(&["MAINT", "MAINTENANCE", "RESERVED", "REBOOT_ISSUED", "REBOOT_REQUESTED", "REBOOT"]) {
            return Some("servers that are reserved or in maintenance: they take no new tasks");
        }
        if is(&["POWERING_DOWN", "POWERED_DOWN", "POWER_DOWN", "POWERING_UP"]) {
            return Some("servers without power");
        }
        None
    }
}

impl Slurm {
    pub(super) fn node(
        &mut self,
        node: Node,
        fail: &dyn Fn(String) -> ImportError,
    ) -> Result<(), ImportError> {
        if self.cluster.servers.find(&node.name).is_some() {
            return Err(fail(format!("the node `{}` is given twice", node.name)));
        }
        let mut capacity = Amounts::new();
        capacity.insert(self.cluster.resource("cpu"), node.cpus.clone());
        let memory = Rational::from(&node.megabytes * MEGABYTE);
        if evenhand_problem::number::stated(&memory).is_none() {
            return Err(fail("the memory has too many digits".to_owned()));
        }
        capacity.insert(self.cluster.resource("memory"), memory);
        let mut types = BTreeSet::new();
        let gres = words::gres(&node.gres).map_err(|message| fail(format!("gres: {message}")))?;
        for gres in &gres {
            if !gres.is_consumed {
                self.cluster.left_out.add("generic resources that jobs do not consume", &node.name);
                continue;
            }
            let r = self.cluster.resource(&format!("gres/{}", gres.name));
            *capacity.entry(r).or_default() += &gres.count;
            if let Some(of) = &gres.of {
                let r = self.cluster.resource(&format!("gres/{}:{of}", gres.name));
                *capacity.entry(r).or_default() += &gres.count;
                types.insert((gres.name.clone(), of.clone()));
            }
        }
        let is_mixed = |name: &String| {
            let of_name = gres.iter().filter(|gres| gres.is_consumed && gres.name == *name);
            let kinds: BTreeSet<&Option<String>> = of_name.map(|gres| &gres.of).collect();
            kinds.len() > 1
        };
        let names: BTreeSet<&String> = gres.iter().map(|gres| &gres.name).collect();
        for name in names.into_iter().filter(|name| is_mixed(name)) {
            self.mixed.insert(name.clone());
            let what = "servers with several types of one generic resource: a job without a type may use any of them";
            self.cluster.left_out.add(what, &node.name);
        }
        let closed = node.closed();
        let partitions: BTreeSet<String> = node.partitions.iter().cloned().collect();
        let server = Server { capacity, closed, hint: node.partitions.join("+"), profile: 0 };
        let features = node.features.into_iter().collect();
        self.profiles.insert(node.name.clone(), Profile { partitions, features, types, name: None });
        self.cluster.servers.value(&node.name, || server);
        Ok(())
    }
}
