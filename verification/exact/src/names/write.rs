//! Writes evidence: names instead of indices, exact numbers, and no zeros.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use evenhand_problem::{Allocation, Arithmetic, Constraints, Placement, Problem, Rational, RowKind, Sharing};

use crate::evidence::{ClassMark, Level};
use crate::instance::Tasks;
use crate::limit_rows::{LimitOf, LimitRows};
use crate::prices::{PriceVector, Prices};

/// A JSON value to write. Objects keep the order of their fields.
pub(crate) enum Json {
    Null,
    Bool(bool),
    Index(u64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// A value that is already text. For data of all users, a tree of values would take ten times the memory.
    Written(Arc<String>),
}

impl Json {
    /// Returns an object with these fields, in this order.
    pub fn object<'n>(fields: impl IntoIterator<Item = (&'n str, Self)>) -> Self {
        Self::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns an object whose fields are written one after the other, each value by its own function.
    pub fn written<'n, F: FnOnce(&mut String)>(fields: impl IntoIterator<Item = (&'n str, F)>) -> Self {
        let mut out = String::new();
        write_fields(&mut out, fields);
        Self::Written(Arc::new(out))
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Appends the text of the value.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Index(value) => {
                // Writing to a string cannot fail, so the result is ignored.
                let _ = write!(out, "{value}");
            }
            Self::Text(text) => quote(out, text),
            Self::List(list) => {
                out.push('[');
                for (position, value) in list.iter().enumerate() {
                    out.push_str(if position > 0 { "," } else { "" });
                    value.write(out);
                }
                out.push(']');
            }
            Self::Written(text) => out.push_str(text),
            Self::Object(fields) => write_fields(
                out,
                fields.iter().map(|(name, value)| (name.as_str(), |out: &mut String| value.write(out))),
            ),
        }
    }
}

