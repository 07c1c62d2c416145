//! The next event of a node that grows at constant rates. All events happen at rational clock values.

use evenhand_exact::tree::{Amount, Forest, Holdings, Term, share};
use evenhand_problem::Rational;
use evenhand_problem::groups::ShareOf;

use super::approx::{Approx, ROUNDED};
use super::moving::Moving;
use super::number::Number;

/// The value that an amount of a node has at an event. The value is known without computing the amount.
#[derive(Clone)]
pub(super) struct Mark {
    pub of: AmountKind,
    pub is: MarkValue,
}

/// The value of an amount at an event.
#[derive(Clone)]
pub(super) enum MarkValue {
    /// A constant value.
    This(Rational),
    /// A multiple of another amount of the same node.
    Times(Rational, AmountKind),
}

/// An amount of a node, with the index of its resource.
#[derive(Clone, Copy)]
pub(super) enum AmountKind {
    Running(usize),
    Used(usize),
}

/// Returns the clock value of the first event at a node, and the mark that it reaches. Returns `None` if no event
/// ever happens.
///
/// At an event, an amount reaches the capacity, a limit, a guarantee or an amount kept back, or another resource
/// becomes the largest in a share.
pub(super) fn first_event(
    forest: &Forest<'_>,
    holdings: &Holdings<Number>,
    v: usize,
    moving: &Moving,
) -> Option<(Number, Option<Mark>)> {
    let node = &forest.nodes[v];
    let (runs, uses) = (&moving.growth.running, &moving.growth.used);
    let running = Held::all(AmountKind::Running, &holdings.running[v], &moving.base.running, runs);
    let used = Held::all(AmountKind::Used, &holdings.used[v], &moving.base.used, uses);
    let resources = 0..forest.resources.len();
    // All amounts of a user grow in proportion, so the largest amount stays the largest.
    let has_levels = v != 0 && node.leaf.is_none();
    let shares = if has_levels { share(forest, v, &holdings.used[v]) } else { Vec::new() };
    let mut events = Events::default();
    for r in resources.clone().filter(|r| uses[*r].cmp0().is_gt()) {
        let most = match v {
            0 => Some(&forest.capacity[r]).filter(|_| forest.is_bounded[r]),
            _ => node.limit[r].as_ref(),
        };
        let promised = node.guarantee.as_ref().and_then(|guarantee| guarantee[r].as_ref());
        let marks = most.into_iter().chain(promised).chain([&node.kept[r]]);
        marks.for_each(|mark| events.offer(&Line::amount(used[r]), &Line::mark(mark)));
    }
    if v == 0 {
        for r in resources.clone().filter(|r| forest.is_plain[*r] && runs[*r].cmp0().is_gt()) {
            events.offer(&Line::amount(running[r]), &Line::mark(&forest.capacity[r]));
        }
    }
    if has_levels {
        let of_term = |term| match share_of(term) {
            Some((r, per_unit)) if is_all(forest, v) => Line::part(used[r], per_unit),
            _ => Line::term(term, moving),
        };
        events.cross(&shares.iter().map(of_term).collect::<Vec<_>>());
        if let Some(guarantee) = &node.guarantee {
            events.cross(&parts(&used, |r| guarantee[r].as_ref()));
            events.cross(&parts(&running, |r| guarantee[r].as_ref()));
        }
        events.cross(&parts(&running, |r| Some(&forest.capacity[r])));
    }
    events.first()
}

/// Returns the amount of each resource as a fraction of a whole. Resources for which `whole` returns `None`
/// are left out.
fn parts<'a, 'w>(held: &[Held<'a>], whole: impl Fn(usize) -> Option<&'w Rational>) -> Vec<Line<'a>> {
    let part = |(r, held): (usize, &Held<'a>)| {
        let whole = whole(r).filter(|whole| **whole > 0)?;
        Some(Line::part(*held, whole.clone().recip()))
    };
    held.iter().enumerate().filter_map(part).collect()
}

