//! Reader of Prometheus range queries, in which KAI and other schedulers store the usage of queues.

use std::collections::BTreeMap;

use evenhand_budget::charge;
use evenhand_problem::number::parse_quantity;
use evenhand_problem::printable;
use serde::Deserialize;
use serde_json::Number;

use crate::UsageError;
use crate::history::History;
use crate::time::time_of;

/// The steps of the budget that a sample costs.
const SAMPLE: u64 = 100;
/// The labels that can name the queue, in the order in which they are tried.
const QUEUE_LABELS: [&str; 2] = ["queue_name", "queue"];
/// KAI's metrics, each with the resource that it counts.
const METRICS: [(&str, &str); 3] = [
    ("kai_queue_allocated_gpus", "gpu"),
    ("kai_queue_allocated_cpu_cores", "cpu"),
    ("kai_queue_allocated_memory_bytes", "memory"),
];

/// The answer of `/api/v1/query_range`. Other fields are ignored.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result_type: String,
    result: serde_json::Value,
}

#[derive(Deserialize)]
struct Samples {
    metric: BTreeMap<String, String>,
    values: Vec<(Number, String)>,
}

/// Reads the answer of a range query into a history. Each sample is an amount that was used from its time
/// until the next sample of the query, or for one step if the next sample is missing.
pub(crate) fn read(name: &str, text: &[u8], history: &mut History) -> Result<(), UsageError> {
    let error =
        |line: usize, message: String| UsageError::Row { file: name.to_owned(), line: line as u64, message };
    let expected = "expected the answer of a range query of Prometheus (/api/v1/query_range)";
    let answer: Answer =
        serde_json::from_slice(text).map_err(|found| error(found.line(), format!("{found}: {expected}")))?;
    if answer.status == "error" {
        return Err(error(1, format!("Prometheus reports an error: {}", printable(&answer.error))));
    }
    let Some(data) = answer.data else {
        return Err(error(1, format!("found other JSON: {expected}, or a table in CSV")));
    };
    if data.result_type != "matrix" {
        let found = printable(&data.result_type);
        return Err(error(
            1,
            format!("data.resultType: found `{found}`, one moment instead of a range: {expected}"),
        ));
    }
    let series: Vec<Samples> = serde_json::from_value(data.result)
        .map_err(|found| error(1, format!("data.result: {found}: {expected}")))?;
    let mut read: Vec<(&str, &str, Vec<i64>)> = Vec::with_capacity(series.len());
    let mut step = i64::MAX;
    for (at, samples) in series.iter().enumerate() {
        charge(SAMPLE * samples.values.len() as u64, "the processing of the samples of Prometheus");
        let label = |name: &&str| samples.metric.get(*name).filter(|label| !label.is_empty());
        let queue = QUEUE_LABELS.iter().find_map(label).ok_or_else(|| {
            error(
                1,
                format!("data.result[{at}].metric: it has no label `queue_name` or `queue`; query by queue"),
            )
        })?;
        let metric = label(&"resource").or_else(|| label(&"__name__")).ok_or_else(|| {
            let advice = "query the metric itself, such as kai_queue_allocated_gpus, without a function";
            error(1, format!("data.result[{at}].metric: it names no resource and no metric; {advice}"))
        })?;
        let resource = METRICS.iter().find(|(name, _)| name == metric).map_or(metric.as_str(), |of| of.1);
        let time = |(k, (time, _)): (usize, &(Number, String))| {
            let place = format!("data.result[{at}].values[{k}]");
            time_of(time.to_string().as_bytes(), false)
                .ok_or_else(|| error(1, format!("{place}: found the time {time}, expected seconds")))
        };
        let times = samples.values.iter().enumerate().map(time).collect::<Result<Vec<i64>, _>>()?;
        for (k, pair) in times.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                let place = format!("data.result[{at}].values[{}]", k + 1);
                return Err(error(1, format!("{place}: the times of samples must ascend")));
            }
            step = step.min(pair[1] - pair[0]);
        }
        read.push((queue, resource, times));
    }
    if read.iter().all(|(_, _, times)| times.is_empty()) {
        return Err(error(
            1,
            "the answer has no sample: check the metric and the times of the query".to_owned(),
        ));
    }
    if step == i64::MAX {
        return Err(error(1, "no queue has two samples: the step of the query is not known".to_owned()));
    }
    history.is_calendar = true;
    for (samples, (queue, resource, times)) in series.iter().zip(&read) {
        for (k, ((_, text), time)) in samples.values.iter().zip(times).enumerate() {
            let amount = parse_quantity(text).ok().filter(|amount| *amount >= 0).ok_or_else(|| {
                let found = printable(&text.chars().take(60).collect::<String>());
                error(1, format!("{queue}, sample {k}: found `{found}`, expected an amount of at least 0"))
            })?;
            let whole = amount.numer().to_i64().filter(|_| amount.is_integer());
            history.push(queue, resource, (*time, time + step), whole.ok_or(&amount));
        }
    }
    Ok(())
}
