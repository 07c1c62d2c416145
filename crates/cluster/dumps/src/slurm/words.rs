//! Parsers of Slurm's notations: trackable resources, generic resources, lists of hosts and of array tasks, and features.

use std::collections::BTreeSet;

use evenhand_budget::charge;
use evenhand_problem::number::{self, MAX_DIGITS};
use evenhand_problem::problem::MAX_COUNT;
use rug::{Integer, Rational, ops::Pow};
use thiserror::Error;

use super::super::tree::shown;

/// The largest number of names in a list of hosts.
const MOST_HOSTS: usize = 100_000;
/// The largest length of the name of a host in bytes. It is four times the limit of Linux.
const LONGEST_HOST: usize = 256;
/// The number of bytes of a megabyte of Slurm.
pub(super) const MEGABYTE: u64 = 1 << 20;

/// The reason why a text cannot be parsed.
#[derive(Debug, Error)]
#[error("{0}")]
pub(super) struct Unreadable(pub String);

/// Parses a number such as `8` or `62.50G`. The suffixes stand for powers of 1024. A number without a suffix
/// is in the unit `unit`.
pub(super) fn amount(text: &str, unit: u64) -> Result<Rational, Unreadable> {
    let wrong = || Unreadable(format!("found `{}`: expected a number such as 8 or 62.50G", shown(text)));
    let power = match text.chars().last() {
        Some('K' | 'k') => Some(1),
        Some('M') => Some(2),
        Some('G') => Some(3),
        Some('T') => Some(4),
        Some('P') => Some(5),
        _ => None,
    };
    let digits = if power.is_some() { &text[..text.len() - 1] } else { text };
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit()) && !digits.contains(['/', 'e', 'E']);
    let value = number::parse(digits).ok().filter(|_| is_number).ok_or_else(wrong)?;
    let value = match power {
        Some(power) => value * Integer::from(1024).pow(power),
        None => value * unit,
    };
    match number::stated(&value) {
        Some(_) => Ok(value),
        None => {
            Err(Unreadable(format!("`{}` stands for a number of more than {MAX_DIGITS} digits", shown(text))))
        }
    }
}

/// Parses a time that `scontrol` prints, such as `1-02:30:00` or `00:15:00`, and returns it in seconds.
/// Returns `None` for `UNLIMITED` and other texts.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let parts: Vec<u64> = clock.split(':').map(number).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    Some(number(days)? * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

/// Trackable resources of a text such as `cpu=8,mem=10G,gres/gpu=4,gres/gpu:a100=4`.
pub(super) struct Tres {
    /// The amounts of resources of servers, by the names of the snapshot. A type of a generic resource
    /// (`gres/gpu:a100`) is a separate resource next to the generic resource (`gres/gpu`), because Slurm
    /// counts both.
    pub amounts: Vec<(String, Rational)>,
    /// The names of trackable resources that are not resources of a server: `node`, `billing`, `energy`,
    /// licences and other names.
    pub others: Vec<String>,
}

/// Parses trackable resources.
pub(super) fn tres(text: &str) -> Result<Tres, Unreadable> {
    let mut tres = Tres { amounts: Vec::new(), others: Vec::new() };
    for entry in text.split(',').filter(|entry| !entry.is_empty()) {
        let Some((name, value)) = entry.split_once('=') else {
            let shown = shown(entry);
            return Err(Unreadable(format!("found `{shown}`: expected a trackable resource, name=amount")));
        };
        match name {
            "cpu" => tres.amounts.push(("cpu".to_owned(), amount(value, 1)?)),
            "mem" => tres.amounts.push(("memory".to_owned(), amount(value, MEGABYTE)?)),
            _ if name.starts_with("gres/") => tres.amounts.push((name.to_owned(), amount(value, 1)?)),
            _ => tres.others.push(name.to_owned()),
        }
    }
    let mut names: Vec<&str> = tres.amounts.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Unreadable(format!("`{}` is given twice", shown(pair[0])))),
        None => Ok(tres),
    }
}

/// Returns the generic resource and the type of a name such as `gres/gpu:a100`. Returns `None` for a resource
/// without a type.
pub(super) fn type_of(resource: &str) -> Option<(&str, &str)> {
    resource.strip_prefix("gres/")?.split_once(':')
}

impl Tres {
    /// Returns the generic resources with types, each with its type.
    pub fn types(&self) -> impl Iterator<Item = (&str, &str)> {
        self.amounts.iter().filter_map(|(name, _)| type_of(name))
    }