/// Returns whether the share of one resource is proportional to its usage, which means that no guarantee is
/// subtracted.
pub(super) fn is_all(forest: &Forest<'_>, v: usize) -> bool {
    forest.share.of == ShareOf::Usage || forest.nodes[v].guarantee.is_none()
}

/// Returns the resource of a term with a single resource, and the value of one unit of it.
fn share_of(term: &Term<Number>) -> Option<(usize, Rational)> {
    if let [one] = &term.slope[..] { Some(one.clone()) } else { None }
}

/// An amount of a node: its current value, its value at clock 0, and its rate.
#[derive(Clone, Copy)]
struct Held<'a> {
    of: AmountKind,
    now: &'a Number,
    base: &'a Number,
    rate: &'a Number,
}

impl<'a> Held<'a> {
    /// Returns whether two amounts share their values and rates.
    fn is(&self, other: &Self) -> bool {
        self.now.is(other.now) && self.rate.is(other.rate)
    }

    /// Returns the amount if it is constant and its value is short.
    fn short(&self) -> Option<&'a Rational> {
        self.now.short().filter(|_| self.rate.is_nothing())
    }

    /// Collects the amounts of all resources.
    fn all(
        of: fn(usize) -> AmountKind,
        now: &'a [Number],
        base: &'a [Number],
        rate: &'a [Number],
    ) -> Vec<Self> {
        let lines = now.iter().zip(base).zip(rate).enumerate();
        lines.map(|(r, ((now, base), rate))| Self { of: of(r), now, base, rate }).collect()
    }
}

/// A quantity that grows at a constant rate.
#[derive(Clone)]
struct Line<'a> {
    now: Approx,
    rate: Approx,
    of: LineOf<'a>,
}

/// The definition of a line, from which exact values are computed.
#[derive(Clone)]
enum LineOf<'a> {
    /// A constant value.
    Mark(Rational),
    /// An amount of a node.
    Amount(Held<'a>),
    /// An amount as a fraction of a whole, with the fraction that corresponds to one unit.
    Part(Held<'a>, Rational),
    /// A term of the share of a node.
    Term(&'a Term<Number>, &'a Moving),
}

impl<'a> Line<'a> {
    fn mark(mark: &Rational) -> Self {
        Self { now: Approx::of(mark), rate: Approx::default(), of: LineOf::Mark(mark.clone()) }
    }

    fn amount(held: Held<'a>) -> Self {
        Self { now: held.now.approx(), rate: held.rate.approx(), of: LineOf::Amount(held) }
    }

    fn part(held: Held<'a>, per_unit: Rational) -> Self {
        let approx = Approx::of(&per_unit);
        let (now, rate) = (held.now.approx() * approx, held.rate.approx() * approx);
        Self { now, rate, of: LineOf::Part(held, per_unit) }
    }

    fn term(term: &'a Term<Number>, moving: &'a Moving) -> Self {
        let rate = term.rate(&moving.growth.used).approx();
        Self { now: term.value.approx(), rate, of: LineOf::Term(term, moving) }
    }
}

impl LineOf<'_> {
    fn now(&self) -> Number {
        match self {
            Self::Mark(mark) => mark.clone().into(),
            Self::Amount(held) => held.now.clone(),
            Self::Part(held, per_unit) => held.now.times(per_unit),
            Self::Term(term, _) => term.value.clone(),
        }
    }

    fn rate(&self) -> Number {
        match self {
            Self::Mark(_) => Number::default(),
            Self::Amount(held) => held.rate.clone(),
            Self::Part(held, per_unit) => held.rate.times(per_unit),
            Self::Term(term, moving) => term.rate(&moving.growth.used),
        }
    }

    /// Returns the value at the node's clock 0.
    fn base(&self) -> Number {
        match self {
            Self::Mark(mark) => mark.clone().into(),
            Self::Amount(held) => held.base.clone(),
            Self::Part(held, per_unit) => held.base.times(per_unit),
            Self::Term(term, moving) => &term.value - &(&self.rate() * &moving.clock),
        }
    }

    /// Returns whether two lines are known to be identical. The same amounts can be compared both as shares
    /// and as fractions. Two amounts that have just met share their value, but not their growth.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mark(a), Self::Mark(b)) => a == b,
            (Self::Amount(a), Self::Amount(b)) => a.is(b),
            (Self::Part(a, of_a), Self::Part(b, of_b)) => a.is(b) && of_a == of_b,
            _ => false,
        }
    }
}

