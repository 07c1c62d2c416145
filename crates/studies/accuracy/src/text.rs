//! Writes the measurements as tables and sentences.

use evenhand_report::Page;
use evenhand_report::table::{Cell, Column, Table};

use crate::case::Kind;
use crate::judge::TOLERANCES;
use crate::profile::RIGHT;
use crate::record::{Record, Status, Unanswered};
use crate::speed::{MedianTime, Timing};

/// The largest number of rows of a table in the text for people.
const LONGEST: usize = 20;

/// Returns the page with the results of every contender, its claims next to the truth, and all records.
#[must_use]
pub fn accuracy(records: &[Record]) -> Page {
    opening(records).append(tables(records))
}

/// Returns the beginning of the page, which describes the measurements.
#[must_use]
pub fn opening(records: &[Record]) -> Page {
    let cases: Vec<(&str, &str)> = of_each(records, |record| (record.kind.name(), record.instance.as_str()));
    let contenders: Vec<&str> = of_each(records, |record| record.contender.as_str());
    Page::new().heading("Solvers against exact answers").text(format!(
        "{} records of {} contenders on {} instances. {} Every number is computed in rationals.",
        records.len(),
        contenders.len(),
        cases.len(),
        meanings(records)
    ))
}

/// Returns the definition of the errors of allocations, of linear programmes, or of both.
fn meanings(records: &[Record]) -> String {
    const ALLOCATIONS: &str = "Errors are relative errors of the levels (tasks by user) if the problem determines \
        them. Violations are fractions of the capacity. A verdict is wrong if an axiom is said to hold within 1e-6 \
        or 1e-9 although the exact answer violates it (too kind), or the reverse (too strict). Whole tasks are \
        compared with a divisible ideal, so they count as neither right nor wrong.";
    const PROGRAMMES: &str = "The error of an answer to a linear programme is the relative error of its objective, or its largest \
        violation of a row or bound if that is larger. A violation is relative to the bound, or to 1 if that is larger. A \
        status is wrong if a programme with an optimum is called infeasible or unbounded, or the reverse.";
    const RELAXED: &str = "Columns that have to be integers are relaxed.";
    let is_programme = |record: &Record| record.kind == Kind::LinearProgramme;
    let relaxed = |record: &Record| record.measures.programme.as_ref().is_some_and(|of| of.relaxed);
    let said = [
        (ALLOCATIONS, records.iter().any(|record| !is_programme(record)) || records.is_empty()),
        (PROGRAMMES, records.iter().any(is_programme)),
        (RELAXED, records.iter().any(relaxed)),
    ];
    said.into_iter().filter(|(_, is_said)| *is_said).map(|(words, _)| words).collect::<Vec<_>>().join(" ")
}

/// Returns the page with the cases that have no exact answer. It is empty if there are no such cases.
#[must_use]
pub fn unanswered(questions: &[Unanswered]) -> Page {
    if questions.is_empty() {
        return Page::new();
    }
    let table = Table::of(questions)
        .words("instance", |of| of.instance.as_str())
        .words("kind", |of| of.kind.name())
        .words("why", |of| of.why.as_str())
        .table();
    Page::new()
        .heading("Without an exact answer")
        .text("No contender was asked these questions, because the exact answer is not known.")
        .table(table)
}

/// Returns the tables of results, and a sheet of all records.
#[must_use]
pub fn tables(records: &[Record]) -> Page {
    let contenders: Vec<&str> = of_each(records, |record| record.contender.as_str());
    let page = Page::new().heading("Contenders").table(by_contender(records, &contenders));
    let programmes: Vec<&Record> =
        records.iter().filter(|record| record.kind == Kind::LinearProgramme).collect();
    let page = match programmes.is_empty() {
        true => page,
        false => page.heading("Errors by linear programme").folded(by_programme(&programmes)),
    };
    page
        .heading("Best of every kind")
        .table(by_kind(records))
        .heading("What they say, and what is true")
        .text(format!(
            "Answers with a wrong status, answers that their contender calls solved although their error is above \
            {RIGHT:e}, and runs without an answer."
        ))
        .folded(table_of_claims(records).at_most(LONGEST, "of these, all of which accuracy.json has"))
        .sheet(all(records))
}

