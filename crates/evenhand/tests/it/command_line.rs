//! Tests of the program as people and shells use it: errors are printed first, misspelt names get
//! suggestions, completions and manual pages work, and tables fit every format and width.

use crate::common;

use common::{CONSTRAINED, FIGURE_1, Folder, Output, finish};
use evenhand::mechanisms::registry;
use serde_json::json;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Returns a folder with a problem, its allocation and its certificate.
fn session() -> Folder {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json", "--quiet"]);
    folder.write("broken.json", "{\"kind\": \"allocation-problem\",\n  oops}");
    folder.write("empty.json", "");
    folder.write("bytes.json", b"\xff\xfe\0");
    folder.write("r.json", r#"{"kind": "reservation-problem"}"#);
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    folder
}

#[track_caller]
fn fails(folder: &Folder, line: &str) -> Output {
    folder.run(&line.split(' ').collect::<Vec<_>>()).fails(2)
}

#[test]
fn stderr_starts_with_the_error() {
    let folder = session();
    for file in ["nowhere.json", "folder", "broken.json", "empty.json", "bytes.json", "r.json"] {
        fails(&folder, &format!("solve {file} -m drfh"));
        fails(&folder, &format!("certify {file} a.json"));
        fails(&folder, &format!("certify problem.json {file}"));
        fails(&folder, &format!("check {file}"));
        fails(&folder, &format!("explain problem.json {file} --user x"));
        fails(&folder, &format!("compare {file}"));
        fails(&folder, &format!("ratio {file}"));
    }
    for line in [
        "solve a.json -m drfh",
        "solve problem.json -m alpha",
        "solve problem.json -m alpha --alpha x",
        "solve problem.json -m alpha --alpha -1",
        "solve problem.json -m drfh --alpha 2",
        "solve problem.json -m fill --step 0",
        "solve problem.json -m fill --score drff",
        "solve problem.json -m njc --select most",
        "solve problem.json -m ps-dsf --method market",
        "solve problem.json -m drfh --format yaml",
        "solve problem.json -m drfh --threads 0",
        "solve problem.json -m drfh --seed -1",
        "solve problem.json -m drfh --float --exact",
        "certify problem.json c.json",
        "check a.json",
        "check c.json --problem a.json",
        "ratio problem.json",
        "ratio r.json --sweep 1",
        "audit mechanism drfh --users 0",
        "audit mechanism drfh --axiom max-min:resource:r1",
        "audit mechanism alpha",
        "audit mechanism drfh --alpha 2",
        "audit mechanism",
        "audit matrix --alpha 2",
        "audit matrix --resume -",
        "audit matrix --instances 0",
        "audit preemption --queues 9",
        "audit",
        "audit --matrix --mechanism drfh",
        "audit --rule kueue --preemption --positive",
        "hunt --types 0",
        "hunt --steps x",
        "reproduce nothing",
        "bench everything",
        "import openb problem.json",
        "import nobody x y",
        "schema poem",
        "completions dos",
        "nonsense",
        "solve",
    ] {
        fails(&folder, line);
    }
}

/// A warning about the problem is not printed before the error.
#[test]
fn warnings_wait_for_the_error() {
    let folder = Folder::with(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}, {"name": "b", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"gpu": 1}}]}"#,
    );
    let output = folder.run(&["solve", "problem.json", "-m", "drf"]).fails(2);
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 1, "{output:?}");
}

#[test]
fn suggests_similar_names() {
    let folder = session();
    for (line, meant) in [
        ("solve problem.json -m drhf", "'drfh'"),
        ("solve problem.json -m c-drhf", "'c-drfh'"),
        ("certify problem.json a.json --axiom max-mni:tsf", "'max-min'"),
        ("solve problem.json -m fill --score ps-dsff", "'ps-dsf'"),
        ("solve problem.json -m fill --server first-fti", "'first-fit'"),
        ("solve problem.json -m njc --select max-task", "'max-tasks'"),
        ("solve problem.json -m ps-dsf --order high-cpu,high-memroy", "`high-memory`"),
        ("compare problem.json -m tfs", "'tsf'"),
        ("certify problem.json a.json --axiom pareto", "'pareto-optimal'"),
        ("explain problem.json a.json --user user1", "`user 1`"),
        ("reproduce drhf", "`drfh`"),
        ("reproduce drfh.figure-22", "`drfh.figure-2`"),
        ("schema alocation", "'allocation'"),
        ("sovle problem.json", "'solve'"),
        ("solve problem.json --mechansim drfh", "'--mechanism'"),
    ] {
        let output = fails(&folder, line);
        let tip = output.stderr.lines().find(|line| line.starts_with("  tip: ")).unwrap_or_default();
        assert!(tip.contains(meant), "{line}: {}", output.stderr);
    }
}

