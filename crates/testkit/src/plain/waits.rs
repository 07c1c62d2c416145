//! How a cluster runs on, by a plain event loop written from docs/waiting.md. After every end of tasks the
//! loop tests for every user whether it could start ([`Running::could_start`]). It judges the starts of a run
//! and makes none, because the definition leaves open on which servers a job starts. It is meant for small
//! clusters without admitted tasks.

use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;

use super::starts::{Running, Task};
use super::tree::{Node, Tree, puts_first};

/// The rule by which the next user to start is chosen.
#[derive(Debug, Clone)]
pub enum Order {
    /// The user with the highest priority comes first.
    Priority,
    /// Hierarchical filling by the problem's own share decides.
    Tree,
    /// The queue with the least usage, as a fraction of these fair shares, comes first. The fair shares are
    /// by queue and resource: first those of groups, then those of users without a group.
    FairShare(Vec<Vec<Rational>>),
}

/// The running times of the tasks of each user: the time that running tasks still run, and the duration of
/// waiting tasks. `None` means that tasks never end.
#[derive(Debug, Clone)]
pub struct Times {
    pub left: Vec<Option<u64>>,
    pub duration: Vec<Option<u64>>,
}

/// A start: its time, and its tasks with their servers.
pub type Start = (u64, Vec<Task>);

/// The tasks that run, each with its end.
struct Run<'s> {
    running: Running<'s>,
    ends: Vec<Option<u64>>,
}

impl Run<'_> {
    /// Ends all tasks whose end is at or before `now`.
    fn end(&mut self, now: u64) {
        let goes_on = |end: &Option<u64>| end.is_none_or(|end| end > now);
        let tasks = self.running.tasks.iter().zip(&self.ends).filter(|(_, end)| goes_on(end));
        self.running.tasks = tasks.map(|(task, _)| *task).collect();
        self.ends.retain(goes_on);
    }

    fn next_end(&self) -> Option<u64> {
        self.ends.iter().flatten().min().copied()
    }
}

fn first<'s>(snapshot: &'s Snapshot, times: &Times) -> Run<'s> {
    let running = Running::new(snapshot);
    let ends = running.tasks.iter().map(|(n, ..)| times.left[*n]).collect();
    Run { running, ends }
}

/// Judges the starts of a run in their order. Returns an error about the first start that is not as defined.
///
/// # Errors
/// A start is not possible, is not the next start, or is missing.
pub fn judge(snapshot: &Snapshot, times: &Times, order: &Order, starts: &[Start]) -> Result<(), String> {
    let p = &snapshot.problem;
    let mut run = first(snapshot, times);
    let whole = |n: usize| -> u64 {
        let left = |m: usize| {
            let tasks = p.users()[m].tasks().expect("a number of tasks").clone() - run.running.count(m);
            if p.is_active(m) { (tasks / run.running.gang(m)).floor() } else { Rational::new() }
        };
        let jobs = run.running.together(n).into_iter().map(left).min().unwrap_or_default();
        jobs.numer().to_u64().unwrap_or(0)
    };
    let leads = |n: &usize| run.running.together(*n)[0] == *n;
    let mut waiting: Vec<u64> = (0..p.n_users()).map(|n| if leads(&n) { whole(n) } else { 0 }).collect();
    let mut starts = starts.iter();
    let mut now = 0;
    loop {
        run.end(now);
        loop {
            let could: Vec<usize> = (0..p.n_users())
                .filter(|n| waiting[*n] > 0 && run.running.could_start(*n).is_some())
                .collect();
            let Some(n) = next(&run.running, order, &could) else { break };
            let user = p.users()[n].name();
            let Some((time, tasks)) = starts.next() else {
                return Err(format!("at {now}: {user} could start, and nothing starts"));
            };
            let starts_for = tasks.iter().map(|(m, ..)| *m).min();
            if *time != now || starts_for != Some(n) {
                return Err(format!("at {now}: {user} is next, not {starts_for:?} at {time}"));
            }
            if !run.running.may_start(tasks) {
                return Err(format!("at {now}: {user} may not start on {tasks:?}"));
            }
            let lasts = run.running.together(n).into_iter().map(|m| times.duration[m]);
            let lasts = lasts.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten();
            for task in tasks {
                run.running.tasks.push(*task);
                run.ends.push(lasts.map(|time| now + time));
            }
            waiting[n] -= 1;
        }
        match run.next_end() {
            Some(end) => now = end,
            None => break,
        }
    }
    match starts.next() {
        None => Ok(()),
        Some((time, tasks)) => Err(format!("at {time}: {tasks:?} start after all others")),
    }
}

