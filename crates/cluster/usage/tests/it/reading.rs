//! Tests of reading tables and the output of `sacct`, valid and invalid.

use evenhand_import::Input;
use evenhand_usage::{
    NANOSECONDS, Reported, Reporter, UsageError, judge, parse_duration, parse_time, time_text,
};

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
    // One queue uses 4 for an hour, and the other queue uses 8 for half an hour.
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
fn unsuitable_settings_are_refused() {
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
    refused(&two, &kueue, "needs a half-life");
    let mut slurm = settings("slurm", "1h", 60);
    slurm.resource_weights.insert("cpu".to_owned(), q("1"));
    refused(&two, &slurm, "the history has no resource `cpu`: expected gpu, disk");
}

const SREPORT: &str = "--------------------------------------------------------------------------------\n\
    Cluster/Account/User Utilization 2026-01-01T00:00:00 - 2026-01-01T23:59:59 (86400 secs)\n\
    Usage reported in TRES Seconds\n\
    --------------------------------------------------------------------------------\n\
    Cluster|Account|Login|Proper Name|TRES Name|Used\n\
    demo|root|||gres/gpu|864000\n\
    demo|physics|||gres/gpu|777600\n\
    demo|physics|ann|Ann|gres/gpu|691200\n\
    demo|physics|bob|Bob|gres/gpu|86400\n\
    demo|bio|eve|Eve|gres/gpu|86400\n";

#[test]
fn sreport_is_read_as_average_usage_of_users() {
    let history = read(SREPORT).unwrap();
    assert_eq!((&history.queues[..], history.n_rows), (&["physics".to_owned(), "bio".to_owned()][..], 3));
    assert_eq!(history.resources, ["gres/gpu"]);
    let mut settings = settings("slurm", "1d", 0);
    (settings.half_life, settings.at) = (None, None);
    let standings = judge(&history, &settings).unwrap();
    assert_eq!(standings.queues[0].queue, "bio");
    assert_eq!(standings.queues[0].charged.exact().unwrap(), &q("86400"));
    assert_eq!(standings.queues[1].charged.exact().unwrap(), &q("777600"));
    // This report is in minutes and has no column TRES Name, so it is about CPUs.
    let minutes =
        SREPORT.replace("TRES Seconds", "CPU Minutes").replace("|TRES Name", "").replace("|gres/gpu", "");
    let history = read(&minutes).unwrap();
    assert_eq!(history.resources, ["cpu"]);
    assert_eq!(judge(&history, &settings).unwrap().queues[0].charged.exact().unwrap(), &q("5184000"));
    for (from, to, message) in [
        ("TRES Seconds", "Percentage of Total", "history.csv:3: found usage in `Percentage of Total`"),
        ("Usage reported in TRES Seconds\n", "", "no line `Usage reported in"),
        ("2026-01-01T00:00:00 - ", "", "names no period"),
        ("|Used\n", "|Energy\n", "history.csv:5: found another header"),
        ("|691200", "|691200(3.2%)", "history.csv:8: Used: found `691200(3.2%)`"),
        ("|physics|ann", "||ann", "history.csv:8: Account: the name is empty"),
    ] {
        let error = read(&SREPORT.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not {message}");
    }
    let title = SREPORT.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(read(&title).unwrap_err().to_string().contains("its title has no end"));
}

const MATRIX: &str = r#"{"status": "success", "data": {"resultType": "matrix", "result": [
    {"metric": {"__name__": "kai_queue_allocated_gpus", "queue_name": "research", "pod": "x"},
     "values": [[1767225600, "8"], [1767225660, "8"], [1767225780.000, "4"]]},
    {"metric": {"__name__": "kai_queue_allocated_gpus", "queue_name": "batch"}, "values": [[1767225660, "1.5"]]}]}}"#;

