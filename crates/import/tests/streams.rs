//! Traces that are read one task at a time are those that are read as a whole.
#![allow(missing_docs)]

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;

use evenhand_import::{
    GoogleUsers, ImportError, Input, Trace, TraceStream, azure_stream, azure_trace, google_stream,
    google_trace, openb_nodes, openb_stream, openb_trace,
};
use evenhand_problem::ServerSpec;

/// Compares tasks in order, users, notes, and who are of one job; two passes over the stream at once.
fn same(whole: &Trace, stream: &TraceStream) {
    assert_eq!(stream.resources, whole.resources);
    assert_eq!(stream.users, whole.users);
    assert_eq!(stream.notes, whole.notes);
    assert_eq!(stream.len(), whole.tasks.len() as u64);
    assert_eq!(stream.is_empty(), whole.tasks.is_empty());
    let (mut rows, mut again) = (stream.tasks().unwrap(), stream.tasks().unwrap());
    let (mut job_of, mut number_of) = (HashMap::new(), HashMap::new());
    for task in &whole.tasks {
        let row = rows.next_task().unwrap().unwrap();
        assert_eq!(again.next_task().unwrap(), Some(row));
        assert_eq!((row.at, row.user, row.seconds), (task.at, task.user, task.seconds));
        assert_eq!(row.job_tasks, u64::from(whole.jobs[task.job as usize]));
        assert_eq!(*job_of.entry(row.job).or_insert(task.job), task.job);
        assert_eq!(*number_of.entry(task.job).or_insert(row.job), row.job);
    }
    assert_eq!(rows.next_task().unwrap(), None);
}

