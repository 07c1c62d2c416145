//! Simple readers of traces for comparison. They store whole texts in memory and search for users and jobs by
//! name. They return `None` for malformed texts.

use std::collections::HashMap;

use evenhand_import::{GoogleUsers, Note};
use evenhand_problem::{Rational, ServerSpec, UserSpec, number};

pub struct Plain {
    pub users: Vec<UserSpec>,
    pub notes: Vec<Note>,
    /// The tasks in the order of arrival.
    pub tasks: Vec<Task>,
}

pub struct Task {
    pub at: f64,
    pub user: usize,
    pub job: String,
    pub seconds: f64,
    pub priority: Option<u8>,
}

/// Returns the rows after the header, or `None` if the header differs or a row has another number of columns.
fn rows<'a>(text: &'a str, header: &str) -> Option<Vec<Vec<&'a str>>> {
    let mut lines = text.lines().filter(|line| !line.trim_ascii_end().is_empty());
    let columns = header.split(',').count();
    if lines.next()? != header {
        return None;
    }
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    rows.iter().all(|row| row.len() == columns).then_some(rows)
}

fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn decimal(text: &str) -> Option<Rational> {
    number::parse(text).ok().filter(|value| *value >= 0)
}

fn user(name: String, demand: &[(&str, Rational)], servers: Option<Vec<String>>) -> UserSpec {
    let demand = demand.iter().map(|(resource, amount)| ((*resource).to_owned(), amount.clone())).collect();
    UserSpec { name, demand, servers, ..UserSpec::default() }
}

/// Returns the position of the user with the same name. Adds the user if there is none.
fn place(users: &mut Vec<UserSpec>, of: UserSpec) -> usize {
    users.iter().position(|known| known.name == of.name).unwrap_or_else(|| {
        users.push(of);
        users.len() - 1
    })
}

/// A number of tasks, and the function that makes a note of it.
type Counted = (usize, fn(u64) -> Note);

fn noted(counts: &[Counted]) -> Vec<Note> {
    let positive = counts.iter().filter(|(count, _)| *count > 0);
    positive.map(|(count, note)| note(*count as u64)).collect()
}

pub const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
    deletion_time,scheduled_time";

pub fn pods(text: &str, servers: &[ServerSpec]) -> Option<Plain> {
    let mut plain = Plain { users: Vec::new(), notes: Vec::new(), tasks: Vec::new() };
    let (mut nothing, mut nowhere) = (0, 0);
    for (n, row) in rows(text, PODS)?.iter().enumerate() {
        let [cpu, memory, gpus, milli, created, deleted] =
            [1, 2, 3, 4, 8, 9].map(|column| whole(row[column]));
        let (cpu, memory, gpus, milli) = (cpu?, memory?, gpus?, milli?);
        let (at, seconds) = (created? as f64, deleted?.checked_sub(created?)? as f64);
        if milli > 1000 {
            return None;
        }
        if cpu + memory + gpus * milli == 0 {
            nothing += 1;
            continue;
        }
        let models = row[5];
        let may_use = |server: &&ServerSpec| {
            let is_its_model = |model: &str| !model.is_empty() && server.name.ends_with(&format!("-{model}"));
            models.split('|').any(is_its_model)
        };
        let allowed: Vec<String> = servers.iter().filter(may_use).map(|server| server.name.clone()).collect();
        if !models.is_empty() && allowed.is_empty() {
            nowhere += 1;
            continue;
        }
        let gpu = if gpus + milli == 0 { String::new() } else { format!("-gpu{gpus}x{milli}") };
        let model = if models.is_empty() { String::new() } else { format!("-{models}") };
        let gpu_amount = Rational::from((gpus * milli, 1000));
        let demand = [("cpu", cpu.into()), ("memory", memory.into()), ("gpu", gpu_amount)];
        let of = user(
            format!("cpu{cpu}-mem{memory}{gpu}{model}"),
            &demand,
            (!models.is_empty()).then_some(allowed),
        );
        let user = place(&mut plain.users, of);
        plain.tasks.push(Task { at, user, job: n.to_string(), seconds, priority: None });
    }
    plain.tasks.sort_by(|a, b| a.at.total_cmp(&b.at));
    plain.notes = noted(&[
        (nothing, Note::NothingRequested),
        (nowhere, |tasks| Note::NoServerAllowed { models: "GPU models".to_owned(), tasks }),
    ]);
    Some(plain)
}

pub const VMS: &str =
    "split,arrival_s,batch_id,flavour,vcpus,memory_gb,duration_bin,duration_lo_s,duration_hi_s,censored";

