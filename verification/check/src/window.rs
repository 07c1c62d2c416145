//! Certificates about a window of time (docs/theory.md, section 10): sums of the stated samples, and max-min of decayed
//! usage over weight.
//!
//! The samples are taken as they are stated. In each segment of time, a queue has one usage and one fair share, and it
//! either wants more or does not. All other statements are computed again. The decayed usage of a queue is the sum of
//! its usage in a segment from `a` to `b` times `2^-((T-b)/h) - 2^-((T-a)/h)`, where `T` is the end of the window. The
//! factor `h / ln 2` is left out, since only quotients of decayed usages are compared. Without a half-life the factor
//! is `b - a`.

use rug::{Integer, Rational};

use crate::json::{Json, quoted, record};
use crate::names::{Amounts, Names, at};
use crate::number::{STATED, hashed, parse, short};
use crate::work::{self, Checked, Fault, context, ensure, require};
use crate::{File, Options, Report, Unusable, Usable};

/// The precision of powers of 1/2, in bits.
const BITS: u32 = 192;
/// The number of steps of work that a power of 1/2 takes.
const STEPS_OF_A_POWER: u64 = 20_000;
/// The largest tolerance that is accepted if the reader does not set another tolerance.
const MOST_TOLERANCE: (u32, u32) = (1, 1_000_000);
/// The name of the only axiom about a window.
const AXIOM: &str = "window-max-min";

/// Runs of equal values: the number of consecutive segments, and their value.
type Runs<T> = Vec<(usize, T)>;

/// The samples of a queue for one resource.
struct Samples {
    usage: Runs<Rational>,
    fair_share: Option<Runs<Rational>>,
    wants: Option<Runs<bool>>,
}

struct Queue {
    weight: Rational,
    /// The samples of each resource, with the position of the resource.
    samples: Vec<(usize, Samples)>,
}

/// The sums of the samples of a queue for one resource.
struct Balance {
    queue: usize,
    resource: usize,
    used: Rational,
    fair_share: Option<Rational>,
    lacked: Option<Rational>,
    over: Option<Rational>,
}

struct Claim {
    holds: Option<bool>,
    /// A lower and an upper bound of the margin, the queue with the least usage that wanted more throughout, and the
    /// queue with the most usage.
    proof: Option<(Rational, Rational, usize, usize)>,
}

struct Window {
    from: Rational,
    to: Rational,
    half_life: Option<Rational>,
    tolerance: Rational,
    resources: Names,
    /// The value of a unit of each resource that counts in the axiom.
    values: Amounts,
    segments: Vec<(Rational, Rational)>,
    names: Names,
    queues: Vec<Queue>,
    balances: Vec<Balance>,
    claim: Option<Claim>,
}

/// Bounds of a number.
#[derive(Clone)]
struct Bounds {
    low: Rational,
    high: Rational,
}

/// Reads runs of values. Their numbers of segments together are all segments.
fn runs<T>(raw: &Json<'_>, segments: usize, read: impl Fn(&Json<'_>) -> Checked<T>) -> Checked<Runs<T>> {
    let mut left = segments as u64;
    let mut runs = Vec::new();
    for run in raw.list()? {
        let [count, value] = run.list()? else {
            return run.wrong("expected a number of segments and a value");
        };
        let count = count.count(1, left)?;
        left -= count;
        runs.push((count as usize, read(value)?));
    }
    if left > 0 { raw.wrong("the counts add up to fewer segments than the window has") } else { Ok(runs) }
}

fn amount(raw: &Json<'_>) -> Checked<Rational> {
    let value = raw.computed()?;
    if value < 0 { raw.wrong("expected a number of at least 0") } else { Ok(value) }
}

impl Samples {
    fn read(raw: &Json<'_>, segments: usize) -> Checked<Self> {
        let [usage, fair_share, wants] = raw.fields("usage fair_share? wants?")?;
        let shares = |raw: &Json<'_>| runs(raw, segments, amount);
        Ok(Self {
            usage: shares(usage)?,
            fair_share: fair_share.given().map(shares).transpose()?,
            wants: wants.given().map(|raw| runs(raw, segments, |raw| raw.boolean())).transpose()?,
        })
    }

