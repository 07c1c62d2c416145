//! The settings that reduce fair shares, in text for people.

use evenhand_cluster::Kind;
use evenhand_cluster::settings::{Effect, End, Field, Form, OfQueue, Piece, Setting, Settings};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};

use crate::cluster::{left_out, named_amount};
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{amount, decimal, few};

/// The largest number of names in one sentence.
const NAMED: usize = 6;
/// The largest number of queues that are explained in words.
const EXPLAINED: usize = 12;
/// The largest number of settings of one queue that are explained in words.
const SETTINGS: usize = 4;
/// The largest number of queues with a loss that are named for one setting.
const LOSERS: usize = 4;
/// The largest number of pieces that are named for one setting.
const PIECES: usize = 4;

/// Returns the settings as a page.
#[must_use]
pub fn page(snapshot: &Snapshot, settings: &Settings) -> Page {
    let problem = &snapshot.problem;
    let mut page = Page::new().text(answer(settings));
    if settings.queues.iter().any(|of| !of.effects.is_empty()) {
        page = page.table(table(problem, settings));
    }
    for of in settings.queues.iter().take(EXPLAINED) {
        page = page.lines(in_words(problem, settings, of));
    }
    let mut lines = Vec::new();
    let more = settings.queues.len().saturating_sub(EXPLAINED);
    if more > 0 {
        lines.push(format!("{more} more queues are in the document (`--format json`)."));
    }
    if settings.left_out > 0 {
        lines.push(format!(
            "Not examined: {} more queues with waiting tasks, since this would take too long. `--group NAME` examines one queue.",
            settings.left_out
        ));
    }
    if let Some(effect) = settings.queues.iter().flat_map(|of| &of.effects).next()
        && let Some([_, (until, _)]) = effect.range()
    {
        let path = path(problem, effect.setting);
        lines.push(format!(
            "Next: `evenhand what-if SNAPSHOT --set {path}={until}` judges the whole cluster after such a change."
        ));
    }
    if !settings.queues.is_empty() {
        lines.push(
            "Each line changes one number and no other. Fair shares say what a queue is entitled to, not whether a task starts: servers and other tasks decide that."
                .to_owned(),
        );
    }
    page.lines(lines).lines(left_out(snapshot))
}

/// Returns the answer in a sentence.
#[must_use]
pub fn answer(settings: &Settings) -> String {
    let waiting = settings.queues.len() + settings.left_out;
    if waiting == 0 {
        return "No queue has waiting tasks, so no setting holds a task back.".to_owned();
    }
    let name = |of: &&OfQueue| of.queue.name.clone();
    let bound: Vec<String> =
        settings.queues.iter().filter(|of| !of.effects.is_empty()).map(|of| name(&of)).collect();
    let not: Vec<String> = settings
        .queues
        .iter()
        .filter(|of| of.effects.is_empty() && !of.has_all)
        .map(|of| name(&of))
        .collect();
    let mut text = match bound.len() {
        0 => "No limit, guarantee or weight of its own, raised alone, raises the fair share of a queue with waiting tasks.".to_owned(),
        1 => format!("One queue with waiting tasks has a larger fair share if one of its settings is raised: {}.", bound[0]),
        many => format!("{many} queues with waiting tasks have larger fair shares if one of their settings is raised: {}.", few(&bound, NAMED)),
    };
    if !bound.is_empty() && !not.is_empty() {
        text.push_str(&format!(" No value that was tried raises the fair share of {}.", few(&not, NAMED)));
    }
    if settings.left_out > 0 {
        text.push_str(&format!(" {} more queues are not examined.", settings.left_out));
    }
    text
}

/// Returns the path of a setting in the form of `what-if --set`.
#[must_use]
pub fn path(problem: &Problem, setting: Setting) -> String {
    let name = match setting.of {
        Kind::Group(v) => problem.groups().list()[v].name.as_str(),
        Kind::User(n) => problem.users()[n].name(),
    };
    match setting.field {
        Field::Weight => format!("{name}.weight"),
        Field::Limit(r) => format!("{name}.limit.{}", problem.resources()[r]),
        Field::Guarantee(r) => format!("{name}.guarantee.{}", problem.resources()[r]),
    }
}

