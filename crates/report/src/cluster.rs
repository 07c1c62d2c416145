//! A running cluster in text for people: the usage and fair shares of queues, the effect of a change, and the
//! tasks to move. Also the gauges of a verdict for Prometheus.
//!
//! The answer comes first: the queues below their fair shares, the queues over their fair shares, the tasks
//! that could start, and the next step.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use evenhand_cluster::reported::{Compared, Formula};
use evenhand_cluster::script::Named;
use evenhand_cluster::value::Values;
use evenhand_cluster::{Answer, Bound, End, Excess, Fit, Kind, Moves, Place, Row, Verdict, gang};
use evenhand_exact::{Axiom, Claim, Outcome};
use evenhand_problem::number::to_f64;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};

use crate::metrics;
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{amount, decimal, few, tasks};

/// The largest number of rows in the table for people.
const LONGEST: usize = 60;
/// The largest number of queues that are explained in words, and of tasks that are named.
const EXPLAINED: usize = 12;
/// The largest number of queues in one sentence.
const NAMED: usize = 4;

/// A row of the table, for a queue and a resource.
struct Cells<'v> {
    row: &'v Row,
    resource: usize,
}

/// Returns the verdict on a snapshot as a page.
#[must_use]
pub fn verdict(snapshot: &Snapshot, verdict: &Verdict, compared: &[Compared]) -> Page {
    Page::new()
        .lines(in_short(snapshot, verdict))
        .table(table(verdict))
        .table(axioms(verdict))
        .lines([by(verdict)])
        .append(of_reported(&verdict.problem, compared))
        .lines(left_out(snapshot))
}

/// Returns a page that compares the numbers that the scheduler reports with the values of their formulas.
pub(crate) fn of_reported(problem: &Problem, compared: &[Compared]) -> Page {
    let table = reported(problem, compared);
    let page = if table.is_empty() { Page::new() } else { Page::new().table(table) };
    page.lines(agreeing(compared))
}

/// Returns a sentence about the rule of the fair shares, and whether the fair shares are proven.
pub(crate) fn by(verdict: &Verdict) -> String {
    let by = verdict
        .rule
        .map_or_else(|| "the problem's own share".to_owned(), |rule| format!("the rule of {rule}"));
    match verdict.due.uncertified() {
        None => format!("Fair shares are by {by}: exact, and proven."),
        Some(why) => format!("Fair shares are by {by}: exact, but not certified: {why}."),
    }
}

/// Returns the answer in sentences: the queues below their fair shares and the reasons, the queues over their
/// fair shares, the tasks that could start, the violated guarantees and limits, and the next step.
#[must_use]
pub fn in_short(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let mut lines = sentences(snapshot, verdict);
    lines.extend(next(verdict));
    lines.into_iter().map(|line| line.trim_start().to_owned()).collect()
}

/// Returns the sentence that answers whether a queue is below its fair share by a whole task.
fn answer(verdict: &Verdict) -> String {
    let below: Vec<&str> = verdict.below_fair_share().map(|row| row.queue.name.as_str()).collect();
    match below.len() {
        0 if verdict.is_fair() && verdict.is_known() => {
            "Fair: no queue is below its fair share by a whole task, and no waiting task could start now."
                .to_owned()
        }
        0 => "No queue is below its fair share by a whole task.".to_owned(),
        1 => format!("One queue is below its fair share by a whole task: {}.", below[0]),
        many => {
            format!("{many} queues are below their fair share by a whole task: {}.", few(&below, EXPLAINED))
        }
    }
}

/// Returns the usage, the missing amounts and the waiting tasks of the queues that lack a resource. Queues
/// that are below their fair shares by a whole task come first.
fn who_is_below(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let lacks = verdict.queues.iter().filter(|row| row.lacking.iter().any(|lacking| *lacking > 0));
    let (whole, fractions): (Vec<&Row>, Vec<&Row>) = lacks.partition(|row| row.by.is_some());
    let all = whole.len() + fractions.len();
    let explained = whole.iter().chain(&fractions).take(EXPLAINED);
    let mut lines: Vec<String> = explained.map(|row| in_words(snapshot, verdict, row)).collect();
    if all > EXPLAINED {
        lines.push(format!("{} more queues lack some of their fair share.", all - EXPLAINED));
    }
    lines
}

