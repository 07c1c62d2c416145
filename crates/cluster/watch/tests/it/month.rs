//! Tests of a page with a month of rounds.

use std::fs;

use evenhand_report::html;
use evenhand_watch::history::over_time;

use crate::common::{BEGIN, CLUSTER, Watch, script, settings};

/// The number of rounds of 30 days, one round a minute.
const ROUNDS: i64 = 43_200;
/// The largest allowed size of the page in bytes.
const MOST: usize = 2_000_000;

#[test]
fn the_page_of_a_month_is_small() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
    let file = folder.path().join("history.sqlite");
    let mut watch = Watch::new(settings(script(folder.path(), "cat snap.json")), Some(file.clone()));
    watch.run(1);
    // Add copies of the first round, with usages that differ from round to round.
    let connection = rusqlite::Connection::open(&file).unwrap();
    let copies = format!(
        "BEGIN;
         WITH RECURSIVE n(x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM n WHERE x < {ROUNDS})
         INSERT INTO rounds (id, time, milliseconds, snapshot_sha256, fair, answer)
             SELECT x, {BEGIN} + (x - 1) * 60000, 10, snapshot_sha256, fair, answer FROM n, rounds WHERE id = 1;
         INSERT INTO queues SELECT rounds.id, queue, waiting, below FROM queues, rounds WHERE round = 1 AND rounds.id > 1;
         INSERT INTO shares SELECT rounds.id, queue, resource, usage + (rounds.id * 7919 + queue) % 13, fair_share, lacking,
             guarantee, most FROM shares, rounds WHERE round = 1 AND rounds.id > 1;
         COMMIT;"
    );
    connection.execute_batch(&copies).unwrap();
    let history = over_time(&file, None).unwrap();
    assert_eq!(history.rounds, [ROUNDS as u64, 0]);
    assert!(history.lines.len() >= 3, "{}", history.lines.len());
    let page = html::over_time(&history);
    assert!(page.len() < MOST, "{} bytes", page.len());
    assert!(page.contains("is the mean of the verdicts of 3 h"), "{page}");
    let research =
        history.lines.iter().find(|line| line.queue == "research" && line.resource == "gpu").unwrap();
    assert_eq!(research.below, (ROUNDS - 1) as f64 * 60.0);
    // The largest number of queues that a page shows makes the page larger, but not too large.
    let mut many = history.clone();
    let lines = history.lines.clone();
    for copy in 0..40 {
        many.lines.extend(lines.iter().cloned().map(|mut line| {
            line.queue = format!("{} {copy}", line.queue);
            line
        }));
    }
    let page = html::over_time(&many);
    assert!(page.len() < MOST, "{} bytes", page.len());
}
