//! Where groups and users stand, as a document.

use evenhand_mechanisms::tree::{Reported, Standing};
use evenhand_problem::number;
use serde_json::{Value, json};

use super::document;

/// Every group and user in the order in which they would be served.
#[must_use]
pub fn levels(standings: &[Standing]) -> Value {
    let node = |standing: &Standing| {
        let next = standing.next.as_ref().map(|next| {
            json!({
                "rank": next.rank,
                "tied": next.is_tied,
                "below_guarantee": next.is_below_guarantee,
                "level": number::format(&next.level),
                "stopped": next.is_stopped,
            })
        });
        let reported = standing.reported.as_ref().map(|reported| match reported {
            Reported::Share(share) => number::format(share),
            Reported::Infinite => "infinite".to_owned(),
        });
        let mut node = json!({
            "name": standing.name,
            "kind": if standing.is_user { "user" } else { "group" },
            "depth": standing.depth,
            "share": number::format(&standing.share),
            "level": number::format(&standing.level),
            "next": next,
        });
        if let Some(reported) = reported {
            node["reported"] = json!(reported);
        }
        node
    };
    document("levels", json!({"nodes": standings.iter().map(node).collect::<Vec<_>>()}))
}
