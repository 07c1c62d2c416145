//! Slurm: a real cluster of 30 nodes, text and JSON of other versions, and what is refused.

use std::io::Read;
use std::path::Path;

use evenhand_import::{Input, Options, snapshot};
use evenhand_problem::snapshot::{Subject, System};
use evenhand_problem::{Rational, Snapshot};
use evenhand_testkit::data;

use super::{classes, exactly, left_out, refuses, users};

fn fixture(names: &[&str]) -> Snapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/schedulers/slurm");
    let inputs = names.iter().map(|name| Input::open(&folder.join(name)).unwrap()).collect();
    snapshot(System::Slurm, inputs, &Options::default()).unwrap()
}

/// 20 nodes of 64 processors and 8 GPUs, of which 24 jobs of 4 GPUs and an array of 60 times 2 use all but those of eight
/// jobs and twelve tasks that wait; 10 nodes that no job asks for.
#[test]
fn a_real_cluster() {
    let snapshot = fixture(&["nodes.txt", "squeue.json.gz", "sshare.txt", "associations.txt"]);
    let gib = Rational::from(1u64 << 30);
    assert_eq!(classes(&snapshot), [format!("20 x gpu: 64 {} 8", Rational::from(250 * &gib))]);
    assert_eq!(snapshot.servers[0][..2], ["n001", "n002"]);
    let shown = users(&snapshot);
    let of = |name: &str, cpu: u32, gib_each: u64, gpu: u32, run: u32, wait: u32| {
        let memory = Rational::from(gib_each * &gib);
        format!("{name}: cpu {cpu}, memory {memory}, gres/gpu {gpu}; {run} run, {wait} wait; all")
    };
    assert_eq!(
        shown,
        [
            of("vision/1", 8, 10, 4, 8, 0),
            of("speech/1", 8, 10, 4, 8, 0),
            of("product/1", 8, 10, 4, 0, 8),
            of("vision/2", 4, 20, 2, 48, 12),
        ]
    );
    let groups = snapshot.problem.groups().list();
    let group = |name: &str| groups.iter().position(|group| group.name == name).unwrap();
    assert_eq!(groups[group("vision")].parent, Some(group("research")));
    assert_eq!(groups[group("research")].weight, 2);
    assert_eq!(groups[group("product")].parent, None);
    let waits = snapshot.waiting.iter().find(|waits| waits.reason == "Resources").unwrap();
    assert_eq!(waits.names[..2], ["25_49", "25_50"]);
    let share = snapshot
        .reported
        .iter()
        .find(|said| said.what == "NormShares" && said.of == Subject::Group(group("vision")));
    assert_eq!(share.unwrap().value, Some(Rational::from((1, 2))));
    assert_eq!(left_out(&snapshot)["servers that no task of the dump may use"].0, 10);
    assert_eq!(snapshot.sources[1].version, "Slurm 22.05.8");
    assert!(snapshot.rounded.is_empty());
}

/// What JSON says, text says too.
#[test]
fn text_and_json_agree() {
    let by_json = fixture(&["sinfo.json.gz", "squeue.json.gz", "sshare.txt"]);
    let by_text = fixture(&["nodes.txt", "jobs.txt.gz", "sshare.txt", "partitions.txt"]);
    assert_eq!(by_json.problem, by_text.problem);
    assert_eq!(by_json.allocation, by_text.allocation);
    assert_eq!(by_json.servers, by_text.servers);
    assert_eq!(by_json.running, by_text.running);
}

const NODES: &str = "NodeName=a CPUTot=8 RealMemory=100 Gres=gpu:a100:2(S:0-1),gpu:v100:1 State=MIXED+PLANNED ActiveFeatures=fast,ib Partitions=p,q\n\
    NodeName=b CPUEfctv=6 CPUTot=8 RealMemory=100 MemSpecLimit=10 Gres=(null) State=IDLE ActiveFeatures=ib Partitions=p\n\
    NodeName=c CPUTot=8 RealMemory=100 State=MIXED+DRAIN Reason=old disk [root@now] Partitions=p\n\
    NodeName=d CPUTot=8 RealMemory=100 State=DOWN* Partitions=p\n";

fn job(id: &str, more: &str) -> String {
    format!(
        "JobId={id} JobName=x y=z UserId=ann(1) Account=lab JobState=PENDING Reason=Resources Partition=p NumNodes=1 TRES=cpu=1,mem=10M,node=1 {more}\n"
    )
}

