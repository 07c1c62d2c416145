//! Tests of small files that demand a lot of work. Every command ends within a minute of processor time and 2
//! GiB of memory, or states that the file is too large.
//!
//! This test creates the table of SECURITY.md. With `EVENHAND_WRITE_DOCS=1` it writes a new table, which
//! takes ten minutes. Otherwise, files that are too large according to the table get a small limit of work,
//! so that their commands end in seconds, and the test compares how each command ends. Times and sizes in the
//! table are those of the machine that wrote the table.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rayon::prelude::*;

const EVENHAND: &str = env!("CARGO_BIN_EXE_evenhand");

/// The processor time in seconds after which the system ends a command by a signal.
const MOST_SECONDS: u64 = 60;

/// The largest allowed resident memory of a command in MiB.
const MOST_MEMORY: u64 = 2048;

/// A small file, and the command to run on it.
struct Bomb {
    /// A description of the property of the file that is excessive.
    what: &'static str,
    file: &'static str,
    text: Vec<u8>,
    /// The arguments of the command, including the name of the file.
    arguments: &'static [&'static str],
}

/// The end of a command.
struct End {
    status: i32,
    error: String,
    seconds: f64,
    memory: u64,
}

/// The limit on steps for commands that are too large according to the table. They end with the same status,
/// but in seconds.
const LITTLE_WORK: &str = "4e8";

const HEAD: &str = "| what | command | ends with | seconds | MiB |\n|---|---|---|---|---|\n";

#[test]
fn every_command_ends() {
    const BEGIN: &str = "<!-- bombs -->\n";
    const END: &str = "<!-- end of bombs -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the place of the table");
    let (written, after) = rest.split_once(END).expect("the end of the table");
    let bombs = bombs();
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        // The commands run one after the other, so that they do not slow each other down.
        let rows: String = bombs.iter().map(|bomb| row(bomb, &run(bomb, None))).collect();
        std::fs::write(&path, format!("{before}{BEGIN}{HEAD}{rows}{END}{after}")).unwrap();
        return;
    }
    let known: Vec<&str> = written.lines().skip(2).map(without_measurements).collect();
    let found: Vec<String> = bombs
        .par_iter()
        .map(|bomb| {
            let is_too_large = known.contains(&without_measurements(&row(bomb, &End::too_large())));
            let end = run(bomb, is_too_large.then_some(LITTLE_WORK));
            without_measurements(&row(bomb, &end)).to_owned()
        })
        .collect();
    assert_eq!(known, found, "EVENHAND_WRITE_DOCS=1 writes it anew");
}

/// Returns the line of the table for a file.
fn row(bomb: &Bomb, end: &End) -> String {
    let ends = match end.status {
        2 => "2, refused".to_owned(),
        3 => "3, too large".to_owned(),
        status => status.to_string(),
    };
    let (command, seconds) = (bomb.arguments.join(" "), end.seconds.ceil());
    format!("| {} | `{command}` | {ends} | {seconds} | {} |\n", bomb.what, end.memory)
}

/// Returns a line of the table without the time and the memory, which depend on the machine.
fn without_measurements(line: &str) -> &str {
    line.match_indices('|').nth(3).map_or(line, |(at, _)| &line[..at])
}

impl End {
    fn too_large() -> Self {
        Self { status: 3, error: String::new(), seconds: 0.0, memory: 0 }
    }

    /// Asserts that the command ended in one of the allowed ways.
    fn examine(&self, bomb: &Bomb) {
        let name = format!("{} ({}): {}: {}", bomb.what, bomb.arguments.join(" "), self.status, self.error);
        assert!(bomb.text.len() < 1_000_000, "{name}: {} bytes are no small file", bomb.text.len());
        assert!([0, 1, 2, 3].contains(&self.status), "{name}");
        assert!(self.memory <= MOST_MEMORY, "{name}: {} MiB", self.memory);
        let says_what = ["--work", "--memory", "too large", "at most", "more than", "limit"];
        let is_said = says_what.iter().any(|words| self.error.contains(words));
        assert!(self.status != 3 || is_said, "{name}");
    }
}

