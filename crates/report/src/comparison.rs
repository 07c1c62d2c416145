//! Mechanisms and allocations from files, next to each other.

use evenhand_certify::compare::{Compared, Judged, NoResult};
use evenhand_exact::{Axiom, Claim, Outcome, Parameters};
use evenhand_problem::{Problem, Rational};

use crate::by_group::{Held, by_group};
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{decimal, number};

/// The heading of the table of groups.
pub(crate) const OF_GROUPS: &str = "Largest fraction of a resource that each group uses";
/// The largest number of users and groups on the page, unless the page shows all users.
const LONGEST: usize = 12;

/// Returns the comparison for people: tasks, shares, utilisation and axioms. If `all_users` is set, long
/// lists of users are complete.
#[must_use]
pub fn comparison(problem: &Problem, columns: &[Compared], all_users: bool) -> Page {
    let shown: Vec<(&str, &Judged)> =
        columns.iter().filter_map(|c| Some((c.name.as_str(), c.result.as_ref().ok()?))).collect();
    let sheet = Sheet { problem, shown };
    let mut page = Page::new().sheet(sheet.long(columns));
    if !sheet.shown.is_empty() {
        page = page.heading("Tasks that each user gets").table(sheet.tasks(all_users));
        if let Some(groups) = sheet.groups(all_users) {
            page = page.heading(OF_GROUPS).table(groups);
        }
        page = page
            .heading("Fairness and efficiency")
            .table(sheet.figures())
            .heading("Axioms (NO = violated, with the margin; * = the axiom that the mechanism is made for)")
            .table(sheet.axioms());
    }
    page.lines(without_result(columns)).text(
        "Price of fairness: the most weighted tasks that any allocation could serve, divided by those served \
         here. Margins are fractions of a user's solo tasks; `within` holds up to rounding, `-` was not \
         examined. On a cluster `njc` is weak: one saturated class, however small, answers a complaint.",
    )
}

/// The columns that have an allocation.
struct Sheet<'a> {
    problem: &'a Problem,
    shown: Vec<(&'a str, &'a Judged)>,
}

