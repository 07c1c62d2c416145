//! The verdicts of an examination as a table.

use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_exact::axiom::max_min::Level;
use evenhand_exact::axiom::ps_dsf::Unblocked;
use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Outcome, Share};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use crate::text::{decimal, number, printable, row_name, table_with_words, tasks};

/// What a certificate is about, its claims with their margins and the evidence in a few words.
///
/// `in_tasks`: by claim its margin in tasks, where that is known; `repair`: how much of the allocation was
/// repaired, where that is known.
#[must_use]
pub fn claims(
    certificate: &Certificate,
    in_tasks: &[Option<Rational>],
    repair: Option<&Rational>,
    undecided: &[(Axiom, String)],
) -> String {
    let problem = &certificate.problem;
    let constraints = Constraints::new(problem, certificate.allocation.sharing);
    let none = None;
    let mut rows: Vec<Vec<String>> = certificate
        .claims
        .iter()
        .enumerate()
        .map(|(at, claim)| {
            let tasks = in_tasks.get(at).unwrap_or(&none).as_ref();
            let words = words(claim, certificate, &constraints);
            vec![title(claim, problem), verdict(claim), margin(claim), in_tasks_words(tasks), words]
        })
        .collect();
    for (axiom, why) in undecided {
        let name = axiom.name().to_owned();
        rows.push(vec![name, "not checked".to_owned(), String::new(), String::new(), why.clone()]);
    }
    let mut text = about(certificate, repair);
    text.push('\n');
    text.push_str(&table_with_words(&["axiom", "verdict", "margin", "in tasks", ""], rows));
    for note in notes(certificate) {
        text.push_str(&format!("\n{note}\n"));
    }
    text
}

/// The problem by name, size and hash, the way of sharing, the tolerance and the repair.
fn about(certificate: &Certificate, repair: Option<&Rational>) -> String {
    let problem = &certificate.problem;
    let name = match problem.name() {
        "" => "a problem without a name".to_owned(),
        name => format!("`{name}`"),
    };
    let (users, classes) = (problem.n_users(), problem.n_servers());
    let sharing = match certificate.allocation.sharing {
        Sharing::Rdm => "resources are divided (rdm)",
        Sharing::Tdm => "servers are shared by time (tdm)",
    };
    let mut text = format!(
        "problem    {}, {users} {}, {classes} server {}, sha256 {}\nsharing    {sharing}\ntolerance  {}\n",
        printable(&name),
        if users == 1 { "user" } else { "users" },
        if classes == 1 { "class" } else { "classes" },
        problem_sha256(problem),
        tolerance_words(&certificate.tolerance),
    );
    if let Some(repair) = repair.filter(|repair| !repair.is_zero()) {
        text.push_str(&format!(
            "repair     {} of what the user would have alone, at most: the stated allocation is infeasible by that\n",
            decimal(repair)
        ));
    }
    text
}

fn tolerance_words(tolerance: &Rational) -> String {
    if tolerance.is_zero() { "0: every verdict is exact".to_owned() } else { number(tolerance) }
}

/// What a reader could otherwise take for more, or for less, than it is.
fn notes(certificate: &Certificate) -> Vec<&'static str> {
    let claims = &certificate.claims;
    let mut notes = Vec::new();
    if claims.iter().any(|claim| claim.outcome() == Outcome::Violated && claim.is_bound()) {
        notes.push("`at least`: the evidence shows one better allocation; another may be better still.");
    }
    if claims.iter().any(|claim| claim.outcome() == Outcome::Within && claim.axiom.needs_evidence()) {
        notes.push("Margins of what holds within the tolerance are bounds that the prices prove.");
    }
    let is_cluster = certificate.problem.n_single_servers() > 1;
    if is_cluster && claims.iter().any(|claim| claim.axiom == Axiom::Njc && claim.holds.is_some()) {
        notes.push(
            "`njc` on a cluster is weak: one saturated class, however small, answers the complaint of whoever \
             holds its part of it.",
        );
    }
    notes
}

