//! Tests of random command lines, from a grammar and from the corpus of the fuzz target. Every command line
//! ends in an allowed way.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::Path;

use evenhand_oracles::command_line;
use evenhand_oracles::grammar::{COMMANDS, GLOBAL, random_command};

use crate::common::Folder;

/// The number of command lines that are tested.
const TRIED: u32 = 60;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_evenhand"))
}

#[test]
fn corpus_command_lines_end_without_a_crash() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arguments");
    let (mut tried, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if catch_unwind(|| command_line(&bytes, program())).is_err() {
            wrong.push(path);
        }
        tried += 1;
    }
    assert!(tried > 10 && wrong.is_empty(), "{wrong:?} of {tried}");
}

#[test]
fn grammar_command_lines_end_without_a_crash() {
    for seed in 0..TRIED {
        command_line(random_command(seed).join("\n").as_bytes(), program());
    }
}

/// The grammar contains exactly the options of every command.
#[test]
fn the_grammar_has_every_option() {
    let folder = Folder::new();
    for command in COMMANDS {
        let words: Vec<&str> = command.name.split(' ').chain(["--help"]).collect();
        let help = folder.run(&words).ends_with(0).stdout;
        let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
        let shown: BTreeSet<&str> =
            lines.flat_map(|line| line.split([' ', ','])).filter(|word| word.starts_with("--")).collect();
        let own = command.all_options();
        let own = own.iter().map(|(name, _)| name.as_str());
        let known: BTreeSet<&str> = own.chain(GLOBAL.iter().map(|(name, _)| *name)).collect();
        let known_without: Vec<&&str> = known.difference(&shown).collect();
        let shown_without: Vec<&&str> = shown.difference(&known).collect();
        assert!(
            known_without.is_empty() && shown_without.is_empty(),
            "{}: fuzz/oracles/src/grammar/commands.rs has {known_without:?} too many, and lacks {shown_without:?}",
            command.name
        );
    }
}
