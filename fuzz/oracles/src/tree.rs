//! The oracle for problems with groups, under every rule that compares siblings.
//!
//! The name of a problem is the rule, followed by flags without dashes, such as `kueue no-nominal-first`. Any
//! other name stands for the problem's own share.

use evenhand_budget::within;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, registry, tree};
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem, printable};
use evenhand_report as report;

use crate::grammar::MOST_GROUPS;
use crate::small::{MOST_CLASSES, MOST_RESOURCES, MOST_USERS};
use crate::{LIMITS, pipeline, readers, said};

/// Solves a problem by groups, in fractional and in whole tasks. Certifies and explains the answers.
pub fn tree(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { name: "problem.json", text };
    let problem = match source.problem() {
        Ok(problem) => problem,
        Err(error) => return said::format_error(&error, &source),
    };
    let is_small = problem.n_users() <= MOST_USERS
        && problem.n_servers() <= MOST_CLASSES
        && problem.n_resources() <= MOST_RESOURCES
        && problem.groups().list().len() <= MOST_GROUPS;
    if !is_small {
        return;
    }
    readers::same_problem(&problem);
    for name in ["tree", "fill"] {
        let mechanism = registry::find(name).expect("a mechanism");
        if mechanism.is_of_whole_tasks() && !pipeline::is_countable(&problem) {
            continue;
        }
        let solved = within(&LIMITS, || solved(mechanism, &problem));
        solved.unwrap_or_else(|exceeded| said::one_line(&printable(&exceeded.to_string())));
    }
}

fn solved(mechanism: &Mechanism, problem: &Problem) {
    let flags = flags(mechanism, problem.name());
    let outcome = match mechanism.allocate_with(problem, &flags) {
        Ok(outcome) => outcome,
        Err(MechanismError::NeedsOption { option, .. }) => panic!("{option} is needed"),
        Err(error) => return said::one_line(&printable(&error.to_string())),
    };
    let Ok(settings) = tree::settings(&flags) else { return };
    if let Some(entitlements) = &outcome.findings.entitlements {
        return said::page(&report::entitlements(problem, entitlements, None));
    }
    match tree::levels(problem, &outcome.allocation, &settings) {
        Ok(standings) => said::page(&report::levels(&standings)),
        Err(error) => said::one_line(&printable(&error.to_string())),
    }
    pipeline::told(mechanism.info.id, problem, &outcome);
}

/// Returns those flags in the name of the problem that the mechanism accepts.
fn flags(mechanism: &Mechanism, name: &str) -> Flags {
    let mut words = name.split(' ');
    let mut flags = Flags::new(Arithmetic::Exact);
    if let Some(rule) = words.next().filter(|rule| !rule.is_empty() && mechanism.takes("rule")) {
        flags = flags.with("rule", rule.to_owned());
        // The name is not the name of a rule.
        if mechanism.check(&flags).is_err() {
            flags = Flags::new(Arithmetic::Exact);
        }
    }
    let stated: Vec<&str> = words.collect();
    for word in ["no-nominal-first", "whole"] {
        if !stated.contains(&word) || !mechanism.takes(word) {
            continue;
        }
        let more = flags.clone().with(word, String::new());
        if mechanism.check(&more).is_ok() {
            flags = more;
        }
    }
    flags
}
