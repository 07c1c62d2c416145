//! Writing the claims of certificates.

use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::names::write::{Json, Names, fields, number, string};

impl Names<'_> {
    /// A claim with its evidence. What is no evidence of the axiom is written as an object that nobody reads.
    pub fn claim(&self, claim: &Claim) -> Json {
        let mut all = vec![("axiom".to_owned(), string(claim.axiom.name()))];
        if let Some(share) = claim.share {
            all.push(("share".to_owned(), Json::Text(share.name(self.problem))));
        }
        if let Some(alpha) = &claim.alpha {
            all.push(("alpha".to_owned(), number(alpha)));
        }
        all.push(("holds".to_owned(), claim.holds.map_or(Json::Null, Json::Bool)));
        all.push(("margin".to_owned(), claim.margin.as_ref().map_or(Json::Null, number)));
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