/// Returns the queues that are over their fair share of a resource that a neighbouring queue lacks, and the
/// unused guarantees that they use.
fn who_is_over(verdict: &Verdict) -> Vec<String> {
    let problem = &verdict.problem;
    // The queues are grouped, because several queues may have the same neighbour.
    let mut over: Vec<(usize, Vec<(usize, Rational)>)> = Vec::new();
    for (r, holders) in verdict.queues.iter().filter(|row| row.by.is_some()).flat_map(|row| &row.holders) {
        for (v, value) in holders {
            let at = over.iter().position(|(of, _)| of == v).unwrap_or_else(|| {
                over.push((*v, Vec::new()));
                over.len() - 1
            });
            if over[at].1.iter().all(|(of, _)| of != r) {
                over[at].1.push((*r, value.clone()));
            }
        }
    }
    let amounts = |of: &[(usize, Rational)]| {
        let amounts: Vec<String> = of.iter().map(|(r, value)| named_amount(problem, *r, value)).collect();
        amounts.join(" and ")
    };
    let said: Vec<String> =
        over.iter().map(|(v, of)| format!("{} by {}", verdict.queues[*v].queue.name, amounts(of))).collect();
    let mut lines = Vec::new();
    if !said.is_empty() {
        lines.push(format!("Over their fair share: {}.", few(&said, NAMED)));
    }
    let mut seen = BTreeSet::new();
    let lent = verdict.queues.iter().filter(|row| row.by.is_some()).flat_map(|row| &row.lenders);
    for lent in lent.filter(|lent| seen.insert(lent.resource)).take(NAMED) {
        let names: Vec<&str> = lent.by.iter().map(|(v, _)| verdict.queues[*v].queue.name.as_str()).collect();
        let guarantee = if names.len() == 1 { "guarantee" } else { "guarantees" };
        lines.push(format!(
            "Other queues use {} of the unused {guarantee} of {}.",
            named_amount(problem, lent.resource, &lent.used),
            few(&names, NAMED)
        ));
    }
    lines
}

/// Returns the next command to run. Returns `None` if no action is needed.
fn next(verdict: &Verdict) -> Option<String> {
    let is_below = verdict.below_fair_share().next().is_some();
    if is_below && verdict.starts.is_some() {
        return Some("Next: `evenhand moves SNAPSHOT` says which tasks to stop and to start.".to_owned());
    }
    let is_open = !verdict.is_work_conserving() || !verdict.is_known();
    is_open.then(|| "Next: `evenhand explain SNAPSHOT --user NAME` says what stops a user.".to_owned())
}

/// Returns an amount with its resource.
pub(crate) fn named_amount(problem: &Problem, r: usize, value: &Rational) -> String {
    format!("{} {}", in_thousands(&amount(&problem.resources()[r], value)), problem.resources()[r])
}

/// Returns a whole number of five or more digits with commas between thousands. Returns other texts
/// unchanged.
fn in_thousands(text: &str) -> String {
    if text.len() < 5 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut out = String::new();
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn cells(verdict: &Verdict) -> Vec<Cells<'_>> {
    let some = |row: &&Row, r: usize| {
        !row.usage[r].is_zero()
            || !row.fair_share[r].is_zero()
            || row.guarantee.iter().any(|(of, _)| *of == r)
    };
    let n = verdict.problem.n_resources();
    let ordered = in_order(&verdict.queues);
    ordered
        .into_iter()
        .flat_map(|row| (0..n).filter(move |r| some(&row, *r)).map(move |resource| Cells { row, resource }))
        .collect()
}

/// Returns the queues in depth-first order, in which each queue comes before its subqueues.
pub(crate) fn in_order(queues: &[Row]) -> Vec<&Row> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); queues.len()];
    let mut stack = Vec::new();
    for (v, row) in queues.iter().enumerate().rev() {
        match row.queue.parent {
            Some(parent) => children[parent].push(v),
            None => stack.push(v),
        }
    }
    let mut ordered = Vec::new();
    while let Some(v) = stack.pop() {
        ordered.push(&queues[v]);
        stack.extend(&children[v]);
    }
    ordered
}

pub(crate) fn table(verdict: &Verdict) -> Table {
    let problem = &verdict.problem;
    let resource = |of: &Cells<'_>| problem.resources()[of.resource].as_str();
    let shown =
        |of: &Cells<'_>, value: &Rational| Cell::decimal(value).shown_as(&amount(resource(of), value));
    let some = |of: &Cells<'_>, value: &Rational| (!value.is_zero()).then(|| shown(of, value));
    let table = Table::of(cells(verdict))
        .words("queue", |of| {
            let name = &of.row.queue.name;
            Cell::text(format!("{}{name}", "  ".repeat(of.row.queue.depth))).with_value(name)
        })
        .words("resource", resource)
        .numbers("uses", |of| shown(of, &of.row.usage[of.resource]))
        .numbers("fair share", |of| shown(of, &of.row.fair_share[of.resource]))
        .numbers("lacks", |of| {
            let cell = some(of, &of.row.lacking[of.resource]);
            cell.map(|cell| if of.row.by.is_some() { cell.bad() } else { cell })
        })
        .unless_all("-")
        .numbers("over", |of| some(of, &of.row.over[of.resource]))
        .unless_all("-")
        .numbers("guarantee", |of| {
            let promised = of.row.guarantee.iter().find(|(r, _)| *r == of.resource);
            promised.map(|(_, promised)| shown(of, promised))
        })
        .unless_all("-")
        .table();
    table.with_second_key().at_most(LONGEST, "rows of queues and resources")
}

