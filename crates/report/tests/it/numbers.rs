//! Tests of numbers for people: a number that is not whole is never written as a whole number.

use evenhand_problem::{Rational, number::parse};
use evenhand_report::text::{amount, decimal, double, number, percent, percent_of};

/// Returns `true` if a text looks like a whole number, followed by any unit.
fn is_whole(text: &str) -> bool {
    let digits = text.split(' ').next().unwrap().trim_end_matches(".0");
    !text.contains(['+', 'e'])
        && !text.contains(" - ")
        && digits.trim_start_matches('-').parse::<u128>().is_ok()
}

#[test]
fn fractions_never_read_as_whole_numbers() {
    for whole in ["0", "1", "2", "10", "99", "1024", "123456", "999999", "1234567", "98765432101234"] {
        for off in ["0.4", "0.001", "1e-7", "0.000000102", "1e-12", "1e-30", "1/3", "1e-300"] {
            for sign in [1, -1] {
                let value = parse(whole).unwrap() + sign * parse(off).unwrap();
                for text in [decimal(&value), number(&value), percent(&Rational::from(&value / 100_u32))] {
                    assert!(!is_whole(&text), "{whole} {off}: {text}");
                }
                let text = amount("memory", &(value.clone() * (1_u64 << 40)));
                assert!(!is_whole(&text), "{whole} {off}: {text}");
            }
        }
        let value = parse(whole).unwrap();
        assert!(
            is_whole(&decimal(&value)) && is_whole(&percent(&Rational::from(&value / 100_u32))),
            "{whole}"
        );
    }
    assert_eq!(decimal(&parse("999999898/1000000000").unwrap()), "0.9999999");
    assert_eq!(amount("memory", &parse("1099511627776").unwrap()), "1 TiB");
    assert!(!is_whole(&amount("memory", &parse("1099511627777").unwrap())));
}

/// Sums of doubles have rounding errors, which must not be shown as fractions.
#[test]
fn rounding_errors_are_not_shown_as_fractions() {
    assert_eq!(double(0.1 + 0.2 + 0.7), "1");
    assert_eq!(percent_of(0.1 + 0.2 + 0.7), "100.0 %");
    assert_eq!(percent_of(0.99999), "99.999 %");
    assert_eq!((double(f64::INFINITY), double(2.5)), ("inf".to_owned(), "2.5".to_owned()));
}
