//! Plans in text for people: the cheapest servers to add, and the servers that can be removed.
//!
//! The answer comes first, then the numbers, and then the next command.

use std::collections::BTreeMap;

use evenhand_cluster::plan::removable::{Reason, Relocation, Removable};
use evenhand_cluster::plan::{Goal, Obstacle, Outcome, Plan, Set, Started};
use evenhand_cluster::{Bound, Place};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};

use crate::cluster::named_amount;
use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{decimal, few};

/// The largest number of rows in a table for people.
const LONGEST: usize = 60;
/// The largest number of names in one sentence or cell.
const NAMED: usize = 4;
/// The largest number of servers that are named in the answer.
const EXPLAINED: usize = 12;

/// The goal of a plan, with the name of the job from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The goal.
    pub goal: Goal,
    /// The name of the job or of its file. `None` if the goal names no job.
    pub job: Option<String>,
}

impl Asked {
    /// Returns the effect of the plan as a verb phrase, such as `lets training start`.
    fn lets(&self, tasks: u64) -> String {
        match (&self.goal, &self.job) {
            (Goal::Fair, _) => "makes the cluster fair by starts alone".to_owned(),
            (Goal::Guarantees, _) => "meets every guarantee by starts alone".to_owned(),
            (Goal::All, _) => "lets all waiting tasks start".to_owned(),
            (Goal::Starts(_), job) => {
                let job = job.as_deref().unwrap_or("the job");
                if tasks > 1 {
                    format!("lets all {tasks} tasks of {job} start")
                } else {
                    format!("lets {job} start")
                }
            }
        }
    }

    /// Returns the reason why no server has to be added.
    fn is_met(&self, tasks: u64) -> String {
        match (&self.goal, &self.job) {
            (Goal::Fair, _) if tasks == 0 => "the cluster is fair now".to_owned(),
            (Goal::Guarantees, _) if tasks == 0 => "no guarantee is missed".to_owned(),
            (Goal::Fair, _) => "the cluster is fair once these tasks have started".to_owned(),
            (Goal::Guarantees, _) => "every guarantee is met once these tasks have started".to_owned(),
            (Goal::All, _) if tasks == 0 => "no task waits".to_owned(),
            (Goal::All, _) => "all waiting tasks could start now".to_owned(),
            (Goal::Starts(_), job) => {
                let job = job.as_deref().unwrap_or("the job");
                if tasks > 1 {
                    format!("all {tasks} tasks of {job} could start now")
                } else {
                    format!("{job} could start now")
                }
            }
        }
    }
}

/// Returns the name of a server, which may be a server that the plan adds.
pub(crate) fn server_name(snapshot: &Snapshot, place: Place) -> String {
    let class = &snapshot.problem.servers()[place.class];
    match place.index.checked_sub(class.count()) {
        Some(new) => format!("{}, new {}", class.name(), new + 1),
        None => snapshot.server_name(place.class, place.index),
    }
}

