//! The findings of a mechanism in addition to its allocation, in text for people.

use evenhand_exact::{LimitOf, LimitRows, Packing};
use evenhand_mechanisms::filling::{Integrality, Measure};
use evenhand_mechanisms::{Bound, Intervals, Outcome, Search, Selected, Status};
use evenhand_problem::{Constraints, Problem, Rational};

use crate::text::{few, number, place};

/// Returns lines about the prices, the gap, the bottlenecks, the selection and the status that the mechanism
/// reports.
pub(crate) fn findings(problem: &Problem, outcome: &Outcome) -> Vec<String> {
    let constraints = Constraints::new(problem, outcome.allocation.sharing);
    let findings = &outcome.findings;
    let mut lines = Vec::new();
    if let Some(bottlenecks) = &findings.bottlenecks {
        let names: Vec<String> = bottlenecks.iter().map(|row| place(&constraints, *row)).collect();
        lines.push(match names.as_slice() {
            [] => "No resource is full.".to_owned(),
            names => format!("Bottlenecks: {}.", few(names, LONGEST)),
        });
    }
    if let Some(prices) = &findings.prices {
        let priced = prices.rows.iter().enumerate().filter(|(_, price)| **price > SMALL_PRICE);
        let limits = LimitRows::new(constraints.problem(), &Vec::new());
        let first = constraints.rows().len();
        let name = |row: usize| match row.checked_sub(first).map(|at| &limits.list()[at].of) {
            Some(LimitOf::User(n)) => format!("at_most of {}", constraints.problem().users()[*n].name()),
            _ => place(&constraints, row),
        };
        let names: Vec<String> =
            priced.map(|(row, price)| format!("{} {}", name(row), number(price))).collect();
        if !names.is_empty() {
            lines.push(format!("Prices of one unit: {}.", few(&names, LONGEST)));
        }
    }
    if let Some(gap) = &findings.gap {
        lines.push(match gap.is_zero() {
            true => "Proven optimal, exactly.".to_owned(),
            false => format!(
                "Proven within {}: no allocation is better by more than this, counted by weight.",
                number(gap)
            ),
        });
    }
    if let Some(Selected { value, bound, .. }) = &findings.selected {
        lines.push(match bound {
            Bound::Proven => format!("Value {}; proven the best of all answers.", number(value)),
            Bound::Claimed(bound) => {
                format!("Value {}; HiGHS claims that no answer exceeds {bound}, unproven.", number(value))
            }
            Bound::Found => {
                format!("Value {}; the best answer of the search, without a proof.", number(value))
            }
        });
    }
    if let Some(search) = &findings.search {
        lines.push(searched(search));
    }
    if let Some(set) = &findings.faces {
        let (polytopes, points) = (set.polytopes.len(), set.extreme_points.len());
        lines.push(format!(
            "All answers: {polytopes} polytope{} with {points} extreme point{} (--format json lists them).",
            if polytopes == 1 { "" } else { "s" },
            if points == 1 { "" } else { "s" },
        ));
    }
    if let Some(Intervals { width, .. }) = &findings.intervals {
        lines.push(format!(
            "The time was up: levels lie between proven bounds (--format json lists them). The widest differ by {:.1e} of \
             the level that the user would have alone.",
            width.to_f64()
        ));
    }
    if let Some(fractions) = &findings.fractions {
        let kept = fractions.iter().enumerate().map(|(n, (least, most))| {
            let name = problem.users()[n].name();
            if least == most { format!("{name} {least}") } else { format!("{name} {}", number(least)) }
        });
        let kept: Vec<String> = kept.collect();
        lines.push(format!("Kept fraction of the proportionally fair tasks: {}.", few(&kept, LONGEST)));
    }
    if let Some(packings) = &findings.schedule {
        lines.extend(schedule(problem, packings));
    }
    let is_final = |status: &Status| matches!(status, Status::Solved | Status::Interval);
    if let Some(status) = findings.status.filter(|status| !is_final(status)) {
        lines.push(format!("The method stopped with the status `{}`.", status.name()));
    }
    if let Some(Integrality { mechanism, whole, divisible }) = &findings.integrality {
        let measure = |measure: &Measure| {
            let share = measure.least_weighted_share.as_ref().map_or_else(|| "none".to_owned(), number);
            format!("{} tasks, least weighted share {share}", number(&measure.tasks))
        };
        lines.push(format!("Whole tasks: {}.", measure(whole)));
        lines.push(match divisible {
            Ok(ideal) => format!("Divided by {mechanism}: {}.", measure(ideal)),
            Err(why) => format!("Divided by {mechanism}: not available ({}).", why.reason()),
        });
    }
    lines
}

