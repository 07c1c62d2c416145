//! PS-DSF: what the paper prints of C-DRFH and TSF.

use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_problem::{Problem, Rational};

use super::{Entry, Table, TableUser, agree, decimals, list, solve};

/// Figure 1: cores, memory, bandwidth; no bandwidth on the second server.
fn figure_1() -> Result<Problem, String> {
    Table {
        servers: &[(1, &["9", "12", "100"]), (1, &["12", "12", "0"])],
        users: &[
            TableUser::new(&["1", "2", "10"]),
            TableUser::new(&["1", "2", "1"]),
            TableUser { weight: "2", ..TableUser::new(&["1", "2", "0"]) },
        ],
    }
    .problem()
}

/// Figure 5 and Table III: four classes of 120 servers. The text gives neither class sizes nor
/// demands; Table III forces these.
fn figure_5() -> Result<Problem, String> {
    Table {
        servers: &[(8, &["1", "1"]), (68, &["0.5", "0.5"]), (33, &["0.5", "0.25"]), (11, &["0.5", "0.75"])],
        users: &[
            TableUser { weight: "2", ..TableUser::new(&["0.1", "0.1"]) },
            TableUser { weight: "2", ..TableUser::new(&["2/15", "0.2"]) },
            TableUser { servers: &[2, 3], ..TableUser::new(&["0.2", "0.1"]) },
            TableUser { servers: &[2, 3], ..TableUser::new(&["0.2", "0.3"]) },
        ],
    }
    .problem()
}

/// An instance on which TSF gives a user less than its part of every server.
fn less_than_uniform() -> Result<Problem, String> {
    Table {
        servers: &[(1, &["4", "2"]), (1, &["3", "7"]), (1, &["8", "7"])],
        users: &[
            TableUser { weight: "2", servers: &[0, 2], ..TableUser::new(&["2", "3"]) },
            TableUser::new(&["4", "3"]),
            TableUser { servers: &[0, 2], ..TableUser::new(&["4", "3"]) },
        ],
    }
    .problem()
}

pub(super) fn entries() -> Result<Vec<Entry>, String> {
    let problem = figure_1()?;
    let drfh = solve(&problem, "drfh")?.totals();
    let tsf = solve(&problem, "tsf")?.totals();
    let gammas: Vec<Rational> = {
        let problem = figure_5()?;
        (0..4).flat_map(|n| (0..4).map(move |i| (n, i))).map(|(n, i)| problem.gamma(n, i)).collect()
    };
    let printed_gammas = [
        "80", "340", "82.5", "55", "40", "170", "41.25", "41.25", "0", "0", "82.5", "27.5", "0", "0", "27.5",
        "27.5",
    ];
    let table_4 = solve(&figure_5()?, "tsf")?.totals();
    let printed_4 = ["205", "107.5", "58.33", "35.55"];
    let problem_si = less_than_uniform()?;
    let unfair = solve(&problem_si, "tsf")?;
    let instance = Instance::new(&problem_si, &unfair).map_err(|error| error.to_string())?;
    let sharing =
        Claim::derive(Axiom::SharingIncentive, &instance, &Rational::new()).map_err(|e| e.to_string())?;
    Ok(vec![
        Entry {
            id: "ps-dsf.figure-1.c-drfh".to_owned(),
            source: "PS-DSF, section II-B, on Figure 1",
            paper: "2.609, 3.130, 6.261".to_owned(),
            ours: format!("{} = {}", list(&drfh), decimals(&drfh)),
            agrees: Some(agree(&["2.609", "3.130", "6.261"], &drfh)),
            note: String::new(),
        },
        Entry {
            id: "ps-dsf.figure-1.tsf".to_owned(),
            source: "PS-DSF, section II-B, on Figure 1",
            paper: "2, 2, 8".to_owned(),
            ours: list(&tsf),
            agrees: Some(agree(&["2", "2", "8"], &tsf)),
            note: String::new(),
        },
        Entry {
            id: "ps-dsf.table-3".to_owned(),
            source: "PS-DSF, Table III",
            paper: printed_gammas.join(", "),
            ours: decimals(&gammas),
            agrees: Some(agree(&printed_gammas, &gammas)),
            note: "gamma by user and class; class sizes 8, 68, 33, 11 and the demands follow from the table"
                .to_owned(),
        },
        Entry {
            id: "ps-dsf.table-4.tsf".to_owned(),
            source: "PS-DSF, Table IV, TSF totals",
            paper: printed_4.join(", "),
            ours: decimals(&table_4),
            agrees: Some(agree(&printed_4, &table_4)),
            note: "ours is exact and proven; the printed values seem rounded from a less accurate solution"
                .to_owned(),
        },
        Entry {
            id: "ps-dsf.table-1.tsf.sharing-incentive".to_owned(),
            source: "PS-DSF, Table I: TSF has sharing incentive",
            paper: "holds".to_owned(),
            ours: format!(
                "violated by {} tasks",
                sharing.margin.as_ref().map_or_else(String::new, |m| Rational::from(-m).to_string())
            ),
            agrees: Some(sharing.holds == Some(true)),
            note: format!(
                "user 2 of C = (4,2),(3,7),(8,7), d = (2,3),(4,3),(4,3), w = 2,1,1, users 1 and 3 barred from \
                 server 2: TSF gives {}, its part of every server would give 41/48",
                unfair.total(1)
            ),
        },
    ])
}
