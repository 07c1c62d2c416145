//! The problem as literal data in records of `Spec.v` and `Groups.v`.

use evenhand_problem::format::problem_sha256;
use evenhand_problem::groups::{Named, ZeroWeight};
use evenhand_problem::{Medium, Quantities, Rational, Sharing, User};

use super::Writer;
use super::literal::{entry, index, list, number, option, row, table};

impl Writer<'_, '_> {
    /// Returns a comment with the names of users, classes and resources by number.
    pub(super) fn comments(&self) -> String {
        let numbered = |what: &str, names: &mut dyn Iterator<Item = &str>| {
            let names: Vec<String> =
                names.enumerate().map(|(at, name)| format!("   {at} {}", Medium::Coq.show(name))).collect();
            format!("   {what}:\n{}\n", names.join("\n"))
        };
        let problem = self.problem;
        format!(
            "(* Problem: {}\n   sha256 {}; sharing {}.\n{}{}{}   \
             Each theorem is about these data, in the words of Spec.v, and is proved by computation:\n   \
             coqc -Q verification/proof/theories Evenhand THIS-FILE *)\n",
            Medium::Coq.show(problem.name()),
            problem_sha256(problem),
            self.certificate.allocation.sharing.name(),
            numbered("users", &mut problem.users().iter().map(|user| user.name())),
            numbered("classes", &mut problem.servers().iter().map(|server| server.name())),
            numbered("resources", &mut problem.resources().iter().map(String::as_str)),
        )
    }

    pub(super) fn literal_problem(&self) -> String {
        let problem = self.problem;
        let (users, classes, resources) = (problem.users(), problem.servers(), problem.n_resources());
        let capacity: Vec<_> = classes.iter().map(|class| class.capacity().to_vec()).collect();
        let base: Vec<_> = users.iter().map(|user| user.base_demand().to_vec()).collect();
        let counts: Vec<_> = classes.iter().map(|class| Rational::from(class.count())).collect();
        let own = users.iter().enumerate().flat_map(|(n, user)| {
            let of = move |(i, demand): &(usize, Quantities)| {
                format!("({}, {}, {})", index(n), index(*i), row(&demand.to_vec()))
            };
            user.demand_overrides().iter().map(of)
        });
        let pairs = |of: fn(&User) -> &[(usize, Rational)]| {
            let entries = users.iter().enumerate().flat_map(move |(n, user)| {
                of(user).iter().map(move |(i, q)| format!("({}, {}, {})", index(n), index(*i), entry(q)))
            });
            function("at_pair", &list(entries), "fun _ _ => None")
        };
        let allowed = |user: &User| list((0..classes.len()).map(|i| user.may_use(i).to_string()));
        let by_time = self.certificate.allocation.sharing == Sharing::Tdm;
        let timed = list(classes.iter().map(|class| (by_time || class.is_time_shared()).to_string()));
        let limits = list(users.iter().map(|user| option(user.tasks().map(number))));
        let gangs = (0..users.len()).map(|n| problem.groups().member(n).gang.unwrap_or(1));
        let gangs: Vec<Rational> = gangs.map(Rational::from).collect();
        let alone = |n| (0..classes.len()).map(|i| problem.unconstrained_gamma(n, i)).collect::<Vec<_>>();
        let alone: Vec<_> = (0..users.len()).map(alone).collect();
        let base = table(&base);
        let fields = [
            ("users", users.len().to_string()),
            ("classes", classes.len().to_string()),
            ("resources", resources.to_string()),
            ("weight", format!("row {}", row(users.iter().map(|user| user.weight())))),
            ("count", format!("row {}", row(&counts))),
            ("capacity", format!("rows {}", table(&capacity))),
            ("base", format!("rows {base}")),
            ("demand", format!("demands {base} {}", list(own))),
            ("limit", format!("options {limits}")),
            ("gang", format!("row {}", row(&gangs))),
            ("allowed", format!("grid {}", list(users.iter().map(allowed)))),
            ("stated", pairs(User::given_gamma)),
            ("criterion", pairs(User::criterion)),
            ("timed", format!("flags {timed}")),
            ("alone", format!("rows {}", table(&alone))),
        ];
        record("the_problem : problem", &fields)
    }

    /// Returns the groups as a record of `Groups.v`.
    pub(super) fn literal_groups(&self) -> String {
        let (groups, resources) = (self.problem.groups(), self.problem.n_resources());
        let each =
            |of: &dyn Fn(&evenhand_problem::groups::Group) -> String| list(groups.list().iter().map(of));
        let amounts = |of: &Named| {
            let at = |r| of.iter().find(|(of, _)| *of == r).map(|(_, q)| number(q));
            list((0..resources).map(|r| option(at(r))))
        };
        let limits_on = groups.list().iter().enumerate().flat_map(|(v, group)| {
            let limits =
                group.on.iter().flat_map(|on| on.limit.iter().map(move |limit| (&on.servers, limit)));
            limits.map(move |(servers, (r, most))| {
                let on = list((0..self.problem.n_servers()).map(|i| servers.contains(&i).to_string()));
                let (v, r, most) = (index(v), index(*r), number(most));
                format!("{{| o_group := {v}; o_resource := {r}; o_on := flags {on}; o_most := {most} |}}")
            })
        });
        let members = (0..self.problem.n_users()).map(|n| option(groups.member(n).group.map(index)));
        let fields = [
            ("groups", groups.list().len().to_string()),
            ("parent", format!("options {}", each(&|group| option(group.parent.map(index))))),
            ("group_of", format!("options {}", list(members))),
            ("priced", format!("flags {}", each(&|group| (!group.weight.is_zero()).to_string()))),
            ("never", (groups.share().zero_weight == ZeroWeight::Never).to_string()),
            ("states", format!("flags {}", each(&|group| group.guarantee.is_some().to_string()))),
            (
                "guarantee",
                format!(
                    "amounts {}",
                    each(&|group| amounts(group.guarantee.as_ref().unwrap_or(&Vec::new())))
                ),
            ),
            ("ceiling", format!("amounts {}", each(&|group| amounts(&group.limit)))),
            ("lends", format!("amounts {}", each(&|group| amounts(&group.lend)))),
            ("limits_on", list(limits_on)),
        ];
        record("the_groups : grouping", &fields)
    }
}

/// Returns a record with each field on its own line.
fn record(head: &str, fields: &[(&str, String)]) -> String {
    let fields = fields.iter().map(|(name, value)| format!("  {name} := {}", value.replace('\n', "\n    ")));
    format!("Definition {head} := {{|\n{} |}}.\n", fields.collect::<Vec<_>>().join(";\n"))
}

/// Returns a function that is applied to a list. Returns `empty` for an empty list.
fn function(name: &str, entries: &str, empty: &str) -> String {
    if entries == "[]" { empty.to_owned() } else { format!("{name} {entries}") }
}
