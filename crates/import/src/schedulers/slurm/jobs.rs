//! Jobs: what runs, what waits, and where it may run.

use rug::Rational;

use super::super::cluster::{Amounts, MOST_TASK_NAMES};
use super::super::tree::At;
use super::nodes::{names, number};
use super::text::Record;
use super::words::{self, Features};
use super::{Rule, Slurm};
use crate::ImportError;

/// A job, or the tasks of an array that wait, as either form states it.
pub(super) struct Job {
    id: String,
    /// The array that it belongs to.
    array: Option<String>,
    /// Which task of the array it is, or which of them wait.
    tasks: Option<String>,
    account: String,
    user: String,
    /// In capitals.
    states: Vec<String>,
    reason: String,
    partitions: Vec<String>,
    hosts: String,
    n_nodes: Rational,
    tres: String,
    per_node: String,
    features: String,
    only: String,
    not: String,
    licenses: String,
    is_heterogeneous: bool,
}

/// Why jobs wait that would start if there were room: the whole word, or how it begins.
const WAIT_FOR_ROOM: [&str; 7] =
    ["", "None", "Priority", "Resources", "ReqNodeNotAvail", "NodeDown", "SchedDefer"];
const WAIT_FOR_ROOM_BEGIN: [&str; 2] = ["ReqNodeNotAvail", "Nodes_required_for_job_are"];
/// Limits of groups that the problem has.
const WAIT_FOR_A_LIMIT: [&str; 3] = ["AssocGrpCpuLimit", "AssocGrpMemLimit", "AssocGrpGRES"];

impl Job {
    pub fn from_json(at: At<'_>) -> Result<Self, ImportError> {
        let text = |name: &str| Ok::<_, ImportError>(at.text_of(name)?.unwrap_or_default().to_owned());
        let some = |name: &str| at.get(name)?.map_or(Ok(None), number);
        let is_nonzero = |value: &Rational| !value.is_zero();
        let states = names(at.get("job_state")?)?;
        let array = some("array_job_id")?.filter(is_nonzero).map(|id| id.to_string());
        let waiting = at.text_of("array_task_string")?.filter(|list| !list.is_empty()).map(str::to_owned);
        let task = if array.is_some() { some("array_task_id")?.map(|task| task.to_string()) } else { None };
        let allocated = at.text_of("tres_alloc_str")?.filter(|tres| !tres.is_empty());
        Ok(Self {
            id: number(at.need("job_id")?)?.unwrap_or_default().to_string(),
            tasks: waiting.or(task),
            array,
            account: text("account")?,
            user: text("user_name")?,
            states: states.iter().map(|state| state.to_uppercase()).collect(),
            reason: text("state_reason")?,
            partitions: names(at.get("partition")?)?,
            hosts: text("nodes")?,
            n_nodes: some("node_count")?.unwrap_or_else(|| Rational::from(1)),
            tres: allocated.map_or_else(|| text("tres_req_str"), |tres| Ok(tres.to_owned()))?,
            per_node: text("tres_per_node")?,
            features: text("features")?,
            only: text("required_nodes")?,
            not: text("excluded_nodes")?,
            licenses: text("licenses")?,
            is_heterogeneous: some("het_job_id")?.is_some_and(|id| !id.is_zero()),
        })
    }

    pub fn from_record(record: &Record<'_>) -> Result<Self, ImportError> {
        let text = |name: &str| Ok::<_, ImportError>(record.get(name)?.unwrap_or_default().to_owned());
        let user = record.get("UserId")?.unwrap_or_default();
        // TRES of older versions and of jobs that run, then what is asked for and what is given.
        let tres = ["AllocTRES", "TRES", "ReqTRES"].into_iter().map(|name| record.get(name));
        let tres = tres.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().next();
        let n_nodes = record.get("NumNodes")?.unwrap_or("1");
        let least = n_nodes.split('-').next().unwrap_or_default();
        let n_nodes =
            words::amount(least, 1).map_err(|message| record.wrong("NumNodes", &message.to_string()))?;
        Ok(Self {
            id: record.need("JobId")?.to_owned(),
            array: record.get("ArrayJobId")?.map(str::to_owned),
            tasks: record.get("ArrayTaskId")?.map(str::to_owned),
            account: text("Account")?,
            user: user.split('(').next().unwrap_or_default().to_owned(),
            states: vec![record.need("JobState")?.to_uppercase()],
            reason: text("Reason")?,
            partitions: text("Partition")?.split(',').map(str::to_owned).collect(),
            hosts: text("NodeList")?,
            n_nodes,
            tres: tres.unwrap_or_default().to_owned(),
            per_node: text("TresPerNode")?,
            features: text("Features")?,
            only: text("ReqNodeList")?,
            not: text("ExcNodeList")?,
            licenses: text("Licenses")?,
            is_heterogeneous: record.get("HetJobId")?.is_some(),
        })
    }

    fn is(&self, states: &[&str]) -> bool {
        self.states.iter().any(|state| states.contains(&state.as_str()))
    }

    /// What `scancel` takes.
    fn name(&self) -> String {
        match (&self.array, &self.tasks) {
            (Some(array), Some(tasks)) => format!("{array}_{tasks}"),
            _ => self.id.clone(),
        }
    }

    fn reason(&self) -> &str {
        self.reason.split(',').next().unwrap_or_default()
    }