/// Returns the reason why no number of servers suffices. It is a sentence without its first capital letter
/// and without its full stop.
pub(crate) fn obstacle_in_words(problem: &Problem, plan: &Plan, obstacle: &Obstacle) -> String {
    let user = |n: usize| problem.users()[n].name();
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    match obstacle {
        Obstacle::Bound { user: n, bound, excess } => match bound {
            Bound::Limit(v, r) => {
                let limit = problem.groups().list()[*v].limit.iter().find(|(of, _)| of == r);
                let most = limit.map(|(_, most)| most.clone()).unwrap_or_default();
                format!(
                    "the limit of group {} on {} is {}, and with {} the group would use {}",
                    group(*v),
                    problem.resources()[*r],
                    named_amount(problem, *r, &most),
                    user(*n),
                    named_amount(problem, *r, &Rational::from(&most + excess))
                )
            }
            Bound::OnClasses(at) => {
                let on = &problem.groups().list()[at.group].on[at.on];
                let (r, most) = &on.limit[at.at];
                format!(
                    "the limit of group {} on {} of {} is {}, and with {} the group would use {} there",
                    group(at.group),
                    problem.resources()[*r],
                    problem.class_names(&on.servers),
                    named_amount(problem, *r, most),
                    user(*n),
                    named_amount(problem, *r, &Rational::from(most + excess))
                )
            }
            Bound::KeptBack(r) => {
                format!("{} is kept back for other groups", problem.resources()[*r])
            }
            Bound::Weight(v) => {
                format!("group {} has the weight 0 and gets nothing beyond its guarantee", group(*v))
            }
        },
        Obstacle::NoServer(n) => {
            let allowed: Vec<usize> = plan
                .offers
                .iter()
                .map(|offer| offer.class)
                .filter(|i| problem.classes_of(*n).any(|of| of == *i))
                .collect();
            let lacks = allowed.iter().find_map(|i| {
                let capacity = problem.servers()[*i].capacity();
                let demand = problem.demand(*n, *i).entries().iter();
                demand.filter(|(r, d)| capacity[*r] < *d).map(|(r, d)| (*i, *r, d)).next()
            });
            match lacks {
                Some((i, r, d)) => format!(
                    "a task of {} needs {} on one server, and a server of class {} has {}",
                    user(*n),
                    named_amount(problem, r, d),
                    problem.servers()[i].name(),
                    named_amount(problem, r, &problem.servers()[i].capacity()[r])
                ),
                None => format!(
                    "{} may run on none of the classes on offer, and the servers of today have too little room",
                    user(*n)
                ),
            }
        }
        Obstacle::Unlimited(n) => {
            format!("{} states no number of tasks, so some of its tasks always wait", user(*n))
        }
        Obstacle::NoPlacement => {
            "limits and the rules for servers leave no room for these tasks together".to_owned()
        }
        Obstacle::Exceeded(_) => {
            "running tasks exceed a limit or a server today, and starts do not change that".to_owned()
        }
        Obstacle::NotFeasible => {
            "fractions of tasks run, or a user runs more tasks than it has, and starts do not change that"
                .to_owned()
        }
    }
}

/// Returns the words for the servers of a set, such as `3 servers of class a100`.
fn servers(problem: &Problem, plan: &Plan, set: &Set) -> String {
    let each = plan.offers.iter().zip(&set.counts).filter(|(_, count)| **count > 0).map(|(offer, count)| {
        let class = problem.servers()[offer.class].name();
        if *count == 1 {
            format!("1 server of class {class}")
        } else {
            format!("{count} servers of class {class}")
        }
    });
    each.collect::<Vec<_>>().join(" and ")
}

/// Returns the answer of a plan in one sentence. It has a second sentence if a cheaper set may exist.
pub(crate) fn answer(problem: &Problem, asked: &Asked, plan: &Plan) -> String {
    match &plan.outcome {
        Outcome::Found(set) => {
            let tasks = set.starts.iter().map(Started::tasks).sum();
            if set.price.is_zero() {
                return format!("No server is needed: {}.", asked.is_met(tasks));
            }
            let (servers, lets) = (servers(problem, plan, set), asked.lets(tasks));
            let price = decimal(&set.price);
            if plan.is_cheapest() {
                format!("Adding {servers} (price {price}) {lets}; no cheaper set does.")
            } else {
                format!(
                    "Adding {servers} (price {price}) {lets}. Sets below price {} are excluded; whether a set from there to \
                     below {price} is enough is not known.",
                    decimal(&plan.least)
                )
            }
        }
        Outcome::Impossible(obstacle) => {
            format!("No number of these servers is enough: {}.", obstacle_in_words(problem, plan, obstacle))
        }
        Outcome::NotFound => format!(
            "No set of servers that is enough was found. Sets below price {} are excluded, and larger ones are not.",
            decimal(&plan.least)
        ),
    }
}

