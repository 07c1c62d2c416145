//! Traces that are read task by task, compared with the results of simple readers.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::{Cursor, Read};
use std::path::Path;

use evenhand_import::{
    GoogleUsers, ImportError, Input, Trace, TraceStream, azure_stream, google_stream, openb_nodes,
    openb_stream,
};
use evenhand_problem::ServerSpec;
use evenhand_testkit::data::data;
use plain::{PODS, Plain, VMS};

use crate::plain;

/// Compares users, notes, the order of the tasks, and the jobs to which tasks belong. Reads the stream twice
/// at the same time, and once into memory.
fn same(plain: &Plain, stream: TraceStream) {
    assert_eq!(stream.users, plain.users);
    assert_eq!(stream.notes, plain.notes);
    assert_eq!(stream.len(), plain.tasks.len() as u64);
    assert_eq!(stream.is_empty(), plain.tasks.is_empty());
    let mut sizes: HashMap<&str, u64> = HashMap::new();
    plain.tasks.iter().for_each(|task| *sizes.entry(&task.job).or_default() += 1);
    let (mut rows, mut again) = (stream.tasks().unwrap(), stream.tasks().unwrap());
    let (mut job_of, mut number_of) = (HashMap::new(), HashMap::new());
    for task in &plain.tasks {
        let row = rows.next().unwrap().unwrap();
        assert_eq!(again.next().unwrap().unwrap(), row);
        assert_eq!((row.at, row.user as usize, row.seconds), (task.at, task.user, task.seconds));
        assert_eq!(row.priority, task.priority);
        let job = task.job.as_str();
        assert_eq!(row.job_tasks, sizes[job]);
        assert_eq!(*job_of.entry(row.job).or_insert(job), job);
        assert_eq!(*number_of.entry(job).or_insert(row.job), row.job);
    }
    assert!(rows.next().is_none());
    let tasks: Vec<_> = stream.tasks().unwrap().map(Result::unwrap).collect();
    let (users, notes) = (stream.users.clone(), stream.notes.clone());
    assert_eq!(stream.into_memory().unwrap(), Trace { users, tasks, notes });
}

/// Returns whether both readers refuse a trace, and compares their results if both accept it.
fn is_refused(plain: Option<Plain>, stream: Result<TraceStream, ImportError>) -> bool {
    match (plain, stream) {
        (Some(plain), Ok(stream)) => same(&plain, stream),
        (None, Err(_)) => return true,
        (plain, stream) => {
            panic!("the simple reader {} it: {:?}", plain.map_or("refuses", |_| "accepts"), stream.err())
        }
    }
    false
}

/// The random number generator `SplitMix64`.
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

/// Returns the text, in some cases with one byte changed or with the end cut off.
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
fn streams_random_events_of_the_google_trace() {
    let mut errors = 0;
    for seed in 0..600 {
        let mut draw = Draw(seed);
        let (mut text, mut time) = (String::new(), 0);
        for _ in 0..draw.below(80) {
            time += draw.below(3) * 500_000;
            // Tasks of one job may belong to different users, and the requests of a user change.
            let (job, index, what) = (draw.below(5), draw.below(4), draw.below(9));
            let user = draw.of(&["a", "a", "b", "c"]);
            let [cpu, memory] = [(); 2].map(|()| draw.of(&["0.5", "0.50", "0.125", "0.3", "0", ""]));
            writeln!(text, "{time},,{job},{index},1,{what},{user},2,9,{cpu},{memory},,").unwrap();
        }
        let text = damaged(text, &mut draw);
        // The text is in one file or in two.
        let cut = text.match_indices('\n').nth(draw.below(40) as usize).map_or(0, |(at, _)| at + 1);
        let parts = match cut {
            0 => vec![&text[..]],
            cut if cut == text.len() => vec![&text[..]],
            cut => vec![&text[..cut], &text[cut..]],
        };
        for by in [GoogleUsers::ByUser, GoogleUsers::ByShape] {
            let inputs = parts.iter().map(|part| input(part)).collect();
            errors += u32::from(is_refused(plain::google(&parts, by), google_stream(inputs, by)));
        }
    }
    assert!((50..600).contains(&errors), "{errors}");
}