fn write_fields<'n, F: FnOnce(&mut String)>(
    out: &mut String,
    fields: impl IntoIterator<Item = (&'n str, F)>,
) {
    let mut before = '{';
    for (name, value) in fields {
        out.push(before);
        quote(out, name);
        out.push(':');
        value(out);
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
}

/// Writes a string. Most names need no escapes and are copied.
fn quote(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        // A string always has a JSON form, so the default is never used.
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// Writes a number like [`number`]. Numbers that fit into machine integers are written without GMP, which would
/// allocate memory.
fn put_number(out: &mut String, value: &Rational) {
    let words = (value.numer().to_i128(), value.denom().to_u128());
    // Writing to a string cannot fail, so the result is ignored.
    let _ = match words {
        (Some(numerator), Some(1)) => write!(out, "\"{numerator}\""),
        (Some(numerator), Some(denominator)) => write!(out, "\"{numerator}/{denominator}\""),
        _ => write!(out, "\"{value}\""),
    };
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

/// A writer of names for indices. An index that is out of range gives an empty name, so that the writer does not panic
/// and readers reject the file.
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
        self.of_user(n).to_owned()
    }

    fn of_user(&self, n: usize) -> &str {
        self.problem.users().get(n).map_or("", |user| user.name())
    }

    pub fn server(&self, i: usize) -> String {
        self.of_server(i).to_owned()
    }

    fn of_server(&self, i: usize) -> &str {
        self.problem.servers().get(i).map_or("", |server| server.name())
    }

    /// Writes `{user: value}`.
    pub fn by_user<'v>(&self, values: impl Iterator<Item = (usize, &'v Rational)>) -> Json {
        Json::written(
            values.map(|(n, value)| (self.of_user(n), move |out: &mut String| put_number(out, value))),
        )
    }

    /// Returns the name of a user as a JSON value.
    pub fn user_name(&self, n: usize) -> Json {
        Json::Text(self.user(n))
    }

    /// Returns the name of a group as a JSON value.
    pub fn group_name(&self, v: usize) -> Json {
        let group = self.problem.groups().list().get(v);
        Json::Text(group.map_or_else(String::new, |group| group.name.clone()))
    }

    /// Returns the name of a resource as a JSON value.
    pub fn resource_name(&self, r: usize) -> Json {
        Json::Text(self.resource(r))
    }

    /// Returns the name of a server class as a JSON value.
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

    /// Writes the allocation, and the hash of its problem.
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

    /// Writes `{user: {least, most}}`.
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
        let used = |on: &[(usize, Rational)]| on.iter().any(|(_, x)| !x.is_zero());
        let users = tasks.iter().enumerate().filter(|(_, on)| used(on));
        Json::written(users.map(|(n, on)| {
            let on = on.iter().filter(|(_, x)| !x.is_zero());
            let on = on.map(|(i, x)| (self.of_server(*i), move |out: &mut String| put_number(out, x)));
            (self.of_user(n), |out: &mut String| write_fields(out, on))
        }))
    }

    pub fn levels(&self, levels: &[Level]) -> Json {
        let level = |Level { covers, prices }: &Level| {
            let mut names = String::from("[");
            for (position, n) in covers.iter().enumerate() {
                names.push_str(if position > 0 { "," } else { "" });
                quote(&mut names, self.of_user(*n));
            }
            names.push(']');
            let covers = Json::Written(Arc::new(names));
            Json::object([("covers", covers)].into_iter().chain(self.price_vector(prices)))
        };
        Json::List(levels.iter().map(level).collect())
    }

    /// Returns the fields `user_weights`, `prices`, `user_prices` and, if a limit has a price, `limit_prices` or
    /// `at_most_prices`.
    pub fn price_vector(&self, prices: &PriceVector) -> impl Iterator<Item = (&'static str, Json)> {
        let by_user =
            |values: &[(usize, Rational)]| self.by_user(values.iter().map(|(n, value)| (*n, value)));
        [
            ("user_weights", by_user(&prices.user_weights)),
            ("prices", self.by_row(prices.rows.iter().map(|(row, price)| (*row, price)))),
            ("user_prices", by_user(&prices.users)),
        ]
        .into_iter()
        .chain(self.of_limits(prices.rows.iter().map(|(row, price)| (*row, price))))
    }

    /// Returns the field `limit_prices`, or `at_most_prices` for limits of accelerators. Returns `None` if no prices
    /// follow the prices of the rows.
    fn of_limits<'v>(
        &self,
        values: impl Iterator<Item = (usize, &'v Rational)>,
    ) -> Option<(&'static str, Json)> {
        let (mut list, mut of_users) = (Vec::new(), Vec::new());
        for (row, price) in values {
            let at = row.checked_sub(self.constraints.rows().len());
            match at.and_then(|at| self.limits.list().get(at)).map(|row| &row.of) {
                None => {}
                Some(LimitOf::Group { group, on, resource }) => {
                    let mark = ClassMark { group: *group, on: on.clone(), resource: *resource };
                    list.push(self.limit_price(&mark, price));
                }
                Some(LimitOf::User(n)) => of_users.push((*n, price)),
            }
        }
        match (list.is_empty(), of_users.is_empty()) {
            (false, _) => Some(("limit_prices", Json::List(list))),
            (true, false) => Some(("at_most_prices", self.by_user(of_users.into_iter()))),
            (true, true) => None,
        }
    }

    /// Writes the price of a limit. The field `on` is omitted for a limit on the whole cluster.
    pub fn limit_price(&self, ClassMark { group, on, resource }: &ClassMark, price: &Rational) -> Json {
        let on = Json::List(on.iter().map(|i| self.server_name(*i)).collect());
        let on = matches!(&on, Json::List(on) if !on.is_empty()).then_some(("on", on));
        let group = [("group", self.group_name(*group))];
        let rest = [("resource", self.resource_name(*resource)), ("price", number(price))];
        Json::object(group.into_iter().chain(on).chain(rest))
    }

    /// Returns the server class of a row.
    pub fn class(&self, row: usize) -> Option<usize> {
        self.constraints.rows().get(row).map(|at| at.server)
    }

    /// Returns the names of the server class and the resource of a row.
    pub fn row(&self, row: usize) -> (String, String) {
        let found = self.constraints.rows().get(row);
        found.map(|at| (self.server(at.server), self.kind(at.kind))).unwrap_or_default()
    }

    pub fn prices(&self, prices: &Prices) -> Vec<(String, Json)> {
        let by_user = |values: &[Rational]| {
            self.by_user(values.iter().enumerate().filter(|(_, value)| !value.is_zero()))
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

    /// Writes `{server: {resource: value}}`.
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