#[test]
fn range_queries_of_prometheus_are_read() {
    let history = read(MATRIX).unwrap();
    assert_eq!(
        (&history.queues[..], &history.resources[..]),
        (&["research".into(), "batch".into()][..], &["gpu".into()][..])
    );
    let mut settings = settings("slurm", "1d", 0);
    (settings.half_life, settings.at) = (None, None);
    let standings = judge(&history, &settings).unwrap();
    // The sample at 720 is missing and counts as 0: 60 * (8 + 8 + 4).
    assert_eq!(standings.queues[1].charged.exact().unwrap(), &q("1200"));
    assert_eq!(standings.queues[0].charged.exact().unwrap(), &q("90"));
    for (from, to, message) in [
        ("success", "error", "Prometheus reports an error"),
        ("matrix", "vector", "data.resultType: found `vector`"),
        (
            r#""queue_name": "batch""#,
            r#""pod": "batch""#,
            "data.result[1].metric: it has no label `queue_name`",
        ),
        (
            r#""__name__": "kai_queue_allocated_gpus", "queue_name": "batch""#,
            r#""queue_name": "batch""#,
            "names no resource",
        ),
        ("1.5", "-1", "batch, sample 0: found `-1`"),
        ("1.5", "NaN", "batch, sample 0: found `NaN`"),
        ("1767225660, \"8\"", "1767225600, \"8\"", "values[1]: the times of samples must ascend"),
        ("[1767225600, \"8\"]", "[1767225600]", "data.result:"),
        ("}]}}", "}]", "history.csv:"),
        (r#""data""#, r#""date""#, "found other JSON"),
    ] {
        let text = MATRIX.replacen(from, to, 1);
        assert_ne!(text, MATRIX, "{from}");
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not {message}");
    }
    let one = r#"{"data": {"resultType": "matrix", "result": [{"metric": {"__name__": "m", "queue": "a"}, "values": [[1, "1"]]}]}}"#;
    assert!(read(one).unwrap_err().to_string().contains("the step of the query is not known"));
    let none = r#"{"data": {"resultType": "matrix", "result": []}}"#;
    assert!(read(none).unwrap_err().to_string().contains("the answer has no sample"));
}

fn reported(text: &str) -> Result<Reported, UsageError> {
    Reported::read(Input::new("report", std::io::Cursor::new(text.to_owned().into_bytes())).unwrap())
}

#[test]
fn reports_of_schedulers_are_read() {
    let sshare = "Account|User|RawShares|NormShares|RawUsage|FairShare\n\
        root||||400|\n physics||2|.5|300|\n  physics|ann|1|1|200|.5\n bio||1|.5|100|\n";
    let report = reported(sshare).unwrap();
    assert_eq!((report.reporter, report.queues.len()), (Reporter::Slurm, 3));
    assert_eq!(report.charged("physics", &[]), Some(q("300")));
    assert_eq!(report.charged("chemistry", &[]), None);
    let kueue = r#"{"kind": "List", "items": [
        {"kind": "LocalQueue", "metadata": {"name": "a", "namespace": "x"}, "status": {"fairSharing":
          {"admissionFairSharingStatus": {"consumedResources": {"cpu": "31999m", "memory": "1Gi"},
           "lastUpdate": "2026-01-01T00:00:00Z"}, "weightedShare": 0}}},
        {"kind": "LocalQueue", "metadata": {"name": "b", "namespace": "x"}, "status": {}}]}"#;
    let report = reported(kueue).unwrap();
    assert_eq!(report.reporter, Reporter::Kueue);
    let weights = [("cpu".to_owned(), q("2")), ("memory".to_owned(), q("1/1073741824"))];
    assert_eq!(report.charged("a", &weights), Some(q("64998/1000")));
    assert_eq!(report.times, Some((1_767_225_600 * NANOSECONDS, 1_767_225_600 * NANOSECONDS)));
    let state = r#"{"lastCycle":"2026-01-01T00:00:00Z","queues":{"q":{"x":1.5,"y":2},"r":{"y":3}}}"#;
    let map = serde_json::json!({"kind": "ConfigMap", "data": {"state.json": state}}).to_string();
    for text in [state, &map] {
        let report = reported(text).unwrap();
        assert_eq!(report.reporter, Reporter::Volcano);
        let names: Vec<&str> = report.queues.keys().map(String::as_str).collect();
        assert_eq!(names, ["q/y", "r/y", "x"]);
        assert_eq!(report.charged("x", &[]), Some(q("3/2")));
    }
    for (text, message) in [
        ("", "report:1: the file is empty"),
        ("Account|User\n", "report:1: found another header"),
        ("Account|RawUsage\na|-1\n", "report:2: RawUsage: found `-1`"),
        ("Account|RawUsage\na|1\na|2\n", "report:3: Account: `a` has a second row"),
        ("Account|RawUsage\n|1\n", "report:2: Account: the name is empty"),
        ("Account|RawUsage\n", "no queue is reported"),
        ("{", "report:1: the file is not JSON"),
        (r#"{"kind": "Pod"}"#, "found other JSON"),
        (r#"{"kind": "ConfigMap", "data": {}}"#, "expected the key `state.json`"),
        (r#"{"queues": {"a": {"b": -1}}}"#, "is not a number of at least 0"),
        (r#"{"queues": 3}"#, "not the state of Volcano's plugin"),
        (r#"{"kind": "LocalQueue", "metadata": {"name": "a"}}"#, "is admission fair sharing on?"),
    ] {
        let error = reported(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not {message}");
    }
}

#[test]
fn reported_values_agree_up_to_rounding() {
    let history = read("queue,resource,from,to,amount\na,cpu,0,100,3\nb,cpu,0,50,1\n").unwrap();
    let settings = settings("slurm", "1h", 100);
    let standings = judge(&history, &settings).unwrap();
    let computed = |name: &str| &standings.queues.iter().find(|queue| queue.queue == name).unwrap().charged;
    let rounded = |name: &str, more: i64| {
        let whole = computed(name).low.clone().floor() + more;
        let report = reported(&format!("Account|RawUsage\n{name}|{whole}\n")).unwrap();
        report.agrees(computed(name), &whole, &standings.resource_weights)
    };
    assert!(rounded("a", 0) && rounded("a", 1) && rounded("b", 0));
    assert!(!rounded("a", 3) && !rounded("a", -2) && !rounded("b", 2));
}
