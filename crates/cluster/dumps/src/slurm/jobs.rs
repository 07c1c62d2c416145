//! Jobs: running and waiting tasks, and the nodes that they may use.

use evenhand_problem::number;
use evenhand_problem::problem::MAX_COUNT;
use evenhand_problem::snapshot::{Stopped, TaskTime};
use rug::Rational;

use super::super::cluster::{Amounts, MOST_TASK_NAMES, Owned, Traits};
use super::super::tree::At;
use super::nodes::{names, number as json_number};
use super::text::{PER_PART, Record};
use super::words::{self, Array, Features};
use super::{Rule, Slurm};
use evenhand_import::ImportError;

/// A job, or the waiting tasks of an array, from JSON or text.
pub(super) struct Job {
    id: String,
    /// The id of the array of the job.
    array: Option<String>,
    /// The number of the task in its array, or the list of the waiting tasks.
    tasks: Option<String>,
    /// The number of tasks of the array that may run at once. `None` unless the dump states it in a separate
    /// field.
    throttle: Option<Rational>,
    account: String,
    user: String,
    /// The states of the job in capitals.
    states: Vec<String>,
    reason: String,
    partitions: Vec<String>,
    hosts: String,
    n_nodes: Rational,
    tres: String,
    /// The requests by node, by job, by socket and by task, in the order of [`PER_PART`].
    per_part: [String; 4],
    features: String,
    only: String,
    not: String,
    licenses: String,
    is_heterogeneous: bool,
    /// A text by which running jobs are sorted: by priority, the highest first, and then by start time, the
    /// oldest first.
    order: String,
    times: Times,
}

/// The time limit of a job, the times of a running job, and the priority.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    /// The time limit in seconds. `None` if the job has no limit or the limit is not known.
    limit: Option<u64>,
    /// The time in seconds for which the job has run. Only text dumps state it.
    elapsed: Option<u64>,
    /// The start time in seconds since 1970. Only JSON dumps state it.
    start: Option<u64>,
    priority: Option<i64>,
}

/// The largest number of seconds of a time limit that is accepted. It is more than 30,000 years.
const MOST_SECONDS: u64 = MAX_COUNT;

/// The reasons of jobs that wait only for free capacity.
const WAIT_FOR_ROOM: [&str; 7] =
    ["", "None", "Priority", "Resources", "ReqNodeNotAvail", "NodeDown", "SchedDefer"];
/// The beginnings of further reasons of jobs that wait only for free capacity.
const WAIT_FOR_ROOM_BEGIN: [&str; 2] = ["ReqNodeNotAvail", "Nodes_required_for_job_are"];
/// The reasons of jobs that wait for a limit of a group. Next to each reason is the beginning of the names of
/// the resources of the limit.
pub(super) const WAIT_FOR_A_LIMIT: [(&str, &str); 3] =
    [("AssocGrpCpuLimit", "cpu"), ("AssocGrpMemLimit", "memory"), ("AssocGrpGRES", "gres/")];

/// The waiting tasks of an array with a throttle, which limits the number of tasks that run at once. The
/// number of tasks that may start is known only after all jobs have been read, because running tasks of the
/// array count too.
pub(super) struct Throttled {
    pub array: String,
    /// The number of tasks of the array that may run at once.
    pub most: u64,
    pub group: usize,
    pub demand: Amounts,
    pub rule: usize,
    pub gang: u64,
    pub reason: String,
    /// The number of waiting tasks of the array.
    pub jobs: u64,
    /// The names of the first waiting tasks of the array.
    pub names: Vec<String>,
}

