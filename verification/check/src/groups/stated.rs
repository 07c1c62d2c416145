//! The statements of a problem about groups of users (docs/theory.md, section 9), and their canonical form.

use rug::Rational;

use crate::json::{self, Json, Kind, object, quoted};
use crate::names::{Amounts, MOST, Names};
use crate::number::hashed;
use crate::work::Checked;

/// The largest depth of nested groups.
pub const DEPTH: usize = 100;

/// The groups of a problem, and the group data of each user.
pub struct Groups {
    pub names: Names,
    pub list: Vec<Group>,
    /// The group data of each user.
    pub members: Vec<Member>,
    /// The settings that decide how siblings are compared.
    pub share: Share,
}

/// A group. Amounts are by resource, summed over all servers. An amount that is stated as 0 is in the list.
pub struct Group {
    pub parent: Option<usize>,
    pub weight: Rational,
    pub priority: Rational,
    /// The guarantee. `None` if no guarantee is stated.
    pub guarantee: Option<Amounts>,
    pub limit: Amounts,
    pub lend: Amounts,
    /// The limits on sets of server classes, in ascending order of the sets.
    pub on: Vec<(Vec<usize>, Amounts)>,
}

/// The group data of a user.
pub struct Member {
    pub group: Option<usize>,
    pub gang: u64,
    pub pinned: Rational,
}

/// The settings that decide how siblings are compared.
pub struct Share {
    /// The words `of`, `over`, `zero-weight` and `guarantees`. Each is `None` if it is the default.
    pub words: [Option<&'static str>; 4],
    pub multipliers: Amounts,
    pub families: bool,
}

impl Groups {
    /// Reads the fields `groups` and `share` of a problem.
    pub fn read(groups: &Json<'_>, share: &Json<'_>, resources: &Names, classes: &Names) -> Checked<Self> {
        let rows = groups.rows("name parent? weight? priority? guarantee? limit? lend? on?", Ok)?;
        let names = Names::new("group", rows.iter().map(|row| row[0]))?;
        let mut list = Vec::new();
        for [_, parent, weight, priority, guarantee, limit, lend, on] in &rows {
            let named = |raw: &Json<'_>| resources.map(raw, |_, raw| raw.quantity());
            let whole = priority.given().map_or(Ok(Rational::new()), Json::number)?;
            if !whole.is_integer() || whole.numer().to_i64().is_none() {
                return priority.wrong("expected a whole number");
            }
            let group = Group {
                parent: parent.given().map(|parent| names.named(parent)).transpose()?,
                weight: weight.given().map_or(Ok(Rational::from(1)), Json::amount)?,
                priority: whole,
                guarantee: guarantee.given().map(named).transpose()?,
                limit: named(limit)?,
                lend: named(lend)?,
                on: read_on(on, resources, classes)?,
            };
            let is_above = |(r, promised): &(usize, Rational)| {
                group.limit.iter().any(|(of, most)| of == r && most < promised)
            };
            if group.guarantee.iter().flatten().any(is_above) {
                return guarantee.wrong("the guarantee of the group is above its limit");
            }
            list.push(group);
        }
        let above = |v: usize| std::iter::successors(list[v].parent, |v| list[*v].parent);
        if let Some(v) = (0..list.len()).find(|v| above(*v).take(DEPTH).count() == DEPTH) {
            return rows[v][1].wrong(format!(
                "the group is its own parent, perhaps through others, or has more than \
                {DEPTH} groups above it"
            ));
        }
        Ok(Self { names, list, members: Vec::new(), share: Share::read(share, resources)? })
    }

