//! The known name that somebody may have meant.

/// Longest name, in characters, that is compared: edit distances take the product of the lengths.
const LONGEST: usize = 64;

/// The known name nearest to `name`, if it is near: at most one edit in three characters (insertions,
/// deletions, replacements, swaps), capitals apart. The first among equals.
///
/// # Examples
/// ```
/// use evenhand_problem::nearest;
/// assert_eq!(nearest("memry", ["cpu", "memory"]), Some("memory"));
/// assert_eq!(nearest("CPU", ["cpu", "memory"]), Some("cpu"));
/// assert_eq!(nearest("disk", ["cpu", "memory"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let near = known.into_iter().filter_map(|known| {
        let other = known.chars().take(LONGEST + 1).count();
        let most = length.max(other).div_ceil(3);
        if other > LONGEST || length.abs_diff(other) > most {
            return None;
        }
        let edits = strsim::osa_distance(&lower, &known.to_lowercase());
        (edits <= most && edits < length.max(other)).then_some((edits, known))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// ` (did you mean `x`?)`, or nothing.
#[must_use]
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}
