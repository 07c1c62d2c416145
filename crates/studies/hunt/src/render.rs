//! Writes the results of the hunt, for people and for programs.

use evenhand_problem::format::reservation_to_json;
use evenhand_problem::{Quantities, Reservation, number};
use evenhand_report::table::{Cell, Column, Table};
use evenhand_report::{Page, text};
use serde_json::{Map, Value, json};

use super::{Certified, Hunt, HuntError, STEPS, WALKS, against_limit};

/// Returns the settings and results of the hunt as a document.
///
/// # Errors
/// [`HuntError`] if an instance is not a valid problem.
pub fn document(
    hunt: &Hunt,
    found: Option<&Certified>,
    shrunk: Option<&Certified>,
    seconds: f64,
) -> Result<Value, HuntError> {
    let list = hunt.best().iter().map(|found| {
        let problem = found.instance.problem(&[])?;
        Ok(json!({
            "ratio": number::format(&found.ratio),
            "decimal": number::to_f64(&found.ratio),
            "problem": problem_value(&problem),
        }))
    });
    Ok(evenhand_report::json::document(
        "hunt",
        json!({
            "searched": searched(hunt),
            "found": found.map(find),
            "shrunk": shrunk.map(find),
            "list": list.collect::<Result<Vec<Value>, HuntError>>()?,
            "below_limit": below_limit(found, shrunk),
            "seconds": seconds,
        }),
    ))
}

fn searched(hunt: &Hunt) -> Value {
    let settings = hunt.settings();
    let counts = hunt.counts();
    let (steps, all) = hunt.steps();
    let mut searched = json!({
        "types": settings.types,
        "resources": settings.resources,
        "capacity": settings.capacity,
        "rewards": settings.rewards,
        "method": if settings.exhaustive { "exhaustive" } else { "local-search" },
        "seed": settings.seed,
        "complete": hunt.is_complete(),
        "steps": steps,
        "steps_in_all": all,
        "examined": counts.examined,
        "discarded_at_once": counts.discarded_at_once,
        "discarded": counts.discarded,
        "evaluated": counts.evaluated,
        "too_large": counts.too_large,
        "by_rationals": counts.by_rationals,
        "programmes": counts.programmes,
    });
    if let Some(all) = hunt.exhaustive() {
        searched["demand_matrices"] = json!(all.matrices);
        searched["demand_matrices_too_large"] = json!(all.too_large);
        searched["classes"] = json!(all.n_classes());
        searched["covered"] = json!(hunt.covered().map(|covered| covered.to_string()));
    }
    searched
}

fn problem_value(problem: &Reservation) -> Value {
    serde_json::from_str(&reservation_to_json(problem)).unwrap_or_default()
}

fn find(certified: &Certified) -> Value {
    let jobs = certified.problem.jobs().iter();
    let loads = jobs.map(|job| (job.name().to_owned(), json!(number::format(job.load()))));
    json!({
        "ratio": number::format(&certified.ratio),
        "decimal": number::to_f64(&certified.ratio),
        "greedy": number::format(&certified.certificate.greedy.reward),
        "optimum": number::format(&certified.certificate.optimum.bound),
        "loads": loads.collect::<Map<_, _>>(),
        "problem": problem_value(&certified.problem),
    })
}

/// Returns a page with the best instance and the progress of the search.
#[must_use]
pub fn page(hunt: &Hunt, found: Option<&Certified>, shrunk: Option<&Certified>) -> Page {
    let mut page = Page::new();
    if let Some(certified) = shrunk {
        page = page.table(types(&certified.problem)).text(format!(
            "greedy {}, optimum {}, ratio {}: no loads of these types have a lower one",
            text::number(&certified.certificate.greedy.reward),
            text::number(&certified.certificate.optimum.bound),
            text::number(&certified.ratio),
        ));
    }
    let mut list = Table::new([Column::words("lowest ratios found"), Column::numbers("decimal")]);
    for found in hunt.best() {
        list.row([
            Cell::text(number::format(&found.ratio)),
            Cell::text(format!("{:.6}", number::to_f64(&found.ratio))),
        ]);
    }
    let verdict = match found {
        None if hunt.best().is_empty() => "no ratio below 1 was found\n",
        None => {
            "the lowest ratio was not computed again and certified: the time was up, or it is too large\n"
        }
        Some(_) if below_limit(found, shrunk) => {
            "the lowest ratio is BELOW 1 - 1/e = 0.632120..., which the paper's example tends to\n"
        }
        Some(_) => "no ratio below 1 - 1/e = 0.632120... was found\n",
    };
    page.table(list).lines((words(hunt) + verdict).lines())
}

/// Returns a table of the server and the job types of a problem: capacity and demands, rewards, worst loads.
fn types(problem: &Reservation) -> Table {
    let resources = problem.resources().iter().map(|name| Column::numbers(name));
    let rest = ["reward", "worst load"].map(Column::numbers);
    let mut table = Table::new([Column::words("type")].into_iter().chain(resources).chain(rest));
    let numbers = |numbers: &Quantities| numbers.iter().map(Cell::number).collect::<Vec<Cell>>();
    table.row([Cell::text("server")].into_iter().chain(numbers(problem.pools()[0].capacity())));
    for job in problem.jobs() {
        let rest = [Cell::number(job.reward()), Cell::number(job.load())];
        table.row([Cell::text(job.name())].into_iter().chain(numbers(job.demand())).chain(rest));
    }
    table
}

/// Returns `true` if the ratio is below `1 - 1/e` for the found instance or for the smaller instance.
/// Shrinking may lower the ratio.
fn below_limit(found: Option<&Certified>, shrunk: Option<&Certified>) -> bool {
    let mut all = found.into_iter().chain(shrunk);
    all.any(|certified| against_limit(&certified.ratio).is_lt())
}

/// Returns a sentence that describes the search.
fn words(hunt: &Hunt) -> String {
    let counts = hunt.counts();
    let (steps, all) = hunt.steps();
    let mut words = match (hunt.exhaustive(), all) {
        (Some(classes), Some(all)) => format!(
            "all demands: {} matrices in {} classes; {steps} of {all} vectors of rewards\n",
            classes.matrices,
            classes.n_classes()
        ),
        _ => format!("local search: {steps} steps of {WALKS} walks, {STEPS} at a time\n"),
    };
    words.push_str(&format!(
        "instances examined {}: discarded at once {}, by linear programmes {}, evaluated {}\n",
        counts.examined, counts.discarded_at_once, counts.discarded, counts.evaluated
    ));
    let matrices = hunt.exhaustive().map_or(0, |all| all.too_large);
    for (count, what) in [(counts.too_large, "instances"), (matrices, "matrices of demands")] {
        if count > 0 {
            words.push_str(&format!("left out, too large to be decided: {count} {what}\n"));
        }
    }
    if let Some(covered) = hunt.covered() {
        words.push_str(&format!("complete: settles {covered} instances of this size\n"));
    }
    words
}
