//! A linear or integer programme with the proof of a bound, and its text in the format VIPR.
//!
//! The text uses only syntax that all checkers can read: one constraint or derivation on each line, no
//! coefficient of 0, and numbers in the form `p` or `p/q`.

use std::fmt::{self, Display, Formatter};

use evenhand_problem::{Rational, printable};

/// Pairs `(index, number)` of variables or constraints, in ascending order and without zeros.
pub(crate) type Terms = Vec<(usize, Rational)>;

/// A programme that maximises its objective over non-negative variables, with its proof.
pub(crate) struct Programme {
    /// The description of the programme in words. Each element is a line.
    pub about: Vec<String>,
    /// The names of the variables.
    pub variables: Vec<String>,
    /// True if all variables must be whole numbers. Otherwise no variable must be a whole number.
    pub integer: bool,
    pub objective: Terms,
    /// The constraints. Their numbers come after those of the constraints that no variable is negative.
    pub rows: Vec<Row>,
    /// Feasible points, each with a name.
    pub solutions: Vec<(&'static str, Terms)>,
    /// The objective value of one of the solutions.
    pub lower: Rational,
    /// The bound that the last derivation proves. `None` if no bound is proven.
    pub upper: Option<Rational>,
    steps: Vec<Step>,
    /// True if the objective consists only of an artificial variable that is 0.
    is_idle: bool,
}

/// The constraint that `sum terms` is at most `right`, or at least `right`.
pub(crate) struct Row {
    pub name: String,
    pub sense: Sense,
    pub right: Rational,
    pub terms: Terms,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    AtMost,
    AtLeast,
}

/// A derived constraint.
pub(crate) struct Step {
    pub sense: Sense,
    pub right: Rational,
    pub left: Left,
    pub reason: Reason,
}

pub(crate) enum Left {
    Objective,
    Terms(Terms),
}

/// The reason why a derived constraint holds. Indices refer to constraints.
pub(crate) enum Reason {
    Assumed,
    /// A linear combination of constraints.
    Linear(Terms),
    /// A linear combination of constraints whose right-hand side is rounded.
    Rounded(Terms),
    /// The constraint holds under each of two assumptions, one of which is true. The pairs are `(constraint,
    /// assumption)`.
    Unsplit([(usize, usize); 2]),
}

impl Programme {
    /// Creates a programme. If the authors' checker is built with assertions, it accepts no bound on an
    /// objective without variables. Such an objective therefore gets an artificial variable, which a row
    /// fixes at 0.
    pub fn new(mut variables: Vec<String>, mut objective: Terms) -> Self {
        let is_idle = objective.is_empty();
        if is_idle {
            objective.push((variables.len(), Rational::from(1)));
            variables.push("zero".to_owned());
        }
        Self {
            is_idle,
            about: Vec::new(),
            variables,
            integer: false,
            objective,
            rows: Vec::new(),
            solutions: Vec::new(),
            lower: Rational::new(),
            upper: None,
            steps: Vec::new(),
        }
    }

    /// Returns the index of the constraint that variable `v` is at least 0.
    pub fn bound(v: usize) -> usize {
        v
    }

    /// Returns the index of a row in the numbering of constraints.
    pub fn row(&self, at: usize) -> usize {
        self.variables.len() + at
    }

    /// Adds a row. Returns its index in the numbering of constraints.
    pub fn push_row(&mut self, name: String, sense: Sense, right: Rational, terms: Terms) -> usize {
        self.rows.push(Row { name, sense, right, terms });
        self.row(self.rows.len() - 1)
    }

    /// Adds a derivation after all rows. Returns its index in the numbering of constraints.
    pub fn push(&mut self, mut step: Step) -> usize {
        if self.is_idle {
            if self.steps.is_empty() {
                let objective = self.objective.clone();
                self.push_row("zero".to_owned(), Sense::AtMost, Rational::new(), objective);
            }
            self.hold_at_zero(&mut step);
        }
        self.steps.push(step);
        self.n_given() + self.steps.len() - 1
    }

    /// Adds the row of the artificial variable to a sum that bounds the objective. Does nothing if the sum
    /// already bounds the artificial variable.
    fn hold_at_zero(&self, step: &mut Step) {
        let (Left::Objective, Reason::Linear(terms) | Reason::Rounded(terms)) =
            (&step.left, &mut step.reason)
        else {
            return;
        };
        let given = self.n_given();
        let is_bound = |at: usize| at >= given && matches!(self.steps[at - given].left, Left::Objective);
        let has: Rational = terms.iter().filter(|(at, _)| is_bound(*at)).map(|(_, times)| times).sum();
        let at = terms.partition_point(|(at, _)| *at < given - 1);
        if has != 1 {
            terms.insert(at, (given - 1, 1 - has));
        }
    }

