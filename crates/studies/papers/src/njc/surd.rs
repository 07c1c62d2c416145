//! Numbers `a + b sqrt(d)`, and the Eisenberg-Gale optimum of three users with two bottlenecks, whose coordinates are
//! such numbers.

use std::cmp::Ordering;
use std::fmt;

use evenhand_problem::{Problem, Rational};
use rug::Integer;

/// A number `a + b sqrt(d)`. All operands must have the same `d`.
#[derive(Debug, Clone, PartialEq)]
pub struct Surd {
    a: Rational,
    b: Rational,
    d: Integer,
}

impl Surd {
    fn rational(&self, a: Rational) -> Self {
        Self { a, b: Rational::new(), d: self.d.clone() }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            a: Rational::from(&self.a + &other.a),
            b: Rational::from(&self.b + &other.b),
            d: self.d.clone(),
        }
    }

    fn times(&self, factor: &Rational) -> Self {
        Self { a: Rational::from(&self.a * factor), b: Rational::from(&self.b * factor), d: self.d.clone() }
    }

    /// Returns `1 / self`. Returns `None` for 0.
    fn inverse(&self) -> Option<Self> {
        let norm = Rational::from(&self.a * &self.a) - Rational::from(&self.b * &self.b) * &self.d;
        let conjugate = Self { a: self.a.clone(), b: Rational::from(-&self.b), d: self.d.clone() };
        (!norm.is_zero()).then(|| conjugate.times(&norm.recip()))
    }

    /// Returns the sign of the number, which is decided by comparing squares.
    fn sign(&self) -> Ordering {
        let (a, b) = (self.a.cmp0(), self.b.cmp0());
        if a == b || b == Ordering::Equal {
            return a;
        }
        let squares = Rational::from(&self.a * &self.a).cmp(&(Rational::from(&self.b * &self.b) * &self.d));
        match squares {
            Ordering::Greater => a,
            Ordering::Less => b,
            Ordering::Equal => Ordering::Equal,
        }
    }

    fn is_within_0_and(&self, most: &Rational) -> bool {
        let most = self.rational(most.clone()).plus(&self.times(&Rational::from(-1)));
        self.sign() != Ordering::Less && most.sign() != Ordering::Less
    }

    /// Returns an approximation in floating point.
    pub fn to_f64(&self) -> f64 {
        self.a.to_f64() + self.b.to_f64() * self.d.to_f64().sqrt()
    }
}

impl fmt::Display for Surd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let common = self.a.denom().clone().lcm(self.b.denom());
        let (a, b) = (Rational::from(&self.a * &common), Rational::from(&self.b * &common));
        let sign = if b < 0 { '-' } else { '+' };
        let b = b.abs();
        let factor = if b == 1 { String::new() } else { format!("{b} ") };
        write!(f, "({a} {sign} {factor}sqrt({}))/{common}", self.d)
    }
}

/// Returns the Eisenberg-Gale optimum of three users if two given resources are the only bottlenecks. Their
/// prices are `p` and `1 - p`.
///
/// The point is `x_n = e_n / (p r_nj + (1 - p) r_nk)`. The first resource is used up if `p` solves a cubic equation.
/// The equation always has the root 1, which leaves a quadratic equation.
///
/// Entitlements must have the sum 1. The point satisfies every condition of the optimum exactly. Returns `None` if
/// the point is rational or has other bottlenecks.
pub fn eisenberg_gale(problem: &Problem) -> Option<(Vec<Surd>, [usize; 2])> {
    let n_resources = problem.n_resources();
    let pairs = (0..n_resources).flat_map(|j| (j + 1..n_resources).map(move |k| [j, k]));
    pairs.into_iter().find_map(|pair| {
        let prices = prices(problem, pair)?;
        prices.into_iter().find_map(|p| Some((point(problem, pair, &p)?, pair)))
    })
}

