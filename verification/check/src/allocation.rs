//! An allocation as it is stated: tasks by user and class, or on single servers.

use crate::json::Json;
use crate::problem::{Amounts, MOST, Problem, of_kind};
use crate::work::Checked;

/// Tasks of every user by class: `x_ni`.
pub type Tasks = Vec<Amounts>;

#[derive(Debug, PartialEq)]
pub struct Allocation {
    /// Whether the time of the servers is shared, and not their resources.
    pub by_time: bool,
    /// Without zeros.
    pub tasks: Tasks,
    /// The tasks on single servers, servers ascending; those that hold no entry are left out.
    pub placements: Option<Vec<Placement>>,
}

/// What is on one server; zeros are entries too.
#[derive(Debug, PartialEq)]
pub struct Placement {
    pub class: usize,
    pub index: u64,
    pub tasks: Amounts,
}

/// Tasks by user and class.
pub fn tasks(raw: &Json<'_>, problem: &Problem) -> Checked<Tasks> {
    let mut tasks = vec![Vec::new(); problem.users.len()];
    for (n, of_user) in problem.user_names.map(raw, |_, raw| of_user(raw, problem))? {
        tasks[n] = of_user;
    }
    Ok(tasks)
}

fn of_user(raw: &Json<'_>, problem: &Problem) -> Checked<Amounts> {
    raw.object()?;
    let mut tasks = problem.class_names.map(raw, |_, raw| raw.computed())?;
    tasks.retain(|(_, x)| !x.is_zero());
    Ok(tasks)
}

/// Tasks on single servers.
pub fn placements(raw: &Json<'_>, problem: &Problem) -> Checked<Vec<Placement>> {
    let mut placements = Vec::new();
    for raw in raw.list()? {
        let [server, index, tasks] = raw.fields(["server", "index", "tasks"])?;
        let class = problem.class_names.named(server)?;
        let index = index.count(0, MOST)?;
        tasks.object()?;
        let tasks = problem.user_names.map(tasks, |_, raw| raw.computed())?;
        placements.push(Placement { class, index, tasks });
    }
    placements.sort_by_key(|placement| (placement.class, placement.index));
    Ok(placements)
}

/// Whether these are servers of the problem, none twice; in the order in which they are read.
pub fn are_servers(placements: &[Placement], problem: &Problem) -> bool {
    let place = |placement: &Placement| (placement.class, placement.index);
    placements.iter().all(|placement| placement.index < problem.classes[placement.class].count)
        && placements.windows(2).all(|pair| place(&pair[0]) != place(&pair[1]))
}

/// The tasks by user and class of tasks on single servers.
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

/// What a file may say of an allocation besides; only files of the reader's own.
const DECORATIONS: [&str; 21] = [
    "alpha",
    "criterion",
    "summary",
    "utilisation",
    "seconds",
    "prices",
    "user_prices",
    "gap",
    "relative_gap",
    "witness",
    "bottlenecks",
    "status",
    "levels",
    "width",
    "iterations",
    "selection",
    "faces",
    "extreme_points",
    "integrality",
    "series",
    "search",
];

impl Allocation {
    /// Reads the allocation inside a certificate, which holds nothing but what is judged, or a file of the
    /// reader's own; besides, the hash of the problem that it states.
    pub fn read<'j>(raw: &'j Json<'_>, is_file: bool, problem: &Problem) -> Checked<(Self, &'j Json<'j>)> {
        let of_file = |name: &str| {
            DECORATIONS.contains(&name) || ["warnings", "version", "$schema", "description"].contains(&name)
        };
        let stated = ["kind", "mechanism", "sharing", "arithmetic", "problem_sha256", "tasks", "placements"];
        for (name, value) in raw.object()? {
            if !stated.contains(&&**name) && !(is_file && of_file(name)) {
                return value
                    .wrong(format!("unknown field `{name:.60}`: expected one of {}", stated.join(", ")));
            }
        }
        let [kind, mechanism, sharing, arithmetic, hash, by_class, on_servers] =
            stated.map(|name| raw.get(name));
        of_kind(kind, "allocation")?;
        for text in [mechanism, hash].into_iter().filter(|text| !text.is_absent()) {
            text.text()?;
        }
        let word = |raw: &Json<'_>, words: [&str; 2]| match raw.is_absent() {
            true => Ok(false),
            false => match words.iter().position(|word| raw.text() == Ok(*word)) {
                Some(which) => Ok(which == 1),
                None => raw.wrong(format!("expected \"{}\" or \"{}\"", words[0], words[1])),
            },
        };
        let by_time = word(sharing, ["rdm", "tdm"])?;
        word(arithmetic, ["exact", "float"])?;
        let mut placed = None;
        if !on_servers.is_absent() {
            placed = Some(placements(on_servers, problem)?);
        }
        if placed.as_ref().is_some_and(|placed| !are_servers(placed, problem)) {
            return on_servers.wrong("a server is given twice, or is not there");
        }
        let sums = placed.as_ref().map(|placed| sums(placed, problem));
        if by_class.is_absent() && sums.is_none() {
            return raw.wrong("the field `tasks` is missing");
        }
        let tasks = match (by_class.is_absent(), sums) {
            (true, Some(sums)) => sums,
            (_, sums) => {
                by_class.object()?;
                let tasks = tasks(by_class, problem)?;
                if sums.is_some_and(|sums| sums != tasks) {
                    return by_class.wrong("the tasks are not the sums of the placements");
                }
                tasks
            }
        };
        Ok((Self { by_time, tasks, placements: placed }, hash))
    }

    /// The same without entries that are 0, and servers without any: what two allocations are compared by.
    pub fn simplified(mut self) -> Self {
        for placement in self.placements.iter_mut().flatten() {
            placement.tasks.retain(|(_, x)| !x.is_zero());
        }
        if let Some(placements) = &mut self.placements {
            placements.retain(|placement| !placement.tasks.is_empty());
        }
        self
    }
}
