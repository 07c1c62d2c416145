//! `audit --rule kueue --preemption`: searches for small cases in which preemption never ends.

use std::process::ExitCode;

use evenhand::mechanisms::tree::Rule;
use evenhand::problem::Arithmetic;
use evenhand_audit::preemption::{self, Bounds};

use crate::arguments::{Audit as Call, Common};
use crate::failure::Failure;
use crate::{files, output};

/// The default number of cases to try, which takes seconds.
const INSTANCES: u64 = 200_000;

pub fn run(call: &Call, common: &Common) -> Result<ExitCode, Failure> {
    let flags = call.flags.checked(Arithmetic::Exact, common.seed)?;
    let other = flags.names().find(|flag| *flag != "rule");
    if other.is_some() || flags.value::<Rule>("rule")? != Some(Rule::Kueue) {
        return Err(Failure::input(
            "--preemption needs --rule kueue, and no other flag of a mechanism: only Kueue's preemption is modelled",
        ));
    }
    let bounds = Bounds {
        queues: call.queues,
        resources: call.resources.unwrap_or(1) as u64,
        workloads: call.workloads,
        amount: call.amount,
        lendable: call.lendable,
        weight: call.weight,
    };
    let found = preemption::search(bounds, call.instances.unwrap_or(INSTANCES), common.seed)?;
    let document = || preemption::document(bounds, common.seed, &found);
    if let Some(folder) = &call.output {
        let text = format!("{:#}\n", document());
        files::save_in(folder, "preemption.json", text)?;
        let page = preemption::page(bounds, &found).files(vec!["preemption.json".to_owned()]);
        files::save_in(folder, "index.html", page.document())?;
    }
    output::result(common, document, || preemption::page(bounds, &found))
}