    /// Adds the constraint that the objective is at most `right`. Returns the index of the constraint.
    pub fn push_bound(&mut self, right: Rational, reason: Reason) -> usize {
        self.push(Step { sense: Sense::AtMost, right, left: Left::Objective, reason })
    }

    /// Returns the objective at a point.
    pub fn value(&self, point: &Terms) -> Rational {
        let of = |v: &usize| point.binary_search_by_key(v, |(at, _)| *at).ok().map(|at| &point[at].1);
        self.objective.iter().filter_map(|(v, c)| Some(Rational::from(c * of(v)?))).sum()
    }

    fn n_given(&self) -> usize {
        self.variables.len() + self.rows.len()
    }

    /// Returns for each derivation the last derivation that refers to it. `None` if no derivation refers to
    /// it.
    fn last_uses(&self) -> Vec<Option<usize>> {
        let given = self.n_given();
        let mut last = vec![None; self.steps.len()];
        let mut used = |by: usize, at: usize| {
            if at >= given {
                last[at - given] = Some(by + given);
            }
        };
        for (by, step) in self.steps.iter().enumerate() {
            match &step.reason {
                Reason::Assumed => {}
                Reason::Linear(terms) | Reason::Rounded(terms) => {
                    terms.iter().for_each(|(at, _)| used(by, *at));
                }
                Reason::Unsplit(parts) => {
                    for (constraint, assumption) in parts {
                        used(by, *constraint);
                        used(by, *assumption);
                    }
                }
            }
        }
        last
    }
}

/// Writes the text of the file.
impl Display for Programme {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for line in &self.about {
            writeln!(out, "% {}", printable(line))?;
        }
        writeln!(out, "VER 1.0\nVAR {}", self.variables.len())?;
        wrapped(out, self.variables.iter().cloned())?;
        let integers = if self.integer { self.variables.len() } else { 0 };
        writeln!(out, "INT {integers}")?;
        wrapped(out, (0..integers).map(|v| v.to_string()))?;
        writeln!(out, "OBJ max\n{}", Sum(&self.objective))?;
        writeln!(out, "CON {} {}", self.n_given(), self.variables.len())?;
        for (v, name) in self.variables.iter().enumerate() {
            writeln!(out, "{name}_lower G 0  1 {v} 1")?;
        }
        for Row { name, sense, right, terms } in &self.rows {
            writeln!(out, "{name} {} {right}  {}", sense.letter(), Sum(terms))?;
        }
        let upper = self.upper.as_ref().map_or_else(|| "inf".to_owned(), Rational::to_string);
        writeln!(out, "RTP range {} {upper}\nSOL {}", self.lower, self.solutions.len())?;
        for (name, point) in &self.solutions {
            writeln!(out, "{name} {}", Sum(point))?;
        }
        writeln!(out, "DER {}", self.steps.len())?;
        for (at, (step, last)) in self.steps.iter().zip(self.last_uses()).enumerate() {
            writeln!(
                out,
                "d{} {step} {}",
                at + 1,
                last.map_or_else(|| "-1".to_owned(), |at| at.to_string())
            )?;
        }
        Ok(())
    }
}

impl Display for Step {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}  ", self.sense.letter(), self.right)?;
        match &self.left {
            Left::Objective => out.write_str("OBJ")?,
            Left::Terms(terms) => Sum(terms).fmt(out)?,
        }
        match &self.reason {
            Reason::Assumed => out.write_str("  { asm }"),
            Reason::Linear(terms) => write!(out, "  {{ lin {} }}", Sum(terms)),
            Reason::Rounded(terms) => write!(out, "  {{ rnd {} }}", Sum(terms)),
            Reason::Unsplit([(c1, a1), (c2, a2)]) => write!(out, "  {{ uns {c1} {a1}  {c2} {a2} }}"),
        }
    }
}

impl Sense {
    fn letter(self) -> char {
        match self {
            Self::AtMost => 'L',
            Self::AtLeast => 'G',
        }
    }
}

/// A sum. It is written as its number of terms, followed by the terms.
struct Sum<'t>(&'t Terms);

impl Display for Sum<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0.len())?;
        self.0.iter().try_for_each(|(at, value)| write!(out, "  {at} {value}"))
    }
}

/// Writes words in lines of limited length. Writes nothing if there are no words.
fn wrapped(out: &mut Formatter<'_>, words: impl Iterator<Item = String>) -> fmt::Result {
    const WIDTH: usize = 100;
    let mut length = 0;
    for word in words {
        if length > 0 && length + word.len() > WIDTH {
            out.write_str("\n")?;
            length = 0;
        } else if length > 0 {
            out.write_str(" ")?;
        }
        length += word.len() + 1;
        out.write_str(&word)?;
    }
    if length > 0 { out.write_str("\n") } else { Ok(()) }
}
