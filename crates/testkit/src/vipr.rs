//! A reader and checker of VIPR certificates, version 1.0 (Cheung, Gleixner, Steffy: Verifying Integer Programming
//! Results), written only from the text of the format.
//!
//! It reads the whole file and judges every derivation in rationals, as the definitions say: suitable combinations,
//! rounding, domination, assumptions. Derivations that refer to a cutoff (`{ sol }`) are read and refused, since
//! the format does not say which bound they prove.

use std::collections::{BTreeMap, BTreeSet};
use std::str::SplitWhitespace;

use evenhand_problem::{Rational, number};

/// The content of a valid file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub variables: Vec<String>,
    /// True if a variable must be a whole number, indexed by variable.
    pub integer: Vec<bool>,
    pub minimise: bool,
    pub objective: Linear,
    pub constraints: Vec<Constraint>,
    pub goal: Goal,
    pub solutions: Vec<Linear>,
    /// The number of derivations, and the number of derivations that round.
    pub derivations: usize,
    pub rounded: usize,
    /// The number of coefficients and multipliers that are 0. Some readers compare constraints including such
    /// zeros.
    pub zeros: usize,
}

/// The statement that is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    Infeasible,
    Range { lower: Option<Rational>, upper: Option<Rational> },
}

/// The coefficients by variable, without zeros.
pub type Linear = BTreeMap<usize, Rational>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    Equal,
    AtMost,
    AtLeast,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    pub name: String,
    pub sense: Sense,
    pub right: Rational,
    pub left: Linear,
}

enum Reason {
    Assumed,
    Linear(Vec<(usize, Rational)>),
    Rounded(Vec<(usize, Rational)>),
    Unsplit([(usize, usize); 2]),
    Cutoff,
}

/// A constraint that holds under some assumptions.
struct Derived {
    constraint: Constraint,
    assumptions: BTreeSet<usize>,
    /// The index of the last constraint that may refer to this constraint.
    last: Option<usize>,
}

/// Reads a file and checks everything in it.
///
/// # Errors
/// A description of the fault.
pub fn check(text: &str) -> Result<Checked, String> {
    let mut reader = Reader::after_comments(text)?;
    reader.expect("VER")?;
    reader.expect("1.0")?;
    reader.expect("VAR")?;
    let n = reader.index()?;
    let variables = (0..n).map(|_| reader.word().map(str::to_owned)).collect::<Result<Vec<_>, _>>()?;
    reader.expect("INT")?;
    let mut integer = vec![false; n];
    for _ in 0..reader.index()? {
        let v = reader.index()?;
        *integer.get_mut(v).ok_or("INT: no such variable")? = true;
    }
    reader.expect("OBJ")?;
    let minimise = match reader.word()? {
        "min" => true,
        "max" => false,
        other => return Err(format!("OBJ: `{other}`")),
    };
    let objective = reader.linear(n, None)?;
    reader.expect("CON")?;
    let (count, bounds) = (reader.index()?, reader.index()?);
    if bounds > count {
        return Err("CON: more bounds than constraints".to_owned());
    }
    let constraints = (0..count).map(|_| reader.constraint(n, &objective));
    let constraints = constraints.collect::<Result<Vec<_>, _>>()?;
    if constraints[..bounds].iter().any(|bound| bound.left.len() != 1) {
        return Err("CON: a bound is about one variable".to_owned());
    }
    let goal = reader.goal()?;
    reader.expect("SOL")?;
    let mut solutions = Vec::new();
    for _ in 0..reader.index()? {
        reader.word()?;
        solutions.push(reader.linear(n, None)?);
    }
    let mut checked = Checked {
        variables,
        integer,
        minimise,
        objective,
        constraints,
        goal,
        solutions,
        derivations: 0,
        rounded: 0,
        zeros: 0,
    };
    checked.judge_solutions()?;
    checked.derive(&mut reader)?;
    checked.zeros = reader.zeros;
    match reader.words.next() {
        None => Ok(checked),
        Some(word) => Err(format!("`{word}` after the last derivation")),
    }
}

