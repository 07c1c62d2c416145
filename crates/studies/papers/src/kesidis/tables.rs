//! Kesidis, Tables II to V: progressive filling by several rules.

use evenhand_mechanisms::filling::{Rule, Score, ServerRule, Statistic, Ties, fill, sample};
use evenhand_problem::{Allocation, Problem, Rational, number};

use super::batches::{ALL_TRIALS, Batches, Printed, Quantity, TRIALS, run};
use super::example::example;
use crate::entry::{Entry, agree, list};
use crate::error::PaperError;

/// The seed of all trials.
const SEED: u64 = 2018;

/// A row of the tables whose values are means over random trials, with the printed values.
struct RandomRow {
    id: &'static str,
    score: Score,
    /// The printed means of the four numbers of tasks, and their total (Table II).
    tasks: [&'static str; 5],
    /// The printed deviations of the numbers of tasks (Table III).
    tasks_deviation: [&'static str; 4],
    /// The printed means of the unused amounts (Table IV).
    unused: [&'static str; 4],
    /// The printed deviations of the unused amounts (Table V).
    unused_deviation: [&'static str; 4],
}

const RANDOM: [RandomRow; 3] = [
    RandomRow {
        id: "drf",
        score: Score::Drf,
        tasks: ["6.55", "4.69", "4.69", "6.55", "22.48"],
        tasks_deviation: ["2.31", "0.46", "0.46", "2.31"],
        unused: ["62.56", "0", "0", "62.56"],
        unused_deviation: ["11.09", "0", "0", "11.09"],
    },
    RandomRow {
        id: "tsf",
        score: Score::Tsf,
        tasks: ["6.5", "4.7", "4.7", "6.5", "22.4"],
        tasks_deviation: ["2.29", "0.46", "0.46", "2.29"],
        unused: ["62.8", "0", "0", "62.8"],
        unused_deviation: ["10.99", "0", "0", "10.99"],
    },
    RandomRow {
        id: "rrr-ps-dsf",
        score: Score::PsDsf,
        tasks: ["19.44", "1.15", "1.07", "19.42", "41.08"],
        tasks_deviation: ["0.59", "0.99", "1", "0.49"],
        unused: ["1.8", "4.6", "4.86", "1.92"],
        unused_deviation: ["0.59", "0.99", "1", "0.49"],
    },
];

/// A row of the tables whose values are not random.
struct FixedRow {
    id: &'static str,
    rule: Rule,
    tasks: [&'static str; 4],
    unused: [&'static str; 4],
    note: &'static str,
}

const JOINT: Rule =
    Rule { score: Score::PsDsf, server: ServerRule::Joint, ties: Ties::Low, unfiltered: false };

const FIXED: [FixedRow; 3] = [
    FixedRow {
        id: "bf-drf",
        rule: Rule { score: Score::Drf, server: ServerRule::BestFit, ties: Ties::High, unfiltered: true },
        tasks: ["20", "2", "0", "19"],
        unused: ["0", "10", "1", "3"],
        note: "the server with the smallest H of all servers, even if the task does not fit there, with ties \
               to the highest index; a comparison of only the servers on which the task fits gives 19, 2, 2, \
               19",
    },
    FixedRow {
        id: "ps-dsf",
        rule: JOINT,
        tasks: ["19", "0", "2", "20"],
        unused: ["3", "1", "10", "0"],
        note: "among pairs of a user and a server that fit, the pair with the smallest score, with ties to \
               the lowest user, then to the lowest server",
    },
    FixedRow {
        id: "rps-dsf",
        rule: Rule { score: Score::ResidualPsDsf, ..JOINT },
        tasks: ["19", "2", "2", "19"],
        unused: ["3", "1", "1", "3"],
        note: "as before, with what is left of the servers",
    },
];

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problem = example(["1", "1"])?;
    let mut entries = Vec::new();
    for row in &FIXED {
        entries.extend(fixed(&problem, row)?);
    }
    entries.push(ties(&problem)?);
    for row in &RANDOM {
        let rule = Rule { score: row.score, server: ServerRule::Iid, ..Rule::default() };
        entries.extend(random(row, &run(&problem, rule, SEED)?));
    }
    entries.push(permuted_rounds(&problem)?);
    entries.push(unused_of_printed_means()?);
    entries.push(interval());
    Ok(entries)
}

fn placed(x: &Allocation) -> Vec<Rational> {
    [(0, 0), (0, 1), (1, 0), (1, 1)].iter().map(|&(n, i)| x.on(n, i)).collect()
}

fn fixed(problem: &Problem, row: &FixedRow) -> Result<[Entry; 2], PaperError> {
    let allocation = fill(problem, row.rule, &Rational::from(1), SEED)?;
    let unused: Vec<Rational> = [(0, 0), (0, 1), (1, 0), (1, 1)]
        .iter()
        .map(|&(i, r)| {
            let used: Rational = (0..2).map(|n| allocation.on(n, i) * &problem.demand(n, i)[r]).sum();
            &problem.servers()[i].capacity()[r] - used
        })
        .collect();
    let entry = |table: &str, source, printed: &[&str], ours: &[Rational]| Entry {
        id: format!("kesidis.{table}.{}", row.id),
        source,
        paper: printed.join(", "),
        ours: list(ours),
        agrees: Some(agree(printed, ours)),
        note: row.note.to_owned(),
    };
    Ok([
        entry("table-2", "Kesidis, Table II: x_11, x_12, x_21, x_22", &row.tasks, &placed(&allocation)),
        entry("table-4", "Kesidis, Table IV: left of c_11, c_12, c_21, c_22", &row.unused, &unused),
    ])
}

/// Returns the entry on how much the values of PS-DSF in the tables depend on the breaking of ties.
fn ties(problem: &Problem) -> Result<Entry, PaperError> {
    const RUNS: u64 = 20_000;
    let mut counts = std::collections::BTreeMap::new();
    sample(problem, Rule { ties: Ties::Random, ..JOINT }, &Rational::from(1), SEED, RUNS, |x| {
        *counts.entry([x[0][0], x[0][1], x[1][0], x[1][1]]).or_insert(0_u32) += 1;
    })?;
    let found: Vec<String> = counts
        .iter()
        .map(|(x, count)| format!("{x:?} in {:.1} %", 100.0 * f64::from(*count) / RUNS as f64))
        .collect();
    Ok(Entry {
        id: "kesidis.table-2.ps-dsf.ties".to_owned(),
        source: "Kesidis, Table II, PS-DSF with ties broken at random",
        paper: String::new(),
        ours: found.join("; "),
        agrees: None,
        note: format!("{RUNS} fillings; the printed row is one of these"),
    })
}

fn random(row: &RandomRow, batches: &Batches) -> Vec<Entry> {
    let tasks: Vec<&Quantity> = batches.tasks.iter().chain([&batches.total]).collect();
    let unused: Vec<&Quantity> = batches.unused.iter().collect();
    let mut entries = vec![
        scattered(
            row,
            "table-2",
            "Kesidis, Table II: x_11, x_12, x_21, x_22, total",
            Printed::Mean,
            &row.tasks,
            &tasks,
        ),
        scattered(
            row,
            "table-3",
            "Kesidis, Table III: deviations of the tasks",
            Printed::Deviation,
            &row.tasks_deviation,
            &tasks[..4],
        ),
        scattered(
            row,
            "table-4",
            "Kesidis, Table IV: left of c_11, c_12, c_21, c_22",
            Printed::Mean,
            &row.unused,
            &unused,
        ),
        scattered(
            row,
            "table-5",
            "Kesidis, Table V: deviations of what is left",
            Printed::Deviation,
            &row.unused_deviation,
            &unused,
        ),
    ];
    if row.unused_deviation == row.tasks_deviation
        && let Some(last) = entries.last_mut()
    {
        last.note = format!("the printed row repeats the one of Table III. {}", last.note);
    }
    entries
}

/// Returns the entry that compares printed means or deviations with computed means or deviations.
fn scattered(
    row: &RandomRow,
    table: &str,
    source: &'static str,
    printed: Printed,
    values: &[&str],
    ours: &[&Quantity],
) -> Entry {
    let usual = values.iter().zip(ours).all(|(text, quantity)| {
        let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let unit = 0.1_f64.powi(i32::try_from(digits).unwrap_or(0));
        text.parse().is_ok_and(|value| quantity.is_usual(printed, value, unit))
    });
    let text = |one: &dyn Fn(&Quantity) -> String| ours.iter().map(|q| one(q)).collect::<Vec<_>>().join(", ");
    let of = |statistic: &Statistic| match printed {
        Printed::Mean => format!("{:.3} +- {:.3}", statistic.mean, statistic.half_width()),
        Printed::Deviation => format!("{:.3}", statistic.deviation()),
    };
    let exact = text(&|q| match printed {
        Printed::Mean => format!("{:.3}", q.mean),
        Printed::Deviation => format!("{:.3}", q.deviation),
    });
    let width = if printed == Printed::Mean { " (+- half of the 95 % confidence interval)" } else { "" };
    Entry {
        id: format!("kesidis.{table}.{}", row.id),
        source,
        paper: values.join(", "),
        ours: exact,
        agrees: Some(usual),
        note: format!(
            "Our values are exact, for a server that is drawn for every task. {TRIALS} trials{width}: {}; \
             {ALL_TRIALS}: {}. A printed value agrees if it is in the range of 99 % of the batches of \
             {TRIALS} trials.",
            text(&|q| of(&q.first)),
            text(&|q| of(&q.all))
        ),
    }
}

/// Returns the entry on the rule in the text of the paper: each round takes the servers in random order. The
/// other entries draw a random server for every task.
fn permuted_rounds(problem: &Problem) -> Result<Entry, PaperError> {
    let rule = Rule { server: ServerRule::Rrr, ..Rule::default() };
    let batches = run(problem, rule, SEED)?;
    let printed = RANDOM[0].tasks_deviation[1];
    let other = &batches.tasks[1];
    let usual = printed.parse().is_ok_and(|value| other.is_usual(Printed::Deviation, value, 0.01));
    Ok(Entry {
        id: "kesidis.table-3.drf.permuted-rounds".to_owned(),
        source: "Kesidis, section VI: the order of the servers is permuted at random in each round",
        paper: printed.to_owned(),
        ours: format!("{:.3}", other.deviation),
        agrees: Some(usual),
        note: format!(
            "This is the exact deviation of x_12 under DRF in this reading ({:.2} tasks in total). The \
             printed table follows if a server is drawn for every task.",
            batches.total.mean
        ),
    })
}

/// Returns the entry on Table IV that computes the unused amounts from the printed means of Table II.
fn unused_of_printed_means() -> Result<Entry, PaperError> {
    let row = &RANDOM[2];
    let x: Vec<Rational> = row.tasks[..4].iter().map(|text| number::parse(text)).collect::<Result<_, _>>()?;
    let left = |capacity: u32, own: u32, n_1: &Rational, other: u32, n_2: &Rational| {
        Rational::from(capacity) - Rational::from(n_1 * own) - Rational::from(n_2 * other)
    };
    let ours = [
        left(100, 5, &x[0], 1, &x[2]),
        left(30, 1, &x[0], 5, &x[2]),
        left(30, 5, &x[1], 1, &x[3]),
        left(100, 1, &x[1], 5, &x[3]),
    ];
    Ok(Entry {
        id: "kesidis.table-4.rrr-ps-dsf.from-table-2".to_owned(),
        source: "Kesidis, Table IV against Table II",
        paper: row.unused.join(", "),
        ours: ours.iter().map(|value| format!("{:.2}", number::to_f64(value))).collect::<Vec<_>>().join(", "),
        agrees: Some(agree(&row.unused, &ours)),
        note: "The unused resources are a linear function of the tasks, so the printed means of Table II \
             determine the means of Table IV. The two printed rows come from different trials."
            .to_owned(),
    })
}

/// Returns the entry on the confidence interval that the text gives as an example.
fn interval() -> Entry {
    let tsf = &RANDOM[1];
    let (mean, deviation): (f64, f64) =
        (tsf.tasks[1].parse().unwrap_or(f64::NAN), tsf.tasks_deviation[1].parse().unwrap_or(f64::NAN));
    let half = 2.0 * deviation / (TRIALS as f64).sqrt();
    let ours = format!("({:.2}, {:.2})", mean - half, mean + half);
    let paper = "(6.43, 6.57)";
    Entry {
        id: "kesidis.section-6.interval".to_owned(),
        source: "Kesidis, section VI: 95 % interval of x_12 under TSF",
        paper: paper.to_owned(),
        agrees: Some(ours == paper),
        ours,
        note: "Our interval uses the printed mean 4.7 and deviation 0.46 of x_12. The interval in the text \
             uses the mean 6.5 of x_11 with the deviation of x_12."
            .to_owned(),
    }
}