    /// Returns, for each segment, whether the queue wants more. Returns `None` if the samples do not state this.
    fn wants(&self, segments: usize) -> Option<Vec<bool>> {
        let runs = self.wants.as_ref()?;
        let mut wants = Vec::with_capacity(segments);
        runs.iter().for_each(|(count, value)| wants.extend(std::iter::repeat_n(*value, *count)));
        Some(wants)
    }
}

/// Calls `each` for every maximal range of segments in which both values are constant. The arguments are the first
/// segment, the segment after the last, and the two values.
fn zip<A, B>(
    a: &Runs<A>,
    b: &Runs<B>,
    mut each: impl FnMut(usize, usize, &A, &B) -> Checked<()>,
) -> Checked<()> {
    let (mut from, mut ends_a, mut ends_b) = (0, 0, 0);
    let (mut next_a, mut next_b) = (a.iter(), b.iter());
    let (mut value_a, mut value_b) = (None, None);
    loop {
        if ends_a == from {
            let Some((count, value)) = next_a.next() else { return Ok(()) };
            (ends_a, value_a) = (ends_a + count, Some(value));
        }
        if ends_b == from {
            let Some((count, value)) = next_b.next() else { return Ok(()) };
            (ends_b, value_b) = (ends_b + count, Some(value));
        }
        let (Some(value_a), Some(value_b)) = (value_a, value_b) else { return Ok(()) };
        let to = ends_a.min(ends_b);
        each(from, to, value_a, value_b)?;
        from = to;
    }
}