/// Returns the sentences about a queue: its usage and fair share, the task that waits, and why the queue
/// cannot get more.
fn in_words(snapshot: &Snapshot, verdict: &Verdict, row: &Row) -> String {
    let problem = &verdict.problem;
    // If a full resource limits the fair share, the sentence only mentions this resource.
    let is_end = |r: usize| row.ends.contains(&End::Resource(r)) && !row.lacking[r].is_zero();
    let is_told = |r: usize| is_end(r) || !(0..row.lacking.len()).any(is_end);
    let lacking = row.lacking.iter().enumerate().filter(|(r, lacking)| !lacking.is_zero() && is_told(*r));
    let uses = |r: usize| {
        let (usage, share) = (&row.usage[r], &row.fair_share[r]);
        let resource = &problem.resources()[r];
        format!(
            "{} of its fair share of {}",
            in_thousands(&amount(resource, usage)),
            named_amount(problem, r, share)
        )
    };
    let uses: Vec<String> = lacking.map(|(r, _)| uses(r)).collect();
    let mut text = format!("{} uses {}.", row.queue.name, few(&uses, NAMED));
    match row.by {
        Some(n) => {
            let (what, verb) = match gang(problem, n) {
                1 => (format!("Task {}", called(problem, n, task_name(snapshot, n))), "waits"),
                many => (format!("A gang of {many} tasks of {}", problem.users()[n].name()), "waits"),
            };
            let what = what.replacen("Task a task", "A task", 1);
            let _ = write!(text, " {what} {verb} and would still be within the share.");
        }
        None if verdict.tolerance.is_zero() => {
            text.push_str(" Each waiting task is larger than the rest of the share.");
        }
        None => {
            text.push_str(
                " Each waiting task is larger than the rest of the share, or the tolerance covers it.",
            );
        }
    }
    // A limit on another resource does not explain why the queue cannot get more of this resource.
    let is_about = |end: &&End| match end {
        End::Resource(r) | End::Limit(_, r) => !row.lacking[*r].is_zero() && is_told(*r),
    };
    let ends: Vec<String> = row.ends.iter().filter(is_about).map(|end| ends(problem, end)).collect();
    if !ends.is_empty() {
        let _ = write!(text, " It cannot get more: {}.", few(&ends, NAMED));
    }
    text
}

fn ends(problem: &Problem, end: &End) -> String {
    match end {
        End::Resource(r) => format!("{} is full on the servers that it may use", problem.resources()[*r]),
        End::Limit(v, r) => {
            format!(
                "the limit of {} on {} is reached",
                problem.groups().list()[*v].name,
                problem.resources()[*r]
            )
        }
    }
}

/// A verdict on an axiom of the usage or of the fair shares: the name of the axiom, the verdict and the
/// margin.
type Judged = [Cell; 3];

/// Returns the verdicts on the axioms of the allocation of the running tasks.
pub(crate) fn axioms_of_held(verdict: &Verdict) -> Table {
    table_of_axioms([], held(verdict).into_iter().map(Vec::from))
}

/// Returns the verdicts on the axioms of the fair shares.
pub(crate) fn axioms_of_due(verdict: &Verdict) -> Table {
    table_of_axioms([], due(verdict).into_iter().map(Vec::from))
}

/// Returns the verdicts on the axioms of the running tasks and of the fair shares in one table.
fn axioms(verdict: &Verdict) -> Table {
    let named = |of: &'static str| move |row: Judged| [Cell::text(of)].into_iter().chain(row).collect();
    let rows = held(verdict).into_iter().map(named("usage"));
    table_of_axioms([Column::words("of")], rows.chain(due(verdict).into_iter().map(named("fair share"))))
}

fn table_of_axioms(first: impl IntoIterator<Item = Column>, rows: impl Iterator<Item = Vec<Cell>>) -> Table {
    let columns = [Column::words("axiom"), Column::words("verdict"), Column::numbers("margin")];
    let mut table = Table::new(first.into_iter().chain(columns));
    rows.for_each(|row| table.row(row));
    table
}

