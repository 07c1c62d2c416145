//! A running cluster for people: what queues hold beside what they are due, what a change brings, which tasks to move; and
//! the gauges of a verdict for Prometheus.

use std::collections::BTreeSet;
use std::fmt::Write;

use evenhand_cluster::reported::{Compared, Formula};
use evenhand_cluster::script::Named;
use evenhand_cluster::{End, Fit, Kind, Moves, Place, Row, Verdict, gang};
use evenhand_exact::{Axiom, Claim, Evidence, Outcome};
use evenhand_problem::number::to_f64;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Medium, Problem, Rational};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{amount, decimal, few, tasks};

/// Rows beyond this many are left out of the table for people.
const LONGEST: usize = 60;
/// Queues that are explained in words, and tasks that are named.
const EXPLAINED: usize = 12;
/// Most queues that are named in one sentence.
const NAMED: usize = 4;

/// A queue and a resource.
struct Cells<'v> {
    row: &'v Row,
    resource: usize,
}

/// The verdict on a snapshot.
#[must_use]
pub fn verdict(snapshot: &Snapshot, verdict: &Verdict, compared: &[Compared]) -> Page {
    Page::new()
        .text(by(verdict))
        .table(table(verdict))
        .lines(explained(verdict))
        .table(axioms(verdict))
        .lines(sentences(snapshot, verdict))
        .append(of_reported(&verdict.problem, compared))
        .lines(left_out(snapshot))
}

/// What the scheduler reports beside its formula.
pub(crate) fn of_reported(problem: &Problem, compared: &[Compared]) -> Page {
    let table = reported(problem, compared);
    let page = if table.is_empty() { Page::new() } else { Page::new().table(table) };
    page.lines(agreeing(compared))
}

/// By what queues are due what they are due, and how far that is proven.
pub(crate) fn by(verdict: &Verdict) -> String {
    let by = verdict
        .rule
        .map_or_else(|| "the problem's own share".to_owned(), |rule| format!("the rule of {rule}"));
    let proof = verdict.due.uncertified();
    let proof = proof
        .map_or_else(|| "exact, and proven".to_owned(), |why| format!("exact, and uncertified, since {why}"));
    format!("What queues are due by {by}: {proof}.")
}

/// Why the first queues that are short are so: those that are short by a whole task before others.
fn explained(verdict: &Verdict) -> Vec<String> {
    let short = verdict.queues.iter().filter(|row| row.short.iter().any(|short| *short > 0));
    let (whole, parts): (Vec<&Row>, Vec<&Row>) = short.partition(|row| row.by.is_some());
    let all = whole.len() + parts.len();
    let mut lines: Vec<String> =
        whole.iter().chain(&parts).take(EXPLAINED).map(|row| in_words(verdict, row)).collect();
    if all > EXPLAINED {
        lines.push(format!("... and {} more queues that are short of something.", all - EXPLAINED));
    }
    lines
}

/// The answer in sentences, and why the first queues that are short are so.
pub(crate) fn in_short(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let lines = sentences(snapshot, verdict).into_iter().chain(explained(verdict));
    lines.map(|line| line.trim_start().to_owned()).collect()
}

fn cells(verdict: &Verdict) -> Vec<Cells<'_>> {
    let some = |row: &&Row, r: usize| {
        !row.held[r].is_zero() || !row.due[r].is_zero() || row.guarantee.iter().any(|(of, _)| *of == r)
    };
    let n = verdict.problem.n_resources();
    let ordered = in_order(&verdict.queues);
    ordered
        .into_iter()
        .flat_map(|row| (0..n).filter(move |r| some(&row, *r)).map(move |resource| Cells { row, resource }))
        .collect()
}

/// Each queue before those that stand in it.
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
        .numbers("held", |of| shown(of, &of.row.held[of.resource]))
        .numbers("due", |of| shown(of, &of.row.due[of.resource]))
        .numbers("short", |of| {
            let cell = some(of, &of.row.short[of.resource]);
            cell.map(|cell| if of.row.by.is_some() { cell.bad() } else { cell })
        })
        .unless_all("-")
        .numbers("above", |of| some(of, &of.row.above[of.resource]))
        .unless_all("-")
        .numbers("guarantee", |of| {
            let promised = of.row.guarantee.iter().find(|(r, _)| *r == of.resource);
            promised.map(|(_, promised)| shown(of, promised))
        })
        .unless_all("-")
        .table();
    table.at_most(LONGEST, "rows of queues and resources")
}

