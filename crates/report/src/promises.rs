//! The promises to queues next to the existing capacity, in text for people: the promises in doubt, the
//! reasons, and the amount on which each queue can rely.

use evenhand_cluster::promises::{Claim, Claims, OfResource, Shortage};
use evenhand_mechanisms::tree::{PerResource, Rule};
use evenhand_problem::groups::Guarantees;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};

use crate::cluster::{left_out, named_amount};
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{amount, few};

/// The largest number of names in one sentence.
const NAMED: usize = 6;
/// The largest number of rows of the table, and of reasons, for people.
const LONGEST: usize = 60;

/// Returns the promises as a page.
#[must_use]
pub fn page(snapshot: &Snapshot, claims: &Claims) -> Page {
    let problem = &snapshot.problem;
    let mut page = Page::new().text(answer(problem, claims));
    if claims.resources.is_empty() {
        return page.lines(left_out(snapshot));
    }
    page = page.table(table(problem, claims)).lines(reasons(problem, claims));
    if claims.in_doubt().next().is_some() {
        page = page.lines(remedies(problem, claims));
    }
    page.lines(notes(problem, claims)).lines(left_out(snapshot))
}

/// Returns the answer in a sentence.
#[must_use]
pub fn answer(problem: &Problem, claims: &Claims) -> String {
    if claims.resources.is_empty() {
        return "No queue is promised anything: no guarantee is above 0.".to_owned();
    }
    let mut names: Vec<String> = Vec::new();
    for (r, claim) in claims.in_doubt() {
        let resource = &problem.resources()[r];
        names.push(format!("{} ({resource})", title(problem, claim)));
    }
    let partial = if claims.resources.iter().any(|of| !of.not_counted.is_empty() || of.differs.is_some()) {
        " Some conditions are not counted; they are named below."
    } else {
        ""
    };
    if names.is_empty() {
        let sums: Vec<String> = claims
            .resources
            .iter()
            .map(|of| {
                let resource = &problem.resources()[of.resource];
                format!(
                    "{} of {}",
                    amount(resource, &of.promised),
                    named_amount(problem, of.resource, &of.capacity)
                )
            })
            .collect();
        return format!("By amounts, all promises can be kept at once: {}.{partial}", few(&sums, NAMED));
    }
    let exceeded: Vec<String> = claims
        .resources
        .iter()
        .filter(|of| of.promised > of.capacity)
        .map(|of| {
            let resource = &problem.resources()[of.resource];
            format!(
                "{} are promised, and all servers have {}",
                named_amount(problem, of.resource, &of.promised),
                amount(resource, &of.capacity)
            )
        })
        .collect();
    let verb = if names.len() == 1 { "This promise is" } else { "These promises are" };
    let doubt = format!("{verb} in doubt: {}.{partial}", few(&names, NAMED));
    if exceeded.is_empty() {
        return format!("Not all promises can be kept in any case. {doubt}");
    }
    format!("More is promised than there is: {}. {doubt}", few(&exceeded, NAMED))
}

/// Returns the name of a claim.
pub(crate) fn title(problem: &Problem, claim: &Claim) -> String {
    let name = &problem.groups().list()[claim.group].name;
    if claim.is_rest { format!("{name} beyond its subqueues") } else { name.clone() }
}

fn table(problem: &Problem, claims: &Claims) -> Table {
    let mut table = Table::new([
        Column::words("queue"),
        Column::words("resource"),
        Column::numbers("promised"),
        Column::numbers("in any case"),
        Column::numbers("if all claim"),
        Column::numbers("priority").unless_all("0"),
        Column::numbers("weight").unless_all("1"),
    ]);
    let list = problem.groups().list();
    let rows = claims.resources.iter().flat_map(|of| of.claims.iter().map(move |claim| (of, claim)));
    // Promises in doubt come before all other promises.
    let (doubtful, certain): (Vec<_>, Vec<_>) = rows.partition(|(_, claim)| claim.is_in_doubt());
    let all = doubtful.len() + certain.len();
    for (of, claim) in doubtful.into_iter().chain(certain).take(LONGEST) {
        let resource = &problem.resources()[of.resource];
        let cell = |value: &Rational| Cell::text(amount(resource, value));
        table.row([
            Cell::text(title(problem, claim)),
            Cell::text(resource),
            cell(&claim.amount),
            cell(&claim.certain),
            cell(&claim.by_rule),
            Cell::text(list[claim.group].priority.to_string()),
            Cell::number(&list[claim.group].weight),
        ]);
    }
    if all > LONGEST {
        table.row([
            Cell::text(format!("and {} more", all - LONGEST)),
            Cell::none(),
            Cell::none(),
            Cell::none(),
            Cell::none(),
            Cell::text("0"),
            Cell::text("1"),
        ]);
    }
    table
}

/// Returns the reasons why promises are in doubt.
fn reasons(problem: &Problem, claims: &Claims) -> Vec<String> {
    let all = claims.resources.iter().flat_map(|of| of.shortages.iter().map(move |shortage| (of, shortage)));
    all.take(LONGEST).map(|(of, shortage)| reason(problem, of, shortage)).collect()
}