impl Checked {
    fn judge_solutions(&self) -> Result<(), String> {
        for (number, solution) in self.solutions.iter().enumerate() {
            if solution.iter().any(|(v, x)| self.integer[*v] && !x.is_integer()) {
                return Err(format!("solution {number} is not whole"));
            }
            for constraint in &self.constraints {
                let left = product(&constraint.left, solution);
                let holds = match constraint.sense {
                    Sense::Equal => left == constraint.right,
                    Sense::AtMost => left <= constraint.right,
                    Sense::AtLeast => left >= constraint.right,
                };
                if !holds {
                    return Err(format!("solution {number} violates `{}`", constraint.name));
                }
            }
        }
        let Goal::Range { lower, upper } = &self.goal else { return Ok(()) };
        if matches!((lower, upper), (Some(lower), Some(upper)) if lower > upper) {
            return Err("RTP: an empty range".to_owned());
        }
        let values = self.solutions.iter().map(|solution| product(&self.objective, solution));
        let reached = if self.minimise {
            upper.as_ref().map(|upper| values.min().is_some_and(|best| best <= *upper))
        } else {
            lower.as_ref().map(|lower| values.max().is_some_and(|best| best >= *lower))
        };
        if reached == Some(false) { Err("no solution is as good as stated".to_owned()) } else { Ok(()) }
    }

    fn derive(&mut self, reader: &mut Reader<'_>) -> Result<(), String> {
        let given = self.constraints.iter().cloned();
        let given = given.map(|constraint| Derived { constraint, assumptions: BTreeSet::new(), last: None });
        let mut known: Vec<Derived> = given.collect();
        reader.expect("DER")?;
        self.derivations = reader.index()?;
        for _ in 0..self.derivations {
            let constraint = reader.constraint(self.variables.len(), &self.objective)?;
            let reason = reader.reason()?;
            self.rounded += usize::from(matches!(reason, Reason::Rounded(_)));
            let at = |fault: String| format!("`{}`: {fault}", constraint.name);
            let assumptions = self.follows(&constraint, &reason, &known).map_err(at)?;
            let last = match reader.word()? {
                "-1" => None,
                word => Some(word.parse().map_err(|_| format!("`{word}` is no index"))?),
            };
            known.push(Derived { constraint, assumptions, last });
        }
        let proven = |goal: Constraint| match known.last().filter(|_| self.derivations > 0) {
            None => Err("nothing is derived".to_owned()),
            Some(last) if !last.assumptions.is_empty() => {
                Err("the last derivation rests on assumptions".to_owned())
            }
            Some(last) if !last.constraint.dominates(&goal) => {
                Err("the last derivation is not what is to be proven".to_owned())
            }
            Some(_) => Ok(()),
        };
        let goal = |sense, right: &Rational, left: &Linear| Constraint {
            name: "goal".to_owned(),
            sense,
            right: right.clone(),
            left: left.clone(),
        };
        match (&self.goal, self.minimise) {
            // Only a contradiction dominates this goal.
            (Goal::Infeasible, _) => proven(goal(Sense::AtLeast, &Rational::from(1), &Linear::new())),
            (Goal::Range { lower: Some(lower), .. }, true) => {
                proven(goal(Sense::AtLeast, lower, &self.objective))
            }
            (Goal::Range { upper: Some(upper), .. }, false) => {
                proven(goal(Sense::AtMost, upper, &self.objective))
            }
            _ => Ok(()),
        }
    }

