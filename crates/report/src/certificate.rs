//! The verdicts of an examination as a page.

use evenhand_certify::explain::{OptimumBounds, optimum_bounds};
use evenhand_certify::{Examination, Undecided};
use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_exact::axiom::max_min::Level;
use evenhand_exact::axiom::ps_dsf::Unblocked;
use evenhand_exact::axiom::work_conserving::Room;
use evenhand_exact::{
    Axiom, Certificate, Claim, Evidence, Outcome, Packing, Party, Share, Short, Stop, Tasks,
};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Constraints, Integer, Problem, Rational, Sharing};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{decimal, more_tasks, number, row_name, row_names, tasks};

/// Returns the problem of a certificate, its claims with their margins, and the evidence in a few words.
#[must_use]
pub fn claims(certificate: &Certificate) -> Page {
    page(certificate, &[], &[], None, &[], &[])
}

/// Returns the page of [`claims`], with margins in tasks, the size of the repair, and the axioms that could
/// not be decided.
#[must_use]
pub fn examination(found: &Examination) -> Page {
    let Examination { certificate, in_tasks, least_tolerances, repair, undecided, .. } = found;
    let rooms: Vec<Option<Vec<OptimumBounds>>> =
        certificate.claims.iter().map(|claim| optimum_bounds(certificate, claim)).collect();
    let page = page(certificate, in_tasks, least_tolerances, Some(repair), undecided, &rooms);
    let page = certificate.claims.iter().zip(&rooms).fold(page, |page, (claim, rooms)| match rooms {
        Some(rooms) if widest(rooms).is_some() => page
            .text(format!(
                "Bounds on the optimum that the gap of {} proves, for the users with the widest bounds:",
                title(claim, &certificate.problem)
            ))
            .table(table_of_rooms(&certificate.problem, rooms)),
        _ => page,
    });
    rounding(certificate, least_tolerances).into_iter().fold(page, Page::text)
}

fn page(
    certificate: &Certificate,
    in_tasks: &[Option<Rational>],
    least: &[Option<Rational>],
    repair: Option<&Rational>,
    undecided: &[(Axiom, Undecided)],
    rooms: &[Option<Vec<OptimumBounds>>],
) -> Page {
    let problem = &certificate.problem;
    let constraints = Constraints::new(problem, certificate.allocation.sharing);
    let mut table = Table::new([
        Column::words("axiom"),
        Column::words("verdict"),
        Column::numbers("margin"),
        Column::numbers("in tasks").unless_all(""),
        Column::words("evidence"),
    ]);
    for (at, claim) in certificate.claims.iter().enumerate() {
        let tasks = in_tasks.get(at).and_then(Option::as_ref);
        table.row([
            Cell::text(title(claim, problem)),
            verdict_at(claim, &certificate.tolerance, least.get(at).and_then(Option::as_ref)),
            margin(claim),
            tasks.map_or_else(Cell::default, Cell::decimal),
            Cell::text(
                words(claim, certificate, &constraints)
                    + &room_words(claim, tasks)
                    + &rooms
                        .get(at)
                        .and_then(Option::as_deref)
                        .map_or_else(String::new, |of| gap_words(problem, of)),
            ),
        ]);
    }
    for (axiom, why) in undecided {
        let verdict = Cell::text("not checked").muted();
        table.row([
            Cell::text(axiom.name()),
            verdict,
            Cell::default(),
            Cell::default(),
            Cell::text(why.to_string()),
        ]);
    }
    let page = Page::new().lines(about(certificate, repair)).table(table);
    notes(certificate).into_iter().fold(page, |page, note| page.text(note))
}

/// The least width of bounds that is visible in the shown digits, as a fraction of the user's solo tasks.
const VISIBLE: (u32, u32) = (1, 1_000_000);
/// The largest number of users whose bounds are shown to people.
const BOUNDED: usize = 8;