    fn waits_for_room(&self) -> bool {
        let reason = self.reason();
        WAIT_FOR_ROOM.contains(&reason)
            || WAIT_FOR_A_LIMIT.contains(&reason)
            || WAIT_FOR_ROOM_BEGIN.iter().any(|begin| reason.starts_with(begin))
    }
}

impl Slurm {
    pub(super) fn job(&mut self, job: &Job, fail: &dyn Fn(String) -> ImportError) -> Result<(), ImportError> {
        let name = job.name();
        if self.jobs.insert(name.clone(), ()).is_some() {
            let hint = "; squeue --json and scontrol show job say the same: give one of them";
            return Err(fail(format!("the job `{name}` is given twice{hint}")));
        }
        let left_out = &mut self.cluster.left_out;
        let is_pending = job.is(&["PENDING"]);
        if job.is(&["SUSPENDED"]) {
            left_out.add("suspended jobs, which hold memory and no processors", name);
            return Ok(());
        }
        let holds = ["RUNNING", "CONFIGURING", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"];
        if !is_pending && !job.is(&holds) {
            return Ok(());
        }
        if job.is_heterogeneous {
            left_out.add("heterogeneous jobs, of which each component counts by itself", &name);
        }
        let wrong =
            |field: &'static str| move |message: words::Unreadable| fail(format!("{field}: {message}"));
        let tres = words::tres(&job.tres).map_err(wrong("tres"))?;
        if !tres.licenses.is_empty() || !job.licenses.is_empty() {
            left_out.add("licences that jobs ask for", &name);
        }
        let n_nodes = job.n_nodes.clone().max(Rational::from(1));
        let gang = n_nodes.numer().to_u64().filter(|nodes| n_nodes.is_integer() && *nodes <= 1_000_000);
        let gang = gang.ok_or_else(|| fail(format!("`{n_nodes}` is no number of nodes")))?;
        if gang > 1 && tres.amounts.iter().any(|(_, amount)| !Rational::from(amount / gang).is_integer()) {
            left_out.add("jobs on several nodes in unequal parts, which count as equal ones", &name);
        }
        let mut demand = Amounts::new();
        for (resource, amount) in &tres.amounts {
            demand.insert(self.cluster.resource(resource), Rational::from(amount / gang));
        }
        let rule = self.rule(job, &tres, gang, &name, fail)?;
        if job.account.is_empty() {
            return Err(fail(format!("the job `{name}` has no account")));
        }
        let group = self.shares.group(&mut self.cluster, &job.account, &job.user);
        if !is_pending {
            let hosts = words::hosts(&job.hosts).map_err(wrong("nodes"))?;
            if hosts.is_empty() {
                return Err(fail(format!("the job `{name}` runs on no node")));
            }
            for host in hosts {
                let place = self.cluster.place(&host);
                self.cluster.tasks(Some(group), &demand, rule, gang).runs(place, &name);
            }
            return Ok(());
        }
        let (jobs, names) = match (&job.array, &job.tasks) {
            (Some(array), Some(tasks)) => {
                let (jobs, first) = words::array(tasks, MOST_TASK_NAMES).map_err(wrong("array tasks"))?;
                (jobs, first.into_iter().map(|task| format!("{array}_{task}")).collect())
            }
            _ => (1, vec![name]),
        };
        let count = jobs.checked_mul(gang).ok_or_else(|| fail("too many tasks".to_owned()))?;
        if job.waits_for_room() {
            self.cluster.tasks(Some(group), &demand, rule, gang).waits(job.reason(), count, names);
        } else {
            let what = format!("waiting tasks of jobs that may not start now: {}", job.reason());
            self.cluster.left_out.add_many(&what, count, names);
        }
        Ok(())
    }

    fn rule(
        &mut self,
        job: &Job,
        tres: &words::Tres,
        gang: u64,
        name: &str,
        fail: &dyn Fn(String) -> ImportError,
    ) -> Result<usize, ImportError> {
        let left_out = &mut self.cluster.left_out;
        let features = Features::parse(&job.features).unwrap_or_else(|| {
            left_out.add("features with counts or one choice for all nodes, which are not asked for", name);
            Features::Any
        });
        let mut types = tres.types.clone();
        let per_node = job.per_node.replace("gres:", "").replace("gres/", "").replace('=', ":");
        // What cannot be read here stands in the trackable resources, but for the type.
        let asked = words::gres(&per_node).unwrap_or_default();
        types.extend(asked.into_iter().filter_map(|gres| Some((gres.name, gres.of?))));
        types.sort_unstable();
        types.dedup();
        let hosts = |field: &str, text: &str| {
            let hosts = words::hosts(text).map_err(|message| fail(format!("{field}: {message}")));
            hosts.map(|mut hosts| {
                hosts.sort_unstable();
                hosts
            })
        };
        let mut only = hosts("required nodes", &job.only)?;
        if !only.is_empty() && (only.len() as u64) < gang {
            left_out.add("jobs that name some of their nodes, which are not asked for", name);
            only.clear();
        }
        let mut partitions = job.partitions.clone();
        partitions.sort_unstable();
        let rule = Rule { partitions, features, types, only, not: hosts("excluded nodes", &job.not)? };
        Ok(self.rules.place(&rule, || ()))
    }
}
