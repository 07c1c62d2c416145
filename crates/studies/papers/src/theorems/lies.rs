//! Experiments on Theorem B: users lie while servers are shared by time.

use crate::entry::Entry;
use crate::error::PaperError;
use evenhand_mechanisms::registry;
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The number of random problems.
const PROBLEMS: usize = 200;
/// The number of lies of a user on each problem.
const LIES: usize = 5;

/// The statement of a user: the demand of a task, the classes on which it may run, and the number of tasks.
#[derive(Clone)]
struct Said {
    demand: Vec<u32>,
    classes: Vec<bool>,
    tasks: Option<u32>,
}

impl Said {
    fn new(random: &mut Pcg64Mcg, resources: usize, classes: usize) -> Self {
        let mut demand: Vec<u32> = (0..resources).map(|_| random.random_range(0..=4)).collect();
        if demand.iter().all(|d| *d == 0) {
            demand[0] = 1;
        }
        let mut may_use: Vec<bool> = (0..classes).map(|_| random.random_bool(0.8)).collect();
        if !may_use.contains(&true) {
            may_use[0] = true;
        }
        let tasks = random.random_bool(0.5).then(|| random.random_range(1..=6));
        Self { demand, classes: may_use, tasks }
    }
}

/// Returns the tasks of each user on each class, given the statements of all users.
fn allocated(capacities: &[Vec<u32>], users: &[Said]) -> Result<Vec<Vec<Rational>>, PaperError> {
    let resources: Vec<String> = (1..=users[0].demand.len()).map(|r| format!("r{r}")).collect();
    let amounts = |values: &[u32]| {
        let values = values.iter().map(|value| Rational::from(*value));
        resources.iter().cloned().zip(values).filter(|(_, value)| !value.is_zero()).collect::<Vec<_>>()
    };
    let name = |i: usize| format!("s{i}");
    let servers = capacities.iter().enumerate();
    let servers = servers.map(|(i, c)| ServerSpec { name: name(i), count: None, capacity: amounts(c) });
    let users = users.iter().enumerate().map(|(n, said)| {
        let classes = said.classes.iter().enumerate();
        UserSpec {
            name: format!("user {n}"),
            demand: amounts(&said.demand),
            servers: Some(classes.filter(|(_, may)| **may).map(|(i, _)| name(i)).collect()),
            tasks: said.tasks.map(Rational::from),
            ..UserSpec::default()
        }
    });
    let (servers, users): (Vec<_>, Vec<_>) = (servers.collect(), users.collect());
    let n_users = users.len();
    let problem = Problem::new(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })?;
    let mechanism = registry::find("ps-dsf-tdm").ok_or("no such mechanism")?;
    let allocation = mechanism.allocate(&problem, Arithmetic::Exact)?.allocation;
    Ok((0..n_users).map(|n| (0..capacities.len()).map(|i| allocation.on(n, i)).collect()).collect())
}

/// Returns the number of true tasks that a user runs with the resources of its stated tasks.
fn true_tasks(truth: &Said, said: &Said, runs: &[Rational]) -> Rational {
    let needed = truth.demand.iter().zip(&said.demand).filter(|(d, _)| **d > 0);
    // The number of true tasks for which the resources of one stated task suffice.
    let worth = needed.map(|(d, said)| Rational::from((*said, *d))).min().unwrap_or_default();
    let of_use: Rational = runs.iter().zip(&truth.classes).filter(|(_, may)| **may).map(|(x, _)| x).sum();
    let tasks = of_use * worth;
    truth.tasks.map(Rational::from).map_or(tasks.clone(), |most| tasks.min(most))
}

/// Returns the entry on random lies about the demand of a task, the classes and the number of tasks. The stated demand
/// is the same on all classes.
pub(super) fn at_random() -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(105);
    let (mut gains, mut equal) = (0, 0);
    for _ in 0..PROBLEMS {
        let (resources, classes) = (random.random_range(1..=3), random.random_range(1..=3));
        let capacities: Vec<Vec<u32>> =
            (0..classes).map(|_| (0..resources).map(|_| random.random_range(1..=12)).collect()).collect();
        let mut users: Vec<Said> =
            (0..random.random_range(2..=4)).map(|_| Said::new(&mut random, resources, classes)).collect();
        let truth = users[0].clone();
        let honest = true_tasks(&truth, &truth, &allocated(&capacities, &users)?[0]);
        for _ in 0..LIES {
            users[0] = Said::new(&mut random, resources, classes);
            let tasks = true_tasks(&truth, &users[0], &allocated(&capacities, &users)?[0]);
            gains += usize::from(tasks > honest);
            equal += usize::from(tasks == honest);
        }
    }
    Ok(Entry {
        id: "theorems.b.lies".to_owned(),
        source: "Theorem B (theory, section 4): time-shared PS-DSF is strategy-proof in bundles",
        paper: String::new(),
        ours: format!("{gains} of {} random lies gain anything, {equal} lose nothing", PROBLEMS * LIES),
        agrees: Some(gains == 0),
        note:
            "The answers are exact. The problems have 2 to 4 users, 1 to 3 classes and 1 to 3 resources. A \
               lie states another demand, other classes or another number of tasks."
                .to_owned(),
    })
}

