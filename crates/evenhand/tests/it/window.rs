//! Tests of `verdict --window` on the command line: histories of watch with gaps and clock jumps, tables,
//! certificates, and wrong arguments.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evenhand::problem::Rational;
use evenhand_watch::history::Entry;
use evenhand_watch::round::{QueueRow, ShareRow};
use evenhand_watch::{Failure, History, Judged};
use serde_json::{Value, json};

use crate::common::Folder;

const TABLE: &str = include_str!("../../../../examples/window.csv");

/// A queue in a round: its name, usage, fair share, number of waiting tasks (`None` if unlimited), and limit.
/// The amounts are numbers of GPUs.
type Row<'r> = (&'r str, u32, u32, Option<u32>, Option<u32>);

fn judged(time: i64, rows: &[Row<'_>]) -> Judged {
    let queue = |(name, usage, fair_share, waiting, limit): &Row<'_>| QueueRow {
        queue: (*name).to_owned(),
        waiting: waiting.map(Rational::from),
        is_below: false,
        shares: vec![ShareRow {
            resource: "gpu".to_owned(),
            usage: (*usage).into(),
            fair_share: (*fair_share).into(),
            lacking: if *waiting == Some(0) { 0.into() } else { fair_share.saturating_sub(*usage).into() },
            guarantee: None,
            limit: limit.map(Rational::from),
        }],
    };
    Judged {
        time,
        seconds: [0.0; 3],
        sha256: String::new(),
        answer: String::new(),
        is_fair: true,
        is_decided: true,
        could_start: None,
        not_modelled: 0,
        queues: rows.iter().map(queue).collect(),
        metrics: Arc::default(),
        page: "".into(),
        document: "".into(),
    }
}

