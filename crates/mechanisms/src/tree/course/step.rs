//! How far a node grows in one direction: up to its next event, all of which are rational.

use evenhand_exact::tree::{Forest, Holdings, Term, share};
use evenhand_problem::Rational;

use super::about::{About, ROUNDED};
use super::moving::Growth;

/// The first event at a node that grows at these rates: capacity, a limit, a guarantee or what is kept back is
/// reached, or another resource becomes the largest of a share. `None`: nothing ever happens.
pub(super) fn first_event(
    forest: &Forest<'_>,
    holdings: &Holdings,
    v: usize,
    growth: &Growth,
) -> Option<Rational> {
    let Growth { running: runs, used: uses, .. } = growth;
    let (node, used, running) = (&forest.nodes[v], &holdings.used[v], &holdings.running[v]);
    // What one user holds and uses of everything grows in proportion, so that nothing becomes the largest.
    let has_levels = v != 0 && node.leaf.is_none();
    let shares = if has_levels { share(forest, v, used) } else { Vec::new() };
    let mut events = Events::default();
    for r in (0..forest.resources.len()).filter(|r| uses[*r] > 0) {
        let most = match v {
            0 => Some(&forest.capacity[r]).filter(|_| forest.is_bounded[r]),
            _ => node.limit[r].as_ref(),
        };
        let promised = node.guarantee.as_ref().and_then(|guarantee| guarantee[r].as_ref());
        let marks = most.into_iter().chain(promised).chain([&node.kept[r]]);
        marks.for_each(|mark| events.offer(Line::amount(&used[r], &uses[r]), Line::mark(mark)));
    }
    if v == 0 {
        for r in (0..runs.len()).filter(|r| forest.is_plain[*r] && runs[*r] > 0) {
            events.offer(Line::amount(&running[r], &runs[r]), Line::mark(&forest.capacity[r]));
        }
    }
    if has_levels {
        events.cross(shares.iter().map(|term| Line::term(term, uses)));
        if let Some(guarantee) = &node.guarantee {
            events.cross(parts(used, uses, |r| guarantee[r].as_ref()));
            events.cross(parts(running, runs, |r| guarantee[r].as_ref()));
        }
        events.cross(parts(running, runs, |r| Some(&forest.capacity[r])));
    }
    events.first()
}

/// Of everything of which there is a whole the part that these amounts are.
fn parts<'a>(
    amounts: &'a [Rational],
    growth: &'a [Rational],
    whole: impl Fn(usize) -> Option<&'a Rational>,
) -> impl Iterator<Item = Line<'a>> {
    let wholes = (0..amounts.len()).filter_map(move |r| Some((r, whole(r).filter(|whole| **whole > 0)?)));
    wholes.map(|(r, whole)| Line::part(&amounts[r], &growth[r], whole))
}

/// Something that grows at a constant rate.
#[derive(Clone, Copy)]
struct Line<'a> {
    value: About,
    rate: About,
    exact: Exact<'a>,
}

#[derive(Clone, Copy)]
enum Exact<'a> {
    /// What stays as it is.
    Mark(&'a Rational),
    /// An amount, and its growth.
    Amount(&'a Rational, &'a Rational),
    /// The same as parts of a whole.
    Part(&'a Rational, &'a Rational, &'a Rational),
    /// A term of a share, and the growth of what is used.
    Term(&'a Term, &'a [Rational]),
}

impl<'a> Line<'a> {
    fn mark(mark: &'a Rational) -> Self {
        Self { value: About::of(mark), rate: About::default(), exact: Exact::Mark(mark) }
    }

    fn amount(amount: &'a Rational, growth: &'a Rational) -> Self {
        let (value, rate) = (About::of(amount), About::of(growth));
        Self { value, rate, exact: Exact::Amount(amount, growth) }
    }

    fn part(amount: &'a Rational, growth: &'a Rational, whole: &'a Rational) -> Self {
        let of_whole = whole.to_f64().recip();
        let (value, rate) = (About::of(amount).times(of_whole), About::of(growth).times(of_whole));
        Self { value, rate, exact: Exact::Part(amount, growth, whole) }
    }

    fn term(term: &'a Term, growth: &'a [Rational]) -> Self {
        let rates = term.slope.iter().map(|(r, per_unit)| About::of(&growth[*r]).times(per_unit.to_f64()));
        let rate = rates.fold(About::default(), |sum, rate| sum + rate);
        Self { value: About::of(&term.value), rate, exact: Exact::Term(term, growth) }
    }
}

impl Exact<'_> {
    fn value(self) -> Rational {
        match self {
            Self::Mark(value) | Self::Amount(value, _) => value.clone(),
            Self::Part(amount, _, whole) => Rational::from(amount / whole),
            Self::Term(term, _) => term.value.clone(),
        }
    }

    fn rate(self) -> Rational {
        match self {
            Self::Mark(_) => Rational::new(),
            Self::Amount(_, growth) => growth.clone(),
            Self::Part(_, growth, whole) => Rational::from(growth / whole),
            Self::Term(term, growth) => term.rate(growth),
        }
    }
}

/// Lines, the lower of which may reach the higher: how far away it is, and how fast it comes nearer.
struct Pair<'a> {
    lower: Exact<'a>,
    higher: Exact<'a>,
    way: (f64, f64),
    speed: (f64, f64),
}

/// The pairs among which is the next event.
#[derive(Default)]
struct Events<'a>(Vec<Pair<'a>>);

impl<'a> Events<'a> {
    /// When a line becomes as large as another that is larger now.
    fn offer(&mut self, lower: Line<'a>, higher: Line<'a>) {
        let (way, speed) = ((higher.value - lower.value).range(), (lower.rate - higher.rate).range());
        if way.1 >= 0.0 && speed.1 >= 0.0 {
            self.0.push(Pair { lower: lower.exact, higher: higher.exact, way, speed });
        }
    }

    /// When any of some lines becomes as large as another of them that is larger now.
    fn cross(&mut self, lines: impl Iterator<Item = Line<'a>>) {
        let lines: Vec<Line<'a>> = lines.collect();
        for (at, lower) in lines.iter().enumerate() {
            let others = lines.iter().enumerate().filter(|(other, _)| *other != at);
            others.for_each(|(_, higher)| self.offer(*lower, *higher));
        }
    }

    /// How long it takes to the first of them; what doubles show to be later is not looked at.
    fn first(&self) -> Option<Rational> {
        let surely = self.0.iter().filter(|pair| pair.way.0 > 0.0 && pair.speed.0 > 0.0);
        let latest = surely.map(|pair| pair.way.1 / pair.speed.0).fold(f64::INFINITY, f64::min);
        let is_in_time = |pair: &&Pair<'_>| {
            pair.way.0 <= 0.0 || pair.way.0 / pair.speed.1 * (1.0 - ROUNDED) <= latest * (1.0 + ROUNDED)
        };
        let exactly = |Pair { lower, higher, .. }: &Pair<'_>| {
            let way = higher.value() - lower.value();
            let speed = (way > 0).then(|| lower.rate() - higher.rate())?;
            (speed > 0).then(|| way / speed)
        };
        self.0.iter().filter(is_in_time).filter_map(exactly).min()
    }
}