fn compare(whole: Result<Trace, ImportError>, stream: Result<TraceStream, ImportError>) -> Option<String> {
    match (whole, stream) {
        (Ok(whole), Ok(stream)) => same(&whole, &stream),
        (Err(whole), Err(stream)) => {
            assert_eq!(stream.to_string(), whole.to_string());
            return Some(whole.to_string());
        }
        (whole, stream) => panic!("{:?} and {:?}", whole.err(), stream.err()),
    }
    None
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

fn input(text: &str) -> Input {
    Input::new("trace.csv", Cursor::new(text.to_owned().into_bytes())).unwrap()
}

/// Now and then one byte is another one, or the end is missing.
fn damaged(mut text: String, draw: &mut Draw) -> String {
    match draw.below(6) {
        0 => text.truncate(draw.below(text.len() as u64 + 1) as usize),
        1 if !text.is_empty() => {
            let at = draw.below(text.len() as u64) as usize;
            text.replace_range(at..=at, draw.of(&["x", "", "-", ",", "\n"]));
        }
        _ => {}
    }
    text
}

#[test]
fn random_events_of_the_google_trace() {
    let mut errors = 0;
    for seed in 0..600 {
        let mut draw = Draw(seed);
        let (mut text, mut time) = (String::new(), 0);
        for _ in 0..draw.below(80) {
            time += draw.below(3) * 500_000;
            // Tasks of one job may be of different users, and what a user asks for changes.
            let (job, index, what) = (draw.below(5), draw.below(4), draw.below(9));
            let user = draw.of(&["a", "a", "b", "c"]);
            let [cpu, memory] = [(); 2].map(|()| draw.of(&["0.5", "0.50", "0.125", "0.3", "0", ""]));
            writeln!(text, "{time},,{job},{index},1,{what},{user},2,9,{cpu},{memory},,").unwrap();
        }
        let text = damaged(text, &mut draw);
        // In one file or in two.
        let cut = text.match_indices('\n').nth(draw.below(40) as usize).map_or(0, |(at, _)| at + 1);
        let parts = || match cut {
            0 => vec![input(&text)],
            cut if cut == text.len() => vec![input(&text)],
            cut => vec![input(&text[..cut]), input(&text[cut..])],
        };
        for by in [GoogleUsers::ByUser, GoogleUsers::ByShape] {
            errors += u32::from(compare(google_trace(parts(), by), google_stream(parts(), by)).is_some());
        }
    }
    assert!((50..600).contains(&errors), "{errors}");
}

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";
const VMS: &str =
    "split,arrival_s,batch_id,flavour,vcpus,memory_gb,duration_bin,duration_lo_s,duration_hi_s,censored\n";

#[test]
fn random_pods_and_virtual_machines() {
    let servers: Vec<ServerSpec> = ["n-V100", "n-T4"]
        .map(|name| ServerSpec { name: name.to_owned(), count: None, capacity: Vec::new() })
        .to_vec();
    let mut errors = 0;
    for seed in 0..600 {
        let mut draw = Draw(seed);
        let (mut pods, mut vms, mut time) = (PODS.to_owned(), VMS.to_owned(), 7);
        for k in 0..draw.below(40) {
            let (at, lasts) = (draw.below(20), draw.below(9));
            let [cpu, gpus] = [draw.below(3) * 1000, draw.below(2)];
            let model = if gpus > 0 { draw.of(&["", "V100", "V100|T4", "P100"]) } else { "" };
            let end = at + lasts;
            let of_gpu = gpus * 1000;
            writeln!(pods, "p{k},{cpu},0,{gpus},{of_gpu},{model},LS,Running,{at},{end},{at}").unwrap();
            time += draw.below(3);
            let (split, batch, size) = (draw.of(&["dev", "test"]), draw.below(8), 1 + draw.below(3));
            let censored = draw.below(2);
            writeln!(vms, "{split},{time},{batch},f{size},{size},{size}.5,0,{lasts},9,{censored}").unwrap();
        }
        let (pods, vms) = (damaged(pods, &mut draw), damaged(vms, &mut draw));
        let of_pods = compare(openb_trace(input(&pods), &servers), openb_stream(input(&pods), &servers));
        let of_vms = compare(azure_trace(input(&vms)), azure_stream(input(&vms)));
        errors += u32::from(of_pods.is_some()) + u32::from(of_vms.is_some());
    }
    assert!((50..600).contains(&errors), "{errors}");
}

#[test]
fn a_row_that_is_wrong_is_named() {
    let row = |time: u64, end: &str| format!("{time},,1,0,1,1,a,2,9,0.5,0.5{end}\n");
    let google = |text: String| google_stream(vec![input(&text)], GoogleUsers::ByUser).err().unwrap();
    let error = google(format!("{}{}", row(5, ",,"), row(4, ",,"))).to_string();
    assert_eq!(error, "trace.csv:2: time goes back from 5 to 4");
    let error = google(format!("{}\n{}", row(5, ",,"), row(6, ""))).to_string();
    assert_eq!(error, "trace.csv:3: found 11 columns: expected 13");
    let error = azure_stream(input(&format!("{VMS}dev,9,0,f,1,1,0,8,7,0\n"))).err().unwrap().to_string();
    assert_eq!(error, "trace.csv:2: a lifetime from 8 to 7 s");
    let error = azure_stream(input(&format!("{VMS}dev,9,0,f,1,1,0,-8,7,0\n"))).err().unwrap().to_string();
    assert!(error.starts_with("trace.csv:2: duration_lo_s: found `-8`"), "{error}");
    let pod = format!("{PODS}p,1,1,0,0,,LS,Running,9,8,9\n");
    let error = openb_stream(input(&pod), &[]).err().unwrap().to_string();
    assert_eq!(error, "trace.csv:2: deleted at 8, before it was created at 9");
}

/// The digest is of the tasks: the same text has the same one, another task another one.
#[test]
fn traces_are_told_apart() {
    let digest = |end: u64| azure_stream(input(&format!("{VMS}dev,9,0,f,1,1,0,7,{end},0\n"))).unwrap().digest;
    assert_eq!(digest(9), digest(9));
    assert_ne!(digest(9), digest(11));
}

#[test]
fn the_real_traces() {
    let open = |folder: &Path, name: &str| Input::open(&folder.join(name)).unwrap();
    if let Some(folder) = evenhand_testkit::data::data("google2011") {
        let events = || vec![open(&folder, "task_events.part-00000-of-00500.csv.gz")];
        for by in [GoogleUsers::ByUser, GoogleUsers::ByShape] {
            assert_eq!(compare(google_trace(events(), by), google_stream(events(), by)), None);
        }
    }
    if let Some(folder) = evenhand_testkit::data::data("alibaba_gpu2023_openb") {
        let nodes = openb_nodes(open(&folder, "openb_node_list_all_node.csv.gz")).unwrap();
        let pods = || open(&folder, "openb_pod_list_gpuspec33.csv.gz");
        assert_eq!(compare(openb_trace(pods(), &nodes), openb_stream(pods(), &nodes)), None);
    }
    if let Some(folder) = evenhand_testkit::data::data("azure_v1_flavours") {
        let table = || open(&folder, "derived_dev_test_vms.csv.zst");
        assert_eq!(compare(azure_trace(table()), azure_stream(table())), None);
    }
}
