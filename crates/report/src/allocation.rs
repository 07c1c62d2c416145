//! An allocation as tables: who got what, and what is used.

use evenhand_mechanisms::Outcome;
use evenhand_problem::utilisation::{by_resource, dominant_share};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use crate::findings::findings;
use crate::text::{decimal, number, percent, table_with_words};

/// Users beyond this many are summed up in a last line.
const LONGEST: usize = 40;

/// The allocation for people.
#[must_use]
pub fn allocation(problem: &Problem, allocation: &Allocation) -> String {
    let is_exact = allocation.arithmetic == Arithmetic::Exact;
    tables(problem, allocation, if is_exact { "exact" } else { "floating point, uncertified" })
}

/// What a mechanism made, for people: the allocation, and what was found beside it.
#[must_use]
pub fn outcome(problem: &Problem, outcome: &Outcome) -> String {
    let allocation = &outcome.allocation;
    let certainty = match (allocation.arithmetic, &outcome.findings.gap) {
        (Arithmetic::Exact, Some(gap)) if !gap.is_zero() => "rational, certified within its gap",
        (Arithmetic::Exact, _) => "exact",
        (Arithmetic::Float, Some(_)) => "floating point, certified within its gap",
        (Arithmetic::Float, None) => "floating point, uncertified",
    };
    tables(problem, allocation, certainty) + &findings(problem, outcome)
}

fn tables(problem: &Problem, allocation: &Allocation, certainty: &str) -> String {
    let exact = allocation.arithmetic == Arithmetic::Exact;
    let show = |value: &Rational| if exact { number(value) } else { decimal(value) };
    let name = allocation.mechanism.as_deref().unwrap_or("an allocation from elsewhere");
    let mut text = format!("{name}: {certainty}\n\n");
    let rows = (0..problem.n_users())
        .take(LONGEST)
        .map(|n| {
            let user = &problem.users()[n];
            let placed = allocation.tasks[n]
                .iter()
                .filter(|(_, x)| !x.is_zero())
                .map(|(i, x)| format!("{}: {}", problem.servers()[*i].name(), decimal(x)))
                .collect::<Vec<_>>()
                .join(", ");
            let wanted = user.tasks().map_or_else(|| "unlimited".to_owned(), decimal);
            let share = dominant_share(problem, allocation, n);
            vec![
                user.name().to_owned(),
                show(&allocation.total(n)),
                wanted,
                percent(&share),
                number(user.weight()),
                placed,
            ]
        })
        .collect();
    text.push_str(&table_with_words(
        &["user", "tasks", "wanted", "dominant share", "weight", "placed on"],
        rows,
    ));
    if problem.n_users() > LONGEST {
        text.push_str(&format!("... and {} more users\n", problem.n_users() - LONGEST));
    }
    text.push_str("\nused of the whole cluster: ");
    let used: Vec<String> = problem
        .resources()
        .iter()
        .zip(by_resource(problem, allocation))
        .map(|(name, used)| {
            format!("{name} {}", used.as_ref().map_or_else(|| "none there".to_owned(), percent))
        })
        .collect();
    text.push_str(&used.join(", "));
    text.push('\n');
    text
}
