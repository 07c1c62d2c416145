//! Why a user has what it has, in words.

use evenhand_certify::explain::{
    Bottleneck, ClassView, Entitled, Explanation, ExplanationVerdict, OneMore, VirtualView,
};
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use crate::groups::what_stops;
use crate::one_more_unit::one_more_unit;
use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{few, more_tasks, number, percent, place, row_names, tasks};

/// Prices that are shown.
const LONGEST: usize = 6;

/// The explanation as a few paragraphs, and a table of the server classes.
#[must_use]
pub fn explanation(problem: &Problem, sharing: Sharing, explanation: &Explanation) -> Page {
    let constraints = Constraints::new(problem, sharing);
    let mut page = Page::new().lines(situation(problem, explanation)).text(verdict(problem, explanation));
    if !explanation.stops.is_empty() {
        page = page.lines(stops(problem, explanation));
    }
    let classes = classes(problem, &constraints, explanation);
    if !classes.is_empty() {
        page = page.table(classes);
    }
    if !explanation.virtual_shares.is_empty() {
        let heading =
            "By virtual dominant share, its tasks over those it could run with all of a class:".to_owned();
        let wants_more = explanation.verdict != ExplanationVerdict::Satisfied;
        let views = explanation.virtual_shares.iter();
        let views = views.map(|view| virtual_share(problem, &constraints, view, wants_more));
        page = page.lines(std::iter::once(heading).chain(views));
    }
    if let Some(entitled) = &explanation.entitled {
        page = page.lines(entitlement(problem, &constraints, explanation, entitled));
    }
    page.append(one_more_unit(problem, explanation))
}

/// What the user has.
fn situation(problem: &Problem, explanation: &Explanation) -> Vec<String> {
    let user = &problem.users()[explanation.user];
    let name = user.name();
    let mut lines = vec![format!(
        "{name} has {}; its dominant share of the cluster is {} (weight {}).",
        tasks(&explanation.tasks),
        percent(&explanation.dominant_share),
        number(user.weight()),
    )];
    if let Some((share, level)) = &explanation.level {
        let share = share.name(problem);
        lines.push(format!(
            "The mechanism equalises {share} by weight: the level of {name} is {}.",
            number(level)
        ));
    }
    if explanation.infeasible {
        lines.push("This allocation is infeasible: it is no answer to the problem (see certify).".to_owned());
    }
    lines
}

/// Why it has no more, in a sentence.
fn verdict(problem: &Problem, explanation: &Explanation) -> String {
    let name = problem.users()[explanation.user].name();
    let is_whole = !explanation.one_more.is_empty();
    match explanation.verdict {
        ExplanationVerdict::FitsNowhere => format!("{name} fits on no server that it may use."),
        ExplanationVerdict::NoTasks => format!("{name} asked for no tasks."),
        ExplanationVerdict::Satisfied => format!("{name} has all the tasks that it asked for."),
        ExplanationVerdict::Blocked if is_whole => {
            format!(
                "{name} cannot grow unless others give something back or tasks move: no server that it may use has room for \
                 another task of it."
            )
        }
        ExplanationVerdict::Blocked => {
            format!(
                "{name} cannot grow unless others give something back or tasks move: every server class that it may use is \
                 full for it."
            )
        }
        ExplanationVerdict::Room if is_whole => {
            format!("{name} could get more as things stand: more tasks of it fit on single servers.")
        }
        ExplanationVerdict::Room => {
            format!("{name} could get more as things stand: not every server class is full for it.")
        }
        ExplanationVerdict::Stopped => {
            format!("{name} cannot grow as things stand: a group above it stops it.")
        }
    }
}

/// What groups stop the user by.
fn stops(problem: &Problem, explanation: &Explanation) -> Vec<String> {
    let list = explanation.stops.iter().map(|stop| format!("  {}", what_stops(problem, stop)));
    std::iter::once("It is stopped by groups:".to_owned()).chain(list).collect()
}

/// By server class: the tasks of the user there, and why it has no more.
fn classes(problem: &Problem, constraints: &Constraints<'_>, explanation: &Explanation) -> Table {
    let wants_more = matches!(
        explanation.verdict,
        ExplanationVerdict::Blocked | ExplanationVerdict::Room | ExplanationVerdict::Stopped
    );
    let why = |class: &&ClassView| {
        let single = explanation.one_more.iter().find(|single| single.server == class.server);
        match single {
            _ if !wants_more => String::new(),
            Some(single) => one_more(constraints, single),
            None if class.bottlenecks.is_empty() => "nothing that it needs has run out".to_owned(),
            None => {
                let list = class.bottlenecks.iter().map(|b| bottleneck(problem, constraints, b));
                format!("out of {}", list.collect::<Vec<_>>().join("; out of "))
            }
        }
    };
    Table::of(explanation.classes.iter().filter(|class| wants_more || !class.tasks.is_zero()))
        .words("server class", |class| problem.servers()[class.server].name())
        .numbers("tasks here", |class| Cell::decimal(&class.tasks))
        .words("why not more", why)
        .unless_all("")
        .table()
}