/// What a queue is short of, who has it, and what ends its part.
fn in_words(verdict: &Verdict, row: &Row) -> String {
    let problem = &verdict.problem;
    let of = |r: usize, value: &Rational| {
        format!("{} {}", amount(&problem.resources()[r], value), problem.resources()[r])
    };
    // Where its part ends at a resource, that is what it is about.
    let is_end = |r: usize| row.ends.contains(&End::Resource(r)) && !row.short[r].is_zero();
    let is_told = |r: usize| is_end(r) || !(0..row.short.len()).any(is_end);
    let short = row.short.iter().enumerate().filter(|(r, short)| !short.is_zero() && is_told(*r));
    let short: Vec<String> = short.map(|(r, short)| of(r, short)).collect();
    let mut text = format!("{} is short of {}", row.queue.name, short.join(", "));
    match row.by {
        Some(n) => {
            let _ = write!(text, "; {} waits, and is within its part", one_of(problem, n));
        }
        None if verdict.tolerance.is_zero() => text.push_str("; no task that waits is within its part"),
        None => {
            text.push_str("; no task that waits is within its part, or less is missing than is tolerated");
        }
    }
    let told = |list: &[(usize, Vec<(usize, Rational)>)], said: &dyn Fn(&str, &str) -> String| {
        // By queue, in the order in which they come.
        let mut queues: Vec<(usize, Vec<String>)> = Vec::new();
        for (r, amounts) in list.iter().filter(|(r, _)| is_told(*r)) {
            for (v, value) in amounts {
                match queues.iter_mut().find(|(queue, _)| queue == v) {
                    Some((_, told)) => told.push(of(*r, value)),
                    None => queues.push((*v, vec![of(*r, value)])),
                }
            }
        }
        let said = |(v, told): &(usize, Vec<String>)| said(&verdict.queues[*v].queue.name, &told.join(", "));
        let said: Vec<String> = queues.iter().map(said).collect();
        if said.is_empty() { String::new() } else { format!("; {}", few(&said, NAMED)) }
    };
    text += &told(&row.holders, &|queue, amounts| format!("{queue} holds {amounts} above its part"));
    text += &told(&row.lenders, &|queue, amounts| format!("{queue} lends {amounts} of its guarantee"));
    let ends: Vec<String> = row.ends.iter().map(|end| ends(problem, end)).collect();
    if !ends.is_empty() {
        let _ = write!(text, "; its part ends at {}", few(&ends, NAMED));
    }
    text + "."
}

/// What a user starts at once: a task, or a gang of tasks.
fn one_of(problem: &Problem, user: usize) -> String {
    let name = problem.users()[user].name();
    match gang(problem, user) {
        1 => format!("a task of {name}"),
        many => format!("a gang of {many} tasks of {name}"),
    }
}

fn ends(problem: &Problem, end: &End) -> String {
    match end {
        End::Resource(r) => format!("the last {} of servers that it may use", problem.resources()[*r]),
        End::Limit(v, r) => {
            format!("the limit of {} on {}", problem.groups().list()[*v].name, problem.resources()[*r])
        }
    }
}

/// An axiom of what is held or due: its name, its verdict and its margin.
type Judged = [Cell; 3];

/// The axioms of what queues hold.
pub(crate) fn axioms_of_held(verdict: &Verdict) -> Table {
    table_of_axioms([], held(verdict).into_iter().map(Vec::from))
}

/// The axioms of what queues are due.
pub(crate) fn axioms_of_due(verdict: &Verdict) -> Table {
    table_of_axioms([], due(verdict).into_iter().map(Vec::from))
}

