//! Writing certificates.

use std::collections::BTreeMap;

use evenhand_problem::format::problem_sha256;
use evenhand_problem::number::format_stated;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Placement, Problem, Rational, RowKind, Sharing};
use serde::{Serialize, Serializer};

use super::Certificate;
use crate::axiom::Axiom;
use crate::axiom::feasible::Limit;
use crate::axiom::integer_feasible::SingleLimit;
use crate::axiom::max_min::Level;
use crate::axiom::njc::Witness;
use crate::axiom::ps_dsf::{Standing, Unblocked};
use crate::axiom::work_conserving::{Room, Short};
use crate::checker::Verdict;
use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::instance::Tasks;
use crate::prices::Prices;

/// What is written; objects keep their order.
pub(super) enum Json {
    Null,
    Bool(bool),
    Count(usize),
    Index(u64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    pub fn text(&self) -> String {
        // Strings, lists and objects with string keys: there is nothing that cannot be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Count(value) => serializer.serialize_u64(*value as u64),
            Self::Index(value) => serializer.serialize_u64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

pub(super) fn string(text: &str) -> Json {
    Json::Text(text.to_owned())
}

fn number(value: &Rational) -> Json {
    Json::Text(value.to_string())
}

fn fields<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Verdict {
    /// `{"valid", "claims", "reason"}`, without a reason when there is none.
    #[must_use]
    pub fn to_json(&self) -> String {
        Json::Object(self.fields()).text()
    }

    /// The same, with what `certificate` is about: the problem with its hash, the way of sharing, and for
    /// every claim its parameters, verdict and margin.
    #[must_use]
    pub fn to_json_of(&self, certificate: &Certificate) -> String {
        let names = Names::new(&certificate.problem, certificate.allocation.sharing);
        let problem = &certificate.problem;
        let mut all = self.fields();
        all.push(("sharing".to_owned(), string(certificate.allocation.sharing.name())));
        let about = fields([
            ("name", string(problem.name())),
            ("users", Json::Count(problem.n_users())),
            ("classes", Json::Count(problem.n_servers())),
            ("sha256", Json::Text(problem_sha256(problem))),
        ]);
        all.push(("problem".to_owned(), about));
        let verdicts = certificate.claims.iter().map(|claim| names.verdict(claim));
        all.push(("verdicts".to_owned(), Json::List(verdicts.collect())));
        Json::Object(all).text()
    }

    fn fields(&self) -> Vec<(String, Json)> {
        let mut all = vec![
            ("kind".to_owned(), string("verdict")),
            ("version".to_owned(), Json::Count(1)),
            ("valid".to_owned(), Json::Bool(self.valid)),
            ("claims".to_owned(), Json::Count(self.claims)),
        ];
        all.extend(self.reason.as_ref().map(|reason| ("reason".to_owned(), string(reason))));
        all.push(("tolerance".to_owned(), string(&format_stated(&self.tolerance))));
        all
    }
}

/// Writes indices as names.
pub(super) struct Names<'a> {
    problem: &'a Problem,
    constraints: Constraints<'a>,
}

impl<'a> Names<'a> {
    pub fn new(problem: &'a Problem, sharing: Sharing) -> Self {
        Self { problem, constraints: Constraints::new(problem, sharing) }
    }

    // An index that is out of range names nothing: the writer cannot panic, and the file is refused.
    fn user(&self, n: usize) -> String {
        self.problem.users().get(n).map_or_else(String::new, |user| user.name().to_owned())
    }

    fn server(&self, i: usize) -> String {
        self.problem.servers().get(i).map_or_else(String::new, |server| server.name().to_owned())
    }

    fn resource(&self, r: usize) -> String {
        self.problem.resources().get(r).cloned().unwrap_or_default()
    }

    fn kind(&self, kind: RowKind) -> String {
        match kind {
            RowKind::Resource(r) => self.resource(r),
            RowKind::Time => "time".to_owned(),
        }
    }

    /// The allocation with the hash of the problem that it is for.
    pub fn allocation(&self, allocation: &Allocation, problem_sha256: Option<&str>) -> Json {
        let mut fields = vec![("kind".to_owned(), string("allocation"))];
        if let Some(mechanism) = &allocation.mechanism {
            fields.push(("mechanism".to_owned(), string(mechanism)));
        }
        fields.push(("sharing".to_owned(), string(allocation.sharing.name())));
        let arithmetic = if allocation.arithmetic == Arithmetic::Exact { "exact" } else { "float" };
        fields.push(("arithmetic".to_owned(), string(arithmetic)));
        fields.extend(problem_sha256.map(|hash| ("problem_sha256".to_owned(), string(hash))));
        fields.push(("tasks".to_owned(), self.tasks(&allocation.tasks)));
        if let Some(placements) = &allocation.placements {
            fields.push(("placements".to_owned(), self.placements(placements)));
        }
        Json::Object(fields)
    }

    fn placements(&self, placements: &[Placement]) -> Json {
        let single = |placement: &Placement| {
            let tasks = placement.tasks.iter().map(|(n, x)| (self.user(*n), number(x)));
            fields([
                ("server", Json::Text(self.server(placement.server))),
                ("index", Json::Index(placement.index)),
                ("tasks", Json::Object(tasks.collect())),
            ])
        };
        Json::List(placements.iter().map(single).collect())
    }

    fn tasks(&self, tasks: &Tasks) -> Json {
        let users = tasks.iter().enumerate().map(|(n, on)| {
            let on = on.iter().filter(|(_, x)| !x.is_zero()).map(|(i, x)| (self.server(*i), number(x)));
            (self.user(n), Json::Object(on.collect()))
        });
        Json::Object(users.filter(|(_, on)| !matches!(on, Json::Object(on) if on.is_empty())).collect())
    }

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

    fn verdict(&self, claim: &Claim) -> Json {
        let mut fields = self.statement(claim);
        fields.push(("verdict".to_owned(), string(claim.outcome().name())));
        if let Some(why) = &claim.why {
            fields.push(("why".to_owned(), string(why)));
        }
        Json::Object(fields)
    }

    pub fn claim(&self, claim: &Claim) -> Json {
        let mut fields = self.statement(claim);
        let evidence = match &claim.evidence {
            Evidence::Prices(prices) if claim.axiom == Axiom::Proportional => {
                Json::Object(self.prices(prices).into_iter().skip(1).collect())
            }
            evidence => self.evidence(evidence),
        };
        fields.push(("evidence".to_owned(), evidence));
        if let Some(why) = &claim.why {
            fields.push(("why".to_owned(), string(why)));
        }
        Json::Object(fields)
    }

    fn evidence(&self, evidence: &Evidence) -> Json {
        let user = |n: &usize| Json::Text(self.user(*n));
        let of = |resource: &Option<usize>, rest: Vec<(&str, Json)>| {
            let resource = resource.map(|r| ("resource", Json::Text(self.resource(r))));
            let all = resource.into_iter().chain(rest);
            Json::Object(all.map(|(name, value)| (name.to_owned(), value)).collect())
        };
        match evidence {
            Evidence::None => fields([]),
            Evidence::Limit { limit, slack } => self.limit(*limit, slack),
            Evidence::SingleLimit { limit, slack } => self.single_limit(*limit, slack),
            Evidence::EnvyUpToOne { user: n, envied, removed, gain } => {
                let mut pair = vec![("user".to_owned(), user(n)), ("envied".to_owned(), user(envied))];
                pair.extend(removed.map(|i| ("server".to_owned(), Json::Text(self.server(i)))));
                match gain {
                    None => fields([("tightest", Json::Object(pair))]),
                    Some(gain) => {
                        pair.push(("gain".to_owned(), number(gain)));
                        Json::Object(pair)
                    }
                }
            }
            Evidence::Entitlement { user: n, loss: None } => {
                fields([("tightest", fields([("user", user(n))]))])
            }
            Evidence::Entitlement { user: n, loss: Some(loss) } => {
                fields([("user", user(n)), ("loss", number(loss))])
            }
            Evidence::Envy { user: n, envied, gain: None } => {
                fields([("tightest", fields([("user", user(n)), ("envied", user(envied))]))])
            }
            Evidence::Envy { user: n, envied, gain: Some(gain) } => {
                fields([("user", user(n)), ("envied", user(envied)), ("gain", number(gain))])
            }
            Evidence::Prices(prices) => Json::Object(self.prices(prices)),
            Evidence::Dominating(tasks) => fields([("dominating", self.tasks(tasks))]),
            Evidence::DominatingPlacements(placements) => {
                fields([("dominating", self.placements(placements))])
            }
            Evidence::Short(short) => {
                let users = short.iter().map(|(n, short)| (self.user(*n), self.short(short)));
                fields([("short", Json::Object(users.collect()))])
            }
            Evidence::Room(Room { user: n, server, index }) => {
                let mut room = vec![("user".to_owned(), user(n))];
                room.push(("server".to_owned(), Json::Text(self.server(*server))));
                room.extend(index.map(|index| ("index".to_owned(), Json::Index(index))));
                Json::Object(room)
            }
            Evidence::Levels(levels) => fields([("levels", self.levels(levels))]),
            Evidence::LevelsByResource(resources) => {
                let resources = resources.iter().map(|(r, levels)| (self.resource(*r), self.levels(levels)));
                fields([("resources", Json::Object(resources.collect()))])
            }
            Evidence::Rise { resource, user: n, allocation } => {
                of(resource, vec![("user", user(n)), ("allocation", self.tasks(allocation))])
            }
            Evidence::Witnesses(witnesses) => {
                let stated = witnesses.iter().enumerate().filter_map(|(n, w)| Some((n, (*w)?)));
                let stated = stated.map(|(n, witness)| (self.user(n), self.witness(witness)));
                fields([("witness", Json::Object(stated.collect()))])
            }
            Evidence::Complaint(complaint) => {
                let shares = complaint.shares.iter().map(|(row, share)| (*row, share));
                fields([
                    ("user", user(&complaint.user)),
                    ("entitlement", number(&complaint.entitlement)),
                    ("shares", self.by_row(shares)),
                ])
            }
            Evidence::Bottlenecks(standings) => {
                let stated = standings.iter().enumerate().filter_map(|(n, s)| Some((n, s.as_ref()?)));
                let stated = stated.map(|(n, standing)| (self.user(n), self.standing(standing)));
                fields([("bottlenecks", Json::Object(stated.collect()))])
            }
            Evidence::Unblocked(unblocked) => self.unblocked(unblocked),
            Evidence::Better(tasks) => fields([("better", self.tasks(tasks))]),
            Evidence::Nothing { user: n } => fields([("user", user(n))]),
        }
    }

    fn witness(&self, witness: Witness) -> Json {
        let Witness::Row(row) = witness else { return string("satisfied") };
        let (server, resource) = self.row(row);
        fields([("server", Json::Text(server)), ("resource", Json::Text(resource))])
    }

    fn standing(&self, standing: &Standing) -> Json {
        let Standing::Bottlenecks(rows) = standing else { return string("satisfied") };
        let rows = rows.iter().map(|&row| self.row(row));
        Json::Object(rows.map(|(server, resource)| (server, Json::Text(resource))).collect())
    }

    fn unblocked(&self, unblocked: &Unblocked) -> Json {
        let lacks = unblocked.lacks.iter().map(|(row, lack)| (self.row(*row).1, number(lack)));
        fields([
            ("user", Json::Text(self.user(unblocked.user))),
            ("server", Json::Text(self.server(unblocked.server))),
            ("lacks", Json::Object(lacks.collect())),
        ])
    }

    /// `{server: resource}`, or `{server: [resources]}` where there is not just one.
    fn short(&self, short: &Short) -> Json {
        let name = |row: &usize| Json::Text(self.row(*row).1);
        let classes = short.iter().map(|(i, rows)| {
            let rows = match rows.as_slice() {
                [row] => name(row),
                rows => Json::List(rows.iter().map(name).collect()),
            };
            (self.server(*i), rows)
        });
        Json::Object(classes.collect())
    }

    fn levels(&self, levels: &[Level]) -> Json {
        let level = |Level { covers, prices }: &Level| {
            let by_user = |values: &[(usize, Rational)]| {
                Json::Object(values.iter().map(|(n, value)| (self.user(*n), number(value))).collect())
            };
            fields([
                ("covers", Json::List(covers.iter().map(|n| Json::Text(self.user(*n))).collect())),
                ("user_weights", by_user(&prices.user_weights)),
                ("prices", self.by_row(prices.rows.iter().map(|(row, price)| (*row, price)))),
                ("user_prices", by_user(&prices.users)),
            ])
        };
        Json::List(levels.iter().map(level).collect())
    }

    /// Server and resource of a row.
    fn row(&self, row: usize) -> (String, String) {
        let found = self.constraints.rows().get(row);
        found.map(|at| (self.server(at.server), self.kind(at.kind))).unwrap_or_default()
    }

    fn limit(&self, limit: Limit, slack: &Rational) -> Json {
        let slack = ("slack", number(slack));
        match limit {
            Limit::Row(row) => {
                let (server, kind) = self.row(row);
                fields([("server", Json::Text(server)), ("resource", Json::Text(kind)), slack])
            }
            Limit::Tasks(n) => fields([("user", Json::Text(self.user(n))), slack]),
            Limit::Entry(n, i) => {
                fields([("user", Json::Text(self.user(n))), ("server", Json::Text(self.server(i))), slack])
            }
        }
    }

    fn single_limit(&self, limit: SingleLimit, slack: &Rational) -> Json {
        let slack = ("slack", number(slack));
        match limit {
            SingleLimit::Row { row, index } => {
                let (server, kind) = self.row(row);
                let index = ("index", Json::Index(index));
                fields([("server", Json::Text(server)), index, ("resource", Json::Text(kind)), slack])
            }
            SingleLimit::Tasks(n) => fields([("user", Json::Text(self.user(n))), slack]),
            SingleLimit::Entry { user, server, index } => {
                let (user, server) = (Json::Text(self.user(user)), Json::Text(self.server(server)));
                fields([("user", user), ("server", server), ("index", Json::Index(index)), slack])
            }
        }
    }

    fn prices(&self, prices: &Prices) -> Vec<(String, Json)> {
        let by_user = |values: &[Rational]| {
            let values = values.iter().enumerate().filter(|(_, value)| !value.is_zero());
            Json::Object(values.map(|(n, value)| (self.user(n), number(value))).collect())
        };
        let rows = prices.rows.iter().enumerate().filter(|(_, price)| !price.is_zero());
        vec![
            ("user_weights".to_owned(), by_user(&prices.user_weights)),
            ("prices".to_owned(), self.by_row(rows)),
            ("user_prices".to_owned(), by_user(&prices.users)),
        ]
    }

    /// `{server: {resource: value}}`.
    fn by_row<'v>(&self, values: impl Iterator<Item = (usize, &'v Rational)>) -> Json {
        let mut by_server: BTreeMap<usize, Vec<(String, Json)>> = BTreeMap::new();
        for (row, value) in values {
            let Some(at) = self.constraints.rows().get(row) else { continue };
            by_server.entry(at.server).or_default().push((self.kind(at.kind), number(value)));
        }
        let rows = by_server.into_iter().map(|(i, values)| (self.server(i), Json::Object(values)));
        Json::Object(rows.collect())
    }
}