/// Returns the user with the widest bounds on its tasks in the optimum. Returns `None` if this width is not
/// visible.
fn widest(rooms: &[OptimumBounds]) -> Option<(usize, &OptimumBounds)> {
    let visible = Rational::from(VISIBLE);
    let users = rooms.iter().enumerate().filter(|(_, room)| room.width > visible);
    users.max_by(|a, b| a.1.width.cmp(&b.1.width).then(b.0.cmp(&a.0)))
}

/// Returns the sentence about the widest bounds.
fn gap_words(problem: &Problem, rooms: &[OptimumBounds]) -> String {
    let Some((n, room)) = widest(rooms) else {
        let width = rooms.iter().map(|room| &room.width).max().cloned().unwrap_or_default();
        return format!(
            "; every user's tasks in the optimum are known to within {} of its solo tasks",
            decimal(&width)
        );
    };
    format!(
        "; the gap leaves the widest bounds for {}, which has {} to {} in the optimum and {} here",
        problem.users()[n].name(),
        decimal(&room.optimum.at_least),
        tasks(&room.optimum.at_most),
        decimal(&room.tasks)
    )
}

/// Returns the table of the bounds on the optimum by user. The widest bounds come first.
fn table_of_rooms(problem: &Problem, rooms: &[OptimumBounds]) -> Table {
    let mut users: Vec<(usize, &OptimumBounds)> = rooms.iter().enumerate().collect();
    users.sort_by(|a, b| b.1.width.cmp(&a.1.width).then(a.0.cmp(&b.0)));
    let table = Table::of(users)
        .words("user", |(n, _)| problem.users()[*n].name())
        .numbers("tasks here", |(_, room)| Cell::decimal(&room.tasks))
        .numbers("at least in the optimum", |(_, room)| Cell::decimal(&room.optimum.at_least))
        .numbers("at most", |(_, room)| Cell::decimal(&room.optimum.at_most))
        .table();
    table.at_most(BOUNDED, "users")
}

/// Returns the words for the number of additional tasks that could start. The text is empty unless the
/// evidence names a user for which a task or a gang could start.
fn room_words(claim: &Claim, in_tasks: Option<&Rational>) -> String {
    match (&claim.evidence, in_tasks) {
        (Evidence::Room(Room { index: Some(_), .. }), Some(margin)) => {
            let fit = if *margin == -1 { "fits" } else { "fit" };
            format!("; {} of it {fit} as things stand", more_tasks(&Rational::from(-margin)))
        }
        _ => String::new(),
    }
}

/// Returns lines with the name, size and hash of the problem, the kind of sharing, the tolerance and the
/// repair.
fn about(certificate: &Certificate, repair: Option<&Rational>) -> Vec<String> {
    let problem = &certificate.problem;
    let name = match problem.name() {
        "" => "a problem without a name".to_owned(),
        name => format!("`{name}`"),
    };
    let count = |number: usize, one: &str, several: &str| {
        format!("{number} {}", if number == 1 { one } else { several })
    };
    let sharing = match certificate.allocation.sharing {
        Sharing::Rdm => "rdm, resources are divided",
        Sharing::Tdm => "tdm, servers are shared by time",
    };
    let users = count(problem.n_users(), "user", "users");
    let classes = count(problem.n_servers(), "server class", "server classes");
    let mut lines = vec![
        // The hash comes first, so that no name can imitate it.
        format!("sha256:    {}", problem_sha256(problem)),
        format!("problem:   {name}, {users}, {classes}"),
        format!("sharing:   {sharing}"),
        format!("tolerance: {}", tolerance_words(&certificate.tolerance)),
    ];
    if let Some(repair) = repair.filter(|repair| !repair.is_zero()) {
        lines.push(format!(
            "repair:    the allocation is infeasible; the repaired one that is judged differs from it by at most \
             {} of a user's solo tasks",
            decimal(repair)
        ));
    }
    lines
}

fn tolerance_words(tolerance: &Rational) -> String {
    if tolerance.is_zero() { "0: every verdict is exact".to_owned() } else { number(tolerance) }
}

