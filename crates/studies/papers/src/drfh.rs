//! DRFH: Figures 1 to 3, and the values of Figure 4 that belong to the divisible allocation.

use crate::entry::{Entry, list};
use crate::error::PaperError;
use crate::instance::{ProblemTable, TableUser, solve};
use evenhand_problem::utilisation::dominant_share;
use evenhand_problem::{Problem, Rational, number::to_f64};

const TWO_SERVERS: &[(u32, &[&str])] = &[(1, &["2", "12"]), (1, &["12", "2"])];
const TWO_USERS: &[TableUser<'_>] = &[TableUser::new(&["0.2", "1"]), TableUser::new(&["1", "0.2"])];

/// DRFH, Table I: the number of servers of each class, and their CPU and memory.
pub(super) const GOOGLE: &[(u32, &[&str])] = &[
    (6732, &["0.5", "0.5"]),
    (3863, &["0.5", "0.25"]),
    (1001, &["0.5", "0.75"]),
    (795, &["1", "1"]),
    (126, &["0.25", "0.25"]),
    (52, &["0.5", "0.12"]),
    (5, &["0.5", "0.03"]),
    (5, &["0.5", "0.97"]),
    (3, &["1", "0.5"]),
    (1, &["0.5", "0.06"]),
];
const DYNAMIC_USERS: &[TableUser<'_>] =
    &[TableUser::new(&["0.2", "0.3"]), TableUser::new(&["0.5", "0.1"]), TableUser::new(&["0.1", "0.3"])];

/// Figure 4: the printed fractions of CPU and memory that user 1 uses while it is alone.
const ALONE: [&str; 2] = ["0.40", "0.62"];

/// Returns the problem of Figure 1.
pub(super) fn two_servers() -> Result<Problem, PaperError> {
    ProblemTable { servers: TWO_SERVERS, users: TWO_USERS }.problem()
}

/// Returns the entry on user 1 alone, with whole tasks on the servers of Table I.
fn alone() -> Result<Entry, PaperError> {
    let problem = ProblemTable { servers: GOOGLE, users: &DYNAMIC_USERS[..1] }.problem()?;
    let (mut servers, mut tasks) = (Rational::new(), Rational::new());
    for (i, server) in problem.servers().iter().enumerate() {
        let count = Rational::from(server.count());
        tasks += (problem.gamma(0, i) / &count).floor() * &count;
        servers += count;
    }
    let used = |r: usize| {
        to_f64(&(Rational::from(&tasks * &problem.demand(0, 0)[r]) / &problem.total_capacity()[r]))
    };
    let parts = [used(0), used(1)];
    let shown = parts.map(|part| format!("{part:.2}"));
    let per_100 = |amount: &Rational| to_f64(&(Rational::from(amount * 100u32) / &servers));
    let total = problem.total_capacity();
    Ok(Entry {
        id: "drfh.figure-4.alone".to_owned(),
        source: "DRFH, section VI and Figure 4: user 1 alone, CPU and memory",
        paper: ALONE.join(", "),
        ours: shown.join(", "),
        agrees: Some(shown == ALONE),
        note: format!(
            "Whole tasks on the mix of Table I give {:.1} tasks per 100 servers. These servers have {:.2} \
             CPU units and {:.2} memory units. The paper's 100 drawn servers have 52.75 and 51.32, and 105 \
             tasks use the printed fractions of them.",
            per_100(&tasks),
            per_100(&total[0]),
            per_100(&total[1])
        ),
    })
}

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = Vec::new();
    let problem = two_servers()?;
    let drfh = solve(&problem, "drfh")?;
    let totals = drfh.totals();
    entries.push(Entry {
        id: "drfh.figure-3.tasks".to_owned(),
        source: "DRFH, section IV-A and Figure 3",
        paper: "10, 10".to_owned(),
        ours: list(&totals),
        agrees: Some(totals == [10, 10]),
        note: String::new(),
    });
    let share = dominant_share(&problem, &drfh, 0);
    entries.push(Entry {
        id: "drfh.figure-3.share".to_owned(),
        source: "DRFH, section IV-A",
        paper: "5/7".to_owned(),
        ours: share.to_string(),
        agrees: Some(share == Rational::from((5, 7))),
        note: String::new(),
    });
    let naive = solve(&problem, "per-server-drf")?;
    let placed = [naive.on(0, 0), naive.on(0, 1), naive.on(1, 0), naive.on(1, 1)];
    entries.push(Entry {
        id: "drfh.figure-2".to_owned(),
        source: "DRFH, section III-D and Figure 2",
        paper: "5, 1, 1, 5".to_owned(),
        ours: list(&placed),
        agrees: Some(placed == [5, 1, 1, 5]),
        note: "DRF in every server on its own: 6 tasks each, not Pareto optimal".to_owned(),
    });
    let servers: Rational = GOOGLE.iter().map(|(count, _)| Rational::from(*count)).sum();
    entries.push(Entry {
        id: "drfh.table-1.servers".to_owned(),
        source: "DRFH, Table I",
        paper: String::new(),
        ours: servers.to_string(),
        agrees: None,
        note: "servers in the 10 shapes together, all of them used below".to_owned(),
    });
    entries.push(alone()?);
    for (users, printed, id, why) in [
        (2, "0.44", "two-users", "whole tasks on 100 drawn servers, as in the paper, give the printed value"),
        (
            3,
            "0.26",
            "three-users",
            "whole tasks on 100 drawn servers, as in the paper, also give more than the printed value; the \
             reason for the printed value is not known",
        ),
    ] {
        let problem = ProblemTable { servers: GOOGLE, users: &DYNAMIC_USERS[..users] }.problem()?;
        let share = dominant_share(&problem, &solve(&problem, "drfh")?, 0);
        entries.push(Entry {
            id: format!("drfh.figure-4.{id}"),
            source: "DRFH, section VI and Figure 4",
            paper: printed.to_owned(),
            ours: format!("{share} = {}", evenhand_report::text::decimal(&share)),
            agrees: Some(crate::entry::rounds_to(&share, printed)),
            note: format!(
                "our value is the divisible DRFH share on the mix of Table I; {why} \
                 (simulation.drfh.figure-4.{id})"
            ),
        });
    }
    Ok(entries)
}
