//! The explanation why a waiting task could not start now, and of the changes that would let it start, in
//! text for people.

use std::fmt::Write;

use evenhand_cluster::why_not::{Explanation, Free, Obstacle, Raise, Reason, Share, State, Subject};
use evenhand_cluster::{FewestStops, Lifted, OnLimit, Place};
use evenhand_problem::{Problem, Rational};

use crate::cluster::{called, named_amount, places, task_name};
use crate::page::Page;
use crate::text::{amount, few, tasks};

/// The largest number of names in one sentence.
const NAMED: usize = 4;
/// The largest number of server classes for which the explanation states servers to add.
const CLASSES: usize = 3;

/// Returns the explanation of a start: the answer, the reasons, and the changes that would let it happen.
#[must_use]
pub fn why_not(of: Subject<'_>, explanation: &Explanation) -> Page {
    let words = Words { of, explanation };
    let page = Page::new().lines(words.answer()).lines(words.reasons()).lines(words.further());
    let remedies = words.remedies();
    if remedies.is_empty() { page } else { page.heading("What would make it start").lines(remedies) }
}

/// Returns the explanations of submitted tasks, one below the other. `more` is the number of submitted users
/// that are left out.
#[must_use]
pub fn submitted(of: Subject<'_>, explanations: &[Explanation], more: usize) -> Page {
    let mut page = Page::new();
    for explanation in explanations {
        let name = of.problem.users()[explanation.user].name();
        page = page.heading(format!("Would {name} start now?")).append(why_not(of, explanation));
    }
    if more > 0 {
        page = page.text(format!("{more} more submitted users are not explained here."));
    }
    page
}

struct Words<'e> {
    of: Subject<'e>,
    explanation: &'e Explanation,
}

