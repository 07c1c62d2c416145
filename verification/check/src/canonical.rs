//! The canonical form of a problem. The form is hashed, and two problems are compared by it.
//!
//! Fields are in a fixed order, names are written as in the file, numbers as [`hashed`] writes them, and defaults are
//! omitted. Each server class and each user has its own line (docs/formats.md). To compare two problems, all names are
//! sorted alphabetically and the title is omitted.

use rug::Rational;

use crate::allocation::{Allocation, Placement};
use crate::json::{object, quoted, record};
use crate::names::{Amounts, Names};
use crate::number::hashed;
use crate::problem::Problem;
use crate::sha256::sha256;

/// Returns the hash that identifies a problem.
pub fn hash(problem: &Problem) -> String {
    sha256(&text(problem, false))
}

/// Returns the hash that identifies an allocation. The hash covers the way of sharing servers, and the tasks by user
/// and class or by server. Names are in alphabetical order.
pub fn hash_of_tasks(allocation: &Allocation, problem: &Problem) -> String {
    let (users, classes) = (&problem.user_names, &problem.class_names);
    let amounts = |names: &Names, amounts: &Amounts| {
        by_name(names, amounts.iter().map(|(at, x)| (*at, Some(quoted(&x.to_string())))), true)
    };
    let sharing = quoted(if allocation.by_time { "tdm" } else { "rdm" });
    let Some(placements) = &allocation.placements else {
        let tasks = allocation.tasks.iter().enumerate().filter(|(_, tasks)| !tasks.is_empty());
        let tasks = by_name(users, tasks.map(|(n, on)| (n, Some(amounts(classes, on)))), true);
        return sha256(&record("kind sharing tasks", [quoted("allocation"), sharing, tasks]));
    };
    let line = |on: &&Placement| {
        let (class, index) = (quoted(&classes.list[on.class]), on.index.to_string());
        record("server index tasks", [class, index, amounts(users, &on.tasks)])
    };
    let mut servers: Vec<&Placement> = placements.iter().collect();
    servers.sort_by_key(|on| (&classes.list[on.class], on.index));
    let servers = format!("[{}]", servers.iter().map(line).collect::<Vec<_>>().join(","));
    sha256(&record("kind sharing placements", [quoted("allocation"), sharing, servers]))
}

/// Returns true if two problems are the same, regardless of the order of names and the form of numbers in their files.
pub fn same(a: &Problem, b: &Problem) -> bool {
    text(a, true) == text(b, true)
}

/// Returns a JSON object of values by name. The names are in alphabetical order if `sorted` is true.
pub fn by_name(names: &Names, values: impl Iterator<Item = (usize, Option<String>)>, sorted: bool) -> String {
    let mut fields: Vec<_> = values.map(|(at, value)| (&*names.list[at], value)).collect();
    if sorted {
        fields.sort();
    }
    object(fields)
}

/// Returns a JSON object of numbers by name, in the form that is hashed.
pub fn numbers(names: &Names, of: &Amounts, sorted: bool) -> String {
    by_name(names, of.iter().map(|(at, value)| (*at, number(value))), sorted)
}

pub fn number(value: &Rational) -> Option<String> {
    Some(quoted(&hashed(value)))
}

fn text(problem: &Problem, sorted: bool) -> String {
    // Returns positions in the order in which their names are written to the text.
    let order = |names: &Names, mut positions: Vec<usize>| {
        if sorted {
            positions.sort_by_key(|at| &names.list[*at]);
        }
        positions
    };
    let all = |names: &Names| order(names, (0..names.list.len()).collect());
    let list = |names: &Names, positions: Vec<usize>| {
        let quoted: Vec<String> = positions.iter().map(|at| quoted(&names.list[*at])).collect();
        format!("[{}]", quoted.join(","))
    };
    let lines = |names: &Names, line: &dyn Fn(usize) -> String| {
        all(names).into_iter().map(|at| format!("\n{}", line(at))).collect::<Vec<_>>().join(",")
    };
    let amounts = |of: &Amounts| Some(numbers(&problem.resources, of, sorted));
    let by_class = |of: &Amounts| (!of.is_empty()).then(|| numbers(&problem.class_names, of, sorted));
    let server = |i: usize| {
        let class = &problem.classes[i];
        let count = (class.count != 1).then(|| quoted(&class.count.to_string()));
        let name = Some(quoted(&problem.class_names.list[i]));
        record("name count capacity", [name, count, amounts(&class.capacity)])
    };
    let user = |n: usize| {
        let user = &problem.users[n];
        // If the user states rates, the rates determine its servers and its demands on classes.
        let servers = user.classes.clone().filter(|_| user.rates.is_none());
        let servers = servers.map(|i| list(&problem.class_names, order(&problem.class_names, i)));
        let demand_on = if user.rates.is_none() { &user.demand_on[..] } else { &[] };
        let demand_on = demand_on.iter().map(|(i, demand)| (*i, amounts(demand)));
        let fields = [
            ("name", Some(quoted(&problem.user_names.list[n]))),
            ("weight", number(&user.weight).filter(|_| user.weight != 1)),
            ("demand", amounts(&user.demand)),
            ("tasks", user.tasks.as_ref().and_then(number)),
            ("servers", servers),
            ("demand_on", (demand_on.len() > 0).then(|| by_name(&problem.class_names, demand_on, sorted))),
            ("gamma", by_class(&user.gamma)),
            ("criterion", by_class(&user.criterion)),
            ("rates", user.rates.as_ref().and_then(by_class)),
            ("at_most", user.at_most.as_ref().and_then(number)),
        ];
        object(fields.into_iter().chain(problem.groups.fields_of(n)))
    };
    let classes = |set: Vec<usize>| list(&problem.class_names, order(&problem.class_names, set));
    let group = |v: usize| problem.groups.line(v, amounts, classes, sorted);
    let groups = lines(&problem.groups.names, &group);
    let groups = if groups.is_empty() { groups } else { format!(",\n\"groups\":[{groups}\n]") };
    let share = problem.groups.share(amounts);
    let share = share.map_or_else(String::new, |share| format!(",\n\"share\":{share}"));
    let is_titled = !problem.name.is_empty() && !sorted;
    let title = if is_titled { format!("\"name\":{},\n", quoted(&problem.name)) } else { String::new() };
    format!(
        "{{\n\"kind\":\"allocation-problem\",\n{title}\"resources\":{},\n\
         \"servers\":[{}\n]{groups},\n\"users\":[{}\n]{share}\n}}\n",
        list(&problem.resources, all(&problem.resources)),
        lines(&problem.class_names, &server),
        lines(&problem.user_names, &user),
    )
}