impl Window {
    fn read(raw: &Json<'_>) -> Checked<Self> {
        let [_, version, window, half_life, tolerance, values, balances, claims, segments, queues] = raw
            .fields(
                "kind version window half_life tolerance resource_weights balances claims segments queues",
            )?;
        version.count(1, 1)?;
        let pair = |raw: &Json<'_>| match raw.list()? {
            [from, to] => Ok((from.number()?, to.number()?)),
            _ => raw.wrong("expected the times from and to"),
        };
        let (from, to) = pair(window)?;
        let half_life = match half_life.computed_or_null()? {
            Some(time) if time <= 0 => return half_life.wrong("expected a number above 0"),
            time => time,
        };
        let tolerated = tolerance.number()?;
        if !(0..=1).contains(&tolerated) {
            return tolerance.wrong("expected a number from 0 to 1");
        }
        // Resources are named by the values, and by the samples of the queues.
        let mut named: Vec<&str> = values.object()?.iter().map(|(name, _)| &**name).collect();
        for (_, queue) in queues.object()? {
            named.extend(queue.get("resources").object()?.iter().map(|(name, _)| &**name));
        }
        named.sort_unstable();
        named.dedup();
        let resources = Names::of("resource", &named);
        let segments = segments.list()?.iter().map(pair).collect::<Checked<Vec<_>>>()?;
        let names: Vec<&str> = queues.object()?.iter().map(|(name, _)| &**name).collect();
        let names = Names::of("queue", &names);
        let read = |(_, raw): &(_, Json<'_>)| -> Checked<Queue> {
            let [weight, samples] = raw.fields("weight resources")?;
            let samples = resources.map(samples, |_, raw| Samples::read(raw, segments.len()))?;
            Ok(Queue { weight: weight.amount()?, samples })
        };
        let of_queues = queues.object()?.iter().map(read).collect::<Checked<Vec<_>>>()?;
        let optional = |raw: &Json<'_>| raw.given().map(amount).transpose();
        let balance = |[queue, resource, used, fair_share, lacked, over]: [&Json<'_>; 6]| {
            Ok(Balance {
                queue: names.named(queue)?,
                resource: resources.named(resource)?,
                used: amount(used)?,
                fair_share: optional(fair_share)?,
                lacked: optional(lacked)?,
                over: optional(over)?,
            })
        };
        let claim = |[axiom, holds, margin, evidence]: [&Json<'_>; 4]| {
            if axiom.text()? != AXIOM {
                return axiom.wrong(format!("expected `{AXIOM}`"));
            }
            let null = matches!(holds.kind, crate::json::Kind::Null);
            let holds = if null { None } else { Some(holds.boolean()?) };
            let proof = match holds {
                None => None,
                Some(_) => {
                    let [least, most] = margin.fields("least most")?;
                    let [queue, other] = evidence.fields("queue other")?;
                    Some((least.computed()?, most.computed()?, names.named(queue)?, names.named(other)?))
                }
            };
            Ok(Claim { holds, proof })
        };
        let mut claimed = claims.rows("axiom holds margin? evidence?", claim)?;
        if claimed.len() > 1 {
            return claims.wrong("the axiom has two claims: expected one");
        }
        Ok(Self {
            values: resources.amounts(values)?,
            balances: balances.rows("queue resource used fair_share? lacked? over?", balance)?,
            claim: claimed.pop(),
            queues: of_queues,
            from,
            to,
            half_life,
            tolerance: tolerated,
            resources,
            segments,
            names,
        })
    }

    fn verify(&self) -> Checked<()> {
        ensure(self.from < self.to, "the window ends before it begins: expected `from` before `to`")?;
        let mut end = &self.from;
        for (from, to) in &self.segments {
            ensure(
                end <= from && from < to,
                "the segments overlap, are not in order, or begin before the window",
            )?;
            end = to;
        }
        ensure(*end <= self.to, "a segment ends after the window")?;
        self.verify_balances()?;
        match &self.claim {
            Some(claim) => context(AXIOM, self.verify_claim(claim)),
            None => Ok(()),
        }
    }

    /// Returns the total length of the first 0, 1, ... segments. The time between segments does not count.
    fn times(&self) -> Checked<Vec<Rational>> {
        let mut times = vec![Rational::new()];
        for (from, to) in &self.segments {
            let length = work::plus(to, &Rational::from(-from))?;
            times.push(work::plus(&times[times.len() - 1], &length)?);
        }
        Ok(times)
    }

    /// Checks that the sums of every queue and resource are stated once, and equal the sums of the samples.
    fn verify_balances(&self) -> Checked<()> {
        let times = self.times()?;
        let mut stated: Vec<(usize, usize)> =
            self.balances.iter().map(|of| (of.queue, of.resource)).collect();
        stated.sort_unstable();
        let of_queue = |(queue, of): (usize, &Queue)| -> Vec<(usize, usize)> {
            of.samples.iter().map(|(resource, _)| (queue, *resource)).collect()
        };
        let all: Vec<(usize, usize)> = self.queues.iter().enumerate().flat_map(of_queue).collect();
        ensure(stated == all, "expected one entry of `balances` for each queue and resource with samples")?;
        for balance in &self.balances {
            let samples = at(&self.queues[balance.queue].samples, balance.resource);
            let samples =
                require(samples, "an entry of `balances` is for a queue and resource without samples")?;
            let what = &self.names.list[balance.queue];
            context(what, Self::verify_balance(balance, samples, &times))?;
        }
        Ok(())
    }

    fn verify_balance(stated: &Balance, samples: &Samples, times: &[Rational]) -> Checked<()> {
        let none = vec![(times.len() - 1, Rational::new())];
        let unknown = vec![(times.len() - 1, false)];
        let (shares, wants) =
            (samples.fair_share.as_ref().unwrap_or(&none), samples.wants.as_ref().unwrap_or(&unknown));
        // The fair share, and whether the queue wants more, in common runs.
        let mut both: Runs<(Rational, bool)> = Vec::new();
        zip(shares, wants, |from, to, share, wants| {
            both.push((to - from, (share.clone(), *wants)));
            work::spend(1)
        })?;
        let mut terms: [Vec<Rational>; 4] = Default::default();
        zip(&samples.usage, &both, |from, to, usage, (share, wants)| {
            let time = work::plus(&times[to], &Rational::from(-&times[from]))?;
            let over = work::plus(usage, &Rational::from(-share))?;
            terms[0].push(work::times(usage, &time)?);
            if *wants {
                terms[1].push(work::times(share, &time)?);
            }
            if over > 0 {
                terms[3].push(work::times(&over, &time)?);
            } else if *wants {
                terms[2].push(-work::times(&over, &time)?);
            }
            Ok(())
        })?;
        let [used, share, lacked, over] = terms;
        ensure(work::sum(used)? == stated.used, "`used` differs from the sum of the samples")?;
        let has_share = samples.fair_share.is_some();
        let expected = |is_known: bool, terms: Vec<Rational>| -> Checked<Option<Rational>> {
            if is_known { work::sum(terms).map(Some) } else { Ok(None) }
        };
        let has_both = has_share && samples.wants.is_some();
        ensure(
            expected(has_both, share)? == stated.fair_share,
            "`fair_share` differs from the sum of the samples",
        )?;
        ensure(expected(has_both, lacked)? == stated.lacked, "`lacked` differs from the sum of the samples")?;
        ensure(expected(has_share, over)? == stated.over, "`over` differs from the sum of the samples")
    }

    /// Returns the usage of a queue times the values of the resources. Equal neighbouring runs are joined.
    fn charged(&self, queue: &Queue) -> Checked<Runs<Rational>> {
        let mut sum: Runs<Rational> = vec![(self.segments.len(), Rational::new())];
        for (resource, value) in &self.values {
            let Some(samples) = at(&queue.samples, *resource) else { continue };
            let mut next: Runs<Rational> = Vec::new();
            zip(&sum, &samples.usage, |from, to, sum, usage| {
                let value = work::plus(sum, &work::times(usage, value)?)?;
                match next.last_mut() {
                    Some((count, last)) if *last == value => *count += to - from,
                    _ => next.push((to - from, value)),
                }
                Ok(())
            })?;
            sum = next;
        }
        Ok(sum)
    }

    /// Returns bounds of the sum of the factors of the first 0, 1, ... segments.
    fn factors(&self) -> Checked<Vec<Bounds>> {
        let mut sums = vec![Bounds { low: Rational::new(), high: Rational::new() }];
        let Some(half_life) = &self.half_life else {
            return Ok(self
                .times()?
                .into_iter()
                .map(|time| Bounds { low: time.clone(), high: time })
                .collect());
        };
        let powers = Powers::new()?;
        let mut known: Option<(&Rational, (Integer, Integer))> = None;
        let (mut low, mut high) = (Integer::new(), Integer::new());
        for (from, to) in &self.segments {
            let power = |time: &Rational| powers.of(&(Rational::from(&self.to - time) / half_life));
            let begin = match known.take() {
                Some((time, power)) if time == from => power,
                _ => power(from)?,
            };
            let end = power(to)?;
            low += Integer::from(&end.0 - &begin.1).max(Integer::new());
            high += Integer::from(&end.1 - &begin.0);
            known = Some((to, end));
            work::spend(4)?;
            sums.push(Bounds { low: Rational::from(&low), high: Rational::from(&high) });
        }
        Ok(sums)
    }

    /// Returns true if, in every segment, the queue wants more of some resource that counts.
    fn wants_throughout(&self, queue: &Queue) -> Checked<bool> {
        let mut wants = vec![false; self.segments.len()];
        work::steps(wants.len() as u64 * queue.samples.len() as u64)?;
        for (resource, samples) in &queue.samples {
            if at(&self.values, *resource).is_some() {
                let stated = samples.wants(wants.len());
                let stated =
                    require(stated, "the samples of a queue do not state when it wants more (`wants`)")?;
                wants.iter_mut().zip(stated).for_each(|(wants, stated)| *wants |= stated);
            }
        }
        Ok(!wants.is_empty() && wants.into_iter().all(|wants| wants))
    }

    fn verify_claim(&self, claim: &Claim) -> Checked<()> {
        ensure(!self.values.is_empty(), "no resource has a weight (`resource_weights`)")?;
        let factors = self.factors()?;
        let all = |queue: &Queue| -> Checked<(bool, Runs<Rational>, Option<Bounds>)> {
            let charged = self.charged(queue)?;
            let (mut from, mut low, mut high) = (0, Vec::new(), Vec::new());
            for (count, value) in &charged {
                let to = from + count;
                let part = |of: fn(&Bounds) -> &Rational| -> Checked<Rational> {
                    work::times(value, &work::plus(of(&factors[to]), &Rational::from(-of(&factors[from])))?)
                };
                low.push(part(|of| &of.low)?);
                high.push(part(|of| &of.high)?);
                from = to;
            }
            let (low, high) = (work::sum(low)?, work::sum(high)?);
            if queue.weight > 0 {
                let over = |value: Rational| value / &queue.weight;
                let own = charged.into_iter().map(|(count, value)| (count, over(value))).collect();
                let wants = self.wants_throughout(queue)?;
                return Ok((wants, own, Some(Bounds { low: over(low), high: over(high) })));
            }
            self.wants_throughout(queue)?;
            // A queue of weight 0 is never the queue with the least usage over weight. If it used anything, its usage
            // over weight is infinite.
            let zero = Bounds { low: Rational::new(), high: Rational::new() };
            Ok((false, charged, (high == 0).then_some(zero)))
        };
        let queues = self.queues.iter().map(all).collect::<Checked<Vec<_>>>()?;
        let Some((least, most, behind, ahead)) = &claim.proof else {
            return ensure(
                queues.iter().all(|(wants, ..)| !wants),
                "the claim is that no queue wanted more throughout, but some queue did",
            );
        };
        ensure(queues[*behind].0, "the queue of the evidence did not want more throughout")?;
        let holds = *least >= Rational::from(-&self.tolerance);
        ensure(
            least <= most && *most <= 0,
            "the bounds of the margin are not in ascending order, or are above 0",
        )?;
        let is_violated = *most < Rational::from(-&self.tolerance);
        ensure(
            holds || is_violated,
            "the tolerance lies between the bounds of the margin, which decide nothing",
        )?;
        ensure(claim.holds == Some(holds), "the claim contradicts its margin")?;
        let is_margin = |low: &Rational, high: &Rational| {
            ensure(least <= low && high <= most, "the computed margin is not between the stated bounds")
        };
        if queues.iter().any(|(.., of)| of.is_none()) {
            ensure(
                queues[*ahead].2.is_none(),
                "a queue of weight 0 has usage, but the evidence names another queue",
            )?;
            let minus_one = Rational::from(-1);
            return is_margin(&minus_one, &minus_one);
        }
        let bounds =
            |queue: usize| queues[queue].2.clone().unwrap_or(Bounds { low: 0.into(), high: 0.into() });
        let wanting: Vec<usize> = (0..queues.len()).filter(|queue| queues[*queue].0).collect();
        let every: Vec<usize> = (0..queues.len()).collect();
        let extreme = |of: &[usize], part: fn(Bounds) -> Rational, is_least: bool| {
            let values = of.iter().map(|queue| part(bounds(*queue)));
            if is_least { values.min() } else { values.max() }.unwrap_or_default()
        };
        let low =
            Bounds { low: extreme(&wanting, |of| of.low, true), high: extreme(&wanting, |of| of.high, true) };
        let top =
            Bounds { low: extreme(&every, |of| of.low, false), high: extreme(&every, |of| of.high, false) };
        ensure(
            bounds(*behind).low <= low.high,
            "the queue of the evidence is not the one with the least usage",
        )?;
        ensure(bounds(*ahead).high >= top.low, "the other queue is not the one with the most usage")?;
        // If all candidates are equal, the margin is 0. Bounds that are not exact do not show this.
        let is_candidate = |queue: &usize| {
            queues[*queue].0 && bounds(*queue).low <= low.high || bounds(*queue).high >= top.low
        };
        let mut candidates = every.iter().filter(|queue| is_candidate(queue)).map(|queue| &queues[*queue].1);
        let first = candidates.next();
        let zero = Rational::new();
        if top.high == 0 || candidates.all(|of| Some(of) == first) {
            return is_margin(&zero, &zero);
        }
        ensure(top.low > 0, "the usage is too small to be compared")?;
        is_margin(&(low.low / &top.high - 1u32), &(low.high / &top.low - 1u32).min(zero))
    }

    fn covered(&self) -> Rational {
        self.segments.iter().map(|(from, to)| Rational::from(to - from)).sum()
    }
}

