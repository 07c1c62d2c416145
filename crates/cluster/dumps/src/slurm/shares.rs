//! Accounts: their tree, shares and limits, and the numbers that Slurm reports about their usage.
//!
//! In the output of `sshare`, the indentation of names shows the tree. `sacctmgr show assoc` prints the
//! limits. An account with one user is one group. An account with several users has a subgroup for each user,
//! with the shares of the user.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_problem::number;
use rug::Rational;

use super::super::cluster::{Cluster, LeftOut, ReportedNumber};
use super::super::tree::At;
use super::nodes::number as json_number;
use super::text::Row;
use super::words;
use evenhand_import::ImportError;

/// The columns of `sshare` with numbers of an account or user.
const REPORTED: [&str; 7] =
    ["RawShares", "NormShares", "RawUsage", "NormUsage", "EffectvUsage", "FairShare", "LevelFS"];
/// The name in Slurm's source of the sum of the shares of a level of the tree.
const LEVEL_SHARES: &str = "level_shares";
/// The name in Slurm's source of the number of ranked users.
const USERS: &str = "g_user_assoc_count";
/// Half a unit of the sixth decimal. Normalized shares are rounded to six decimals.
const ROUNDING: (u32, u32) = (1, 2_000_000);
/// Slurm's name of the account that contains all other accounts.
const ROOT: &str = "root";

/// An account, or a user of an account.
#[derive(Default)]
struct Entry {
    parent: Option<String>,
    /// The shares. `None` if they are `parent` or not stated.
    weight: Option<Rational>,
    limit: Vec<(String, Rational)>,
    reported: Vec<(&'static str, Option<Rational>)>,
}

#[derive(Default)]
pub(super) struct Shares {
    accounts: BTreeMap<String, Entry>,
    users: BTreeMap<(String, String), Entry>,
    /// The accounts in the order of the file.
    order: Vec<String>,
    /// The accounts above the row that is being read, indexed by depth.
    above: Vec<String>,
    has_tree: bool,
    /// The users with jobs, keyed by account.
    of_jobs: BTreeMap<String, BTreeSet<String>>,
    /// The groups of jobs, each with the account and the user.
    asked: Vec<(usize, String, String)>,
}

impl Shares {
    /// Returns the preliminary group of the tasks of a job. Each pair of an account and a user has a
    /// preliminary group. [`Self::finish`] merges the groups of an account with only one user.
    pub fn group(&mut self, cluster: &mut Cluster, account: &str, user: &str) -> usize {
        self.of_jobs.entry(account.to_owned()).or_default().insert(user.to_owned());
        let known = cluster.groups.entries().len();
        let group = cluster.group(&format!("{account}\0{user}"));
        if group == known {
            self.asked.push((group, account.to_owned(), user.to_owned()));
        }
        group
    }

