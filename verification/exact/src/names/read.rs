//! Reads evidence: users, servers, resources and rows are given by name, and numbers are read exactly.

use std::collections::{HashMap, HashSet};

use evenhand_problem::format::{Document, FormatError, Object};
use evenhand_problem::{Constraints, Placement, Problem, Rational, RowKind, Sharing};
use serde_json::value::RawValue;

use crate::evidence::{ClassMark, Level};
use crate::instance::Tasks;
use crate::limit_rows::{LimitOf, LimitRows};
use crate::prices::{PriceVector, Prices};

/// A reader for the names and numbers in a document about one problem.
pub(crate) struct Reader<'r, 't> {
    pub document: &'r Document<'t>,
    pub problem: &'r Problem,
    constraints: Constraints<'r>,
    users: HashMap<&'r str, usize>,
    servers: HashMap<&'r str, usize>,
    resources: HashMap<&'r str, usize>,
    groups: HashMap<&'r str, usize>,
    limits: LimitRows,
}

impl<'r, 't> Reader<'r, 't> {
    pub fn new(document: &'r Document<'t>, problem: &'r Problem, sharing: Sharing) -> Self {
        let constraints = Constraints::new(problem, sharing);
        let (users, servers) = (problem.user_index(), problem.server_index());
        let resources = problem.resources().iter().map(String::as_str).zip(0..).collect();
        let groups = problem.groups().list().iter().map(|group| group.name.as_str()).zip(0..).collect();
        let limits = LimitRows::new(problem, &Vec::new());
        Self { document, problem, constraints, users, servers, resources, groups, limits }
    }

    /// Returns an error if the object has other fields than `fields`.
    pub fn only(&self, object: &Object<'t>, fields: &[&str]) -> Result<(), FormatError> {
        object.only(self.document, fields)
    }

    /// Returns a required field.
    pub fn need(&self, object: &Object<'t>, field: &str) -> Result<&'t RawValue, FormatError> {
        object.need(self.document, field)
    }

    pub fn object(&self, raw: &'t RawValue) -> Result<Object<'t>, FormatError> {
        self.document.object(raw)
    }

    /// Reads a required field that is a computed number.
    pub fn number(&self, object: &Object<'t>, field: &str) -> Result<Rational, FormatError> {
        self.document.result_number(self.need(object, field)?)
    }

    /// Returns an error about the value `raw`.
    pub fn error(&self, raw: &RawValue, what: impl Into<String>) -> FormatError {
        self.document.error(raw, what)
    }

    /// Reads a list of names of server classes. Returns the classes in ascending order.
    pub fn classes(&self, raw: &'t RawValue) -> Result<Vec<usize>, FormatError> {
        let names = self.document.list(raw)?.into_iter();
        let classes = names.map(|name| self.server(&self.document.string(name)?, name));
        let mut classes = classes.collect::<Result<Vec<_>, _>>()?;
        classes.sort_unstable();
        match classes.is_empty() || classes.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(self.error(raw, "expected names of server classes, none twice")),
            false => Ok(classes),
        }
    }

    /// Reads a required field that names a group.
    pub fn named_group(&self, object: &Object<'t>, field: &str) -> Result<usize, FormatError> {
        let raw = self.need(object, field)?;
        let name = self.document.string(raw)?;
        self.groups.get(&*name).copied().ok_or_else(|| self.unknown(raw, "group"))
    }

    pub fn levels(&self, raw: &'t RawValue) -> Result<Vec<Level>, FormatError> {
        self.document.list(raw)?.into_iter().map(|raw| self.level(raw)).collect()
    }

    fn level(&self, raw: &'t RawValue) -> Result<Level, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(
            document,
            &["covers", "user_weights", "prices", "user_prices", "limit_prices", "at_most_prices"],
        )?;
        let mut covers = Vec::new();
        for raw in document.list(object.need(document, "covers")?)? {
            covers.push(self.user(&document.string(raw)?, raw)?);
        }
        covers.sort_unstable();
        Ok(Level { covers, prices: self.price_vector(&object)? })
    }

