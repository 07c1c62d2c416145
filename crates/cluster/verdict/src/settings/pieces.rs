//! The pieces of a fair share as a function of one number of the configuration.
//!
//! While the filling of the cluster runs through the same events, every amount is a fraction of two linear
//! functions of a limit or a guarantee, and often of a weight. Such a piece follows from three computed
//! points. Its end is the intersection with the next piece. Further computed values inside and at the ends
//! check both.

use evenhand_problem::Rational;

/// The form of a function on a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// `at + slope (t - from)`, where `from` is the beginning of the piece.
    Linear {
        /// The value of the function at the beginning of the piece.
        at: Rational,
        /// The increase of the function for each unit of `t`.
        slope: Rational,
    },
    /// `(p + q t) / (1 + s t)`.
    Fraction {
        /// The constant of the numerator.
        p: Rational,
        /// The factor of `t` in the numerator.
        q: Rational,
        /// The factor of `t` in the denominator.
        s: Rational,
    },
}

/// A piece of a function between two points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The point at which the piece begins.
    pub from: Rational,
    /// The point at which the piece ends.
    pub to: Rational,
    /// The computed values of the function at the beginning and at the end.
    pub values: [Rational; 2],
    /// The form of the function on the piece. `None` if no form fits all computed values.
    pub form: Option<Form>,
}

impl Piece {
    /// Returns the value of the form at a point. Returns `None` if the piece has no form.
    #[must_use]
    pub fn at(&self, t: &Rational) -> Option<Rational> {
        self.form.as_ref().and_then(|form| form.at(&self.from, t))
    }

    /// Returns `true` if the function is constant on the piece.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        matches!(&self.form, Some(Form::Linear { slope, .. }) if slope.is_zero())
    }
}

impl Form {
    fn at(&self, from: &Rational, t: &Rational) -> Option<Rational> {
        match self {
            Self::Linear { at, slope } => Some(Rational::from(t - from) * slope + at),
            Self::Fraction { p, q, s } => {
                let denominator: Rational = Rational::from(s * t) + 1_u32;
                (!denominator.is_zero()).then(|| (Rational::from(q * t) + p) / denominator)
            }
        }
    }

    /// Returns the form through three points.
    fn through(points: &[(Rational, Rational); 3], from: &Rational) -> Option<Self> {
        let [(a, fa), (b, fb), (c, fc)] = points;
        let slope = Rational::from(fb - fa) / Rational::from(b - a);
        let other = Rational::from(fc - fa) / Rational::from(c - a);
        if slope == other {
            let at = Rational::from(from - a) * &slope + fa;
            return Some(Self::Linear { at, slope });
        }
        // (p + q t) / (1 + s t) = f at three points. Differences remove p: q (b - a) = (fb - fa) + s (b fb - a fa).
        let (dab, dac) = (Rational::from(b - a), Rational::from(c - a));
        let (gab, gac) = (
            Rational::from(b * fb) - Rational::from(a * fa),
            Rational::from(c * fc) - Rational::from(a * fa),
        );
        let determinant = Rational::from(&gab * &dac) - Rational::from(&gac * &dab);
        if determinant.is_zero() {
            return None;
        }
        let s = (Rational::from(fc - fa) * &dab - Rational::from(fb - fa) * &dac) / determinant;
        let q = (Rational::from(fb - fa) + Rational::from(&s * &gab)) / dab;
        let p = Rational::from(&s * a) * fa + fa - Rational::from(&q * a);
        Some(Self::Fraction { p, q, s })
    }

    /// Returns the numerator and the denominator as linear functions of `t`: `[constant, factor]`.
    fn linear(&self, from: &Rational) -> [[Rational; 2]; 2] {
        match self {
            Self::Linear { at, slope } => {
                [[at - Rational::from(from * slope), slope.clone()], [Rational::from(1), Rational::new()]]
            }
            Self::Fraction { p, q, s } => [[p.clone(), q.clone()], [Rational::from(1), s.clone()]],
        }
    }

    /// Returns the rational points at which two forms are equal.
    fn meets(&self, other: &Self, from: &Rational) -> Vec<Rational> {
        let ([[a, b], [c, d]], [[e, f], [g, h]]) = (self.linear(from), other.linear(from));
        // (a + b t)(g + h t) = (e + f t)(c + d t)
        let product = |x: &Rational, y: &Rational| Rational::from(x * y);
        let constant = product(&a, &g) - product(&e, &c);
        let linear = product(&a, &h) + product(&b, &g) - product(&e, &d) - product(&f, &c);
        let square = product(&b, &h) - product(&f, &d);
        if square.is_zero() {
            return if linear.is_zero() { Vec::new() } else { vec![-constant / linear] };
        }
        let discriminant: Rational = product(&linear, &linear) - product(&square, &constant) * 4_u32;
        if discriminant < 0
            || !discriminant.numer().is_perfect_square()
            || !discriminant.denom().is_perfect_square()
        {
            return Vec::new();
        }
        let (numer, denom) = discriminant.into_numer_denom();
        let root = Rational::from((numer.sqrt(), denom.sqrt()));
        let twice = square * 2;
        vec![(Rational::from(&root - &linear)) / &twice, -(root + linear) / twice]
    }
}

/// The largest number of pieces of a function.
const MOST_PIECES: usize = 8;
/// The largest number of values that are tried as the end of one piece.
const MOST_TRIES: usize = 14;
/// The first step from the end of an interval is the length of the interval divided by this number.
const STEP: u32 = 4096;