/// Two lines, where the lower line may reach the higher line, with bounds on their distance and on the rate
/// at which it shrinks.
struct Pair<'a> {
    lower: LineOf<'a>,
    higher: LineOf<'a>,
    way: (f64, f64),
    speed: (f64, f64),
}

/// The pairs of lines whose meetings are candidates for the next event.
#[derive(Default)]
struct Events<'a>(Vec<Pair<'a>>);

impl<'a> Events<'a> {
    /// Adds the event that `lower` reaches `higher`, unless doubles show that this does not happen.
    fn offer(&mut self, lower: &Line<'a>, higher: &Line<'a>) {
        let (way, speed) = ((higher.now - lower.now).range(), (lower.rate - higher.rate).range());
        if way.1 < 0.0 || speed.1 < 0.0 {
            return;
        }
        // A fraction that reaches a short constant is stated as an amount that reaches a mark.
        let standing = match (&lower.of, &higher.of) {
            (LineOf::Part(held, per_unit), LineOf::Part(other, per_other)) => {
                let mark = other.short().map(|amount| Rational::from(amount * per_other) / per_unit);
                mark.map(|mark| (Line::amount(*held), Line::mark(&mark)))
            }
            _ => None,
        };
        let (lower, higher) = standing.as_ref().map_or((lower, higher), |(lower, higher)| (lower, higher));
        // Distance and rate stay in the old unit, since only their quotient is used.
        let is_same = |pair: &Pair<'_>| lower.of.is(&pair.lower) && higher.of.is(&pair.higher);
        if !self.0.iter().any(is_same) {
            self.0.push(Pair { lower: lower.of.clone(), higher: higher.of.clone(), way, speed });
        }
    }

    /// Adds the events at which any of the lines reaches another line.
    fn cross(&mut self, lines: &[Line<'a>]) {
        for (at, lower) in lines.iter().enumerate() {
            let others = lines.iter().enumerate().filter(|(other, _)| *other != at);
            others.for_each(|(_, higher)| self.offer(lower, higher));
        }
    }

    /// Returns the first event and the mark that it reaches. An event is not computed exactly if doubles show
    /// that it is later than another event.
    fn first(&self) -> Option<(Number, Option<Mark>)> {
        let surely = self.0.iter().filter(|pair| pair.way.0 > 0.0 && pair.speed.0 > 0.0);
        let latest = surely.map(|pair| pair.way.1 / pair.speed.0).fold(f64::INFINITY, f64::min);
        let is_in_time = |pair: &&Pair<'_>| {
            pair.way.0 <= 0.0 || pair.way.0 / pair.speed.1 * (1.0 - ROUNDED) <= latest * (1.0 + ROUNDED)
        };
        let exactly = |Pair { lower, higher, .. }: &Pair<'_>| {
            let speed = (higher.now() > lower.now()).then(|| &lower.rate() - &higher.rate())?;
            let mark = match (lower, higher) {
                (LineOf::Amount(held), LineOf::Mark(is)) => {
                    Some(Mark { of: held.of, is: MarkValue::This(is.clone()) })
                }
                (LineOf::Part(held, per_unit), LineOf::Part(other, per_other)) => {
                    let times = Rational::from(per_other / per_unit);
                    Some(Mark { of: held.of, is: MarkValue::Times(times, other.of) })
                }
                _ => None,
            };
            let when = || &(&higher.base() - &lower.base()) / &speed;
            speed.cmp0().is_gt().then(|| (when(), mark))
        };
        self.0.iter().filter(is_in_time).filter_map(exactly).min_by(|a, b| a.0.cmp(&b.0))
    }
}