/// Returns sentences that summarise how many answers are correct.
#[must_use]
pub fn short(records: &[Record]) -> Vec<String> {
    let answers: Vec<&Record> = records.iter().filter(|record| record.status == Status::Solved).collect();
    let right = answers.iter().filter(|record| record.distance().is_some_and(|off| off <= RIGHT)).count();
    let is_far =
        |record: &&&Record| record.is_wrong_status() || record.distance().is_some_and(|off| off > RIGHT);
    let far = answers.iter().filter(is_far).count();
    let mut sentences = vec![format!(
        "Of {} runs {} ended with an answer: {right} answers are within {RIGHT:e} of the exact one, {far} are further off, and {} \
         cannot be compared with it.",
        records.len(),
        answers.len(),
        answers.len() - right - far
    )];
    let wrong = records.iter().filter(|record| record.is_wrong_status()).count();
    if wrong > 0 {
        sentences.push(format!(
            "{wrong} of the answers that are further off state a wrong status of a linear programme."
        ));
    }
    let wrong = worst_solved(records);
    if let Some(worst) = wrong.first() {
        sentences.push(format!(
            "{} answers that are further off are called solved by their contender; the worst is that of {} on {}, off by {:.1e}.",
            wrong.len(),
            worst.contender,
            worst.instance,
            worst.distance().unwrap_or(0.0)
        ));
    }
    sentences
}

/// Returns a table of all records, for spreadsheets.
#[must_use]
pub fn all(records: &[Record]) -> Table {
    let short = |value: Option<f64>| value.filter(|value| value.is_finite()).map_or_else(Cell::none, number);
    let is_answer = |record: &Record| record.has_values().then_some(record.measures.violation);
    Table::of(records)
        .words("instance", |record| record.instance.as_str())
        .words("kind", |record| record.kind.name())
        .words("contender", |record| record.contender.as_str())
        .words("status", |record| record.status.name())
        .numbers("error", move |record| short(record.measures.error))
        .numbers("objective error", move |record| short(record.measures.objective_error))
        .numbers("violation", move |record| short(is_answer(record)))
        .words("proven status", |record| {
            record.measures.programme.as_ref().map_or("", |programme| programme.is.name())
        })
        .unless_all("")
        .numbers("wrong verdicts", |record| {
            Cell::from(record.measures.wrong_verdicts().map(|count| Cell::from(count as u64)))
        })
        .numbers("seconds", |record| time(record.cost.seconds))
        .numbers("memory", |record| Cell::from(record.cost.memory.map(Cell::from)))
        .words("says", |record| record.claims.status.clone().unwrap_or_default())
        .words("why", |record| record.why.clone().unwrap_or_default())
        .table()
}