/// Returns notes on verdicts that readers could misunderstand.
fn notes(certificate: &Certificate) -> Vec<&'static str> {
    let claims = &certificate.claims;
    let mut notes = Vec::new();
    if claims.iter().any(|claim| claim.outcome() == Outcome::Violated && claim.is_bound()) {
        notes.push("`or less`: the true margin may be lower still.");
    }
    if claims.iter().any(|claim| claim.outcome() == Outcome::Within && claim.axiom.needs_evidence()) {
        notes.push("Margins of axioms that hold within the tolerance are bounds that the prices prove.");
    }
    let is_cluster = certificate.problem.n_single_servers() > 1;
    if is_cluster && claims.iter().any(|claim| claim.axiom == Axiom::Njc && claim.holds.is_some()) {
        notes.push(
            "`njc` on a cluster is weak: one saturated class, however small, answers the complaint of every user \
             that has its entitlement of it.",
        );
    }
    notes
}

/// The tolerances at which floating-point solvers stop, in ascending order, each with its exponent.
/// First-order methods have the largest tolerances.
const SOLVER_TOLERANCES: [(&str, u32); 7] =
    [("1e-10", 10), ("1e-9", 9), ("1e-8", 8), ("1e-7", 7), ("1e-6", 6), ("1e-5", 5), ("1e-4", 4)];

/// The exponent of the largest tolerance that checkers accept by default, which is 1e-6.
const ACCEPTED_EXPONENT: u32 = 6;

/// Returns the sentence that distinguishes the rounding of a solver from a violation. Returns `None` if no
/// axiom is violated, or if the least tolerances were not computed.
fn rounding(certificate: &Certificate, least: &[Option<Rational>]) -> Option<String> {
    let violated: Vec<(&Claim, Option<&Rational>)> = certificate
        .claims
        .iter()
        .zip(least)
        .filter(|(claim, _)| claim.holds == Some(false))
        .map(|(claim, least)| (claim, least.as_ref()))
        .collect();
    let power = |exponent: u32| Rational::from((1, Integer::from(Integer::u_pow_u(10, exponent))));
    let (largest_text, largest) = SOLVER_TOLERANCES[SOLVER_TOLERANCES.len() - 1];
    // An axiom cannot hold at a tolerance below minus its margin, even if its least tolerance is not known.
    let needed = |(claim, least): &(&Claim, Option<&Rational>)| {
        let by_margin = claim.margin.as_ref().map(|margin| Rational::from(-margin));
        (*least).cloned().or(by_margin)
    };
    let worst = violated.iter().filter_map(|of| Some((needed(of)?, of.0))).max_by(|a, b| a.0.cmp(&b.0))?;
    if worst.0 > power(largest) {
        let name = title(worst.1, &certificate.problem);
        return Some(format!(
            "This is a violation, not a solver's rounding: solvers leave misses of at most {largest_text}, and `{name}` is missed \
             by about {}.",
            rounded_up(&worst.0)
        ));
    }
    if let Some((claim, _)) = violated.iter().find(|(_, least)| least.is_none()) {
        let name = title(claim, &certificate.problem);
        return Some(format!(
            "Whether this is a solver's rounding is not known: the least tolerance at which `{name}` holds was not computed."
        ));
    }
    let (text, exponent) = SOLVER_TOLERANCES.iter().find(|(_, exponent)| worst.0 <= power(*exponent))?;
    let checking = if *exponent < ACCEPTED_EXPONENT {
        format!(" Checking a certificate with that tolerance needs `--max-tolerance {text}`.")
    } else {
        String::new()
    };
    Some(format!(
        "This is a solver's rounding rather than a violation: solvers with tolerance {text} leave such misses, and with \
         `--tolerance {text}` (in Python `tolerance={text}`) every axiom that is violated here holds. Other axioms may be violated \
         at that tolerance.{checking}"
    ))
}

