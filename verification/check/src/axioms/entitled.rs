//! Sharing incentive, and no justified complaints: users against their entitlement `e_n = w_n / sum w`.

use rug::Rational;

use crate::case::Case;
use crate::claim::Claim;
use crate::work::{self, Checked, ensure};

/// `x_n >= min(T_n, e_n gamma_n)`. Evidence: the user with the least margin; of no, with its loss in tasks.
pub fn sharing_incentive(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    work::spend(limits.n_users())?;
    let margin = |n: usize| {
        let user = &limits.problem.users[n];
        let due = Rational::from(&limits.gamma[n] * &user.weight) / &limits.weight;
        let due = user.tasks.clone().map_or(due.clone(), |tasks| tasks.min(due));
        Rational::from(&case.total[n] - &due) / &limits.g[n]
    };
    let least = limits.active().map(margin).min();
    let Some(([user], loss)) = claim.tightest(["user"], "loss")? else {
        claim.says(least)?;
        return claim.without_evidence();
    };
    let user = limits.problem.user_names.named(user)?;
    claim.says(least.clone())?;
    let is_it = limits.is_active(user) && Some(margin(user)) == least;
    ensure(
        is_it && claim.amounts(limits, user, loss),
        "the user of the evidence is not the one with the least margin",
    )
}

/// Evidence of yes: for every user that it has all its tasks, or a row of which it holds its entitlement. Of
/// no: the user with the least margin, and what it holds of every full row that it could use.
pub fn njc(case: &Case<'_>, claim: &Claim<'_>) -> Checked<()> {
    let limits = &case.limits;
    let problem = limits.problem;
    let due = |n: usize| Rational::from(&problem.users[n].weight / &limits.weight);
    let part = |n: usize, row: usize, d: &Rational| {
        Rational::from(&case.on(n, limits.rows[row].class) * d) / &limits.rows[row].capacity
    };
    let on_row = |n: usize, row: usize, d: &Rational| {
        let short = Rational::from(&case.slack[row] / &limits.rows[row].capacity);
        (part(n, row, d) - due(n)).min(-short)
    };
    // The best of what answers the complaint of a user.
    let best = |n: usize| -> Checked<Option<Rational>> {
        let mut best = limits.satisfied(n, &case.total[n]);
        for i in problem.classes_of(n) {
            let uses = limits.uses(n, i);
            work::spend(uses.len())?;
            best = best.max(uses.into_iter().map(|(row, d)| on_row(n, row, &d)).max());
        }
        Ok(best)
    };
    let mut of_user = Vec::with_capacity(limits.n_users());
    for n in 0..limits.n_users() {
        of_user.push(if limits.is_active(n) { best(n)? } else { None });
    }
    let least = of_user.iter().flatten().min().cloned();
    let raw = claim.evidence;
    if Claim::is_empty(raw)? {
        claim.says(least)?;
        return claim.without_evidence();
    }
    if !raw.get("witness").is_absent() {
        let [witness] = raw.fields(["witness"])?;
        let witnesses = problem.user_names.map(witness, |_, raw| {
            if let Ok(word) = raw.text() {
                return if word == "satisfied" {
                    Ok(None)
                } else {
                    raw.wrong("expected `satisfied`, or a row")
                };
            }
            let [server, resource] = raw.fields(["server", "resource"])?;
            Claim::row(limits, problem.class_names.named(server)?, resource).map(Some)
        })?;
        claim.says(least.clone())?;
        let margin = |(n, witness): &(usize, Option<usize>)| match witness {
            None => limits.satisfied(*n, &case.total[*n]),
            Some(row) => limits.usage(*n, *row).map(|d| on_row(*n, *row, &d)),
        };
        ensure(
            witnesses.iter().map(|(n, _)| *n).eq(limits.active()),
            "a user has no witness, or needs none",
        )?;
        let shown: Option<Vec<Rational>> = witnesses.iter().map(margin).collect();
        let attains =
            claim.holds == Some(true) && shown.is_some_and(|shown| shown.into_iter().min() == least);
        return ensure(attains, "the witnesses show another margin");
    }
    let [user, entitlement, shares] = raw.fields(["user", "entitlement", "shares"])?;
    let user = problem.user_names.named(user)?;
    let entitlement = entitlement.computed()?;
    let shares = Claim::by_row(limits, shares)?;
    claim.says(least.clone())?;
    let full = |i| limits.uses(user, i).into_iter().filter(|(row, _)| case.slack[*row].is_zero());
    let held = problem.classes_of(user).flat_map(full).map(|(row, d)| {
        let part = part(user, row, &d);
        (row, part)
    });
    let is_it = claim.holds == Some(false) && limits.is_active(user) && of_user[user] == least;
    let is_so = is_it && entitlement == due(user) && shares.into_iter().eq(held);
    ensure(is_so, "the complaint of the evidence is not the one with the least margin")
}
