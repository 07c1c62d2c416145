//! Tests that names in a file cannot forge output. Whatever names contain, they add no line, colour, markup,
//! formula or change of writing direction to any output.

use crate::common;

use common::{Folder, Output, applicable};
use serde_json::{Value, json};

/// Returns a name with every dangerous character. It begins with `begin`, as a formula would, and contains
/// `what`.
fn evil(begin: char, what: &str) -> String {
    format!(
        "{begin}1+1 {what}\nFORGED \r# FORGED\u{1b}[31m\u{9b}2J\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\
         ,;\"|`<script>alert(1)</script>'[a](b)*) \\"
    )
}

/// The format of a text.
#[derive(Clone, Copy, PartialEq)]
enum To {
    Terminal,
    Markdown,
    Csv,
    Latex,
    /// HTML and SVG.
    Markup,
}

/// Checks that the text contains no dangerous piece of a name without escapes.
#[track_caller]
fn is_safe(text: &str, to: To, what: &str) {
    let is_hidden = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let found = text.chars().find(|&c| is_hidden(c));
    assert!(found.is_none(), "{what}: {found:?} in {text}");
    for line in text.lines() {
        let begin = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        assert!(!begin.starts_with("FORGED"), "{what}: {line} in {text}");
    }
    match to {
        To::Terminal => {}
        // A page contains at most two scripts written for it, which sort tables and check certificates, and
        // the packed checker.
        To::Markup => {
            let own = text.matches("<script>\"use strict\";\n").count();
            let packed =
                text.matches("<script type=\"application/octet-stream\" id=\"check-program\">").count();
            assert!(own <= 2 && packed <= 1, "{what}: {text}");
            assert_eq!(text.matches("<script").count(), own + packed, "{what}: {text}");
        }
        To::Markdown => {
            let plain = without_escapes(text);
            assert!(!plain.contains(['`', '<', '[']) && !plain.contains("*)"), "{what}: {text}");
            // Every line of a table has the same number of bars as the head of the table, so names add no
            // cells.
            let mut head = None;
            for line in plain.lines() {
                let bars = line.matches('|').count();
                assert!(head.is_none_or(|head| bars == 0 || head == bars), "{what}: {line} in {text}");
                head = (bars > 0).then_some(bars);
            }
        }
        // Every line is a row of a table or begins with a command of the table. No line begins with another
        // command.
        To::Latex => {
            let ours = ["\\begin{", "\\end{", "\\toprule", "\\midrule", "\\endhead", "\\bottomrule"];
            for line in text.lines().filter(|line| !line.starts_with("% ")) {
                let is_ours = ours.iter().any(|begin| line.starts_with(begin));
                let is_blank = line.is_empty();
                assert!(is_ours || is_blank || line.ends_with(" \\\\"), "{what}: {line} in {text}");
                assert!(!line.contains(['<', '|']) || is_ours, "{what}: {line} in {text}");
            }
        }
        To::Csv => {
            let mut width = None;
            for row in rows(text) {
                assert!(
                    *width.get_or_insert(row.len()) == row.len() || row.len() == 1,
                    "{what}: {row:?} in {text}"
                );
                if row.len() == 1 {
                    // The line is between two tables.
                    width = None;
                }
                for field in row {
                    let is_formula = field.starts_with(['=', '+', '-', '@']);
                    assert!(!is_formula || field.parse::<f64>().is_ok(), "{what}: {field} in {text}");
                }
            }
        }
    }
}

/// Returns a Markdown text without its escaped characters.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            _ => plain.push(c),
        }
    }
    plain
}

/// Returns the rows of a CSV text (RFC 4180).
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => field.push(characters.next().unwrap()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            _ => field.push(c),
        }
    }
    assert!(field.is_empty() && row.is_empty() && !is_quoted, "cut off: {text}");
    rows
}

/// Runs a command in every format. The format CSV requires a result with a table, and JSON preserves the
/// names.
#[track_caller]
fn every_format(folder: &Folder, arguments: &[&str], names: &[&str]) {
    let formats = [
        ("table", To::Terminal),
        ("markdown", To::Markdown),
        ("csv", To::Csv),
        ("latex", To::Latex),
        ("html", To::Markup),
    ];
    for (format, to) in formats {
        let tables_alone = matches!(to, To::Csv | To::Latex);
        // The kernel prints no tables.
        if tables_alone && arguments[0] == "check" {
            continue;
        }
        let output = folder.run(&[arguments, &["--format", format]].concat());
        let what = format!("{arguments:?} {format}");
        is_safe(&output.stderr, To::Terminal, &what);
        if output.status != 2 {
            is_safe(&output.stdout, to, &what);
            assert!(!output.stdout.is_empty(), "{what}: {output:?}");
        } else {
            assert!(tables_alone && output.stderr.contains("there is no table"), "{what}: {output:?}");
        }
    }
    let output = folder.run(&[arguments, &["--format", "json"]].concat());
    let what = format!("{arguments:?} json");
    is_safe(&output.stderr, To::Terminal, &what);
    is_safe(&output.stdout, To::Terminal, &what);
    for name in names {
        assert!(holds(&output.json(), name), "{arguments:?}: {name:?} is not in {}", output.stdout);
    }
}

