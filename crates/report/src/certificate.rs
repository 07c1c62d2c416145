//! The verdicts of an examination as a table.

use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_exact::axiom::ps_dsf::{Reason, Unblocked};
use evenhand_exact::{Axiom, Certificate, Claim, Evidence};
use evenhand_problem::{Constraints, Problem};

use crate::text::{decimal, number, row_name, table_with_words, tasks};

/// What was claimed, with the margins and the evidence in a few words.
#[must_use]
pub fn claims(certificate: &Certificate, undecided: &[(Axiom, String)]) -> String {
    let problem = &certificate.problem;
    let constraints = Constraints::new(problem, certificate.allocation.sharing);
    let mut rows: Vec<Vec<String>> = certificate
        .claims
        .iter()
        .map(|claim| {
            let share = claim.share.map(|share| share.name(problem));
            let alpha = claim.alpha.as_ref().map(|alpha| format!("alpha {}", number(alpha)));
            let parameters: Vec<String> = share.into_iter().chain(alpha).collect();
            let name = match parameters.as_slice() {
                [] => claim.axiom.name().to_owned(),
                several => format!("{} ({})", claim.axiom.name(), several.join(", ")),
            };
            vec![name, verdict(claim), margin(claim), words(claim, problem, &constraints)]
        })
        .collect();
    for (axiom, why) in undecided {
        rows.push(vec![axiom.name().to_owned(), "not checked".to_owned(), String::new(), why.clone()]);
    }
    let mut text = table_with_words(&["axiom", "verdict", "margin", ""], rows);
    if !certificate.tolerance.is_zero() {
        let tolerance = number(&certificate.tolerance);
        text.push_str(&format!("\nVerdicts tolerate a margin of -{tolerance}.\n"));
    }
    text
}

/// Holds, violated or not applicable.
pub(crate) fn verdict(claim: &Claim) -> String {
    match claim.holds {
        Some(true) => "holds",
        Some(false) => "VIOLATED",
        None => "not applicable",
    }
    .to_owned()
}

fn margin(claim: &Claim) -> String {
    let unit = match claim.axiom {
        Axiom::Feasible | Axiom::IntegerFeasible => "of capacity",
        // Weight times tasks^(1 - alpha), which has no name.
        Axiom::Proportional => "",
        _ => "tasks",
    };
    claim.margin.as_ref().map_or_else(String::new, |m| match m.is_zero() {
        true => "0, exactly".to_owned(),
        false => format!("{} {unit}", decimal(m)).trim_end().to_owned(),
    })
}

fn words(claim: &Claim, problem: &Problem, constraints: &Constraints<'_>) -> String {
    let user = |n: usize| problem.users()[n].name();
    match &claim.evidence {
        Evidence::None => claim.why.clone().unwrap_or_default(),
        Evidence::Limit { limit, slack } => {
            let what = match *limit {
                Limit::Row(row) => {
                    let row = &constraints.rows()[row];
                    let server = problem.servers()[row.server].name();
                    format!("{} of {server}", row_name(row.kind, problem.resources()))
                }
                Limit::Tasks(n) => format!("the task limit of {}", user(n)),
                Limit::Entry(n, server) => {
                    format!("{} on {}", user(n), problem.servers()[server].name())
                }
            };
            format!("tightest: {what}, {} left", decimal(slack))
        }
        Evidence::SingleLimit { limit, slack } => {
            let server = |i: usize, index: u64| format!("server {index} of {}", problem.servers()[i].name());
            let what = match *limit {
                SingleLimit::Row { row, index } => {
                    let row = &constraints.rows()[row];
                    format!("{} of {}", row_name(row.kind, problem.resources()), server(row.server, index))
                }
                SingleLimit::Tasks(n) => format!("the task limit of {}", user(n)),
                SingleLimit::Entry { user: n, server: i, index } => {
                    format!("{} on {}", user(n), server(i, index))
                }
            };
            format!("tightest: {what}, {} left", decimal(slack))
        }
        Evidence::EnvyUpToOne { user: n, envied, removed, gain } => {
            let bundle = match removed {
                Some(i) => {
                    format!("{} without one task on {}", user(*envied), problem.servers()[*i].name())
                }
                None => user(*envied).to_owned(),
            };
            match gain {
                None => format!("closest: {} looking at {bundle}", user(*n)),
                Some(gain) => {
                    format!("{} would gain {} with the bundle of {bundle}", user(*n), tasks(gain))
                }
            }
        }
        Evidence::Entitlement { user: n, loss: None } => format!("closest: {}", user(*n)),
        Evidence::Entitlement { user: n, loss: Some(loss) } => {
            format!("{} has {} too few", user(*n), tasks(loss))
        }
        Evidence::Envy { user: n, envied, gain: None } => {
            format!("closest: {} looking at {}", user(*n), user(*envied))
        }
        Evidence::Envy { user: n, envied, gain: Some(gain) } => {
            format!("{} would gain {} with the bundle of {}", user(*n), tasks(gain), user(*envied))
        }
        Evidence::Prices(_) => "prices prove it".to_owned(),
        Evidence::Dominating(_) => "another allocation gives somebody more and nobody less".to_owned(),
        Evidence::DominatingPlacements(_) => {
            "other whole tasks give somebody more and nobody less".to_owned()
        }
        Evidence::Levels { levels, .. } => match levels.as_slice() {
            [] => "everybody has all its tasks".to_owned(),
            [level] => format!("prices prove the level {}", number(&level.level)),
            levels => format!("prices prove {} levels", levels.len()),
        },
        Evidence::Rise { user: n, .. } => {
            format!("{} can have more at nobody's expense that has no more than it", user(*n))
        }
        Evidence::Witnesses(_) => "everybody has all its tasks, or its part of a saturated row".to_owned(),
        Evidence::Complaint(complaint) => format!(
            "{} is entitled to {} of a saturated row, and has that of none",
            user(complaint.user),
            number(&complaint.entitlement)
        ),
        Evidence::Bottlenecks(_) => "everybody has all its tasks, or a bottleneck on every class".to_owned(),
        Evidence::Unblocked(unblocked) => unblocked_words(unblocked, problem, constraints),
        Evidence::Better(_) => "another allocation has a larger sum".to_owned(),
        Evidence::Nothing { user: n } => format!("{} has nothing, and could have something", user(*n)),
    }
}

/// Who has no bottleneck where, and why each resource is none.
fn unblocked_words(unblocked: &Unblocked, problem: &Problem, constraints: &Constraints<'_>) -> String {
    let user = |n: usize| problem.users()[n].name();
    let reasons = unblocked.reasons.iter().map(|(row, reason)| {
        let row = row_name(constraints.rows()[*row].kind, problem.resources());
        match reason {
            Reason::Slack(slack) => format!("{row} has {} left", decimal(slack)),
            Reason::Holder { user: holder, .. } => {
                format!("{row} is held by {}, which is ahead", user(*holder))
            }
        }
    });
    let reasons: Vec<String> = reasons.collect();
    let server = problem.servers()[unblocked.server].name();
    format!("{} has no bottleneck on {server}: {}", user(unblocked.user), reasons.join(", "))
}