#[test]
fn partitions_features_types_and_nodes_decide_where() {
    let changed = |id: &str, from: &str, to: &str| job(id, "").replace(from, to);
    let jobs = [
        job("1", "Features=fast|slow"),
        changed("2", "Partition=p", "Partition=q"),
        job("3", "ExcNodeList=a"),
        job("4", "ReqNodeList=a"),
        changed("5", "cpu=1,mem=10M,node=1", "cpu=1,gres/gpu=1,gres/gpu:v100=1"),
        job("6", ""),
        job("7", "Features=[fast|ib]"),
        changed("8", "State=PENDING Reason=Resources", "State=RUNNING NodeList=c"),
        changed("9", "Reason=Resources", "Reason=Dependency"),
        changed("10", "cpu=1", "cpu=9"),
        changed("11", "Partition=p", "Partition=gone"),
        changed("12", "State=PENDING Reason=Resources", "State=COMPLETED"),
    ];
    let snapshot = exactly(System::Slurm, &[("nodes", NODES), ("jobs", &jobs.concat())]);
    let megabytes = |n: u64| n << 20;
    assert_eq!(
        classes(&snapshot),
        [
            format!("1 x a: 8 {} 3", megabytes(100)),
            format!("1 x b: 6 {} 0", megabytes(90)),
            format!("1 x c: 1 {} 0", megabytes(10)),
        ]
    );
    let demand = format!("cpu 1, memory {}", megabytes(10));
    assert_eq!(
        users(&snapshot),
        [
            format!("lab/1: {demand}; 0 run, 3 wait; a"),
            format!("lab/2: {demand}; 0 run, 1 wait; b"),
            "lab/3: cpu 1, gres/gpu 1; 0 run, 1 wait; a".to_owned(),
            format!("lab/4: {demand}; 1 run, 0 wait; all"),
            format!("lab/5: {demand}; 0 run, 2 wait; a, b"),
        ]
    );
    let left_out = left_out(&snapshot);
    let names = |what: &str| left_out[what].1.clone();
    assert_eq!(names("servers that are down or do not answer"), ["d"]);
    assert_eq!(names("waiting tasks of jobs that may not start now: Dependency"), ["9"]);
    assert_eq!(names("waiting tasks that fit on no server that they may use, not even alone"), ["10"]);
    assert_eq!(names("waiting tasks that no server is allowed to run"), ["11"]);
    assert_eq!(names("features with counts or one choice for all nodes, which are not asked for"), ["7"]);
    assert_eq!(
        names("servers with several types of one generic resource, which are counted together"),
        ["a"]
    );
    assert!(left_out.keys().any(|what| what.starts_with("the tree of accounts")));
}

#[test]
fn jobs_of_several_nodes_are_gangs() {
    let two = job("1", "")
        .replace("NumNodes=1", "NumNodes=2-2")
        .replace("cpu=1,mem=10M,node=1", "cpu=4,mem=20M,node=2");
    let runs = two
        .replace("JobId=1", "JobId=2")
        .replace("State=PENDING", "State=RUNNING")
        .replace("TRES=", "NodeList=a,b TRES=");
    let snapshot = exactly(System::Slurm, &[("nodes", NODES), ("jobs", &[two, runs].concat())]);
    assert_eq!(
        users(&snapshot),
        [format!("lab/1: cpu 2, memory {}; 2 run, 2 wait; all, gang 2", 10u64 << 20)]
    );
}