/// Returns `true` if a string or a key of the document contains the name.
fn holds(document: &Value, name: &str) -> bool {
    match document {
        Value::String(text) => text.contains(name),
        Value::Array(list) => list.iter().any(|item| holds(item, name)),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains(name) || holds(value, name)),
        _ => false,
    }
}

#[track_caller]
fn file_is_safe(folder: &Folder, name: &str, to: To) {
    is_safe(&folder.read(name), to, name);
}

/// The names in [`problem`]: the names of the problem, of two users, of two server classes and of two
/// resources.
struct Names {
    title: String,
    users: [String; 2],
    classes: [String; 2],
    resources: [String; 2],
}

fn names() -> Names {
    Names {
        title: evil('=', "title"),
        users: [evil('=', "user"), evil('+', "user")],
        classes: [evil('-', "class"), evil('@', "class")],
        resources: [evil('=', "resource"), evil('-', "resource")],
    }
}

fn problem(names: &Names) -> Value {
    let Names { title, users: [u, v], classes: [a, b], resources: [cpu, memory] } = names;
    json!({
        "kind": "allocation-problem", "name": title, "resources": [cpu, memory],
        "servers": [{"name": a, "capacity": {cpu: 2, memory: 12}}, {"name": b, "capacity": {cpu: 12, memory: 2}}],
        "users": [{"name": u, "demand": {cpu: "1/5", memory: 1}}, {"name": v, "demand": {cpu: 1, memory: "1/5"}}],
    })
}

#[test]
fn problem_names_are_escaped() {
    let names = names();
    let Names { users: [u, _], classes: [a, _], .. } = &names;
    let folder = Folder::with(&problem(&names).to_string());
    for mechanism in applicable(&folder.read("problem.json")).map(|mechanism| mechanism.info.id) {
        every_format(&folder, &["solve", "problem.json", "-m", mechanism], &[u, a]);
        folder.run(&["solve", "problem.json", "-m", mechanism, "-o", "a.json"]);
        // The certificates contain every kind of evidence, including evidence of violations.
        every_format(&folder, &["certify", "problem.json", "a.json", "-o", "c.json"], &[]);
        every_format(&folder, &["check", "c.json"], &[&names.title]);
        every_format(&folder, &["explain", "problem.json", "a.json", "--user", u], &[u, a]);
    }
    every_format(&folder, &["compare", "problem.json", "--allocation", "a.json"], &[u]);
    folder.run(&["report", "problem.json", "-o", "page.html"]).ends_with(0);
    file_is_safe(&folder, "page.html", To::Markup);
    let page = folder.read("page.html");
    assert!(
        page.contains("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"),
        "{page}"
    );
    for form in ["mps", "lp"] {
        is_safe(
            &folder.run(&["export", "problem.json", "--to", form]).ends_with(0).stdout,
            To::Terminal,
            form,
        );
    }
    folder.run(&["solve", "problem.json", "-m", "drfh", "-o", "a.json"]).ends_with(0);
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    every_format(&folder, &["export", "c.json", "--to", "vipr", "-o", "vipr"], &[]);
    for entry in std::fs::read_dir(folder.path().join("vipr")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        is_safe(&text, To::Terminal, "vipr");
    }
    let coq = folder.run(&["export", "c.json", "--to", "coq"]).ends_with(0).stdout;
    is_safe(&coq, To::Terminal, "coq");
    assert_eq!(coq.matches("(*").count(), coq.matches("*)").count(), "{coq}");
}

#[test]
fn trajectory_names_are_escaped() {
    let names = names();
    let mut problem = problem(&names);
    problem["servers"].as_array_mut().unwrap().truncate(1);
    let folder = Folder::with(&problem.to_string());
    let call = [
        "solve",
        "problem.json",
        "-m",
        "njc",
        "--method",
        "trajectory",
        "--series",
        "s.csv",
        "--plot",
        "s.svg",
    ];
    folder.run(&call).ends_with(0);
    file_is_safe(&folder, "s.csv", To::Csv);
    file_is_safe(&folder, "s.svg", To::Markup);
}

