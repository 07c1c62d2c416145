//! Certificates: a problem, an allocation of it, and what is claimed about it; written and read as
//! JSON.
//!
//! Evidence by axiom, zeros left out, users, servers and resources by name:
//!
//! | axiom | yes | no |
//! |---|---|---|
//! | feasible | `{"server", "resource", "slack"}`, `{"user", "slack"}` (its tasks) or `{"user", "server", "slack"}` (an entry) | the same |
//! | non-wasteful | `{}` | |
//! | envy-free | `{"tightest": {"user", "envied"}}` | `{"user", "envied", "gain"}` |
//! | sharing-incentive | `{"tightest": {"user"}}` | `{"user", "loss"}` |
//! | pareto-optimal | `{"user_weights": {user: l}, "prices": {server: {resource: p}}, "user_prices": {user: q}}` | `{"dominating": {user: {server: y}}}` |
//! | max-min | `{"levels": [{"level", "user_weights", "prices", "user_prices"}]}` | `{"user", "allocation": {user: {server: y}}}` |
//! | njc | `{"witness": {user: {"server", "resource"} or "satisfied"}}` | `{"user", "entitlement", "shares": {server: {resource: share}}}`, zeros included |
//! | proportional | `{"prices", "user_prices"}` | `{"better": {user: {server: y}}}`, or `{"user"}`, which has nothing |
//! | the bottleneck axioms | as max-min, with `"resource"` | as max-min, with `"resource"` |
//!
//! The row of a class whose time is shared is the resource `time`. Slacks are in the units of the
//! row or in tasks, gains and losses in tasks, prices per unit of the resource (or of time). All
//! numbers are written as exact strings, whatever the arithmetic of the allocation, so that reading
//! them back gives the same number.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use evenhand_problem::format::{Document, FormatError, Object, Source, problem_to_json};
use evenhand_problem::number::format_stated;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Place, Problem, Rational, RowKind, Sharing};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::axiom::Axiom;
use crate::axiom::feasible::Limit;
use crate::axiom::max_min::Level;
use crate::axiom::njc::{Complaint, Witness};
use crate::checker::Verdict;
use crate::claim::{Claim, Evidence};
use crate::instance::Tasks;
use crate::parameters::Parameters;
use crate::prices::Prices;
use crate::share::Share;

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// Most numbers that the levels of all claims together may hold, zeros included: a small file cannot
/// make the reader and the checker allocate more than about 1.5 GiB.
const MAX_LEVEL_NUMBERS: usize = 1 << 23;

/// A problem, an allocation of it, and what is claimed about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The problem.
    pub problem: Problem,
    /// The allocation.
    pub allocation: Allocation,
    /// What the reader of the claims tolerates, in tasks (feasible: as a fraction of the capacity).
    pub tolerance: Rational,
    /// The axioms that were examined.
    pub claims: Vec<Claim>,
    /// Names of the axioms that were not.
    pub not_checked: Vec<String>,
}