fn held(verdict: &Verdict) -> Vec<Judged> {
    let undecided = verdict.held.undecided.iter();
    let undecided =
        undecided.map(|(axiom, _)| [Cell::text(axiom.name()), Cell::text("not checked"), Cell::none()]);
    verdict.held.certificate.claims.iter().map(judged).chain(undecided).collect()
}

fn due(verdict: &Verdict) -> Vec<Judged> {
    verdict.due.certificate().into_iter().flat_map(|of| &of.claims).map(judged).collect()
}

fn judged(claim: &Claim) -> Judged {
    let outcome = match claim.outcome() {
        Outcome::Violated => Cell::text("violated").bad(),
        Outcome::NotApplicable => Cell::text("does not apply").muted(),
        Outcome::Holds | Outcome::Within => Cell::text("holds").good(),
    };
    [Cell::text(claim.axiom.name()), outcome, claim.margin.as_ref().map(Cell::decimal).into()]
}

/// Returns the name of the first waiting task of a user. Returns `None` if waiting tasks have no names.
pub(crate) fn task_name(snapshot: &Snapshot, user: usize) -> Option<&str> {
    let of = snapshot.waiting.iter().filter(|of| of.user == user);
    of.flat_map(|of| &of.names).next().map(String::as_str)
}

/// Returns the words for a task: its name and its user, or only its user if it has no name.
pub(crate) fn called(problem: &Problem, user: usize, name: Option<&str>) -> String {
    let user = problem.users()[user].name();
    name.map_or_else(|| format!("a task of {user}"), |name| format!("{name} of {user}"))
}

/// Returns the answer, the queues below and over their fair shares, the tasks that could start, and the
/// violated guarantees and limits.
fn sentences(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let mut lines = vec![answer(verdict)];
    lines.extend(who_is_below(snapshot, verdict));
    lines.extend(who_is_over(verdict));
    lines.extend(what_could_start(snapshot, verdict));
    lines.extend(guarantees(verdict));
    lines.extend(excesses(snapshot, verdict));
    if verdict.is_rounded {
        lines.push(rounding(snapshot));
    }
    lines
}

/// Returns the sentence that states by how much the capacities of servers are rounded down, and how the
/// rounding affects the verdict.
fn rounding(snapshot: &Snapshot) -> String {
    let problem = &snapshot.problem;
    let part = |of: &evenhand_problem::snapshot::Rounded| {
        let least = &problem.servers()[of.server].capacity()[of.resource];
        let all = Rational::from(least + &of.most);
        if all.is_zero() { Rational::new() } else { &of.most / all }
    };
    let most = snapshot.rounded.iter().map(part).max().unwrap_or_default();
    format!(
        "Servers are rounded down, by {} at most: fair shares and guarantees are about the rounded servers.",
        crate::text::percent(&most)
    )
}