/// Returns the next user to start, among the users that could start.
fn next(running: &Running<'_>, order: &Order, could: &[usize]) -> Option<usize> {
    let p = running.p();
    let priority =
        |n: usize| running.together(n).into_iter().map(|m| running.constraint(m).priority).min().unwrap_or(0);
    let before = |a: usize, b: usize| (-priority(a), a) < (-priority(b), b);
    let group = |n: usize| p.groups().member(n).group;
    // Only the first user of each queue counts.
    let is_head = |n: &usize| {
        let is_same = |m: &usize| match order {
            Order::Priority => true,
            _ => group(*n).is_some() && group(*m) == group(*n),
        };
        could.iter().filter(|m| is_same(m)).all(|m| m == n || before(*n, *m))
    };
    let heads: Vec<usize> = could.iter().copied().filter(is_head).collect();
    match order {
        _ if heads.is_empty() => None,
        Order::Priority => heads.first().copied(),
        Order::Tree => {
            let tree = Tree { problem: p, guarantees_first: puts_first(p), bounds: None, there: None };
            let x: Vec<Rational> = (0..p.n_users()).map(|n| Rational::from(running.count(n))).collect();
            Some(tree.turn(&x, Node::Root, &heads, false))
        }
        Order::FairShare(shares) => Some(by_fair_share(running, shares, None, &heads)),
    }
}

/// The key by which queues are compared: the priority, whether the queue uses an amount of which its fair
/// share is 0, the fraction of the fair share, and the position of the queue.
type QueueKey = (i64, bool, Rational, usize);

/// Returns the next user to start below a group. Of the subgroups and users of the group, the highest
/// priority comes first, then the least fraction of the fair share, then the order of the file.
fn by_fair_share(
    running: &Running<'_>,
    shares: &[Vec<Rational>],
    above: Option<usize>,
    heads: &[usize],
) -> usize {
    let p = running.p();
    let groups = p.groups().list();
    let alone: Vec<usize> = (0..p.n_users()).filter(|n| p.groups().member(*n).group.is_none()).collect();
    let direct: Vec<usize> =
        heads.iter().copied().filter(|n| above.is_some() && p.groups().member(*n).group == above).collect();
    let mut best: Option<(QueueKey, Vec<usize>)> = None;
    let queues = (0..groups.len()).filter(|v| groups[*v].parent == above).map(|v| (v, Some(v)));
    let users = (0..alone.len()).filter(|_| above.is_none()).map(|at| (groups.len() + at, None));
    for (queue, group) in queues.chain(users) {
        let is_in = |n: usize| match group {
            Some(v) => running.is_in(n, v),
            None => alone[queue - groups.len()] == n,
        };
        let inside: Vec<usize> = heads.iter().copied().filter(|n| is_in(*n)).collect();
        if inside.is_empty() {
            continue;
        }
        let (mut is_beyond, mut fraction) = (false, Rational::new());
        for (r, share) in shares[queue].iter().enumerate() {
            let used: Rational = (0..p.n_users())
                .filter(|n| is_in(*n))
                .map(|n| Rational::from(&p.users()[n].base_demand()[r] * running.count(n)))
                .sum();
            is_beyond |= used > 0 && share.is_zero();
            if *share > 0 {
                fraction = fraction.max(used / share);
            }
        }
        let priority = group.map_or(0, |v| groups[v].priority);
        let key = (-priority, is_beyond, if is_beyond { Rational::new() } else { fraction }, queue);
        if best.as_ref().is_none_or(|(least, _)| key < *least) {
            best = Some((key, inside));
        }
    }
    match (direct.first(), best) {
        // A user of the group itself comes before its subgroups.
        (Some(user), _) => *user,
        (None, Some((key, inside))) if key.3 < groups.len() => {
            by_fair_share(running, shares, Some(key.3), &inside)
        }
        (None, Some((_, inside))) => inside[0],
        (None, None) => heads[0],
    }
}

/// Returns for each user the first time at which the user could start, if running tasks end and no other task
/// starts. The time is `None` if the user could never start.
#[must_use]
pub fn earliest(snapshot: &Snapshot, times: &Times) -> Vec<Option<u64>> {
    let of_user = |n: usize| {
        let mut run = first(snapshot, times);
        let mut now = 0;
        loop {
            run.end(now);
            if run.running.could_start(n).is_some() {
                return Some(now);
            }
            now = run.next_end()?;
        }
    };
    (0..snapshot.problem.n_users()).map(of_user).collect()
}
