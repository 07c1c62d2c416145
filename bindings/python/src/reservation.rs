//! Reservations: greedy packing compared with the optimum.

use std::path::PathBuf;
use std::sync::Arc;

use evenhand::certify::Checked;
use evenhand::certify::ratio::{self as certified, Monotone};
use evenhand::packing::SearchLimits;
use evenhand::problem::format::{Source, read_text, reservation_to_json};
use evenhand::report;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::numbers;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size};

/// A reservation problem.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Reservation(Arc<evenhand::problem::Reservation>);

/// The result, the certificate, and the reason why the kernel could not check it, if it could not.
type Proven = (Shown, String, Option<String>);

#[pymethods]
impl Reservation {
    #[staticmethod]
    fn parse(py: Python<'_>, name: String, text: String, granted: Granted) -> PyResult<Self> {
        workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
            evenhand_budget::read(text.len() as u64);
            Ok(Self(Arc::new(Source { name: &name, text: &text }.reservation()?)))
        })
    }

    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, granted: Granted) -> PyResult<Self> {
        workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
            let text = read_text(&path)?;
            Ok(Self(Arc::new(Source { name: &path.to_string_lossy(), text: &text }.reservation()?)))
        })
    }

    fn to_json(&self) -> String {
        reservation_to_json(&self.0)
    }
}

/// Computes the value of greedy packing, the optimum, and their ratio.
#[pyfunction]
#[pyo3(signature = (problem, granted, progress = None))]
pub fn ratio(
    py: Python<'_>,
    problem: &Reservation,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Proven> {
    let problem = Arc::clone(&problem.0);
    workshop::run(py, (granted.limits(), Size::Large), progress.as_ref(), move |_| {
        let Checked { certificate, unchecked } =
            certified::certificate_within(&problem, &SearchLimits::default())?;
        let shown = Shown::new(report::ratio::ratio(&certificate), &report::json::ratio(&certificate));
        Ok((shown, certificate.to_json(), unchecked))
    })
}

/// Computes the smallest fraction of the optimum that greedy packing earns, over all loads.
#[pyfunction]
#[pyo3(signature = (problem, granted, progress = None))]
pub fn worst_load(
    py: Python<'_>,
    problem: &Reservation,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Proven> {
    let problem = Arc::clone(&problem.0);
    one_pool(&problem)?;
    workshop::run(py, (granted.limits(), Size::Large), progress.as_ref(), move |tell| {
        let mut step =
            |claims: usize, ratio: &_| tell.tell(claims as f64, None, format!("least ratio so far {ratio}"));
        let Checked { certificate, unchecked } =
            certified::worst_load_within(&problem, &SearchLimits::default(), &mut step)?;
        let page = report::ratio::worst_load(&certificate);
        let shown = Shown::new(page, &report::json::worst_load(&certificate));
        Ok((shown, certificate.to_json(), unchecked))
    })
}

fn one_pool(problem: &evenhand::problem::Reservation) -> Result<(), Failure> {
    match problem.n_pools() {
        1 => Ok(()),
        pools => {
            let what = format!("expected one pool of identical servers, found {pools}");
            Err(Failure::field("servers", what))
        }
    }
}

/// Decides whether greedy packing never earns less when the load grows. Returns the answer, and the certificates of an
/// example if it may earn less.
#[pyfunction]
pub fn monotone(
    py: Python<'_>,
    problem: &Reservation,
    granted: Granted,
) -> PyResult<(bool, Shown, Vec<String>)> {
    let problem = Arc::clone(&problem.0);
    one_pool(&problem)?;
    workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
        let found = certified::monotone(&problem, &SearchLimits::default())?;
        let document = report::json::monotone(&problem, &found);
        let shown = Shown::new(report::ratio::monotone(&problem, &found), &document);
        let certificates = match &found {
            Monotone::Holds { .. } => Vec::new(),
            Monotone::Fails(two) => vec![two.smaller.to_json(), two.larger.to_json()],
        };
        Ok((certificates.is_empty(), shown, certificates))
    })
}

/// Computes the value of greedy packing and the optimum for multiples of the load.
#[pyfunction]
#[pyo3(signature = (problem, multiples, granted, progress = None))]
pub fn ratio_sweep(
    py: Python<'_>,
    problem: &Reservation,
    multiples: Vec<String>,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Shown> {
    let problem = Arc::clone(&problem.0);
    let multiples: Result<Vec<_>, Failure> =
        multiples.iter().map(|text| numbers::parse("multiples", text)).collect();
    let multiples = multiples?;
    if multiples.iter().any(|multiple| *multiple < 0) {
        return Err(Failure::field("multiples", "expected multiples of at least 0").into());
    }
    workshop::run(py, (granted.limits(), Size::Large), progress.as_ref(), move |tell| {
        let total = Some(multiples.len() as f64);
        let found =
            certified::sweep(&problem, &multiples, &mut |done| tell.tell(done as f64, total, "loads"));
        let found = found.map_err(Failure::solver)?;
        Ok(Shown::new(report::ratio::sweep(&found), &report::json::sweep(&found)))
    })
}