/// Writes a history with rounds at these times in seconds since 1970. A round without rows has no verdict.
fn write(path: &Path, rounds: &[(i64, &[Row<'_>])]) {
    let mut history = History::open(path, "slurm", Duration::from_secs(1 << 30)).unwrap();
    for (second, rows) in rounds {
        let time = second * 1000;
        let took = Duration::from_millis(5);
        if rows.is_empty() {
            let failure = Failure::Dump("cut".to_owned());
            history.add(&Entry { time, took, result: Err(&failure) }).unwrap();
        } else {
            history.add(&Entry { time, took, result: Ok(&judged(time, rows)) }).unwrap();
        }
    }
}

fn verdict(folder: &Folder, call: &str, status: i32) -> Value {
    let words: Vec<&str> = call.split(' ').chain(["--format", "json"]).collect();
    folder.run(&words).ends_with(status).json()
}

fn gaps(found: &Value) -> Vec<(i64, i64, String)> {
    let seconds = |value: &Value| value.as_str().unwrap().parse().unwrap();
    let all = found["not_checked"].as_array().unwrap().iter();
    all.map(|gap| (seconds(&gap["from"]), seconds(&gap["to"]), gap["reason"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn each_round_counts_until_the_next() {
    let folder = Folder::new();
    let a: Row<'_> = ("a", 2, 8, Some(3), None);
    let both: &[Row<'_>] = &[a, ("b", 6, 8, None, None)];
    let with_late: &[Row<'_>] = &[a, ("b", 6, 8, None, None), ("late", 1, 1, Some(0), None)];
    // The rounds are at uneven times. One round has no verdict, the watch did not run for a night, and a
    // queue appears and disappears.
    let rounds: Vec<(i64, &[Row<'_>])> = vec![
        (0, both),
        (60, both),
        (130, with_late),
        (180, &[]),
        (240, both),
        (300, both),
        (10_000, both),
        (10_060, both),
    ];
    write(&folder.path().join("h.sqlite"), &rounds);
    let found = verdict(&folder, "verdict h.sqlite --window 10060s --coverage 0 -o c.json", 1);
    // The median time between rounds is 60 s, so the round at 300 counts for 150 s.
    assert_eq!(
        gaps(&found),
        [(180, 240, "a round without a verdict".to_owned()), (450, 10_000, "no round".to_owned())]
    );
    assert_eq!(found["covered"], "450");
    assert_eq!(
        found["max_min"],
        json!({"verdict": "violated", "margin": {"least": "-2/3", "most": "-2/3"}, "queue": "a", "other": "b"})
    );
    let balance = &found["balances"][0];
    assert_eq!(
        (&balance["used"], &balance["lacked"], &balance["balance"]),
        (&"900".into(), &"2700".into(), &"-2700".into())
    );
    let late = found["queues"].as_array().unwrap().iter().find(|queue| queue["queue"] == "late").unwrap();
    assert_eq!((&late["present"], &late["seen"]), (&"50".into(), &json!(["130", "180"])));
    folder.run(&["check", "c.json"]).ends_with(0);
    folder.run(&["check", "c.json", "--require", "window-max-min"]).ends_with(1);
    // Without `--coverage`, the gaps of this window are too long. Shorter windows have enough coverage.
    let short = folder.run(&["verdict", "h.sqlite", "--window", "10060s"]).ends_with(3);
    assert!(short.error_line().contains("covers too little of the window"), "{short:?}");
    let found = verdict(&folder, "verdict h.sqlite --window 60s", 1);
    assert_eq!((&found["covered"], gaps(&found).len()), (&"60".into(), 0));
    // The window is longer than the history. In the next call, rounds count for a shorter time.
    let found = verdict(&folder, "verdict h.sqlite --window 200 --at 100 --coverage 1/2 --weight b=3", 0);
    assert_eq!(gaps(&found), [(-100, 0, "before the history begins".to_owned())]);
    let found = verdict(&folder, "verdict h.sqlite --window 60 --at 60 --reach 10s --coverage 0", 1);
    assert_eq!(gaps(&found), [(10, 60, "no round".to_owned())]);
    let printed =
        folder.run(&["verdict", "h.sqlite", "--window", "10060s", "--coverage", "0"]).ends_with(1).stdout;
    assert!(printed.contains("a wanted more throughout, and its usage over weight is 66.7"), "{printed}");
    assert!(printed.contains("below that of b"), "{printed}");
    assert!(printed.contains("2 h 39 min): no round"), "{printed}");
    assert!(printed.contains("Not in all of the covered time: late"), "{printed}");
}

#[test]
fn a_clock_set_back_is_not_trusted() {
    let folder = Folder::new();
    let rows: &[Row<'_>] = &[("a", 4, 4, Some(1), None), ("b", 4, 4, Some(1), None)];
    let times = [0, 60, 120, 180, 240, 130, 190, 250, 310, 370];
    let rounds: Vec<(i64, &[Row<'_>])> = times.iter().map(|time| (*time, rows)).collect();
    write(&folder.path().join("h.sqlite"), &rounds);
    let found = verdict(&folder, "verdict h.sqlite --window 370s --coverage 0", 0);
    let gaps = gaps(&found);
    assert_eq!((gaps.len(), gaps[0].0, gaps[0].1), (1, 130, 240));
    assert!(gaps[0].2.contains("the clock was set back"), "{gaps:?}");
    assert_eq!((&found["covered"], &found["balances"][0]["used"]), (&"260".into(), &"1040".into()));
    assert_eq!(found["max_min"]["margin"], json!({"least": "0", "most": "0"}));
}

/// A queue at its limit wants no more of the resource, and neither does a queue that lacks nothing of it.
#[test]
fn wanting_more_does_not_count_as_waiting() {
    let folder = Folder::new();
    let rows: &[Row<'_>] =
        &[("full", 2, 8, Some(5), Some(2)), ("idle", 1, 8, Some(0), None), ("busy", 9, 8, Some(2), None)];
    write(&folder.path().join("h.sqlite"), &[(0, rows), (60, rows), (120, rows)]);
    let found = verdict(&folder, "verdict h.sqlite --window 2m --half-life 1h", 0);
    let of = |name: &str| {
        found["queues"].as_array().unwrap().iter().find(|of| of["queue"] == name).unwrap().clone()
    };
    assert_eq!((of("full")["wanted"].clone(), of("idle")["wanted"].clone()), ("0".into(), "0".into()));
    assert_eq!(
        (of("busy")["wanted_throughout"].clone(), &found["max_min"]["verdict"]),
        (true.into(), &"holds".into())
    );
    let only = verdict(&folder, "verdict h.sqlite --window 2m --queue full --queue idle", 0);
    assert_eq!(only["max_min"]["verdict"], "does not apply");
}

#[test]
fn windows_accept_tables_and_usage_laws() {
    let folder = Folder::new();
    folder.write("window.csv", TABLE);
    folder.write("usage.csv", include_str!("../../../../examples/usage.csv"));
    let call = "verdict window.csv --window 7d --coverage 0.9 --weight research=2 --weight product=1";
    let found = verdict(&folder, &format!("{call} -o cert.json"), 1);
    assert_eq!(
        (&found["max_min"]["queue"], &found["max_min"]["other"]),
        (&"research".into(), &"batch".into())
    );
    assert_eq!(found["certified"], true);
    folder.run(&["check", "cert.json"]).ends_with(0);
    for rule in [
        "ideal",
        "slurm --half-life 7d",
        "slurm-ticks --half-life 7d",
        "kueue --half-life 7d",
        "kai --capacity gpu=24",
    ] {
        let found = verdict(&folder, &format!("{call} --rule {rule}"), 1);
        assert_eq!(found["standing"]["next"], json!(["product"]), "{rule}");
    }
    let volcano =
        verdict(&folder, "verdict window.csv --window 7d --coverage 0.9 --rule volcano --half-life 4h", 1);
    assert_eq!(volcano["standing"]["reported"], Value::Null);
    let unknown = folder.run(&["verdict", "usage.csv", "--window", "7d"]).ends_with(3);
    assert!(unknown.error_line().contains("does not say which queues wanted more (--wanted)"), "{unknown:?}");
    assert!(unknown.stdout.contains("not known"), "{unknown:?}");
    let stated =
        "verdict usage.csv --window 7d --wanted research --wanted product --wanted batch -o usage.json";
    let stated = verdict(&folder, stated, 1);
    assert_eq!(
        (&stated["max_min"]["margin"]["least"], &stated["balances"][0]["lacked"]),
        (&"-1".into(), &Value::Null)
    );
    folder.run(&["check", "usage.json"]).ends_with(0);
}

#[test]
fn wrong_calls_are_refused() {
    let folder = Folder::new();
    folder.write("window.csv", TABLE);
    folder.write("snap.json", include_str!("../../../../examples/cluster.json"));
    let rows: &[Row<'_>] = &[("a", 4, 4, Some(1), None)];
    write(&folder.path().join("h.sqlite"), &[(0, rows), (60, rows)]);
    for (call, message) in [
        ("verdict h.sqlite", "judged over a window of time"),
        ("verdict snap.json --rule ideal", "needs --window"),
        ("verdict snap.json --half-life 7d", "required arguments"),
        ("verdict snap.json --window 7d", "found other JSON"),
        ("verdict window.csv --window 7x", "--window: `7x`"),
        ("verdict window.csv --window 7d --rule tree", "does not choose queues by usage over time"),
        ("verdict window.csv --window 7d --rule kueue", "the law kueue needs a half-life"),
        ("verdict window.csv --window 7d --rule kai", "--capacity gpu=16"),
        ("verdict window.csv --window 7d --k 2", "--k belongs to --rule kai"),
        ("verdict window.csv --window 7d --reach 5m", "--reach applies only to a history of watch"),
        ("verdict window.csv --window 7d --queue nobody", "no queue `nobody`"),
        ("verdict window.csv --window 7d --coverage 2", "from 0 to 1"),
        ("verdict window.csv --window 7d --resource-weight cpu=1", "no resource `cpu`"),
        ("verdict window.csv --window 7d --format prometheus", "applies only to a snapshot"),
    ] {
        folder.run(&call.split(' ').collect::<Vec<_>>()).fails_with(2, message);
    }
}
