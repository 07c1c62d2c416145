//! Explanations of the allocation to users and groups.

use std::sync::Arc;

use evenhand::certify::explain::explain as why_of_user;
use evenhand::mechanisms::tree::{self, Rule};
use evenhand::problem::{Allocation as Tasks, User, hint};
use evenhand::report;
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::failure::Failure;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size};

fn of(allocation: &Allocation) -> (Arc<evenhand::Problem>, Tasks) {
    (Arc::clone(&allocation.problem), allocation.file.allocation.clone())
}

/// Explains the allocation of a user, and how many tasks it would gain from one more unit of a
/// resource.
#[pyfunction]
pub fn explain(py: Python<'_>, allocation: &Allocation, user: &str, granted: Granted) -> PyResult<Shown> {
    let (problem, tasks) = of(allocation);
    let user = problem.user_named(user).ok_or_else(|| {
        let hint = hint(user, problem.users().iter().map(User::name));
        Failure::field("user", format!("there is no user `{user}`{hint}"))
    })?;
    workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
        let found = why_of_user(&problem, &tasks, user)?;
        let document = report::json::explanation(&problem, tasks.sharing, &found);
        Ok(Shown::new(report::explanation(&problem, tasks.sharing, &found), &document))
    })
}

fn settings(rule: Option<&str>, whole: bool) -> Result<tree::Settings, Failure> {
    let unknown = |rule: &str| {
        let hint = hint(rule, Rule::NAMES.iter().map(|(name, _)| *name));
        Failure::field("rule", format!("there is no rule `{rule}`{hint}"))
    };
    let rule = rule.map(|rule| rule.parse().map_err(|_| unknown(rule))).transpose()?;
    Ok(tree::Settings { rule, whole, ..tree::Settings::default() })
}

/// Explains the level of a group, the bounds that stop it, and the users that use the capacity at
/// these bounds.
#[pyfunction]
pub fn explain_group(
    py: Python<'_>,
    allocation: &Allocation,
    group: &str,
    granted: Granted,
) -> PyResult<Shown> {
    let (problem, tasks) = of(allocation);
    let names = || problem.groups().list().iter().map(|group| group.name.as_str());
    let at = names().position(|name| name == group).ok_or_else(|| {
        Failure::field("group", format!("there is no group `{group}`{}", hint(group, names())))
    })?;
    workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
        let why = tree::why(&problem, &tasks, at, &tree::Settings::default())?;
        Ok(Shown::new(report::why(&problem, &why), &report::json::why(&problem, &why)))
    })
}

/// Returns the level of every group and user.
#[pyfunction]
pub fn explain_levels(
    py: Python<'_>,
    allocation: &Allocation,
    rule: Option<&str>,
    whole: bool,
    granted: Granted,
) -> PyResult<Shown> {
    let (problem, tasks) = of(allocation);
    let settings = settings(rule, whole)?;
    workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
        if let Some((entitled, held)) = tree::held(&problem, &tasks, &settings)? {
            let document = report::json::entitlements(&problem, &settings, &entitled, Some(&held));
            return Ok(Shown::new(report::entitlements(&problem, &entitled, Some(&held)), &document));
        }
        let standings = tree::levels(&problem, &tasks, &settings)?;
        Ok(Shown::new(report::levels(&standings), &report::json::levels(&standings)))
    })
}
