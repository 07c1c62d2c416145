//! Tests of the test kit's own checker of VIPR, with files that it accepts and files that it refuses.

use evenhand_exact::Certificate;
use evenhand_exact::ratio;
use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_testkit::build::ratio::{Method, certificate};
use evenhand_testkit::certificates::{Kind, accepted_of};
use evenhand_testkit::damage::damaged_text;
use evenhand_testkit::random::reservations;
use evenhand_testkit::reference::{Dense, Solved};
use evenhand_testkit::vipr::{Checked, Goal, Linear, Sense, check};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::written::{File, of_certificate, of_ratio};

/// The maximum of `x + y` is at most 2 if `2x + 2y <= 5`. It is proven by rounding and by a split.
const ROUNDED: &str = "% two of five halves
VER 1.0
VAR 2
x y
INT 2
0 1
OBJ max
2  0 1  1 1
CON 3 2
x_lower G 0  1 0 1
y_lower G 0  1 1 1
c L 5  2  0 2  1 2
RTP range 2 2
SOL 1
best 1  0 2
DER 1
d1 L 2  OBJ  { rnd 1  2 1/2 } -1
";
/// 1 is not an even number. Both branches of `x <= 0` and `x >= 1` give a contradiction.
const SPLIT: &str = "VER 1.0 VAR 1 x INT 1 0 OBJ min 0 CON 1 0 c E 1 1 0 2 RTP infeas SOL 0 DER 5
below L 0 1 0 1 { asm } 5
above G 1 1 0 1 { asm } 5
a G 1 0 { lin 2  0 1  1 -2 } 5
b G 1 0 { lin 2  0 -1  2 2 } 5
all G 1 0 { uns 3 1  4 2 } -1
";

#[test]
fn accepts_good_files() {
    assert_eq!(check(ROUNDED).unwrap().rounded, 1);
    assert_eq!(check(SPLIT).unwrap().goal, Goal::Infeasible);
    // The first file has decimals. Both files have a bound on only one side.
    let one_side = ROUNDED.replace("c L 5", "c L 5.0").replace("range 2 2", "range -inf 2");
    check(&one_side.replace("SOL 1\nbest 1  0 2", "SOL 0")).unwrap();
    check(&ROUNDED.replace("range 2 2", "range 1 inf")).unwrap();
}

#[test]
fn refuses_bad_files() {
    let bad = [
        (ROUNDED, "VER 1.0", "VER 2.0", "in the place of `1.0`"),
        (ROUNDED, "VAR 2", "VAR 3", "in the place of `INT`"),
        (ROUNDED, "INT 2\n0 1", "INT 2\n0 2", "no such variable"),
        (ROUNDED, "INT 2\n0 1", "INT 1\n0", "not whole"),
        (ROUNDED, "CON 3 2", "CON 3 4", "more bounds"),
        (ROUNDED, "2  0 1  1 1\nCON", "2  0 1  0 1\nCON", "twice"),
        (ROUNDED, "c L 5", "c L 3", "violates `c`"),
        (ROUNDED, "range 2 2", "range 2 1", "empty range"),
        (ROUNDED, "range 2 2", "range 3 3", "no solution is as good"),
        (ROUNDED, "range 2 2", "range 1 3/2", "not what is to be proven"),
        (ROUNDED, "best 1  0 2", "best 1  0 3/2", "not whole"),
        (ROUNDED, "best 1  0 2", "best 1  1 -1", "violates `y_lower`"),
        (ROUNDED, "best 1  0 2", "best 1  0 1", "no solution is as good"),
        (ROUNDED, "rnd 1", "lin 1", "does not follow"),
        (ROUNDED, "2 1/2 }", "2 1/3 }", "not whole"),
        (ROUNDED, "2 1/2 }", "2 -1/2 }", "does not follow"),
        (ROUNDED, "2 1/2 }", "3 1/2 }", "refers to 3"),
        (ROUNDED, "2 1/2 }", "2 1/0 }", "zero denominator"),
        (ROUNDED, "rnd 1  2 1/2", "rnd 2  2 1/2  0 1", "both senses"),
        (ROUNDED, "rnd 1  2 1/2", "rnd 2  2 1/4  2 1/4", "named twice"),
        (ROUNDED, "{ rnd 1  2 1/2 }", "{ sol }", "proves no bound"),
        (ROUNDED, "{ rnd 1  2 1/2 }", "{ asm }", "rests on assumptions"),
        (ROUNDED, "DER 1\n", "DER 0\n", "nothing is derived"),
        (ROUNDED, "} -1\n", "} -1\nd2", "after the last derivation"),
        (ROUNDED, "} -1\n", "}\n", "too early"),
        (SPLIT, "above G 1", "above G 2", "no split"),
        (SPLIT, "INT 1 0", "INT 0", "no split"),
        (SPLIT, "1  4 2 }", "2  4 1 }", "rests on assumptions"),
        (SPLIT, "uns 3 1", "uns 1 1", "not from both branches"),
        (SPLIT, "{ asm } 5\nabove", "{ asm } 4\nabove", "after its last use"),
        (SPLIT, "0 1  1 -2 }", "0 1  1 -1 }", "does not follow"),
    ];
    for (good, what, by, message) in bad {
        assert_eq!(good.matches(what).count(), 1, "{what}");
        let fault = check(&good.replace(what, by)).expect_err(what);
        assert!(fault.contains(message), "{what} -> {by}: {fault}");
    }
}

