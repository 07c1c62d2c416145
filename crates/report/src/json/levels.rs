//! Where groups and users stand, as a document.

use evenhand_mechanisms::tree::{NodeKind, Reported, Standing};
use evenhand_problem::number;
use serde_json::{Value, json};

use super::document;

/// The root, then every group and user in the order in which they would be served.
#[must_use]
pub fn levels(standings: &[Standing]) -> Value {
    document("levels", json!({"nodes": standings.iter().map(node).collect::<Vec<_>>()}))
}

/// Where one of them stands.
pub(super) fn node(standing: &Standing) -> Value {
    let next = standing.next.as_ref().map(|next| {
        json!({
            "rank": next.rank,
            "tied": next.is_tied,
            "below_guarantee": next.is_below_guarantee,
            "level": number::format(&next.level),
            "stopped": next.is_stopped,
        })
    });
    let mut node = json!({
        "name": standing.name,
        "kind": match standing.kind {
            NodeKind::Root => "root",
            NodeKind::Group => "group",
            NodeKind::User => "user",
        },
        "depth": standing.depth,
        "share": number::format(&standing.share),
        "level": number::format(&standing.level),
        "next": next,
    });
    if let Some(reported) = &standing.reported {
        node["reported"] = match reported {
            Reported::Share(share) => json!(number::format(share)),
            Reported::Infinite => json!("infinite"),
        };
    }
    node
}