    /// Reads the fields `user_weights`, `prices`, `user_prices`, `limit_prices` and `at_most_prices`.
    pub fn price_vector(&self, object: &Object<'t>) -> Result<PriceVector, FormatError> {
        let document = self.document;
        let mut rows = self.by_row(object.need(document, "prices")?)?;
        rows.extend(self.of_limits(object)?);
        rows.extend(self.of_accelerators(object)?);
        rows.sort_by_key(|(row, _)| *row);
        let user_weights = self.of_users(object.need(document, "user_weights")?)?;
        let users = object.get("user_prices").map(|raw| self.of_users(raw)).transpose()?.unwrap_or_default();
        Ok(PriceVector { user_weights, rows, users })
    }

    /// Reads `{user: value}`, ascending by user.
    pub fn of_users(&self, raw: &'t RawValue) -> Result<Vec<(usize, Rational)>, FormatError> {
        let mut values = Vec::new();
        for (user, raw) in self.document.object(raw)?.fields() {
            values.push((self.user(user, raw)?, self.document.result_number(raw)?));
        }
        values.sort_by_key(|(n, _)| *n);
        Ok(values)
    }

    /// Reads `{user: {least, most}}`, ascending by user.
    pub fn values(&self, raw: &'t RawValue) -> Result<Vec<(usize, [Rational; 2])>, FormatError> {
        let mut values = Vec::new();
        for (user, raw) in self.document.object(raw)?.fields() {
            let object = self.document.object(raw)?;
            self.only(&object, &["least", "most"])?;
            values.push((
                self.user(user, raw)?,
                [self.number(&object, "least")?, self.number(&object, "most")?],
            ));
        }
        values.sort_by_key(|(n, _)| *n);
        Ok(values)
    }

    pub fn prices(&self, object: &Object<'t>) -> Result<Prices, FormatError> {
        let (rows, users) = self.unweighted_prices(object)?;
        let user_weights = self.by_user(object.need(self.document, "user_weights")?)?;
        Ok(Prices { user_weights, rows, users })
    }

    /// Reads the prices of the rows and the prices of the users.
    pub fn unweighted_prices(
        &self,
        object: &Object<'t>,
    ) -> Result<(Vec<Rational>, Vec<Rational>), FormatError> {
        let mut rows = vec![Rational::new(); self.constraints.rows().len() + self.limits.list().len()];
        let of_rows = self.by_row(object.need(self.document, "prices")?)?;
        let of_limits = self.of_limits(object)?.into_iter().chain(self.of_accelerators(object)?);
        for (row, price) in of_rows.into_iter().chain(of_limits) {
            rows[row] = price;
        }
        let users = match object.get("user_prices") {
            Some(raw) => self.by_user(raw)?,
            None => vec![Rational::new(); self.problem.n_users()],
        };
        Ok((rows, users))
    }

    /// Reads the field `at_most_prices`, `{user: price}` of the limits of accelerators. The positions of these prices
    /// follow the positions of the rows.
    fn of_accelerators(&self, object: &Object<'t>) -> Result<Vec<(usize, Rational)>, FormatError> {
        let Some(raw) = object.get("at_most_prices") else { return Ok(Vec::new()) };
        let mut prices = Vec::new();
        for (n, price) in self.of_users(raw)? {
            let Some(at) = self.limits.of_accelerators(n) else {
                return Err(self.error(raw, "this user has no `at_most`, so it cannot have a price for it"));
            };
            prices.push((self.constraints.rows().len() + at, price));
        }
        Ok(prices)
    }

