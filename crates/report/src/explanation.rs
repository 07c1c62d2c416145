//! The explanation of a user's allocation, in text for people.

use evenhand_certify::explain::{
    Bottleneck, ClassView, Entitled, Explanation, ExplanationVerdict, OneMore, VirtualView,
};
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use crate::groups::what_stops;
use crate::one_more_unit::one_more_unit;
use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{few, more_tasks, number, percent, place, row_names, tasks};

/// The largest number of prices that are shown.
const LONGEST: usize = 6;

/// Returns the explanation as paragraphs, followed by a table of the server classes.
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
            "Virtual dominant shares, which are its tasks divided by those it could run alone on a class:"
                .to_owned();
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

/// Returns the tasks, the share and the level of the user.
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
        lines.push(
            "This allocation is infeasible, so it does not answer the problem (see `evenhand certify`)."
                .to_owned(),
        );
    }
    lines
}

/// Returns the sentence that explains why the user has no more tasks.
fn verdict(problem: &Problem, explanation: &Explanation) -> String {
    let name = problem.users()[explanation.user].name();
    let is_whole = !explanation.one_more.is_empty();
    match explanation.verdict {
        ExplanationVerdict::FitsNowhere => format!("{name} fits on no server that it may use."),
        ExplanationVerdict::NoTasks => format!("{name} requests no tasks."),
        ExplanationVerdict::Satisfied => format!("{name} has all the tasks that it requests."),
        ExplanationVerdict::AtMost => {
            let most = problem.users()[explanation.user].at_most();
            let most = most.map_or_else(String::new, |most| format!(" {most}"));
            format!(
                "{name} uses all{most} accelerators that it may use at once: it gets more only on faster ones."
            )
        }
        ExplanationVerdict::Blocked if is_whole => {
            format!(
                "{name} cannot get more unless other users free capacity or tasks move: no server that it may use has room for \
                 another of its tasks."
            )
        }
        ExplanationVerdict::Blocked => {
            format!(
                "{name} cannot get more unless other users free capacity or tasks move: every server class that it may use is \
                 full for it."
            )
        }
        ExplanationVerdict::Room if is_whole => {
            format!("{name} could get more as things stand: more of its tasks fit on single servers.")
        }
        ExplanationVerdict::Room => {
            format!("{name} could get more as things stand: not every server class is full for it.")
        }
        ExplanationVerdict::Stopped => {
            format!("{name} cannot get more as things stand: a bound of a group stops it.")
        }
    }
}

/// Returns the bounds of groups that block the user.
fn stops(problem: &Problem, explanation: &Explanation) -> Vec<String> {
    let list = explanation.stops.iter().map(|stop| format!("  {}", what_stops(problem, stop)));
    std::iter::once("It is stopped by groups:".to_owned()).chain(list).collect()
}

/// Returns the table of server classes: the tasks of the user on each class, and why the user has no more
/// tasks on it.
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
            None if class.bottlenecks.is_empty() => "no resource that it needs is full".to_owned(),
            None => {
                let list = class.bottlenecks.iter().map(|b| bottleneck(problem, constraints, b));
                list.collect::<Vec<_>>().join("; ")
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

/// Returns the number of servers of a class on which one more task could start, and the resources that the
/// other servers lack.
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

/// Returns the line of a class: the share of the user, its bottleneck, and the user with the highest level on
/// the class.
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
                "; bottleneck {row}, used at the highest level by {holder} ({})",
                number(level)
            ));
        }
        (Some(row), None) => {
            let (row, _) = row_names(constraints, row);
            text.push_str(&format!("; bottleneck {row}"));
        }
        (None, _) if wants_more => text.push_str("; no bottleneck: by PS-DSF it should get more here"),
        (None, _) => text.push_str("; it has all its tasks, and needs no bottleneck"),
    }
    text
}

/// Returns the sentences that state whether the user has a justified complaint.
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
            let holds = format!("it uses {} of {}, which is full", number(own), place(constraints, *row));
            let rounding = entitled.entitlement.clone() / 1_000_000_000u32;
            match own + rounding >= entitled.entitlement {
                true => format!("{holds}: no justified complaint"),
                false => format!("{holds}, and no more of any other full resource: a justified complaint"),
            }
        }
        (_, None) => "no resource that it needs is full: a justified complaint".to_owned(),
    };
    let mut lines = vec![format!("{name} is entitled to {part} of every resource: {answer}.")];
    if !entitled.prices.is_empty() {
        let prices = entitled.prices.iter();
        let prices = prices.map(|(row, price)| format!("{} {}", place(constraints, *row), number(price)));
        let prices = few(&prices.collect::<Vec<_>>(), LONGEST);
        lines.push(format!("Prices of the resources that it uses, in weight per unit: {prices}."));
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
    format!("{} is full (used by {}{rest})", row_names(constraints, bottleneck.row).0, holders.join(", "))
}