#[test]
fn solve_accepts_aliases_of_mechanisms() {
    let folder = Folder::with(FIGURE_1);
    for alias in ["c-drfh", "ps-dsf-rdm"] {
        folder.run(&["solve", "problem.json", "-m", alias]).ends_with(0);
    }
}

/// Names with characters that control a terminal. They are used in a file and on the command line.
const WICKED: [&str; 6] =
    ["\u{1b}[31mred", "a\u{202e}b", "a\u{2066}b", "a\u{200b}b", "a\nerror: b", "a\u{9b}31mb"];

fn is_tame(text: &str) -> bool {
    text.chars().all(|c| {
        c == '\n'
            || !c.is_control()
                && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

#[test]
fn control_characters_in_names_are_escaped() {
    for wicked in WICKED {
        let name = serde_json::to_string(wicked).unwrap();
        let folder = Folder::with(
            &FIGURE_1
                .replace("\"user 1\"", &name)
                .replace("\"high-cpu\"", &serde_json::to_string(&format!("{wicked} class")).unwrap())
                .replace("\"cpu\"", &serde_json::to_string(&format!("{wicked} cpu")).unwrap()),
        );
        folder.solve("drfh", true, "a.json");
        let allocation: serde_json::Value = serde_json::from_str(&folder.read("a.json")).unwrap();
        assert_eq!(allocation["tasks"][wicked]["high-memory"], "10", "JSON keeps names as they are");
        for format in ["table", "csv", "markdown"] {
            let solved =
                folder.run(&["solve", "problem.json", "-m", "drfh", "--format", format]).ends_with(0);
            assert!(is_tame(&solved.stdout), "{format}: {:?}", solved.stdout);
            assert!(
                solved.stdout.contains("\\u{") || solved.stdout.contains("\\\\u{"),
                "{:?}",
                solved.stdout
            );
        }
        let explain = ["explain", "problem.json", "a.json", "--user", wicked];
        let explained = folder.run(&explain).ends_with(0);
        assert!(is_tame(&explained.stdout), "{:?}", explained.stdout);
        for arguments in [
            &["explain", "problem.json", "a.json", "--user", &format!("{wicked}x")][..],
            &["solve", "problem.json", "-m", wicked],
            &["solve", "problem.json", "-m", "ps-dsf", "--order", wicked],
            &["solve", wicked, "-m", "drfh"],
            &[wicked],
        ] {
            let output = folder.run(arguments).fails(2);
            assert!(is_tame(&output.stderr), "{arguments:?}: {:?}", output.stderr);
        }
    }
}

#[test]
fn writes_completions_and_manual_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&["completions", shell]).ends_with(0).stdout;
        assert!(script.contains("certify") && script.contains("mechanism"), "{shell}");
        // The completions for these two shells cover options but not the values of options.
        let has_values = !["powershell", "elvish"].contains(&shell);
        assert!(!has_values || script.contains("best-fit") && script.contains("per-server-drf"), "{shell}");
    }
    folder.run(&["man", "-o", "man"]).ends_with(0);
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("man"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.contains(&"evenhand.1".to_owned()) && names.contains(&"evenhand-solve.1".to_owned()));
    assert!(names.contains(&"evenhand-audit-mechanism.1".to_owned()), "{names:?}");
    assert_eq!(names.len(), 31, "{names:?}");
    let page = folder.run(&["man"]).ends_with(0).stdout;
    assert!(page.contains(".TH evenhand 1"), "{page}");
    fails(&folder, "man -o -");
}

/// The help of every command shows its usage and an example.
#[test]
fn help_has_examples_and_headings() {
    let folder = Folder::new();
    let help = folder.run(&["--help"]).ends_with(0).stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(commands.len(), 25, "{help}");
    for command in commands {
        let help = folder.run(&[command, "--help"]).ends_with(0).stdout;
        assert!(help.contains(&format!("Examples:\n  evenhand {command}")), "{help}");
        assert!(help.contains("Global options:"), "{help}");
    }
    let solve = folder.run(&["solve", "--help"]).ends_with(0).stdout;
    assert!(solve.contains("Options of whole tasks (fill, slots):"), "{solve}");
}