fn what_could_start(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let problem = &verdict.problem;
    let Some(starts) = &verdict.starts else {
        return vec![
            "The snapshot does not say on which servers tasks run, so it is not known which tasks could start."
                .to_owned(),
        ];
    };
    let one = |fit: &Fit| {
        let all: Vec<Place> = fit.assignment.parts.iter().flat_map(|(_, places)| places.clone()).collect();
        let servers = few(&places(&all, snapshot), NAMED);
        let what = match all.len() {
            1 => called(problem, fit.user, task_name(snapshot, fit.user)),
            many if fit.assignment.parts.len() == 1 => {
                format!("{many} tasks of {}", problem.users()[fit.user].name())
            }
            many => {
                let users = fit.assignment.parts.iter().map(|(n, _)| problem.users()[*n].name());
                format!("{many} tasks of {} together", users.collect::<Vec<_>>().join(" and "))
            }
        };
        (what, servers)
    };
    let mut lines = Vec::new();
    for fit in starts.could.iter().take(EXPLAINED) {
        let (what, servers) = one(fit);
        let beyond = if fit.is_beyond_rounding { ", which has more than its class" } else { "" };
        lines.push(format!("{} could start now on {servers}{beyond}.", capital(&what)));
    }
    if starts.could.len() > EXPLAINED {
        lines.push(format!("Tasks of {} more users could start now.", starts.could.len() - EXPLAINED));
    }
    for fit in starts.by_model.iter().take(EXPLAINED) {
        let (what, servers) = one(fit);
        let why = verdict.rules.not_modelled(fit.user).join(", ");
        lines.push(format!(
            "{} could start on {servers} by the rules that are modelled. Not modelled: {why}.",
            capital(&what)
        ));
    }
    if starts.by_model.len() > EXPLAINED {
        let more = starts.by_model.len() - EXPLAINED;
        lines.push(format!("Tasks of {more} more users could start by the rules that are modelled."));
    }
    for admitted in starts.admitted.iter().take(EXPLAINED) {
        let who = format!(
            "{} of {}",
            tasks(&Rational::from(admitted.tasks)),
            problem.users()[admitted.user].name()
        );
        lines.push(match &admitted.answer {
            Answer::Yes(assignment) => {
                let all: Vec<Place> =
                    assignment.parts.iter().flat_map(|(_, places)| places.clone()).collect();
                format!(
                    "{who}: admitted, on no server. Could start now on {}.",
                    few(&places(&all, snapshot), NAMED)
                )
            }
            Answer::No => format!("{who}: admitted, on no server. No server has room for them now."),
            Answer::NotKnown => {
                format!("{who}: admitted, on no server. Whether they could start is not known.")
            }
        });
    }
    if !starts.not_known.is_empty() {
        let names: Vec<&str> = starts.not_known.iter().map(|n| problem.users()[*n].name()).collect();
        lines.push(format!(
            "Whether tasks of {} could start is not known: the search was too large.",
            few(&names, NAMED)
        ));
    }
    if lines.is_empty() && !verdict.is_fair() {
        lines.push("No waiting task could start now.".to_owned());
    }
    let is_violated = verdict.claim(Axiom::WorkConserving).is_some_and(|claim| claim.holds == Some(false));
    if is_violated && starts.could.is_empty() {
        lines.push(
            "The axiom `work-conserving` is violated: a waiting gang fits by the problem and the allocation alone. The axiom \
             does not count what the snapshot states in addition (`together`, `class_sets`, `distinct_servers`, `admitted`, \
             `not_modelled`)."
                .to_owned(),
        );
    }
    lines
}

/// Returns a sentence with a capital letter. A sentence that begins with a name is not changed.
fn capital(text: &str) -> String {
    text.strip_prefix("a task of ").map_or_else(|| text.to_owned(), |rest| format!("A task of {rest}"))
}

fn guarantees(verdict: &Verdict) -> Vec<String> {
    let problem = &verdict.problem;
    let mut lines = Vec::new();
    for unmet in verdict.unmet.iter().take(EXPLAINED) {
        let name = problem.users()[unmet.user].name();
        let queue = problem.groups().member(unmet.user).group;
        let of = queue.map_or_else(|| name.to_owned(), |v| problem.groups().list()[v].name.clone());
        let more = tasks(&unmet.tasks);
        lines.push(format!("Guarantee missed: {of} may start {more} more of {name} within its guarantee."));
    }
    if verdict.unmet.len() > EXPLAINED {
        lines.push(format!("Guarantees of {} more users are missed.", verdict.unmet.len() - EXPLAINED));
    }
    let is_violated = verdict.claim(Axiom::Guarantees).is_some_and(|claim| claim.holds == Some(false));
    if is_violated && verdict.unmet.is_empty() {
        lines.push(match verdict.guarantees_can_be_met() {
            Some(false) => {
                "Not all guarantees are met, and the fair shares do not meet them all either.".to_owned()
            }
            Some(true) => "A guarantee is missed by less than a whole task.".to_owned(),
            None => {
                "Not all guarantees are met. Whether they can be met is not checked for this rule.".to_owned()
            }
        });
    }
    lines
}

