//! Writes ratio certificates.

use std::fmt::Display;

use evenhand_problem::Reservation;
use evenhand_problem::format::reservation_to_json;

use super::certificate::{KIND, RatioCertificate, VERSION};
use super::proof::{FirstProof, Multipliers, PricingProof, Tree, TreeNode};
use super::{Assignment, Configuration, Greedy, Optimum, PackingPrices};

/// The size of the largest certificate that a program should write: 64 MiB.
pub const MOST_BYTES: usize = 64 << 20;

impl RatioCertificate {
    /// Returns the certificate as JSON. The same certificate gives the same bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_json_within(usize::MAX).unwrap_or_default()
    }

    /// Returns the certificate as JSON, or `None` if it has more than `most_bytes` bytes. The text that is built never
    /// exceeds this size.
    #[must_use]
    pub fn to_json_within(&self, most_bytes: usize) -> Option<String> {
        let mut writer = Writer::new(&self.problem, most_bytes);
        writer.certificate(self);
        writer.finish()
    }
}

pub(super) struct Writer<'a> {
    problem: &'a Reservation,
    out: String,
    most_bytes: usize,
    /// True if text was dropped because of its size.
    is_cut: bool,
}

impl<'a> Writer<'a> {
    pub fn new(problem: &'a Reservation, most_bytes: usize) -> Self {
        Self { problem, out: String::new(), most_bytes, is_cut: false }
    }

    pub fn finish(self) -> Option<String> {
        (!self.is_cut).then_some(self.out)
    }
}