/// Returns all exported files that are small enough to be checked again and again.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    for fixture in accepted_of(Kind::Allocation) {
        let source = Source { name: &fixture.name, text: &fixture.text };
        files.extend(of_certificate(&Certificate::parse(&source).unwrap()).unwrap().files);
    }
    for fixture in accepted_of(Kind::Ratio) {
        let source = Source { name: &fixture.name, text: &fixture.text };
        files.extend(of_ratio(&ratio::RatioCertificate::parse(&source).unwrap()).unwrap().files);
    }
    let mut rng = Pcg64::seed_from_u64(5);
    for _ in 0..10 {
        files.extend(of_ratio(&certificate(&reservations::random(&mut rng), Method::Trees)).unwrap().files);
    }
    files
}

/// Some damage leaves no proof: a bound below the proven bound, a solution beyond every capacity, and a
/// multiplier with the wrong sign.
#[test]
fn damage_that_leaves_no_proof_is_refused() {
    let mut tried = 0;
    for File { name, text } in files() {
        let checked = check(&text).unwrap();
        let mut refused = |damaged: String| {
            assert_ne!(damaged, text);
            assert!(check(&damaged).is_err(), "{name}: {damaged}");
            tried += 1;
        };
        let lines: Vec<&str> = text.lines().collect();
        let with = |at: usize, line: String| {
            let mut lines = lines.clone();
            lines[at] = &line;
            lines.join("\n")
        };
        for (at, line) in lines.iter().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["RTP", "range", lower, upper] => {
                    let more = |text: &str| text.parse::<Rational>().unwrap() + 1u32;
                    if upper != "inf" {
                        refused(with(at, format!("RTP range {} inf", more(upper))));
                    }
                    refused(with(at, format!("RTP range -inf {}", more(lower) - 2u32)));
                }
                ["stated" | "configuration" | "assignment", "0"] => {}
                ["stated" | "configuration" | "assignment", _, v, ..] => {
                    let (before, _) = line.split_at(line.find("  ").unwrap());
                    let name = before.split(' ').next().unwrap();
                    refused(with(at, format!("{name} 1  {v} 1000000000")));
                }
                _ if line.contains("{ lin") || line.contains("{ rnd") => {
                    let (before, terms) = line.split_once('{').unwrap();
                    let terms: Vec<&str> = terms.split_whitespace().collect();
                    for place in (3..terms.len() - 2).step_by(2) {
                        let negated = (-terms[place].parse::<Rational>().unwrap()).to_string();
                        let mut terms = terms.clone();
                        terms[place] = &negated;
                        refused(with(at, format!("{before}{{ {}", terms.join(" "))));
                    }
                }
                _ => {}
            }
        }
        assert!(checked.derivations > 0 || matches!(checked.goal, Goal::Range { upper: None, .. }));
    }
    assert!(tried > 1000, "{tried}");
}

/// If a damaged file is still accepted, its statement must be true.
#[test]
fn accepted_damaged_files_are_true() {
    let files: Vec<File> = files().into_iter().filter(|file| file.text.len() < 4_000).collect();
    let mut rng = Pcg64::seed_from_u64(7);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let text = &files.choose(&mut rng).unwrap().text;
        let damaged =
            if rng.random_bool(0.2) { damaged_text(text, &mut rng) } else { changed(text, &mut rng) };
        match check(&damaged) {
            Err(_) => refused += 1,
            Ok(checked) => {
                assert!(is_true(&checked), "{damaged}");
                accepted += 1;
            }
        }
    }
    assert!(accepted > 500 && refused > 10_000, "{accepted} accepted, {refused} refused");
}