/// Returns the exceeded limits, servers and groups, each with the excess.
fn excesses(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let problem = &verdict.problem;
    let of = |r: usize, value: &Rational| named_amount(problem, r, value);
    let resource = |r: usize| problem.resources()[r].as_str();
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    let one = |excess: &Excess| match excess {
        Excess::Server { place, resource: r, used, most } => {
            let server = snapshot.server_name(place.class, place.index);
            format!("Server {server} has {}; its tasks take {}.", of(*r, most), amount(resource(*r), used))
        }
        Excess::Class { class, resource: r, used, most } => {
            let class = problem.servers()[*class].name();
            format!(
                "The servers {class} have {}; their tasks take {}.",
                of(*r, most),
                amount(resource(*r), used)
            )
        }
        Excess::NotAllowed { user, class } => {
            let (user, class) = (problem.users()[*user].name(), problem.servers()[*class].name());
            format!("Tasks of {user} run on {class}, where they are not allowed.")
        }
        Excess::Bound { bound, used, by_tasks, most } => match bound {
            Bound::Limit(v, r) if used > by_tasks && by_tasks <= most => format!(
                "Group {} keeps back and uses {}; its limit is {}. Its tasks use {}.",
                group(*v),
                of(*r, used),
                amount(resource(*r), most),
                amount(resource(*r), by_tasks)
            ),
            Bound::Limit(v, r) => {
                format!(
                    "Group {} uses {}; its limit is {}.",
                    group(*v),
                    of(*r, used),
                    amount(resource(*r), most)
                )
            }
            Bound::OnClasses(at) => {
                let on = &problem.groups().list()[at.group].on[at.on];
                let (r, _) = on.limit[at.at];
                let classes: Vec<&str> = on.servers.iter().map(|i| problem.servers()[*i].name()).collect();
                format!(
                    "Group {} uses {} on {}; its limit there is {}.",
                    group(at.group),
                    of(r, used),
                    few(&classes, NAMED),
                    amount(resource(r), most)
                )
            }
            Bound::KeptBack(r) if by_tasks.is_zero() => format!(
                "Guarantees exceed the capacity: groups keep back {}, and all servers have {}.",
                of(*r, used),
                amount(resource(*r), most)
            ),
            Bound::KeptBack(r) => format!(
                "Tasks use {} and groups keep back {} more; all servers have {}.",
                of(*r, by_tasks),
                amount(resource(*r), &Rational::from(used - by_tasks)),
                amount(resource(*r), most)
            ),
            Bound::Weight(v) => {
                format!("Group {} has the weight 0 and uses more than its guarantee.", group(*v))
            }
        },
    };
    let mut lines: Vec<String> = verdict.excesses.iter().take(EXPLAINED).map(one).collect();
    if verdict.excesses.len() > EXPLAINED {
        lines.push(format!("{} more limits or servers are exceeded.", verdict.excesses.len() - EXPLAINED));
    }
    if verdict.excesses.is_empty() && !verdict.is_within_limits() {
        lines.push("Fractions of tasks run, or a user runs more tasks than it has.".to_owned());
    }
    lines
}

pub(crate) fn places(places: &[Place], snapshot: &Snapshot) -> Vec<String> {
    let mut names: Vec<String> =
        places.iter().map(|place| snapshot.server_name(place.class, place.index)).collect();
    names.dedup();
    names
}

/// Returns the reported numbers by queue that differ from their formula or that cannot be compared with a
/// formula.
fn reported(problem: &Problem, compared: &[Compared]) -> Table {
    let other: Vec<&Compared> = compared.iter().filter(|of| of.agrees() != Some(true)).collect();
    let value = |value: &Option<Rational>| value.as_ref().map_or_else(|| "inf".to_owned(), six_digits);
    let formula = |of: &&Compared| match &of.formula {
        Formula::Unknown(_) => Cell::none(),
        Formula::Between([low, high]) if value(low) == value(high) => Cell::text(value(low)),
        Formula::Between([low, high]) => Cell::text(format!("{} to {}", value(low), value(high))),
    };
    let table = Table::of(other)
        .words("queue", |of| problem.groups().list()[of.group].name.as_str())
        .words("what the scheduler reports", |of| of.what.as_str())
        .numbers("reported", |of| Cell::text(value(&of.reported)))
        .numbers("by its formula", formula)
        .words("result", |of| match &of.formula {
            Formula::Between(_) => Cell::text("differs").bad(),
            Formula::Unknown(why) => Cell::text(format!("not checked: {why}")).muted(),
        })
        .table();
    table.at_most(LONGEST, "reported numbers")
}