/// Returns a plan: the answer, the servers to add, the tasks that start, and the queues that stay below their
/// fair shares.
#[must_use]
pub fn plan(snapshot: &Snapshot, asked: &Asked, plan: &Plan) -> Page {
    let problem = &snapshot.problem;
    let mut lines = vec![answer(problem, asked, plan)];
    let Outcome::Found(set) = &plan.outcome else {
        match &plan.outcome {
            Outcome::Impossible(Obstacle::Exceeded(_) | Obstacle::NotFeasible) => {
                lines.push("Next: `evenhand verdict SNAPSHOT` names it.".to_owned());
            }
            Outcome::NotFound => lines.push(format!("Sets that were judged: {}.", plan.judged)),
            _ => {}
        }
        return Page::new().lines(lines);
    };
    if plan.is_cut {
        lines.push(format!(
            "The search reached its limit. Sets that were judged one by one: {}.",
            plan.judged
        ));
    }
    if !set.by_model.is_empty() {
        let names: Vec<&str> = set.by_model.iter().map(|n| problem.users()[*n].name()).collect();
        lines.push(format!(
            "Conditions that the snapshot does not model also decide whether these users start: {}.",
            few(&names, NAMED)
        ));
    }
    if !set.below.is_empty() {
        lines.push(format!(
            "Still below their fair share by a whole task after these starts: {}.",
            few(&set.below, EXPLAINED)
        ));
    }
    let is_rounded =
        plan.offers.iter().any(|offer| snapshot.rounded.iter().any(|of| of.server == offer.class));
    if is_rounded {
        lines.push("A new server counts with the least capacity of its class.".to_owned());
    }
    let added: Vec<String> = plan
        .offers
        .iter()
        .zip(&set.counts)
        .filter(|(_, count)| **count > 0)
        .map(|(offer, count)| format!("--add {}={count}", problem.servers()[offer.class].name()))
        .collect();
    if !added.is_empty() {
        lines.push(format!(
            "Next: `evenhand what-if SNAPSHOT {}` shows the fair shares then.",
            added.join(" ")
        ));
    }
    let mut page = Page::new().lines(lines);
    let offered = plan.offers.iter().zip(&set.counts);
    let table = Table::of(offered)
        .words("class", |(offer, _)| problem.servers()[offer.class].name())
        .numbers("price of one", |(offer, _)| Cell::decimal(&offer.price))
        .numbers("servers to add", |(_, count)| Cell::from(**count))
        .numbers("price", |(offer, count)| Cell::decimal(&Rational::from(&offer.price * **count)))
        .table();
    page = page.table(table.at_most(LONGEST, "classes"));
    if !set.starts.is_empty() {
        let names = |of: &Started| -> Vec<String> {
            of.places.iter().map(|(place, _)| server_name(snapshot, *place)).collect()
        };
        let new = |of: &Started| -> u64 {
            let is_new = |place: &Place| place.index >= problem.servers()[place.class].count();
            of.places.iter().filter(|(place, _)| is_new(place)).map(|(_, tasks)| tasks).sum()
        };
        let table = Table::of(&set.starts)
            .words("user that starts", |of| problem.users()[of.user].name())
            .numbers("tasks", |of| Cell::from(of.tasks()))
            .numbers("of these on new servers", |of| Cell::from(new(of)))
            .words("servers", |of| few(&names(of), NAMED))
            .table();
        page = page.table(table.at_most(LONGEST, "users that start"));
    }
    page
}

/// Returns the sentence that states how many servers can be removed.
pub(crate) fn can_go(snapshot: &Snapshot, removable: &Removable) -> String {
    let names: Vec<String> = removable.together.iter().map(|place| server_name(snapshot, *place)).collect();
    let server = |count: usize| if count == 1 { "1 server".to_owned() } else { format!("{count} servers") };
    let (alone, together) = (removable.alone.len(), names.len());
    if alone == 0 {
        return match removable.not_known.len() {
            0 => "No server can go.".to_owned(),
            count => format!("No server was found that can go. Not known: {}.", server(count)),
        };
    }
    let names = few(&names, EXPLAINED);
    match (alone, together) {
        (1, 1) => format!("1 server can go: {names}."),
        (_, 1) => format!("1 server can go: {names}. Each of {alone} servers can go if all others stay."),
        (_, 0) => format!(
            "{} can go if all others stay. None of them was found to go after another.",
            server(alone)
        ),
        _ if alone == together => format!("{} can go, all of them together: {names}.", server(alone)),
        _ => format!(
            "{} can go together: {names}. Each of {alone} servers can go if all others stay.",
            server(together)
        ),
    }
}

