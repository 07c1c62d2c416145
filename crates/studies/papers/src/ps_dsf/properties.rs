//! PS-DSF, Table I: the properties of the mechanisms, on an instance of the literature and on random
//! instances.

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_mechanisms::registry;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use super::random::Law;
use crate::entry::Entry;
use crate::error::PaperError;
use crate::instance::{ProblemTable, TableUser, solve};

/// The number of random problems for every row of the table.
const PROBLEMS: usize = 200;

/// A column of Table I.
struct Column {
    mechanism: &'static str,
    title: &'static str,
}

const COLUMNS: [Column; 4] = [
    Column { mechanism: "drfh", title: "C-DRFH" },
    Column { mechanism: "tsf", title: "TSF" },
    Column { mechanism: "ps-dsf", title: "PS-DSF (RDM)" },
    Column { mechanism: "ps-dsf-tdm", title: "PS-DSF (TDM)" },
];

/// A row of Table I, with its claims for all columns.
struct Row {
    id: &'static str,
    axiom: Axiom,
    title: &'static str,
    promised: [bool; 4],
}

const ROWS: [Row; 4] = [
    Row {
        id: "sharing-incentive",
        axiom: Axiom::SharingIncentive,
        title: "sharing incentive",
        promised: [false, true, true, true],
    },
    Row { id: "envy-free", axiom: Axiom::EnvyFree, title: "envy freeness", promised: [true; 4] },
    Row {
        id: "pareto-optimal",
        axiom: Axiom::ParetoOptimal,
        title: "Pareto optimality",
        promised: [true, true, false, true],
    },
    Row {
        id: "bottleneck-fair",
        axiom: Axiom::BottleneckFair,
        title: "bottleneck fairness",
        promised: [false, false, true, true],
    },
];

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = vec![less_than_uniform()?];
    let any = Law { seed: 21, one_bottleneck: false }.problems(PROBLEMS)?;
    let one = Law { seed: 22, one_bottleneck: true }.problems(PROBLEMS)?;
    for (c, column) in COLUMNS.iter().enumerate() {
        let allocations = |problems: &[Problem]| -> Result<Vec<Allocation>, PaperError> {
            problems.iter().map(|problem| allocate(problem, column.mechanism)).collect()
        };
        let (on_any, on_one) = (allocations(&any)?, allocations(&one)?);
        for row in &ROWS {
            let (problems, found) =
                if row.axiom == Axiom::BottleneckFair { (&one, &on_one) } else { (&any, &on_any) };
            entries.push(count(row, column, row.promised[c], problems, found)?);
        }
        entries.push(aggregated(column, &any, &on_any));
    }
    Ok(entries)
}

fn allocate(problem: &Problem, mechanism: &str) -> Result<Allocation, PaperError> {
    let mechanism = registry::find(mechanism).ok_or("no such mechanism")?;
    let outcome = mechanism.allocate(problem, Arithmetic::Exact)?;
    Ok(outcome.allocation)
}

/// Returns the entry that counts how often random problems violate the axiom. All verdicts are exact.
fn count(
    row: &Row,
    column: &Column,
    promised: bool,
    problems: &[Problem],
    allocations: &[Allocation],
) -> Result<Entry, PaperError> {
    let (mut judged, mut violated) = (0, 0);
    for (problem, allocation) in problems.iter().zip(allocations) {
        let examination = certify(problem, allocation, &[Request::of(row.axiom)], &Rational::new())?;
        let holds = examination.certificate.claims.first().and_then(|claim| claim.holds);
        judged += usize::from(holds.is_some());
        violated += usize::from(holds == Some(false));
    }
    Ok(Entry {
        id: format!("ps-dsf.table-1.{}.{}", column.mechanism, row.id),
        source: "PS-DSF, Table I",
        paper: format!(
            "{}: {} {}",
            column.title,
            row.title,
            if promised { "holds" } else { "is not promised" }
        ),
        ours: format!("violated in {violated} of {judged} random problems"),
        agrees: (judged > 0 && (promised || violated > 0)).then_some(promised == (violated == 0)),
        note: note(row.axiom, promised, violated).to_owned(),
    })
}

