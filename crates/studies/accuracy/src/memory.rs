//! The peak memory of processes. Only Linux reports it.

use std::fs;

/// Resets the peak memory of this process to its resident memory. Returns the resident memory in bytes.
pub(crate) fn reset_peak() -> Option<u64> {
    // Writing 5 resets the peak (proc(5)).
    fs::write("/proc/self/clear_refs", "5").ok()?;
    resident("self", "VmRSS:")
}

/// Returns the peak memory in bytes since [`reset_peak`], minus the memory that was resident at the reset.
pub(crate) fn peak_above(before: u64) -> Option<u64> {
    Some(resident("self", "VmHWM:")?.saturating_sub(before))
}

/// Returns the value of a field of a process's status, in bytes.
fn resident(process: &str, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the sum of the peak memory of all processes of a group, in bytes.
pub(crate) fn of_group(group: u32) -> Option<u64> {
    let of_group = processes().filter(|process| process.group == group);
    let sum: u64 = of_group.map(|process| resident(&process.number.to_string(), "VmHWM:").unwrap_or(0)).sum();
    (sum > 0).then_some(sum)
}

/// Returns the descendants of a process that have not ended yet. On systems other than Linux it returns no processes.
pub(crate) fn below(process: u32) -> Vec<u32> {
    let all: Vec<Process> = processes().collect();
    let mut found = vec![process];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|process| process.parent == parent).map(|process| process.number));
        at += 1;
    }
    let has_ended = |number: u32| all.iter().any(|process| process.number == number && process.has_ended);
    found.into_iter().skip(1).filter(|number| !has_ended(*number)).collect()
}

/// A process according to `/proc/PID/stat`.
struct Process {
    number: u32,
    parent: u32,
    group: u32,
    /// True if the process has ended and its parent has not waited for it yet.
    has_ended: bool,
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name of the command is in parentheses and may contain any character. So fields are counted from the last
        // parenthesis.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let has_ended = matches!(fields.next()?, "Z" | "X");
        let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Process { number, parent, group, has_ended })
    })
}
