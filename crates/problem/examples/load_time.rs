//! Measures how long a large problem takes to load, and how much memory it needs. The problem has 1,000 server
//! classes, 10,000 users and 8 resources. Every user lists 500 servers that it may use.
//!
//! Run with `cargo run --release -p evenhand-problem --example load_time`.

use std::{fmt::Write, fs, time::Instant};

use evenhand_problem::format::{Source, problem_sha256};

const SERVERS: usize = 1_000;
const USERS: usize = 10_000;
const RESOURCES: usize = 8;
const ALLOWED: usize = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = statement()?;
    println!("text           {:6} MiB", text.len() >> 20);
    let start = Instant::now();
    let problem = Source { name: "large.json", text: &text }.problem()?;
    println!("read and check {:6} ms", start.elapsed().as_millis());
    let start = Instant::now();
    let warnings = problem.warnings().len();
    println!("warnings       {:6} ms ({warnings})", start.elapsed().as_millis());
    let start = Instant::now();
    let hash = problem_sha256(&problem);
    println!("hash           {:6} ms ({})", start.elapsed().as_millis(), &hash[..8]);
    if let Some(peak) = peak_memory() {
        println!("peak memory    {peak}");
    }
    Ok(())
}

fn statement() -> Result<String, std::fmt::Error> {
    let mut text = String::from("{\"kind\":\"allocation-problem\",\n\"resources\":[\"r0\"");
    for r in 1..RESOURCES {
        write!(text, ",\"r{r}\"")?;
    }
    text += "],\n\"servers\":[";
    for i in 0..SERVERS {
        let comma = if i > 0 { ",\n" } else { "\n" };
        write!(text, "{comma}{{\"name\":\"server-{i:04}\",\"count\":{},\"capacity\":{{", i + 1)?;
        quantities(&mut text, |r| 1_000 + i * r)?;
        text += "}}";
    }
    text += "],\n\"users\":[";
    for n in 0..USERS {
        let comma = if n > 0 { ",\n" } else { "\n" };
        write!(text, "{comma}{{\"name\":\"user-{n:05}\",\"tasks\":{n},\"demand\":{{")?;
        quantities(&mut text, |r| 1 + (n * (r + 1)) % 97)?;
        text += "},\"servers\":[";
        for k in 0..ALLOWED {
            let comma = if k > 0 { "," } else { "" };
            write!(text, "{comma}\"server-{:04}\"", (n + 2 * k) % SERVERS)?;
        }
        text += "]}";
    }
    text += "]}\n";
    Ok(text)
}

fn quantities(text: &mut String, value: impl Fn(usize) -> usize) -> std::fmt::Result {
    for r in 0..RESOURCES {
        let comma = if r > 0 { "," } else { "" };
        write!(text, "{comma}\"r{r}\":{}.25", value(r))?;
    }
    Ok(())
}

/// Returns the peak resident memory of this process, or `None` on systems that do not report it.
fn peak_memory() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|peak| peak.trim().to_owned())
}
