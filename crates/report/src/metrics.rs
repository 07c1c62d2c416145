//! Metrics in the text format of OpenMetrics, which Prometheus reads: the metrics of a verdict, and the types
//! with which other modules state their metrics.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use evenhand_cluster::{Kind, Row, Verdict};
use evenhand_problem::number::to_f64;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Medium, Rational};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

/// A metric: its name, its help text, and its values by labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The name, without the unit at its end and without `_total`.
    pub name: &'static str,
    /// The help text: a sentence that states the measured quantity and its unit.
    pub help: &'static str,
    /// The unit, which becomes the end of the name. `None` if the unit depends on a label.
    pub unit: Option<&'static str>,
    /// True if the values never decrease while the program runs.
    pub is_counter: bool,
    /// The values, each with the names and values of its labels. The labels of any two values differ.
    pub values: Vec<(Labels, f64)>,
}

/// The names and values of the labels of a value.
pub type Labels = Vec<(&'static str, String)>;

impl Metric {
    /// Returns a gauge without values.
    #[must_use]
    pub fn gauge(name: &'static str, help: &'static str) -> Self {
        Self { name, help, unit: None, is_counter: false, values: Vec::new() }
    }

    /// Returns a counter without values. The suffix `_total` is added to the name.
    #[must_use]
    pub fn counter(name: &'static str, help: &'static str) -> Self {
        Self { is_counter: true, ..Self::gauge(name, help) }
    }

    /// Sets the unit.
    #[must_use]
    pub fn in_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Sets a single value without labels.
    #[must_use]
    pub fn of(self, value: f64) -> Self {
        self.with([(Vec::new(), value)])
    }

    /// Sets the values.
    #[must_use]
    pub fn with(self, values: impl IntoIterator<Item = (Labels, f64)>) -> Self {
        Self { values: values.into_iter().collect(), ..self }
    }
}

/// The metrics of a page in order.
#[derive(Debug)]
struct Metrics(Vec<Arc<Vec<Metric>>>);

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        // A metric without values is not declared, because the snapshot may lack its data.
        for metric in self.0.iter().flat_map(|list| list.iter()).filter(|metric| !metric.values.is_empty()) {
            let unit = metric.unit.map(|unit| Unit::Other(unit.to_owned()));
            let kind = if metric.is_counter { MetricType::Counter } else { MetricType::Gauge };
            let mut described = encoder.encode_descriptor(metric.name, metric.help, unit.as_ref(), kind)?;
            for (labels, value) in &metric.values {
                let shown: Vec<(&str, String)> =
                    labels.iter().map(|(name, value)| (*name, Medium::Text.show(value))).collect();
                let labels = shown.as_slice();
                let labelled = described.encode_family(&labels)?;
                match metric.is_counter {
                    true => ConstCounter::new(*value).encode(labelled)?,
                    false => ConstGauge::new(*value).encode(labelled)?,
                }
            }
        }
        Ok(())
    }
}

/// Returns metrics in the text format of OpenMetrics. The metrics are in the order of the lists, so that the
/// same metrics give the same text.
#[must_use]
pub fn text(lists: Vec<Arc<Vec<Metric>>>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Metrics(lists)));
    let mut text = String::new();
    // Writing to a `String` does not fail, and encoding these metrics does not fail either.
    let _ = encode(&mut text, &registry);
    text
}

