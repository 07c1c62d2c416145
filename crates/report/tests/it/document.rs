//! Tests of the HTML document of a comparison: it is self-contained, names cannot break it, and its links
//! contain the certificates.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use data_encoding::BASE64;
use evenhand_certify::compare::{Comparison, NoResult, compare};
use evenhand_cluster::Verdict;
use evenhand_exact::{Certificate, Outcome};
use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem};
use evenhand_report::{document, holdings, html};
use flate2::read::GzDecoder;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};

fn problem(text: &str) -> Problem {
    Source { name: "p.json", text }.problem().unwrap()
}

fn comparison_page(problem: &Problem, mechanisms: &[&str]) -> String {
    let mechanisms = mechanisms.iter().map(|name| registry::find(name).unwrap()).collect();
    let comparison = Comparison { mechanisms, ..Comparison::default() };
    document(problem, &compare(problem, &comparison), false)
}

/// Returns `true` if all tags are closed in order. Tags that need no closing tag are ignored.
fn is_balanced(html: &str) -> bool {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1).map(|part| part.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') && !["!DOCTYPE", "meta", "br", "img", "input"].contains(&name) {
            open.push(name);
        }
    }
    open.is_empty()
}

/// Checks that the policy contains the hashes of the style sheet, the scripts and the packed checker, and
/// that no element has a style or script attribute.
fn is_styled_by_its_sheet_alone(html: &str) {
    let (_, sheet) = html.split_once("<style>").unwrap();
    let (sheet, rest) = sheet.split_once("</style>").unwrap();
    let text_of = |part: &str| part.split_once("</script>").unwrap().0.to_owned();
    let mut scripts: Vec<String> = rest.split("<script>").skip(1).map(text_of).collect();
    let packed = rest.split_once("id=\"check-program\">").map(|(_, packed)| text_of(packed));
    let workers = if packed.is_some() { " worker-src blob:;" } else { "" };
    scripts.extend(packed.map(|packed| unpacked(&packed)));
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    let allowed: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    assert!(html.contains(&format!(
        "style-src {}; script-src {};{workers} img-src data:;",
        hash(sheet),
        allowed.join(" ")
    )));
    assert!(rest.contains("<svg") && !html.contains(" style=") && !rest.contains("<style"), "{html}");
    let handles = |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_lowercase()).starts_with("=\"");
    assert!(!html.split(" on").skip(1).any(handles), "an element brings a script of its own");
    let elements = rest.matches("<script").count();
    assert!(elements == scripts.len() && !html.contains("unsafe-"), "{html}");
}

fn unpacked(packed: &str) -> String {
    let mut text = String::new();
    GzDecoder::new(&*BASE64.decode(packed.as_bytes()).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// Returns the texts of the certificates on a page in order.
fn certificates(html: &str) -> Vec<String> {
    let links = html.split("href=\"data:application/").skip(1).map(|link| link.split('"').next().unwrap());
    links
        .map(|link| match link.split_once(',').unwrap() {
            ("json", text) => percent_decode_str(text).decode_utf8().unwrap().into_owned(),
            ("gzip;base64", packed) => unpacked(packed),
            (kind, _) => panic!("a link to {kind}"),
        })
        .collect()
}

#[test]
fn the_page_is_self_contained_and_links_its_certificates() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "name": "a & b", "resources": ["cpu", "gpu"],
            "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 4, "gpu": 1}}],
            "users": [{"name": "<script>alert(1)</script>", "demand": {"cpu": 1}},
                      {"name": "\"u\"", "demand": {"cpu": 1, "gpu": 1}}]}"#,
    );
    let html = comparison_page(&problem, &["drfh", "utilitarian", "alpha"]);
    assert!(is_balanced(&html), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains("<title>a &amp; b</title>"));
    // The page loads no data: its only addresses are names of formats.
    let addresses = html.match_indices("://").map(|(at, _)| &html[at - 4..at + 26]);
    assert!(addresses.clone().all(|address| address.starts_with("http://www.w3.org/2000/svg")));
    assert!(html.contains("<strong dir=\"auto\">alpha</strong> does not apply: "), "{html}");
    is_styled_by_its_sheet_alone(&html);
    let texts = certificates(&html);
    assert_eq!(texts.len(), 2);
    for (text, name) in texts.iter().zip(["drfh", "utilitarian"]) {
        let certificate = Certificate::parse(&Source { name: "link", text }).unwrap();
        assert_eq!(certificate.problem, problem);
        assert_eq!(certificate.allocation.mechanism.as_deref(), Some(name));
        assert!(!certificate.claims.is_empty());
    }
}