/// Returns the servers that can be removed, and the servers on which their tasks start again.
#[must_use]
pub fn removable(snapshot: &Snapshot, removable: &Removable) -> Page {
    let problem = &snapshot.problem;
    let mut lines = vec![can_go(snapshot, removable)];
    if !removable.together.is_empty() {
        let moved: u64 = removable.moves.iter().map(|of| of.tasks).sum();
        lines.push(match moved {
            0 => "No running task has to move for that.".to_owned(),
            1 => "1 running task starts again on another server for that.".to_owned(),
            many => format!("{many} running tasks start again on other servers for that."),
        });
        lines.push(
            "No queue then lacks more of its fair share than now, and no guarantee is newly missed."
                .to_owned(),
        );
    }
    if let Some(n) = removable.could_start.filter(|_| !removable.alone.is_empty()) {
        lines.push(format!(
            "Waiting tasks of {} could start now and may need a server that can go, so start them first.",
            problem.users()[n].name()
        ));
    }
    for (reason, places) in &removable.stays {
        let names: Vec<String> = places.iter().map(|place| server_name(snapshot, *place)).collect();
        let why = match reason {
            Reason::Kept => "tasks on them are protected or pinned",
            Reason::NoRoom => "their tasks have no room elsewhere",
            Reason::Lack => "a queue would lack more, or a promise could no longer be kept",
        };
        let count = if names.len() == 1 {
            "1 server stays".to_owned()
        } else {
            format!("{} servers stay", names.len())
        };
        lines.push(format!("{count}, since {why}: {}.", few(&names, NAMED)));
    }
    if !removable.alone.is_empty() && !removable.not_known.is_empty() {
        let names: Vec<String> =
            removable.not_known.iter().map(|place| server_name(snapshot, *place)).collect();
        lines.push(format!("Not checked, since the search reached its limit: {}.", few(&names, NAMED)));
    }
    if removable.is_cut {
        lines.push(
            "The search for servers that go together reached its limit, so more may go together.".to_owned(),
        );
    }
    let removed: Vec<String> = removable
        .together
        .iter()
        .take(NAMED)
        .map(|place| format!("--remove {}", quoted(&server_name(snapshot, *place))))
        .collect();
    if !removed.is_empty() {
        lines.push(format!(
            "Next: `evenhand what-if SNAPSHOT {}` shows the fair shares then; there the tasks wait first.",
            removed.join(" ")
        ));
    }
    let page = Page::new().lines(lines);
    if removable.alone.is_empty() {
        return page;
    }
    let mut targets: BTreeMap<Place, Vec<&Relocation>> = BTreeMap::new();
    removable.moves.iter().for_each(|of| targets.entry(of.from).or_default().push(of));
    let goes = |place: &Place| removable.together.contains(place);
    let moved = |of: &evenhand_cluster::plan::removable::Gone| -> Vec<String> {
        let moves: Vec<&Relocation> = match targets.get(&of.place).filter(|_| goes(&of.place)) {
            Some(moves) => moves.clone(),
            None => of.moves.iter().collect(),
        };
        let mut names: Vec<String> = moves.iter().map(|of| server_name(snapshot, of.to)).collect();
        names.dedup();
        names
    };
    let table = Table::of(&removable.alone)
        .words("server that can go", |of| server_name(snapshot, of.place))
        .words("class", |of| problem.servers()[of.place.class].name())
        .numbers("tasks", |of| Cell::from(of.moves.iter().map(|of| of.tasks).sum::<u64>()))
        .words("together", |of| if goes(&of.place) { "yes" } else { "no" })
        .words("its tasks start again on", |of| few(&moved(of), NAMED))
        .unless_all("")
        .table();
    page.table(table.at_most(LONGEST, "servers that can go"))
}

/// Returns a name as a single word of a shell command.
fn quoted(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c));
    if is_plain { name.to_owned() } else { format!("'{name}'") }
}