/// The largest number of classes, and of packings of one class, that are shown.
const MOST_SHOWN: usize = 8;

/// Returns a line for each class with the packings of whole tasks among which its servers alternate.
fn schedule(problem: &Problem, packings: &[Packing]) -> Vec<String> {
    let classes: Vec<&[Packing]> = packings.chunk_by(|a, b| a.server == b.server).collect();
    let mut lines = vec!["A server takes turns among packings of whole tasks:".to_owned()];
    for of_class in classes.iter().take(MOST_SHOWN) {
        let packing = |packing: &Packing| {
            let tasks = |(n, k): &(usize, u64)| format!("{k} of {}", problem.users()[*n].name());
            let tasks: Vec<String> = packing.tasks.iter().map(tasks).collect();
            let part = number(&Rational::from(&packing.part * 100));
            let tasks = if tasks.is_empty() { "nothing".to_owned() } else { few(&tasks, LONGEST) };
            format!("{part}\u{a0}% of the time {tasks}")
        };
        let shown: Vec<String> = of_class.iter().take(MOST_SHOWN).map(packing).collect();
        let more = of_class.len().saturating_sub(MOST_SHOWN);
        let more = if more > 0 { format!("; {more} more packings") } else { String::new() };
        let server = problem.servers()[of_class[0].server].name();
        lines.push(format!("  {server}: {}{more}", shown.join("; ")));
    }
    if classes.len() > MOST_SHOWN {
        lines.push(format!("  and {} more classes (--format json lists all)", classes.len() - MOST_SHOWN));
    }
    lines
}

/// Returns the sentences on whether PS-DSF has several answers, and on the searches that led to this answer.
fn searched(search: &Search) -> String {
    if search.unique {
        return "This answer is the only one.".to_owned();
    }
    let searches = |count: usize| format!("{count} search{}", if count == 1 { "" } else { "es" });
    let from = search.tried.get(search.returned).map_or("", |tried| tried.start.as_str());
    let (tried, planned) = (search.tried.len(), search.planned);
    let run = match tried < planned {
        true => format!("{tried} of {} (the budget of {} steps is spent)", searches(planned), search.budget),
        false => searches(tried),
    };
    let empty = search.tried.iter().filter(|tried| tried.tasks.is_none()).count();
    let found = match (&search.more_tasks, search.answers) {
        (Some(tasks), answers) => format!(
            "found {answers} of them. This one is from: {from}. Another answer serves more tasks: {}.",
            number(tasks)
        ),
        (None, 1) if tried == 1 => "found this one.".to_owned(),
        (None, 1) if empty > 0 => format!("found only this one; {empty} of them found no answer."),
        (None, 1) => "all found this one.".to_owned(),
        (None, answers) => format!(
            "found {answers} of them. This one is from: {from}. None of the others dominates it or serves more tasks."
        ),
    };
    format!("PS-DSF can have several answers. {run} {found}")
}

/// The largest number of names in one line.
const LONGEST: usize = 8;

/// Prices up to this size count as 0, because numerical methods leave small errors in prices.
const SMALL_PRICE: f64 = 1e-12;