/// The page contains the axioms of the running tasks and those of the fair shares, each with the claims of
/// its table.
#[test]
fn the_page_of_a_snapshot_has_both_certificates() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cluster.json");
    let text = std::fs::read_to_string(path).unwrap();
    let snapshot = Source { name: path, text: &text }.snapshot().unwrap();
    let verdict = Verdict::new(&snapshot, None, &0.into()).unwrap();
    let html = html::cluster(&snapshot, &verdict, &[]);
    assert!(is_balanced(&html), "{html}");
    is_styled_by_its_sheet_alone(&html);
    let texts = certificates(&html);
    let due = verdict.due.certificate().unwrap();
    assert_eq!(texts.len(), 2);
    for (text, (stated, title)) in texts
        .iter()
        .zip([(&verdict.held.certificate, "Axioms of the running tasks"), (due, "Axioms of the fair shares")])
    {
        assert_eq!(*text, stated.to_json());
        let (_, table) = html.split_once(title).unwrap();
        let (table, _) = table.split_once("</table>").unwrap();
        assert!(stated.claims.iter().all(|claim| table.contains(claim.axiom.name())), "{table}");
    }
}

/// The cells show the outcomes of the certificates, and the sentences name the users that are worse off.
#[test]
fn the_page_starts_with_the_answer_and_its_cells_show_the_claims() {
    let problem = problem(include_str!("../../../../examples/two-servers.json"));
    let names = ["drfh", "per-server-drf", "utilitarian", "njc"];
    let html = comparison_page(&problem, &names);
    let texts = certificates(&html);
    let claims = |outcome: Outcome| -> usize {
        let count = |text: &String| {
            let certificate = Certificate::parse(&Source { name: "link", text }).unwrap();
            certificate.claims.iter().filter(|claim| claim.outcome() == outcome).count()
        };
        texts.iter().map(count).sum()
    };
    assert_eq!(texts.len(), names.len());
    for (class, outcome) in
        [("holds", Outcome::Holds), ("within", Outcome::Within), ("violated", Outcome::Violated)]
    {
        assert_eq!(html.matches(&format!("<td class=\"{class}\">")).count(), claims(outcome), "{class}");
    }
    assert!(claims(Outcome::Holds) > 0 && claims(Outcome::Violated) > 0);
    assert!(
        html.contains("<strong dir=\"auto\">drfh, utilitarian and njc</strong> satisfy the usual axioms"),
        "{html}"
    );
    assert!(
        html.contains("<strong dir=\"auto\">per-server-drf</strong> violates pareto-optimal: "),
        "{html}"
    );
    assert!(html.contains("Every user has the same tasks as under <a href=\"#column-0\""));
    // The title of a rounded number is the exact number.
    assert!(html.contains("title=\"5/3\""), "{html}");
}

