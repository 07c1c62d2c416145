//! PS-DSF, Tables III and IV: four classes with 120 servers.

use crate::entry::{Entry, agree, decimals, list};
use crate::error::PaperError;
use crate::instance::{ProblemTable, TableUser, solve};
use evenhand_certify::{Request, certify};
use evenhand_exact::Axiom;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

/// The demand of user 2 for CPU and memory that Table III implies.
const CPU_OF_TABLE_3: &[&str] = &["2/15", "0.2"];
/// The demand of user 2 for CPU and memory that the statements on utilisation in the text require.
const CPU_OF_TEXT: &[&str] = &["0.2", "0.2"];

/// Returns the problem of Figure 5. The text gives neither class sizes nor demands, but Table III implies
/// them.
pub(crate) fn figure_5(second: &[&str]) -> Result<Problem, PaperError> {
    ProblemTable {
        servers: &[(8, &["1", "1"]), (68, &["0.5", "0.5"]), (33, &["0.5", "0.25"]), (11, &["0.5", "0.75"])],
        users: &[
            TableUser { weight: "2", ..TableUser::new(&["0.1", "0.1"]) },
            TableUser { weight: "2", ..TableUser::new(second) },
            TableUser { servers: &[2, 3], ..TableUser::new(&["0.2", "0.1"]) },
            TableUser { servers: &[2, 3], ..TableUser::new(&["0.2", "0.3"]) },
        ],
    }
    .problem()
}

/// Returns the problem of Figure 5 with the demands that Table III implies.
pub(crate) fn figure_5_of_table_3() -> Result<Problem, PaperError> {
    figure_5(CPU_OF_TABLE_3)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problem = figure_5_of_table_3()?;
    Ok(vec![table_3(&problem), totals(&problem)?, printed_placement(&problem)?, tsf(&problem)?, full_cpu()?])
}

fn table_3(problem: &Problem) -> Entry {
    let gammas: Vec<Rational> =
        (0..4).flat_map(|n| (0..4).map(move |i| (n, i))).map(|(n, i)| problem.gamma(n, i)).collect();
    let printed = [
        "80", "340", "82.5", "55", "40", "170", "41.25", "41.25", "0", "0", "82.5", "27.5", "0", "0", "27.5",
        "27.5",
    ];
    Entry {
        id: "ps-dsf.table-3".to_owned(),
        source: "PS-DSF, Table III",
        paper: printed.join(", "),
        ours: decimals(&gammas),
        agrees: Some(agree(&printed, &gammas)),
        note:
            "gamma is listed by user and class; the table determines the class sizes 8, 68, 33, 11 and the \
               demands"
                .to_owned(),
    }
}

fn totals(problem: &Problem) -> Result<Entry, PaperError> {
    let fair = solve(problem, "ps-dsf")?;
    let printed = ["210", "105", "82.5", "27.5"];
    let rows: Vec<String> =
        (0..4).map(|n| decimals(&(0..4).map(|i| fair.on(n, i)).collect::<Vec<_>>())).collect();
    Ok(Entry {
        id: "ps-dsf.table-4.ps-dsf".to_owned(),
        source: "PS-DSF, Table IV, totals of PS-DSF",
        paper: printed.join(", "),
        ours: decimals(&fair.totals()),
        agrees: Some(agree(&printed, &fair.totals())),
        note: format!("placed {}; the placement is not unique", rows.join(" | ")),
    })
}

/// Returns the entry on the printed placement. The placement is judged without any correction.
fn printed_placement(problem: &Problem) -> Result<Entry, PaperError> {
    let exact = |text: &str| evenhand_problem::number::parse(text).map_err(PaperError::from);
    let table =
        [["40", "170", "0", "0"], ["20", "85", "0", "0"], ["0", "0", "82.5", "0"], ["0", "0", "0", "27.5"]];
    let mut tasks = Vec::new();
    for row in &table {
        let row = row.iter().enumerate().map(|(i, text)| Ok((i, exact(text)?)));
        tasks.push(
            row.collect::<Result<Vec<_>, PaperError>>()?.into_iter().filter(|(_, x)| !x.is_zero()).collect(),
        );
    }
    let allocation = Allocation { sharing: Sharing::Rdm, tasks, ..Allocation::default() };
    let requests = [Request::of(Axiom::Feasible), Request::of(Axiom::PsDsf)];
    let examination = certify(problem, &allocation, &requests, &Rational::new())?;
    if let Some(reason) = evenhand_exact::check(&examination.certificate).reason {
        return Err(format!("the certificate is refused: {reason}").into());
    }
    let claims = &examination.certificate.claims;
    let holds = claims.len() == 2 && claims.iter().all(|claim| claim.holds == Some(true));
    Ok(Entry {
        id: "ps-dsf.table-4.ps-dsf.placement".to_owned(),
        source: "PS-DSF, Table IV, the placement as printed",
        paper: table.map(|row| row.join(", ")).join(" | "),
        ours: if holds { "feasible, and every user has a bottleneck on every class" } else { "refuted" }
            .to_owned(),
        agrees: Some(holds),
        note: "Theorem 1 in exact arithmetic on the printed numbers".to_owned(),
    })
}

fn tsf(problem: &Problem) -> Result<Entry, PaperError> {
    let totals = solve(problem, "tsf")?.totals();
    let printed = ["205", "107.5", "58.33", "35.55"];
    Ok(Entry {
        id: "ps-dsf.table-4.tsf".to_owned(),
        source: "PS-DSF, Table IV, totals of TSF",
        paper: printed.join(", "),
        ours: decimals(&totals),
        agrees: Some(agree(&printed, &totals)),
        note: "Our values are exact and proven. The printed values seem to be rounded from a less accurate \
               solution."
            .to_owned(),
    })
}

/// Returns the entry on the statement that the CPU of the first two classes is used up.
fn full_cpu() -> Result<Entry, PaperError> {
    let used = |second: &[&str]| -> Result<Vec<Rational>, PaperError> {
        let problem = figure_5(second)?;
        let fair = solve(&problem, "ps-dsf")?;
        let use_of = |i: usize| {
            let used: Rational = (0..4).map(|n| fair.on(n, i) * &problem.demand(n, i)[0]).sum();
            let class = &problem.servers()[i];
            used / (&class.capacity()[0] * Rational::from(class.count()))
        };
        Ok((0..2).map(use_of).collect())
    };
    let ours = used(CPU_OF_TABLE_3)?;
    Ok(Entry {
        id: "ps-dsf.section-5.cpu".to_owned(),
        source: "PS-DSF, section V: CPU of classes A and B fully used",
        paper: "1, 1".to_owned(),
        ours: list(&ours),
        agrees: Some(ours.iter().all(|used| *used == 1)),
        note: format!(
            "In Table III, gamma is 41.25 for user 2 on class D. Its demand is therefore at most 2/15 of a \
             CPU. With a demand of 0.2 the usage would be {}, and gamma 27.5.",
            list(&used(CPU_OF_TEXT)?)
        ),
    })
}