    /// Adds the amount of each generic resource for which the text states only amounts of types. This amount
    /// is the sum over the types.
    pub fn with_totals(mut self) -> Self {
        let mut totals: Vec<(String, Rational)> = Vec::new();
        for (name, amount) in &self.amounts {
            let Some((kind, _)) = type_of(name) else { continue };
            let total = format!("gres/{kind}");
            if self.amounts.iter().any(|(known, _)| *known == total) {
                continue;
            }
            match totals.iter_mut().find(|(known, _)| *known == total) {
                Some((_, sum)) => *sum += amount,
                None => totals.push((total, amount.clone())),
            }
        }
        self.amounts.append(&mut totals);
        self
    }
}

/// A generic resource of a node, such as `gpu:a100:8(S:0-1)`.
pub(super) struct Gres {
    pub name: String,
    pub of: Option<String>,
    pub count: Rational,
    /// True if each unit serves only one job at a time.
    pub is_consumed: bool,
}

/// Parses generic resources.
pub(super) fn gres(text: &str) -> Result<Vec<Gres>, Unreadable> {
    let mut list = Vec::new();
    for entry in outside_parentheses(text) {
        let plain = entry.split('(').next().unwrap_or_default();
        if plain.is_empty() {
            continue;
        }
        let mut parts: Vec<&str> = plain.split(':').collect();
        let is_consumed = !parts.contains(&"no_consume");
        parts.retain(|part| *part != "no_consume");
        let last = parts.last().copied().unwrap_or_default();
        let count = match last.starts_with(|c: char| c.is_ascii_digit() || c == '-') && parts.len() > 1 {
            true => {
                parts.pop();
                amount(last, 1)?
            }
            false => Rational::from(1),
        };
        let (name, of) = match *parts {
            [name] => (name, None),
            [name, of] => (name, Some(of.to_owned())),
            _ => {
                let shown = shown(entry);
                return Err(Unreadable(format!(
                    "found `{shown}`: expected a generic resource, name:type:count"
                )));
            }
        };
        list.push(Gres { name: name.to_owned(), of, count, is_consumed });
    }
    Ok(list)
}

/// Splits a text at the commas that are outside of parentheses and brackets.
fn outside_parentheses(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Parses a list of hosts such as `n[001-003,7],c1`.
pub(super) fn hosts(text: &str) -> Result<Vec<String>, Unreadable> {
    let mut hosts = Vec::new();
    for part in outside_parentheses(text).into_iter().filter(|part| !part.is_empty()) {
        let mut names = vec![String::new()];
        let mut rest = part;
        while let Some(open) = rest.find('[') {
            let wrong = || {
                Unreadable(format!(
                    "found `{}`: expected a list of hosts such as n[001-003,7],c1",
                    shown(part)
                ))
            };
            let close = open + rest[open..].find(']').ok_or_else(wrong)?;
            let numbers = numbers(&rest[open + 1..close])?;
            if names.len().saturating_mul(numbers.len()).saturating_add(hosts.len()) > MOST_HOSTS {
                let shown = shown(part);
                return Err(Unreadable(format!("`{shown}` stands for more than {MOST_HOSTS} hosts")));
            }
            let before = &rest[..open];
            let longest = numbers.iter().map(String::len).max().unwrap_or_default();
            too_long(names.iter().map(String::len).max().unwrap_or_default() + before.len() + longest)?;
            charge((names.len() * numbers.len()) as u64 * 16, "a list of hosts");
            let with = |name: &String| {
                numbers.iter().map(|number| format!("{name}{before}{number}")).collect::<Vec<_>>()
            };
            names = names.iter().flat_map(with).collect();
            rest = &rest[close + 1..];
        }
        too_long(names.iter().map(String::len).max().unwrap_or_default() + rest.len())?;
        names.iter_mut().for_each(|name| name.push_str(rest));
        hosts.append(&mut names);
        if hosts.len() > MOST_HOSTS {
            return Err(Unreadable(format!("a list of more than {MOST_HOSTS} hosts")));
        }
    }
    Ok(hosts)
}

/// Returns an error if the name of a host would be too long. The name is not created yet.
fn too_long(bytes: usize) -> Result<(), Unreadable> {
    match bytes > LONGEST_HOST {
        true => {
            Err(Unreadable(format!("the name of a host has {bytes} bytes: expected at most {LONGEST_HOST}")))
        }
        false => Ok(()),
    }
}

/// Parses numbers such as `001-003,7`, and keeps leading zeros.
fn numbers(text: &str) -> Result<Vec<String>, Unreadable> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let wrong =
            || Unreadable(format!("found `{}`: expected a range of hosts such as 001-003", shown(part)));
        too_long(from.len())?;
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse::<u64>().map_err(|_| wrong()),
            false => Err(wrong()),
        };
        let (first, last) = (number(from)?, number(to)?);
        if last < first || last - first >= MOST_HOSTS as u64 {
            return Err(wrong());
        }
        if numbers.len() as u64 + (last - first) >= MOST_HOSTS as u64 {
            return Err(wrong());
        }
        numbers.extend((first..=last).map(|number| format!("{number:0width$}", width = from.len())));
    }
    Ok(numbers)
}

