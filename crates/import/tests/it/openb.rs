//! The importer of the Alibaba GPU trace.

use std::io::{Cursor, Write};

use evenhand_import::{Import, ImportError, Input, Note, openb};
use evenhand_problem::Rational;

const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\n\
    a,32000,1024,0,\n\
    b,96000,2048,8,T4\n\
    c,96000,2048,8,T4\n\
    d,96000,2048,8,P100\n";
const SHORT: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
const LONG: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

fn input(name: &str, bytes: impl Into<Vec<u8>>) -> Input {
    Input::new(name, Cursor::new(bytes.into())).unwrap()
}

fn import(nodes: &str, pods: &str) -> Result<Import, ImportError> {
    openb(input("nodes.csv", nodes), input("pods.csv", pods))
}

#[track_caller]
fn refuses(nodes: &str, pods: &str, expected: &str) {
    assert_eq!(import(nodes, pods).unwrap_err().to_string(), expected);
}

#[test]
fn shapes_become_classes_and_users() {
    let pods = format!("{SHORT}p0,500,100,1,460\np1,8000,200,2,1000\np2,500,100,1,460\n");
    let Import { problem, notes, .. } = import(NODES, &pods).unwrap();
    let classes: Vec<_> = problem.servers().iter().map(|s| (s.name(), s.count())).collect();
    assert_eq!(
        classes,
        [("cpu32000-mem1024", 1), ("cpu96000-mem2048-gpu8-T4", 2), ("cpu96000-mem2048-gpu8-P100", 1)],
    );
    let users: Vec<_> = problem.users().iter().map(|u| (u.name(), u.tasks().unwrap().clone())).collect();
    assert_eq!(
        users,
        [("cpu500-mem100-gpu1x460", Rational::from(2)), ("cpu8000-mem200-gpu2x1000", Rational::from(1))],
    );
    assert_eq!(problem.users()[0].base_demand()[2], Rational::from((23, 50)));
    assert_eq!(problem.users()[1].base_demand()[2], 2);
    assert_eq!(notes, [Note::SharedGpu(2)]);
}

#[test]
fn models_are_placement_constraints() {
    let pods = format!(
        "{LONG}p0,1,1,1,1000,T4|P100,LS,Running,0,9,0\np1,1,1,1,1000,P100|T4,LS,Running,0,9,0\n\
         p2,1,1,1,1000,P100|A9,BE,Failed,0,9,\np3,1,1,1,1000,A9,BE,Pending,,,\np4,0,5,0,0,,,,,,\np5,0,0,0,1000,,,,,,\n"
    );
    let Import { problem, notes, .. } = import(NODES, &pods).unwrap();
    let users: Vec<_> = problem.users().iter().map(|u| (u.name(), u.servers())).collect();
    assert_eq!(
        users,
        [
            ("cpu1-mem1-gpu1x1000-T4|P100", Some(&[1, 2][..])),
            ("cpu1-mem1-gpu1x1000-P100|T4", Some(&[1, 2][..])),
            ("cpu1-mem1-gpu1x1000-P100|A9", Some(&[2][..])),
            ("cpu0-mem5", None),
        ],
    );
    assert_eq!(
        notes,
        [
            Note::NothingRequested(1),
            Note::NoCpuRequest(1),
            Note::ColumnsNotModelled {
                columns: "qos, pod_phase, creation_time, deletion_time, scheduled_time".to_owned(),
                rows: 6
            },
            Note::UnknownGpuModel { model: "A9".to_owned(), tasks: 2 },
            Note::NoServerAllowed { models: "A9".to_owned(), tasks: 1 },
        ],
    );
}