#[test]
fn group_names_are_escaped() {
    let (g, h, u, v, cpu) = (
        evil('=', "group"),
        evil('@', "group"),
        evil('+', "user"),
        evil('=', "other"),
        evil('=', "resource"),
    );
    let pool = evil('-', "class");
    let mut problem = json!({
        "kind": "allocation-problem", "name": evil('=', "title"), "resources": [cpu],
        "servers": [{"name": pool, "capacity": {&cpu: 10}}],
        "groups": [{"name": g, "guarantee": {&cpu: 4}, "lend": {&cpu: 1}}, {"name": h, "limit": {&cpu: 3}}],
        "users": [{"name": u, "group": g, "demand": {&cpu: 1}}, {"name": v, "group": h, "demand": {&cpu: 1}}],
    });
    let folder = Folder::with(&problem.to_string());
    every_format(&folder, &["solve", "problem.json", "-m", "tree", "--rule", "kai"], &[&g]);
    folder.run(&["solve", "problem.json", "-m", "tree", "-o", "a.json"]).ends_with(0);
    every_format(&folder, &["explain", "problem.json", "a.json", "--levels", "--rule", "kai"], &[&g]);
    // A second problem also has a limit on a server class.
    for limit in [json!({}), json!({&pool: {"limit": {&cpu: 2}}})] {
        problem["groups"][1]["on"] = limit;
        folder.write("problem.json", problem.to_string());
        folder.run(&["solve", "problem.json", "-m", "tree", "-o", "a.json"]).ends_with(0);
        every_format(&folder, &["solve", "problem.json", "-m", "tree"], &[&u]);
        every_format(&folder, &["certify", "problem.json", "a.json", "-o", "c.json"], &[]);
        every_format(&folder, &["check", "c.json"], &[]);
        every_format(&folder, &["explain", "problem.json", "a.json", "--user", &v], &[&v]);
        every_format(&folder, &["explain", "problem.json", "a.json", "--levels"], &[&g, &u]);
        for group in [&g, &h] {
            every_format(&folder, &["explain", "problem.json", "a.json", "--group", group], &[group]);
        }
    }
}

#[test]
fn usage_names_are_escaped() {
    // A row of a history is a line of text.
    let name = |begin: char, what: &str| evil(begin, what).replace(['\n', '\r'], " ");
    let (queue, resource) = (name('=', "queue"), name('-', "resource"));
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let folder = Folder::new();
    let row = format!("{},{},0,60,1", quoted(&queue), quoted(&resource));
    folder.write("history.csv", format!("queue,resource,from,to,amount\n{row}\n"));
    for law in ["slurm", "kueue", "volcano"] {
        let call = ["usage", "history.csv", "--law", law, "--half-life", "7d"];
        every_format(&folder, &call, &[&queue, &resource]);
    }
}

#[test]
fn reservation_names_are_escaped() {
    let (cpu, pool) = (evil('=', "resource"), evil('@', "pool"));
    let (small, big) = (evil('=', "job"), evil('-', "job"));
    let reservation = json!({
        "kind": "reservation-problem", "name": evil('=', "title"), "resources": [cpu],
        "servers": [{"name": pool, "count": 10, "capacity": {&cpu: 8}}],
        "jobs": [{"name": small, "demand": {&cpu: 2}, "reward": "6", "load": "1/2"},
                 {"name": big, "demand": {&cpu: 3}, "reward": "9", "load": "2"}],
    });
    let folder = Folder::with(&reservation.to_string());
    every_format(&folder, &["ratio", "problem.json"], &[&small, &pool]);
    every_format(&folder, &["ratio", "problem.json", "--sweep", "0:2:3", "--plot", "p.svg"], &[]);
    file_is_safe(&folder, "p.svg", To::Markup);
    every_format(&folder, &["ratio", "problem.json", "--worst-load", "-o", "w.json"], &[]);
    every_format(&folder, &["check", "w.json"], &[]);
    every_format(&folder, &["ratio", "problem.json", "--monotone"], &[]);
    let scenario = json!({
        "kind": "reservation-scenario", "name": evil('+', "scenario"), "reservation": reservation, "servers": 20,
        "policy": {"dra": {"reserve": 2}}, "horizon": 10,
    });
    folder.write("s.json", scenario.to_string());
    every_format(&folder, &["simulate", "s.json", "-o", "out"], &[&small]);
    file_is_safe(&folder, "out/series.csv", To::Csv);
    file_is_safe(&folder, "out/series.svg", To::Markup);
}

