//! A linear or integer programme with the proof of a bound, and its text.
//!
//! The text keeps to what all checkers read: one constraint or derivation to a line, no coefficient that is
//! 0, numbers as `p` or `p/q`.

use std::fmt::Write;

use evenhand_problem::{Rational, printable};

/// `(index, number)`, ascending, none 0: of variables, or of constraints.
pub(crate) type Terms = Vec<(usize, Rational)>;

/// Maximise the objective over variables of at least 0.
pub(crate) struct Programme {
    /// What it is, in words, a line each.
    pub about: Vec<String>,
    /// Names of the variables.
    pub variables: Vec<String>,
    /// Whether all variables are whole numbers; else none has to be.
    pub integer: bool,
    pub objective: Terms,
    /// The constraints, after those that no variable is negative.
    pub rows: Vec<Row>,
    /// Feasible points, by name.
    pub solutions: Vec<(&'static str, Terms)>,
    /// What one of the solutions reaches.
    pub lower: Rational,
    /// What the last derivation proves; without it there is none.
    pub upper: Option<Rational>,
    steps: Vec<Step>,
}

/// `sum terms` at most, or at least, `right`.
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

/// Why a derived constraint holds. Indices are those of constraints.
pub(crate) enum Reason {
    Assumed,
    /// A sum of constraints.
    Linear(Terms),
    /// The same with its right side rounded.
    Rounded(Terms),
    /// It holds under either of two assumptions, one of which is true: `(constraint, assumption)`.
    Unsplit([(usize, usize); 2]),
}

impl Programme {
    pub fn new(variables: Vec<String>, objective: Terms) -> Self {
        Self {
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

    /// Index of the constraint that variable `v` is at least 0.
    pub fn bound(v: usize) -> usize {
        v
    }

    /// Index of a row as a constraint.
    pub fn row(&self, at: usize) -> usize {
        self.variables.len() + at
    }

    /// Adds a row; returns its index as a constraint.
    pub fn push_row(&mut self, name: String, sense: Sense, right: Rational, terms: Terms) -> usize {
        self.rows.push(Row { name, sense, right, terms });
        self.row(self.rows.len() - 1)
    }

    /// Adds a derivation; returns its index as a constraint.
    pub fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.n_given() + self.steps.len() - 1
    }

    /// Adds that the objective is at most `right`; returns its index as a constraint.
    pub fn push_bound(&mut self, right: Rational, reason: Reason) -> usize {
        self.push(Step { sense: Sense::AtMost, right, left: Left::Objective, reason })
    }

    /// The objective at a point.
    pub fn value(&self, point: &Terms) -> Rational {
        let of = |v: &usize| point.binary_search_by_key(v, |(at, _)| *at).ok().map(|at| &point[at].1);
        self.objective.iter().filter_map(|(v, c)| Some(Rational::from(c * of(v)?))).sum()
    }

    fn n_given(&self) -> usize {
        self.variables.len() + self.rows.len()
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            let _ = writeln!(out, "% {}", printable(line));
        }
        let _ = writeln!(out, "VER 1.0\nVAR {}", self.variables.len());
        wrapped(&mut out, self.variables.iter().cloned());
        let integers = if self.integer { self.variables.len() } else { 0 };
        let _ = writeln!(out, "INT {integers}");
        wrapped(&mut out, (0..integers).map(|v| v.to_string()));
        out.push_str("OBJ max\n");
        terms(&mut out, &self.objective);
        let _ = writeln!(out, "\nCON {} {}", self.n_given(), self.variables.len());
        for (v, name) in self.variables.iter().enumerate() {
            let _ = writeln!(out, "{name}_lower G 0  1 {v} 1");
        }
        for Row { name, sense, right, terms: of } in &self.rows {
            let _ = write!(out, "{name} {} {right}  ", sense.letter());
            terms(&mut out, of);
            out.push('\n');
        }
        let upper = self.upper.as_ref().map_or_else(|| "inf".to_owned(), Rational::to_string);
        let _ = writeln!(out, "RTP range {} {upper}\nSOL {}", self.lower, self.solutions.len());
        for (name, point) in &self.solutions {
            let _ = write!(out, "{name} ");
            terms(&mut out, point);
            out.push('\n');
        }
        let _ = writeln!(out, "DER {}", self.steps.len());
        for (at, (step, last)) in self.steps.iter().zip(self.last_uses()).enumerate() {
            let _ = write!(out, "d{} {} {}  ", at + 1, step.sense.letter(), step.right);
            match &step.left {
                Left::Objective => out.push_str("OBJ"),
                Left::Terms(of) => terms(&mut out, of),
            }
            step.reason.write(&mut out);
            let _ = match last {
                None => writeln!(out, " -1"),
                Some(last) => writeln!(out, " {last}"),
            };
        }
        out
    }

    /// By derivation, the last one that refers to it.
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

impl Sense {
    fn letter(self) -> char {
        match self {
            Self::AtMost => 'L',
            Self::AtLeast => 'G',
        }
    }
}

impl Reason {
    fn write(&self, out: &mut String) {
        match self {
            Self::Assumed => out.push_str("  { asm }"),
            Self::Linear(of) | Self::Rounded(of) => {
                let word = if matches!(self, Self::Linear(_)) { "lin" } else { "rnd" };
                let _ = write!(out, "  {{ {word} ");
                terms(out, of);
                out.push_str(" }");
            }
            Self::Unsplit([(c1, a1), (c2, a2)]) => {
                let _ = write!(out, "  {{ uns {c1} {a1}  {c2} {a2} }}");
            }
        }
    }
}

fn terms(out: &mut String, terms: &Terms) {
    let _ = write!(out, "{}", terms.len());
    for (at, value) in terms {
        let _ = write!(out, "  {at} {value}");
    }
}

/// Words in lines of some length, if there are any.
fn wrapped(out: &mut String, words: impl Iterator<Item = String>) {
    const WIDTH: usize = 100;
    let mut length = 0;
    for word in words {
        if length > 0 && length + word.len() > WIDTH {
            out.push('\n');
            length = 0;
        } else if length > 0 {
            out.push(' ');
        }
        length += word.len() + 1;
        out.push_str(&word);
    }
    if length > 0 {
        out.push('\n');
    }
}
