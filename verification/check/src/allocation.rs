//! An allocation as it is stated: tasks by user and class, or tasks on single servers.

use rug::Rational;

use crate::json::Json;
use crate::names::{Amounts, MOST, of_kind};
use crate::problem::Problem;
use crate::work::Checked;

/// The tasks of every user by class, `x_ni`.
pub type Tasks = Vec<Amounts>;

/// The optional fields of an allocation file that are accepted but not read. Only a file that the caller passes may
/// have these fields.
const DECORATIONS: &str = "alpha? criterion? rule? summary? decimals? utilisation? seconds? prices? user_prices? \
    at_most_prices? fractions? gap? relative_gap? witness? bottlenecks? status? levels? width? iterations? \
    selection? faces? extreme_points? integrality? series? search? schedule? warnings? version? $schema? \
    description?";

/// A stated allocation.
#[derive(PartialEq)]
pub struct Allocation {
    /// True if servers are shared by time (`tdm`). False if their resources are divided (`rdm`).
    pub by_time: bool,
    /// The tasks by user and class. Entries are not 0.
    pub tasks: Tasks,
    /// The tasks on single servers, in ascending order of servers. Servers without tasks are omitted. `None` if the
    /// allocation states tasks by class.
    pub placements: Option<Vec<Placement>>,
}

/// The tasks of each user on one server. Entries are not 0.
#[derive(PartialEq)]
pub struct Placement {
    pub class: usize,
    pub index: u64,
    pub tasks: Amounts,
}

/// Returns `(n, i, x_ni)` for every entry of the tasks.
pub fn entries(tasks: &Tasks) -> impl Iterator<Item = (usize, usize, &Rational)> {
    tasks.iter().enumerate().flat_map(|(n, of_user)| of_user.iter().map(move |(i, x)| (n, *i, x)))
}

/// Reads tasks by user and class, and drops zeros.
pub fn tasks(raw: &Json<'_>, problem: &Problem) -> Checked<Tasks> {
    let mut tasks = vec![Vec::new(); problem.users.len()];
    for (n, of_user) in problem.user_names.map(raw, |_, raw| problem.class_names.numbers(raw))? {
        tasks[n] = of_user;
    }
    Ok(tasks)
}

/// Reads tasks on single servers, in ascending order of servers.
pub fn placements(raw: &Json<'_>, problem: &Problem) -> Checked<Vec<Placement>> {
    let mut placements = raw.rows("server index tasks", |[server, index, tasks]| {
        let (class, index) = (problem.class_names.named(server)?, index.count(0, MOST)?);
        Ok(Placement { class, index, tasks: problem.user_names.numbers(tasks)? })
    })?;
    placements.sort_by_key(|placement| (placement.class, placement.index));
    Ok(placements)
}

/// Returns true if all placements are on servers of the problem, and no server occurs twice. The placements have to
/// be sorted by server.
pub fn are_servers(placements: &[Placement], problem: &Problem) -> bool {
    placements.iter().all(|placement| placement.index < problem.classes[placement.class].count)
        && placements.is_sorted_by(|a, b| (a.class, a.index) < (b.class, b.index))
}

/// Returns the sums by user and class of tasks on single servers.
pub fn sums(placements: &[Placement], problem: &Problem) -> Tasks {
    let mut sums: Tasks = vec![Vec::new(); problem.users.len()];
    for Placement { class, tasks, .. } in placements {
        for (n, x) in tasks {
            // Placements are in the order of the classes.
            match sums[*n].last_mut().filter(|(i, _)| i == class) {
                Some((_, sum)) => *sum += x,
                None => sums[*n].push((*class, x.clone())),
            }
        }
    }
    sums.iter_mut().for_each(|sums| sums.retain(|(_, x)| !x.is_zero()));
    sums
}

impl Allocation {
    /// Reads an allocation, and the hash of its problem if the allocation states the hash. The allocation inside a
    /// certificate has only the fields that are checked. A file that the caller passes (`is_file`) may have more
    /// fields.
    pub fn read<'j>(raw: &'j Json<'_>, is_file: bool, problem: &Problem) -> Checked<(Self, Option<&'j str>)> {
        of_kind(raw, "allocation")?;
        let names = "kind mechanism? sharing? arithmetic? problem_sha256? tasks? placements?";
        let names = if is_file { format!("{names} {DECORATIONS}") } else { names.to_owned() };
        let [_, mechanism, sharing, arithmetic, hash, by_class, on_servers] = raw.fields(&names)?;
        mechanism.given().map(Json::text).transpose()?;
        let by_time = sharing.word(&["rdm", "tdm"])? == 1;
        arithmetic.word(&["exact", "float"])?;
        let mut placements = on_servers.given().map(|raw| placements(raw, problem)).transpose()?;
        if placements.as_ref().is_some_and(|placements| !are_servers(placements, problem)) {
            return on_servers.wrong("the placements name a server twice, or a server that does not exist");
        }
        placements.iter_mut().for_each(|placements| placements.retain(|server| !server.tasks.is_empty()));
        let sums = placements.as_ref().map(|placements| sums(placements, problem));
        let stated = by_class.given().map(|raw| tasks(raw, problem)).transpose()?;
        let tasks = match (stated, sums) {
            (Some(stated), Some(sums)) if stated != sums => {
                return by_class.wrong("the field `tasks` differs from the sums of the placements");
            }
            (Some(tasks), _) | (None, Some(tasks)) => tasks,
            (None, None) => return raw.wrong("the field `tasks` is missing"),
        };
        Ok((Self { by_time, tasks, placements }, hash.given().map(Json::text).transpose()?))
    }
}
