//! Writes the results of an audit, for people and for programs.

use evenhand_problem::format::{AllocationDocument, problem_to_json};
use evenhand_problem::{Problem, number};
use evenhand_report::table::{Cell, Column, Table};
use evenhand_report::{Page, text};
use serde_json::{Value, json};

use crate::{Audit, Audited, Example, Probed, Refutation, Settings};

/// Returns the settings and results of the audit as a document.
#[must_use]
pub fn document(settings: &Settings, audit: &Audit) -> Value {
    let axioms = audit.axioms.iter().map(|each| {
        let mut fields = json!({
            "axiom": each.axiom.name(),
            "decided": each.decided,
            "violated": each.violated,
            "open": each.open,
            "example": each.example.as_ref().map(example),
        });
        if let Some(share) = &each.share {
            fields["share"] = json!(share);
        }
        if let Some(alpha) = &each.parameters.alpha {
            fields["alpha"] = json!(number::format(alpha));
        }
        fields
    });
    evenhand_report::json::document(
        "audit",
        json!({
            "mechanism": settings.mechanism.info.id,
            "searched": {
                "instances": audit.tried,
                "not_applicable": audit.not_applicable,
                "failed": audit.failed,
                "seed": settings.seed,
                "users": settings.size.users,
                "servers": settings.size.classes,
                "resources": settings.size.resources,
                "positive": settings.premises.positive,
                "unlimited": settings.premises.unlimited,
                "everywhere": settings.premises.everywhere,
            },
            "axioms": axioms.collect::<Vec<Value>>(),
            "properties": audit.properties.iter().map(probed).collect::<Vec<Value>>(),
        }),
    )
}

fn probed(probed: &Probed) -> Value {
    let example = probed.example.as_ref().map(|example| {
        json!({
            "problem": problem_value(&example.problem),
            "changed": problem_value(&example.changed),
            "change": example.change,
            "user": example.user,
            "before": number::format(&example.before),
            "after": number::format(&example.after),
        })
    });
    json!({
        "property": probed.property.name(),
        "tried": probed.tried,
        "refuted": probed.refuted,
        "example": example,
    })
}

pub(crate) fn problem_value(problem: &Problem) -> Value {
    serde_json::from_str(&problem_to_json(problem)).unwrap_or_default()
}

fn example(example: &Example) -> Value {
    let problem = problem_value(&example.problem);
    let allocation = AllocationDocument::new(&example.problem, &example.allocation);
    json!({
        "margin": example.margin.as_ref().map(number::format),
        "problem": problem,
        "allocation": serde_json::to_value(&allocation).unwrap_or_default(),
    })
}

/// Returns a page with a line for each axiom, and the smallest problem for each violated axiom.
#[must_use]
pub fn page(settings: &Settings, audit: &Audit) -> Page {
    let columns = [
        Column::words("axiom"),
        Column::numbers("decided"),
        Column::numbers("violated"),
        Column::words("smallest example"),
    ];
    let mut table = Table::new(columns);
    for each in &audit.axioms {
        let violated = Cell::text(each.violated.to_string());
        table.row([
            Cell::text(&each.name),
            Cell::text(each.decided.to_string()),
            if each.violated > 0 { violated.bad() } else { violated },
            Cell::text(each.example.as_ref().map(|example| size(&example.problem)).unwrap_or_default()),
        ]);
    }
    for each in &audit.properties {
        let refuted = Cell::text(each.refuted.to_string());
        table.row([
            Cell::text(each.property.name()),
            Cell::text(each.tried.to_string()),
            if each.refuted > 0 { refuted.bad() } else { refuted },
            Cell::text(each.example.as_ref().map(|example| size(&example.problem)).unwrap_or_default()),
        ]);
    }
    let page = Page::new().short(short(settings, audit)).text(searched(settings, audit)).table(table);
    let shown = audit.axioms.iter().filter_map(|each| Some((each, each.example.as_ref()?)));
    let page = shown.fold(page, |page, (each, example)| page.lines(describe(each, example)));
    let shown = audit.properties.iter().filter_map(|each| Some((each, each.example.as_ref()?)));
    shown.fold(page, |page, (each, example)| page.lines(refuted(each, example)))
}

/// Returns sentences that name the violated axioms, and the axioms that no problem violated.
fn short(settings: &Settings, audit: &Audit) -> Vec<String> {
    let name = settings.mechanism.info.id;
    let axioms = audit.axioms.iter().map(|each| (each.name.as_str(), each.violated, each.decided));
    let properties = audit.properties.iter().map(|each| (each.property.name(), each.refuted, each.tried));
    let (broken, others): (Vec<_>, Vec<_>) = axioms.chain(properties).partition(|(_, broken, _)| *broken > 0);
    let kept =
        others.iter().filter(|(_, _, decided)| *decided > 0).map(|(name, ..)| *name).collect::<Vec<_>>();
    let mut sentences: Vec<String> = broken
        .iter()
        .map(|(axiom, broken, decided)| {
            format!("{name} breaks {axiom} on {broken} of the {decided} problems on which it was decided.")
        })
        .collect();
    if !kept.is_empty() {
        sentences.push(format!("No problem that was tried breaks {}; that is no proof.", kept.join(", ")));
    }
    sentences
}

fn searched(settings: &Settings, audit: &Audit) -> String {
    let solved = audit.tried - audit.not_applicable - audit.failed;
    let (name, tried) = (settings.mechanism.info.id, audit.tried);
    let premises = settings.premises.words();
    let space = if premises.is_empty() { "" } else { " " };
    let mut words = format!("{name} on {tried} random problems{space}{premises}: {solved} allocations");
    if audit.not_applicable > 0 {
        words.push_str(&format!("; it is not defined for {}", audit.not_applicable));
    }
    if audit.failed > 0 {
        words.push_str(&format!("; it ended without an answer on {}", audit.failed));
    }
    words
}

pub(crate) fn size(problem: &Problem) -> String {
    let many = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    format!(
        "{}, {}, {}",
        many(problem.n_users(), "user", "users"),
        many(problem.n_servers(), "server class", "server classes"),
        many(problem.n_resources(), "resource", "resources"),
    )
}

/// Returns the problem, its change, and the effect of the change on the user.
fn refuted(each: &Probed, example: &Refutation) -> Vec<String> {
    let (user, before, after) = (&example.user, text::number(&example.before), text::number(&example.after));
    let (property, change) = (each.property.name(), &example.change);
    let said = format!("{property}: {change}, and {user} can run {after} instead of {before}");
    with_problem_below(said, &example.problem)
}

/// Returns the tasks of all users, the amount by which the axiom is violated, and the problem. The problem has one line
/// for each class and each user.
fn describe(each: &Audited, example: &Example) -> Vec<String> {
    let users = example.problem.users().iter().zip(example.allocation.totals());
    let tasks: Vec<String> =
        users.map(|(user, x)| format!("{} {}", user.name(), number::format(&x))).collect();
    let margin = example.margin.as_ref().map(|margin| format!(", margin {}", text::number(margin)));
    let said = format!("{}: tasks {}{}", each.name, tasks.join(", "), margin.unwrap_or_default());
    with_problem_below(said, &example.problem)
}

/// Returns a statement, followed by the problem.
fn with_problem_below(said: String, problem: &Problem) -> Vec<String> {
    std::iter::once(said).chain(problem_to_json(problem).lines().map(str::to_owned)).collect()
}