/// Returns a value of each record in the order of the records, without repetitions.
fn of_each<'r, T: PartialEq>(records: &'r [Record], of: impl Fn(&'r Record) -> T) -> Vec<T> {
    let mut seen = Vec::new();
    for record in records {
        let one = of(record);
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

fn by_contender(records: &[Record], contenders: &[&str]) -> Table {
    let own = |name: &str| records.iter().filter(move |record| record.contender == name).collect::<Vec<_>>();
    let rows: Vec<(&str, Vec<&Record>)> = contenders.iter().map(|name| (*name, own(name))).collect();
    let count = |rows: &[&Record], status: Status| {
        rows.iter().filter(|record| record.status == status).count() as u64
    };
    let wrong = |rows: &[&Record], tolerance: u32, kind: bool| {
        let verdicts = rows.iter().filter_map(|record| record.measures.verdicts.as_ref()).flatten();
        let wrong = verdicts.filter(|verdict| verdict.is_wrong() && verdict.tolerance == tolerance);
        wrong.filter(|verdict| verdict.says == Some(kind)).count() as u64
    };
    let mut table = Table::of(rows)
        .words("contender", |(name, _)| *name)
        .numbers("taken", |(_, rows)| Cell::from(rows.len() as u64))
        .numbers("answered", move |(_, rows)| Cell::from(count(rows, Status::Solved)))
        .numbers("timeout", move |(_, rows)| Cell::from(count(rows, Status::Timeout)))
        .unless_all("0")
        .numbers("failed", move |(_, rows)| Cell::from(count(rows, Status::Failed)))
        .unless_all("0")
        .numbers("malformed", move |(_, rows)| Cell::from(count(rows, Status::Malformed)))
        .unless_all("0")
        .numbers("wrong status", |(_, rows)| {
            Cell::from(rows.iter().filter(|record| record.is_wrong_status()).count() as u64)
        })
        .unless_all("0")
        .numbers("right", |(_, rows)| {
            let right = rows.iter().filter(|record| record.distance().is_some_and(|off| off <= RIGHT));
            Cell::from(right.count() as u64)
        })
        .numbers("median error", |(_, rows)| median(rows, |record| record.distance()))
        .numbers("worst error", |(_, rows)| worst(rows, |record| record.distance()))
        .numbers("worst violation", |(_, rows)| {
            worst(rows, |record| record.has_values().then_some(record.measures.violation))
        });
    // The error is that of the worst user. Approximations of max-min fairness are also compared by the least share.
    let is_max_min = |record: &Record| matches!(record.kind, Kind::MaxMinDrfh | Kind::MaxMinTsf);
    if records.iter().any(is_max_min) {
        table = table.numbers("least share off by", move |(_, rows)| {
            median(rows, |record| record.measures.objective_error.filter(|_| is_max_min(record)))
        });
    }
    // Verdicts and certificates are those of allocations.
    let has_allocations = records.iter().any(|record| record.kind != Kind::LinearProgramme);
    for tolerance in TOLERANCES.into_iter().filter(|_| has_allocations) {
        table = table
            .numbers(&format!("too kind 1e-{tolerance}"), move |(_, rows)| {
                Cell::from(wrong(rows, tolerance, true))
            })
            .unless_all("0")
            .numbers(&format!("too strict 1e-{tolerance}"), move |(_, rows)| {
                Cell::from(wrong(rows, tolerance, false))
            });
    }
    if has_allocations {
        table = table.numbers("certified", |(_, rows)| {
            let repairs = rows.iter().filter_map(|record| record.measures.repair.as_ref());
            Cell::from(repairs.filter(|repair| repair.certified.is_some()).count() as u64)
        });
    }
    table
        .numbers("median time", |(_, rows)| {
            let seconds = |record: &&Record| (record.status == Status::Solved).then_some(record.cost.seconds);
            let mut all: Vec<f64> = rows.iter().filter_map(seconds).collect();
            all.sort_by(f64::total_cmp);
            Cell::from(all.get(all.len() / 2).map(|seconds| time(*seconds)))
        })
        .table()
}

fn values(rows: &[&Record], of: impl Fn(&Record) -> Option<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = rows.iter().filter_map(|record| of(record)).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(rows: &[&Record], of: impl Fn(&Record) -> Option<f64>) -> Cell {
    let values = values(rows, of);
    Cell::from(values.get(values.len() / 2).map(|value| number(*value)))
}

fn worst(rows: &[&Record], of: impl Fn(&Record) -> Option<f64>) -> Cell {
    Cell::from(values(rows, of).last().map(|value| number(*value)))
}

/// Returns a table of the errors of contenders at their default settings, with a row for each linear programme.
fn by_programme(records: &[&Record]) -> Table {
    let usual: Vec<&Record> =
        records.iter().copied().filter(|record| record.contender == record.method).collect();
    let mut contenders: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, (usize, usize))> = Vec::new();
    for record in &usual {
        if !contenders.contains(&record.contender.as_str()) {
            contenders.push(&record.contender);
        }
        if rows.last().is_none_or(|(instance, _)| *instance != record.instance) {
            rows.push((&record.instance, record.size));
        }
    }
    let mut table = Table::of(rows)
        .words("instance", |(instance, _)| *instance)
        .numbers("rows", |(_, (rows, _))| Cell::from(*rows as u64))
        .numbers("columns", |(_, (_, columns))| Cell::from(*columns as u64));
    for contender in contenders {
        table = table.numbers(contender, |(instance, _)| {
            let is_it = |record: &&&Record| record.instance == *instance && record.contender == contender;
            usual.iter().find(is_it).map_or_else(Cell::none, |record| error_or_status(record))
        });
    }
    table.table()
}

/// Returns the error of an answer, or the reason why the record has no error.
fn error_or_status(record: &Record) -> Cell {
    let says = record.measures.programme.as_ref().and_then(|programme| programme.says);
    match (record.distance(), says) {
        (Some(off), _) if off > RIGHT => number(off).bad(),
        (Some(off), _) => number(off),
        (None, Some(says)) => Cell::text(format!("says {says}")).bad(),
        (None, None) => Cell::text(record.status.name()).muted(),
    }
}

/// Returns a table with a row for each kind. The row names the contender whose worst error is smallest among the
/// contenders with the most answers. It also names the fastest among the contenders with the most correct answers.
fn by_kind(records: &[Record]) -> Table {
    let mut table = Table::new([
        Column::words("kind"),
        Column::numbers("instances"),
        Column::words("nearest"),
        Column::numbers("answered"),
        Column::numbers("worst error"),
        Column::words("fastest of the right"),
        Column::numbers("median time"),
    ]);
    for kind in of_each(records, |record| record.kind) {
        let of_kind: Vec<Record> = records.iter().filter(|record| record.kind == kind).cloned().collect();
        let instances = of_each(&of_kind, |record| record.instance.as_str()).len() as u64;
        let judged = of_each(&of_kind, |record| record.contender.as_str()).into_iter().map(|name| {
            let own: Vec<&Record> = of_kind.iter().filter(|record| record.contender == name).collect();
            let off = values(&own, |record| record.distance().or(record.measures.error));
            let mut seconds = values(&own, |record| Some(record.cost.seconds));
            let right = off.iter().filter(|off| **off <= RIGHT).count();
            let median = seconds.swap_remove(seconds.len() / 2);
            (name, off.len(), off.last().copied().unwrap_or(f64::INFINITY), right, median)
        });
        let judged: Vec<_> = judged.collect();
        let nearest = judged.iter().min_by(|a, b| b.1.cmp(&a.1).then(a.2.total_cmp(&b.2)));
        let fastest = judged.iter().min_by(|a, b| b.3.cmp(&a.3).then(a.4.total_cmp(&b.4)));
        let (Some(nearest), Some(fastest)) = (nearest, fastest) else { continue };
        table.row([
            Cell::text(kind.name()),
            Cell::from(instances),
            Cell::text(nearest.0),
            Cell::from(nearest.1 as u64),
            if nearest.2.is_finite() { number(nearest.2) } else { Cell::none() },
            Cell::text(fastest.0),
            time(fastest.4),
        ]);
    }
    table
}

/// Returns the answers that contenders call solved but that are wrong, the worst one first.
fn worst_solved(records: &[Record]) -> Vec<&Record> {
    let says_solved = |record: &&Record| {
        let status = record.claims.status.as_deref().unwrap_or("").to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| status.contains(word));
        has(&["solved", "optimal"]) && !has(&["almost", "inaccurate", "not "])
    };
    let far = |record: &&Record| record.distance().is_some_and(|off| off > RIGHT);
    let mut rows: Vec<&Record> = records.iter().filter(says_solved).filter(far).collect();
    rows.sort_by(|a, b| b.distance().unwrap_or(0.0).total_cmp(&a.distance().unwrap_or(0.0)));
    rows
}

/// Returns a table of [`worst_solved`] and of the runs without an answer.
fn table_of_claims(records: &[Record]) -> Table {
    let mut rows: Vec<&Record> = records.iter().filter(|record| record.is_wrong_status()).collect();
    rows.extend(worst_solved(records));
    rows.extend(records.iter().filter(|record| record.status != Status::Solved));
    Table::of(rows)
        .words("instance", |record| record.instance.as_str())
        .words("kind", |record| record.kind.name())
        .words("contender", |record| record.contender.as_str())
        .words("says", |record| {
            record.claims.status.clone().or_else(|| record.why.clone()).unwrap_or_default()
        })
        .words("is", |record| match record.status {
            Status::Solved if record.is_wrong_status() => {
                let is = record.measures.programme.as_ref().map_or("", |programme| programme.is.name());
                Cell::text(is).bad()
            }
            Status::Solved => Cell::text("off by"),
            status => Cell::text(status.name()).bad(),
        })
        .numbers("error", |record| Cell::from(record.distance().map(number)))
        .table()
}

fn number(value: f64) -> Cell {
    let shown = if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") };
    Cell::text(shown).with_value(value.to_string())
}

/// Returns a time as a cell. People see the time with a unit, and programs read seconds.
fn time(seconds: f64) -> Cell {
    let shown = match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    };
    Cell::text(shown).with_value(seconds.to_string())
}

/// Returns a page with all measured times.
#[must_use]
pub fn speed(lines: &[Timing]) -> Page {
    let numbers = ["users", "classes", "resources", "floating point", "exact", "exact/float"];
    let columns = [Column::words("")].into_iter().chain(numbers.map(Column::numbers));
    let mut table = Table::new(columns.chain([Column::words("")]));
    let show = |at: Option<MedianTime>| at.map_or_else(Cell::none, |at| time(at.seconds));
    for line in lines {
        table.row([
            Cell::text(line.name),
            Cell::text(line.users.to_string()),
            Cell::text(line.classes.to_string()),
            Cell::text(line.resources.to_string()),
            show(line.float),
            show(line.exact),
            line.ratio().map_or_else(Cell::none, |ratio| Cell::text(format!("{ratio:.2}"))),
            Cell::text(line.why.as_deref().unwrap_or_default()),
        ]);
    }
    Page::new().table(table).text(format!(
        "Medians on {} threads, warmed up; alpha with the exponent 2. Rivals on the same problems, growth and \
         memory: the package evenhand-benches (benches/README.md).",
        rayon::current_num_threads()
    ))
}