    /// Reads the field `limit_prices`, a list of `{"group", "on", "resource", "price"}`. The positions of these prices
    /// follow the positions of the rows.
    fn of_limits(&self, object: &Object<'t>) -> Result<Vec<(usize, Rational)>, FormatError> {
        let mut prices: Vec<(usize, Rational)> = Vec::new();
        let list = object.get("limit_prices").map_or(Ok(Vec::new()), |raw| self.document.list(raw))?;
        for raw in list {
            let (ClassMark { group, on, resource }, price) = self.limit_price(raw)?;
            let of_group = self.limits.of_group(group);
            let is_it = |at: &usize| {
                let of = &self.limits.list()[*at].of;
                matches!(of, LimitOf::Group { on: o, resource: r, .. } if *r == resource && *o == on)
            };
            let Some(at) = of_group.into_iter().find(is_it) else {
                return Err(self.error(raw, "the evidence states a price for a limit that does not exist"));
            };
            prices.push((self.constraints.rows().len() + at, price));
        }
        let mut named = HashSet::new();
        match object.get("limit_prices").filter(|_| !prices.iter().all(|(row, _)| named.insert(*row))) {
            Some(raw) => Err(self.error(raw, "a limit has two prices")),
            None => Ok(prices),
        }
    }

    /// Reads `{"group", "on", "resource", "price"}`, where `on` is absent for a limit on the whole cluster.
    pub fn limit_price(&self, raw: &'t RawValue) -> Result<(ClassMark, Rational), FormatError> {
        let object = self.object(raw)?;
        self.only(&object, &["group", "on", "resource", "price"])?;
        let resource = self.need(&object, "resource")?;
        let mark = ClassMark {
            group: self.named_group(&object, "group")?,
            on: object.get("on").map_or(Ok(Vec::new()), |raw| self.classes(raw))?,
            resource: self.resource(&self.document.string(resource)?, resource)?,
        };
        Ok((mark, self.number(&object, "price")?))
    }

    /// Reads `{server: {resource: value}}`. Returns `(row, value)` in the order of the file.
    pub fn by_row(&self, raw: &'t RawValue) -> Result<Vec<(usize, Rational)>, FormatError> {
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

    fn by_user(&self, raw: &'t RawValue) -> Result<Vec<Rational>, FormatError> {
        let mut values = vec![Rational::new(); self.problem.n_users()];
        for (user, raw) in self.document.object(raw)?.fields() {
            values[self.user(user, raw)?] = self.document.result_number(raw)?;
        }
        Ok(values)
    }

    pub fn tasks(&self, raw: &'t RawValue) -> Result<Tasks, FormatError> {
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

    pub fn named_user(&self, object: &Object<'t>, field: &str) -> Result<usize, FormatError> {
        let raw = object.need(self.document, field)?;
        self.user(&self.document.string(raw)?, raw)
    }

    pub fn user(&self, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        self.users.get(name).copied().ok_or_else(|| self.unknown(raw, "user"))
    }

    pub fn server(&self, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        self.servers.get(name).copied().ok_or_else(|| self.unknown(raw, "server"))
    }

    pub fn resource(&self, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
        self.resources.get(name).copied().ok_or_else(|| self.unknown(raw, "resource"))
    }

    pub fn row(&self, i: usize, name: &str, raw: &'t RawValue) -> Result<usize, FormatError> {
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

    pub fn unknown(&self, raw: &'t RawValue, what: &str) -> FormatError {
        self.document.error(raw, format!("there is no such {what}"))
    }

    pub fn index(&self, raw: &'t RawValue) -> Result<u64, FormatError> {
        let value = self.document.number(raw)?;
        let index = if value.is_integer() { value.numer().to_u64() } else { None };
        index.ok_or_else(|| self.document.error(raw, "expected an integer of at least 0"))
    }

    pub fn placements(&self, raw: &'t RawValue) -> Result<Vec<Placement>, FormatError> {
        let document = self.document;
        let mut placements = Vec::new();
        for raw in document.list(raw)? {
            let object = document.object(raw)?;
            object.only(document, &["server", "index", "tasks"])?;
            let server = object.need(document, "server")?;
            let server = self.server(&document.string(server)?, server)?;
            let index = self.index(object.need(document, "index")?)?;
            let mut tasks = Vec::new();
            for (user, raw) in document.object(object.need(document, "tasks")?)?.fields() {
                tasks.push((self.user(user, raw)?, document.result_number(raw)?));
            }
            tasks.sort_by_key(|(n, _)| *n);
            placements.push(Placement { server, index, tasks });
        }
        Ok(placements)
    }
}
