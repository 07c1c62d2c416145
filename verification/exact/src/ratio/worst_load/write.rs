//! Writes worst-load certificates.

use evenhand_problem::format::reservation_to_json;

use super::{Covers, KIND, PrefixClaim, VERSION, WorstLoadCertificate};
use crate::ratio::write::{Writer, json, quoted};

impl WorstLoadCertificate {
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
        writer.text(&format!("{{\"kind\": \"{KIND}\", \"version\": {VERSION},\n\"problem\": "));
        writer.text(reservation_to_json(&self.problem).trim_end());
        for (name, ratio) in [("ratio_lower", &self.ratio_lower), ("ratio_upper", &self.ratio_upper)] {
            let ratio = ratio.as_ref().map_or_else(|| "null".to_owned(), quoted);
            writer.text(&format!(",\n\"{name}\": {ratio}"));
        }
        writer.text(",\n\"loads\": ");
        writer.by_job(&self.loads);
        writer.text(",\n\"greedy\": ");
        writer.greedy(&self.greedy);
        writer.text(",\n\"optimum\": ");
        writer.assignment(&self.optimum);
        writer.text("},\n\"firsts\": [");
        for (position, first) in self.firsts.iter().enumerate() {
            writer.text(if position == 0 { "\n" } else { ",\n" });
            writer.text("{\"open\": ");
            writer.jobs(&first.open);
            writer.text(", \"configuration\": ");
            writer.configuration(&first.configuration);
            writer.text(", \"first\": ");
            writer.first(&first.first);
            writer.text("}");
        }
        writer.text("],\n\"claims\": [");
        for (position, claim) in self.claims.iter().enumerate() {
            writer.text(if position == 0 { "\n" } else { ",\n" });
            writer.claim(claim);
        }
        writer.text("]\n}\n");
        writer.finish()
    }
}

impl Writer<'_> {
    fn jobs(&mut self, jobs: &[usize]) {
        let names: Vec<String> = jobs.iter().map(|&j| json(&self.job(j))).collect();
        self.text(&format!("[{}]", names.join(", ")));
    }

    fn claim(&mut self, claim: &PrefixClaim) {
        self.text("{\"order\": ");
        self.jobs(&claim.order);
        let covers = match claim.covers {
            Covers::All => "all",
            Covers::End => "end",
        };
        self.text(&format!(", \"covers\": \"{covers}\", \"prices\": "));
        self.prices(&claim.prices);
        self.text(", \"pricing\": ");
        self.pricing(&claim.pricing);
        self.text("}");
    }
}
