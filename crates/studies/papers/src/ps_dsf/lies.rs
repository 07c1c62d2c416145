//! PS-DSF, strategy-proofness: tests whether a user can run more of its tasks by stating other demands or
//! fewer servers.
//!
//! A liar gets `x'_ni` tasks of its stated demand `d'`, which is `x'_ni d'_r` of every resource. With these resources
//! it runs `min_r x'_ni d'_r / d_nr` of its true tasks on every class. If servers are shared by time, there is a second
//! interpretation. The liar gets the server time `x'_ni / gamma'_ni`, in which it runs `gamma_ni` true tasks per unit
//! of time.

use evenhand_mechanisms::{Flags, Mechanism, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec, number};

use super::random::Law;
use crate::entry::Entry;
use crate::error::PaperError;
use crate::instance::{ProblemTable, TableUser};

/// The number of random problems on which all lies of [`lies`] are tried.
const PROBLEMS: usize = 60;
/// The amounts of the demands that are tried.
const DEMANDS: [i32; 5] = [0, 1, 2, 4, 7];

/// The tasks by user, each with the index of its class.
type UserTasks = Vec<Vec<(usize, Rational)>>;

/// The statement of a user about itself.
#[derive(Clone)]
struct Statement {
    demand: Vec<Rational>,
    /// True for each class on which the user may run, indexed by class.
    allowed: Vec<bool>,
}

/// The interpretation of what a liar gets on a server: resources or time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Resources,
    Time,
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problems = Law { seed: 23, one_bottleneck: false }.problems(PROBLEMS)?;
    Ok(vec![
        refutation()?,
        lemma_1()?,
        search("ps-dsf", Given::Resources, &problems)?,
        search("ps-dsf-tdm", Given::Resources, &problems)?,
        search("ps-dsf-tdm", Given::Time, &problems)?,
    ])
}

fn mechanism(name: &str) -> Result<&'static Mechanism, PaperError> {
    registry::find(name).ok_or_else(|| "no such mechanism".into())
}

fn honest(problem: &Problem, n: usize) -> Statement {
    Statement {
        demand: problem.users()[n].base_demand().to_vec(),
        allowed: (0..problem.n_servers()).map(|i| problem.users()[n].may_use(i)).collect(),
    }
}