/// Returns a sentence with the number of reported numbers that agree with their formulas.
fn agreeing(compared: &[Compared]) -> Option<String> {
    let names: BTreeSet<&str> = compared.iter().map(|of| of.what.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let count = |agrees: Option<bool>| compared.iter().filter(|of| of.agrees() == agrees).count();
    (!compared.is_empty()).then(|| {
        format!(
            "The scheduler reports {}: {} numbers agree with their formula, {} differ, and {} are not checked.",
            names.join(", "),
            count(Some(true)),
            count(Some(false)),
            count(None)
        )
    })
}

fn six_digits(value: &Rational) -> String {
    let text = format!("{:.6}", to_f64(value));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text.contains('.') || value.is_integer() { text.to_owned() } else { decimal(value) }
}

/// Returns a page that first states the values by which resources are counted, because amounts are then in
/// other units. `problem` is the problem in these units.
#[must_use]
pub fn by_value(values: &Values, problem: &Problem, page: Page) -> Page {
    if values.is_empty() {
        return page;
    }
    let stated: Vec<String> =
        values.stated().map(|(name, value)| format!("{name} = {}", decimal(value))).collect();
    let mut lines = vec![format!(
        "Counted by value ({}): all amounts of these resources below are values, not numbers of devices. Flavours of one resource are added.",
        stated.join(", ")
    )];
    let mixed: Vec<&str> = values.mixed(problem).into_iter().map(|n| problem.users()[n].name()).collect();
    if !mixed.is_empty() {
        lines.push(format!(
            "Tasks that may run on servers of different values count for their queues at the least value: {}.",
            few(&mixed, NAMED)
        ));
    }
    Page::new().lines(lines).append(page)
}

pub(crate) fn left_out(snapshot: &Snapshot) -> Vec<String> {
    let line = |of: &evenhand_problem::snapshot::NotModelled| format!("  {} ({})", of.what, of.count);
    let mut lines: Vec<String> = snapshot.not_modelled.iter().take(EXPLAINED).map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, "Not part of this verdict, since the snapshot leaves it out:".to_owned());
    }
    let closed = |of: &evenhand_problem::snapshot::Closed| {
        let count = snapshot.problem.servers()[of.server].count();
        let names: Vec<String> =
            (0..count.min(NAMED as u64)).map(|k| snapshot.server_name(of.server, k)).collect();
        format!("{} takes no new tasks: {}.", few(&names, NAMED), of.reason)
    };
    lines.extend(snapshot.closed.iter().take(EXPLAINED).map(closed));
    lines
}

/// Returns the effect of a change: the fair share and the missing amounts of each queue before and after the
/// change, and the tasks that could start after it.
#[must_use]
pub fn what_if(before: (&Snapshot, &Verdict), after: (&Snapshot, &Verdict)) -> Page {
    struct Change<'v> {
        row: &'v Row,
        resource: String,
        values: [Option<Rational>; 4],
    }
    let ((_, before), (snapshot, after)) = (before, after);
    let names = after.problem.resources();
    let find = |verdict: &'_ Verdict, row: &Row| {
        verdict
            .queues
            .iter()
            .position(|of| of.queue.name == row.queue.name && same_kind(of.queue.kind, row.queue.kind))
    };
    let mut changes = Vec::new();
    for row in in_order(&after.queues) {
        let old = find(before, row).map(|v| &before.queues[v]);
        for (r, resource) in names.iter().enumerate() {
            let at = before.problem.resources().iter().position(|of| of == resource);
            let was = |of: fn(&Row) -> &Vec<Rational>| old.zip(at).map(|(old, at)| of(old)[at].clone());
            let values = [
                was(|row| &row.fair_share),
                Some(row.fair_share[r].clone()),
                was(|row| &row.lacking),
                Some(row.lacking[r].clone()),
            ];
            let usage = was(|row| &row.usage);
            if values[0] != values[1]
                || values[2] != values[3]
                || usage.is_some_and(|usage| usage != row.usage[r])
            {
                changes.push(Change { row, resource: resource.clone(), values });
            }
        }
    }
    let shown = |of: &Change<'_>, at: usize| {
        of.values[at].as_ref().map(|value| Cell::decimal(value).shown_as(&amount(&of.resource, value)))
    };
    let is_empty = changes.is_empty();
    let table = Table::of(changes)
        .words("queue", |of| {
            let name = &of.row.queue.name;
            Cell::text(format!("{}{name}", "  ".repeat(of.row.queue.depth))).with_value(name)
        })
        .words("resource", |of| of.resource.clone())
        .numbers("fair share before", |of| shown(of, 0))
        .numbers("after", |of| shown(of, 1))
        .numbers("difference", |of| {
            let [Some(before), Some(after), ..] = &of.values else { return Cell::none() };
            let difference = Rational::from(after - before);
            let sign = if difference > 0 { "+" } else { "" };
            Cell::decimal(&difference).shown_as(&format!("{sign}{}", amount(&of.resource, &difference)))
        })
        .numbers("lacks before", |of| shown(of, 2))
        .numbers("lacks after", |of| shown(of, 3))
        .table();
    let below = |verdict: &Verdict| -> Vec<String> {
        verdict.below_fair_share().map(|row| row.queue.name.clone()).collect()
    };
    let said =
        |names: &[String]| if names.is_empty() { "no queue".to_owned() } else { few(names, EXPLAINED) };
    let page = Page::new().heading("What changes, by queue");
    let page = if is_empty {
        page.text("No fair share changes, and no queue uses or lacks more or less than before.")
    } else {
        page.table(table.with_second_key().at_most(LONGEST, "rows of queues and resources"))
    };
    let mut lines = vec![
        format!("Below their fair share by a whole task before: {}.", said(&below(before))),
        format!("Below their fair share by a whole task after: {}.", said(&below(after))),
    ];
    // The change did not cause the starts of tasks that could already start before it.
    let could_before: BTreeSet<&str> = before
        .starts
        .iter()
        .flat_map(|starts| &starts.could)
        .map(|fit| before.problem.users()[fit.user].name())
        .collect();
    let is_new = |fit: &&Fit| !could_before.contains(after.problem.users()[fit.user].name());
    let new = after.starts.iter().flat_map(|starts| &starts.could).filter(is_new).count();
    let all = after.starts.as_ref().map_or(0, |starts| starts.could.len());
    if all > 0 {
        lines.push(match new {
            0 => "After the change these tasks could start, as before:".to_owned(),
            new if new == all => "After the change these tasks could start:".to_owned(),
            new => format!("After the change these tasks could start, of {new} users because of it:"),
        });
    }
    lines.extend(what_could_start(snapshot, after));
    if all == 0 && after.is_fair() && after.starts.is_some() {
        lines.push("No waiting task could start now.".to_owned());
    }
    lines.extend(excesses(snapshot, after));
    page.lines(lines)
}