#[test]
fn schemas_are_listed() {
    let folder = Folder::new();
    let listed = folder.run(&["schema"]).ends_with(0).stdout;
    let document = folder.run(&["schema", "--format", "json"]).ends_with(0).json();
    assert_eq!((&document["kind"], &document["version"]), (&json!("schemas"), &json!(1)));
    for name in document["names"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
        folder.run(&["schema", name]).ends_with(0).json();
    }
}

#[test]
fn documents_state_their_kind_and_version() {
    let folder = session();
    for (line, kind) in [
        ("solve problem.json -m drfh", "allocation"),
        ("explain problem.json a.json --user high", "explanation"),
        ("reproduce drfh.figure-2", "reproduction"),
    ] {
        let arguments = line.replace("high", "user§1");
        let arguments: Vec<String> = arguments.split(' ').map(|word| word.replace('§', " ")).collect();
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.extend(["--format", "json"]);
        let document = folder.run(&arguments).ends_with(0).json();
        assert_eq!((&document["kind"], &document["version"]), (&json!(kind), &json!(1)), "{line}");
    }
}

#[test]
fn every_format_shows_the_tasks_of_each_user() {
    let folder = Folder::with(FIGURE_1);
    let solve = |format: &str| {
        folder.run(&["solve", "problem.json", "-m", "drfh", "--format", format]).ends_with(0).stdout
    };
    assert_eq!(
        solve("csv"),
        "user,tasks,wanted,dominant share,weight,cpu,memory,placed on\n\
         user 1,10,unlimited,0.7142857142857143,1,2,10,high-memory: 10\n\
         user 2,10,unlimited,0.7142857142857143,1,10,2,high-cpu: 10\n"
    );
    assert!(solve("markdown").contains("| user 2 | 10 | 71.4 % | 10 | 2 | high-cpu: 10 |\n"));
    let table = solve("table");
    assert!(table.contains("user    tasks  dominant share  cpu  memory  placed on\n"), "{table}");
    assert_eq!(solve("json").lines().next(), Some("{"));
}

/// The decimal points of a column are aligned.
#[test]
fn decimal_points_are_aligned() {
    let folder = Folder::with(CONSTRAINED);
    let table = folder.run(&["solve", "problem.json", "-m", "drfh", "--float"]).ends_with(0).stdout;
    let lines: Vec<&str> = table.lines().skip(2).take(5).collect();
    let header = lines[0].find("dominant").unwrap();
    let points: Vec<usize> =
        lines[1..].iter().map(|line| header + line[header..].find('.').unwrap()).collect();
    assert!(points.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
}

#[test]
fn a_table_fits_the_terminal() {
    let resources: Vec<String> = (0..12).map(|r| format!("resource-{r}")).collect();
    let capacity: Vec<String> = resources.iter().map(|name| format!("\"{name}\": 97")).collect();
    let demand: Vec<String> = resources.iter().map(|name| format!("\"{name}\": \"1/7\"")).collect();
    let folder = Folder::with(&format!(
        r#"{{"kind": "allocation-problem", "resources": {}, "servers": [
            {{"name": "a class with quite a long name of several words", "capacity": {{{}}}}}],
            "users": [{{"name": "somebody with a long name", "demand": {{{}}}}}, {{"name": "漢字漢字", "demand": {{{}}}}}]}}"#,
        serde_json::to_string(&resources).unwrap(),
        capacity.join(", "),
        demand.join(", "),
        demand.join(", ").replace("1/7", "1/9"),
    ));
    let run = |columns: Option<&str>| {
        let mut command = folder.command(&["solve", "problem.json", "-m", "drfh"]);
        command.env_remove("COLUMNS");
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        finish(command, b"", LIMIT).ends_with(0).stdout
    };
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    for columns in [60, 80, 120] {
        let text = run(Some(&columns.to_string()));
        assert!(widest(&text) <= columns, "{columns}: {text}");
        for name in &resources {
            assert!(text.contains(name.as_str()), "{columns}: {name} is missing: {text}");
        }
    }
    let free = run(None);
    assert!(widest(&free) > 120, "no terminal, no width: {free}");
    assert_eq!(run(Some("nonsense")), free);
}

#[test]
fn outputs_are_examined_before_the_work() {
    let folder = session();
    // The command fails before it reads the problem.
    for output in ["no/such/folder/x.json", "folder", "problem.json/x", "folder/"] {
        let started = folder.run(&["solve", "nowhere.json", "-m", "drfh", "-o", output]);
        started.fails_with(2, output);
    }
    let replaced = ["solve", "problem.json", "-m", "drfh", "-o", "./problem.json"];
    folder.run(&replaced).fails_with(2, "would replace an input");
    folder
        .run(&["certify", "problem.json", "a.json", "-o", "a.json"])
        .fails_with(2, "would replace an input");
    folder.run(&["ratio", "r.json", "--sweep", "0:1:3", "--plot", "x.png"]).fails_with(2, "SVG only");
    folder.run(&["ratio", "r.json", "--sweep", "0:1:3", "--plot", "x"]).fails_with(2, "SVG only");
    folder.run(&["bench", "speed", "-o", "problem.json"]).fails_with(2, "not a folder");
    assert_eq!(folder.read("problem.json"), FIGURE_1);
}