    /// Returns the assumptions under which a constraint follows.
    fn follows(
        &self,
        constraint: &Constraint,
        reason: &Reason,
        known: &[Derived],
    ) -> Result<BTreeSet<usize>, String> {
        let own = known.len();
        let at = |index: usize| {
            let found = known.get(index).ok_or_else(|| format!("refers to {index}, which is not there"))?;
            match found.last {
                Some(last) if last < own => Err(format!("refers to {index} after its last use")),
                _ => Ok(found),
            }
        };
        match reason {
            Reason::Assumed => Ok(BTreeSet::from([own])),
            Reason::Cutoff => Err("a cutoff proves no bound".to_owned()),
            Reason::Linear(terms) | Reason::Rounded(terms) => {
                let parts = terms.iter().map(|(index, factor)| Ok((at(*index)?, factor)));
                let parts = parts.collect::<Result<Vec<_>, String>>()?;
                let distinct: BTreeSet<usize> = terms.iter().map(|(index, _)| *index).collect();
                if distinct.len() < terms.len() {
                    return Err("a constraint is named twice".to_owned());
                }
                let mut sum = combination(&parts)?;
                if matches!(reason, Reason::Rounded(_)) {
                    self.round(&mut sum)?;
                }
                if !sum.dominates(constraint) {
                    return Err("it does not follow".to_owned());
                }
                Ok(parts.iter().flat_map(|(part, _)| part.assumptions.iter().copied()).collect())
            }
            Reason::Unsplit([(c1, a1), (c2, a2)]) => {
                let (first, second) = (at(*c1)?, at(*c2)?);
                if !first.constraint.dominates(constraint) || !second.constraint.dominates(constraint) {
                    return Err("it follows not from both branches".to_owned());
                }
                if !self.is_split(&at(*a1)?.constraint, &at(*a2)?.constraint) {
                    return Err("the assumptions are no split".to_owned());
                }
                let of_first = first.assumptions.iter().filter(|a| *a != a1);
                Ok(of_first.chain(second.assumptions.iter().filter(|a| *a != a2)).copied().collect())
            }
        }
    }

    fn is_whole(&self, left: &Linear) -> bool {
        left.iter().all(|(v, coefficient)| self.integer[*v] && coefficient.is_integer())
    }

    fn round(&self, constraint: &mut Constraint) -> Result<(), String> {
        if !self.is_whole(&constraint.left) {
            return Err("what is rounded is not whole".to_owned());
        }
        constraint.right = match constraint.sense {
            Sense::Equal => return Err("an equation is not rounded".to_owned()),
            Sense::AtMost => Rational::from(constraint.right.floor_ref()),
            Sense::AtLeast => Rational::from(constraint.right.ceil_ref()),
        };
        Ok(())
    }

    /// Returns `true` if one of two constraints is satisfied at every point with whole numbers.
    fn is_split(&self, one: &Constraint, other: &Constraint) -> bool {
        let (below, above) = match (one.sense, other.sense) {
            (Sense::AtMost, Sense::AtLeast) => (one, other),
            (Sense::AtLeast, Sense::AtMost) => (other, one),
            _ => return false,
        };
        below.left == above.left
            && self.is_whole(&below.left)
            && below.right.is_integer()
            && Rational::from(&below.right + 1u32) == above.right
    }
}

impl Constraint {
    fn is_absurd(&self) -> bool {
        self.left.is_empty()
            && match self.sense {
                Sense::Equal => self.right != 0,
                Sense::AtMost => self.right < 0,
                Sense::AtLeast => self.right > 0,
            }
    }

    fn dominates(&self, other: &Self) -> bool {
        let is_stronger = || match (self.sense, other.sense) {
            (Sense::Equal, Sense::Equal) => self.right == other.right,
            (Sense::Equal | Sense::AtMost, Sense::AtMost) => self.right <= other.right,
            (Sense::Equal | Sense::AtLeast, Sense::AtLeast) => self.right >= other.right,
            _ => false,
        };
        self.is_absurd() || self.left == other.left && is_stronger()
    }
}

/// Returns the sum of constraints times their multipliers. Returns an error if the multipliers do not suit
/// the senses.
fn combination(parts: &[(&Derived, &Rational)]) -> Result<Constraint, String> {
    let (mut most, mut least) = (false, false);
    let mut sum = Constraint {
        name: "sum".to_owned(),
        sense: Sense::Equal,
        right: Rational::new(),
        left: Linear::new(),
    };
    for (part, factor) in parts {
        let constraint = &part.constraint;
        match constraint.sense {
            Sense::AtMost if **factor > 0 => most = true,
            Sense::AtMost if **factor < 0 => least = true,
            Sense::AtLeast if **factor > 0 => least = true,
            Sense::AtLeast if **factor < 0 => most = true,
            _ => {}
        }
        sum.right += Rational::from(&constraint.right * *factor);
        for (v, coefficient) in &constraint.left {
            *sum.left.entry(*v).or_default() += Rational::from(coefficient * *factor);
        }
    }
    sum.left.retain(|_, coefficient| !coefficient.is_zero());
    sum.sense = match (most, least) {
        (true, true) => return Err("the combination has constraints of both senses".to_owned()),
        (true, false) => Sense::AtMost,
        (false, true) => Sense::AtLeast,
        (false, false) => Sense::Equal,
    };
    Ok(sum)
}

