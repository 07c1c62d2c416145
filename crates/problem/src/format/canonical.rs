//! The canonical form of a problem: one text for all ways to write it.

use std::fmt::{Display, Write};

use sha2::{Digest, Sha256};

use super::groups::{write_group, write_member, write_share};
use crate::{
    Rational,
    groups::GroupShare,
    number::{format_hashed, format_stated},
    problem::{Problem, ServerClass, User},
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
    let mut out = String::new();
    let mut file = Fields::file(&mut out, number);
    file.text("kind", "allocation-problem");
    if !problem.name().is_empty() {
        file.text("name", problem.name());
    }
    file.names("resources", problem.resources().iter().map(String::as_str));
    file.lines("servers", problem.servers(), |line, class| server(line, problem, class));
    let groups = problem.groups();
    if !groups.list().is_empty() {
        file.lines("groups", groups.list(), |line, group| write_group(line, problem, group));
    }
    file.lines("users", problem.users().iter().enumerate(), |line, (n, each)| {
        user(line, problem, each);
        write_member(line, groups, groups.member(n));
    });
    if *groups.share() != GroupShare::default() {
        file.object("share", |share| write_share(share, groups.share(), problem.resources()));
    }
    file.end();
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

fn server(line: &mut Fields<'_>, problem: &Problem, class: &ServerClass) {
    line.text("name", class.name());
    if class.count() != 1 {
        line.text("count", class.count());
    }
    line.amounts("capacity", problem.resources(), class.capacity().entries());
}

fn user(line: &mut Fields<'_>, problem: &Problem, user: &User) {
    let (resources, server_name) = (problem.resources(), |i: usize| problem.servers()[i].name());
    line.text("name", user.name());
    if *user.weight() != 1 {
        line.number("weight", user.weight());
    }
    line.amounts("demand", resources, user.base_demand().entries());
    if let Some(tasks) = user.tasks() {
        line.number("tasks", tasks);
    }
    if let Some(servers) = user.servers() {
        line.names("servers", servers.iter().map(|&i| server_name(i)));
    }
    if !user.demand_overrides().is_empty() {
        line.object("demand_on", |on| {
            for (i, demand) in user.demand_overrides() {
                on.amounts(server_name(*i), resources, demand.entries());
            }
        });
    }
    for (field, rates) in [("gamma", user.given_gamma()), ("criterion", user.criterion())] {
        if !rates.is_empty() {
            line.object(field, |on| rates.iter().for_each(|(i, rate)| on.number(server_name(*i), rate)));
        }
    }
}

/// Writes an object field by field.
pub(super) struct Fields<'o> {
    out: &'o mut String,
    number: Number,
    /// Stands between two fields.
    between: &'static str,
    is_empty: bool,
}

impl<'o> Fields<'o> {
    /// A whole file: each field begins a line.
    pub fn file(out: &'o mut String, number: Number) -> Self {
        out.push_str("{\n");
        Self { out, number, between: ",\n", is_empty: true }
    }

    /// Ends the file.
    pub fn end(self) {
        self.out.push_str("\n}\n");
    }

    fn key(&mut self, name: &str) {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push_str(self.between);
        }
        quote(self.out, name);
        self.out.push(':');
    }

    pub fn text(&mut self, name: &str, value: impl Display) {
        self.key(name);
        quote(self.out, &value.to_string());
    }

    pub fn number(&mut self, name: &str, value: &Rational) {
        self.key(name);
        // Digits need no escapes.
        let _ = write!(self.out, "\"{}\"", (self.number)(value));
    }

    pub fn truth(&mut self, name: &str) {
        self.key(name);
        self.out.push_str("true");
    }

    pub fn names<'n>(&mut self, name: &str, names: impl Iterator<Item = &'n str>) {
        self.key(name);
        self.out.push('[');
        for (position, name) in names.enumerate() {
            self.out.push_str(if position > 0 { "," } else { "" });
            quote(self.out, name);
        }
        self.out.push(']');
    }

    /// Amounts by resource.
    pub fn amounts(&mut self, name: &str, resources: &[String], amounts: &[(usize, Rational)]) {
        self.object(name, |of| amounts.iter().for_each(|(r, amount)| of.number(&resources[*r], amount)));
    }

    /// An object on one line.
    pub fn object(&mut self, name: &str, fields: impl FnOnce(&mut Fields<'_>)) {
        self.key(name);
        self.braces(fields);
    }

    /// A list of objects on one line.
    pub fn list<T>(
        &mut self,
        name: &str,
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.elements(name, ["", ",", ""], of, each);
    }

    /// A list of objects, one on each line.
    pub fn lines<T>(
        &mut self,
        name: &str,
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.elements(name, ["\n", ",\n", "\n"], of, each);
    }

    fn elements<T>(
        &mut self,
        name: &str,
        [first, between, last]: [&str; 3],
        of: impl IntoIterator<Item = T>,
        each: impl Fn(&mut Fields<'_>, T),
    ) {
        self.key(name);
        self.out.push('[');
        for (position, element) in of.into_iter().enumerate() {
            self.out.push_str(if position == 0 { first } else { between });
            self.braces(|fields| each(fields, element));
        }
        self.out.push_str(last);
        self.out.push(']');
    }

    fn braces(&mut self, fields: impl FnOnce(&mut Fields<'_>)) {
        self.out.push('{');
        fields(&mut Fields { out: self.out, number: self.number, between: ",", is_empty: true });
        self.out.push('}');
    }
}

fn quote(out: &mut String, name: &str) {
    // A string always has a JSON form.
    out.push_str(&serde_json::to_string(name).unwrap_or_default());
}
