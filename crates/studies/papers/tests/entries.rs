//! Tests which published values the engine reproduces, and which it does not.
#![allow(missing_docs)]

use evenhand_papers::{album, entries, exhibits, is_part, starts};

/// Entries that contradict the published value. The note of each entry states the reason.
const DIFFER: [&str; 34] = [
    "drfh.figure-4.alone",
    "drfh.figure-4.two-users",
    "drfh.figure-4.three-users",
    "ps-dsf.figure-3.s-41",
    "ps-dsf.table-4.tsf",
    "ps-dsf.section-5.cpu",
    "ps-dsf.table-1.tsf.sharing-incentive.instance",
    "ps-dsf.table-1.drfh.envy-free.aggregated",
    "ps-dsf.table-1.tsf.sharing-incentive",
    "ps-dsf.table-1.tsf.envy-free.aggregated",
    "ps-dsf.table-1.ps-dsf.envy-free.aggregated",
    "ps-dsf.table-1.ps-dsf-tdm.envy-free.aggregated",
    "ps-dsf.lemma-1",
    "njc.same-dominant-resource.drf",
    "njc.utilisation.four-resources",
    "njc.envy-free",
    "njc.strategy-proof",
    "njc.zero-entitlement",
    "njc.figure-3.region",
    "njc.family.barrier-weights",
    "njc.circle.all",
    "kesidis.definition-1.nothing",
    "kesidis.definition-1.booked",
    "kesidis.proposition-1.unique",
    "kesidis.section-4.steps",
    "kesidis.table-5.rrr-ps-dsf",
    "kesidis.table-3.drf.permuted-rounds",
    "kesidis.table-4.rrr-ps-dsf.from-table-2",
    "kesidis.section-6.interval",
    "reservation.section-7.1.worst-types",
    "simulation.drfh.figure-4.three-users",
    "simulation.reservation.figure-5.50",
    "simulation.reservation.figure-5.150",
    "simulation.reservation.figure-5.300",
];

/// Prefixes of the entries on the sample of the Google trace. These entries are absent if the data is missing.
const OF_SAMPLE: [&str; 7] = [
    "simulation.drfh.table-2",
    "simulation.drfh.figure-5",
    "simulation.drfh.figure-6",
    "simulation.drfh.figure-7",
    "simulation.drfh.figure-8",
    "simulation.reservation.figure-5",
    "simulation.reservation.figure-6",
];

#[test]
fn entries_agree_or_differ_as_documented() {
    // The program searches for the data next to the checkout, which is its working directory.
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../..")).unwrap();
    let has_sample = evenhand_testkit::data::data("google2011").is_some();
    let is_there = |id: &str| has_sample || !OF_SAMPLE.iter().any(|start| id.starts_with(start));
    let mut differ = Vec::new();
    let mut unseen: Vec<&str> = exhibits().iter().flat_map(|exhibit| exhibit.values()).copied().collect();
    for entry in entries(&[]).expect("sections that can be solved") {
        unseen.retain(|value| !is_part(&entry.id, value));
        println!("{}: {} {}", entry.id, entry.ours, entry.note);
        assert!(starts().any(|start| is_part(&entry.id, start)), "{} belongs to no part", entry.id);
        assert!(!entry.ours.contains("REFUSED"), "{}: {}", entry.id, entry.ours);
        assert!(entry.is_checked() || entry.agrees.is_none(), "{} is not checked and agrees", entry.id);
        if entry.agrees == Some(false) {
            assert!(!entry.note.is_empty(), "{} differs without a word", entry.id);
            differ.push(entry.id);
        }
    }
    let expected: Vec<&str> = DIFFER.into_iter().filter(|id| is_there(id)).collect();
    assert_eq!(differ, expected);
    assert!(unseen.is_empty(), "tables and figures name values that nothing gives: {unseen:?}");
}

#[test]
fn no_table_or_figure_is_missing() {
    let missing: Vec<&str> = exhibits()
        .iter()
        .filter(|exhibit| !exhibit.is_drawn() && !exhibit.has_values())
        .map(|exhibit| exhibit.id)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let all = exhibits();
    let illustration = all.iter().find(|exhibit| exhibit.id == "reservation.figure-1").unwrap();
    let picture = illustration.picture().unwrap().unwrap();
    for words in ["rank 1: (", "Accept Group", "Reject Group", "greedy placement"] {
        assert!(picture.contains(words), "{words}");
    }
}

/// Checks that every table and figure has its own name. Also checks that the exhibits of one paper give
/// files, and parts of one page.
#[test]
fn an_album_shows_pictures_next_to_values() {
    let all = exhibits();
    let mut ids: Vec<&str> = all.iter().map(|exhibit| exhibit.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len());
    let of_paper: Vec<_> = all.into_iter().filter(|exhibit| exhibit.id.starts_with("njc")).collect();
    let values = entries(&["njc"]).unwrap();
    let files = album(&of_paper, &values).unwrap();
    let text = |name: &str| &files.iter().find(|file| file.name == name).expect(name).text;
    for exhibit in &of_paper {
        assert!(text(&format!("{}.svg", exhibit.id)).starts_with("<svg"), "{}", exhibit.id);
    }
    // The values of Figure 2 are as printed in the paper. Every format has them.
    for ending in ["md", "csv", "tex"] {
        let table = text(&format!("njc.figure-2.{ending}"));
        assert_eq!(table.matches("(2/5, 2/25)").count(), 4, "{table}");
    }
    assert!(text("njc.figure-2.tex").contains("\\begin{tabular}"));
    assert!(!files.iter().any(|file| file.name == "njc.figure-1.csv"), "no value is printed with it");
    let page = text("index.html");
    assert_eq!(files.last().unwrap().name, "index.html");
    for entry in &values {
        assert_eq!(page.matches(&format!(">{}<br>", entry.id)).count(), 1, "{}", entry.id);
    }
    // The page contains the pictures and loads no other files.
    assert_eq!(page.matches("<svg").count(), of_paper.len());
    assert!(!page.contains("src=") && page.contains("Content-Security-Policy"), "{page}");
}