/// Returns a value of a setting with its unit.
fn value(problem: &Problem, setting: Setting, value: &Rational) -> String {
    match setting.field {
        Field::Weight => decimal(value),
        Field::Limit(r) | Field::Guarantee(r) => amount(&problem.resources()[r], value),
    }
}

fn table(problem: &Problem, settings: &Settings) -> Table {
    let mut table = Table::new([
        Column::words("queue"),
        Column::words("setting"),
        Column::numbers("now"),
        Column::numbers("until"),
        Column::words("resource"),
        Column::numbers("fair share now"),
        Column::numbers("fair share then"),
    ]);
    for of in settings.queues.iter().take(EXPLAINED) {
        for effect in &of.effects {
            let Some([_, (until, after)]) = effect.range() else { continue };
            let Some(before) = effect.pieces.first().map(|piece| &piece.values[0]) else { continue };
            let resource = &problem.resources()[effect.resource];
            let show = |of: &Rational| Cell::text(value(problem, effect.setting, of));
            table.row([
                Cell::text(&of.queue.name),
                Cell::text(path(problem, effect.setting)),
                effect.now.as_ref().map_or_else(Cell::none, show),
                show(until),
                Cell::text(resource),
                Cell::text(amount(resource, before)),
                Cell::text(amount(resource, after)),
            ]);
        }
    }
    table
}

/// Returns the standing of a queue, and a sentence for each of its settings.
fn in_words(problem: &Problem, settings: &Settings, of: &OfQueue) -> Vec<String> {
    let name = &of.queue.name;
    let amounts: Vec<String> = of
        .amounts
        .iter()
        .map(|(r, usage, share, wanted)| {
            let resource = &problem.resources()[*r];
            let wanted =
                wanted.as_ref().map_or_else(|| "any amount".to_owned(), |wanted| amount(resource, wanted));
            format!(
                "{resource}: uses {}, fair share {}, all tasks {wanted}",
                amount(resource, usage),
                amount(resource, share)
            )
        })
        .collect();
    let mut lines = vec![format!("{name} waits ({}).", amounts.join("; "))];
    if of.has_all {
        lines.push(
            "  Its fair share contains all its tasks, so no setting holds them back. `evenhand verdict SNAPSHOT` says why they wait."
                .to_owned(),
        );
        return lines;
    }
    if of.is_below {
        lines.push(
            "  It is below its fair share by a whole task already: `evenhand moves SNAPSHOT` needs no other setting to start one."
                .to_owned(),
        );
    }
    if of.effects.is_empty() {
        lines.push(format!(
            "  {} of its settings were raised one by one, each to several values. None raises its fair share.",
            of.tried
        ));
    }
    for effect in of.effects.iter().take(SETTINGS) {
        lines.push(format!("  {}", sentence(problem, settings, of, effect)));
    }
    let more = of.effects.len().saturating_sub(SETTINGS);
    if more > 0 {
        lines.push(format!("  {more} more settings are in the table."));
    }
    lines
}

