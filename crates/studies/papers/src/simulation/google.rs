//! DRFH, Table II and Figures 5 to 8, on the available sample of the Google trace.

mod pictures;

use std::collections::HashMap;
use std::path::Path;

use evenhand_import::{GoogleUsers, Input, Trace, google_machines, google_stream};
use evenhand_mechanisms::filling::{Policy, Rule, ServerRule, Ties};
use evenhand_problem::Problem;
use evenhand_simulate::{CompletionTimes, Queues, Run, SIZES, Scenario, Summary, run_on};

pub use pictures::{figure_5, figure_6, figure_7, figure_8};

use super::{percent, resources};
use crate::data::Data;
use crate::entry::Entry;
use crate::error::PaperError;

/// The number of servers that are drawn. The paper has 2,000 servers. This file draws only 300, so that the
/// tasks of the sample have to wait, as in the paper.
const SERVERS: u64 = 300;
/// The end of the sample in seconds.
const HORIZON: f64 = 5611.0;
/// The seed for the servers of the shared cloud and of the dedicated clouds.
const SEED: u64 = 6;
/// The rows of Table II: the number of slots, and the printed CPU and memory utilisation.
const TABLE_2: [(u64, &str, &str); 5] = [
    (10, "35.1 %", "23.4 %"),
    (12, "42.2 %", "27.4 %"),
    (14, "43.9 %", "28.0 %"),
    (16, "45.4 %", "24.2 %"),
    (20, "40.6 %", "20.0 %"),
];
/// The prefixes of the ids of the entries.
pub const STARTS: &[&str] = &[
    "simulation.drfh.table-2",
    "simulation.drfh.figure-5",
    "simulation.drfh.figure-6a",
    "simulation.drfh.figure-6b",
    "simulation.drfh.figure-7",
    "simulation.drfh.figure-8",
];
const SAMPLE: &str = "The paper uses 24 hours of the trace on 2,000 drawn servers. We have only the task \
    events of the first 93 minutes. We use the tasks that arrived after the start and ended, on 300 drawn \
    servers, so that tasks wait";

/// The sample of the trace, and a scenario whose servers run the sample.
struct Cloud<'a> {
    scenario: Scenario,
    trace: &'a Trace,
}

impl Cloud<'_> {
    fn run(&self, policy: Policy) -> Result<(Problem, Run), PaperError> {
        let scenario = Scenario { policy, ..self.scenario.clone() };
        let mut simulated = run_on(&scenario, self.trace, &[SEED], &|_, _| {})?;
        simulated.runs.pop().ok_or_else(|| "no run".into())
    }

    /// Returns the number of slots in Table II with the highest utilisation, and the run with this number of
    /// slots.
    fn best_slots(&self) -> Result<(u64, (Problem, Run)), PaperError> {
        let mut best: Option<(f64, u64, (Problem, Run))> = None;
        for (slots, ..) in TABLE_2 {
            let (problem, run) = self.run(Policy::Slots { slots, ties: Ties::Low })?;
            let sum: f64 = used(&problem, &run).iter().sum();
            if best.as_ref().is_none_or(|(most, ..)| sum > *most) {
                best = Some((sum, slots, (problem, run)));
            }
        }
        best.map(|(_, slots, run)| (slots, run)).ok_or_else(|| "no slots".into())
    }
}

