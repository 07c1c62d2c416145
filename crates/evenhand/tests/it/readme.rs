//! What the documentation has to say.

#[test]
fn the_mechanisms_page_has_a_row_for_every_mechanism() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mechanisms.md"))
        .expect("docs/mechanisms.md");
    for mechanism in evenhand::mechanisms::registry::ALL {
        let row = format!("| `{}`", mechanism.info.id);
        assert!(readme.contains(&row), "no row for {}", mechanism.info.id);
    }
}
