//! Exact numbers at their bounds.

use evenhand_problem::{
    Integer, Rational,
    number::{MAX_DIGITS, MAX_RESULT_DIGITS, NumberError, format, from_f64, parse, parse_result, to_f64},
};

#[test]
fn reads_all_spellings_of_a_tenth() {
    for text in ["0.1", "1/10", "1e-1", "1E-1", "0.10", "10e-2", "0.001e+2", "3/30", "00.1"] {
        assert_eq!(parse(text).unwrap(), Rational::from((1, 10)), "{text}");
    }
    assert_eq!(parse("-3/6").unwrap(), Rational::from((-1, 2)));
    assert_eq!(format(&parse("-3/6").unwrap()), "-1/2");
    assert_eq!(format(&parse("7.0").unwrap()), "7");
}

#[test]
fn refuses_texts_that_are_not_numbers() {
    for text in [
        "", "-", "--1", "+1", ".5", "1.", "1_000", "3 / 7", " 1", "1 ", "1e", "1e+", "e1", "0x1", "NaN",
        "inf", "1/", "/1", "1/2/3", "1/-2", "1.5/2", "1e5/2", "٣", "1,5", "1e1.5",
    ] {
        assert!(matches!(parse(text), Err(NumberError::Syntax(_))), "{text}");
    }
}

#[test]
fn bounds_digits_and_exponents() {
    assert!(parse(&"1".repeat(MAX_DIGITS)).is_ok());
    let long = parse(&"1".repeat(MAX_DIGITS + 1));
    assert_eq!(long, Err(NumberError::TooManyDigits { found: MAX_DIGITS + 1, limit: MAX_DIGITS }));
    assert!(parse(&format!("0.{}", "1".repeat(MAX_DIGITS))).is_err());
    assert!(parse(&format!("{}/{}", "1".repeat(MAX_DIGITS / 2), "7".repeat(MAX_DIGITS / 2))).is_ok());
    assert!(parse(&format!("{}/{}", "1".repeat(MAX_DIGITS), "7")).is_err());
    assert!(parse_result(&"1".repeat(MAX_RESULT_DIGITS)).is_ok());
    assert!(parse_result(&"1".repeat(MAX_RESULT_DIGITS + 1)).is_err());
    assert!(parse("1e400").is_ok() && parse("1e-400").is_ok() && parse("1e000000000400").is_ok());
    for text in ["1e401", "1e-401", "1e999999999", "1e99999999999999999999999999"] {
        assert!(matches!(parse(text), Err(NumberError::ExponentTooLarge { .. })), "{text}");
    }
    assert_eq!(parse("5/000"), Err(NumberError::ZeroDenominator("5/000".to_owned())));
}

#[test]
fn reads_numbers_within_and_beyond_a_machine_word() {
    let ten = |power: u32| Rational::from(Integer::from(Integer::u_pow_u(10, power)));
    for digits in 1..=41 {
        let nines = "9".repeat(digits);
        let value = ten(u32::try_from(digits).unwrap()) - 1u32;
        assert_eq!(parse(&nines).unwrap(), value);
        assert_eq!(format(&value), nines);
        assert_eq!(parse(&format!("-0{nines}")).unwrap(), Rational::from(-&value));
        for point in 1..digits {
            let text = format!("{}.{}", &nines[..point], &nines[point..]);
            let below = u32::try_from(digits - point).unwrap();
            assert_eq!(parse(&text).unwrap(), &value / ten(below), "{text}");
        }
        for power in 0..=41 {
            assert_eq!(parse(&format!("{nines}e{power}")).unwrap(), &value * ten(power));
            assert_eq!(parse(&format!("{nines}e-{power}")).unwrap(), &value / ten(power));
        }
    }
}

#[test]
fn quotients_of_whole_doubles_are_rounded_to_the_nearest() {
    let most = 1_u64 << f64::MANTISSA_DIGITS;
    let near: Vec<u64> = [1, 2, 3, 10, 1 << 30, most / 3, most / 2, most]
        .into_iter()
        .flat_map(|n| [n.saturating_sub(1).max(1), n, n + 1, n + 2, n + 3])
        .collect();
    for numerator in &near {
        for denominator in &near {
            let value = Rational::from((*numerator, *denominator));
            let found = to_f64(&value);
            let distance = |double: f64| (&value - Rational::from_f64(double).unwrap()).abs();
            assert!(distance(found) <= distance(found.next_up()), "{value}");
            assert!(distance(found) <= distance(found.next_down()), "{value}");
            assert_eq!(to_f64(&-value), -found);
        }
    }
}

#[test]
fn floating_point_rounds_to_the_nearest() {
    for value in [0.0, 0.1, -0.1, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e300] {
        assert_eq!(to_f64(&from_f64(value).unwrap()), value);
    }
    assert_eq!(to_f64(&Rational::from((2, 3))), 2.0 / 3.0);
    assert_eq!(to_f64(&Rational::from((-2, 3))), -2.0 / 3.0);
    assert_eq!(to_f64(&parse("1e-400").unwrap()), 0.0);
    assert_eq!(to_f64(&parse("1e400").unwrap()), f64::INFINITY);
    assert_eq!(to_f64(&parse("-1e400").unwrap()), f64::NEG_INFINITY);
    assert_eq!(from_f64(f64::NAN), None);
    assert_eq!(from_f64(f64::INFINITY), None);
    assert_eq!(from_f64(0.1), Some(Rational::from((1, 10))));
}