fn run(bomb: &Bomb, work: Option<&str>) -> End {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(bomb.file), &bomb.text).unwrap();
    let work = work.map(|work| format!("--work={work}"));
    let words = bomb.arguments.iter().copied().chain(work.as_deref());
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    let line = format!("ulimit -t {MOST_SECONDS}; exec '{EVENHAND}' {}", words.join(" "));
    let errors = folder.path().join("stderr");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut seconds, mut memory) = (0.0, 0);
    // The clock of an ended process can be read until its parent waits for it.
    while let Some((state, clock)) = clock(&process) {
        seconds = clock;
        memory = u64::max(memory, peak(&process).unwrap_or_default());
        if state == 'Z' {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let status = child.wait().unwrap();
    let text = std::fs::read_to_string(errors).unwrap();
    assert!(!text.contains("defect of evenhand"), "{}: {text}", bomb.what);
    let status = status.code().unwrap_or_else(|| panic!("{}: ended by a signal: {status}", bomb.what));
    let end = End { status, error: text.lines().next().unwrap_or_default().to_owned(), seconds, memory };
    end.examine(bomb);
    end
}

/// Returns the state of a process and its processor time in seconds. Returns `None` if the system does not
/// report them.
fn clock(process: &Path) -> Option<(char, f64)> {
    let text = std::fs::read_to_string(process.join("stat")).ok()?;
    // The name of the program is in brackets, and may contain any character.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // Linux reports hundredths of a second to programs, whatever its internal clock.
    Some((fields.first()?.chars().next()?, ticks as f64 / 100.0))
}

/// Returns the peak of the resident memory so far in MiB.
fn peak(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn bombs() -> Vec<Bomb> {
    let mut all = Vec::new();
    let mut add = |what, file, text: &[u8], commands: &[&'static [&'static str]]| {
        all.extend(commands.iter().map(|arguments| Bomb { what, file, text: text.to_owned(), arguments }));
    };
    let stored = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bombs").join(name);
        std::fs::read(path).unwrap()
    };
    add("arrivals denser than doubles", "s.json", &stored("stuck1.json"), &[&["simulate", "s.json"]]);
    add("arrivals later than doubles count", "s.json", &stored("stuck3.json"), &[&["simulate", "s.json"]]);
    add("gangs of 10^7", "s.json", &stored("gang.json"), &[&["simulate", "s.json"]]);
    add("a series of 10^12 points", "s.json", series().as_bytes(), &[&["simulate", "s.json"]]);
    add("4,000,000 jobs in a line", "s.json", jobs().as_bytes(), &[&["simulate", "s.json"]]);
    add("a capacity of 1e308", "p.json", &stored("asset-slow.json"), &[&["solve", "-m", "asset", "p.json"]]);
    add("near ties", "p.json", &stored("slow-njc.json"), &[&["solve", "-m", "njc", "p.json"]]);
    let fills: &[&[&str]] = &[&["solve", "-m", "fill", "--rule", "armada", "p.json"]];
    add("counts of 10^6", "p.json", &stored("slow-fill.json"), fills);
    add("numbers of 300 digits", "p.json", &stored("slow-tree.json"), &[&["solve", "-m", "tree", "p.json"]]);
    add("ratio tables of 10^7 units", "c.json", &stored("rc.json"), &[&["check", "c.json"]]);
    let wide = square(4_000);
    add(
        "4,000 users and 4,000 classes",
        "p.json",
        wide.as_bytes(),
        &[
            &["solve", "-m", "ps-dsf", "p.json"],
            &["solve", "-m", "ps-dsf-tdm", "p.json"],
            &["solve", "-m", "drfh", "p.json"],
            &["solve", "-m", "tsf", "p.json"],
            &["solve", "-m", "tree", "p.json"],
            &["solve", "-m", "proportional", "p.json"],
            &["solve", "-m", "njc", "p.json"],
            &["solve", "-m", "utilitarian", "p.json"],
            &["solve", "-m", "fill", "p.json"],
            &["solve", "-m", "per-server-drf", "p.json"],
            &["compare", "p.json"],
            &["export", "--to", "mps", "p.json"],
        ],
    );
    let many = problem(3_000, 100);
    add(
        "3,000 users and 100 classes",
        "p.json",
        many.as_bytes(),
        &[&["compare", "p.json"], &["report", "p.json"]],
    );
    let commands: &[&[&str]] = &[&["lp", "solve", "p.mps"], &["lp", "check", "p.mps", "p.mps"]];
    add("80,000 rows of nonsense", "p.mps", rows_of_nonsense().as_bytes(), commands);
    let packed: &[&[&str]] = &[&["lp", "solve", "p.lp.gz"], &["lp", "check", "p.lp.gz", "p.lp.gz"]];
    add("10^6 rows of nonsense, packed", "p.lp.gz", &packed_rows(), packed);
    for (what, system, file, text) in dumps() {
        let arguments: &'static [&'static str] = match system {
            "mesos" => &["import", "mesos", "d.json"],
            "slurm" => &["import", "slurm", "d.txt"],
            _ if file == "d.yaml" => &["import", "kubernetes", "d.yaml"],
            _ => &["import", "kubernetes", "d.json"],
        };
        add(what, file, text.as_bytes(), &[arguments]);
    }
    all
}