fn same_kind(a: Kind, b: Kind) -> bool {
    matches!((a, b), (Kind::Group(_), Kind::Group(_)) | (Kind::User(_), Kind::User(_)))
}

/// Returns the tasks to stop and to start.
#[must_use]
pub fn moves(snapshot: &Snapshot, verdict: &Verdict, moves: &Moves, named: &[Named]) -> Page {
    let problem = &verdict.problem;
    let mut page = Page::new();
    let server = |place: &Place| snapshot.server_name(place.class, place.index);
    let mut table = Table::new([
        Column::numbers("move"),
        Column::words("for"),
        Column::words("what"),
        Column::words("task"),
        Column::words("server"),
    ]);
    for (number, (step, of)) in moves.list.iter().zip(named).enumerate() {
        let stops = of.stop.iter().map(|task| ("stop", task));
        for (what, task) in stops.chain(of.start.iter().map(|task| ("start", task))) {
            table.row([
                Cell::from(number as u64 + 1),
                Cell::text(&verdict.queues[step.queue].queue.name),
                Cell::text(what),
                Cell::text(called(problem, task.user, task.name.as_deref())),
                Cell::text(server(&task.place)),
            ]);
        }
    }
    if !table.is_empty() {
        page = page.table(table.at_most(LONGEST, "tasks to stop or to start"));
    }
    let name = |v: &usize| verdict.queues[*v].queue.name.as_str();
    let [before, after] = moves.below.each_ref().map(|short| short.iter().map(name).collect::<Vec<_>>());
    let count = moves.list.len();
    let moved = |count: usize| if count == 1 { "1 move".to_owned() } else { format!("{count} moves") };
    let mut lines = Vec::new();
    let migrations = match moves.migrations() {
        0 => String::new(),
        1 => " (1 of them starts a running task on another server)".to_owned(),
        several => format!(" ({several} of them start running tasks on other servers)"),
    };
    let stopped = tasks(&Rational::from(moves.stopped()));
    let stopped = format!("{}{migrations}, and {stopped} stopped.", moved(count));
    if before.is_empty() {
        lines.push("No queue is below its fair share by a whole task: there is nothing to move.".to_owned());
    } else if after.is_empty() {
        let fewest = if moves.are_fewest() {
            "Fewer moves do not suffice".to_owned()
        } else {
            format!("At least {} needed", needed(&moves.least, "are"))
        };
        lines.push(format!("{stopped} Then no queue is below its fair share by a whole task. {fewest}."));
    } else {
        let why = if moves.is_cut {
            "No more moves were asked for"
        } else {
            "No further move was found, which is no proof that there is none"
        };
        let are = if after.len() == 1 { "is" } else { "are" };
        lines.push(format!(
            "{stopped} Then {} {are} still below the fair share by a whole task. {why}.",
            few(&after, EXPLAINED),
        ));
        lines.push(format!("At least {} needed until no queue is.", needed(&moves.least, "would be")));
    }
    page.lines(lines)
}

/// Returns words such as `1 move is`, `3 moves are` or `3 moves would be`.
fn needed(least: &Rational, verb: &str) -> String {
    match (*least == 1, verb) {
        (true, "are") => "1 move is".to_owned(),
        (true, verb) => format!("1 move {verb}"),
        (false, verb) => format!("{} moves {verb}", decimal(least)),
    }
}

/// Returns the verdict as metrics for Prometheus, labelled by queue and resource.
#[must_use]
pub fn prometheus(snapshot: &Snapshot, verdict: &Verdict) -> String {
    metrics::text(vec![Arc::new(metrics::of_verdict(snapshot, verdict))])
}
