//! Times and durations in whole nanoseconds.

use crate::UsageError;

/// The nanoseconds of a second.
pub const NANOSECONDS: i64 = 1_000_000_000;

/// The largest distance from 1970 of a time that is read, in nanoseconds: about 139 years before or after.
const FURTHEST: i64 = 4_400_000_000 * NANOSECONDS;

/// The number of decimals of a second with a resolution of a nanosecond.
const DIGITS: usize = 9;

fn wrong(text: &str, expected: &str) -> UsageError {
    let shown: String = text.chars().take(40).collect();
    UsageError::Time(format!("`{shown}`: expected {expected}"))
}

/// Returns the value of a text of digits. Returns `None` for a text with other characters, and for numbers
/// beyond 64 bits.
fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Returns the nanoseconds of the decimals of a second.
fn fraction(text: &[u8]) -> Option<i64> {
    let kept = text.len().min(DIGITS);
    // More than nine decimals are accepted if the additional decimals are zero.
    if text[kept..].iter().any(|digit| *digit != b'0') {
        return None;
    }
    let value = digits(&text[..kept])?;
    Some((kept..DIGITS).fold(value, |value, _| value * 10))
}

/// Returns the nanoseconds of a text of seconds with at most nine decimals.
fn seconds(text: &[u8]) -> Option<i64> {
    let (whole, rest) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], fraction(&text[point + 1..])?),
        None => (text, 0),
    };
    digits(whole)?.checked_mul(NANOSECONDS)?.checked_add(rest)
}

/// Returns the days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // The computed year begins in March, so that the leap day is its last day.
    let shifted = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns a date and time as nanoseconds since 1970. A text without a zone is read as UTC if `is_zone_optional`.
fn calendar(text: &[u8], is_zone_optional: bool) -> Option<i64> {
    if text.len() < 19 || text[4] != b'-' || text[7] != b'-' || text[13] != b':' || text[16] != b':' {
        return None;
    }
    if !matches!(text[10], b'T' | b't' | b' ') {
        return None;
    }
    let number = |from: usize, to: usize| digits(&text[from..to]);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_date = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut rest = &text[19..];
    let mut nanoseconds = 0;
    if let Some((b'.', after)) = rest.split_first() {
        let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        nanoseconds = fraction(&after[..length])?;
        rest = &after[length..];
    }
    let offset = match rest {
        b"Z" | b"z" => 0,
        b"" if is_zone_optional => 0,
        [sign @ (b'+' | b'-'), hours @ .., b':', m, n] => {
            let (hours, minutes) = (digits(hours)?, digits(&[*m, *n])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            if *sign == b'-' { -offset } else { offset }
        }
        _ => return None,
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    seconds.checked_mul(NANOSECONDS)?.checked_add(nanoseconds)
}

/// Reads a time as nanoseconds. The text is seconds with up to nine decimals, or RFC 3339. Times in RFC 3339
/// count from 1970.
pub(crate) fn time_of(text: &[u8], is_zone_optional: bool) -> Option<i64> {
    let time = seconds(text).or_else(|| calendar(text, is_zone_optional))?;
    // With this bound, the difference of two times plus an interval fits into 64 bits.
    (-FURTHEST..=FURTHEST).contains(&time).then_some(time)
}

/// Reads a time. The text is seconds with up to nine decimals, or RFC 3339 such as `2026-01-31T12:00:00Z`.
///
/// Returns nanoseconds. Times in RFC 3339 count from 1970.
///
/// # Errors
/// [`UsageError::Time`] for any other text.
pub fn parse_time(text: &str) -> Result<i64, UsageError> {
    let expected = "seconds, or a time with its zone such as 2026-01-31T12:00:00Z";
    time_of(text.as_bytes(), false).ok_or_else(|| wrong(text, expected))
}

/// Reads a duration such as `7d`, `168h`, `1h30m`, `5m`, `60s` or `60` (seconds). Returns a number of
/// nanoseconds above 0.
///
/// # Errors
/// [`UsageError::Time`] for any other text.
pub fn parse_duration(text: &str) -> Result<i64, UsageError> {
    duration(text.as_bytes()).filter(|value| *value > 0).ok_or_else(|| {
        wrong(
            text,
            "a duration above 0 such as 7d, 168h, 1h30m, 5m or 60s (w, d, h, m, s), at most 100 years",
        )
    })
}

fn duration(text: &[u8]) -> Option<i64> {
    let mut rest = text;
    let mut sum: i64 = 0;
    while !rest.is_empty() {
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let value = seconds(&rest[..length])?;
        let factor = match rest.get(length) {
            Some(b'w') => 604_800,
            Some(b'd') => 86_400,
            Some(b'h') => 3600,
            Some(b'm') => 60,
            Some(b's') | None => 1,
            Some(_) => return None,
        };
        sum = sum.checked_add(value.checked_mul(factor)?)?;
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    // Sums of durations still fit into 64 bits.
    (sum <= 100 * 366 * 86_400 * NANOSECONDS).then_some(sum)
}

/// Returns a time as text: RFC 3339 in UTC if `is_calendar`, otherwise seconds.
#[must_use]
pub fn time_text(time: i64, is_calendar: bool) -> String {
    let (seconds, nanoseconds) = (time.div_euclid(NANOSECONDS), time.rem_euclid(NANOSECONDS));
    let decimals = match nanoseconds {
        0 => String::new(),
        some => format!(".{}", format!("{some:09}").trim_end_matches('0')),
    };
    if !is_calendar {
        return format!("{seconds}{decimals} s");
    }
    let (day, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{decimals}Z")
}

/// Returns a duration as text in the largest unit that states it as a whole number.
#[must_use]
pub fn duration_text(duration: i64) -> String {
    for (unit, seconds) in [("d", 86_400), ("h", 3600), ("min", 60)] {
        if duration % (seconds * NANOSECONDS) == 0 {
            return format!("{} {unit}", duration / (seconds * NANOSECONDS));
        }
    }
    time_text(duration, false)
}