pub fn vms(text: &str) -> Option<Plain> {
    let mut plain = Plain { users: Vec::new(), notes: Vec::new(), tasks: Vec::new() };
    let mut times = Vec::new();
    for row in rows(text, VMS)? {
        let (arrival, batch, low) = (whole(row[1])?, whole(row[2])?, whole(row[7])?);
        times.push(arrival);
        let demand = [("vcpu", decimal(row[4])?), ("memory", decimal(row[5])?)];
        let seconds = match row[9] {
            "0" => (low as f64 + whole(row[8]).filter(|high| *high >= low)? as f64) / 2.0,
            "1" => f64::INFINITY,
            _ => return None,
        };
        let of = user(row[3].to_owned(), &demand, None);
        let user = place(&mut plain.users, of.clone());
        if plain.users[user] != of || demand.iter().all(|(_, amount)| *amount == 0) {
            return None;
        }
        let (at, job) = ((arrival - times[0].min(arrival)) as f64, format!("{}/{batch}", row[0]));
        plain.tasks.push(Task { at, user, job, seconds, priority: None });
    }
    let on = plain.tasks.iter().filter(|task| task.seconds.is_infinite()).count();
    plain.notes = noted(&[(on, Note::RunsOn)]);
    times.is_sorted().then_some(plain)
}

/// Reads task events, with all rows in memory.
pub fn google(texts: &[&str], by: GoogleUsers) -> Option<Plain> {
    let mut events: Vec<Vec<&str>> = Vec::new();
    for text in texts {
        let lines = text.lines().filter(|line| !line.trim_ascii_end().is_empty());
        let before = events.len();
        events.extend(lines.map(|line| line.split(',').collect::<Vec<&str>>()));
        if events.len() == before {
            return None;
        }
    }
    if events.iter().any(|row| row.len() != 13) {
        return None;
    }
    let request = |text: &str| if text.is_empty() { Some(None) } else { decimal(text).map(Some) };
    let mut times = Vec::new();
    let mut order = Vec::new();
    let mut by_task: HashMap<[u64; 2], Vec<usize>> = HashMap::new();
    for (n, row) in events.iter().enumerate() {
        times.push(whole(row[0])?);
        request(row[9])?;
        request(row[10])?;
        if !["0", "1", "2", "3", "4", "5", "6", "7", "8"].contains(&row[5]) {
            return None;
        }
        let key = [whole(row[2])?, whole(row[3])?];
        let of_task = by_task.entry(key).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        of_task.push(n);
    }
    if !times.is_sorted() {
        return None;
    }
    let (mut never, mut nothing, mut again, mut on) = (0, 0, 0, 0);
    // The keys are the users of the trace, or the shapes. The sums are the requests of each key's tasks.
    // Until the end, the user of a task is a position in these lists.
    let (mut keys, mut sums): (Vec<String>, Vec<Vec<[Rational; 2]>>) = (Vec::new(), Vec::new());
    let mut tasks = Vec::new();
    for key in order {
        let of_task = &by_task[&key];
        let kind = |n: &usize| events[*n][5];
        let placed: Vec<usize> = of_task.iter().copied().filter(|n| kind(n) == "1").collect();
        let updated = of_task.iter().copied().find(|n| kind(n) == "8");
        // The last run of a task counts. It begins with an update if the task was never placed.
        let Some(start) = placed.last().copied().or(updated) else {
            never += 1;
            continue;
        };
        let is_end = |n: &&usize| ["2", "3", "4", "5", "6"].contains(&kind(n));
        let mut ends = of_task.iter().filter(is_end);
        let end = ends.find(|n| placed.last().is_none_or(|last| **n > *last));
        let first_stated = |column: usize| {
            let stated = of_task.iter().map(|n| events[*n][column]).find(|text| !text.is_empty());
            decimal(stated.unwrap_or("0")).unwrap()
        };
        let requests = [first_stated(9), first_stated(10)];
        if requests.iter().all(|request| *request == 0) {
            nothing += 1;
            continue;
        }
        again += usize::from(placed.len() > 1);
        on += usize::from(end.is_none());
        let seconds = end.map_or(f64::INFINITY, |end| times[*end].saturating_sub(times[start]) as f64 / 1e6);
        let first = &events[of_task[0]];
        let of = match by {
            GoogleUsers::ByUser => first[6].to_owned(),
            GoogleUsers::ByShape => format!("{requests:?}"),
        };
        let user = keys.iter().position(|key| *key == of).unwrap_or_else(|| {
            keys.push(of);
            sums.push(Vec::new());
            keys.len() - 1
        });
        sums[user].push(requests);
        let (at, job) = (times[of_task[0]] as f64 / 1e6, format!("{}/{user}", key[0]));
        tasks.push(Task { at, user, job, seconds, priority: first[8].parse().ok() });
    }
    tasks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let width = keys.len().to_string().len().max(4);
    let of = |(n, requests): (usize, &Vec<[Rational; 2]>)| {
        let mean = |r: usize| requests.iter().map(|of| &of[r]).sum::<Rational>() / requests.len() as u64;
        let million = Rational::from(1_000_000);
        let (name, mean) = match by {
            GoogleUsers::ByUser => ("user", [0, 1].map(|r| (mean(r) * &million).ceil() / &million)),
            GoogleUsers::ByShape => ("shape", requests[0].clone()),
        };
        let [cpu, memory] = mean;
        user(format!("{name}-{:0width$}", n + 1), &[("cpu", cpu), ("memory", memory)], None)
    };
    let users: Vec<UserSpec> = sums.iter().enumerate().map(of).collect();
    let notes = noted(&[
        (never, Note::NeverRan),
        (nothing, Note::NothingRequested),
        (again, Note::RanAgain),
        (on, Note::RunsOn),
    ]);
    Some(Plain { users, notes, tasks })
}