impl Sheet<'_> {
    fn tasks(&self, all_users: bool) -> Table {
        let mut table = self.table(Column::numbers);
        for (n, user) in self.problem.users().iter().enumerate() {
            table.row(self.line(user.name(), &|judged| Cell::decimal(&judged.tasks[n])));
        }
        if all_users { table } else { table.at_most(LONGEST, "users") }
    }

    /// Returns the largest fraction of a resource of the cluster that each group uses. Returns `None` if
    /// there are no groups.
    fn groups(&self, all: bool) -> Option<Table> {
        let groups = self.problem.groups().list();
        if groups.is_empty() {
            return None;
        }
        let held: Vec<Vec<Held>> =
            self.shown.iter().map(|(_, judged)| by_group(self.problem, &judged.allocation, None)).collect();
        let largest = |of: &[Held], v: usize| {
            let parts = of.iter().filter(|held| held.group == v).filter_map(|held| {
                let all = &self.problem.total_capacity()[held.resource];
                (!all.is_zero()).then(|| Rational::from(&held.amount / all))
            });
            parts.max().unwrap_or_default()
        };
        let mut table = self.table(Column::numbers);
        for (v, group) in groups.iter().enumerate() {
            let name = std::iter::once(Cell::text(&group.name));
            table.row(name.chain(held.iter().map(|of| Cell::percent(&largest(of, v)))));
        }
        Some(if all { table } else { table.at_most(LONGEST, "groups") })
    }

    fn figures(&self) -> Table {
        let mut table = self.table(Column::numbers);
        table.row(self.line("least weighted dominant share", &|judged| {
            known(judged.least_weighted_share.as_ref(), Cell::percent)
        }));
        table.row(
            self.line("price of fairness", &|judged| known(judged.price_of_fairness.as_ref(), Cell::decimal)),
        );
        for (r, resource) in self.problem.resources().iter().enumerate() {
            let name = format!("{resource} used");
            table.row(self.line(&name, &|judged| known(judged.utilisation[r].as_ref(), Cell::percent)));
        }
        table
    }

    fn axioms(&self) -> Table {
        let mut table = self.table(Column::words);
        for (axiom, parameters) in examined(&self.shown) {
            let name = axiom_title(axiom, &parameters, self.problem);
            table.row(self.line(&name, &|judged| verdict(judged, axiom, &parameters)));
        }
        table
    }

    /// Returns the table for programs, with a row for each mechanism and quantity.
    fn long(&self, columns: &[Compared]) -> Table {
        let mut table = Table::new([
            Column::words("mechanism"),
            Column::words("quantity"),
            Column::words("of"),
            Column::numbers("value"),
            Column::words("verdict"),
        ]);
        let (problem, examined) = (self.problem, examined(&self.shown));
        for column in columns {
            let name = || Cell::text(&column.name);
            let mut row = |quantity: &str, of: &str, value: Cell, verdict: Cell| {
                table.row([name(), Cell::text(quantity), Cell::text(of), value, verdict]);
            };
            let judged = match &column.result {
                Ok(judged) => judged,
                Err(why) => {
                    row("no result", "", Cell::default(), Cell::text(reason(why)));
                    continue;
                }
            };
            for (user, tasks) in problem.users().iter().zip(&judged.tasks) {
                row("tasks", user.name(), Cell::decimal(tasks), Cell::default());
            }
            let shares = &judged.least_weighted_share;
            row("least weighted dominant share", "", known(shares.as_ref(), Cell::decimal), Cell::default());
            let price = &judged.price_of_fairness;
            row("price of fairness", "", known(price.as_ref(), Cell::decimal), Cell::default());
            for (resource, used) in problem.resources().iter().zip(&judged.utilisation) {
                row("used", resource, known(used.as_ref(), Cell::decimal), Cell::default());
            }
            for (axiom, parameters) in &examined {
                let Some(claim) = judged.examination.claim(*axiom, parameters) else { continue };
                let margin = known(claim.margin.as_ref(), Cell::decimal);
                let title = axiom_title(*axiom, parameters, problem);
                row("margin of axiom", &title, margin, Cell::text(claim.outcome().name()));
            }
            for (axiom, _) in &judged.examination.undecided {
                row("margin of axiom", axiom.name(), Cell::default(), Cell::text("not checked"));
            }
        }
        table
    }

    fn table(&self, column: fn(&str) -> Column) -> Table {
        let first = std::iter::once(Column::words(""));
        Table::new(first.chain(self.shown.iter().map(|(name, _)| column(name))))
    }

    fn line(&self, name: &str, cell: &dyn Fn(&Judged) -> Cell) -> Vec<Cell> {
        let first = std::iter::once(Cell::text(name));
        first.chain(self.shown.iter().map(|(_, judged)| cell(judged))).collect()
    }
}

/// The tables of a page.
pub(crate) struct Sheets {
    pub tasks: Table,
    pub groups: Option<Table>,
    pub figures: Table,
    /// The remarks on columns that have an allocation.
    pub remarks: Vec<String>,
}

/// Returns the tables of [`comparison`] separately.
pub(crate) fn sheets(problem: &Problem, columns: &[Compared], all_users: bool) -> Sheets {
    let shown = columns.iter().filter_map(|c| Some((c.name.as_str(), c.result.as_ref().ok()?))).collect();
    let sheet = Sheet { problem, shown };
    Sheets {
        tasks: sheet.tasks(all_users),
        groups: sheet.groups(all_users),
        figures: sheet.figures(),
        remarks: columns.iter().filter(|column| column.result.is_ok()).filter_map(remark).collect(),
    }
}

