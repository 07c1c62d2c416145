//! Tables and the output of `sacct`, good and bad.

use evenhand_usage::{NANOSECONDS, judge, parse_duration, parse_time, time_text};

use crate::{q, read, settings};

#[test]
fn tables_are_read() {
    let text = "\u{feff}Amount,to,from,resource,note,queue\r\n\
                1.5,60,0,cpu,x,\"a,b\"\r\n\r\n16Gi,60,0,memory,x,c\r\n";
    let history = read(text).unwrap();
    assert_eq!(history.queues, ["a,b", "c"]);
    assert_eq!(history.resources, ["cpu", "memory"]);
    assert_eq!((history.n_rows, history.latest()), (2, Some(60 * NANOSECONDS)));
}

#[test]
fn dates_are_seconds() {
    let dates = "queue,resource,from,to,amount\na,cpu,2026-01-31T12:00:00Z,2026-01-31T14:00:00+01:00,2\n";
    let history = read(dates).unwrap();
    assert!(history.is_calendar);
    assert_eq!(history.latest(), Some(parse_time("1769864400").unwrap()));
    assert_eq!(time_text(history.latest().unwrap(), true), "2026-01-31T13:00:00Z");
    assert_eq!(parse_time("1970-01-01T00:00:00.5Z").unwrap(), NANOSECONDS / 2);
    assert_eq!(parse_time("2024-02-29T00:00:00Z").unwrap(), 1_709_164_800 * NANOSECONDS);
    assert_eq!(time_text(parse_time("2000-03-01T23:59:59.25Z").unwrap(), true), "2000-03-01T23:59:59.25Z");
    for wrong in
        ["", "x", "2026-02-29T00:00:00Z", "2026-01-31T12:00:00", "2026-01-31", "1e9", "-1", "99999999999"]
    {
        assert!(parse_time(wrong).is_err(), "{wrong}");
    }
    for (text, seconds) in
        [("7d", 604_800), ("168h", 604_800), ("1h30m", 5400), ("90", 90), ("2w", 1_209_600)]
    {
        assert_eq!(parse_duration(text).unwrap(), seconds * NANOSECONDS, "{text}");
    }
    for wrong in ["", "0", "d", "1x", "-1", "1h-", "99999d"] {
        assert!(parse_duration(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn wrong_rows_name_their_line() {
    let header = "queue,resource,from,to,amount\na,cpu,0,60,1\n";
    let wrong = [
        ("", "history.csv:1: the file is empty"),
        ("user,cpu\n", "history.csv:1: found another header"),
        ("queue,resource,from,to,amount\n", "no row states usage"),
        ("a,cpu,0,60\n", "history.csv:3: a column is missing"),
        (",cpu,0,60,1\n", "history.csv:3: queue: the name is empty"),
        ("a,,0,60,1\n", "history.csv:3: resource: the name is empty"),
        ("a,cpu,x,60,1\n", "history.csv:3: from: found `x`, expected seconds"),
        ("a,cpu,0,2026-01-31,1\n", "history.csv:3: to: found `2026-01-31`"),
        ("a,cpu,60,0,1\n", "history.csv:3: to: 0 is before 60"),
        ("a,cpu,0,60,-1\n", "history.csv:3: amount: -1 is negative"),
        ("a,cpu,0,60,many\n", "history.csv:3: amount: `many`"),
        (
            "a,cpu,2026-01-31T12:00:00Z,2026-01-31T12:00:00Z,1\n",
            "history.csv:3: from: seconds and dates are mixed",
        ),
    ];
    for (text, message) in wrong {
        let text = if message.contains(":3:") { format!("{header}{text}") } else { text.to_owned() };
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not {message}");
    }
}

const SACCT: &str = "JobID|Account|AllocTRES|Start|End|State\n\
    1|physics|billing=4,cpu=4,gres/gpu=2,mem=16G,node=1|2026-01-31T12:00:00|2026-01-31T13:00:00|COMPLETED\n\
    1.batch|physics|cpu=4,gres/gpu=2,mem=16G,node=1|2026-01-31T12:00:00|2026-01-31T13:00:00|COMPLETED\n\
    2|bio|billing=8,cpu=8,mem=512M,node=1|2026-01-31T12:30:00|Unknown|RUNNING\n\
    3|bio||Unknown|Unknown|PENDING\n\
    4|bio||2026-01-31T12:30:00|2026-01-31T12:30:00|CANCELLED\n";

#[test]
fn sacct_is_read() {
    let history = read(SACCT).unwrap();
    assert_eq!(history.queues, ["physics", "bio"]);
    assert_eq!(history.resources, ["billing", "cpu", "gres/gpu", "mem", "node"]);
    assert_eq!(
        (history.skipped.steps, history.skipped.not_started, history.skipped.without_resources),
        (1, 1, 1)
    );
    let at = parse_time("2026-01-31T13:00:00Z").unwrap();
    let mut settings = settings("slurm", "7d", at / NANOSECONDS);
    settings.half_life = None;
    let standings = judge(&history, &settings).unwrap();
    // One queue uses 4 for an hour, and the other 8 for half an hour.
    assert_eq!(standings.next().len(), 2);
    assert_eq!(standings.queues[0].charged.exact(), Some(&q("14400")));
    let memory = standings.queues.iter().find(|of| of.queue == "physics").unwrap();
    let memory = memory.usage.iter().find(|(name, _)| name == "mem").unwrap();
    assert_eq!(memory.1.exact(), Some(&q("58982400")));
    settings.at = None;
    assert!(judge(&history, &settings).unwrap_err().to_string().contains("--at"));
    let wrong = SACCT.replace("cpu=8,", "cpu8,");
    assert!(read(&wrong).unwrap_err().to_string().contains("history.csv:4: AllocTRES: found `cpu8`"));
    let wrong = SACCT.replace("2026-01-31T12:30:00|Unknown|R", "yesterday|Unknown|R");
    assert!(read(&wrong).unwrap_err().to_string().contains("history.csv:4: Start: found `yesterday`"));
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let two = read("queue,resource,from,to,amount\na,gpu,0,60,1\na,disk,0,60.5,1\n").unwrap();
    let lump = read("queue,resource,from,to,amount\na,gpu,0,0,1\n").unwrap();
    let refused = |history, settings: &_, message: &str| {
        let error = judge(history, settings).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not {message}");
    };
    refused(&two, &settings("slurm", "1h", 60), "--resource-weight");
    refused(&two, &settings("volcano", "1h", 60), "--resource-weight");
    refused(&two, &settings("kai", "1h", 60), "--capacity");
    refused(&two, &settings("slurm-ticks", "1h", 60), "whole seconds");
    refused(&lump, &settings("kueue", "1h", 60), "begins and ends at the same time");
    refused(&lump, &settings("slurm-ticks", "0.5s", 60), "at least a second");
    let mut kueue = settings("kueue", "1h", 60);
    kueue.half_life = None;
    refused(&two, &kueue, "a half-life is needed");
    let mut slurm = settings("slurm", "1h", 60);
    slurm.resource_weights.insert("cpu".to_owned(), q("1"));
    refused(&two, &slurm, "the history has no resource `cpu`: expected gpu, disk");
}