/// Computes a result on the sample. Returns an error if the sample is missing.
fn on_sample<T>(of: impl FnOnce(&Cloud<'_>) -> Result<T, PaperError>) -> Result<T, PaperError> {
    let folder = Data::Google.folder()?;
    let trace = sample(&folder)?;
    let (servers, _) = google_machines(Input::open(&folder.join("machine_configs_all_trace.csv"))?)?;
    let scenario = Scenario {
        usage: None,
        has_history: false,
        name: "Google sample".to_owned(),
        resources: resources(),
        servers,
        draw_servers: Some(SERVERS),
        machines: None,
        notes: Vec::new(),
        policy: best_fit(),
        users: Vec::new(),
        arrivals: Vec::new(),
        queues: Queues::default(),
        trace: None,
        horizon: Some(HORIZON),
        every: None,
    };
    of(&Cloud { scenario, trace: &trace })
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    match Data::Google.folder() {
        Ok(_) => on_sample(of_sample),
        Err(missing) => Ok(missing.entries("DRFH, section VI: Table II, Figures 5 to 8", STARTS)),
    }
}

fn of_sample(cloud: &Cloud<'_>) -> Result<Vec<Entry>, PaperError> {
    let mut entries = Vec::new();
    let mut best: Option<(u64, Run, f64)> = None;
    for (slots, cpu, memory) in TABLE_2 {
        let (problem, run) = cloud.run(Policy::Slots { slots, ties: Ties::Low })?;
        let used = used(&problem, &run);
        entries.push(Entry {
            id: format!("simulation.drfh.table-2.{slots}"),
            source: "DRFH, Table II: utilisation by slots of the largest server",
            paper: format!("{cpu}, {memory}"),
            ours: format!("{}, {}", percent(used[0]), percent(used[1])),
            agrees: None,
            note: SAMPLE.to_owned(),
        });
        let sum: f64 = used.iter().sum();
        if best.as_ref().is_none_or(|(.., most)| sum > *most) {
            best = Some((slots, run, sum));
        }
    }
    let (slots, of_slots, _) = best.ok_or("no slots")?;
    let (problem, shared) = cloud.run(best_fit())?;
    let (_, first) = cloud.run(first_fit())?;
    entries.push(best_slots(slots));
    entries.push(utilisation(&problem, &shared, &first, &of_slots));
    entries.extend(completion(&shared, &of_slots));
    entries.push(ratios(&shared, &of_slots));
    entries.push(dedicated(cloud, &shared)?);
    Ok(entries)
}

fn best_fit() -> Policy {
    Policy::Fill(Rule { server: ServerRule::BestFit, ..Rule::default() })
}

fn first_fit() -> Policy {
    Policy::Fill(Rule::default())
}

/// Reads the tasks that arrived after the start and ended within the sample.
fn sample(folder: &Path) -> Result<Trace, PaperError> {
    let events = Input::open(&folder.join("task_events.part-00000-of-00500.csv.gz"))?;
    let mut trace = google_stream(vec![events], GoogleUsers::ByUser)?.into_memory()?;
    trace.tasks.retain(|task| task.at > 0.0 && task.seconds.is_finite());
    if trace.tasks.is_empty() {
        return Err("no task of the trace comes after the start and ends".into());
    }
    // The size of a job is the number of its tasks that were read.
    let mut left: HashMap<u64, u64> = HashMap::new();
    trace.tasks.iter().for_each(|task| *left.entry(task.job).or_default() += 1);
    trace.tasks.iter_mut().for_each(|task| task.job_tasks = left[&task.job]);
    Ok(trace)
}

fn used(problem: &Problem, run: &Run) -> Vec<f64> {
    Summary::new(problem, run).utilisation.into_iter().map(|used| used.unwrap_or(0.0)).collect()
}

fn best_slots(slots: u64) -> Entry {
    Entry {
        id: "simulation.drfh.table-2.best".to_owned(),
        source: "DRFH, section VI: slots of the largest server with the highest overall utilisation",
        paper: "14".to_owned(),
        ours: slots.to_string(),
        agrees: None,
        note: "The demands of the sample differ from those of the 24 hours, and the best number of slots \
               depends on the demands."
            .to_owned(),
    }
}

fn utilisation(problem: &Problem, best: &Run, first: &Run, slots: &Run) -> Entry {
    let both = |run: &Run| {
        let used = used(problem, run);
        format!("{} and {}", percent(used[0]), percent(used[1]))
    };
    let [best_fit, first_fit, by_slots] = [best, first, slots].map(|run| used(problem, run));
    let above = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a > b);
    Entry {
        id: "simulation.drfh.figure-5".to_owned(),
        source: "DRFH, Figure 5: CPU and memory utilisation over the run",
        paper: "best fit above first fit above slots".to_owned(),
        ours: format!("best fit {}, first fit {}, slots {}", both(best), both(first), both(slots)),
        agrees: Some(above(&best_fit, &first_fit) && above(&first_fit, &by_slots)),
        note: SAMPLE.to_owned(),
    }
}

