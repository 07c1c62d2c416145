//! The command `audit preemption`: searches for small cases in which Kueue's preemption by fair shares never
//! ends.

use std::process::ExitCode;

use evenhand_audit::preemption::{self, Bounds};

use crate::arguments::Common;
use crate::arguments::audit::AuditPreemption;
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &AuditPreemption, common: &Common) -> Result<ExitCode, Failure> {
    let bounds = Bounds {
        queues: call.queues,
        resources: call.resources,
        workloads: call.workloads,
        amount: call.amount,
        lendable: call.lendable,
        weight: call.weight,
    };
    let found = preemption::search(bounds, call.instances, common.seed)?;
    let document = || preemption::document(bounds, common.seed, &found);
    if let Some(folder) = &call.output {
        let text = format!("{:#}\n", document());
        files::save_in(folder, "preemption.json", text)?;
        let page = preemption::page(bounds, &found).files(vec!["preemption.json".to_owned()]);
        files::save_in(folder, "index.html", page.document())?;
    }
    output::result(common, document, || preemption::page(bounds, &found))
}
