//! Tests of a day of a watch: 1,440 rounds on a clock that does not wait.

use std::fs;

use evenhand_watch::history::over_time;
use evenhand_watch::{Outcome, Stop};

use crate::common::{BEGIN, CLUSTER, Watch, script, settings};

const MINUTE: i64 = 60_000;

/// Returns the resident memory of this process in bytes. Returns `None` if the system does not report it.
fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

#[test]
fn a_day_has_1440_rows_and_flat_memory() {
    let folder = tempfile::tempdir().unwrap();
    // In the first half of each hour, research is below its fair share. In the second half, no task waits.
    fs::write(folder.path().join("below.json"), CLUSTER).unwrap();
    let mut calm: serde_json::Value = serde_json::from_str(CLUSTER).unwrap();
    for user in calm["problem"]["users"].as_array_mut().unwrap() {
        let running: u64 =
            calm_tasks(&serde_json::from_str(CLUSTER).unwrap(), user["name"].as_str().unwrap());
        user["tasks"] = running.into();
    }
    calm.as_object_mut().unwrap().remove("waiting");
    fs::write(folder.path().join("calm.json"), calm.to_string()).unwrap();
    // Every 100th dump is cut off, and every 240th client fails. Both would happen in round 1,199.
    let text = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; \
                if [ $((n % 240)) = 239 ]; then echo 'no route to host' >&2; exit 1; fi; \
                if [ $((n % 100)) = 99 ]; then head -c 300 below.json; exit 0; fi; \
                if [ $((n % 60)) -lt 30 ]; then cat below.json; else cat calm.json; fi";
    let file = folder.path().join("history.sqlite");
    let mut watch = Watch::new(settings(script(folder.path(), text)), Some(file.clone()));
    watch.run(360);
    let before = resident();
    watch.run(1_080);
    let after = resident();

    let read = over_time(&file, None).unwrap();
    assert_eq!(read.rounds, [1_440 - 13 - 6, 13 + 6]);
    assert_eq!(read.span, [BEGIN, BEGIN + 1_439 * MINUTE]);
    assert_eq!(read.interval, MINUTE);
    assert_eq!(watch.lines.len(), 1_440);
    assert_eq!(watch.metric("evenhand_rounds_total"), Some(1_440.0));
    assert_eq!(watch.metric("evenhand_failures_total{reason=\"dump\"}"), Some(13.0));
    assert_eq!(watch.metric("evenhand_failures_total{reason=\"client\"}"), Some(6.0));
    let line = read.lines.iter().find(|line| line.queue == "research" && line.resource == "gpu").unwrap();
    // The queue is below its fair share in half of each hour. Each round counts for one minute, and failed
    // rounds do not count.
    let failed_below = (0..1_440).filter(|n| n % 60 < 30 && (n % 100 == 99 || n % 240 == 239)).count();
    assert_eq!(line.below, (720.0 - failed_below as f64) * 60.0);
    assert_eq!(line.lacking_hours(), 12.0 * line.below / 3_600.0);
    assert_eq!(line.longest, 1_800.0);
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + (48 << 20), "memory grew from {before} to {after} bytes");
    }
}

/// Returns the number of running tasks of a user.
fn calm_tasks(snapshot: &serde_json::Value, user: &str) -> u64 {
    let number = |value: &serde_json::Value| value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap();
    let places = snapshot["allocation"]["placements"].as_array().unwrap();
    places.iter().filter_map(|place| place["tasks"].get(user)).map(number).sum()
}

#[test]
fn a_clock_set_back_delays_no_round() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
    let file = folder.path().join("history.sqlite");
    let mut watch = Watch::new(settings(script(folder.path(), "cat snap.json")), Some(file.clone()));
    watch.run(2);
    watch.clock.set(BEGIN - 3_600_000);
    assert!(matches!(watch.run(2), Outcome::Judged(_)));
    let read = over_time(&file, None).unwrap();
    assert_eq!((read.rounds, read.span[0]), ([4, 0], BEGIN - 3_600_000));
}

#[test]
fn a_stopped_watch_starts_no_round() {
    let stop = Stop::default();
    assert!(!stop.wait(std::time::Duration::from_millis(1)));
    stop.clone().stop();
    assert!(stop.is_stopped() && stop.wait(std::time::Duration::from_secs(3_600)));
}
