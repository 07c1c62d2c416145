//! Certificates of linear programmes (docs/linear-programmes.md). A certificate proves an optimum, that no point is
//! feasible, or that the objective has no bound.
//!
//! A maximised programme is judged as the minimised one with the opposite costs. Prices `y` of rows prove
//!
//! ```text
//! c x >= sum_i min(y_i r, l_i <= r <= u_i) + sum_j min((c - y A)_j v, l'_j <= v <= u'_j)
//! ```
//!
//! for every feasible `x` (weak duality). The proven bound is not finite if the term of a row or column with a price
//! needs an infinite bound.

use rug::Rational;

use crate::json::{Json, quoted, record};
use crate::names::{Amounts, Names, at};
use crate::number::hashed;
use crate::sha256::sha256;
use crate::work::{self, Checked, Fault, context, ensure, refuse};
use crate::{File, Options, Report, Unusable, Usable};

/// The bounds of a row or a column. `None` means that there is no bound.
#[derive(PartialEq)]
struct Bounds {
    lower: Option<Rational>,
    upper: Option<Rational>,
}

struct Programme {
    name: String,
    is_maximised: bool,
    constant: Rational,
    rows: Names,
    row_bounds: Vec<Bounds>,
    columns: Names,
    column_bounds: Vec<Bounds>,
    /// The cost of each column in the minimised programme.
    costs: Vec<Rational>,
    /// The entries of each column, by row.
    entries: Vec<Amounts>,
    /// For each column, true if its value has to be an integer. The proof does not use this field.
    integers: Vec<bool>,
}

/// The statement of a certificate, with its proof.
enum Statement {
    Optimal {
        objective: Rational,
        x: Amounts,
        y: Amounts,
    },
    Infeasible {
        y: Amounts,
    },
    /// The row or column whose lower bound is above its upper bound.
    Empty {
        is_row: bool,
        at: usize,
    },
    Unbounded {
        x: Amounts,
        ray: Amounts,
    },
}

impl Bounds {
    fn read(lower: &Json<'_>, upper: &Json<'_>) -> Checked<Self> {
        let end = |raw: &Json<'_>| raw.given().map(Json::number).transpose();
        Ok(Self { lower: end(lower)?, upper: end(upper)? })
    }

    fn hold(&self, value: &Rational) -> bool {
        self.lower.as_ref().is_none_or(|lower| lower <= value)
            && self.upper.as_ref().is_none_or(|upper| value <= upper)
    }

    /// Returns true if a point may move in this direction without reaching a bound.
    fn allow(&self, direction: &Rational) -> bool {
        !(*direction < 0 && self.lower.is_some() || *direction > 0 && self.upper.is_some())
    }

    /// Returns the smallest product of a price and a value within the bounds.
    fn least(&self, price: &Rational) -> Checked<Rational> {
        if price.is_zero() {
            return Ok(Rational::new());
        }
        let end = if *price > 0 { &self.lower } else { &self.upper };
        match end {
            Some(end) => work::times(end, price),
            None => refuse("a price needs a bound that is infinite"),
        }
    }
}

impl Programme {
    fn read(raw: &Json<'_>) -> Checked<Self> {
        let [kind, name, direction, constant, rows, columns] =
            raw.fields("kind? name? direction constant? rows columns")?;
        if kind.given().is_some() && kind.text() != Ok("linear-programme") {
            return kind.wrong("expected `linear-programme`");
        }
        let is_maximised = direction.word(&["minimise", "maximise"])? == 1;
        let mut row_names = Vec::new();
        let row_bounds = rows.rows("name lower? upper?", |[name, lower, upper]| {
            row_names.push(name);
            Bounds::read(lower, upper)
        })?;
        let rows = Names::new("row", row_names)?;
        let mut programme = Self {
            name: name.given().map_or(Ok(""), Json::text)?.to_owned(),
            is_maximised,
            constant: constant.given().map_or(Ok(Rational::new()), Json::number)?,
            columns: Names::new("column", [])?,
            rows,
            row_bounds,
            column_bounds: Vec::new(),
            costs: Vec::new(),
            entries: Vec::new(),
            integers: Vec::new(),
        };
        let mut column_names = Vec::new();
        for [name, cost, lower, upper, integer, entries] in
            columns.rows("name cost? lower? upper? integer? entries?", Ok)?
        {
            column_names.push(name);
            let cost = cost.given().map_or(Ok(Rational::new()), Json::number)?;
            programme.costs.push(if is_maximised { -cost } else { cost });
            programme.column_bounds.push(Bounds::read(lower, upper)?);
            programme.integers.push(integer.given().map_or(Ok(false), Json::boolean)?);
            let entries = programme.rows.map(entries, |_, raw| raw.number())?;
            programme.entries.push(entries.into_iter().filter(|(_, value)| !value.is_zero()).collect());
        }
        programme.columns = Names::new("column", column_names)?;
        work::has_problem();
        Ok(programme)
    }

