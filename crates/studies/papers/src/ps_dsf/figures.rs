//! PS-DSF, Figures 1 to 4: two servers for three and for four users, and three channels for two users.

use crate::entry::{Entry, agree, decimals, list};
use crate::error::PaperError;
use crate::instance::{ProblemTable, TableUser, solve};
use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, UserSpec, number};

/// The cores, memory and bandwidth of the servers. The second server has no bandwidth.
const SERVERS: &[(u32, &[&str])] = &[(1, &["9", "12", "100"]), (1, &["12", "12", "0"])];

pub(crate) fn figure_1() -> Result<Problem, PaperError> {
    let users = [
        TableUser::new(&["1", "2", "10"]),
        TableUser::new(&["1", "2", "1"]),
        TableUser { weight: "2", ..TableUser::new(&["1", "2", "0"]) },
    ];
    ProblemTable { servers: SERVERS, users: &users }.problem()
}

pub(crate) fn figure_2() -> Result<Problem, PaperError> {
    let users = [
        TableUser::new(&["1.5", "1", "10"]),
        TableUser::new(&["1", "2", "10"]),
        TableUser::new(&["0.5", "1", "0"]),
        TableUser::new(&["1", "0.5", "0"]),
    ];
    ProblemTable { servers: SERVERS, users: &users }.problem()
}

/// The rates of two users on three channels, `users x channels`. A rate is 0 if the user cannot reach the
/// channel.
type Rates = [[&'static str; 3]; 2];

/// Two examples of rates that agree with the text. The paper shows the rates only in the picture. The text
/// implies `gamma_11 + gamma_12 / 2 = 3/2`, `gamma_23 + gamma_22 / 2 = 1` and `gamma_12 / gamma_22 = 3/2`.
const FITTING: [(&str, Rates); 2] =
    [("a", [["3/4", "3/2", "0"], ["0", "1", "1/2"]]), ("b", [["1", "1", "0"], ["0", "2/3", "2/3"]])];

fn channels(rates: &Rates) -> Result<Problem, PaperError> {
    let channel = |i: usize| format!("channel {}", i + 1);
    let one = Rational::from(1);
    let bandwidth = || vec![("bandwidth".to_owned(), one.clone())];
    let mut users = Vec::new();
    for (n, rates) in rates.iter().enumerate() {
        let mut gamma = Vec::new();
        for (i, rate) in rates.iter().enumerate() {
            let rate = number::parse(rate)?;
            if !rate.is_zero() {
                gamma.push((channel(i), rate));
            }
        }
        users.push(UserSpec {
            name: format!("user {}", n + 1),
            demand: bandwidth(),
            servers: Some(gamma.iter().map(|(name, _)| name.clone()).collect()),
            gamma,
            ..UserSpec::default()
        });
    }
    let servers =
        (0..3).map(|i| ServerSpec { name: channel(i), count: None, capacity: bandwidth() }).collect();
    Problem::new(ProblemSpec {
        resources: vec!["bandwidth".to_owned()],
        servers,
        users,
        ..ProblemSpec::default()
    })
    .map_err(PaperError::from)
}

/// Returns the problem of Figure 4 with the first example of rates.
pub(crate) fn some_channels() -> Result<Problem, PaperError> {
    channels(&FITTING[0].1)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = of_figure_1()?;
    entries.extend(of_figure_3()?);
    entries.push(of_figure_4()?);
    Ok(entries)
}

/// Returns an entry about numbers of tasks, formatted as in the text.
fn tasks(id: &str, source: &'static str, printed: &[&str], ours: &[Rational], note: &str) -> Entry {
    let whole = ours.iter().all(Rational::is_integer);
    Entry {
        id: format!("ps-dsf.{id}"),
        source,
        paper: printed.join(", "),
        ours: if whole { list(ours) } else { format!("{} = {}", list(ours), decimals(ours)) },
        agrees: Some(agree(printed, ours)),
        note: note.to_owned(),
    }
}

/// Returns the tasks of each user on the class on which the paper places the user.
fn tasks_on_printed_class(allocation: &Allocation, classes: &[usize]) -> Vec<Rational> {
    classes.iter().enumerate().map(|(n, &i)| allocation.on(n, i)).collect()
}

fn of_figure_1() -> Result<Vec<Entry>, PaperError> {
    let problem = figure_1()?;
    let drfh = solve(&problem, "drfh")?.totals();
    let tsf = solve(&problem, "tsf")?.totals();
    let fair = solve(&problem, "ps-dsf")?;
    let source = "PS-DSF, section II-B, on Figure 1";
    Ok(vec![
        tasks("figure-1.c-drfh", source, &["2.609", "3.130", "6.261"], &drfh, ""),
        tasks("figure-1.tsf", source, &["2", "2", "8"], &tsf, ""),
        tasks(
            "figure-1.ps-dsf",
            source,
            &["3", "3", "6"],
            &tasks_on_printed_class(&fair, &[0, 0, 1]),
            "users 1 and 2 on the first server, user 3 on the second",
        ),
    ])
}

fn of_figure_3() -> Result<Vec<Entry>, PaperError> {
    let problem = figure_2()?;
    let fair = solve(&problem, "ps-dsf")?;
    let totals = fair.totals();
    let share = |n: usize, i: usize| &totals[n] / problem.gamma(n, i);
    let shares = [share(0, 0), share(1, 0), share(2, 0), share(2, 1), share(3, 1)];
    let printed = ["0.6", "0.6", "8/12", "8/12", "8/12"];
    let source = "PS-DSF, section III-A, Figures 2 and 3";
    Ok(vec![
        tasks(
            "figure-3.tasks",
            source,
            &["3.6", "3.6", "8", "8"],
            &tasks_on_printed_class(&fair, &[0, 0, 1, 1]),
            "users 1 and 2 on the first server, users 3 and 4 on the second",
        ),
        tasks(
            "figure-3.virtual-dominant-shares",
            source,
            &printed,
            &shares,
            "s_11, s_21, s_31, s_32, s_42; the text calls the last two s_31 and s_41",
        ),
        tasks(
            "figure-3.s-41",
            source,
            &["12/12"],
            &[share(3, 0)],
            "The text prints 1. User 4 has 8 tasks, and would have 9 tasks if it had all of server 1 (9 \
             cores, one core a task).",
        ),
    ])
}

fn of_figure_4() -> Result<Entry, PaperError> {
    let printed = ["1.5", "1"];
    let mut found = Vec::new();
    let mut agrees = true;
    for (name, rates) in &FITTING {
        let problem = channels(rates)?;
        for mechanism in ["ps-dsf", "ps-dsf-tdm"] {
            let fair = solve(&problem, mechanism)?;
            let halved = (0..2).all(|n| fair.on(n, 1) == problem.gamma(n, 1) / 2);
            agrees &= agree(&printed, &fair.totals()) && halved;
            if mechanism == "ps-dsf" {
                found.push(format!("{} ({name})", list(&fair.totals())));
            }
        }
    }
    Ok(Entry {
        id: "ps-dsf.figure-4".to_owned(),
        source: "PS-DSF, section IV, Figure 4",
        paper: printed.join(", "),
        ours: found.join("; "),
        agrees: Some(agrees),
        note:
            "The text does not state the rates. It fixes gamma_11 + gamma_12/2 = 3/2, gamma_23 + gamma_22/2 \
             = 1 and gamma_12/gamma_22 = 3/2, which leaves one parameter. We compute (a) gamma_12 = 3/2 and \
             (b) gamma_12 = 1. For both rates and both ways of sharing, channel 2 is divided into equal \
             halves, as the text says."
                .to_owned(),
    })
}