impl Certificate {
    /// The certificate as JSON; the same certificate gives the same bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        let names = Names::new(&self.problem, self.allocation.sharing);
        let mut out = format!("{{\"kind\": \"certificate\", \"version\": {VERSION},\n\"problem\": ");
        out.push_str(problem_to_json(&self.problem).trim_end());
        out.push_str(",\n\"allocation\": ");
        out.push_str(&names.allocation(&self.allocation).text());
        out.push_str(",\n\"tolerance\": ");
        out.push_str(&string(&format_stated(&self.tolerance)).text());
        out.push_str(",\n\"claims\": [");
        for (position, claim) in self.claims.iter().enumerate() {
            out.push_str(if position == 0 { "\n" } else { ",\n" });
            out.push_str(&names.claim(claim).text());
        }
        out.push_str("\n],\n\"not_checked\": ");
        out.push_str(&Json::List(self.not_checked.iter().map(|name| string(name)).collect()).text());
        out.push_str("\n}\n");
        out
    }

    /// Reads a certificate. What it states is not checked here: [`check`](crate::check).
    ///
    /// # Errors
    /// [`FormatError`] for whatever is no certificate: unknown fields, names or axioms, evidence
    /// that is not of the form that the axiom takes.
    pub fn parse(source: &Source<'_>) -> Result<Self, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.of_kind(&document, "certificate")?;
        let fields = ["kind", "version", "problem", "allocation", "tolerance", "claims", "not_checked"];
        object.only(&document, &fields)?;
        let version = object.need(&document, "version")?;
        if document.number(version)? != VERSION {
            return Err(document.error(version, format!("expected version {VERSION}")));
        }
        let at = |name: &str| Place::root().key(name);
        let problem = source.problem_in(object.need(&document, "problem")?, &at("problem"))?;
        let raw = object.need(&document, "allocation")?;
        let allocation = source.allocation_in(raw, &at("allocation"), &problem)?.allocation;
        let tolerance = match object.get("tolerance") {
            None => Rational::new(),
            Some(raw) => {
                let value = document.number(raw)?;
                if value < 0 {
                    return Err(document.error(raw, "a tolerance is at least 0"));
                }
                value
            }
        };
        let reader = Reader::new(&document, &problem, allocation.sharing);
        let claims = document.list(object.need(&document, "claims")?)?;
        let claims = claims.into_iter().map(|raw| reader.claim(raw)).collect::<Result<_, _>>()?;
        let not_checked = reader.not_checked(object.need(&document, "not_checked")?)?;
        Ok(Self { problem, allocation, tolerance, claims, not_checked })
    }
}

// ---- writing ----

/// What is written; objects keep their order.
enum Json {
    Null,
    Bool(bool),
    Count(usize),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    fn text(&self) -> String {
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
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

fn string(text: &str) -> Json {
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
        let mut all = vec![
            ("valid".to_owned(), Json::Bool(self.valid)),
            ("claims".to_owned(), Json::Count(self.claims)),
        ];
        all.extend(self.reason.as_ref().map(|reason| ("reason".to_owned(), string(reason))));
        all.push(("tolerance".to_owned(), string(&format_stated(&self.tolerance))));
        Json::Object(all).text()
    }
}

struct Names<'a> {
    problem: &'a Problem,
    constraints: Constraints<'a>,
}