    /// Returns the text that is hashed: the rows and then the columns of the minimised programme. Rows and columns are
    /// each in alphabetical order.
    fn canonical(&self) -> String {
        let end = |end: &Option<Rational>| end.as_ref().map_or("-".to_owned(), Rational::to_string);
        let bounds = |of: &Bounds| format!("{} {}", end(&of.lower), end(&of.upper));
        let constant =
            if self.is_maximised { Rational::from(-&self.constant) } else { self.constant.clone() };
        let mut lines = vec![format!("linear-programme {constant}")];
        let order = |names: &Names| {
            let mut order: Vec<usize> = (0..names.list.len()).collect();
            order.sort_by_key(|at| &names.list[*at]);
            order
        };
        for i in order(&self.rows) {
            lines.push(format!("row {} {}", quoted(&self.rows.list[i]), bounds(&self.row_bounds[i])));
        }
        for j in order(&self.columns) {
            let integer = if self.integers[j] { " integer" } else { "" };
            let mut entries: Vec<(&str, &Rational)> =
                self.entries[j].iter().map(|(row, value)| (&*self.rows.list[*row], value)).collect();
            entries.sort_unstable();
            let entries: String =
                entries.iter().map(|(row, value)| format!(" {} {value}", quoted(row))).collect();
            let (name, cost) = (quoted(&self.columns.list[j]), &self.costs[j]);
            lines.push(format!("column {name} {cost} {}{integer}{entries}", bounds(&self.column_bounds[j])));
        }
        lines.join("\n") + "\n"
    }

    /// Returns the values of the rows at a point.
    fn activities(&self, x: &Amounts) -> Checked<Vec<Rational>> {
        let mut terms = vec![Vec::new(); self.rows.list.len()];
        for (j, x) in x {
            for (row, value) in &self.entries[*j] {
                terms[*row].push(work::times(value, x)?);
            }
        }
        terms.into_iter().map(work::sum).collect()
    }

    /// Returns the objective of the minimised programme, without its constant.
    fn cost(&self, x: &Amounts) -> Checked<Rational> {
        work::sum(x.iter().map(|(j, x)| work::times(&self.costs[*j], x)).collect::<Checked<_>>()?)
    }

    fn is_feasible(&self, x: &Amounts) -> Checked<()> {
        for (row, value) in self.activities(x)?.iter().enumerate() {
            ensure(
                self.row_bounds[row].hold(value),
                &format!("the point violates row `{}`", self.rows.list[row]),
            )?;
        }
        let zero = Rational::new();
        for (j, bounds) in self.column_bounds.iter().enumerate() {
            let is_within = bounds.hold(at(x, j).unwrap_or(&zero));
            ensure(
                is_within,
                &format!("the point is outside the bounds of column `{}`", self.columns.list[j]),
            )?;
        }
        Ok(())
    }

    /// Returns the lower bound that prices prove. Costs count as 0 if `with_costs` is false.
    fn bound(&self, y: &Amounts, with_costs: bool) -> Checked<Rational> {
        let mut terms = Vec::new();
        for (row, price) in y {
            terms.push(self.row_bounds[*row].least(price)?);
        }
        for (j, entries) in self.entries.iter().enumerate() {
            let mut reduced = vec![if with_costs { self.costs[j].clone() } else { Rational::new() }];
            for (row, value) in entries {
                if let Some(price) = at(y, *row) {
                    reduced.push(-work::times(value, price)?);
                }
            }
            terms.push(self.column_bounds[j].least(&work::sum(reduced)?)?);
        }
        work::sum(terms)
    }

    /// Converts a cost in the minimised programme to the objective as stated.
    fn objective(&self, cost: &Rational) -> Rational {
        if self.is_maximised { self.constant.clone() - cost } else { self.constant.clone() + cost }
    }
}

