//! The canonical form of a problem: what its hash is taken of, and what two problems are compared by.
//!
//! Fields in a fixed order, names as they stand, numbers as [`hashed`], nothing that is the default, one server
//! class and one user on each line (docs/formats.md). To compare two problems, the same with all names in
//! alphabetical order, without the title and without demands that only repeat the user's other demand.

use std::fmt::Write;

use crate::number::hashed;
use crate::problem::{Amounts, Names, Problem};
use crate::sha256::sha256;

/// The hash that names a problem.
pub fn hash(problem: &Problem) -> String {
    sha256(&text(problem, false))
}

/// Whether two problems mean the same, whatever the order and the spelling in their files.
pub fn same(a: &Problem, b: &Problem) -> bool {
    text(a, true) == text(b, true)
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // Writing to a string cannot fail.
            c if c < ' ' => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Positions in the order in which they are written.
fn order(names: &Names, sorted: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.list.len()).collect();
    if sorted {
        order.sort_by_key(|at| &names.list[*at]);
    }
    order
}

/// `"name":value` for each, in braces.
fn object<T>(names: &Names, values: &[(usize, T)], sorted: bool, write: impl Fn(&T) -> String) -> String {
    let mut values: Vec<&(usize, T)> = values.iter().collect();
    if sorted {
        values.sort_by_key(|(at, _)| &names.list[*at]);
    }
    let fields = values.iter().map(|(at, value)| format!("{}:{}", quoted(&names.list[*at]), write(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn list(names: &Names, positions: impl IntoIterator<Item = usize>) -> String {
    let names: Vec<String> = positions.into_iter().map(|at| quoted(&names.list[at])).collect();
    format!("[{}]", names.join(","))
}

fn text(problem: &Problem, sorted: bool) -> String {
    let number = |value: &_| quoted(&hashed(value));
    let amounts = |amounts: &Amounts| object(&problem.resources, amounts, sorted, number);
    let by_class = |values: &Amounts| object(&problem.class_names, values, sorted, number);
    let server = |i: usize| {
        let class = &problem.classes[i];
        let count = if class.count == 1 { String::new() } else { format!(",\"count\":\"{}\"", class.count) };
        let name = quoted(&problem.class_names.list[i]);
        format!("{{\"name\":{name}{count},\"capacity\":{}}}", amounts(&class.capacity))
    };
    let user = |n: usize| {
        let user = &problem.users[n];
        let mut out = format!("{{\"name\":{}", quoted(&problem.user_names.list[n]));
        let mut field = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = write!(out, ",\"{name}\":{value}");
        };
        if user.weight != 1 {
            field("weight", number(&user.weight));
        }
        field("demand", amounts(&user.demand));
        if let Some(tasks) = &user.tasks {
            field("tasks", number(tasks));
        }
        if let Some(classes) = &user.classes {
            let mut classes = classes.clone();
            if sorted {
                classes.sort_by_key(|i| &problem.class_names.list[*i]);
            }
            field("servers", list(&problem.class_names, classes));
        }
        let mut demand_on: Vec<_> = user.demand_on.iter().map(|(i, demand)| (*i, demand)).collect();
        demand_on.retain(|(_, demand)| !sorted || **demand != user.demand);
        if !demand_on.is_empty() {
            field("demand_on", object(&problem.class_names, &demand_on, sorted, |demand| amounts(demand)));
        }
        for (name, values) in [("gamma", &user.gamma), ("criterion", &user.criterion)] {
            if !values.is_empty() {
                field(name, by_class(values));
            }
        }
        out + "}"
    };
    let lines = |names: &Names, line: &dyn Fn(usize) -> String| {
        let lines: Vec<String> =
            order(names, sorted).into_iter().map(|at| format!("\n{}", line(at))).collect();
        lines.join(",")
    };
    let title = match problem.name.is_empty() || sorted {
        true => String::new(),
        false => format!("\"name\":{},\n", quoted(&problem.name)),
    };
    format!(
        "{{\n\"kind\":\"allocation-problem\",\n{title}\"resources\":{},\n\"servers\":[{}\n],\n\"users\":[{}\n]\n}}\n",
        list(&problem.resources, order(&problem.resources, sorted)),
        lines(&problem.class_names, &server),
        lines(&problem.user_names, &user),
    )
}