/// Returns the entries on jobs that finish under both policies. The paper compares these jobs.
fn completion(best: &Run, slots: &Run) -> Vec<Entry> {
    let key = |run: &Run| -> HashMap<(u32, u64, u64), Vec<f64>> {
        let mut times: HashMap<_, Vec<f64>> = HashMap::new();
        for job in &run.jobs {
            times.entry((job.user, job.tasks, job.at.to_bits())).or_default().push(job.time);
        }
        times
    };
    let of_slots = key(slots);
    let (mut by_class, mut all) = (vec![(Vec::new(), Vec::new()); SIZES.len()], (Vec::new(), Vec::new()));
    for ((user, tasks, at), times) in key(best) {
        let Some(others) = of_slots.get(&(user, tasks, at)) else { continue };
        let class = SIZES.iter().rposition(|from| tasks >= *from).unwrap_or(0);
        // Jobs of the same user, size and time cannot be distinguished. Their times are paired in order.
        for (mine, other) in times.iter().zip(others) {
            by_class[class].0.push(*mine);
            by_class[class].1.push(*other);
            all.0.push(*mine);
            all.1.push(*other);
        }
    }
    let jobs = all.0.len();
    let [ours, theirs] = [all.0, all.1].map(CompletionTimes::of);
    let words = |times: &Option<CompletionTimes>| {
        times.map_or("none".to_owned(), |t| {
            format!("median {:.0} s, 90 % {:.0} s, mean {:.0} s", t.median, t.p90, t.mean)
        })
    };
    let agrees = ours.zip(theirs).map(|(ours, theirs)| ours.mean < theirs.mean);
    let reductions: Vec<(String, f64)> = by_class
        .into_iter()
        .enumerate()
        .filter_map(|(class, (mine, other))| {
            let (mine, other) = (CompletionTimes::of(mine)?, CompletionTimes::of(other)?);
            let range = match SIZES.get(class + 1) {
                Some(next) => format!("{} to {}", SIZES[class], next - 1),
                None => format!("{} or more", SIZES[class]),
            };
            let reduction = if other.mean > 0.0 { 1.0 - mine.mean / other.mean } else { 0.0 };
            Some((range, reduction))
        })
        .collect();
    let grows = match reductions.as_slice() {
        [first, .., last] => Some(last.1 > first.1),
        _ => None,
    };
    vec![
        Entry {
            id: "simulation.drfh.figure-6a".to_owned(),
            source: "DRFH, Figure 6a: completion times of jobs done under both",
            paper: "best fit is sooner than slots".to_owned(),
            ours: format!("{jobs} jobs; best fit: {}; slots: {}", words(&ours), words(&theirs)),
            agrees,
            note: SAMPLE.to_owned(),
        },
        Entry {
            id: "simulation.drfh.figure-6b".to_owned(),
            source: "DRFH, Figure 6b: mean completion time, reduction over slots by tasks of a job",
            paper: "none for small jobs, the more the larger the job".to_owned(),
            ours: reductions
                .iter()
                .map(|(range, reduction)| format!("{range}: {}", percent(*reduction)))
                .collect::<Vec<_>>()
                .join("; "),
            agrees: grows,
            note: "The paper shows its classes only in the picture. The value agrees if the largest jobs \
                   gain more than the smallest."
                .to_owned(),
        },
    ]
}

/// Returns the number of completed tasks of a user divided by the number of its submitted tasks. Returns
/// `None` for a user without tasks.
fn ratio(run: &Run, user: usize) -> Option<f64> {
    let tasks = run.tasks[user];
    (tasks.submitted > 0).then(|| tasks.completed as f64 / tasks.submitted as f64)
}

