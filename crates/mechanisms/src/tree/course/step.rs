//! How far a node grows in one direction: up to its next event, all of which are rational.

use evenhand_exact::tree::{Amount, Forest, Holdings, Term, share};
use evenhand_problem::Rational;
use evenhand_problem::groups::ShareOf;

use super::about::{About, ROUNDED};
use super::moving::Moving;
use super::number::Number;

/// What an amount of a node is when an event happens there, so that it need not be found.
#[derive(Clone)]
pub(super) struct Mark {
    pub of: Of,
    pub is: Is,
}

/// What it is.
#[derive(Clone)]
pub(super) enum Is {
    This(Rational),
    /// So many times another amount of the node.
    Times(Rational, Of),
}

/// Which amount; by resource.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Running(usize),
    Used(usize),
}

/// When the first event happens at a node that grows so, by its clock, and what it reaches: capacity, a limit, a guarantee or
/// what is kept back; or another resource becomes the largest of a share. `None`: nothing ever happens.
pub(super) fn first_event(
    forest: &Forest<'_>,
    holdings: &Holdings<Number>,
    v: usize,
    moving: &Moving,
) -> Option<(Number, Option<Mark>)> {
    let node = &forest.nodes[v];
    let (runs, uses) = (&moving.growth.running, &moving.growth.used);
    let running = Held::all(Of::Running, &holdings.running[v], &moving.base.running, runs);
    let used = Held::all(Of::Used, &holdings.used[v], &moving.base.used, uses);
    let resources = 0..forest.resources.len();
    // What one user holds and uses of everything grows in proportion, so that nothing becomes the largest.
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

/// Of everything of which there is a whole the part that these amounts are.
fn parts<'a, 'w>(held: &[Held<'a>], whole: impl Fn(usize) -> Option<&'w Rational>) -> Vec<Line<'a>> {
    let part = |(r, held): (usize, &Held<'a>)| {
        let whole = whole(r).filter(|whole| **whole > 0)?;
        Some(Line::part(*held, whole.clone().recip()))
    };
    held.iter().enumerate().filter_map(part).collect()
}

/// Whether a share of one resource is a part of what is used of it: nothing is left out.
pub(super) fn is_all(forest: &Forest<'_>, v: usize) -> bool {
    forest.share.of == ShareOf::Usage || forest.nodes[v].guarantee.is_none()
}

/// The only resource of a term, and how much of it one more unit is.
fn share_of(term: &Term<Number>) -> Option<(usize, Rational)> {
    if let [one] = &term.slope[..] { Some(one.clone()) } else { None }
}

/// An amount of a node: now, when its clock is 0, and by how much it grows meanwhile.
#[derive(Clone, Copy)]
struct Held<'a> {
    of: Of,
    now: &'a Number,
    base: &'a Number,
    rate: &'a Number,
}

impl<'a> Held<'a> {
    fn is(&self, other: &Self) -> bool {
        self.now.is(other.now) && self.rate.is(other.rate)
    }

    /// What it is, if that is short and does not change.
    fn short(&self) -> Option<&'a Rational> {
        self.now.short().filter(|_| self.rate.is_nothing())
    }

    /// By resource.
    fn all(of: fn(usize) -> Of, now: &'a [Number], base: &'a [Number], rate: &'a [Number]) -> Vec<Self> {
        let lines = now.iter().zip(base).zip(rate).enumerate();
        lines.map(|(r, ((now, base), rate))| Self { of: of(r), now, base, rate }).collect()
    }
}

/// Something that grows at a constant rate.
#[derive(Clone)]
struct Line<'a> {
    now: About,
    rate: About,
    of: LineOf<'a>,
}