#[test]
#[cfg(unix)]
fn outputs_respect_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = session();
    folder.write("precious", "precious");
    // An older version used these names for temporary files. A link with such a name must not be followed.
    for pid in 0..50_000 {
        if pid % 97 == 0 {
            let name = format!(".out.json.{pid}.part");
            symlink("precious", folder.path().join(name)).unwrap();
        }
    }
    folder.solve("drfh", true, "out.json");
    assert_eq!(folder.read("precious"), "precious");
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    // The output has the same permissions as a file that the shell creates.
    folder.write("by-hand", "");
    assert_eq!(mode("out.json"), mode("by-hand"));
    // If the output is a link, its target is written, and the permissions of the target are kept.
    folder.write("target.json", "old");
    std::fs::set_permissions(folder.path().join("target.json"), std::fs::Permissions::from_mode(0o600))
        .unwrap();
    symlink("target.json", folder.path().join("link.json")).unwrap();
    folder.solve("drfh", true, "link.json");
    assert!(folder.read("target.json").contains("\"allocation\""));
    assert!(folder.path().join("link.json").is_symlink());
    assert_eq!(mode("target.json"), 0o600);
    assert!(!folder.names().iter().any(|name| name.starts_with(".evenhand")), "nothing is left over");
}

#[test]
#[cfg(target_os = "linux")]
fn devices_are_written_to_directly() {
    let folder = session();
    folder.run(&["solve", "problem.json", "-m", "drfh", "-o", "/dev/null"]).ends_with(0);
    let full = folder.run(&["solve", "problem.json", "-m", "drfh", "-o", "/dev/full"]).fails(3);
    assert!(full.error_line().contains("/dev/full"), "{full:?}");
}

#[test]
fn minus_is_standard_input_and_output() {
    let folder = session();
    let solved = folder.run_with(&["solve", "-", "-m", "drfh", "-o", "-"], FIGURE_1).ends_with(0).json();
    assert_eq!(solved["kind"], "allocation");
    let allocation = folder.read("a.json");
    folder.run_with(&["certify", "problem.json", "-", "-o", "-"], &allocation).ends_with(0).json();
    folder.run_with(&["explain", "problem.json", "-", "--user", "user 1"], &allocation).ends_with(0);
    folder.run_with(&["compare", "-", "-m", "drfh"], FIGURE_1).ends_with(0);
    folder.run_with(&["check", "-"], folder.read("c.json")).ends_with(0);
    folder.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,8,T4\n");
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,460\n";
    let imported =
        folder.run_with(&["import", "openb", "nodes.csv", "-", "-o", "-"], pods).ends_with(0).json();
    assert_eq!(imported["kind"], "allocation-problem");
    folder.run_with(&["import", "openb", "-", "-"], pods).fails_with(2, "standard input");
    folder.run_with(&["certify", "-", "-"], FIGURE_1).fails_with(2, "standard input");
    assert!(!folder.names().contains(&"-".to_owned()));
}

/// Numbers in CSV are decimals without units and without indentation.
#[test]
fn csv_has_decimals_without_units() {
    let folder = Folder::new();
    folder.write(
        "queues.json",
        r#"{"kind": "allocation-problem", "resources": ["gpu"], "users": [],
            "servers": [{"name": "s", "capacity": {"gpu": 10}}],
            "groups": [{"name": "a", "guarantee": {"gpu": 1}}, {"name": "b", "parent": "a"}, {"name": "c"}]}"#,
    );
    let arguments = ["solve", "queues.json", "-m", "tree", "--rule", "volcano", "--format", "csv", "--quiet"];
    let shown = folder.run(&arguments).ends_with(0).stdout;
    assert!(shown.starts_with("group or user,") && shown.contains("\nb,"), "{shown}");
    assert!(!shown.contains(" = "), "{shown}");
    folder.write(
        "scenario.json",
        r#"{"kind": "scenario", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 1}}],
            "policy": {}, "users": [{"name": "u", "demand": {"cpu": "1/3"}, "jobs": [{"at": 0, "tasks": 3, "duration": 2}]}]}"#,
    );
    let shown = folder.run(&["simulate", "scenario.json", "--format", "csv"]).ends_with(0).stdout;
    assert!(shown.contains("cpu 1\n") && !shown.contains('%'), "{shown}");
}