#[test]
fn refuses_malformed_files() {
    refuses(
        "",
        SHORT,
        "nodes.csv:1: the file is empty: expected the node list, `sn,cpu_milli,memory_mib,gpu,model`",
    );
    refuses(
        SHORT,
        NODES,
        "nodes.csv:1: found another header: expected the node list, `sn,cpu_milli,memory_mib,gpu,model`",
    );
    refuses(
        "sn,cpu_milli,memory_mib,gpu,model\n",
        SHORT,
        "no allocation problem can be made of this: expected at least one server class",
    );
    let bad = |row: &str, expected: &str| {
        let pods = format!("{SHORT}p0,1,1,0,0\r\n\r\n{row}\n");
        refuses(NODES, &pods, &format!("pods.csv:4: {expected}"));
    };
    bad("p1,1,1,0", "found 4 columns: expected 5");
    bad("p1,1,1,0,0,T4", "found 6 columns: expected 5");
    bad("p1,-1,1,0,0", "cpu_milli: found `-1`: expected a whole number");
    bad("p1,1,1.5,0,0", "memory_mib: found `1.5`: expected a whole number");
    bad("p1,1,1,,0", "num_gpu: found ``: expected a whole number");
    bad("p1,1,1,99999999999999999999,0", "num_gpu: found `99999999999999999999`: expected a whole number");
    bad("p1,1,1,1,1001", "gpu_milli: found `1001`: expected at most 1000, one whole GPU");
    bad("p1,\"1\",\"1,5\",0,0", "memory_mib: found `1,5`: expected a whole number");
    bad("p1,\"1,1,0,0", "found 2 columns: expected 5");
    let pods = [SHORT.as_bytes(), b"p\xff,1,1,0,0\n"].concat();
    let error = openb(input("n", NODES), input("p", pods)).unwrap_err();
    assert_eq!(error.to_string(), "p:2: this line is not UTF-8 text");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn compression_is_recognised_by_its_first_bytes() {
    let pods = format!("{SHORT}p0,1,1,0,0\n");
    let plain = import(NODES, &pods).unwrap();
    let (first, second) = pods.split_at(20);
    let gz = [gzip(first), gzip(second)].concat();
    let zst = [zstd(first), zstd(second)].concat();
    for (nodes, pods) in [(gzip(NODES), zst), (zstd(NODES), gz)] {
        assert_eq!(openb(input("nodes.csv", nodes), input("pods.csv", pods)).unwrap(), plain);
    }
}

#[test]
fn refuses_damaged_compression() {
    for whole in [gzip(NODES), zstd(NODES)] {
        for cut in 5..whole.len() {
            if let Ok(nodes) = Input::new("nodes.csv.gz", Cursor::new(whole[..cut].to_vec())) {
                let error = openb(nodes, input("pods.csv", SHORT)).unwrap_err();
                assert!(error.to_string().starts_with("nodes.csv.gz"), "{error}");
            }
        }
    }
    let missing = Input::open(std::path::Path::new("no/such/file.csv")).err().unwrap();
    assert!(missing.to_string().starts_with("no/such/file.csv: "));
}

#[test]
fn imports_the_real_files() {
    let Some(folder) = evenhand_testkit::data::data("alibaba_gpu2023_openb") else { return };
    let open = |name: &str| Input::open(&folder.join(name)).unwrap();
    let import = |pods: &str| openb(open("openb_node_list_all_node.csv.gz"), open(pods)).unwrap();
    let default = import("openb_pod_list_default.csv.gz");
    println!("{:#?}", default.notes);
    assert_eq!(default.problem.n_servers(), 27);
    assert_eq!(default.problem.n_single_servers(), 1523);
    assert_eq!(default.problem.n_users(), 151);
    let tasks: Rational = default.problem.users().iter().filter_map(|user| user.tasks()).sum();
    assert_eq!(tasks, 8152);
    let constrained = import("openb_pod_list_gpuspec33.csv.gz");
    println!("{:#?}", constrained.notes);
    assert_eq!(constrained.problem.n_users(), 457);
    assert!(constrained.problem.has_placement_constraints());
    assert!(import("openb_pod_list_multigpu20.csv.gz").problem.n_users() > 0);
}
