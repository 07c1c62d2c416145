//! Linear programmes of any kind: exact answers, and judgements on the answers of any solver.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use evenhand::import::Input;
use evenhand::lp::canonical::hash;
use evenhand::lp::json;
use evenhand::lp::judge::{Judgement, Violation, judge};
use evenhand::lp::model::{Direction, Model, Position};
use evenhand::lp::read::read;
use evenhand::lp::solve::{Answer, Infeasibility, Settings, Status, solve};
use evenhand::lp::stated::{self, StatedAnswer};
use evenhand::problem::{Rational, number};
use evenhand::report::lp::{Verdict, answer_in_words};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::numbers;
use crate::workshop::{self, Granted, Size};

/// The largest size of an unpacked programme or answer, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// The most entries of a small programme.
const MOST_SMALL: usize = 1 << 12;

/// Numbers as fractions of Python.
type Fractions<'py> = Vec<Bound<'py, PyAny>>;
/// The kind of a position (`row` or `column`) and its name.
type Named = (&'static str, String);
/// The position and the size of a violation.
type Violated<'py> = (Named, Bound<'py, PyAny>);

/// A linear programme that has been read.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct LinearProgramme {
    model: Arc<Model>,
    /// The size of its text in bytes. The limits of a call grow with it.
    bytes: u64,
}

#[pymethods]
impl LinearProgramme {
    /// Reads a text. Messages call it `name`.
    #[staticmethod]
    fn parse(py: Python<'_>, name: String, text: String, granted: Granted) -> PyResult<Self> {
        workshop::run(py, (granted.limits(), Size::Small), None, move |_| Self::of_text(&name, &text))
    }