/// On how many servers of a class one more task fits, and what is short on the others.
fn one_more(constraints: &Constraints<'_>, single: &OneMore) -> String {
    let servers = |count: u64| format!("{count} server{}", if count == 1 { "" } else { "s" });
    let short: Vec<String> = single
        .short
        .iter()
        .map(|(row, count)| {
            let (row, _) = row_names(constraints, *row);
            format!("{row} is short on {}", servers(*count))
        })
        .collect();
    match (single.fits, short.is_empty()) {
        (0, _) => format!("for one more task {}", short.join(", ")),
        (fits, none_short) => {
            let more = more_tasks(&Rational::from(&single.tasks));
            let verb = if single.tasks == 1 { "fits" } else { "fit" };
            let room = format!("{more} {verb}, on {}", servers(fits));
            if none_short { room } else { format!("{room}; {}", short.join(", ")) }
        }
    }
}

/// One class: the share of the user, its bottleneck, and who holds that at the highest level.
fn virtual_share(
    problem: &Problem,
    constraints: &Constraints<'_>,
    view: &VirtualView,
    wants_more: bool,
) -> String {
    let server = problem.servers()[view.server].name();
    let mut text = format!("  {server}: {} (by weight {})", percent(&view.share), number(&view.level));
    match (view.bottleneck, &view.highest) {
        (Some(row), Some((n, level))) => {
            let (row, _) = row_names(constraints, row);
            let holder = problem.users()[*n].name();
            text.push_str(&format!(
                "; bottleneck {row}, held at the highest level by {holder} ({})",
                number(level)
            ));
        }
        (Some(row), None) => {
            let (row, _) = row_names(constraints, row);
            text.push_str(&format!("; bottleneck {row}"));
        }
        (None, _) if wants_more => text.push_str("; no bottleneck: by PS-DSF it is due more here"),
        (None, _) => text.push_str("; it has all its tasks, and needs no bottleneck"),
    }
    text
}

/// Why the user has a justified complaint, or none.
fn entitlement(
    problem: &Problem,
    constraints: &Constraints<'_>,
    explanation: &Explanation,
    entitled: &Entitled,
) -> Vec<String> {
    let name = problem.users()[explanation.user].name();
    let part = number(&entitled.entitlement);
    let answer = match (explanation.verdict, &entitled.best) {
        (ExplanationVerdict::Satisfied, _) => "it has all its tasks, and no justified complaint".to_owned(),
        (_, Some((row, own))) => {
            let holds =
                format!("it holds {} of {}, which has run out", number(own), place(constraints, *row));
            let rounding = entitled.entitlement.clone() / 1_000_000_000u32;
            match own + rounding >= entitled.entitlement {
                true => format!("{holds}: no justified complaint"),
                false => format!("{holds}, and no more of anything else that has: a justified complaint"),
            }
        }
        (_, None) => "nothing that it needs has run out: a justified complaint".to_owned(),
    };
    let mut lines = vec![format!("{name} is entitled to {part} of everything: {answer}.")];
    if !entitled.prices.is_empty() {
        let prices = entitled.prices.iter();
        let prices = prices.map(|(row, price)| format!("{} {}", place(constraints, *row), number(price)));
        let prices = few(&prices.collect::<Vec<_>>(), LONGEST);
        lines.push(format!("What it holds costs, in weight for one unit: {prices}."));
    }
    lines
}

fn bottleneck(problem: &Problem, constraints: &Constraints<'_>, bottleneck: &Bottleneck) -> String {
    let holders: Vec<String> = bottleneck
        .holders
        .iter()
        .map(|(n, part)| format!("{} {}", problem.users()[*n].name(), percent(part)))
        .collect();
    let others = bottleneck.n_holders - bottleneck.holders.len();
    let rest = match others {
        0 => String::new(),
        1 => " and one other".to_owned(),
        _ => format!(" and {others} others"),
    };
    format!("{} (held by {}{rest})", row_names(constraints, bottleneck.row).0, holders.join(", "))
}
