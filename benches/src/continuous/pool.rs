//! Measures proportional fairness on one pool: the engine, conic solvers, and a Newton method that is written
//! by hand.

use std::path::Path;

use serde_json::{Value, json};

use super::kkt::residual;
use super::pools::{Law, PoolFile, WholePool, read_answer};
use super::race::{Contender, Row, best, micro, own, race, ratio};
use crate::growth::{Settings, field, run, with};
use crate::peers::Scripts;
use crate::table::markdown;

/// A size, and the number of runs of each program in a pass.
struct Size {
    users: usize,
    resources: usize,
    ours: usize,
    peers: usize,
}

const SIZES: [Size; 2] = [
    Size { users: 100, resources: 16, ours: 3000, peers: 15 },
    Size { users: 10_000, resources: 16, ours: 100, peers: 2 },
];

#[derive(Clone, Copy)]
enum How {
    /// A program of this repository, and its number of threads.
    Ours(&'static str, usize),
    Peer(&'static str),
}

/// Runs all sizes, and returns their tables as Markdown.
///
/// # Errors
/// If a file cannot be written.
pub fn compare(
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let mut text = String::new();
    for law in [Law::Mixed, Law::Scarce] {
        for size in &SIZES {
            text += &table(law, size, passes, settings, scripts, keep)?;
        }
    }
    Ok(text)
}

fn table(
    law: Law,
    size: &Size,
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let title = format!("pool {} x {}, {}", size.users, size.resources, law.name());
    let file = settings.folder.join(format!("pool-{}-{}x{}.bin", law.name(), size.users, size.resources));
    WholePool::random(law, size.users, size.resources, 1).write(&file)?;
    let contender = |name: &str, how: How, repetitions: usize| {
        let (file, scripts) = (file.clone(), scripts.clone());
        Contender::new(name, &settings.folder, move |answer| {
            let mut command = match how {
                How::Ours(program, threads) => own(&["pool", program], &file, threads),
                How::Peer(solver) => {
                    let mut command = scripts.command("pool.py");
                    command.arg(&file).args(["--solver", solver]);
                    command
                }
            };
            command.arg("--answer").arg(answer).args(["--repetitions", &repetitions.to_string()]);
            command
        })
    };
    let mut contenders = vec![
        contender("evenhand", How::Ours("path-alone", 1), size.ours),
        contender("evenhand with Pool::new", How::Ours("path", 1), size.ours.min(1000)),
        contender("evenhand, 2 threads", How::Ours("path-alone", 2), size.ours),
        contender("numpy newton", How::Peer("newton"), (size.ours / 4).min(200)),
        contender("cvxpy ECOS", How::Peer("cvxpy-ecos"), size.peers),
        contender("cvxpy Clarabel", How::Peer("cvxpy-clarabel"), size.peers),
        contender("Clarabel", How::Peer("clarabel"), size.peers),
        contender("Clarabel 1e-12", How::Peer("clarabel-tight"), size.peers),
    ];
    if size.users < 1000 {
        // With more users, SCS exceeds its time limit of 60 s.
        contenders.push(contender("cvxpy SCS", How::Peer("cvxpy-scs"), size.peers.min(3)));
    }
    let rows = race(&title, &contenders, passes, settings.limit);
    let pool = PoolFile::read(&file)?.pool()?;
    let mut cells = Vec::new();
    for (row, contender) in rows.iter().zip(&contenders) {
        let judged = read_answer(&contender.answer, pool.n_users()).ok().filter(|_| row.line.is_ok());
        let judged = judged.map(|(x, prices)| residual(&pool, &x, &prices));
        if let (Some(line), Some(r)) = (row.kept(&title), judged) {
            let line = with(&line, "primal", json!(r.primal));
            let line = with(&line, "complementarity", json!(r.complementarity));
            keep(with(&line, "stationarity", json!(r.stationarity)));
        }
        cells.push(vec![
            row.name.clone(),
            row.time(),
            row.cpu().map_or("–".to_owned(), micro),
            ratio(row.cpu(), rows[0].cpu()),
            judged.map_or("–".to_owned(), |r| format!("{:.1e}", r.worst())),
            field(&row.line, "steps").map_or("–".to_owned(), |steps| steps.to_string()),
            field(&row.line, "peak_mib").map_or("–".to_owned(), |mib| format!("{mib:.0}")),
        ]);
    }
    let head = ["program", "median", "CPU", "CPU, times the first", "KKT residual", "steps", "MiB"];
    let mut text = format!("### {} users, {} resources, {}\n\n", size.users, size.resources, law.name());
    text += &markdown(&head, &cells, 1);
    text += &format!("\n{}\n", reached(size, &rows));
    if size.users >= 1000 {
        text += &format!("\n{}\n", bandwidth(&file, settings, &rows, keep)?);
    }
    Ok(text + "\n")
}

/// Returns a table of the ratios to other programs: the target of each ratio and the value of this run.
fn reached(size: &Size, rows: &[Row]) -> String {
    let (asked_conic, asked_newton) = if size.users >= 10_000 { (">= 100", ">= 3") } else { (">= 60", "") };
    let row = |what: &str, asked: &str, name: &str| {
        let of = |time: fn(&Row) -> Option<f64>| ratio(best(rows, name, time), time(&rows[0]));
        vec![what.to_owned(), asked.to_owned(), of(Row::cpu), of(Row::median)]
    };
    let cells = vec![
        row("best conic solver through cvxpy / ours", asked_conic, "cvxpy"),
        row("best direct call of Clarabel / ours", "", "Clarabel"),
        row("numpy newton / ours", asked_newton, "numpy"),
    ];
    markdown(&["ratio", "asked for", "CPU", "wall"], &cells, 2)
}

/// Compares the time of the path with the time that reading its numbers equally often takes at the speed of
/// memory.
fn bandwidth(
    file: &Path,
    settings: &Settings,
    rows: &[Row],
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let mut command = own(&["pool", "read"], file, 1);
    command.args(["--repetitions", "200"]);
    let line = run(command, settings.limit);
    if let Ok(line) = &line {
        keep(with(line, "contender", json!("reading the requests")));
    }
    let found = field(&line, "bytes").zip(field(&line, "bytes_per_second"));
    let Some((bytes, speed)) = found else { return Ok(String::new()) };
    // The numbers are read once for the sums of each step, once to pack the users, and once for the answer.
    let passes = field(&rows[0].line, "steps").unwrap_or(0.0) + 3.0;
    let bound = passes * bytes / speed;
    let cpu = rows[0].cpu();
    Ok(format!(
        "The requests are {:.2} MiB, read by one thread at {:.1} GB/s when they are added up; {passes} passes \
         take {} at that speed, and the path takes {} times as much CPU time.",
        bytes / 1048576.0,
        speed / 1e9,
        micro(bound),
        ratio(cpu, Some(bound)),
    ))
}
