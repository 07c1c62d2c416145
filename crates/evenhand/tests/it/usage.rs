//! Tests of `usage`: the answer, its numbers, and wrong input.

use crate::common::Folder;

const HISTORY: &str = include_str!("../../../../examples/usage.csv");

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("usage.csv", HISTORY);
    folder.write("kueue.csv", "queue,resource,from,to,amount\na,gpu,0,60,8\na,gpu,120,180,4\n");
    folder.write("lumps.csv", "queue,resource,from,to,amount\na,gpu,0,0,28800\na,gpu,3600,3600,7200\n");
    folder.write(
        "jobs.txt",
        "JobID|Account|AllocTRES|Start|End\n\
         1|a|billing=4,cpu=4|2026-01-31T12:00:00|2026-01-31T13:00:00\n\
         1.batch|a|cpu=4|2026-01-31T12:00:00|2026-01-31T13:00:00\n\
         2|b|billing=1,cpu=1|2026-01-31T12:00:00|Unknown\n",
    );
    folder
}

#[test]
fn output_starts_with_the_answer() {
    let folder = folder();
    let laws: [(&str, &[&str], &str); 5] = [
        (
            "slurm",
            &["--half-life", "7d"],
            "research is served next: its usage over share is 0.284735, the least.",
        ),
        ("slurm-ticks", &["--half-life", "7d"], "research is served next: its usage over share is 0.284809"),
        (
            "kueue",
            &["--half-life", "7d"],
            "research is served next: its usage over weight is 0.80443, the least.",
        ),
        (
            "kai",
            &["--capacity", "gpu=32", "--window", "28d"],
            "research is served next: its usage over weight is 31/112",
        ),
        ("volcano", &["--half-life", "4h"], "research is served next: its usage is 4.995e-18 resource-hours"),
    ];
    for (law, options, answer) in laws {
        let weight: &[&str] = if law == "volcano" { &[] } else { &["--weight", "research=2"] };
        let call = [&["usage", "usage.csv", "--law", law][..], options, weight].concat();
        let printed = folder.run(&call).ends_with(0).stdout;
        assert!(printed.starts_with(answer), "{law}: {printed}");
        assert!(printed.contains("it carries no certificate"), "{law}: {printed}");
    }
}

#[test]
fn numbers_with_rational_powers_are_exact() {
    let folder = folder();
    let json = |call: &str| {
        let words: Vec<&str> = call.split(' ').chain(["--format", "json"]).collect();
        folder.run(&words).ends_with(0).json()
    };
    let kueue = json("usage kueue.csv --law kueue --half-life 60s --every 60s --at 120");
    let three = serde_json::json!({"least": "3", "most": "3"});
    assert_eq!((&kueue["queues"][0]["usage"]["gpu"], &kueue["certified"]), (&three, &false.into()));
    let lumps = json("usage lumps.csv --law slurm --half-life 1h");
    assert_eq!(lumps["queues"][0]["usage"]["gpu"]["most"], "21600");
    let jobs = json("usage jobs.txt --law slurm --half-life none --at 2026-01-31T14:00:00Z --quiet");
    assert_eq!((&jobs["next"][0], &jobs["skipped"]["steps"]), (&"b".into(), &1.into()));
    assert_eq!(jobs["queues"][1]["charged"]["least"], "14400");
}

#[test]
fn wrong_calls_are_refused() {
    let folder = folder();
    folder.write("wrong.csv", "queue,resource,from,to,amount\na,gpu,0,60,8\na,gpu,60,0,8\n");
    for (call, message) in [
        ("usage wrong.csv --law slurm --half-life 7d", "wrong.csv:3: to: 0 is before 60"),
        ("usage none.csv --law slurm --half-life 7d", "none.csv"),
        ("usage usage.csv --law slurm", "--law slurm needs --half-life"),
        ("usage usage.csv --law lottery --half-life 7d", "lottery"),
        ("usage usage.csv --law slurm --half-life 7x", "--half-life: `7x`"),
        ("usage usage.csv --law kueue --half-life none", "the law kueue needs a half-life"),
        ("usage usage.csv --law slurm --half-life 7d --k 2", "--k belongs to --law kai"),
        ("usage usage.csv --law kai", "--capacity gpu=16"),
        ("usage usage.csv --law slurm --half-life 7d --weight a", "expected NAME=NUMBER"),
        ("usage usage.csv --law slurm --half-life 7d --weight a=-1", "the weight of `a` is negative"),
        ("usage jobs.txt --law slurm --half-life 7d", "--at must say"),
        ("usage lumps.csv --law kueue --half-life 7d", "begins and ends at the same time"),
    ] {
        folder.run(&call.split(' ').collect::<Vec<_>>()).fails_with(2, message);
    }
}

#[test]
fn reported_usage_is_compared() {
    let folder = folder();
    folder.write("sshare.txt", include_str!("../../../../examples/usage-sshare.txt"));
    let call =
        ["usage", "usage.csv", "--law", "slurm-ticks", "--half-life", "7d", "--reported", "sshare.txt"];
    let printed = folder.run(&call).ends_with(0).stdout;
    assert!(printed.contains("Slurm reports the computed usage for 2 of 3 queues."), "{printed}");
    assert!(printed.contains("It differs most for product, for which Slurm reports 7200"), "{printed}");
    assert!(printed.contains("Reported, but not in the history: root."), "{printed}");
    let json = folder.run(&[&call[..], &["--format", "json"]].concat()).ends_with(0).json();
    assert_eq!(json["reported"]["by"], "Slurm");
    assert_eq!(json["reported"]["queues"]["product"]["equal_up_to_rounding"], false);
    assert_eq!(json["reported"]["queues"]["batch"]["equal_up_to_rounding"], true);
    let kueue = ["usage", "usage.csv", "--law", "kueue", "--half-life", "7d", "--reported", "sshare.txt"];
    folder.run(&kueue).fails_with(2, "--reported: the file is from Slurm, whose law is not kueue");
    let missing = ["usage", "usage.csv", "--law", "slurm", "--half-life", "7d", "--reported", "none.txt"];
    folder.run(&missing).fails_with(2, "none.txt");
}