/// Returns the entry which shows that Theorem B needs the same demand on all classes. A user that states different
/// demands on different classes may gain.
pub(super) fn by_class() -> Result<Entry, PaperError> {
    /// The amounts of the demands that are tried on each class.
    const TRIED: [u32; 4] = [0, 1, 2, 4];
    let honest = tasks_of_first(&two_classes([None, None])?, [[1, 0], [1, 0]])?;
    let demands: Vec<[u32; 2]> = TRIED
        .iter()
        .flat_map(|a| TRIED.iter().map(move |b| [*a, *b]))
        .filter(|demand| *demand != [0, 0])
        .collect();
    let mut best: Option<(Rational, [[u32; 2]; 2])> = None;
    let mut at_most_honest = true;
    for first in &demands {
        for second in &demands {
            let said = [*first, *second];
            let tasks = tasks_of_first(&two_classes([Some(*first), Some(*second)])?, said)?;
            if first == second {
                at_most_honest &= tasks <= honest;
            }
            if best.as_ref().is_none_or(|(most, _)| tasks > *most) {
                best = Some((tasks, said));
            }
        }
    }
    let (most, [first, second]) = best.ok_or("no lie was tried")?;
    Ok(Entry {
        id: "theorems.b.lies-by-class".to_owned(),
        source: "Theorem B (theory, section 4): it is sharp in that the lie is the same on all classes",
        paper: String::new(),
        ours: format!(
            "{honest} tasks with the truth, and {most} with the demands ({}, {}) and ({}, {}); no lie with \
             one demand for all classes gains: {}",
            first[0],
            first[1],
            second[0],
            second[1],
            if at_most_honest { "true" } else { "false" }
        ),
        agrees: Some(at_most_honest && most > honest),
        note: format!(
            "capacities (2, 10) and (2, 1), demands (1, 0) and (0, 1), time shared; {} lies were tried",
            demands.len() * demands.len()
        ),
    })
}

/// Returns a problem with two classes and two users. The first user may state a demand for each class.
fn two_classes(said: [Option<[u32; 2]>; 2]) -> Result<Problem, PaperError> {
    let resources = ["r1".to_owned(), "r2".to_owned()];
    let amounts = |values: [u32; 2]| {
        let values = values.into_iter().map(Rational::from);
        resources.iter().cloned().zip(values).filter(|(_, value)| !value.is_zero()).collect::<Vec<_>>()
    };
    let class =
        |name: &str, capacity| ServerSpec { name: name.to_owned(), count: None, capacity: amounts(capacity) };
    let stated = ["s1", "s2"].into_iter().zip(said);
    let stated = stated.filter_map(|(name, said)| Some((name.to_owned(), amounts(said?))));
    let users = vec![
        UserSpec {
            name: "user 1".to_owned(),
            demand: amounts([1, 0]),
            demand_on: stated.collect(),
            ..UserSpec::default()
        },
        UserSpec { name: "user 2".to_owned(), demand: amounts([0, 1]), ..UserSpec::default() },
    ];
    let servers = vec![class("s1", [2, 10]), class("s2", [2, 1])];
    Problem::new(ProblemSpec { resources: resources.to_vec(), servers, users, ..ProblemSpec::default() })
        .map_err(PaperError::from)
}

/// Returns the number of true tasks that the first user runs with the resources of its stated tasks. A true task takes
/// one unit of the first resource.
fn tasks_of_first(problem: &Problem, said: [[u32; 2]; 2]) -> Result<Rational, PaperError> {
    let mechanism = registry::find("ps-dsf-tdm").ok_or("no such mechanism")?;
    let allocation = mechanism.allocate(problem, Arithmetic::Exact)?.allocation;
    Ok((0..2).map(|i| allocation.on(0, i) * said[i][0]).sum())
}