    pub fn read_row(&mut self, row: &Row<'_>, left_out: &mut LeftOut) -> Result<(), ImportError> {
        if row.get("GraceTime").is_some() && row.get("Name").is_some() {
            let limits = row.header.iter().zip(&row.cells).filter(|(name, cell)| {
                (name.starts_with("Grp") || name.starts_with("Max") || name.starts_with("Min"))
                    && !cell.is_empty()
            });
            for (limit, _) in limits {
                left_out.add(&format!("limits of QOS: {limit}"), row.get("Name").unwrap_or_default());
            }
            return Ok(());
        }
        let (Some(account), Some(user)) = (row.get("Account"), row.get("User")) else {
            let message = "this is not a table of Slurm: expected the columns Account and User (sshare -P, sacctmgr -P)";
            return Err(row.error(&row.header.join("|"), message));
        };
        let name = account.trim();
        if name.is_empty() {
            return Err(row.error("Account", "the name is empty"));
        }
        let is_sshare = row.get("RawShares").is_some();
        let mut parent =
            row.get("ParentName").or_else(|| row.get("Par Name")).filter(|name| !name.is_empty());
        if is_sshare {
            self.has_tree = true;
            let depth = account.len() - account.trim_start().len();
            if user.trim().is_empty() {
                if depth > self.above.len() {
                    return Err(row.error("Account", "more than one level deeper than the account above"));
                }
                self.above.truncate(depth);
                self.above.push(name.to_owned());
                parent = depth.checked_sub(1).map(|above| self.above[above].as_str());
            }
        }
        let parent = parent.map(str::to_owned);
        let stated = row.get("RawShares").or_else(|| row.get("Share")).map(str::trim).unwrap_or_default();
        let weight = match stated {
            "" => None,
            "parent" => {
                left_out.add("shares stated as `parent`, which count as 1", name);
                None
            }
            text => Some(number::parse(text).ok().filter(|weight| *weight >= 0).ok_or_else(|| {
                row.error("shares", format!("found `{text}`: expected a number of at least 0"))
            })?),
        };
        let limit = match row.get("GrpTRES") {
            Some(text) => {
                let tres = words::tres(text).map_err(|message| row.error("GrpTRES", message.to_string()))?;
                for other in &tres.others {
                    let what = format!("limits of associations: GrpTRES {other}");
                    left_out.add(&what, association(name, user.trim()));
                }
                tres.amounts
            }
            None => Vec::new(),
        };
        let others = row.header.iter().zip(&row.cells).filter(|(column, cell)| {
            let is_limit =
                column.starts_with("Grp") || column.starts_with("Max") || column.starts_with("Min");
            (is_limit || *column == "Partition") && *column != "GrpTRES" && !cell.trim().is_empty()
        });
        for (other, _) in others {
            left_out.add(&format!("limits of associations: {other}"), association(name, user.trim()));
        }
        let mut reported = Vec::new();
        for what in REPORTED {
            match row.get(what).map(str::trim) {
                None | Some("" | "parent") => {}
                Some("inf") => reported.push((what, None)),
                Some(text) => {
                    let value = number::parse(text).map_err(|error| row.error(what, error.to_string()))?;
                    reported.push((what, Some(value)));
                }
            }
        }
        self.entry(name, user.trim(), |message| row.error("Account", message))?
            .merge(parent, weight, limit, reported)
            .map_err(|message| row.error("Account", message.to_string()))
    }

    pub fn read_json(&mut self, at: At<'_>) -> Result<(), ImportError> {
        self.has_tree = true;
        let name = at.need("name")?.name()?;
        let types = super::nodes::names(at.get("type")?)?;
        let is_user = types.iter().any(|of| of == "USER");
        let parent = at.text_of("parent")?.filter(|name| !name.is_empty()).map(str::to_owned);
        let some = |path: &[&str]| at.path(path)?.map_or(Ok(None), json_number);
        let weight = match at.path(&["shares"])? {
            Some(shares) if shares.is_text() => None,
            Some(shares) => json_number(shares)?,
            None => None,
        };
        let numbers = [
            ("RawShares", weight.clone()),
            ("NormShares", some(&["shares_normalized"])?),
            ("RawUsage", some(&["usage"])?),
            ("NormUsage", some(&["usage_normalized"])?),
            ("EffectvUsage", some(&["effective_usage"])?),
            ("FairShare", some(&["fairshare", "factor"])?),
            ("LevelFS", some(&["fairshare", "level"])?),
        ];
        let reported = numbers.into_iter().filter_map(|(what, value)| Some((what, Some(value?)))).collect();
        let fail = |message: String| at.error(message);
        if is_user {
            let account = parent.ok_or_else(|| at.error("the user has no `parent`: expected its account"))?;
            self.entry(&account, name, fail)?
                .merge(None, weight, Vec::new(), reported)
                .map_err(|twice| fail(twice.to_string()))
        } else {
            self.entry(name, "", fail)?
                .merge(parent, weight, Vec::new(), reported)
                .map_err(|twice| fail(twice.to_string()))
        }
    }

    /// Returns the entry of an account, or of a user if `user` is not empty.
    fn entry(
        &mut self,
        account: &str,
        user: &str,
        fail: impl Fn(String) -> ImportError,
    ) -> Result<&mut Entry, ImportError> {
        if account.contains('\0') || user.contains('\0') {
            return Err(fail("the name contains a null character".to_owned()));
        }
        if !user.is_empty() {
            return Ok(self.users.entry((account.to_owned(), user.to_owned())).or_default());
        }
        if !self.accounts.contains_key(account) {
            self.order.push(account.to_owned());
        }
        Ok(self.accounts.entry(account.to_owned()).or_default())
    }