impl Statement {
    fn read(fields: [&Json<'_>; 6], programme: &Programme) -> Checked<Self> {
        let [status, objective, x, y, ray, empty] = fields;
        let point = |raw: &Json<'_>| match raw.given() {
            None => raw.wrong("a part of the proof is missing"),
            Some(raw) => programme.columns.numbers(raw),
        };
        let prices = |raw: &Json<'_>| match raw.given() {
            None => raw.wrong("the prices are missing"),
            Some(raw) => programme.rows.numbers(raw),
        };
        Ok(match status.word(&["optimal", "infeasible", "unbounded"])? {
            0 => Self::Optimal { objective: objective.computed()?, x: point(x)?, y: prices(y)? },
            1 => match empty.given() {
                None => Self::Infeasible { y: prices(y)? },
                Some(empty) => {
                    let [row, column] = empty.fields("row? column?")?;
                    match (row.given(), column.given()) {
                        (Some(row), None) => Self::Empty { is_row: true, at: programme.rows.named(row)? },
                        (None, Some(column)) => {
                            Self::Empty { is_row: false, at: programme.columns.named(column)? }
                        }
                        _ => return empty.wrong("expected either `row` or `column`"),
                    }
                }
            },
            _ => Self::Unbounded { x: point(x)?, ray: point(ray)? },
        })
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Optimal { .. } => "optimal",
            Self::Infeasible { .. } | Self::Empty { .. } => "infeasible",
            Self::Unbounded { .. } => "unbounded",
        }
    }

    fn says(&self) -> String {
        match self {
            Self::Optimal { objective, .. } => format!("the optimum is {}", hashed(objective)),
            Self::Infeasible { .. } | Self::Empty { .. } => "no point is feasible".to_owned(),
            Self::Unbounded { .. } => "a point is feasible, and the objective has no bound".to_owned(),
        }
    }

    fn verify(&self, programme: &Programme) -> Checked<()> {
        match self {
            Self::Optimal { objective, x, y } => {
                context("x", programme.is_feasible(x))?;
                let cost = programme.cost(x)?;
                ensure(
                    programme.objective(&cost) == *objective,
                    "the objective of the point differs from the stated objective",
                )?;
                let bound = context("y", programme.bound(y, true))?;
                ensure(
                    bound == cost,
                    "the bound that the prices prove differs from the objective of the point",
                )
            }
            Self::Infeasible { y } => {
                let bound = context("y", programme.bound(y, false))?;
                ensure(
                    bound > 0,
                    "the prices do not prove a contradiction: their bound without costs is not above 0",
                )
            }
            Self::Empty { is_row, at } => {
                let of = if *is_row { &programme.row_bounds[*at] } else { &programme.column_bounds[*at] };
                let is_empty =
                    of.lower.as_ref().zip(of.upper.as_ref()).is_some_and(|(lower, upper)| lower > upper);
                ensure(is_empty, "the bounds do not contradict each other")
            }
            Self::Unbounded { x, ray } => {
                context("x", programme.is_feasible(x))?;
                let zero = Rational::new();
                for (row, change) in programme.activities(ray)?.iter().enumerate() {
                    ensure(programme.row_bounds[row].allow(change), "the ray leaves the bounds of a row")?;
                }
                for (j, bounds) in programme.column_bounds.iter().enumerate() {
                    let is_allowed = bounds.allow(at(ray, j).unwrap_or(&zero));
                    ensure(is_allowed, "the ray leaves the bounds of a column")?;
                }
                ensure(programme.cost(ray)? < 0, "the objective does not improve along the ray")
            }
        }
    }
}

/// Judges a certificate of a linear programme.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Usable<Report> {
    if options.allocation.is_some() || options.max_tolerance.is_some() || options.sharing.is_some() {
        return Err(Unusable::usage(
            "a certificate of a linear programme takes only the options --problem and --require",
        ));
    }
    let unusable = |fault: Fault| file.unusable(raw, fault);
    let read = || -> Checked<(Programme, String, Statement)> {
        let [_, version, programme, hash, status, objective, x, y, ray, empty] =
            raw.fields("kind version programme sha256 status objective? x? y? ray? empty?")?;
        version.count(1, 1)?;
        let programme = Programme::read(programme)?;
        let stated_hash = hash.text()?.to_owned();
        let statement = Statement::read([status, objective, x, y, ray, empty], &programme)?;
        Ok((programme, stated_hash, statement))
    };
    let (programme, stated_hash, statement) = read().map_err(unusable)?;
    let canonical = programme.canonical();
    let hash = sha256(&canonical);
    let mut unmet = Vec::new();
    if let Some(other) = &options.problem {
        let is_same = other.read(|raw| Programme::read(raw).map(|other| other.canonical() == canonical))?;
        unmet.extend((!is_same).then(|| "the certificate is about another programme".to_owned()));
    }
    for text in &options.require {
        if !["optimal", "infeasible", "unbounded"].contains(&text.as_str()) {
            let what = format!("--require {text}: expected `optimal`, `infeasible` or `unbounded`");
            return Err(Unusable::usage(&what));
        }
        unmet.extend(
            (text != statement.word())
                .then(|| format!("`{text}` is required, but the certificate claims another status")),
        );
    }
    let verify = || {
        ensure(stated_hash == hash, "`sha256` differs from the hash of the programme")?;
        statement.verify(&programme)
    };
    let reason = file.reason(raw, unmet, verify())?;
    let (rows, columns) = (programme.rows.list.len(), programme.columns.list.len());
    let mut about =
        vec![format!("programme sha256 {hash}: `{}`, rows {rows}, columns {columns}", programme.name)];
    let integers = programme.integers.iter().filter(|is_integer| **is_integer).count();
    if integers > 0 {
        about.push(format!(
            "the claim is about the relaxation: {integers} integer columns may take fractions"
        ));
    }
    let described = [quoted(&programme.name), rows.to_string(), columns.to_string(), quoted(&hash)];
    let objective = match &statement {
        Statement::Optimal { objective, .. } if reason.is_none() => Some(quoted(&objective.to_string())),
        _ => None,
    };
    let more = [
        ("tolerance", quoted("0")),
        ("programme", record("name rows columns sha256", described)),
        ("status", if reason.is_none() { quoted(statement.word()) } else { "null".to_owned() }),
        ("objective", objective.unwrap_or("null".to_owned())),
        ("relaxed", (integers > 0).to_string()),
    ];
    Ok(Report { reason, claims: vec![statement.says()], subject: about, fields: more.into() })
}