/// Returns the pieces of a function between two points. The last piece may end before the second point if
/// there are too many pieces.
///
/// # Errors
/// The error that the function returns.
pub(super) fn pieces<E>(
    from: &Rational,
    to: &Rational,
    f: &mut dyn FnMut(&Rational) -> Result<Rational, E>,
) -> Result<Vec<Piece>, E> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut start = from.clone();
    while start < *to && pieces.len() < MOST_PIECES {
        let piece = piece(&start, to, f)?;
        let end = piece.to.clone();
        let is_known = piece.form.is_some();
        pieces.push(piece);
        if !is_known || end <= start {
            break;
        }
        start = end;
    }
    Ok(pieces)
}

/// Returns the form just after a point (`sign` 1) or just before it (`sign` -1), if computed values near the
/// point agree with the form.
fn beside<E>(
    point: &Rational,
    length: &Rational,
    sign: i32,
    from: &Rational,
    f: &mut dyn FnMut(&Rational) -> Result<Rational, E>,
) -> Result<Option<(Form, Rational)>, E> {
    let mut step = Rational::from(length / STEP) * sign;
    for _ in 0..3 {
        let mut values = Vec::new();
        for k in [1_u32, 2, 4, 3] {
            let t = Rational::from(&step * k) + point;
            let value = f(&t)?;
            values.push((t, value));
        }
        let check = values.pop();
        if let (Ok(points), Some((t, value))) = (<[(Rational, Rational); 3]>::try_from(values), check)
            && let Some(form) = Form::through(&points, from)
            && form.at(from, &t) == Some(value)
        {
            return Ok(Some((form, step)));
        }
        step /= 64;
    }
    Ok(None)
}

/// Returns the piece that begins at a point.
fn piece<E>(
    start: &Rational,
    to: &Rational,
    f: &mut dyn FnMut(&Rational) -> Result<Rational, E>,
) -> Result<Piece, E> {
    let length = Rational::from(to - start);
    let at_start = f(start)?;
    let Some((form, step)) = beside(start, &length, 1, start, f)? else {
        let at_end = f(to)?;
        return Ok(Piece { from: start.clone(), to: to.clone(), values: [at_start, at_end], form: None });
    };
    let fits = |t: &Rational, f: &mut dyn FnMut(&Rational) -> Result<Rational, E>| -> Result<bool, E> {
        Ok(form.at(start, t) == Some(f(t)?))
    };
    // The form agrees with the function at `low`, and does not agree at `high`.
    let mut low = Rational::from(&step * 4_u32) + start;
    let mut high = to.clone();
    let mut is_whole = fits(to, f)?;
    for k in [1_u32, 3, 5, 7] {
        let t = Rational::from(&length * k) / 8_u32 + start;
        if !is_whole {
            break;
        }
        if !fits(&t, f)? {
            is_whole = false;
            high = t;
        }
    }
    if is_whole {
        let at_end = f(to)?;
        return Ok(Piece {
            from: start.clone(),
            to: to.clone(),
            values: [at_start, at_end],
            form: Some(form),
        });
    }
    for _ in 0..MOST_TRIES {
        let gap = Rational::from(&high - &low);
        let mut middle = None;
        if let Some((behind, _)) = beside(&high, &gap, -1, start, f)? {
            if behind == form {
                // Either the function jumps at `high`, or the form agrees with the function up to `high`.
                let before = form.at(start, &high);
                if before.is_some() {
                    low.clone_from(&high);
                    break;
                }
            }
            for meet in form.meets(&behind, start) {
                if meet <= low || meet >= high {
                    continue;
                }
                let value = f(&meet)?;
                if form.at(start, &meet).as_ref() == Some(&value) {
                    if behind.at(start, &meet) == Some(value)
                        && holds_between(&behind, start, &meet, &high, f)?
                    {
                        low.clone_from(&meet);
                        high = meet;
                        break;
                    }
                    low = meet;
                } else {
                    middle = Some(meet);
                }
            }
            if low == high {
                break;
            }
        }
        let t = middle.unwrap_or_else(|| Rational::from(&low + &high) / 2_u32);
        if fits(&t, f)? {
            low = t;
        } else {
            high = t;
        }
    }
    let is_exact = low == high || f(&high)? == form.at(start, &high).unwrap_or_default();
    let end = low;
    // The form must also agree with the function inside the piece.
    let inside = Rational::from(&end - start);
    let mut is_fit = true;
    for k in [1_u32, 2, 3] {
        let t = Rational::from(&inside * k) / 4_u32 + start;
        is_fit &= fits(&t, f)?;
    }
    let at_end = f(&end)?;
    let form = (is_exact && is_fit).then_some(form);
    Ok(Piece { from: start.clone(), to: end, values: [at_start, at_end], form })
}

/// Returns `true` if a form agrees with the function at points between two other points.
fn holds_between<E>(
    form: &Form,
    from: &Rational,
    low: &Rational,
    high: &Rational,
    f: &mut dyn FnMut(&Rational) -> Result<Rational, E>,
) -> Result<bool, E> {
    let gap = Rational::from(high - low);
    for k in [1_u32, 8] {
        let t = Rational::from(&gap * k) / 16_u32 + low;
        if form.at(from, &t) != Some(f(&t)?) {
            return Ok(false);
        }
    }
    Ok(true)
}