/// Both in one table.
fn axioms(verdict: &Verdict) -> Table {
    let named = |of: &'static str| move |row: Judged| [Cell::text(of)].into_iter().chain(row).collect();
    let rows = held(verdict).into_iter().map(named("held"));
    table_of_axioms([Column::words("of what is")], rows.chain(due(verdict).into_iter().map(named("due"))))
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

/// The tasks of a user that wait, by name as far as they have names.
fn task_name(snapshot: &Snapshot, user: usize) -> Option<&str> {
    let of = snapshot.waiting.iter().filter(|of| of.user == user);
    of.flat_map(|of| &of.names).next().map(String::as_str)
}

/// What a task is called: its name and its user, or its user.
fn called(problem: &Problem, user: usize, name: Option<&str>) -> String {
    let user = problem.users()[user].name();
    name.map_or_else(|| format!("a task of {user}"), |name| format!("{name} of {user}"))
}

pub(crate) fn sentences(snapshot: &Snapshot, verdict: &Verdict) -> Vec<String> {
    let problem = &verdict.problem;
    let mut lines = Vec::new();
    let short: Vec<&str> = verdict.short().map(|row| row.queue.name.as_str()).collect();
    lines.push(match short.len() {
        0 => "No queue is short by a whole task.".to_owned(),
        1 => format!("One queue is short by a whole task: {}.", short[0]),
        many => format!("{many} queues are short by a whole task: {}.", few(&short, EXPLAINED)),
    });
    match &verdict.fits {
        None => {
            lines.push("It is not known on which servers tasks run, nor whether one more fits.".to_owned());
        }
        Some(fits) if fits.is_empty() => {
            lines.push("No task that waits could start now.".to_owned());
            if verdict.claim(Axiom::WorkConserving).is_some_and(|claim| claim.holds == Some(false)) {
                lines.push(
                    "A part of a gang could, which the axiom counts; the whole gang could not.".to_owned(),
                );
            }
        }
        Some(fits) => {
            let one = |fit: &Fit| {
                let places: Vec<String> = places(&fit.places, snapshot);
                let (what, fits) = match fit.places.len() {
                    1 => (called(problem, fit.user, task_name(snapshot, fit.user)), "fits"),
                    many => (format!("{many} tasks of {}", problem.users()[fit.user].name()), "fit"),
                };
                format!("{what} {fits} now on {}", few(&places, NAMED))
            };
            lines.push("Not work-conserving: tasks wait that could start now.".to_owned());
            lines.extend(fits.iter().take(EXPLAINED).map(|fit| format!("  {}.", one(fit))));
            if fits.len() > EXPLAINED {
                lines.push(format!("  ... and tasks of {} more users.", fits.len() - EXPLAINED));
            }
        }
    }
    for unmet in verdict.unmet.iter().take(EXPLAINED) {
        let name = problem.users()[unmet.user].name();
        lines.push(format!(
            "{name} lacks {} that its queues are promised, and lacks none in what is due.",
            tasks(&unmet.tasks)
        ));
    }
    if verdict.claim(Axiom::Guarantees).is_some_and(|claim| claim.holds == Some(false))
        && verdict.unmet.is_empty()
    {
        lines.push(match verdict.guarantees_can_be_met() {
            Some(false) => "Not all guarantees are met, nor are they in what is due.".to_owned(),
            Some(true) => "A guarantee is missed by less than a whole task.".to_owned(),
            None => {
                "Not all guarantees are met; by this rule it is not examined whether they can be.".to_owned()
            }
        });
    }
    if !verdict.is_within_limits() {
        lines.push(
            more_is_promised(verdict)
                .unwrap_or_else(|| "What runs exceeds what servers have, or a limit.".to_owned()),
        );
    }
    lines
}

/// Says that the amounts kept back alone exceed a limit, or all servers, where these are what is exceeded the most.
fn more_is_promised(verdict: &Verdict) -> Option<String> {
    let problem = &verdict.problem;
    let claim = verdict.claim(Axiom::Limits).filter(|claim| claim.holds == Some(false))?;
    let Evidence::GroupLimit { group, resource, promised: Some(promised), .. } = claim.evidence.bare() else {
        return None;
    };
    let bound = match group {
        None => &problem.total_capacity()[*resource],
        Some(v) => {
            let limit = problem.groups().list()[*v].limit.iter();
            limit.clone().find(|(r, _)| r == resource).map(|(_, most)| most)?
        }
    };
    let bounded = match group {
        None => "all servers have".to_owned(),
        Some(v) => format!("the limit of {} is", problem.groups().list()[*v].name),
    };
    let resource = &problem.resources()[*resource];
    Some(format!(
        "More is promised than there is: {} {resource} are kept back, {bounded} {}.",
        amount(resource, promised),
        amount(resource, bound)
    ))
}

fn places(places: &[Place], snapshot: &Snapshot) -> Vec<String> {
    let mut names: Vec<String> =
        places.iter().map(|place| snapshot.server_name(place.class, place.index)).collect();
    names.dedup();
    names
}

/// By queue the numbers that the scheduler reports and that are not what their formula gives, or of which that cannot be said.
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
        .words("which", |of| match &of.formula {
            Formula::Between(_) => Cell::text("differs").bad(),
            Formula::Unknown(why) => Cell::text(format!("cannot be said: {why}")).muted(),
        })
        .table();
    table.at_most(LONGEST, "reported numbers")
}

