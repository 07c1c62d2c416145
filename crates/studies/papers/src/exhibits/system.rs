//! Pictures of problems and allocations. A picture shows the servers that users may use, and the resources
//! that users get.

use crate::error::PaperError;
use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_report::plot::{Diagram, Line, Node, PlotError};
use evenhand_report::text::decimal;

/// The paper's names of the servers and resources of a problem. The names in the file of the problem differ.
pub struct Words<'a> {
    pub title: &'a str,
    pub servers: &'a [&'a str],
    pub resources: &'a [&'a str],
}

/// Draws a problem as a diagram.
///
/// Users are on the left with the demand of a task. Server classes are on the right with their capacity. A
/// line connects a user to each class on which the user can run. If `with_gamma`, the line shows how many
/// tasks the user could run with the whole class.
pub fn diagram(problem: &Problem, words: &Words<'_>, with_gamma: bool) -> Result<String, PaperError> {
    let amounts = |of: &dyn Fn(usize) -> Rational| {
        let said = words.resources.iter().enumerate().map(|(r, name)| format!("{name} {}", decimal(&of(r))));
        said.collect::<Vec<_>>().join(", ")
    };
    let left = problem.users().iter().enumerate().map(|(n, user)| {
        // A user whose task fits on no class is shown with its demand on the first class.
        let class = problem.classes_of(n).next().unwrap_or(0);
        let weight =
            if *user.weight() == 1 { String::new() } else { format!(", weight {}", decimal(user.weight())) };
        let demand = amounts(&|r| problem.demand(n, class)[r].clone());
        Node { name: format!("{}{weight}", user.name()), says: vec![format!("a task: {demand}")] }
    });
    let right = problem.servers().iter().zip(words.servers).map(|(class, name)| {
        let count = if class.count() == 1 { String::new() } else { format!(" ({} servers)", class.count()) };
        let capacity = amounts(&|r| class.capacity()[r].clone());
        Node { name: format!("{name}{count}"), says: vec![capacity] }
    });
    let pairs = (0..problem.n_users()).flat_map(|n| (0..problem.n_servers()).map(move |i| (n, i)));
    let lines = pairs.filter(|(n, i)| problem.can_run(*n, *i)).map(|(n, i)| Line {
        ends: (n, i),
        says: if with_gamma { decimal(&problem.gamma(n, i)) } else { String::new() },
    });
    let diagram = Diagram {
        title: words.title.to_owned(),
        left: left.collect(),
        right: right.collect(),
        lines: lines.collect(),
    };
    Ok(diagram.to_svg()?)
}

/// Draws an allocation. Every server class has a group of bars, with one bar for each resource. A bar shows
/// the fraction of each user.
pub fn holdings(problem: &Problem, allocation: &Allocation, words: &Words<'_>) -> Result<String, PaperError> {
    let mut bars = evenhand_report::holdings(problem, allocation).ok_or(PlotError::NoPlots)?;
    bars.title = words.title.to_owned();
    for (group, name) in bars.groups.iter_mut().zip(words.servers) {
        group.name = (*name).to_owned();
        for (bar, name) in group.bars.iter_mut().zip(words.resources) {
            bar.name = (*name).to_owned();
        }
    }
    Ok(bars.to_svg()?)
}