    /// Returns the sum of the shares directly below each account. `None` if some shares are not stated or an
    /// entry is missing.
    ///
    /// `sshare` may list only some accounts or users. A level is complete if its normalized shares add up to
    /// 1.
    fn levels(&self) -> HashMap<String, Option<Rational>> {
        let accounts = self.accounts.values().filter_map(|entry| Some((entry.parent.as_ref()?, entry)));
        let users = self.users.iter().map(|((account, _), entry)| (account, entry));
        let mut levels: HashMap<String, Option<(Rational, Rational, u32)>> = HashMap::new();
        for (above, entry) in accounts.chain(users) {
            let level = levels.entry(above.clone()).or_insert_with(|| Some(Default::default()));
            let stated = entry.reported.iter().find(|(what, _)| *what == "NormShares");
            let own = entry.weight.as_ref().zip(stated.and_then(|(_, value)| value.as_ref()));
            *level = level.take().zip(own).map(|((shares, normalized, count), (weight, fraction))| {
                (shares + weight, normalized + fraction, count + 1)
            });
        }
        let is_whole = |normalized: &Rational, count: u32| {
            Rational::from(normalized - 1u32).abs() <= Rational::from(ROUNDING) * count
        };
        let whole = |(above, level): (String, Option<(Rational, Rational, u32)>)| {
            let shares = level.filter(|(shares, normalized, count)| {
                // If all shares are 0, all normalized shares are 0 as well.
                shares.is_zero() || is_whole(normalized, *count)
            });
            (above, shares.map(|(shares, ..)| shares))
        };
        levels.into_iter().map(whole).collect()
    }

    /// Returns `true` if the users of all accounts are listed. This is so if every account has an entry below
    /// it, and every level is complete.
    fn has_all_users(&self, levels: &HashMap<String, Option<Rational>>) -> bool {
        levels.values().all(Option::is_some)
            && self.accounts.keys().all(|account| levels.contains_key(account))
    }

    /// Reports the usage of all accounts together. Also reports the number of ranked users if the users of
    /// all jobs are among them.
    fn report_cluster(
        &self,
        cluster: &mut Cluster,
        of_jobs: &BTreeMap<String, BTreeSet<String>>,
        levels: &HashMap<String, Option<Rational>>,
        is_root: impl Fn(&str) -> bool,
    ) {
        let root = self.accounts.iter().find(|(name, _)| is_root(name)).map(|(_, entry)| entry);
        let of_root = root.iter().flat_map(|entry| &entry.reported).filter(|(what, _)| *what == "RawUsage");
        let mut numbers: Vec<_> = of_root.cloned().collect();
        let mut names =
            of_jobs.iter().flat_map(|(account, names)| names.iter().map(move |name| (account, name)));
        let all_users = self.has_all_users(levels);
        if all_users && names.all(|(account, name)| self.users.contains_key(&(account.clone(), name.clone())))
        {
            numbers.push((USERS, Some(Rational::from(self.users.len()))));
        }
        let numbers = numbers.into_iter().filter(|_| root.is_some());
        cluster.reported.extend(numbers.map(|(what, value)| ReportedNumber {
            group: None,
            what,
            resource: None,
            value,
        }));
    }

