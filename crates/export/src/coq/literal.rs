//! Numbers, lists and names in Coq syntax.

use std::fmt::Display;

use evenhand_problem::Rational;

/// The largest width in columns of a list on a single line.
const WIDTH: usize = 100;

/// Returns a rational in the form of a list element in the scope of rationals: `3`, `-2`, `1 # 3`.
pub(super) fn entry(q: &Rational) -> String {
    if q.is_integer() { q.numer().to_string() } else { format!("{} # {}", q.numer(), q.denom()) }
}

/// Returns a rational in the form of an argument.
pub(super) fn number(q: &Rational) -> String {
    let plain = q.is_integer() && *q >= 0;
    if plain { entry(q) } else { format!("({})", entry(q)) }
}

/// Returns the index of a user, a class, a resource or a row. The form is valid in every scope.
pub(super) fn index(at: usize) -> String {
    format!("{at}%nat")
}

/// Returns `None` or `Some ...` in the form of a list element.
pub(super) fn option(value: Option<impl Display>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some {value}"))
}

/// Returns a list. A short list is on one line. In a long list, each item has its own line.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    let length: usize = items.iter().map(|item| item.len() + 2).sum();
    if length <= WIDTH && !items.iter().any(|item| item.contains('\n')) {
        return format!("[{}]", items.join("; "));
    }
    let items: Vec<String> = items.iter().map(|item| item.replace('\n', "\n  ")).collect();
    format!("[\n  {}]", items.join(";\n  "))
}

/// Returns a list of numbers.
pub(super) fn row<'q>(numbers: impl IntoIterator<Item = &'q Rational>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(entry).collect();
    let length: usize = numbers.iter().map(|number| number.len() + 2).sum();
    if length <= WIDTH {
        return format!("[{}]", numbers.join("; "));
    }
    // In a long list, each line contains as many numbers as fit.
    let (mut text, mut column) = ("[".to_owned(), 1);
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 {
            text.push(';');
            if column + number.len() > WIDTH {
                text.push_str("\n  ");
                column = 2;
            } else {
                text.push(' ');
            }
        }
        text.push_str(number);
        column += number.len() + 2;
    }
    text.push(']');
    text
}

/// Returns a list of lists of numbers.
pub(super) fn table(rows: &[Vec<Rational>]) -> String {
    list(rows.iter().map(row))
}

/// Returns a sparse table as a dense table with zeros.
pub(super) fn dense(of: &[Vec<(usize, Rational)>], columns: usize) -> Vec<Vec<Rational>> {
    of.iter().map(|entries| spread(entries, columns)).collect()
}

/// Returns a sparse row as a dense row with zeros.
pub(super) fn spread(entries: &[(usize, Rational)], columns: usize) -> Vec<Rational> {
    let mut row = vec![Rational::new(); columns];
    for (at, value) in entries {
        row[*at].clone_from(value);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_sign_and_parentheses() {
        let shown = |(a, b): (i32, i32)| number(&Rational::from((a, b)));
        assert_eq!(
            [(3, 1), (-3, 1), (1, 3), (-1, 3), (0, 1)].map(shown),
            ["3", "(-3)", "(1 # 3)", "(-1 # 3)", "0"]
        );
    }

    #[test]
    fn long_lists_have_one_item_on_each_line() {
        assert_eq!(list(["a".to_owned(), "b".to_owned()]), "[a; b]");
        let long = list(vec!["x".repeat(40); 3]);
        assert_eq!(long.lines().count(), 4, "{long}");
        assert!(row(&vec![Rational::from((1, 3)); 40]).lines().all(|line| line.len() <= WIDTH + 10));
    }
}