/// The axiom with its parameters.
fn title(claim: &Claim, problem: &Problem) -> String {
    let share = claim.share.map(|share| share.name(problem));
    let alpha = claim.alpha.as_ref().map(|alpha| format!("alpha {}", number(alpha)));
    let parameters: Vec<String> = share.into_iter().chain(alpha).collect();
    match parameters.as_slice() {
        [] => claim.axiom.name().to_owned(),
        several => format!("{} ({})", claim.axiom.name(), several.join(", ")),
    }
}

/// Holds, holds within the tolerance, violated or not applicable.
pub(crate) fn verdict(claim: &Claim) -> String {
    match claim.outcome() {
        Outcome::Holds => "holds",
        Outcome::Within => "holds within",
        Outcome::Violated => "VIOLATED",
        Outcome::NotApplicable => "not applicable",
    }
    .to_owned()
}

fn margin(claim: &Claim) -> String {
    let bound = if claim.outcome() == Outcome::Violated && claim.is_bound() { "at least " } else { "" };
    match &claim.margin {
        None => String::new(),
        Some(margin) if margin.is_zero() => "0, exactly".to_owned(),
        Some(margin) if *margin < 0 => format!("{bound}{} short", decimal(&Rational::from(-margin))),
        Some(margin) => decimal(margin),
    }
}

fn in_tasks_words(margin: Option<&Rational>) -> String {
    margin.filter(|margin| !margin.is_zero()).map_or_else(String::new, decimal)
}

fn words(claim: &Claim, certificate: &Certificate, constraints: &Constraints<'_>) -> String {
    let problem = &certificate.problem;
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
        Evidence::Short(short) if short.is_empty() => "everybody has all its tasks".to_owned(),
        Evidence::Short(_) => "something is short for every pending task on every class".to_owned(),
        Evidence::Room(room) => {
            let server = problem.servers()[room.server].name();
            match room.index {
                None => format!("{} could run more on {server}", user(room.user)),
                Some(index) => format!("a task of {} fits on server {index} of {server}", user(room.user)),
            }
        }
        Evidence::Levels(levels) => levels_words(levels, claim.share, certificate),
        Evidence::LevelsByResource(resources) => {
            let names: Vec<&str> = resources.iter().map(|(r, _)| problem.resources()[*r].as_str()).collect();
            format!("max-min on {}, by prices", names.join(" and on "))
        }
        Evidence::Rise { user: n, resource, .. } => {
            let of = resource.map_or_else(String::new, |r| format!(" of {}", problem.resources()[r]));
            format!("{} could have more{of}: who would lose keeps at least as much as it then has", user(*n))
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

/// What the levels prove, by name where there is just one.
fn levels_words(levels: &[Level], share: Option<Share>, certificate: &Certificate) -> String {
    let used: Vec<&Level> = levels.iter().filter(|level| !level.covers.is_empty()).collect();
    match used.as_slice() {
        [] => "everybody has all that it could have alone, or nobody wants any of it".to_owned(),
        [level] => match level_of(level, share, certificate) {
            Some(level) => format!("prices prove the level {}", number(&level)),
            None => "prices prove one level".to_owned(),
        },
        levels => format!("prices prove {} levels", levels.len()),
    }
}

/// The common level of the users that a level covers, where they have the very same.
fn level_of(level: &Level, share: Option<Share>, certificate: &Certificate) -> Option<Rational> {
    let problem = &certificate.problem;
    let coefficients = share?.coefficients(problem).ok()?;
    let of = |n: usize| {
        let u = coefficients.uniform(n)?;
        Some(certificate.allocation.total(n) * u / problem.users()[n].weight())
    };
    let first = of(*level.covers.first()?)?;
    level.covers.iter().all(|&n| of(n).as_ref() == Some(&first)).then_some(first)
}

/// Who has no bottleneck where, and what it lacks of each resource.
fn unblocked_words(unblocked: &Unblocked, problem: &Problem, constraints: &Constraints<'_>) -> String {
    let lacks = unblocked.lacks.iter().map(|(row, lack)| {
        let row = row_name(constraints.rows()[*row].kind, problem.resources());
        format!("{} for {row}", tasks(lack))
    });
    let lacks: Vec<String> = lacks.collect();
    let user = problem.users()[unblocked.user].name();
    let server = problem.servers()[unblocked.server].name();
    format!("{user} has no bottleneck on {server}: it lacks {}", lacks.join(", "))
}