    /// Reads the group data of the next user. `tasks` is the number of tasks of the user.
    pub fn join(&mut self, [group, gang, pinned]: [&Json<'_>; 3], tasks: Option<&Rational>) -> Checked<()> {
        let group = group.given().map(|group| self.names.named(group)).transpose()?;
        let gang = gang.given().map_or(Ok(1), |gang| gang.count(1, MOST))?;
        let kept = pinned.given().map_or(Ok(Rational::new()), Json::amount)?;
        if tasks.is_some_and(|tasks| kept > *tasks) {
            return pinned.wrong("more tasks are pinned than the user has");
        }
        self.members.push(Member { group, gang, pinned: kept });
        Ok(())
    }

    /// Returns a group in canonical form.
    pub fn line(
        &self,
        v: usize,
        amounts: impl Fn(&Amounts) -> Option<String>,
        classes: impl Fn(Vec<usize>) -> String,
        sorted: bool,
    ) -> String {
        let group = &self.list[v];
        let some = |of: &Amounts| amounts(of).filter(|_| !of.is_empty());
        let number = |value: &Rational| quoted(&hashed(value));
        let one = |(set, limit): &(Vec<usize>, Amounts)| {
            object([("servers", Some(classes(set.clone()))), ("limit", amounts(limit))])
        };
        let mut on: Vec<String> = group.on.iter().map(one).collect();
        if sorted {
            on.sort();
        }
        object([
            ("name", Some(quoted(&self.names.list[v]))),
            ("parent", group.parent.map(|above| quoted(&self.names.list[above]))),
            ("weight", (group.weight != 1).then(|| number(&group.weight))),
            ("priority", (!group.priority.is_zero()).then(|| number(&group.priority))),
            ("guarantee", group.guarantee.as_ref().and_then(&amounts)),
            ("limit", some(&group.limit)),
            ("lend", some(&group.lend)),
            ("on", (!on.is_empty()).then(|| format!("[{}]", on.join(",")))),
        ])
    }

    /// Returns the group fields of a user in canonical form.
    pub fn fields_of(&self, n: usize) -> [(&'static str, Option<String>); 3] {
        let Member { group, gang, pinned } = &self.members[n];
        [
            ("group", group.map(|v| quoted(&self.names.list[v]))),
            ("gang", (*gang != 1).then(|| quoted(&gang.to_string()))),
            ("pinned", (!pinned.is_zero()).then(|| quoted(&hashed(pinned)))),
        ]
    }

    /// Returns the field `share` in canonical form. Returns `None` if all settings are the defaults.
    pub fn share(&self, amounts: impl Fn(&Amounts) -> Option<String>) -> Option<String> {
        let Share { words: [of, over, zero_weight, guarantees], multipliers, families } = &self.share;
        let fields = [
            ("of", of.map(quoted)),
            ("over", over.map(quoted)),
            ("zero-weight", zero_weight.map(quoted)),
            ("guarantees", guarantees.map(quoted)),
            ("multipliers", amounts(multipliers).filter(|_| !multipliers.is_empty())),
            ("families", families.then(|| "true".to_owned())),
        ];
        fields.iter().any(|(_, value)| value.is_some()).then(|| object(fields))
    }

    /// Returns true if groups may hold capacity back from users: some group has a limit, states an amount that it
    /// lends, or gets nothing beyond its guarantee because its weight is 0.
    pub fn hold_back(&self) -> bool {
        self.have_limits() || (0..self.list.len()).any(|v| !self.list[v].lend.is_empty() || self.is_shut(v))
    }

    /// Returns true if a group gets nothing beyond its guarantee: its weight is 0, and the share says
    /// `zero-weight: never`.
    pub fn is_shut(&self, v: usize) -> bool {
        self.share.words[2].is_some() && self.list[v].weight.is_zero()
    }

    /// Returns true if some group has a limit.
    pub fn have_limits(&self) -> bool {
        self.list.iter().any(|group| !group.limit.is_empty() || !group.on.is_empty())
    }

    /// Returns the groups above a user, starting with its own group.
    pub fn above_user(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        self.above(self.members[n].group)
    }

    /// Returns a group and the groups above it, starting with the group itself.
    pub fn above(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |v| self.list[*v].parent)
    }
}

/// Reads limits on server classes. The limits are a list, or an object whose keys are names of classes, separated by
/// commas.
fn read_on(raw: &Json<'_>, resources: &Names, classes: &Names) -> Checked<Vec<(Vec<usize>, Amounts)>> {
    let named = |key: &str, raw: &Json<'_>| -> Checked<Vec<usize>> {
        if let Ok(class) = classes.find(key, raw) {
            return Ok(vec![class]);
        }
        // Only ASCII white space is trimmed. Other white space belongs to the name.
        let trimmed = |name: &str| name.trim_matches(|c: char| c.is_ascii_whitespace()).to_owned();
        let set = key.split(',').map(|name| classes.find(&trimmed(name), raw));
        let mut set = set.collect::<Checked<Vec<usize>>>()?;
        set.sort_unstable();
        Ok(set)
    };
    let limit = |raw: &Json<'_>| resources.map(raw, |_, raw| raw.quantity());
    let mut all = Vec::new();
    match &raw.kind {
        Kind::Absent => {}
        Kind::Object(fields) => {
            for (key, raw) in fields {
                let [of] = raw.fields("limit?")?;
                all.push((named(key, raw)?, limit(of)?));
            }
        }
        _ => {
            for [servers, of] in raw.rows("servers limit?", Ok)? {
                all.push((classes.listed(servers)?, limit(of)?));
            }
        }
    }
    all.sort();
    let ascends = |set: &[usize]| !set.is_empty() && set.is_sorted_by(|a, b| a < b);
    if !all.iter().all(|(set, _)| ascends(set)) || all.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return raw.wrong(
            "expected at least one server class in each entry, none twice, and no two entries for the \
            same classes",
        );
    }
    all.retain(|(_, limit)| !limit.is_empty());
    Ok(all)
}

impl Share {
    fn read(raw: &Json<'_>, resources: &Names) -> Checked<Self> {
        let fields = "of? over? multipliers? families? zero-weight? guarantees?";
        let none = Ok([&json::ABSENT; 6]);
        let [of, over, multipliers, families, zero_weight, guarantees] =
            raw.given().map_or(none, |raw| raw.fields(fields))?;
        let word = |raw: &Json<'_>, of: &[&'static str]| raw.word(of).map(|at| (at > 0).then(|| of[at]));
        let words = [
            word(of, &["usage", "surplus"])?,
            word(over, &["cluster", "lendable", "guarantee"])?,
            word(zero_weight, &["last", "never"])?,
            word(guarantees, &["first", "compared"])?,
        ];
        let families = match &families.kind {
            Kind::Absent | Kind::Bool(false) => false,
            Kind::Bool(true) => true,
            _ => return families.wrong("expected true or false"),
        };
        let mut multipliers = resources.map(multipliers, |_, raw| raw.positive())?;
        multipliers.retain(|(_, m)| *m != 1);
        Ok(Self { words, multipliers, families })
    }
}
