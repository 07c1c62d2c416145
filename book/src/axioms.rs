//! A page for every axiom: its definition from docs/axioms.md, the mechanisms that guarantee it, and a counter-example.

use std::fmt::Write;
use std::path::Path;

use evenhand_certify::{Examination, Request, certify};
use evenhand_exact::Axiom;
use evenhand_mechanisms::guarantees::{Condition, Guarantee};
use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use crate::Fault;
use crate::audits::{Audits, flags};
use crate::generated::{Generated, problem, verdicts};

/// Returns the pages, in the order of [`Axiom::ALL`].
///
/// # Errors
/// docs/axioms.md has no definition of an axiom.
pub fn axioms(root: &Path, audits: &Audits) -> Result<Vec<Generated>, Fault> {
    let definitions = std::fs::read_to_string(root.join("docs/axioms.md"))?;
    let queues = std::fs::read_to_string(root.join("examples/queues.json"))?;
    let queues = Source { name: "queues.json", text: &queues }.problem()?;
    let one = |axiom: Axiom| {
        let name = axiom.name();
        let mut text = format!("# `{name}`\n\n");
        let defined = definition(&definitions, name).ok_or(format!("docs/axioms.md defines no `{name}`"))?;
        write!(text, "{defined}\n\n[Margins, verdicts and evidence](../axioms.md)\n\n")?;
        text.push_str(&guaranteed(axiom)?);
        text.push_str(&counter_example(axiom, audits, &queues)?);
        Ok(Generated {
            title: name.to_owned(),
            path: format!("docs/axioms/{name}.md"),
            text,
            pictures: Vec::new(),
        })
    };
    Axiom::ALL.into_iter().map(one).collect()
}

/// Returns the table row of the axiom in docs/axioms.md as a paragraph. Links are adapted to pages in a subfolder.
fn definition(page: &str, name: &str) -> Option<String> {
    let row = page.lines().find(|line| {
        let mut cells = line.split(" | ");
        cells.next().is_some_and(|cell| cell.starts_with("| ") && cell.contains(&format!("`{name}`")))
    })?;
    let (axiom, holds) = row.trim_start_matches("| ").trim_end_matches(" |").split_once(" | ")?;
    Some(format!(
        "{axiom} holds when: {}.",
        holds.replace("](", "](../").replace("](../#", "](../axioms.md#")
    ))
}

fn guaranteed(axiom: Axiom) -> Result<String, Fault> {
    let mut text = "## Which mechanisms guarantee it\n\n".to_owned();
    let mut rows = String::new();
    for mechanism in registry::ALL {
        if let Guarantee::When(condition) = mechanism.guarantee(axiom) {
            let id = mechanism.info.id;
            let when = if condition == Condition::Always { "all" } else { condition.words() };
            writeln!(rows, "| [`{id}`](../mechanisms/{id}.md) | {when} |")?;
        }
    }
    if rows.is_empty() {
        text.push_str("No mechanism is known to guarantee it on a class of problems.\n");
    } else {
        write!(text, "| mechanism | on which problems |\n|---|---|\n{rows}")?;
    }
    Ok(text)
}

fn counter_example(axiom: Axiom, audits: &Audits, queues: &Problem) -> Result<String, Fault> {
    let mut text = "\n## A counter-example\n\n".to_owned();
    if let Some((mechanism, name, example)) = audits.against(axiom) {
        let id = mechanism.info.id;
        let command = format!("evenhand audit mechanism {id}{} --axiom {name}", flags(mechanism));
        write!(
            text,
            "`{command}` shows that [`{id}`](../mechanisms/{id}.md) violates it on this problem:\n\n"
        )?;
        text.push_str(&shown(&example.problem, &example.examination)?);
    } else if let Some(found) = by_hand(axiom, queues)? {
        text.push_str(
            "In the audits no mechanism breaks it. This allocation is constructed to break it:\n\n",
        );
        text.push_str(&shown(queues, &found)?);
    } else {
        text.push_str(
            "There is none, because every allocation that is stated in tasks satisfies the axiom.\n",
        );
    }
    Ok(text)
}

/// Returns the problem, the allocation and the verdict as Markdown.
fn shown(of: &Problem, found: &Examination) -> Result<String, Fault> {
    let mut text = problem(of) + "\n| user | tasks |\n|---|---|\n";
    for (user, tasks) in of.users().iter().zip(found.certificate.allocation.totals()) {
        writeln!(text, "| {} | {} |", user.name(), evenhand_report::text::number(&tasks))?;
    }
    text.push('\n');
    text.push_str(&verdicts(&found.certificate));
    Ok(text)
}

/// Returns a violation of the axiom on `queues.json`, for axioms that no mechanism breaks on the problems of audits. One
/// user gets all nodes, which is more than its queue may have, or more than fits.
fn by_hand(axiom: Axiom, queues: &Problem) -> Result<Option<Examination>, Fault> {
    // Only `serving` of the queue `product` has tasks. 80 tasks use every GPU, and 100 tasks use more than all GPUs.
    let tasks = match axiom {
        Axiom::Feasible => 100,
        Axiom::Limits | Axiom::Guarantees | Axiom::GroupSharingIncentive | Axiom::GroupEnvyFree => 80,
        _ => return Ok(None),
    };
    let serving = queues.user_named("serving").ok_or("queues.json has no user `serving`")?;
    let mut allocation = Allocation::empty(queues.n_users(), Sharing::Rdm);
    allocation.tasks[serving].push((0, Rational::from(tasks)));
    let found = certify(queues, &allocation, &[Request::of(axiom)], &Rational::new())?;
    let is_violated = found.certificate.claims.iter().all(|claim| claim.holds == Some(false));
    Ok(is_violated.then_some(found))
}