/// Returns a positive number with two significant digits. It is rounded up, so that an axiom also holds at
/// the tolerance in the text.
fn rounded_up(value: &Rational) -> String {
    let mut exponent = to_f64(value).log10().floor() as i32;
    let scaled = |exponent: i32| {
        let power = Rational::from(Integer::from(Integer::u_pow_u(10, (exponent - 1).unsigned_abs())));
        if exponent >= 1 { value / power } else { value * power }
    };
    let mut digits = scaled(exponent).ceil();
    // The logarithm of a double may give an exponent that is wrong by one.
    if digits >= 100 {
        exponent += 1;
        digits = scaled(exponent).ceil();
    }
    let digits = to_f64(&digits);
    if (-4..=1).contains(&exponent) {
        let value = digits * 10f64.powi(exponent - 1);
        let places = usize::try_from(1 - exponent).unwrap_or(0);
        let text = format!("{value:.places$}");
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        };
    }
    format!("{}e{exponent}", digits / 10.0)
}

/// Returns the name of the axiom with its parameters.
fn title(claim: &Claim, problem: &Problem) -> String {
    let share = claim.share.map(|share| share.name(problem));
    let alpha = claim.alpha.as_ref().map(|alpha| format!("alpha {}", number(alpha)));
    let parameters: Vec<String> = share.into_iter().chain(alpha).collect();
    match parameters.as_slice() {
        [] => claim.axiom.name().to_owned(),
        several => format!("{} ({})", claim.axiom.name(), several.join(", ")),
    }
}

/// Returns the verdict on a claim: holds, holds within the tolerance, violated, or does not apply.
pub(crate) fn verdict(claim: &Claim) -> Cell {
    match claim.outcome() {
        Outcome::Holds => Cell::text("holds").good(),
        Outcome::Within => Cell::text("holds within").good(),
        Outcome::Violated => Cell::text("VIOLATED").bad(),
        Outcome::NotApplicable => Cell::text("does not apply").muted(),
    }
}

/// Returns the verdict at a tolerance. For a violated axiom, it also states the least tolerance at which the
/// axiom holds, if this tolerance is known.
fn verdict_at(claim: &Claim, tolerance: &Rational, least: Option<&Rational>) -> Cell {
    if claim.outcome() != Outcome::Violated || (tolerance.is_zero() && least.is_none()) {
        return verdict(claim);
    }
    let at = if tolerance.is_zero() { String::new() } else { format!(" at {}", rounded_up(tolerance)) };
    let from = least.map_or_else(String::new, |least| format!("; holds from {}", rounded_up(least)));
    Cell::text(format!("VIOLATED{at}{from}")).bad()
}

/// Returns the margin, with a mark if the true margin may be lower.
fn margin(claim: &Claim) -> Cell {
    let Some(margin) = &claim.margin else { return Cell::default() };
    if claim.outcome() == Outcome::Violated && claim.is_bound() {
        return Cell::decimal(margin).shown_as(&format!("{} or less", decimal(margin)));
    }
    Cell::decimal(margin)
}

/// Returns `true` if at least one of these users starts several tasks together on single servers.
fn is_about_gangs(certificate: &Certificate, short: &[(usize, Short)]) -> bool {
    let groups = certificate.problem.groups();
    certificate.allocation.placements.is_some() && short.iter().any(|(n, _)| groups.member(*n).gang.is_some())
}

/// Returns the tasks of a gang by class, for at most three classes.
fn gang_words(problem: &Problem, by_class: &[(usize, u64)]) -> String {
    let on = |(i, tasks): &(usize, u64)| {
        format!("{} on {}", crate::text::tasks(&Rational::from(*tasks)), problem.servers()[*i].name())
    };
    let more = match by_class.len() {
        0..=3 => String::new(),
        classes => format!(", the others on {} more classes", classes - 3),
    };
    format!("{}{more}", by_class.iter().take(3).map(on).collect::<Vec<_>>().join(", "))
}