/// Returns the sentences about one setting.
#[must_use]
pub fn sentence(problem: &Problem, settings: &Settings, of: &OfQueue, effect: &Effect) -> String {
    let list = problem.groups().list();
    let resource = &problem.resources()[effect.resource];
    let show = |of: &Rational| value(problem, effect.setting, of);
    let share = |of: &Rational| amount(resource, of);
    let Some([(_, before), (until, after)]) = effect.range() else { return String::new() };
    let what = match effect.setting.field {
        Field::Weight => "weight".to_owned(),
        Field::Limit(r) => format!("limit on {}", problem.resources()[r]),
        Field::Guarantee(r) => format!("guarantee of {}", problem.resources()[r]),
    };
    let owner = match effect.setting.of {
        Kind::Group(v) => &list[v].name,
        Kind::User(n) => problem.users()[n].name(),
    };
    let subject = if owner == of.queue.name {
        "its fair share".to_owned()
    } else {
        format!("the fair share of {}", of.queue.name)
    };
    let rises = format!(
        "{subject} rises from {} to {}",
        share(before),
        named_amount(problem, effect.resource, after)
    );
    let mut text = match (&effect.now, effect.setting.field) {
        (None, Field::Guarantee(r)) => {
            format!("State a guarantee of {} for {owner}: {rises}", named_amount(problem, r, until))
        }
        (now, _) => {
            let now = now.as_ref().map_or_else(|| "none".to_owned(), show);
            format!("Raise the {what} of {owner} from {now} to {}: {rises}", show(until))
        }
    };
    text.push_str(&format!("{}.", by_pieces(effect, &show, &share)));
    match effect.end {
        Some(End::Tasks) => text.push_str(" Then all its tasks are within its fair share."),
        Some(End::Limit(v, r)) => {
            text.push_str(&format!(
                " Then the limit of {} on {} is reached.",
                list[v].name,
                problem.resources()[r]
            ));
        }
        Some(End::Full(r)) => {
            text.push_str(&format!(" Then fair shares contain all {}.", problem.resources()[r]));
        }
        None if *until == effect.tried_to => {
            text.push_str(&format!(" Values above {} were not tried.", show(&effect.tried_to)));
        }
        None => {}
    }
    if !effect.losers.is_empty() {
        let lose: Vec<String> = effect
            .losers
            .iter()
            .map(|(k, r, [before, after])| {
                let resource = &problem.resources()[*r];
                format!(
                    "{} from {} to {}",
                    settings.names[*k],
                    named_amount(problem, *r, before),
                    amount(resource, after)
                )
            })
            .collect();
        text.push_str(&format!(" Fair shares that shrink: {}.", few(&lose, LOSERS)));
    }
    if effect.breaks_promises {
        text.push_str(" Guarantees then exceed the capacity (`evenhand explain --promises`).");
    }
    if !effect.is_certified {
        text.push_str(" Not certified.");
    }
    text
}

/// Returns how the fair share rises with the setting: the slope, the formula, or the pieces.
fn by_pieces(
    effect: &Effect,
    show: &dyn Fn(&Rational) -> String,
    share: &dyn Fn(&Rational) -> String,
) -> String {
    let rising: Vec<&Piece> = effect.pieces.iter().collect();
    let one = |piece: &Piece| match &piece.form {
        Some(Form::Linear { slope, .. }) if slope.is_zero() => {
            format!("unchanged until {}", show(&piece.to))
        }
        Some(Form::Linear { slope, .. }) => {
            format!("by {slope} for each 1 until {}", show(&piece.to))
        }
        Some(Form::Fraction { p, q, s }) => {
            format!("as {} for the value t until {}", fraction(p, q, s), show(&piece.to))
        }
        None => format!(
            "from {} at {} to {} at {} (values in between are not stated)",
            share(&piece.values[0]),
            show(&piece.from),
            share(&piece.values[1]),
            show(&piece.to)
        ),
    };
    match rising.as_slice() {
        [] => String::new(),
        [piece] => match &piece.form {
            Some(Form::Linear { slope, .. }) => format!(", by {slope} for each 1"),
            Some(Form::Fraction { p, q, s }) => format!(", as {} for the value t", fraction(p, q, s)),
            None => " (values in between are not stated)".to_owned(),
        },
        pieces => {
            let mut said: Vec<String> = pieces.iter().take(PIECES).map(|piece| one(piece)).collect();
            if pieces.len() > PIECES {
                said.push(format!("{} more pieces", pieces.len() - PIECES));
            }
            format!(": {}", said.join(", then "))
        }
    }
}

/// Returns the text `(p + q t) / (1 + s t)` with whole numbers.
#[must_use]
pub fn fraction(p: &Rational, q: &Rational, s: &Rational) -> String {
    let mut common = p.denom().clone();
    for of in [q, s] {
        common.lcm_mut(of.denom());
    }
    let whole = |of: &Rational| Rational::from(of * &common);
    let [p, q, one, s] = [whole(p), whole(q), Rational::from(&common), whole(s)];
    let side = |constant: &Rational, factor: &Rational| {
        let sign = if *factor < 0 { '-' } else { '+' };
        let factor = Rational::from(factor.abs_ref());
        let factor = if factor == 1 { "t".to_owned() } else { format!("{factor} t") };
        match (constant.is_zero(), sign) {
            (true, '+') => factor,
            (true, _) => format!("-{factor}"),
            (false, sign) => format!("({constant} {sign} {factor})"),
        }
    };
    format!("{} / {}", side(&p, &q), side(&one, &s))
}