/// Returns the problem in which the user `liar` makes this statement.
fn stated(problem: &Problem, liar: usize, statement: &Statement) -> Result<Problem, PaperError> {
    let named =
        |values: &[Rational]| problem.resources().iter().cloned().zip(values.iter().cloned()).collect();
    let servers: Vec<ServerSpec> = problem
        .servers()
        .iter()
        .map(|server| ServerSpec {
            name: server.name().to_owned(),
            count: Some(Rational::from(server.count())),
            capacity: named(&server.capacity().to_vec()),
        })
        .collect();
    let users = (0..problem.n_users()).map(|n| {
        let said = if n == liar { statement.clone() } else { honest(problem, n) };
        let allowed = servers.iter().zip(&said.allowed).filter(|(_, allowed)| **allowed);
        UserSpec {
            name: problem.users()[n].name().to_owned(),
            weight: Some(problem.users()[n].weight().clone()),
            demand: named(&said.demand),
            servers: Some(allowed.map(|(server, _)| server.name.clone()).collect()),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let resources = problem.resources().to_vec();
    Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })
        .map_err(PaperError::from)
}

/// Returns the number of true tasks that user `liar` runs after this statement.
fn true_tasks(
    mechanism: &Mechanism,
    problem: &Problem,
    liar: usize,
    statement: &Statement,
    given: Given,
) -> Result<Rational, PaperError> {
    let told = stated(problem, liar, statement)?;
    let outcome = mechanism.allocate(&told, Arithmetic::Exact)?;
    let truth = problem.users()[liar].base_demand();
    let worth = truth.iter().zip(&statement.demand).filter(|(truth, _)| !truth.is_zero());
    let worth = worth.map(|(truth, said)| Rational::from(said / truth)).min().unwrap_or_default();
    let usable = outcome.allocation.tasks[liar].iter().filter(|(i, _)| problem.users()[liar].may_use(*i));
    let run = usable.map(|(i, x)| match given {
        Given::Resources => Rational::from(x * &worth),
        Given::Time => problem.gamma(liar, *i) / told.gamma(liar, *i) * x,
    });
    Ok(run.sum())
}

/// Returns the entry on a lie that pays. A search found this lie.
fn refutation() -> Result<Entry, PaperError> {
    let problem = ProblemTable {
        servers: &[(1, &["7", "5"]), (1, &["3", "2"])],
        users: &[TableUser::new(&["5", "1"]), TableUser::new(&["4", "3"]), TableUser::new(&["1", "5"])],
    }
    .problem()?;
    let mechanism = mechanism("ps-dsf")?;
    let demand = ["8", "2"].map(number::parse).into_iter().collect::<Result<Vec<_>, _>>();
    let lie = Statement { demand: demand?, allowed: vec![true, false] };
    let truth = true_tasks(mechanism, &problem, 0, &honest(&problem, 0), Given::Resources)?;
    let gained = true_tasks(mechanism, &problem, 0, &lie, Given::Resources)?;
    let gain = Rational::from(&gained / &truth) - 1u32;
    Ok(Entry {
        id: "ps-dsf.table-1.ps-dsf.strategy-proof.instance".to_owned(),
        source: "PS-DSF, Table I: strategy-proof where servers are shared by time",
        paper: "PS-DSF (RDM): strategy proofness is not promised".to_owned(),
        ours: format!("{truth} tasks by the truth, {gained} by a lie"),
        agrees: Some(gain > 0),
        note: format!(
            "For C = (7,5),(3,2) and d = (5,1),(4,3),(1,5), user 1 states the demand (8,2) and that it may \
             use only server 1. With this lie it runs {:.1} % more tasks.",
            100.0 * number::to_f64(&gain)
        ),
    })
}

/// Returns the entry on Lemma 1 with two equal servers. Every answer to a lie is tested, for which the
/// extreme answers suffice.
fn lemma_1() -> Result<Entry, PaperError> {
    let one: &[&str] = &["1"];
    let problem = ProblemTable {
        servers: &[(1, one), (1, one)],
        users: &[TableUser { weight: "2", servers: &[0], ..TableUser::new(one) }, TableUser::new(one)],
    }
    .problem()?;
    let lie = Statement { demand: vec![Rational::from(1)], allowed: vec![true, true] };
    let answers = |problem: &Problem| -> Result<Vec<UserTasks>, PaperError> {
        let flags = Flags::new(Arithmetic::Exact).with("faces", "");
        let faces = mechanism("ps-dsf")?.allocate_with(problem, &flags)?.findings.faces;
        Ok(faces.ok_or("the answers are not listed")?.extreme_points)
    };
    let total = |tasks: &UserTasks, n: usize| tasks[n].iter().map(|(_, x)| x).sum::<Rational>();
    let truth = answers(&problem)?;
    let told = answers(&stated(&problem, 0, &lie)?)?;
    let [own, other] = [0, 1].map(|n| truth.first().map_or_else(Rational::new, |tasks| total(tasks, n)));
    let usable = |tasks: &UserTasks| {
        tasks[0].iter().filter(|(i, _)| problem.can_run(0, *i)).map(|(_, x)| x).sum::<Rational>()
    };
    let is_one = |all: &[UserTasks]| {
        all.windows(2).all(|pair| (0..2).all(|n| total(&pair[0], n) == total(&pair[1], n))) && !all.is_empty()
    };
    let harmed = told.iter().all(|tasks| total(tasks, 1) < other);
    let (keeps, loses) =
        (told.iter().any(|tasks| usable(tasks) >= own), told.iter().any(|tasks| usable(tasks) < own));
    let is_decided_by_ties = is_one(&truth) && is_one(&told) && harmed && keeps && loses;
    let of_liar: Vec<String> = told.iter().map(|tasks| usable(tasks).to_string()).collect();
    Ok(Entry {
        id: "ps-dsf.lemma-1".to_owned(),
        source: "PS-DSF, Lemma 1",
        paper:
            "if all users demand all resources, no user can take tasks from another user by a lie that costs \
             the liar no tasks"
                .to_owned(),
        ours: match is_decided_by_ties {
            true => "fails unless ties between placements go against the liar".to_owned(),
            false => "not decided by ties between placements".to_owned(),
        },
        agrees: Some(!keeps || !harmed),
        note: format!(
            "There are two servers of capacity 1, and each task takes 1. User 1 (weight 2) may use the first \
             server, and user 2 (weight 1) may use both. With true statements they run {own} and {other} \
             tasks. User 1 then says that it may use both servers. Every answer then gives user 2 {} tasks, \
             and user 1 runs {} of its own tasks, depending on the answer.",
            told.first().map_or_else(Rational::new, |tasks| total(tasks, 1)),
            of_liar.join(" or ")
        ),
    })
}

/// Returns the lies of a user: every demand with amounts in [`DEMANDS`] on all servers, and the true demand on every
/// subset of the servers.
fn lies(problem: &Problem, n: usize) -> Vec<Statement> {
    let truth = honest(problem, n);
    let mut demands: Vec<Vec<Rational>> = vec![Vec::new()];
    for _ in 0..problem.n_resources() {
        demands = demands
            .iter()
            .flat_map(|d| DEMANDS.map(|entry| [d.as_slice(), &[Rational::from(entry)]].concat()))
            .collect();
    }
    demands.retain(|demand| demand.iter().any(|entry| !entry.is_zero()));
    let others = demands.into_iter().map(|demand| Statement { demand, ..truth.clone() });
    let parts = (1..1usize << problem.n_servers()).map(|set| {
        let allowed = truth.allowed.iter().enumerate().map(|(i, allowed)| *allowed && set >> i & 1 == 1);
        Statement { allowed: allowed.collect(), ..truth.clone() }
    });
    let parts = parts.filter(|part| part.allowed.contains(&true));
    others.chain(parts).collect()
}

fn search(name: &str, given: Given, problems: &[Problem]) -> Result<Entry, PaperError> {
    let mechanism = mechanism(name)?;
    let (mut tried, mut paying, mut most) = (0, 0, Rational::new());
    for problem in problems {
        for n in 0..problem.n_users() {
            let truth = true_tasks(mechanism, problem, n, &honest(problem, n), given)?;
            for lie in lies(problem, n) {
                let gain = true_tasks(mechanism, problem, n, &lie, given)? - &truth;
                tried += 1;
                if gain > 0 {
                    paying += 1;
                    most = most.max(gain / &truth);
                }
            }
        }
    }
    let (id, paper, promised) = match (name, given) {
        ("ps-dsf", _) => ("ps-dsf.strategy-proof", "PS-DSF (RDM): strategy proofness is not promised", false),
        (_, Given::Resources) => {
            ("ps-dsf-tdm.strategy-proof", "PS-DSF (TDM): strategy proofness holds", true)
        }
        (_, Given::Time) => ("ps-dsf-tdm.strategy-proof.time", "", false),
    };
    let most = format!(", by up to {:.1} %", 100.0 * number::to_f64(&most));
    let reading = match given {
        Given::Resources => "a liar has the resources of the tasks that it stated",
        Given::Time => "a liar has the time of the tasks that it stated, and all of the server in it",
    };
    Ok(Entry {
        id: format!("ps-dsf.table-1.{id}"),
        source: "PS-DSF, Table I and Theorem 3",
        paper: paper.to_owned(),
        ours: format!("{paying} of {tried} lies pay{}", if paying > 0 { most.as_str() } else { "" }),
        agrees: (promised || paying > 0 && !paper.is_empty()).then_some(promised == (paying == 0)),
        note: format!(
            "The {} random problems have one liar at a time. A lie states demands from {DEMANDS:?} or leaves \
             out some servers. Tasks are exact; {reading}. If no lie is found, this supports the claim but \
             does not prove it.",
            problems.len()
        ),
    })
}