/// Returns the bound that blocks the first user, and the number of other blocked users.
fn stopped_words(problem: &Problem, stopped: &[(usize, Stop)]) -> String {
    let Some((user, stop)) = stopped.first() else { return String::new() };
    let resource = |r: usize| &problem.resources()[r];
    let group = |v: usize| &problem.groups().list()[v].name;
    let what = match stop.clone() {
        Stop::Classes { limits, .. } => match limits.first() {
            Some((_, mark)) => format!(
                "the limit of {} of {} on {}",
                resource(mark.resource),
                group(mark.group),
                problem.class_names(&mark.on)
            ),
            None => "resources that are full".to_owned(),
        },
        Stop::Limit { group: v, resource: r } => format!("the limit of {} of {}", resource(r), group(v)),
        Stop::Guarantee { group: v, resource: r } => {
            format!("the guarantee of {} of {}, which gets no more", resource(r), group(v))
        }
        Stop::Weight { group: v } => format!("the weight 0 of {}", group(v)),
        Stop::KeptBack { resource: r } => {
            format!("the amount of {} that is kept back for other groups", resource(r))
        }
    };
    let more = match stopped.len() {
        1 => String::new(),
        2 => "; another user is stopped as well".to_owned(),
        n => format!("; {} other users are stopped as well", n - 1),
    };
    format!("{} is stopped by {what}{more}", problem.users()[*user].name())
}

