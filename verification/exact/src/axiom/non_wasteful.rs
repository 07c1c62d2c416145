//! Non-wasteful: no user has resources that do not serve a task. An allocation consists of tasks, so the axiom holds by
//! construction, with a margin of 0 and without evidence.

use evenhand_problem::Rational;

use crate::axiom::rule::{Found, Rule};
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::refusal::Refusal;

/// The axiom `non-wasteful`.
pub(crate) struct NonWasteful;

impl Rule for NonWasteful {
    fn name(&self) -> &'static str {
        "non-wasteful"
    }

    fn derive(&self, _instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        Ok(Some(Found { margin: Rational::new(), yes: Evidence::None, no: None }))
    }
}