    /// Reads a file, which may be packed.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, granted: Granted) -> PyResult<Self> {
        workshop::run(py, (granted.limits(), Size::Small), None, move |_| {
            Self::of_text(&path.to_string_lossy(), &unpacked(&path)?)
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    #[getter]
    fn maximises(&self) -> bool {
        self.model.direction == Direction::Maximise
    }

    #[getter]
    fn rows(&self) -> Vec<&str> {
        self.model.rows.iter().map(|row| row.name.as_str()).collect()
    }

    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.model.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Returns the names of the columns that have to be integers.
    #[getter]
    fn integers(&self) -> Vec<&str> {
        let columns = self.model.columns.iter().filter(|column| column.is_integer);
        columns.map(|column| column.name.as_str()).collect()
    }

    /// Returns the numbers of rows, columns and entries that are not 0.
    #[getter]
    fn size(&self) -> (usize, usize, usize) {
        (self.model.rows.len(), self.model.columns.len(), self.model.n_entries())
    }

    /// Returns the hash that certificates name.
    fn sha256(&self, py: Python<'_>) -> String {
        py.detach(|| hash(&self.model))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| json::write(&self.model))
    }

    /// Solves the programme exactly. Columns that have to be integers are relaxed.
    #[pyo3(signature = (seconds, granted, progress = None))]
    fn solve(
        &self,
        py: Python<'_>,
        seconds: Option<f64>,
        granted: Granted,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<LinearAnswer> {
        let time = seconds.map(Duration::try_from_secs_f64).transpose();
        let time = time.map_err(|error| Failure::field("seconds", error))?;
        // A deadline that the clock cannot represent is no limit.
        let time = time.filter(|time| Instant::now().checked_add(*time).is_some());
        let (model, bytes) = (Arc::clone(&self.model), self.bytes);
        workshop::run(py, (granted.limits(), self.work_size()), progress.as_ref(), move |_| {
            evenhand_budget::read(bytes);
            let answer = solve(&model, &Settings { time, ..Settings::default() })?;
            Ok(LinearAnswer { model, answer })
        })
    }

    /// Judges an answer: values by column, and prices by row as the change of the objective for one more unit of the right-hand
    /// side.
    #[pyo3(signature = (x, y, objective, missing, tolerance, exact, granted, progress = None))]
    fn check(
        &self,
        py: Python<'_>,
        x: Vec<String>,
        y: Option<Vec<String>>,
        objective: Option<String>,
        missing: usize,
        tolerance: &str,
        exact: bool,
        granted: Granted,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<LinearJudgement> {
        let state = move |model: &Model| {
            let x = each("x", &x, model.columns.len(), "columns")?;
            let y = y.map(|y| each("y", &y, model.rows.len(), "rows")).transpose()?;
            let objective = objective.map(|text| result("objective", &text)).transpose()?;
            Ok(StatedAnswer { x, y: y.map(|y| turned(model, &y)), objective, missing })
        };
        self.judged(py, state, tolerance, exact, granted, progress.as_ref())
    }

    /// Judges the answer in a file, which may be packed.
    #[pyo3(signature = (path, tolerance, exact, granted, progress = None))]
    fn check_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        tolerance: &str,
        exact: bool,
        granted: Granted,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<LinearJudgement> {
        let state = move |model: &Model| {
            let text = unpacked(&path)?;
            evenhand_budget::read(text.len() as u64);
            stated::read(model, &text).map_err(|error| Failure::Input {
                what: error.message,
                field: None,
                place: Some((path.to_string_lossy().into_owned(), error.line, 1)),
            })
        };
        self.judged(py, state, tolerance, exact, granted, progress.as_ref())
    }
}

impl LinearProgramme {
    fn of_text(name: &str, text: &str) -> Result<Self, Failure> {
        let bytes = text.len() as u64;
        evenhand_budget::read(bytes);
        Ok(Self { model: Arc::new(read(name, text)?), bytes })
    }

    fn work_size(&self) -> Size {
        if self.model.n_entries() <= MOST_SMALL { Size::Small } else { Size::Large }
    }

    fn judged(
        &self,
        py: Python<'_>,
        state: impl FnOnce(&Model) -> Result<StatedAnswer, Failure> + Send + 'static,
        tolerance: &str,
        exact: bool,
        granted: Granted,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<LinearJudgement> {
        let tolerance = numbers::parse("tolerance", tolerance)?;
        if !(0..1).contains(&tolerance) {
            let what =
                format!("found {}: expected a number of at least 0 and below 1", number::format(&tolerance));
            return Err(Failure::field("tolerance", what).into());
        }
        let (model, bytes) = (Arc::clone(&self.model), self.bytes);
        workshop::run(py, (granted.limits(), self.work_size()), progress, move |_| {
            evenhand_budget::read(bytes);
            let answer = state(&model)?;
            let judgement = judge(&model, &answer);
            let exact = exact.then(|| solve(&model, &Settings::default())).transpose()?;
            Ok(LinearJudgement { model, answer, judgement, exact, tolerance })
        })
    }
}

/// The exact answer of a programme.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct LinearAnswer {
    model: Arc<Model>,
    answer: Answer,
}

#[pymethods]
impl LinearAnswer {
    #[getter]
    fn status(&self) -> &'static str {
        match &self.answer.status {
            Status::Optimal(_) => "optimal",
            Status::Infeasible(_) => "infeasible",
            Status::Unbounded { .. } => "unbounded",
            Status::Limit { .. } => "limit",
        }
    }

    /// Returns the objective of the optimum. If the time is up, this is the objective of the best feasible point, if
    /// one is known.
    #[getter]
    fn objective<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(
            py,
            match &self.answer.status {
                Status::Optimal(optimum) => Some(&optimum.objective),
                Status::Limit { feasible, .. } => feasible.as_ref().map(|(_, objective)| objective),
                Status::Infeasible(_) | Status::Unbounded { .. } => None,
            },
        )
    }

    /// Returns the proven bound on the objective.
    #[getter]
    fn bound<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(
            py,
            match &self.answer.status {
                Status::Optimal(optimum) => Some(&optimum.objective),
                Status::Limit { bound, .. } => bound.as_ref().map(|(_, bound)| bound),
                Status::Infeasible(_) | Status::Unbounded { .. } => None,
            },
        )
    }