/// Returns the metrics of a verdict.
#[must_use]
pub fn of_verdict(snapshot: &Snapshot, verdict: &Verdict) -> Vec<Metric> {
    let problem = &verdict.problem;
    let rows = || verdict.queues.iter().zip(labels(&verdict.queues));
    let of = |queue: &str, r: usize| {
        vec![("queue", queue.to_owned()), ("resource", problem.resources()[r].clone())]
    };
    let all = |of_row: fn(&Row) -> &Vec<Rational>| -> Vec<(Labels, f64)> {
        let each = rows().flat_map(|(row, queue)| {
            let amounts = of_row(row).iter().enumerate();
            amounts.map(|(r, value)| (of(&queue, r), to_f64(value))).collect::<Vec<_>>()
        });
        each.collect()
    };
    let guarantee = rows().flat_map(|(row, queue)| {
        row.guarantee.iter().map(|(r, value)| (of(&queue, *r), to_f64(value))).collect::<Vec<_>>()
    });
    let limit = rows().flat_map(|(row, queue)| {
        let limits = match row.queue.kind {
            Kind::Group(v) => problem.groups().list()[v].limit.as_slice(),
            Kind::User(_) => &[],
        };
        limits.iter().map(|(r, value)| (of(&queue, *r), to_f64(value))).collect::<Vec<_>>()
    });
    let by_queue = |value: &dyn Fn(usize, &Row) -> Option<f64>| -> Vec<(Labels, f64)> {
        let each = rows()
            .enumerate()
            .filter_map(|(v, (row, queue))| value(v, row).map(|value| (vec![("queue", queue)], value)));
        each.collect()
    };
    let could_start = could_start(verdict);
    let left_out = snapshot.not_modelled.iter().fold(BTreeMap::new(), |mut sums, of| {
        *sums.entry(of.what.as_str()).or_insert(0) += of.count;
        sums
    });
    let yes = |holds: bool| f64::from(u8::from(holds));
    vec![
        Metric::gauge(
            "evenhand_queue_held",
            "Usage of the tasks of a queue, in the unit of the resource: cores, bytes or pieces.",
        )
        .with(all(|row| &row.usage)),
        Metric::gauge("evenhand_queue_due", "Fair share of a queue, in the unit of the resource.")
            .with(all(|row| &row.fair_share)),
        Metric::gauge(
            "evenhand_queue_short",
            "Amount that a queue with waiting tasks lacks of its fair share, in the unit of the resource.",
        )
        .with(all(|row| &row.lacking)),
        Metric::gauge(
            "evenhand_queue_above",
            "Amount that a queue uses over its fair share, in the unit of the resource.",
        )
        .with(all(|row| &row.over)),
        Metric::gauge("evenhand_queue_guarantee", "Guarantee of a queue, in the unit of the resource.")
            .with(guarantee),
        Metric::gauge(
            "evenhand_queue_limit",
            "Limit of a queue on all servers together, in the unit of the resource.",
        )
        .with(limit),
        Metric::gauge("evenhand_queue_waiting", "Number of waiting tasks of a queue.")
            .in_unit("tasks")
            .with(by_queue(&|_, row| row.waiting.as_ref().map(to_f64))),
        Metric::gauge(
            "evenhand_queue_could_start",
            "Number of waiting tasks of a queue that could start now, one start of each user.",
        )
        .in_unit("tasks")
        .with(could_start.map_or_else(Vec::new, |counts| by_queue(&|v, _| Some(counts[v] as f64)))),
        Metric::gauge(
            "evenhand_queue_short_by_a_task",
            "Whether a queue is below its fair share by a whole task.",
        )
        .with(by_queue(&|_, row| Some(yes(row.by.is_some())))),
        Metric::gauge("evenhand_work_conserving", "Whether no waiting task could start.")
            .of(yes(verdict.is_work_conserving())),
        Metric::gauge(
            "evenhand_guarantees_met",
            "Whether no guarantee that can be met is missed by a whole task.",
        )
        .of(yes(verdict.unmet.is_empty())),
        Metric::gauge("evenhand_within_limits", "Whether all limits and capacities are kept.")
            .of(yes(verdict.is_within_limits())),
        Metric::gauge(
            "evenhand_decided",
            "Whether it is known of every waiting task whether it could start.",
        )
        .of(yes(verdict.is_known())),
        Metric::gauge("evenhand_fair", "Whether the verdict has the exit status 0.")
            .of(yes(verdict.is_fair())),
        Metric::gauge("evenhand_not_modelled", "Number of things of a kind that the snapshot leaves out.")
            .with(left_out.into_iter().map(|(what, count)| (vec![("what", what.to_owned())], count as f64))),
    ]
}

/// Returns for each queue the number of tasks that could start now, with at most one start of each user. A
/// task counts for its queue and for all queues above it. Returns `None` if the snapshot does not state on
/// which servers tasks run.
fn could_start(verdict: &Verdict) -> Option<Vec<usize>> {
    let groups = verdict.problem.groups();
    let mut counts = vec![0; verdict.queues.len()];
    for (n, places) in verdict.starts.as_ref()?.could.iter().flat_map(|fit| &fit.assignment.parts) {
        let is_of = |row: &Row| match row.queue.kind {
            Kind::User(user) => user == *n,
            Kind::Group(v) => groups.above(groups.member(*n).group).any(|of| of == v),
        };
        for (count, _) in counts.iter_mut().zip(&verdict.queues).filter(|(_, row)| is_of(row)) {
            *count += places.len();
        }
    }
    Some(counts)
}

/// Returns the labels of queues. Labels must be unique, so a user with the name of a group gets a different
/// label.
#[must_use]
pub fn labels(queues: &[Row]) -> Vec<String> {
    let groups: std::collections::HashSet<&str> = queues
        .iter()
        .filter(|row| matches!(row.queue.kind, Kind::Group(_)))
        .map(|row| row.queue.name.as_str())
        .collect();
    let label = |row: &Row| match row.queue.kind {
        Kind::User(_) if groups.contains(row.queue.name.as_str()) => format!("user {}", row.queue.name),
        _ => row.queue.name.clone(),
    };
    queues.iter().map(label).collect()
}
