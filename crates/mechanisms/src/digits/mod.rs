//! Proportional fairness of one server to as many digits as asked for; with the cargo feature
//! `multiprecision` only, since MPFR takes long to build.

#[cfg(feature = "multiprecision")]
mod polished;

use evenhand_problem::Rational;

#[cfg(feature = "multiprecision")]
pub use self::polished::proportional;

/// Tasks and prices to many digits.
#[derive(Debug, Clone, PartialEq)]
pub struct ManyDigits {
    /// `x_n` by user, rounded down to the digits asked for and a few more.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// By row: price of one unit.
    pub row_prices: Vec<Rational>,
    /// By user: price of one task of its limit.
    pub user_prices: Vec<Rational>,
}

/// No answer: this build cannot give one.
///
/// # Errors
/// Always, with the feature that is missing.
#[cfg(not(feature = "multiprecision"))]
pub fn proportional(
    _constraints: &evenhand_problem::Constraints<'_>,
    _digits: u32,
) -> Result<ManyDigits, String> {
    Err("this build has no multiprecision (cargo feature `multiprecision`)".to_owned())
}
