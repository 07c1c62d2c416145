//! Where groups and users stand, as a document.

use evenhand_mechanisms::tree::{NodeKind, Reported, Standing};
use serde_json::{Value, json};

use super::{document, exact, list};

/// The root, then every group and user in the order in which they would be served.
#[must_use]
pub fn levels(standings: &[Standing]) -> Value {
    document("levels", json!({"nodes": list(standings, node)}))
}

/// Where one of them stands.
pub(super) fn node(standing: &Standing) -> Value {
    let next = standing.next.as_ref().map(|next| {
        json!({
            "rank": next.rank,
            "tied": next.is_tied,
            "below_guarantee": next.is_below_guarantee,
            "level": exact(&next.level),
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
        "share": exact(&standing.share),
        "level": exact(&standing.level),
        "next": next,
    });
    if let Some(reported) = &standing.reported {
        node["reported"] = match reported {
            Reported::Share(share) => json!(exact(share)),
            Reported::Infinite => json!("infinite"),
        };
    }
    node
}
