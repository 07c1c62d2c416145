//! The document of a comparison: it stands alone, names cannot break it, its links hold the certificates.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use data_encoding::BASE64;
use evenhand_certify::compare::{Comparison, NoResult, compare};
use evenhand_exact::Certificate;
use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem};
use evenhand_report::{document, holdings};
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};

fn problem(text: &str) -> Problem {
    Source { name: "p.json", text }.problem().unwrap()
}

fn of(problem: &Problem, mechanisms: &[&str]) -> String {
    let mechanisms = mechanisms.iter().map(|name| registry::find(name).unwrap()).collect();
    let comparison = Comparison { mechanisms, ..Comparison::default() };
    document(problem, &compare(problem, &comparison), false).unwrap()
}

/// Tags that are opened and closed, in their order; those that stand alone are left out.
fn is_balanced(html: &str) -> bool {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1).map(|part| part.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') && !["!DOCTYPE", "meta", "br", "img"].contains(&name) {
            open.push(name);
        }
    }
    open.is_empty()
}

/// The policy names the hash of the one style sheet, and no element brings a style of its own.
fn is_styled_by_its_sheet_alone(html: &str) {
    let (_, sheet) = html.split_once("<style>").unwrap();
    let (sheet, rest) = sheet.split_once("</style>").unwrap();
    let hash = BASE64.encode(&Sha256::digest(sheet));
    assert!(html.contains(&format!("style-src 'sha256-{hash}'; ")), "the hash of the style sheet is {hash}");
    assert!(rest.contains("<svg") && !html.contains("style=") && !rest.contains("<style"), "{html}");
    assert!(!html.contains("unsafe-inline"));
}

#[test]
fn it_stands_alone_and_its_links_are_the_certificates() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "name": "a & b", "resources": ["cpu", "gpu"],
            "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 4, "gpu": 1}}],
            "users": [{"name": "<script>alert(1)</script>", "demand": {"cpu": 1}},
                      {"name": "\"u\"", "demand": {"cpu": 1, "gpu": 1}}]}"#,
    );
    let html = of(&problem, &["drfh", "utilitarian", "alpha"]);
    assert!(is_balanced(&html), "{html}");
    assert!(!html.contains("<script") && html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains("<title>a &amp; b</title>"));
    // Nothing is fetched: the only addresses are names of formats.
    let addresses = html.match_indices("://").map(|(at, _)| &html[at - 4..at + 26]);
    assert!(addresses.clone().all(|address| address.starts_with("http://www.w3.org/2000/svg")));
    assert!(html.contains("alpha: not applicable"));
    is_styled_by_its_sheet_alone(&html);
    let links: Vec<&str> = html.split("href=\"data:application/json,").skip(1).collect();
    assert_eq!(links.len(), 2);
    for (link, name) in links.iter().zip(["drfh", "utilitarian"]) {
        let text = percent_decode_str(link.split('"').next().unwrap()).decode_utf8().unwrap();
        let certificate = Certificate::parse(&Source { name: "link", text: &text }).unwrap();
        assert_eq!(certificate.problem, problem);
        assert_eq!(certificate.allocation.mechanism.as_deref(), Some(name));
        assert!(!certificate.claims.is_empty());
    }
}

/// Twenty users: the largest holders have parts of their own, and every bar adds up to what is used.
#[test]
fn what_many_users_hold_adds_up() {
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
    // Everybody's share of the CPU is its weight over 210; the memory follows.
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
fn there_may_be_nobody_and_nothing() {
    let nobody = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
            "servers": [{"name": "s", "capacity": {}}], "users": []}"#,
    );
    let html = of(&nobody, &["drfh"]);
    assert!(is_balanced(&html) && html.contains("<title>A fair allocation</title>"), "{html}");
}

/// A mechanism that charges nothing ends by the processor's clock; the column after it has its turn.
#[test]
fn columns_end_by_the_processor_time() {
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
    // The first look after the slow mechanism has begun finds that all time is spent.
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