/// How many of the numbers that the scheduler reports are what their formula gives.
fn agreeing(compared: &[Compared]) -> Option<String> {
    let names: BTreeSet<&str> = compared.iter().map(|of| of.what.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let count = |agrees: Option<bool>| compared.iter().filter(|of| of.agrees() == agrees).count();
    (!compared.is_empty()).then(|| {
        format!(
            "Of what the scheduler reports ({}) {} numbers are what their formula gives, {} differ, and of {} it cannot be said.",
            names.join(", "),
            count(Some(true)),
            count(Some(false)),
            count(None)
        )
    })
}

fn six_digits(value: &Rational) -> String {
    let text = format!("{:.6}", to_f64(value));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(crate) fn left_out(snapshot: &Snapshot) -> Vec<String> {
    let line = |of: &evenhand_problem::snapshot::NotModelled| format!("  {} ({})", of.what, of.count);
    let mut lines: Vec<String> = snapshot.not_modelled.iter().take(EXPLAINED).map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, "Not part of this verdict, since the snapshot leaves it out:".to_owned());
    }
    lines
}

/// What a change brings, by queue: what it is due and holds, before and after.
#[must_use]
pub fn what_if(before: &Verdict, after: &Verdict) -> Page {
    struct Change<'v> {
        row: &'v Row,
        resource: String,
        values: [Option<Rational>; 4],
    }
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
                was(|row| &row.due),
                Some(row.due[r].clone()),
                was(|row| &row.short),
                Some(row.short[r].clone()),
            ];
            let held = was(|row| &row.held);
            if values[0] != values[1]
                || values[2] != values[3]
                || held.is_some_and(|held| held != row.held[r])
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
        .numbers("due before", |of| shown(of, 0))
        .numbers("due after", |of| shown(of, 1))
        .numbers("difference", |of| {
            let [Some(before), Some(after), ..] = &of.values else { return Cell::none() };
            let difference = Rational::from(after - before);
            let sign = if difference > 0 { "+" } else { "" };
            Cell::decimal(&difference).shown_as(&format!("{sign}{}", amount(&of.resource, &difference)))
        })
        .numbers("short before", |of| shown(of, 2))
        .numbers("short after", |of| shown(of, 3))
        .table();
    let short =
        |verdict: &Verdict| -> Vec<String> { verdict.short().map(|row| row.queue.name.clone()).collect() };
    let said =
        |names: &[String]| if names.is_empty() { "no queue".to_owned() } else { few(names, EXPLAINED) };
    let page = Page::new().heading("What changes, by queue");
    let page = if is_empty {
        page.text("Nothing: every queue holds, is due and is short of what it was.")
    } else {
        page.table(table.at_most(LONGEST, "rows of queues and resources"))
    };
    page.lines([
        format!("Short by a whole task before: {}.", said(&short(before))),
        format!("Short by a whole task after: {}.", said(&short(after))),
    ])
}

fn same_kind(a: Kind, b: Kind) -> bool {
    matches!((a, b), (Kind::Group(_), Kind::Group(_)) | (Kind::User(_), Kind::User(_)))
}