/// The tasks of an array, from a text such as `1-10:2,12%4`.
pub(super) struct Array {
    pub count: u64,
    /// The numbers of the first tasks.
    pub first: Vec<u64>,
    /// The number of tasks that may run at once. `None` if all tasks may run at once.
    pub throttle: Option<u64>,
}

/// Parses the tasks of an array, and stores at most `most` of their numbers.
pub(super) fn array(text: &str, most: u64) -> Result<Array, Unreadable> {
    let wrong = || Unreadable(format!("found `{}`: expected array tasks such as 1-10:2,12%4", shown(text)));
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let (list, throttle) = match text.split_once('%') {
        Some((list, throttle)) => (list, Some(number(throttle.trim_end_matches(']'))?)),
        None => (text, None),
    };
    let (mut count, mut first) = (0u64, Vec::new());
    for part in list.trim_matches(['[', ']']).split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to, step) = (number(from)?, number(to)?, number(step)?);
        if to < from || step == 0 || to > 1_000_000_000 {
            return Err(wrong());
        }
        let here = (to - from) / step + 1;
        let named = here.min(most.saturating_sub(first.len() as u64));
        first.extend((0..named).map(|k| from + k * step));
        count += here;
        if count > MAX_COUNT {
            return Err(Unreadable(format!("`{}` has more than {MAX_COUNT} tasks", shown(text))));
        }
    }
    // A throttle of 0 means no throttle.
    Ok(Array { count, first, throttle: throttle.filter(|most| *most > 0) })
}

/// A required combination of features, from a text such as `a100&ib` or `(a|b)&c`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Features {
    Any,
    One(String),
    All(Vec<Features>),
    Either(Vec<Features>),
}