/// Returns the axioms that were examined for at least one column, in the order of the file formats.
pub(crate) fn examined(shown: &[(&str, &Judged)]) -> Vec<(Axiom, Parameters)> {
    let mut all: Vec<(Axiom, Parameters)> = Vec::new();
    for axiom in Axiom::ALL {
        for (_, judged) in shown {
            let claims = &judged.examination.certificate.claims;
            for claim in claims.iter().filter(|claim| claim.axiom == axiom) {
                let found = (axiom, claim.parameters());
                if !all.contains(&found) {
                    all.push(found);
                }
            }
        }
    }
    all
}

/// Returns `true` if the mechanism is designed to satisfy the axiom.
pub(crate) fn is_own(judged: &Judged, axiom: Axiom, parameters: &Parameters) -> bool {
    judged
        .own
        .as_ref()
        .is_some_and(|(own, of)| *own == axiom && of.clone().of(axiom).is_ok_and(|of| of == *parameters))
}

/// Returns the cell of a number. Returns [an empty cell](Cell::none) if the number is not known.
fn known(value: Option<&Rational>, show: fn(&Rational) -> Cell) -> Cell {
    value.map_or_else(Cell::none, show)
}

/// Returns the axiom with its parameter, in the form of the option `--axiom`.
#[must_use]
pub fn axiom_title(axiom: Axiom, parameters: &Parameters, problem: &Problem) -> String {
    let share = parameters.share.map(|share| share.name(problem));
    let alpha = parameters.alpha.as_ref().map(evenhand_problem::number::format);
    let all: Vec<String> = std::iter::once(axiom.name().to_owned()).chain(share).chain(alpha).collect();
    all.join(":")
}

fn verdict(judged: &Judged, axiom: Axiom, parameters: &Parameters) -> Cell {
    let Some(claim) = judged.examination.claim(axiom, parameters) else { return Cell::none() };
    let own = is_own(judged, axiom, parameters);
    let mark = if own { " *" } else { "" };
    let said = |word: &str| Cell::text(format!("{word}{mark}"));
    match claim.outcome() {
        Outcome::Holds => said("holds").good(),
        Outcome::Within => said("within").good(),
        Outcome::Violated => said(&violated(claim)).bad(),
        Outcome::NotApplicable => said("n/a").muted(),
    }
}

fn violated(claim: &Claim) -> String {
    let bound = if claim.is_bound() { " or less" } else { "" };
    claim.margin.as_ref().map_or_else(|| "NO".to_owned(), |margin| format!("NO ({}{bound})", decimal(margin)))
}

/// Returns the reason why a column has no allocation.
fn reason(why: &NoResult) -> String {
    match why {
        NoResult::NotApplicable(why) => format!("not applicable: {why}"),
        NoResult::Failed(why) | NoResult::TooLarge(why) => format!("failed: {why}"),
        NoResult::OutOfTime => "out of time".to_owned(),
    }
}

/// Returns a line for each column without an allocation, and for each column whose allocation is not final.
fn without_result(columns: &[Compared]) -> Vec<String> {
    columns.iter().filter_map(remark).collect()
}

/// Returns the reason why a column has no allocation, or why its allocation is not final. Returns `None` if
/// the allocation is final.
fn remark(column: &Compared) -> Option<String> {
    let words = match &column.result {
        Err(why) => reason(why),
        Ok(judged) => {
            let status = judged.status.map(|status| {
                format!("stopped with the status `{}`: its last point is shown", status.name())
            });
            let repaired = Some(&judged.examination.repair).filter(|repair| !repair.is_zero());
            let repaired = repaired
                .map(|repair| format!("repaired by at most {} of a user's solo tasks", number(repair)));
            let infeasible = judged.examination.infeasible.then(|| "infeasible".to_owned());
            let undecided = judged.examination.undecided.iter();
            let undecided = undecided.map(|(axiom, why)| format!("{} is not checked: {why}", axiom.name()));
            let all: Vec<String> =
                status.into_iter().chain(infeasible).chain(repaired).chain(undecided).collect();
            if all.is_empty() {
                return None;
            }
            all.join("; ")
        }
    };
    Some(format!("{}: {words}", column.name))
}