    /// Returns the optimum, or a feasible point, by column.
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Option<Fractions<'py>>> {
        fractions(
            py,
            match &self.answer.status {
                Status::Optimal(optimum) => Some(&optimum.x),
                Status::Unbounded { x, .. } => Some(x),
                Status::Limit { feasible, .. } => feasible.as_ref().map(|(x, _)| x),
                Status::Infeasible(_) => None,
            },
        )
    }

    /// Returns the prices of the rows: the change of the objective for one more unit of the right-hand side.
    fn y<'py>(&self, py: Python<'py>) -> PyResult<Option<Fractions<'py>>> {
        let y = self.prices().map(|y| turned(&self.model, y));
        fractions(py, y.as_deref())
    }

    /// Returns the reduced costs: the change of the objective for one more unit of a column.
    fn reduced_costs<'py>(&self, py: Python<'py>) -> PyResult<Option<Fractions<'py>>> {
        let reduced = self.prices().map(|y| py.detach(|| turned(&self.model, &self.model.reduced_costs(y))));
        fractions(py, reduced.as_deref())
    }

    /// Returns the row prices that prove infeasibility (Farkas' lemma).
    fn farkas<'py>(&self, py: Python<'py>) -> PyResult<Option<Fractions<'py>>> {
        fractions(
            py,
            match &self.answer.status {
                Status::Infeasible(Infeasibility::Prices(y)) => Some(y),
                _ => None,
            },
        )
    }

    /// Returns the row or column whose lower bound is above its upper bound.
    #[getter]
    fn empty(&self) -> Option<Named> {
        match &self.answer.status {
            Status::Infeasible(Infeasibility::EmptyBounds(at)) => Some(named(&self.model, *at)),
            _ => None,
        }
    }

    /// Returns the direction in which the objective improves for ever.
    fn ray<'py>(&self, py: Python<'py>) -> PyResult<Option<Fractions<'py>>> {
        fractions(
            py,
            match &self.answer.status {
                Status::Unbounded { ray, .. } => Some(ray),
                _ => None,
            },
        )
    }

    /// Returns the numbers of rounds of refinement and of exact pivots.
    #[getter]
    fn work(&self) -> (usize, usize) {
        (self.answer.refinements, self.answer.pivots)
    }

    /// Returns the answer as `evenhand lp solve` prints it.
    fn words(&self, py: Python<'_>) -> String {
        py.detach(|| answer_in_words(&self.model, &self.answer))
    }

    /// Returns the document of the answer, as `evenhand lp solve` writes it.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| json::answer(&self.model, &self.answer))
    }

    /// Returns the certificate; `None` if the time was up.
    fn certificate(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| json::certificate(&self.model, &self.answer))
    }
}

impl LinearAnswer {
    /// Returns the prices of the minimised programme.
    fn prices(&self) -> Option<&[Rational]> {
        match &self.answer.status {
            Status::Optimal(optimum) => Some(&optimum.y),
            Status::Limit { bound, .. } => bound.as_ref().map(|(y, _)| y.as_slice()),
            Status::Infeasible(_) | Status::Unbounded { .. } => None,
        }
    }
}

/// The judgement on an answer.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct LinearJudgement {
    model: Arc<Model>,
    answer: StatedAnswer,
    judgement: Judgement,
    exact: Option<Answer>,
    tolerance: Rational,
}

#[pymethods]
impl LinearJudgement {
    #[getter]
    fn accepted(&self) -> bool {
        self.verdict().is_good()
    }

    #[getter]
    fn sentence(&self) -> String {
        self.verdict().sentence()
    }

    #[getter]
    fn missing(&self) -> usize {
        self.answer.missing
    }