fn note(axiom: Axiom, promised: bool, violated: usize) -> &'static str {
    match (axiom, promised, violated) {
        (Axiom::EnvyFree, true, 0) => {
            "this supports the claim but does not prove it; only the servers that the envious user may use \
             are counted (see `.aggregated`)"
        }
        (_, true, 0) => "this supports the claim but does not prove it",
        (Axiom::SharingIncentive, true, _) => {
            "each problem is judged exactly; the user's fraction of every server counts, even of servers \
             that the user may not use"
        }
        (_, true, _) => "each judged exactly",
        (_, false, 0) => "nothing in these problems speaks against it",
        (_, false, _) => "each judged exactly",
    }
}

/// Returns the entry on envy in the words of the paper: bundles are added up over all servers, including servers on
/// which the envious user may not run.
fn aggregated(column: &Column, problems: &[Problem], allocations: &[Allocation]) -> Entry {
    let envied =
        problems.iter().zip(allocations).filter(|(problem, allocation)| has_envy(problem, allocation));
    let (envied, all) = (envied.count(), problems.len());
    Entry {
        id: format!("ps-dsf.table-1.{}.envy-free.aggregated", column.mechanism),
        source: "PS-DSF, section II-A, envy freeness of aggregated bundles",
        paper: format!("{}: holds", column.title),
        ours: format!("violated in {envied} of {all} random problems"),
        agrees: Some(envied == 0),
        note:
            "The tasks of another user on a server are worth nothing to a user that may not run there. The \
             sum over all servers counts them all the same."
                .to_owned(),
    }
}

/// Returns `true` if `U_n(w_n / w_m a_m) > x_n` for some users `n` and `m`, where `a_m` is the demand of all
/// tasks of `m`.
fn has_envy(problem: &Problem, allocation: &Allocation) -> bool {
    let users = problem.users();
    let totals = allocation.totals();
    let envies = |n: usize, m: usize| {
        let worth = users[n].base_demand().iter().zip(users[m].base_demand());
        let worth =
            worth.filter(|(own, _)| !own.is_zero()).map(|(own, other)| Rational::from(other / own)).min();
        let scale = Rational::from(users[n].weight() / users[m].weight()) * &totals[m];
        worth.is_some_and(|worth| worth * scale > totals[n])
    };
    (0..users.len()).any(|n| (0..users.len()).any(|m| envies(n, m)))
}

/// Returns the entry on an instance on which TSF gives a user less than its fair share of every server.
fn less_than_uniform() -> Result<Entry, PaperError> {
    let problem = ProblemTable {
        servers: &[(1, &["4", "2"]), (1, &["3", "7"]), (1, &["8", "7"])],
        users: &[
            TableUser { weight: "2", servers: &[0, 2], ..TableUser::new(&["2", "3"]) },
            TableUser::new(&["4", "3"]),
            TableUser { servers: &[0, 2], ..TableUser::new(&["4", "3"]) },
        ],
    }
    .problem()?;
    let unfair = solve(&problem, "tsf")?;
    let fair = solve(&problem, "ps-dsf")?;
    let instance = Instance::new(&problem, &unfair)?;
    let sharing = Claim::derive(Axiom::SharingIncentive, &instance, &Rational::new())?;
    Ok(Entry {
        id: "ps-dsf.table-1.tsf.sharing-incentive.instance".to_owned(),
        source: "PS-DSF, Table I: TSF has sharing incentive",
        paper: "holds".to_owned(),
        ours: format!(
            "violated by {} tasks",
            sharing.tasks(&instance).map_or_else(String::new, |tasks| (-tasks).to_string())
        ),
        agrees: Some(sharing.holds == Some(true)),
        note: format!(
            "The problem is C = (4,2),(3,7),(8,7), d = (2,3),(4,3),(4,3), w = 2,1,1, and users 1 and 3 may \
             not use server 2. TSF gives user 2 {} tasks, and PS-DSF gives it {}. Its fraction of every \
             server would give it 41/48.",
            unfair.total(1),
            fair.total(1)
        ),
    })
}