/// Returns the evidence of a claim in a few words.
pub(crate) fn words(claim: &Claim, certificate: &Certificate, constraints: &Constraints<'_>) -> String {
    let problem = &certificate.problem;
    let user = |n: usize| problem.users()[n].name();
    match claim.evidence.bare() {
        Evidence::Enclosed { .. } | Evidence::Unread => String::new(),
        Evidence::None => claim.why.clone().unwrap_or_default(),
        Evidence::Limit { limit, slack } => {
            let what = match *limit {
                Limit::Row(row) => {
                    let (row, server) = row_names(constraints, row);
                    format!("{row} of {server}")
                }
                Limit::Tasks(n) => format!("the task limit of {}", user(n)),
                Limit::Accelerators(n) => format!("the accelerators of {}", user(n)),
                Limit::Entry(n, server) => {
                    format!("{} on {}", user(n), problem.servers()[server].name())
                }
            };
            format!("tightest: {what}, {} left", decimal(slack))
        }
        Evidence::SingleLimit { limit, slack } => {
            let server = |i: usize, index: u64| format!("server {index} of {}", problem.servers()[i].name());
            let what = match *limit {
                SingleLimit::Row { row, index } => {
                    let row = &constraints.rows()[row];
                    format!("{} of {}", row_name(row.kind, problem.resources()), server(row.server, index))
                }
                SingleLimit::Tasks(n) => format!("the task limit of {}", user(n)),
                SingleLimit::Accelerators(n) => format!("the accelerators of {}", user(n)),
                SingleLimit::Entry { user: n, server: i, index } => {
                    format!("{} on {}", user(n), server(i, index))
                }
            };
            format!("tightest: {what}, {} left", decimal(slack))
        }
        Evidence::EnvyUpToOne { user: n, envied, removed, gain } => {
            let bundle = match removed {
                Some(i) => {
                    format!("{} without one task on {}", user(*envied), problem.servers()[*i].name())
                }
                None => user(*envied).to_owned(),
            };
            match gain {
                None => format!("closest: {} comparing itself with {bundle}", user(*n)),
                Some(gain) => {
                    format!("{} would gain {} with the bundle of {bundle}", user(*n), tasks(gain))
                }
            }
        }
        Evidence::GroupLimit { group, resource, on, slack, promised } => {
            let resource = &problem.resources()[*resource];
            let of = match group {
                Some(v) => problem.groups().list()[*v].name.as_str(),
                None => "all servers, with amounts that are kept back",
            };
            let on = if on.is_empty() { String::new() } else { format!(" on {}", problem.class_names(on)) };
            let more = promised.as_ref().map_or_else(String::new, |promised| {
                format!("; guarantees exceed the capacity: {} is kept back", decimal(promised))
            });
            format!("tightest: {resource} of {of}{on}, {} left{more}", decimal(slack))
        }
        Evidence::Entitlement { user: n, loss: None } => format!("closest: {}", user(*n)),
        Evidence::Entitlement { user: n, loss: Some(loss) } => {
            format!("{} has {} too few", user(*n), tasks(loss))
        }
        Evidence::Envy { user: n, envied, gain: None } => {
            format!("closest: {} comparing itself with {}", user(*n), user(*envied))
        }
        Evidence::Envy { user: n, envied, gain: Some(gain) } => {
            format!("{} would gain {} with the bundle of {}", user(*n), tasks(gain), user(*envied))
        }
        Evidence::Prices(_) => "prices prove it".to_owned(),
        Evidence::Dominating(_) => "another allocation gives some user more and no user less".to_owned(),
        Evidence::DominatingPlacements(_) => {
            "other whole tasks give some user more and no user less".to_owned()
        }
        Evidence::Short(short) if short.is_empty() => "every user has all its tasks".to_owned(),
        Evidence::Short(short) if is_about_gangs(certificate, short) => {
            "no gang of a user with pending tasks fits".to_owned()
        }
        Evidence::Short(_) => "no class has capacity for any pending task".to_owned(),
        Evidence::ShortOrStopped { stopped, .. } => stopped_words(problem, stopped),
        Evidence::Filling { tasks: filling, .. } => filling_words(filling, certificate),
        Evidence::Packings { schedule, .. } => packings_words(schedule, certificate),
        Evidence::PartyPrices(_) => "prices bound what every group could gain".to_owned(),
        Evidence::PartyGains { party, envied, .. } => {
            let name = |party: &Party| match party {
                Party::Group(v) => problem.groups().list()[*v].name.as_str(),
                Party::User(n) => user(*n),
            };
            let of = envied.as_ref().map_or_else(
                || "its own fraction of the servers".to_owned(),
                |envied| format!("the bundle of {}", name(envied)),
            );
            format!("{} could run more tasks with {of}, for each of its users", name(party))
        }
        Evidence::Room(room) => {
            let server = problem.servers()[room.server].name();
            match room.index {
                None => format!("{} could run more on {server}", user(room.user)),
                Some(index) if room.by_class.is_empty() => {
                    format!("a task of {} fits on server {index} of {server}", user(room.user))
                }
                Some(_) => {
                    format!("a gang of {} fits: {}", user(room.user), gang_words(problem, &room.by_class))
                }
            }
        }
        Evidence::Levels(levels) => levels_words(levels, claim.share, certificate),
        Evidence::LevelsByResource(resources) => {
            let names: Vec<&str> = resources.iter().map(|(r, _)| problem.resources()[*r].as_str()).collect();
            format!("max-min on {}, by prices", names.join(" and on "))
        }
        Evidence::Rise { user: n, resource, .. } => {
            let of = resource.map_or_else(String::new, |r| format!(" of {}", problem.resources()[r]));
            let name = user(*n);
            format!("{name} could get more{of}, and no other user would fall below {name}'s new level")
        }
        Evidence::Witnesses(_) => {
            "every user has all its tasks, or its entitlement of a saturated resource".to_owned()
        }
        Evidence::Complaint(complaint) => format!(
            "{} is entitled to {} of every resource, and has less of each saturated one",
            user(complaint.user),
            number(&complaint.entitlement)
        ),
        Evidence::Bottlenecks(_) => "every user has all its tasks, or a bottleneck on every class".to_owned(),
        Evidence::Unblocked(unblocked) => unblocked_words(unblocked, problem, constraints),
        Evidence::EnvyPrices(_) => "prices of capacities and of envy prove it".to_owned(),
        Evidence::Better(_) => match claim.axiom {
            Axiom::OptimalEnvyFree => "an envy-free allocation has more tasks in total".to_owned(),
            Axiom::OptimalEqual => {
                "an allocation with equal tasks over weight has more tasks in total".to_owned()
            }
            _ => "another allocation has a larger sum".to_owned(),
        },
        Evidence::Nothing { user: n } => format!("{} has no tasks, and could have some", user(*n)),
    }
}

/// Returns the words about the user whose number of tasks differs most from that of the filling.
fn filling_words(filling: &Tasks, certificate: &Certificate) -> String {
    let total = |tasks: &[(usize, Rational)]| tasks.iter().map(|(_, x)| x).sum::<Rational>();
    let differs = |(n, filled): (usize, &Vec<(usize, Rational)>)| {
        let (has, filled) = (certificate.allocation.total(n), total(filled));
        (has != filled).then_some((n, has, filled))
    };
    let differing: Vec<_> = filling.iter().enumerate().filter_map(differs).collect();
    let name = |n: usize| certificate.problem.users()[n].name();
    match differing.as_slice() {
        [] => "running the filling again gives these tasks".to_owned(),
        [(n, has, filled), others @ ..] => {
            let others = match others.len() {
                0 => String::new(),
                n => format!("; {n} more users differ"),
            };
            format!("{} has {}, filling gives {}{others}", name(*n), tasks(has), tasks(filled))
        }
    }
}

