//! Reading the claims of certificates.

mod places;

use std::collections::{HashMap, HashSet};

use evenhand_problem::format::{Document, FormatError, Object};
use evenhand_problem::{Constraints, Problem, Rational, RowKind, Sharing};
use serde_json::value::RawValue;

use crate::axiom::Axiom;
use crate::axiom::feasible::Limit;
use crate::axiom::max_min::Level;
use crate::axiom::njc::{Complaint, Witness};
use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::instance::Tasks;
use crate::parameters::Parameters;
use crate::prices::{PriceVector, Prices};
use crate::share::Share;

/// Reads claims by name.
pub(super) struct Reader<'r, 't> {
    document: &'r Document<'t>,
    problem: &'r Problem,
    constraints: Constraints<'r>,
    users: HashMap<&'r str, usize>,
    servers: HashMap<&'r str, usize>,
    resources: HashMap<&'r str, usize>,
}

impl<'r, 't> Reader<'r, 't> {
    pub fn new(document: &'r Document<'t>, problem: &'r Problem, sharing: Sharing) -> Self {
        let constraints = Constraints::new(problem, sharing);
        let (users, servers) = (problem.user_index(), problem.server_index());
        let resources = problem.resources().iter().map(String::as_str).zip(0..).collect();
        Self { document, problem, constraints, users, servers, resources }
    }

    pub fn claim(&self, raw: &'t RawValue) -> Result<Claim, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["axiom", "share", "alpha", "holds", "margin", "evidence", "why"])?;
        let axiom = self.axiom(object.need(document, "axiom")?)?;
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

    pub fn not_checked(&self, raw: &'t RawValue) -> Result<Vec<String>, FormatError> {
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
            Axiom::IntegerFeasible => self.single_limit(&object),
            Axiom::EnvyFree => self.envy(&object),
            Axiom::Ef1 => self.envy_up_to_one(&object),
            Axiom::SharingIncentive => self.entitlement(&object),
            Axiom::ParetoOptimal if object.get("dominating").is_some() => {
                object.only(self.document, &["dominating"])?;
                Ok(Evidence::Dominating(self.tasks(object.need(self.document, "dominating")?)?))
            }
            Axiom::IntegerParetoOptimal if object.get("dominating").is_some() => {
                object.only(self.document, &["dominating"])?;
                let placements = self.placements(object.need(self.document, "dominating")?)?;
                Ok(Evidence::DominatingPlacements(placements))
            }
            Axiom::ParetoOptimal | Axiom::IntegerParetoOptimal => {
                object.only(self.document, &["user_weights", "prices", "user_prices"])?;
                Ok(Evidence::Prices(self.prices(&object)?))
            }
            Axiom::Njc => self.njc(&object),
            Axiom::PsDsf => self.ps_dsf(&object),
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
            Axiom::WorkConserving => self.work_conserving(&object),
            Axiom::MaxMin if object.get("levels").is_some() => {
                object.only(self.document, &["levels"])?;
                Ok(Evidence::Levels(self.levels(object.need(self.document, "levels")?)?))
            }
            Axiom::MaxMin => self.rise(&object, None),
            Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair => {
                self.bottleneck(&object)
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

    /// `{"resources": {resource: levels}}`, or `{"resource", "user", "allocation"}`.
    fn bottleneck(&self, object: &Object<'t>) -> Result<Evidence, FormatError> {
        let document = self.document;
        if let Some(raw) = object.get("resources") {
            object.only(document, &["resources"])?;
            let mut resources = Vec::new();
            for (name, raw) in document.object(raw)?.fields() {
                resources.push((self.resource(name, raw)?, self.levels(raw)?));
            }
            resources.sort_by_key(|(r, _)| *r);
            return Ok(Evidence::LevelsByResource(resources));
        }
        let raw = object.need(document, "resource")?;
        self.rise(object, Some(self.resource(&document.string(raw)?, raw)?))
    }

    fn rise(&self, object: &Object<'t>, resource: Option<usize>) -> Result<Evidence, FormatError> {
        let of_resource: &[&str] = if resource.is_some() { &["resource"] } else { &[] };
        object.only(self.document, &[of_resource, &["user", "allocation"]].concat())?;
        let user = self.named_user(object, "user")?;
        let allocation = self.tasks(object.need(self.document, "allocation")?)?;
        Ok(Evidence::Rise { resource, user, allocation })
    }

    fn levels(&self, raw: &'t RawValue) -> Result<Vec<Level>, FormatError> {
        self.document.list(raw)?.into_iter().map(|raw| self.level(raw)).collect()
    }

    fn level(&self, raw: &'t RawValue) -> Result<Level, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["covers", "user_weights", "prices", "user_prices"])?;
        let mut covers = Vec::new();
        for raw in document.list(object.need(document, "covers")?)? {
            covers.push(self.user(&document.string(raw)?, raw)?);
        }
        covers.sort_unstable();
        let mut rows = self.by_row(object.need(document, "prices")?)?;
        rows.sort_by_key(|(row, _)| *row);
        let user_weights = self.of_users(object.need(document, "user_weights")?)?;
        let users = object.get("user_prices").map(|raw| self.of_users(raw)).transpose()?.unwrap_or_default();
        Ok(Level { covers, prices: PriceVector { user_weights, rows, users } })
    }

    /// `{user: value}`, users ascending.
    fn of_users(&self, raw: &'t RawValue) -> Result<Vec<(usize, Rational)>, FormatError> {
        let mut values = Vec::new();
        for (user, raw) in self.document.object(raw)?.fields() {
            values.push((self.user(user, raw)?, self.document.result_number(raw)?));
        }
        values.sort_by_key(|(n, _)| *n);
        Ok(values)
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
        self.resources.get(name).copied().ok_or_else(|| self.unknown(raw, "resource"))
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
        self.constraints.row_of(i, kind).ok_or_else(|| {
            let server = self.problem.servers()[i].name();
            self.document.error(raw, format!("server `{server}` has no `{name}`"))
        })
    }

    fn unknown(&self, raw: &'t RawValue, what: &str) -> FormatError {
        self.document.error(raw, format!("there is no such {what}"))
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}