impl Job {
    pub fn from_json(at: At<'_>) -> Result<Self, ImportError> {
        let text = |name: &str| Ok::<_, ImportError>(at.text_of(name)?.unwrap_or_default().to_owned());
        let some = |name: &str| at.get(name)?.map_or(Ok(None), json_number);
        let is_nonzero = |value: &Rational| !value.is_zero();
        let states = names(at.get("job_state")?)?;
        let array = some("array_job_id")?.filter(is_nonzero).map(|id| id.to_string());
        let waiting = at.text_of("array_task_string")?.filter(|list| !list.is_empty()).map(str::to_owned);
        let task = if array.is_some() { some("array_task_id")?.map(|task| task.to_string()) } else { None };
        let allocated = at.text_of("tres_alloc_str")?.filter(|tres| !tres.is_empty());
        Ok(Self {
            id: json_number(at.need("job_id")?)?.unwrap_or_default().to_string(),
            tasks: waiting.or(task),
            throttle: some("array_max_tasks")?.filter(is_nonzero),
            array,
            account: text("account")?,
            user: text("user_name")?,
            states: states.iter().map(|state| state.to_uppercase()).collect(),
            reason: text("state_reason")?,
            partitions: names(at.get("partition")?)?,
            hosts: text("nodes")?,
            n_nodes: some("node_count")?.unwrap_or_else(|| Rational::from(1)),
            tres: allocated.map_or_else(|| text("tres_req_str"), |tres| Ok(tres.to_owned()))?,
            per_part: [
                text("tres_per_node")?,
                text("tres_per_job")?,
                text("tres_per_socket")?,
                text("tres_per_task")?,
            ],
            features: text("features")?,
            only: text("required_nodes")?,
            not: text("excluded_nodes")?,
            licenses: text("licenses")?,
            is_heterogeneous: some("het_job_id")?.is_some_and(|id| !id.is_zero()),
            order: {
                let start = some("start_time")?.unwrap_or_default();
                order(some("priority")?, &format!("{:0>20}", start.to_string()))
            },
            times: {
                let whole = |value: Option<Rational>| value.and_then(|value| value.floor().numer().to_u64());
                let minutes = whole(some("time_limit")?);
                Times {
                    limit: minutes.map(|minutes| minutes.saturating_mul(60).min(MOST_SECONDS)),
                    elapsed: None,
                    start: whole(some("start_time")?).filter(|start| *start > 0),
                    priority: some("priority")?.and_then(|priority| priority_of(&priority)),
                }
            },
        })
    }

    pub fn from_record(record: &Record<'_>) -> Result<Self, ImportError> {
        let text = |name: &str| Ok::<_, ImportError>(record.get(name)?.unwrap_or_default().to_owned());
        let user = record.get("UserId")?.unwrap_or_default();
        // The fields in the order of preference: the allocated resources, the field of older versions for
        // allocated or requested resources, and the requested resources.
        let tres = ["AllocTRES", "TRES", "ReqTRES"].into_iter().map(|name| record.get(name));
        let tres = tres.collect::<Result<Vec<_>, _>>()?;
        if tres[1].is_some() && (tres[0].is_some() || tres[2].is_some()) {
            let message = "the job has the field TRES of older versions and fields of newer ones: the name of the job may contain one; use the output of --json";
            return Err(record.error(message));
        }
        let tres = tres.into_iter().flatten().next();
        let n_nodes = record.get("NumNodes")?.unwrap_or("1");
        let least = n_nodes.split('-').next().unwrap_or_default();
        let whole = |name: &str, text: &str| {
            words::amount(text, 1).map_err(|message| record.wrong(name, &message.to_string()))
        };
        let n_nodes = whole("NumNodes", least)?;
        let throttle = record.get("ArrayTaskThrottle")?;
        let throttle = throttle.map(|text| whole("ArrayTaskThrottle", text)).transpose()?;
        let per_part = PER_PART.map(text);
        let [node, job, socket, task] = per_part;
        Ok(Self {
            id: record.need("JobId")?.to_owned(),
            array: record.get("ArrayJobId")?.map(str::to_owned),
            tasks: record.get("ArrayTaskId")?.map(str::to_owned),
            throttle,
            account: text("Account")?,
            user: user.split('(').next().unwrap_or_default().to_owned(),
            states: vec![record.need("JobState")?.to_uppercase()],
            reason: text("Reason")?,
            partitions: text("Partition")?.split(',').map(str::to_owned).collect(),
            hosts: text("NodeList")?,
            n_nodes,
            tres: tres.unwrap_or_default().to_owned(),
            per_part: [node?, job?, socket?, task?],
            features: text("Features")?,
            only: text("ReqNodeList")?,
            not: text("ExcNodeList")?,
            licenses: text("Licenses")?,
            is_heterogeneous: record.get("HetJobId")?.is_some(),
            order: {
                let priority = record.get("Priority")?.and_then(|text| words::amount(text, 1).ok());
                order(priority, record.get("StartTime")?.unwrap_or_default())
            },
            times: {
                // A value that is not a time, such as `UNLIMITED`, means no limit.
                let time = |name: &str| Ok::<_, ImportError>(record.get(name)?.and_then(words::seconds));
                let priority = record.get("Priority")?.and_then(|text| words::amount(text, 1).ok());
                Times {
                    limit: time("TimeLimit")?.map(|limit| limit.min(MOST_SECONDS)),
                    elapsed: time("RunTime")?,
                    start: None,
                    priority: priority.and_then(|priority| priority_of(&priority)),
                }
            },
        })
    }