/// Returns the task completion ratios in two runs, for every user that has tasks in both runs.
fn ratio_pairs(one: &Run, other: &Run) -> Vec<(f64, f64)> {
    (0..one.tasks.len()).filter_map(|n| Some((ratio(one, n)?, ratio(other, n)?))).collect()
}

fn ratios(best: &Run, slots: &Run) -> Entry {
    let pairs = ratio_pairs(best, slots);
    let part = |which: &dyn Fn(&(f64, f64)) -> bool| {
        pairs.iter().filter(|pair| which(pair)).count() as f64 / pairs.len().max(1) as f64
    };
    let (not_less, only) = (part(&|(a, b)| a >= b), part(&|(a, b)| *a == 1.0 && *b < 1.0));
    Entry {
        id: "simulation.drfh.figure-7".to_owned(),
        source: "DRFH, Figure 7: task completion ratios of users, best fit against slots",
        paper:
            "higher for almost all users; about 20 % of the users complete all their tasks under best fit \
         but not with slots"
                .to_owned(),
        ours: format!(
            "of {} users, {} have a ratio at least as high; {} complete all their tasks under best fit but \
             not with slots",
            pairs.len(),
            percent(not_less),
            percent(only)
        ),
        agrees: None,
        note: SAMPLE.to_owned(),
    }
}

/// Returns the number of servers of each user's dedicated cloud, and two task completion ratios for every
/// user: the ratio in the dedicated cloud and the ratio in the shared cloud. Dedicated clouds have equal
/// sizes, and their servers are drawn from the same shapes as those of the shared cloud.
fn dedicated_pairs(cloud: &Cloud<'_>, shared: &Run) -> Result<(u64, Vec<(f64, f64)>), PaperError> {
    let there: Vec<usize> = (0..shared.tasks.len()).filter(|&n| shared.tasks[n].submitted > 0).collect();
    let own = (SERVERS / there.len() as u64).max(1);
    let mut pairs = Vec::new();
    for n in there {
        let trace = Trace {
            tasks: cloud.trace.tasks.iter().copied().filter(|task| task.user as usize == n).collect(),
            notes: Vec::new(),
            ..cloud.trace.clone()
        };
        let scenario = Scenario { draw_servers: Some(own), ..cloud.scenario.clone() };
        let simulated = run_on(&scenario, &trace, &[SEED + n as u64], &|_, _| {})?;
        let Some((_, alone)) = simulated.runs.first() else { continue };
        // Tasks that fit on none of the user's own servers never complete in the dedicated cloud.
        let submitted = shared.tasks[n].submitted as f64;
        let alone = alone.tasks[n].completed as f64 / submitted;
        let Some(together) = ratio(shared, n) else { continue };
        pairs.push((alone, together));
    }
    Ok((own, pairs))
}

fn dedicated(cloud: &Cloud<'_>, shared: &Run) -> Result<Entry, PaperError> {
    let (own, pairs) = dedicated_pairs(cloud, shared)?;
    let compared = pairs.len();
    let losses: Vec<f64> =
        pairs.iter().map(|(alone, together)| alone - together).filter(|loss| *loss > 0.0).collect();
    let (fewer, largest_loss) = (losses.len(), losses.iter().copied().fold(0.0, f64::max));
    Ok(Entry {
        id: "simulation.drfh.figure-8".to_owned(),
        source: "DRFH, Figure 8: users with a lower task completion ratio in the shared cloud than alone",
        paper: "2 %, only slightly".to_owned(),
        ours: format!(
            "{} of {compared} users, at most {} less",
            percent(fewer as f64 / compared.max(1) as f64),
            percent(largest_loss)
        ),
        agrees: None,
        note: format!(
            "Each user runs alone on {own} drawn server{}, its fraction of the {SERVERS} servers. {SAMPLE}",
            if own == 1 { "" } else { "s" }
        ),
    })
}
