//! A trajectory as a picture and as a file of numbers.

use evenhand_mechanisms::SeriesPoint;
use evenhand_problem::{Medium, Problem};

use crate::plot::{Axis, Plot, Series};

/// The largest number of users in the picture. A longer legend cannot be read.
const MOST_LINES: usize = 12;
/// The value of `c` at which the picture begins. For smaller values, the tasks have hardly changed.
const FIRST_C: f64 = 1e-2;

/// Returns the plot of `x_n(c)` for the first users over a logarithmic axis.
#[must_use]
pub fn trajectory(problem: &Problem, steps: &[SeriesPoint]) -> Plot {
    let line = |n: usize| {
        let points = steps.iter().filter(|step| step.c >= FIRST_C).map(|step| (step.c, step.tasks[n]));
        Series::line(problem.users()[n].name(), points.collect())
    };
    let n_users = problem.n_users();
    let rest =
        if n_users > MOST_LINES { format!(" ({MOST_LINES} of {n_users} users)") } else { String::new() };
    Plot {
        title: format!("{}: tasks along the trajectory{rest}", problem.name()),
        x: Axis::logarithmic("c"),
        y: Axis::linear("tasks"),
        series: (0..n_users.min(MOST_LINES)).map(line).collect(),
    }
}

/// Returns comma-separated values: `c`, the tasks of every user, and the free fraction of every resource.
#[must_use]
pub fn trajectory_csv(problem: &Problem, steps: &[SeriesPoint]) -> String {
    let users = problem.users().iter().map(|user| Medium::Csv.show(&format!("tasks {}", user.name())));
    let n_rows = steps.first().map_or(0, |step| step.slack.len());
    // A server that is shared by time has a single row, which is its time.
    let resources = match n_rows == problem.n_resources() {
        true => problem.resources().iter().map(|name| Medium::Csv.show(&format!("free {name}"))).collect(),
        false => vec!["free time".to_owned(); n_rows],
    };
    let mut text: String =
        ["c".to_owned()].into_iter().chain(users).chain(resources).collect::<Vec<_>>().join(",");
    for step in steps {
        text.push('\n');
        let numbers =
            [step.c].iter().chain(&step.tasks).chain(&step.slack).map(f64::to_string).collect::<Vec<_>>();
        text.push_str(&numbers.join(","));
    }
    text.push('\n');
    text
}
