//! Writing the claims of certificates, and what is said of them.

use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::names::write::{Json, Names, fields, number, string};

impl Names<'_> {
    /// Axiom with its parameters, verdict and margin.
    fn statement(&self, claim: &Claim) -> Vec<(String, Json)> {
        let mut fields = vec![("axiom".to_owned(), string(claim.axiom.name()))];
        if let Some(share) = claim.share {
            fields.push(("share".to_owned(), Json::Text(share.name(self.problem))));
        }
        if let Some(alpha) = &claim.alpha {
            fields.push(("alpha".to_owned(), number(alpha)));
        }
        fields.push(("holds".to_owned(), claim.holds.map_or(Json::Null, Json::Bool)));
        fields.push(("margin".to_owned(), claim.margin.as_ref().map_or(Json::Null, number)));
        fields
    }

    pub fn verdict(&self, claim: &Claim) -> Json {
        let mut fields = self.statement(claim);
        fields.push(("verdict".to_owned(), string(claim.outcome().name())));
        if let Some(why) = &claim.why {
            fields.push(("why".to_owned(), string(why)));
        }
        Json::Object(fields)
    }

    /// A claim with its evidence. What is no evidence of the axiom is written as an object that nobody reads.
    pub fn claim(&self, claim: &Claim) -> Json {
        let mut all = self.statement(claim);
        let evidence = match &claim.evidence {
            Evidence::None => fields([]),
            evidence => {
                let written = claim.axiom.rule().write(self, evidence);
                written.unwrap_or_else(|| fields([("of another axiom", Json::Bool(true))]))
            }
        };
        all.push(("evidence".to_owned(), evidence));
        if let Some(why) = &claim.why {
            all.push(("why".to_owned(), string(why)));
        }
        Json::Object(all)
    }
}
