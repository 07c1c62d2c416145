//! Why a user has what it has, in words.

use evenhand_mechanisms::explain::{Bottleneck, Explanation, ExplanationVerdict};
use evenhand_problem::{Constraints, Problem, Row, Sharing};

use crate::text::{number, percent, row_name};

/// Rows of what more capacity would bring.
const LONGEST: usize = 6;

/// The explanation as a few paragraphs.
#[must_use]
pub fn explanation(problem: &Problem, sharing: Sharing, explanation: &Explanation) -> String {
    let constraints = Constraints::new(problem, sharing);
    let user = &problem.users()[explanation.user];
    let name = user.name();
    let mut text = format!(
        "{name} has {} tasks; its dominant share of the cluster is {} (weight {}).\n",
        number(&explanation.tasks),
        percent(&explanation.dominant_share),
        number(user.weight()),
    );
    if let Some((share, level)) = &explanation.level {
        let share = share.name(problem);
        text.push_str(&format!(
            "The mechanism equalises {share} by weight: the level of {name} is {}.\n",
            number(level)
        ));
    }
    text.push('\n');
    text.push_str(&match explanation.verdict {
        ExplanationVerdict::Inactive => {
            format!("{name} fits on no server that it may use, or has no tasks.\n")
        }
        ExplanationVerdict::Satisfied => format!("{name} has all the tasks that it asked for.\n"),
        ExplanationVerdict::Blocked => {
            format!(
                "{name} cannot have more: every class that it may use has run out of something it needs.\n"
            )
        }
        ExplanationVerdict::Room => format!("{name} could have more: not every class is full for it.\n"),
    });
    for class in &explanation.classes {
        let server = problem.servers()[class.server].name();
        text.push_str(&format!("  {server}: {} tasks here; ", number(&class.tasks)));
        if class.bottlenecks.is_empty() {
            text.push_str("nothing that it needs has run out\n");
            continue;
        }
        let list: Vec<String> =
            class.bottlenecks.iter().map(|b| bottleneck(problem, &constraints, b)).collect();
        text.push_str(&format!("out of {}\n", list.join("; out of ")));
    }
    if !explanation.scarce.is_empty() {
        text.push_str(
            "\nOne more unit would bring, to first order and by the exact prices of the optimum:\n",
        );
        for scarce in explanation.scarce.iter().take(LONGEST) {
            text.push_str(&format!(
                "  of {}: {} more tasks for {name} (the common level rises by {})\n",
                place(problem, &constraints.rows()[scarce.row]),
                number(&scarce.tasks),
                number(&scarce.level),
            ));
        }
        if explanation.scarce.len() > LONGEST {
            text.push_str(&format!(
                "  ... and {} more rows with a price\n",
                explanation.scarce.len() - LONGEST
            ));
        }
    }
    text
}

fn bottleneck(problem: &Problem, constraints: &Constraints<'_>, bottleneck: &Bottleneck) -> String {
    let row = &constraints.rows()[bottleneck.row];
    let holders: Vec<String> = bottleneck
        .holders
        .iter()
        .map(|(n, part)| format!("{} {}", problem.users()[*n].name(), percent(part)))
        .collect();
    let others = bottleneck.n_holders - bottleneck.holders.len();
    let rest = if others > 0 { format!(" and {others} others") } else { String::new() };
    format!("{} (held by {}{rest})", row_name(row.kind, problem.resources()), holders.join(", "))
}

fn place(problem: &Problem, row: &Row) -> String {
    format!("{} on {}", row_name(row.kind, problem.resources()), problem.servers()[row.server].name())
}
