//! A page for every mechanism of the registry: a description, an example, and the axioms that it breaks.

use std::fmt::Write;
use std::path::Path;

use evenhand_audit::{Size, draw};
use evenhand_exact::Axiom;
use evenhand_mechanisms::Mechanism;
use evenhand_mechanisms::flags::{Flag, Takes};
use evenhand_mechanisms::guarantees::{Condition, Guarantee};
use evenhand_mechanisms::registry;
use evenhand_problem::Problem;
use evenhand_problem::format::{Source, problem_to_json};

use crate::Fault;
use crate::audits::{Audits, flags, settings};
use crate::generated::{Generated, json, line, page, problem, verdicts};

/// Problems of examples/, the simplest first. A page shows the last problem for which its mechanism is defined.
const EXAMPLES: [&str; 4] = ["one-server.json", "two-servers.json", "gpu-cluster.json", "queues.json"];
/// The size of random problems, which are used if the mechanism is defined for no problem of examples/.
const SMALL: Size = Size { users: 2, classes: 2, resources: 2 };
/// The number of random problems that are tried.
const DRAWN: u64 = 100;

/// A problem and its file.
#[derive(Clone)]
struct Example {
    file: String,
    text: String,
    problem: Problem,
}

/// Returns the pages, in the order of the registry.
///
/// # Errors
/// An example cannot be read, or no mechanism is defined for it.
pub fn mechanisms(root: &Path, audits: &Audits) -> Result<Vec<Generated>, Fault> {
    let examples = EXAMPLES.map(|name| {
        let text =
            std::fs::read_to_string(root.join("examples").join(name)).map_err(|e| format!("{name}: {e}"))?;
        let problem = Source { name, text: &text }.problem()?;
        Ok::<_, Fault>(Example { file: format!("examples/{name}"), text, problem })
    });
    let examples = examples.into_iter().collect::<Result<Vec<_>, Fault>>()?;
    let one = |mechanism: &&'static Mechanism| {
        Ok(Generated {
            title: mechanism.info.id.to_owned(),
            path: format!("docs/mechanisms/{}.md", mechanism.info.id),
            text: text(mechanism, &examples, audits)?,
            pictures: Vec::new(),
        })
    };
    registry::ALL.iter().map(one).collect()
}

fn text(mechanism: &'static Mechanism, examples: &[Example], audits: &Audits) -> Result<String, Fault> {
    let info = mechanism.info;
    let mut text = format!("# `{}`: {}\n\n", info.id, info.title);
    write!(text, "**Equalises or maximises:** {}.\n\n", line(info.equalises))?;
    write!(text, "**In short:** {}.\n\n", line(info.guarantees))?;
    write!(text, "**Defined in:** {} ([theory](../theory.md), ", line(info.reference))?;
    text.push_str("[the papers](../../ARCHITECTURE.md#from-the-papers-to-the-code)).\n\n");
    text.push_str("## What is proven\n\n| axiom | on which problems |\n|---|---|\n");
    for axiom in Axiom::ALL {
        if let Guarantee::When(condition) = mechanism.guarantee(axiom) {
            let name = axiom.name();
            let when = if condition == Condition::Always { "all" } else { condition.words() };
            writeln!(text, "| [`{name}`](../axioms/{name}.md) | {when} |")?;
        }
    }
    text.push_str(&options(mechanism.flags)?);
    text.push_str(&example(mechanism, examples)?);
    text.push_str(&failures(mechanism, audits)?);
    Ok(text)
}

fn options(flags: &[Flag]) -> Result<String, Fault> {
    let mut text = "\n## Options\n\n| option | does |\n|---|---|\n".to_owned();
    for flag in flags {
        let takes = match flag.takes {
            Takes::Nothing => String::new(),
            Takes::Number(word) | Takes::Count(word) | Takes::Name(word, _) => format!(" {word}"),
            Takes::Classes(word) | Takes::Users(word) | Takes::Resources(word) => format!(" {word}"),
        };
        writeln!(text, "| `--{}{takes}` | {} |", flag.name, line(flag.help))?;
        if let Takes::Name(_, names) = flag.takes {
            for (name, meaning) in names {
                writeln!(text, "| &emsp;`{name}` | {} |", line(meaning))?;
            }
        }
    }
    Ok(text)
}

/// Returns the mechanism's answer to the last example for which it is defined, or to a random problem.
fn example(mechanism: &'static Mechanism, examples: &[Example]) -> Result<String, Fault> {
    let settings = settings(mechanism);
    let solve = |problem: &Problem| mechanism.allocate_with(problem, &settings.flags).ok();
    let known = examples.iter().rev().find_map(|example| Some((example.clone(), solve(&example.problem)?)));
    let drawn = || {
        (0..DRAWN).find_map(|number| {
            let problem =
                Problem::new(draw(0, number, SMALL)).ok().filter(|problem| problem.n_users() > 1)?;
            let (file, text) = ("problem.json".to_owned(), problem_to_json(&problem));
            let outcome = solve(&problem)?;
            Some((Example { file, text, problem }, outcome))
        })
    };
    let (example, outcome) = known.or_else(drawn).ok_or_else(|| {
        format!("no problem of examples/ and no random problem is an example for {}", mechanism.info.id)
    })?;
    let mut text = "\n## Example\n\n".to_owned() + &json(&example.text);
    let flags = flags(mechanism);
    write!(text, "\n`evenhand solve {} --mechanism {}{flags}`:\n\n", example.file, mechanism.info.id)?;
    text.push_str(&page(&evenhand_report::outcome(&example.problem, &outcome, false)));
    Ok(text)
}

fn failures(mechanism: &Mechanism, audits: &Audits) -> Result<String, Fault> {
    let mut text = "\n## Where it fails\n\n".to_owned();
    let command = format!("evenhand audit mechanism {}{}", mechanism.info.id, flags(mechanism));
    let broken: Vec<_> = audits.broken_by(mechanism).collect();
    if broken.is_empty() {
        let condition = "no random problem on which it breaks one of the usual axioms";
        writeln!(text, "`{command}` finds {condition}. This does not prove that there is none.")?;
    }
    for (audited, example) in broken {
        let name = audited.axiom.name();
        write!(text, "### [`{}`](../axioms/{name}.md)\n\n", audited.name)?;
        write!(
            text,
            "Violated on {} of {} random problems. `{command}` reduced the first of them as far as it could:\n\n",
            audited.violated, audited.decided
        )?;
        text.push_str(&problem(&example.problem));
        text.push('\n');
        text.push_str(&verdicts(&example.examination.certificate));
        text.push('\n');
    }
    Ok(text)
}