/// Powers of 1/2, as bounds in units of 2^-[`BITS`].
struct Powers {
    /// Lower and upper bounds of 2^-(1/2), 2^-(1/4), and so on.
    roots: Vec<(Integer, Integer)>,
}

/// Returns a value divided by 2^bits, rounded up.
fn above(value: Integer, bits: u32) -> Integer {
    -(-value >> bits)
}

impl Powers {
    fn new() -> Checked<Self> {
        work::steps(u64::from(BITS) * STEPS_OF_A_POWER)?;
        let half = Integer::from(1) << (BITS - 1);
        let mut root = (half.clone(), half);
        let next = |(low, high): &(Integer, Integer)| {
            let (above, rest) = Integer::from(high << BITS).sqrt_rem(Integer::new());
            (Integer::from(low << BITS).sqrt(), if rest == 0 { above } else { above + 1 })
        };
        let roots = (0..BITS).map(|_| {
            root = next(&root);
            root.clone()
        });
        Ok(Self { roots: roots.collect() })
    }

    /// Returns lower and upper bounds of 2^-exponent. The exponent is at least 0.
    fn of(&self, exponent: &Rational) -> Checked<(Integer, Integer)> {
        work::steps(STEPS_OF_A_POWER)?;
        work::spend(2)?;
        let scaled = Rational::from(exponent << BITS);
        let digits = Integer::from(scaled.floor_ref());
        let one = Integer::from(1) << BITS;
        let (mut low, mut high) = (one.clone(), one);
        for (at, root) in self.roots.iter().enumerate() {
            if digits.get_bit(BITS - 1 - at as u32) {
                low = (low * &root.0) >> BITS;
                high = above(high * &root.1, BITS);
            }
        }
        if !scaled.is_integer() {
            // The remaining exponent is below 2^-BITS.
            low = (low * &self.roots[BITS as usize - 1].0) >> BITS;
        }
        Ok(match Integer::from(&digits >> BITS).to_u32() {
            Some(whole) if whole <= 2 * BITS => (low >> whole, above(high, whole)),
            _ => (Integer::new(), Integer::from(1)),
        })
    }
}