impl Features {
    /// Parses a combination of features. Returns `None` if the text also contains counts of nodes, or
    /// requires one choice for all nodes.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Any);
        }
        if text.contains(['*', '[', ']', '{', '}']) {
            return None;
        }
        let mut rest = text;
        let parsed = Self::either(&mut rest, 0)?;
        rest.is_empty().then_some(parsed)
    }

    fn either(rest: &mut &str, depth: usize) -> Option<Self> {
        let mut parts = vec![Self::all(rest, depth)?];
        while let Some(after) = rest.strip_prefix('|') {
            *rest = after;
            parts.push(Self::all(rest, depth)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Self::Either(parts)) }
    }

    fn all(rest: &mut &str, depth: usize) -> Option<Self> {
        let mut parts = vec![Self::one(rest, depth)?];
        while let Some(after) = rest.strip_prefix(['&', ',']) {
            *rest = after;
            parts.push(Self::one(rest, depth)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Self::All(parts)) }
    }

    fn one(rest: &mut &str, depth: usize) -> Option<Self> {
        const DEEPEST: usize = 20;
        if let Some(after) = rest.strip_prefix('(') {
            if depth == DEEPEST {
                return None;
            }
            *rest = after;
            let inner = Self::either(rest, depth + 1)?;
            *rest = rest.strip_prefix(')')?;
            return Some(inner);
        }
        let end = rest.find(['&', '|', '(', ')', ',']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        *rest = after;
        (!name.is_empty()).then(|| Self::One(name.to_owned()))
    }

    pub fn allow(&self, of_node: &BTreeSet<String>) -> bool {
        match self {
            Self::Any => true,
            Self::One(name) => of_node.contains(name),
            Self::All(parts) => parts.iter().all(|part| part.allow(of_node)),
            Self::Either(parts) => parts.iter().any(|part| part.allow(of_node)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_amounts() {
        assert_eq!(amount("62.50G", 1).unwrap(), Rational::from((125u64 << 30, 2)));
        assert_eq!(amount("1000", MEGABYTE).unwrap(), 1000u64 << 20);
        for wrong in ["8x", "-8", "", "G", "1e3", "1/2", "+1", "8 "] {
            assert!(amount(wrong, 1).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_trackable_resources() {
        let shown = |tres: Tres| -> Vec<String> {
            tres.amounts.iter().map(|(name, amount)| format!("{name} {amount}")).collect()
        };
        let text = "cpu=8,mem=10G,node=2,billing=8,gres/gpu=4,gres/gpu:a100=4,license/x=1";
        let parsed = tres(text).unwrap();
        assert_eq!(parsed.types().collect::<Vec<_>>(), [("gpu", "a100")]);
        assert_eq!(parsed.others, ["node", "billing", "license/x"]);
        let all = ["cpu 8", "memory 10737418240", "gres/gpu 4", "gres/gpu:a100 4"];
        assert_eq!(shown(parsed), all);
        assert_eq!(shown(tres(text).unwrap().with_totals()), all);
        let typed = tres("gres/gpu:a100=1,gres/gpu:h100=2").unwrap().with_totals();
        assert_eq!(shown(typed), ["gres/gpu:a100 1", "gres/gpu:h100 2", "gres/gpu 3"]);
        let long = format!("cpu={}T", "9".repeat(400));
        for wrong in ["cpu", "cpu=8x", "cpu=-8", "cpu=8,cpu=8", &long] {
            assert!(tres(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_generic_resources() {
        let list = gres("gpu:a100:8(S:0-1),gpu:2,mps:200,lustre:no_consume:4G,gpu:v100").unwrap();
        let shown: Vec<_> = list
            .iter()
            .map(|g| (g.name.as_str(), g.of.as_deref(), g.count.to_string(), g.is_consumed))
            .collect();
        let expected = [
            ("gpu", Some("a100"), "8", true),
            ("gpu", None, "2", true),
            ("mps", None, "200", true),
            ("lustre", None, "4294967296", false),
            ("gpu", Some("v100"), "1", true),
        ];
        assert_eq!(shown, expected.map(|(a, b, c, d)| (a, b, c.to_owned(), d)));
        for wrong in ["gpu:a100:8x", "gpu:-8", "gpu:a:b:3"] {
            assert!(gres(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_lists_of_hosts() {
        assert_eq!(hosts("n[001-003,7],c1").unwrap(), ["n001", "n002", "n003", "n7", "c1"]);
        assert_eq!(hosts("r[1-2]n[1-2]x").unwrap(), ["r1n1x", "r1n2x", "r2n1x", "r2n2x"]);
        let zeros = format!("n[{}1-2]", "0".repeat(65_535));
        let long = format!("{}[1-2]", "n".repeat(300));
        let many = format!("n[{}]", ["0-99999"; 3].join(","));
        let parts = ["n[1-60000]"; 2].join(",");
        let wrong = ["n[1-", "n[3-1]", "n[a]", "n[1-9999999]", "n[1-1000][1-1000]", "n[]"];
        for wrong in wrong.into_iter().chain([zeros.as_str(), &long, &many, &parts]) {
            assert!(hosts(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_arrays() {
        let read = |text: &str, most: u64| {
            let Array { count, first, throttle } = array(text, most).unwrap();
            (count, first, throttle)
        };
        assert_eq!(read("49-60", 3), (12, vec![49, 50, 51], None));
        assert_eq!(read("1-10:3,12%4", 10), (5, vec![1, 4, 7, 10, 12], Some(4)));
        assert_eq!(read("[1-2%1]", 10), (2, vec![1, 2], Some(1)));
        assert_eq!(read("7%0", 10), (1, vec![7], None));
        let many = ["1-1000000000"; 1001].join(",");
        for wrong in ["", "a", "3-1", "1-5:0", "1-99999999999", "1%x", &many] {
            assert!(array(wrong, 3).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_features() {
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let parsed = Features::parse("(a|b)&c").unwrap();
        assert!(parsed.allow(&of(&["b", "c"])) && !parsed.allow(&of(&["a", "b"])));
        assert!(Features::parse("").unwrap().allow(&of(&[])));
        for other in ["[a|b]", "a*2", "(a", "a&", "a)"] {
            assert_eq!(Features::parse(other), None, "{other}");
        }
    }
}
