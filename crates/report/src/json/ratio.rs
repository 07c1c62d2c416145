//! Greedy against optimal, as documents.

use evenhand_certify::ratio::{Monotone, Order, Sweep, lower_bound};
use evenhand_exact::ratio::{Configuration, RatioCertificate, sparse, worst_load};
use evenhand_problem::{Rational, Reservation, number};
use serde_json::{Map, Value, json};

use super::document;

/// Greedy, the optimum and their ratio.
#[must_use]
pub fn ratio(certificate: &RatioCertificate) -> Value {
    let problem = &certificate.problem;
    let text = |value: &Rational| json!(number::format(value));
    let pool = |i: usize| problem.pools()[i].name();
    let greedy = certificate.greedy.steps.iter().map(|step| {
        json!({
            "pool": pool(step.pool),
            "configuration": configuration(problem, &step.configuration),
            "servers": text(&step.servers),
            "exhausted": step.exhausted.map(|j| problem.jobs()[j].name()),
        })
    });
    let assignment = &certificate.optimum.assignment;
    let optimal = assignment.servers.iter().map(
        |(i, k, x)| json!({"pool": pool(*i), "configuration": configuration(problem, k), "servers": text(x)}),
    );
    let mut written = document(
        "ratio",
        json!({
            "greedy": text(&certificate.greedy.reward),
            "optimum": text(&certificate.optimum.bound),
            "ratio": certificate.ratio.as_ref().map(number::format),
            "ratio_bound": text(&lower_bound(certificate)),
            "greedy_configurations": greedy.collect::<Vec<_>>(),
            "optimal_configurations": optimal.collect::<Vec<_>>(),
        }),
    );
    if let Some(whole) = &certificate.integer {
        written["integer"] = json!({
            "greedy": text(&whole.greedy.reward),
            "optimum_lower": text(&whole.optimum.assignment.reward),
            "optimum_upper": text(&whole.optimum.bound),
        });
    }
    written
}

fn configuration(problem: &Reservation, k: &Configuration) -> Value {
    let jobs = k.iter().map(|(j, k)| (problem.jobs()[*j].name().to_owned(), json!(k)));
    Value::Object(jobs.collect::<Map<_, _>>())
}

/// Every point of a sweep, and the critical loads.
#[must_use]
pub fn sweep(found: &Sweep) -> Value {
    let text = |value: &Rational| json!(number::format(value));
    let points = found.points.iter().map(|point| {
        json!({
            "load": text(&point.load),
            "greedy": text(&point.greedy),
            "optimum": text(&point.optimum),
            "ratio": point.ratio.as_ref().map(number::format),
        })
    });
    let critical = [&found.all_served, &found.all_best].map(|load| load.as_ref().map(number::format));
    let fields = json!({"points": points.collect::<Vec<_>>(), "critical_loads": critical});
    document("ratio-sweep", fields)
}

/// The loads at which greedy looks worst.
#[must_use]
pub fn worst_load(certificate: &worst_load::WorstLoadCertificate) -> Value {
    let loads = certificate.problem.jobs().iter().zip(&certificate.loads);
    let loads: Map<String, Value> =
        loads.map(|(job, load)| (job.name().to_owned(), json!(number::format(load)))).collect();
    let fields = json!({
        "ratio_lower": certificate.ratio_lower.as_ref().map(number::format),
        "ratio_upper": certificate.ratio_upper.as_ref().map(number::format),
        "loads": loads,
        "greedy": number::format(&certificate.greedy.reward),
        "optimum": number::format(&certificate.optimum.reward),
    });
    document("worst-load", fields)
}

/// Whether more load may earn greedy less, with the proof.
#[must_use]
pub fn monotone(problem: &Reservation, found: &Monotone) -> Value {
    let fields = match found {
        Monotone::Holds { orders, proof } => {
            let listed: Vec<Value> = proof.iter().map(|one| order(problem, one)).collect();
            let listed = if listed.is_empty() { Value::Null } else { json!(listed) };
            json!({"monotone": true, "orders": orders, "proof": listed, "counterexample": null})
        }
        Monotone::Fails(two) => {
            let [smaller, larger] = [&two.smaller, &two.larger].map(|with| {
                let jobs = with.problem.jobs().iter();
                let loads = jobs.map(|job| (job.name().to_owned(), json!(number::format(job.load()))));
                json!({"loads": loads.collect::<Map<_, _>>(), "greedy": number::format(&with.greedy.reward)})
            });
            let counterexample = json!({"smaller": smaller, "larger": larger});
            json!({"monotone": false, "orders": null, "proof": null, "counterexample": counterexample})
        }
    };
    document("monotone", fields)
}

/// One order in which types run out.
fn order(problem: &Reservation, order: &Order) -> Value {
    let name = |j: &usize| problem.jobs()[*j].name().to_owned();
    let steps = order.steps.iter().map(|step| {
        json!({
            "configuration": configuration(problem, &sparse(&step.configuration)),
            "reward": number::format(&step.reward),
        })
    });
    let earned =
        order.exhausted.iter().map(name).zip(order.derivatives.iter().map(|g| json!(number::format(g))));
    json!({
        "run_out": order.exhausted.iter().map(name).collect::<Vec<_>>(),
        "steps": steps.collect::<Vec<_>>(),
        "one_more_job_earns": earned.collect::<Map<_, _>>(),
    })
}