fn product(left: &Linear, point: &Linear) -> Rational {
    left.iter().filter_map(|(v, coefficient)| Some(Rational::from(coefficient * point.get(v)?))).sum()
}

struct Reader<'t> {
    words: SplitWhitespace<'t>,
    zeros: usize,
}

impl<'t> Reader<'t> {
    fn after_comments(text: &'t str) -> Result<Self, String> {
        let mut rest = text;
        while rest.starts_with('%') {
            rest = rest.split_once('\n').ok_or("comments alone")?.1;
        }
        Ok(Self { words: rest.split_whitespace(), zeros: 0 })
    }

    fn word(&mut self) -> Result<&'t str, String> {
        self.words.next().ok_or_else(|| "the file ends too early".to_owned())
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        let word = self.word()?;
        if word == expected { Ok(()) } else { Err(format!("`{word}` in the place of `{expected}`")) }
    }

    fn index(&mut self) -> Result<usize, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is no index"))
    }

    fn value(&mut self) -> Result<Rational, String> {
        value(self.word()?)
    }

    fn pairs(&mut self, count: usize) -> Result<Vec<(usize, Rational)>, String> {
        let mut pairs = Vec::new();
        for _ in 0..count {
            pairs.push((self.index()?, self.value()?));
            self.zeros += usize::from(pairs.last().is_some_and(|(_, value)| value.is_zero()));
        }
        Ok(pairs)
    }

    /// Reads the coefficients of `n` variables, or the word that stands for those of the objective.
    fn linear(&mut self, n: usize, objective: Option<&Linear>) -> Result<Linear, String> {
        let word = self.word()?;
        if let Some(objective) = objective.filter(|_| word == "OBJ") {
            return Ok(objective.clone());
        }
        let count = word.parse().map_err(|_| format!("`{word}` is no number of coefficients"))?;
        let mut linear = Linear::new();
        for (v, value) in self.pairs(count)? {
            if v >= n || linear.insert(v, value).is_some() {
                return Err(format!("variable {v} is not there, or twice"));
            }
        }
        linear.retain(|_, value| !value.is_zero());
        Ok(linear)
    }

    fn constraint(&mut self, n: usize, objective: &Linear) -> Result<Constraint, String> {
        let name = self.word()?.to_owned();
        let sense = match self.word()? {
            "E" => Sense::Equal,
            "L" => Sense::AtMost,
            "G" => Sense::AtLeast,
            other => return Err(format!("`{name}`: `{other}` is no sense")),
        };
        Ok(Constraint { sense, right: self.value()?, left: self.linear(n, Some(objective))?, name })
    }

    fn goal(&mut self) -> Result<Goal, String> {
        self.expect("RTP")?;
        match self.word()? {
            "infeas" => Ok(Goal::Infeasible),
            "range" => {
                let mut bound = |none: &str| match self.word()? {
                    word if word == none => Ok::<_, String>(None),
                    word => value(word).map(Some),
                };
                Ok(Goal::Range { lower: bound("-inf")?, upper: bound("inf")? })
            }
            other => Err(format!("RTP: `{other}`")),
        }
    }

    fn reason(&mut self) -> Result<Reason, String> {
        self.expect("{")?;
        let reason = match self.word()? {
            "asm" => Reason::Assumed,
            "sol" => Reason::Cutoff,
            kind @ ("lin" | "rnd") => {
                let count = self.index()?;
                let terms = self.pairs(count)?;
                if kind == "lin" { Reason::Linear(terms) } else { Reason::Rounded(terms) }
            }
            "uns" => {
                let mut pair = || Ok::<_, String>((self.index()?, self.index()?));
                Reason::Unsplit([pair()?, pair()?])
            }
            other => return Err(format!("`{other}` is no reason")),
        };
        self.expect("}")?;
        Ok(reason)
    }
}

fn value(word: &str) -> Result<Rational, String> {
    number::parse_result(word).map_err(|error| error.to_string())
}
