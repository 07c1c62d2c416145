//! Tests of histories: a watch continues its history after a restart, removes old rounds, and refuses other
//! files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use evenhand_report::over_time::OverTime;
use evenhand_watch::history::{History, is_sqlite, over_time};
use evenhand_watch::{Outcome, WatchError};

use crate::common::{BEGIN, CLUSTER, Watch, script, settings};

const MONTH: Duration = Duration::from_secs(30 * 86_400);

fn watch(folder: &Path) -> Watch {
    fs::write(folder.join("snap.json"), CLUSTER).unwrap();
    Watch::new(settings(script(folder, "cat snap.json")), Some(folder.join("history.sqlite")))
}

fn read(folder: &Path) -> OverTime {
    over_time(&folder.join("history.sqlite"), None).unwrap()
}

#[test]
fn a_restart_continues_the_history() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watch(folder.path());
    watch.run(3);
    watch.run(2);
    fs::remove_file(folder.path().join("snap.json")).unwrap();
    watch.run(1);
    let found = read(folder.path());
    assert_eq!((found.rounds, found.span), ([5, 1], [BEGIN, BEGIN + 5 * 60_000]));
    let line = found.lines.iter().find(|line| line.queue == "research" && line.resource == "gpu").unwrap();
    assert_eq!((line.means(), line.below), ([8.0, 20.0, 12.0], 300.0));
    // Rounds before a given time are not read.
    let file = folder.path().join("history.sqlite");
    assert_eq!(over_time(&file, Some(BEGIN + 4 * 60_000)).unwrap().rounds, [1, 1]);
    assert!(is_sqlite(&file) && !is_sqlite(&folder.path().join("none")) && !is_sqlite(folder.path()));
}

#[test]
fn old_rounds_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watch(folder.path());
    watch.keep = Duration::from_secs(600);
    watch.run(60);
    let found = read(folder.path());
    // A round that is exactly ten minutes old is not removed.
    assert_eq!((found.rounds, found.span), ([11, 0], [BEGIN + 49 * 60_000, BEGIN + 59 * 60_000]));
    let connection = rusqlite::Connection::open(folder.path().join("history.sqlite")).unwrap();
    for table in ["queues", "shares"] {
        let count = format!("SELECT count(DISTINCT round) FROM {table}");
        assert_eq!(connection.query_row(&count, [], |row| row.get::<_, i64>(0)).unwrap(), 11, "{table}");
    }
}

/// The history stores exact numbers.
#[test]
fn fractions_are_stored_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watch(folder.path());
    let thirds = CLUSTER.replacen("\"gpu\": 8", "\"gpu\": \"25/3\"", 1);
    assert_ne!(thirds, CLUSTER);
    fs::write(folder.path().join("snap.json"), thirds).unwrap();
    let Outcome::Judged(judged) = watch.run(1) else { panic!("{:?}", watch.lines) };
    let shares = judged.queues.iter().flat_map(|queue| &queue.shares);
    let fractions: Vec<String> = shares
        .filter(|share| !share.fair_share.is_integer())
        .map(|share| share.fair_share.to_string())
        .collect();
    let connection = rusqlite::Connection::open(folder.path().join("history.sqlite")).unwrap();
    let mut stored =
        connection.prepare("SELECT fair_share FROM shares WHERE typeof(fair_share) = 'text'").unwrap();
    let stored: Vec<String> = stored.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(!fractions.is_empty() && stored.len() == fractions.len(), "{fractions:?}, {stored:?}");
    assert!(fractions.iter().all(|fraction| stored.contains(fraction)));
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    fs::write(file("text"), "this is no database, and it is longer than a header of SQLite").unwrap();
    let refused = History::open(&file("text"), "slurm", MONTH).unwrap_err();
    assert!(refused.to_string().contains("not an SQLite file"), "{refused}");
    let other = rusqlite::Connection::open(file("other")).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(other);
    assert!(matches!(History::open(&file("other"), "slurm", MONTH), Err(WatchError::NoHistory(_))));
    assert!(matches!(over_time(&file("other"), None), Err(WatchError::NoHistory(_))));
    assert!(matches!(over_time(&file("none"), None), Err(WatchError::History { .. })));
    assert!(History::open(&file("no/such/folder"), "slurm", MONTH).is_err());
    // The history of another system, a second writer, and a file of a later version are refused.
    let first = History::open(&file("h"), "slurm", MONTH).unwrap();
    assert!(matches!(History::open(&file("h"), "slurm", MONTH), Err(WatchError::Locked(_))));
    drop(first);
    assert!(matches!(History::open(&file("h"), "kueue", MONTH), Err(WatchError::OtherSystem { .. })));
    let later = rusqlite::Connection::open(file("h")).unwrap();
    later.pragma_update(None, "user_version", 2).unwrap();
    drop(later);
    assert!(matches!(History::open(&file("h"), "slurm", MONTH), Err(WatchError::Later { found: 2, .. })));
}

/// A watch that cannot write to its history reports this, and continues to write as soon as it can. In this
/// test another connection locks the file.
#[test]
fn the_watch_reports_an_unwritable_history_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watch(folder.path());
    watch.run(1);
    let mut other = rusqlite::Connection::open(folder.path().join("history.sqlite")).unwrap();
    let exclusive = other.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive).unwrap();
    let outcome = watch.run(1);
    assert!(matches!(outcome, Outcome::Judged(_)));
    assert!(watch.failures()[0].contains("not in the history"), "{:?}", watch.lines);
    assert_eq!(watch.metric("evenhand_history_failures_total"), Some(1.0));
    drop(exclusive);
    watch.run(1);
    assert_eq!(watch.board.state().history_failure, None);
    assert_eq!(read(folder.path()).rounds, [2, 0]);
}
