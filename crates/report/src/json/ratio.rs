//! Greedy packing compared with the optimum, as JSON documents.

use evenhand_certify::ratio::{Monotone, Order, Sweep, lower_bound};
use evenhand_exact::ratio::{Configuration, RatioCertificate, sparse, worst_load};
use evenhand_problem::Reservation;
use serde_json::{Value, json};

use super::{by_name, document, exact, list};

/// Returns the rewards of greedy packing and of the optimum, and their ratio.
#[must_use]
pub fn ratio(certificate: &RatioCertificate) -> Value {
    let problem = &certificate.problem;
    let pool = |i: usize| problem.pools()[i].name();
    let greedy = list(&certificate.greedy.steps, |step| {
        json!({
            "pool": pool(step.pool),
            "configuration": configuration(problem, &step.configuration),
            "servers": exact(&step.servers),
            "exhausted": step.exhausted.map(|j| problem.jobs()[j].name()),
        })
    });
    let optimal = list(
        &certificate.optimum.assignment.servers,
        |(i, k, x)| json!({"pool": pool(*i), "configuration": configuration(problem, k), "servers": exact(x)}),
    );
    let mut written = document(
        "ratio",
        json!({
            "greedy": exact(&certificate.greedy.reward),
            "optimum": exact(&certificate.optimum.bound),
            "ratio": certificate.ratio.as_ref().map(exact),
            "ratio_bound": exact(&lower_bound(certificate)),
            "greedy_configurations": greedy,
            "optimal_configurations": optimal,
        }),
    );
    if let Some(whole) = &certificate.integer {
        written["integer"] = json!({
            "greedy": exact(&whole.greedy.reward),
            "optimum_lower": exact(&whole.optimum.assignment.reward),
            "optimum_upper": exact(&whole.optimum.bound),
        });
    }
    written
}

fn configuration(problem: &Reservation, k: &Configuration) -> Value {
    by_name(k.iter().map(|(j, k)| (problem.jobs()[*j].name(), k)))
}

/// Returns every point of a sweep, and the critical loads.
#[must_use]
pub fn sweep(found: &Sweep) -> Value {
    let points = list(&found.points, |point| {
        json!({
            "load": exact(&point.load),
            "greedy": exact(&point.greedy),
            "optimum": exact(&point.optimum),
            "ratio": point.ratio.as_ref().map(exact),
        })
    });
    let critical = [&found.all_served, &found.all_best].map(|load| load.as_ref().map(exact));
    document("ratio-sweep", json!({"points": points, "critical_loads": critical}))
}

/// Returns the loads with the least ratio.
#[must_use]
pub fn worst_load(certificate: &worst_load::WorstLoadCertificate) -> Value {
    let loads = certificate.problem.jobs().iter().zip(&certificate.loads);
    let fields = json!({
        "ratio_lower": certificate.ratio_lower.as_ref().map(exact),
        "ratio_upper": certificate.ratio_upper.as_ref().map(exact),
        "loads": by_name(loads.map(|(job, load)| (job.name(), exact(load)))),
        "greedy": exact(&certificate.greedy.reward),
        "optimum": exact(&certificate.optimum.reward),
    });
    document("worst-load", fields)
}

/// Returns the answer to the question whether a larger load can reduce the reward of greedy packing, with the
/// proof.
#[must_use]
pub fn monotone(problem: &Reservation, found: &Monotone) -> Value {
    let fields = match found {
        Monotone::Holds { orders, proof } => {
            let listed = (!proof.is_empty()).then(|| list(proof, |one| order(problem, one)));
            json!({"monotone": true, "orders": orders, "proof": listed, "counterexample": null})
        }
        Monotone::Fails(two) => {
            let [smaller, larger] = [&two.smaller, &two.larger].map(|with| {
                let loads = with.problem.jobs().iter().map(|job| (job.name(), exact(job.load())));
                json!({"loads": by_name(loads), "greedy": exact(&with.greedy.reward)})
            });
            let counterexample = json!({"smaller": smaller, "larger": larger});
            json!({"monotone": false, "orders": null, "proof": null, "counterexample": counterexample})
        }
    };
    document("monotone", fields)
}

/// Returns an order in which the job types run out.
fn order(problem: &Reservation, order: &Order) -> Value {
    let name = |j: &usize| problem.jobs()[*j].name();
    let steps = list(&order.steps, |step| {
        let configuration = configuration(problem, &sparse(&step.configuration));
        json!({"configuration": configuration, "reward": exact(&step.reward)})
    });
    let earned = order.exhausted.iter().map(name).zip(order.derivatives.iter().map(exact));
    json!({"run_out": list(&order.exhausted, name), "steps": steps, "one_more_job_earns": by_name(earned)})
}