/// Returns a reason in words.
#[must_use]
pub fn reason(problem: &Problem, of: &OfResource, shortage: &Shortage) -> String {
    let list = problem.groups().list();
    let show = |value: &Rational| named_amount(problem, of.resource, value);
    let number = |value: &Rational| amount(&problem.resources()[of.resource], value);
    let missing = number(&shortage.missing());
    match shortage {
        Shortage::Servers { claims, classes, claimed, capacity, limits } => {
            let names: Vec<String> = claims.iter().map(|k| title(problem, &of.claims[*k])).collect();
            let verb = if names.len() == 1 { "is" } else { "are together" };
            let names = few(&names, NAMED);
            if classes.is_empty() && limits.is_empty() {
                return format!(
                    "{names} {verb} promised {}, and no server that their tasks may use has any.",
                    show(claimed)
                );
            }
            let classes: Vec<&str> = classes.iter().map(|i| problem.servers()[*i].name()).collect();
            let servers = if classes.is_empty() {
                String::new()
            } else {
                format!(
                    " Servers that their tasks may use ({}) have {}.",
                    few(&classes, NAMED),
                    number(capacity)
                )
            };
            let allowed: Vec<String> =
                limits.iter().map(|(v, most)| format!("{} to {}", list[*v].name, number(most))).collect();
            let limits = if allowed.is_empty() {
                String::new()
            } else {
                format!(" Limits on server classes hold {}.", few(&allowed, NAMED))
            };
            format!("{names} {verb} promised {}.{servers}{limits} {missing} are missing.", show(claimed))
        }
        Shortage::Limit { group, claimed, most } => {
            let name = &list[*group].name;
            format!(
                "The queues below {name} are promised {}. The limit of {name} is {}. {missing} are missing.",
                show(claimed),
                number(most)
            )
        }
        Shortage::Parent { group, claimed, promised } => {
            let name = &list[*group].name;
            format!(
                "The queues below {name} are promised {}, and {name} itself is promised {}. Other queues may claim the other {missing}.",
                show(claimed),
                number(promised)
            )
        }
    }
}

/// Returns sentences about changes that would keep all promises.
fn remedies(problem: &Problem, claims: &Claims) -> Vec<String> {
    let mut lines = Vec::new();
    for of in &claims.resources {
        let missing = Rational::from(&of.promised - &of.together);
        if missing > 0 {
            let much = named_amount(problem, of.resource, &missing);
            lines.push(format!(
                "To keep all promises, guarantees have to shrink by at least {much} in all, or servers and limits have to grow by as much for the queues that lack it."
            ));
        }
    }
    if claims.resources.iter().any(|of| of.shortages.iter().any(|of| matches!(of, Shortage::Parent { .. }))) {
        lines.push(
            "To make promises inside a queue certain, raise the guarantee of that queue to their sum, or lower them."
                .to_owned(),
        );
    }
    lines.push("Next: `evenhand what-if SNAPSHOT --set QUEUE.guarantee.RESOURCE=AMOUNT` shows the effect of a change on fair shares.".to_owned());
    lines
}

/// Returns the meaning of the columns, and the limits and amounts that do not count.
fn notes(problem: &Problem, claims: &Claims) -> Vec<String> {
    let mut lines = Vec::new();
    if claims.in_doubt().next().is_some() {
        lines.push(
            "In any case: the amount that is left even if all other promises are served first. If all claim: the amount if every queue asks for its promise and for nothing else."
                .to_owned(),
        );
        lines.push(order(problem, claims.rule));
    }
    lines.push(
        "Counted are divisible amounts of each resource, servers and limits. The tasks that run now are not counted, and whether tasks fit on single servers is a different question."
            .to_owned(),
    );
    let list = problem.groups().list();
    for of in &claims.resources {
        let resource = &problem.resources()[of.resource];
        if !of.not_counted.is_empty() {
            let names: Vec<&str> = of.not_counted.iter().map(|v| list[*v].name.as_str()).collect();
            lines.push(format!(
                "Not counted: limits on server classes of {} ({resource}). They can put more promises in doubt.",
                few(&names, NAMED)
            ));
        }
        if let Some(n) = of.differs {
            lines.push(format!(
                "Not counted: tasks of {} take another amount of {resource} on some server classes than their queues count.",
                problem.users()[n].name()
            ));
        }
        if let Some(why) = of.uncertified {
            lines
                .push(format!("The amounts of {resource} if all claim are exact, but not certified: {why}."));
        }
    }
    lines
}

/// Returns the order in which a rule serves the promises if all queues claim them.
#[must_use]
pub fn order(problem: &Problem, rule: Option<Rule>) -> String {
    match rule.and_then(Rule::per_resource) {
        Some(PerResource::Kai { .. }) => {
            "KAI serves queues within their quotas by priority, then by the least fraction of the quota; weights do not count. It takes nothing from a queue within its quota, so queues whose tasks came first keep more."
                .to_owned()
        }
        Some(PerResource::Volcano) => {
            "Volcano scales the guarantees of siblings down by one factor; priorities and weights do not count. \
            `proportion` promises guarantees, but not deserved amounts."
                .to_owned()
        }
        Some(PerResource::VolcanoCapacity) => {
            "Volcano first serves the guarantees of queues, and then equal fractions of their deserved amounts. Priorities and weights do not count."
                .to_owned()
        }
        None => {
            let stated = problem.groups().share();
            let share = rule.and_then(|rule| rule.share_alone(stated));
            let by = rule.map_or_else(|| "The problem's own rule".to_owned(), |rule| format!("The rule of {rule}"));
            match share.as_ref().unwrap_or(stated).guarantees {
                Guarantees::First => format!(
                    "{by} serves equal fractions of the promises of siblings; priorities and weights do not count below a promise."
                ),
                Guarantees::Compared => format!(
                    "{by} serves siblings of the highest priority first, then the least share divided by the weight."
                ),
            }
        }
    }
}