    fn is(&self, states: &[&str]) -> bool {
        self.states.iter().any(|state| states.contains(&state.as_str()))
    }

    /// Returns the name of the job as `scancel` expects it.
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
            || WAIT_FOR_A_LIMIT.iter().any(|(limit, _)| *limit == reason)
            || WAIT_FOR_ROOM_BEGIN.iter().any(|begin| reason.starts_with(begin))
    }
}

/// Returns a priority. Returns `None` if it does not fit into 32 bits, as Slurm's priorities do.
fn priority_of(priority: &Rational) -> Option<i64> {
    let whole = if priority.is_integer() { priority.numer().to_u32() } else { None };
    whole.map(i64::from)
}

/// Returns a text by which jobs are sorted: by priority, the highest first, and then by start time, the
/// oldest first.
fn order(priority: Option<Rational>, start: &str) -> String {
    let priority = priority.and_then(|priority| priority.numer().to_u64()).unwrap_or(0);
    format!("{:020} {start}", u64::MAX - priority)
}

/// Returns the names of jobs, with each name repeated for every node. All tasks of a job on several nodes
/// have the name of the job.
fn by_node(names: &[String], nodes: u64) -> Vec<String> {
    let nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
    let each = names.iter().flat_map(|name| std::iter::repeat_n(name, nodes));
    each.take(MOST_TASK_NAMES as usize).cloned().collect()
}