    /// Adds the groups: the tree of accounts, and the users of accounts with several users. Their reported
    /// numbers are added too.
    pub fn finish(&mut self, cluster: &mut Cluster) -> Result<(), ImportError> {
        let asked = std::mem::take(&mut self.asked);
        let mut users: BTreeMap<String, BTreeSet<String>> = std::mem::take(&mut self.of_jobs);
        for (account, user) in self.users.keys() {
            users.entry(account.clone()).or_default().insert(user.clone());
        }
        let has_jobs: BTreeSet<&str> = asked.iter().map(|(_, account, _)| account.as_str()).collect();
        // So far, each pair of an account and a user has a preliminary group. The final groups replace the
        // preliminary groups.
        let mut of_group = vec![0; std::mem::take(&mut cluster.groups).into_entries().len()];
        let jobs_only: Vec<String> =
            users.keys().filter(|account| !self.accounts.contains_key(*account)).cloned().collect();
        let is_root = |name: &str| {
            let entry = self.accounts.get(name).filter(|entry| entry.parent.is_none());
            name == ROOT && self.has_tree && entry.is_some()
        };
        if self.has_tree && !jobs_only.is_empty() {
            for account in jobs_only.iter().filter(|account| has_jobs.contains(account.as_str())) {
                cluster.left_out.add(
                    "accounts of jobs that sshare does not list, which count as top-level accounts",
                    account,
                );
            }
        }
        if !self.has_tree {
            let what = "the tree of accounts and their shares: no file has the output of sshare, so accounts count as equal";
            cluster.left_out.add_many(what, 0, Vec::new());
        }
        let levels = self.levels();
        self.report_cluster(cluster, &users, &levels, is_root);
        if self.has_tree && !self.accounts.keys().any(|name| is_root(name)) {
            let what = "the account `root`, which sshare does not list: no account is compared with the whole cluster";
            cluster.left_out.add_many(what, 0, Vec::new());
        }
        for account in self.order.iter().chain(&jobs_only) {
            if is_root(account) && !has_jobs.contains(account.as_str()) {
                continue;
            }
            let v = cluster.group(account);
            let Some(entry) = self.accounts.get(account) else { continue };
            let parent = entry
                .parent
                .as_deref()
                .filter(|parent| !is_root(parent) && self.accounts.contains_key(*parent));
            let group = cluster.groups.at(v);
            (group.parent, group.weight) = (parent.map(str::to_owned), entry.weight.clone());
            group.limit = entry.limit.clone();
            report(cluster, account, entry, entry.parent.as_ref().and_then(|parent| levels.get(parent)));
        }
        for (account, names) in &users {
            if cluster.groups.find(account).is_none() {
                continue;
            }
            let entries = names.iter().map(|name| self.users.get(&(account.clone(), name.clone())));
            let has_limit = entries.clone().flatten().any(|entry| !entry.limit.is_empty());
            if names.len() < 2 && !has_limit {
                if let Some(Some(entry)) = entries.clone().next() {
                    let own: Vec<_> =
                        entry.reported.iter().filter(|(what, _)| *what == "FairShare").cloned().collect();
                    report(cluster, account, &Entry { reported: own, ..Entry::default() }, None);
                }
                continue;
            }
            for (name, entry) in names.iter().zip(entries) {
                let group = format!("{account}/{name}");
                let v = cluster.group(&group);
                cluster.groups.at(v).parent = Some(account.clone());
                if let Some(entry) = entry {
                    cluster.groups.at(v).weight = entry.weight.clone();
                    cluster.groups.at(v).limit = entry.limit.clone();
                    report(cluster, &group, entry, levels.get(account));
                }
            }
        }
        for (group, account, user) in asked {
            let own = cluster.groups.find(&format!("{account}/{user}"));
            of_group[group] = own.or_else(|| cluster.groups.find(&account)).unwrap_or_default();
        }
        let used = self.accounts.values().flat_map(|entry| &entry.reported);
        let past = used.filter(|(what, value)| *what == "RawUsage" && value.as_ref().is_some_and(|x| *x > 0));
        let past = past.count();
        if past > 0 {
            let what = "usage over time, by which Slurm ranks accounts (see `reported`): fair shares are about tasks \
                that run and wait now";
            cluster.left_out.add_many(what, past as u64, Vec::new());
        }
        let tasks = std::mem::take(&mut cluster.tasks).into_entries();
        for (mut shape, tasks) in tasks {
            shape.group = shape.group.map(|group| of_group[group]);
            cluster.tasks.value(&shape, Default::default).merge(tasks);
        }
        Ok(())
    }
}

impl Entry {
    /// Adds the data of another table about the same account or user.
    fn merge(
        &mut self,
        parent: Option<String>,
        weight: Option<Rational>,
        limit: Vec<(String, Rational)>,
        reported: Vec<(&'static str, Option<Rational>)>,
    ) -> Result<(), words::Unreadable> {
        let contradicts = self.weight.is_some() && weight.is_some() && self.weight != weight;
        if contradicts || (!self.reported.is_empty() && !reported.is_empty()) {
            return Err(words::Unreadable("the account or user is given twice".to_owned()));
        }
        self.parent = self.parent.take().or(parent);
        self.weight = self.weight.take().or(weight);
        if !limit.is_empty() {
            self.limit = limit;
        }
        if !reported.is_empty() {
            self.reported = reported;
        }
        Ok(())
    }
}

/// Adds the reported numbers of an account, and the sum of the shares of its level if the sum is known.
fn report(cluster: &mut Cluster, group: &str, entry: &Entry, level: Option<&Option<Rational>>) {
    let level = level.and_then(Option::as_ref).map(|all| (LEVEL_SHARES, Some(all.clone())));
    let numbers = entry.reported.iter().cloned().chain(level.filter(|_| !entry.reported.is_empty()));
    cluster.reported.extend(numbers.map(|(what, value)| ReportedNumber {
        group: Some(group.to_owned()),
        what,
        resource: None,
        value,
    }));
}

/// Returns the name of an account, or of a user in an account, for messages.
fn association(account: &str, user: &str) -> String {
    if user.is_empty() { account.to_owned() } else { format!("{account}/{user}") }
}