    #[getter]
    fn tolerance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers::fraction(py, &self.tolerance)
    }

    #[getter]
    fn objective<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers::fraction(py, &self.judgement.objective)
    }

    #[getter]
    fn objective_error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(py, self.judgement.objective_error.as_ref())
    }

    #[getter]
    fn bound<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(py, self.judgement.prices.as_ref().and_then(|prices| prices.bound.as_ref()))
    }

    /// Returns the distance of the objective from the exact optimum. If the optimum is not known, this is the distance
    /// from the bound that the prices prove.
    #[getter]
    fn gap<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(py, self.verdict().gap().as_ref())
    }

    #[getter]
    fn optimum<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(
            py,
            match &self.exact {
                Some(Answer { status: Status::Optimal(optimum), .. }) => Some(&optimum.objective),
                _ => None,
            },
        )
    }

    /// Returns the largest violations: of a row, a bound, integrality, the sign of a price, and complementarity.
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Violated<'py>>>> {
        let Judgement { row, bound, integrality, prices, .. } = &self.judgement;
        let of_prices = prices.as_ref();
        let dual = of_prices.and_then(|prices| prices.dual_violation.as_ref());
        let complementarity = of_prices.and_then(|prices| prices.complementarity.as_ref());
        let all = [row.as_ref(), bound.as_ref(), integrality.as_ref(), dual, complementarity];
        let stated = |of: &Violation| Ok((named(&self.model, of.at), numbers::fraction(py, &of.by)?));
        all.into_iter().map(|violation| violation.map(stated).transpose()).collect()
    }

    /// Returns the lines that `evenhand lp check` prints.
    fn words(&self, py: Python<'_>) -> String {
        py.detach(|| self.verdict().lines().join("\n"))
    }

    /// Returns the document that `evenhand --format json lp check` prints.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| format!("{:#}\n", self.verdict().document()))
    }
}

impl LinearJudgement {
    fn verdict(&self) -> Verdict<'_> {
        Verdict {
            model: &self.model,
            answer: &self.answer,
            judgement: &self.judgement,
            exact: self.exact.as_ref(),
            tolerance: &self.tolerance,
        }
    }
}

fn fractions<'py>(
    py: Python<'py>,
    values: Option<impl AsRef<[Rational]>>,
) -> PyResult<Option<Fractions<'py>>> {
    let each = |value: &Rational| numbers::fraction(py, value);
    values.map(|values| values.as_ref().iter().map(each).collect()).transpose()
}

/// Converts prices of the minimised programme to prices of the stated objective, or back.
fn turned(model: &Model, prices: &[Rational]) -> Vec<Rational> {
    match model.direction {
        Direction::Minimise => prices.to_vec(),
        Direction::Maximise => prices.iter().map(|price| Rational::from(-price)).collect(),
    }
}

fn named(model: &Model, at: Position) -> Named {
    match at {
        Position::Row(i) => ("row", model.rows[i].name.clone()),
        Position::Column(j) => ("column", model.columns[j].name.clone()),
    }
}

fn result(field: &str, text: &str) -> Result<Rational, Failure> {
    number::parse_result(text).map_err(|error| Failure::field(field, error))
}

/// Reads one number for each row or column.
fn each(field: &str, texts: &[String], expected: usize, what: &str) -> Result<Vec<Rational>, Failure> {
    if texts.len() != expected {
        let what = format!("found {} values: expected one for each of {expected} {what}", texts.len());
        return Err(Failure::field(field, what));
    }
    texts.iter().enumerate().map(|(at, text)| result(&format!("{field}[{at}]"), text)).collect()
}

/// Reads a file that may be packed.
fn unpacked(path: &Path) -> Result<String, Failure> {
    let (name, reader, _) = Input::open(path)?.parts();
    let mut bytes = Vec::new();
    let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::of_file(&name, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::Limit(format!("{name}: more than {MOST_BYTES} bytes, the most that is read")));
    }
    String::from_utf8(bytes).map_err(|error| Failure::Input {
        what: format!("no UTF-8: {}", error.utf8_error()),
        field: None,
        place: Some((name, 1, 1)),
    })
}
