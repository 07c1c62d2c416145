//! The settings that reduce fair shares, as a JSON document.

use evenhand_cluster::settings::{End, Field, Form, Settings};
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{document, exact, list};
use crate::settings::{answer, path, sentence};

/// Returns the settings that could raise the fair shares of queues with waiting tasks.
#[must_use]
pub fn settings(snapshot: &Snapshot, settings: &Settings) -> Value {
    let problem = &snapshot.problem;
    let resource = |r: usize| problem.resources()[r].as_str();
    let queues = list(&settings.queues, |of| {
        let effects = list(&of.effects, |effect| {
            let field = match effect.setting.field {
                Field::Weight => "weight",
                Field::Limit(_) => "limit",
                Field::Guarantee(_) => "guarantee",
            };
            let end = effect.end.map(|end| match end {
                End::Tasks => json!({"kind": "tasks", "queue": null, "resource": null}),
                End::Limit(v, r) => {
                    json!({"kind": "limit", "queue": problem.groups().list()[v].name, "resource": resource(r)})
                }
                End::Full(r) => json!({"kind": "full", "queue": null, "resource": resource(r)}),
            });
            json!({
                "path": path(problem, effect.setting),
                "field": field,
                "resource": resource(effect.resource),
                "text": sentence(problem, settings, of, effect),
                "now": effect.now.as_ref().map(exact),
                "until": effect.range().map(|[_, (until, _)]| exact(until)),
                "tried_to": exact(&effect.tried_to),
                "pieces": list(&effect.pieces, |piece| {
                    let (form, numbers) = match &piece.form {
                        Some(Form::Linear { slope, .. }) => (Some("linear"), vec![exact(slope)]),
                        Some(Form::Fraction { p, q, s }) => (Some("fraction"), vec![exact(p), exact(q), exact(s)]),
                        None => (None, Vec::new()),
                    };
                    json!({
                        "from": exact(&piece.from), "to": exact(&piece.to),
                        "fair_share_from": exact(&piece.values[0]), "fair_share_to": exact(&piece.values[1]),
                        "form": form, "numbers": numbers,
                    })
                }),
                "end": end,
                "losers": list(&effect.losers, |(k, r, [before, after])| json!({
                    "queue": settings.names[*k], "resource": resource(*r), "now": exact(before), "then": exact(after),
                })),
                "breaks_promises": effect.breaks_promises,
                "certified": effect.is_certified,
            })
        });
        json!({
            "queue": of.queue.name,
            "amounts": list(&of.amounts, |(r, usage, share, wanted)| json!({
                "resource": resource(*r), "usage": exact(usage), "fair_share": exact(share),
                "wanted": wanted.as_ref().map(exact),
            })),
            "below_fair_share": of.is_below,
            "has_all": of.has_all,
            "tried": of.tried,
            "settings": effects,
        })
    });
    document(
        "settings",
        json!({
            "answer": answer(settings),
            "rule": settings.rule.map(|rule| rule.name()),
            "queues": queues,
            "not_examined": settings.left_out,
        }),
    )
}
