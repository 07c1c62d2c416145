//! A comparison as a document of HTML: the problem, the mechanisms side by side with plots, and every
//! allocation with its verdicts and the certificate that proves them.

use evenhand_certify::compare::{Compared, Judged};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Medium, Problem, Rational, Sharing};

use crate::allocation::users;
use crate::certificate::examination;
use crate::comparison::comparison;
use crate::html;
use crate::page::Page;
use crate::pictures::{holdings, shares};
use crate::plot::PlotError;
use crate::table::{Cell, Form, Table};

/// Rows of the tables of users and servers that are shown.
const LONGEST: usize = 40;
/// The longest certificate that becomes a link, in bytes: browsers follow data links of 2 MB, of which the
/// escapes take up to two thirds.
const LONGEST_LINK: usize = 600_000;

/// The document of a comparison on `problem`. `all_users`: as for [`comparison`].
///
/// It needs nothing from elsewhere; certificates are links within it.
///
/// # Errors
/// [`PlotError`] when a plot cannot be drawn.
pub fn document(problem: &Problem, columns: &[Compared], all_users: bool) -> Result<String, PlotError> {
    let shown: Vec<(&str, &Judged)> =
        columns.iter().filter_map(|c| Some((c.name.as_str(), c.result.as_ref().ok()?))).collect();
    let mut body = of_problem(problem);
    body.push_str("<h2 id=\"comparison\">Side by side</h2>\n");
    body.push_str(&comparison(problem, columns, all_users).render(&Form::Html));
    if !shown.is_empty() && problem.n_users() > 0 {
        body.push_str(&figure(&shares(problem, columns).to_svg()?));
    }
    for (name, judged) in shown {
        body.push_str(&of_column(problem, name, judged)?);
    }
    Ok(html::document(title(problem), &body))
}

fn title(problem: &Problem) -> &str {
    if problem.name().is_empty() { "A fair allocation" } else { problem.name() }
}

/// The size of the problem, its servers and its users.
fn of_problem(problem: &Problem) -> String {
    let size = format!(
        "{} users, {} server classes with {} servers, {} resources.",
        problem.n_users(),
        problem.n_servers(),
        problem.n_single_servers(),
        problem.n_resources(),
    );
    let page = Page::new()
        .lines([size, format!("sha256: {}", problem_sha256(problem))])
        .heading("Servers")
        .table(servers(problem))
        .heading("Users: what a task demands")
        .table(demands(problem));
    format!("<h2 id=\"problem\">The problem</h2>\n{}", page.render(&Form::Html))
}

fn servers(problem: &Problem) -> Table {
    let table = Table::of(problem.servers())
        .words("server class", |class| class.name())
        .numbers("count", |class| Cell::number(&Rational::from(class.count())))
        .unless_all("1");
    let resources = problem.resources().iter().enumerate();
    let table = resources.fold(table, |table, (r, resource)| {
        table.numbers(resource, |class| Cell::number(&class.capacity()[r]))
    });
    table.table().at_most(LONGEST, "server classes")
}

/// A user that demands other amounts on other classes is shown with those of the first class that it may use.
fn demands(problem: &Problem) -> Table {
    let first = |n: usize| problem.classes_of(n).next().unwrap_or(0);
    let table = Table::of(problem.users().iter().enumerate())
        .words("user", |(_, user)| user.name())
        .numbers("weight", |(_, user)| Cell::number(user.weight()))
        .unless_all("1")
        .numbers("tasks", |(_, user)| user.tasks().map_or_else(|| Cell::text("unlimited"), Cell::number))
        .unless_all("unlimited")
        .numbers("server classes", |(n, _)| problem.classes_of(*n).count() as u64);
    let resources = problem.resources().iter().enumerate();
    let table = resources.fold(table, |table, (r, resource)| {
        table.numbers(resource, |(n, _)| Cell::number(&problem.demand(*n, first(*n))[r]))
    });
    table.table().at_most(LONGEST, "users")
}

/// One allocation: who has what, and every verdict with its certificate.
fn of_column(problem: &Problem, name: &str, judged: &Judged) -> Result<String, PlotError> {
    let page =
        Page::new().table(users(problem, &judged.allocation, false)).append(examination(&judged.examination));
    let picture = holdings(problem, &judged.allocation).map(|bars| bars.to_svg()).transpose()?;
    Ok(format!(
        "<h2>{}</h2>\n{}{}{}",
        Medium::Html.show(name),
        picture.as_deref().map(figure).unwrap_or_default(),
        page.render(&Form::Html),
        certificate(name, judged)
    ))
}

fn figure(svg: &str) -> String {
    format!("<figure>\n{svg}</figure>\n")
}

/// The certificate as a link, or how it can be had.
fn certificate(name: &str, judged: &Judged) -> String {
    if judged.examination.certificate.claims.is_empty() {
        return String::new();
    }
    let text = judged.examination.certificate.to_json();
    if text.len() > LONGEST_LINK {
        return format!(
            "<p>The certificate of these verdicts has {} bytes, too many for a link: \
             <code>evenhand certify</code> writes it.</p>\n",
            text.len()
        );
    }
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let file = format!("{}.certificate.json", name.chars().filter(is_plain).collect::<String>());
    // Time sharing is accepted only where it is asked for.
    let sharing = match judged.allocation.sharing {
        Sharing::Rdm => "",
        Sharing::Tdm => " --sharing tdm",
    };
    format!(
        "<p>The certificate: {}. <code>evenhand-check {file}{sharing}</code> decides anew whether these verdicts are \
         true.</p>\n",
        html::json_link(&file, &text)
    )
}