/// Returns dumps of schedulers. Each dump has a description of its excessive property, the system, a file
/// name, and the content.
fn dumps() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let strokes = "/".repeat(20_000);
    let role = format!(
        r#"{{"slaves": [{{"id": "a", "resources": {{"cpus": 4}}}}], "frameworks": [{{"id": "f", "name": "n", "tasks":
            [{{"id": "t", "state": "TASK_RUNNING", "slave_id": "a", "role": "{strokes}", "resources": {{"cpus": 1}}}}]}}]}}"#
    );
    let aliases = format!(
        "kind: List\nitems:\n- kind: Pod\n  x:\n    a: &a \"{}\"\n    b: [{}]\n",
        "x".repeat(400_000),
        ["*a"; 99_000].join(",")
    );
    let fields: Vec<String> = (0..60_000).map(|i| format!(r#""{i:05}":1"#)).collect();
    let fields = format!(r#"{{"kind":"List",{}}}"#, fields.join(","));
    let resources: Vec<String> = (0..9_000).map(|r| format!(r#""x/{r:x}":1"#)).collect();
    let resources = resources.join(",");
    let resources = format!(
        r#"{{"kind":"List","items":[{{"kind":"Node","metadata":{{"name":"n"}},"status":{{"allocatable":{{{resources}}}}}}},
            {{"kind":"Pod","metadata":{{"name":"p"}},"spec":{{"containers":[{{"resources":{{"requests":{{{resources}}}}}}}]}}}}]}}"#
    );
    let node = "NodeName=n1 CPUTot=8 RealMemory=1000 State=IDLE Partitions=p\n";
    let job = |id: u32, array: &str, more: &str| {
        format!(
            "JobId={id} {array}JobName=x UserId=u(1) Account=a Partition=p NumNodes=1 TRES=cpu=1,mem=1M {more}\n"
        )
    };
    let zeros = format!("JobState=RUNNING NodeList=n[{}1-2]", "0".repeat(65_535));
    let zeros = format!("{node}{}", job(1, "", &zeros));
    let tasks = ["1-1000000000"; 30_000].join(",");
    let array = |id: u32| format!("ArrayJobId={id} ArrayTaskId={tasks} ");
    let pending = "JobState=PENDING Reason=Resources";
    let sum = format!("{node}{}{}", job(1, &array(1), pending), job(2, &array(2), pending));
    let wide: String =
        (1..3_000).map(|id| job(id, "", &format!("JobState=RUNNING NodeList=n1,{id}x[0-99998]"))).collect();
    vec![
        ("a role of 20,000 levels", "mesos", "d.json", role),
        ("aliases that stand for 40 GB", "kubernetes", "d.yaml", aliases),
        ("60,000 fields of a document", "kubernetes", "d.json", fields),
        ("9,000 resources", "kubernetes", "d.json", resources),
        ("a number of 65,535 digits", "slurm", "d.txt", zeros),
        ("arrays of 3 x 10^13 tasks", "slurm", "d.txt", sum),
        ("3,000 jobs on 100,000 nodes each", "slurm", "d.txt", format!("{node}{wide}")),
    ]
}

/// Returns a linear programme in MPS whose rows have no entries. Some rows contradict each other.
fn rows_of_nonsense() -> String {
    let rows: String = (0..80_000).map(|row| format!(" {} {row:x}\n", ["G", "L", "E"][row % 3])).collect();
    format!("ROWS\n N z\n{rows}COLUMNS\n x z 1 7 -1e300\n x 8 1e-300 9 1\nRHS\n b 7 1 8 1e300\nENDATA\n")
}

/// Returns a compressed linear programme with 10^6 rows and 100 columns.
fn packed_rows() -> Vec<u8> {
    let costs: Vec<String> = (0..100).map(|column| format!("x{column}")).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    write!(packed, "min {}\nst\n", costs.join(" + ")).unwrap();
    for row in 0..1_000_000 {
        let (first, second, third) = (row % 100, (row * 7 + 1) % 100, row * 3 % 100);
        writeln!(packed, "3 x{first} - 2 x{second} + x{third} >= {}", row % 10 - 3).unwrap();
    }
    writeln!(packed, "end").unwrap();
    packed.finish().unwrap()
}

/// Returns a scenario with one job whose series has 10^12 points.
fn series() -> String {
    r#"{"kind": "scenario", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 1}}], "policy": {},
        "users": [{"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": 0, "tasks": 1, "duration": 1}]}],
        "horizon": 1000000, "every": 0.000001}"#
        .to_owned()
}