impl Slurm {
    /// Adds a job. `fail` turns a message into an error about the job.
    pub(super) fn job(&mut self, job: &Job, fail: &dyn Fn(String) -> ImportError) -> Result<(), ImportError> {
        let name = job.name();
        if !self.jobs.insert(name.clone()) {
            let hint = "; squeue --json and scontrol show job list the same jobs: give only one of them";
            return Err(fail(format!("the job `{name}` is given twice{hint}")));
        }
        let left_out = &mut self.cluster.left_out;
        let is_pending = job.is(&["PENDING"]);
        if job.is(&["SUSPENDED"]) {
            left_out.add("suspended jobs, which use memory and no processors", name);
            return Ok(());
        }
        if job.is(&["PREEMPTED"]) && !is_pending {
            // Slurm does not state for which other job it stopped this job.
            self.cluster.copies(1, name.len(), "stopped jobs");
            let rule = "PREEMPTED".to_owned();
            self.cluster.stopped.push(Stopped { task: name, rule, ..Stopped::default() });
            return Ok(());
        }
        let holds = ["RUNNING", "CONFIGURING", "COMPLETING", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"];
        if !is_pending && !job.is(&holds) {
            return Ok(());
        }
        if job.is_heterogeneous {
            left_out.add("heterogeneous jobs, whose components count as separate jobs", &name);
        }
        let wrong =
            |field: &'static str| move |message: words::Unreadable| fail(format!("{field}: {message}"));
        let tres = words::tres(&job.tres).map_err(wrong("tres"))?.with_totals();
        if tres.others.iter().any(|of| of.starts_with("license/")) || !job.licenses.is_empty() {
            left_out.add("licences that jobs ask for", &name);
        }
        let n_nodes = job.n_nodes.clone().max(Rational::from(1));
        let gang = n_nodes.numer().to_u64().filter(|nodes| n_nodes.is_integer() && *nodes <= 1_000_000);
        let gang = gang
            .ok_or_else(|| fail(format!("found `{n_nodes}` nodes: expected a whole number up to 1000000")))?;
        if gang > 1 && tres.amounts.iter().any(|(_, amount)| !Rational::from(amount / gang).is_integer()) {
            left_out.add("jobs on several nodes with unequal amounts, which count as equal amounts", &name);
        }
        let mut demand = Amounts::new();
        for (resource, amount) in tres.amounts.iter().chain(&self.untracked_types(job, &tres, gang)) {
            let of_a_node = Rational::from(amount / gang);
            if number::stated(&of_a_node).is_none() {
                return Err(fail(format!("tres: the amount of {resource} on one node has too many digits")));
            }
            demand.insert(self.cluster.resource(resource), of_a_node);
        }
        let rule = self.rule(job, &tres, gang, &name, fail)?;
        if job.account.is_empty() {
            return Err(fail(format!("the job `{name}` has no account")));
        }
        let group = self.shares.group(&mut self.cluster, &job.account, &job.user);
        // The tasks of a job on several nodes must be on different nodes.
        let traits = Traits { on_distinct_servers: gang > 1, ..Traits::default() };
        if !is_pending {
            let hosts = words::hosts(&job.hosts).map_err(wrong("nodes"))?;
            if hosts.is_empty() {
                return Err(fail(format!("the job `{name}` runs on no node")));
            }
            self.count(hosts.len() as u64, fail)?;
            if let Some(array) = &job.array {
                *self.running_of_arrays.entry(array.clone()).or_default() += 1;
            }
            let longest = hosts.iter().map(String::len).max().unwrap_or_default();
            // Two tables store the name of each host. The name of the job is stored once for each host.
            self.cluster.copies(3 * hosts.len() as u64, name.len().max(longest), "the tasks of a job");
            for host in hosts {
                let place = self.cluster.place(&host);
                self.cluster.tasks_with(Some(group), &demand, rule, gang, traits.clone()).runs(place, &name);
            }
            let gang = if gang > 1 { format!("job {name}") } else { String::new() };
            let owned = Owned { owner: String::new(), since: job.order.clone(), gang };
            self.cluster.owned_by(&name, owned);
            self.run_time(&name, job.times);
            return Ok(());
        }
        let (jobs, names, throttle) = match (&job.array, &job.tasks) {
            (Some(array), Some(tasks)) => {
                let Array { count, first, throttle } =
                    words::array(tasks, MOST_TASK_NAMES).map_err(wrong("array tasks"))?;
                self.cluster.copies(first.len() as u64, array.len(), "the tasks of an array");
                let names: Vec<String> = first.into_iter().map(|task| format!("{array}_{task}")).collect();
                let stated = job.throttle.as_ref().and_then(|most| most.clone().floor().numer().to_u64());
                (count, names, throttle.or(stated))
            }
            _ => (1, vec![name.clone()], None),
        };
        let count = self.count(jobs.saturating_mul(gang), fail)?;
        if !job.waits_for_room() {
            let what = format!("waiting tasks of jobs that may not start now: {}", job.reason());
            self.cluster.left_out.add_many(&what, count, names);
            return Ok(());
        }
        let Times { limit, priority, .. } = job.times;
        if limit.or(priority.map(|_| 0)).is_some() {
            self.cluster.copies(names.len() as u64, name.len(), "the time limits of jobs");
            let times = names.iter().map(|task| TaskTime { task: task.clone(), limit, left: None, priority });
            self.cluster.times.extend(times);
        }
        let reason = job.reason().to_owned();
        match (&job.array, throttle) {
            (Some(array), Some(most)) => {
                let array = array.clone();
                self.throttled.push(Throttled {
                    array,
                    most,
                    group,
                    demand,
                    rule,
                    gang,
                    reason,
                    jobs,
                    names,
                });
            }
            _ => {
                let tasks = self.cluster.tasks_with(Some(group), &demand, rule, gang, traits);
                tasks.waits(&reason, count, by_node(&names, gang));
            }
        }
        Ok(())
    }

    /// Records the time limit of a running job, and the time that is left until this limit. JSON dumps state
    /// the start time, and the time of the dump may come after the jobs.
    fn run_time(&mut self, name: &str, times: Times) {
        let Some(limit) = times.limit else { return };
        let left = times.elapsed.map(|elapsed| limit.saturating_sub(elapsed));
        if let Some(start) = times.start {
            self.starts.push((self.cluster.times.len(), start));
        }
        let task = name.to_owned();
        self.cluster.times.push(TaskTime { task, limit: Some(limit), left, priority: None });
    }

    /// Computes the time that is left until the limit, for jobs whose start time the dump states.
    pub(super) fn update_times_left(&mut self) {
        let Some(now) = self.updated else { return };
        for (at, start) in std::mem::take(&mut self.starts) {
            let of = &mut self.cluster.times[at];
            of.left = of.limit.map(|limit| limit.saturating_sub(now.saturating_sub(start)));
        }
    }

    /// Adds to the number of tasks. Refuses the job if the dump then has too many tasks. Returns the number
    /// of added tasks.
    fn count(&mut self, tasks: u64, fail: &dyn Fn(String) -> ImportError) -> Result<u64, ImportError> {
        self.n_tasks = self.n_tasks.saturating_add(tasks);
        match self.n_tasks > MAX_COUNT {
            true => Err(fail(format!(
                "with this job the dump has more than {MAX_COUNT} tasks, the most that is accepted"
            ))),
            false => Ok(tasks),
        }
    }

    /// Returns the amounts of typed generic resources that a job requests by node, job, socket or task, and
    /// that its trackable resources do not state. Slurm tracks only the types that `AccountingStorageTRES`
    /// names.
    fn untracked_types(&self, job: &Job, tres: &words::Tres, gang: u64) -> Vec<(String, Rational)> {
        let mut amounts: Vec<(String, Rational)> = Vec::new();
        let asked = asked_types(job);
        for (part, kind, of, count) in &asked {
            let (total, typed) = (format!("gres/{kind}"), format!("gres/{kind}:{of}"));
            let is_stated = tres.types().any(|(known, _)| known == kind);
            if is_stated || amounts.iter().any(|(known, _)| *known == typed) {
                continue;
            }
            let is_sole = asked.iter().all(|(_, other, known, _)| other != kind || known == of);
            let all = tres.amounts.iter().find(|(known, _)| *known == total);
            match all {
                // All requests of the job for this generic resource name the same type, so the whole amount
                // is of this type.
                Some((_, all)) if is_sole => amounts.push((typed, all.clone())),
                // A request by node is multiplied by the number of nodes.
                _ if *part == 0 => amounts.push((typed, Rational::from(count * gang))),
                _ => {}
            }
        }
        amounts
    }

    /// Adds the waiting tasks of throttled arrays that may start, and records the other tasks as left out.
    pub(super) fn start_throttled(&mut self) {
        for waits in std::mem::take(&mut self.throttled) {
            let running = self.running_of_arrays.entry(waits.array).or_default();
            let may_start = waits.jobs.min(waits.most.saturating_sub(*running));
            *running += may_start;
            let mut names = waits.names;
            let beyond = names.split_off(names.len().min(usize::try_from(may_start).unwrap_or(usize::MAX)));
            if may_start > 0 {
                let traits = Traits { on_distinct_servers: waits.gang > 1, ..Traits::default() };
                let group = Some(waits.group);
                let tasks = self.cluster.tasks_with(group, &waits.demand, waits.rule, waits.gang, traits);
                tasks.waits(&waits.reason, may_start * waits.gang, by_node(&names, waits.gang));
            }
            if may_start < waits.jobs {
                let what = "waiting tasks of arrays beyond their throttle (`%`), which start only after others of the array end";
                self.cluster.left_out.add_many(what, (waits.jobs - may_start) * waits.gang, beyond);
            }
        }
    }

    /// Returns the index of the rule of a job.
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
            left_out.add("features with counts or one choice for all nodes, which are ignored", name);
            Features::Any
        });
        let stated = tres.types().map(|(kind, of)| (kind.to_owned(), of.to_owned()));
        let asked = asked_types(job).into_iter().map(|(_, kind, of, _)| (kind, of));
        let mut types: Vec<(String, String)> = stated.chain(asked).collect();
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
            left_out.add("jobs that require some of their nodes by name, which is ignored", name);
            only.clear();
        }
        let mut partitions = job.partitions.clone();
        partitions.sort_unstable();
        let rule = Rule { partitions, features, types, only, not: hosts("excluded nodes", &job.not)? };
        if self.rules.find(&rule).is_none() {
            let bytes = |names: &[String]| names.iter().map(|name| name.len() + 32).sum::<usize>();
            self.cluster.copies(2, bytes(&rule.only) + bytes(&rule.not), "lists of nodes that jobs name");
        }
        Ok(self.rules.place(&rule, || ()))
    }
}

/// Returns the typed generic resources that a job requests. Each entry has the index in [`PER_PART`] of the
/// field with the request, the name, the type and the count.
fn asked_types(job: &Job) -> Vec<(usize, String, String, Rational)> {
    let mut types = Vec::new();
    for (part, text) in job.per_part.iter().enumerate() {
        let text = text.replace("gres:", "").replace("gres/", "").replace('=', ":");
        // A text that cannot be parsed is ignored, because the trackable resources contain its amount too.
        let asked = words::gres(&text).unwrap_or_default();
        types.extend(asked.into_iter().filter_map(|gres| Some((part, gres.name, gres.of?, gres.count))));
    }
    types
}
