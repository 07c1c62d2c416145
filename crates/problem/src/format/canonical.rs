//! The canonical form of a problem: one text for all ways to write it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::groups::{write_groups, write_member, write_share};
use crate::{
    Rational,
    number::{format_hashed, format_stated},
    problem::{Problem, ServerClass, User},
    quantities::Quantities,
};

/// The problem as a file, in canonical form: fields and names in a fixed order, numbers in lowest
/// terms (decimals where the quotient would be too long to be read), nothing that is the default. One server class and one user stand on each line.
///
/// Reading it back gives an equal problem.
///
/// # Examples
/// ```
/// use evenhand_problem::format::{Source, problem_to_json};
/// let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
///     "servers": [{"name": "pool", "count": 1, "capacity": {"cpu": 0.50}}], "users": []}"#;
/// let problem = Source { name: "p.json", text }.problem().unwrap();
/// assert!(problem_to_json(&problem).contains(r#"{"name":"pool","capacity":{"cpu":"1/2"}}"#));
/// ```
#[must_use]
pub fn problem_to_json(problem: &Problem) -> String {
    canonical(problem, format_stated)
}

/// SHA-256 of the canonical form, in hexadecimal: the same for two files that state one problem in
/// different spellings.
#[must_use]
pub fn problem_sha256(problem: &Problem) -> String {
    sha256(&canonical(problem, format_hashed))
}

/// How a number is written.
pub(super) type Number = fn(&Rational) -> String;

fn canonical(problem: &Problem, number: Number) -> String {
    let mut out = String::from("{\n\"kind\":\"allocation-problem\",\n");
    if !problem.name().is_empty() {
        out.push_str("\"name\":");
        quote(&mut out, problem.name());
        out.push_str(",\n");
    }
    out.push_str("\"resources\":");
    list(&mut out, problem.resources().iter().map(String::as_str));
    out.push_str(",\n\"servers\":[");
    for (i, class) in problem.servers().iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        server(&mut out, problem, class, number);
    }
    out.push_str("\n]");
    write_groups(&mut out, problem, number);
    out.push_str(",\n\"users\":[");
    for (n, each) in problem.users().iter().enumerate() {
        out.push_str(if n == 0 { "\n" } else { ",\n" });
        user(&mut out, problem, each, number);
        write_member(&mut out, problem.groups(), problem.groups().member(n), number);
        out.push('}');
    }
    out.push_str("\n]");
    write_share(&mut out, problem.groups().share(), problem.resources(), number);
    out.push_str("\n}\n");
    out
}

/// In hexadecimal.
pub(super) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn server(out: &mut String, problem: &Problem, class: &ServerClass, number: Number) {
    out.push_str("{\"name\":");
    quote(out, class.name());
    if class.count() != 1 {
        let _ = write!(out, ",\"count\":\"{}\"", class.count());
    }
    out.push_str(",\"capacity\":");
    quantities(out, problem.resources(), class.capacity(), number);
    out.push('}');
}

/// All but the closing brace, before which more may be said.
fn user(out: &mut String, problem: &Problem, user: &User, number: Number) {
    let server_name = |i: usize| problem.servers()[i].name();
    out.push_str("{\"name\":");
    quote(out, user.name());
    if *user.weight() != 1 {
        let _ = write!(out, ",\"weight\":\"{}\"", number(user.weight()));
    }
    out.push_str(",\"demand\":");
    quantities(out, problem.resources(), user.base_demand(), number);
    if let Some(tasks) = user.tasks() {
        let _ = write!(out, ",\"tasks\":\"{}\"", number(tasks));
    }
    if let Some(servers) = user.servers() {
        out.push_str(",\"servers\":");
        list(out, servers.iter().map(|&i| server_name(i)));
    }
    if !user.demand_overrides().is_empty() {
        out.push_str(",\"demand_on\":{");
        for (position, (i, demand)) in user.demand_overrides().iter().enumerate() {
            key(out, position, server_name(*i));
            quantities(out, problem.resources(), demand, number);
        }
        out.push('}');
    }
    for (field, rates) in [("gamma", user.given_gamma()), ("criterion", user.criterion())] {
        if !rates.is_empty() {
            let _ = write!(out, ",\"{field}\":{{");
            for (position, (i, rate)) in rates.iter().enumerate() {
                key(out, position, server_name(*i));
                let _ = write!(out, "\"{}\"", number(rate));
            }
            out.push('}');
        }
    }
}

pub(super) fn quantities(out: &mut String, resources: &[String], values: &Quantities, number: Number) {
    out.push('{');
    for (position, (r, value)) in values.entries().iter().enumerate() {
        key(out, position, &resources[*r]);
        let _ = write!(out, "\"{}\"", number(value));
    }
    out.push('}');
}

pub(super) fn key(out: &mut String, position: usize, name: &str) {
    if position > 0 {
        out.push(',');
    }
    quote(out, name);
    out.push(':');
}

pub(super) fn list<'a>(out: &mut String, names: impl Iterator<Item = &'a str>) {
    out.push('[');
    for (position, name) in names.enumerate() {
        if position > 0 {
            out.push(',');
        }
        quote(out, name);
    }
    out.push(']');
}

pub(super) fn quote(out: &mut String, name: &str) {
    // A string always has a JSON form.
    out.push_str(&serde_json::to_string(name).unwrap_or_default());
}
