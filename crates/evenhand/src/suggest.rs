//! The name that somebody meant.

use crate::failure::Failure;

/// Names less alike than this are not suggested (Jaro's similarity, 0 to 1, as clap has it for options).
const ALIKE: f64 = 0.7;
/// Characters of a name that are compared.
const COMPARED: usize = 60;
/// Names that are listed where none is alike.
const LISTED: usize = 12;

/// The candidate that is most like `name`, if any is alike; of equals the first.
///
/// Case and surrounding blanks count little: they are what people get wrong most often.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = shortened(name);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let other = shortened(candidate);
        // One slip of the finger, however short the name is.
        let is_slip = wanted.len() > 1 && strsim::osa_distance(&wanted, &other) == 1;
        // Two letters in the wrong order before a letter too many.
        let slip = if wanted.len() == other.len() { 1.5 } else { 1.0 };
        let alike = strsim::jaro(&wanted, &other) + if is_slip { slip } else { 0.0 };
        if alike > ALIKE && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// What is compared: names may be long, and comparing takes time that grows with their product.
fn shortened(name: &str) -> String {
    name.trim().chars().take(COMPARED).collect::<String>().to_lowercase()
}

/// A failure of usage: there is no `what` of that name. Its tip is the nearest name, or the first few.
pub fn unknown<'a>(what: &str, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Failure {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let failure = Failure::input(format!("there is no {what} `{name}`"));
    match (nearest(name, candidates.iter().copied()), candidates.as_slice()) {
        (Some(nearest), _) => failure.tip(format!("did you mean `{nearest}`?")),
        (None, []) => failure,
        (None, known) if known.len() <= LISTED => failure.tip(format!("expected {}", known.join(", "))),
        (None, known) => {
            failure.tip(format!("expected {}, ... ({} names)", known[..LISTED].join(", "), known.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_name_that_was_meant() {
        let names = ["high-memory", "high-cpu", "Frank", "user 1", "user 2"];
        assert_eq!(nearest("high-memroy", names), Some("high-memory"));
        assert_eq!(nearest("frank", names), Some("Frank"));
        assert_eq!(nearest("user1", names), Some("user 1"));
        assert_eq!(nearest("drhf", ["drf", "drfh"]), Some("drfh"));
        assert_eq!(nearest("tfs", ["drf", "tsf", "fill"]), Some("tsf"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("x", []), None);
    }
}