#[derive(Clone)]
enum LineOf<'a> {
    /// What stays as it is.
    Mark(Rational),
    Amount(Held<'a>),
    /// An amount as a part of a whole, of which a unit is so much.
    Part(Held<'a>, Rational),
    /// A term of a share of a node.
    Term(&'a Term<Number>, &'a Moving),
}

impl<'a> Line<'a> {
    fn mark(mark: &Rational) -> Self {
        Self { now: About::of(mark), rate: About::default(), of: LineOf::Mark(mark.clone()) }
    }

    fn amount(held: Held<'a>) -> Self {
        Self { now: held.now.about(), rate: held.rate.about(), of: LineOf::Amount(held) }
    }

    fn part(held: Held<'a>, per_unit: Rational) -> Self {
        let about = About::of(&per_unit);
        let (now, rate) = (held.now.about() * about, held.rate.about() * about);
        Self { now, rate, of: LineOf::Part(held, per_unit) }
    }

    fn term(term: &'a Term<Number>, moving: &'a Moving) -> Self {
        let rate = term.rate(&moving.growth.used).about();
        Self { now: term.value.about(), rate, of: LineOf::Term(term, moving) }
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

    /// Where it is when the clock of the node is 0.
    fn base(&self) -> Number {
        match self {
            Self::Mark(mark) => mark.clone().into(),
            Self::Amount(held) => held.base.clone(),
            Self::Part(held, per_unit) => held.base.times(per_unit),
            Self::Term(term, moving) => &term.value - &(&self.rate() * &moving.clock),
        }
    }

    /// Whether it is a line that was looked at before: the same amounts are compared as shares and as parts. Two amounts that have
    /// just met are one number, and differ in their growth.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Mark(a), Self::Mark(b)) => a == b,
            (Self::Amount(a), Self::Amount(b)) => a.is(b),
            (Self::Part(a, of_a), Self::Part(b, of_b)) => a.is(b) && of_a == of_b,
            _ => false,
        }
    }
}

/// Lines, the lower of which may reach the higher: how far away it is, and how fast it comes nearer.
struct Pair<'a> {
    lower: LineOf<'a>,
    higher: LineOf<'a>,
    way: (f64, f64),
    speed: (f64, f64),
}

/// The pairs among which is the next event.
#[derive(Default)]
struct Events<'a>(Vec<Pair<'a>>);

impl<'a> Events<'a> {
    /// When a line becomes as large as another that is larger now.
    fn offer(&mut self, lower: &Line<'a>, higher: &Line<'a>) {
        let (way, speed) = ((higher.now - lower.now).range(), (lower.rate - higher.rate).range());
        if way.1 < 0.0 || speed.1 < 0.0 {
            return;
        }
        let standing = match (&lower.of, &higher.of) {
            (LineOf::Part(held, per_unit), LineOf::Part(other, per_other)) => {
                let mark = other.short().map(|amount| Rational::from(amount * per_other) / per_unit);
                mark.map(|mark| (Line::amount(*held), Line::mark(&mark)))
            }
            _ => None,
        };
        let (lower, higher) = standing.as_ref().map_or((lower, higher), |(lower, higher)| (lower, higher));
        // The way and the speed in another unit are as good.
        let is_same = |pair: &Pair<'_>| lower.of.is(&pair.lower) && higher.of.is(&pair.higher);
        if !self.0.iter().any(is_same) {
            self.0.push(Pair { lower: lower.of.clone(), higher: higher.of.clone(), way, speed });
        }
    }

    /// When any of some lines becomes as large as another of them that is larger now.
    fn cross(&mut self, lines: &[Line<'a>]) {
        for (at, lower) in lines.iter().enumerate() {
            let others = lines.iter().enumerate().filter(|(other, _)| *other != at);
            others.for_each(|(_, higher)| self.offer(lower, higher));
        }
    }

    /// When the first of them happens and what is reached then; what doubles show to be later is not looked at.
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
                    Some(Mark { of: held.of, is: Is::This(is.clone()) })
                }
                (LineOf::Part(held, per_unit), LineOf::Part(other, per_other)) => {
                    let times = Rational::from(per_other / per_unit);
                    Some(Mark { of: held.of, is: Is::Times(times, other.of) })
                }
                _ => None,
            };
            let when = || &(&higher.base() - &lower.base()) / &speed;
            speed.cmp0().is_gt().then(|| (when(), mark))
        };
        self.0.iter().filter(is_in_time).filter_map(exactly).min_by(|a, b| a.0.cmp(&b.0))
    }
}