/// If a name is missing or a word is wrong, the message states what to type.
#[test]
fn what_to_type_instead() {
    let folder = Folder::with(FIGURE_1);
    for command in ["solve problem.json", "audit mechanism"] {
        let stderr_text = fails(&folder, command).stderr;
        for name in registry::names() {
            assert!(stderr_text.contains(name), "{command} does not name {name}: {stderr_text}");
        }
    }
    for (line, name) in [
        ("help solv", "`solve`"),
        ("help certfy", "`certify`"),
        ("import k8s x", "'kubernetes'"),
        ("import K8S x", "'kubernetes'"),
        ("import kubernets x", "'kubernetes'"),
        ("import squeue x", "'slurm'"),
        ("import alibaba x", "'openb'"),
    ] {
        let stderr_text = fails(&folder, line).stderr;
        assert!(stderr_text.contains("tip: ") && stderr_text.contains(name), "{line}: {stderr_text}");
    }
    assert!(!fails(&folder, "help qqqqq").stderr.contains("tip: "));
}

/// Scripts that use the former options of `audit` keep working.
#[test]
fn audit_accepts_its_options_from_before_subcommands() {
    let folder = Folder::with(FIGURE_1);
    for (old, new) in [
        ("audit --mechanism tsf --instances 20", "audit mechanism tsf --instances 20"),
        ("--seed 3 audit --instances 20 -m tsf", "--seed 3 audit mechanism --instances 20 tsf"),
        ("--quiet audit --mechanism=tsf --instances 9", "--quiet audit mechanism tsf --instances 9"),
        ("audit --rule kueue --preemption --workloads 3", "audit preemption --workloads 3"),
        ("audit --preemption --workloads 3 --rule=kueue", "audit preemption --workloads 3"),
    ] {
        let run = |line: &str| folder.run(&line.split(' ').collect::<Vec<_>>()).ends_with(0).stdout;
        assert_eq!(run(old), run(new), "{old}");
    }
    folder.write("finds.json", include_str!("../../../studies/audit/finds.json"));
    folder.run(&["audit", "--matrix", "--resume", "finds.json"]).ends_with(0);
    // A file named like a command is not mistaken for the command.
    folder.write("audit", folder.read("problem.json"));
    folder.run(&["--quiet", "solve", "audit", "-m", "drfh"]).ends_with(0);
}

/// A command of the documentation passes a file of this repository to `--resume`. The command must not change
/// this file.
#[test]
fn a_complete_search_leaves_its_file_unchanged() {
    let folder = Folder::new();
    let finds = include_bytes!("../../../studies/audit/finds.json");
    for text in [finds.to_vec(), [&finds[..], b"\n"].concat()] {
        folder.write("finds.json", &text);
        let before = std::fs::metadata(folder.path().join("finds.json")).unwrap().modified().unwrap();
        folder.run(&["audit", "matrix", "--resume", "finds.json", "-o", "out"]).ends_with(0);
        assert!(std::fs::read(folder.path().join("finds.json")).unwrap() == text, "it was written anew");
        let after = std::fs::metadata(folder.path().join("finds.json")).unwrap().modified().unwrap();
        assert_eq!(before, after);
        assert_eq!(folder.names(), ["finds.json", "out"]);
    }
}

/// On a terminal, `reproduce` shows its progress. Without a terminal, or with `--quiet`, it shows no
/// progress.
#[cfg(target_os = "linux")]
#[test]
fn reproduce_shows_its_progress() {
    if std::process::Command::new("script").arg("--version").output().is_err() {
        eprintln!("NOT RUN: there is no program `script`, which makes a terminal");
        return;
    }
    let folder = Folder::new();
    let on_a_terminal = |more: &str| {
        let line = format!("'{}' reproduce kesidis njc{more}", env!("CARGO_BIN_EXE_evenhand"));
        let mut command = std::process::Command::new("script");
        command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(folder.path()).env("TERM", "xterm");
        finish(command, b"", Duration::from_secs(120)).ends_with(0).stdout
    };
    assert!(on_a_terminal("").contains("/2 parts"));
    assert!(!on_a_terminal(" --quiet").contains("parts"));
    let output = folder.run(&["reproduce", "kesidis"]).ends_with(0);
    assert_eq!(output.stderr, "");
}