#[test]
fn scenario_names_are_escaped() {
    let (cpu, pool, u, v) = (evil('=', "resource"), evil('@', "class"), evil('=', "user"), evil('-', "user"));
    let scenario = |policy: Value, jobs: Value| {
        let of_user = |name: &str, amount: u32| {
            let mut user = json!({"name": name, "demand": {&cpu: amount}});
            user.as_object_mut().unwrap().extend(jobs.as_object().unwrap().clone());
            user
        };
        json!({"kind": "scenario", "name": evil('+', "scenario"), "resources": [cpu],
            "servers": [{"name": pool, "count": 2, "capacity": {&cpu: 9}}], "policy": policy,
            "users": [of_user(&u, 1), of_user(&v, 2)], "horizon": 20, "every": 1})
    };
    let folder = Folder::new();
    let jobs = json!({"poisson": {"rate": 2, "tasks": 2, "duration": {"exponential": 4}}});
    folder.write("s.json", scenario(json!({"server": "best-fit"}), jobs).to_string());
    every_format(&folder, &["simulate", "s.json", "-o", "out"], &[&u, &cpu]);
    for name in ["series", "jobs", "users", "completion-times"] {
        file_is_safe(&folder, &format!("out/{name}.csv"), To::Csv);
    }
    file_is_safe(&folder, "out/series.svg", To::Markup);
    folder.write("c.json", scenario(json!({"mechanism": "ps-dsf"}), json!({})).to_string());
    every_format(&folder, &["simulate", "c.json", "-o", "course"], &[&u]);
    for name in ["series", "utilisation"] {
        file_is_safe(&folder, &format!("course/{name}.csv"), To::Csv);
    }
    file_is_safe(&folder, "course/series.svg", To::Markup);
}

/// Commands that read no names from files print their own names in the same way.
#[test]
fn file_free_commands_print_safe_text() {
    let folder = Folder::new();
    every_format(&folder, &["audit", "mechanism", "utilitarian", "--instances", "16"], &[]);
    every_format(&folder, &["audit", "preemption", "--workloads", "3"], &[]);
    every_format(&folder, &["hunt", "--types", "2", "--steps", "10"], &[]);
    every_format(&folder, &["schema"], &["allocation-problem"]);
    every_format(&folder, &["reproduce", "--list"], &[]);
    every_format(&folder, &["reproduce", "drfh", "-o", "album"], &[]);
    for entry in std::fs::read_dir(folder.path().join("album")).unwrap() {
        let name = format!("album/{}", entry.unwrap().file_name().to_string_lossy());
        match name.rsplit('.').next().unwrap() {
            "md" => file_is_safe(&folder, &name, To::Markdown),
            "csv" => file_is_safe(&folder, &name, To::Csv),
            "html" | "svg" => file_is_safe(&folder, &name, To::Markup),
            _ => file_is_safe(&folder, &name, To::Terminal),
        }
    }
}

#[test]
fn names_in_errors_and_warnings_are_escaped() {
    let names = names();
    let folder = Folder::with(&problem(&names).to_string());
    let fails = |folder: &Folder, arguments: &[&str]| {
        let Output { stderr, .. } = folder.run(arguments).fails(2);
        is_safe(&stderr, To::Terminal, &format!("{arguments:?}"));
        assert!(stderr.contains("1+1"), "{arguments:?} names it: {stderr}");
    };
    folder.solve("drfh", true, "a.json");
    fails(&folder, &["explain", "problem.json", "a.json", "--user", &evil('+', "usr")]);
    fails(&folder, &["explain", "problem.json", "a.json", "--user", "nobody"]);
    let mut twice = problem(&names);
    twice["users"][1]["name"] = json!(names.users[0]);
    folder.write("twice.json", twice.to_string());
    fails(&folder, &["solve", "twice.json", "-m", "drfh"]);
    let mut unknown = problem(&names);
    unknown["users"][0]["servers"] = json!([evil('-', "clas")]);
    folder.write("unknown.json", unknown.to_string());
    fails(&folder, &["solve", "unknown.json", "-m", "drfh"]);
    let mut nowhere = problem(&names);
    let nothing = evil('=', "nothing");
    nowhere["resources"].as_array_mut().unwrap().push(json!(nothing));
    nowhere["users"][0]["demand"] = json!({&nothing: 1});
    folder.write("nowhere.json", nowhere.to_string());
    let warned = folder.run(&["solve", "nowhere.json", "-m", "drfh"]).ends_with(0).stderr;
    assert!(warned.starts_with("warning: ") && warned.contains("1+1"), "{warned}");
    is_safe(&warned, To::Terminal, "a warning");
    folder.write("a.json", json!({"kind": "allocation", "tasks": {&evil('+', "usr"): {}}}).to_string());
    fails(&folder, &["certify", "problem.json", "a.json"]);
    folder.write("pods.csv", format!("name,cpu_milli\n\"{}\",x\n", evil('=', "pod").replace('"', "\"\"")));
    folder.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,0,\n");
    let output = folder.run(&["import", "openb", "nodes.csv", "pods.csv"]);
    is_safe(&output.stderr, To::Terminal, "import");
}