impl Writer<'_> {
    fn certificate(&mut self, certificate: &RatioCertificate) {
        self.text(&format!("{{\"kind\": \"{KIND}\", \"version\": {VERSION},\n\"problem\": "));
        self.text(reservation_to_json(&certificate.problem).trim_end());
        self.text(",\n\"greedy\": ");
        self.greedy(&certificate.greedy);
        self.text(",\n\"optimum\": ");
        self.optimum(&certificate.optimum);
        self.text(",\n\"ratio\": ");
        self.text(&certificate.ratio.as_ref().map_or_else(|| "null".to_owned(), quoted));
        if let Some(whole) = &certificate.integer {
            self.text(",\n\"integer\": {\"greedy\": ");
            self.greedy(&whole.greedy);
            self.text(",\n\"optimum\": ");
            self.optimum(&whole.optimum);
            self.text("}");
        }
        self.text("\n}\n");
    }

    pub(super) fn text(&mut self, text: &str) {
        self.is_cut |= text.len() > self.most_bytes - self.out.len();
        if !self.is_cut {
            self.out.push_str(text);
        }
    }

    // An index that is out of range gives an empty name. So the writer does not panic, and readers reject the file.
    fn pool(&self, i: usize) -> String {
        self.problem.pools().get(i).map_or_else(String::new, |pool| pool.name().to_owned())
    }

    pub(super) fn job(&self, j: usize) -> String {
        self.problem.jobs().get(j).map_or_else(String::new, |job| job.name().to_owned())
    }

    fn object<T>(
        &mut self,
        entries: impl Iterator<Item = (usize, T)>,
        name_and_value: impl Fn(&Self, usize, T) -> Option<(String, String)>,
    ) {
        let mut separator = "";
        self.text("{");
        for (position, value) in entries {
            if let Some((name, value)) = name_and_value(self, position, value) {
                self.text(&format!("{separator}{}: {value}", json(&name)));
                separator = ", ";
            }
        }
        self.text("}");
    }

    pub(super) fn by_job<T: Display + Default + PartialEq>(&mut self, values: &[T]) {
        self.object(values.iter().enumerate(), |writer, j, value| {
            (*value != T::default()).then(|| (writer.job(j), quoted(value)))
        });
    }

    pub(super) fn configuration(&mut self, k: &Configuration) {
        self.object(k.iter().copied(), |writer, j, k| Some((writer.job(j), quoted(&k))));
    }

    fn placed<T: Display>(&mut self, i: usize, k: &Configuration, servers: &T) {
        let pool = json(&self.pool(i));
        self.text(&format!("{{\"pool\": {pool}, \"configuration\": "));
        self.configuration(k);
        self.text(&format!(", \"servers\": {}", quoted(servers)));
    }

    pub(super) fn greedy<T: Display>(&mut self, greedy: &Greedy<T>) {
        self.text(&format!("{{\"reward\": {}, \"steps\": [", quoted(&greedy.reward)));
        for (position, step) in greedy.steps.iter().enumerate() {
            self.text(if position == 0 { "\n" } else { ",\n" });
            self.placed(step.pool, &step.configuration, &step.servers);
            let exhausted = step.exhausted.map_or_else(|| "null".to_owned(), |j| json(&self.job(j)));
            self.text(&format!(", \"exhausted\": {exhausted}, \"first\": "));
            self.first(&step.first);
            self.text("}");
        }
        self.text("]}");
    }

    fn optimum<T: Display + Default + PartialEq>(&mut self, optimum: &Optimum<T>) {
        self.assignment(&optimum.assignment);
        self.text(&format!(", \"bound\": {}", quoted(&optimum.bound)));
        self.text(",\n\"prices\": ");
        self.prices(&optimum.prices);
        self.text(",\n\"pricing\": {");
        for (i, proof) in optimum.pricing.iter().enumerate() {
            let name = json(&self.pool(i));
            self.text(&format!("{}{name}: ", if i == 0 { "\n" } else { ",\n" }));
            self.pricing(proof);
        }
        self.text("}}");
    }

    pub(super) fn prices(&mut self, prices: &PackingPrices) {
        self.text("{\"load\": ");
        self.by_job(&prices.load);
        self.text(", \"slot\": ");
        self.by_job(&prices.slot);
        self.text(", \"server\": ");
        self.object(prices.server.iter().enumerate(), |writer, i, pi| {
            let is_zero = pi.is_zero();
            (!is_zero).then(|| (writer.pool(i), quoted(pi)))
        });
        self.text("}");
    }

    /// Writes the fields of an assignment. The object stays open.
    pub(super) fn assignment<T: Display + Default + PartialEq>(&mut self, assignment: &Assignment<T>) {
        self.text(&format!("{{\"reward\": {}, \"assignment\": [", quoted(&assignment.reward)));
        for (position, (i, k, servers)) in assignment.servers.iter().enumerate() {
            self.text(if position == 0 { "\n" } else { ",\n" });
            self.placed(*i, k, servers);
            self.text("}");
        }
        self.text("],\n\"served\": ");
        self.by_job(&assignment.served);
    }

    pub(super) fn pricing(&mut self, proof: &PricingProof) {
        match proof {
            PricingProof::Tree { multipliers, nodes } => {
                self.text("{\"method\": \"tree\", ");
                self.tree(multipliers, nodes);
                self.text("}");
            }
            PricingProof::DynamicProgramme { cells } => self.cells(*cells),
            PricingProof::Listed => self.text("{\"method\": \"listed\"}"),
        }
    }

    pub(super) fn first(&mut self, proof: &FirstProof) {
        match proof {
            FirstProof::Tree { value, order } => {
                for (before, tree) in
                    [("{\"method\": \"tree\", \"value\": {", value), ("}, \"order\": {", order)]
                {
                    let Tree { multipliers, nodes } = tree;
                    self.text(before);
                    self.tree(multipliers, nodes);
                }
                self.text("}}");
            }
            FirstProof::DynamicProgramme { cells } => self.cells(*cells),
            FirstProof::Listed => self.text("{\"method\": \"listed\"}"),
            FirstProof::Known => self.text("{\"method\": \"known\"}"),
        }
    }

    fn cells(&mut self, cells: usize) {
        self.text(&format!("{{\"method\": \"dynamic-programme\", \"cells\": {cells}}}"));
    }

    fn tree(&mut self, multipliers: &[Multipliers], nodes: &[TreeNode]) {
        self.text("\"multipliers\": [");
        for (position, by_resource) in multipliers.iter().enumerate() {
            self.text(if position == 0 { "" } else { ", " });
            self.object(by_resource.iter().map(|(r, m)| (*r, m)), |writer, r, m| {
                Some((writer.problem.resources().get(r).cloned().unwrap_or_default(), quoted(m)))
            });
        }
        self.text("], \"nodes\": [");
        for (position, node) in nodes.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            match node {
                TreeNode::Split { job, at } => {
                    self.text(&format!("{separator}[{}, {at}]", json(&self.job(*job))));
                }
                TreeNode::Leaf { multipliers } => self.text(&format!("{separator}{multipliers}")),
            }
        }
        self.text("]");
    }
}

pub(super) fn json(text: &str) -> String {
    // A string always has a JSON form, so the default is never used.
    serde_json::to_string(text).unwrap_or_default()
}

pub(super) fn quoted(value: &(impl Display + ?Sized)) -> String {
    format!("\"{value}\"")
}

#[cfg(test)]
mod tests {
    use evenhand_problem::format::Source;

    use super::*;

    #[test]
    fn too_long_certificates_are_not_written() {
        let text = r#"{"kind": "reservation-problem", "resources": ["a"],
            "servers": [{"name": "p", "capacity": {"a": 1}}], "jobs": [{"name": "j", "demand": {"a": 1}}]}"#;
        let problem = Source { name: "p", text }.reservation().expect("a problem");
        for (most_bytes, expected) in [(5, Some("12345")), (4, None)] {
            let mut writer = Writer::new(&problem, most_bytes);
            ["12", "345"].iter().for_each(|text| writer.text(text));
            assert_eq!(writer.finish().as_deref(), expected);
        }
    }
}