/// Returns the file with one or two changed words.
fn changed(text: &str, rng: &mut Pcg64) -> String {
    let start = text.find("VER").unwrap();
    let mut lines: Vec<Vec<String>> =
        text[start..].lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect();
    for _ in 0..rng.random_range(1..3) {
        let at = rng.random_range(0..lines.len());
        let line = &mut lines[at];
        if line.is_empty() {
            continue;
        }
        let word = rng.random_range(0..line.len());
        let other = match line[word].parse::<Rational>() {
            Ok(value) => match rng.random_range(0..5) {
                0 => -value,
                1 => value + 1u32,
                2 => value - 1u32,
                3 => value * 2u32,
                _ => Rational::new(),
            }
            .to_string(),
            Err(_) => {
                let words = ["L", "G", "E", "lin", "rnd", "uns", "OBJ", "max", "min", "inf", "-inf", "range"];
                (*words.choose(rng).unwrap()).to_owned()
            }
        };
        line[word] = other;
    }
    lines.iter().map(|line| line.join(" ") + "\n").collect()
}

/// Returns `true` if the stated range is true. Linear programmes are solved, and for integer programmes whole
/// points are tried.
fn is_true(checked: &Checked) -> bool {
    let Goal::Range { lower, upper } = &checked.goal else { return true };
    let (best, bound) = if checked.minimise { (upper, lower) } else { (lower, upper) };
    let sign = if checked.minimise { -1 } else { 1 };
    let signed = |bound: &Option<Rational>| bound.clone().map(|bound| bound * sign);
    let (best, bound) = (signed(best), signed(bound));
    if checked.integer.contains(&true) {
        return bound.is_none_or(|bound| !any_above(checked, sign, &bound));
    }
    match relaxed(checked, sign).solve() {
        Solved::Infeasible => best.is_none(),
        Solved::Unbounded => bound.is_none(),
        Solved::Optimal { value, .. } => {
            bound.is_none_or(|bound| value <= bound) && best.is_none_or(|best| value >= best)
        }
    }
}

/// Returns the linear relaxation of the programme. A free variable is written as the difference of two
/// non-negative variables.
fn relaxed(checked: &Checked, sign: i32) -> Dense {
    let n = checked.variables.len();
    let row = |left: &Linear, factor: i32| {
        let mut row = vec![Rational::new(); 2 * n];
        for (v, coefficient) in left {
            row[*v] = Rational::from(coefficient * factor);
            row[n + v] = Rational::from(-&row[*v]);
        }
        row
    };
    let mut dense = Dense { costs: row(&checked.objective, sign), rows: Vec::new() };
    for constraint in &checked.constraints {
        if constraint.sense != Sense::AtLeast {
            dense.rows.push((row(&constraint.left, 1), constraint.right.clone()));
        }
        if constraint.sense != Sense::AtMost {
            dense.rows.push((row(&constraint.left, -1), Rational::from(-&constraint.right)));
        }
    }
    dense
}

/// Returns `true` if a whole point near 0 is feasible and has an objective above the bound.
fn any_above(checked: &Checked, sign: i32, bound: &Rational) -> bool {
    let n = checked.variables.len();
    let most: i64 = if n <= 3 { 7 } else { 3 };
    let all_integer = checked.integer.iter().all(|integer| *integer);
    if n > 6 || !all_integer {
        return false;
    }
    let mut point = vec![-1i64; n];
    loop {
        let product = |left: &Linear| -> Rational {
            left.iter().map(|(v, coefficient)| Rational::from(coefficient * point[*v])).sum()
        };
        let fits = checked.constraints.iter().all(|constraint| {
            let left = product(&constraint.left);
            match constraint.sense {
                Sense::Equal => left == constraint.right,
                Sense::AtMost => left <= constraint.right,
                Sense::AtLeast => left >= constraint.right,
            }
        });
        if fits && product(&checked.objective) * sign > *bound {
            return true;
        }
        let Some(v) = point.iter().rposition(|x| *x < most) else { return false };
        point[v] += 1;
        point[v + 1..].fill(-1);
    }
}
