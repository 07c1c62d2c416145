//! Measures proportional and alpha fairness on a cluster: the engine, and conic solvers through cvxpy. All
//! programs are judged by the exact gaps of their answers.

use std::path::Path;

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Instance, Parameters, axiom::feasible};
use evenhand_problem::format::{Source, read_text};
use evenhand_problem::number::{self, to_f64};
use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use super::race::{Contender, micro, race, ratio};
use crate::growth::{Settings, field, measuring, with, write_problem};
use crate::instances::{Tasks, general};
use crate::measure::Question;
use crate::peers::Scripts;
use crate::table::markdown;

const CLASSES: usize = 27;
const RESOURCES: usize = 3;
const USERS: [usize; 2] = [100, 300];
const ALPHAS: [&str; 3] = ["1", "2", "1/2"];

/// Runs all programs, and returns the tables as Markdown.
///
/// # Errors
/// If a file cannot be written, or an answer is not an allocation.
pub fn compare(
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let mut text = String::new();
    for users in USERS {
        let problem =
            general(CLASSES, RESOURCES, users, 1, Tasks::Finite).map_err(|error| error.to_string())?;
        let file = settings.folder.join(format!("cluster-{users}.json"));
        write_problem(&problem, &file)?;
        text += &format!("### {users} users, {CLASSES} classes, {RESOURCES} resources\n\n");
        let mut cells = Vec::new();
        for alpha in ALPHAS {
            cells.extend(rows(&problem, &file, alpha, passes, settings, scripts, keep)?);
        }
        let head = [
            "alpha",
            "program",
            "median",
            "CPU",
            "CPU, times the first",
            "proven gap",
            "infeasible by",
            "steps",
            "MiB",
        ];
        text += &(markdown(&head, &cells, 2) + "\n");
    }
    Ok(text)
}

fn rows(
    problem: &Problem,
    file: &Path,
    alpha: &'static str,
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<Vec<Vec<String>>, String> {
    let title = format!("cluster, {} users, alpha {alpha}", problem.n_users());
    let one_thread = Settings { threads: Some(1), ..settings.clone() };
    let own_file = file.to_owned();
    let ours = Contender::new("evenhand", &settings.folder, move |answer| {
        let mut command =
            measuring(Question::Allocate, &own_file, &[Path::new("--output"), answer], &one_thread);
        match alpha {
            "1" => command.args(["--mechanism", "proportional"]),
            _ => command.args(["--mechanism", "alpha", "--alpha", alpha]),
        };
        command
    });
    let peer = |name: &str, solver: &'static str| {
        let (file, scripts) = (file.to_owned(), scripts.clone());
        Contender::new(name, &settings.folder, move |answer| {
            let mut command = scripts.command("cluster.py");
            command.arg(&file).args(["--solver", solver, "--alpha", alpha, "--repetitions", "3"]);
            command.arg("--answer").arg(answer);
            command
        })
    };
    let contenders = [ours, peer("cvxpy Clarabel", "CLARABEL"), peer("cvxpy ECOS", "ECOS")];
    let found = race(&title, &contenders, passes, settings.limit);
    let mut cells = Vec::new();
    for (row, contender) in found.iter().zip(&contenders) {
        let judged = if row.line.is_ok() { judge(problem, &contender.answer, alpha)? } else { None };
        if let Some(line) = row.kept(&title) {
            let line = with(&line, "relative_gap", json!(judged.map(|(gap, _)| gap)));
            keep(with(&line, "feasible_margin", json!(judged.map(|(_, margin)| margin))));
        }
        let steps = field(&row.line, "steps").or(field(&row.line, "iterations"));
        cells.push(vec![
            alpha.to_owned(),
            row.name.clone(),
            row.time(),
            row.cpu().map_or("–".to_owned(), micro),
            ratio(row.cpu(), found[0].cpu()),
            judged.map_or("–".to_owned(), |(gap, _)| format!("{gap:.1e}")),
            judged.map_or("–".to_owned(), |(_, margin)| format!("{:.1e}", (-margin).max(0.0))),
            steps.map_or("–".to_owned(), |steps| steps.to_string()),
            field(&row.line, "peak_mib").map_or("–".to_owned(), |mib| format!("{mib:.0}")),
        ]);
    }
    Ok(cells)
}

/// Returns the exact gap of an allocation relative to `sum_n w_n x_n^(1 - alpha)`. It is proven with prices
/// that are computed for the allocation. Also returns the exact feasibility margin. Returns `None` if no gap
/// is proven.
fn judge(problem: &Problem, path: &Path, alpha: &str) -> Result<Option<(f64, f64)>, String> {
    let text = read_text(path).map_err(|error| error.to_string())?;
    let source = Source { name: "answer", text: &text };
    let allocation = source.allocation(problem).map_err(|error| error.to_string())?.allocation;
    let exponent = number::parse(alpha).map_err(|error| error.to_string())?;
    let parameters = Parameters::alpha(exponent);
    let request = Request { axiom: Axiom::Proportional, parameters: parameters.clone() };
    // Rounding may have made the allocation infeasible, so the repaired allocation is judged.
    let tolerance = Rational::from((1, 1_000_000_000));
    let found = certify(problem, &allocation, &[request], &tolerance).map_err(|e| e.to_string())?;
    let margin = found.claim(Axiom::Proportional, &parameters).and_then(|claim| claim.margin.clone());
    let instance = Instance::new(problem, &allocation).map_err(|error| error.to_string())?;
    let feasible = feasible::tightest(&instance).map(|(_, margin)| to_f64(&margin)).unwrap_or_default();
    Ok(margin.map(|margin| (-to_f64(&margin), feasible)))
}
