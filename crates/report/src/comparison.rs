//! Mechanisms side by side.

use evenhand_exact::Axiom;
use evenhand_mechanisms::compare::{Column, Judged, NoResult};
use evenhand_problem::{Problem, Rational};

use crate::text::{decimal, percent, table};

/// Users beyond this many are left out of the table.
const LONGEST: usize = 12;

/// The comparison for people: tasks, shares, utilisation, axioms.
#[must_use]
pub fn comparison(problem: &Problem, columns: &[Column]) -> String {
    let shown: Vec<(&str, &Judged)> =
        columns.iter().filter_map(|c| Some((c.name, c.result.as_ref().ok()?))).collect();
    let mut header = vec![""];
    header.extend(shown.iter().map(|(name, _)| *name));
    let line = |name: &str, cell: &dyn Fn(&Judged) -> String| {
        let mut row = vec![name.to_owned()];
        row.extend(shown.iter().map(|(_, judged)| cell(judged)));
        row
    };
    let optional =
        |value: Option<&Rational>, show: fn(&Rational) -> String| value.map_or_else(|| "-".to_owned(), show);
    let mut text = String::new();
    let users = problem.users().iter().take(LONGEST).enumerate();
    let tasks = users.map(|(n, user)| line(user.name(), &|judged| decimal(&judged.tasks[n]))).collect();
    text.push_str("Tasks that each user gets\n");
    text.push_str(&table(&header, tasks));
    if problem.n_users() > LONGEST {
        text.push_str(&format!("... and {} more users\n", problem.n_users() - LONGEST));
    }

    text.push_str("\nHow fair and how efficient\n");
    let mut rows = vec![
        line("least weighted dominant share", &|j| optional(j.least_weighted_share.as_ref(), percent)),
        line("price of fairness", &|j| optional(j.price_of_fairness.as_ref(), decimal)),
    ];
    for (r, resource) in problem.resources().iter().enumerate() {
        rows.push(line(&format!("{resource} used"), &|j| optional(j.utilisation[r].as_ref(), percent)));
    }
    text.push_str(&table(&header, rows));

    text.push_str("\nAxioms (where violated: the worst margin in tasks)\n");
    let examined = |axiom: Axiom| {
        shown.iter().any(|(_, j)| {
            j.claims.iter().any(|c| c.axiom == axiom) || j.undecided.iter().any(|(a, _)| *a == axiom)
        })
    };
    let axioms = Axiom::ALL.into_iter().filter(|axiom| examined(*axiom));
    let rows = axioms.map(|axiom| line(axiom.name(), &|judged| verdict(judged, axiom))).collect();
    text.push_str(&table(&header, rows));
    for column in columns {
        match &column.result {
            Ok(_) => {}
            Err(NoResult::NotApplicable(why)) => {
                text.push_str(&format!("{}: not applicable: {why}\n", column.name));
            }
            Err(NoResult::Failed(why)) => text.push_str(&format!("{}: failed: {why}\n", column.name)),
        }
    }
    text.push_str(
        "\nPrice of fairness: the most weighted tasks that any allocation could serve, divided by those\n\
         served here. All verdicts are exact; \"not checked\" was not examined for this mechanism.\n",
    );
    text
}

fn verdict(judged: &Judged, axiom: Axiom) -> String {
    let Some(claim) = judged.claims.iter().find(|claim| claim.axiom == axiom) else {
        return "not checked".to_owned();
    };
    match (claim.holds, &claim.margin) {
        (Some(true), _) => "holds".to_owned(),
        (Some(false), Some(margin)) => format!("NO ({})", decimal(margin)),
        (Some(false), None) => "NO".to_owned(),
        (None, _) => "n/a".to_owned(),
    }
}