/// Returns the roots of the quadratic equation for the price `p`.
fn prices(problem: &Problem, [j, k]: [usize; 2]) -> Option<[Surd; 2]> {
    let n_users = problem.n_users();
    // The payment of user n, as a polynomial in p.
    let paid: Vec<[Rational; 2]> = (0..n_users)
        .map(|n| {
            let demand = problem.demand(n, 0);
            [demand[k].clone(), Rational::from(&demand[j] - &demand[k])]
        })
        .collect();
    // Resource j is used up if `sum_n e_n r_nj / paid_n = 1`. Multiplied by all payments, this condition is a
    // cubic equation in p.
    let product = |without: Option<usize>| {
        let factors = (0..n_users).filter(|n| Some(*n) != without);
        factors.fold(vec![Rational::from(1)], |product, n| times(&product, &paid[n]))
    };
    let mut cubic = product(None);
    cubic.iter_mut().for_each(|c| *c = Rational::from(-&*c));
    for n in 0..n_users {
        let spent = Rational::from(problem.users()[n].weight() * &problem.demand(n, 0)[j]);
        for (c, term) in cubic.iter_mut().zip(product(Some(n))) {
            *c += term * &spent;
        }
    }
    let quadratic = without_root_1(cubic)?;
    let [c, b, a] = <[Rational; 3]>::try_from(quadratic).ok()?;
    if a.is_zero() {
        return None;
    }
    let discriminant = Rational::from(&b * &b) - Rational::from(&a * &c) * 4u32;
    // The square root of a quotient is the square root of an integer divided by an integer: sqrt(n/m) =
    // sqrt(n m) / m.
    let (square, d) = without_squares(Integer::from(discriminant.numer() * discriminant.denom()));
    if discriminant <= 0 || d.is_perfect_square() {
        return None;
    }
    let root = Rational::from((square, discriminant.denom().clone()));
    let half: Rational = (a * 2u32).recip();
    let middle = -(b * &half);
    let at = |sign: i32| Surd { a: middle.clone(), b: Rational::from(&root * &half) * sign, d: d.clone() };
    Some([at(1), at(-1)])
}

/// Returns the allocation at price `p` if it satisfies the conditions of the optimum.
fn point(problem: &Problem, [j, k]: [usize; 2], p: &Surd) -> Option<Vec<Surd>> {
    let one = Rational::from(1);
    let other = p.rational(one.clone()).plus(&p.times(&Rational::from(-1)));
    let users = 0..problem.n_users();
    let x = users.map(|n| {
        let demand = problem.demand(n, 0);
        let paid = p.times(&demand[j]).plus(&other.times(&demand[k]));
        Some(paid.inverse()?.times(problem.users()[n].weight()))
    });
    let x: Vec<Surd> = x.collect::<Option<_>>()?;
    let load = |r: usize| {
        let zero = p.rational(Rational::new());
        x.iter().enumerate().fold(zero, |load, (n, x)| load.plus(&x.times(&problem.demand(n, 0)[r])))
    };
    let is_optimum = p.is_within_0_and(&one)
        && x.iter().all(|x| x.is_within_0_and(&one))
        && [j, k].iter().all(|&r| load(r) == p.rational(one.clone()))
        && (0..problem.n_resources()).all(|r| load(r).is_within_0_and(&one));
    is_optimum.then_some(x)
}

/// Returns the product of two polynomials. The constant coefficient comes first.
fn times(left: &[Rational], right: &[Rational]) -> Vec<Rational> {
    let mut product = vec![Rational::new(); left.len() + right.len() - 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            product[i + j] += Rational::from(a * b);
        }
    }
    product
}

/// Returns the polynomial divided by `p - 1`, or `None` if 1 is not a root.
fn without_root_1(polynomial: Vec<Rational>) -> Option<Vec<Rational>> {
    let mut sum = Rational::new();
    let mut sums: Vec<Rational> = polynomial
        .into_iter()
        .rev()
        .map(|c| {
            sum += c;
            sum.clone()
        })
        .collect();
    sums.pop()?.is_zero().then(|| sums.into_iter().rev().collect())
}

/// Returns `(s, d)` with `n = s^2 d`, where no square of a small prime divides `d`.
fn without_squares(n: Integer) -> (Integer, Integer) {
    let (mut square, mut rest) = (Integer::from(1), n);
    for factor in 2_u32..1000 {
        while !rest.is_zero() && rest.is_divisible_u(factor * factor) {
            rest /= factor * factor;
            square *= factor;
        }
    }
    (square, rest)
}
