//! The oracle for all readers of texts.

use std::time::{Duration, Instant};

use evenhand_exact::{Axiom, Share};
use evenhand_hunt::{Clock, Hunt, State};
use evenhand_mechanisms::registry;
use evenhand_problem::format::{
    AllocationDocument, Document, Source, problem_sha256, problem_to_json, reservation_to_json,
};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, number, printable, schema};
use serde_json::value::RawValue;

use crate::{certificates, said};

/// The largest length of a text that is tried as a name or a number.
const LONGEST_WORD: usize = 1_000;
/// The largest number of errors that are examined in a document. It is bounded, because lines and fields are
/// counted to locate the position of each error.
const MOST_ERRORS: usize = 20;
/// The time limit for reading a saved hunt.
const HUNT: Duration = Duration::from_secs(2);

/// The problem to which the allocations belong.
const PROBLEM: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "high-memory", "count": 3, "capacity": {"cpu": 2, "memory": 12}},
                {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}}],
    "users": [{"name": "user 1", "demand": {"cpu": "1/5", "memory": 1}},
              {"name": "user 2", "demand": {"cpu": 1, "memory": "1/5"}, "tasks": 100, "servers": ["high-cpu"]}]}"#;

/// Passes a text to every reader.
pub fn readers(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { name: "input.json", text };
    let fixed = Source { name: "problem.json", text: PROBLEM }.problem().expect("a problem");
    if text.len() <= LONGEST_WORD {
        number(text);
        names(text, &fixed);
    }
    document(&source);
    problem(&source);
    reservation(&source);
    allocation(&source, &fixed);
    certificates::read(&source);
    hunt_state(text);
}

fn number(text: &str) {
    let stated = number::parse(text);
    match &stated {
        Ok(value) => {
            assert_eq!(number::parse(&number::format_stated(value)).as_ref(), Ok(value), "{text}");
            assert_eq!(number::parse_result(text).as_ref(), Ok(value), "{text}");
            nearest_double(text, value);
        }
        Err(error) => said::one_line(&printable(&error.to_string())),
    }
    if let Ok(value) = number::parse_result(text) {
        assert_eq!(number::parse_result(&number::format(&value)).as_ref(), Ok(&value), "{text}");
    }
    if let Ok(quantity) = number::parse_quantity(text) {
        assert!(stated.is_err() || stated.as_ref() == Ok(&quantity), "two meanings of {text}");
    }
}

/// Checks that a decimal is converted to the same nearest double as by the standard library.
fn nearest_double(text: &str, value: &Rational) {
    let double = number::to_f64(value);
    if !text.contains('/') {
        assert_eq!(text.parse().map(f64::abs), Ok(double.abs()), "{text}");
    }
    if let Some(back) = number::from_f64(double) {
        assert_eq!(number::to_f64(&back).to_bits(), double.to_bits(), "{text}");
    }
}

fn names(text: &str, problem: &Problem) {
    assert_eq!(schema::schema(text).is_some(), schema::NAMES.contains(&text));
    if let Some(mechanism) = registry::find(text) {
        let id = mechanism.info.id;
        assert_eq!(registry::find(id).map(|found| found.info.id), Some(id));
    }
    if let Some(axiom) = Axiom::parse(text) {
        assert_eq!(Axiom::parse(axiom.name()), Some(axiom));
    }
    if let Err(error) = Share::parse(text, problem) {
        said::one_line(&printable(&error.to_string()));
    }
}

/// Reads a document of any kind.
fn document(source: &Source<'_>) {
    match source.document() {
        Ok(document) => walk(&document, document.root(), source, &mut { MOST_ERRORS }),
        Err(error) => said::format_error(&error, source),
    }
}

/// Reads every value of the document as each of its possible types, until a number of errors is reached.
fn walk<'t>(document: &Document<'t>, raw: &'t RawValue, source: &Source<'_>, errors: &mut usize) {
    if *errors == 0 {
        return;
    }
    let found = match raw.get().as_bytes().first() {
        Some(b'{') => document.object(raw).map(|object| {
            object.fields().iter().for_each(|(_, value)| walk(document, value, source, errors));
        }),
        Some(b'[') => document.list(raw).map(|list| {
            list.into_iter().for_each(|value| walk(document, value, source, errors));
        }),
        Some(b'"') => document.string(raw).and_then(|_| document.number(raw)).map(drop),
        Some(b't' | b'f') => document.boolean(raw).map(drop),
        _ => document.result_number(raw).map(drop),
    };
    if let Err(error) = found {
        *errors -= 1;
        said::format_error(&error, source);
    }
}

fn problem(source: &Source<'_>) {
    let problem = match source.problem() {
        Ok(problem) => problem,
        Err(error) => return said::format_error(&error, source),
    };
    problem.warnings().iter().for_each(|warning| said::one_line(&printable(&warning.to_string())));
    same_problem(&problem);
}

/// Checks that a problem does not change when it is written and read again.
pub fn same_problem(problem: &Problem) {
    let text = problem_to_json(problem);
    let read = Source { name: "written", text: &text }.problem();
    let read = read.unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{text}"));
    assert_eq!(problem_to_json(&read), text);
    assert_eq!(problem_sha256(&read), problem_sha256(problem));
    assert!(read == *problem, "another problem is read: {text}");
}

fn reservation(source: &Source<'_>) {
    let problem = match source.reservation() {
        Ok(problem) => problem,
        Err(error) => return said::format_error(&error, source),
    };
    let text = reservation_to_json(&problem);
    let read = Source { name: "written", text: &text }.reservation();
    let read = read.unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{text}"));
    assert_eq!(reservation_to_json(&read), text);
    assert!(read == problem, "another problem is read: {text}");
}

fn allocation(source: &Source<'_>, problem: &Problem) {
    let file = match source.allocation(problem) {
        Ok(file) => file,
        Err(error) => return said::format_error(&error, source),
    };
    let read = same_allocation(problem, &file.allocation);
    // Doubles are written as the nearest decimals. Reading these decimals gives the same doubles.
    assert_eq!(same_allocation(problem, &read), read);
}

/// Checks that an allocation does not change, except for its arithmetic, when it is written and read again.
pub fn same_allocation(problem: &Problem, allocation: &Allocation) -> Allocation {
    let text = AllocationDocument::new(problem, allocation).to_json().expect("JSON");
    let file = Source { name: "written", text: &text }.allocation(problem);
    let file = file.unwrap_or_else(|error| panic!("what was written cannot be read: {error}\n{text}"));
    assert!(file.is_for(problem));
    let read = file.allocation;
    let about = |x: &Allocation| (x.mechanism.clone(), x.alpha.clone(), x.criterion, x.sharing, x.arithmetic);
    assert_eq!(about(&read), about(allocation));
    if allocation.arithmetic == Arithmetic::Exact {
        assert_eq!(non_zero(&read.tasks), non_zero(&allocation.tasks), "{text}");
        assert_eq!(read.placements, allocation.placements);
    }
    read
}

fn non_zero(tasks: &[Vec<(usize, Rational)>]) -> Vec<Vec<(usize, Rational)>> {
    let of = |row: &Vec<(usize, Rational)>| row.iter().filter(|(_, x)| !x.is_zero()).cloned().collect();
    tasks.iter().map(of).collect()
}

fn hunt_state(text: &str) {
    let Ok(state) = serde_json::from_str::<State>(text) else { return };
    let until = Clock::until(Instant::now() + HUNT);
    match Hunt::resume_within(state.clone(), until) {
        Ok(hunt) => assert_eq!(hunt.state(), state),
        Err(error) => said::one_line(&error.to_string()),
    }
}