/// Judges a certificate about a window.
pub fn check(file: &File, raw: &Json<'_>, options: &Options) -> Usable<Report> {
    if options.problem.is_some() || options.allocation.is_some() || options.sharing.as_deref() == Some("tdm")
    {
        return Err(Unusable::usage(
            "a certificate of a window takes only the options --require and --max-tolerance",
        ));
    }
    let window = Window::read(raw).map_err(|fault: Fault| file.unusable(raw, fault))?;
    let mut unmet = Vec::new();
    let most = match options.max_tolerance.as_ref().map(|text| parse(text, STATED)) {
        None => Rational::from(MOST_TOLERANCE),
        Some(Ok(most)) if (0..1).contains(&most) => most,
        Some(_) => return Err(Unusable::usage("--max-tolerance: expected a number from 0 to below 1")),
    };
    if window.tolerance > most {
        let (stated, most) = (short(&window.tolerance), short(&most));
        unmet.push(format!("the tolerance is {stated}, more than the {most} that is allowed"));
    }
    let holds = window.claim.as_ref().map(|claim| claim.holds);
    for text in &options.require {
        if text != AXIOM {
            return Err(Unusable::usage(&format!("--require {text}: expected `{AXIOM}`")));
        }
        let instead = match holds {
            Some(Some(true)) => continue,
            Some(Some(false)) => "the certificate claims that it is violated",
            Some(None) => "the certificate claims that it does not apply",
            None => "the certificate has no claim about it",
        };
        unmet.push(format!("`{text}` is required, but {instead}"));
    }
    let reason = file.reason(raw, unmet, window.verify())?;
    let length = Rational::from(&window.to - &window.from);
    let (covered, length) = (short(&window.covered()), short(&length));
    let mut claims = vec![format!(
        "the sums of {} queues and resources follow from the stated samples",
        window.balances.len()
    )];
    claims.extend(window.claim.as_ref().map(|claim| match (&claim.proof, claim.holds) {
        (Some((least, most, queue, other)), holds) => {
            let (queue, other) = (&window.names.list[*queue], &window.names.list[*other]);
            let holds = match holds {
                Some(true) if *least < 0 => "holds within the tolerance",
                Some(true) => "holds",
                _ => "is violated",
            };
            format!(
                "{AXIOM} {holds} in the covered time, margin from {} to {}, `{queue}` against `{other}`",
                short(least),
                short(most)
            )
        }
        _ => format!("{AXIOM} does not apply: no queue wanted more throughout"),
    }));
    let word = match holds {
        Some(Some(holds)) if reason.is_none() => holds.to_string(),
        _ => "null".to_owned(),
    };
    let described = [quoted(&window.from.to_string()), quoted(&window.to.to_string()), quoted(&covered)];
    Ok(Report {
        claims,
        subject: vec![
            format!("window from {} to {}, in seconds", short(&window.from), short(&window.to)),
            format!("covered: {covered} of {length} seconds; nothing is claimed of the rest"),
            format!("tolerance {}, resources {}", hashed(&window.tolerance), window.resources.list.len()),
        ],
        fields: vec![
            ("tolerance", quoted(&hashed(&window.tolerance))),
            ("window", record("from to covered", described)),
            ("holds", word),
        ],
        reason,
    })
}
