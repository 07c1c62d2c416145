//! Measures progressive filling: a million whole tasks under every rule, and a comparison with the plain
//! definition.

use evenhand_testkit::plain::filling as naive;
use std::time::Instant;

use evenhand_mechanisms::filling::{Rule, Score, ServerRule, Ties, fill};
use evenhand_problem::{Allocation, Problem, ProblemError, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::instances::Random;
use crate::table::{markdown, seconds};

/// The servers, with capacities in hundredths of the largest server and frequencies in hundredths, roughly as
/// in DRFH, Table I.
const CLASSES: [(u64, u64, u64); 6] =
    [(53, 50, 50), (31, 50, 25), (8, 50, 75), (6, 100, 100), (1, 25, 25), (1, 50, 12)];
/// The number of demand units in a hundredth of the largest server.
const UNIT: u64 = 100;

/// Returns `n_users` users with demands of 1 to `most` units, on about `n_servers` servers.
fn cluster(n_users: usize, n_servers: u64, most: u64, seed: u64) -> Result<Problem, ProblemError> {
    let mut random = Random::new(seed, n_servers << 32 | n_users as u64);
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    let named = |amounts: [u64; 2]| resources.iter().cloned().zip(amounts.map(Rational::from)).collect();
    let servers = CLASSES.iter().enumerate().map(|(i, &(parts, cpu, memory))| ServerSpec {
        name: format!("class {}", i + 1),
        count: Some(Rational::from((n_servers * parts / 100).max(1))),
        capacity: named([cpu * UNIT, memory * UNIT]),
    });
    let servers = servers.collect();
    let users = (0..n_users).map(|n| UserSpec {
        name: format!("user {}", n + 1),
        weight: Some(Rational::from(random.between(1, 5))),
        demand: named([random.between(1, most), random.between(1, most)]),
        ..UserSpec::default()
    });
    let users = users.collect();
    Problem::new(ProblemSpec { servers, users, resources, ..ProblemSpec::default() })
}

fn rules(only: &str, ties: &'static [Ties]) -> impl Iterator<Item = Rule> {
    let servers = [
        (ServerRule::FirstFit, false),
        (ServerRule::BestFit, false),
        (ServerRule::BestFit, true),
        (ServerRule::Joint, false),
        (ServerRule::Iid, false),
        (ServerRule::Rrr, false),
    ];
    let all = servers.into_iter().flat_map(move |(server, unfiltered)| {
        [Score::Drf, Score::Tsf, Score::PsDsf, Score::ResidualPsDsf]
            .into_iter()
            .flat_map(move |score| ties.iter().map(move |&ties| Rule { score, server, ties, unfiltered }))
    });
    all.filter(move |rule| rule.to_string().contains(only))
}

fn timed(problem: &Problem, rule: Rule) -> Result<(Allocation, f64), String> {
    let started = Instant::now();
    let allocation = fill(problem, rule, &Rational::from(1), 1).map_err(|error| error.to_string())?;
    Ok((allocation, started.elapsed().as_secs_f64()))
}

/// Runs a filling under every rule.
///
/// # Errors
/// The error of a filling.
pub fn large(n_users: usize, n_servers: u64, only: &str) -> Result<String, String> {
    let problem = cluster(n_users, n_servers, 18, 1).map_err(|error| error.to_string())?;
    // If every task draws among the best servers of its user, best fit takes minutes for this problem.
    let redraws = |rule: &Rule| {
        let is_turn_first = !rule.unfiltered && rule.score.is_of_user();
        rule.server == ServerRule::BestFit && rule.ties == Ties::Random && !is_turn_first
    };
    timed_table(&problem, rules(only, &[Ties::Low, Ties::Random]).filter(|rule| !redraws(rule)))
}

/// Fills a million tasks of 100 users by best fit, on as many servers as the published traces have.
///
/// # Errors
/// The error of a filling.
pub fn best_fit_of_a_trace(only: &str) -> Result<String, String> {
    let problem = cluster(100, 12_583, 225, 3).map_err(|error| error.to_string())?;
    let is_best_fit = |rule: &Rule| rule.server == ServerRule::BestFit && rule.score == Score::Drf;
    timed_table(&problem, rules(only, &[Ties::Low]).filter(is_best_fit))
}

fn timed_table(problem: &Problem, rules: impl Iterator<Item = Rule>) -> Result<String, String> {
    let mut rows = Vec::new();
    for rule in rules {
        let (allocation, time) = timed(problem, rule)?;
        let tasks: Rational = allocation.totals().iter().sum();
        let each = time * 1e9 / tasks.to_f64();
        rows.push(vec![rule.to_string(), tasks.to_string(), seconds(time), format!("{each:.0} ns")]);
    }
    let (n_users, servers) = (problem.n_users(), problem.n_single_servers());
    let head = ["rule", "tasks", "time", "per task"];
    Ok(format!("{n_users} users, {servers} servers\n\n{}", markdown(&head, &rows, 1)))
}

/// Runs every rule and the plain definition on a cluster that is small enough for the definition. Different
/// results are an error.
///
/// # Errors
/// The error of a filling, or the difference between two results.
pub fn against_the_scan(only: &str) -> Result<String, String> {
    let (n_users, n_servers) = (20, 20);
    let problem = cluster(n_users, n_servers, 180, 2).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for rule in rules(only, &[Ties::Low]) {
        let (allocation, time) = timed(&problem, rule)?;
        let started = Instant::now();
        let steps = naive::fill(&problem, rule, &Rational::from(1), 1);
        let scan = started.elapsed().as_secs_f64();
        let totals: Vec<Rational> = steps.iter().map(|row| Rational::from(row.iter().sum::<u64>())).collect();
        if totals != allocation.totals() {
            return Err(format!("{rule}: the definition gives another answer"));
        }
        let tasks: Rational = totals.iter().sum();
        let ratio = format!("{:.0}", scan / time);
        rows.push(vec![rule.to_string(), tasks.to_string(), seconds(time), seconds(scan), ratio]);
    }
    let servers = problem.n_single_servers();
    let head = ["rule", "tasks", "ours", "scan", "ratio"];
    Ok(format!("{n_users} users, {servers} servers, the same answers\n\n{}", markdown(&head, &rows, 1)))
}