/// Which tasks to stop and to start.
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
    let [before, after] = moves.short.each_ref().map(|short| short.iter().map(name).collect::<Vec<_>>());
    let count = moves.list.len();
    let moved = |count: usize| if count == 1 { "1 move".to_owned() } else { format!("{count} moves") };
    let mut lines = Vec::new();
    if before.is_empty() {
        lines.push("No queue is short by a whole task: there is nothing to move.".to_owned());
    } else if after.is_empty() {
        let fewest = if moves.are_fewest() {
            "Fewer moves do not suffice".to_owned()
        } else {
            format!("At least {} are needed", moved_least(&moves.least))
        };
        lines.push(format!(
            "{}, and {} stopped, after which no queue is short by a whole task. {fewest}.",
            moved(count),
            tasks(&Rational::from(moves.stopped()))
        ));
    } else {
        let why = if moves.is_cut {
            "no more moves were asked for"
        } else {
            "no further move was found, which is no proof that there is none"
        };
        lines.push(format!(
            "{}, and {} stopped, after which {} still short by a whole task ({why}); at least {} are needed before none is.",
            moved(count),
            tasks(&Rational::from(moves.stopped())),
            if after.len() == 1 { format!("{} is", after[0]) } else { format!("{} are", few(&after, EXPLAINED)) },
            moved_least(&moves.least),
        ));
    }
    page.lines(lines)
}

fn moved_least(least: &Rational) -> String {
    if *least == 1 { "1 move".to_owned() } else { format!("{} moves", decimal(least)) }
}

/// The name of a gauge, what it says, and which amounts of a queue it is of.
type Gauge = (&'static str, &'static str, fn(&Row) -> &Vec<Rational>);

/// The text format of Prometheus: gauges by queue and resource.
#[must_use]
pub fn prometheus(verdict: &Verdict) -> String {
    let problem = &verdict.problem;
    let mut out = String::new();
    let escaped = |text: &str| Medium::Text.show(text).replace('\\', "\\\\").replace('"', "\\\"");
    let gauges: [Gauge; 4] = [
        ("held", "What the tasks of a queue hold.", |row| &row.held),
        ("due", "What a queue is due.", |row| &row.due),
        ("short", "What a queue with waiting tasks lacks of what it is due.", |row| &row.short),
        ("above", "What a queue holds above what it is due.", |row| &row.above),
    ];
    for (name, help, of) in gauges {
        let _ = writeln!(out, "# HELP evenhand_queue_{name} {help}\n# TYPE evenhand_queue_{name} gauge");
        for (row, labels) in verdict.queues.iter().zip(labels(&verdict.queues)) {
            for (resource, value) in problem.resources().iter().zip(of(row)) {
                let (queue, resource) = (escaped(&labels), escaped(resource));
                let _ = writeln!(
                    out,
                    "evenhand_queue_{name}{{queue=\"{queue}\",resource=\"{resource}\"}} {}",
                    to_f64(value)
                );
            }
        }
    }
    let _ = writeln!(
        out,
        "# HELP evenhand_queue_short_by_a_task Whether one more task of a queue is within what it is due.\n\
         # TYPE evenhand_queue_short_by_a_task gauge"
    );
    for (row, labels) in verdict.queues.iter().zip(labels(&verdict.queues)) {
        let _ = writeln!(
            out,
            "evenhand_queue_short_by_a_task{{queue=\"{}\"}} {}",
            escaped(&labels),
            u8::from(row.by.is_some())
        );
    }
    let facts = [
        ("work_conserving", "Whether no waiting task fits.", verdict.is_work_conserving()),
        (
            "guarantees_met",
            "Whether every user has all whole tasks that are promised and that can be kept.",
            verdict.unmet.is_empty(),
        ),
        ("fair", "Whether the verdict has the exit status 0.", verdict.is_fair()),
    ];
    for (name, help, holds) in facts {
        let _ = writeln!(
            out,
            "# HELP evenhand_{name} {help}\n# TYPE evenhand_{name} gauge\nevenhand_{name} {}",
            u8::from(holds)
        );
    }
    out
}

/// The names of queues; of a user that has the name of a group another one, since two series may not have the same labels.
fn labels(queues: &[Row]) -> Vec<String> {
    let is_group = |name: &str| {
        queues.iter().any(|row| matches!(row.queue.kind, Kind::Group(_)) && row.queue.name == name)
    };
    let label = |row: &Row| match row.queue.kind {
        Kind::User(_) if is_group(&row.queue.name) => format!("user {}", row.queue.name),
        _ => row.queue.name.clone(),
    };
    queues.iter().map(label).collect()
}