/// The page of a thousand users on fifty classes is small enough to be sent, and its long lists are folded.
#[test]
fn pages_of_large_problems_have_bounded_size() {
    let server = |i: u64| {
        format!(
            r#"{{"name": "s{i}", "count": {}, "capacity": {{"cpu": {}, "memory": {}}}}}"#,
            1 + i % 5,
            30 + i % 7,
            64 + i % 11
        )
    };
    let user = |n: u64| {
        format!(
            r#"{{"name": "user {n}", "tasks": {}, "demand": {{"cpu": {}, "memory": {}}}}}"#,
            2 + n % 3,
            1 + n % 4,
            1 + n % 9
        )
    };
    let list = |of: &dyn Fn(u64) -> String, count| (0..count).map(of).collect::<Vec<_>>().join(", ");
    let problem = problem(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"], "servers": [{}], "users": [{}]}}"#,
        list(&server, 50),
        list(&user, 1_000)
    ));
    let html = comparison_page(&problem, &["drfh", "utilitarian", "fill"]);
    assert!(html.len() < 3_000_000, "{}", html.len());
    assert!(is_balanced(&html) && html.contains("<summary>988 more users</summary>"));
    assert_eq!(certificates(&html).len(), 3);
}

/// With twenty users, the users with the largest shares have separate bars, and the heights of all bars add
/// up to the total usage.
#[test]
fn bars_of_many_users_add_up_to_the_usage() {
    let users: Vec<String> = (1..=20)
        .map(|n| format!(r#"{{"name": "u{n}", "weight": {n}, "demand": {{"cpu": 1, "memory": "{n}/20"}}}}"#))
        .collect();
    let problem = problem(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"],
            "servers": [{{"name": "s", "capacity": {{"cpu": 10, "memory": 30}}}}], "users": [{}]}}"#,
        users.join(",")
    ));
    let outcome = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    let bars = holdings(&problem, &outcome.allocation).unwrap();
    assert_eq!(bars.parts, ["u14", "u15", "u16", "u17", "u18", "u19", "u20", "13 others"]);
    // The share of each user in the CPU is its weight divided by 210. The share in the memory follows from
    // it.
    let [cpu, memory] = bars.groups[0].bars.as_slice() else { panic!("{bars:?}") };
    let weights = [14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 91.0];
    for (height, weight) in cpu.heights.iter().zip(weights) {
        assert!((height - weight / 210.0).abs() < 1e-12, "{bars:?}");
    }
    let memory: f64 = memory.heights.iter().sum();
    let all: f64 = (1..=20).map(|n| f64::from(n * n) / 210.0 * 10.0 / 20.0).sum();
    assert!((memory - all / 30.0).abs() < 1e-12, "{bars:?}");
}

#[test]
fn pages_of_empty_problems_are_valid() {
    let nobody = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
            "servers": [{"name": "s", "capacity": {}}], "users": []}"#,
    );
    let html = comparison_page(&nobody, &["drfh"]);
    assert!(is_balanced(&html) && html.contains("<title>Allocations side by side</title>"), "{html}");
}

/// The clock of the process ends a mechanism that reports no work. The next column is still computed.
#[test]
fn columns_end_at_the_limit_of_processor_time() {
    static IS_SPENT: AtomicBool = AtomicBool::new(false);
    let drfh = registry::find("drfh").unwrap();
    let slow = Mechanism {
        solve: |problem, flags| {
            IS_SPENT.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_secs(5));
            (registry::find("drfh").unwrap().solve)(problem, flags)
        },
        ..*drfh
    };
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
            "servers": [{"name": "s", "capacity": {"cpu": 4}}], "users": [{"name": "u", "demand": {"cpu": 1}}]}"#,
    );
    // The first check after the start of the slow mechanism reports that no time is left.
    let left = || Some(Duration::from_secs(if IS_SPENT.swap(false, Ordering::SeqCst) { 0 } else { 10 }));
    let comparison = Comparison {
        mechanisms: vec![Box::leak(Box::new(slow)), drfh],
        processor: Some(left),
        ..Comparison::default()
    };
    let columns = compare(&problem, &comparison);
    let Err(NoResult::TooLarge(why)) = &columns[0].result else { panic!("{:?}", columns[0]) };
    assert!(why.contains("too large") && columns[1].result.is_ok(), "{columns:?}");
}
