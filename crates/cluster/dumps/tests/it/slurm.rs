//! Tests of Slurm: a real cluster of 30 nodes, text and JSON of other versions, and dumps that are refused.

use std::io::Read;
use std::path::Path;

use evenhand_dumps::{Options, snapshot};
use evenhand_import::Input;
use evenhand_problem::snapshot::{Subject, System};
use evenhand_problem::{Rational, Snapshot};
use evenhand_testkit::data;

use crate::common::{classes, exactly, left_out, refuses, users};

fn fixture(names: &[&str]) -> Snapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/schedulers/slurm");
    let inputs = names.iter().map(|name| Input::open(&folder.join(name)).unwrap()).collect();
    snapshot(System::Slurm, inputs, &Options::default()).unwrap()
}

/// A cluster with 20 nodes of 64 processors and 8 GPUs, and 10 nodes that no job may use. There are 24 jobs
/// with 4 GPUs, of which 8 wait. An array has 60 tasks with 2 GPUs, of which 12 wait.
#[test]
fn reads_a_real_cluster() {
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

/// JSON and text give the same snapshot.
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

fn array(tasks: &str) -> String {
    job("1", "").replacen("JobId=1 ", &format!("JobId=1 ArrayJobId=1 ArrayTaskId={tasks} "), 1)
}

#[test]
fn partitions_features_types_and_nodes_restrict_server_classes() {
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
            format!("1 x a: 8 {} 3 1", megabytes(100)),
            format!("1 x b: 6 {} 0 0", megabytes(90)),
            format!("1 x c: 1 {} 0 0", megabytes(10)),
        ]
    );
    let demand = format!("cpu 1, memory {}", megabytes(10));
    assert_eq!(
        users(&snapshot),
        [
            format!("lab/1: {demand}; 0 run, 3 wait; a"),
            format!("lab/2: {demand}; 0 run, 1 wait; b"),
            "lab/3: cpu 1, gres/gpu 1, gres/gpu:v100 1; 0 run, 1 wait; a".to_owned(),
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
    assert_eq!(names("features with counts or one choice for all nodes, which are ignored"), ["7"]);
    assert_eq!(
        names("servers with several types of one generic resource: a job without a type may use any of them"),
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

/// JSON of newer versions is read. In these versions numbers are objects, and states and features are lists.
#[test]
fn reads_json_of_newer_versions() {
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
    let left_out = left_out(&snapshot);
    assert_eq!(left_out["waiting tasks that fit on no server that they may use, not even alone"].0, 2);
    let throttled = left_out.iter().find(|(what, _)| what.contains("beyond their throttle")).unwrap();
    assert_eq!(throttled.1, &(1, vec!["5_3"]));
    assert_eq!(snapshot.problem.groups().list()[0].weight, 4);
    assert_eq!(
        (snapshot.sources[0].version.as_str(), snapshot.sources[0].time.as_str()),
        ("Slurm 24.05.1", "7")
    );
}

#[test]
fn errors_name_the_place() {
    let nodes = |from: &str, to: &str| NODES.replace(from, to);
    let with =
        |jobs: &str, expected: &str| refuses(System::Slurm, &[("n.txt", NODES), ("j.txt", jobs)], expected);
    let only = |nodes: &str, expected: &str| refuses(System::Slurm, &[("n.txt", nodes)], expected);
    only("", "n.txt: the file is empty");
    only("hello\n", "n.txt:1: found `hello`: expected the text of scontrol");
    only(&nodes("CPUTot=8", "CPUTot=8x"), "n.txt:1: CPUTot: found `8x`: expected a whole number");
    only(
        &nodes("RealMemory=100", "RealMemory=-8"),
        "n.txt:1: RealMemory: found `-8`: expected a whole number",
    );
    only(&nodes("gpu:v100:1", "gpu:v100:8x"), "n.txt:1: gres: found `8x`: expected a number such as 8");
    only(&nodes(" RealMemory=100 Gres=gpu", " Gres=gpu"), "n.txt:1: the field RealMemory is missing");
    only(&nodes("NodeName=b", "NodeName=a"), "n.txt:2: the node `a` is given twice");
    only("PartitionName=p State=UP\n", "no file has nodes: add the output of scontrol show nodes -o");
    only(NODES, "no file has jobs: add the output of squeue --json");
    with(&job("1", "").replace("cpu=1", "cpu=8x"), "j.txt:1: tres: found `8x`: expected a number such as 8");
    with(&job("1", "").replace("cpu=1", "cpu=-8"), "j.txt:1: tres: found `-8`: expected a number such as 8");
    with(&[job("1", ""), job("1", "")].concat(), "j.txt:2: the job `1` is given twice");
    with(&job("1", "JobState=RUNNING"), "j.txt:1: the field JobState is given twice");
    with(&array("3-1"), "j.txt:1: array tasks: found `3-1`: expected array tasks such as 1-10:2");
    let many = ["1-1000000000"; 1001].join(",");
    with(&array(&many), "has more than 1000000000000 tasks");
    let large = ["1-1000000000"; 900].join(",");
    let two = [array(&large), array(&large).replace("Id=1 ", "Id=2 ")].concat();
    // The fields of the array may also come after the user.
    let after = |id: &str| job(id, &format!("ArrayJobId={id} ArrayTaskId={large}"));
    with(
        &[after("1"), after("2")].concat(),
        "j.txt:2: with this job the dump has more than 1000000000000 tasks",
    );
    with(&two, "j.txt:2: with this job the dump has more than 1000000000000 tasks");
    with(
        &job("1", "AllocTRES=cpu=1"),
        "j.txt:1: the job has the field TRES of older versions and fields of newer ones",
    );
    let zeros = format!("NodeList=n[{}1-2]", "0".repeat(65_535));
    with(
        &job("1", &zeros).replace("State=PENDING", "State=RUNNING"),
        "nodes: the name of a host has 65536 bytes",
    );
    let long = format!("cpu={}", "9".repeat(400));
    with(&job("1", "").replace("cpu=1,mem=10M", &format!("{long}T")), "a number of more than 400 digits");
    with(
        &job("1", "")
            .replace("NumNodes=1", "NumNodes=7")
            .replace("cpu=1", &format!("{long}.1").replacen('9', "", 2)),
        "j.txt:1: tres: the amount of cpu on one node has too many digits",
    );
    with(&job("1", "ReqNodeList=n[1-"), "j.txt:1: required nodes: found `n[1-`: expected a list of hosts");
    with(&job("1", "").replace("State=PENDING", "State=RUNNING"), "j.txt:1: the job `1` runs on no node");
    with(
        &job("1", "NodeList=z").replace("State=PENDING", "State=RUNNING"),
        "there is no server `z`; the files seem to be of different clusters",
    );
    with("Account|User|RawShares\nroot||1\n   deep||1\n", "j.txt:3: Account: more than one level deeper");
    with(
        "Account|User|RawShares\nroot||8x\n",
        "j.txt:2: shares: found `8x`: expected a number of at least 0",
    );
    with("Account|User|RawShares\nroot||1|2\n", "j.txt:2: found 4 columns: expected 3");
    with("a|b\n1|2\n", "j.txt:2: a|b: this is not a table of Slurm");
    with(r#"{"jobs": [{"job_id": 1, "account": "#, "j.txt:1: the file is cut off");
    with(
        r#"{"jobs": [{"job_id": 1, "job_state": "PENDING"}, {"job_id": "x"}]}"#,
        "j.txt: jobs[0]: the job `1` has no account",
    );
    with(r#"{"jobs": [{"job_id": "x"}]}"#, "j.txt: jobs[0].job_id: `x` is not a number");
    with(r#"{"jobs": [{"job_id": 1, "job_id": 2}]}"#, "the field `job_id` is given twice");
    with(r#"{"things": []}"#, "j.txt: found no list `nodes`, `jobs` or `shares`");
    with(r#"{"sinfo": [], "meta": {}}"#, "sinfo of this version prints only sums by partition");
    with("[1, 2]", "j.txt: [0]: expected an object with the list");
}

/// Returns a job in the form of `scontrol show job -o`.
fn record(id: u32, name: &str, user: &str, more: &str) -> String {
    format!(
        "JobId={id} JobName={name} UserId={user}(1) GroupId=g(1) Account={user} JobState=PENDING Reason=Resources Partition=p NumNodes=1 TRES=cpu=1,mem=1M,node=1 {more}\n"
    )
}

const NODE: &str = "NodeName=n1 CPUTot=8 RealMemory=1000 State=IDLE Partitions=p\n";

/// Texts that a user writes into a job are not mistaken for fields.
#[test]
fn texts_of_users_are_not_fields() {
    let plain = exactly(System::Slurm, &[("n", NODE), ("j", &record(2, "x", "mallory", ""))]);
    assert_eq!(users(&plain), [format!("mallory/1: cpu 1, memory {}; 0 run, 1 wait; all", 1 << 20)]);
    let names = [
        "x ArrayJobId=2 ArrayTaskId=1-1000000000",
        "x AllocTRES=cpu=4,mem=1M JobState=RUNNING NodeList=n1",
        "x UserId=alice(1) Account=alice JobState=PENDING Partition=p NumNodes=1 TRES=cpu=9",
        "UserId=alice(1) UserId=bob(1)",
    ];
    for name in names {
        let odd = exactly(System::Slurm, &[("n", NODE), ("j", &record(2, name, "mallory", ""))]);
        assert_eq!((&odd.problem, &odd.waiting), (&plain.problem, &plain.waiting), "{name}");
        let left_out = left_out(&odd);
        let named = left_out.iter().find(|(what, _)| what.starts_with("jobs whose name looks like fields"));
        assert_eq!(named.unwrap().1.1, ["2"], "{name}");
    }
    // Comments, files and command lines come after the fields that Slurm itself writes.
    let texts = [
        "Command=/bin/x JobState=RUNNING NodeList=n1",
        "WorkDir=/tmp Comment=x Licenses=matlab:1 TRES=cpu=7 ArrayJobId=2 ArrayTaskId=1-9",
        "WCKey=x ArrayJobId=2 ArrayTaskId=1-1000000000 Command=x",
    ];
    for text in texts {
        let odd = exactly(System::Slurm, &[("n", NODE), ("j", &record(2, "x", "mallory", text))]);
        assert_eq!((&odd.problem, &odd.not_modelled), (&plain.problem, &plain.not_modelled), "{text}");
    }
    // The job is refused if it is not known where its name ends.
    let forged = "Command=x Comment=y UserId=alice(1) Account=alice JobState=PENDING Partition=p TRES=cpu=1";
    refuses(
        System::Slurm,
        &[("n.txt", NODE), ("j.txt", &record(2, "x", "mallory", forged))],
        "j.txt:1: the job has several fields UserId with Command between them: a name or a comment contains one; use the output of --json",
    );
}

const TYPED_NODES: &str = "NodeName=g1 CPUTot=32 RealMemory=1000 Gres=gpu:a100:4 State=IDLE Partitions=p\n\
    NodeName=g2 CPUTot=32 RealMemory=1000 Gres=gpu:h100:4 State=IDLE Partitions=p\n";

fn gpus(id: u32, tres: &str, more: &str) -> String {
    record(id, "x", "bio", more).replace("cpu=1,mem=1M,node=1", &format!("cpu=1,{tres}"))
}

/// A limit on a type counts only jobs that request this type.
#[test]
fn type_limits_count_only_jobs_that_request_the_type() {
    let limits = "Account|User|Share|GrpTRES\nbio||1|gres/gpu:h100=1,node=3,billing=500\nbio|ann|1|cpu=10\n";
    let jobs = [
        gpus(1, "gres/gpu=1,gres/gpu:h100=1", ""),
        gpus(2, "gres/gpu=4,gres/gpu:a100=4", ""),
        gpus(3, "gres/gpu=1", ""),
        // Only the request by node or by job names the type.
        gpus(4, "gres/gpu=2", "TresPerNode=gres:gpu:h100:2"),
        gpus(5, "gres/gpu=3", "Command=x TresPerJob=gres/gpu:h100=3"),
    ];
    let files = |jobs: &str| exactly(System::Slurm, &[("n", TYPED_NODES), ("j", jobs), ("a", limits)]);
    let snapshot = files(&jobs.concat());
    let problem = &snapshot.problem;
    let resources = problem.resources();
    assert_eq!(resources[2..], ["gres/gpu", "gres/gpu:h100"]);
    let bio = problem.groups().list().iter().find(|group| group.name == "bio").unwrap();
    assert_eq!(bio.limit, [(3, Rational::from(1))]);
    assert_eq!(
        users(&snapshot),
        [
            "bio/bio/1: cpu 1, gres/gpu 1, gres/gpu:h100 1; 0 run, 1 wait; g2",
            "bio/bio/2: cpu 1, gres/gpu 4; 0 run, 1 wait; g1",
            "bio/bio/3: cpu 1, gres/gpu 1; 0 run, 1 wait; all",
            "bio/bio/4: cpu 1, gres/gpu 2, gres/gpu:h100 2; 0 run, 1 wait; g2",
            "bio/bio/5: cpu 1, gres/gpu 3, gres/gpu:h100 3; 0 run, 1 wait; g2",
        ]
    );
    let left_out = left_out(&snapshot);
    for other in ["node", "billing"] {
        assert_eq!(left_out[format!("limits of associations: GrpTRES {other}").as_str()].1, ["bio"]);
    }
    // A limit on a type that no job requests is removed.
    let snapshot = files(&jobs[1]);
    let bio = snapshot.problem.groups().list().iter().find(|group| group.name == "bio").unwrap();
    assert_eq!((snapshot.problem.resources().len(), bio.limit.len()), (3, 0));
    let unasked = "resources of quotas that no task asks for or no server has";
    assert_eq!(self::left_out(&snapshot)[unasked].1, ["gres/gpu:h100"]);
}

/// A node with devices of two types has a capacity for each type.
#[test]
fn mixed_nodes_have_a_capacity_of_each_type() {
    let nodes = "NodeName=m CPUTot=32 RealMemory=1000 Gres=gpu:a100:2,gpu:v100:1 State=MIXED Partitions=p\n";
    let runs = gpus(1, "gres/gpu=1,gres/gpu:v100=1", "NodeList=m").replace("State=PENDING", "State=RUNNING");
    let waits = gpus(2, "gres/gpu=1,gres/gpu:v100=1", "");
    let snapshot = exactly(System::Slurm, &[("n", nodes), ("j", &[runs, waits].concat())]);
    assert_eq!(classes(&snapshot), [format!("1 x m: 32 {} 3 1", 1000u64 << 20)]);
    assert_eq!(users(&snapshot), ["bio/1: cpu 1, gres/gpu 1, gres/gpu:v100 1; 1 run, 1 wait; all"]);
}

/// With the throttle `%2`, only two tasks of an array run at once.
#[test]
fn throttles_limit_running_tasks_of_arrays() {
    let waits = "JobId=12 ArrayJobId=12 ArrayTaskId=3-9:2%2 ArrayTaskThrottle=2 JobName=c UserId=bob(2) Account=ml JobState=PENDING Reason=Priority Partition=p NumNodes=1 TRES=cpu=4,mem=4M\n";
    let runs = "JobId=13 ArrayJobId=12 ArrayTaskId=1 JobName=c UserId=bob(2) Account=ml JobState=RUNNING Partition=p NumNodes=1 NodeList=n1 TRES=cpu=4,mem=4M\n";
    for jobs in [[waits, runs].concat(), [runs, waits].concat()] {
        let snapshot = exactly(System::Slurm, &[("n", NODE), ("j", &jobs)]);
        assert_eq!(users(&snapshot), [format!("ml/1: cpu 4, memory {}; 1 run, 1 wait; all", 4 << 20)]);
        assert_eq!(snapshot.waiting[0].names, ["12_3"]);
        let left_out = left_out(&snapshot);
        let throttled = left_out.iter().find(|(what, _)| what.contains("beyond their throttle")).unwrap();
        assert_eq!(throttled.1, &(3, vec!["12_5", "12_7", "12_9"]));
    }
    // If two tasks of the array run, no other task may start.
    let second = runs.replace("JobId=13", "JobId=14").replace("TaskId=1 ", "TaskId=2 ");
    let snapshot = exactly(System::Slurm, &[("n", NODE), ("j", &[waits, runs, &second].concat())]);
    assert_eq!(snapshot.waiting, []);
}

/// A job that waits for a limit counts only if the dump has the limit.
#[test]
fn jobs_waiting_for_a_limit_count_only_if_the_limit_is_known() {
    let job = record(1, "x", "bio", "").replace("Reason=Resources", "Reason=AssocGrpCpuLimit");
    let other = record(2, "x", "bio", "").replace("Reason=Resources", "Reason=AssocGrpNodeLimit");
    let jobs = [job, other].concat();
    let limits = "Account|User|Share|GrpTRES\ntop||1|cpu=4\nbio||1|\n";
    let shares = "Account|User|RawShares\nroot||\n top||1\n  bio||1\n";
    let snapshot = exactly(System::Slurm, &[("n", NODE), ("j", &jobs), ("s", shares), ("a", limits)]);
    assert_eq!(snapshot.waiting[0].names, ["1"]);
    let snapshot = exactly(System::Slurm, &[("n", NODE), ("j", &jobs)]);
    assert_eq!(snapshot.waiting, []);
    let left_out = left_out(&snapshot);
    let names = |what: &str| left_out[what].1.clone();
    assert_eq!(
        names(
            "waiting tasks of jobs that may not start now: AssocGrpCpuLimit, a limit that is not in the dump"
        ),
        ["1"]
    );
    assert_eq!(names("waiting tasks of jobs that may not start now: AssocGrpNodeLimit"), ["2"]);
}

/// Returns the names of the reported numbers about the cluster and about the shares of levels.
fn totals(snapshot: &Snapshot) -> Vec<&str> {
    let all = ["g_user_assoc_count", "level_shares", "RawUsage"];
    let reported =
        snapshot.reported.iter().filter(|of| of.of == Subject::Cluster || of.what == "level_shares");
    reported.map(|of| of.what.as_str()).filter(|what| all.contains(what)).collect()
}

/// `sshare` may list only some accounts. Then sums over all accounts are not reported.
#[test]
fn partial_sshare_reports_no_sums() {
    let header = "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\n";
    let root = "root|||1.0|1000||1.0||\n";
    let bio = " bio||1|0.25|400|0.4|0.4||0.625\n  bio|bio|1|1.0|400|0.4|1.0|0.5|1.0\n";
    let rest = " rest||3|0.75|600|0.6|0.6||1.25\n";
    let of_rest = "  rest|u|1|1.0|600|0.6|1.0|1.0|1.0\n";
    let jobs = record(1, "x", "bio", "");
    let read = |shares: &[&str]| {
        let shares = format!("{header}{}", shares.concat());
        exactly(System::Slurm, &[("n", NODE), ("j", &jobs), ("s", &shares)])
    };
    let all = ["level_shares", "level_shares"];
    let mut whole =
        totals(&read(&[root, bio, rest, of_rest])).into_iter().map(str::to_owned).collect::<Vec<_>>();
    whole.sort_unstable();
    assert_eq!(whole, ["RawUsage", "g_user_assoc_count", "level_shares", "level_shares"]);
    // Without `-a`, `sshare` does not list the users of an account.
    let snapshot = read(&[root, bio, rest]);
    let mut found = totals(&snapshot);
    found.sort_unstable();
    assert_eq!(found, [&["RawUsage"], &all[..]].concat());
    // With `-A`, `sshare` does not list an account, so the level is not complete.
    let snapshot = read(&[root, bio]);
    assert_eq!(totals(&snapshot), ["RawUsage"]);
    // The root account is not listed.
    let snapshot = read(&[&bio.replace(" bio|", "bio|")]);
    assert_eq!(totals(&snapshot), Vec::<&str>::new());
    assert!(
        left_out(&snapshot).keys().any(|what| what.starts_with("the account `root`, which sshare does not"))
    );
}

/// An empty list of jobs states that no job runs or waits.
#[test]
fn empty_job_lists_are_read() {
    for jobs in [r#"{"jobs": [], "meta": {}}"#, "No jobs in the system\n"] {
        let snapshot = exactly(System::Slurm, &[("n", NODE), ("j", jobs)]);
        assert_eq!((snapshot.problem.n_users(), snapshot.waiting.len()), (0, 0));
    }
}

/// Published dumps of other versions are read.
#[test]
fn reads_published_dumps() {
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
    let mut files = open(&nodes);
    let alone = snapshot(System::Slurm, open(&nodes), &Options::default()).unwrap_err().to_string();
    assert!(alone.starts_with("no file has jobs: add the output of squeue --json"), "{alone}");
    files.push(Input::new("jobs", std::io::Cursor::new("No jobs in the system\n")).unwrap());
    let made = snapshot(System::Slurm, files, &Options::default()).unwrap();
    assert_eq!(left_out(&made)["reservations of nodes"].1, ["maint_may", "training_june"]);
    let own = ["zabbix_slurm_squeue.txt"];
    assert!(snapshot(System::Slurm, open(&own), &Options::default()).is_err());
    let mut text = String::new();
    std::fs::File::open(folder.join(nodes[0])).unwrap().read_to_string(&mut text).unwrap();
    let sum: u64 = text.split(' ').filter_map(|of| of.strip_prefix("CPUEfctv=")?.parse::<u64>().ok()).sum();
    let cpu = &made.problem.total_capacity()[0];
    assert!(*cpu > 0 && *cpu < sum, "some nodes are down: {cpu} of {sum}");
}

#[test]
fn text_and_json_state_the_same_job_times() {
    let runs = job("7", "RunTime=1-00:00:10 TimeLimit=2-00:00:00 Priority=9")
        .replace("JobState=PENDING Reason=Resources", "JobState=RUNNING Reason=None NodeList=a");
    let late = job("8", "RunTime=02:00:00 TimeLimit=01:00:00")
        .replace("JobState=PENDING Reason=Resources", "JobState=RUNNING Reason=None NodeList=b");
    let text =
        [runs, late, job("9", "TimeLimit=00:30:00 Priority=4294901759"), job("10", "TimeLimit=UNLIMITED")];
    let by_text = exactly(System::Slurm, &[("nodes", NODES), ("jobs", &text.concat())]);
    let times = |of: &Snapshot| {
        let times = of.times.iter().map(|of| (of.task.clone(), of.limit, of.left, of.priority));
        times.collect::<Vec<_>>()
    };
    let day = 86_400;
    assert_eq!(
        times(&by_text),
        [
            ("7".to_owned(), Some(2 * day), Some(day - 10), None),
            ("8".to_owned(), Some(3_600), Some(0), None),
            ("9".to_owned(), Some(1_800), None, Some(4_294_901_759)),
        ]
    );
    let json = |update: &str| {
        format!(
            r#"{{"jobs": [
                {{"job_id": 7, "account": "lab", "user_name": "ann", "job_state": ["RUNNING"], "partition": "p",
                  "nodes": "a", "node_count": {{"set": true, "number": 1}}, "tres_alloc_str": "cpu=1,mem=10M,node=1",
                  "time_limit": {{"set": true, "infinite": false, "number": 2880}},
                  "start_time": {{"set": true, "number": 1000000}}}},
                {{"job_id": 9, "account": "lab", "user_name": "ann", "job_state": ["PENDING"], "partition": "p",
                  "state_reason": "Resources", "node_count": 1, "tres_req_str": "cpu=1,mem=10M,node=1",
                  "time_limit": {{"set": false, "infinite": true, "number": 0}}, "priority": {{"set": true, "number": 5}}}}]{update}}}"#
        )
    };
    let read = |update: &str| times(&exactly(System::Slurm, &[("nodes", NODES), ("jobs", &json(update))]));
    let waits = || ("9".to_owned(), None, None, Some(5));
    let update = r#", "last_update": {"set": true, "number": 1086410}"#;
    assert_eq!(read(update), [("7".to_owned(), Some(2 * day), Some(day - 10), None), waits()]);
    // Without the time of the dump, the time that is left is not known.
    assert_eq!(read(""), [("7".to_owned(), Some(2 * day), None, None), waits()]);
}

#[test]
fn preempted_jobs_are_named() {
    let gone = job("5", "").replace("JobState=PENDING", "JobState=PREEMPTED");
    let snapshot = exactly(System::Slurm, &[("nodes", NODES), ("jobs", &[gone, job("6", "")].concat())]);
    let stopped: Vec<_> = snapshot.stopped.iter().map(|of| (of.task.as_str(), of.rule.as_str())).collect();
    assert_eq!(stopped, [("5", "PREEMPTED")]);
}