#[test]
fn streams_random_pods_and_virtual_machines() {
    let servers: Vec<ServerSpec> = ["n-V100", "n-T4"]
        .map(|name| ServerSpec { name: name.to_owned(), count: None, capacity: Vec::new() })
        .to_vec();
    let mut errors = 0;
    for seed in 0..600 {
        let mut draw = Draw(seed);
        let (mut pods, mut vms, mut time) = (format!("{PODS}\n"), format!("{VMS}\n"), 7);
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
        let of_pods = is_refused(plain::pods(&pods, &servers), openb_stream(input(&pods), &servers));
        let of_vms = is_refused(plain::vms(&vms), azure_stream(input(&vms)));
        errors += u32::from(of_pods) + u32::from(of_vms);
    }
    assert!((50..600).contains(&errors), "{errors}");
}

#[test]
fn wrong_rows_are_named() {
    let row = |time: u64, end: &str| format!("{time},,1,0,1,1,a,2,9,0.5,0.5{end}\n");
    let google = |text: String| google_stream(vec![input(&text)], GoogleUsers::ByUser).err().unwrap();
    let error = google(format!("{}{}", row(5, ",,"), row(4, ",,"))).to_string();
    assert_eq!(error, "trace.csv:2: time goes back from 5 to 4");
    let error = google(format!("{}\n{}", row(5, ",,"), row(6, ""))).to_string();
    assert_eq!(error, "trace.csv:3: found 11 columns: expected 13");
    let error = azure_stream(input(&format!("{VMS}\ndev,9,0,f,1,1,0,8,7,0\n"))).err().unwrap().to_string();
    assert_eq!(error, "trace.csv:2: duration_hi_s: 7 s is less than 8 s, the lower bound");
    let error = azure_stream(input(&format!("{VMS}\ndev,9,0,f,1,1,0,-8,7,0\n"))).err().unwrap().to_string();
    assert!(error.starts_with("trace.csv:2: duration_lo_s: found `-8`"), "{error}");
    let pod = format!("{PODS}\np,1,1,0,0,,LS,Running,9,8,9\n");
    let error = openb_stream(input(&pod), &[]).err().unwrap().to_string();
    assert_eq!(error, "trace.csv:2: deleted at 8, before it was created at 9");
}

/// Checks that the digest depends on the tasks: equal texts have equal digests, and another task changes the
/// digest.
#[test]
fn different_traces_have_different_digests() {
    let digest =
        |end: u64| azure_stream(input(&format!("{VMS}\ndev,9,0,f,1,1,0,7,{end},0\n"))).unwrap().digest;
    assert_eq!(digest(9), digest(9));
    assert_ne!(digest(9), digest(11));
}

/// Returns the unpacked text of a file of a trace.
fn unpacked(path: &Path) -> String {
    let packed = std::fs::File::open(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    } else {
        ruzstd::decoding::StreamingDecoder::new(packed).unwrap().read_to_string(&mut text).unwrap();
    }
    text
}

#[test]
fn streams_the_real_traces() {
    let open = |path: &Path| Input::open(path).unwrap();
    if let Some(file) = data("google2011/task_events.part-00000-of-00500.csv.gz") {
        let text = unpacked(&file);
        for by in [GoogleUsers::ByUser, GoogleUsers::ByShape] {
            assert!(!is_refused(plain::google(&[&text], by), google_stream(vec![open(&file)], by)));
        }
    }
    if let Some(folder) = data("alibaba_gpu2023_openb") {
        let nodes = openb_nodes(open(&folder.join("openb_node_list_all_node.csv.gz"))).unwrap();
        let pods = folder.join("openb_pod_list_gpuspec33.csv.gz");
        let plain = plain::pods(&unpacked(&pods), &nodes);
        assert!(!is_refused(plain, openb_stream(open(&pods), &nodes)));
    }
    if let Some(table) = data("azure_v1_flavours/derived_dev_test_vms.csv.zst") {
        assert!(!is_refused(plain::vms(&unpacked(&table)), azure_stream(open(&table))));
    }
}