impl<'e> Words<'e> {
    fn problem(&self) -> &'e Problem {
        self.of.problem
    }

    fn resource(&self, r: usize) -> &'e str {
        &self.problem().resources()[r]
    }

    fn group(&self, v: usize) -> &'e str {
        &self.problem().groups().list()[v].name
    }

    fn of(&self, r: usize, value: &Rational) -> String {
        named_amount(self.problem(), r, value)
    }

    fn user(&self, n: usize) -> &'e str {
        self.problem().users()[n].name()
    }

    /// Returns the number of tasks of the start.
    fn count(&self) -> u64 {
        self.explanation.start.iter().map(|(_, gang)| gang).sum()
    }

    /// Returns the tasks of the start as the subject of a sentence.
    fn subject(&self) -> String {
        let user = self.explanation.user;
        match (&self.explanation.start[..], self.count()) {
            (_, 1) => match task_name(self.of.snapshot, user) {
                Some(name) => format!("Task {}", called(self.problem(), user, Some(name))),
                None => format!("A task of {}", self.user(user)),
            },
            ([_], many) => format!("A gang of {many} tasks of {}", self.user(user)),
            (users, many) => {
                let users: Vec<&str> = users.iter().map(|(n, _)| self.user(*n)).collect();
                format!("A start of {many} tasks of {} together", few(&users, NAMED))
            }
        }
    }

    fn answer(&self) -> Vec<String> {
        let subject = self.subject();
        let name = self.user(self.explanation.user);
        match &self.explanation.state {
            State::CouldStart { assignment, is_beyond_rounding } => {
                let all: Vec<Place> =
                    assignment.parts.iter().flat_map(|(_, places)| places.clone()).collect();
                let servers = few(&places(&all, self.of.snapshot), NAMED);
                let beyond = if *is_beyond_rounding { ", which has more than its class" } else { "" };
                if self.explanation.not_modelled.is_empty() {
                    vec![format!("{subject} could start now on {servers}{beyond}.")]
                } else {
                    let why = self.explanation.not_modelled.join(", ");
                    vec![format!(
                        "{subject} could start now on {servers}{beyond} by the rules that are modelled. Not modelled: {why}."
                    )]
                }
            }
            State::No => {
                let short: Vec<String> =
                    self.explanation.reasons.iter().filter_map(|reason| self.in_short(reason)).collect();
                vec![format!("{subject} could not start now: {}.", few(&short, NAMED))]
            }
            State::TooLarge => {
                vec![format!("Whether {name} could start now is not known: the search was too large.")]
            }
            State::NoPlacements => vec![format!(
                "No limit stops {name}. Whether servers have room is not known: the snapshot does not say on which servers \
                 tasks run."
            )],
            State::NothingWaits => {
                vec![format!("No whole gang of {name} waits: all of its tasks run, or too few are left.")]
            }
        }
    }

    /// Returns a reason in a few words. Returns `None` for the condition that tasks of a gang start together,
    /// which is not a reason by itself.
    fn in_short(&self, reason: &Reason) -> Option<String> {
        Some(match reason.obstacle {
            Obstacle::Limit(v, r) => {
                format!("the limit of {} on {} is reached", self.group(v), self.resource(r))
            }
            Obstacle::Weight(v) => format!("{} has the weight 0", self.group(v)),
            Obstacle::KeptBack(r) => format!("{} is kept back for other groups", self.resource(r)),
            Obstacle::ClassLimit(at) => {
                format!("the limit of {} on {} is reached", self.group(at.group), self.classes(at))
            }
            Obstacle::Free(r) if self.is_fragmented(r) => {
                format!("enough free {}, but not where a task needs it", self.resource(r))
            }
            Obstacle::Free(r) => format!("not enough free {}", self.resource(r)),
            Obstacle::Servers(Lifted::Classes) => match reason.is_enough {
                Some(true) => "it may not run on the servers that have room".to_owned(),
                _ => "it may not run on some servers".to_owned(),
            },
            Obstacle::Servers(Lifted::Closed) => "some servers take no new tasks".to_owned(),
            Obstacle::Servers(Lifted::ClassSets) => {
                "its tasks must run on one set of server classes".to_owned()
            }
            Obstacle::Servers(Lifted::DistinctServers) => {
                "each of its tasks needs a server of its own".to_owned()
            }
            Obstacle::Gang => return None,
        })
    }

    /// Returns `true` if all servers together have enough of a resource for the start.
    fn is_fragmented(&self, r: usize) -> bool {
        let of: Vec<_> = self.explanation.free.iter().filter(|free| free.resource == r).collect();
        let needed: Rational = of.iter().map(|free| &free.gang).sum();
        of.iter().map(|free| &free.total).min().is_some_and(|total| *total >= needed)
    }

    fn classes(&self, at: OnLimit) -> String {
        let on = &self.problem().groups().list()[at.group].on[at.on];
        let classes: Vec<&str> = on.servers.iter().map(|i| self.problem().servers()[*i].name()).collect();
        few(&classes, NAMED)
    }

    fn reasons(&self) -> Vec<String> {
        let reasons = &self.explanation.reasons;
        let conditions = reasons.iter().filter(|reason| reason.obstacle != Obstacle::Gang).count();
        let each = |reason: &Reason| {
            let mut text = self.in_full(reason);
            let is_only = conditions == 1 && reason.obstacle != Obstacle::Gang;
            match reason.is_enough {
                Some(true) if is_only => text.push_str(" This is the only reason."),
                Some(true) => text.push_str(" Without this condition alone it could start."),
                Some(false) => {}
                None => text.push_str(" Whether it could start without this condition is not known."),
            }
            text
        };
        reasons.iter().map(each).collect()
    }

    fn in_full(&self, reason: &Reason) -> String {
        let amounts = reason.amounts.as_ref();
        match (reason.obstacle, amounts) {
            (Obstacle::Limit(v, r), Some(of)) => {
                let kept = if of.usage > of.by_tasks {
                    format!(
                        " ({} of it kept back)",
                        amount(self.resource(r), &Rational::from(&of.usage - &of.by_tasks))
                    )
                } else {
                    String::new()
                };
                format!(
                    "Limit: {} uses {}{kept} of its limit of {}. The start needs {} more.",
                    self.group(v),
                    amount(self.resource(r), &of.usage),
                    self.of(r, &of.limit),
                    amount(self.resource(r), &of.start)
                )
            }
            (Obstacle::Weight(v), _) => {
                format!("Weight: {} has the weight 0, and gets nothing beyond its guarantee.", self.group(v))
            }
            (Obstacle::KeptBack(r), Some(of)) => {
                let kept = Rational::from(&of.usage - &of.by_tasks);
                format!(
                    "Kept back: tasks use {} of {}, and {} is kept back for groups that do not use it. The start needs {}.",
                    amount(self.resource(r), &of.by_tasks),
                    self.of(r, &of.limit),
                    amount(self.resource(r), &kept),
                    amount(self.resource(r), &of.start)
                )
            }
            (Obstacle::ClassLimit(at), Some(of)) => {
                let (r, _) = self.problem().groups().list()[at.group].on[at.on].limit[at.at];
                format!(
                    "Limit: {} uses {} of its limit of {} on {}.",
                    self.group(at.group),
                    amount(self.resource(r), &of.usage),
                    self.of(r, &of.limit),
                    self.classes(at)
                )
            }
            (Obstacle::Free(r), _) => self.free(r),
            (Obstacle::Servers(Lifted::Classes), _) => {
                let n = self.explanation.user;
                let count = self.problem().classes_of(n).count();
                let all = self.problem().n_servers();
                format!(
                    "Allowed servers: {} may run on {count} of {all} server classes (selectors, taints, or resources that a \
                     class does not have).",
                    self.user(n)
                )
            }
            (Obstacle::Servers(Lifted::Closed), _) => {
                let closed: Vec<String> = self
                    .of
                    .snapshot
                    .closed
                    .iter()
                    .map(|of| format!("{} ({})", self.problem().servers()[of.server].name(), of.reason))
                    .collect();
                format!("Closed servers: {} take no new tasks.", few(&closed, NAMED))
            }
            (Obstacle::Servers(Lifted::ClassSets), _) => {
                "Sets of classes: all tasks of a gang must run on server classes of one set.".to_owned()
            }
            (Obstacle::Servers(Lifted::DistinctServers), _) => {
                "Distinct servers: each task of a gang needs a server of its own.".to_owned()
            }
            (Obstacle::Gang, _) => match self.explanation.room {
                Some((room, is_most)) if room > 0 && self.explanation.start.len() == 1 => format!(
                    "Gang: all {} tasks have to start at once. Servers have room for {}{}.",
                    self.count(),
                    if is_most { "" } else { "at least " },
                    room
                ),
                _ => format!("Gang: all {} tasks have to start at once.", self.count()),
            },
            (Obstacle::Limit(..) | Obstacle::KeptBack(_) | Obstacle::ClassLimit(_), None) => {
                self.in_short(reason).unwrap_or_default()
            }
        }
    }

    /// Returns for each user of the start how much of a resource is free, and on how many servers.
    fn free(&self, r: usize) -> String {
        let of: Vec<_> = self.explanation.free.iter().filter(|free| free.resource == r).collect();
        let each = |free: &&Free| {
            let mut text = format!("{} are free on the servers where it may run", self.of(r, &free.total));
            if of.len() > 1 {
                let _ = write!(text, ", for {}", self.user(free.user));
            }
            if let Some((most, place)) = free.most.as_ref().filter(|(most, _)| *most > 0) {
                let server = self.of.snapshot.server_name(place.class, place.index);
                let _ = write!(text, ", at most {} on one server ({server})", amount(self.resource(r), most));
            }
            let task = amount(self.resource(r), &free.task);
            let _ = write!(text, ". A task needs {task} on one server");
            if free.gang > free.task {
                let _ = write!(text, ", and all its tasks need {}", amount(self.resource(r), &free.gang));
            }
            text + "."
        };
        let all: Vec<String> = of.iter().map(each).collect();
        format!("Placement: {}", all.join(" "))
    }

    /// Returns further sentences: about an empty cluster, fair shares, priorities, and conditions that are
    /// not modelled.
    fn further(&self) -> Vec<String> {
        let explanation = self.explanation;
        let mut lines = Vec::new();
        if explanation.has_room_when_empty == Some(false) {
            lines.push("Even if no other task ran, servers would have no room for it.".to_owned());
        }
        if explanation.state == State::NothingWaits {
            return lines;
        }
        lines.extend(self.shares());
        match explanation.ahead {
            0 => {}
            1 => lines.push("1 other waiting task or gang has a higher priority.".to_owned()),
            many => lines.push(format!("{many} other waiting tasks or gangs have a higher priority.")),
        }
        if explanation.state != State::NothingWaits
            && explanation.could_start() == Some(false)
            && !explanation.not_modelled.is_empty()
        {
            lines.push(format!("Not modelled: {}.", explanation.not_modelled.join(", ")));
        }
        lines
    }

    fn shares(&self) -> Option<String> {
        let Some(shares) = &self.explanation.shares else {
            return Some(
                "Fair shares are not checked here: `evenhand verdict SNAPSHOT` computes them.".to_owned(),
            );
        };
        let over = shares.iter().filter(|share| share.after > share.fair_share);
        let fraction = |share: &&Share| {
            if share.fair_share.is_zero() {
                None
            } else {
                Some(Rational::from(&share.after / &share.fair_share))
            }
        };
        // A queue with a fair share of 0 counts as the queue that exceeds its fair share by the largest factor.
        if let Some(share) = over.max_by(|a, b| match (fraction(a), fraction(b)) {
            (None, None) => std::cmp::Ordering::Equal,
            (None, _) => std::cmp::Ordering::Greater,
            (_, None) => std::cmp::Ordering::Less,
            (a, b) => a.cmp(&b),
        }) {
            return Some(format!(
                "Fair share: {} would use {}, and its fair share is {}. The scheduler may serve queues below their share first.",
                share.queue,
                self.of(share.resource, &share.after),
                amount(self.resource(share.resource), &share.fair_share)
            ));
        }
        let share = shares.iter().max_by(|a, b| fraction(a).cmp(&fraction(b)))?;
        Some(format!(
            "Fair share: {} would use {} of its fair share of {}, so its share does not stop the start.",
            share.queue,
            amount(self.resource(share.resource), &share.after),
            self.of(share.resource, &share.fair_share)
        ))
    }

    fn raise(&self, of: &Raise) -> String {
        let (text, r) = match of.obstacle {
            Obstacle::ClassLimit(at) => {
                let (r, _) = self.problem().groups().list()[at.group].on[at.on].limit[at.at];
                let on = self.classes(at);
                (format!("the limit of {} on {} on {on}", self.group(at.group), self.resource(r)), r)
            }
            Obstacle::Limit(v, r) => (format!("the limit of {} on {}", self.group(v), self.resource(r)), r),
            _ => return String::new(),
        };
        let least = if of.is_least { "" } else { " (a smaller value is not excluded)" };
        let shown = |value: &Rational| amount(self.resource(r), value);
        format!("{text} from {} to {}{least}", shown(&of.from), shown(&of.to))
    }

    fn remedies(&self) -> Vec<String> {
        let explanation = self.explanation;
        let mut lines = Vec::new();
        let joined = |list: &[Raise]| list.iter().map(|of| self.raise(of)).collect::<Vec<_>>().join(" and ");
        for list in explanation.raise.iter().take(CLASSES) {
            lines.push(format!("Raise {}.", joined(list)));
        }
        for of in explanation.add.iter().take(CLASSES) {
            let servers = if of.count == 1 { "1 server".to_owned() } else { format!("{} servers", of.count) };
            let class = self.problem().servers()[of.class].name();
            let raise = if of.raise.is_empty() {
                String::new()
            } else {
                format!(", and raise {}", joined(&of.raise))
            };
            let fewest = match (of.count, of.is_fewest) {
                (1, true) => "",
                (_, true) => " Fewer servers of this class do not suffice.",
                (_, false) => " Fewer are not excluded.",
            };
            lines.push(format!("Add {servers} to {class}{raise}.{fewest}"));
        }
        if explanation.add.len() > CLASSES {
            let more = explanation.add.len() - CLASSES;
            lines.push(format!("Servers of {more} more classes would also do."));
        }
        match &explanation.stop {
            Some(FewestStops::Found { stops, least }) => {
                let named = stops.named(self.of.snapshot, self.of.rules);
                let mut by_user: Vec<(usize, Vec<String>, Vec<Place>, u64)> = Vec::new();
                for task in &named {
                    let at = by_user.iter().position(|(user, ..)| *user == task.user).unwrap_or_else(|| {
                        by_user.push((task.user, Vec::new(), Vec::new(), 0));
                        by_user.len() - 1
                    });
                    by_user[at].1.extend(task.name.clone());
                    by_user[at].2.push(task.place);
                    by_user[at].3 += 1;
                }
                let each = |(user, names, on, count): &(usize, Vec<String>, Vec<Place>, u64)| {
                    let queue = self.problem().groups().member(*user).group;
                    let queue = queue.map_or_else(String::new, |v| format!(" (queue {})", self.group(v)));
                    let what =
                        if names.is_empty() { tasks(&Rational::from(*count)) } else { few(names, NAMED) };
                    let servers = few(&places(on, self.of.snapshot), NAMED);
                    format!("{what} of {}{queue} on {servers}", self.user(*user))
                };
                let list: Vec<String> = by_user.iter().map(each).collect();
                let count = stops.count();
                let fewest = match (count, count == *least) {
                    (1, true) => String::new(),
                    (_, true) => " Fewer do not suffice.".to_owned(),
                    _ => format!(
                        " At least {} have to stop; fewer than {count} are not excluded.",
                        tasks(&Rational::from(*least))
                    ),
                };
                lines.push(format!("Stop {}: {}.{fewest}", tasks(&Rational::from(count)), few(&list, NAMED)));
            }
            Some(FewestStops::Impossible) if explanation.state == State::No => {
                lines.push("No tasks that may be stopped would make room for it.".to_owned());
            }
            Some(FewestStops::NotKnown { least }) => lines.push(format!(
                "Which tasks to stop is not known: no set was found, and at least {} would have to stop.",
                tasks(&Rational::from(*least))
            )),
            Some(FewestStops::Impossible) | None => {}
        }
        let is_about_servers = explanation.reasons.iter().any(|of| matches!(of.obstacle, Obstacle::Free(_)));
        if is_about_servers && explanation.has_room_when_empty != Some(false) {
            lines.push(format!(
                "Next: `evenhand moves SNAPSHOT --for {}` says whether other tasks can move out of its way.",
                self.user(explanation.user)
            ));
        }
        lines
    }
}
