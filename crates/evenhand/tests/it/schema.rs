//! Tests that the JSON Schemas match the documents that the program reads and writes.

use std::collections::BTreeSet;

use crate::common;

use common::{CONSTRAINED, FIGURE_1, FIGURE_1_RESPELLED, Folder, ONE_SERVER, of_programmes};
use serde_json::Value;

fn schema(name: &str) -> jsonschema::Validator {
    let document = Folder::new().run(&["schema", name]).ends_with(0).json();
    assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::validator_for(&document).unwrap()
}

#[track_caller]
fn fits(schema: &jsonschema::Validator, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    if let Err(error) = schema.validate(&value) {
        panic!("{error} at {}: {text}", error.instance_path());
    }
}

#[test]
fn written_documents_fit_their_schemas() {
    let (problems, allocations, certificates) =
        (schema("allocation-problem"), schema("allocation"), schema("certificate"));
    for text in [FIGURE_1, FIGURE_1_RESPELLED, ONE_SERVER, CONSTRAINED] {
        fits(&problems, text);
        let folder = Folder::with(text);
        for mechanism in of_programmes(text) {
            for exact in [true, false] {
                folder.solve(mechanism, exact, "a.json");
                fits(&allocations, &folder.read("a.json"));
                folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]);
                fits(&certificates, &folder.read("c.json"));
            }
        }
    }
}

#[test]
fn allocations_with_warnings_fit_their_schema() {
    let folder = Folder::with(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}], "users": [{"name": "u", "demand": {"gpu": 1}}]}"#,
    );
    folder.solve("drfh", true, "a.json");
    fits(&schema("allocation"), &folder.read("a.json"));
    // The document can be read again.
    folder.run(&["certify", "problem.json", "a.json"]).ends_with(0);
}

#[test]
fn imported_problems_fit_their_schema() {
    let folder = Folder::new();
    folder.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,8,T4\n");
    folder.write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,460\n");
    let output = folder.run(&["import", "openb", "nodes.csv", "pods.csv"]).ends_with(0);
    fits(&schema("allocation-problem"), &output.stdout);
}

#[test]
fn every_schema_is_a_valid_json_schema() {
    let names = Folder::new().run(&["schema", "--format", "json"]).ends_with(0).json();
    for name in names["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
        let schema = schema(name);
        for wrong in ["{}", "[]", "null", r#"{"kind": "poem"}"#] {
            assert!(!schema.is_valid(&serde_json::from_str(wrong).unwrap()), "{name} takes {wrong}");
        }
    }
}

/// The kinds of the documents seen so far. Each document conforms to the schema of its kind.
#[derive(Default)]
struct Seen(BTreeSet<String>);

impl Seen {
    #[track_caller]
    fn fits(&mut self, text: &str) {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let kind = value["kind"].as_str().unwrap_or_else(|| panic!("no kind: {text}"));
        fits(&schema(kind), text);
        self.0.insert(kind.to_owned());
    }

    /// Checks the document that a command prints with `--format json`.
    #[track_caller]
    fn prints(&mut self, folder: &Folder, call: &str) {
        let words: Vec<&str> = call.split(' ').chain(["--format", "json", "--quiet"]).collect();
        self.fits(&folder.run(&words).stdout);
    }
}

