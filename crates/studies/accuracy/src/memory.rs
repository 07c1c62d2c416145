//! The memory that a process holds at most, where the system tells: Linux does.

use std::fs;

/// What is resident now, after the peak was set back to it.
pub(crate) fn before() -> Option<u64> {
    // 5 sets the peak back to what is resident (proc(5)).
    fs::write("/proc/self/clear_refs", "5").ok()?;
    resident("self", "VmRSS:")
}

/// The peak since then, less what was resident before.
pub(crate) fn above(before: u64) -> Option<u64> {
    Some(resident("self", "VmHWM:")?.saturating_sub(before))
}

/// A line of the status of a process, in bytes.
fn resident(process: &str, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The peaks of all processes of a group, added up.
pub(crate) fn of_group(group: u32) -> Option<u64> {
    let mut sum = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        else {
            continue;
        };
        // The command stands in parentheses and may hold anything: fields are counted after the last one.
        let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { continue };
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let of: Option<u32> = fields.split_whitespace().nth(2).and_then(|field| field.parse().ok());
        if of == Some(group) {
            sum += resident(process, "VmHWM:").unwrap_or(0);
        }
    }
    (sum > 0).then_some(sum)
}