/// Returns a scenario with 1,000 lines. Each line stands for 4,000 jobs.
fn jobs() -> String {
    let job = |at: usize| format!(r#"{{"at": {at}, "tasks": 4000, "duration": 1}}"#);
    let jobs: Vec<String> = (0..1_000).map(job).collect();
    format!(
        r#"{{"kind": "scenario", "resources": ["cpu"], "servers": [{{"name": "s", "capacity": {{"cpu": 1}}}}],
            "policy": {{}}, "users": [{{"name": "u", "demand": {{"cpu": 1}}, "jobs": [{}]}}], "horizon": 5000000}}"#,
        jobs.join(",")
    )
}

/// Returns a problem in which every user may run on every class.
fn square(size: usize) -> String {
    problem(size, size)
}

/// Returns a problem in which users demand two resources and all classes have both resources.
fn problem(users: usize, classes: usize) -> String {
    let users: Vec<String> = (0..users)
        .map(|n| format!(r#"{{"name": "u{n}", "demand": {{"a": {}, "b": {}}}}}"#, n % 7 + 1, n % 11 + 1))
        .collect();
    let servers: Vec<String> = (0..classes)
        .map(|i| format!(r#"{{"name": "s{i}", "capacity": {{"a": {}, "b": {}}}}}"#, i % 13 + 1, i % 17 + 1))
        .collect();
    format!(
        r#"{{"kind": "allocation-problem", "resources": ["a", "b"], "servers": [{}], "users": [{}]}}"#,
        servers.join(","),
        users.join(",")
    )
}
