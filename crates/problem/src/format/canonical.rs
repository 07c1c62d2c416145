//! The canonical form of a problem: the same text for all files that state the same problem.

use std::cell::RefCell;
use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

use super::writer::{Fields, Number, Texts};
use crate::{
    groups::{Group, GroupShare, Groups, Member},
    number::{format_hashed, format_stated},
    problem::{Problem, ServerClass, User},
    reservation::Reservation,
};

/// Returns the problem as a file in canonical form. Fields and names have a fixed order, numbers are in lowest
/// terms, and defaults are left out. A number whose quotient would be too long to be read is written as a decimal.
/// Each server class and each user has its own line.
///
/// Reading the file again gives an equal problem.
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
    let mut out = String::new();
    canonical(&mut out, problem, format_stated);
    out.push('\n');
    out
}

/// Returns the SHA-256 of the canonical form, in hexadecimal digits. Two files that state the same problem in different
/// ways have the same hash.
#[must_use]
pub fn problem_sha256(problem: &Problem) -> String {
    let compute = |problem: &Problem| {
        let mut hashed = Hashed::default();
        canonical(&mut hashed, problem, format_hashed);
        hashed.end()
    };
    problem.hashed(compute).to_owned()
}

/// A writer that keeps only the hash of the text. It adds the line break at the end of the text itself.
#[derive(Default)]
struct Hashed {
    digest: Sha256,
    /// Bytes that are not hashed yet. They are collected so that many short writes cost no more than a few
    /// long writes.
    buffer: Vec<u8>,
}

impl Hashed {
    /// Number of bytes that are collected before they are hashed.
    const BUFFER_BYTES: usize = 1 << 14;

    fn end(mut self) -> String {
        self.digest.update(&self.buffer);
        self.digest.update("\n");
        hexadecimal(&self.digest.finalize())
    }
}

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= Self::BUFFER_BYTES {
            self.digest.update(&self.buffer);
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Writes the canonical form, without a line break at the end.
pub(super) fn canonical(out: &mut dyn Write, problem: &Problem, number: Number) {
    let mut file = Fields::file(out, number);
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
    let texts = RefCell::new(Texts::default());
    file.lines("users", problem.users().iter().enumerate(), |line, (n, each)| {
        user(line, problem, each, &mut texts.borrow_mut());
        write_member(line, groups, groups.member(n));
    });
    if *groups.share() != GroupShare::default() {
        file.object("share", |share| write_share(share, groups.share(), problem.resources()));
    }
    file.close();
}

/// Returns the digest in hexadecimal digits.
fn hexadecimal(digest: &[u8]) -> String {
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

fn user(line: &mut Fields<'_>, problem: &Problem, user: &User, texts: &mut Texts) {
    let (resources, server_name) = (problem.resources(), |i: usize| problem.servers()[i].name());
    line.text("name", user.name());
    if *user.weight() != 1 {
        line.number("weight", user.weight());
    }
    line.shared_amounts("demand", resources, user.base_demand().entries(), texts);
    if let Some(tasks) = user.tasks() {
        line.number("tasks", tasks);
    }
    // With rates, the servers and the demands on classes follow from the rates.
    if let Some(servers) = user.servers().filter(|_| user.rates().is_none()) {
        let names = servers.iter().map(|&i| server_name(i));
        line.shared_names("servers", names, servers.as_ptr().addr(), texts);
    }
    if !user.demand_overrides().is_empty() && user.rates().is_none() {
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
    if let Some(rates) = user.rates() {
        line.object("rates", |on| {
            rates.by_class().iter().for_each(|(i, rate)| on.number(server_name(*i), rate));
        });
        if let Some(at_most) = rates.at_most() {
            line.number("at_most", at_most);
        }
    }
}

/// Writes a group in canonical form.
fn write_group(line: &mut Fields<'_>, problem: &Problem, group: &Group) {
    let resources = problem.resources();
    line.text("name", &group.name);
    if let Some(parent) = group.parent {
        line.text("parent", &problem.groups().list()[parent].name);
    }
    if group.weight != 1 {
        line.number("weight", &group.weight);
    }
    if group.priority != 0 {
        line.text("priority", group.priority);
    }
    if let Some(guarantee) = &group.guarantee {
        line.amounts("guarantee", resources, guarantee);
    }
    for (field, amounts) in [("limit", &group.limit), ("lend", &group.lend)] {
        if !amounts.is_empty() {
            line.amounts(field, resources, amounts);
        }
    }
    if !group.on.is_empty() {
        line.list("on", &group.on, |line, on| {
            line.names("servers", on.servers.iter().map(|i| problem.servers()[*i].name()));
            line.amounts("limit", resources, &on.limit);
        });
    }
}

/// Writes a user's group, gang and pinned tasks in canonical form.
fn write_member(line: &mut Fields<'_>, groups: &Groups, member: &Member) {
    if let Some(v) = member.group {
        line.text("group", &groups.list()[v].name);
    }
    if let Some(gang) = member.gang {
        line.text("gang", gang);
    }
    if let Some(pinned) = &member.pinned {
        line.number("pinned", pinned);
    }
}

/// Writes in canonical form how siblings are compared, if this differs from the default.
fn write_share(line: &mut Fields<'_>, share: &GroupShare, resources: &[String]) {
    let default = GroupShare::default();
    let words = [
        ("of", share.of.name(), default.of.name()),
        ("over", share.over.name(), default.over.name()),
        ("zero-weight", share.zero_weight.name(), default.zero_weight.name()),
        ("guarantees", share.guarantees.name(), default.guarantees.name()),
    ];
    for (field, word, _) in words.into_iter().filter(|(_, word, default)| word != default) {
        line.text(field, word);
    }
    if !share.multipliers.is_empty() {
        line.amounts("multipliers", resources, &share.multipliers);
    }
    if share.families {
        line.truth("families");
    }
}

/// Returns the reservation problem as a file in canonical form, like [`problem_to_json`](super::problem_to_json)
/// for allocation problems. Each pool, job type and configuration has its own line.
///
/// Reading the file again gives an equal problem.
#[must_use]
pub fn reservation_to_json(problem: &Reservation) -> String {
    let (listed, resources) = (problem.configurations(), problem.resources());
    let mut out = String::new();
    let mut file = Fields::file(&mut out, format_stated);
    file.text("kind", "reservation-problem");
    if !problem.name().is_empty() {
        file.text("name", problem.name());
    }
    if !resources.is_empty() {
        file.names("resources", resources.iter().map(String::as_str));
    }
    file.lines("servers", problem.pools(), |line, pool| {
        line.text("name", pool.name());
        if let Some(count) = pool.count() {
            line.text("count", count);
        }
        if listed.is_none() {
            line.amounts("capacity", resources, pool.capacity().entries());
        }
    });
    file.lines("jobs", problem.jobs(), |line, job| {
        line.text("name", job.name());
        if listed.is_none() {
            line.amounts("demand", resources, job.demand().entries());
        }
        line.number("reward", job.reward());
        line.number("load", job.load());
    });
    if let Some(configurations) = listed {
        file.lines("configurations", configurations, |line, k| {
            let present = k.iter().zip(problem.jobs()).filter(|(k, _)| **k > 0);
            present.for_each(|(k, job)| line.text(job.name(), k));
        });
    }
    file.end();
    out
}