#[test]
fn users_of_an_account_are_groups_with_their_shares_and_limits() {
    let shares = "Account|User|RawShares|NormShares|RawUsage|FairShare|LevelFS|GrpTRESMins\n\
        root|||0.0|0|||\n lab||3|0.75|100||2.5|\n  lab|ann|2|0.6|90|0.5|inf|\n  lab|bob|1|0.4|10|0.9|1.5|\n other||1|0.25|0||inf|\n";
    let limits = "Account|User|Share|GrpTRES|GrpJobs\nlab||3|cpu=10,gres/gpu=2|5\nlab|ann|2||\n";
    let jobs = [job("1", ""), job("2", "").replace("ann(1)", "bob(2)")].concat();
    let snapshot =
        exactly(System::Slurm, &[("nodes", NODES), ("jobs", &jobs), ("sshare", shares), ("assoc", limits)]);
    let groups = snapshot.problem.groups().list();
    let shown: Vec<_> = groups.iter().map(|g| (g.name.as_str(), g.parent, g.weight.to_string())).collect();
    let expected =
        [("lab", None, "3"), ("other", None, "1"), ("lab/ann", Some(0), "2"), ("lab/bob", Some(0), "1")];
    assert_eq!(shown, expected.map(|(a, b, c)| (a, b, c.to_owned())));
    assert_eq!(groups[0].limit, [(0, Rational::from(10))]);
    let of = |what: &str| {
        snapshot
            .reported
            .iter()
            .filter(|said| said.what == what)
            .map(|said| said.value.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("LevelFS")[2], None);
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["limits of associations: GrpJobs"].1, ["lab"]);
    assert!(left_out.keys().any(|what| what.starts_with("usage over time, by which Slurm ranks")));
}