/// At least one document of every command and of every kind conforms to its schema.
#[test]
fn every_kind_of_document_fits_its_schema() {
    let problem = Folder::with(&FIGURE_1.replace("user 1", "u"));
    problem.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,0,\n");
    problem.write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\n");
    problem.write("s.json", with_jobs());
    problem.write("rounds.json", include_str!("../../../../examples/accelerators/rounds.json"));
    problem.write("course.json", SCENARIO.replace(r#""server": "best-fit""#, r#""mechanism": "drfh""#));
    problem.solve("drfh", true, "a.json");
    let grid = r#"{"kind": "sweep", "problems": ["problem.json"], "vary": {"/users/0/weight": [1, "1/2"]}, "mechanisms":
        ["drfh", {"mechanism": "alpha", "name": "a", "settings": {"alpha": 2}}], "axioms": ["envy-free"], "tolerance": 1e-9}"#;
    problem.write("grid.json", grid);
    let jobs = Folder::with(RESERVATION);
    jobs.write("s.json", admission());
    // This file contains a complete search.
    jobs.write("matrix.json", include_str!("../../../studies/audit/finds.json"));
    let groups = Folder::with(GROUPS);
    groups.solve("tree", true, "a.json");
    let cluster = Folder::with("");
    cluster.write("snap.json", include_str!("../../../../examples/cluster.json"));
    cluster.write(
        "job.json",
        r#"{"name": "burst", "group": "product", "demand": {"gpu": 4}, "tasks": 2, "gang": 2}"#,
    );
    let watched = ["watch", "--command", "cat snap.json", "--once", "--history", "history.sqlite"];
    let status = cluster.run(&[&watched[..], &["--format", "json"]].concat()).ends_with(1);
    cluster.write("stopped.json", include_str!("../../../../examples/cluster-stopped.json"));
    cluster.write("settings.json", include_str!("../../../../examples/cluster-settings.json"));
    cluster.write("promised.json", include_str!("../../../../examples/cluster-promised.json"));
    cluster.write("jagged.json", include_str!("../../../../examples/cluster-jagged.json"));
    let programme = Folder::with("");
    programme.write("p.mps", include_str!("../../../../examples/linear-programme.mps"));
    programme.write("p.sol", include_str!("../../../../examples/linear-programme.sol"));
    cluster.write("usage.csv", include_str!("../../../../examples/usage.csv"));
    cluster.write("half-life.json", include_str!("../../../../examples/half-life.json"));
    cluster.write("sshare.txt", include_str!("../../../../examples/usage-sshare.txt"));
    cluster.write("window.csv", include_str!("../../../../examples/window.csv"));
    let calls = [
        (&cluster, "usage usage.csv --law slurm --half-life 7d"),
        (&cluster, "usage usage.csv --law slurm-ticks --half-life 7d --weight idle=1"),
        (&cluster, "usage usage.csv --law kueue --half-life 7d --weight batch=0"),
        (&cluster, "usage usage.csv --law kai --capacity gpu=32 --window 28d"),
        (&cluster, "usage usage.csv --law volcano --half-life 4h"),
        (
            &cluster,
            "verdict window.csv --window 7d --coverage 0.9 --rule kueue --half-life 7d -o window.json",
        ),
        (&cluster, "verdict usage.csv --window 7d"),
        (&cluster, "usage usage.csv --law karma --capacity gpu=48 --alpha 1/2 --credits 6 --every 1d"),
        (&cluster, "verdict window.csv --window 7d --queue product --coverage 0"),
        (&cluster, "check window.json"),
        (&cluster, "verdict snap.json"),
        (&cluster, "what-if snap.json --set research.weight=1 --submit job.json"),
        (&cluster, "explain snap.json --task research/train-3"),
        (&cluster, "moves snap.json"),
        (&cluster, "plan snap.json --offer gpu-node --until starts=training"),
        (&cluster, "plan snap.json --removable"),
        (&cluster, "explain stopped.json --stopped team/web"),
        (&cluster, "explain stopped.json --stopped team/report-2"),
        (&cluster, "explain snap.json --promises"),
        (&cluster, "explain promised.json --promises"),
        (&cluster, "explain snap.json --settings"),
        (&cluster, "explain settings.json --settings --group vision"),
        (&cluster, "simulate snap.json --durations fixed:1h"),
        (
            &cluster,
            "simulate snap.json --durations exponential:1h --runs 3 --horizon 2h --job research/train-3",
        ),
        (&cluster, "report history.sqlite"),
        (&cluster, "moves jagged.json --for training"),
        (&cluster, "moves jagged.json --for training --pinned serving --pinned batch"),
        (&cluster, "moves jagged.json --pack"),
        (&problem, "solve problem.json -m njc"),
        (&problem, "certify problem.json a.json -o c.json"),
        (&problem, "check c.json"),
        (&problem, "compare problem.json"),
        (&problem, "report problem.json -m drfh"),
        (&problem, "sweep grid.json -o lines.jsonl"),
        (&problem, "explain problem.json a.json --user u"),
        (&groups, "explain problem.json a.json --levels"),
        (&groups, "explain problem.json a.json --levels --rule kai"),
        (&groups, "explain problem.json a.json --group g"),
        (&problem, "export c.json --to vipr -o proofs"),
        (&problem, "import openb nodes.csv pods.csv"),
        (&problem, "schema"),
        (&problem, "simulate s.json --resume run.json --checkpoint-every 1"),
        (&problem, "simulate course.json"),
        (&problem, "simulate rounds.json"),
        (&cluster, "simulate half-life.json --half-life 1h,none"),
        (&cluster, "usage usage.csv --law slurm-ticks --half-life 7d --reported sshare.txt"),
        (&jobs, "simulate s.json"),
        (&jobs, "ratio problem.json -o ratio.json"),
        (&jobs, "ratio problem.json --sweep 0:2:3"),
        (&jobs, "ratio problem.json --worst-load -o worst.json"),
        (&jobs, "ratio problem.json --monotone"),
        (&jobs, "audit mechanism utilitarian --instances 64"),
        (&jobs, "audit matrix --resume matrix.json"),
        (&jobs, "audit preemption --workloads 3"),
        (&jobs, "hunt --types 2 --steps 20 --resume state.json -o found.json"),
        (&programme, "lp solve p.mps -o answer.json --certificate cert.json"),
        (&programme, "lp solve p.mps"),
        (&programme, "lp check p.mps p.sol --exact"),
        (&programme, "check cert.json"),
        (&programme, "bench accuracy --runs 1 --seconds 5 --problem p.mps"),
        (&programme, "bench accuracy --runs 1 --seconds 5 --suite netlib --data . --exact-seconds 1e-9"),
        (&jobs, "reproduce drfh"),
        (&jobs, "reproduce --list"),
        (&problem, "bench accuracy --runs 1 --problem problem.json -o measured"),
        (&jobs, "bench accuracy --runs 1 --problem problem.json"),
        (&jobs, "bench speed --runs 1"),
    ];
    let mut seen = Seen::default();
    calls.iter().for_each(|(folder, call)| seen.prints(folder, call));
    seen.fits(&status.stdout);
    cluster.run(&["verdict", "snap.json", "-o", "v.json"]).ends_with(1);
    cluster.run(&["moves", "snap.json", "-o", "m.json", "--after", "after.json"]).ends_with(0);
    cluster.run(&["moves", "jagged.json", "--for", "training", "-o", "migrations.json"]).ends_with(0);
    seen.fits(&cluster.read("migrations.json"));
    seen.fits(&cluster.read("window.json"));
    let files = [
        (&cluster, ["snap.json", "v.json", "m.json", "after.json"]),
        (&problem, ["c.json", "s.json", "run.json", "a.json"]),
        (&jobs, ["ratio.json", "worst.json", "state.json", "found.json"]),
    ];
    for (folder, names) in files {
        names.into_iter().for_each(|name| seen.fits(&folder.read(name)));
    }
    seen.fits(&programme.read("cert.json"));
    seen.fits(&programme.read("answer.json"));
    let certificate: Value = serde_json::from_str(&programme.read("cert.json")).unwrap();
    seen.fits(&certificate["programme"].to_string());
    seen.fits(&jobs.read("s.json"));
    seen.fits(&jobs.read("matrix.json"));
    seen.fits(&problem.read("grid.json"));
    let known = problem.run(&["schema", "--format", "json"]).ends_with(0).json();
    let known = known["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
    assert_eq!(seen.0, known.collect::<BTreeSet<String>>());
    // Two commands write no document.
    let asked = calls.iter().map(|(_, call)| call.split(' ').next().unwrap());
    let asked: BTreeSet<&str> = asked.chain([watched[0]]).collect();
    let help = problem.run(&["--help"]).ends_with(0).stdout;
    let listed = help
        .split("Commands:")
        .nth(1)
        .unwrap()
        .lines()
        .skip(1)
        .map_while(|line| line.split_whitespace().next());
    let listed: BTreeSet<&str> =
        listed.filter(|name| !["completions", "man", "help"].contains(name)).collect();
    assert_eq!(asked, listed);
}

/// Numbers outside the range of doubles cause an error, and no document contains null instead of such a
/// number.
#[test]
fn numbers_are_never_null() {
    let folder = Folder::new();
    let reservation = RESERVATION.replace(r#""reward": "6""#, r#""reward": 1.8e308"#);
    folder.write("s.json", admission().replace(RESERVATION, &reservation));
    folder
        .run(&["simulate", "s.json", "--format", "json"])
        .fails_with(2, "expected a number of at most 1e100");
    folder.write("s.json", admission().replace(r#""horizon": 5"#, r#""horizon": 1e200"#));
    folder
        .run(&["simulate", "s.json", "--format", "json"])
        .fails_with(2, "horizon: expected a number of at most 1e100");
    folder.write("s.json", with_jobs().replace(r#""horizon": 20"#, r#""horizon": 1e308"#));
    folder
        .run(&["simulate", "s.json", "--format", "json"])
        .fails_with(2, "horizon: expected a number of at most 1e100");
    let course = SCENARIO.replace(r#""server": "best-fit""#, r#""mechanism": "drfh""#);
    folder.write("s.json", course.replace(r#""demand": {"cpu": 1}"#, r#""demand": {"cpu": 1e-350}"#));
    folder
        .run(&["simulate", "s.json", "--format", "json"])
        .fails_with(2, "exceed the range of double precision");
    // A number close to zero cannot be the denominator of a fraction of doubles.
    let small = RESERVATION
        .replace("\"1/2\"", "1e-300")
        .replace("\"2\"", "1e-300")
        .replace("\"reward\": \"6\"", "\"reward\": 1e100");
    folder.write(
        "s.json",
        admission()
            .replace(RESERVATION, &small)
            .replace("\"horizon\"", "\"initial\": {\"small\": 3}, \"horizon\""),
    );
    let output = folder.run(&["simulate", "s.json", "--format", "json"]).ends_with(0);
    Seen::default().fits(&output.stdout);
}

const SCENARIO: &str = r#"{"kind": "scenario", "resources": ["cpu"],
    "servers": [{"name": "pool", "count": 2, "capacity": {"cpu": 9}}], "policy": {"server": "best-fit"},
    "users": [{"name": "u", "demand": {"cpu": 1}}], "horizon": 20, "every": 1}"#;

fn with_jobs() -> String {
    SCENARIO.replace(r#""name": "u""#, r#""name": "u", "jobs": [{"at": 1, "tasks": 3, "duration": 2}]"#)
}

fn admission() -> String {
    format!(
        r#"{{"kind": "reservation-scenario", "reservation": {RESERVATION}, "servers": 20,
            "policy": {{"dra": {{"reserve": 2}}}}, "horizon": 5}}"#
    )
}

const GROUPS: &str = r#"{"kind": "allocation-problem", "resources": ["cpu"],
    "servers": [{"name": "pool", "capacity": {"cpu": 10}}],
    "groups": [{"name": "g", "guarantee": {"cpu": 4}}, {"name": "h", "limit": {"cpu": 3}}],
    "users": [{"name": "u", "group": "g", "demand": {"cpu": 1}}, {"name": "v", "group": "h", "demand": {"cpu": 1}}]}"#;

/// Each gain is exact, a bound on an irrational number, or missing with a reason.
#[test]
fn gains_of_one_more_unit_fit_their_schema() {
    let folder = Folder::with(FIGURE_1);
    let schema = schema("explanation");
    let explained = |solve: &[&str]| -> Value {
        folder.run(&[&["solve", "problem.json", "-o", "a.json", "-m"], solve].concat()).ends_with(0);
        let explain = ["explain", "problem.json", "a.json", "--user", "user 1", "--format", "json"];
        let output = folder.run(&explain).ends_with(0).stdout;
        fits(&schema, &output);
        serde_json::from_str(&output).unwrap()
    };
    let exact = explained(&["drfh"]);
    assert_eq!(exact["one_more_unit"].as_array().unwrap().len(), 4);
    assert_eq!(exact["one_more_unit"][0]["tasks"], "85/89");
    assert_eq!(exact["one_more_unit"][0]["users"]["user 2"], "20/89");
    assert_eq!((&exact["one_more_unit_basis"]["tasks"], &exact["why"]), (&"10".into(), &Value::Null));
    let irrational = explained(&["alpha", "--alpha", "1/2"]);
    let rows = irrational["one_more_unit"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["at_least"].is_string() && row["tasks"].is_null()), "{rows:?}");
    let several = explained(&["utilitarian"]);
    assert_eq!((&several["one_more_unit"], &several["one_more_unit_basis"]), (&Value::Null, &Value::Null));
    assert!(several["why"].as_str().unwrap().contains("several answers"));
}

const RESERVATION: &str = r#"{"kind": "reservation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "pool", "count": 10, "capacity": {"cpu": 80, "memory": "640"}}],
    "jobs": [{"name": "small", "demand": {"cpu": 2, "memory": 32}, "reward": "6", "load": "1/2"},
             {"name": "big", "demand": {"cpu": "30", "memory": 32}, "reward": "9", "load": "2"}]}"#;

#[test]
fn examples_fit_their_schemas() {
    let (problems, reservations) = (schema("allocation-problem"), schema("reservation-problem"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            if !text.contains("\"kind\"") {
                // A user in the format that `what-if --submit` reads.
                let cluster = Folder::with(include_str!("../../../../examples/cluster.json"));
                cluster.write("job.json", &text);
                cluster.run(&["what-if", "problem.json", "--submit", "job.json"]).ends_with(0);
            } else if text.contains("reservation-problem") {
                fits(&reservations, &text);
                Folder::with(&text).run(&["ratio", "problem.json"]).ends_with(0);
            } else if text.contains(r#""kind": "snapshot""#) {
                fits(&schema("snapshot"), &text);
                Folder::with(&text).run(&["moves", "problem.json", "-o", "m.json"]);
            } else if text.contains(r#""kind": "scenario""#) {
                fits(&schema("scenario"), &text);
                Folder::with(&text).run(&["simulate", "problem.json"]).ends_with(0);
            } else if text.contains(r#""kind": "allocation","#) {
                fits(&schema("allocation"), &text);
            } else {
                fits(&problems, &text);
                let mechanism = if text.contains(r#""groups""#) { "tree" } else { "drfh" };
                Folder::with(&text).solve(mechanism, true, "a.json");
            }
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen} examples");
}

#[test]
fn documents_about_groups_fit_their_schemas() {
    let folder = Folder::with(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 10, "gpu": 10}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 4}, "lend": {"gpu": 1}}, {"name": "b", "limit": {"gpu": 3}},
                   {"name": "c", "parent": "b", "weight": 0}],
        "users": [{"name": "u", "group": "a", "demand": {"gpu": 1}}, {"name": "v", "group": "c", "demand": {"gpu": 1}},
                  {"name": "w", "demand": {"cpu": 1}, "tasks": 20}]}"#,
    );
    folder.write(
        "a.json",
        r#"{"kind": "allocation", "tasks": {"u": {"pool": 2}, "v": {"pool": 3}, "w": {"pool": 10}}}"#,
    );
    let (levels, entitlements, group) =
        (schema("levels"), schema("entitlements"), schema("group-explanation"));
    let fits_what = |schema: &jsonschema::Validator, arguments: &[&str]| {
        let output = folder.run(&[arguments, &["--format", "json"]].concat()).ends_with(0);
        fits(schema, &output.stdout);
    };
    for rule in ["hdrf", "kueue", "yunikorn"] {
        fits_what(&levels, &["explain", "problem.json", "a.json", "--levels", "--rule", rule]);
    }
    fits_what(&levels, &["explain", "problem.json", "a.json", "--levels", "--no-nominal-first"]);
    for rule in ["kai", "kai-sole-queue", "volcano", "volcano-capacity"] {
        fits_what(&entitlements, &["solve", "problem.json", "--mechanism", "tree", "--rule", rule]);
        fits_what(&entitlements, &["explain", "problem.json", "a.json", "--levels", "--rule", rule]);
    }
    for name in ["a", "b", "c"] {
        fits_what(&group, &["explain", "problem.json", "a.json", "--group", name]);
    }
    folder.run(&["explain", "problem.json", "a.json", "--group", "d"]).fails(2);
    folder.run(&["explain", "problem.json", "a.json", "--group", "a", "--rule", "kai"]).fails(2);
    folder.run(&["explain", "problem.json", "a.json", "--group", "a", "--user", "u"]).fails(2);
    folder.run(&["solve", "problem.json", "--mechanism", "tree", "--whole"]).fails(2);
}
