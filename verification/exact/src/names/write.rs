//! Writing evidence: indices as names, numbers exactly, zeros left out.

use std::collections::BTreeMap;

use evenhand_problem::{Allocation, Arithmetic, Constraints, Placement, Problem, Rational, RowKind, Sharing};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::evidence::{ClassMark, Level};
use crate::instance::Tasks;
use crate::limit_rows::LimitRows;
use crate::prices::{PriceVector, Prices};

/// What is written; objects keep their order.
pub(crate) enum Json {
    Null,
    Bool(bool),
    Index(u64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// A value that is text already.
    Written(Box<RawValue>),
}

impl Json {
    /// An object of fields in this order.
    pub fn object<'n>(fields: impl IntoIterator<Item = (&'n str, Self)>) -> Self {
        Self::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The same as its text, which takes a part of the memory.
    pub fn written(self) -> Self {
        RawValue::from_string(self.text()).map_or(self, Self::Written)
    }

    pub fn text(&self) -> String {
        // Strings, lists and objects with string keys: there is nothing that cannot be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Adds the text.
    pub fn write(&self, out: &mut Vec<u8>) {
        let _ = serde_json::to_writer(out, self);
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Index(value) => serializer.serialize_u64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Written(text) => text.serialize(serializer),
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

pub(crate) fn string(text: &str) -> Json {
    Json::Text(text.to_owned())
}

pub(crate) fn number(value: &Rational) -> Json {
    Json::Text(value.to_string())
}

pub(crate) fn fields<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::object(fields)
}

/// Writes indices as names. An index that is out of range names nothing: nothing panics, and the file is refused.
pub(crate) struct Names<'a> {
    pub problem: &'a Problem,
    constraints: Constraints<'a>,
    limits: LimitRows,
}

impl<'a> Names<'a> {
    pub fn new(problem: &'a Problem, sharing: Sharing) -> Self {
        let limits = LimitRows::new(problem, &Vec::new());
        Self { problem, constraints: Constraints::new(problem, sharing), limits }
    }

    pub fn user(&self, n: usize) -> String {
        self.problem.users().get(n).map_or_else(String::new, |user| user.name().to_owned())
    }

    pub fn server(&self, i: usize) -> String {
        self.problem.servers().get(i).map_or_else(String::new, |server| server.name().to_owned())
    }

    /// The name of a user as a value.
    pub fn user_name(&self, n: usize) -> Json {
        Json::Text(self.user(n))
    }

    /// The name of a group as a value.
    pub fn group_name(&self, v: usize) -> Json {
        let group = self.problem.groups().list().get(v);
        Json::Text(group.map_or_else(String::new, |group| group.name.clone()))
    }

    /// The name of a resource as a value.
    pub fn resource_name(&self, r: usize) -> Json {
        Json::Text(self.resource(r))
    }

    /// The name of a server class as a value.
    pub fn server_name(&self, i: usize) -> Json {
        Json::Text(self.server(i))
    }

    pub fn resource(&self, r: usize) -> String {
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

    /// `{user: {least, most}}`.
    pub fn values(&self, values: &[(usize, [Rational; 2])]) -> Json {
        let ends = |[least, most]: &[Rational; 2]| fields([("least", number(least)), ("most", number(most))]);
        Json::Object(values.iter().map(|(n, of)| (self.user(*n), ends(of))).collect())
    }

    pub fn placements(&self, placements: &[Placement]) -> Json {
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

    pub fn tasks(&self, tasks: &Tasks) -> Json {
        let users = tasks.iter().enumerate().map(|(n, on)| {
            let on = on.iter().filter(|(_, x)| !x.is_zero()).map(|(i, x)| (self.server(*i), number(x)));
            (self.user(n), Json::Object(on.collect()))
        });
        Json::Object(users.filter(|(_, on)| !matches!(on, Json::Object(on) if on.is_empty())).collect())
    }

    pub fn levels(&self, levels: &[Level]) -> Json {
        let level = |Level { covers, prices }: &Level| {
            let covers = Json::List(covers.iter().map(|n| Json::Text(self.user(*n))).collect());
            Json::object([("covers", covers)].into_iter().chain(self.price_vector(prices)))
        };
        Json::List(levels.iter().map(level).collect())
    }

    /// The fields `user_weights`, `prices`, `user_prices` and, where a limit has a price, `limit_prices`.
    pub fn price_vector(&self, prices: &PriceVector) -> impl Iterator<Item = (&'static str, Json)> {
        let by_user = |values: &[(usize, Rational)]| {
            Json::Object(values.iter().map(|(n, value)| (self.user(*n), number(value))).collect())
        };
        [
            ("user_weights", by_user(&prices.user_weights)),
            ("prices", self.by_row(prices.rows.iter().map(|(row, price)| (*row, price)))),
            ("user_prices", by_user(&prices.users)),
        ]
        .into_iter()
        .chain(self.of_limits(prices.rows.iter().map(|(row, price)| (*row, price))))
    }

    /// The field `limit_prices`, where there are prices after those of the rows.
    fn of_limits<'v>(
        &self,
        values: impl Iterator<Item = (usize, &'v Rational)>,
    ) -> Option<(&'static str, Json)> {
        let limit = |(row, price): (usize, &Rational)| {
            let of = self.limits.list().get(row.checked_sub(self.constraints.rows().len())?)?;
            let mark = ClassMark { group: of.group, on: of.on.clone(), resource: of.resource };
            Some(self.limit_price(&mark, price))
        };
        let list: Vec<Json> = values.filter_map(limit).collect();
        (!list.is_empty()).then_some(("limit_prices", Json::List(list)))
    }

    /// The price of a limit; one on the whole cluster has no `on`.
    pub fn limit_price(&self, ClassMark { group, on, resource }: &ClassMark, price: &Rational) -> Json {
        let on = Json::List(on.iter().map(|i| self.server_name(*i)).collect());
        let on = matches!(&on, Json::List(on) if !on.is_empty()).then_some(("on", on));
        let group = [("group", self.group_name(*group))];
        let rest = [("resource", self.resource_name(*resource)), ("price", number(price))];
        Json::object(group.into_iter().chain(on).chain(rest))
    }

    /// The class of a row.
    pub fn class(&self, row: usize) -> Option<usize> {
        self.constraints.rows().get(row).map(|at| at.server)
    }

    /// Server and resource of a row.
    pub fn row(&self, row: usize) -> (String, String) {
        let found = self.constraints.rows().get(row);
        found.map(|at| (self.server(at.server), self.kind(at.kind))).unwrap_or_default()
    }

    pub fn prices(&self, prices: &Prices) -> Vec<(String, Json)> {
        let by_user = |values: &[Rational]| {
            let values = values.iter().enumerate().filter(|(_, value)| !value.is_zero());
            Json::Object(values.map(|(n, value)| (self.user(n), number(value))).collect())
        };
        let rows = prices.rows.iter().enumerate().filter(|(_, price)| !price.is_zero());
        vec![
            ("user_weights".to_owned(), by_user(&prices.user_weights)),
            ("prices".to_owned(), self.by_row(rows.clone())),
            ("user_prices".to_owned(), by_user(&prices.users)),
        ]
        .into_iter()
        .chain(self.of_limits(rows).map(|(name, value)| (name.to_owned(), value)))
        .collect()
    }

    /// `{server: {resource: value}}`.
    pub fn by_row<'v>(&self, values: impl Iterator<Item = (usize, &'v Rational)>) -> Json {
        let mut by_server: BTreeMap<usize, Vec<(String, Json)>> = BTreeMap::new();
        for (row, value) in values {
            let Some(at) = self.constraints.rows().get(row) else { continue };
            by_server.entry(at.server).or_default().push((self.kind(at.kind), number(value)));
        }
        let rows = by_server.into_iter().map(|(i, values)| (self.server(i), Json::Object(values)));
        Json::Object(rows.collect())
    }
}