/// Returns the words that compare the tasks of users with the tasks that packings of whole tasks can reach
/// over time.
fn packings_words(schedule: &[Packing], certificate: &Certificate) -> String {
    let totals = evenhand_exact::axiom::packings::totals(&certificate.problem, schedule);
    let differs = |(n, reached): (usize, Rational)| {
        let has = certificate.allocation.total(n);
        (has != reached).then_some((n, has, reached))
    };
    let differing: Vec<_> = totals.into_iter().enumerate().filter_map(differs).collect();
    let name = |n: usize| certificate.problem.users()[n].name();
    match differing.as_slice() {
        [] => "prices prove that whole tasks reach no more".to_owned(),
        [(n, has, reached), others @ ..] => {
            let others = match others.len() {
                0 => String::new(),
                n => format!("; {n} more users differ"),
            };
            format!(
                "{} has {}, the ceiling of whole tasks gives {}{others}",
                name(*n),
                tasks(has),
                tasks(reached)
            )
        }
    }
}

/// Returns the words for the levels that the prices prove. If there is a single level, the words state its
/// number.
fn levels_words(levels: &[Level], share: Option<Share>, certificate: &Certificate) -> String {
    let used: Vec<&Level> = levels.iter().filter(|level| !level.covers.is_empty()).collect();
    match used.as_slice() {
        [] => "every user has all that it could have alone, or no user demands it".to_owned(),
        [level] => match level_of(level, share, certificate) {
            Some(level) => format!("prices prove the level {}", number(&level)),
            None => "prices prove one level".to_owned(),
        },
        levels => format!("prices prove {} levels", levels.len()),
    }
}

/// Returns the common level of the users that a level covers. Returns `None` if the levels of these users
/// differ.
fn level_of(level: &Level, share: Option<Share>, certificate: &Certificate) -> Option<Rational> {
    let problem = &certificate.problem;
    let coefficients = share?.coefficients(problem).ok()?;
    let of = |n: usize| {
        let u = coefficients.uniform(n)?;
        Some(certificate.allocation.total(n) * u / problem.users()[n].weight())
    };
    let first = of(*level.covers.first()?)?;
    level.covers.iter().all(|&n| of(n).as_ref() == Some(&first)).then_some(first)
}

/// Returns the user without a bottleneck, the class, and the amounts of each resource that it lacks.
fn unblocked_words(unblocked: &Unblocked, problem: &Problem, constraints: &Constraints<'_>) -> String {
    let lacks = unblocked
        .lacks
        .iter()
        .map(|(row, lack)| format!("{} for {}", tasks(lack), row_names(constraints, *row).0));
    let lacks: Vec<String> = lacks.collect();
    let user = problem.users()[unblocked.user].name();
    let server = problem.servers()[unblocked.server].name();
    format!("{user} has no bottleneck on {server}: it lacks {}", lacks.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_rounded_up_to_two_digits() {
        for (value, text) in [
            ("1/1000000", "1e-6"),
            ("1/25000000", "4e-8"),
            ("31/10000000", "3.1e-6"),
            ("3100001/1000000000000", "3.2e-6"),
            ("999/1000000000", "1e-6"),
            ("1/12", "0.084"),
            ("1/10", "0.1"),
            ("999/1000", "1"),
            ("1", "1"),
            ("5/2", "2.5"),
            ("1/10000", "0.0001"),
        ] {
            let value: Rational = value.parse().unwrap();
            assert_eq!(rounded_up(&value), text, "{value}");
            assert!(text.parse::<f64>().unwrap() >= to_f64(&value), "{text}");
        }
    }
}
