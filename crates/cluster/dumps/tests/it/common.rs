//! Functions that import dumps as snapshots, and that describe snapshots as texts for comparison.

use std::collections::BTreeMap;
use std::io::Cursor;

use evenhand_dumps::{Options, snapshot};
use evenhand_import::Input;
use evenhand_problem::format::{Source, snapshot_to_json};
use evenhand_problem::snapshot::System;
use evenhand_problem::{Rational, Snapshot};

/// Imports dumps. The snapshot is written and read again, so that the reader of snapshots checks the
/// snapshot.
pub fn import(system: System, files: &[(&str, &str)], merge: &str) -> Result<Snapshot, String> {
    let inputs =
        files.iter().map(|(name, text)| Input::new(*name, Cursor::new(text.as_bytes().to_vec())).unwrap());
    let merge = evenhand_problem::number::parse(merge).unwrap();
    let made = snapshot(system, inputs.collect(), &Options { merge }).map_err(|error| error.to_string())?;
    let text = snapshot_to_json(&made);
    let read =
        Source { name: "snapshot", text: &text }.snapshot().unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read, made);
    Ok(made)
}

/// Imports dumps so that only identical servers form a class.
pub fn exactly(system: System, files: &[(&str, &str)]) -> Snapshot {
    import(system, files, "0").unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
pub fn refuses(system: System, files: &[(&str, &str)], expected: &str) {
    let found = import(system, files, "3/200").unwrap_err();
    assert!(found.contains(expected), "found: {found}\nexpected: {expected}");
}

/// Returns the count and the names of the data that are left out, keyed by their description.
pub fn left_out(snapshot: &Snapshot) -> BTreeMap<&str, (u64, Vec<&str>)> {
    let list = snapshot.not_modelled.iter();
    list.map(|of| (of.what.as_str(), (of.count, of.names.iter().map(String::as_str).collect()))).collect()
}

/// Describes each user: its demand, the numbers of its running and waiting tasks, its classes and its gang
/// size.
pub fn users(snapshot: &Snapshot) -> Vec<String> {
    let problem = &snapshot.problem;
    let waiting = snapshot.waiting_by_user();
    let of = |(n, user): (usize, &evenhand_problem::User)| {
        let demand = user.base_demand().entries().iter();
        let demand: Vec<String> = demand.map(|(r, x)| format!("{} {x}", problem.resources()[*r])).collect();
        let classes = user.servers().map_or_else(|| "all".to_owned(), |list| problem.class_names(list));
        let gang = problem.groups().member(n).gang.map_or_else(String::new, |gang| format!(", gang {gang}"));
        format!(
            "{}: {}; {} run, {} wait; {classes}{gang}",
            user.name(),
            demand.join(", "),
            snapshot.allocation.total(n),
            waiting[n]
        )
    };
    problem.users().iter().enumerate().map(of).collect()
}

/// Describes each class: its count and capacity.
pub fn classes(snapshot: &Snapshot) -> Vec<String> {
    let problem = &snapshot.problem;
    let of = |class: &evenhand_problem::ServerClass| {
        let capacity: Vec<String> = class.capacity().iter().map(Rational::to_string).collect();
        format!("{} x {}: {}", class.count(), class.name(), capacity.join(" "))
    };
    problem.servers().iter().map(of).collect()
}