impl<'a> Names<'a> {
    fn new(problem: &'a Problem, sharing: Sharing) -> Self {
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

    fn allocation(&self, allocation: &Allocation) -> Json {
        let mut fields = vec![("kind".to_owned(), string("allocation"))];
        if let Some(mechanism) = &allocation.mechanism {
            fields.push(("mechanism".to_owned(), string(mechanism)));
        }
        let sharing = if allocation.sharing == Sharing::Tdm { "tdm" } else { "rdm" };
        fields.push(("sharing".to_owned(), string(sharing)));
        let arithmetic = if allocation.arithmetic == Arithmetic::Exact { "exact" } else { "float" };
        fields.push(("arithmetic".to_owned(), string(arithmetic)));
        fields.push(("tasks".to_owned(), self.tasks(&allocation.tasks)));
        Json::Object(fields)
    }

    fn tasks(&self, tasks: &Tasks) -> Json {
        let users = tasks.iter().enumerate().map(|(n, on)| {
            let on = on.iter().filter(|(_, x)| !x.is_zero()).map(|(i, x)| (self.server(*i), number(x)));
            (self.user(n), Json::Object(on.collect()))
        });
        Json::Object(users.filter(|(_, on)| !matches!(on, Json::Object(on) if on.is_empty())).collect())
    }

    fn claim(&self, claim: &Claim) -> Json {
        let mut fields = vec![("axiom".to_owned(), string(claim.axiom.name()))];
        if let Some(share) = claim.share {
            fields.push(("share".to_owned(), Json::Text(share.name(self.problem))));
        }
        if let Some(alpha) = &claim.alpha {
            fields.push(("alpha".to_owned(), number(alpha)));
        }
        fields.push(("holds".to_owned(), claim.holds.map_or(Json::Null, Json::Bool)));
        fields.push(("margin".to_owned(), claim.margin.as_ref().map_or(Json::Null, number)));
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
            Evidence::Levels { resource, levels } => {
                let levels = levels.iter().map(|level| {
                    let mut fields = vec![("level".to_owned(), number(&level.level))];
                    fields.extend(self.prices(&level.prices));
                    Json::Object(fields)
                });
                of(resource, vec![("levels", Json::List(levels.collect()))])
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
            Evidence::Better(tasks) => fields([("better", self.tasks(tasks))]),
            Evidence::Nothing { user: n } => fields([("user", user(n))]),
        }
    }

    fn witness(&self, witness: Witness) -> Json {
        let Witness::Row(row) = witness else { return string("satisfied") };
        let rows = self.constraints.rows();
        let named = rows.get(row).map(|at| (self.server(at.server), self.kind(at.kind)));
        let (server, resource) = named.unwrap_or_default();
        fields([("server", Json::Text(server)), ("resource", Json::Text(resource))])
    }

    fn limit(&self, limit: Limit, slack: &Rational) -> Json {
        let slack = ("slack", number(slack));
        match limit {
            Limit::Row(row) => {
                let (server, kind) = self
                    .constraints
                    .rows()
                    .get(row)
                    .map_or_else(Default::default, |row| (self.server(row.server), self.kind(row.kind)));
                fields([("server", Json::Text(server)), ("resource", Json::Text(kind)), slack])
            }
            Limit::Tasks(n) => fields([("user", Json::Text(self.user(n))), slack]),
            Limit::Entry(n, i) => {
                fields([("user", Json::Text(self.user(n))), ("server", Json::Text(self.server(i))), slack])
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

// ---- reading ----

struct Reader<'r, 't> {
    document: &'r Document<'t>,
    problem: &'r Problem,
    constraints: Constraints<'r>,
    users: HashMap<&'r str, usize>,
    servers: HashMap<&'r str, usize>,
    /// What is left of [`MAX_LEVEL_NUMBERS`].
    numbers_left: Cell<usize>,
}

impl<'r, 't> Reader<'r, 't> {
    fn new(document: &'r Document<'t>, problem: &'r Problem, sharing: Sharing) -> Self {
        let constraints = Constraints::new(problem, sharing);
        let numbers_left = Cell::new(MAX_LEVEL_NUMBERS);
        let (users, servers) = (problem.user_index(), problem.server_index());
        Self { document, problem, constraints, users, servers, numbers_left }
    }

    fn claim(&self, raw: &'t RawValue) -> Result<Claim, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["axiom", "share", "alpha", "holds", "margin", "evidence", "why"])?;
        let axiom = self.axiom(object.need(document, "axiom")?)?;
        if !axiom.is_available() {
            let message = format!("this version cannot check `{}`", axiom.name());
            return Err(document.error(object.need(document, "axiom")?, message));
        }
        let share = object.get("share").map(|raw| self.share(raw)).transpose()?;
        let alpha = object.get("alpha").map(|raw| document.number(raw)).transpose()?;
        let is_of = |parameters: Parameters, field: &str| {
            let about = object.get(field).unwrap_or(raw);
            parameters.of(axiom).map_err(|refusal| document.error(about, refusal.to_string()))
        };
        is_of(Parameters { share, alpha: None }, "share")?;
        let Parameters { share, alpha } = is_of(Parameters { share, alpha }, "alpha")?;
        let holds = object.need(document, "holds")?;
        let holds = if is_null(holds) { None } else { Some(document.boolean(holds)?) };
        let margin = object.get("margin").filter(|raw| !is_null(raw));
        let margin = margin.map(|raw| document.result_number(raw)).transpose()?;
        let evidence = match object.get("evidence") {
            None => Evidence::None,
            Some(raw) => self.evidence(axiom, raw)?,
        };
        let why = object.get("why").map(|raw| document.string(raw)).transpose()?;
        if why.is_some() != holds.is_none() {
            let message =
                "the field `why` belongs to what does not apply (`holds` null), and to nothing else";
            return Err(document.error(object.get("why").unwrap_or(raw), message));
        }
        let why = why.map(std::borrow::Cow::into_owned);
        Ok(Claim { axiom, share, alpha, holds, margin, evidence, why })
    }

    fn axiom(&self, raw: &'t RawValue) -> Result<Axiom, FormatError> {
        let name = self.document.string(raw)?;
        Axiom::parse(&name).ok_or_else(|| self.unknown(raw, "axiom"))
    }

    fn share(&self, raw: &'t RawValue) -> Result<Share, FormatError> {
        let name = self.document.string(raw)?;
        Share::parse(&name, self.problem).map_err(|error| self.document.error(raw, error.to_string()))
    }

    fn not_checked(&self, raw: &'t RawValue) -> Result<Vec<String>, FormatError> {
        let mut names = Vec::new();
        let mut seen = HashSet::new();
        for raw in self.document.list(raw)? {
            let axiom = self.axiom(raw)?;
            if !seen.insert(axiom) {
                return Err(self.document.error(raw, "this axiom is named twice"));
            }
            names.push(axiom.name().to_owned());
        }
        Ok(names)
    }

    fn evidence(&self, axiom: Axiom, raw: &'t RawValue) -> Result<Evidence, FormatError> {
        let object = self.document.object(raw)?;
        if object.fields().is_empty() {
            return Ok(Evidence::None);
        }
        match axiom {
            Axiom::Feasible => self.limit(&object),
            Axiom::EnvyFree => self.envy(&object),
            Axiom::SharingIncentive => self.entitlement(&object),
            Axiom::ParetoOptimal if object.get("dominating").is_some() => {
                object.only(self.document, &["dominating"])?;
                Ok(Evidence::Dominating(self.tasks(object.need(self.document, "dominating")?)?))
            }
            Axiom::ParetoOptimal => {
                object.only(self.document, &["user_weights", "prices", "user_prices"])?;
                Ok(Evidence::Prices(self.prices(&object)?))
            }
            Axiom::Njc => self.njc(&object),
            Axiom::Proportional if object.get("better").is_some() => {
                object.only(self.document, &["better"])?;
                Ok(Evidence::Better(self.tasks(object.need(self.document, "better")?)?))
            }
            Axiom::Proportional if object.get("user").is_some() => {
                object.only(self.document, &["user"])?;
                Ok(Evidence::Nothing { user: self.named_user(&object, "user")? })
            }
            Axiom::Proportional => {
                object.only(self.document, &["prices", "user_prices"])?;
                let (rows, users) = self.unweighted_prices(&object)?;
                Ok(Evidence::Prices(Prices { user_weights: Vec::new(), rows, users }))
            }
            Axiom::MaxMin => self.max_min(&object, None),
            Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair => {
                let raw = object.need(self.document, "resource")?;
                self.max_min(&object, Some(self.resource(&self.document.string(raw)?, raw)?))
            }
            _ => Err(self.document.error(raw, format!("`{}` takes no evidence", axiom.name()))),
        }
    }

    fn limit(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let document = self.document;
        object.only(document, &["server", "resource", "user", "slack"])?;
        let slack = document.result_number(object.need(document, "slack")?)?;
        let user = object.get("user").map(|raw| self.user(&document.string(raw)?, raw)).transpose()?;
        let server = object.get("server").map(|raw| self.server(&document.string(raw)?, raw)).transpose()?;
        let limit = match (user, server, object.get("resource")) {
            (None, Some(i), Some(raw)) => Limit::Row(self.row(i, &document.string(raw)?, raw)?),
            (Some(n), None, None) => Limit::Tasks(n),
            (Some(n), Some(i), None) => Limit::Entry(n, i),
            _ => {
                let message = "expected `server` and `resource`, or `user`, or `user` and `server`";
                return Err(document.error(object.raw(), message));
            }
        };
        Ok(Evidence::Limit { limit, slack })
    }

    fn envy(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let (pair, gain) = self.tightest(object, &["user", "envied"], "gain")?;
        let (user, envied) = (self.named_user(&pair, "user")?, self.named_user(&pair, "envied")?);
        Ok(Evidence::Envy { user, envied, gain })
    }

    fn entitlement(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let (pair, loss) = self.tightest(object, &["user"], "loss")?;
        Ok(Evidence::Entitlement { user: self.named_user(&pair, "user")?, loss })
    }

    /// `{"tightest": {users}}`, or `{users, amount}`: the object that names the users, and the amount.
    fn tightest(
        &self,
        object: &Object<'t>,
        users: &[&str],
        amount: &str,
    ) -> Result<(Object<'t>, Option<Rational>), FormatError> {
        let document = self.document;
        if let Some(raw) = object.get("tightest") {
            object.only(document, &["tightest"])?;
            let inner = document.object(raw)?;
            inner.only(document, users)?;
            return Ok((inner, None));
        }
        object.only(document, &[users, &[amount]].concat())?;
        let amount = document.result_number(object.need(document, amount)?)?;
        Ok((object.clone(), Some(amount)))
    }

    fn max_min(&self, object: &Object<'t>, resource: Option<usize>) -> Result<Evidence, FormatError> {
        let document = self.document;
        let of_resource: &[&str] = if resource.is_some() { &["resource"] } else { &[] };
        if let Some(raw) = object.get("levels") {
            object.only(document, &[of_resource, &["levels"]].concat())?;
            let list = document.list(raw)?;
            let numbers = 2 * self.problem.n_users() + self.constraints.rows().len();
            let Some(left) = self.numbers_left.get().checked_sub(list.len().saturating_mul(numbers)) else {
                return Err(document.error(raw, format!("{} levels are too many", list.len())));
            };
            self.numbers_left.set(left);
            let levels = list.into_iter().map(|raw| self.level(raw));
            return Ok(Evidence::Levels { resource, levels: levels.collect::<Result<_, _>>()? });
        }
        object.only(document, &[of_resource, &["user", "allocation"]].concat())?;
        let user = self.named_user(object, "user")?;
        let allocation = self.tasks(object.need(document, "allocation")?)?;
        Ok(Evidence::Rise { resource, user, allocation })
    }

    fn level(&self, raw: &'t RawValue) -> Result<Level, FormatError> {
        let object = self.document.object(raw)?;
        object.only(self.document, &["level", "user_weights", "prices", "user_prices"])?;
        let level = self.document.result_number(object.need(self.document, "level")?)?;
        Ok(Level { level, prices: self.prices(&object)? })
    }

    fn prices(&self, object: &Object<'t>) -> Result<Prices, FormatError> {
        let (rows, users) = self.unweighted_prices(object)?;
        let user_weights = self.by_user(object.need(self.document, "user_weights")?)?;
        Ok(Prices { user_weights, rows, users })
    }

    /// Of the rows, and of the users.
    fn unweighted_prices(&self, object: &Object<'t>) -> Result<(Vec<Rational>, Vec<Rational>), FormatError> {
        let mut rows = vec![Rational::new(); self.constraints.rows().len()];
        for (row, price) in self.by_row(object.need(self.document, "prices")?)? {
            rows[row] = price;
        }
        let users = match object.get("user_prices") {
            Some(raw) => self.by_user(raw)?,
            None => vec![Rational::new(); self.problem.n_users()],
        };
        Ok((rows, users))
    }

    /// `{server: {resource: value}}`, by row in the order of the file.
    fn by_row(&self, raw: &'t RawValue) -> Result<Vec<(usize, Rational)>, FormatError> {
        let document = self.document;
        let mut values = Vec::new();
        for (server, raw) in document.object(raw)?.fields() {
            let i = self.server(server, raw)?;
            for (resource, raw) in document.object(raw)?.fields() {
                values.push((self.row(i, resource, raw)?, document.result_number(raw)?));
            }
        }
        Ok(values)
    }

    fn njc(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let document = self.document;
        if let Some(raw) = object.get("witness") {
            object.only(document, &["witness"])?;
            let mut witnesses = vec![None; self.problem.n_users()];
            for (user, raw) in document.object(raw)?.fields() {
                witnesses[self.user(user, raw)?] = Some(self.witness(raw)?);
            }
            return Ok(Evidence::Witnesses(witnesses));
        }
        object.only(document, &["user", "entitlement", "shares"])?;
        let mut shares = self.by_row(object.need(document, "shares")?)?;
        shares.sort_by_key(|(row, _)| *row);
        Ok(Evidence::Complaint(Complaint {
            user: self.named_user(object, "user")?,
            entitlement: document.result_number(object.need(document, "entitlement")?)?,
            shares,
        }))
    }

    fn witness(&self, raw: &'t RawValue) -> Result<Witness, FormatError> {
        let document = self.document;
        if raw.get().starts_with('"') {
            return match &*document.string(raw)? {
                "satisfied" => Ok(Witness::Satisfied),
                _ => Err(document.error(raw, "expected `satisfied`, or `server` and `resource`")),
            };
        }
        let object = document.object(raw)?;
        object.only(document, &["server", "resource"])?;
        let server = object.need(document, "server")?;
        let i = self.server(&document.string(server)?, server)?;
        let resource = object.need(document, "resource")?;
        Ok(Witness::Row(self.row(i, &document.string(resource)?, resource)?))
    }

    fn by_user(&self, raw: &'t RawValue) -> Result<Vec<Rational>, FormatError> {
        let mut values = vec![Rational::new(); self.problem.n_users()];
        for (user, raw) in self.document.object(raw)?.fields() {
            values[self.user(user, raw)?] = self.document.result_number(raw)?;
        }
        Ok(values)
    }

    fn tasks(&self, raw: &'t RawValue) -> Result<Tasks, FormatError> {
        let mut tasks = vec![Vec::new(); self.problem.n_users()];
        for (user, raw) in self.document.object(raw)?.fields() {
            let on = &mut tasks[self.user(user, raw)?];
            for (server, raw) in self.document.object(raw)?.fields() {
                on.push((self.server(server, raw)?, self.document.result_number(raw)?));
            }
            on.sort_by_key(|(i, _)| *i);
        }
        Ok(tasks)
    }

    fn named_user(&self, object: &Object<'t>, field: &str) -> Result<usize, FormatError> {
        let raw = object.need(self.document, field)?;
        self.user(&self.document.string(raw)?, raw)
    }

    fn user(&self, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        self.users.get(name).copied().ok_or_else(|| self.unknown(raw, "user"))
    }

    fn server(&self, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        self.servers.get(name).copied().ok_or_else(|| self.unknown(raw, "server"))
    }

    fn resource(&self, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        let found = self.problem.resources().iter().position(|resource| resource == name);
        found.ok_or_else(|| self.unknown(raw, "resource"))
    }

    fn row(&self, i: usize, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        let kind = if !self.constraints.is_time_shared(i) {
            RowKind::Resource(self.resource(name, raw)?)
        } else if name == "time" {
            RowKind::Time
        } else {
            let message = "the server is shared by time: expected the resource `time`";
            return Err(self.document.error(raw, message));
        };
        self.constraints.row_of(i, kind).ok_or_else(|| self.unknown(raw, "resource"))
    }

    fn unknown(&self, raw: &'t RawValue, what: &str) -> FormatError {
        self.document.error(raw, format!("there is no such {what}"))
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}
