//! The description of the machine, and clocks.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Returns the processors, the CPU model, the date, the commit and the load.
#[must_use]
pub fn description() -> Value {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_default();
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_default();
    json!({
        "cpu": cpu,
        "processors": std::thread::available_parallelism().map_or(1, usize::from),
        "memory": memory,
        "date": said_by("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
        "commit": said_by("git", &["describe", "--always", "--dirty"]),
        "load": load(),
    })
}

/// Returns the load average of the last minute.
#[must_use]
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
}

/// Returns the peak memory of this process so far in MiB.
#[must_use]
pub fn peak_mib() -> Option<f64> {
    let text = field("/proc/self/status", "VmHWM")?;
    let kib: f64 = text.split(' ').next()?.parse().ok()?;
    Some(kib / 1024.0)
}

/// The wall time and the CPU time at a moment. The CPU time includes all threads that exist.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Clock {
    /// Returns the current times.
    #[must_use]
    pub fn now() -> Self {
        Self { cpu: cpu_time(), wall: Instant::now() }
    }

    /// Returns the wall seconds since `self`.
    #[must_use]
    pub fn wall(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Returns the wall and CPU seconds since `self`.
    #[must_use]
    pub fn elapsed(&self) -> (f64, Option<f64>) {
        let wall = self.wall.elapsed().as_secs_f64();
        let cpu = cpu_time().zip(self.cpu).map(|(now, then)| now.saturating_sub(then).as_secs_f64());
        (wall, cpu)
    }
}

fn cpu_time() -> Option<Duration> {
    let mut sum = 0;
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        sum += text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0);
    }
    (sum > 0).then_some(Duration::from_nanos(sum))
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