/// The data parser of newer versions: numbers as objects, states and features as lists.
#[test]
fn json_of_newer_versions() {
    let nodes = r#"{"nodes": [{"name": "a", "state": ["IDLE"], "cpus": 8, "effective_cpus": 7, "real_memory": 100,
        "specialized_memory": 20, "gres": "gpu:2", "active_features": ["ib"], "partitions": ["p"]}],
        "meta": {"slurm": {"release": "24.05.1"}}, "last_update": {"set": true, "infinite": false, "number": 7}}"#;
    let jobs = r#"{"jobs": [{"job_id": 5, "array_job_id": {"set": true, "number": 5}, "array_task_string": "1-3%2",
        "account": "lab", "user_name": "ann", "job_state": ["PENDING"], "state_reason": "Resources", "partition": "p,q",
        "nodes": "", "node_count": {"set": true, "infinite": false, "number": 1}, "tres_req_str": "cpu=2,mem=1G",
        "tres_alloc_str": "", "features": "ib"},
        {"job_id": 6, "account": "lab", "user_name": "ann", "job_state": ["RUNNING"], "partition": "p", "nodes": "a",
        "node_count": {"number": 1}, "tres_alloc_str": "cpu=2,mem=10M,gres/gpu=1"}]}"#;
    let shares = r#"{"shares": {"shares": [{"name": "root", "parent": "", "type": ["ASSOCIATION"], "shares": {"set": false}},
        {"name": "lab", "parent": "root", "type": ["ASSOCIATION"], "shares": {"set": true, "number": 4},
         "shares_normalized": {"set": true, "number": 0.5}, "usage": 0, "fairshare": {"factor": {"number": 1.0}}},
        {"name": "ann", "parent": "lab", "type": ["USER"], "shares": {"set": true, "number": 1}}]}}"#;
    let snapshot = exactly(System::Slurm, &[("n", nodes), ("j", jobs), ("s", shares)]);
    assert_eq!(classes(&snapshot), [format!("1 x a: 7 {} 2", 80u64 << 20)]);
    assert_eq!(
        users(&snapshot),
        [format!("lab/1: cpu 2, memory {}, gres/gpu 1; 1 run, 0 wait; all", 10 << 20)]
    );
    assert_eq!(
        left_out(&snapshot)["waiting tasks that fit on no server that they may use, not even alone"].0,
        3
    );
    assert_eq!(snapshot.problem.groups().list()[0].weight, 4);
    assert_eq!(
        (snapshot.sources[0].version.as_str(), snapshot.sources[0].time.as_str()),
        ("Slurm 24.05.1", "7")
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let nodes = |from: &str, to: &str| NODES.replace(from, to);
    let with =
        |jobs: &str, expected: &str| refuses(System::Slurm, &[("n.txt", NODES), ("j.txt", jobs)], expected);
    let only = |nodes: &str, expected: &str| refuses(System::Slurm, &[("n.txt", nodes)], expected);
    only("", "n.txt: the file is empty");
    only("hello\n", "n.txt:1: found `hello`: expected the text of scontrol");
    only(&nodes("CPUTot=8", "CPUTot=8x"), "n.txt:1: CPUTot: `8x` is no quantity");
    only(&nodes("RealMemory=100", "RealMemory=-8"), "n.txt:1: RealMemory: `-8` is no quantity");
    only(&nodes("gpu:v100:1", "gpu:v100:8x"), "n.txt:1: gres: `8x` is no quantity");
    only(&nodes(" RealMemory=100 Gres=gpu", " Gres=gpu"), "n.txt:1: the field RealMemory is missing");
    only(&nodes("NodeName=b", "NodeName=a"), "n.txt:2: the node `a` is given twice");
    only("PartitionName=p State=UP\n", "the dump has no servers");
    with(&job("1", "").replace("cpu=1", "cpu=8x"), "j.txt:1: tres: `8x` is no quantity");
    with(&job("1", "").replace("cpu=1", "cpu=-8"), "j.txt:1: tres: `-8` is no quantity");
    with(&[job("1", ""), job("1", "")].concat(), "j.txt:2: the job `1` is given twice");
    with(&job("1", "Comment=x JobState=RUNNING"), "j.txt:1: the field JobState is given twice");
    with(&job("1", "ArrayJobId=1 ArrayTaskId=3-1"), "j.txt:1: array tasks: `3-1` is no list");
    with(&job("1", "ReqNodeList=n[1-"), "j.txt:1: required nodes: `n[1-` is no list of hosts");
    with(&job("1", "").replace("State=PENDING", "State=RUNNING"), "j.txt:1: the job `1` runs on no node");
    with(
        &job("1", "NodeList=z").replace("State=PENDING", "State=RUNNING"),
        "there is no `z`; the files seem to be of different clusters",
    );
    with("Account|User|RawShares\nroot||1\n   deep||1\n", "j.txt:3: Account: it stands deeper");
    with("Account|User|RawShares\nroot||8x\n", "j.txt:2: shares: `8x` is no number of shares");
    with("Account|User|RawShares\nroot||1|2\n", "j.txt:2: found 4 columns: expected 3");
    with("a|b\n1|2\n", "j.txt:2: a|b: this table is none of Slurm's");
    with(r#"{"jobs": [{"job_id": 1, "account": "#, "j.txt:1: the file is cut off");
    with(
        r#"{"jobs": [{"job_id": 1, "job_state": "PENDING"}, {"job_id": "x"}]}"#,
        "j.txt: jobs[0]: the job `1` has no account",
    );
    with(r#"{"jobs": [{"job_id": "x"}]}"#, "j.txt: jobs[0].job_id: `x` is not a number");
    with(r#"{"jobs": [{"job_id": 1, "job_id": 2}]}"#, "the field `job_id` is given twice");
    with(r#"{"things": []}"#, "j.txt: found no list `nodes`, `jobs` or `shares`");
    with(r#"{"sinfo": [], "meta": {}}"#, "sinfo of this version prints sums by partition");
    with("[1, 2]", "j.txt: [0]: expected an object with the list");
}

/// Dumps that others have published, of other versions.
#[test]
fn published_dumps() {
    let Some(folder) = data::data("fixtures_slurm") else { return };
    let open = |names: &[&str]| {
        names.iter().map(|name| Input::open(&folder.join(name)).unwrap()).collect::<Vec<_>>()
    };
    let names = ["rivos_sinfo_out.json", "rivos_squeue_out.json"];
    let made = snapshot(System::Slurm, open(&names), &Options::default());
    assert!(
        made.is_ok() || made.as_ref().is_err_and(|e| e.to_string().contains("different clusters")),
        "{made:?}"
    );
    let nodes = [
        "zabbix_slurm_scontrol_show_node.txt",
        "zabbix_slurm_scontrol_show_partition.txt",
        "zabbix_slurm_scontrol_show_reservation.txt",
    ];
    let made = snapshot(System::Slurm, open(&nodes), &Options::default()).unwrap();
    assert_eq!(left_out(&made)["reservations of nodes"].1, ["maint_may", "training_june"]);
    let own = ["zabbix_slurm_squeue.txt"];
    assert!(snapshot(System::Slurm, open(&own), &Options::default()).is_err());
    let mut text = String::new();
    std::fs::File::open(folder.join(nodes[0])).unwrap().read_to_string(&mut text).unwrap();
    let sum: u64 = text.split(' ').filter_map(|of| of.strip_prefix("CPUEfctv=")?.parse::<u64>().ok()).sum();
    let cpu = &made.problem.total_capacity()[0];
    assert!(*cpu > 0 && *cpu < sum, "some nodes are down: {cpu} of {sum}");
}
