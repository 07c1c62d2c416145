//! A sparse problem with thousands of users, classes and resources takes little memory.
//!
//! This test is the only test of its process, since it measures the peak memory of the process.

use evenhand_problem::format::Source;
use evenhand_problem::{Constraints, Sharing};

/// Returns the peak memory of this process in MB, or `None` on systems that do not report it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

#[test]
fn thousands_of_users_and_resources_fit_in_memory() {
    let resources: Vec<String> = (0..3_000).map(|r| format!("\"r{r}\"")).collect();
    let users: Vec<String> =
        (0..3_000).map(|n| format!(r#"{{"name": "u{n}", "demand": {{"r{n}": 1}}}}"#)).collect();
    let servers: Vec<String> =
        (0..3_000).map(|i| format!(r#"{{"name": "s{i}", "capacity": {{"r{i}": 1}}}}"#)).collect();
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": [{}], "servers": [{}], "users": [{}]}}"#,
        resources.join(","),
        servers.join(","),
        users.join(",")
    );
    let problem = Source { name: "p.json", text: &text }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    assert_eq!(constraints.rows().len(), 3_000);
    assert_eq!(constraints.usage(7, 7).unwrap().to_vec(), [1]);
    assert!(constraints.usage(7, 8).is_none());
    if let Some(peak) = peak() {
        assert!(peak < 100, "{peak} MB");
    }
}
